"""How often a model is said to be better than another that is as good or better, and how often a rank interval misses the rank.

A world gives each model its true share of right answers; models share the difficulty of the items, and a tenth of the answers is
drawn again under every other way, so that the ways agree as those of one model do.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.special import ndtri

from flipcore.claims.claim import Assertion
from flipcore.claims.ranking import BETTER, SEPARATED, Contest, best_claim, contest, pair_claim
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.ranking.order import order
from flipcore.stats.ranking.ways import Scores, Way
from tests.lab.claims.cell import Cell, Simulation

Shares = tuple[float, ...]
FOUR, SIX, TWELVE = (0.7,) * 4, (0.7,) * 6, (0.7,) * 12
EQUAL, WORSE, RARE, RANKED = (0.7, 0.7, 0.7), (0.75, 0.75, 0.5), (0.98, 0.98, 0.98), (0.8, 0.7, 0.7, 0.6, 0.5)
LEADING, TWO = (0.85, 0.7), (0.7, 0.7)
WAYS = tuple(
    Way(axis, key, extractor)
    for axis, key in (("identity", "base"), ("option_order", "r1"), ("option_order", "r2"))
    for extractor in ("regex", "first_token")
)
AGREE, SHARED, LEAN = 0.9, 0.4, 0.2  # of the answers; variance that models share, and that templates give to each
_CELLS = 4_000_000  # numbers at once


def worlds_of(rng: np.random.Generator, runs: int, shares: Shares, families: np.ndarray, templated: bool) -> np.ndarray:
    """(runs, ways, items, models) of right and wrong."""
    n_families, n_models, lean = int(families[-1]) + 1, len(shares), LEAN if templated else 0.0
    shared = rng.normal(0, SHARED**0.5, (runs, 1, n_families, 1))
    mind = (shared + rng.normal(0, lean**0.5, (runs, 1, n_families, n_models)))[:, :, families]
    draw = rng.normal(0, (1 - SHARED - lean) ** 0.5, (runs, len(WAYS), families.size, n_models))
    stays = rng.random(draw.shape) < AGREE
    return mind + np.where(stays, draw[:, :1], draw) < ndtri(np.array(shares))


def losses_in_templates(
    rng: np.random.Generator, runs: int, families: np.ndarray, rate: float, correlation: float
) -> np.ndarray:
    """(runs, ways, items, 2) of two equal models: the first wins on single items, and loses as many in templates."""
    n_families = int(families[-1]) + 1
    odds = (1 - correlation) / correlation
    chance = rng.beta(rate * odds, (1 - rate) * odds, (runs, n_families))[:, families]
    lost = rng.random(chance.shape) < chance
    won = ~lost & (rng.random(chance.shape) < rate / (1 - rate))
    both = rng.random(chance.shape) < 0.7
    first, second = (both | won) & ~lost, (both | lost) & ~won
    return np.repeat(np.stack([first, second], axis=-1)[:, None], len(WAYS), axis=1)


def in_words(right: np.ndarray, families: np.ndarray, unread: np.ndarray | None = None) -> Contest:
    """One run of `worlds_of` as the product sees it; `unread` marks answers of the first model that nobody could read."""
    n_models = right.shape[2]
    names = tuple(f"model {chr(65 + m)}" for m in range(n_models))
    items = tuple(map(str, range(families.size)))
    shares = np.zeros((len(WAYS), n_models))
    lowest, highest = right.astype(float), right.astype(float)
    if unread is not None:
        lowest[:, unread, 0], highest[:, unread, 0], shares[:, 0] = 0.0, 1.0, unread.mean()
    return contest(order(Scores(names, WAYS, items, families, lowest.copy(), lowest, highest, shares)), "regex")


def promising(right: np.ndarray, families: np.ndarray, shares: Shares, every_way: bool) -> np.ndarray:
    """Runs in which Holm's method can reject a true hypothesis at all: the smallest p of the k true ones is at most .05 / k,
    because no more than the false ones are rejected before it. The others are not put into words, which takes most of the time."""
    ways = right if every_way else right[:, :1]
    directions = [(j, k) for j in range(len(shares)) for k in range(len(shares)) if j != k and shares[j] <= shares[k]]
    better, worse = np.array(directions).T
    gaps = ways[..., better].astype(float) - ways[..., worse]
    items_first = np.moveaxis(gaps, 2, 0)
    groups = families if families[-1] + 1 < families.size else None
    values = items_first.reshape(len(items_first), -1)
    p = guarded_t(values.T, SIGNED, groups).p_above.reshape(len(right), -1)
    return np.flatnonzero(np.nanmin(p, axis=1) <= BETTER.error_rate / p.shape[1])


def misses_a_rank(one: Contest, shares: Shares) -> bool:
    """Whether the claim's rank intervals miss a true rank; models that are equally good share the ranks that they fill."""
    claim = best_claim(one)
    best, worst = claim.numbers.get("best", {}), claim.numbers.get("worst", {})
    return claim.is_made and any(
        best[name] > 1 + sum(other > share for other in shares)
        or worst[name] < len(shares) - sum(other < share for other in shares)
        for name, share in zip(one.models, shares, strict=True)
    )


def separates_falsely(one: Contest, shares: Shares) -> bool:
    """Whether any pair is separated in favour of a model that is not better."""
    for j in range(len(shares)):
        for k in range(j + 1, len(shares)):
            claim = pair_claim(one, j, k)
            for_j, for_k = claim.numbers["separate"]
            if claim.is_made and ((for_j and shares[j] <= shares[k]) or (for_k and shares[k] <= shares[j])):
                return True
    return False


def _batches(
    rng: np.random.Generator, runs: int, shares: Shares, families: np.ndarray, templated: bool
) -> Iterator[np.ndarray]:
    chunk = max(1, _CELLS // (len(WAYS) * families.size * len(shares)))
    for start in range(0, runs, chunk):
        yield worlds_of(rng, min(chunk, runs - start), shares, families, templated)


def _false(is_false: Callable[[Contest, Shares], bool], shares: Shares, n_families: int, size: int = 1) -> Simulation:
    """`size` items share a template, which favours one model or another."""
    families = np.repeat(np.arange(n_families), size)

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        n_false = 0
        for right in _batches(rng, runs, shares, families, size > 1):
            candidates = promising(right, families, shares, is_false is separates_falsely)
            n_false += sum(is_false(in_words(right[i], families), shares) for i in candidates)
        return n_false, runs

    return simulate


def _alone_and_in_templates(
    rng: np.random.Generator, runs: int, n_families: int, size: int, rate: float, correlation: float
) -> tuple[int, int]:
    """Whether one of two equal models is called better, where one loses in templates and wins alone."""
    families = np.repeat(np.arange(n_families), size)
    n_false = 0
    for start in range(0, runs, 100):
        right = losses_in_templates(rng, min(100, runs - start), families, rate, correlation)
        for i in promising(right, families, TWO, every_way=False):
            n_false += misses_a_rank(in_words(right[i], families), TWO)
    return n_false, runs


def _unread(is_false: Callable[[Contest, Shares], bool], shares: Shares, n: int, share: float) -> Simulation:
    """Of the first model a `share` of the answers cannot be read, whatever they were."""
    families = np.arange(n)

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        n_false = 0
        for right in _batches(rng, runs, shares, families, False):
            for one in right:
                n_false += is_false(in_words(one, families, rng.random(n) < share), shares)
        return n_false, runs

    return simulate


def _first_is_shown(rng: np.random.Generator, runs: int, n: int, size: int = 1, shares: Shares = RANKED) -> tuple[int, int]:
    """Whether the first of these models is shown to be; `size` items share a template."""
    families = np.repeat(np.arange(n), size)
    n_shown = 0
    for right in _batches(rng, runs, shares, families, size > 1):
        n_shown += sum(best_claim(in_words(answers, families)).outcome == "first" for answers in right)
    return n_shown, runs


def _is_separated(rng: np.random.Generator, runs: int, n: int, size: int = 1) -> tuple[int, int]:
    """Whether the third of three models, which is worse, is separated from the first; `size` items share a template."""
    families = np.repeat(np.arange(n), size)
    every = (one for right in _batches(rng, runs, WORSE, families, size > 1) for one in right)
    return sum(pair_claim(in_words(one, families), 0, 2).is_made for one in every), runs


def _cells(assertion: Assertion, is_false: Callable[[Contest, Shares], bool]) -> list[Cell]:
    worlds = (
        ("all equal", EQUAL, (15, 40, 150, 1_319)),
        ("one is worse", WORSE, (40, 150)),
        ("nearly always right", RARE, (40, 150)),
        ("an order: rank intervals miss it", RANKED, (40, 150)),
    )
    cells = [
        Cell(assertion, world, f"{n:,}", _false(is_false, shares, n), n_runs=2_000 if n > 1_000 else 4_000)
        for world, shares, sizes in worlds
        for n in sizes
    ]
    cells += [
        Cell(assertion, "half of one unreadable", f"4 models, {n}", _unread(is_false, FOUR, n, 0.5), n_runs=2_000)
        for n in (40, 150)
    ]
    cells += [
        Cell(assertion, "all equal", f"{len(shares)} models, {n}", _false(is_false, shares, n), n_runs=2_000)
        for shares in (SIX, TWELVE)
        for n in (40, 150)
    ]
    return cells + [
        Cell(assertion, "templated items", f"{n} x {size}", _false(is_false, EQUAL, n, size)) for n, size in ((12, 5), (40, 4))
    ]


CELLS = (
    *_cells(BETTER, misses_a_rank),
    *_cells(SEPARATED, separates_falsely),
    *(
        Cell(
            BETTER,
            "losses in templates, wins alone",
            f"{n} x {size}, {rate:.0%} each, correlation {correlation:g}",
            partial(_alone_and_in_templates, n_families=n, size=size, rate=rate, correlation=correlation),
            n_runs=2_000,
        )
        for n, size, rate, correlation in (
            (12, 10, 0.08, 0.5),
            (30, 10, 0.03, 0.5),
            (40, 5, 0.08, 0.5),
            (57, 25, 0.02, 0.2),
            (57, 25, 0.02, 0.5),
        )
    ),
    *(
        Cell(BETTER, "first of .80, .70, .70, .60, .50", f"{n:,}", partial(_first_is_shown, n=n), "planted", 2_000)
        for n in (150, 500)
    ),
    *(
        Cell(
            BETTER,
            "first of .85 and .70, templates",
            f"{n} x {size}",
            partial(_first_is_shown, n=n, size=size, shares=LEADING),
            "planted",
            1_000,
        )
        for n, size in ((20, 10), (40, 5))
    ),
    *(
        Cell(SEPARATED, "third of .75, .75, .50 from the first", f"{n}", partial(_is_separated, n=n), "planted", 2_000)
        for n in (40, 150)
    ),
    *(
        Cell(
            SEPARATED,
            "third of .75, .75, .50 from the first, templates",
            f"{n} x {size}",
            partial(_is_separated, n=n, size=size),
            "planted",
            2_000,
        )
        for n, size in ((20, 10), (40, 5))
    ),
)
