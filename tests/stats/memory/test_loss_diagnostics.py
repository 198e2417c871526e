import functools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory import loss_diagnostics as diagnostics
from flipcore.stats.memory.loss_test import pval_conformal


def test_features_are_length_digits_loss_and_topics():
    table = diagnostics.text_features(["ab 12", "x"], [0.5, 2.0], ["math", "law"])
    assert table.tolist() == [[math.log1p(5), 2, 0.5, 1], [math.log1p(1), 0, 2.0, 0]]
    assert diagnostics.text_features(["a"], [1.0]).shape == (1, 3)


@pytest.mark.slow
def test_controls_like_the_benchmark_pass_and_longer_ones_do_not():
    rng = generator(0)
    rows = rng.standard_normal((200, 3))
    other = rng.standard_normal((150, 3))
    same = diagnostics.exchangeability(rows, other, m=39)
    shifted = diagnostics.exchangeability(rows, other + [1.0, 0, 0], m=39)
    assert not same.differs and "No difference of controls" in same.sentence()
    assert shifted.differs and shifted.test.auc > 0.7 and "stratified" in shifted.sentence()
    assert f"balanced accuracy of {shifted.test.balanced.text()}, p = .025 (350 texts" in shifted.sentence()


@pytest.mark.slow
def test_rows_without_a_loss_leave_the_comparison():
    rows = generator(1).standard_normal((60, 2))
    with_gap = np.concatenate([rows, [[math.nan, 0.0]]])
    assert diagnostics.exchangeability(with_gap, rows + 3, m=9) == diagnostics.exchangeability(rows, rows + 3, m=9)


def test_a_stratified_p_counts_controls_of_its_own_stratum_only():
    controls = list(range(20)) + [100] * 20
    strata = ["a"] * 20 + ["b"] * 20
    p = diagnostics.pval_mondrian([19.0, 19.0, 5.0, math.nan], ["a", "b", "c", "a"], controls, strata)
    assert p[0] == pytest.approx(2 / 21) and p[1] == 1.0 and math.isnan(p[2]) and math.isnan(p[3])
    with pytest.raises(BadInput, match="lengths differ"):
        diagnostics.pval_mondrian([1.0], [], [1.0], ["a"])


def test_a_stratum_with_fewer_than_19_controls_has_no_p():
    assert math.isnan(diagnostics.pval_mondrian([1.0], ["a"], range(18), ["a"] * 18)[0])


def test_quantile_strata_hold_equally_many_controls():
    control = generator(2).standard_normal(500)
    strata, strata0 = diagnostics.quantile_strata([-9.0, 9.0], control)
    assert strata.tolist() == [0, 4] and np.bincount(strata0).tolist() == [100] * 5


def test_equal_weights_give_the_plain_conformal_p():
    rng = generator(3)
    d, d0 = np.append(rng.standard_normal(30), math.nan), np.append(rng.standard_normal(40), math.inf)
    weighted = diagnostics.pval_weighted(d, np.ones(31), d0, np.ones(41))
    assert weighted == pytest.approx(pval_conformal(d, d0), nan_ok=True)


def test_weights_count_controls_by_weight():
    # controls 1 (weight 3) and 3 (weight 1), item 2 with weight 2: (1 + 2)/(4 + 2)
    assert diagnostics.pval_weighted([2.0], [2.0], [1.0, 3.0], [3.0, 1.0])[0] == pytest.approx(0.5)


def test_density_ratios_recover_a_shifted_gaussian():
    # benchmark N(1, 1), control N(0, 1): ratio exp(x - 1/2)
    rng = generator(4)
    benchmark, control = rng.normal(1, 1, (3_000, 1)), rng.normal(0, 1, (3_000, 1))
    weights, weights0 = diagnostics.density_ratios(benchmark, control)
    assert np.log(weights0) == pytest.approx(control[:, 0] - 0.5, abs=0.35)
    assert len(weights) == 3_000 and weights.max() <= 100


@pytest.mark.slow
def test_stratified_and_weighted_p_values_repair_what_length_breaks():
    """The spread grows with length and the benchmark is longer; flagged at p < .01 without any memory: pooled .0217, stratified
    .0082, weighted .0087."""
    rng, runs = generator(5), 12
    shares = []
    for _ in range(runs):
        length, length0 = rng.normal(0.5, 1, 5_000), rng.normal(0, 1, 1_200)
        d, d0 = (0.04 + 0.62 * np.exp(0.2 * x) * rng.standard_normal(len(x)) for x in (length, length0))
        strata = diagnostics.quantile_strata(length, length0, 5)
        weights = diagnostics.density_ratios(length[:, None], length0[:, None])
        p = (
            pval_conformal(d, d0),
            diagnostics.pval_mondrian(d, strata[0], d0, strata[1]),
            diagnostics.pval_weighted(d, weights[0], d0, weights[1]),
        )
        shares.append([float((values < 0.01).mean()) for values in p])
    pooled, stratified, weighted = np.mean(shares, axis=0)
    assert pooled > 0.014 and stratified < 0.012 and weighted < 0.012


@pytest.mark.slow
def test_a_diagnosis_takes_items_and_controls_of_unequal_number_apart(monkeypatch):
    # It looks at no p of the classifier, so 19 of its 199 permutations are enough.
    few = functools.partial(diagnostics.exchangeability, m=19)
    monkeypatch.setattr(diagnostics, "exchangeability", few)
    rng = generator(3)
    d, d0 = rng.standard_normal(30), rng.standard_normal(60)
    test = SimpleNamespace(d=d, d0=d0, p_conformal=pval_conformal(d, d0), alpha=0.05)
    texts = [["a word " * (2 + i % 7) for i in range(n)] for n in (30, 60)]
    losses = [rng.random(30), rng.random(60)]
    topics = [[i % 2 for i in range(n)] for n in (30, 60)]
    found = diagnostics.diagnosis(test, texts, losses, topics)
    assert found.rows[0][0] == "plain" and found.rows[0][2] == 0
    assert all(0 <= flagged <= 30 for _, flagged, _ in found.rows) and len(found.rows) == 3
