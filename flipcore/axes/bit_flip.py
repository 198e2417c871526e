"""Bit flip (PEARL, source 003): the beginning of a text, with a growing share of its bits inverted.

The model continues the text, so only extractors that compare continuations read these variants. The
base is the unchanged beginning (0%). Each variant is asked `n_samples` times at `temperature`,
whatever the study does elsewhere.

A second task shows the whole text to be summarized. The source finds six times fewer memorized
texts with it, because a summary needs only the text that is shown. An output is compared with the
item's own summary or, where it has none, with the model's summary of the unchanged text at
temperature 0.

The share of bits is not the share of characters: 1% of the bits changes 7.8% of the characters, 5%
changes 33.6%.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import collapsed
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, CONTINUATION, Item, Prompt, Variant
from flipcore.text.similarity import encoded

LEVELS_PCT = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)


def n_flips(text: str, pct: float) -> int:
    """Return the number of bits in `pct` percent of the UTF-8 text, halves rounded to even."""
    return round(8 * len(encoded(text)) * pct / 100)


def flip_positions(
    n_bytes: int, n: int, rng: np.random.Generator, *, ascii7: bool = False
) -> np.ndarray:
    """Draw `n` distinct bit positions.

    Parameters
    ----------
    n_bytes, n
        Bytes of the text, and bits to flip.
    rng
        `generator(seed)` gives the source's positions: one ``choice(n_bits, n, replace=False)``.
    ascii7
        Never a byte's top bit, so that the text stays ASCII.

    Returns
    -------
    numpy.ndarray
        Positions in bits, an int array of length `n` (fewer where `ascii7` leaves fewer bits).
    """
    if not ascii7:
        return rng.choice(8 * n_bytes, n, replace=False)
    # Seven bits of each byte may flip: p // 7 is the byte, and 1 skips its top bit.
    positions = rng.choice(7 * n_bytes, min(n, 7 * n_bytes), replace=False)
    return positions // 7 * 8 + 1 + positions % 7


def flip_bits(data: Sequence[int], positions: Iterable[int]) -> list[int]:
    """Invert the bits of `data` at `positions`; bit p is in byte p // 8, highest first."""
    flipped = list(data)
    for position in positions:
        flipped[position // 8] ^= 1 << (7 - position % 8)
    return flipped


def flipped_text(
    text: str, pct: float, rng: np.random.Generator, *, ascii7: bool = False
) -> tuple[str, float]:
    """Return `text` with `pct` percent of its bits flipped, and the share of changed characters.
    Bytes that are no longer UTF-8 become U+FFFD. At 0% nothing is drawn."""
    n = n_flips(text, pct)
    if n == 0:
        return text, 0.0
    # Bits of UTF-8 are flipped, not characters: a flip may break a character of several bytes.
    data = encoded(text)
    positions = flip_positions(len(data), n, rng=rng, ascii7=ascii7)
    flipped = bytes(flip_bits(data, positions.tolist())).decode("utf-8", errors="replace")
    return flipped, share_of_characters_changed(text, positions)


def share_of_characters_changed(text: str, positions: np.ndarray) -> float:
    """Return the share of the characters of `text` with at least one flipped bit; NaN if empty.
    For ASCII and a share k of the bits, 1 - (1 - k)^8 is expected."""
    if not text:
        return math.nan
    first_byte = np.cumsum([0] + [len(encoded(character)) for character in text])
    # A flip in any byte of a character changes the character.
    touched = np.searchsorted(first_byte, np.asarray(positions, dtype=int) // 8, side="right")
    return len(np.unique(touched)) / len(text)


def split_text(text: str, share: float = 0.8) -> tuple[str, str]:
    """Cut a text at the word boundary nearest to `share` of its characters; return both parts.
    The second part has no spaces around it. A text of one word comes back as (text, "")."""
    wanted_length = share * len(text)
    boundaries = [
        index
        for index in range(1, len(text))
        if text[index].isspace() and not text[index - 1].isspace()
    ]
    if not boundaries:
        return text, ""
    cut = min(boundaries, key=lambda index: (abs(index - wanted_length), index))
    return text[:cut], text[cut:].strip()


@dataclass(frozen=True)
class BitFlip(Axis):
    """`levels_pct` are percent of the bits, 0 first. With `ascii7` no byte's top bit is flipped, so
    the text stays ASCII."""

    levels_pct: tuple = param(LEVELS_PCT, "levels (% of bits)")
    n_samples: int = param(10, "samples a level")
    temperature: float = 0.7
    ascii7: bool = False
    name: ClassVar[str] = "bit_flip"
    title: ClassVar[str] = "Flipped bits (PEARL)"
    about: ClassVar[str] = (
        "A growing share of the text's bits is inverted: memory breaks off abruptly, skill fades."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"completion"})
    harmless: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True
    asks: ClassVar[str] = CONTINUATION
    task: ClassVar[str] = "completion"
    cue: ClassVar[tuple] = ()

    def __post_init__(self) -> None:
        levels = self.levels_pct
        if (
            len(levels) < 2
            or levels[0] != 0
            or any(b <= a for a, b in pairwise(levels))
            or levels[-1] > 100
        ):
            raise BadInput(
                f"{self.title} has levels_pct = {list(levels)}; give at least two rising shares up "
                "to 100, 0 first."
            )
        if not 1 <= self.n_samples <= 1000:
            raise BadInput(
                f"{self.title} has n_samples = {self.n_samples}; give a number from 1 to 1000."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        stem, reference = self.split(item)
        variants = []
        for level in self.levels_pct:
            text, share = flipped_text(stem, level, rng=rng, ascii7=self.ascii7)
            variants.append(
                Variant(
                    item.item_id,
                    self.name,
                    key=f"bits-{level:g}%" if level else BASE,
                    prompt=Prompt((("stem", text), *self.cue)),
                    target=None,
                    layout=CONTINUATION,
                    params={
                        "level_pct": float(level),
                        "characters_changed": share,
                        "task": self.task,
                        "n_samples": self.n_samples,
                        "temperature": self.temperature,
                    }
                    | reference,
                )
            )
        # Two levels of a very short text can flip no bit at all.
        return collapsed(variants)

    def split(self, item) -> tuple[str, dict]:
        """Return the text to show, and params with the reference that outputs are compared with."""
        begin, end = split_text(item.question)
        if not end:
            raise BadInput(
                f"{item.item_id} is too short to be cut: it has no end that could be left to "
                "complete."
            )
        return begin, {"reference": end}


@dataclass(frozen=True)
class BitFlipSummary(BitFlip):
    """The levels and samples of bit_flip, on the whole text."""

    name: ClassVar[str] = "bit_flip_summary"
    title: ClassVar[str] = "Flipped bits, summarised (PEARL)"
    about: ClassVar[str] = (
        "The whole text with a growing share of its bits inverted; the model writes its summary."
    )
    task: ClassVar[str] = "summary"
    cue: ClassVar[tuple] = (("cue", "\n\nSummary:"),)

    def split(self, item) -> tuple[str, dict]:
        summary = str(item.meta.get("summary") or "").strip()
        if summary:
            return item.question, {"reference": summary}
        full_prompt = item.question + "".join(text for _, text in self.cue)
        return item.question, {"reference_prompt": full_prompt}


AXES = (BitFlip(), BitFlipSummary())
