"""What an embedding offers, and the text of an entry that is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from flipcore.core.records import Item


class Embedding(Protocol):
    """Texts -> vectors. `of_text_alone`: a text's vector does not depend on the other texts, so it is kept in the store.

    `why_not` is "" where the embedding can be used here, otherwise the sentence that says what is missing. `sent_to` is the
    address that the texts are sent to, "" where they stay on this machine: a holdout that was sent away may be one no longer.
    `vectors` gives (n, d) rows of any length, and raises BadInput with a sentence when it cannot.
    """

    name: str
    title: str
    about: str
    of_text_alone: bool

    @property
    def revision(self) -> str: ...

    @property
    def sent_to(self) -> str: ...

    def why_not(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> np.ndarray: ...


def entry_text(item: Item) -> str:
    """Question, "?" and the options in alphabetical order, a line each (source 002, Appendix B).

    A question has exactly one question mark at its end, whether or not its author wrote one; a completion has none added.
    """
    question = item.question.strip()
    if item.kind != "completion":
        question = f"{question.rstrip('?').rstrip()}?" if question.strip("?") else ""
    return "\n".join([question, *sorted(option.strip() for option in item.options)])
