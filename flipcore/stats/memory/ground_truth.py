"""Detectors of memory where the truth is known: scores of items that a model read a known number of
times.

Scores are large where memory is suspected. Never-seen items of the same making set a cut-off; other
never-seen items (`fresh`) check it; each dose is compared with all of the never-seen that set it.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N, Estimate, without_interval
from flipcore.stats.base.intervals import clopper_pearson, mean_interval, t_quantile, z_quantile
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.separability import auc
from flipcore.stats.memory.pearl_alpha import alpha_conformal, alpha_source, alpha_tolerance

FALSE_POSITIVES = 0.05
Rule = Callable[[Iterable[float], float], tuple[float, int | None]]
RULES: dict[str, Rule] = {
    "conformal": alpha_conformal,
    "tolerance": alpha_tolerance,
    "source": alpha_source,
}


def auc_interval(positives: np.ndarray, negatives: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the chance that a positive exceeds a negative, ties one half, with DeLong's standard
    error on the logit and Student's t with Satterthwaite's degrees of freedom: it covers .90 to .99
    of simulated areas (10 v 30 to 150 v 150, the spread of one group a third to three times that of
    the other) where Newcombe's covers down to .81. At an area of 0 or 1, which has no such error,
    Newcombe (2006), method 5, keeps a width. NaN without both groups."""
    # Scores may be missing where an answer was not read.
    positives, negatives = (
        np.asarray(x, dtype=float)[~np.isnan(np.asarray(x, dtype=float))]
        for x in (positives, negatives)
    )
    n, m = len(positives), len(negatives)
    if not n or not m:
        return Estimate(
            math.nan,
            math.nan,
            math.nan,
            level,
            "none",
            0,
            None,
            "Both seen and never-seen items are needed.",
        )
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
        level,
        "newcombe_5",
        n + m,
        None,
    )


def _logit_limits(
    positives: np.ndarray, negatives: np.ndarray, level: float
) -> tuple[float, float] | None:
    """Return the limits by DeLong, DeLong and Clarke-Pearson's error (1988) on the logit; None
    where the area is 0 or 1 or nothing varies."""
    n, m = len(positives), len(negatives)
    order = np.sort(negatives)
    # Left and right ranks averaged: ties count one half.
    above = (
        np.searchsorted(order, positives, "left") + np.searchsorted(order, positives, "right")
    ) / (2 * m)
    order = np.sort(positives)
    below = 1 - (
        np.searchsorted(order, negatives, "left") + np.searchsorted(order, negatives, "right")
    ) / (2 * n)
    area, parts = float(above.mean()), (float(above.var(ddof=1)) / n, float(below.var(ddof=1)) / m)
    variance = sum(parts)
    if not 1e-12 < area < 1 - 1e-12 or variance < 1e-15:
        return None
    # Satterthwaite's, because the two groups' placements vary by their own amounts.
    df = variance**2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    half = t_quantile(0.5 + level / 2, df) * math.sqrt(variance) / (area * (1 - area))
    centre = math.log(area / (1 - area))
    return 1 / (1 + math.exp(half - centre)), 1 / (1 + math.exp(-half - centre))


def _standard_error(area: float, n: int, m: int) -> float:
    # Newcombe's method 5 puts the mean group size in the place of both sizes.
    mean_size_less_one = (n + m) / 2 - 1
    return math.sqrt(
        area
        * (1 - area)
        * (1 + mean_size_less_one * ((1 - area) / (2 - area) + area / (1 + area)))
        / (n * m)
    )


def _limit(value: float, n: int, m: int, z: float, end: float) -> float:
    """Find by bisection the area between `value` and `end` that lies z of its standard errors from
    `value`."""
    near, far = value, end
    for _ in range(60):
        middle = (near + far) / 2
        if abs(middle - value) < z * _standard_error(middle, n, m):
            near = middle
        else:
            far = middle
    return end if abs(end - near) < 1e-12 else near


def roc(positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (shares of negatives, shares of positives) above all possible cut-offs, from (0, 0) to
    (1, 1); ties move together."""
    cuts = np.unique(np.concatenate([positives, negatives]))[::-1]
    false, true = ((np.asarray(x)[:, None] >= cuts).mean(axis=0) for x in (negatives, positives))
    return np.concatenate([[0.0], false]), np.concatenate([[0.0], true])


@dataclass(frozen=True)
class AtDose:
    """One detector on the items of one dose: their scores, the mean, how far it lies above the mean
    of the never-seen (Welch), the AUC against the never-seen, and the share above the cut-off
    (Clopper–Pearson)."""

    dose: int
    scores: np.ndarray
    mean: Estimate
    above: Estimate
    auc: Estimate
    detected: Estimate


@dataclass(frozen=True)
class Detector:
    """One detector over all doses. `never` are the never-seen scores that set `cutoff` (None where
    they are too few); `false_positives` is its share of other never-seen items; `doses` its results
    at each dose; `sees` the smallest dose from which on it sees single items, or None; `shifts` the
    smallest from which on the mean of a whole group lies above that of the never-seen, or None;
    `fresh` the other never-seen scores."""

    name: str
    never: np.ndarray
    never_mean: Estimate
    cutoff: float | None
    false_positives: Estimate
    doses: tuple[AtDose, ...]
    sees: int | None
    shifts: int | None
    fresh: np.ndarray


def rules_of(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str],
) -> list[str]:
    """Return the rules for the cut-off, the preferred one first: the tolerance bound where each
    detector has never-seen items enough for it, else the conformal rule. Arguments as of
    `ground_truth`."""
    truth = ground_truth(scores, doses, fresh, "tolerance")
    enough = all(evaluated.cutoff is not None for evaluated in truth.detectors)
    return sorted(RULES, key=lambda rule: rule != "tolerance") if enough else list(RULES)


@dataclass(frozen=True)
class GroundTruth:
    """All detectors; `n_unknown` items had no known dose and are in no number."""

    detectors: tuple[Detector, ...]
    rule: str
    rate: float
    n_unknown: int


def share_text(share: Estimate) -> str:
    """Return a share as "88% [74, 95]"."""
    if math.isnan(share.value):
        return "–"
    if not share.has_interval:
        return f"{100 * share.value:.0f}%"
    return f"{100 * share.value:.0f}% [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def exact_share(k: int, n: int, level: float = 0.95) -> Estimate:
    """Return k of n with Clopper and Pearson's limits; n = 0 is missing."""
    if n < MIN_N:
        return without_interval(k / n if n else math.nan, n, level)
    low, high = clopper_pearson(k, n, level)
    return Estimate(k / n if n else math.nan, low, high, level, "clopper_pearson", n, None)


def _flagged(scores: np.ndarray, cutoff: float | None, level: float) -> Estimate:
    # Too few never-seen items for the rule: nothing is flagged, and nothing measured.
    if cutoff is None:
        return exact_share(0, 0, level)
    return exact_share(int((scores > cutoff).sum()), len(scores), level)


def _from_on(doses: tuple[AtDose, ...], detects: Callable[[AtDose], bool]) -> int | None:
    """Return the smallest dose such that the detector sees it and all larger ones."""
    first = None
    # From the largest dose down: the first that is missed ends it.
    for at_dose in sorted(doses, key=lambda at_dose: -at_dose.dose):
        if not detects(at_dose):
            return first
        first = at_dose.dose
    return first


def _above(scores: np.ndarray, never: np.ndarray, level: float) -> Estimate:
    interval = gap_welch(scores, never, level)
    if min(len(scores), len(never)) < MIN_N:
        few = f"No interval: a group has fewer than {MIN_N} items."
        return without_interval(interval["gap"], len(scores) + len(never), level, few)
    return Estimate(
        interval["gap"],
        interval["lo"],
        interval["hi"],
        level,
        "welch_t",
        len(scores) + len(never),
        None,
    )


def detector(
    name: str,
    never: np.ndarray,
    fresh: np.ndarray,
    by_dose: Mapping[int, np.ndarray],
    rule: str = "conformal",
    rate: float = FALSE_POSITIVES,
    level: float = 0.95,
) -> Detector:
    """Evaluate one detector from its scores on never-seen items that set the cut-off, on fresh
    ones, and at each dose."""
    if rule not in RULES:
        raise BadInput(f"The rule {rule!r} is not known; choose one of {', '.join(RULES)}.")
    alpha = RULES[rule](never, rate)[0]
    cutoff = None if math.isinf(alpha) else alpha
    wrong = _flagged(fresh, cutoff, level)
    at_doses = []
    for dose, scores in sorted(by_dose.items()):
        at_doses.append(
            AtDose(
                dose,
                scores,
                mean_interval(scores, level=level, bounds=None),
                _above(scores, never, level),
                auc_interval(scores, never, level),
                _flagged(scores, cutoff, level),
            )
        )
    doses = tuple(at_doses)
    return Detector(
        name,
        never,
        mean_interval(never, level=level, bounds=None),
        cutoff,
        wrong,
        doses,
        sees=_from_on(doses, lambda at_dose: at_dose.detected.low > wrong.high),
        shifts=_from_on(doses, lambda at_dose: at_dose.above.low > 0),
        fresh=fresh,
    )


def ground_truth(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str] = (),
    rule: str = "conformal",
    rate: float = FALSE_POSITIVES,
) -> GroundTruth:
    """Evaluate all detectors. `scores` is detector -> item -> score, `doses` item -> times read (0
    never, None unknown). `fresh` are never-seen items that may set no cut-off; where none is named,
    every second never-seen item (in the order of `doses`) is held back as such. NaN scores are left
    out. Raises BadInput where no item was read, or none was not."""
    never = [item for item, dose in doses.items() if dose == 0]
    # Every second one, so that both halves spread over the order of the items.
    holdout = set(fresh) & set(never) or set(never[1::2])
    if not never or not any(doses.values()):
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
            at_dose = _defined(item_scores, [item for item in doses if doses[item] == dose])
            if len(at_dose):
                by_dose[dose] = at_dose
        if by_dose:
            # The items that set the cut-off cannot check it: they lie below it by construction.
            setting = _defined(item_scores, [item for item in never if item not in holdout])
            checking = _defined(item_scores, [item for item in never if item in holdout])
            detectors.append(detector(name, setting, checking, by_dose, rule, rate))
    n_unknown = sum(doses.get(item) is None for item in items)
    return GroundTruth(tuple(detectors), rule, rate, n_unknown)


def _defined(item_scores: Mapping[str, float], items: Iterable[str]) -> np.ndarray:
    """Return the scores of those `items` that have one, NaN left out."""
    values = np.array([item_scores[item] for item in items if item in item_scores], dtype=float)
    return values[~np.isnan(values)]
