"""Flip metrics of a single extractor, which the flip surface shows above each axis."""

import math
from dataclasses import dataclass
from itertools import product

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
    """Flip metrics of one axis under one extractor, over all items with a flip rate.

    T, micro : flip rate as the mean over items, and over all pairs.
    any_flip : share of items with any flip; `note` warns if their numbers of readouts differ.
    entropy_bits : mean entropy of an item's answers, in bits.
    modal_agreement : mean share of an item's readouts that have its most frequent answer.
    lowest, highest : bounds of T whatever the unreadable answers were; NaN with several samples.
    """

    axis: str
    extractor: str
    T: Estimate
    micro: float
    any_flip: Estimate
    entropy_bits: float
    modal_agreement: float
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
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    n_boot: int = N_BOOT,
) -> FlipSummary:
    """Summarize the flips of one cell. Raises BadInput for an unknown policy or kind."""
    codes = answers.cell(axis, extractor)
    counts = between(codes, policy)
    is_defined = ~np.isnan(counts.rate)
    n_items = int(is_defined.sum())
    columns = np.column_stack([counts.rate, np.where(is_defined, counts.rate > 0, np.nan)])
    flip_rate, any_flip = joint_means(columns, kind, level, seed, n_boot, answers.families)
    lowest = highest = math.nan
    if codes.shape[2] == 1:
        lowest, highest = map(_mean, null_bounds(codes))
    n_readouts = np.unique((codes[is_defined] != ABSENT).sum(axis=(1, 2)))
    note = ""
    if n_readouts.size > 1:
        note = (
            f"Items have {n_readouts[0]} to {n_readouts[-1]} readouts, and more variants flip more "
            "often: the any-flip rate compares like with like only at equal numbers."
        )
    return FlipSummary(
        axis,
        extractor,
        T=flip_rate,
        micro=_ratio(counts.n_differ[is_defined].sum(), counts.n_usable[is_defined].sum()),
        any_flip=any_flip,
        entropy_bits=_mean(item_entropies(codes, policy)),
        modal_agreement=_mean(item_modal_agreements(codes)),
        lowest=lowest,
        highest=highest,
        n_items=n_items,
        n_excluded=len(counts.rate) - n_items,
        note=note,
    )


def item_entropies(codes: np.ndarray, policy: str = "own_class") -> np.ndarray:
    """Return (items,) Shannon entropies in bits over all readouts of an item; NaN if none could be
    read. `policy` says how unreadable answers count (`disagreement`)."""
    check_policy(policy)
    flat = _readouts(codes)
    counts = answer_counts(flat).astype(float)
    n_null = (flat == NULL).sum(axis=1).astype(float)
    n_null[counts.sum(axis=1) == 0] = np.nan
    if policy == "own_class":
        counts = np.column_stack([counts, n_null])
    # 0 * n_null is NaN for items without a readable answer, which must stay undefined.
    n = counts.sum(axis=1) + (n_null if policy == "always_flip" else 0) + 0 * n_null
    shares = counts / np.where(n > 0, n, np.nan)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    # Under `always_flip` each unreadable answer is a category of its own with a share of 1 / n.
    # Adding 0.0 turns -0.0 into 0.0.
    return bits + n_null / n * np.log2(n) if policy == "always_flip" else bits + 0.0


def item_modal_agreements(codes: np.ndarray) -> np.ndarray:
    """Return (items,) shares of readouts with the most frequent answer; NaN if none could be read.

    Unreadable readouts are in the denominator, but are never the most frequent answer.
    """
    flat = _readouts(codes)
    n_modal = answer_counts(flat).max(axis=1, initial=0)
    n_present = (flat != ABSENT).sum(axis=1)
    return np.divide(n_modal, n_present, out=np.full(len(flat), np.nan), where=n_modal > 0)


def _readouts(codes: np.ndarray) -> np.ndarray:
    """Return (items, readouts) of (items, variants, samples)."""
    # Not -1: without items numpy cannot infer a length.
    return codes.reshape(len(codes), math.prod(codes.shape[1:]))


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else math.nan


def flip_summaries(
    answers: CodedAnswers, policy: str = "own_class", n_permutations: int = 499
) -> list[tuple[FlipSummary, float]]:
    """Return (summary, p of the excess over reruns) per axis and extractor, without the identity
    axis. The p is NaN if variants were asked only once."""
    summaries = []
    axes = [axis for axis in answers.axes if axis != IDENTITY]
    for axis, extractor in product(axes, answers.extractors):
        codes = answers.cell(axis, extractor)
        p = math.nan
        if codes.shape[2] > 1:
            p = excess_test(codes, policy=policy, m=n_permutations).p
        summaries.append((flip_summary(answers, axis, extractor, policy=policy), p))
    return summaries


def running_flip_rates(
    answers: CodedAnswers, axis: str, policy: str = "own_class"
) -> dict[str, SequencePath]:
    """Return extractor -> mean flip rate after each item, in the order of `answers.items`, with
    limits that hold at all items together."""
    return {
        extractor: bounded_path(between(answers.cell(axis, extractor), policy).rate)
        for extractor in answers.extractors
    }
