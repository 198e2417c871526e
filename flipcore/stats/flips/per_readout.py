"""Flip metrics of one extractor by itself, as the flip surface prints them above each axis."""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.joint_means import joint_means
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.base.simultaneous import SequencePath, bounded_path
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import (
    ABSENT,
    NULL,
    answer_counts,
    between,
    check_policy,
    null_bounds,
)
from flipcore.stats.flips.noise_floor import excess_test


@dataclass(frozen=True)
class FlipSummary:
    """One axis under one extractor, on all items that it defines. `T` is macro, `micro` pools
    pairs. `lowest` and `highest` are the true bounds of T whatever the unreadable answers were (NaN
    with several samples). `note` warns where the any-flip rate mixes items with unequal numbers of
    variants."""

    axis: str
    extractor: str
    T: Estimate
    micro: float
    any_flip: Estimate
    entropy_bits: float
    modal_agreement: float
    consistency: float
    lowest: float
    highest: float
    n_items: int
    n_excluded: int
    note: str


def flip_summary(
    answers: CodedAnswers,
    axis: str,
    extractor: str,
    *,
    policy: str = "own_class",
    include_base: bool = True,
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    n_boot: int = N_BOOT,
    n_options: np.ndarray | None = None,
) -> FlipSummary:
    """Summarise the flips of one cell. `n_options` (items,) limits what an unreadable answer can
    have been; None does not. Raises BadInput for an unknown policy or kind."""
    codes = answers.cell(axis, extractor, include_base=include_base)
    counts = between(codes, policy)
    defined = ~np.isnan(counts.rate)
    n_items = int(defined.sum())
    columns = np.column_stack([counts.rate, np.where(defined, counts.rate > 0, np.nan)])
    total, flipped = joint_means(columns, kind, level, seed, n_boot, answers.families)
    single = codes.shape[2] == 1
    low, high = null_bounds(codes, n_options) if single else (np.array([np.nan]),) * 2
    entropy, modal = item_entropies(codes, policy), item_modal_agreements(codes)
    sizes = np.unique((codes[defined] != ABSENT).sum(axis=(1, 2)))
    note = ""
    if sizes.size > 1:
        note = (
            f"Items have {sizes[0]} to {sizes[-1]} readouts, and more variants flip more often: "
            "the any-flip rate compares like with like only at equal numbers."
        )
    return FlipSummary(
        axis,
        extractor,
        total,
        _ratio(counts.n_differ[defined].sum(), counts.n_usable[defined].sum()),
        flipped,
        _mean(entropy),
        _mean(modal),
        1 - total.value,
        _mean(low),
        _mean(high),
        n_items,
        len(counts.rate) - n_items,
        note,
    )


def item_entropies(codes: np.ndarray, policy: str = "own_class") -> np.ndarray:
    """Return (items,) the Shannon entropy in bits over all readouts of an item; all NULL -> NaN."""
    check_policy(policy)
    flat = codes.reshape(len(codes), -1)
    counts = answer_counts(flat).astype(float)
    n_null = (flat == NULL).sum(axis=1).astype(float)
    n_null[counts.sum(axis=1) == 0] = np.nan
    if policy == "own_class":
        counts = np.column_stack([counts, n_null])
    # Adding 0 times a NaN keeps items without any readable answer undefined.
    v = counts.sum(axis=1) + (n_null if policy == "always_flip" else 0) + 0 * n_null
    shares = counts / np.where(v > 0, v, np.nan)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    # Under `always_flip` each unreadable answer is a category of its own, of share 1/v.
    return bits + n_null / v * np.log2(v) if policy == "always_flip" else bits + 0.0


def item_modal_agreements(codes: np.ndarray) -> np.ndarray:
    """Return (items,) the share of readouts with the most frequent answer; NULL counts below, never
    above; all NULL -> NaN."""
    flat = codes.reshape(len(codes), -1)
    most = answer_counts(flat).max(axis=1, initial=0)
    n_present = (flat != ABSENT).sum(axis=1)
    return np.divide(most, n_present, out=np.full(len(flat), np.nan), where=most > 0)


def _mean(x: np.ndarray) -> float:
    x = x[~np.isnan(x)]
    return float(x.mean()) if x.size else float("nan")


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b else float("nan")


def alone(
    answers: CodedAnswers, policy: str = "own_class", n_permutations: int = 499
) -> list[tuple[FlipSummary, float]]:
    """Return (summary, p of the excess over reruns) of each axis and extractor; p is NaN where a
    variant was asked once."""
    summaries = []
    for axis in (axis for axis in answers.axes if axis != IDENTITY):
        for extractor in answers.extractors:
            codes = answers.cell(axis, extractor)
            p = math.nan
            if codes.shape[2] > 1:
                p = excess_test(codes, policy=policy, m=n_permutations).p
            summaries.append((flip_summary(answers, axis, extractor, policy=policy), p))
    return summaries


def arriving(
    answers: CodedAnswers, axis: str, policy: str = "own_class"
) -> dict[str, SequencePath]:
    """Map each extractor to its mean flip rate after each item, in the order of `answers.items`,
    with limits valid at any time."""
    return {
        extractor: bounded_path(between(answers.cell(axis, extractor), policy).rate)
        for extractor in answers.extractors
    }
