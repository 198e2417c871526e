"""Detectors of memory where the truth is known: each item's dose is how often the model read it.

Scores are large where memory is suspected. Items that the model never read (dose 0) and that were
made in the same way set a cut-off. Other never-seen items (`fresh`) check it. The items of each
dose are compared with the never-seen items that set the cut-off.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.intervals import clopper_pearson, mean_interval, t_quantile, z_quantile
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.separability import auc
from flipcore.stats.memory.pearl_alpha import RULES

FALSE_POSITIVES = 0.05


def auc_interval(positives: np.ndarray, negatives: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the AUC: the chance that a positive's score exceeds a negative's; ties count one half.

    The interval has DeLong's standard error on the logit, and Student's t with Satterthwaite's
    degrees of freedom. In simulations it covers .90 to .99, where Newcombe's goes down to .81 (10 v
    30 to 150 v 150 items; one group's spread a third to three times the other's). An AUC of 0 or 1
    has no such error and gets the interval of Newcombe (2006), method 5. NaN scores are left out; a
    group without scores gives NaN.
    """
    positives, negatives = _without_nan(positives), _without_nan(negatives)
    n, m = len(positives), len(negatives)
    if not n or not m:
        return missing(0, level, "Both seen and never-seen items are needed.")
    value = auc([1] * n + [0] * m, np.concatenate([positives, negatives]))
    if min(n, m) < MIN_N:
        return without_interval(
            value, n + m, level, f"No interval: a group has fewer than {MIN_N} items."
        )
    if limits := _logit_limits(positives, negatives, level):
        return Estimate(value, *limits, level, "delong, logit", n + m, None)
    z = z_quantile(0.5 + level / 2)
    return Estimate(
        value,
        _limit(value, n, m, z, 0.0),
        _limit(value, n, m, z, 1.0),
        level=level,
        method="newcombe_5",
        n=n + m,
        seed=None,
    )


def _without_nan(scores: ArrayLike) -> np.ndarray:
    values = np.asarray(scores, dtype=float)
    return values[~np.isnan(values)]


def _logit_limits(
    positives: np.ndarray, negatives: np.ndarray, level: float
) -> tuple[float, float] | None:
    """Return limits of the AUC from the error of DeLong, DeLong and Clarke-Pearson (1988) on the
    logit; None if the AUC is 0 or 1 or nothing varies."""
    n, m = len(positives), len(negatives)
    # A placement is the share of negatives below a positive, or of positives above a negative.
    placements = _share_below(positives, negatives)
    negative_placements = 1 - _share_below(negatives, positives)
    area = float(placements.mean())
    variance_n = float(placements.var(ddof=1)) / n
    variance_m = float(negative_placements.var(ddof=1)) / m
    variance = variance_n + variance_m
    if not 1e-12 < area < 1 - 1e-12 or variance < 1e-15:
        return None
    # Satterthwaite's degrees of freedom, because the two groups' variances may differ.
    df = variance**2 / (variance_n**2 / (n - 1) + variance_m**2 / (m - 1))
    half = t_quantile(0.5 + level / 2, df) * math.sqrt(variance) / (area * (1 - area))
    center = math.log(area / (1 - area))
    return 1 / (1 + math.exp(half - center)), 1 / (1 + math.exp(-half - center))


def _share_below(values: np.ndarray, reference_values: np.ndarray) -> np.ndarray:
    """Return per value the share of `reference_values` below it; ties count one half."""
    ordered = np.sort(reference_values)
    ranks = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return ranks / (2 * len(reference_values))


def _standard_error(area: float, n: int, m: int) -> float:
    # Newcombe's method 5 uses the mean group size in place of both sizes.
    mean_size_less_one = (n + m) / 2 - 1
    return math.sqrt(
        area
        * (1 - area)
        * (1 + mean_size_less_one * ((1 - area) / (2 - area) + area / (1 + area)))
        / (n * m)
    )


def _limit(value: float, n: int, m: int, z: float, end: float) -> float:
    """Find by bisection the AUC between `value` and `end` that is z of its own standard errors away
    from `value`."""
    near, far = value, end
    for _ in range(60):
        middle = (near + far) / 2
        if abs(middle - value) < z * _standard_error(middle, n, m):
            near = middle
        else:
            far = middle
    return end if abs(end - near) < 1e-12 else near


def roc(positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ROC curve from (0, 0) to (1, 1): the shares of negatives and of positives at or
    above each distinct score. A share of none is NaN."""
    cutoffs = np.unique(np.concatenate([positives, negatives]))[::-1]
    shares = []
    for scores in (negatives, positives):
        reached = np.asarray(scores, dtype=float)[:, None] >= cutoffs
        share = reached.mean(axis=0) if len(reached) else np.full(len(cutoffs), np.nan)
        shares.append(np.concatenate([[0.0], share]))
    false_shares, true_shares = shares
    return false_shares, true_shares


@dataclass(frozen=True)
class DoseResult:
    """One detector on the items of one dose.

    scores : (items,), and their `mean`.
    above : mean minus the mean of the never-seen items (Welch).
    auc : against the never-seen items.
    detected : share above the cut-off (Clopper–Pearson).
    """

    dose: int
    scores: np.ndarray
    mean: Estimate
    above: Estimate
    auc: Estimate
    detected: Estimate


@dataclass(frozen=True)
class Detector:
    """One detector over all doses.

    never_seen : scores of the items that set `cutoff`, which is None if they are too few.
    fresh : scores of the other never-seen items.
    false_positives : share of the fresh items above the cut-off.
    doses : results per dose, smallest dose first.
    items_from : the detector finds single items at this dose and all larger ones, or None.
    groups_from : a group's mean is above that of the never-seen at this dose and all larger ones,
        or None.
    """

    name: str
    never_seen: np.ndarray
    never_mean: Estimate
    cutoff: float | None
    false_positives: Estimate
    doses: tuple[DoseResult, ...]
    items_from: int | None
    groups_from: int | None
    fresh: np.ndarray


def rules_of(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str],
) -> list[str]:
    """Return the rules for the cut-off, the preferred one first. That is the tolerance bound if all
    detectors have enough never-seen items for it, else the conformal rule. The arguments are those
    of `ground_truth`."""
    truth = ground_truth(scores, doses, fresh, "tolerance")
    has_cutoffs = all(evaluated.cutoff is not None for evaluated in truth.detectors)
    return sorted(RULES, key=lambda rule: rule != "tolerance") if has_cutoffs else list(RULES)


@dataclass(frozen=True)
class GroundTruth:
    """Results of all detectors. `n_unknown` items without a known dose were left out."""

    detectors: tuple[Detector, ...]
    rule: str
    rate: float
    n_unknown: int


def share_text(share: Estimate) -> str:
    """Format a share as "88% [74, 95]", "88%" without an interval, or "–" for NaN."""
    if math.isnan(share.value):
        return "–"
    if not share.has_interval:
        return f"{100 * share.value:.0f}%"
    return f"{100 * share.value:.0f}% [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def exact_share(k: int, n: int, level: float = 0.95) -> Estimate:
    """Return the share k / n with Clopper and Pearson's limits, without limits below ten items; NaN
    if n is 0."""
    if n < MIN_N:
        return without_interval(k / n if n else math.nan, n, level)
    low, high = clopper_pearson(k, n, level)
    return Estimate(k / n, low, high, level=level, method="clopper_pearson", n=n, seed=None)


def _flagged_share(scores: np.ndarray, cutoff: float | None, level: float) -> Estimate:
    # Without a cut-off (too few never-seen items) the share is unknown, not 0.
    if cutoff is None:
        return exact_share(0, 0, level)
    return exact_share(int((scores > cutoff).sum()), len(scores), level)


def _detected_from(
    doses: tuple[DoseResult, ...], detects: Callable[[DoseResult], bool]
) -> int | None:
    """Return the smallest dose such that `detects` is true of it and of all larger ones; None if it
    is not true of the largest."""
    smallest = None
    for dose_result in sorted(doses, key=lambda result: result.dose, reverse=True):
        if not detects(dose_result):
            return smallest
        smallest = dose_result.dose
    return smallest


def _above_never_seen(scores: np.ndarray, never_seen: np.ndarray, level: float) -> Estimate:
    interval, n = gap_welch(scores, never_seen, level), len(scores) + len(never_seen)
    if min(len(scores), len(never_seen)) < MIN_N:
        note = f"No interval: a group has fewer than {MIN_N} items."
        return without_interval(interval["gap"], n, level, note)
    return Estimate(
        interval["gap"],
        interval["lo"],
        interval["hi"],
        level=level,
        method="welch_t",
        n=n,
        seed=None,
    )


def detector(
    name: str,
    never_seen: np.ndarray,
    fresh: np.ndarray,
    by_dose: Mapping[int, np.ndarray],
    rule: str = "conformal",
    rate: float = FALSE_POSITIVES,
    level: float = 0.95,
) -> Detector:
    """Evaluate one detector.

    `never_seen` are its scores on those items that set the cut-off by `rule` at `rate` false
    positives. `fresh` are those on other never-seen items, `by_dose` dose -> scores. Raises
    BadInput for an unknown rule.
    """
    if rule not in RULES:
        raise BadInput(f"The rule {rule!r} is not known; choose one of {', '.join(RULES)}.")
    alpha, _ = RULES[rule](never_seen, rate)
    cutoff = None if math.isinf(alpha) else alpha
    false_positives = _flagged_share(fresh, cutoff, level)
    dose_results = []
    for dose, scores in sorted(by_dose.items()):
        dose_results.append(
            DoseResult(
                dose,
                scores,
                mean=mean_interval(scores, level=level, bounds=None),
                above=_above_never_seen(scores, never_seen, level),
                auc=auc_interval(scores, never_seen, level),
                detected=_flagged_share(scores, cutoff, level),
            )
        )
    doses = tuple(dose_results)
    return Detector(
        name,
        never_seen,
        never_mean=mean_interval(never_seen, level=level, bounds=None),
        cutoff=cutoff,
        false_positives=false_positives,
        doses=doses,
        items_from=_detected_from(doses, lambda dose: dose.detected.low > false_positives.high),
        groups_from=_detected_from(doses, lambda dose: dose.above.low > 0),
        fresh=fresh,
    )


def ground_truth(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str] = (),
    rule: str = "conformal",
    rate: float = FALSE_POSITIVES,
) -> GroundTruth:
    """Evaluate all detectors.

    Parameters
    ----------
    scores : detector -> item -> score; NaN scores are left out.
    doses : item -> how often the model read it; 0 is never, None unknown.
    fresh : never-seen items that check the cut-off instead of setting it. If empty, every second
        never-seen item (in the order of `doses`).
    rule : rule that sets the cut-off, one of `RULES`.
    rate : rate of false positives that the rule aims at.

    Raises
    ------
    BadInput
        If there is no item with a dose above 0, or none with dose 0.
    """
    never_seen = [item for item, dose in doses.items() if dose == 0]
    # Every second item and not the first half, because their order may not be random.
    fresh_items = set(fresh) & set(never_seen) or set(never_seen[1::2])
    if not never_seen or not any(doses.values()):
        raise BadInput(
            "Ground truth needs items of the pocket sets both at dose 0 and at a larger dose; add "
            "the missing ones to the study."
        )
    detectors = []
    items: set[str] = set()
    for name, item_scores in scores.items():
        items |= item_scores.keys()
        by_dose = {}
        for dose in sorted({dose for dose in doses.values() if dose}):
            dose_scores = _defined(item_scores, [item for item in doses if doses[item] == dose])
            if len(dose_scores):
                by_dose[dose] = dose_scores
        if by_dose:
            # The items that set the cut-off cannot check it, because most lie below it anyway.
            cutoff_items = [item for item in never_seen if item not in fresh_items]
            cutoff_scores = _defined(item_scores, cutoff_items)
            fresh_scores = _defined(
                item_scores, [item for item in never_seen if item in fresh_items]
            )
            detectors.append(detector(name, cutoff_scores, fresh_scores, by_dose, rule, rate))
    n_unknown = sum(doses.get(item) is None for item in items)
    return GroundTruth(tuple(detectors), rule, rate, n_unknown)


def _defined(item_scores: Mapping[str, float], items: Iterable[str]) -> np.ndarray:
    """Return the scores of `items`, without NaN and without items that have no score."""
    return _without_nan([item_scores[item] for item in items if item in item_scores])
