"""What answers that nobody read leave open of a cell: its rates and the contrasts that decide it, whatever those answers were.

Unreadable, cut off or never came: the model gave an answer, or would have, and what it was is not known. Each such answer may flip
any pair that it is in, or none. A pair is in one of nine states, by what is known of it under the compared extractor and under
the reference: it stays, it flips, or that is open. From the shares of the states come the least and the largest value of
every quantity. Pair by pair that is at least as wide as any answers could make it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import ABSENT, pair_flips, sample_pairs

OPEN = 2
RATES: dict[
    str, Callable[[int, int], int]
] = {  # of a pair that flips (1) or stays (0) under the compared extractor, the reference
    "T": lambda e, r: e,
    "G": lambda e, r: r,
    "A_plus": lambda e, r: e * (1 - r),
    "A_minus": lambda e, r: r * (1 - e),
    "both": lambda e, r: e * r,
    "compared": lambda e, r: e - 2 * e * r,  # A+ - both
    "reference": lambda e, r: r - 2 * e * r,  # A- - both
    "genuine": lambda e, r: 3 * e * r - e - r,  # both - A+ - A-
}
CONTRASTS = ("compared", "reference", "genuine")


def _ends(rate: Callable[[int, int], int]) -> tuple[list[int], list[int]]:
    """The least and the largest value of a rate in each of the nine states."""
    outcomes = [(0,), (1,), (0, 1)]
    values = [[rate(e, r) for e in outcomes[own] for r in outcomes[other]] for own in range(3) for other in range(3)]
    return [min(one) for one in values], [max(one) for one in values]


_LOW, _HIGH = np.array([_ends(rate) for rate in RATES.values()], dtype=float).transpose(1, 2, 0)  # (states, rates) each


@dataclass(frozen=True, eq=False)
class Bounds:
    """(items, rates) in the order of `RATES`: the least and the largest value; NaN where an item has no pair."""

    low: np.ndarray
    high: np.ndarray

    def beyond(self, floor: Bounds) -> Bounds:
        """The same with what reruns of one prompt give taken off."""
        return Bounds(self.low - floor.high, self.high - floor.low)


@dataclass(frozen=True, eq=False)
class Unread:
    """Of one axis under two extractors: `shares` of the answers that nobody read, under the compared one and the reference; `n` is how
    many those are. `raw` are the bounds of all pairs of variants, `beyond` the same beyond the noise floor, NaN where none was
    measured."""

    n: int
    shares: tuple[float, float]
    raw: Bounds
    beyond: Bounds


def unread(answers: CodedAnswers, axis: str, extractor: str, reference: str, include_base: bool = True) -> Unread:
    """Counted once for each axis and pair of extractors."""
    key = (axis, extractor, reference, include_base)
    if key not in answers.unread:
        answers.unread[key] = _unread(answers, axis, (extractor, reference), include_base)
    return answers.unread[key]


def _unread(answers: CodedAnswers, axis: str, names: tuple[str, str], include_base: bool) -> Unread:
    cells = [_Cell(answers.cell(axis, name, include_base), answers.is_open(axis, name)) for name in names]
    if not include_base:
        for cell in cells:
            cell.open &= ~answers.base[axis][:, :, None]
    raw, floor = _bounds(cells, of_one_prompt=False), _bounds(cells, of_one_prompt=True)
    if np.isnan(floor.low).all() and all((IDENTITY, name) in answers.codes for name in names):
        again = [_Cell(answers.codes[IDENTITY, name], answers.is_open(IDENTITY, name)) for name in names]
        floor = _bounds(again, of_one_prompt=False)
    n = [int(cell.open.sum()) for cell in cells]
    n_there = [int(cell.there.sum()) for cell in cells]
    own, other = (a / b if b else 0.0 for a, b in zip(n, n_there, strict=True))
    return Unread(n[0] + (n[1] if names[0] != names[1] else 0), (own, other), raw, raw.beyond(floor))


class _Cell:
    """Codes of one extractor and where they are open."""

    def __init__(self, codes: np.ndarray, is_open: np.ndarray) -> None:
        self.codes, self.open = codes, is_open
        self.there = (codes != ABSENT) | is_open


def _bounds(cells: list[_Cell], of_one_prompt: bool) -> Bounds:
    shares, pairs = np.zeros((len(cells[0].codes), 9)), np.zeros(len(cells[0].codes))
    if of_one_prompt and cells[0].codes.shape[2] < 2:
        return Bounds(*np.full((2, len(pairs), len(RATES)), np.nan))
    there = cells[0].there & cells[1].there
    sides = [sample_pairs(one, of_one_prompt) for one in (there, *(part for cell in cells for part in (cell.codes, cell.open)))]
    for is_there, own, own_open, other, other_open in zip(*sides, strict=True):
        usable = is_there[0] & is_there[1]
        state = 3 * _state(own, own_open) + _state(other, other_open)
        n_sample_pairs = usable.sum(axis=1)
        for at in range(9):
            shares[:, at] += ((state == at) & usable).sum(axis=1) / np.maximum(n_sample_pairs, 1)
        pairs += n_sample_pairs > 0
    shares = np.divide(shares, pairs[:, None], out=np.full(shares.shape, np.nan), where=pairs[:, None] > 0)
    return Bounds(shares @ _LOW, shares @ _HIGH)


def _state(codes: tuple[np.ndarray, np.ndarray], is_open: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return np.where(is_open[0] | is_open[1], OPEN, pair_flips(*codes, "own_class")[1])
