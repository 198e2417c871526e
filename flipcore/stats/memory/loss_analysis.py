"""The loss test as a page needs it: all rules beside the source's, the reach of each, and a live
cut-off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate, percent_text
from flipcore.stats.memory.exceedance import SetTest, largest_excess_p, least_contaminated, set_test
from flipcore.stats.memory.loss_test import (
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
NOTHING = 1e-12


@dataclass(frozen=True)
class Reach:
    """The flags that a design allows at all, before it is run: `n_items` items against `n_controls`
    controls at `alpha`."""

    n_items: int
    n_controls: int
    alpha: float
    bonferroni_needs_controls: int
    bh_needs_discoveries: int
    source_fwer: float

    def sentence(self) -> str:
        """Say which correction could flag anything."""
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
    """Compute the reach of a loss test of this size."""
    return Reach(
        n_items,
        n_controls,
        alpha,
        bonferroni_min_controls(n_items, alpha),
        bh_min_discoveries(n_items, n_controls, alpha),
        source_fwer_p0(n_items, n_controls),
    )


@dataclass(frozen=True, eq=False)
class CutoffCurve:
    """Counts at all cut-offs, for a line that is dragged: at a line x look up the first `cutoffs`
    >= x.

    `n_flagged`, `n_controls_flagged` count D >= cut-off. A cut-off below which j controls lie is
    read as just above the (j + 1)-th largest: `n_expected` = n (j + 1) / (m + 1) clean items lie
    beyond it, `excess` is the flagged share beyond that (NaN where all controls are flagged),
    `excess_low` the exact one-sided 95% bound, valid for a cut-off fixed before looking. The last
    cut-off is infinite and flags nothing.
    """

    cutoffs: np.ndarray
    n_flagged: np.ndarray
    n_controls_flagged: np.ndarray
    n_expected: np.ndarray
    excess: np.ndarray
    excess_low: np.ndarray


def cutoff_curve(d: ArrayLike, d0: ArrayLike) -> CutoffCurve:
    """Count flagged, expected and excess items at each distinct value of either set."""
    items, controls = finite(d), finite(d0)
    n, m = len(items), len(controls)
    if not n or not m:
        raise BadInput(
            f"A cut-off needs both sets: came {n} items and {m} controls with a finite loss "
            "difference."
        )
    cutoffs = np.append(np.unique(np.concatenate([items, controls])), np.inf)
    k, j = n_at_least(cutoffs, items), n_at_least(cutoffs, controls)
    chance = (j + 1) / (m + 1)
    # Where all controls are flagged, chance explains everything and nothing is left to divide by.
    room = np.where(j < m, 1 - chance, np.nan)
    # b + 1: the cut-off is read as just above the next smaller control.
    low = [
        least_contaminated(a, n, b + 1, m) / n if b < m else np.nan
        for a, b in zip(k.tolist(), j.tolist(), strict=True)
    ]
    return CutoffCurve(cutoffs, k, j, n * chance, (k / n - chance) / room, np.array(low))


@dataclass(frozen=True)
class PairedCorrectness:
    """Shares of flagged items that are right on the original and on the paraphrase, and of the
    controls beyond the same cut-off.

    Selecting on a large D selects items that were lucky on the original: without memory the top 1%
    read 76% v 18%.
    """

    original: Estimate
    paraphrase: Estimate
    control_original: Estimate
    control_paraphrase: Estimate

    def sentence(self) -> str:
        """State both pairs of shares; says so where no control lies as high."""
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
    """Accuracy raw and without flagged items, and the same cut-off on controls as placebo."""

    raw: Estimate
    corrected: Estimate
    control_raw: Estimate
    control_corrected: Estimate
    n_flagged: int
    n_controls_flagged: int

    @property
    def beyond_placebo(self) -> float:
        """Accuracy lost by the exclusion on the benchmark less that on the controls; NaN where one
        is unknown."""
        return (self.raw.value - self.corrected.value) - (
            self.control_raw.value - self.control_corrected.value
        )


@dataclass(frozen=True, eq=False)
class LossTest:
    """D of finite items with p-values and flags of all rules, in the order of `item_ids`."""

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
        """Return the share of the items that `rule` flags (Wilson)."""
        return _share(self.flagged[rule])

    def excess(self) -> dict[str, float]:
        """Return the source's table beyond chance: {point, lower95, exp_false} at p < .01."""
        return excess_fraction(int(self.flagged["source_p01"].sum()), len(self.d), SOURCE_LEVEL)

    def cutoff(self, rule: str = DEFAULT_RULE) -> float:
        """Return the smallest D that `rule` flags; infinite where it flags nothing."""
        return float(self.d[self.flagged[rule]].min(initial=math.inf))

    def set_test(self) -> SetTest:
        """Run the verdict's test of all items together: the number that lies beyond the mark of the
        controls."""
        return set_test(self.d, self.d0)

    def any_cutoff_p(self) -> float:
        """Return the p of the set after a drag: that of the largest excess over all cut-offs."""
        return largest_excess_p(self.d, self.d0).p

    def paired_correctness(
        self,
        original: Mapping[str, float],
        paraphrase: Mapping[str, float],
        control_original: ArrayLike,
        control_paraphrase: ArrayLike,
        rule: str = DEFAULT_RULE,
    ) -> PairedCorrectness:
        """Compare correctness by item id of the benchmark, and in the order of `d0` of controls."""
        flagged_ids = [
            item_id for item_id, flag in zip(self.item_ids, self.flagged[rule], strict=True) if flag
        ]
        # The slack keeps a control that ties with the last flagged item inside.
        beyond = self.d0 >= self.cutoff(rule) - NOTHING
        return PairedCorrectness(
            _share([original[i] for i in flagged_ids]),
            _share([paraphrase[i] for i in flagged_ids]),
            _share(self._of_controls(control_original)[beyond]),
            _share(self._of_controls(control_paraphrase)[beyond]),
        )

    def corrected_accuracy(
        self, correct: Mapping[str, float], control_correct: ArrayLike, rule: str = DEFAULT_RULE
    ) -> CorrectedAccuracy:
        """Return the accuracy with and without flagged items, beside the same exclusion of
        controls."""
        right = np.array([correct[item_id] for item_id in self.item_ids], dtype=float)
        control = self._of_controls(control_correct)
        # The placebo: the cut-off that the rule found, taken to items that cannot be remembered.
        out, control_out = self.flagged[rule], self.d0 >= self.cutoff(rule) - NOTHING
        return CorrectedAccuracy(
            _share(right),
            _share(right[~out]),
            _share(control),
            _share(control[~control_out]),
            int(out.sum()),
            int(control_out.sum()),
        )

    def _of_controls(self, values: ArrayLike) -> np.ndarray:
        correctness = np.asarray(values, dtype=float)
        if len(correctness) != len(self.d0):
            raise BadInput(
                f"Correctness of {len(self.d0)} controls was wanted, in the order of d0; came "
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
    d : (items,) loss on the paraphrase less loss on the original, in nats. Values that are not
        finite are left out and counted.
    d0 : (controls,) the same of items that the model cannot have seen.
    alpha : level of the corrected rules.

    Raises
    ------
    BadInput
        Below 19 finite controls, for ids that do not fit, or when no item is left.
    """
    values, controls = np.asarray(d, dtype=float), np.asarray(d0, dtype=float)
    if len(item_ids) != len(values):
        raise BadInput(
            f"Every item needs one loss difference: came {len(item_ids)} ids and {len(values)} "
            "values."
        )
    is_finite, is_finite_control = np.isfinite(values), np.isfinite(controls)
    if not is_finite.any():
        raise BadInput(
            f"None of the {len(values)} items has a finite loss difference, so there is nothing "
            "to test."
        )
    differences, control_differences = values[is_finite], controls[is_finite_control]
    # A loss that is not finite has no rank among controls.
    ids = tuple(item_id for item_id, keep in zip(item_ids, is_finite, strict=True) if keep)
    flagged = flags(differences, control_differences, alpha)
    return LossTest(
        ids,
        differences,
        control_differences,
        int((~is_finite).sum()),
        int((~is_finite_control).sum()),
        pval_source(differences, control_differences),
        pval_conformal(differences, control_differences),
        flagged,
        reach(len(differences), len(control_differences), alpha),
        alpha,
    )
