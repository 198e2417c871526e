"""Cells of the claims about flips: worlds of item values, each answered by the sentence of `flipcore.claims.flips`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from flipcore.claims import flips
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.contrast import BOUNDS, contrast_values
from flipcore.stats.flips.decomposition import Decomposition, decompositions, item_rates
from flipcore.stats.flips.disagreement import ABSENT
from tests.lab.claims.cell import N_RUNS, Cell, Simulation
from tests.lab.simulations.planted import PlantedTruth, planted_pair, planted_samples

E, REF = "first_token", "regex"
N_BOOT = 199  # intervals by resampling decide nothing here: the verdict is the guarded t
ITEMS_AT_ONCE = 200_000
MANY = 1_000  # items; from here on half the runs, each of them far dearer
FAMILY = 4
SIZES = (10, 15, 40, 80, 1319)
SAMPLED = (10, 15, 40, 80, 320)  # worlds with eight answers an item
World = Callable[[np.random.Generator, int], "CodedAnswers"]


def coded(
    field: np.ndarray,
    reference: np.ndarray,
    *,
    families: np.ndarray | None = None,
    cut: np.ndarray | None = None,
    axes: int = 1,
) -> CodedAnswers:
    """(items, variants[, samples]) answers of two extractors as a study's; with `axes` the variants are split among them."""
    names = [f"axis_{i}" for i in range(axes)]
    pairs = {name: tuple(_deep(part) for part in (field[:, i::axes], reference[:, i::axes])) for i, name in enumerate(names)}
    codes: dict = {}
    base: dict = {}
    cuts: dict = {}
    for i, (name, (one, other)) in enumerate(pairs.items()):
        marks = None if cut is None else _deep(cut[:, i::axes])
        codes |= {(name, E): one, (name, REF): other if marks is None else np.where(marks, ABSENT, other)}
        base[name] = np.zeros(one.shape[:2], dtype=bool)
        cuts |= {} if marks is None or not marks.any() else {(name, REF): marks}
    items = np.arange(len(field)).astype(object)
    return CodedAnswers(items, tuple(names), (E, REF), codes, base, dict.fromkeys(codes, 0), np.array([]), cuts, families)


def _deep(answers: np.ndarray) -> np.ndarray:
    return answers if answers.ndim == 3 else answers[:, :, None]


def _equal(g: float = 0.155) -> World:
    """A = G = g, four variants."""
    return lambda rng, n: coded(*planted_pair(n, PlantedTruth(2 * g, g), rng))


def _nothing(rng: np.random.Generator, n: int) -> CodedAnswers:
    return coded(np.zeros((n, 4), dtype=int), np.zeros((n, 4), dtype=int))


def _three_valued(plus: float, minus: float, both: float, v: int = 2) -> World:
    """Items of which some flip at every chance: under the compared extractor alone, the reference alone, or both."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        u = rng.random(n)
        kind = np.digitize(u, np.cumsum([plus, minus, both]))
        flip = (np.arange(v) % 2)[None, :]
        return coded(flip * np.isin(kind, (0, 2))[:, None], flip * np.isin(kind, (1, 2))[:, None])

    return draw


def _concentrated(rare: float, artifact: bool) -> World:
    """All artifact sits in a share `rare` of items that flip everywhere; genuine flips are spread thinly, or the reverse.
    v = 6 variants: an odd one flips 5 of 15 pairs, half of them 9."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        v, u = 6, rng.random(n)
        hit = u < rare
        often, one = np.arange(v) % 2, (np.arange(v) == 0).astype(int)
        spread = (~hit & (u < rare * (1 + 9 / 5)))[:, None] * one[None, :]
        burst = hit[:, None] * often[None, :] * 2
        if artifact:  # compared flips on both, so D = 9/15 where hit and -5/15 where spread
            return coded(np.where(burst > 0, burst, spread), spread)
        return coded(np.where(burst > 0, burst, spread), burst)

    return draw


def _families(size: int) -> World:
    """A = G, with items in families of `size` that flip alike."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        g = -(-n // size)
        pair = planted_pair(g, PlantedTruth(0.31, 0.155), rng)
        family = np.repeat(np.arange(g), size)[:n]
        return coded(*(part[family] for part in pair), families=family)

    return draw


def _noise(field: float, reference: float) -> World:
    """The change does nothing; sampling alone flips, by different rates under the two extractors. Two samples each."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        parts = [planted_samples(n, rng, floor=floor, effect=0.0) for floor in (field, reference)]
        return coded(*parts)

    return draw


def _cut(rng: np.random.Generator, n: int) -> CodedAnswers:
    """A = G before a fifth of the reference's answers is cut off: those of items that flip, on changed prompts."""
    field, reference = planted_pair(n, PlantedTruth(0.31, 0.155), rng)
    odd = reference != reference[:, :1]
    return coded(field, reference, cut=odd & (rng.random(odd.shape) < 0.6))


def _unequal(rng: np.random.Generator, n: int) -> CodedAnswers:
    """A = G, with two to eight variants an item."""
    field, reference = planted_pair(n, PlantedTruth(0.31, 0.155), rng, v=8)
    is_absent = np.arange(8)[None, :] >= rng.integers(2, 9, size=(n, 1))
    return coded(np.where(is_absent, ABSENT, field), np.where(is_absent, ABSENT, reference))


def in_blocks(world: World, n: int, asserts: Callable[[list[Decomposition]], bool]) -> Simulation:
    """Runs of n items each, drawn together; those whose own p may reach the level are put into words one by one."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        n_asserted, block = 0, max(1, ITEMS_AT_ONCE // n)
        for start in range(0, runs, block):
            k = min(block, runs - start)
            answers = world(rng, n * k)
            n_asserted += sum(asserts(in_words(part(answers, run, n))) for run in promising(answers, n, k))
        return n_asserted, runs

    return simulate


def in_words(answers: CodedAnswers) -> list[Decomposition]:
    """The cells of one run as a page has them."""
    return decompositions(answers, REF, extractors=[E], n_boot=N_BOOT, tests=False)


def part(answers: CodedAnswers, run: int, n: int) -> CodedAnswers:
    """One run's items."""
    rows = slice(run * n, (run + 1) * n)
    return replace(
        answers,
        items=answers.items[rows],
        codes={key: codes[rows] for key, codes in answers.codes.items()},
        base={key: marks[rows] for key, marks in answers.base.items()},
        cut={key: marks[rows] for key, marks in answers.cut.items() if marks[rows].any()},
        families=None if answers.families is None else answers.families[rows] - answers.families[rows].min(),
    )


def promising(answers: CodedAnswers, n: int, k: int) -> np.ndarray:
    """Runs in which some cell's guarded p is .05 or less before Holm and cut answers, which only raise it: no other run can
    be claimed, whatever the sentence."""
    least = np.ones(k)
    for axis in answers.axes:
        values = item_rates(replace(answers, families=None), axis, E, REF).values
        x = contrast_values(values)[0].reshape(k, n)
        if answers.families is not None:
            x = x.reshape(k, n // FAMILY, FAMILY).mean(axis=2)
        least = np.fmin(least, guarded_t(x, BOUNDS).p)
    return np.flatnonzero(least <= flips.LARGER.error_rate + 1e-6)


def _claimed(world: World, n: int) -> Simulation:
    """Whether the cell's sentence asserts something."""
    return in_blocks(world, n, lambda cells: any(claim.is_made for claim in flips.cell_claims(cells)))


def _headline(world: World, n: int) -> Simulation:
    """Whether headline or tally of six cells asserts something."""
    return in_blocks(world, n, lambda cells: flips.headline(cells).is_made or flips.tally(cells).is_made)


def _more(world: World, n: int) -> Simulation:
    """Power: the planted direction, and only that one."""
    return in_blocks(
        world, n, lambda cells: flips.cell_claims(cells)[0].is_made and flips.cell_claims(cells)[0].outcome == flips.MORE
    )


def _six(world: Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]) -> World:
    """Six axes of four variants each, every one of this world."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        pairs = [world(rng, n, 4) for _ in range(6)]
        mixed = [np.stack([pair[which] for pair in pairs], axis=2) for which in (0, 1)]
        return coded(*(one.reshape(n, -1, *one.shape[3:]) for one in mixed), axes=6)

    return draw


def _pair(rng: np.random.Generator, n: int, v: int) -> tuple[np.ndarray, np.ndarray]:
    return planted_pair(n, PlantedTruth(0.31, 0.155), rng, v)


def _rare_pair(rng: np.random.Generator, n: int, v: int) -> tuple[np.ndarray, np.ndarray]:
    kind = np.digitize(rng.random(n), np.cumsum([0.1, 0.05, 0.0]))
    flip = (np.arange(v) % 2)[None, :]
    return flip * (kind == 0)[:, None], flip * (kind == 1)[:, None]


def _noise_pair(field: float, reference: float) -> Callable:
    """Two samples of each variant that differ by sampling alone, more often under the compared extractor."""
    return lambda rng, n, v: tuple(planted_samples(n, rng, floor=floor, effect=0.0, v=v) for floor in (field, reference))


_NULL: tuple[tuple[str, World, tuple[int, ...]], ...] = (
    ("A = G", _equal(), SIZES),
    ("nothing changes", _nothing, (10, 40, 1319)),
    ("rare events", _three_valued(0.1, 0.05, 0.0), SIZES),
    ("rare events, .02", _three_valued(0.02, 0.01, 0.0), (40, 80, 1319)),
    ("ties", _three_valued(0.3, 0.1, 0.1), SIZES),
    ("ties, reference alone", _three_valued(0.4, 0.2, 0.0), SIZES),
    ("concentrated artifact", _concentrated(0.06, True), SIZES),
    ("concentrated genuine", _concentrated(0.1, False), SIZES),
    ("templated items", _families(FAMILY), (40, 80, 1320)),
    ("noise only", _noise(0.25, 0.1), SAMPLED),
    ("noise only, rare", _noise(0.05, 0.01), (40, 320)),
    ("cut answers", _cut, (40, 80, 320)),
    ("unequal variants", _unequal, SAMPLED),
)
_PLANTED: tuple[tuple[str, World, tuple[int, ...]], ...] = (
    ("A - G = .10 (T .30, G .10)", lambda rng, n: coded(*planted_pair(n, PlantedTruth(0.3, 0.1), rng)), (50, 150)),
)
_SIX: tuple[tuple[str, World, tuple[int, ...]], ...] = (
    ("A = G", _six(_pair), (15, 40)),
    ("rare events", _six(_rare_pair), (15, 40)),
    ("noise only", _six(_noise_pair(0.25, 0.1)), (15, 40)),
    ("nothing changes", _six(lambda rng, n, v: (np.zeros((n, v), dtype=int),) * 2), (40,)),
)
CELLS: tuple[Cell, ...] = (
    *(
        Cell(flips.LARGER, name, f"{n:,}", _claimed(world, n), n_runs=N_RUNS if n < MANY else N_RUNS // 2)
        for name, world, sizes in _NULL
        for n in sizes
    ),
    *(Cell(flips.LARGER_ANYWHERE, name, f"{n} × 6 cells", _headline(world, n)) for name, world, sizes in _SIX for n in sizes),
    *(
        Cell(flips.LARGER, name, f"{n}", _more(world, n), truth="planted", n_runs=N_RUNS // 2)
        for name, world, sizes in _PLANTED
        for n in sizes
    ),
)
