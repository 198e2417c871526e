import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from flipcore.claims.memory_gap import GAP_WITHIN, gap_claim
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory.drop_gap import gap_score
from flipcore.stats.memory.drop_gap_analysis import FLAG, NO_EVIDENCE, UNRESOLVED, Rewritten, drop_gap_analysis
from flipcore.stats.memory.gap_decision import Sides, gap_decision
from flipcore.stats.memory.gap_intervals import drops_estimate, padded_limits
from flipcore.stats.memory.gap_power import GapDesign, detectable_gap, rule_power
from flipcore.stats.memory.gap_truncation import cut_share, gap_of_frame, settle_gap
from flipcore.stats.memory.members import Members
from tests.conftest import ROOT
from tests.lab.simulations.planted_memory import MODELS, gap_sets

CASES = json.loads((ROOT / "tests" / "cases.json").read_text(encoding="utf-8"))["cases"]
MEMORIZED, BRITTLE = [
    [[float(digit) for digit in bits] for bits in case["args"]]
    for case in CASES
    if case["quantity"] == "drop_gap.drop_gap_seed"
]


def items(before, after, identity=None, prefix="i"):
    return Rewritten.make([f"{prefix}{k}" for k in range(len(before))], before, after, identity)


def with_uncovered(before, after, n):
    """`n` items in all: those given and the rest right before and without a rewrite."""
    extra = n - len(before)
    return items([*before, *[1.0] * extra], [*after, *[math.nan] * extra])


def printed(estimate):
    return tuple(round(x, 3) for x in (estimate.value, estimate.low, estimate.high))


def test_the_memorized_row_of_source_000_is_reproduced():
    bo, bp, co, cp = MEMORIZED
    result = drop_gap_analysis(with_uncovered(bo, bp, 150), with_uncovered(co, cp, 150), seed=1)
    assert printed(result.gap_source) == (0.260, 0.189, 0.331)
    assert (result.benchmark.n_broken, result.benchmark.n_fixed) == (33, 0)
    assert result.benchmark.mcnemar["chi2_cc"] == pytest.approx(2.54e-8, rel=1e-2)
    assert result.benchmark.mcnemar["exact"] == pytest.approx(2.33e-10, rel=1e-2)
    assert (result.benchmark.coverage.value, result.control.coverage.value) == (127 / 150, 139 / 150)
    assert (result.old_rule, result.source_decision) == (FLAG, FLAG)
    assert (result.old_rule, result.source_decision) == (FLAG, FLAG)
    decided = drop_gap_analysis(with_uncovered(bo, bp, 150), with_uncovered(co, cp, 150), seed=1, declared="random")
    claim = gap_claim(decided.decided)
    assert claim.is_made and claim.text.startswith(
        "Memory: rewriting costs the benchmark more than its random control, +26.0 points"
    )


def test_the_memorized_row_at_seed_0_is_reproduced():
    bo, bp, co, cp = MEMORIZED
    result = drop_gap_analysis(items(bo, bp), items(co, cp), seed=0)
    assert printed(result.gap_source) == (0.260, 0.181, 0.339)


def test_the_brittle_row_of_source_000_is_reproduced_and_not_flagged():
    bo, bp, co, cp = BRITTLE
    result = drop_gap_analysis(items(bo, bp), items(co, cp), seed=0)
    assert printed(result.gap_source) == (0.023, -0.064, 0.115)
    assert (result.old_rule, result.source_decision) == (NO_EVIDENCE, NO_EVIDENCE)
    # without its control the drop of 23 of 127 alone would convict: the control-free probe
    assert result.benchmark.drop.value == 23 / 127 and result.control.drop.value == 22 / 139
    assert result.benchmark.mcnemar["exact"] == pytest.approx(2.4e-7, rel=0.02)


def test_the_identity_row_of_source_000_is_reproduced():
    ids = [f"q{k}" for k in range(150)]
    before, _ = MODELS["memorized"].answers(ids, published=True)
    result = drop_gap_analysis(Rewritten.make(ids, before, before, before), Rewritten.make(ids, before, before, before))
    again = result.benchmark.identity_drop
    assert (again.value, result.benchmark.identity_p, again.n) == (0, 1, 150)
    assert result.gap_net.value == 0 and result.old_rule == NO_EVIDENCE


def test_planted_models_are_classified_as_they_were_made():
    ids, controls = [f"b{k}" for k in range(400)], [f"c{k}" for k in range(400)]
    decisions = {}
    for name, model in MODELS.items():
        sets = [Rewritten.make(names, *model.answers(names, names is ids)) for names in (ids, controls)]
        decisions[name] = drop_gap_analysis(*sets, m=1_999).old_rule
    assert decisions == {"memorized": FLAG, "clean": NO_EVIDENCE, "brittle": NO_EVIDENCE}


@pytest.mark.slow
def test_more_permutations_are_drawn_while_p_straddles_the_level():
    rng = generator(5)
    for _ in range(40):
        bo, bp, co, cp = gap_sets("gap .10", 60, rng)
        result = drop_gap_analysis(items(bo, bp), items(co, cp), m=499, n_boot=10)
        straddles = result.perm.low < 0.025 < result.perm.high
        assert result.perm.m == 499 or (result.perm.m > 499 and (not straddles or result.perm.m == 16 * 9_999))


def test_sets_of_unequal_difficulty_are_left_unresolved():
    rng = generator(0)
    bo, bp, co, cp = gap_sets("N3 brittle, control harder", 800, rng)
    result = drop_gap_analysis(items(bo, bp), items(co, cp), m=1_999)
    assert result.source_decision == FLAG and result.old_rule == UNRESOLVED
    claim = gap_claim(result.decided)
    assert not claim.asserted and "but not in share kept" in claim.text and "Unequal difficulty" in claim.text


def test_the_interval_of_worst_cases_decides_the_margin():
    """The line said 'the 90% interval that decides the margin', with that of the answers as they were read."""
    result = drop_gap_analysis(items(*[[1.0, 0.0] * 200] * 2), items(*[[1.0, 0.0] * 200] * 2), m=99, declared="random")
    decided = result.decided
    wide = replace(decided, gap_90=replace(decided.gap_90, low=-0.2, high=0.2))
    settled_result = replace(result, decided=settle_gap(decided, [wide], 0.1))
    assert result.equivalent and settled_result.equivalence_interval == (-0.2, 0.2) and not settled_result.equivalent
    unknown = replace(decided, gap_90=replace(decided.gap_90, low=math.nan, high=math.nan))
    for cases in ([wide, unknown], [unknown, wide]):
        assert not settle_gap(decided, cases, 0.1).gap_90.has_interval


def test_a_gap_within_a_margin_bounds_what_rewriting_costs_and_no_memory():
    few, many = (
        drop_gap_analysis(items(*[[1.0, 0.0] * n] * 2), items(*[[1.0, 0.0] * n] * 2), m=99, declared="random")
        for n in (15, 200)
    )
    assert not few.equivalent and "5 points cannot be ruled out" in gap_claim(few.decided).text
    ends = gap_score(*[[1.0, 0.0] * 200] * 4, level=0.90)
    assert many.equivalence_interval == pytest.approx((ends["lo"], ends["hi"]))
    alone = gap_claim(many.decided)
    assert many.equivalent and alone.assertion is GAP_WITHIN and "No memory" not in alone.text
    assert alone.text.startswith("Rewriting costs the benchmark at most 0.9 points more")
    assert alone.text.endswith("Memory that survives rewriting is not seen by this.")


def test_several_rewrites_are_averaged_by_item_and_compared_by_welch():
    # drops (1/2, 0, 1) and (0, 0, 0): gap .5; McNemar needs one rewrite; below ten items there is no interval
    result = drop_gap_analysis(items([1, 1, 1], [[0, 1], [1, 1], [0, math.nan]]), items([1, 1, 1], [[1, 1]] * 3), m=99)
    assert (result.gap.value, result.gap.method, result.benchmark.mcnemar) == (0.5, "none", None)
    assert result.cond_gap.value == 0.5
    changing, still = [[0, 1]] * 20 + [[1, 1]] * 20, [[1, 1]] * 40
    assert drop_gap_analysis(items([1] * 40, changing), items([1] * 40, changing), m=99).gap.method == "welch"
    # a control that never changes has no variance of its own: one loss and one opposite stand in
    hardly = drop_gap_analysis(items([1] * 40, changing), items([1] * 40, still), m=99).gap
    assert (hardly.method, hardly.value) == ("padded_mover", 0.25) and hardly.high - hardly.low > 0.15


def test_the_identity_axis_is_subtracted():
    # the benchmark's answers break in 20 of 100 items unasked and in 30 rewritten, the control's in 10 and in 20
    sets = []
    for n_identity, n_rewritten, prefix in ((20, 30, "b"), (10, 20, "c")):
        again, after = (np.repeat([0.0, 1.0], [n, 100 - n]) for n in (n_identity, n_rewritten))
        sets.append(items(np.ones(100), after, again, prefix))
    result = drop_gap_analysis(*sets, m=99)
    assert result.gap_net.value == pytest.approx((0.30 - 0.20) - (0.20 - 0.10), abs=1e-12) and result.gap_net.n == 200
    # per item the net drop is 1 in 10 items of each set and 0 in the rest
    se = math.sqrt(2 * 0.1 * 0.9 / 99)
    assert result.gap_net.high - result.gap_net.low == pytest.approx(2 * 1.972 * se, rel=1e-3)
    assert result.benchmark.identity_sentence().startswith("Sent again unchanged, accuracy fell by +20.0 points")


def test_matched_controls_are_compared_pair_by_pair():
    benchmark, control = items([1] * 40, [0] * 20 + [1] * 20, prefix="b"), items([1] * 40, [0] * 10 + [1] * 30, prefix="c")
    sides = Sides(benchmark, control, pairs={f"b{k}": f"c{k}" for k in range(40)})
    found = drop_gap_analysis(benchmark, control, m=999, sides=sides, declared="paired")
    matched = found.gap_matched
    # ten pairs differ by 1, thirty by 0, and one is added each way: 42 differences of mean 10/42 and mean square 12/42
    assert matched.value == 0.25 and matched.n == 40 and matched == found.decided.gap
    se = math.sqrt((12 - 100 / 42) / 41 / 42)
    assert matched.high - matched.low == pytest.approx(2 * 2.0195 * se, rel=1e-3)
    assert found.decided.p < 0.01 and gap_claim(found.decided).outcome == "memory"


def test_a_control_declared_as_paired_without_pairs_makes_no_claim():
    sets = items([1] * 40, [0] * 20 + [1] * 20, prefix="b"), items([1] * 40, [1] * 40, prefix="c")
    claim = gap_claim(drop_gap_analysis(*sets, m=99, declared="paired").decided)
    assert not claim.is_made and claim.text.startswith("Not claimed: The control is declared as paired, and no pairs")


def test_selection_of_covered_items_is_shown():
    before = [1.0] * 80 + [0.0] * 20 + [1.0] * 20 + [0.0] * 80
    after = [1.0] * 100 + [math.nan] * 100
    result = drop_gap_analysis(items(before, after), items(before, after), m=99).benchmark
    assert result.selection.value == pytest.approx(0.6) and "not a fair sample" in result.selection_sentence()
    assert (result.coverage.value, result.accuracy_uncovered.value) == (0.5, 0.2)


def test_absent_answers_are_counted_and_left_out():
    result = drop_gap_analysis(items([1, math.nan, 1], [0, 0, 1]), items([1, 1], [1, 1]), m=99).benchmark
    assert (result.n_items, result.n_absent, result.n_broken) == (2, 1, 1)


def test_an_empty_side_gives_a_sentence_and_no_number():
    result = drop_gap_analysis(items([], []), items([1, 1], [1, 1]), m=99)
    assert math.isnan(result.perm_p) and not result.equivalent
    assert gap_claim(result.decided).text.startswith("Not claimed: 0 rewritten benchmark items; at least 10 are needed")


def test_a_doubled_item_is_an_error_and_never_averaged():
    with pytest.raises(BadInput, match="came twice"):
        Rewritten.make(["a", "a"], [1, 1], [1, 0])
    with pytest.raises(BadInput, match=r"\[1, 2\] rows"):
        Rewritten.make(["a", "b"], [1, 1], [1])


def test_a_gap_without_any_change_keeps_an_interval():
    result = drop_gap_analysis(items([1] * 30, [1] * 30), items([1] * 30, [1] * 30), m=99)
    assert (result.gap_source.low, result.gap_source.high) == (0, 0) and "no width" in result.gap_source.note
    assert result.gap.low < 0 < result.gap.high and result.perm_p == 1.0


def mended_sets(n_benchmark, n_control, n=200):
    """160 of 200 right in both sets, 30 broken on the benchmark and 10 on the control, and so many mended."""

    def one(n_broken, n_mended):
        before, after = np.zeros(n), np.zeros(n)
        before[:160] = 1
        after[n_broken:160] = 1
        after[160 : 160 + n_mended] = 1
        return Rewritten.make([f"{n_broken}-{n_mended}-{i}" for i in range(n)], before, after)

    return one(10, n_benchmark), one(10, n_control)


def test_wrong_keys_that_rewriting_mends_make_no_gap():
    decision = gap_decision(Sides(*mended_sets(0, 25)), "random", m=999)
    assert decision.mended == (0, 25) and decision.is_larger and not decision.without_mended.is_larger
    claim = gap_claim(decision)
    assert not claim.is_made and "mended 0 benchmark and 25 control items, as wrong keys do" in claim.text
    assert "Without the control items that only the rewriting got right" in claim.detail


def test_items_mended_alike_on_both_sides_change_nothing():
    decision = gap_decision(Sides(*mended_sets(9, 11)), "random", m=999)
    assert decision.mended == (9, 11) and decision.without_mended is None


def test_a_gap_that_holds_without_what_was_mended_is_claimed():
    benchmark = Rewritten.make([f"b{i}" for i in range(200)], [1.0] * 160 + [0.0] * 40, [0.0] * 80 + [1.0] * 80 + [0.0] * 40)
    decision = gap_decision(Sides(benchmark, mended_sets(0, 25)[1]), "random", m=999)
    assert decision.without_mended.is_larger and gap_claim(decision).outcome == "memory"


# Cut answers and the drop gap: up to 5% the decision stands, above it only what holds whatever they were.


COLUMNS = ["role", "item_id", "axis", "variant", "sample", "extractor", "status", "is_correct"]


def frame_of(n_broken, n_cut, n=60, cut_role="benchmark", cut_variant="w"):
    """The benchmark loses `n_broken` of `n` answers, the control none; `n_cut` answers of one role and variant were cut off,
    from the end."""
    rows = []
    for role in ("benchmark", "control"):
        for i in range(n):
            for variant in ("base", "w"):
                cut = role == cut_role and variant == cut_variant and i >= n - n_cut
                right = not (role == "benchmark" and variant == "w" and i < n_broken)
                rows.append((role, f"{role}{i}", "paraphrase", variant, 0, "regex", "cut" if cut else "ok", right and not cut))
    return pd.DataFrame(rows, columns=COLUMNS)


def decided(frame):
    return gap_of_frame(frame, "paraphrase", "regex", ["benchmark"], ["control"], Members("random")).decided


def test_the_share_counts_the_answers_that_came_back():
    assert cut_share(frame_of(0, 12), "paraphrase", "regex", ("benchmark", "control")) == pytest.approx(12 / 240)
    assert cut_share(frame_of(0, 12), "paraphrase", "regex", ("control",)) == 0


def test_few_cut_answers_change_nothing():
    assert decided(frame_of(20, 12)).gap_90.method != "worst cases of cut answers"


def test_a_loss_that_cut_answers_alone_could_make_is_not_claimed():
    # 30 of the benchmark's rewritten answers were cut off and count as wrong: that is the whole of the drop
    decision = decided(frame_of(0, 30))
    assert decision.gap.value == pytest.approx(0.5) and not decision.is_larger
    assert decision.withheld.startswith("12% of the answers were cut off, and they could change the verdict.")


def test_a_loss_that_holds_whatever_they_were_stays_with_the_largest_p():
    decision = decided(frame_of(40, 13))
    assert decision.is_larger and not decision.withheld and decision.gap_90.method == "worst cases of cut answers"
    assert decision.gap_90.low < 40 / 60 < decision.gap_90.high
    alone = decided(frame_of(40, 0))
    assert decision.p >= alone.p


def test_within_the_margin_must_hold_whatever_they_were():
    steady, cut = decided(frame_of(0, 0, n=400)), decided(frame_of(0, 90, n=400, cut_role="control"))
    assert -0.05 < steady.gap_90.low and steady.gap_90.high < 0.05
    assert cut.gap_90.low < -0.05


# The drop gap's interval: which method stands where, and none below ten units a set.


def test_sets_that_change_have_welchs_interval():
    first, second = np.tile([0.0, 1.0], 20), np.tile([0.0, 0.5], 20)
    gap = drops_estimate(first, second, 0.95)
    assert gap.method == "welch" and gap.value == pytest.approx(0.25) and gap.low < 0.25 < gap.high and gap.n == 80


def test_a_set_that_hardly_changes_gets_two_changes_added():
    first, second = np.zeros(40), np.zeros(40)
    gap = drops_estimate(first, second, 0.95)
    assert gap.method == "padded_mover" and gap.value == 0 and gap.low == pytest.approx(-gap.high) and gap.high > 0.01


def test_limits_hold_the_mean_and_stay_within_what_a_drop_can_be():
    low, high = padded_limits(np.ones(12), 0.95)
    assert high == 1.0 and low < 1.0
    assert padded_limits(np.zeros(12), 0.95, low_end=0.0)[0] == 0.0


def test_below_ten_items_a_set_there_is_a_value_and_no_interval():
    gap = drops_estimate(np.zeros(5), np.ones(30), 0.95)
    assert gap.value == -1 and math.isnan(gap.low) and "a set has 5 items" in gap.note


def test_padded_limits_are_students_t_over_the_padded_drops():
    """Ten unchanged items and one change of either kind: mean 0, variance 2 / 11, nine degrees of freedom."""
    half = t.ppf(0.975, 9) * math.sqrt(2 / 11) / math.sqrt(12)
    assert padded_limits(np.zeros(10), 0.95) == pytest.approx((-half, half))
    half = t.ppf(0.95, 39) * math.sqrt((4 - 4 / 42) / 41 / 42)  # two of 40 changed: mean 2 / 42, the squares add up to 4
    assert padded_limits(np.array([0.0] * 38 + [1.0, 1.0]), 0.9) == pytest.approx((2 / 42 - half, 2 / 42 + half))


# What a study could find: by the rule itself, against its own case of no gap.


DESIGNS = [
    GapDesign((80, 120), accuracy, *rates)
    for accuracy in ((0.96, 0.67), (0.67, 0.96), (0.7, 0.7))
    for rates in ((0.1, 0.1), (0.3, 0.25))
]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_gap_is_what_the_benchmark_loses_more_in_points(design):
    for gap in (0.0, 0.1, 0.25):
        breaks, fixes = design.rates(gap)
        assert 0 < breaks < 1
        lost = design.accuracy[0] * breaks - (1 - design.accuracy[0]) * fixes
        assert lost - design.control_drop == pytest.approx(gap)
    breaks, fixes = design.rates(design.largest_gap)
    assert breaks == pytest.approx(1) and fixes == design.fixes


@pytest.mark.slow
def test_where_the_control_gains_more_than_the_benchmark_can_the_gap_begins_there():
    design = GapDesign((80, 120), (0.96, 0.67), 0.02, 0.3)
    assert design.smallest_gap == pytest.approx(0.0456) and design.rates(design.smallest_gap) == pytest.approx((0, 1))
    assert detectable_gap(design, n_runs=40) > design.smallest_gap


# one of unequal accuracies; the others, in the other direction and of other rates, are slow siblings
SLOW_DESIGNS = [pytest.param(design, marks=pytest.mark.slow) for design in DESIGNS[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("design", [DESIGNS[0], *SLOW_DESIGNS])
def test_without_a_gap_the_rule_fires_as_rarely_as_it_promises(design):
    """Unequal accuracies alone made it fire in 83 of 100 runs, and a gap of 1 points the smallest that is found."""
    assert rule_power(design, 0.0) <= 0.06
    found = detectable_gap(design, n_runs=60)
    assert 0.1 < found < 0.3 and rule_power(design, found) >= 0.7


@pytest.mark.slow
def test_what_cannot_be_found_is_not_a_number():
    assert math.isnan(detectable_gap(GapDesign((9, 500), (0.7, 0.7), 0.1, 0.1)))
    assert math.isnan(detectable_gap(GapDesign((15, 15), (0.2, 0.2), 0.1, 0.1), n_runs=40))
    assert np.isfinite(detectable_gap(GapDesign((400, 400), (0.9, 0.9), 0.02, 0.02), n_runs=40))
