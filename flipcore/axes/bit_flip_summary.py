"""Bit flip of a whole text that is to be summarised: PEARL's second task (source 003).

The source found six times fewer memorized texts by it than by completion: a summary can be read off what is shown. An output
is compared with the item's own summary, or, where it has none, with what the model writes of the unchanged text at
temperature 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flipcore.axes.bit_flip import BitFlip


@dataclass(frozen=True)
class BitFlipSummary(BitFlip):
    """The levels and samples of bit_flip, on the whole text."""

    name: ClassVar[str] = "bit_flip_summary"
    title: ClassVar[str] = "Flipped bits, summarised (PEARL)"
    about: ClassVar[str] = "The whole text with a growing share of its bits inverted; the model writes its summary."
    task: ClassVar[str] = "summary"
    cue: ClassVar[tuple] = (("cue", "\n\nSummary:"),)

    def split(self, item) -> tuple[str, dict]:
        summary = str(item.meta.get("summary") or "").strip()
        whole = item.question + "".join(text for _, text in self.cue)
        return item.question, {"reference": summary} if summary else {"reference_prompt": whole}


AXIS = BitFlipSummary()
