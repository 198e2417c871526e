import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import paired
from flipcore.stats.memory import drop_gap
from tests import source_statistics
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests" / "cases.json").read_text(encoding="utf-8"))["cases"]
MEMORIZED, BRITTLE = [case["args"] for case in CASES if case["quantity"] == "drop_gap.drop_gap_seed"]


def the_loop_of_source_000(bo, bp, co, cp, seed, n_boot):
    rng = np.random.default_rng(seed + 1)
    gaps = np.empty(n_boot)
    for i in range(n_boot):
        bi, ci = rng.integers(0, len(bo), size=len(bo)), rng.integers(0, len(co), size=len(co))
        gaps[i] = (bo[bi].mean() - bp[bi].mean()) - (co[ci].mean() - cp[ci].mean())
    return float(np.percentile(gaps, 2.5)), float(np.percentile(gaps, 97.5))


def test_the_seed_estimator_is_the_sources_bit_for_bit():
    sets = [(generator(i).random(60 + i) < 0.7).astype(float) for i in range(4)]
    bo, bp, co, cp = sets[0], sets[1][:60], sets[2], sets[3][:62]
    ours = drop_gap.drop_gap_source(bo, bp, co, cp, seed=3, n_boot=200)
    assert (ours["gap_lo"], ours["gap_hi"]) == the_loop_of_source_000(bo, bp, co, cp, 3, 200)


def test_the_literal_rule_flags_a_negative_gap_and_the_directional_one_does_not():
    better, worse = np.ones(80), np.zeros(80)
    result = drop_gap.drop_gap_source(better, better, better, worse)
    assert (result["gap"], result["flag_literal"], result["flag_directional"]) == (-1.0, True, False)


def test_an_empty_set_has_no_gap():
    assert math.isnan(drop_gap.drop_gap_source([], [], [1], [0])["gap"])
    assert math.isnan(drop_gap.gap_score([], [], [1], [0])["gap"])
    assert math.isnan(drop_gap.cond_gap([0, 0], [0, 1], [1], [0])["gap"])


def test_an_item_without_a_rewrite_leaves_both_members():
    with_gap = paired.discordant([1, 1, 0, 1], [0, None, 1, 1])
    assert with_gap == paired.discordant([1, 0, 1], [0, 1, 1]) == (1, 1, 3)
    with pytest.raises(BadInput, match="got 2 and 1"):
        paired.discordant([1, 0], [1])


def test_the_mover_interval_of_the_memorized_row_is_the_stated_one():
    # with 127 controls that never drop [.175, .337]
    bo, bp, co, _ = MEMORIZED
    result = drop_gap.gap_score(bo, bp, co[:127], co[:127])
    assert (result["lo"], result["hi"]) == pytest.approx((0.175, 0.337), abs=5e-4)


def test_the_mover_interval_is_never_without_width():
    result = drop_gap.gap_score([1] * 50, [1] * 50, [1] * 50, [1] * 50)
    assert result["lo"] < 0 < result["hi"] and not result["flag"]


def test_one_item_a_set_has_no_test():
    assert math.isnan(paired.gap_welch([1], [0, 1])["p"]) and math.isnan(
        source_statistics.stud_perm([1], [0, 1])["p_one_sided"]
    )


def test_the_studentised_permutation_agrees_with_scipys_exact_one():
    db, dc = [1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]

    def t(x, y, axis=-1):
        with np.errstate(divide="ignore", invalid="ignore"):
            se = np.sqrt(x.var(axis=axis, ddof=1) / x.shape[axis] + y.var(axis=axis, ddof=1) / y.shape[axis])
            return np.nan_to_num((x.mean(axis=axis) - y.mean(axis=axis)) / se, posinf=1e9, neginf=-1e9)

    exact = permutation_test((db, dc), t, vectorized=True, alternative="greater", n_resamples=np.inf)  # 126 regroupings
    ours = source_statistics.stud_perm(db, dc, seed=2, m=19_999)
    assert ours["t"] == pytest.approx(exact.statistic)
    assert binomtest(round(ours["p_one_sided"] * 20_000) - 1, 19_999, exact.pvalue).pvalue > 1e-3


def test_drawing_counts_and_drawing_items_are_the_same_test(monkeypatch):
    rng = generator(8)
    db, dc = rng.choice([0.0, 0.5, 1.0], 40, p=[0.6, 0.2, 0.2]), rng.choice([0.0, 0.5, 1.0], 50, p=[0.75, 0.15, 0.1])
    by_counts = source_statistics.stud_perm(db, dc, m=9_999)["p_one_sided"]
    monkeypatch.setattr(drop_gap, "MANY_VALUES", 0)
    by_items = source_statistics.stud_perm(db, dc, seed=1, m=9_999)["p_one_sided"]
    assert abs(by_counts - by_items) < 4 * math.sqrt(2 * by_counts * (1 - by_counts) / 9_999)


def test_equal_drops_have_a_permutation_p_of_one():
    assert source_statistics.stud_perm([0] * 20, [0] * 30) == {"t": 0.0, "p_one_sided": 1.0}
    # a ceiling: every benchmark item drops, no control does; only the observed grouping is as extreme
    assert source_statistics.stud_perm([1] * 20, [0] * 20, m=999) == {"t": math.inf, "p_one_sided": 0.001}


def test_the_conditional_gap_removes_the_accuracy_level():
    # a quarter of the right answers breaks everywhere: gap .9/4 - .6/4, conditional gap 0
    bo, co = np.repeat([1, 0], [360, 40]), np.repeat([1, 0], [240, 160])
    bp, cp = bo.copy(), co.copy()
    bp[:90], cp[:60] = 0, 0
    assert drop_gap.gap_score(bo, bp, co, cp)["flag"] is True
    result = drop_gap.cond_gap(bo, bp, co, cp)
    assert result["gap"] == 0 and not result["flag"]


def test_coverage_counts_what_the_operator_could_change():
    result = source_statistics.coverage([1] * 127 + [None] * 22 + [math.nan])
    assert (result["k"], result["n"]) == (127, 150)
    assert (result["lo"], result["hi"]) == pytest.approx((0.780, 0.896), abs=5e-4)  # computed independently
    assert math.isnan(source_statistics.coverage([])["rate"])


def test_equivalence_of_a_mean_is_the_inclusion_of_its_interval():
    # d = .01, se = .02: 90% interval .01 +- .0329 lies inside +-.05
    assert source_statistics.tost_mean(0.01, 0.02, 0.05)["equivalent"] is True
    assert source_statistics.tost_mean(0.02, 0.02, 0.05)["equivalent"] is False
    by_hand = 1 - 0.5 * (1 + math.erf((0.05 - 0.01) / 0.02 / math.sqrt(2)))
    assert source_statistics.tost_mean(0.01, 0.02, 0.05)["p"] == pytest.approx(by_hand)


def test_equivalence_needs_a_known_standard_error():
    assert source_statistics.tost_mean(0.0, math.nan, 0.05)["equivalent"] is False
    assert source_statistics.tost_mean(0.0, 0.0, 0.05)["p"] == 0.0 and source_statistics.tost_mean(0.06, 0.0, 0.05)["p"] == 1.0


def test_few_degrees_of_freedom_make_equivalence_harder():
    assert source_statistics.tost_mean(0.0, 0.02, 0.05, df=4)["p"] > source_statistics.tost_mean(0.0, 0.02, 0.05)["p"]


def test_an_empty_set_has_no_gap_and_no_flag():
    for first, second in (([], [1, 1]), ([1, 1], [])):
        result = drop_gap.drop_gap_source(first, first, second, second)
        assert result["flag_literal"] is False and result["flag_directional"] is False and math.isnan(result["gap"])
