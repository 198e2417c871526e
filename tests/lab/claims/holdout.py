"""Cells of the claims about two sets: outcomes of the four tests, inflation, the survey. See `tests.lab.claims.cell`.

At the margin the true difference equals the margin, so "beyond", "within" and "equivalent" are all false. Sets without a
difference make "differ" and "better" false. Permutations number 99 here and 9,999 in the product: the p-value is exact at both.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from flipcore.claims.claim import Assertion
from flipcore.claims.holdout import (
    BENCHMARK_HIGHER,
    HOLDOUT_STANDS_OUT,
    SAME_SOURCE,
    SETS_DIFFER,
    SETS_DIFFER_BEYOND,
    SETS_EQUIVALENT,
    SETS_WITHIN,
    inflation_claim,
    outcome_claim,
    survey_claim,
    verdict_claim,
)
from flipcore.core.records import Item
from flipcore.reports.holdout import suggested_margin
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.survey import odd_one_out_survey
from flipcore.stats.holdout.verdict import (
    BEYOND,
    DIFFERENT,
    EQUIVALENT,
    INDISTINGUISHABLE,
    WITHIN,
    HoldoutTest,
    HoldoutVerdict,
    difficulty_test,
    difficulty_test_clustered,
    difficulty_test_paired,
    odd_one_out_test,
    semantic_test,
)
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.claims.family_sizes import PATTERNS, numbers, shared
from tests.lab.simulations.planted_memory import embedding_sets, odd_one_out_hits

Rng = np.random.Generator
Draw = Callable[[Rng], HoldoutTest]
N_SLOW = 2_000
CLAIMED = {SETS_DIFFER_BEYOND: (BEYOND,), SETS_WITHIN: (WITHIN,), SETS_EQUIVALENT: (EQUIVALENT, WITHIN)}
INSIDE = (EQUIVALENT, WITHIN)
ANY_DIFFERENCE = (BEYOND, DIFFERENT, WITHIN)


def _at_margin(world: str, n: str, draw: Draw) -> list[Cell]:
    """The three claims about a margin, where the truth lies on it."""
    return [Cell(claim, world, n, outcome_share(draw, outcome_names)) for claim, outcome_names in CLAIMED.items()]


def slow(claim: Assertion, world: str, n: str, draw: Draw) -> Cell:
    """One of these claims, in fewer runs because they take milliseconds."""
    return Cell(claim, world, n, outcome_share(draw, CLAIMED[claim]), n_runs=N_SLOW)


def outcome_share(draw: Draw, outcome_names: tuple[str, ...]) -> Simulation:
    """Runs whose claim has one of these outcomes. Equal tests have equal claims, so each distinct one is made once."""

    def simulate(rng: Rng, runs: int) -> tuple[int, int]:
        outcomes: dict[HoldoutTest, str] = {}
        n = 0
        for _ in range(runs):
            test = draw(rng)
            if test not in outcomes:
                outcomes[test] = outcome_claim(test).outcome
            n += outcomes[test] in outcome_names
        return n, runs

    return simulate


def no_difference(world: str, n: str, draw: Draw, truth: str = "null", n_runs: int = 4_000) -> Cell:
    """A cell of any difference, where there is none."""
    return Cell(SETS_DIFFER, world, n, outcome_share(draw, ANY_DIFFERENCE), truth=truth, n_runs=n_runs)


@lru_cache(maxsize=100_000)
def _difficulty(k_target: int, n_target: int, k_retro: int, n_retro: int, margin: float) -> HoldoutTest:
    return difficulty_test(k_target, n_target, k_retro, n_retro, margin)


def _answers(n_target: int, n_retro: int, target: float, retro: float, margin: float = 0.1) -> Draw:
    """Independent answers, right with `target` and `retro`."""
    return lambda rng: _difficulty(
        int(rng.binomial(n_target, target)), n_target, int(rng.binomial(n_retro, retro)), n_retro, margin
    )


@lru_cache(maxsize=100_000)
def _blind(k_target: int, k_retro: int, n: int, guess: float) -> HoldoutTest:
    right = [{f"{side}{i}": float(i < k) for i in range(n)} for side, k in (("t", k_target), ("r", k_retro))]
    return Condition("old", "regex", "plain", "", right[0], right[1], {}, guess=guess).difficulty(0.1)


def _old_model(n: int, accuracy: float, guess: float) -> Draw:
    """A model that answers both sets alike, whatever lies between them: the sets are 30 pp apart for another model."""
    return lambda rng: _blind(int(rng.binomial(n, accuracy)), int(rng.binomial(n, accuracy)), n, guess)


def _pairs(n: int, target: float, retro: float, rho: float, margin: float = 0.1) -> Draw:
    """Source-paired answers: with chance rho both sides share one luck, otherwise each has its own."""

    def draw(rng: Rng) -> HoldoutTest:
        luck = rng.random((2, n))
        luck[1] = np.where(rng.random(n) < rho, luck[0], luck[1])
        return difficulty_test_paired(luck[0] < target, luck[1] < retro, margin)

    return draw


def _families(n_target: int, n_retro: int, each_has: int, target: float, retro: float, margin: float = 0.1) -> Draw:
    """Templates of `each_has` entries; a template's chance of a right answer is Beta around the set's, with a spread of .3."""

    def draw(rng: Rng) -> HoldoutTest:
        shape = 1 / 0.3**2 * 0.25 - 1
        chances = [rng.beta(p * shape, (1 - p) * shape, n) for p, n in ((target, n_target), (retro, n_retro))]
        hits = rng.random((n_target + n_retro, each_has)) < np.concatenate(chances)[:, None]
        family = np.repeat(np.arange(n_target + n_retro), each_has)
        return difficulty_test_clustered(hits.ravel(), family >= n_target, family, margin)

    return draw


def _uneven(pattern: str, p: float, correlation: float) -> Draw:
    """Two sets of templates of these sizes, equal models; a template's entries share their luck with this chance."""
    sizes = PATTERNS[pattern]
    family = np.concatenate([numbers(sizes), numbers(sizes) + len(sizes)])
    is_retro = family >= len(sizes)

    def draw(rng: Rng) -> HoldoutTest:
        luck = [shared(rng, sizes, 1, correlation)[0] for _ in range(2)]
        return difficulty_test_clustered((np.concatenate(luck) < p).astype(float), is_retro, family, 0.1)

    return draw


def _survey(n_people: int, n_tests: int, n_entries: int, oddness: float, accuracy: float = 1 / 3) -> Callable:
    def draw(rng: Rng):
        hits, entries, people = odd_one_out_hits(rng, oddness, accuracy, n_people, n_tests, n_entries)
        return odd_one_out_survey(hits, entries, people)

    return draw


def _skilled(n_people: int, n_tests: int, n_entries: int, spread: float) -> Callable:
    """Annotators who differ in skill, one in three on average: Beta with this spread."""

    def draw(rng: Rng):
        shape = (1 / 3) * (2 / 3) / spread**2 - 1
        skill = rng.beta(shape / 3, 2 * shape / 3, n_people)
        people = np.repeat(np.arange(n_people), n_tests)
        entries = np.concatenate([rng.choice(n_entries, n_tests, replace=False) for _ in range(n_people)])
        return odd_one_out_survey((rng.random(len(people)) < skill[people]).astype(float), entries, people)

    return draw


def _survey_test(n_people: int, n_tests: int, n_entries: int) -> Draw:
    """The survey as a test whose truth is its margin, .45."""
    draw = _survey(n_people, n_tests, n_entries, 1.0, 0.45)
    return lambda rng: odd_one_out_test(draw(rng))


def _annotators(world: str, n: str, draw: Callable, truth: str = "null") -> Cell:
    return Cell(HOLDOUT_STANDS_OUT, world, n, each(lambda rng: survey_claim(draw(rng))), truth=truth, n_runs=N_SLOW)


def _models(n_models: int, n_target: int, n_retro: int, target: float, retro: float, each_has: int = 0) -> Callable:
    """Answers of several models to the same sets; with `each_has` entries come in templates that decide half of them."""
    names = [[f"{side}{i}" for i in range(n)] for side, n in (("t", n_target), ("r", n_retro))]
    sources = {one: f"{one[0]}-{int(one[1:]) // each_has}" for part in names for one in part} if each_has else {}

    def condition(rng: Rng) -> Condition:
        sides = []
        for part, p in zip(names, (target, retro), strict=True):
            luck = rng.random(len(part))
            if each_has:
                family = np.arange(len(part)) // each_has
                luck = np.where(rng.random(len(part)) < 0.5, rng.random(family[-1] + 1)[family], luck)
            sides.append(dict(zip(part, (luck < p).astype(float).tolist(), strict=True)))
        return Condition("m", "regex", "plain", "", sides[0], sides[1], sources)

    return each(lambda rng: inflation_claim([condition(rng) for _ in range(n_models)]))


def _uneven_model(pattern: str, p: float, correlation: float) -> Callable:
    """One model on two sets of templates of these sizes."""
    sizes = PATTERNS[pattern]
    ids = [[f"{side}{i}" for i in range(int(sizes.sum()))] for side in "tr"]
    templates = [[f"{side} template {one}" for one in numbers(sizes)] for side in "tr"]
    sources = {one: name for side, part in zip(ids, templates, strict=True) for one, name in zip(side, part, strict=True)}

    def run(rng: Rng):
        hits = [(shared(rng, sizes, 1, correlation)[0] < p).astype(float).tolist() for _ in ids]
        sides = [dict(zip(side, hit, strict=True)) for side, hit in zip(ids, hits, strict=True)]
        return inflation_claim([Condition("m", "regex", "plain", "", *sides, sources)])

    return each(run)


def _paired_models(n: int, p: float, rho: float) -> Callable:
    sources = {f"r{i}": f"t{i}" for i in range(n)}

    def run(rng: Rng):
        luck = rng.random((2, n))
        luck[1] = np.where(rng.random(n) < rho, luck[0], luck[1])
        sides = [{f"{side}{i}": float(x < p) for i, x in enumerate(one)} for side, one in zip("tr", luck, strict=True)]
        return inflation_claim([Condition("m", "regex", "plain", "", sides[0], sides[1], sources)])

    return each(run)


def _one_source(rng: Rng, retro: float = 0.45) -> bool:
    """Three tests far inside their margins, difficulty at its own: 400 answers a set, .55 v .45. Whether one source is claimed."""
    survey = odd_one_out_test(odd_one_out_survey(*odd_one_out_hits(rng, 0.5, 0.25, 40)))
    texts = semantic_test(*embedding_sets(rng, 20, 8), margin=2.0, m=19, seed=int(rng.integers(2**31)))
    easy = replace(survey, name="prediction", margin=0.6).with_margin(0.6)
    tests = (_answers(400, 400, 0.55, retro)(rng), texts, easy, survey)
    return verdict_claim(HoldoutVerdict(tests)).outcome == INDISTINGUISHABLE


SHIFT, DIMENSIONS = (
    0.7104,
    24,
)  # along the widest dimension: an MMD² of 0.04 of the spread, which is the margin of an endless target


def _suggested(n: int, shift: float) -> Draw:
    """Two sets of `n` whose margin a fifth of the target suggests."""
    items = [Item.make(dataset="d", key=str(i), kind="number", question=str(i)) for i in range(n)]

    def draw(rng: Rng) -> HoldoutTest:
        rows = rng.standard_normal((2 * n, DIMENSIONS)) * np.linspace(1, 0.3, DIMENSIONS) + 0.6
        rows[n:, 0] += shift
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        seed = int(rng.integers(2**31))
        start, kept = suggested_margin(items, rows, seed)
        return semantic_test(rows[:n][kept], rows[n:], start.margin if start else None, m=199, seed=seed)

    return draw


AT, UNEQUAL = "difference exactly at the margin", "at the margin, unequal sizes"
CELLS: tuple[Cell, ...] = (
    *_at_margin(AT, "10 v 10, .7 v .4, ±30 pp", _answers(10, 10, 0.7, 0.4, 0.3)),
    *_at_margin(AT, "15 v 15, 1 v .7, ±30 pp", _answers(15, 15, 1.0, 0.7, 0.3)),
    *_at_margin(AT, "40 v 40, 1 v .85, ±15 pp", _answers(40, 40, 1.0, 0.85, 0.15)),
    *_at_margin(AT, "80 v 80, .6 v .4, ±20 pp", _answers(80, 80, 0.6, 0.4, 0.2)),
    *_at_margin(AT, "150 v 150, .05 v .15, ±10 pp", _answers(150, 150, 0.05, 0.15)),
    *_at_margin(AT, "1,319 v 1,319, .54 v .44, ±10 pp", _answers(1_319, 1_319, 0.54, 0.44)),
    *_at_margin(AT, "40 pairs, rho .9, .7 v .5, ±20 pp", _pairs(40, 0.7, 0.5, 0.9, 0.2)),
    *_at_margin(AT, "150 pairs, rho .5, .7 v .6, ±10 pp", _pairs(150, 0.7, 0.6, 0.5)),
    *_at_margin(AT, "10 + 10 templates of 10, .6 v .4, ±20 pp", _families(10, 10, 10, 0.6, 0.4, 0.2)),
    *_at_margin(AT, "40 + 40 templates of 10, .6 v .4, ±20 pp", _families(40, 40, 10, 0.6, 0.4, 0.2)),
    slow(SETS_EQUIVALENT, AT, "survey, 10 people x 10 of 10 entries, oddness 1", _survey_test(10, 10, 10)),
    slow(SETS_EQUIVALENT, AT, "survey, 23 people x 10 of 30 entries, oddness 1", _survey_test(23, 10, 30)),
    slow(SETS_DIFFER_BEYOND, AT, "survey, 23 people x 10 of 30 entries, oddness 1", _survey_test(23, 10, 30)),
    *(slow(SETS_EQUIVALENT, AT, f"texts, {n} v {n}, margin of a fifth of the target", _suggested(n, SHIFT)) for n in (50, 200)),
    Cell(
        SETS_EQUIVALENT,
        "no difference",
        "texts, 200 v 200, margin of a fifth of the target",
        outcome_share(_suggested(200, 0.0), INSIDE),
        truth="planted",
        n_runs=N_SLOW,
    ),
    *_at_margin(UNEQUAL, "1,319 v 50, 1 v .8, ±20 pp", _answers(1_319, 50, 1.0, 0.8, 0.2)),
    *_at_margin(UNEQUAL, "1,319 v 50, .25 v .05, ±20 pp", _answers(1_319, 50, 0.25, 0.05, 0.2)),
    *_at_margin(UNEQUAL, "150 v 20, .32 v .02, ±30 pp", _answers(150, 20, 0.32, 0.02, 0.3)),
    *(
        Cell(SETS_EQUIVALENT, world, f"{n:,} v {n:,}, {accuracy:g}", outcome_share(_old_model(n, accuracy, guess), INSIDE))
        for world, accuracy, guess in (
            ("the old model guesses", 0.25, 0.25),
            ("the old model guesses", 0.02, 0.0),
            ("the old model is always right", 0.99, 0.0),
        )
        for n in (412, 1_319)
    ),
    Cell(
        SETS_EQUIVALENT,
        "no difference",
        "412 v 412, .6 of four options, ±10 pp",
        outcome_share(_old_model(412, 0.6, 0.25), INSIDE),
        truth="planted",
    ),
    no_difference("identical sets", "10 v 10, .5", _answers(10, 10, 0.5, 0.5)),
    no_difference("identical sets", "15 v 15, .7", _answers(15, 15, 0.7, 0.7)),
    no_difference("identical sets", "40 v 40, .1", _answers(40, 40, 0.1, 0.1)),
    no_difference("identical sets", "80 v 80, .5", _answers(80, 80, 0.5, 0.5)),
    no_difference("identical sets", "1,319 v 1,319, .95", _answers(1_319, 1_319, 0.95, 0.95)),
    no_difference("identical sets of unequal size", "1,319 v 50, .5", _answers(1_319, 50, 0.5, 0.5)),
    no_difference("identical sets of unequal size", "150 v 20, .98", _answers(150, 20, 0.98, 0.98)),
    no_difference("source-paired sets", "80 pairs, rho .5", _pairs(80, 0.6, 0.6, 0.5)),
    no_difference("source-paired sets", "150 pairs, rho .9", _pairs(150, 0.6, 0.6, 0.9)),
    no_difference("templated entries", "10 + 10 templates of 10", _families(10, 10, 10, 0.6, 0.6)),
    no_difference("templated entries", "40 + 20 templates of 10", _families(40, 20, 10, 0.6, 0.6)),
    *(
        no_difference("templates of unequal size", f"{pattern}, {p:g}, correlation {rho:g}", _uneven(pattern, p, rho))
        for pattern in PATTERNS
        for p, rho in ((0.6, 0.9), (0.95, 0.5))
    ),
    no_difference("harder by 10 pp", "412 v 412, .5 v .4", _answers(412, 412, 0.5, 0.4), "planted"),
    Cell(SAME_SOURCE, "three tests equivalent, one at its margin", "400 v 400", each(_one_source), n_runs=N_SLOW),
    Cell(SAME_SOURCE, "four tests without difference", "400 v 400", each(partial(_one_source, retro=0.55)), "planted", N_SLOW),
    Cell(
        SETS_DIFFER_BEYOND,
        "30 pp apart",
        "150 v 150, .9 v .6, ±10 pp",
        outcome_share(_answers(150, 150, 0.9, 0.6), (BEYOND,)),
        "planted",
        N_SLOW,
    ),
    Cell(
        SETS_WITHIN,
        "5 pp apart",
        "2,000 v 2,000, .55 v .50, ±10 pp",
        outcome_share(_answers(2_000, 2_000, 0.55, 0.5), (WITHIN,)),
        "planted",
        N_SLOW,
    ),
    Cell(
        SETS_EQUIVALENT,
        "no difference",
        "412 v 412, .4, ±10 pp",
        outcome_share(_answers(412, 412, 0.4, 0.4), (EQUIVALENT,)),
        truth="planted",
    ),
    Cell(BENCHMARK_HIGHER, "equal accuracies", "40 v 40, .1", _models(1, 40, 40, 0.1, 0.1)),
    Cell(BENCHMARK_HIGHER, "equal accuracies", "5 models, 80 v 80, .5", _models(5, 80, 80, 0.5, 0.5)),
    Cell(
        BENCHMARK_HIGHER,
        "equal accuracies of unequal sets",
        "1,319 v 50, .95",
        _models(1, 1_319, 50, 0.95, 0.95),
        n_runs=N_SLOW,
    ),
    Cell(BENCHMARK_HIGHER, "equal accuracies of unequal sets", "150 v 15, .5", _models(1, 150, 15, 0.5, 0.5)),
    Cell(BENCHMARK_HIGHER, "equal accuracies of pairs", "40, rho .9", _paired_models(40, 0.7, 0.9)),
    Cell(BENCHMARK_HIGHER, "equal accuracies of pairs", "150, rho .5", _paired_models(150, 0.7, 0.5)),
    Cell(BENCHMARK_HIGHER, "equal accuracies of templates", "100 v 100, 10 a template", _models(1, 100, 100, 0.6, 0.6, 10)),
    *(
        Cell(BENCHMARK_HIGHER, "templates of unequal size", f"{pattern}, {p:g}", _uneven_model(pattern, p, 0.9))
        for pattern, p in (("30 families, 7 of 8", 0.6), ("40 families, Pareto 1.1", 0.6), ("60 families, 15 of 8", 0.95))
    ),
    Cell(BENCHMARK_HIGHER, "few errors of many models", "6 models, 200 v 30, .98", _models(6, 200, 30, 0.98, 0.98)),
    Cell(BENCHMARK_HIGHER, "few errors of many models", "6 models, 1,319 v 50, .99", _models(6, 1_319, 50, 0.99, 0.99)),
    Cell(BENCHMARK_HIGHER, "inflated by 16 pp", "100 v 100, .66 v .5", _models(1, 100, 100, 0.66, 0.5), truth="planted"),
    _annotators("entries of unequal oddness", "10 people, 10 entries, sd 1", _survey(10, 10, 10, 1.0)),
    _annotators("entries of unequal oddness", "23 people, 15 entries, sd 1", _survey(23, 10, 15, 1.0)),
    _annotators("entries of unequal oddness", "23 people, 80 entries, sd .5", _survey(23, 10, 80, 0.5)),
    _annotators("annotators of unequal skill", "12 people, 40 entries, sd .15", _skilled(12, 10, 40, 0.15)),
    _annotators("few annotators", "1 person, 15 entries", _survey(1, 15, 15, 1.0)),
    _annotators("few annotators", "4 people, 15 entries, sd 1", _survey(4, 10, 15, 1.0)),
    _annotators("found .45 of the time", "23 people, 30 entries, sd .5", _survey(23, 10, 30, 0.5, 0.45), "planted"),
)
