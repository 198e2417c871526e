"""Cells of the claims about published scores: equal accuracies, controls that are harder, a benchmark that was read."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from flipcore.claims.claim import Assertion, Claim
from flipcore.claims.holdout import outcome_claim
from flipcore.claims.memory_gap import MEMORY
from flipcore.claims.memory_score import SCORE_HIGHER, SCORE_MEMORY, score_claim
from flipcore.stats.holdout.verdict import DIFFICULTY_MARGIN, EQUIVALENT, WITHIN, difficulty_test
from flipcore.stats.memory.published_score import FRESH, RANDOM, ScoreGap, score_gap
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.claims.family_sizes import PATTERNS

SIZES = ((10, 19), (15, 30), (80, 120), (140, 150), (1_319, 120), (1_319, 1_319))


def score_gap_of(
    benchmark: tuple[int, int], controls: tuple[int, int], control: str, unread: tuple[int, int] = (0, 0)
) -> ScoreGap:
    """Return the gap of (right, items) of each set, of which `unread` are not read and not among the right."""
    answers = [
        np.repeat([1.0, 0.0, np.nan], [k, n - k - lost, lost])
        for (k, n), lost in zip((benchmark, controls), unread, strict=True)
    ]
    return score_gap(answers[0], answers[1], control)


@lru_cache(maxsize=200_000)
def _said(k1: int, n1: int, k2: int, n2: int, unread1: int, unread2: int, control: str) -> Claim:
    return score_claim(score_gap_of((k1, n1), (k2, n2), control, (unread1, unread2)))


def _is_memory(claim: Claim) -> bool:
    return claim.is_made and claim.outcome == MEMORY


def _scores(
    sizes: tuple[int, int],
    accuracies: tuple[float, float],
    control: str,
    unread: tuple[float, float] = (0.0, 0.0),
    says: Callable[[Claim], bool] = lambda claim: claim.is_made,
) -> Simulation:
    """Right with these accuracies; an answer that is not read counts as wrong."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        columns = []
        for n, accuracy, share in zip(sizes, accuracies, unread, strict=True):
            lost = rng.binomial(n, share, runs)
            columns += [rng.binomial(n - lost, accuracy), lost]
        rows, times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        said = [says(_said(k1, sizes[0], k2, sizes[1], lost1, lost2, control)) for k1, lost1, k2, lost2 in rows.tolist()]
        return int(times @ np.array(said, dtype=int)), runs

    return simulate


def _templates(sizes: tuple[np.ndarray, np.ndarray], control: str) -> Simulation:
    """Templates whose logit of a right answer is drawn around .7 with an SD of 1.5; (templates,) items of each, by side."""

    def run(rng: np.random.Generator) -> Claim:
        families = [np.repeat(np.arange(len(one)), one) for one in sizes]
        chances = [1 / (1 + np.exp(-1.2 - 1.5 * rng.standard_normal(len(one)))) for one in sizes]
        right = [rng.random(len(of)) < chance[of] for chance, of in zip(chances, families, strict=True)]
        return score_claim(score_gap(right[0], right[1], control, (families[0], families[1])))

    return each(run)


def _shown_equal(k1: int, k2: int, n: int) -> bool:
    """Whether two sets of `n` are equivalent; not asked where a standard error already reaches past the margin."""
    if abs(k1 - k2) / n > DIFFICULTY_MARGIN - np.sqrt(0.4 / n):
        return False
    return _difficulty(k1, k2, n) in (EQUIVALENT, WITHIN)


@lru_cache(maxsize=200_000)
def _difficulty(k1: int, k2: int, n: int) -> str:
    return outcome_claim(difficulty_test(k1, n, k2, n)).outcome


def _after_equivalence(
    n: int, harder: float = 0.0, read: float = 0.0, says: Callable[[Claim], bool] = lambda claim: claim.is_made
) -> Simulation:
    """A fresh control that an older model showed to be as hard as the benchmark, within 10 pp: sets of which it did not are drawn anew.
    Items have a difficulty for both models (logit, SD 1.5), those of the control `harder` by so much; the benchmark's were `read`."""

    def right(rng: np.random.Generator, ability: float, difficulty: np.ndarray) -> np.ndarray:
        return rng.random(n) < 1 / (1 + np.exp(difficulty - ability))

    def run(rng: np.random.Generator) -> bool:
        while True:
            difficulty = [1.5 * rng.standard_normal(n), harder + 1.5 * rng.standard_normal(n)]
            if _shown_equal(*(int(right(rng, OLD, one).sum()) for one in difficulty), n):
                break
        answers = [right(rng, NEW, one) for one in difficulty]
        answers[0] |= rng.random(n) < read
        first, second = (int(one.sum()) for one in answers)
        if first - second < np.sqrt(0.5 * n):  # no more than 1.3 standard errors: no claim
            return False
        return says(_said(first, n, second, n, 0, 0, FRESH))

    return each(run)


OLD, NEW = 0.3, 1.8  # ability in logits: right on .55 and .79 of the questions
HARDER = 0.38  # in logits: 5 pp for the newer model, 7 pp for the older
SHOWN = "fresh control, shown equal by an older model"
SINGLES = np.ones(120, dtype=int)
TEMPLATES = {
    "20 x 4 v 20 x 4": (np.full(20, 4), np.full(20, 4)),
    "30 x 5 v 120 singles": (np.full(30, 5), SINGLES),
    "120 singles v 30 x 5": (SINGLES, np.full(30, 5)),
    "6 x 12 + 18 singles v 120 singles": (PATTERNS["6 x 12 + 18 singles"], SINGLES),
}


def _equal(assertion: Assertion, control: str) -> list[Cell]:
    cells = []
    for n, m in SIZES:
        world = "equal accuracies" if max(n, m) < 3 * min(n, m) else "equal accuracies, unequal sets"
        cells.append(Cell(assertion, world, f"{n:,} v {m:,}", _scores((n, m), (0.7, 0.7), control)))
    for n, m in ((150, 30), (500, 500)):
        name = f"{n} v {m}"
        cells.append(Cell(assertion, "equal accuracies, ceiling", name, _scores((n, m), (0.98, 0.98), control)))
        cells.append(Cell(assertion, "answers not read", name, _scores((n, m), (0.7, 0.7), control, (0.02, 0.10))))
    return cells + [Cell(assertion, "templated items", name, _templates(sizes, control)) for name, sizes in TEMPLATES.items()]


SCORE_CELLS: tuple[Cell, ...] = (
    *_equal(SCORE_MEMORY, RANDOM),
    *_equal(SCORE_HIGHER, FRESH),
    *(
        Cell(
            SCORE_MEMORY, "fresh control, 5 pp harder", f"{n:,} v {n:,}", _scores((n, n), (0.75, 0.70), FRESH, says=_is_memory)
        )
        for n in (150, 1_319)
    ),
    *(
        Cell(SCORE_HIGHER, world, f"{n:,} v {n:,}", _scores((n, n), (0.75, accuracy), FRESH), "outside")
        for world, accuracy in (("fresh control, 5 pp harder", 0.70), ("5 pp of memory, fresh control 5 pp easier", 0.75))
        for n in (150, 1_319)
    ),
    Cell(SCORE_HIGHER, SHOWN, "412 v 412", _after_equivalence(412)),
    Cell(SCORE_MEMORY, f"{SHOWN}, 5 pp harder", "412 v 412", _after_equivalence(412, HARDER, says=_is_memory)),
    Cell(SCORE_HIGHER, f"{SHOWN}, 5 pp harder", "412 v 412", _after_equivalence(412, HARDER), "outside", 2_000),
    Cell(SCORE_HIGHER, f"{SHOWN}, 13 pp of memory", "412 v 412", _after_equivalence(412, read=0.6), "planted", 2_000),
    Cell(SCORE_HIGHER, "15 pp higher", "80 v 120", _scores((80, 120), (0.85, 0.70), FRESH), "planted", 2_000),
    *(
        Cell(SCORE_MEMORY, "half leaked, 15 pp", f"{n} v {m}", _scores((n, m), (0.85, 0.70), RANDOM), "planted")
        for n, m in ((80, 120), (150, 150), (500, 500))
    ),
)
