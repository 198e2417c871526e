"""Linear classifiers: the default, on the words and word pairs of an entry, whose weights say what gives a set away; and one on its
embedding, for what differs in meaning rather than in single words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput
from flipcore.stats.base.separability import FitPredict
from flipcore.vectors.classifiers.classifier import Giveaway, around_the_median

TOKENS = r"(?u)\b\w+\b|[^\w\s]"


def linear_decisions(rows, labels: np.ndarray, others) -> tuple[np.ndarray, np.ndarray]:
    """(decisions on `others`, weights) of balanced L2 logistic regression, C = 10: unit rows want little shrinking. Rows of
    one label alone decide nothing: zeros.

    Sparse rows go to liblinear, because lbfgs stops by the gradient of the mean loss, which rare words in many rows hardly
    move: at a tolerance of 1e-3 its weights on 8,792 questions were all zero. On dense rows it is right, and quicker.
    """
    from scipy.sparse import issparse

    learners()
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return np.zeros(others.shape[0]), np.zeros(others.shape[1])
    solver = "liblinear" if issparse(rows) else "lbfgs"
    model = LogisticRegression(C=10.0, class_weight="balanced", solver=solver, max_iter=1_000).fit(rows, labels)
    return model.decision_function(others), model.coef_[0]


@dataclass(frozen=True)
class Words:
    name = "words"
    title = "Words and word pairs, linear"
    about = "Logistic regression on TF-IDF of words and word pairs."
    needs_vectors = False
    n_permutations = 199
    is_slow = False

    def why_not(self) -> str:
        return ""

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        shares, _ = weighted(texts)

        def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
            return around_the_median(linear_decisions(shares[train], labels, shares[test])[0])

        return fit_predict

    def giveaways(self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray) -> list[Giveaway]:
        """Tokens whose weight has the same sign in every fold; the pull is that weight times the token's mean share in the
        held-out entries that contain it."""
        shares, tokens = weighted(texts)
        pulls = np.array([self._pulls(shares, labels, folds == fold) for fold in np.unique(folds)])
        present = shares > 0
        counts = [np.asarray(present[labels == label].sum(axis=0)).ravel() for label in (0, 1)]
        low, high, mean = np.nanmin(pulls, axis=0), np.nanmax(pulls, axis=0), np.nanmean(pulls, axis=0)
        order = [i for i in np.argsort(-np.abs(mean)) if low[i] * high[i] > 0]
        return [
            Giveaway(str(tokens[i]), float(mean[i]), float(low[i]), float(high[i]), int(counts[0][i]), int(counts[1][i]))
            for i in order
        ]

    @staticmethod
    def _pulls(shares, labels: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        """Mean pull of each token over the held-out entries that contain it; 0 where none does."""
        weights = linear_decisions(shares[~held_out], labels[~held_out], shares[held_out])[1]
        others = shares[held_out]
        n = np.asarray((others > 0).sum(axis=0)).ravel()
        return weights * np.asarray(others.sum(axis=0)).ravel() / np.maximum(n, 1)


def weighted(texts: Sequence[str]) -> tuple[Any, np.ndarray]:
    """(n, k) TF-IDF of words and word pairs, and the k tokens; of 20 entries or more those in two. Blind to the labels."""
    learners()
    from sklearn.feature_extraction.text import TfidfVectorizer

    reader = TfidfVectorizer(token_pattern=TOKENS, ngram_range=(1, 2), sublinear_tf=True, min_df=2 if len(texts) >= 20 else 1)
    shares = reader.fit_transform(texts).tocsr()
    return shares, reader.get_feature_names_out()


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


WORDS, VECTORS = Words(), Vectors()
