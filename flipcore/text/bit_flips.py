"""Bits of a text inverted (source 003), and a text cut into what is shown and what is left to complete.

The share of BITS is not the share of characters: 1 % of bits changes 7.8 % of the characters, 5 % changes 33.6 %.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from flipcore.text.similarity import encoded

LEVELS_PCT = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)


def n_flips(text: str, pct: float) -> int:
    """How many bits `pct` percent of the UTF-8 bits of `text` are, halves rounded to even."""
    return round(8 * len(encoded(text)) * pct / 100)


def flip_positions(n_bytes: int, n: int, rng: np.random.Generator, ascii7: bool = False) -> np.ndarray:
    """`n` distinct bit positions (int array) in `n_bytes` bytes; with `ascii7` never a byte's top bit.

    `rng = generator(seed)` gives the source's positions: one ``choice(n_bits, n, replace=False)``.
    """
    if not ascii7:
        return rng.choice(8 * n_bytes, n, replace=False)
    positions = rng.choice(7 * n_bytes, min(n, 7 * n_bytes), replace=False)
    return positions // 7 * 8 + 1 + positions % 7


def flip_bits(data: Sequence[int], positions: Iterable[int]) -> list[int]:
    """The bytes of `data` with the bits at `positions` inverted; bit p is byte p // 8, most significant first."""
    flipped = list(data)
    for position in positions:
        flipped[position // 8] ^= 1 << (7 - position % 8)
    return flipped


def flipped_text(text: str, pct: float, rng: np.random.Generator, ascii7: bool = False) -> tuple[str, float]:
    """`text` with `pct` percent of its bits flipped, and the share of its characters that a flip touched.

    Bytes that are no longer UTF-8 become U+FFFD. At 0 % (or in an empty text) nothing changes and nothing is drawn.
    """
    n = n_flips(text, pct)
    if n == 0:
        return text, 0.0
    data = encoded(text)
    positions = flip_positions(len(data), n, rng, ascii7)
    flipped = bytes(flip_bits(data, positions.tolist())).decode("utf-8", errors="replace")
    return flipped, share_of_characters_changed(text, positions)


def share_of_characters_changed(text: str, positions: np.ndarray) -> float:
    """Share of the characters of `text` with at least one flipped bit; 1 - (1 - k)^8 is expected for ASCII. NaN if empty."""
    if not text:
        return math.nan
    first_byte = np.cumsum([0] + [len(encoded(character)) for character in text])
    touched = np.searchsorted(first_byte, np.asarray(positions, dtype=int) // 8, side="right")
    return len(np.unique(touched)) / len(text)


def split_80_20(text: str, share: float = 0.8) -> tuple[str, str]:
    """Prompt and reference: cut at the word boundary nearest to `share` of the characters; the reference keeps no space.

    A text of one word cannot be cut and comes back as (text, "").
    """
    target = share * len(text)
    boundaries = [index for index in range(1, len(text)) if text[index].isspace() and not text[index - 1].isspace()]
    if not boundaries:
        return text, ""
    cut = min(boundaries, key=lambda index: (abs(index - target), index))
    return text[:cut], text[cut:].strip()
