"""Cells of the claims about a holdout that copies its target: shipped questions, and of these a paraphrase, a light edit or new numbers.

A sentence may not say that the sets are alike but for fewer copies than there are. Margins are so wide that nothing but the copies can
keep the sets from being called equivalent.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from flipcore.axes.numeric.draw import Resample
from flipcore.claims.claim import Claim
from flipcore.claims.holdout import MANY_TWINS, SAME_SOURCE, SETS_DIFFER, SETS_EQUIVALENT, outcome_claim, verdict_claim
from flipcore.core.paths import PARAPHRASES
from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from flipcore.stats.holdout.copies import (
    CrossNeighbours,
    _nearest_outside,
    blocks_of_vectors,
    blocks_of_words,
    neighbours_beside_twins,
)
from flipcore.stats.holdout.entries import entry_text
from flipcore.stats.holdout.neighbours import nearest
from flipcore.stats.holdout.semantic import unit_vectors
from flipcore.stats.holdout.verdict import TESTS, HoldoutTest, HoldoutVerdict, difficulty_test, semantic_test
from flipcore.vectors.embeddings.kinds import EMBEDDINGS
from tests.axes.resampling import resample
from tests.lab.claims.cell import N_RUNS, Cell, Simulation, each

Rng = np.random.Generator
N_SLOW, N_TWINS = 2_000, 500
WIDE = 0.5
EDITED = 0.1  # of the words; each becomes another word of the questions
HARDEST = "paraphrase"  # to see; the verdict on all tests is never said where the sentence of this one is not
KINDS = {HARDEST: 55, "edit": 55, "new numbers": 34}  # entries a set
TEMPLATED = "new numbers among entries of one template"
SHARES = (10, 30)  # percent
SIZES = {**KINDS, TEMPLATED: 150}
_SAID = re.compile(r"[Aa]t most (\d+)%")


def nearest_by_vector(units: np.ndarray, sources: np.ndarray | None = None) -> np.ndarray:
    """Return (n,) the entry of another source of largest cosine to each of the unit rows (n, d); -1 where there is none."""
    rows, cosines = nearest(units, units, 1, skip_self=True, sources=sources)
    return np.where(np.isfinite(cosines[:, 0]), rows[:, 0], -1)


def nearest_by_words(texts: Sequence[str]) -> np.ndarray:
    """Return (n,) the other entry that shares the largest part of its runs of five words with each; -1 where none shares any."""
    return _nearest_outside(blocks_of_words(texts), np.arange(len(texts)))


@lru_cache(maxsize=8)
def pool(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(entries, a copy of each) of the shipped questions that can be copied in this way; the same every time."""
    names = ("pocket_problems",) if kind == TEMPLATED else ("flipscope_problems", "flipscope_choice")
    items = [item for name in names for item in load(ItemSource(name))]
    rng, words = generator(0, "copies", kind), " ".join(item.question for item in items).split()
    lines = (PARAPHRASES / "shipped.jsonl").read_text(encoding="utf-8").splitlines()
    paraphrases = {row["original"]: row["paraphrase"] for row in map(json.loads, reversed(lines))}

    def copied(item: Item) -> str:
        if kind == "paraphrase":
            return paraphrases.get(item.question, "")
        if kind == "edit":
            return " ".join(
                words[rng.integers(len(words))] if rng.random() < EDITED else word for word in item.question.split()
            )
        made = resample(item.question, item.solution, rng)
        return made.question if isinstance(made, Resample) else ""

    pairs = [(entry_text(item), entry_text(replace(item, question=text))) for item in items if (text := copied(item))]
    return tuple(zip(*pairs, strict=True))


@lru_cache(maxsize=8)
def _embedded(kind: str) -> np.ndarray:
    """Unit rows of the pool's entries and then of their copies; fitted once on all of them, blind to who is drawn."""
    entries, copies = pool(kind)
    return unit_vectors(EMBEDDINGS[0].vectors([*entries, *copies]))


def n_copies(kind: str, share: int) -> int:
    """Copies among the holdout entries: this share in percent, in whole entries."""
    return round(share * SIZES[kind] / 100)


def sets(kind: str, share: int, rng: Rng, draws: int = 99) -> HoldoutTest:
    """The semantic test of a random part of the questions beside others, `share` % of which are copies. By 99 draws a difference cannot be
    shown (Holm over five tests); what keeps sets from being called alike can."""
    entries, copies = pool(kind)
    n, k = SIZES[kind], n_copies(kind, share)
    order = rng.permutation(len(entries))[: 2 * n - k]
    rows = np.concatenate([order[:n], order[:k] + len(entries), order[n:]])
    texts = [(*entries, *copies)[i] for i in rows.tolist()]
    units, labels, seed = _embedded(kind)[rows], np.repeat([0, 1], n), int(rng.integers(2**31))
    near = _neighbours(units, texts, labels, seed, draws)
    return semantic_test(units[:n], units[n:], WIDE, m=99, seed=seed, copies=near)


def _neighbours(units: np.ndarray, texts: Sequence[str], labels: np.ndarray, seed: int, draws: int) -> list[CrossNeighbours]:
    """By vectors and by words, as the product asks."""
    alone = np.arange(len(labels))
    ways = (blocks_of_vectors(units), blocks_of_words(texts))
    return [neighbours_beside_twins(blocks, labels, alone, seed, draws) for blocks in ways]


TWINS = 0.4  # of the benchmark's entries have a twin in it


def twin_vectors(rng: Rng, n: int, share: int, dim: int = 50, spread: float = 0.3) -> np.ndarray:
    """Unit rows of a benchmark where two entries in five are twins, and of a holdout that copies a share of it."""
    n_pairs, k = int(n * TWINS / 2), round(share * n / 100)
    single = rng.standard_normal((n - n_pairs, dim))
    target = np.vstack([single, single[:n_pairs] + spread * rng.standard_normal((n_pairs, dim))])
    copied = target[rng.permutation(n)[:k]] + spread * rng.standard_normal((k, dim))
    return unit_vectors(np.vstack([target, copied, rng.standard_normal((n - k, dim))]))


def twin_sets(share: int, rng: Rng, n: int = 100, draws: int = 99) -> HoldoutTest:
    """The semantic test of twins and copies by vectors."""
    units, labels, seed = twin_vectors(rng, n, share), np.repeat([0, 1], n), int(rng.integers(2**31))
    near = [neighbours_beside_twins(blocks_of_vectors(units), labels, np.arange(2 * n), seed, draws)]
    return semantic_test(units[:n], units[n:], WIDE, m=99, seed=seed, copies=near)


def passes_fewer(
    draw: Callable[[Rng], HoldoutTest], percent: float, say: Callable[[HoldoutTest], Claim] = outcome_claim
) -> Simulation:
    """Are the sets called alike, by a claim that allows for fewer copies than these?"""

    def run(rng: Rng) -> bool:
        claim = say(draw(rng))
        said = _SAID.search(f"{claim.text} {claim.detail}")
        alike = claim.is_made and claim.assertion in (SETS_EQUIVALENT, SAME_SOURCE)
        if MANY_TWINS in f"{claim.text} {claim.detail}".lower():
            return False
        return alike and (said is None or int(said[1]) < percent)

    return each(run)


@lru_cache(maxsize=1)
def _others() -> list[HoldoutTest]:
    """The other three tests, each equivalent."""
    one = difficulty_test(2_000, 4_000, 2_000, 4_000)
    return [replace(one, name=name) for name in TESTS if name != "semantic"]


def _verdict(test: HoldoutTest) -> Claim:
    return verdict_claim(HoldoutVerdict((test, *_others())))


def _differ(test: HoldoutTest) -> bool:
    claim = outcome_claim(test)
    return claim.is_made and claim.assertion is SETS_DIFFER


def _cells() -> list[Cell]:
    cells, planted = [], []
    for kind, n in KINDS.items():
        size = f"{n} v {n} questions"
        for share in SHARES:
            world, draw = f"copied holdout, {share} %, {kind}", partial(sets, kind, share)
            percent = 100 * n_copies(kind, share) / n
            n_runs = N_RUNS if (kind, share) == (HARDEST, min(SHARES)) else N_SLOW
            cells.append(Cell(SETS_EQUIVALENT, world, size, passes_fewer(draw, percent), n_runs=n_runs))
            if kind == HARDEST:
                cells.append(Cell(SAME_SOURCE, world, size, passes_fewer(draw, percent, _verdict), n_runs=N_SLOW))
            differ = each(lambda rng, draw=draw: _differ(draw(rng, draws=199)))
            planted.append(Cell(SETS_DIFFER, world, size, differ, "planted", N_SLOW))
    alike = each(lambda rng: outcome_claim(sets(HARDEST, 0, rng)))
    size = f"{KINDS[HARDEST]} v {KINDS[HARDEST]} questions"
    for share in SHARES:
        draw = partial(twin_sets, share)
        cells.append(
            Cell(
                SETS_EQUIVALENT,
                f"copied holdout, {share} %, twins",
                "100 v 100 vectors",
                passes_fewer(draw, share),
                n_runs=N_TWINS,
            )
        )
    return [*cells, Cell(SETS_EQUIVALENT, "no copies", size, alike, "planted", N_SLOW), *planted, *_templated()]


def _templated() -> list[Cell]:
    """Every template comes several times on both sides, so that a copy has other neighbours as well."""
    return [
        Cell(
            SETS_EQUIVALENT,
            f"copied holdout, {share} %, {TEMPLATED}",
            "150 v 150 problems",
            passes_fewer(partial(sets, TEMPLATED, share), share),
            n_runs=N_SLOW,
        )
        for share in SHARES
    ]


CELLS: tuple[Cell, ...] = tuple(_cells())
