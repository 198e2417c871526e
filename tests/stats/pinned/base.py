"""Cases of flipcore/stats/base."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.stats.base import (
    accuracy,
    agreement,
    bootstrap,
    chance_lead,
    gate_rules,
    guarded,
    intervals,
    joint_means,
    multiplicity,
    paired,
    power,
    proportions,
    resample,
    retention,
    separability,
    simultaneous,
    tango,
    two_shares,
)
from flipcore.stats.base import estimate as estimates
from flipcore.stats.base import families as means
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, SHARES, changes, families, fractions, shares, with_holes
from tests.stats.pinned.results import Case

UNIT, SIGNED, WIDE = (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)
LETTERS = np.array(list("ABCD"))
CLUSTERED = {  # values, families
    "14 items in 7 pairs": (shares(14), np.arange(14) // 2),
    "30 items in 9": (shares(30), families(30, 9)),
    "30 changes in 9": (changes(30), families(30, 9)),
    "26 fractions in 12": (fractions(26), families(26, 12)),
    "40 changes, one lost": (with_holes(np.repeat([0.0, 1.0, -1.0], [30, 9, 1]), 4), families(40, 20)),
    "two families": (shares(12), np.arange(12) % 2),
    "one family": (shares(12), np.zeros(12, dtype=int)),
    "all lost in one": (np.repeat([-1.0, 1.0, 0.0], [8, 9, 13]), np.r_[np.zeros(8, dtype=int), np.arange(1, 23)]),
    "equal within": (np.repeat(shares(10), 3), np.repeat(np.arange(10), 3)),
    "9 items": (changes(9), np.arange(9) // 2),
    "nothing changes": (np.zeros(20), np.arange(20) // 2),
    "no item": (np.zeros(0), np.zeros(0, dtype=int)),
}


@pinned("base.accuracy")
def accuracy_cases() -> Iterator[Case]:
    for name, values in SHARES.items():
        yield name, partial(accuracy.accuracy, values)
    yield "families and holes", partial(accuracy.accuracy, with_holes(shares(30), 2, 5), families(30, 12).astype(str))
    readouts = pd.DataFrame({"item_id": list("cabcabddefghijklm"), "is_correct": [True, False, None, *(shares(14) == 1)]})
    yield "readouts", partial(accuracy.accuracy_of, readouts)
    yield "readouts in families", partial(accuracy.accuracy_of, readouts.assign(family=readouts["item_id"].map(ord) // 2))
    yield "tasks", partial(accuracy.tasks_of, pd.Series(["a/1", "b/2/3", "plain", "/x", "c/"]))


def _ratings(n: int, seed: int, alike: float, n_letters: int = 3) -> tuple[list, list]:
    draws = generator(seed, "ratings", n)
    first = LETTERS[draws.integers(0, n_letters, n)]
    second = np.where(draws.random(n) < alike, first, LETTERS[draws.integers(0, n_letters, n)])
    return first.tolist(), second.tolist()


@pinned("base.agreement")
def agreement_cases() -> Iterator[Case]:
    pairs = {f"{n} items": _ratings(n, n, 0.6) for n in (0, 1, 2, 9, 10, 11, 25)}
    pairs |= {
        "29 alike": (_ratings(29, 1, 1.0)[0],) * 2,
        "30 alike": (_ratings(30, 1, 1.0)[0],) * 2,
        "all A": (["A"] * 30, ["A"] * 30),
        "one pair that differs": (["A"], ["B"]),
        "one B": ([*"A" * 11, "B"], [*"A" * 11, "B"]),
        "never alike": (list("AB" * 6), list("BA" * 6)),
        "missing": ([None, "A", NAN, "B", *"ABABABABAB"], ["A", "A", "B", None, *"ABBBABAAAB"]),
        "mixed types": ([1, "1", 2, 2, 1, "1", 2, 1, 1, 2, 2], [1, "1", 1, 2, 1, 1, 2, 1, 2, 2, 2]),
        "nine in ten": (["A"] * 18 + ["B"] * 2, ["A"] * 18 + ["B", "A"]),
        "exactly nine in ten": (["A"] * 18 + ["B"] * 2, ["A"] * 17 + ["B"] + ["A", "B"]),
        "less than nine in ten": (["A"] * 18 + ["B"] * 3, ["A"] * 18 + ["B"] * 3),
        "one differs": (list("AB" * 10), [*"AB" * 9, "A", "A"]),
        "unequal lengths": (["A"], ["A", "B"]),
    }
    for name, (first, second) in pairs.items():
        yield f"raw, {name}", partial(agreement.raw_agreement, first, second)
        for weights in (None, "linear", "quadratic"):
            yield f"kappa, {name}, {weights}", partial(agreement.cohen_kappa, first, second, weights)
        yield f"log limits, {name}", partial(agreement.cohen_log_agreement, first, second)
        yield f"jackknife, {name}", partial(agreement.cohen_agreement, first, second)
        third = second[::-1]
        yield f"fleiss, {name}", partial(agreement.fleiss_agreement, [first, second, third])
        yield f"alpha, {name}", partial(agreement.krippendorff_agreement, [first, second, third])
        yield f"identical, {name}", partial(agreement.identical_raters_warning, first, second)
    yield "weights by an unknown name", partial(agreement.disagreement_weights, 3, "cubic")
    for name, table in {
        "empty": [],
        "one rater": [[1, 0], [0, 1]],
        "unequal numbers": [[2, 0], [1, 2]],
        "ragged": [[2, 0], [1]],
        "one category": [[3, 0], [3, 0]],
        "three raters": [[3, 0, 0], [2, 1, 0], [0, 0, 3], [1, 1, 1]],
    }.items():
        yield f"table, {name}", partial(agreement.fleiss_kappa, table)
    gaps = [list("AABBAABBAABBA"), list("AABBABBBAABB") + [None], [None] * 3 + list("BAABBAABBB")]
    yield "fleiss with gaps", partial(agreement.fleiss_agreement, gaps)
    yield (
        "fleiss of as many twos as threes",
        partial(agreement.fleiss_agreement, [list("AABB"), list("ABBB"), ["A", "A", None, None]]),
    )
    yield "alpha with gaps", partial(agreement.krippendorff_agreement, gaps)
    yield "alpha of nobody", partial(agreement.krippendorff_agreement, [])
    for name, table in {
        "mixed": [[8, 2], [1, 9]],
        "all alike": [[8, 0], [0, 9]],
        "one category": [[8.0]],
        "worse than chance": [[0, 9], [8, 1]],
        "never alike": [[0, 9], [9, 0]],
        "three": [[5, 1, 0], [1, 4, 2], [0, 1, 6]],
    }.items():
        yield f"limits, {name}", partial(agreement.log_limits, np.array(table, dtype=float), 0.9)
    for n in (1, 2, 3):
        units = np.arange(float(n))[:, None] / 4
        yield f"log jackknife of {n}", partial(agreement.log_jackknife, lambda rows: float(rows.mean()), units, 0.8)
    yield "log jackknife of ones", partial(agreement.log_jackknife, lambda rows: float(rows.mean()), np.ones((4, 1)), 0.8)
    yield (
        "log jackknife that reaches 1",
        partial(agreement.log_jackknife, lambda rows: float(rows.max()), np.array([[0.0], [1.0]])),
    )


@pinned("base.bootstrap")
def bootstrap_cases() -> Iterator[Case]:
    reps = generator(1, "reps").normal(0.5, 0.1, 40)
    jackknife = generator(2, "jackknife").gamma(2, 0.02, 15)
    yield "percentile", partial(bootstrap.percentile_limits, reps, 0.9)
    yield "percentile with a hole", partial(bootstrap.percentile_limits, with_holes(reps, 3), 0.9)
    for name, observed in {"median": 0.5, "of the replicates": float(reps[0]), "above all": 2.0, "below all": -1.0}.items():
        yield f"bca, {name}", partial(bootstrap.bca_limits, reps, observed, jackknife, 0.9)
        levels = np.array([0.5, 0.9, 0.99])
        yield f"bca percentiles, {name}", partial(bootstrap.bca_percentiles, reps, observed, 0.05, levels)
    yield "bca of none", partial(bootstrap.bca_percentiles, reps[:0], 0.5, 0.0, np.array([0.9]))
    yield "acceleration", partial(bootstrap.acceleration, jackknife)
    yield "acceleration of equals", partial(bootstrap.acceleration, np.full(5, 0.25))
    yield "studentized", partial(bootstrap.studentized_limits, reps - 0.4, 0.5, 0.1, 0.9)
    yield "studentized of none", partial(bootstrap.studentized_limits, reps[:0], 0.5, 0.1, 0.9)


@pinned("base.chance_lead")
def chance_lead_cases() -> Iterator[Case]:
    sizes = np.array([[4.0, 4], [3, 3], [3, 1], [1, 1], [6, 2], [1, 0], [2, 2], [5, 5]])
    for name, counts in {
        "none": np.zeros((8, 2)),
        "spread": np.array([[1.0, 0], [1, 0], [0, 1], [0, 0], [2, 0], [0, 0], [1, 1], [1, 2]]),
        "whole clusters": np.array([[4.0, 0], [0, 0], [0, 0], [0, 1], [6, 0], [0, 0], [0, 0], [0, 5]]),
        "all": sizes,
    }.items():
        yield f"correlation, {name}", partial(chance_lead.correlation_left_open, counts, sizes)
    for name, (values, groups) in CLUSTERED.items():
        columns = np.stack([values, -values, np.maximum(values, 0)], axis=1)
        sums = guarded.ClusterSums.from_values(columns, means.family_numbers(groups))
        for end in SIGNED:
            lead = sums.lead(end)
            yield f"{name} at {end:.0f}", lambda lead=lead: [lead.n, lead.adverse_unit, lead.adverse_size, lead.favourable_unit]
            for margin in (0.0, 0.1, -0.2):
                yield f"{name} at {end:.0f}, p at {margin}", partial(lead.p, margin)
            yield f"{name} at {end:.0f}, limit", lambda lead=lead: [lead.limit(0.025), lead.limit(0.4)]


@pinned("base.estimate")
def estimate_cases() -> Iterator[Case]:
    def texts(estimate: estimates.Estimate) -> list:
        parts = [estimate.has_interval, estimate.excludes_zero(), estimate.text(), estimate.text(3), estimate.text_percent()]
        parts += [estimate.text_percent(2), estimate.percent_digits, estimate.text_points(), estimate.text_points(0)]
        parts += [estimate.likely_percent(), *estimate.likely_points(), estimate.is_too_short]
        return [*parts, estimate.noted("More.").note]

    for name, numbers in {
        "share": (0.875, 0.801, 0.9195),
        "narrow": (0.5, 0.48, 0.5299),
        "width of 5%": (0.5, 0.25, 0.3),
        "difference": (-0.16, -0.289, -0.023),
        "from 0": (0.1, 0.0, 0.2),
        "to 0": (-0.1, -0.2, 0.0),
        "tiny": (-0.0001, -0.0004, 0.0004),
        "no interval": (0.4, NAN, NAN),
        "half an interval": (0.4, 0.1, NAN),
        "missing": (NAN, NAN, NAN),
        "large": (12345.678, -999.5, 1e7),
    }.items():
        for coverage, effective in ((None, None), (0.93, 6.0), (0.9299, 5.9), (0.85, None), (0.8499, 8.0)):
            value = estimates.Estimate(*numbers, 0.95, "t", 10, None, "Note.", coverage, effective)
            yield f"{name}, {coverage}, {effective}", partial(texts, value)
    for n in (0, 1, 9, 10, 11):
        yield f"without interval, {n}", partial(estimates.without_interval, 0.5, n)
    yield "without interval, with a note", partial(estimates.without_interval, 0.5, 3, 0.9, "Why.")
    yield "missing", partial(estimates.missing)
    yield "missing with all", partial(estimates.missing, 3, 0.9, "Why.")
    numbers = (0.0, -0.0, 0.005, 0.015, 2.5, -0.0049, 1234567.0, -1000.5, NAN, float("inf"), -float("inf"))
    yield (
        "numbers",
        lambda: [estimates.number_text(x, digits, sign=sign) for x, digits, sign in product(numbers, (0, 2), (False, True))],
    )
    yield (
        "percent",
        lambda: [estimates.percent_text(x, digits) for x, digits in product((0.0, 0.055, 0.7949, 1.0, NAN), (0, 1))],
    )
    yield "levels", lambda: [estimates.level_text(x) for x in (0.5, 0.9, 0.95, 0.989, 0.99, 0.999)]
    p_values = (0.0, 0.00099, 0.001, 0.0124, 0.0994, 0.0995, 0.43, 0.99, 0.9901, 1.0, NAN)
    yield "p", lambda: [estimates.p_text(p) for p in p_values]


@pinned("base.families")
def family_cases() -> Iterator[Case]:
    columns = np.stack(
        [shares(20), with_holes(fractions(20), 0, 3, 4), changes(20), np.full(20, NAN), with_holes(np.ones(20), *range(19))],
        axis=1,
    )
    for name, groups in {"none": None, "6": families(20, 6), "one": np.zeros(20, dtype=int)}.items():
        yield f"by family, {name}", partial(means.by_family, columns, groups)
    yield "numbers of names", partial(means.family_numbers, np.array(["b", "a", None, "b"], dtype=object))
    yield "numbers of numbers", partial(means.family_numbers, [10, 2, 10, 1])
    for name, groups in {"6": families(20, 6), "one": np.zeros(20, dtype=int), "each alone": np.arange(20)}.items():
        family_means = means.FamilyMeans.from_values(columns, groups)
        yield f"means, {name}", partial(lambda value: value, family_means)
        for bounds in (UNIT, SIGNED, WIDE, None, (0.0, 5.0)):
            yield f"limits, {name}, {bounds}", partial(family_means.limits, [0.5, 0.95], bounds)
            yield f"methods, {name}, {bounds}", partial(family_means.methods, bounds)
    for bounds in (None, UNIT, SIGNED, (0.0, 2.0), (-1.0, 0.0)):
        yield f"is signed, {bounds}", partial(means.is_signed, bounds)
    for (name, (values, groups)), bounds in product(CLUSTERED.items(), (UNIT, SIGNED, WIDE, None)):

        def whole(values: np.ndarray, groups: np.ndarray, bounds: means.Bounds) -> list:
            mean = means.clustered_mean(values, groups, bounds=bounds)
            return [mean, mean.p_above(), mean.p_above(0.3), mean.estimate()]

        yield f"mean, {name}, {bounds}", partial(whole, values, groups, bounds)
    for name, values in SHARES.items():
        yield f"mean of single items, {name}", partial(means.clustered_mean, values, np.arange(values.size), level=0.9)
    for name, estimate in {
        "8 items": (np.ones(10) / 2, np.arange(10)),
        "just below 3 families": (shares(30), np.repeat([0, 1, 2, 3], [12, 11, 6, 1])),
        "exactly 3 families": (shares(30), np.repeat([0, 1, 2], 10)),
        "8 of few": (np.r_[np.ones(8), np.zeros(12)], np.arange(20)),
        "7 of few": (np.r_[np.ones(7), np.zeros(13)], np.arange(20)),
    }.items():
        for bounds in (UNIT, SIGNED):
            yield f"estimate, {name}, {bounds}", lambda e=estimate, b=bounds: means.clustered_mean(*e, bounds=b).estimate()
    yield "unequal lengths", partial(means.clustered_mean, [1, 0], [1])
    yield "just outside the bounds", lambda: means.clustered_mean(shares(12) + 2e-9, np.arange(12) // 2)
    yield "within rounding of the bounds", lambda: means.clustered_mean(shares(12) * (1 + 5e-10), np.arange(12) // 2)
    yield "just below the bounds", lambda: means.clustered_mean(shares(12) - 2e-9, np.arange(12) // 2)
    yield "within rounding below the bounds", lambda: means.clustered_mean(shares(12) - 5e-10, np.arange(12) // 2)
    first, second = np.arange(14) // 2, np.arange(20) // 3
    for name, (x, x_families, y, y_families) in {
        "different families": (shares(14), first, shares(20, 1), second + 50),
        "shared families": (shares(14), first, shares(20, 1), second),
        "single items": (shares(14), np.arange(14), shares(20, 1), np.arange(20) + 30),
        "changes": (changes(14), first, changes(20, 1), second + 50),
        "grades": (3 * fractions(14), first, shares(20, 1), second + 50),
        "one family": (shares(14), first * 0, shares(20, 1), second + 50),
        "two families": (shares(14), first % 2, shares(20, 1), second + 50),
        "an empty set": (shares(14), first, np.zeros(0), np.zeros(0, dtype=int)),
        "both empty": (np.zeros(0), np.zeros(0, dtype=int), np.zeros(0), np.zeros(0, dtype=int)),
        "all equal": (np.ones(14), first, np.ones(20), second + 50),
        "far apart": (np.ones(14), first, np.zeros(20), second + 50),
        "far apart and shared": (np.r_[np.ones(13), 0], first, np.r_[np.zeros(19), 1], second),
        "holes": (with_holes(shares(14), 2, 3, 5), first, with_holes(shares(20, 1), 0), second),
    }.items():
        for bounds in (UNIT, SIGNED, None):
            yield (
                f"difference, {name}, {bounds}",
                lambda a=(x, x_families, y, y_families), b=bounds: means.clustered_difference(*a, level=0.9, bounds=b),
            )
    yield "wilson", partial(means.wilson_upper, np.array([0.0, 0.3, 1.0, 1 + 1e-13]), np.array([10.0, 12, 5, 5]), np.array(2.2))


@pinned("base.gate_rules")
def gate_cases() -> Iterator[Case]:
    counts = [
        (0, 0),
        (1, 1),
        (9, 9),
        (9, 10),
        (3, 10),
        (0, 10),
        (30, 30),
        (49, 49),
        (50, 50),
        (46, 50),
        (47, 50),
        (45, 50),
        (48, 60),
        (90, 100),
        (88, 100),
        (80, 100),
        (5, 40),
        (40, 49),
        (900, 1000),
    ]
    for k, n in counts:
        yield f"paraphrases, {k} of {n}", partial(gate_rules.paraphrase_gate, k, n)
        yield f"evidence, {k} of {n}", partial(gate_rules.evidence, k, n, 0.8)
        yield f"looks, {k} of {n}", lambda k=k, n=n: gate_rules.paraphrase_gate(k, n).looks_sentence()
    yield "chosen", partial(gate_rules.paraphrase_gate, 0, 0, n_chosen=1)
    yield "many chosen", partial(gate_rules.paraphrase_gate, 60, 60, 0.9, 40, n_chosen=3)
    yield "another threshold", partial(gate_rules.paraphrase_gate, 30, 40, 0.5, 20)
    yield "few pairs", lambda: [gate_rules.few_pairs_sentence(n) for n in (0, 1, 49, 50)]
    yield "false openings", partial(gate_rules.false_openings, _opens_early, 0.7, 12)
    for name, (forwards, backwards) in {
        "none": ([], []),
        "unequal": ([1], [1, 2]),
        "first": ([0] * 12 + [1, None, 2], [1] * 12 + [1, 2, None]),
        "last": ([3] * 9 + [1], [0] * 9 + [1]),
        "no favour": ([0, 1, 2, 1], [1, 0, 2, 1]),
        "unread twice": ([None, 0], [None, 0]),
        "p of 6%": ([0] * 5, [1] * 5),
    }.items():
        yield f"position, {name}", partial(gate_rules.position_bias, forwards, backwards)
    human = list("AB" * 60)
    nearly = [*"BA" * 6, *"AB" * 54]
    for name, (people, judge) in {
        "nobody": ([], []),
        "one": (["A"], ["A"]),
        "99": (human[:99], human[:99]),
        "100": (human[:100], nearly[:100]),
        "poor": (human, [*"BA" * 15, *"AB" * 45]),
        "always A": (["A"] * 100, ["A"] * 100),
        "unread": ([None, *human[:100]], ["A", None, *nearly[:99]]),
    }.items():
        for n_tests, n_changed in ((0, 0), (29, 0), (30, 1), (60, 3), (60, 30)):
            forwards = [0] * n_tests
            position = gate_rules.position_bias(forwards, [1] * n_changed + [0] * (n_tests - n_changed)) if n_tests else None
            low, high = proportions.wilson(n_changed, n_tests)
            rerun = (
                estimates.Estimate(n_changed / max(n_tests, 1), low, high, 0.95, "wilson", n_tests, None) if n_tests else None
            )
            yield f"judge, {name}, {n_changed} of {n_tests}", partial(gate_rules.judge_gate, people, judge, position, rerun)
    yield "judge without options", partial(gate_rules.judge_gate, human, nearly, has_options=False, misread=("m1", "m2"))
    at_limit = estimates.Estimate(0.1, 0.05, 0.2, 0.95, "wilson", 30, None)
    yield (
        "judge with changes at the limit",
        partial(gate_rules.judge_gate, human, nearly, rerun_changes=at_limit, has_options=False),
    )


def _opens_early(n_accepted: int, n_reviewed: int) -> bool:
    return n_reviewed >= 4 and n_accepted >= 0.9 * n_reviewed


@pinned("base.guarded")
def guarded_cases() -> Iterator[Case]:
    items = dict(SHARES)
    items |= {"changes": changes(25), "9 changes": changes(9), "grades": fractions(20) - fractions(20, 1)}
    for (name, values), bounds in product(items.items(), (SIGNED, WIDE, (-0.5, 1.0))):
        yield f"t, {name}, {bounds}", partial(guarded.guarded_t, np.stack([values, -values]), bounds)
        yield f"limits, {name}, {bounds}", partial(guarded.guarded_limits, values - 0.1, values, bounds, 0.05)
    for (name, (values, groups)), bounds in product(CLUSTERED.items(), (SIGNED, WIDE)):
        numbers = means.family_numbers(groups)
        if not len(values):
            continue
        rows = np.stack([values, -values, np.maximum(values, 0)])
        yield f"clustered t, {name}, {bounds}", partial(guarded.guarded_t, rows, bounds, numbers)
        yield f"clustered limits, {name}, {bounds}", partial(guarded.guarded_limits, rows, rows, bounds, 0.05, numbers)

        def sides(rows: np.ndarray = rows, numbers: np.ndarray = numbers, bounds: tuple = bounds) -> list:
            sums = guarded.ClusterSums.from_values(rows.T, numbers)
            tests_of_sides = [guarded.GuardedSide.from_sums(sums, bounds, end, is_clustered=True) for end in bounds]
            return [[side.p(0.1), side.p(-0.1), side.limit(0.2)] for side in tests_of_sides] + [
                sums.with_typical_correlation.correlation,
                sums.with_largest_correlation.correlation,
            ]

        yield f"sides, {name}, {bounds}", sides
    tasks = {
        "none": [],
        "one task": [(changes(20), None)],
        "three tasks": [(changes(20), None), (changes(12, 1), None), (fractions(15) - 0.4, None)],
        "clusters": [(changes(20), families(20, 8)), (changes(12, 1), np.arange(12) // 2)],
        "clusters of one event": [
            (np.r_[np.zeros(23), -1.0], np.arange(24) // 2),
            (np.r_[np.zeros(19), 1.0], np.arange(20) // 2),
        ],
        "mixed": [(changes(20), families(20, 8)), (changes(12, 1), None)],
        "few items": [(changes(9), None)],
        "10 items": [(changes(10), None)],
        "small tasks": [(changes(4, seed), None) for seed in range(7)],
        "a single item": [(changes(20), None), (np.ones(1), None)],
        "an empty task": [(changes(20), None), (np.zeros(0), None)],
        "nothing changed": [(np.zeros(15), None), (np.zeros(12), np.arange(12) // 2)],
        "5 clusters": [(changes(15), np.arange(15) // 3)],
        "6 clusters": [(changes(18), np.arange(18) // 3)],
    }
    for (name, parts), unseen in product(tasks.items(), ((1.35, 1.35), (1.65, 2.5))):

        def mean(parts: list = parts, unseen: tuple = unseen) -> list:
            task_mean = guarded.task_mean(parts, SIGNED, unseen)
            nulls = (0.0, 0.05, 0.3)
            p_values = [[task_mean.p_above(null), task_mean.p_below(null)] for null in nulls]
            return [
                task_mean,
                p_values,
                task_mean.limits(0.05),
                [task_mean.growth_to_exclude(null, 0.05) for null in (*nulls, 0.9)],
            ]

        yield f"task mean, {name}, {unseen}", mean


@pinned("base.intervals")
def interval_cases() -> Iterator[Case]:
    yield "clt of none", partial(intervals.clt, [])
    yield "clt of one", partial(intervals.clt, [0.4])
    yield "clt", partial(intervals.clt, fractions(12), 0.9)
    yield "clt with t", partial(intervals.clt, fractions(12), 0.9, t=True)
    for name, names in {
        "texts": np.array(list("baabc")),
        "numbers": np.array([3, 1, 1, 3, 2]),
        "list": ["x", None, None, "x", "y"],
    }.items():
        yield f"sums, {name}", partial(intervals.cluster_sums, np.arange(5.0) ** 2, names)
    yield "sums of unequal lengths", partial(intervals.cluster_sums, np.arange(5.0), [1])
    for (name, values), kind in product(SHARES.items(), intervals.KINDS):
        yield f"{kind}, {name}", partial(intervals.mean_interval, values, kind=kind, n_boot=99, seed=3)
    for (name, (values, groups)), kind in product(CLUSTERED.items(), intervals.KINDS):
        yield f"{kind}, clusters, {name}", partial(intervals.mean_interval, values, groups, kind, 0.9, n_boot=60, bounds=SIGNED)
    for bounds, n in product((None, (0.0, 5.0), SIGNED), (9, 10, 29, 30)):
        yield f"{n} grades in {bounds}", partial(intervals.mean_interval, 5 * fractions(n), n_boot=99, bounds=bounds)
        yield f"{n} changes in {bounds}", partial(intervals.mean_interval, changes(n), n_boot=99, bounds=bounds)
    yield "unknown kind", partial(intervals.mean_interval, [1.0], kind="exact")
    yield "unequal lengths", partial(intervals.mean_interval, [1.0], [1, 2])
    yield "two equal clusters", partial(intervals.mean_interval, [1.0, 1.0, 1.0], [0, 0, 1], "bca", bounds=None)
    yield "one cluster", partial(intervals.mean_interval, [1.0, 0.0], [0, 0], "clt_cluster")
    yield "covering", partial(intervals.covering, [(0.2, 0.5), (0.1, 0.3)])
    yield "covering a hole", partial(intervals.covering, [(0.2, 0.5), (NAN, NAN)])
    for values in ([0.0, 1.0], [-0.1, 1.0], [0.0, 1.1]):
        yield f"cut, {values}", partial(intervals.cut_at_bounds, -0.2, 1.2, np.array(values), UNIT)
    yield "cut nowhere", partial(intervals.cut_at_bounds, -0.2, 1.2, np.array([0.5]), None)


@pinned("base.joint_means")
def joint_mean_cases() -> Iterator[Case]:
    blocks = {}
    for n in (9, 10, 12, 29, 30, 40):
        tenth = np.repeat([1.0, 0.0], [n // 10, n - n // 10])
        blocks[f"{n} items"] = np.stack(
            [
                shares(n),
                with_holes(shares(n, 1), *range(5)),
                fractions(n),
                changes(n),
                np.ones(n),
                tenth,
                1 - tenth,
                np.full(n, NAN),
                np.full(n, 0.5),
                with_holes(np.ones(n), *range(n - 1)),
            ],
            axis=1,
        )
    blocks["no item"] = np.zeros((0, 2))
    bounds = [UNIT, UNIT, UNIT, SIGNED, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT]
    for (name, columns), kind in product(blocks.items(), joint_means.KINDS):
        if kind != "default" and len(columns) in (9, 10, 29, 30):
            continue
        limits = bounds[: columns.shape[1]]
        yield (
            f"{kind}, {name}",
            lambda c=columns, k=kind, b=limits: joint_means.JointMeans(c, 1, 80).estimates(k, [0.8, 0.95], b),
        )
    columns = blocks["40 items"]
    for n_families in (1, 2, 3, 12):
        groups = families(40, n_families)
        for kind in ("default", "percentile", "clt_cluster"):
            yield (
                f"{kind}, {n_families} families",
                lambda g=groups, k=kind: joint_means.JointMeans(columns, 1, 60, g).estimates(k, [0.95], bounds),
            )
    for scale in ((0.0, 5.0), (-2.0, 2.0), SIGNED):
        grades = scale[0] + (scale[1] - scale[0]) * np.stack(
            [fractions(24), np.ones(24), np.repeat([0.5, 1.0], [20, 4])], axis=1
        )
        yield (
            f"grades in {scale}",
            lambda g=grades, s=scale: joint_means.JointMeans(g, 1, 60).estimates("default", [0.5, 0.9], [s] * 3),
        )
    yield "outside of the bounds", lambda: joint_means.joint_means(np.array([[-0.1], *[[0.05]] * 11, [1.2]]), n_boot=40)
    yield "means of shares", partial(joint_means.joint_means, columns, n_boot=40, level=0.8, seed=2)
    yield "unknown kind", lambda: joint_means.JointMeans(columns).estimates("exact", [0.9], bounds)
    yield "unknown limits", lambda: joint_means.JointMeans(columns).limits("default", [0.9])
    yield "replicates", lambda: joint_means.JointMeans(columns, 4, 30).replicates
    yield "studentized", lambda: joint_means.JointMeans(columns, 4, 30).studentized
    yield "acceleration", lambda: joint_means.JointMeans(columns).acceleration
    shown = np.array([[0.0, 1.5, -0.2], [0.5, 0.25, 1.0]])
    yield "quantiles", partial(joint_means.column_quantiles, np.array([[3.0, NAN, 1], [1, NAN, 2], [2, NAN, NAN]]), shown)
    yield "t", partial(joint_means.t_quantiles, np.array([[0.9, 0.9, 0.9]]), np.array([0.0, 1, 5]))
    yield "undetermined", partial(joint_means.is_undetermined, np.array([0.0, 0.005, 0.0051]))
    yield "note", partial(joint_means.no_spread_note, 0.126)
    for kind, n, signed in product(("default", "bca", "clt_cluster"), (1, 10, 49, 50, 100, 5000), (False, True)):
        yield f"coverage, {kind}, {n}, {signed}", partial(joint_means.measured_coverage, kind, n, signed=signed)
    rows = [
        {"kind": "t", "quantity": quantity, "n": n, "covered": covered}
        for quantity, n, covered in (("T", 20, 0.9), ("T", 50, 0.95), ("A", 20, 0.8))
    ]
    for n, signed in product((5, 20, 49, 50), (False, True)):
        yield f"coverage of rows, {n}, {signed}", partial(joint_means.measured_coverage, "t", n, signed=signed, rows=rows)
    yield "coverage of no rows", partial(joint_means.measured_coverage, "z", 10, rows=rows)


@pinned("base.multiplicity")
def multiplicity_cases() -> Iterator[Case]:
    for name, p in {
        "none": [],
        "one": [0.02],
        "ties": [0.01, 0.04, 0.01, 0.2],
        "holes": [0.03, NAN, 0.001, 0.6],
        "all missing": [NAN, NAN],
        "large": [0.9, 0.6, 0.5],
    }.items():
        for adjust in (multiplicity.bonferroni, multiplicity.holm, multiplicity.bh):
            yield f"{adjust.__name__}, {name}", partial(adjust, p)


@pinned("base.paired")
def paired_cases() -> Iterator[Case]:
    for b, c in ((0, 0), (1, 0), (0, 1), (5, 5), (6, 5), (12, 3), (3, 12), (40, 20)):
        yield f"mcnemar, {b} and {c}", partial(paired.mcnemar, b, c)
    yield "correctness", partial(paired.correctness, "0110")
    for name, (before, after) in {
        "texts": ("11010", "10110"),
        "holes": ([1, 0, NAN, 1, 0.5], [0, 1, 1, NAN, 0]),
        "unequal": ("11", "1"),
        "none": ("", ""),
    }.items():
        yield f"discordant, {name}", partial(paired.discordant, before, after)
        yield f"before and after, {name}", partial(paired.before_and_after, before, after)
    for name, (first, second) in {
        "changes": (changes(15), changes(12, 1)),
        "one item": ([1.0], changes(12)),
        "two items": ([1.0, 0.0], [0.0, 0.0]),
        "equal": ([0.5, 0.5], [0.5, 0.5]),
        "equal, below": ([0.0, 0.0], [0.5, 0.5]),
        "equal, above": ([1.0, 1.0], [0.5, 0.5]),
        "nearly equal": ([0.5, 0.5 + 1e-13], [0.5, 0.5]),
    }.items():
        yield f"welch, {name}", partial(paired.gap_welch, first, second, 0.9)


@pinned("base.power")
def power_cases() -> Iterator[Case]:
    yield "variance", partial(power.drop_variance, 0.3, 0.2)
    for gap, two_sided in product((0.0, 0.1, -0.05), (True, False)):
        yield f"gap of {gap}, {two_sided}", partial(power.n_for_gap, gap, 0.2, 0.1, 0.15, 0.02, 0.05, 0.8, two_sided=two_sided)
    for n, coverage in product((100, 90, float("inf")), (0.0, 0.3, 0.9, 1.0, 1.1)):
        yield f"{n} items, coverage {coverage}", partial(power.n_to_author, n, coverage)
    for n1, n2 in ((0, 10), (1, 1), (100, 50), (50, 0)):
        yield f"{n1} against {n2}", partial(power.mde_two_prop, 0.3, n1, n2, 0.1, 0.9)
    for margin in (-0.1, 0.0, 0.05):
        yield f"equivalence within {margin}", partial(power.n_tost_two_prop, 0.7, margin, 0.1, 0.9)
    yield (
        "defaults",
        lambda: [power.n_for_gap(0.1, 0.2, 0.1, 0.2, 0.0), power.mde_two_prop(0.5, 80, 90), power.n_tost_two_prop(0.5, 0.1)],
    )


@pinned("base.proportions")
def proportion_cases() -> Iterator[Case]:
    counts = [(0, 0), (0, 1), (1, 1), (0, 12), (12, 12), (5, 12), (2.5, 9), (-1, 3), (4, 3)]
    for k, n in counts:
        yield f"wilson, {k} of {n}", partial(proportions.wilson, k, n, 0.9)
        if isinstance(k, int):
            yield f"exact, {k} of {n}", partial(proportions.clopper_pearson, k, n, 0.9)
        yield f"bonett, {k} of {n}", partial(proportions.bonett_price, k, 0, n, 0.9)
        yield f"newcombe, {k} of {n}", partial(proportions.newcombe_diff, k, n, 3, 7, 0.9)
        yield f"newcombe, second {k} of {n}", partial(proportions.newcombe_diff, 3, 7, k, n, 0.9)
    yield (
        "bonett, both",
        lambda: [
            proportions.bonett_price(3, 4, 9),
            proportions.bonett_price(9, 0, 9, 0.999),
            proportions.bonett_price(0, 9, 9, 0.999),
        ],
    )
    yield (
        "defaults",
        lambda: [
            proportions.wilson(3, 9),
            proportions.clopper_pearson(3, 9),
            proportions.newcombe_diff(3, 9, 1, 9),
            proportions.hoeffding(0.4, 30),
        ],
    )
    yield (
        "hoeffding",
        lambda: [proportions.hoeffding(0.4, n, 0.9, bounds) for n, bounds in product((0, 1, 500), (UNIT, (-1.0, 3.0)))],
    )
    yield "t", lambda: [proportions.t_quantile(0.9, df) for df in (0.0, 0.99, 1, 7.5)]
    for (name, x), bounds, size in product(
        {
            "none right": np.zeros(12),
            "one": np.ones(1),
            "halves": np.full(5, 0.5),
            "−1": np.full(6, -1.0),
            "two": np.ones(2),
            "0 to 1": np.array([0.0, 1.0]),
        }.items(),
        (None, UNIT, SIGNED, (0.0, 3.0), (0.2, 1.0)),
        (1.0, 2.0),
    ):

        def substitute(x: np.ndarray = x, bounds: means.Bounds = bounds, size: float = size) -> list:
            stand_in = proportions.stand_in(x, x * size, np.full(x.size, size), bounds, "bca")
            return [stand_in.method, stand_in.note, stand_in.limits and [stand_in.limits(level) for level in (0.5, 0.95)]]

        yield f"stand-in, {name}, {bounds}, {size}", substitute


@pinned("base.resample")
def resample_cases() -> Iterator[Case]:
    def rng() -> np.random.Generator:
        return generator(7, "resample")

    for n, n_boot in ((1, 3), (5, 4), (400_000, 3), (0, 1)):
        yield (
            f"indices, {n}",
            lambda n=n, b=n_boot: (
                [
                    draw if draw.size < 50 else [draw.shape, int(draw[:, :99].sum())]
                    for draw in resample.index_draws(n, b, rng())
                ]
                if n
                else []
            ),
        )
    for n in (6, 499, 500, 1_999, 2_000, 2_100):
        spread = np.stack([np.arange(n) / n, np.arange(n)[::-1] % 7, np.arange(n) / n], axis=1)
        few = np.stack([np.arange(n) % 3, np.arange(n) % 2], axis=1)
        at_limit = (np.arange(n) % max(n // 16, 1))[:, None].astype(float)
        for name, columns in {
            "spread": spread,
            "few": few,
            "a sixteenth": at_limit,
            "one more": (np.arange(n) % (n // 16 + 1))[:, None],
        }.items():
            yield f"sums, {n}, {name}", lambda c=columns: resample.replicate_sums(c, 6, rng())
    holes = np.stack([with_holes(shares(8), 0, 1), np.full(8, NAN), with_holes(np.ones(8), *range(7)), shares(8, 1)], axis=1)
    yield "means", lambda: resample.replicate_means(holes, 8, rng())
    for n, rows in ((30, 1), (30, 4), (2_000, 2), (26, 300)):
        yield f"counts, {n}, {rows}", lambda n=n, r=rows: resample.count_draws(n, r, rng())
    sequence = iter(np.linspace(0, 1, 4_001))
    yield "p without a value", lambda: resample.monte_carlo_p(NAN, lambda k: np.ones(k))
    for name, observed in {"small": 2.0, "large": -1.0, "near the level": 1.64, "equal": 0.0}.items():
        yield f"p, {name}", lambda o=observed: resample.monte_carlo_p(o, rng().standard_normal, 99, 0.05, 500)
    yield (
        "p of ties",
        lambda: resample.monte_carlo_p(0.5, lambda k: np.array([next(sequence) for _ in range(k)]).round(1), 40, 0.4, 200),
    )
    for name, values in {
        "changes": changes(12),
        "fractions": fractions(7) - 0.3,
        "none": np.zeros(0),
        "holes": with_holes(changes(16), 0),
        "zeros": np.zeros(9),
        "4 sizes": np.r_[changes(12), 0.5, 0.25, 2, 4],
    }.items():
        for one_sided in (False, True):
            yield (
                f"sign flips, {name}, {one_sided}",
                lambda v=values, s=one_sided: resample.sign_flip_p(v, rng(), 99, one_sided=s),
            )


@pinned("base.retention")
def retention_cases() -> Iterator[Case]:
    votes = ([], [True], [False], [True, False], [True, True, False], [True, True])
    for rule in retention.RULES:
        yield f"passes, {rule}", lambda r=rule: [retention.passes(part, r) for part in votes]
    yield "an unknown rule", partial(retention.passes, [True], "any")
    for kept, total in ((0, 0), (3, 9), (9, 9)):
        yield f"{kept} of {total}", partial(retention.retention, kept, total)
        yield f"estimate, {kept} of {total}", partial(retention.retention_estimate, kept, total, "unanimous", 0.9)


def _centroid(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return 1 for rows nearer to the mean of label 1 than to that of label 0, and 0.5 for ties."""
    distances = [np.abs(test - train[labels == label].mean(axis=0)).sum(axis=1) for label in (0, 1)]
    return 0.5 + 0.5 * np.sign((distances[0] - distances[1]).round(12))


@pinned("base.separability")
def separability_cases() -> Iterator[Case]:
    rows = generator(3, "rows").normal(size=(24, 2)).round(2)
    labels = np.arange(24) % 2
    rows[labels == 1] += 0.8
    for name, (groups, is_paired) in {
        "single rows": (None, False),
        "pairs": (np.arange(24) // 2, True),
        "pairs, not paired": (np.arange(24) // 2, False),
        "groups of one label": (np.arange(24) % 2 + 2 * (np.arange(24) // 4), False),
        "mixed groups": (np.arange(24) // 3, False),
        "groups of three": (np.arange(24) // 3, True),
        "groups of twins": (np.r_[np.arange(24)[2:], 0, 0] // 2 % 12 * 0 + np.arange(24) // 4 * 2 + np.arange(24) % 2, True),
        "few groups": (np.arange(24) % 4, False),
    }.items():
        yield name, partial(separability.separability, rows, labels, _centroid, groups, paired=is_paired, m=19)
    yield "9 rows of one set", partial(separability.separability, rows[:19], labels[:19], _centroid, m=9)
    yield "10 rows of both", partial(separability.separability, rows[:20], labels[:20], _centroid, m=9, n_folds=4, seed=2)
    yield "one label", partial(separability.separability, rows, labels * 0, _centroid, m=3)
    yield "unequal lengths", partial(separability.separability, rows[:5], labels, _centroid, m=3)
    yield "unequal groups", partial(separability.separability, rows, labels, _centroid, [1], m=3)
    yield "logistic", lambda: separability.logistic(np.c_[rows[:16], np.ones(16)], labels[:16], np.c_[rows[16:], np.ones(8)])
    yield "folds", lambda: separability.grouped_folds(labels, np.arange(24) // 2, 5, generator(1))
    yield "folds of unequal groups", lambda: separability.grouped_folds(labels, families(24, 9), 3, generator(1))
    yield "balanced", lambda: separability.balanced_accuracy(labels[:6], np.array([0.5, 0.5, 0.2, 0.9, 0.7, 0.1]))
    yield "balanced of one label", lambda: separability.balanced_accuracy(labels[:1], np.array([0.5]))
    yield "auc", lambda: [separability.auc(labels[:n], fractions(24)[:n]) for n in (0, 1, 2, 7, 24)]
    yield (
        "weighted",
        lambda: separability.weighted_auc(labels[:6], fractions(6), np.array([[1.0, 2, 0, 1, 3, 1], [0, 1, 0, 1, 0, 1]])),
    )


@pinned("base.simultaneous")
def simultaneous_cases() -> Iterator[Case]:
    for name, values in SHARES.items():
        yield name, partial(simultaneous.bounded_path, values)
    yield "grades", partial(simultaneous.bounded_path, 4 * fractions(25) - 1, 0.1, (-1.0, 3.0))
    yield "outside", partial(simultaneous.bounded_path, [0.0, 1.1])
    yield "below", partial(simultaneous.bounded_path, [0.0, -0.1])


@pinned("base.tango")
def tango_cases() -> Iterator[Case]:
    counts = [
        (0, 0, 0),
        (0, 0, 1),
        (1, 0, 1),
        (0, 0, 12),
        (3, 3, 12),
        (5, 1, 12),
        (1, 5, 12),
        (12, 0, 12),
        (0, 12, 12),
        (2, 0, 40),
        (9, 4, 60),
        (20, 9, 301),
        (9, 20, 300),
        (0, 0, 400),
        (3, 0, 301),
    ]
    for b, c, n in counts:
        if n:
            yield (
                f"z, {b}, {c}, {n}",
                lambda b=b, c=c, n=n: [tango.tango_z(b, c, n, loss) for loss in (-0.9, -0.1, 0.0, 0.05, 0.5, 1.0)],
            )
        yield (
            f"p, {b}, {c}, {n}",
            lambda b=b, c=c, n=n: [
                [tango.p_below(b, c, n, loss), tango.p_above(b, c, n, loss)] for loss in (-1.0, -0.2, 0.0, 0.04, 0.5, 1.0)
            ],
        )
        yield f"two-sided, {b}, {c}, {n}", partial(tango.p_two_sided, b, c, n)
        yield f"limits, {b}, {c}, {n}", lambda b=b, c=c, n=n: [tango.loss_limits(b, c, n, level) for level in (0.5, 0.95)]
        yield f"upper, {b}, {c}, {n}", partial(tango.upper_loss, b, c, n)
    for counts in ((-1, 0, 3), (0, -1, 3), (2, 2, 3)):
        yield f"impossible, {counts}", partial(tango.p_below, *counts)


@pinned("base.two_shares")
def two_share_cases() -> Iterator[Case]:
    sets = [
        (0, 1, 0, 1),
        (1, 1, 0, 1),
        (0, 9, 0, 12),
        (9, 9, 12, 12),
        (9, 9, 0, 12),
        (0, 9, 12, 12),
        (5, 9, 7, 12),
        (7, 12, 5, 9),
        (3, 30, 6, 11),
        (20, 25, 12, 25),
        (900, 1501, 800, 1501),
        (750, 1500, 14, 20),
        (40, 50, 300, 400),
    ]
    for counts in (two_shares.Counts(*numbers) for numbers in sets):
        name = "{} of {} and {} of {}".format(*counts)
        differences = (-1.0, -0.6, -0.05, 0.0, 0.1, 0.45, 1.0)
        yield f"z, {name}", lambda c=counts: [two_shares.z_score(*c, d) for d in (-1.0, -0.6, -0.05, 0.0, 0.1, 0.45, 1.0)]
        yield f"p, {name}", lambda c=counts, ds=differences: [two_shares.p_above(c, d) for d in ds]
        yield f"two-sided, {name}", partial(two_shares.p_two_sided, counts)
        if max(counts) < 1000 or min(counts.n1, counts.n2) > 1500:
            yield f"limits, {name}", lambda c=counts: [two_shares.difference_limits(c, level) for level in (0.5, 0.95, 0.999)]
        yield f"limit, {name}", partial(two_shares.lower_limit, counts)
        yield f"properties, {name}", partial(lambda value: [value, value.swapped], counts)
    for numbers in ((1, 0, 1, 2), (1, 2, 0, 0), (3, 2, 0, 1), (-1, 2, 0, 1), (0, 1, -1, 2), (0, 1, 3, 2)):
        yield f"impossible, {numbers}", partial(two_shares.p_above, two_shares.Counts(*numbers))
    for n1, n2, difference, error in (
        (9, 12, 0.0, 0.05),
        (12, 9, 0.1, 0.025),
        (1501, 1501, 0.0, 0.05),
        (1500, 1501, 0.0, 0.05),
        (3, 3, 0.2, 1e-9),
    ):
        yield f"critical, {n1}, {n2}, {difference}", partial(two_shares.critical_score, n1, n2, difference, error)
