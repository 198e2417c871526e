"""Embeddings from any server that speaks the OpenAI API, through the `openai` client.

The address and the model come from the environment: FLIPSCOPE_EMBEDDINGS_URL (".../v1"), FLIPSCOPE_EMBEDDINGS_MODEL, and the
key from OPENAI_API_KEY. The texts leave this machine, so a page asks before it sends an unpublished set.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.models.cards import ModelCard
from flipcore.models.openai.retries import explained, scrubbed

TEXTS_A_REQUEST = 128
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Server:
    """`endpoint` and `model` override the environment."""

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
            "Set FLIPSCOPE_EMBEDDINGS_URL (ending in /v1) and FLIPSCOPE_EMBEDDINGS_MODEL, and the key in OPENAI_API_KEY where "
            "the server wants one, before starting."
        )

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(n, d) as the server's model has it; BadInput says what the server said, without the key."""
        if self.why_not():
            raise BadInput(self.why_not())
        from openai import OpenAI

        key = os.environ.get(self.api_key_env, "")
        card = ModelCard(
            self.model_name,
            "openai_compatible",
            self.model_name,
            self.sent_to,
            api_key_env=self.api_key_env,
            timeout_s=TIMEOUT_S,
        )
        with OpenAI(base_url=self.sent_to, api_key=key or "none", timeout=TIMEOUT_S, max_retries=self.n_retries) as client:
            rows = []
            for start in range(0, len(texts), TEXTS_A_REQUEST):
                some = list(texts[start : start + TEXTS_A_REQUEST])
                try:
                    reply = client.embeddings.create(model=self.model_name, input=some, encoding_format="float")
                except Exception as error:  # the client raises many kinds, also through its transport
                    raise BadInput(scrubbed(explained(error, card)[0], key)) from error
                rows += _in_order(reply, len(some), self.model_name)
        if len({len(row) for row in rows}) != 1:
            raise BadInput(f"{self.model_name} sent vectors of different lengths. Check which model its server runs.")
        return np.array(rows, dtype=np.float32)


def _in_order(reply, n: int, model: str) -> list[list[float]]:
    """One vector a text, in the order of the texts: a server may answer in another order, or with fewer."""
    by_index = {one.index: one.embedding for one in reply.data or []}
    if sorted(by_index) != list(range(n)) or not all(by_index.values()):
        raise BadInput(
            f"{model} sent {len(by_index)} vectors for {n} texts. Check that its server speaks the OpenAI API for embeddings."
        )
    return [by_index[i] for i in range(n)]


EMBEDDING = Server()
