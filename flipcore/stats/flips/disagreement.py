"""Pairwise disagreement of coded answers, vectorised over items: the kernel under every flip rate.

Codes are an integer array (items, variants, samples): an answer's code >= 0, `NULL` for an answer
that could not be read, `ABSENT` for a readout that is missing (or padding). A missing readout is in
no pair. An item whose readouts are all NULL is undefined under every policy: an extractor that
never answers is not stable.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput

NULL, ABSENT = -1, -2
POLICIES = ("own_class", "always_flip", "drop")


def pair_flips(a: np.ndarray, b: np.ndarray, policy: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (usable, differs) for codes a and b that broadcast. NULL v answer flips and NULL v
    NULL agrees under `own_class`, flips under `always_flip`; `drop` removes each pair that has a
    NULL."""
    floor = NULL if policy != "drop" else 0
    readable_a, readable_b = a >= floor, b >= floor
    differs = a != b
    if policy == "always_flip":
        # Two unreadable answers are equal codes; the pessimistic policy counts them as a flip.
        differs = differs | (a == NULL)
    usable = readable_a & readable_b
    return usable, differs & usable


def check_policy(policy: str) -> None:
    """Raise BadInput for a null policy that is none."""
    if policy not in POLICIES:
        raise BadInput(f"There is no null policy {policy!r}; choose one of {', '.join(POLICIES)}.")


@dataclass(frozen=True)
class PairCounts:
    """Per item: disagreement as the mean over variant pairs (`rate`, NaN where undefined), and
    pairs pooled."""

    rate: np.ndarray
    n_differ: np.ndarray
    n_usable: np.ndarray


def between(codes: np.ndarray, policy: str = "own_class") -> PairCounts:
    """Return the disagreement of different variants of an item: T_i with one sample, B_i with
    several.

    With several samples a variant pair counts once, as the mean over its sample pairs, so that E[B
    - W] is the mean of |pi_v - pi_v'|^2 / 2 over variant pairs even where samples are unequal.
    """
    check_policy(policy)
    n, _, n_samples = codes.shape
    if n_samples == 1:
        return _between_once(codes, policy)
    shares, pairs = np.zeros(n), np.zeros(n)
    n_differ, n_usable = np.zeros(n), np.zeros(n)
    for a, b in sample_pairs(codes):
        usable, differs = pair_flips(a, b, policy)
        n_sample_pairs, flipped = usable.sum(axis=1), differs.sum(axis=1)
        # Each pair of variants weighs the same, however many samples it has.
        shares += flipped / np.maximum(n_sample_pairs, 1)
        pairs += n_sample_pairs > 0
        n_differ += flipped
        n_usable += n_sample_pairs
    return PairCounts(_rate(shares, pairs, codes), n_differ, n_usable)


def _between_once(codes: np.ndarray, policy: str) -> PairCounts:
    """Return the same for one sample per variant, where a pair of variants is one pair of answers:
    several times as fast."""
    # Variants first, so that each comparison goes along contiguous memory.
    by_variant = np.ascontiguousarray(codes[:, :, 0].T)
    n_differ, n_usable = np.zeros((2, len(codes)), dtype=np.int32)
    for j, a in enumerate(by_variant):
        for b in by_variant[j + 1 :]:
            usable, differs = pair_flips(a, b, policy)
            n_differ += differs
            n_usable += usable
    return PairCounts(
        _rate(n_differ, n_usable, codes), n_differ.astype(float), n_usable.astype(float)
    )


def within(codes: np.ndarray, policy: str = "own_class") -> np.ndarray:
    """Return (items,) W_i: the disagreement of samples of the same variant, mean over the variants
    that have two or more."""
    check_policy(policy)
    shares, variants = np.zeros(len(codes)), np.zeros(len(codes))
    for a, b in sample_pairs(codes, of_one_prompt=True):
        usable, differs = pair_flips(a, b, policy)
        n_sample_pairs = usable.sum(axis=1)
        shares += differs.sum(axis=1) / np.maximum(n_sample_pairs, 1)
        variants += n_sample_pairs > 0
    return _rate(shares, variants, codes)


def sample_pairs(
    codes: np.ndarray, *, of_one_prompt: bool = False
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the sides of all sample pairs of two variants, once for each pair of variants;
    `of_one_prompt`: of a variant with itself, once for each variant. (items, sample pairs) each, of
    anything shaped as codes are."""
    _, v, s = codes.shape
    # Samples of one variant: each unordered pair once. Of two variants: all s² pairs.
    first, second = (
        np.triu_indices(s, 1)
        if of_one_prompt
        else (np.repeat(np.arange(s), s), np.tile(np.arange(s), s))
    )
    for j in range(v):
        for k in [j] if of_one_prompt else range(j + 1, v):
            yield codes[:, j, first], codes[:, k, second]


@dataclass(frozen=True)
class PairSplit:
    """Per item: share of variant pairs that flip under e only, under e* only, under both; NaN
    without a common pair."""

    plus: np.ndarray
    minus: np.ndarray
    both: np.ndarray


def pair_split(
    codes: np.ndarray,
    reference: np.ndarray,
    policy: str = "own_class",
    *,
    of_one_prompt: bool = False,
) -> PairSplit:
    """Split the flips of two extractors of the same outputs, aligned; `of_one_prompt`: of samples
    of one variant, the floor of each part. Under `drop` only pairs readable under both are split,
    so there (and only there) plus - minus may differ from A."""
    check_policy(policy)
    n, _, n_samples = codes.shape
    if n_samples == 1 == reference.shape[2] and not of_one_prompt:
        return _split_once(codes, reference, policy)
    shares, pairs = np.zeros((3, n)), np.zeros(n)
    for pair, pair_ref in zip(
        sample_pairs(codes, of_one_prompt=of_one_prompt),
        sample_pairs(reference, of_one_prompt=of_one_prompt),
        strict=True,
    ):
        usable, flips = pair_flips(*pair, policy)
        usable_ref, flips_ref = pair_flips(*pair_ref, policy)
        usable = usable & usable_ref
        n_sample_pairs = usable.sum(axis=1)
        cells = (flips & ~flips_ref, flips_ref & ~flips, flips & flips_ref)
        shares += np.array([(cell & usable).sum(axis=1) for cell in cells]) / np.maximum(
            n_sample_pairs, 1
        )
        pairs += n_sample_pairs > 0
    shares = np.divide(shares, pairs, out=np.full((3, n), np.nan), where=pairs > 0)
    return PairSplit(*shares)


def _split_once(codes: np.ndarray, reference: np.ndarray, policy: str) -> PairSplit:
    """Return the same for one sample per variant."""
    variants, variants_ref = (np.ascontiguousarray(x[:, :, 0].T) for x in (codes, reference))
    counts, pairs = np.zeros((3, len(codes)), dtype=np.int32), np.zeros(len(codes), dtype=np.int32)
    for j in range(len(variants)):
        for k in range(j + 1, len(variants)):
            usable, flips = pair_flips(variants[j], variants[k], policy)
            usable_ref, flips_ref = pair_flips(variants_ref[j], variants_ref[k], policy)
            usable = usable & usable_ref
            counts += np.array([flips & ~flips_ref, flips_ref & ~flips, flips & flips_ref]) & usable
            pairs += usable
    return PairSplit(*np.divide(counts, pairs, out=np.full(counts.shape, np.nan), where=pairs > 0))


def common(codes: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays of codes with `ABSENT` wherever either of them is absent."""
    absent = (codes == ABSENT) | (reference == ABSENT)
    return np.where(absent, ABSENT, codes), np.where(absent, ABSENT, reference)


def _rate(shares: np.ndarray, parts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    # An item whose answers are all unreadable is undefined: not answering is not stability.
    defined = (parts > 0) & (codes >= 0).any(axis=(1, 2))
    return np.divide(shares, parts, out=np.full(len(codes), np.nan), where=defined)


def null_bounds(
    codes: np.ndarray, n_options: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (items,) the smallest and largest T_i that any answers in place of the NULLs could
    give; one sample per variant.

    Smallest: every NULL takes the most frequent answer. Largest: each takes the answer that is
    rarest so far, among `n_options` (items,) answers, or a new one where the options are not
    limited (None). All-NULL items are included: their answers exist, unread. Items with fewer than
    two readouts are NaN. Raises BadInput for several samples.
    """
    n, _, s = codes.shape
    if s != 1:
        raise BadInput(
            f"Bounds for unreadable answers are defined for one sample a variant; {s} came. Pass "
            "one sample."
        )
    flat = codes[:, :, 0]
    counts = answer_counts(flat)
    n_null, n_present = (flat == NULL).sum(axis=1), (flat != ABSENT).sum(axis=1)
    top = counts.copy()
    # One answer for all of them leaves the fewest pairs that differ.
    top[np.arange(n), counts.argmax(axis=1)] += n_null
    spread = _spread_out(counts, n_null, n_options)
    pairs = n_present * (n_present - 1) / 2
    defined = pairs > 0
    # Pairs that agree are those within one answer: c (c - 1) / 2 of each.
    low, high = (
        np.divide(
            pairs - (c * (c - 1) / 2).sum(axis=1), pairs, out=np.full(n, np.nan), where=defined
        )
        for c in (top, spread)
    )
    return low, high


def answer_counts(flat: np.ndarray) -> np.ndarray:
    """Return (items, v): how often the answer of column j occurs, at its first column, else 0."""
    n, v = flat.shape
    counts = np.zeros((n, v), dtype=int)
    for j in range(v):
        # Counted at the first column that gives the answer, so that no answer counts twice.
        first = (flat[:, j] >= 0) & ~(flat[:, :j] == flat[:, [j]]).any(axis=1)
        counts[:, j] = np.where(first, (flat == flat[:, [j]]).sum(axis=1), 0)
    return counts


def _spread_out(counts: np.ndarray, n_null: np.ndarray, n_options: np.ndarray | None) -> np.ndarray:
    """Return the counts after each NULL went to the rarest answer that is allowed; columns beyond v
    are answers not yet given."""
    n, v = counts.shape
    n_answers = (counts > 0).sum(axis=1)
    free = np.full(n, v) if n_options is None else np.clip(np.asarray(n_options) - n_answers, 0, v)
    slots = np.hstack([counts, np.zeros((n, v), dtype=int)])
    is_closed = np.hstack([counts == 0, np.arange(v) >= free[:, None]])
    for step in range(int(n_null.max(initial=0))):
        rows = np.flatnonzero(n_null > step)
        # Greedy is exact: an answer that is given c times adds c agreeing pairs.
        rarest = np.where(is_closed[rows], np.iinfo(int).max, slots[rows]).argmin(axis=1)
        slots[rows, rarest] += 1
    return slots
