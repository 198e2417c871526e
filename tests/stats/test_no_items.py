"""Estimators of no items: NaN or nothing, as docstrings say; a sentence if there is nothing to join. Never numpy's own error."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.audit.groups import group_spread
from flipcore.stats.audit.paired import grade_gap
from flipcore.stats.base.accuracy import tasks_of
from flipcore.stats.base.bootstrap import acceleration, bca_limits, percentile_limits
from flipcore.stats.base.guarded import guarded_limits, guarded_t, task_mean
from flipcore.stats.base.intervals import SIGNED, covering
from flipcore.stats.base.joint_means import column_quantiles
from flipcore.stats.base.separability import logistic
from flipcore.stats.choices.joined import join_curves
from flipcore.stats.flips.decomposition import artifact_shares
from flipcore.stats.flips.map_cells import stack
from flipcore.stats.flips.per_readout import item_entropies, item_modal_agreements
from flipcore.stats.flips.pooled import over_axes
from flipcore.stats.holdout.copies import compared_rows
from flipcore.stats.holdout.projection import on_top_of
from flipcore.stats.holdout.verdict import join_tests
from flipcore.stats.memory.exceedance import n_beyond
from flipcore.stats.memory.gap_intervals import padded_limits
from flipcore.stats.memory.ground_truth import roc
from flipcore.stats.memory.loss_diagnostics import quantile_strata

NONE, NO_NUMBERS = np.zeros(0), np.zeros(0, dtype=int)


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_guarded_tests_of_no_items_are_nan_with_clusters_and_without():
    for clusters in (None, NO_NUMBERS):
        test = guarded_t(NONE, SIGNED, clusters)
        assert np.isnan(test.p_above) and np.isnan(test.p_below)
        assert np.isnan(guarded_limits(NONE, NONE, SIGNED, 0.05, clusters)).all()
        gap = grade_gap(NONE, NONE, clusters, alpha=0.05, low=1, high=5)
        assert math.isnan(gap.value) and gap.n == 0
        assert math.isnan(task_mean([(NONE, clusters)], SIGNED, (1, 1)).p_above(0))


def test_a_guarded_test_keeps_the_columns_of_no_items():
    assert guarded_t(np.zeros((2, 3, 0)), SIGNED, NO_NUMBERS).p_above.shape == (2, 3)


@pytest.mark.parametrize("policy", ["own_class", "always_flip", "drop"])
def test_no_item_has_no_entropy(policy):
    codes = np.zeros((0, 2, 3), dtype=int)
    assert item_entropies(codes, policy).shape == item_modal_agreements(codes).shape == (0,)


def test_groups_of_no_items_have_no_spread():
    spread = group_spread(NONE, NO_NUMBERS)
    assert spread.n_groups == 0 and np.isnan([spread.by_item, spread.by_group, spread.p]).all()


def test_no_replicates_give_no_limits():
    assert np.isnan(percentile_limits(NONE, 0.95)).all() and np.isnan(bca_limits(NONE, 0.5, NONE, 0.95)).all()
    assert acceleration(NONE) == 0
    assert np.isnan(column_quantiles(np.zeros((0, 2)), np.array([[0.1], [0.9]]))).all()
    assert column_quantiles(np.zeros((0, 2)), np.array([[0.1], [0.9], [0.5]])).shape == (3, 2)
    assert np.isnan(covering([])).all() and artifact_shares([], 0.95, 0, 10) == []


def test_no_ids_have_no_tasks():
    assert tasks_of(pd.Series(dtype=str)).tolist() == []
    assert tasks_of(pd.Series(["a/1", "b"])).tolist() == ["a", ""]


def test_a_curve_of_no_scores_has_undefined_shares():
    false_shares, true_shares = roc(np.array([1.0, 2.0]), NONE)
    assert np.isnan(false_shares[1:]).all() and true_shares.tolist() == [0, 0.5, 1]


def test_no_drops_leave_the_whole_range():
    assert padded_limits(NONE, 0.95) == (-1, 1) and padded_limits(NONE, 0.95, 0.0) == (0, 1)


def test_no_entries_are_compared():
    assert compared_rows(NO_NUMBERS, NO_NUMBERS).tolist() == []


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: join_curves([]), "at least one curve, and got none"),
        (lambda: join_tests([]), "from at least one, and got none"),
        (lambda: stack([]), "the cells of at least one, and got none"),
        (lambda: over_axes([]), "at least one axis, and got none"),
        (lambda: on_top_of(np.zeros((0, 2)), 0), "has 0 entries, and no row 0"),
        (lambda: on_top_of(np.zeros((2, 2)), -1), "has 2 entries, and no row -1"),
        (lambda: n_beyond(np.ones(3), NONE, 1), "of 0 finite controls, and k is 1"),
        # Two controls have no third largest: the largest stood in for it.
        (lambda: n_beyond(np.ones(3), np.zeros(2), 3), "of 2 finite controls, and k is 3"),
        (lambda: n_beyond(np.ones(3), np.zeros(2), 0), "a k from 1 on"),
        (lambda: quantile_strata(np.ones(3), NONE), "there is no control"),
        (lambda: logistic(np.zeros((0, 2)), NONE, np.zeros((0, 2))), "needs rows of both"),
        (lambda: logistic(np.ones((3, 2)), np.ones(3), np.ones((1, 2))), "needs rows of both"),
    ],
)
def test_nothing_to_join_is_said_in_a_sentence(call, sentence):
    with pytest.raises(BadInput, match=sentence):
        call()


def test_as_many_controls_as_the_mark_needs_are_enough():
    assert n_beyond(np.array([1.0, 0.0]), np.array([0.5, 2.0]), 2) == 1
