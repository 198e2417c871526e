"""Diagnostics of a loss test: whether its controls are like the benchmark, and p-values for the
case that they are not.

A conformal p is valid if item and controls are exchangeable. Controls of another length, topic or
difficulty are not, even without any memory. For example, a standard deviation of .75 instead of .62
nats flags 135 of 5,000 clean items at p < .01.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import p_text
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.base.separability import Separability, logistic, out_of_fold, separability
from flipcore.stats.memory.loss_analysis import LossTest
from flipcore.stats.memory.loss_test import MIN_CONTROLS, SLACK, n_at_least


def text_features(
    texts: Sequence[str], paraphrase_losses: ArrayLike, topics: Sequence[Hashable] = ()
) -> np.ndarray:
    """Return (texts, features): log(1 + characters), number of digits, loss of the paraphrase in
    nats, and one 0/1 column per topic except the first.

    Encode benchmark and controls in one call, so that topics get the same columns.
    """
    columns = [
        np.log1p([len(text) for text in texts]),
        [len(re.findall(r"\d", text)) for text in texts],
        paraphrase_losses,
    ]
    names = sorted(set(topics), key=str)
    # Columns for all topics would add up to a constant, so the first topic has none.
    for name in names[1:]:
        columns.append([float(topic == name) for topic in topics])
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


@dataclass(frozen=True)
class Exchangeability:
    """Classifier two-sample test of controls against benchmark, on features of the texts."""

    test: Separability

    @property
    def differs(self) -> bool:
        """True if the classifier tells controls and benchmark apart at .05."""
        return self.test.p < 0.05

    def sentence(self) -> str:
        """Say what the difference means for the p-values."""
        evidence = (
            "A classifier tells them apart with a balanced accuracy of "
            f"{self.test.balanced.text()}, {p_text(self.test.p)} "
            f"({self.test.n:,} texts; guessing gives 0.50)."
        )
        if self.differs:
            return (
                "The controls differ from the benchmark in length, digits, topic or difficulty, "
                "so plain p-values are too small or too large: read the stratified and the "
                f"weighted ones. {evidence}"
            )
        return f"No difference of controls and benchmark is shown in what was measured. {evidence}"


def exchangeability(
    features: np.ndarray, control_features: np.ndarray, seed: int = 0, m: int = 199
) -> Exchangeability:
    """Run a classifier two-sample test by logistic regression, with `m` permutations.

    Features are (texts, features) as of `text_features`. Rows with a value that is not finite are
    left out. Needs scikit-learn.
    """
    # Logistic regression takes no missing values.
    tables = [table[np.isfinite(table).all(axis=1)] for table in (features, control_features)]
    labels = np.repeat([1, 0], [len(table) for table in tables])
    return Exchangeability(separability(np.concatenate(tables), labels, logistic, m=m, seed=seed))


def pval_mondrian(
    d: ArrayLike, strata: Sequence[Hashable], d0: ArrayLike, strata0: Sequence[Hashable]
) -> np.ndarray:
    """Return (items,) conformal p-values among the controls of each item's stratum (Vovk et al.
    2003). They are valid if items and controls are exchangeable within strata.

    NaN for an item whose stratum has fewer than 19 finite controls. Raises BadInput unless each
    item of `d` and each control of `d0` has a stratum.
    """
    values, controls = np.asarray(d, dtype=float), np.asarray(d0, dtype=float)
    item_strata, control_strata = (
        np.asarray(strata, dtype=object),
        np.asarray(strata0, dtype=object),
    )
    if len(values) != len(item_strata) or len(controls) != len(control_strata):
        raise BadInput("Every item and every control needs one stratum; the lengths differ.")
    p = np.full(len(values), np.nan)
    for stratum in set(strata):
        in_stratum = (item_strata == stratum) & np.isfinite(values)
        stratum_controls = controls[(control_strata == stratum) & np.isfinite(controls)]
        if len(stratum_controls) >= MIN_CONTROLS:
            n_above = n_at_least(values[in_stratum], stratum_controls)
            p[in_stratum] = (1 + n_above) / (len(stratum_controls) + 1)
    return p


def quantile_strata(
    feature: ArrayLike, control_feature: ArrayLike, n_strata: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stratum numbers (from 0) of items and of controls. All strata have about the same
    number of controls, because a p-value within a stratum needs enough of them. Raises BadInput
    without controls."""
    if not len(np.asarray(control_feature)):
        raise BadInput("Strata hold equal numbers of controls, and there is no control.")
    edges = np.quantile(np.asarray(control_feature, dtype=float), np.arange(1, n_strata) / n_strata)
    strata = np.searchsorted(edges, feature, side="right")
    return strata, np.searchsorted(edges, control_feature, side="right")


def pval_weighted(
    d: ArrayLike, weights: ArrayLike, d0: ArrayLike, weights0: ArrayLike
) -> np.ndarray:
    """Return (items,) p-values that are conformal under covariate shift (Tibshirani et al. 2019):
    p = (sum_j w_j 1{D0_j >= D} + w) / (sum_j w_j + w).

    Weights are density ratios benchmark / control. Controls that are not finite are left out; p is
    NaN for an item that is not finite.
    """
    values, w = np.asarray(d, dtype=float), np.asarray(weights, dtype=float)
    controls, w0 = np.asarray(d0, dtype=float), np.asarray(weights0, dtype=float)
    is_finite = np.isfinite(controls)
    controls, w0 = controls[is_finite], w0[is_finite]
    order = np.argsort(controls)
    # Weight of all controls from each one upwards; the last entry is for items above all controls.
    weight_from = np.append(np.cumsum(w0[order][::-1])[::-1], 0.0)
    weight_above = weight_from[np.searchsorted(controls[order], values - SLACK, side="left")]
    return np.where(np.isfinite(values), (weight_above + w) / (w0.sum() + w), np.nan)


def density_ratios(
    features: np.ndarray, control_features: np.ndarray, folds: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of items and of controls: the density ratio benchmark / control.

    It is estimated by the odds of "benchmark" in a balanced out-of-fold logistic regression.
    Odds are limited to 1/100 to 100. Needs scikit-learn.
    """
    all_features = np.concatenate([features, control_features])
    labels = np.repeat([1, 0], [len(features), len(control_features)])
    # Folds go by position in each set, so that each fold has its share of both.
    fold = np.concatenate([np.arange(len(features)), np.arange(len(control_features))]) % folds
    # Without limits one certain prediction would outweigh all other controls.
    probability = np.clip(out_of_fold(all_features, labels, fold, logistic), 1 / 101, 100 / 101)
    odds = probability / (1 - probability)
    return odds[: len(features)], odds[len(features) :]


@dataclass(frozen=True)
class Diagnosis:
    """Exchangeability, and the flags of Benjamini-Hochberg with plain, stratified and weighted
    p-values: `rows` are (name, number flagged, number of items without a p)."""

    exchangeability: Exchangeability
    rows: tuple[tuple[str, int, int], ...]


def diagnosis(
    test: LossTest,
    texts: Sequence[Sequence[str]],
    losses: Sequence[ArrayLike],
    topics: Sequence[Sequence[Hashable]],
    seed: int = 0,
) -> Diagnosis:
    """Diagnose a loss test.

    `texts`, `losses` (of the paraphrase, in nats) and `topics` are pairs (of items, of controls),
    in the order of `test.d` and `test.d0`.
    """
    (item_texts, control_texts), (item_topics, control_topics) = texts, topics
    features = text_features(
        [*item_texts, *control_texts],
        np.concatenate([np.asarray(set_losses, dtype=float) for set_losses in losses]),
        [*item_topics, *control_topics],
    )
    item_features, control_features = np.split(features, [len(item_texts)])
    length = 0  # its column in `text_features`
    strata, strata0 = quantile_strata(item_features[:, length], control_features[:, length])
    stratified = pval_mondrian(test.d, strata.tolist(), test.d0, strata0.tolist())
    weights, weights0 = density_ratios(item_features, control_features)
    weighted = pval_weighted(test.d, weights, test.d0, weights0)
    p_by_name = {
        "plain": test.p_conformal,
        "within strata of length": stratified,
        "weighted by density ratio": weighted,
    }
    rows = []
    for name, p in p_by_name.items():
        is_flagged = np.asarray(bh(p)) <= test.alpha
        rows.append((name, int(is_flagged.sum()), int(np.isnan(p).sum())))
    return Diagnosis(exchangeability(item_features, control_features, seed), tuple(rows))
