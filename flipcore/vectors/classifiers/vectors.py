"""A linear classifier on the embeddings of the entries: what differs in meaning rather than in single words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.separability import FitPredict
from flipcore.vectors.classifiers.classifier import Giveaway, around_the_median
from flipcore.vectors.classifiers.words import linear_decisions


@dataclass(frozen=True)
class Vectors:
    name = "vectors"
    title = "Embeddings, linear"
    about = "Logistic regression on the chosen embedding."
    needs_vectors = True
    n_permutations = 199
    is_slow = False

    def why_not(self) -> str:
        return ""

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        if vectors is None or len(vectors) != len(texts):
            n = "none" if vectors is None else f"{len(vectors)}"
            raise BadInput(f"This classifier reads one vector an entry: {len(texts)} entries and {n} came.")

        def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
            return around_the_median(linear_decisions(vectors[train], labels, vectors[test])[0])

        return fit_predict

    def giveaways(self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray) -> list[Giveaway]:
        """None: a direction among embeddings names no token."""
        return []


CLASSIFIER = Vectors()
