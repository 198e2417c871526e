"""PEARL over many items: sensitivities, the cut-off alpha, flags, and rates at all cut-offs.

PEARL (source 003) flips a few bits of a prompt, in levels with more and more flips, and measures
how abruptly the output becomes different. Scores are similarities of the output with its reference
(1 - NCD, ROUGE-L F1), so memory shows as a drop from one level to the next. The share of flipped
bits is not the share of changed characters: 1% of the bits changes 7.8% of the characters, 5%
changes 33.6%.

Alpha must come from non-members: texts that are certainly not in the training data and are NOT the
texts that are judged. If alpha is chosen on the judged data, a method without any signal detects
.06 to .17 more than its rate of false positives.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, number_text
from flipcore.stats.base.intervals import wilson
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.memory.exceedance import SetTest, largest_excess_p, set_test
from flipcore.stats.memory.pearl_alpha import Calibration, Setting, calibration, sorted_values
from flipcore.stats.memory.rewritten import share_estimate

SLACK = 1e-12  # smaller differences of scores are rounding errors
Scores = Sequence[Sequence[float | None]]  # of one item: [level][sample]
LABELS = {
    "paper": "PEARL as the paper describes it",
    "repository": (
        "PEARL as the paper's public code does it: bits of token ids, absolute differences"
    ),
}


@dataclass(frozen=True, eq=False)
class AlphaCurve:
    """Flag rates at all alphas, for a line that is dragged; arrays are (alphas,).

    At a line x the last alpha <= x counts. The first alpha is minus infinity and flags all texts.

    n_false, n_detected : numbers of non-members and of members above alpha.
    fpr, detection : the same as shares; NaN without a text.
    fpr_limits, detection_limits : (alphas, 2) Wilson limits; NaN below ten texts.
    """

    alphas: np.ndarray
    n_false: np.ndarray
    n_detected: np.ndarray
    fpr: np.ndarray
    fpr_limits: np.ndarray
    detection: np.ndarray
    detection_limits: np.ndarray


def alpha_curve(members: Iterable[float], non_members: Iterable[float]) -> AlphaCurve:
    """Count detections and false positives at all alphas, from the sensitivities of members and
    non-members. NaN is left out."""
    member_values, non_member_values = sorted_values(members), sorted_values(non_members)
    alphas = np.append(-np.inf, np.unique(np.concatenate([member_values, non_member_values])))
    n_false, fpr, fpr_limits = _rates_above(non_member_values, alphas)
    n_detected, detection, detection_limits = _rates_above(member_values, alphas)
    return AlphaCurve(
        alphas,
        n_false,
        n_detected=n_detected,
        fpr=fpr,
        fpr_limits=fpr_limits,
        detection=detection,
        detection_limits=detection_limits,
    )


def _rates_above(
    values: np.ndarray, alphas: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number and share of sorted values above each alpha (alphas,), and Wilson limits
    of the share (alphas, 2)."""
    n = len(values)
    # side="right": a sensitivity that equals alpha is not flagged.
    counts = n - np.searchsorted(values, alphas, side="right")
    shares = counts / n if n else np.full(len(alphas), np.nan)
    limits = np.full((len(alphas), 2), np.nan)
    if n >= MIN_N:
        limits = np.array([wilson(count, n) for count in counts.tolist()])
    return counts, shares, limits


@dataclass(frozen=True, eq=False)
class Pearl:
    """PEARL's results for judged texts; arrays are (items,) in the order of `item_ids`.

    means : (items, levels) mean score over samples.
    sensitivity : largest drop between neighboring levels; NaN if a level has no score.
    abruptness : largest drop as a share of the whole decline; 1 is one cliff.
    p, q : permutation p of each item, and the same after Benjamini-Hochberg.
    non_members : (non-members,) sensitivities that alpha came from.
    n_incomplete : number of texts of both sets that were left out, because a level has no answer
        yet or the text is too short to be changed at that level.
    """

    item_ids: tuple[str, ...]
    means: np.ndarray
    sensitivity: np.ndarray
    abruptness: np.ndarray
    p: np.ndarray
    q: np.ndarray
    calibration: Calibration
    non_members: np.ndarray
    n_incomplete: int = 0

    @property
    def flagged(self) -> np.ndarray:
        """(items,) True if the sensitivity exceeds alpha; an undefined one (NaN) never does."""
        return self.sensitivity > self.calibration.alpha

    @property
    def n_undefined(self) -> int:
        """Number of items without a sensitivity, because a level has no score."""
        return int(np.isnan(self.sensitivity).sum())

    @property
    def detection(self) -> Estimate:
        """Share of flagged items, among those with a sensitivity."""
        return _share(int(self.flagged.sum()), len(self.item_ids) - self.n_undefined)

    @property
    def false_positives(self) -> Estimate:
        """Share of the calibration's non-members above alpha. It does not measure the rate of false
        positives, because alpha was set on the same texts."""
        scores = sorted_values(self.non_members)
        share = _share(int((scores > self.calibration.alpha).sum()), len(scores))
        return share.noted("On the texts that set alpha.")

    def curve(self) -> AlphaCurve:
        """Return the flag rates at all alphas."""
        return alpha_curve(self.sensitivity, self.non_members)

    def set_test(self) -> SetTest:
        """Test all texts together; the verdict rests on this test."""
        return set_test(self.sensitivity, self.non_members)

    def any_cutoff_p(self) -> float:
        """Return a p of the set that holds for any dragged cut-off."""
        return largest_excess_p(self.sensitivity, self.non_members).p

    def sentence(self) -> str:
        """Count the texts beyond α and say what α promises of single texts; no verdict."""
        if math.isinf(self.calibration.alpha):
            return self.calibration.sentence()
        n_texts = len(self.item_ids) - self.n_undefined
        left_out = ""
        if self.n_undefined:
            left_out = f" {self.n_undefined} without a defined sensitivity are left out."
        mode = self.calibration.setting.mode
        mode_text = "" if mode == "paper" else f" {LABELS[mode]}."
        return (
            f"{int(self.flagged.sum())} of {n_texts} texts lie beyond α = "
            f"{number_text(self.calibration.alpha, 3)}.{left_out} "
            f"{self.calibration.sentence()}{mode_text}"
        )


def _share(k: int, n: int) -> Estimate:
    return share_estimate(k, n) if n else missing(note="No sensitivity is defined.")


def sensitivities(scores: Mapping[str, Scores], mode: str = "paper") -> np.ndarray:
    """Return (items,) sensitivities, NaN where a level has no score.

    `mode` "paper" takes the largest drop, "repository" the largest absolute difference. Raises
    BadInput for another mode.
    """
    if mode not in LABELS:
        raise BadInput(f"PEARL's mode came as {mode!r}: it is paper or repository.")
    measure = sensitivity if mode == "paper" else sensitivity_repository
    return np.array([measure(level_means(item)) for item in scores.values()], dtype=float)


def pearl(
    scores: Mapping[str, Scores],
    non_member_scores: Mapping[str, Scores],
    setting: Setting,
    fpr: float = 0.05,
    rule: str = "tolerance",
    seed: int = 0,
    m: int = 1999,
) -> Pearl:
    """Judge items against non-members that were measured in the same `setting`.

    Parameters
    ----------
    scores, non_member_scores : item id -> scores[level][sample].
    fpr : rate of false positives that `rule` aims at when it sets alpha.
    m : number of permutations for the p of each item.

    Raises
    ------
    BadInput
        If an item is in both sets, or has another number of levels than the setting.
    """
    shared = scores.keys() & non_member_scores.keys()
    if shared:
        raise BadInput(
            f"{min(shared)!r} is judged and sets the cut-off too: alpha must come from other texts."
        )
    n_levels = len(setting.levels_pct)
    for item_id, item in [*scores.items(), *non_member_scores.items()]:
        if len(item) != n_levels:
            raise BadInput(
                f"{item_id!r} came with {len(item)} levels and the setting has {n_levels}: alpha "
                "is only valid for one grid of levels."
            )
    means = np.array([level_means(item) for item in scores.values()], dtype=float)
    # Without items the array would be flat.
    means = means.reshape(len(scores), n_levels)
    non_members = sensitivities(non_member_scores, setting.mode)
    # All texts get the same seed, so that the p of a text does not depend on the others.
    p = np.array([perm_maxdrop(item, seed, m)["p"] for item in scores.values()], dtype=float)
    return Pearl(
        item_ids=tuple(scores),
        means=means,
        sensitivity=sensitivities(scores, setting.mode),
        abruptness=np.array([abruptness(row) for row in means.tolist()]),
        p=p,
        q=np.array(bh(p)),
        calibration=calibration(non_members, setting, fpr, rule),
        non_members=non_members,
    )


def level_means(scores: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the mean score of each level over its samples. None and NaN are left out; a level
    without any score is NaN."""
    means = []
    for level in scores:
        samples = present(level)
        means.append(float(np.mean(samples)) if samples else math.nan)
    return means


def present(scores: Iterable[float | None]) -> list[float]:
    """Return the scores without None and NaN."""
    return [float(score) for score in scores if score is not None and not math.isnan(score)]


def drops(means: Sequence[float]) -> np.ndarray:
    """Return (levels - 1,) drops of the mean score from each level to the next."""
    levels = np.asarray(means, dtype=float)
    return levels[:-1] - levels[1:]


def sensitivity(means: Sequence[float]) -> float:
    """Return the largest drop between neighboring levels; it may be negative. NaN if a level is NaN
    or there are fewer than two levels."""
    steps = drops(means)
    # NaN propagates: the drop over a missing level would be that of two steps.
    return float(steps.max()) if len(steps) else math.nan


def sensitivity_repository(means: Sequence[float]) -> float:
    """Return the largest ABSOLUTE difference between neighboring levels, as the paper's public code
    does (mode "repository"). NaN as in `sensitivity`."""
    steps = np.abs(drops(means))
    return float(steps.max()) if len(steps) else math.nan


def abruptness(means: Sequence[float]) -> float:
    """Return the largest drop as a share of the decline from the first level to the lowest; 1 is
    one cliff. NaN if nothing declined."""
    largest = sensitivity(means)
    decline = float(means[0] - min(means)) if not math.isnan(largest) else math.nan
    return largest / decline if decline > SLACK else math.nan


def perm_maxdrop(
    scores: Sequence[Sequence[float | None]], seed: int = 0, m: int = 1999
) -> dict[str, float]:
    """Test one item by `m` permutations of its samples across levels. The null hypothesis is that
    the level changes nothing.

    `scores[level]` are the scores of its samples. Returns {p, sens}, where sens is the sensitivity;
    both are NaN if it is undefined.
    """
    levels = [present(level) for level in scores]
    observed = sensitivity(level_means(levels))
    if math.isnan(observed):
        return {"p": math.nan, "sens": math.nan}
    # No level is empty here, because the sensitivity would be NaN.
    sizes = np.array([len(level) for level in levels])
    pool = np.tile(np.concatenate(levels), (m, 1))
    shuffled = generator(seed).permuted(pool, axis=1)
    # `reduceat` sums from each level's start to the next; levels may differ in size.
    means = np.add.reduceat(shuffled, np.cumsum(sizes) - sizes, axis=1) / sizes
    n_as_extreme = int(np.sum((-np.diff(means, axis=1)).max(axis=1) >= observed - SLACK))
    return {"p": (n_as_extreme + 1) / (m + 1), "sens": observed}
