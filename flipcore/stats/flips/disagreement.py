"""Pairwise disagreement of coded answers, vectorised over items. All flip rates are computed here.

Codes are an integer array (items, variants, samples): an answer has a code >= 0, an answer that
could not be read is `NULL`, and a readout that is missing (or padding) is `ABSENT`. A missing
readout is in no pair. The rate of an item whose readouts are all NULL is undefined under all
policies, because an extractor that never reads an answer is not stable.

The policy says how pairs with NULL count. Under `own_class` NULL is an answer of its own: it
differs from any answer and agrees with NULL. Under `always_flip` NULL differs from NULL too. Under
`drop` pairs with a NULL are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from flipcore.core.errors import BadInput

NULL, ABSENT = -1, -2
POLICIES = ("own_class", "always_flip", "drop")


def pair_flips(a: np.ndarray, b: np.ndarray, policy: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (usable, differs) masks of the pairs of codes `a` and `b`, which broadcast."""
    least_code = NULL if policy != "drop" else 0
    usable = (a >= least_code) & (b >= least_code)
    differs = a != b
    if policy == "always_flip":
        # Two unreadable answers have equal codes, but count as a flip.
        differs = differs | (a == NULL)
    return usable, differs & usable


def check_policy(policy: str) -> None:
    """Raise BadInput unless `policy` is one of `POLICIES`."""
    if policy not in POLICIES:
        raise BadInput(f"There is no null policy {policy!r}; choose one of {', '.join(POLICIES)}.")


@dataclass(frozen=True)
class PairCounts:
    """Disagreement per item; arrays are (items,).

    `rate` is the mean over pairs of variants, NaN where undefined. `n_differ` and `n_usable` count
    pairs of samples.
    """

    rate: np.ndarray
    n_differ: np.ndarray
    n_usable: np.ndarray


def between(codes: np.ndarray, policy: str = "own_class") -> PairCounts:
    """Return the disagreement between variants of an item: T_i with one sample, B_i with several.

    With several samples, a pair of variants counts once, as the mean over its pairs of samples.
    Then E[B - W] is the mean of |pi_v - pi_v'|^2 / 2 over pairs of variants, where pi_v are the
    probabilities of the answers to variant v, even if numbers of samples are unequal.
    """
    check_policy(policy)
    n, _, n_samples = codes.shape
    if n_samples == 1:
        return _between_single_samples(codes, policy)
    shares, n_variant_pairs = np.zeros(n), np.zeros(n)
    n_differ, n_usable = np.zeros(n), np.zeros(n)
    for a, b in sample_pairs(codes):
        usable, differs = pair_flips(a, b, policy)
        n_sample_pairs, n_flips = usable.sum(axis=1), differs.sum(axis=1)
        # A share, so that each pair of variants weighs the same, however many samples it has.
        shares += n_flips / np.maximum(n_sample_pairs, 1)
        n_variant_pairs += n_sample_pairs > 0
        n_differ += n_flips
        n_usable += n_sample_pairs
    return PairCounts(_rate(shares, n_variant_pairs, codes), n_differ, n_usable)


def _between_single_samples(codes: np.ndarray, policy: str) -> PairCounts:
    """Return what `between` does for one sample per variant, several times as fast."""
    # Variants first, so that each comparison reads contiguous memory.
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
    """Return (items,) W_i: the disagreement between samples of the same variant, as the mean over
    the variants that have two or more."""
    check_policy(policy)
    shares, n_variants = np.zeros(len(codes)), np.zeros(len(codes))
    for a, b in sample_pairs(codes, of_one_prompt=True):
        usable, differs = pair_flips(a, b, policy)
        n_sample_pairs = usable.sum(axis=1)
        shares += differs.sum(axis=1) / np.maximum(n_sample_pairs, 1)
        n_variants += n_sample_pairs > 0
    return _rate(shares, n_variants, codes)


def sample_pairs(
    codes: np.ndarray, *, of_one_prompt: bool = False
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each pair of variants the first and second members of its pairs of samples, both
    (items, pairs of samples).

    With `of_one_prompt`, yield for each variant the pairs of its own samples. `codes` may be any
    array of shape (items, variants, samples).
    """
    _, v, s = codes.shape
    if of_one_prompt:
        # Each unordered pair of different samples once.
        first, second = np.triu_indices(s, 1)
        for j in range(v):
            yield codes[:, j, first], codes[:, j, second]
        return
    first, second = np.repeat(np.arange(s), s), np.tile(np.arange(s), s)
    for j, k in combinations(range(v), 2):
        yield codes[:, j, first], codes[:, k, second]


@dataclass(frozen=True)
class PairSplit:
    """Shares of pairs of variants per item, (items,): those that flip under the extractor only
    (`plus`), under the reference only (`minus`), and under both. NaN without a common pair."""

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
    """Split the flips of two extractors, whose codes must be of the same outputs.

    With `of_one_prompt` the pairs are those of samples of one variant, which gives the noise floor
    of each part. Under `drop` only pairs that both extractors read are split; only then may plus -
    minus differ from A.
    """
    check_policy(policy)
    n, _, n_samples = codes.shape
    if n_samples == 1 == reference.shape[2] and not of_one_prompt:
        return _split_single_samples(codes, reference, policy)
    shares, n_pairs = np.zeros((3, n)), np.zeros(n)
    for pair, pair_ref in zip(
        sample_pairs(codes, of_one_prompt=of_one_prompt),
        sample_pairs(reference, of_one_prompt=of_one_prompt),
        strict=True,
    ):
        usable, parts = _pair_parts(pair, pair_ref, policy)
        n_sample_pairs = usable.sum(axis=1)
        shares += parts.sum(axis=2) / np.maximum(n_sample_pairs, 1)
        n_pairs += n_sample_pairs > 0
    return PairSplit(*np.divide(shares, n_pairs, out=np.full((3, n), np.nan), where=n_pairs > 0))


def _split_single_samples(codes: np.ndarray, reference: np.ndarray, policy: str) -> PairSplit:
    """Return what `pair_split` does for one sample per variant, several times as fast."""
    variants = np.ascontiguousarray(codes[:, :, 0].T)
    variants_ref = np.ascontiguousarray(reference[:, :, 0].T)
    counts, n_pairs = np.zeros((3, len(codes)), np.int32), np.zeros(len(codes), np.int32)
    for j, k in combinations(range(len(variants)), 2):
        pair, pair_ref = (variants[j], variants[k]), (variants_ref[j], variants_ref[k])
        usable, parts = _pair_parts(pair, pair_ref, policy)
        counts += parts
        n_pairs += usable
    return PairSplit(
        *np.divide(counts, n_pairs, out=np.full(counts.shape, np.nan), where=n_pairs > 0)
    )


def _pair_parts(
    pair: tuple[np.ndarray, np.ndarray], pair_ref: tuple[np.ndarray, np.ndarray], policy: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs are usable under both extractors, and (3, ...) which of these flip under
    the extractor only, under the reference only, and under both."""
    usable, flips = pair_flips(*pair, policy)
    usable_ref, flips_ref = pair_flips(*pair_ref, policy)
    usable = usable & usable_ref
    parts = np.array([flips & ~flips_ref, flips_ref & ~flips, flips & flips_ref])
    return usable, parts & usable


def mask_absent(codes: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays of codes, with `ABSENT` where either of them is absent."""
    is_absent = (codes == ABSENT) | (reference == ABSENT)
    return np.where(is_absent, ABSENT, codes), np.where(is_absent, ABSENT, reference)


def _rate(sums: np.ndarray, n: np.ndarray, codes: np.ndarray) -> np.ndarray:
    # If all answers of an item are unreadable, they agree, but that does not show stability.
    is_defined = (n > 0) & (codes >= 0).any(axis=(1, 2))
    return np.divide(sums, n, out=np.full(len(codes), np.nan), where=is_defined)


def null_bounds(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest T_i, (items,) each, that any answers in place of the
    NULLs could give.

    For the smallest, all NULLs of an item become its most frequent answer. For the largest, each
    becomes an answer of its own, which agrees with no other. Items with NULLs only are included,
    because their answers exist. NaN for items with fewer than two readouts. Raises BadInput for
    several samples per variant.
    """
    n, _, s = codes.shape
    if s != 1:
        raise BadInput(
            f"Bounds for unreadable answers are defined for one sample per variant; got {s}. Pass "
            "one sample."
        )
    flat = codes[:, :, 0]
    counts = answer_counts(flat)
    n_null, n_present = (flat == NULL).sum(axis=1), (flat != ABSENT).sum(axis=1)
    most_alike = counts.copy()
    most_alike[np.arange(n), counts.argmax(axis=1)] += n_null
    return _flip_rate(most_alike, n_present), _flip_rate(counts, n_present)


def _flip_rate(counts: np.ndarray, n_present: np.ndarray) -> np.ndarray:
    """Return (items,) shares of pairs that differ, from (items, answers) counts."""
    n_pairs = n_present * (n_present - 1) / 2
    # Pairs agree within one answer: c (c - 1) / 2 of them for an answer that occurs c times.
    n_differ = n_pairs - (counts * (counts - 1) / 2).sum(axis=1)
    return np.divide(n_differ, n_pairs, out=np.full(len(counts), np.nan), where=n_pairs > 0)


def answer_counts(flat: np.ndarray) -> np.ndarray:
    """Count the answers of each item in `flat` (items, readouts). Return (items, readouts): at the
    first readout with an answer, how often the item has this answer; 0 elsewhere."""
    n, v = flat.shape
    counts = np.zeros((n, v), dtype=int)
    for j in range(v):
        is_first = (flat[:, j] >= 0) & ~(flat[:, :j] == flat[:, [j]]).any(axis=1)
        counts[:, j] = np.where(is_first, (flat == flat[:, [j]]).sum(axis=1), 0)
    return counts
