import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from flipcore.claims.holdout import inflation_claim
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import clustered_difference
from flipcore.stats.base.separability import separability
from flipcore.stats.holdout import units, verdict
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.semantic import perm_test_mmd
from flipcore.stats.holdout.survey import odd_one_out_survey
from flipcore.stats.holdout.verdict import BEYOND, DIFFERENT, WITHIN, difficulty_test
from flipcore.stats.holdout.versions import describe_edits, read_results, result_of
from tests.lab.simulations.planted_memory import embedding_sets, odd_one_out_hits
from tests.reports.browser_data.test_margins import made


def constant(X_train, y_train, X_test):
    return np.full(len(X_test), 0.5)


def by_sign(X_train, y_train, X_test):
    return (X_test[:, 0] > 0).astype(float)


def test_a_perfect_small_holdout_is_inconclusive_and_the_source_calls_it_the_same():
    found = verdict.difficulty_test(20, 50, 20, 50)
    assert (found.state, found.source_state) == ("undecided", "not rejected")
    # differences below 27 points are likely to be missed
    assert found.detectable == pytest.approx(2.8016 * math.sqrt(0.24 * 2 / 50), rel=1e-3)


def test_a_large_holdout_of_the_same_difficulty_is_equivalent():
    found = verdict.difficulty_test(400, 1_000, 405, 1_000)
    assert found.state == "equivalent" and -0.1 < found.bound[0] < found.bound[1] < 0.1


def test_a_harder_holdout_is_different():
    found = verdict.difficulty_test(400, 1_000, 300, 1_000)
    assert (found.state, found.source_state) == ("different", "rejected") and found.estimate.text_points().startswith(
        "+10.0 points"
    )


@pytest.mark.slow
def test_412_items_an_arm_show_equivalence_with_80_percent_power():
    # whether sameness is shown depends on the difference in hits: find the largest that still shows it
    # on either side, and take the chance of all that lie between from two exact binomials
    n, p = 412, 0.4
    k = round(n * p)

    def largest(sign):
        shows, fails = 0, 42  # 42 of 412 exceed the margin of 10 points by themselves
        assert not verdict.difficulty_test(k, n, k + sign * fails, n).equivalent
        while fails - shows > 1:
            middle = (shows + fails) // 2
            if verdict.difficulty_test(k, n, k + sign * middle, n).equivalent:
                shows = middle
            else:
                fails = middle
        return shows

    chances = binom.pmf(np.arange(n + 1), n, p)
    differences = np.convolve(chances, chances[::-1])  # of -412 to 412 hits
    power = differences[n - largest(-1) : n + largest(1) + 1].sum()
    assert 0.78 < power < 0.83


def test_source_paired_entries_are_compared_entry_by_entry():
    target, retro = [1] * 60 + [0] * 40, [1] * 58 + [0] * 42
    paired = verdict.difficulty_test_paired(target, retro)
    assert (paired.estimate.method, paired.estimate.value, paired.p) == (
        "tango",
        pytest.approx(0.02),
        pytest.approx(0.2141, abs=1e-4),
    )
    unpaired = verdict.difficulty_test(60, 100, 58, 100)
    assert paired.state == "equivalent" and unpaired.state == "undecided"
    assert paired.detectable < unpaired.detectable
    assert math.isnan(verdict.difficulty_test_paired([], []).p)


def test_embeddings_are_inconclusive_without_a_margin():
    T, R = embedding_sets(generator(1))
    found = verdict.semantic_test(T, R, m=499)
    assert found.state == "undecided" and found.margin is None and len(found.p_source) == 2
    assert verdict.semantic_test(T, R, margin=0.05, m=499).state == "equivalent"


def test_paired_embeddings_are_compared_pair_by_pair():
    # each holdout entry lies beside its source, so shuffling labels freely would call them much too alike
    rng = generator(9)
    T, _ = embedding_sets(rng)
    R = T + 0.05 * rng.standard_normal(T.shape)
    found, unpaired = (verdict.semantic_test(T, R, m=499, paired=paired) for paired in (True, False))
    assert found.p_source == unpaired.p_source and found.p != unpaired.p


def test_shifted_embeddings_are_different():
    found = verdict.semantic_test(*embedding_sets(generator(2), shift=2.0), m=499)
    assert found.state == "different" and found.estimate.value > found.detectable


def test_small_sets_are_enumerated():
    T, R = embedding_sets(generator(3), n=5)
    # 252 regroupings: p is a multiple of 1/252
    p = verdict.semantic_test(T, R, m=99).p_source[0] * 252
    assert p == pytest.approx(round(p))


def test_a_survey_near_one_third_is_equivalent_and_a_telling_one_different():
    same = verdict.odd_one_out_test(odd_one_out_survey(*odd_one_out_hits(generator(4))))
    told = verdict.odd_one_out_test(odd_one_out_survey(*odd_one_out_hits(generator(5), accuracy=0.6)))
    assert same.state == "equivalent" and same.bound[1] < 0.45
    assert told.state == "beyond" and told.source_state == "rejected"  # .60 of answers, far above the margin of .45


def test_a_classifier_at_chance_is_equivalent_when_its_bound_is_below_the_margin():
    found = separability(np.zeros((400, 1)), np.repeat([0, 1], 200), constant, m=19)
    test = verdict.prediction_test(found)
    assert test.state == "equivalent" and test.bound[1] < 0.60
    noise = np.tile([[1.0], [-1.0]], (20, 1))  # half of either set is hit
    few = verdict.prediction_test(separability(noise, np.repeat([0, 1], 20), by_sign, m=19))
    assert few.state == "undecided" and few.bound[1] > 0.60


def all_tests(n):
    survey = odd_one_out_survey(*odd_one_out_hits(generator(4)))
    T, R = embedding_sets(generator(1))
    return (
        verdict.difficulty_test(2 * n // 5, n, 2 * n // 5, n),
        verdict.semantic_test(T, R, margin=0.05, m=199),
        verdict.prediction_test(separability(np.zeros((400, 1)), np.repeat([0, 1], 200), constant, m=19)),
        verdict.odd_one_out_test(survey),
    )


def test_indistinguishable_needs_every_test_equivalent():
    found = verdict.HoldoutVerdict(all_tests(1_000))
    assert (found.state, found.source_state) == ("indistinguishable", "indistinguishable")


def test_one_inconclusive_test_leaves_the_verdict_open_where_the_source_closes_it():
    found = verdict.HoldoutVerdict(all_tests(50))
    assert (found.state, found.source_state) == ("undecided", "indistinguishable")


def test_a_test_that_was_not_run_leaves_the_verdict_open():
    found = verdict.HoldoutVerdict(all_tests(1_000)[:3])
    assert (found.state, found.source_state, found.missing) == ("undecided", "undecided", ("odd one out",))


def test_one_difference_decides():
    found = verdict.HoldoutVerdict((verdict.difficulty_test(400, 1_000, 300, 1_000), *all_tests(1_000)[1:]))
    assert found.state == found.source_state == "distinguishable"


def test_a_perfect_holdout_fails_the_sources_rule_as_often_as_stated():
    # four independent tests .95^4 = .815, eight .95^8 = .663
    assert (0.95**4, 0.95**8) == (pytest.approx(0.815, abs=1e-3), pytest.approx(0.663, abs=1e-3))
    rng, runs = generator(6), 2_000
    passed = 0
    for _ in range(runs):
        tests = tuple(
            verdict.HoldoutTest(name, p, (p,), None, False, (0, 0), None, 0)
            for name, p in zip(verdict.TESTS, rng.random(4), strict=True)
        )
        passed += verdict.HoldoutVerdict(tests).source_state == "indistinguishable"
    assert binomtest(passed, runs, 0.815).pvalue > 1e-3


def test_the_five_outcomes():
    # +40 points of 200 lie beyond 10 points; +12 points differ and are not placed; +6 points of 4,000 differ within 10 points
    states = [
        verdict.difficulty_test(k_target, n, k_retro, n).state
        for k_target, k_retro, n in ((160, 80, 200), (124, 100, 200), (2_240, 2_000, 4_000), (500, 500, 1_000), (20, 20, 40))
    ]
    assert states == ["beyond", "different", "within", "equivalent", "undecided"]
    assert verdict.difficulty_test(80, 200, 160, 200).state == "beyond"


def test_a_difference_is_decided_by_holm_over_the_tests_of_the_page():
    close = verdict.difficulty_test(124, 200, 103, 200)
    assert 0.025 < close.p < 0.05 and close.state == "different"
    both = verdict.as_family([close, verdict.difficulty_test(400, 1_000, 400, 1_000)])
    assert [test.state for test in both] == ["undecided", "equivalent"] and verdict.as_family(both) == both
    assert verdict.as_family([close])[0].state == "different"


@pytest.mark.slow
@pytest.mark.parametrize("right", range(0, 41, 2))
def test_a_difference_is_shown_by_the_test_where_its_interval_shows_it(right):
    # 1 v 6 of 40: z said p = .048 beside Newcombe's interval, which held 0
    for found in (
        verdict.difficulty_test(1, 40, right, 40),
        verdict.difficulty_test_paired([1] * 20 + [0] * 20, [1] * (right // 2) + [0] * (40 - right // 2)),
    ):
        assert (found.p < 0.05) == (found.estimate.excludes_zero() is True)


def test_fewer_than_ten_answers_claim_nothing():
    few = verdict.difficulty_test(9, 9, 0, 200)
    assert few.p < 0.001 and few.state == "undecided" and few.too_few == "9 answers in one set, and at least 10 are needed"
    assert verdict.HoldoutVerdict((few,)).state == "undecided"


def test_a_margin_on_mmd_bounds_no_difference_of_likeness_inside():
    rng = generator(12)
    found = verdict.semantic_test(*embedding_sets(rng, n=150, spread=1.6), margin=5.0, m=499)
    assert found.p < 0.05 and found.equivalent and not found.is_bounded and found.state == "different"


def test_clustered_answers_take_the_one_difference_over_families():
    rng = generator(13)
    clusters, is_retro = np.arange(120) // 4, np.arange(120) >= 60
    hits = (rng.random(120) < np.repeat(rng.random(30), 4)).astype(float)
    found = verdict.difficulty_test_clustered(hits, is_retro, clusters)
    ours = clustered_difference(hits[:60], clusters[:60], hits[60:], clusters[60:])
    assert found.outer == (ours.low, ours.high) and found.p == ours.p and found.estimate.n == 15
    assert found.estimate.value == pytest.approx(hits[:60].mean() - hits[60:].mean())


# Each holdout test in its own unit: points, MMD², a share.


def planted(name, bound=(-0.05, 0.1), detectable=0.2):
    return SimpleNamespace(name=name, estimate=Estimate(0.02, *bound, 0.9, "x", 40, None), bound=bound, detectable=detectable)


@pytest.mark.parametrize(
    ("name", "margin", "text"),
    [
        ("difficulty", 0.1, "±10 points"),
        ("semantic", 0.0123, "0.012 (distance)"),
        ("prediction", 0.6, "60%"),
        ("semantic", None, "none"),
    ],
)
def test_a_margin_stands_in_the_unit_of_its_test(name, margin, text):
    assert units.margin_text(name, margin) == text


@pytest.mark.parametrize(
    ("name", "text"), [("difficulty", "[-5.0, 10.0]"), ("prediction", "at most 10.0%"), ("odd one out", "at most 10.0%")]
)
def test_a_bound_is_an_interval_or_the_most_that_a_share_can_be(name, text):
    assert units.bound_text(planted(name)).replace("−", "-") == text


def test_a_bound_above_its_margin_never_reads_like_the_margin():
    test = SimpleNamespace(name="prediction", bound=(0.4, 0.5603))
    assert (units.bound_text(test), units.margin_text("prediction", 0.56)) == ("at most 56.1%", "56%")


@pytest.mark.parametrize(
    ("name", "detectable", "text"),
    [("difficulty", 0.2, "20.0 points"), ("prediction", 0.2, "70% against 50%"), ("semantic", float("nan"), "unknown")],
)
def test_what_could_be_detected_is_unknown_where_answers_do_not_tell(name, detectable, text):
    assert units.detectable_text(planted(name, detectable=detectable)) == text


def test_mmd2_has_as_many_digits_as_the_data_leave_open():
    assert units.decimals(planted("semantic", (0.0, 0.002))) == 4 and units.decimals(planted("semantic", (0.0, 2e-6))) == 7
    assert units.decimals(planted("semantic", (0.1, 0.1))) == 4


def version(retro, results, target=("t",), **settings):
    return {"retro_ids": list(retro), "target_ids": list(target), "results": results, "settings": {"seed": 0} | settings}


def test_a_result_survives_json_and_a_missing_number_is_none():
    kept = result_of(made("odd one out", p=math.nan, value=math.nan, bound=(0.0, math.nan)))
    assert json.loads(json.dumps(kept)) == kept and (kept["p"], kept["value"], kept["bound"]) == (None, None, [0.0, None])
    assert result_of(difficulty_test(5, 10, 4, 10))["state"] == "undecided"


def test_an_edit_that_helps_is_said_to_have_helped():
    before = result_of(made("prediction", p=0.01, value=0.7, bound=(0.0, 0.75)))
    after = result_of(made("prediction", p=0.3, value=0.53, bound=(0.0, 0.58)))
    said = describe_edits(version("abc", {"prediction": before}), version("abde", {"prediction": after}))
    assert said == [
        "Since the version before, 2 holdout entries are new or changed, 1 are gone.",
        "Prediction accuracy: 70.0% → 53.0%; the outcome went from different to equivalent.",
    ]
    back = describe_edits(version("abde", {"prediction": after}), version("abc", {"prediction": before}))
    assert back[1].endswith("the outcome went from equivalent to different.")


def test_a_change_within_one_state_is_nearer_or_not():
    old, new = (result_of(made("semantic", value=value, bound=(-0.1, 0.1), margin=None)) for value in (0.02, 0.01))
    assert describe_edits(version("a", {"semantic": old}), version("b", {"semantic": new}))[1].endswith(
        "nearer to no difference; still undecided."
    )
    assert describe_edits(version("a", {"semantic": new}), version("b", {"semantic": old}))[1].endswith(
        "no nearer; still undecided."
    )


def test_what_makes_two_versions_hard_to_compare_is_said():
    one = result_of(made("prediction"))
    said = describe_edits(version("a", {"prediction": one}), version("a", {"semantic": one}, target=("t", "u"), seed=1))
    assert "not answers to the same question" in said[1] and "The seed changed as well" in said[2] and len(said) == 3
    lost = one | {"value": None}
    assert "has no estimate" in describe_edits(version("a", {"prediction": one}), version("a", {"prediction": lost}))[1]


def test_a_version_of_an_earlier_release_is_read():
    # before the rename the source's p-values were stored under p_seed, and the open outcome was called inconclusive
    today = result_of(made("prediction", bound=(0.0, 0.7)))
    old = {("p_seed" if key == "p_source" else key): value for key, value in today.items()} | {"state": "inconclusive"}
    assert read_results({"prediction": old}) == {"prediction": today}
    assert describe_edits(version("a", {"prediction": old}), version("b", {"prediction": today}))[1].endswith(
        "still undecided."
    )


# Cut answers and difficulty: up to 5% the test stands; above it limits and p hold whatever those answers were.


SHOWN = (BEYOND, DIFFERENT, WITHIN)


def condition(n_cut=0, right=(60, 40), n=80):
    """`right` of `n` entries a side are right; the last `n_cut` retro answers were cut off (and are wrong)."""
    sides = [{f"{name}{i}": float(i < k) for i in range(n)} for name, k in zip(("t", "r"), right, strict=True)]
    cut = frozenset(f"r{i}" for i in range(n - n_cut, n))
    return Condition("m", "regex", "plain", "", *sides, {}, cut)


def test_few_cut_answers_change_nothing():
    assert repr(condition(8).test(0.1)) == repr(condition(0).test(0.1)) and condition(8).cut_share == pytest.approx(0.05)


def test_a_difference_that_cut_answers_alone_could_make_is_not_shown():
    clear, cut = condition(0), condition(20)
    assert clear.test(0.1).state in SHOWN and inflation_claim([clear]).is_made
    test = cut.test(0.1)
    assert test.state not in SHOWN and test.p > 0.05 and test.bound[0] < clear.test(0.1).bound[0]
    claim = inflation_claim([cut])
    assert not claim.is_made and "20 answers were cut off (12%); the limits hold whatever they were." in claim.detail


def test_a_difference_that_holds_whatever_they_were_stays():
    cut = condition(9, right=(78, 20))
    assert cut.cut_share > 0.05 and cut.test(0.1).state in SHOWN and inflation_claim([cut]).is_made
    estimate = cut.inflation()
    assert estimate.value == condition(0, right=(78, 20)).inflation().value and estimate.method == "worst cases of cut answers"


@pytest.mark.slow
def test_equivalence_must_hold_whatever_they_were():
    same = condition(0, right=(700, 700), n=1000)
    assert same.test(0.05).equivalent and not condition(150, right=(700, 700), n=1000).test(0.05).equivalent


def test_without_a_number_of_permutations_p_is_counted_in_ten_thousandths():
    """(b + 1)/(m + 1) with m = 9,999; the regroupings of 24 entries are too many to go through."""
    T, R = embedding_sets(generator(3), n=12)
    for p in verdict.semantic_test(T, R).p_source:
        assert p < 1 and 10_000 * p == pytest.approx(round(10_000 * p), abs=1e-6)


def test_the_smallest_shift_that_is_found_lies_above_the_critical_one():
    """Four of five studies find a shift that lies .84 standard deviations above the 95% point of no shift."""
    T, R = embedding_sets(generator(3), n=12)
    mmd = perm_test_mmd(T, R, 199, 5)
    test = verdict.semantic_test(T, R, m=199, seed=5)
    assert test.detectable == pytest.approx(mmd["critical"] + norm.ppf(0.8) * mmd["null_sd"])
    low = [mmd["obs"] - norm.ppf(level) * mmd["se"] for level in (0.95, 0.975)]
    assert test.bound == pytest.approx((low[0], mmd["upper"])) and test.outer == pytest.approx((low[1], math.inf))
    assert (test.estimate.n, test.estimate.seed, test.estimate.level, test.too_few) == (24, 5, 0.9, "")
