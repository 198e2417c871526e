"""Cases of flipcore/stats/audit."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from flipcore.stats.audit import groups, labelled, paired, score_rate, suspects
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, families, fractions, shares, with_holes
from tests.stats.pinned.results import Case


@pinned("audit.groups")
def group_cases() -> Iterator[Case]:
    for name, values, names in (
        ("unequal", shares(30), families(30, 6).astype(str)),
        ("apart", np.repeat([0.0, 1.0, 0.0], [8, 7, 3]), np.repeat(["b", "a", "c"], [8, 7, 3])),
        ("equal values", np.ones(12), np.arange(12) % 3),
        ("one group", shares(12), np.zeros(12)),
        ("fractions", fractions(20), np.arange(20) % 4),
        ("one item", np.ones(1), np.zeros(1)),
    ):
        yield name, partial(groups.group_spread, values, names, 3)


@pinned("audit.labelled")
def labelled_cases() -> Iterator[Case]:
    tables = {
        "clear": [(30, 2), (2, 30)],
        "weak": [(20, 10), (9, 19)],
        "random": [(10, 11), (12, 10)],
        "one value": [(10, 20)],
        "empty value": [(10, 20), (0, 0)],
        "no label": [(0, 5), (0, 7)],
        "almost": [(8, 2), (3, 9)],
    }
    yield "all", partial(labelled.columns_that_tell, tables)
    for name, table in tables.items():
        yield name, lambda n=name, t=table: [labelled.columns_that_tell({n: t}, alpha) for alpha in (0.0001, 0.05, 0.3)]
    yield (
        "stops at the first",
        partial(labelled.columns_that_tell, {"a": tables["almost"], "b": tables["random"], "c": tables["weak"]}),
    )


@pinned("audit.paired")
def paired_cases() -> Iterator[Case]:
    clusters = families(40, 20)
    for name, (first, second) in {
        "binary": (shares(40), shares(40, 1)),
        "grades": (fractions(40), fractions(40, 1)),
        "equal": (shares(40), shares(40)),
        "holes": (with_holes(shares(40), 0, 3), with_holes(shares(40, 1), 3, 5)),
        "9 items": (shares(9), shares(9, 1)),
        "10 items": (shares(10), shares(10, 1)),
        "one fraction": (np.r_[0.5, shares(19)], shares(20, 1)),
        "none": (np.zeros(0), np.zeros(0)),
    }.items():
        n = len(first)
        for kind, names in {
            "single": None,
            "clusters": clusters[:n],
            "few clusters": np.arange(n) % 4,
            "names": np.arange(n).astype(str),
        }.items():
            yield f"{name}, {kind}", partial(paired.paired_scores, first, second, names, 0.9)
    for groups_of_items, (low, high) in product((None, clusters), ((0.0, 1.0), (1.0, 5.0), (-2.0, 2.0))):
        grades = [low + (high - low) * fractions(40, seed) for seed in (0, 1)]
        yield (
            f"grades, {low} to {high}, {groups_of_items is None}",
            partial(paired.grade_gap, *grades, groups_of_items, alpha=0.05, low=low, high=high),
        )
    yield "no grade", partial(paired.grade_gap, np.zeros(0), np.zeros(0), None, alpha=0.05, low=0.0, high=1.0)
    for name, values in {
        "none": np.zeros(0),
        "one": np.ones(1),
        "equal": np.ones(5),
        "no mean": np.array([1.0, -1.0]),
        "small": changes(40) / 5,
        "clear": fractions(20),
        "tiny": np.r_[changes(200, 1, 0.3, 0.3), 0.3],
        "negative": -fractions(12),
        "two": np.array([0.0, 0.5]),
    }.items():
        yield f"to decide, {name}", partial(paired.n_to_decide, values, 0.025)
    yield "unpaired", partial(paired.unpaired_difference, fractions(12), shares(12), 0.8)
    yield "largest", lambda: [paired.largest_flip_rate(*rates) for rates in ((0.9, 0.8), (0.4, 0.5), (0.5, 0.5), (1.0, 1.0))]


@pinned("audit.score_rate")
def score_rate_cases() -> Iterator[Case]:
    right = np.array([[0, 1, 2, 3], [0, 1, 2, -1], [0, -1, -1, -1], [2, 0, 1, 3]])
    answers = np.array([[0, 1, 2, 0], [1, 1, 0, 2], [0, 0, 0, 0], [-1, 0, 2, 2]])
    yield "all", partial(score_rate.score_rates, answers, right, np.array([0, 1, 0, 2]))
    yield "one item", partial(score_rate.score_rates, answers[:1], right[:1], np.array([3]))
    yield "no pair", partial(score_rate.score_rates, answers[2:3], right[2:3], np.array([0]))


@pinned("audit.suspects")
def suspect_cases() -> Iterator[Case]:
    answers = ["AAAAB", "BBBBB", "CCCCCCCCAA", "", "ABCD", "DDDDDDDDDC", "BA", "BBA"]
    keys = ["A", "A", "A", "A", "A", "C", "X", "A"]
    yield "texts", partial(suspects.suspicions, [list(part) for part in answers], [[key] for key in keys], [*"xxyyyzz", 3])
    yield "several keys", partial(suspects.suspicions, [[1, 2, 3, 3], [2, 2, 10, 10]], [[1, 2], [3]], ["x", "x"])
    yield "none", partial(suspects.suspicions, [], [], [])
    yield "unequal keys", partial(suspects.suspicions, [["A"]], [], ["x"])
    yield "unequal subjects", partial(suspects.suspicions, [["A"]], [["A"]], [])
    yield "missing", partial(suspects.suspicions, [[NAN, "A"]], [["A"]], [None])
