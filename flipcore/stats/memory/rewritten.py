"""One set of items before and after rewriting: its drop, its coverage, and the accuracy of covered
and of uncovered items. Also the accuracy by rotation against that by a single vote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N, Estimate, p_text, without_interval
from flipcore.stats.base.intervals import (
    SIGNED,
    UNIT,
    bonett_price,
    mean_interval,
    newcombe_diff,
    wilson,
)
from flipcore.stats.base.paired import mcnemar


@dataclass(frozen=True, eq=False)
class Rewritten:
    """Correctness of one set of n items, in [0, 1].

    before : (n,); an item is absent where it is NaN.
    after : (n, rewrites), NaN where the item could not be rewritten or the call failed. An item
        without any value is uncovered, and no drop is computed for it.
    identity : (n, reruns) correctness of reruns of the original prompt; None if there were none.
    """

    item_ids: tuple[str, ...]
    before: np.ndarray
    after: np.ndarray
    identity: np.ndarray | None = None

    @classmethod
    def make(
        cls,
        item_ids: Sequence[str],
        before: ArrayLike,
        after: ArrayLike,
        identity: ArrayLike | None = None,
    ) -> Rewritten:
        """Check and shape the arrays; a flat `after` is one rewrite. Raises BadInput for unequal
        lengths or repeated ids."""
        right_before = np.asarray(before, dtype=float)
        right_after = _table(np.asarray(after, dtype=float))
        reruns = None if identity is None else _table(np.asarray(identity, dtype=float))
        lengths = {len(item_ids), len(right_before), len(right_after)}
        if reruns is not None:
            lengths.add(len(reruns))
        if len(lengths) > 1:
            raise BadInput(
                f"Ids, before and after must cover the same items: got {sorted(lengths)} rows."
            )
        if len(set(item_ids)) < len(item_ids):
            raise BadInput(
                "An item id came twice: a duplicated reading is never averaged. Remove one of the "
                "two."
            )
        return cls(tuple(item_ids), right_before, right_after, reruns)

    @property
    def is_answered(self) -> np.ndarray:
        """(n,) True if the item was answered before."""
        return ~np.isnan(self.before)

    @property
    def covered(self) -> np.ndarray:
        """(n,) True if the item was answered before and after."""
        return self.is_answered & ~np.isnan(self.after).all(axis=1)

    @property
    def after_mean(self) -> np.ndarray:
        """(n,) mean correctness over the rewrites of an item; NaN where there is none."""
        return row_means(self.after)

    @property
    def drops(self) -> np.ndarray:
        """(covered,) drop per item, before - mean after, in the order of `covered_ids`."""
        return (self.before - self.after_mean)[self.covered]

    @property
    def covered_ids(self) -> list[str]:
        return [
            item_id
            for item_id, is_covered in zip(self.item_ids, self.covered, strict=True)
            if is_covered
        ]

    @property
    def is_mended(self) -> np.ndarray:
        """(covered,) True if the item was wrong before and is better after."""
        return (self.before[self.covered] == 0) & (self.drops < 0)

    def without(self, mask: np.ndarray) -> Rewritten:
        """Return the set with the covered items of `mask` (covered,) made uncovered."""
        after = self.after.copy()
        after[np.flatnonzero(self.covered)[mask]] = np.nan
        return replace(self, after=after)

    @property
    def net_drops(self) -> np.ndarray:
        """Drop per item beyond reruns, mean of reruns - mean after, of the covered items with a
        rerun; empty if there were no reruns."""
        if self.identity is None:
            return np.array([])
        net = row_means(self.identity) - self.after_mean
        return net[self.covered & ~np.isnan(net)]

    @property
    def identity_drops(self) -> np.ndarray:
        """Drop per item between the first answer and the mean of reruns; empty if there were no
        reruns. At temperature 0 all are 0, unless the harness itself changes answers."""
        if self.identity is None:
            return np.array([])
        drop = self.before - row_means(self.identity)
        return drop[~np.isnan(drop)]

    @property
    def is_binary(self) -> bool:
        """True if each item has one rewrite and all values are 0 or 1, which McNemar's test and
        closed-form intervals need."""
        values = np.concatenate([self.before[self.covered], self.after_mean[self.covered]])
        return self.after.shape[1] == 1 and bool(np.isin(values, (0, 1)).all())


def _table(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def row_means(table: np.ndarray) -> np.ndarray:
    """Return the mean of each row without NaN; a row of NaN is NaN."""
    is_defined = ~np.isnan(table)
    n = is_defined.sum(axis=1)
    # `np.nanmean` would warn about rows of NaN.
    sums = np.where(is_defined, table, 0).sum(axis=1)
    return np.divide(sums, n, out=np.full(len(table), np.nan), where=n > 0)


@dataclass(frozen=True)
class SetDrop:
    """Effect of rewriting on one set; estimates are shares.

    n_items, n_absent : number of items answered before, and not answered.
    coverage : share of the answered items that could be rewritten.
    accuracy_before, accuracy_after, drop : of the covered items.
    n_broken, n_fixed : number of items right only before, and only after.
    mcnemar : p-values by name. It, `n_broken` and `n_fixed` are None unless `is_binary`.
    accuracy_uncovered : accuracy before, of the items that could not be rewritten.
    selection : accuracy before, of covered minus uncovered items.
    identity_drop : drop between the first answer and reruns; None if there were no reruns.
    identity_p : exact McNemar p of a single rerun; NaN without one.
    """

    n_items: int
    n_absent: int
    coverage: Estimate
    accuracy_before: Estimate
    accuracy_after: Estimate
    drop: Estimate
    n_broken: int | None
    n_fixed: int | None
    mcnemar: dict[str, float] | None
    accuracy_uncovered: Estimate
    selection: Estimate
    identity_drop: Estimate | None
    identity_p: float

    def selection_sentence(self) -> str:
        """Say if the items that could be rewritten were easier or harder than the rest; "" if there
        is no rest."""
        if math.isnan(self.selection.value):
            return ""
        differs = self.selection.excludes_zero()
        if differs is None:
            return "Too few items could not be rewritten to say whether they are special."
        verdict = "they are not a fair sample of the set" if differs else "no difference is shown"
        return (
            f"Items that could be rewritten were answered right {self.selection.text_points()} "
            f"more often than the rest: {verdict}."
        )

    def identity_sentence(self) -> str:
        """Say how far accuracy fell when the unchanged prompt was sent again."""
        if self.identity_drop is None:
            return (
                "The identity axis was not asked, so a drop made by the harness itself cannot be "
                "separated."
            )
        return (
            f"Sent again unchanged, accuracy fell by {self.identity_drop.text_points()} "
            f"({p_text(self.identity_p)})."
        )


def set_drop(items: Rewritten, level: float = 0.95, seed: int = 0) -> SetDrop:
    """Compute coverage, accuracies, drop and McNemar's tests of one set."""
    covered, is_answered = items.covered, items.is_answered
    n_broken = n_fixed = p_values = None
    if items.is_binary:
        n_broken, n_fixed = _n_discordant(items.drops)
        p_values = mcnemar(n_broken, n_fixed)
    before = items.before
    return SetDrop(
        n_items=int(is_answered.sum()),
        n_absent=int((~is_answered).sum()),
        coverage=share_estimate(int(covered.sum()), int(is_answered.sum()), level),
        accuracy_before=accuracy(before[covered], level, seed),
        accuracy_after=accuracy(items.after_mean[covered], level, seed),
        drop=drop_estimate(items, level, seed),
        n_broken=n_broken,
        n_fixed=n_fixed,
        mcnemar=p_values,
        accuracy_uncovered=accuracy(before[is_answered & ~covered], level, seed),
        selection=_selection(before[covered], before[is_answered & ~covered], level),
        identity_drop=_identity_drop(items, level, seed),
        identity_p=_identity_p(items),
    )


def _n_discordant(drops: np.ndarray) -> tuple[int, int]:
    return int((drops == 1).sum()), int((drops == -1).sum())


def share_estimate(k: float, n: int, level: float = 0.95) -> Estimate:
    """Return the share k / n with Wilson's interval, without one below ten items; NaN if n is 0."""
    if n < MIN_N:
        return without_interval(k / n if n else math.nan, n, level)
    low, high = wilson(k, n, level)
    return Estimate(k / n, low, high, level=level, method="wilson", n=n, seed=None)


def accuracy(values: np.ndarray, level: float, seed: int) -> Estimate:
    """Return the mean correctness, with Wilson's interval if all values are 0 or 1, else with the
    default for means."""
    if np.isin(values, (0, 1)).all():
        return share_estimate(int(values.sum()), len(values), level)
    return mean_interval(values, level=level, seed=seed, bounds=UNIT)


def drop_estimate(items: Rewritten, level: float, seed: int) -> Estimate:
    """Return the mean drop, with Bonett and Price's interval if `is_binary`, else with the default
    for means."""
    drops = items.drops
    if not items.is_binary:
        return mean_interval(drops, level=level, seed=seed, bounds=SIGNED)
    if len(drops) < MIN_N:
        return without_interval(float(drops.mean()) if len(drops) else math.nan, len(drops), level)
    # Not the default for means, whose variance is 0 if no item changes.
    low, high = bonett_price(*_n_discordant(drops), len(drops), level)
    return Estimate(
        float(drops.mean()), low, high, level=level, method="bonett_price", n=len(drops), seed=None
    )


def _selection(covered: np.ndarray, uncovered: np.ndarray, level: float) -> Estimate:
    """Return the accuracy of covered minus that of uncovered items, before rewriting."""
    n1, n2 = len(covered), len(uncovered)
    # Newcombe's interval needs counts, but sums of averages over samples may be fractions.
    k1, k2 = int(np.round(covered.sum())), int(np.round(uncovered.sum()))
    low, high = newcombe_diff(k1, n1, k2, n2, level)
    value = k1 / n1 - k2 / n2 if n1 and n2 else math.nan
    if min(n1, n2) < MIN_N:
        return without_interval(
            value, n1 + n2, level, f"No interval: a group has fewer than {MIN_N} items."
        )
    return Estimate(value, low, high, level=level, method="newcombe", n=n1 + n2, seed=None)


def _identity_drop(items: Rewritten, level: float, seed: int) -> Estimate | None:
    if items.identity is None:
        return None
    return mean_interval(items.identity_drops, level=level, seed=seed, bounds=SIGNED)


def _identity_p(items: Rewritten) -> float:
    """Return the exact McNemar p of a single rerun, 1 if nothing changed; NaN without reruns or
    with averages over several."""
    drops = items.identity_drops
    if not len(drops) or not np.isin(drops, (-1, 0, 1)).all():
        return math.nan
    return mcnemar(*_n_discordant(drops))["exact"]


LED, SINGLE = "rotation", "rotation_single"


@dataclass(frozen=True)
class HarnessAccuracy:
    """Accuracy of `n` items that were asked by rotation of their options; items without any vote
    count as wrong.

    led : the option with most votes is the answer; `single`: that of the first vote.
    difference : led - single, paired.
    """

    led: Estimate
    single: Estimate
    difference: Estimate
    n: int

    def sentence(self) -> str:
        """Compare the accuracy by rotation with that by a single vote."""
        return (
            f"By rotation {self.led.text()} of {self.n:,} choices are right, by a single vote "
            f"{self.single.text()}: {self.difference.text_points()} from voting alone."
        )


def harness_accuracy(frame: pd.DataFrame) -> HarnessAccuracy | None:
    """Compare both accuracies in one model's readouts (`queries.readouts(..., everything=True)`);
    None if nothing was asked by rotation."""
    rows = frame[frame["extractor"].isin((LED, SINGLE)) & (frame["status"] != "absent")]
    if rows.empty:
        return None
    # `is_correct` is missing if there was no vote, which counts as wrong.
    rows = rows.assign(right=rows["is_correct"].fillna(value=False).astype(bool).astype(float))
    wide = rows.pivot_table(index="item_id", columns="extractor", values="right", sort=False)
    wide = wide.reindex(columns=[LED, SINGLE]).dropna()
    if wide.empty:
        return None
    n, led, single = len(wide), wide[LED].to_numpy(), wide[SINGLE].to_numpy()
    return HarnessAccuracy(
        share_estimate(int(led.sum()), n),
        share_estimate(int(single.sum()), n),
        mean_interval(led - single, bounds=SIGNED),
        n,
    )
