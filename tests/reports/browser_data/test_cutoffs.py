"""Bands over every cut-off at once, against simulation, and the arrays under a dragged line."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims.memory_gap import gap_claim
from flipcore.core.randomness import generator
from flipcore.reports.browser_data import cutoffs
from flipcore.reports.browser_data.board import value_at
from flipcore.reports.browser_data.cutoffs import MARGINS, margin_line
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from flipcore.reports.memory import Measurement, family_tests
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.memory.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.memory.loss_analysis import RULES, cutoff_curve, loss_test
from flipcore.stats.memory.pearl_analysis import alpha_curve
from flipcore.stats.memory.rewritten import Rewritten


def test_the_half_width_is_massarts():
    assert cutoffs.dkw_half_width(100) == pytest.approx(0.1358, abs=1e-4)
    assert np.isnan(cutoffs.dkw_half_width(0))


@pytest.mark.slow
def test_the_band_of_false_positives_holds_at_every_alpha_at_once():
    """Uniform sensitivities: the true rate at alpha is 1 - alpha. The band must miss anywhere in at most 5% of 1,000 sets."""
    rng, misses = generator(1, "dkw"), 0
    for _ in range(1_000):
        curve = alpha_curve(rng.random(5), rng.random(40))
        limits, _ = cutoffs.shares_everywhere(curve, 5, 40)
        finite = np.isfinite(curve.alphas)
        truth = 1 - curve.alphas[finite]
        misses += bool(((truth < limits[finite, 0] - 1e-12) | (truth > limits[finite, 1] + 1e-12)).any())
    assert clopper_pearson(misses, 1_000)[0] <= 0.05


@pytest.mark.slow
def test_the_bound_of_the_excess_is_almost_never_above_zero_anywhere_without_memory():
    rng, wrong = generator(2, "excess"), 0
    for _ in range(1_000):
        d, d0 = rng.normal(size=60), rng.normal(size=80)
        low = cutoffs.excess_low_everywhere(cutoff_curve(d, d0), 60, 80)
        wrong += bool((low > 0).any())
    assert clopper_pearson(wrong, 1_000)[0] <= 0.05


def test_the_bound_of_the_excess_sees_plain_memory():
    d, d0 = np.linspace(4, 6, 200), np.linspace(-1, 1, 200)
    assert np.nanmax(cutoffs.excess_low_everywhere(cutoff_curve(d, d0), 200, 200)) > 0.7


def test_the_line_starts_at_the_rules_smallest_flag_or_beyond_every_control():
    ids = [str(i) for i in range(40)]
    found = loss_test(ids, np.linspace(5, 6, 40), np.linspace(-1, 1, 60))
    assert cutoffs.loss_cutoff(found, "conformal_bh") == 5
    nothing = loss_test(ids, np.linspace(-1, 1, 40), np.linspace(-1, 1.5, 60))
    assert cutoffs.loss_cutoff(nothing, "conformal_bh") == 1.5


def test_bins_are_shares_of_their_own_group_and_hold_every_value():
    a, b = np.array([0.0, 1.0, 2.0, 3.0]), np.array([10.0])
    edges = cutoffs.edges_of(a, b)
    assert sum(cutoffs.binned(a, edges)) == pytest.approx(1) and sum(cutoffs.binned(b, edges)) == pytest.approx(1)
    assert sum(cutoffs.binned(np.array([3.0, 3.0]), cutoffs.edges_of(np.array([3.0])))) == 1


def test_below_ten_texts_the_line_prints_a_share_without_an_interval():
    judged, never = alpha_curve(np.linspace(0, 1, 9), np.linspace(0, 1, 40)), alpha_curve(np.linspace(0, 1, 40), np.ones(4))
    assert np.isnan(judged.detection_limits).all() and not np.isnan(judged.fpr_limits).any()
    assert np.isnan(never.fpr_limits).all() and np.isnan(cutoffs.shares_everywhere(never, 40, 4)[0]).all()
    assert "[" not in cutoffs._limits_text("d", 9) and "9 texts, at least 10 are needed" in cutoffs._limits_text("d", 9)
    assert cutoffs._limits_text("d", 10) == " [{d_low|percent}, {d_high|percent}]"


@pytest.mark.parametrize("simultaneous", [True, False])
def test_where_nothing_is_claimed_of_the_set_the_line_prints_no_lower_bound(simultaneous):
    test = loss_test([str(i) for i in range(40)], np.linspace(0, 1, 40), np.linspace(0, 1, 60))
    ((_, line),) = cutoffs.loss_line(test, 0.5, "nats", ("b", "c"), simultaneous=simultaneous).lines[0]
    ((_, quiet),) = cutoffs.loss_line(test, 0.5, "nats", ("b", "c"), simultaneous=simultaneous, withheld="Templates.").lines[0]
    assert (
        "lower bound {low|percent}" in line
        and "at least" not in line
        and "bound" not in quiet
        and quiet.endswith("of the items.")
    )


def test_the_rules_are_a_row_each_and_one_that_flags_nothing_has_no_smallest_d():
    ids = [str(i) for i in range(40)]
    rows = cutoffs.rule_rows(loss_test(ids, np.linspace(5, 6, 40), np.linspace(-1, 1, 60)))
    assert len(rows) == len(RULES) and rows[0]["of"] == 40 and {row["smallest D flagged"] for row in rows} == {5.0}
    nothing = cutoffs.rule_rows(loss_test(ids, np.linspace(-1, 1, 40), np.linspace(-1, 1.5, 60)))
    by_rule = {row["rule"]: row for row in nothing}
    assert by_rule[RULES["conformal_bh"]]["flagged"] == 0 and by_rule[RULES["conformal_bh"]]["smallest D flagged"] is None


@pytest.mark.parametrize(("alpha", "start"), [(0.4, 0.4), (math.inf, 0.7)])
def test_alphas_line_starts_at_alpha_or_at_the_largest_sensitivity(alpha, start):
    pearl = SimpleNamespace(calibration=SimpleNamespace(alpha=alpha), sensitivity=np.array([0.2, math.nan, 0.7]))
    assert cutoffs.pearl_cutoff(pearl) == start


# The data behind the lines that are dragged: what stands beside a position is what the interval says there.


def items(name, n_right, n_broken, n=200):
    before, after = np.zeros(n), np.zeros(n)
    before[:n_right], after[n_broken:n_right] = 1, 1
    return Rewritten.make([f"{name}{i}" for i in range(n)], before, after[:, None], None)


@pytest.mark.parametrize(
    ("n_broken", "at", "word"),
    [(100, 0.05, "Memory: "), (0, 0.1, "Rewriting costs the benchmark at most"), (10, 0.05, "5 points cannot be ruled out")],
)
def test_the_sentence_at_every_margin_is_the_verdicts_own_claim(n_broken, at, word):
    found = drop_gap_analysis(items("b", 180, n_broken), items("c", 180, 4), n_boot=50, m=999, declared="random")
    (verdict,) = family_tests(
        {"m": [Measurement(kind="number", detector="drop gap", axis="numeric_resample", measure="regex", gap=found.decided)]},
        "random",
        {},
    )["m"]
    line = margin_line(found, at, verdict)
    said = value_at(line.headlines[0].sentence, int(np.argmin(np.abs(MARGINS - at))))
    assert word in said and said == gap_claim(found.decided, at, verdict.numbers["p_adjusted"]).text
    assert sentences_at(line.data(), {"cutoff": at})[0] == said


def test_a_closed_gate_withholds_the_sentence_at_every_margin():
    found = drop_gap_analysis(items("b", 180, 100), items("c", 180, 4), n_boot=50, m=999, declared="random")
    one = Measurement(kind="number", detector="drop gap", axis="paraphrase", measure="regex", gap=found.decided)
    (verdict,) = family_tests({"m": [one]}, "random", {"paraphrase": "Nobody has reviewed them."})["m"]
    sentence = margin_line(found, 0.05, verdict).headlines[0].sentence
    assert sentence == [[0, "Not claimed: Nobody has reviewed them."]]
