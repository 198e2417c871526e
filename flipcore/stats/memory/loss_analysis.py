"""The loss test as a page shows it: the source's rules and others, what each could flag at all, and
counts at all cut-offs for a line that is dragged."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate, percent_text
from flipcore.stats.memory.exceedance import SetTest, largest_excess_p, least_contaminated, set_test
from flipcore.stats.memory.loss_test import (
    SLACK,
    SOURCE_LEVEL,
    bh_min_discoveries,
    bonferroni_min_controls,
    excess_fraction,
    finite,
    flags,
    n_at_least,
    pval_conformal,
    pval_source,
    source_fwer_p0,
)
from flipcore.stats.memory.rewritten import share_estimate

RULES = {
    "conformal_bh": "Benjamini-Hochberg on conformal p-values",
    "source_p01": "the source's table: p < .01, uncorrected",
    "source_bonferroni": "the source's text: Bonferroni on p = mean(D0 >= D), which can be 0",
    "tail_bonf": "Bonferroni on a Gaussian tail, which is assumed",
}
DEFAULT_RULE = "conformal_bh"


@dataclass(frozen=True)
class Reach:
    """Least numbers with which a correction can flag anything in a test of this size.

    bonferroni_needs_controls : least number of controls with which Bonferroni could flag an item.
    bh_needs_discoveries : least number of items beyond all controls that Benjamini-Hochberg flags.
    source_fwer : share of clean benchmarks in which the source's correction flags something.
    """

    n_items: int
    n_controls: int
    alpha: float
    bonferroni_needs_controls: int
    bh_needs_discoveries: int
    source_fwer: float

    def sentence(self) -> str:
        """Say which of the corrections could flag anything."""
        if self.n_controls >= self.bonferroni_needs_controls:
            bonferroni = "Bonferroni on conformal p-values can flag single items"
        else:
            bonferroni = (
                "Bonferroni on conformal p-values can flag nothing (it needs "
                f"{self.bonferroni_needs_controls:,} controls)"
            )
        if self.bh_needs_discoveries <= self.n_items:
            bh = (
                f"Benjamini-Hochberg needs {self.bh_needs_discoveries:,} items or more beyond "
                "every control"
            )
        else:
            bh = "Benjamini-Hochberg can flag nothing either"
        return (
            f"With {self.n_items:,} items and {self.n_controls:,} controls {bonferroni}; {bh}. "
            "The source's own correction would flag something in "
            f"{percent_text(self.source_fwer)} of clean benchmarks."
        )


def reach(n_items: int, n_controls: int, alpha: float = 0.05) -> Reach:
    """Compute what the corrections need to flag anything in a loss test of this size."""
    return Reach(
        n_items=n_items,
        n_controls=n_controls,
        alpha=alpha,
        bonferroni_needs_controls=bonferroni_min_controls(n_items, alpha),
        bh_needs_discoveries=bh_min_discoveries(n_items, n_controls, alpha),
        source_fwer=source_fwer_p0(n_items, n_controls),
    )


@dataclass(frozen=True, eq=False)
class CutoffCurve:
    """Counts at all cut-offs, for a line that is dragged; arrays are (cut-offs,).

    At a line x the first of `cutoffs` >= x counts. The last cut-off is infinite and flags nothing.

    n_flagged, n_controls_flagged : items and controls with D >= cut-off.
    n_expected : flagged items expected without memory, n (j + 1) / (m + 1) with j flagged controls.
        The cut-off counts as just above the (j + 1)-th largest control.
    excess : share of items flagged beyond chance; NaN if all controls are flagged.
    excess_low : its exact one-sided 95% lower bound, valid for a cut-off fixed before looking.
    """

    cutoffs: np.ndarray
    n_flagged: np.ndarray
    n_controls_flagged: np.ndarray
    n_expected: np.ndarray
    excess: np.ndarray
    excess_low: np.ndarray


def cutoff_curve(d: ArrayLike, d0: ArrayLike) -> CutoffCurve:
    """Count flagged, expected and excess items at each distinct value of both sets.

    `d` and `d0` are the loss differences of items and controls in nats. Raises BadInput if a set
    has no finite value.
    """
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        raise BadInput(
            f"A cut-off needs both sets: got {n} items and {m} controls with a finite loss "
            "difference."
        )
    cutoffs = np.append(np.unique(np.concatenate([items, controls])), np.inf)
    n_flagged, n_controls_flagged = n_at_least(cutoffs, items), n_at_least(cutoffs, controls)
    # + 1, because the cut-off counts as just above the next smaller control (`CutoffCurve`).
    chance = (n_controls_flagged + 1) / (m + 1)
    # Where all controls are flagged, chance explains all flags and the excess is undefined.
    not_by_chance = np.where(n_controls_flagged < m, 1 - chance, np.nan)
    excess_low = np.full(len(cutoffs), np.nan)
    for i in np.flatnonzero(n_controls_flagged < m):
        rank = int(n_controls_flagged[i]) + 1
        excess_low[i] = least_contaminated(int(n_flagged[i]), n, rank, m) / n
    return CutoffCurve(
        cutoffs,
        n_flagged=n_flagged,
        n_controls_flagged=n_controls_flagged,
        n_expected=n * chance,
        excess=(n_flagged / n - chance) / not_by_chance,
        excess_low=excess_low,
    )


@dataclass(frozen=True)
class PairedCorrectness:
    """Accuracy of flagged items on the original and on the paraphrase, and of the controls beyond
    the same cut-off.

    The controls are needed because a large D selects items that were lucky on the original. So
    flagged items are right more often on the original even without memory.
    """

    original: Estimate
    paraphrase: Estimate
    control_original: Estimate
    control_paraphrase: Estimate

    def sentence(self) -> str:
        """State both pairs of shares, or that no control lies beyond the cut-off."""
        if not self.original.n:
            return "No item lies beyond the cut-off."
        flagged = (
            f"Items beyond the cut-off are right {percent_text(self.original.value)} as published "
            f"and {percent_text(self.paraphrase.value)} paraphrased"
        )
        if not self.control_original.n:
            return f"{flagged}; no control lies beyond the same cut-off."
        return (
            f"{flagged}; the {self.control_original.n} controls beyond the same cut-off "
            f"{percent_text(self.control_original.value)} and "
            f"{percent_text(self.control_paraphrase.value)}."
        )


@dataclass(frozen=True)
class CorrectedAccuracy:
    """Accuracy with and without flagged items. The controls beyond the same cut-off are the
    placebo."""

    raw: Estimate
    corrected: Estimate
    control_raw: Estimate
    control_corrected: Estimate
    n_flagged: int
    n_controls_flagged: int

    @property
    def beyond_placebo(self) -> float:
        """Accuracy lost by the exclusion on the benchmark minus that on the controls (share); NaN
        if one is unknown."""
        return (self.raw.value - self.corrected.value) - (
            self.control_raw.value - self.control_corrected.value
        )


@dataclass(frozen=True, eq=False)
class LossTest:
    """Results of all rules for the items with a finite D, in the order of `item_ids`.

    d, d0 : (items,) and (controls,) loss differences in nats.
    n_excluded, n_controls_excluded : how many had no finite loss difference.
    p_source, p_conformal : (items,) p-values.
    flagged : rule -> (items,) flags.
    """

    item_ids: tuple[str, ...]
    d: np.ndarray
    d0: np.ndarray
    n_excluded: int
    n_controls_excluded: int
    p_source: np.ndarray
    p_conformal: np.ndarray
    flagged: Mapping[str, np.ndarray]
    reach: Reach
    alpha: float

    def rate(self, rule: str = DEFAULT_RULE) -> Estimate:
        """Return the share of items that `rule` flags (Wilson)."""
        return _share(self.flagged[rule])

    def excess(self) -> dict[str, float]:
        """Return the share of items that the source's table (p < .01) flags beyond chance, as
        {point, lower95, exp_false}."""
        return excess_fraction(int(self.flagged["source_p01"].sum()), len(self.d), SOURCE_LEVEL)

    def cutoff(self, rule: str = DEFAULT_RULE) -> float:
        """Return the smallest D that `rule` flags; infinite if it flags nothing."""
        return float(self.d[self.flagged[rule]].min(initial=math.inf))

    def set_test(self) -> SetTest:
        """Test all items together; the verdict rests on this test."""
        return set_test(self.d, self.d0)

    def any_cutoff_p(self) -> float:
        """Return a p of the set that holds for any dragged cut-off."""
        return largest_excess_p(self.d, self.d0).p

    def paired_correctness(
        self,
        original: Mapping[str, float],
        paraphrase: Mapping[str, float],
        control_original: ArrayLike,
        control_paraphrase: ArrayLike,
        rule: str = DEFAULT_RULE,
    ) -> PairedCorrectness:
        """Compare correctness on the original and on the paraphrase beyond the rule's cut-off.

        Correctness is item id -> 0/1 for the benchmark and (controls,) in the order of `d0` for the
        controls. Raises BadInput if the number of controls differs.
        """
        flagged_ids = [
            item_id for item_id, flag in zip(self.item_ids, self.flagged[rule], strict=True) if flag
        ]
        beyond = self._is_control_beyond(rule)
        return PairedCorrectness(
            original=_share([original[item_id] for item_id in flagged_ids]),
            paraphrase=_share([paraphrase[item_id] for item_id in flagged_ids]),
            control_original=_share(self._per_control(control_original)[beyond]),
            control_paraphrase=_share(self._per_control(control_paraphrase)[beyond]),
        )

    def corrected_accuracy(
        self, correct: Mapping[str, float], control_correct: ArrayLike, rule: str = DEFAULT_RULE
    ) -> CorrectedAccuracy:
        """Return the accuracy with and without flagged items; for the controls, with and without
        those beyond the same cut-off. Arguments are those of `paired_correctness`."""
        right = np.array([correct[item_id] for item_id in self.item_ids], dtype=float)
        control_right = self._per_control(control_correct)
        is_flagged, is_control_flagged = self.flagged[rule], self._is_control_beyond(rule)
        return CorrectedAccuracy(
            raw=_share(right),
            corrected=_share(right[~is_flagged]),
            control_raw=_share(control_right),
            control_corrected=_share(control_right[~is_control_flagged]),
            n_flagged=int(is_flagged.sum()),
            n_controls_flagged=int(is_control_flagged.sum()),
        )

    def _is_control_beyond(self, rule: str) -> np.ndarray:
        # The slack includes a control that ties with the last flagged item.
        return self.d0 >= self.cutoff(rule) - SLACK

    def _per_control(self, values: ArrayLike) -> np.ndarray:
        correctness = np.asarray(values, dtype=float)
        if len(correctness) != len(self.d0):
            raise BadInput(
                f"Expected the correctness of {len(self.d0)} controls, in the order of d0: got "
                f"{len(correctness)}."
            )
        return correctness


def _share(values: ArrayLike) -> Estimate:
    hits = np.asarray(values, dtype=float)
    return share_estimate(float(hits.sum()), len(hits))


def loss_test(
    item_ids: Sequence[str], d: ArrayLike, d0: ArrayLike, alpha: float = 0.05
) -> LossTest:
    """Test the D of each item against the D0 of the controls.

    Parameters
    ----------
    item_ids : one per item.
    d : (items,) loss on the paraphrase minus loss on the original, in nats. Values that are not
        finite are left out and counted.
    d0 : (controls,) the same for items that the model cannot have seen.
    alpha : level of the corrected rules.

    Raises
    ------
    BadInput
        With fewer than 19 finite controls, no finite item, or another number of ids than items.
    """
    values, controls = np.asarray(d, dtype=float), np.asarray(d0, dtype=float)
    if len(item_ids) != len(values):
        raise BadInput(
            f"Every item needs one loss difference: got {len(item_ids)} ids and {len(values)} "
            "values."
        )
    is_finite, is_finite_control = np.isfinite(values), np.isfinite(controls)
    if not is_finite.any():
        raise BadInput(
            f"None of the {len(values)} items has a finite loss difference, so there is nothing "
            "to test."
        )
    differences, control_differences = values[is_finite], controls[is_finite_control]
    ids = tuple(item_id for item_id, keep in zip(item_ids, is_finite, strict=True) if keep)
    flagged = flags(differences, control_differences, alpha)
    return LossTest(
        item_ids=ids,
        d=differences,
        d0=control_differences,
        n_excluded=int((~is_finite).sum()),
        n_controls_excluded=int((~is_finite_control).sum()),
        p_source=pval_source(differences, control_differences),
        p_conformal=pval_conformal(differences, control_differences),
        flagged=flagged,
        reach=reach(len(differences), len(control_differences), alpha),
        alpha=alpha,
    )
