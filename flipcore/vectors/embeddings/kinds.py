"""The embeddings: word frequencies (the default), sentence transformers, and servers.

The default is latent semantic analysis (Deerwester et al. 1990): word frequencies of the entries
themselves, reduced by singular values. It needs no download and no key, and takes half a second. It
is fitted on both sets together without the labels. So regrouping the entries does not change the
vectors, and permutation tests stay exact. For 98% of GSM8K's test questions, the nearest of 1,319
paraphrases is their own. Synonyms that are never in the same entry stay far apart.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.records import digest
from flipcore.models.cards import ModelCard
from flipcore.models.openai.retries import describe_fault, without_key

WORDS = r"(?u)\b\w+\b|[^\w\s]"  # words, numbers, and each punctuation mark


@dataclass(frozen=True)
class LSA:
    n_dimensions: int = 256

    name = "lsa"
    title = "Word frequencies (LSA)"
    about = (
        "TF-IDF of words, reduced on the entries shown here. Needs no download; sees wording more "
        "than meaning."
    )
    of_text_alone = False
    sent_to = ""

    @property
    def revision(self) -> str:
        return f"1-{self.n_dimensions}"

    def why_not(self) -> str:
        return ""

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, min(`n_dimensions`, n - 1, words - 1)) rows; raises BadInput below three
        texts."""
        learners()
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.utils.extmath import randomized_svd

        if len(texts) < 3:
            raise BadInput(
                f"Word frequencies need at least three entries to compare and {len(texts)} came: "
                "load more items."
            )
        shares = TfidfVectorizer(token_pattern=WORDS, sublinear_tf=True).fit_transform(texts)
        n_components = max(1, min(self.n_dimensions, len(texts) - 1, shares.shape[1] - 1))
        left, singular_values, _ = randomized_svd(shares, n_components, random_state=0)
        return left * singular_values


# The embedding of source 002: all-mpnet-base-v2 of the Sentence Transformers (Reimers and Gurevych
# 2019, Apache-2.0).


@dataclass(frozen=True)
class SentenceTransformers:
    model: str = "sentence-transformers/all-mpnet-base-v2"

    name = "mpnet"
    title = "Sentences (all-mpnet-base-v2)"
    about = (
        "The model that Haimes et al. (2024) used; sees meaning across wordings. Downloads 420 MB "
        "on its first use."
    )
    of_text_alone = True
    sent_to = ""

    @property
    def revision(self) -> str:
        return self.model

    def why_not(self) -> str:
        if find_spec("sentence_transformers"):
            return ""
        return "Needs sentence-transformers: pip install -r requirements-bert.txt."

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, d) rows; d is 768 for the default model. Raises MissingPackage, or BadInput
        if the weights cannot be loaded."""
        if self.why_not():
            raise MissingPackage(self.why_not())
        return np.asarray(
            _transformer(self.model).encode(list(texts), batch_size=64, show_progress_bar=False)
        )


@lru_cache(maxsize=1)
def _transformer(model: str):
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model)
    # Without a network, for an unknown model or a broken cache, the package raises many types.
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        raise BadInput(
            f"The weights of {model} could not be loaded: {reason}. Check the network, download "
            "them once on a machine that has one, or choose another embedding."
        ) from error


# Embeddings from any server with the OpenAI API, through the `openai` client. Address, model and
# key come from the environment: FLIPSCOPE_EMBEDDINGS_URL (".../v1"), FLIPSCOPE_EMBEDDINGS_MODEL and
# OPENAI_API_KEY. The texts leave this machine, so a page asks before it sends an unpublished set.

TEXTS_PER_REQUEST = 128
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Server:
    """Embeddings from a server; `endpoint` and `model` override the environment."""

    endpoint: str = ""
    model: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    n_retries: int = 4

    name = "server"
    title = "A server's embeddings"
    about = "Any endpoint that speaks the OpenAI API. The entries are sent to it."
    of_text_alone = True

    @property
    def sent_to(self) -> str:
        return self.endpoint or os.environ.get("FLIPSCOPE_EMBEDDINGS_URL", "")

    @property
    def model_name(self) -> str:
        return self.model or os.environ.get("FLIPSCOPE_EMBEDDINGS_MODEL", "")

    @property
    def revision(self) -> str:
        return f"{self.model_name}@{digest(self.sent_to, self.model_name)[:8]}"

    def why_not(self) -> str:
        if self.sent_to and self.model_name:
            return ""
        return (
            "Set FLIPSCOPE_EMBEDDINGS_URL (ending in /v1) and FLIPSCOPE_EMBEDDINGS_MODEL, and the "
            "key in OPENAI_API_KEY where the server wants one, before starting."
        )

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, d) rows of the server's model. Raises BadInput with the server's error,
        without the key."""
        if self.why_not():
            raise BadInput(self.why_not())
        from openai import OpenAI

        key = os.environ.get(self.api_key_env, "")
        card = ModelCard(
            self.model_name,
            "openai_compatible",
            model=self.model_name,
            endpoint=self.sent_to,
            api_key_env=self.api_key_env,
            timeout_s=TIMEOUT_S,
        )
        with OpenAI(
            base_url=self.sent_to,
            api_key=key or "none",
            timeout=TIMEOUT_S,
            max_retries=self.n_retries,
        ) as client:
            rows = []
            for start in range(0, len(texts), TEXTS_PER_REQUEST):
                batch = list(texts[start : start + TEXTS_PER_REQUEST])
                try:
                    reply = client.embeddings.create(
                        model=self.model_name, input=batch, encoding_format="float"
                    )
                # The client and its transport raise many types.
                except Exception as error:
                    raise BadInput(without_key(describe_fault(error, card)[0], key)) from error
                rows += _vectors_in_order(reply, len(batch), model=self.model_name)
        if len({len(row) for row in rows}) != 1:
            raise BadInput(
                f"{self.model_name} sent vectors of different lengths. Check which model its "
                "server runs."
            )
        return np.array(rows, dtype=np.float32)


def _vectors_in_order(reply, n: int, model: str) -> list[list[float]]:
    """Return one vector per text in the order of the texts, which a server need not keep. Raises
    BadInput if one is missing."""
    by_index = {vector.index: vector.embedding for vector in reply.data or []}
    if sorted(by_index) != list(range(n)) or not all(by_index.values()):
        raise BadInput(
            f"{model} sent {len(by_index)} vectors for {n} texts. Check that its server speaks the "
            "OpenAI API for embeddings."
        )
    return [by_index[i] for i in range(n)]


EMBEDDINGS = (LSA(), SentenceTransformers(), Server())
