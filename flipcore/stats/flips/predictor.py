"""Prediction of flips: an L2 logistic regression of any-flip(item, axis) on what is known before
asking again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.early_imports import learners
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.base.resample import N_BOOT_SOURCE, index_draws, monte_carlo_p
from flipcore.stats.base.separability import auc, weighted_auc
from flipcore.stats.flips import surface

FEATURES = ("margin", "entropy_bits", "n_prompt_tokens", "n_options", "base_correct")
N_FOLDS = 5


@dataclass(frozen=True)
class FlipPrediction:
    """`probabilities` are out of fold, aligned with the rows that were used (`mask` over the rows
    given). `brier` is compared with `brier_constant`, the Brier score of always saying the training
    rate. `slope` is the calibration slope: 1 is calibrated, below 1 overconfident. `p` is the share
    of label permutations (within axis, the whole cross-validation run again) with an AUC as high,
    `auc_by_axis` their mean: what knowing the axis alone reaches. `weights` are of standardised
    features, fitted on all rows. NaN where undefined."""

    auc: Estimate
    brier: float
    brier_constant: float
    slope: float
    p: float
    auc_by_axis: float
    n_rows: int
    n_dropped: int
    weights: dict[str, float]
    probabilities: np.ndarray
    mask: np.ndarray
    note: str = ""


def flip_prediction(
    rows: pd.DataFrame,
    features: Sequence[str] = FEATURES,
    *,
    seed: int = 0,
    n_boot: int = N_BOOT_SOURCE,
    n_permutations: int = 199,
) -> FlipPrediction:
    """Predict which items flip. `rows` has one row per item and axis, with `item_id`, `axis`,
    `flipped` (0/1) and the features; axes become dummies.

    Folds keep an item together (GroupKFold), or with a column `family` all items of one; resampling
    and permuting take whole families too. Features are standardised on the training folds, C = 1.
    Rows that lack a feature are dropped and counted. Fewer than 5 items or one class only -> NaN.
    Raises BadInput for missing columns, MissingPackage without scikit-learn.
    """
    lacking = [name for name in ("item_id", "axis", "flipped", *features) if name not in rows]
    if lacking:
        raise BadInput(
            f"The table lacks the column(s) {', '.join(lacking)}; give one row an item and axis."
        )
    # One axis has no dummy: with all of them the columns would add up to a constant.
    x = pd.concat(
        [
            rows[list(features)].astype(float),
            pd.get_dummies(rows["axis"], drop_first=True).astype(float),
        ],
        axis=1,
    )
    mask = (x.notna().all(axis=1) & rows["flipped"].notna()).to_numpy()
    design, y = x[mask], rows["flipped"][mask].to_numpy(dtype=int)
    items = pd.factorize(rows["family" if "family" in rows else "item_id"][mask])[0]
    n_items = int(items.max(initial=-1)) + 1
    if n_items < N_FOLDS or np.unique(y).size < 2:
        reason = "All rows are of one class."
        if n_items < N_FOLDS:
            reason = f"{n_items} items are fewer than {N_FOLDS} folds."
        return _undefined(n_items, mask, reason)
    model, folds = _model(), _folds(items)
    matrix = design.to_numpy()
    probabilities, constant = _out_of_fold(model, folds, matrix, y)
    p, by_axis = _permutation_p(
        model,
        folds,
        matrix,
        y,
        _blocks(rows["axis"][mask], items),
        auc(y, probabilities),
        seed,
        n_permutations,
    )
    model.fit(matrix, y)
    return FlipPrediction(
        _auc_estimate(y, probabilities, items, seed, n_boot),
        float(np.mean((probabilities - y) ** 2)),
        float(np.mean((constant - y) ** 2)),
        _calibration_slope(y, probabilities),
        p,
        by_axis,
        int(mask.sum()),
        int((~mask).sum()),
        dict(zip(design.columns, model[-1].coef_[0].tolist(), strict=True)),
        probabilities,
        mask,
    )


def _undefined(n_items: int, mask: np.ndarray, reason: str) -> FlipPrediction:
    n_rows, nan = int(mask.sum()), float("nan")
    blank = np.full(n_rows, np.nan)
    return FlipPrediction(
        missing(n_items, note=reason),
        nan,
        nan,
        nan,
        nan,
        nan,
        n_rows,
        int((~mask).sum()),
        {},
        blank,
        mask,
        reason,
    )


def _model():
    try:
        learners()
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise MissingPackage(
            "The flip predictor needs scikit-learn, which is not installed. Install it with 'pip "
            "install -r requirements.txt'."
        ) from error
    return make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000))


def _folds(items: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    learners()
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(N_FOLDS).split(items, groups=items))


def _out_of_fold(model, folds: list, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities from models that did not see the row, and the training rate as the
    constant baseline."""
    out, constant = np.empty(y.size), np.empty(y.size)
    for train, test in folds:
        constant[test] = y[train].mean()
        # A regression cannot be fitted to one class; the training rate is then the best guess.
        single = np.unique(y[train]).size < 2
        out[test] = (
            constant[test] if single else model.fit(x[train], y[train]).predict_proba(x[test])[:, 1]
        )
    return out, constant


def _blocks(axis: pd.Series, items: np.ndarray) -> list[np.ndarray]:
    """Return the blocks of rows that may change places: of one axis the rows of families of one
    size, as (families, rows) of row numbers."""
    names = axis.to_numpy(dtype=object)
    strata = []
    for name in dict.fromkeys(names):
        by_family: dict[int, list[int]] = {}
        for row in np.flatnonzero(names == name):
            by_family.setdefault(int(items[row]), []).append(int(row))
        for size in sorted({len(rows) for rows in by_family.values()}):
            strata.append(np.array([rows for rows in by_family.values() if len(rows) == size]))
    return strata


def _permutation_p(
    model,
    folds: list,
    x: np.ndarray,
    y: np.ndarray,
    strata: list[np.ndarray],
    observed: float,
    seed: int,
    m: int,
) -> tuple[float, float]:
    rng, null_aucs = generator(seed, "flip predictor"), []

    def draw(k: int) -> np.ndarray:
        aucs = np.empty(k)
        for i in range(k):
            shuffled = y.copy()
            for blocks in strata:
                shuffled[blocks] = y[rng.permutation(blocks)]
            aucs[i] = auc(shuffled, _out_of_fold(model, folds, x, shuffled)[0])
        null_aucs.append(aucs)
        return aucs

    # No further draws near a threshold: each is a whole cross-validation.
    return monte_carlo_p(observed, draw, m, max_m=m).p, float(np.mean(np.concatenate(null_aucs)))


def _auc_estimate(
    y: np.ndarray, scores: np.ndarray, items: np.ndarray, seed: int, n_boot: int
) -> Estimate:
    """Return the AUC with a percentile interval over items drawn with replacement; a resample of
    one class is left out."""
    n = int(items.max()) + 1
    value = auc(y, scores)
    if n < 10:
        return without_interval(value, n)
    chunks = []
    for draw in index_draws(n, n_boot, generator(seed)):
        # How often an item was drawn is the weight of all its rows: no copy of the scores.
        counts = np.array([np.bincount(row, minlength=n) for row in draw], dtype=float)
        chunks.append(weighted_auc(y, scores, counts[:, items]))
    reps = np.concatenate(chunks)
    # A resample of one class has no AUC.
    low, high = np.nanpercentile(reps, [2.5, 97.5])
    return Estimate(value, float(low), float(high), 0.95, "percentile", n, seed)


def _calibration_slope(y: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the slope of an unpenalised logistic regression of y on the predicted log-odds, by
    Newton's steps, halved while they make the fit worse. NaN where it has none: the predictions are
    all equal, or they separate the two outcomes, and it grows without end."""
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    x = np.column_stack([np.ones(y.size), np.log(p / (1 - p))])
    if np.ptp(x[:, 1]) < 1e-12:
        return float("nan")
    beta = np.zeros(2)
    loss = _logistic_loss(x @ beta, y)
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-np.clip(x @ beta, -500, 500)))
        hessian = x.T @ (x * (fitted * (1 - fitted))[:, None])
        # Separated outcomes: the curvature vanishes and the slope grows without end.
        if not np.linalg.cond(hessian) <= 1e12:
            return float("nan")
        step = np.linalg.solve(hessian, x.T @ (y - fitted))
        while _logistic_loss(x @ (beta + step), y) > loss + 1e-12 and np.abs(step).max() > 1e-10:
            step /= 2
        beta = beta + step
        loss = _logistic_loss(x @ beta, y)
        if np.abs(step).max() <= 1e-10:
            return float(beta[1])
    return float("nan")


def _logistic_loss(log_odds: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum(np.logaddexp(0, log_odds) - y * log_odds))


def predictor_rows(frame: pd.DataFrame, base: pd.DataFrame, extractor: str) -> pd.DataFrame:
    """Return one row per item and axis, as `flip_prediction` takes them.

    `frame`: readouts of one model. `base`: one row per item with `item_id`, `probabilities` (its
    first-token shares on the options), `n_options`, `n_prompt_chars`, `is_correct`, of the base
    prompt's first sample.
    """
    cells = surface.surface(frame, extractor)
    rates = pd.DataFrame(cells.rate, index=cells.items, columns=cells.columns).drop(
        columns=IDENTITY, errors="ignore"
    )
    long = (
        rates.rename_axis("item_id")
        .reset_index()
        .melt("item_id", var_name="axis", value_name="rate")
    )
    by_item = base.drop_duplicates("item_id").copy()
    shares = [np.sort(np.asarray(row, dtype=float))[::-1] for row in by_item["probabilities"]]
    by_item["margin"] = [row[0] - row[1] if row.size > 1 else np.nan for row in shares]
    by_item["entropy_bits"] = [_entropy(row) for row in shares]
    # About four characters per token of English text; a tokenizer is not asked for.
    by_item["n_prompt_tokens"] = by_item["n_prompt_chars"] / 4
    by_item["base_correct"] = by_item["is_correct"].astype(float)
    rows = long.merge(by_item, on="item_id", how="inner")
    if "family" in frame:
        rows["family"] = rows["item_id"].map(
            dict(zip(frame["item_id"], frame["family"], strict=True))
        )
    rows["flipped"] = np.where(rows["rate"].isna(), np.nan, (rows["rate"] > 0).astype(float))
    return rows


def _entropy(shares: np.ndarray) -> float:
    """Return the bits over the options' shares, normalised to sum to 1; NaN without any."""
    total = shares.sum()
    if not total > 0:
        return float("nan")
    p = shares[shares > 0] / total
    return float(-(p * np.log2(p)).sum())
