"""Cases of flipcore/stats/score."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.score import (
    absence,
    additivity,
    cells,
    corrected,
    corrected_flips,
    error_bar,
    next_calls,
    reducers,
    regression,
    self_preference,
)
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, families, fractions, shares, with_holes
from tests.stats.pinned.results import Case


@pinned("score.absence")
def absence_cases() -> Iterator[Case]:
    grid = product((0.0, 0.005, 0.01, 0.011), (0.0, 0.1, 0.11), (0.2,))
    yield "matters", lambda: [absence.absence_matters(*numbers) for numbers in grid]
    estimate, low, high = (Estimate(value, value - 0.1, value + 0.1, 0.95, "t", 20, None) for value in (0.5, 0.45, 0.7))
    unlimited = replace(estimate, low=NAN, high=NAN)
    yield "widened", partial(absence.widen_for_absence, estimate, low, high, 0.02)
    for name, parts in {
        "first": (unlimited, low, high),
        "second": (estimate, unlimited, high),
        "third": (estimate, low, unlimited),
    }.items():
        yield f"no interval, {name}", partial(absence.widen_for_absence, *parts, 0.02)
    yield "words", lambda: [absence.absence_words(share) for share in (0.0, 0.004, 0.0094, 0.0095, 0.2)]


@pinned("score.additivity")
def additivity_cases() -> Iterator[Case]:
    gaps = np.stack(
        [fractions(16) - 0.4, with_holes(changes(16), *range(6)), with_holes(changes(16), *range(7)), 3 * changes(16)], axis=1
    )
    for n_families in (1, 2, 3, 9, 16):
        groups = families(16, n_families).astype(str)
        yield f"{n_families} families", partial(additivity.way_gaps, gaps, list("abcd"), groups, 0.9, 2.0)
    yield "single", partial(additivity.way_gaps, gaps, list("abcd"), np.arange(16))
    yield "large", partial(additivity.way_gaps, gaps[:, 3:] + 2, ["a"], np.arange(16) // 2, width=0.5)
    yield "exactly 3 families", partial(additivity.way_gaps, gaps[:15, :1], ["a"], np.arange(15) // 5)
    yield "no way", partial(additivity.way_gaps, gaps[:, :0], [], np.arange(16))


def _rows(n: int, n_wordings: int, n_runs: int, seed: int = 0, *, grades: bool = False, spread: float = 0.15) -> pd.DataFrame:
    rng = generator(seed, "rows", n, n_wordings)
    question, wording, sample = np.indices((n, n_wordings, n_runs)).reshape(3, -1)
    chance = np.clip(rng.random(n)[question] + spread * rng.standard_normal(n_wordings)[wording], 0, 1)
    score = rng.binomial(4, chance) / 4 if grades else (rng.random(chance.size) < chance).astype(float)
    return pd.DataFrame(
        {"item_id": [f"q{n - 1 - i}" for i in question], "wording": [f"w{n_wordings - 1 - i}" for i in wording], "score": score}
    )


TABLES = {
    "binary": _rows(12, 4, 2),
    "grades": _rows(12, 4, 2, 1, grades=True),
    "one run": _rows(14, 3, 1, 2),
    "one wording": _rows(13, 1, 1, 3),
    "one wording, twice": _rows(13, 1, 2, 4),
    "grades of one wording": _rows(13, 1, 1, 5, grades=True),
    "two wordings": _rows(11, 2, 1, 6),
    "six wordings": _rows(11, 6, 1, 7),
    "9 questions": _rows(9, 3, 2, 8),
    "10 questions": _rows(10, 3, 2, 9),
    "one question": _rows(1, 3, 2, 9),
    "wide grades": _rows(12, 3, 2, 10, grades=True).eval("score = 5 * score - 1"),
    "all right": _rows(12, 3, 2).assign(score=1.0),
    "wordings alone differ": _rows(12, 4, 1).assign(score=lambda rows: (rows["wording"] != "w0").astype(float)),
    "near the end": _rows(40, 7, 1, 11).assign(
        score=lambda rows: (rows["wording"] != "w0").astype(float) * (rows["item_id"] != "q3")
    ),
    "questions alone differ": _rows(12, 4, 2).assign(score=lambda rows: rows["item_id"].isin(["q1", "q4", "q7"]).astype(float)),
    "families": _rows(24, 4, 2, 12).assign(family=lambda rows: rows["item_id"].str[1:].astype(int) // 3),
    "two families": _rows(12, 4, 2, 13).assign(family=lambda rows: rows["item_id"].str[1:].astype(int) % 2),
    "families of one": _rows(12, 4, 2, 13).assign(family=lambda rows: rows["item_id"]),
    "120 families": _rows(240, 3, 1, 14).assign(family=lambda rows: rows["item_id"].str[1:].astype(int) // 2),
    "holes": _rows(12, 4, 2, 15).assign(score=lambda rows: with_holes(rows["score"].to_numpy(), 0, 1, 9, 12, 30, 31)),
    "sparse wordings": _rows(12, 4, 1, 16)
    .query("wording != 'w1' or item_id in ('q1', 'q2', 'q3', 'q4', 'q5', 'q6')")
    .query("wording != 'w2' or item_id in ('q1', 'q2', 'q3', 'q4', 'q5')"),
    "unequal runs": pd.concat([_rows(12, 3, 2, 17), _rows(12, 3, 1, 18)[:20]]),
    "no score": _rows(3, 2, 1).assign(score=NAN),
}
BARS = {name: cells.score_cells(rows) for name, rows in TABLES.items() if name != "no score"}
SCALES = {"grades": (0.0, 1.0), "wide grades": (-1.0, 4.0), "binary": (0.0, 2.0), "one run": (-1.0, 1.0)}


@pinned("score.cells")
def cell_cases() -> Iterator[Case]:
    for name, table in BARS.items():
        yield name, partial(lambda value: value, table)
    yield "with a scale", partial(cells.score_cells, TABLES["wide grades"], (-1.0, 4.0))
    for name, rows in {"no score": TABLES["no score"], "no row": TABLES["families"][:0]}.items():
        empty = cells.score_cells(rows)
        yield (
            name,
            lambda t=empty: [t.shape, t.questions, t.wordings, t.dropped_wordings, t.n_dropped_questions, t.families, t.bounds],
        )
    first = BARS["binary"]
    yield "by wording", first.by_wording
    yield "one column", partial(first.select_wording, 2)
    yield "selected", partial(BARS["families"].select, ["q4", "q1"], ["w3", "w0"])
    for name in ("binary", "grades", "one run", "wide grades", "unequal runs", "families"):
        yield f"minus {name}", partial(first.minus, BARS[name])
        yield f"{name} minus", partial(BARS[name].minus, first)
    just_outside = replace(BARS["one run"], mean=BARS["one run"].mean - 0.001)
    yield "just outside", lambda: [just_outside.bounds, replace(just_outside, mean=just_outside.mean + 0.002).bounds]


@pinned("score.error_bar")
def error_bar_cases() -> Iterator[Case]:
    names = ("reruns", "questions", "wordings", "elsewhere")

    def whole(table: cells.ScoreCells, level: float) -> list:
        bar = error_bar.error_bar(table, level)
        numbers = [bar.squares, bar.components, bar.value, bar.variances, bar.why_not, bar.n_families, bar.n_effective]
        texts = [[bar.estimate(name), bar.is_short(name)] for name in names]
        return [
            *numbers,
            *texts,
            bar.half_widths,
            bar.df,
            bar.n_runs,
            bar.has_skewed_prompts,
            bar.at_level(0.5).by_wordings,
            error_bar.shares(bar, 2),
        ]

    for name, table in BARS.items():
        yield name, partial(whole, table, 0.95)
    for name, scale in SCALES.items():
        yield f"{name} in {scale}", partial(whole, replace(BARS[name], scale=scale), 0.9)
    yield "no question", partial(whole, cells.score_cells(TABLES["no score"]), 0.95)
    just_close = _rows(20, 3, 1, 21, spread=0.3).assign(score=lambda rows: (rows.index % 5 > 0).astype(float))
    yield "a fifth wrong", partial(whole, cells.score_cells(just_close), 0.95)
    for numbers in (
        (0.8, 0.01, 12.0, 30.0),
        (1.0, 0.0, 12.0, 30.0),
        (0.01, 0.02, 5.0, 9.0),
        (1.0, 0.02, 5.0, 9.0),
        (0.5, 0.02, 0.5, 9.0),
        (0.4, 0.0, 9.0, np.inf),
    ):
        for bounds in ((0.0, 1.0), (-1.0, 1.0), (0.0, 4.0), (-np.inf, np.inf), (1.0, 5.0)):
            yield (
                f"limits, {numbers}, {bounds}",
                lambda n=numbers, b=bounds: [
                    error_bar.limits_of_score(*n, 0.9, b) if b[0] < n[0] else None,
                    error_bar.limits_of_grades(*n, 0.9, b) if b[0] < n[0] and np.isfinite(n[3]) else None,
                ],
            )
    squares = error_bar.MeanSquares(1.0, 0.5, 0.2, 0.1, 9.0, 3.0, 27.0, 40.0)
    for n_wordings, mean in product(
        (1, 4),
        (
            squares,
            replace(squares, reruns=NAN),
            replace(squares, residual=0.8),
            replace(squares, questions=0.04, residual=0.04),
        ),
    ):
        yield (
            f"components, {n_wordings}, {mean.residual}, {mean.reruns}",
            partial(error_bar.components, mean, 10, n_wordings, 2.0),
        )


@pinned("score.next_calls")
def next_call_cases() -> Iterator[Case]:
    for name in (
        "binary",
        "grades",
        "one run",
        "one wording",
        "six wordings",
        "10 questions",
        "two families",
        "families",
        "all right",
        "questions alone differ",
    ):
        bar = error_bar.error_bar(BARS[name])
        yield f"gains, {name}", partial(next_calls.gains, bar, 50)
        yield f"careful, {name}", partial(next_calls.careful_components, bar)
        if name != "one wording":
            yield f"upper, {name}", partial(next_calls.upper_components, bar)
    parts = error_bar.Components(0.1, 0.01, 0.03, 0.05)
    fixed = {
        "measured": parts,
        "no wordings": replace(parts, wordings=0.0),
        "nothing": error_bar.Components(0.0, 0.0, 0.0, 0.0),
        "reruns": error_bar.Components(0.0, 0.0, 0.0, 0.2),
    }
    for (name, part), sizes in product(fixed.items(), ((50, 4, 2), (1, 1, 1), (2, 1, 1), (10, 2, 1))):
        yield f"half width, {name}, {sizes}", partial(next_calls.half_width, part, *sizes, 0.9)
    yield "designs", partial(next_calls.designs_after, parts, 20, 4, 2, 40, 0.9)
    yield "defaults", lambda: [next_calls.half_width(parts, 20, 4, 2), next_calls.designs_after(parts, 20, 4, 2)]
    for numbers in (
        (0.7, 0.2, 0.1, 0.05),
        (0.7, 0.42, 0.1, 0.05),
        (0.7, 0.4201, 0.1, 0.05),
        (0.7, 0.1, 0.1, 0.05),
        (0.5, 0.2, 0.195, 0.05),
        (0.5, 0.2, 0.1951, 0.05),
    ):
        yield f"assumed, {numbers}", partial(next_calls.assumed_components, *numbers)
    worst = replace(parts, wordings=0.08)
    for n_calls, most, bad in product((5, 6, 60, 600), (2, 30, 1000), (None, worst)):
        yield f"best of {n_calls}, {most}, {bad is None}", partial(next_calls.best_design, parts, n_calls, most, 0.9, bad)
    for part in (fixed["reruns"], fixed["no wordings"], fixed["nothing"]):
        yield f"best for {part.reruns} of {part.questions}", partial(next_calls.best_design, part, 200, 20)
    yield "best for the worst", partial(next_calls.best_design, parts, 1000, 40, worst=replace(parts, wordings=5.0))


@pinned("score.reducers")
def reducer_cases() -> Iterator[Case]:
    scores = pd.Series([1.0, 0, 1, 0.5, 0.5, 1, NAN, 0, 1, 0, 0, NAN, 2])
    items = pd.Series(list("bbbaaacccddee"))
    names = (
        "mean",
        "median",
        "mode",
        "max",
        "at_least_1",
        "at_least_2",
        "pass_at_1",
        "pass_at_2",
        "pass_at_3",
        "pass_hat_1",
        "pass_hat_2",
        "pass_k_2",
        "pass_k_4",
    )
    for name in names:
        yield name, lambda n=name: [reducers.item_scores(scores, items, n), list(reducers.item_scores(scores, items, n).index)]
    yield "known", lambda: [reducers.is_known(name) for name in (*names, "min", "pass_at_", "pass_at_2x", "xmode")]


def _tasks() -> dict[str, list[regression.TaskScores]]:
    def task(old: np.ndarray, new: np.ndarray, clusters: np.ndarray | None = None, scale: float = 1.0) -> regression.TaskScores:
        return regression.TaskScores(old, new, clusters, scale)

    def binary(n: int, fell: int, rose: int) -> regression.TaskScores:
        old, new = np.zeros(n), np.zeros(n)
        old[:fell] = new[n - rose :] = 1.0
        return task(old, new)

    return {
        "nothing": [binary(30, 0, 0)],
        "60 unchanged": [binary(60, 0, 0)],
        "9 items": [binary(9, 1, 0)],
        "10 items": [binary(10, 1, 0)],
        "fell": [binary(60, 20, 2)],
        "rose": [binary(80, 2, 9)],
        "balanced": [binary(60, 4, 4)],
        "grades": [task(fractions(30), fractions(30, 1))],
        "grades of 5": [task(5 * fractions(30), 5 * fractions(30, 1), scale=5.0)],
        "clusters": [task(shares(40), shares(40, 1), families(40, 20))],
        "clusters that fell": [task(np.ones(40), shares(40, 2, 0.4), families(40, 20))],
        "clusters unchanged": [task(np.ones(40), np.ones(40), np.arange(40) // 2)],
        "few clusters": [task(shares(40), shares(40, 1), families(40, 4))],
        "single clusters": [task(shares(20), shares(20, 1), np.arange(20))],
        "holes": [task(with_holes(shares(20), 0, 1, 2), with_holes(shares(20, 1), 2, 3), np.arange(20) // 2)],
        "no item": [task(np.full(3, NAN), np.zeros(3))],
        "two tasks": [binary(40, 3, 2), task(fractions(30), fractions(30, 1))],
        "two that fell": [binary(60, 20, 2), binary(50, 12, 0)],
        "fell and rose": [binary(60, 20, 2), binary(60, 2, 20)],
        "one of two fell": [binary(60, 3, 2), binary(50, 22, 0)],
        "three unchanged": [binary(60, 0, 0), binary(50, 0, 0), task(np.ones(40), np.ones(40), np.arange(40) // 2)],
        "small tasks": [binary(4, 1, 0), binary(4, 0, 0), binary(5, 0, 1)],
        "mixed clusters": [task(shares(40), shares(40, 1), families(40, 20)), binary(40, 2, 2)],
        "none": [],
    }


@pinned("score.regression")
def regression_cases() -> Iterator[Case]:
    def loss(tasks: list[regression.TaskScores], margin: float) -> list:
        value = regression.loss_of(tasks, margin)
        numbers = [
            value.value,
            value.n,
            value.n_fell,
            value.n_rose,
            value.is_clustered,
            value.is_exact,
            value.is_judged,
            value.is_shown,
        ]
        numbers += [value.p_small, value.p_large, value.p_loss, value.low, value.high, value.outcome]
        return [*numbers, value.n_to_decide if tasks else None]

    def verdict(tasks: list[regression.TaskScores], margin: float) -> list:
        result = regression.judge(tasks, margin)
        return [
            result.outcome,
            result.is_failing,
            result.is_mean_failing,
            [task.outcome for task in result.tasks],
            result.mean.value,
        ]

    by_name = _tasks()
    for (name, tasks), margin in product(by_name.items(), (0.0, 0.05, 0.3)):
        if tasks:
            yield f"{name}, {margin}", partial(loss, tasks, margin)
            yield f"verdict, {name}, {margin}", partial(verdict, tasks, margin)
    for name in ("fell", "rose", "balanced", "grades", "clusters that fell"):
        limits = regression.loss_of(by_name[name], 0.05)
        # The p and the limit must agree, to within the precision of the limit.
        for margin in (limits.low, limits.low + 1e-6, limits.low - 3e-6, limits.high, limits.high - 1e-6, limits.high + 3e-6):
            yield f"{name} at a limit, {margin:.7f}", partial(loss, by_name[name], margin)
    for task in (by_name["holes"][0], by_name["grades of 5"][0], by_name["single clusters"][0], by_name["fell"][0]):
        yield f"task of {task.old.sum()}", partial(lambda value: value, task)
    yield (
        "nothing to decide",
        lambda: [regression.loss_of(by_name["nothing"], margin).n_to_decide for margin in (0.0, 0.5, 1.0)],
    )
    verdicts = {
        name: regression.judge(by_name[name], 0.05)
        for name in ("60 unchanged", "fell", "balanced", "two that fell", "two tasks", "fell and rose")
    }
    for (left_out, worst, best), has_all in product(product(verdicts, repeat=3), (True, False)):
        if len(verdicts[left_out].tasks) == len(verdicts[worst].tasks) == len(verdicts[best].tasks):
            bounds = regression.Bounds(verdicts[left_out], verdicts[worst], verdicts[best], has_all)
            yield (
                f"bounds, {left_out}, {worst}, {best}, {has_all}",
                lambda b=bounds: [b.outcome, b.is_failing, b.is_mean_failing, b.is_loss_shown, b.is_open_by_absence],
            )


LABELLED = {  # readouts, people
    "many labels": (shares(60), np.where(np.arange(60) < 40, shares(60, 5), NAN)),
    "good readouts": (shares(60), np.where(np.arange(60) % 2, np.abs(shares(60) - (np.arange(60) % 19 == 3)), NAN)),
    "all labelled": (shares(30), np.abs(shares(30) - (np.arange(30) % 3 == 0))),
    "no label": (shares(20), np.full(20, NAN)),
    "one label": (shares(20), with_holes(np.ones(20), *range(1, 20))),
    "9 labels": (shares(20), with_holes(shares(20, 3), *range(9, 20))),
    "10 labels": (shares(20), with_holes(shares(20, 3), *range(10, 20))),
    "no disagreement": (shares(40), with_holes(shares(40), *range(20, 40))),
    "readouts alike": (np.ones(40), with_holes(shares(40), *range(30, 40))),
    "rare": (
        np.repeat([1.0, 0.0], [4, 56]),
        np.abs(np.repeat([1.0, 0.0], [4, 56]) - np.isin(np.arange(60), (1, *range(20, 29)))),
    ),
    "all right": (np.ones(30), np.ones(30)),
    "4 of the rarer kind": (shares(60, 2, 0.5), np.repeat([1.0, 0.0], [4, 56])),
    "5 of the rarer kind": (shares(60, 2, 0.5), np.repeat([1.0, 0.0], [5, 55])),
    "9 disagreements": (np.repeat([1.0, 0.0], [30, 30]), np.abs(np.repeat([1.0, 0.0], [30, 30]) - (np.arange(60) % 7 == 2))),
    "10 disagreements": (np.repeat([1.0, 0.0], [30, 30]), np.abs(np.repeat([1.0, 0.0], [30, 30]) - (np.arange(60) % 6 == 2))),
}


@pinned("score.corrected")
def corrected_cases() -> Iterator[Case]:
    by_name = {}
    for (name, (machine, people)), n_families in product(LABELLED.items(), (0, 2, 14)):
        groups = families(len(machine), n_families).astype(str) if n_families else None
        score = corrected.corrected(machine, people, groups, 0.9)
        by_name[name, n_families] = score

        def whole(score: corrected.Corrected = score) -> list:
            widths = [score.half_width(n_more) for n_more in (0, 10, 1000, np.inf)]
            counts = [score.n_labels, score.n_disagreements, score.n_rarer, score.n_more, score.has_normal_limits]
            return [
                score.estimate,
                score.raw,
                score.by_people,
                score.false_rights,
                score.false_wrongs,
                score.weight,
                counts,
                widths,
            ]

        yield f"{name}, {n_families} families", whole
    for (first, second), units in product(
        product(("many labels", "all labelled", "one label", "rare", "9 labels"), ("many labels", "all labelled")),
        ("shared", "apart"),
    ):
        x, y = by_name[first, 0], by_name[second, 14]
        x_units, y_units = np.arange(x.readouts.size) // 2, np.arange(y.readouts.size) // 2 + (500 if units == "apart" else 0)

        def difference(
            x: corrected.Corrected = x, y: corrected.Corrected = y, x_units: np.ndarray = x_units, y_units: np.ndarray = y_units
        ) -> list:
            value = corrected.corrected_difference(x, x_units, y, y_units)
            return [vars(value), value.estimate(0.9), corrected.holm_p([value, replace(value, p=0.04), replace(value, p=NAN)])]

        yield f"{first} less {second}, {units}", difference
    few, many = by_name["many labels", 0], by_name["all labelled", 0]
    for n_units in (5, 6):
        yield (
            f"difference over {n_units} units",
            lambda n=n_units: vars(corrected.corrected_difference(few, np.arange(60) % n, many, np.arange(30) % n)),
        )
    far = corrected.CorrectedDifference(0.9, 0.2, 20.0, 40, 0.01)
    yield "cut", lambda: [far.estimate(0.95), replace(far, value=-0.9).estimate(0.95)]
    yield "unequal lengths", partial(corrected.corrected, [1, 0], [1])
    yield "unequal families", partial(corrected.corrected, [1, 0], [1, 0], [1])
    yield "another readout", partial(corrected.corrected, [1, 0.5], [1, 0])
    yield "another label", partial(corrected.corrected, [1, 0], [1, 2])


@pinned("score.corrected_flips")
def corrected_flip_cases() -> Iterator[Case]:
    total, genuine = fractions(30), np.minimum(fractions(30, 1), fractions(30))
    for (name, (reference, people)), n_families in product(LABELLED.items(), (0, 2, 12)):
        is_labelled = ~np.isnan(people)
        item = (np.arange(len(people)) * 7 % 30)[is_labelled]
        groups = families(30, n_families) if n_families else None
        arguments = (total, genuine, reference[is_labelled], people[is_labelled], item, groups, 0.9)

        def whole(arguments: tuple = arguments) -> list:
            flips = corrected_flips.flips_by_people(*arguments)
            counts = [flips.n_pairs, flips.n_disagreements, flips.has_normal_limits, flips.n_more]
            if not flips.n_pairs:
                return [flips.stated, flips.artifact, counts]
            widths = [flips.half_width(n_more) for n_more in (0, 10, np.inf)]
            return [flips.stated, flips.artifact, flips.by_labels_alone, flips.weight, counts, widths]

        yield f"{name}, {n_families} families", whole
    for n_labelled, n_flips, n_apart in ((40, 4, 0), (40, 4, 2), (40, 10, 1), (30, 27, 1), (20, 1, 1), (12, 6, 2)):
        reference = (np.arange(n_labelled) % n_labelled < n_flips).astype(float)
        people = np.abs(reference - (np.arange(n_labelled) >= n_labelled - n_apart))
        rate = np.where(np.arange(120) < 120 * n_flips // n_labelled, 1.0, 0.0)
        item = np.arange(n_labelled) * (120 // n_labelled)
        totals = {"equal": rate, "more": np.maximum(rate, shares(120, 3, 0.2)), "fewer": np.minimum(rate, shares(120, 3, 0.6))}
        for name, total_rate in totals.items():
            few = corrected_flips.flips_by_people(total_rate, rate, reference, people, item)
            case = f"{n_apart} of {n_labelled} apart, {n_flips} flips, {name}"
            yield case, lambda f=few: [f.stated, f.artifact, f.by_labels_alone]
    holes = corrected_flips.flips_by_people(
        with_holes(total, 2, 4), with_holes(genuine, 4, 5), shares(40), shares(40, 1), np.arange(40) % 20
    )
    yield "holes", lambda: [holes.total, holes.item, holes.families, holes.reference, holes.stated, holes.artifact]
    for n in (1, 2, 3):
        few = corrected_flips.flips_by_people(total, genuine, shares(n), shares(n, 1), np.arange(n))
        yield f"{n} labelled items", lambda f=few: [f._residuals, f.stated, f.artifact]
    equal = corrected_flips.flips_by_people(np.ones(30), np.ones(30), np.ones(30), shares(30), np.arange(30))
    yield "all flip", lambda: [equal._residuals, equal.stated, equal.artifact]
    yield "unequal items", partial(corrected_flips.flips_by_people, [0.5], [0.5, 0.5], [1], [1], [0])
    yield "unequal pairs", partial(corrected_flips.flips_by_people, [0.5], [0.5], [1], [1, 0], [0])
    yield "another flip", partial(corrected_flips.flips_by_people, [0.5], [0.5], [0.5], [1], [0])
    yield "another label", partial(corrected_flips.flips_by_people, [0.5], [0.5], [1], [2], [0])


@pinned("score.self_preference")
def self_preference_cases() -> Iterator[Case]:
    for name, n_own, groups in (
        ("plain", 15, np.arange(40)),
        ("families", 15, families(40, 12)),
        ("two families", 20, np.arange(40) % 2),
        ("9 of a side", 9, np.arange(40)),
        ("10 of a side", 10, np.arange(40)),
        ("9 of the others", 31, np.arange(40)),
        ("none", 0, np.arange(40)),
        ("all", 40, np.arange(40)),
        ("exactly three", 20, np.arange(40) % 3),
    ):
        is_own = np.arange(40) < n_own
        yield name, partial(self_preference.self_preference, shares(40), shares(40, 1), is_own, groups, 0.9)
        yield f"{name}, equal", partial(self_preference.self_preference, shares(40), shares(40), is_own, groups)
    yield "unequal lengths", partial(self_preference.self_preference, shares(4), shares(4), [True] * 4, [1])
