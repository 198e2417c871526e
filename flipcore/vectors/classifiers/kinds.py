"""Classifiers that tell two sets apart: two linear ones and a fine-tuned network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.stats.base.separability import FitPredict

N_FOLDS = 5
N_STEPS = 16  # points between padding and the text, for integrated gradients


@dataclass(frozen=True)
class Giveaway:
    """A token that is typical of one set. `weight` is its mean effect on the decision for held-out
    entries; above 0 means retro-holdout. `lowest` and `highest` are its extremes over the folds.
    `n_target` and `n_retro` count the entries that contain it."""

    token: str
    weight: float
    lowest: float
    highest: float
    n_target: int
    n_retro: int


class Classifier(Protocol):
    """The interface of classifiers. `n_permutations` is the default number of permutations, and the
    maximum if the classifier `is_slow`. With `needs_vectors` it reads embeddings. `why_not`
    says which package is missing, "" for none."""

    name: str
    title: str
    about: str
    needs_vectors: bool
    n_permutations: int
    is_slow: bool

    def why_not(self) -> str: ...

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None) -> FitPredict:
        """Return a function (train rows, labels, test rows) -> scores of label 1, where rows are
        positions in `texts`."""

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Return the tokens by the size of their effect, strongest first, on entries outside the
        training folds."""


def around_the_median(decisions: np.ndarray) -> np.ndarray:
    """Return decisions (n,) of a fold as scores, with the fold's median at 0.5.

    The median needs no labels, so permutations stay exact. With a trained threshold, all held-out
    entries of a small set would be assigned to the large one: with 50 and 1,319 entries the
    balanced accuracy was .50 at an AUC of .67; with the median it was .60.
    """
    # clipped, because `exp` of a large number would overflow
    return 1 / (1 + np.exp(-np.clip(decisions - np.median(decisions), -30, 30)))


# Words, numbers, and each punctuation mark.
TOKENS = r"(?u)\b\w+\b|[^\w\s]"


def linear_decisions(rows, labels: np.ndarray, held_out) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions on `held_out` (n,) and weights (k,) of balanced L2 logistic regression.

    C is 10, because rows of length 1 need little shrinkage. Both are zeros if the rows have only
    one label.
    """
    from scipy.sparse import issparse

    learners()
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return np.zeros(held_out.shape[0]), np.zeros(held_out.shape[1])
    # lbfgs is faster, and right on dense rows. But it stops by the gradient of the mean loss, which
    # rare words hardly change: its weights on 8,792 questions were all zero at a tolerance of 1e-3.
    solver = "liblinear" if issparse(rows) else "lbfgs"
    model = LogisticRegression(C=10.0, class_weight="balanced", solver=solver, max_iter=1_000)
    model.fit(rows, labels)
    return model.decision_function(held_out), model.coef_[0]


def _linear_predictor(rows) -> FitPredict:
    def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
        decisions, _ = linear_decisions(rows[train], labels, held_out=rows[test])
        return around_the_median(decisions)

    return fit_predict


class _Linear:
    n_permutations = 199
    is_slow = False

    def why_not(self) -> str:
        return ""


@dataclass(frozen=True)
class Words(_Linear):
    """The default classifier; its weights show which tokens give a set away."""

    name = "words"
    title = "Words and word pairs, linear"
    about = "Logistic regression on TF-IDF of words and word pairs."
    needs_vectors = False

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        shares, _ = weighted(texts)
        return _linear_predictor(shares)

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Return the tokens whose effect has the same sign in every fold. The effect is a token's
        weight times its mean TF-IDF in the held-out entries that contain it."""
        shares, tokens = weighted(texts)
        effects = np.array(
            [self._effects(shares, labels, folds == fold) for fold in np.unique(folds)]
        )
        present = shares > 0
        n_target = np.asarray(present[labels == 0].sum(axis=0)).ravel()
        n_retro = np.asarray(present[labels == 1].sum(axis=0)).ravel()
        low = np.nanmin(effects, axis=0)
        high = np.nanmax(effects, axis=0)
        mean = np.nanmean(effects, axis=0)
        order = [i for i in np.argsort(-np.abs(mean)) if low[i] * high[i] > 0]
        return [
            Giveaway(
                str(tokens[i]),
                float(mean[i]),
                lowest=float(low[i]),
                highest=float(high[i]),
                n_target=int(n_target[i]),
                n_retro=int(n_retro[i]),
            )
            for i in order
        ]

    @staticmethod
    def _effects(shares, labels: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        """Return (tokens,) mean effects over the held-out entries with the token; 0 for none."""
        held_out_shares = shares[held_out]
        _, weights = linear_decisions(
            shares[~held_out], labels[~held_out], held_out=held_out_shares
        )
        n = np.asarray((held_out_shares > 0).sum(axis=0)).ravel()
        return weights * np.asarray(held_out_shares.sum(axis=0)).ravel() / np.maximum(n, 1)


def weighted(texts: Sequence[str]) -> tuple[Any, np.ndarray]:
    """Return sparse TF-IDF (n, k) of words and word pairs, and the k tokens. From 20 texts on,
    tokens in a single text are left out. It does not use the labels."""
    learners()
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        token_pattern=TOKENS,
        ngram_range=(1, 2),
        sublinear_tf=True,
        # A token in a single entry cannot help to classify a held-out entry.
        min_df=2 if len(texts) >= 20 else 1,
    )
    shares = vectorizer.fit_transform(texts).tocsr()
    return shares, vectorizer.get_feature_names_out()


@dataclass(frozen=True)
class Vectors(_Linear):
    """A linear classifier for differences in meaning rather than in single words."""

    name = "vectors"
    title = "Embeddings, linear"
    about = "Logistic regression on the chosen embedding."
    needs_vectors = True

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        if vectors is None or len(vectors) != len(texts):
            n = "none" if vectors is None else f"{len(vectors)}"
            raise BadInput(
                f"This classifier reads one vector an entry: {len(texts)} entries and {n} came."
            )
        return _linear_predictor(vectors)

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Return no tokens: a direction among embeddings has none."""
        return []


@dataclass(frozen=True)
class Bert:
    """Fine-tuned BERT, as in source 002, with integrated gradients of its decision (Sundararajan et
    al. 2017). Needs requirements-bert.txt.

    The source tuned it once. A p-value needs the whole cross-validation for each permutation of the
    labels, so only 19 are affordable, and p cannot be below .05. `model` is a name on the hub or a
    folder.
    """

    model: str = "bert-base-uncased"
    n_epochs: int = 3
    batch_size: int = 16
    learning_rate: float = 2e-5
    n_tokens: int = 256
    seed: int = 0

    name = "bert"
    title = "Fine-tuned BERT"
    about = (
        "What Haimes et al. (2024) used. Downloads 440 MB on its first use; minutes a "
        "cross-validation without a GPU."
    )
    needs_vectors = False
    n_permutations = 19
    is_slow = True

    def why_not(self) -> str:
        missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
        if missing:
            return f"Needs {' and '.join(missing)}: pip install -r requirements-bert.txt."
        return ""

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        if self.why_not():
            raise MissingPackage(self.why_not())

        def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
            tuned = self.tuned([texts[i] for i in train], labels)
            return around_the_median(tuned.decisions([texts[i] for i in test]))

        return fit_predict

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Return word pieces by their mean attribution on held-out entries. A piece counts if three
        or more entries contain it, and its attribution has the same sign in every such fold."""
        if self.why_not():
            raise MissingPackage(self.why_not())
        fold_means: dict[str, list[float]] = defaultdict(list)
        n_entries: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # target, retro
        for fold in np.unique(folds):
            is_training = folds != fold
            training_texts = [texts[i] for i in np.flatnonzero(is_training).tolist()]
            tuned = self.tuned(training_texts, labels[is_training])
            in_fold: dict[str, list[float]] = defaultdict(list)
            for i in np.flatnonzero(~is_training).tolist():
                in_entry: dict[str, float] = defaultdict(float)
                for token, attribution in tuned.attributions(texts[i]):
                    in_entry[token] += attribution
                for token, attribution in in_entry.items():
                    in_fold[token].append(attribution)
                    n_entries[token][labels[i]] += 1
            for token, attributions in in_fold.items():
                fold_means[token].append(float(np.mean(attributions)))
        pieces = []
        for token, means in fold_means.items():
            if sum(n_entries[token]) >= 3 and min(means) * max(means) > 0:
                weight = float(np.mean(means))
                pieces.append(Giveaway(token, weight, min(means), max(means), *n_entries[token]))
        return sorted(pieces, key=lambda piece: -abs(piece.weight))

    def tuned(self, texts: Sequence[str], labels: np.ndarray) -> Tuned:
        """Return the model tuned on these texts. The same texts, labels and seed give the same
        model on one machine."""
        import torch

        rng = generator(self.seed, "bert")
        # The fork keeps torch's global random numbers unchanged for other code.
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))
            tokenizer, model = self._load()
            network = Tuned(tokenizer, model, n_tokens=self.n_tokens)
            # Weighted, so that the sets count equally whatever their sizes.
            sizes = np.bincount(labels, minlength=2)
            weights = torch.tensor(len(labels) / (2 * np.maximum(sizes, 1)), dtype=torch.float32)
            compute_loss = torch.nn.CrossEntropyLoss(weight=weights)
            optimiser = torch.optim.AdamW(network.model.parameters(), lr=self.learning_rate)
            network.model.train()
            for _ in range(self.n_epochs):
                order = rng.permutation(len(texts))
                for start in range(0, len(order), self.batch_size):
                    rows = order[start : start + self.batch_size]
                    logits = network.model(**network.read([texts[i] for i in rows])).logits
                    loss = compute_loss(logits, torch.as_tensor(labels[rows], dtype=torch.long))
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            network.model.eval()
        return network

    def _load(self):
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            return (
                AutoTokenizer.from_pretrained(self.model),
                AutoModelForSequenceClassification.from_pretrained(self.model, num_labels=2),
            )
        # Without a network, for an unknown model or a broken cache, the package raises many types.
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            raise BadInput(
                f"The weights of {self.model} could not be loaded: {reason}. Check the network, "
                "download them once on a machine that has one, or choose another classifier."
            ) from error


@dataclass(frozen=True)
class Tuned:
    """A tuned model with its tokenizer. A decision is the logit of label 1 minus that of label
    0."""

    tokenizer: Any
    model: Any
    n_tokens: int

    def read(self, texts: Sequence[str]) -> Any:
        return self.tokenizer(
            list(texts),
            return_tensors="pt",
            truncation=True,
            padding=True,
            max_length=self.n_tokens,
        )

    def decisions(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n,) decisions, computed for 64 texts at a time."""
        import torch

        with torch.no_grad():
            batches = [
                self.model(**self.read(texts[start : start + 64])).logits
                for start in range(0, len(texts), 64)
            ]
        logits = torch.cat(batches)
        return (logits[:, 1] - logits[:, 0]).double().numpy()

    def attributions(self, text: str) -> list[tuple[str, float]]:
        """Return (word piece, its part of the decision) for one text, by integrated gradients.

        Gradients are averaged along the line from padding to the text and multiplied by its length.
        The parts sum to decision(text) - decision(padding), up to the error of `N_STEPS` midpoints.
        """
        import torch

        encoded = self.read([text])
        ids = encoded["input_ids"]
        is_special = torch.tensor(
            self.tokenizer.get_special_tokens_mask(ids[0].tolist(), already_has_special_tokens=True)
        )
        embed = self.model.get_input_embeddings()
        with torch.no_grad():
            embedded = embed(ids)
            padding = embed(torch.where(is_special.bool(), ids, self.tokenizer.pad_token_id))
        fractions = (torch.arange(N_STEPS) + 0.5).reshape(-1, 1, 1) / N_STEPS
        points = (padding + fractions * (embedded - padding)).requires_grad_(requires_grad=True)
        logits = self.model(
            inputs_embeds=points, attention_mask=encoded["attention_mask"].expand(N_STEPS, -1)
        ).logits
        (gradients,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), points)
        parts = ((embedded - padding) * gradients.mean(dim=0, keepdim=True)).sum(dim=-1)[0]
        pieces = self.tokenizer.convert_ids_to_tokens(ids[0].tolist())
        return [
            (piece, float(part))
            for piece, part, skip in zip(pieces, parts, is_special, strict=True)
            if not skip
        ]


CLASSIFIERS: tuple[Classifier, ...] = (Words(), Vectors(), Bert())
