"""Cells of the claims about flips: worlds of answers, each answered by the sentence of `flipcore.claims.flips`.

A world says which sentences are false in it: all of them where no part is larger than another, else those of the other parts.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.claims.flips import ARTIFACT, CLAIMED, GENUINE, OF_BOTH, OF_REFERENCE
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.contrast import BOUNDS, detectable_difference, share_against
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.flips.disagreement import ABSENT, NULL
from flipcore.stats.flips.unread import CONTRASTS, RATES, unread
from tests.lab.claims.cell import Cell, Simulation
from tests.lab.simulations.planted import planted_samples

E, REF = "first_token", "regex"
N_BOOT = 199  # intervals by resampling decide nothing here: the verdict is the guarded t
ITEMS_AT_ONCE = 200_000
N_RUNS = 2_000
FAMILY = 4
SIZES = (15, 40, 1319)
FEWER = (15, 40, 320)  # worlds with several answers an item
World = Callable[[np.random.Generator, int], "CodedAnswers"]


def coded(
    field: np.ndarray,
    reference: np.ndarray,
    *,
    families: np.ndarray | None = None,
    lost: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
    axes: int = 1,
    again: bool = False,
) -> CodedAnswers:
    """(items, variants[, samples]) answers of two extractors as a study's; with `axes` the variants are split among them. `lost` marks
    answers of either that never came; with `again` each prompt is asked twice and answers alike."""
    codes: dict = {}
    base: dict = {}
    marks: dict = {}
    for i in range(axes):
        for name, answers, holes in ((E, field, lost[0]), (REF, reference, lost[1])):
            deep = _deep(answers[:, i::axes], again)
            key = (f"axis_{i}", name)
            codes[key] = deep
            if holes is not None and holes.any():
                marks[key] = _deep(holes[:, i::axes], again)
                codes[key] = np.where(marks[key], ABSENT, deep)
        base[f"axis_{i}"] = np.zeros(deep.shape[:2], dtype=bool)
    items, names = np.arange(len(field)).astype(object), tuple(base)
    return CodedAnswers(items, names, (E, REF), codes, base, dict.fromkeys(codes, 0), np.array([]), marks, families)


def _deep(answers: np.ndarray, again: bool) -> np.ndarray:
    deep = answers if answers.ndim == 3 else answers[:, :, None]
    return np.repeat(deep, 2, axis=2) if again else deep


def parts(plus: float, minus: float, both: float, v: int = 2, again: bool = True) -> World:
    """Items of which some flip at every chance: under the compared extractor alone, the reference alone, or both; two variants. Reruns
    never flip."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        kind = np.digitize(rng.random(n), np.cumsum([plus, minus, both]))
        flip = (np.arange(v) % 2)[None, :]
        return coded(flip * np.isin(kind, (0, 2))[:, None], flip * np.isin(kind, (1, 2))[:, None], again=again)

    return draw


def _nothing(rng: np.random.Generator, n: int) -> CodedAnswers:
    return coded(np.zeros((n, 4), dtype=int), np.zeros((n, 4), dtype=int), again=True)


def _concentrated(rare: float, artifact: bool) -> World:
    """A+ and both are equal, one of them in a share `rare` of items that flip everywhere, the other spread thinly.
    v = 6 variants: an odd one flips 5 of 15 pairs, half of them 9."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        v, u = 6, rng.random(n)
        often, one = np.arange(v) % 2, (np.arange(v) == 0).astype(int)
        burst = (u < rare)[:, None] * often[None, :] * 2
        spread = ((u >= rare) & (u < rare * (1 + 9 / 5)))[:, None] * one[None, :]
        return coded(np.where(burst > 0, burst, spread), spread if artifact else burst, again=True)

    return draw


def _families(size: int, plus: float = 0.2, minus: float = 0.05, both: float = 0.2) -> World:
    """Items in families of `size` that flip alike; without other numbers A+ and both are equal."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        g = -(-n // size)
        kind = np.digitize(rng.random(g), [plus, plus + minus, plus + minus + both])
        family = np.repeat(np.arange(g), size)[:n]
        flip = np.arange(2)[None, :]
        pair = (flip * np.isin(kind, which)[:, None] for which in ((0, 2), (1, 2)))
        return coded(*(part[family] for part in pair), families=family, again=True)

    return draw


def _noise(field: float, reference: float) -> World:
    """The change does nothing; sampling alone flips, by different rates under the two extractors. Two samples each."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        return coded(*(planted_samples(n, rng, floor=floor, effect=0.0) for floor in (field, reference)))

    return draw


def _shared_noise(samples: int) -> World:
    """The change does nothing; a model that draws its answer flips half the pairs, and both extractors read the same answers."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        answers = (rng.random((n, 4, samples)) < 0.5).astype(int)
        return coded(answers, answers)

    return draw


def _lost_where(plus: float, both: float, share: float, failed: bool, v: int = 4) -> World:
    """One of four wordings is answered otherwise: under the compared extractor alone in `plus` of the items, under both in `both`. Of
    those under both, a `share` never came: of the reference (cut off there), or of either where the call `failed`."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        kind = np.digitize(rng.random(n), np.cumsum([plus, both]))
        odd = (np.arange(v) == v - 1)[None, :]
        lost = odd & ((kind == 1) & (rng.random(n) < share))[:, None]
        return coded(odd * (kind < 2)[:, None], odd * (kind == 1)[:, None], lost=(lost if failed else None, lost))

    return draw


def _one_option(read: float) -> World:
    """A model that gives one option always, in one of four wordings, of which the reference reads one."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        reference = np.where(rng.random((n, 4)) < read, 0, NULL)
        return coded(np.zeros((n, 4), dtype=int), reference, again=True)

    return draw


def _unequal(rng: np.random.Generator, n: int) -> CodedAnswers:
    """A+ and both are equal, with two to eight variants an item."""
    kind = rng.integers(0, 5, n)
    flip = (np.arange(8) % 2)[None, :]
    is_absent = np.arange(8)[None, :] >= rng.integers(2, 9, size=(n, 1))
    pair = (flip * np.isin(kind, which)[:, None] for which in ((0, 1), (1,)))
    return coded(*(np.where(is_absent, ABSENT, one) for one in pair), again=True)


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
    return decompositions(answers, REF, extractors=[E], kind="clt_cluster", n_boot=N_BOOT, tests=False)


def part(answers: CodedAnswers, run: int, n: int) -> CodedAnswers:
    """One run's items."""
    rows = slice(run * n, (run + 1) * n)
    return replace(
        answers,
        items=answers.items[rows],
        codes={key: codes[rows] for key, codes in answers.codes.items()},
        base={key: marks[rows] for key, marks in answers.base.items()},
        lost={key: marks[rows] for key, marks in answers.lost.items() if marks[rows].any()},
        families=None if answers.families is None else answers.families[rows] - answers.families[rows].min(),
    )


def promising(answers: CodedAnswers, n: int, k: int) -> np.ndarray:
    """Runs in which some contrast's guarded p is .025 or less before Holm, which only raises it: no other run can be claimed,
    whatever the sentence."""
    least = np.ones(k)
    for axis in answers.axes:
        not_read = unread(answers, axis, E, REF)
        for bounds, width in ((not_read.raw, 1), (not_read.beyond, 2)):
            for name in CONTRASTS:
                x = bounds.low[:, list(RATES).index(name)].reshape(k, n)
                if answers.families is not None:
                    x = x.reshape(k, n // FAMILY, FAMILY).mean(axis=2)  # of equal families the plain t is the same
                least = np.fmin(least, guarded_t(x, (width * BOUNDS[0], width * BOUNDS[1])).p_above)
    return np.flatnonzero(least <= flips.WHOSE.error_rate / 2 + 1e-6)


def _says(world: World, n: int, outcomes: Collection[str] = CLAIMED) -> Simulation:
    """Whether the cell's sentence asserts one of these."""
    return in_blocks(
        world, n, lambda cells: any(claim.is_made and claim.outcome in outcomes for claim in flips.cell_claims(cells))
    )


def _headline(world: World, n: int) -> Simulation:
    """Whether headline or tally of six cells asserts something."""
    return in_blocks(world, n, lambda cells: flips.headline(cells).is_made or _tally(cells).is_made)


def _tally(cells: Collection[Decomposition]) -> Claim:
    return flips.tally([flips.outcome_of(verdict) for verdict in flips.verdicts(list(cells)).values()])


def _misses_its_plan(n: int, n_cells: int, times: float = 1.0, asserts: bool = False) -> Simulation:
    """Whether a difference that a plan says is found four times in five is missed (found, with `asserts`), in the world that the plan
    assumes or where it is `times` as large; the other cells of the family show nothing."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        # Planned here and not beside the list of cells, which every collection of tests reads.
        difference = times * detectable_difference(n, n_cells)
        fewer = share_against(difference)
        world = parts(difference + fewer, 0.0, fewer)
        answers, missed = world(rng, n * runs), 0
        for run in range(runs):
            (cell,) = in_words(part(answers, run, n))
            family = [replace(cell, axis=f"other {i}", unread=_silent(cell)) for i in range(n_cells - 1)]
            missed += (flips.cell_claims([cell, *family])[0].outcome == ARTIFACT) is asserts
        return missed, runs

    return simulate


def _silent(cell: Decomposition):
    nothing = replace(cell.unread.raw, low=np.zeros_like(cell.unread.raw.low))
    return replace(cell.unread, raw=nothing, beyond=nothing)


def _six(kinds: tuple[float, float, float]) -> World:
    """Six axes of two variants each, every one of this world."""

    def draw(rng: np.random.Generator, n: int) -> CodedAnswers:
        kind = np.digitize(rng.random((n, 1, 6)), np.cumsum(kinds))
        flip = np.arange(2)[None, :, None]
        return coded(*((flip * np.isin(kind, which)).reshape(n, 12) for which in ((0, 2), (1, 2))), axes=6, again=True)

    return draw


def _six_noisy(rng: np.random.Generator, n: int) -> CodedAnswers:
    pairs = [[planted_samples(n, rng, floor=floor, effect=0.0, v=2) for _ in range(6)] for floor in (0.25, 0.1)]
    return coded(*(np.stack(one, axis=2).reshape(n, 12, -1) for one in pairs), axes=6)


_NULL: tuple[tuple[str, World, tuple[int, ...], Collection[str]], ...] = (
    ("only the compared extractor misreads", parts(0.3, 0, 0), SIZES, (OF_REFERENCE, OF_BOTH, GENUINE)),
    ("only the reference misreads", parts(0, 0.3, 0), SIZES, (ARTIFACT, OF_BOTH, GENUINE)),
    ("half of what flips is genuine", parts(0.1, 0.1, 0.2), SIZES, CLAIMED),
    ("half of what flips is genuine, rare", parts(0.03, 0, 0.03), (22, 80), CLAIMED),
    ("one part as large as both", parts(0.15, 0.05, 0.15), SIZES, CLAIMED),
    ("one part as large as both, the other too", parts(0.12, 0.12, 0.12), SIZES, CLAIMED),
    ("nothing changes", _nothing, (10, 40, 1319), CLAIMED),
    ("rare events", parts(0.05, 0.01, 0.05), SIZES, CLAIMED),
    ("rare events, .01", parts(0.01, 0.0, 0.01), (40, 80, 1319), CLAIMED),
    ("ties", parts(0.3, 0.1, 0.3), SIZES, CLAIMED),
    ("concentrated artifact", _concentrated(0.06, True), SIZES, CLAIMED),
    ("concentrated genuine", _concentrated(0.1, False), SIZES, CLAIMED),
    ("templated items", _families(FAMILY), (40, 80, 1320), CLAIMED),
    ("noise only", _noise(0.25, 0.1), FEWER, CLAIMED),
    ("noise only, rare", _noise(0.05, 0.01), (40, 320), CLAIMED),
    ("noise only, read alike", _shared_noise(2), FEWER, CLAIMED),
    ("noise without reruns", _shared_noise(1), FEWER, (GENUINE,)),
    ("cut where the reference flips", _lost_where(0.04, 0.04, 1.0, False), (80, 320, 1319), CLAIMED),
    ("failed calls", _lost_where(0.2, 0.2, 0.5, True), (40, 80, 320), CLAIMED),
    ("one option always, one wording of four read", _one_option(0.25), (40, 80, 320), CLAIMED),
    ("unequal variants", _unequal, FEWER, CLAIMED),
)
_PLANTED: tuple[tuple[str, World, tuple[int, ...], str], ...] = (
    ("A+ .30, both .10", parts(0.3, 0.02, 0.1), (40, 150), ARTIFACT),
    ("A- .30, both .10", parts(0.02, 0.3, 0.1), (40, 150), OF_REFERENCE),
    ("A+ .30, A- .30, both .05", parts(0.3, 0.3, 0.05), (40, 150), OF_BOTH),
    ("both .30, A+ .05", parts(0.05, 0.02, 0.3), (40, 150), GENUINE),
    ("A+ .30, both .10, 4 % lost there", _lost_where(0.6, 0.2, 0.2, False), (40, 150), ARTIFACT),
    ("A+ .30, both .10, templated items", _families(FAMILY, 0.3, 0.02, 0.1), (160, 600), ARTIFACT),
)
_SIX: tuple[tuple[str, World, tuple[int, ...]], ...] = (
    ("one part as large as both", _six((0.15, 0.05, 0.15)), (15, 40)),
    ("rare events", _six((0.05, 0.01, 0.05)), (15, 40)),
    ("noise only", _six_noisy, (15, 40)),
    ("nothing changes", _six((0.0, 0.0, 0.0)), (40,)),
)


CELLS: tuple[Cell, ...] = (
    *(
        Cell(flips.WHOSE, name, f"{n:,}", _says(world, n, outcomes), n_runs=N_RUNS)
        for name, world, sizes, outcomes in _NULL
        for n in sizes
    ),
    *(
        Cell(flips.ANYWHERE, name, f"{n} × 6 cells", _headline(world, n), n_runs=N_RUNS)
        for name, world, sizes in _SIX
        for n in sizes
    ),
    *(
        Cell(flips.WHOSE, name, f"{n}", _says(world, n, (outcome,)), truth="planted", n_runs=N_RUNS)
        for name, world, sizes, outcome in _PLANTED
        for n in sizes
    ),
    *(
        Cell(
            flips.ANYWHERE,
            "A+ .30, both .10 on every axis",
            f"{n} × 6 cells",
            _headline(_six((0.3, 0.02, 0.1)), n),
            "planted",
            N_RUNS,
        )
        for n in (40, 150)
    ),
    Cell(flips.PLAN, "a quarter more than planned", "150 × 6", _misses_its_plan(150, 6, 1.25, True), "planted", N_RUNS),
    *(
        Cell(flips.PLAN, "the assumed world", f"{n} × {k}", _misses_its_plan(n, k), n_runs=N_RUNS)
        for n, k in ((20, 1), (40, 6), (150, 6))
    ),
)
