"""The embedding of source 002: all-mpnet-base-v2 of the Sentence Transformers (Reimers and Gurevych 2019, Apache-2.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from flipcore.core.errors import BadInput, MissingPackage


@dataclass(frozen=True)
class SentenceTransformers:
    model: str = "sentence-transformers/all-mpnet-base-v2"

    name = "mpnet"
    title = "Sentences (all-mpnet-base-v2)"
    about = "The model that Haimes et al. (2024) used; sees meaning across wordings. Downloads 420 MB on its first use."
    of_text_alone = True
    sent_to = ""

    @property
    def revision(self) -> str:
        return self.model

    def why_not(self) -> str:
        return (
            "" if find_spec("sentence_transformers") else "Needs sentence-transformers: pip install -r requirements-bert.txt."
        )

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(n, 768) for the default model; raises MissingPackage, or BadInput where the weights cannot be had."""
        if self.why_not():
            raise MissingPackage(self.why_not())
        return np.asarray(_transformer(self.model).encode(list(texts), batch_size=64, show_progress_bar=False))


@lru_cache(maxsize=1)
def _transformer(model: str):
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model)
    except Exception as error:  # no network, no such model, a broken cache: the package raises many kinds
        why = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        raise BadInput(
            f"The weights of {model} could not be loaded: {why}. Check the network, download them once on a "
            "machine that has one, or choose another embedding."
        ) from error


EMBEDDING = SentenceTransformers()
