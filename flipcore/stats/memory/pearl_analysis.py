"""PEARL over many items: sensitivities, alpha from non-members, flags, and a cut-off that can be
dragged.

PEARL (source 003) flips a few bits of a prompt and sees how abruptly the output leaves its
reference. Scores are similarities (1 - NCD, ROUGE-L F1), so memory shows as a drop from one level
to the next. The share of bits is not the share of characters: 1% of the bits changes 7.8% of the
characters, 5% changes 33.6%.

Alpha must come from texts that are certainly not in the training data and are NOT the ones being
judged: chosen on the judged data, a method without any signal shows a detection .06 to .17 above
its false-positive rate.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, number_text
from flipcore.stats.base.intervals import wilson
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.memory.exceedance import SetTest, largest_excess_p, set_test
from flipcore.stats.memory.pearl_alpha import Calibration, Setting, calibration
from flipcore.stats.memory.rewritten import share_estimate

Scores = Sequence[Sequence[float | None]]  # of one item: [level][sample]
LABELS = {
    "paper": "PEARL as the paper describes it",
    "repository": (
        "PEARL as the paper's public code does it: bits of token ids, absolute differences"
    ),
}


@dataclass(frozen=True, eq=False)
class AlphaCurve:
    """Flag rates at every alpha. A line dragged to x has those of the last alpha that is <= x.

    `fpr` is the share of non-members above alpha, `detection` that of members: NaN without a text.
    Their Wilson limits are NaN below 10 texts. The first alpha is minus infinity and flags all.
    """

    alphas: np.ndarray
    n_false: np.ndarray
    n_detected: np.ndarray
    fpr: np.ndarray
    fpr_limits: np.ndarray
    detection: np.ndarray
    detection_limits: np.ndarray


def alpha_curve(members: ArrayLike, non_members: ArrayLike) -> AlphaCurve:
    """Count false positives and detections at all alphas; sensitivities that are NaN leave. Limits
    are (alphas, 2)."""
    of_members, of_non_members = _sorted_values(members), _sorted_values(non_members)
    # Minus infinity first: below all values everything is flagged.
    alphas = np.append(-np.inf, np.unique(np.concatenate([of_members, of_non_members])))
    n_false, fpr, fpr_limits = _rates_above(of_non_members, alphas)
    n_detected, detection, detection_limits = _rates_above(of_members, alphas)
    return AlphaCurve(alphas, n_false, n_detected, fpr, fpr_limits, detection, detection_limits)


def _sorted_values(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    return np.sort(array[~np.isnan(array)])


def _rates_above(
    values: np.ndarray, alphas: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count sorted values above each alpha: counts and shares (alphas,), limits (alphas, 2)."""
    n = len(values)
    # Strictly above: a sensitivity that equals alpha is not flagged.
    counts = n - np.searchsorted(values, alphas, side="right")
    shares = counts / n if n else np.full(len(alphas), np.nan)
    limits = np.full((len(alphas), 2), np.nan)
    if n >= MIN_N:
        limits = np.array([wilson(count, n) for count in counts.tolist()])
    return counts, shares, limits


@dataclass(frozen=True, eq=False)
class Pearl:
    """Arrays share the order of `item_ids`. `means` (n, levels); `p` the permutation p of each item
    and `q` the same after Benjamini-Hochberg; `flagged` sensitivity > alpha. `non_members` are the
    sensitivities that alpha came from; `n_incomplete` texts of either set were left out: a
    level has not come back, or the text is too short to change at that level."""

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
        """(n,) items whose sensitivity exceeds alpha; an undefined sensitivity never does."""
        return self.sensitivity > self.calibration.alpha

    @property
    def n_undefined(self) -> int:
        """Items with a level without any score."""
        return int(np.isnan(self.sensitivity).sum())

    @property
    def detection(self) -> Estimate:
        """Share of the items with a sensitivity that are flagged."""
        return _share(int(self.flagged.sum()), len(self.item_ids) - self.n_undefined)

    @property
    def false_positives(self) -> Estimate:
        """The share of the calibration's non-members above alpha: the rate that was asked for, not
        a measurement of it."""
        scores = self.non_members[~np.isnan(self.non_members)]
        return _share(int((scores > self.calibration.alpha).sum()), len(scores)).noted(
            "On the texts that set alpha."
        )

    def curve(self) -> AlphaCurve:
        """Return the shares at all alphas."""
        return alpha_curve(self.sensitivity, self.non_members)

    def set_test(self) -> SetTest:
        """Run the verdict's test of all texts together: how many are more sensitive than the k-th
        most sensitive non-member."""
        return set_test(self.sensitivity, self.non_members)

    def any_cutoff_p(self) -> float:
        """Return a p that holds for any dragged cut-off: that of the largest excess over all."""
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
    """Return (n,) sensitivities, NaN where a level has no score; `mode` paper or repository."""
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
    """Judge items by their scores[item_id][level][sample] against non-members measured in the same
    `setting`. `rule` sets alpha (`pearl_alpha.calibration`), `m` is the number of permutations.

    Raises BadInput if an item has another number of levels than the setting, or is its own
    non-member.
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
    # The shape is stated for the case without items.
    means = np.array([level_means(item) for item in scores.values()], dtype=float).reshape(
        len(scores), n_levels
    )
    non_members = sensitivities(non_member_scores, setting.mode)
    # The same seed for each text, so that its p does not depend on the others.
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


SLACK = 1e-12


def level_means(scores: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the mean of the sample scores of each level; None and NaN are dropped and a level
    without any score is NaN."""
    means = []
    for level in scores:
        samples = present(level)
        means.append(float(np.mean(samples)) if samples else math.nan)
    return means


def present(scores: Iterable[float | None]) -> list[float]:
    """Return the scores that exist."""
    return [float(score) for score in scores if score is not None and not math.isnan(score)]


def drops(means: Sequence[float]) -> np.ndarray:
    """Return m_k - m_{k+1}, one per step."""
    levels = np.asarray(means, dtype=float)
    return levels[:-1] - levels[1:]


def sensitivity(means: Sequence[float]) -> float:
    """Return the largest drop between neighbouring levels; may be negative. A NaN level or fewer
    than two levels: NaN.

    A gap is never bridged: the drop over a missing level would be that of two steps.
    """
    steps = drops(means)
    # The maximum of NaN is NaN.
    return float(steps.max()) if len(steps) else math.nan


def sensitivity_repository(means: Sequence[float]) -> float:
    """Return the largest ABSOLUTE difference between neighbours, as in the paper's public code
    (mode `repository`)."""
    steps = np.abs(drops(means))
    # The maximum of NaN is NaN.
    return float(steps.max()) if len(steps) else math.nan


def abruptness(means: Sequence[float]) -> float:
    """Return the largest drop over the whole decline m_0 - min m: 1 is one cliff. NaN where nothing
    declined."""
    largest = sensitivity(means)
    decline = float(means[0] - min(means)) if not math.isnan(largest) else math.nan
    return largest / decline if decline > SLACK else math.nan


def perm_maxdrop(
    scores: Sequence[Sequence[float | None]], seed: int = 0, m: int = 1999
) -> dict[str, float]:
    """Test one item by permutation: its samples shuffled across levels; H0: the level changes
    nothing.

    `scores[level]` are sample scores. Returns {p, sens} with p = (b + 1) / (m + 1); NaN where the
    sensitivity is.
    """
    levels = [present(level) for level in scores]
    observed = sensitivity(level_means(levels))
    if math.isnan(observed):
        return {"p": math.nan, "sens": math.nan}
    # No level is empty here: its mean, and so the sensitivity, would be NaN.
    sizes = np.array([len(level) for level in levels])
    pool = np.tile(np.concatenate(levels), (m, 1))
    shuffled = generator(seed).permuted(pool, axis=1)
    # Levels may hold unequal numbers of samples: sums from each level's start to the next.
    means = np.add.reduceat(shuffled, np.cumsum(sizes) - sizes, axis=1) / sizes
    n_as_extreme = int(np.sum((-np.diff(means, axis=1)).max(axis=1) >= observed - SLACK))
    return {"p": (n_as_extreme + 1) / (m + 1), "sens": observed}
