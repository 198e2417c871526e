"""Bounds of flip rates and of the deciding contrasts, whatever the unread answers were.

An answer is unread if it is unreadable, was cut off or never came. The model gave an answer, or
would have given one, but nobody knows which. It may flip any pair that it is in, or none. Under an
extractor a pair stays, flips, or is open. So under the compared extractor and the reference
together it is in one of nine states. The shares of the states give the least and the largest value
of each quantity. Each open pair takes its own worst outcome, although pairs share answers. So the
bounds may be wider than necessary, and are never too narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import ABSENT, pair_flips, sample_pairs

STAYS, FLIPS, OPEN = 0, 1, 2
# The possible outcomes of a pair in each state: 1 if it flips, 0 if it stays.
OUTCOMES = {STAYS: (0,), FLIPS: (1,), OPEN: (0, 1)}
N_STATES = len(OUTCOMES) ** 2
# Value of a pair with outcome `e` under the compared extractor and `r` under the reference.
RATES: dict[str, Callable[[int, int], int]] = {
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


def _extremes(rate: Callable[[int, int], int]) -> tuple[list[int], list[int]]:
    """Return the least and the largest value of a rate in each of the nine states. Their numbers
    are 3 * (state under the compared extractor) + (state under the reference)."""
    least, largest = [], []
    for compared, reference in product(OUTCOMES.values(), repeat=2):
        values = [rate(*flips) for flips in product(compared, reference)]
        least.append(min(values))
        largest.append(max(values))
    return least, largest


# Shape (states, rates).
_LOW, _HIGH = np.array([_extremes(rate) for rate in RATES.values()], dtype=float).transpose(1, 2, 0)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Least and largest values, (items, rates) in the order of `RATES`; NaN if an item has no
    pair."""

    low: np.ndarray
    high: np.ndarray

    def beyond(self, floor: Bounds) -> Bounds:
        """Return the bounds of the rates minus those of the noise floor."""
        return Bounds(self.low - floor.high, self.high - floor.low)


@dataclass(frozen=True, eq=False)
class Unread:
    """Unread answers of one axis under two extractors.

    n : number of unread answers under both extractors together.
    shares : share of unread answers under the compared extractor and under the reference.
    raw : bounds over all pairs of variants.
    beyond : the same beyond the noise floor; NaN if no floor was measured.
    """

    n: int
    shares: tuple[float, float]
    raw: Bounds
    beyond: Bounds


def unread(answers: CodedAnswers, axis: str, extractor: str, reference: str) -> Unread:
    """Return the bounds of one cell. They are cached in `answers`."""
    key = (axis, extractor, reference)
    if key not in answers.unread:
        answers.unread[key] = _unread(answers, axis, (extractor, reference))
    return answers.unread[key]


def _unread(answers: CodedAnswers, axis: str, names: tuple[str, str]) -> Unread:
    cells = [_Cell(answers.cell(axis, name), answers.is_open(axis, name)) for name in names]
    raw, floor = _bounds(cells, of_one_prompt=False), _bounds(cells, of_one_prompt=True)
    if np.isnan(floor.low).all() and all((IDENTITY, name) in answers.codes for name in names):
        # No variant of this axis was rerun. On the identity axis each rerun is coded as a variant.
        reruns = [
            _Cell(answers.codes[IDENTITY, name], answers.is_open(IDENTITY, name)) for name in names
        ]
        floor = _bounds(reruns, of_one_prompt=False)
    n_unread, shares = [], []
    for cell in cells:
        n_asked = int(cell.is_asked.sum())
        n_unread.append(int(cell.is_open.sum()))
        shares.append(n_unread[-1] / n_asked if n_asked else 0.0)
    # If the reference is compared with itself, its answers are not counted twice.
    n = n_unread[0] if names[0] == names[1] else sum(n_unread)
    return Unread(n, (shares[0], shares[1]), raw, raw.beyond(floor))


class _Cell:
    """Codes of one extractor, and which answers are unread, (items, variants, samples) each."""

    def __init__(self, codes: np.ndarray, is_open: np.ndarray) -> None:
        self.codes, self.is_open = codes, is_open
        self.is_asked = (codes != ABSENT) | is_open


def _bounds(cells: list[_Cell], *, of_one_prompt: bool) -> Bounds:
    """Return the bounds over pairs of variants, or over pairs of samples `of_one_prompt`."""
    compared, reference = cells
    n_items = len(compared.codes)
    if of_one_prompt and compared.codes.shape[2] < 2:
        return Bounds(*np.full((2, n_items, len(RATES)), np.nan))
    shares, n_pairs = np.zeros((n_items, N_STATES)), np.zeros((n_items, 1))
    arrays = (
        compared.is_asked & reference.is_asked,
        compared.codes,
        compared.is_open,
        reference.codes,
        reference.is_open,
    )
    pairs_of_arrays = [sample_pairs(array, of_one_prompt=of_one_prompt) for array in arrays]
    for is_asked, codes, is_open, codes_ref, is_open_ref in zip(*pairs_of_arrays, strict=True):
        usable = is_asked[0] & is_asked[1]
        state = len(OUTCOMES) * _state(codes, is_open) + _state(codes_ref, is_open_ref)
        n_sample_pairs = usable.sum(axis=1)
        # Shares, so that each pair of variants weighs the same, however many samples it has.
        for number in range(N_STATES):
            n_in_state = ((state == number) & usable).sum(axis=1)
            shares[:, number] += n_in_state / np.maximum(n_sample_pairs, 1)
        n_pairs[:, 0] += n_sample_pairs > 0
    shares = np.divide(shares, n_pairs, out=np.full(shares.shape, np.nan), where=n_pairs > 0)
    return Bounds(shares @ _LOW, shares @ _HIGH)


def _state(
    codes: tuple[np.ndarray, np.ndarray], is_open: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the state of each pair under one extractor; it is open if either answer is unread."""
    _, differs = pair_flips(*codes, "own_class")
    return np.where(is_open[0] | is_open[1], OPEN, differs)
