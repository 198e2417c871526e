"""The kinds of classifiers that are to tell two sets apart: two linear ones and a fine-tuned
network."""

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
N_STEPS = 16  # points on the way from no text to the text


@dataclass(frozen=True)
class Giveaway:
    """A token that speaks for one set. `weight` is its mean pull on held-out entries, above 0
    towards the retro-holdout; `lowest` and `highest` are its extremes over the folds; `n_target`
    and `n_retro` count the entries that contain it."""

    token: str
    weight: float
    lowest: float
    highest: float
    n_target: int
    n_retro: int


class Classifier(Protocol):
    """`n_permutations` of the whole cross-validation are usual, and for one that `is_slow` the most
    that is affordable. `needs_vectors`: it reads embeddings."""

    name: str
    title: str
    about: str
    needs_vectors: bool
    n_permutations: int
    is_slow: bool

    def why_not(self) -> str: ...

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None) -> FitPredict:
        """(train rows, labels, test rows) -> scores of label 1. Rows are positions in `texts`."""

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Tokens in order of their pull, on entries that the classifier was not trained on."""


def around_the_median(decisions: np.ndarray) -> np.ndarray:
    """Decisions (n,) as scores that the fold's own median divides at 0.5.

    A fold's median needs no labels, so permutations stay exact. At a trained threshold every
    held-out entry of a small set lands in the large one: 50 against 1,319 read .50 balanced
    accuracy at an AUC of .67, and .60 this way.
    """
    return 1 / (1 + np.exp(-np.clip(decisions - np.median(decisions), -30, 30)))


TOKENS = r"(?u)\b\w+\b|[^\w\s]"


def linear_decisions(rows, labels: np.ndarray, held_out) -> tuple[np.ndarray, np.ndarray]:
    """(decisions on `held_out`, weights) of balanced L2 logistic regression, C = 10: unit rows want
    little shrinking. Rows of one label alone decide nothing: zeros.

    Sparse rows go to liblinear, because lbfgs stops by the gradient of the mean loss, which rare
    words in many rows hardly move: at a tolerance of 1e-3 its weights on 8,792 questions were all
    zero. On dense rows it is right, and quicker.
    """
    from scipy.sparse import issparse

    learners()
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return np.zeros(held_out.shape[0]), np.zeros(held_out.shape[1])
    solver = "liblinear" if issparse(rows) else "lbfgs"
    model = LogisticRegression(C=10.0, class_weight="balanced", solver=solver, max_iter=1_000).fit(
        rows, labels
    )
    return model.decision_function(held_out), model.coef_[0]


def _fit_predict(rows) -> FitPredict:
    def fit_predict(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
        return around_the_median(linear_decisions(rows[train], labels, held_out=rows[test])[0])

    return fit_predict


class _Linear:
    n_permutations = 199
    is_slow = False

    def why_not(self) -> str:
        return ""


@dataclass(frozen=True)
class Words(_Linear):
    """The default, whose weights say what gives a set away."""

    name = "words"
    title = "Words and word pairs, linear"
    about = "Logistic regression on TF-IDF of words and word pairs."
    needs_vectors = False

    def prepared(self, texts: Sequence[str], vectors: np.ndarray | None = None) -> FitPredict:
        return _fit_predict(weighted(texts)[0])

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """Tokens whose weight has the same sign in every fold; the pull is that weight times the
        token's mean share in the held-out entries that contain it."""
        shares, tokens = weighted(texts)
        pulls = np.array([self._pulls(shares, labels, folds == fold) for fold in np.unique(folds)])
        present = shares > 0
        counts = [np.asarray(present[labels == label].sum(axis=0)).ravel() for label in (0, 1)]
        low = np.nanmin(pulls, axis=0)
        high = np.nanmax(pulls, axis=0)
        mean = np.nanmean(pulls, axis=0)
        order = [i for i in np.argsort(-np.abs(mean)) if low[i] * high[i] > 0]
        return [
            Giveaway(
                str(tokens[i]),
                float(mean[i]),
                lowest=float(low[i]),
                highest=float(high[i]),
                n_target=int(counts[0][i]),
                n_retro=int(counts[1][i]),
            )
            for i in order
        ]

    @staticmethod
    def _pulls(shares, labels: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        """Mean pull of each token over the held-out entries that contain it; 0 where none does."""
        weights = linear_decisions(shares[~held_out], labels[~held_out], held_out=shares[held_out])[
            1
        ]
        held_out_shares = shares[held_out]
        n = np.asarray((held_out_shares > 0).sum(axis=0)).ravel()
        return weights * np.asarray(held_out_shares.sum(axis=0)).ravel() / np.maximum(n, 1)


def weighted(texts: Sequence[str]) -> tuple[Any, np.ndarray]:
    """(n, k) TF-IDF of words and word pairs, and the k tokens; of 20 entries or more those in two.
    Blind to the labels."""
    learners()
    from sklearn.feature_extraction.text import TfidfVectorizer

    reader = TfidfVectorizer(
        token_pattern=TOKENS,
        ngram_range=(1, 2),
        sublinear_tf=True,
        # A token of a single entry says nothing about an entry that is held out.
        min_df=2 if len(texts) >= 20 else 1,
    )
    shares = reader.fit_transform(texts).tocsr()
    return shares, reader.get_feature_names_out()


@dataclass(frozen=True)
class Vectors(_Linear):
    """For what differs in meaning rather than in single words."""

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
        return _fit_predict(vectors)

    def giveaways(
        self, texts: Sequence[str], labels: np.ndarray, folds: np.ndarray
    ) -> list[Giveaway]:
        """None: a direction among embeddings names no token."""
        return []


@dataclass(frozen=True)
class Bert:
    """Fine-tuned BERT, as source 002 has it, and integrated gradients of its decision (Sundararajan
    et al. 2017). Needs requirements-bert.txt. The source tuned it once; a p-value needs the whole
    cross-validation again for each permutation of the labels, so few are affordable here: 19 of
    them reach p = .05 and no lower. `model` is a name on the hub or a folder."""

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
        """Word pieces by their mean attribution on held-out entries; those alone that point the
        same way in every fold that has them, and are in three entries at least."""
        if self.why_not():
            raise MissingPackage(self.why_not())
        by_fold: dict[str, list[float]] = defaultdict(list)
        entries: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for fold in np.unique(folds):
            tuned = self.tuned(
                [texts[i] for i in np.flatnonzero(folds != fold).tolist()], labels[folds != fold]
            )
            in_fold: dict[str, list[float]] = defaultdict(list)
            for i in np.flatnonzero(folds == fold):
                pulls: dict[str, float] = defaultdict(float)
                for token, pull in tuned.attributions(texts[int(i)]):
                    pulls[token] += pull
                for token, pull in pulls.items():
                    in_fold[token].append(pull)
                    entries[token][labels[i]] += 1
            for token, values in in_fold.items():
                by_fold[token].append(float(np.mean(values)))
        pieces = [
            Giveaway(token, float(np.mean(values)), min(values), max(values), *entries[token])
            for token, values in by_fold.items()
            if sum(entries[token]) >= 3 and min(values) * max(values) > 0
        ]
        return sorted(pieces, key=lambda piece: -abs(piece.weight))

    def tuned(self, texts: Sequence[str], labels: np.ndarray) -> Tuned:
        """The model after its epochs on these texts; the same texts, labels and seed give the same
        model on one machine."""
        import torch

        rng = generator(self.seed, "bert")
        # The seed is set in a fork, so that what others draw from torch stays as it was.
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))
            tokenizer, model = self._parts()
            network = Tuned(tokenizer, model, n_tokens=self.n_tokens)
            n_of = np.bincount(labels, minlength=2)
            # unequal sets
            weights = torch.tensor(len(labels) / (2 * np.maximum(n_of, 1)), dtype=torch.float32)
            loss_of = torch.nn.CrossEntropyLoss(weight=weights)
            optimiser = torch.optim.AdamW(network.model.parameters(), lr=self.learning_rate)
            network.model.train()
            for _ in range(self.n_epochs):
                order = rng.permutation(len(texts))
                for start in range(0, len(order), self.batch_size):
                    rows = order[start : start + self.batch_size]
                    logits = network.model(**network.read([texts[i] for i in rows])).logits
                    loss = loss_of(logits, torch.as_tensor(labels[rows], dtype=torch.long))
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            network.model.eval()
        return network

    def _parts(self):
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            return (
                AutoTokenizer.from_pretrained(self.model),
                AutoModelForSequenceClassification.from_pretrained(self.model, num_labels=2),
            )
        # no network, no such model, a broken cache: the package raises many kinds
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            raise BadInput(
                f"The weights of {self.model} could not be loaded: {reason}. Check the network, "
                "download them once on a machine that has one, or choose another classifier."
            ) from error


@dataclass(frozen=True)
class Tuned:
    """A tuned model with its tokenizer. Decisions are the logit of label 1 less that of label 0."""

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
        """(n,) decisions, 64 texts at a time."""
        import torch

        with torch.no_grad():
            batches = [
                self.model(**self.read(texts[start : start + 64])).logits
                for start in range(0, len(texts), 64)
            ]
        logits = torch.cat(batches)
        return (logits[:, 1] - logits[:, 0]).double().numpy()

    def attributions(self, text: str) -> list[tuple[str, float]]:
        """(word piece, share of the decision) of one text: gradients averaged on the straight way
        from padding to the text, times the way. They sum to decision(text) - decision(padding) up
        to the error of `N_STEPS` midpoints."""
        import torch

        read = self.read([text])
        ids = read["input_ids"]
        special = torch.tensor(
            self.tokenizer.get_special_tokens_mask(ids[0].tolist(), already_has_special_tokens=True)
        )
        look_up = self.model.get_input_embeddings()
        with torch.no_grad():
            embedded = look_up(ids)
            nothing = look_up(torch.where(special.bool(), ids, self.tokenizer.pad_token_id))
        points = (torch.arange(N_STEPS) + 0.5).reshape(-1, 1, 1) / N_STEPS
        on_the_way = (nothing + points * (embedded - nothing)).requires_grad_(requires_grad=True)
        logits = self.model(
            inputs_embeds=on_the_way, attention_mask=read["attention_mask"].expand(N_STEPS, -1)
        ).logits
        (slope,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), on_the_way)
        shares = ((embedded - nothing) * slope.mean(dim=0, keepdim=True)).sum(dim=-1)[0]
        pieces = self.tokenizer.convert_ids_to_tokens(ids[0].tolist())
        return [
            (piece, float(share))
            for piece, share, skip in zip(pieces, shares, special, strict=True)
            if not skip
        ]


CLASSIFIERS: tuple[Classifier, ...] = (Words(), Vectors(), Bert())
