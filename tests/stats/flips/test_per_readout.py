"""Flip metrics of one readout, vectorised: equal to the definitions on lists."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.disagreement import POLICIES
from flipcore.stats.flips.per_readout import flip_summary, item_entropies, item_modal_agreements
from tests import definitions

ITEMS = st.lists(st.lists(st.sampled_from(["0", "1", "2", None]), min_size=1, max_size=5), min_size=1, max_size=6)


def frame(items):
    return pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "axis": "order",
                "variant": f"r{v}" if v else "base",
                "sample": 0,
                "extractor": "e",
                "status": "unreadable" if a is None else "ok",
                "answer": a,
            }
            for i, item in enumerate(items)
            for v, a in enumerate(item)
        ]
    )


def summary(items, **options):
    return flip_summary(coded_answers(frame(items)), "order", "e", **options)


@pytest.mark.slow
@given(ITEMS, st.sampled_from(POLICIES))
def test_a_summary_is_the_list_definitions(items, policy):
    found = summary(items, policy=policy)
    wanted = definitions.flip_rate(items, policy)
    assert found.T.value == pytest.approx(wanted["T"], nan_ok=True)
    assert (found.n_items, found.n_excluded) == (wanted["n_items"], wanted["n_excluded"])
    assert found.micro == pytest.approx(definitions.flip_rate(items, policy, "micro")["T"], nan_ok=True)
    assert found.any_flip.value == pytest.approx(definitions.any_flip_rate(items, policy)["rate"], nan_ok=True)
    assert found.consistency == pytest.approx(definitions.consistency_rate(items, policy), nan_ok=True)


@pytest.mark.slow
@given(ITEMS, st.sampled_from(POLICIES))
def test_item_entropies_and_modes_are_the_list_definitions(items, policy):
    codes = coded_answers(frame(items)).cell("order", "e")
    expected = [definitions.item_entropy(a, policy=policy) for a in items]
    assert item_entropies(codes, policy) == pytest.approx(expected, nan_ok=True)
    assert item_modal_agreements(codes) == pytest.approx([definitions.item_modal_agreement(a) for a in items], nan_ok=True)


def test_any_flip_warns_where_items_have_unequal_numbers_of_variants():
    assert summary([["0", "1"], ["0", "0"]]).note == ""
    assert summary([["0", "1"], ["0", "0", "0"]]).note.startswith("Items have 2 to 3 readouts")


def test_the_true_bounds_hold_the_rate_and_shrink_with_the_options():
    items = [["0", "0", None, None], ["0", "1", None, "1"]]
    found = summary(items)
    assert found.lowest <= found.T.value <= found.highest
    assert summary(items, n_options=np.array([2, 2])).highest < found.highest


def test_a_readout_that_never_answers_has_no_flip_rate():
    found = summary([[None, None], [None, None]])
    assert math.isnan(found.T.value) and math.isnan(found.entropy_bits) and found.n_excluded == 2
    assert found.any_flip.text() == "–" and (found.lowest, found.highest) == (0.0, 1.0)


def test_with_several_samples_the_bounds_are_missing():
    rows = frame([["0", "1"]])
    found = flip_summary(coded_answers(pd.concat([rows, rows.assign(sample=1)])), "order", "e")
    assert math.isnan(found.lowest) and found.T.value == 1.0
