"""Cells of the claims about drop gaps: no larger loss, a gap at its margin, and planted gaps.

Studies are drawn together; only those that could be claimed are put into words (`promising`), which a test compares with all.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from flipcore.claims.claim import Assertion, Claim
from flipcore.claims.memory_gap import GAP_OTHER, GAP_PAIRED, GAP_RANDOM, GAP_WITHIN, MARGIN, NO_MEMORY, gap_claim
from flipcore.stats.memory.gap_decision import CALIBRATED, OTHER, PAIRED, RANDOM, gap_decision
from flipcore.stats.memory.published_score import score_gap
from tests.lab.claims.cell import N_RUNS, Cell, Simulation, each
from tests.lab.claims.memory_worlds import WORLDS, Studies, World, logistic_pairs, studies, templated

Rng = np.random.Generator
Draws = Callable[[Rng, int], Studies]
FEWEST = 499  # permutations to start with, where the product starts with 9,999; both draw more while p straddles the level
AT_ONCE = 2_000_000  # items drawn together
LEAST = (
    0.8  # plain standard errors that the gap must lie beyond 0, or within the margin: every interval in use is twice as wide
)
DIFFICULTY = (
    "brittle, .9 v .5",
    "logit shift, easier benchmark",
    "logit shift, harder benchmark",
    "additive loss, .9 v .5",
    "chance floor 1/4",
    "chance floor, .9 v .5",
)


def verdict(
    sample: Studies, study: int, control: str, rng: Rng, with_score: bool = False, *, is_unpublished: bool = True
) -> Claim:
    """The product's own sentence on one study, with the published score of the same items beside it or without.

    `is_unpublished` is what is declared of its control."""
    score = score_gap(sample.benchmark[0][study], sample.control[0][study], RANDOM) if with_score else None
    score = replace(score, is_unpublished=is_unpublished) if score else None
    decision = gap_decision(sample.sides(study, control), control, int(rng.integers(2**31)), FEWEST)
    return gap_claim(decision, score=score)


def promising(sample: Studies, control: str, within: bool, least: float = LEAST) -> np.ndarray:
    """Studies whose gap lies far enough from 0 (or within the margin) that a claim is possible at all."""
    first, second = sample.drops
    if control in (PAIRED, CALIBRATED):
        n = min(first.shape[1], second.shape[1])
        first, second = first[:, :n] - second[:, :n], np.zeros((len(first), 1))
    se = np.sqrt(first.var(axis=1) / first.shape[1] + second.var(axis=1) / second.shape[1])
    gap = first.mean(axis=1) - second.mean(axis=1)
    return np.flatnonzero(MARGIN - np.abs(gap) > least * se if within else gap > least * se)


def simulated(draws: Draws, control: str, items: int, assertion: Assertion) -> Simulation:
    """Is this claimed? A sentence that asserts something else does not count."""

    def simulate(rng: Rng, runs: int) -> tuple[int, int]:
        n_asserted, block = 0, max(1, AT_ONCE // items)
        for start in range(0, runs, block):
            sample = draws(rng, min(block, runs - start))
            is_bound = assertion in (GAP_WITHIN, NO_MEMORY)
            near = promising(sample, control, is_bound)
            if assertion is NO_MEMORY:
                higher = sample.benchmark[0].mean(axis=1) - sample.control[0].mean(axis=1)
                near = near[higher[near] < MARGIN]
            claims = (verdict(sample, int(i), control, rng, assertion is NO_MEMORY) for i in near)
            n_asserted += sum(claim.is_made and claim.assertion is assertion for claim in claims)
        return n_asserted, runs

    return simulate


def gap(assertion: Assertion, control: str, world: str, n: int, m: int, truth: str = "null", name: str = "") -> Cell:
    """One cell of items drawn one by one, in a world of `WORLDS`."""
    law: World = WORLDS[world]
    size = f"{n:,} pairs" if control == PAIRED else f"{n:,} v {m:,}"
    simulate = simulated(lambda rng, k: studies(law, n, m, rng, k), control, n + m, assertion)
    return Cell(assertion, name or world, size, simulate, truth, N_RUNS // 2 if truth == "planted" else N_RUNS)


def _pairs(n: int, spreads: tuple[float, float], world: str, truth: str = "null") -> Cell:
    draws = simulated(lambda rng, k: logistic_pairs(n, rng, k, spreads), PAIRED, 2 * n, GAP_PAIRED)
    return Cell(GAP_PAIRED, world, f"{n} pairs", draws, truth)


def _templates(assertion: Assertion, control: str, n: int, m: int, shared: int = 0) -> Cell:
    """Templates of four items, which break together, with or without a wording that both sides share."""

    def run(rng: Rng) -> bool:
        sides = templated(n, m, rng, shared=shared)
        claim = gap_claim(gap_decision(sides, control, int(rng.integers(2**31)), FEWEST))
        return claim.is_made and claim.assertion is assertion

    size = f"{n} v {m} templates" + f", {shared} wording shared" * bool(shared)
    return Cell(assertion, "templated items", size, each(run))


def _one_law() -> list[Cell]:
    """Both sets follow one law."""
    sizes = {
        "nothing changing": ((10, 10), (40, 150)),
        "rare events": ((15, 40), (150, 19), (5_000, 60)),
        "brittle both": ((40, 150), (80, 120)),
        "clean with noise": ((10, 19), (80, 120), (1_319, 1_200)),
        "several rewrites": ((40, 150), (150, 20)),
    }
    return [
        gap(assertion, control, world, n, m)
        for world, both in sizes.items()
        for n, m in both
        for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER))
    ]


def _paired() -> list[Cell]:
    worlds = (("nothing changing", (40,)), ("rare events", (15, 60)), ("brittle both", (10, 80, 500)))
    return [
        *(gap(GAP_PAIRED, PAIRED, world, n, n) for world, sizes in worlds for n in sizes),
        *(_pairs(n, (1.5, 1.5), "pairs of one difficulty") for n in (15, 150, 1_319)),
        _pairs(150, (0.5, 2.5), "pairs of one mean, spread .5 v 2.5", "outside"),
    ]


def _memory() -> list[Cell]:
    """What a gap cannot see: the truth of these worlds is how far the published score is inflated."""
    sizes = ((150, 150), (500, 500), (1_319, 1_319))
    return [
        *(gap(NO_MEMORY, RANDOM, world, n, m) for world in NO_MEMORY.worlds if world != LEAKED for n, m in sizes),
        *(_leaked(n, is_unpublished, truth) for n in (500,) for is_unpublished, truth in ((False, "null"), (True, "outside"))),
        gap(NO_MEMORY, RANDOM, "memory that survives rewriting, at the margin", 1_319, 120),
        *(gap(GAP_OTHER, OTHER, "wrong keys in the control, 8 %", n, n) for n in (150, 500)),
        *(gap(GAP_WITHIN, RANDOM, "wrong keys hide memory that rewriting breaks", n, n) for n in (150, 500)),
        *(gap(NO_MEMORY, RANDOM, "nothing read", n, n, "planted") for n in (150, 500, 1_319)),
    ]


LEAKED = "the control was read too, and nobody declares it unpublished"


def _leaked(n: int, is_unpublished: bool, truth: str) -> Cell:
    """Half of a published set as the control: both halves were read, which raises both scores by 25 points."""
    law = WORLDS["both read, 25 pp"]

    def run(rng: Rng) -> bool:
        sample = studies(law, n, n, rng, 1)
        claim = verdict(sample, 0, RANDOM, rng, with_score=True, is_unpublished=is_unpublished)
        return claim.is_made and claim.assertion is NO_MEMORY

    world = "the control was read too, and is declared unpublished" if is_unpublished else LEAKED
    return Cell(NO_MEMORY, world, f"{n:,} v {n:,}", each(run), truth, N_RUNS // 10)


def _margins() -> list[Cell]:
    at = "gap at the margin"
    return [
        *(gap(GAP_WITHIN, RANDOM, at, n, m) for n, m in ((80, 120), (150, 150), (500, 500), (1_319, 120))),
        gap(GAP_WITHIN, RANDOM, "margin, rare", 150, 20, name=f"{at}, rare events"),
        *(
            gap(GAP_WITHIN, RANDOM, "margin, rewrites", n, m, name=f"{at}, several rewrites")
            for n, m in ((150, 20), (300, 300))
        ),
        gap(GAP_WITHIN, PAIRED, at, 300, 300, name=f"{at}, pairs"),
        *(gap(GAP_WITHIN, RANDOM, "rare events", n, n, "planted") for n in (150, 500)),
    ]


GAP_CELLS: tuple[Cell, ...] = (
    *_one_law(),
    *_paired(),
    _templates(GAP_RANDOM, RANDOM, 20, 30),
    _templates(GAP_RANDOM, RANDOM, 20, 30, shared=1),
    _templates(GAP_OTHER, OTHER, 20, 30),
    _templates(GAP_OTHER, OTHER, 12, 12),
    *(gap(GAP_OTHER, OTHER, world, n, n) for world in DIFFICULTY for n in (15, 40, 150, 500)),
    *(gap(GAP_OTHER, OTHER, "brittle, .9 v .5", 1_319, m) for m in (30, 60, 120)),
    gap(GAP_OTHER, OTHER, "chance floor, .9 v .5", 150, 30),
    gap(GAP_RANDOM, RANDOM, "chance floor 1/4", 40, 150),
    *(
        gap(GAP_OTHER, OTHER, world, n, n, "outside")
        for world, n in (("one mean, spread 2.5 v .5", 150), ("one mean, spread .5 v 2.5", 150))
    ),
    *_margins(),
    *_memory(),
    *(
        gap(assertion, control, world, n, 150, "planted")
        for n, world in ((150, "gap .15"), (40, "gap .26"))
        for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER))
    ),
    gap(GAP_PAIRED, PAIRED, "gap .26", 80, 80, "planted"),
)
