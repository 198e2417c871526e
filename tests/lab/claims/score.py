"""How often a score's printed limits miss the truth (over other questions, over other questions and wordings, of one further wording), a
model is said to score higher or to have a rank that it has not, and changes that add up are said not to."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from flipcore.claims.claim import Assertion, Claim
from flipcore.claims.score import (
    ELSEWHERE,
    HIGHER,
    NOT_ADDING,
    QUESTIONS,
    SHORT_ELSEWHERE,
    SHORT_HIGHER,
    SHORT_QUESTIONS,
    SHORT_WHOLE,
    WHOLE,
    additivity_claim,
    difference_claim,
    elsewhere_claim,
    score_claim,
)
from flipcore.reports.score import ModelScore, ScoreReport
from flipcore.stats.score.additivity import way_gaps
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.error_bar import FEW_PROMPTS, ErrorBar, error_bar
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.simulations.score_coverage import _NODES, _WEIGHTS, OnFive, World, draw

Says = Callable[[ErrorBar], Claim]


def _score(bar: ErrorBar) -> Claim:
    return score_claim("m", bar)


def _elsewhere(bar: ErrorBar) -> Claim:
    return elsewhere_claim("m", bar)


def _misses(
    world: World, says: Says, number: str, truth: str, off: float = 0.0, *, only: Assertion | None = None
) -> Simulation:
    """Whether the printed limits leave out the truth, or a score that lies `off` it.

    With `only`, limits that are printed with another level count for that claim, not for this one."""

    def run(rng: np.random.Generator) -> bool:
        cells, truths = draw(world, rng)
        claim = says(error_bar(cells))
        if not claim.is_made or (only is not None and claim.assertion is not only):
            return False
        limits = claim.numbers[number]
        return not limits.low <= truths[truth] + off <= limits.high

    return each(run)


def _worlds() -> list[tuple[str, World]]:
    sizes = ((20, 3, 1), (20, 8, 1), (60, 3, 3), (300, 3, 1), (1_319, 8, 1))
    effects = {"wordings change nothing": 0.0, "wordings change a little": 0.3, "wordings change much": 1.0}
    out = [(name, World(*size, sd)) for name, sd in effects.items() for size in sizes]
    out += [("graded scores", World(*size, 1.0, graded=True)) for size in ((20, 8, 1), (60, 3, 3), (300, 3, 5))]
    out += [
        ("grades near the top", OnFive(*size, 0.3, mean=mean))
        for size, mean in (((20, 3, 1), 3), ((60, 8, 1), 5), ((300, 3, 1), 3))
    ]
    # 0/1 answers close to the end of the scale, where a few families decide
    out += [
        ("questions in families", World(n, m, 1, 0.3, family=5, mean=mean))
        for n, m, mean in ((60, 3, 1), (60, 8, 3), (300, 3, 3))
    ]
    return out


# An interval of few prompts or of clusters is printed with another level, and is a claim of its own.
SHORT = {QUESTIONS: SHORT_QUESTIONS, WHOLE: SHORT_WHOLE, ELSEWHERE: SHORT_ELSEWHERE}
FEW_PROMPTS_WORLDS = {
    "wordings change nothing": "few prompts that change nothing",
    "wordings change a little": "few prompts that change a little",
    "wordings change much": "few prompts that change much",
    "graded scores": "few prompts, graded scores",
    "grades near the top": "few prompts, grades near the top",
}


def _kind(assertion: Assertion, name: str, world: World) -> tuple[Assertion, str]:
    """The claim that is made of such a table, and the world by its name there."""
    if world.family > 1:
        return SHORT[assertion], "questions in clusters"
    if assertion is not QUESTIONS and world.n_wordings < FEW_PROMPTS:
        return SHORT[assertion], FEW_PROMPTS_WORLDS[name]
    return assertion, name


def _cells(assertion: Assertion, says: Says, number: str, truth: str) -> list[Cell]:
    return [
        Cell(
            *_kind(assertion, name, world),
            f"{world.n_questions:,} × {world.n_wordings} × {world.n_runs}"
            + (f", mean {world.mean:g}" if world.family > 1 else ""),
            _misses(world, says, number, truth),
            n_runs=2_000 if world.n_questions > 1_000 else 4_000,
        )
        for name, world in _worlds()
    ]


def _near_the_top() -> list[Cell]:
    """Nearly always right, under prompts that lie far apart: which level is printed depends on what is seen."""
    sizes = ((60, 8, 4.0), (300, 8, 4.0), (300, 12, 4.0))
    rows = ((WHOLE, _score, "wordings", "by_wordings"), (ELSEWHERE, _elsewhere, "elsewhere", "elsewhere"))
    cells = []
    for assertion, says, number, truth in rows:
        for n, m, mean in sizes:
            world = World(n, m, 1, 1.0, mean=mean)
            size = f"{n} × {m} × 1, mean {mean:g}"
            for claim in (assertion, SHORT[assertion]):
                run = _misses(world, says, number, truth, only=claim)
                cells.append(Cell(claim, NEAR_THE_TOP, size, run, n_runs=1_000))
    return cells


NEAR_THE_TOP = "nearly always right, prompts far apart"


def _pair(rng: np.random.Generator, n: int, m: int, suits: float, size: int, better: float = 0.0, mean: float = 1.0) -> Claim:
    """Two models that are equally good over all wordings, or the first `better` on the logit; `suits` is how far a wording suits one of
    them, `size` the most questions a family that leans to one of them."""
    family = np.repeat(np.arange(n), rng.integers(1, size + 1, n))[:n]
    ability, wording = mean + 1.5 * rng.standard_normal(n)[:, None], 0.3 * rng.standard_normal(m)[None, :]
    lean = (0.7 if size > 1 else 0.0) * rng.standard_normal(n)[family][:, None]
    cells = []
    for side in (1, -1):
        centre = ability[family] + wording + suits * rng.standard_normal(m) + side * (lean + better) / 2
        right = (rng.random((n, m)) < 1 / (1 + np.exp(-centre))).astype(float)
        names = [str(i) for i in range(n)], [str(j) for j in range(m)]
        families = family.astype(str) if size > 1 else None
        cells.append(ScoreCells(right, np.ones((n, m), dtype=int), np.zeros((n, m)), *names, families))
    cells.sort(key=lambda one: -one.mean.mean())  # as a report does: the first leads
    return _lead(*cells)


def _lead(first: ScoreCells, second: ScoreCells) -> Claim:
    gaps = first.mean.mean(axis=0) - second.mean.mean(axis=0)
    ahead = int((gaps > 0).sum()), int((gaps < 0).sum()), int((gaps == 0).sum())
    return difference_claim("a", "b", error_bar(first.minus(second)), ahead)


def _pairs() -> list[Cell]:
    clusters = "equal models on questions in clusters"
    worlds = (
        (HIGHER, "equal models", 0.0, 1, 1.0),
        (HIGHER, "equal models, wordings suit one or the other", 0.4, 1, 1.0),
        (HIGHER, "equal models, nearly always right", 0.0, 1, 6.0),
        (SHORT_HIGHER, "equal models, few prompts", 0.0, 1, 1.0),
        (SHORT_HIGHER, "equal models, few prompts that suit one or the other", 0.4, 1, 1.0),
        (SHORT_HIGHER, clusters, 0.0, 9, 1.0),
        (SHORT_HIGHER, "equal models, few prompts, nearly always right", 0.0, 1, 6.0),
    )
    cells = []
    for assertion, name, suits, size, mean in worlds:
        sizes = ((60, 8), (300, 8)) if assertion is HIGHER else ((20, 3), (300, 3))
        for n, m in (*sizes, (60, 8)) if name == clusters else sizes:
            run = each(partial(_pair, n=n, m=m, suits=suits, size=size, mean=mean))
            cells.append(Cell(assertion, name, f"{n:,} × {m}", run))
    return cells


TERRIBLE = 0.1  # of the prompts
LOST = 3.0  # on the logit, by a terrible prompt
SKEWED_COST = 0.0717  # of right answers that terrible prompts cost over all


def _skewed(rng: np.random.Generator, n: int, m: int, is_terrible: np.ndarray) -> ScoreCells:
    """Prompts that lie close together, but for terrible ones."""
    ability = 1 + 1.5 * rng.standard_normal(n)[:, None]
    centre = ability + 0.1 * rng.standard_normal(m) - LOST * is_terrible
    right = (rng.random((n, m)) < 1 / (1 + np.exp(-centre))).astype(float)
    names = [str(i) for i in range(n)], [str(j) for j in range(m)]
    return ScoreCells(right, np.ones((n, m), dtype=int), np.zeros((n, m)), *names)


def _skewed_misses(rng: np.random.Generator, n: int, m: int) -> bool:
    """Whether the interval leaves out the mean over all prompts, terrible ones among them."""
    claim = _score(error_bar(_skewed(rng, n, m, rng.random(m) < TERRIBLE)))
    ability = 1 + 1.5 * _NODES
    right = [(1 / (1 + np.exp(-(ability - lost)))) @ _WEIGHTS for lost in (0.0, LOST)]
    truth = (1 - TERRIBLE) * right[0] + TERRIBLE * right[1]
    limits = claim.numbers["wordings"]
    return claim.is_made and not limits.low <= truth <= limits.high


def _skewed_lead(rng: np.random.Generator, n: int, m: int) -> bool:
    """Whether the model with terrible prompts, worse or equal over all, is said to score higher."""
    weak = _skewed(rng, n, m, rng.random(m) < TERRIBLE)
    strong = _skewed(rng, n, m, np.zeros(m))
    # what the terrible prompts cost over all, the other model loses under every prompt
    keeps = rng.random((n, m)) > SKEWED_COST
    equal = ScoreCells(strong.mean * keeps, strong.n_runs, strong.squares, strong.questions, strong.wordings)
    claim = _lead(weak, equal)
    return claim.is_made and claim.numbers["difference"].value > 0


def _outside() -> list[Cell]:
    """Where one prompt in ten is terrible, no interval of a few prompts can know."""
    world, sizes = "one prompt in ten is terrible", ((60, 8), (1_000, 8))
    cells = []
    for assertion, run in ((WHOLE, _skewed_misses), (HIGHER, _skewed_lead)):
        for n, m in sizes:
            cells.append(Cell(assertion, world, f"{n:,} × {m}", each(partial(run, n=n, m=m)), "outside", 2_000))
    return cells


FIVE = (0.4, 0.0, 0.0, -0.4, -0.8)  # on the logit


def _order(rng: np.random.Generator, n: int, m: int, suits: float) -> bool:
    """Whether some model's rank interval misses its rank among five, two of them as good as each other."""
    ability, wording = 1 + 1.5 * rng.standard_normal(n)[:, None], 0.3 * rng.standard_normal(m)[None, :]
    names, models = ([str(i) for i in range(n)], [str(j) for j in range(m)]), []
    for at, off in enumerate(FIVE):
        p = 1 / (1 + np.exp(-(ability + wording + off + suits * rng.standard_normal(m))))
        cells = ScoreCells((rng.random((n, m)) < p).astype(float), np.ones((n, m), dtype=int), np.zeros((n, m)), *names)
        models.append(ModelScore(str(at), "", error_bar(cells), {}, {}, ""))
    (claim,) = ScoreReport(tuple(models), "", "", ()).ranks
    best, worst = claim.numbers["best"], claim.numbers["worst"]
    return claim.is_made and any(
        best[str(at)] > 1 + sum(other > off for other in FIVE) or worst[str(at)] < 5 - sum(other < off for other in FIVE)
        for at, off in enumerate(FIVE)
    )


def _orders() -> list[Cell]:
    few = "an order of five, few prompts: a rank interval misses"
    places = (
        (HIGHER, "an order of five: a rank interval misses", 60, 8),
        (SHORT_HIGHER, few, 20, 3),
        (SHORT_HIGHER, few, 300, 3),
    )
    cells = []
    for assertion, world, n, m in places:
        cells.append(Cell(assertion, world, f"{n:,} × {m}", each(partial(_order, n=n, m=m, suits=0.2)), n_runs=2_000))
    return cells


def _sums(rng: np.random.Generator, n: int, m: int, least: float, family: int = 1, joint: float = 0.0) -> Claim:
    """Ways of asking that join two or three of three changes, each asked alone, too; questions are right with `least` or more of the time
    (shares of right answers add up), and `joint` is what ways move beyond their parts. What a family is off the sum is its own."""
    names = np.repeat(np.arange(n), rng.integers(1, 2 * family, n))[:n]
    moves = (1 - least) * rng.uniform(-0.15, 0.15, 3)
    takes = np.array([rng.permutation([1, 1, int(rng.random() < 0.5)]) for _ in range(m)])
    base = least + (1 - least) * (0.3 + 0.4 * rng.random(n))[:, None]
    off = ((0.1 if family > 1 else 0.0) * rng.choice([-1, 1], n))[names][:, None]
    asked = [np.hstack([base, base + moves]), base + takes @ moves + off + joint]
    (alone, ways) = (rng.binomial(2, np.clip(p, 0, 1)) / 2 for p in asked)
    gaps = ways - alone[:, :1] - (alone[:, 1:] - alone[:, :1]) @ takes.T
    return additivity_claim("m", way_gaps(gaps, [f"way-{at}" for at in range(m)], names))


def _additivity() -> list[Cell]:
    worlds = (
        ("changes add up", 0.2, 1),
        ("changes add up, nearly always right", 0.96, 1),
        ("changes add up, questions in families", 0.2, 4),
    )
    sizes = ((20, 3), (60, 8), (300, 8))
    cells = [
        Cell(NOT_ADDING, name, f"{n:,} × {m}", each(partial(_sums, n=n, m=m, least=least, family=family)))
        for name, least, family in worlds
        for n, m in sizes
    ]
    joint = partial(_sums, least=0.2, joint=-0.15)
    return cells + [
        Cell(NOT_ADDING, "joint changes lose 15 pp more", f"{n:,} × {m}", each(partial(joint, n=n, m=m)), "planted", 2_000)
        for n, m in sizes
    ]


def _one_wording() -> list[Cell]:
    """What a score says that was asked in one wording alone: nothing of other wordings, and of other questions the truth."""
    cells = []
    for n in (15, 40, 150, 1_319):
        world = replace(World(n, 1, 1, 0.0), interaction=0.0)
        cells.append(Cell(QUESTIONS, "one wording", f"{n:,}", _misses(world, _score, "questions", "by_questions")))
    return cells


def _power() -> list[Cell]:
    """A score 15 pp off is left out, and a model that is 10 pp better found."""
    worlds = [World(*size, 0.3) for size in ((60, 8, 1), (300, 8, 1))]
    rows = ((QUESTIONS, _score, "questions", "by_questions"), (WHOLE, _score, "wordings", "by_wordings"))
    rows += ((ELSEWHERE, _elsewhere, "elsewhere", "elsewhere"),)
    cells = [
        Cell(
            assertion,
            "a score 15 pp lower is left out",
            f"{world.n_questions} × {world.n_wordings} × {world.n_runs}",
            _misses(world, says, number, truth, -0.15),
            "planted",
            2_000,
        )
        for assertion, says, number, truth in rows
        for world in worlds
    ]
    few = World(60, 3, 3, 0.3)
    clusters = World(300, 3, 1, 0.3, family=5)
    short_rows = (
        (SHORT_QUESTIONS, _score, "questions", "by_questions", clusters),
        (SHORT_WHOLE, _score, "wordings", "by_wordings", few),
        (SHORT_ELSEWHERE, _elsewhere, "elsewhere", "elsewhere", few),
    )
    for assertion, says, number, truth, world in short_rows:
        size = f"{world.n_questions} × {world.n_wordings} × {world.n_runs}"
        run = _misses(world, says, number, truth, -0.15)
        cells.append(Cell(assertion, "a score 15 pp lower is left out", size, run, "planted", 2_000))
    pair = partial(_pair, suits=0.0, size=1, better=0.7)
    for assertion, n, m in ((HIGHER, 60, 8), (SHORT_HIGHER, 300, 3)):
        run = each(partial(pair, n=n, m=m))
        cells.append(Cell(assertion, "one better by .7 on the logit", f"{n} × {m}", run, "planted", 2_000))
    return cells


CELLS = (
    *_outside(),
    *_pairs(),
    *_orders(),
    *_additivity(),
    *_power(),
    *_cells(QUESTIONS, _score, "questions", "by_questions"),
    *_one_wording(),
    *_cells(WHOLE, _score, "wordings", "by_wordings"),
    *_cells(ELSEWHERE, _elsewhere, "elsewhere", "elsewhere"),
    *_near_the_top(),
)
