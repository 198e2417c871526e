"""What an embedding offers."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np


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
