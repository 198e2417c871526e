"""How often answers flip (source 004, flipbench): definitions on plain lists of answers, None for an unreadable one.

An item is a list with one answer a variant; the base prompt is one of the variants. Everything rests on
`disagreement`, which does the same for coded arrays of a whole study.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.bootstrap import boot_percentile
from flipcore.stats.base.proportions import NAN
from flipcore.stats.base.ranking import auc
from flipcore.stats.flips import disagreement
from flipcore.stats.flips.disagreement import ABSENT, NULL, check_policy

__all__ = [
    "any_flip_rate",
    "auc",
    "consistency_rate",
    "decompose",
    "decompose_bootstrap",
    "flip_rate",
    "item_entropy",
    "item_flip_rate",
    "item_flip_rate_closed",
    "item_flip_rate_vstat",
    "item_modal_agreement",
    "null_floor",
]

Answer = Hashable | None
Answers = Sequence[Answer]


def coded(*readouts: Sequence[Answers]) -> list[np.ndarray]:
    """Each readout (items of answers) as an (items, variants, 1) array of codes that mean the same in all of them."""
    codes: dict[Answer, int] = {None: NULL}
    width = max((len(item) for items in readouts for item in items), default=0)
    out = []
    for items in readouts:
        array = np.full((len(items), width, 1), ABSENT, dtype=np.int64)
        for row, item in enumerate(items):
            array[row, : len(item), 0] = [codes.setdefault(answer, len(codes) - 1) for answer in item]
        out.append(array)
    return out


def classes(answers: Answers, policy: str = "own_class") -> list[int]:
    """Sizes of the answer classes of one item: NULL is a class, or one class each (`always_flip`), or left out. An item
    that is all NULL has none."""
    check_policy(policy)
    counts = Counter(answers)
    n_null = counts.pop(None, 0)
    if not counts or policy == "drop":
        return list(counts.values())
    return list(counts.values()) + ([1] * n_null if policy == "always_flip" else [n_null] * (n_null > 0))


def item_flip_rate(answers: Answers, policy: str = "own_class") -> float:
    """T_i: share of unordered pairs of variants that disagree. NaN with fewer than two usable answers, or all NULL."""
    return float(disagreement.between(coded([answers])[0], policy).rate[0])


def item_flip_rate_closed(answers: Answers, policy: str = "own_class") -> float:
    """v/(v-1) (1 - sum p_k^2): the same number from class sizes."""
    sizes = classes(answers, policy)
    v = sum(sizes)
    return v / (v - 1) * (1 - sum((c / v) ** 2 for c in sizes)) if v > 1 else NAN


def item_flip_rate_vstat(answers: Answers) -> float:
    """1 - sum p_k^2, draws WITH replacement: biased low by (v-1)/v, so never comparable between different v."""
    sizes = classes(answers)
    v = sum(sizes)
    return 1 - sum((c / v) ** 2 for c in sizes) if v > 1 else NAN


def flip_rate(items: Sequence[Answers], policy: str = "own_class", weight: str = "macro") -> dict[str, float]:
    """T over items. `macro` is the mean of the defined T_i; `micro` pools pairs, so an item weighs v(v-1)/2."""
    if weight not in ("macro", "micro"):
        raise BadInput(f"There is no weight {weight!r}; choose 'macro' (mean of items) or 'micro' (pooled pairs).")
    counts = disagreement.between(coded(items)[0], policy)
    defined = ~np.isnan(counts.rate)
    n_items = int(defined.sum())
    t = NAN
    if n_items:
        pooled = counts.n_differ[defined].sum() / counts.n_usable[defined].sum()
        t = float(counts.rate[defined].mean() if weight == "macro" else pooled)
    return {"T": t, "n_items": n_items, "n_excluded": len(items) - n_items}


def item_entropy(answers: Answers, base: float = 2.0, policy: str = "own_class", miller_madow: bool = False) -> float:
    """-sum p log p in bits (or the logarithm's `base`), with Miller and Madow's (K-1)/(2 v ln base) on request."""
    sizes = classes(answers, policy)
    v = sum(sizes)
    if v == 0:
        return NAN
    entropy = sum(c / v * math.log(v / c, base) for c in sizes)
    return entropy + (len(sizes) - 1) / (2 * v * math.log(base)) if miller_madow else entropy


def normalised_entropy(answers: Answers, n_options: int, policy: str = "own_class") -> float:
    """Entropy in bits over its largest value, log2 min(v, options); NaN where that is 0."""
    v = sum(classes(answers, policy))
    most = math.log2(min(v, n_options)) if min(v, n_options) > 1 else 0.0
    return item_entropy(answers, policy=policy) / most if most else NAN


def item_modal_agreement(answers: Answers) -> float:
    """Share of variants that give the most frequent answer; NULL stays in the denominator and is no answer."""
    sizes = classes(answers, "drop")
    return max(sizes) / len(answers) if sizes else NAN


def consistency_rate(items: Sequence[Answers], policy: str = "own_class") -> float:
    """SCORE's CR (arXiv:2503.00137) with exact match: mean pairwise agreement over items = 1 - T (macro)."""
    return 1 - flip_rate(items, policy)["T"]


def any_flip_rate(items: Sequence[Answers], policy: str = "own_class") -> dict[str, float | bool]:
    """Share of items with T_i > 0. It grows with the number of variants: `comparable` is False where items differ in v."""
    array = coded(items)[0]
    rate = disagreement.between(array, policy).rate
    defined = ~np.isnan(rate)
    v = (array[defined, :, 0] >= (0 if policy == "drop" else NULL)).sum(axis=1)
    return {
        "rate": float((rate[defined] > 0).mean()) if defined.any() else NAN,
        "n_items": int(defined.sum()),
        "comparable": bool(np.unique(v).size <= 1),
    }


def decompose(ans_e: Sequence[Answers], ans_ref: Sequence[Answers], policy: str = "own_class") -> dict[str, float]:
    """T = G + A on the items where both readouts define a flip rate, and the split of pairs: A = A_plus - A_minus.

    A may be negative. Raises BadInput where the two readouts are not aligned.
    """
    codes, reference = _aligned(ans_e, ans_ref)
    t, g, defined = _paired_rates(codes, reference, policy)
    split = disagreement.pair_split(codes, reference, policy)
    parts = {"T": t, "G": g, "A": t - g, "A_plus": split.plus, "A_minus": split.minus, "both": split.both}
    return {"n_items": int(defined.sum())} | {name: _mean(part[defined]) for name, part in parts.items()}


def decompose_bootstrap(
    ans_e: Sequence[Answers],
    ans_ref: Sequence[Answers],
    seed: int = 0,
    n_boot: int = 2000,
    level: float = 0.95,
    policy: str = "own_class",
) -> dict:
    """Percentile intervals of T, G, A (`ci`) and of A - G (`paired_diff`) from one draw of items a replicate, and the
    source's rule: lo(A) > hi(G)."""
    t, g, defined = _paired_rates(*_aligned(ans_e, ans_ref), policy)
    t, g = t[defined], g[defined]
    if not t.size:
        return {"ci": {name: [NAN, NAN] for name in "TGA"}, "paired_diff": [NAN, NAN], "source_nonoverlap": False}
    # boot_percentile draws the same items for each of these, because they start from the same seed and n
    ci = {name: boot_percentile(x, seed, n_boot, level) for name, x in {"T": t, "G": g, "A": t - g}.items()}
    return {
        "ci": ci,
        "paired_diff": boot_percentile(t - 2 * g, seed, n_boot, level),
        "source_nonoverlap": ci["A"][0] > ci["G"][1],
    }


def null_floor(samples_by_variant: Sequence[Answers], policy: str = "own_class") -> dict[str, float]:
    """One item asked several times: W within variants (decoding noise), B between variants, excess B - W."""
    width = max((len(samples) for samples in samples_by_variant), default=0)
    codes = np.full((1, len(samples_by_variant), width), ABSENT, dtype=np.int64)
    codes[0, :, :] = coded(samples_by_variant)[0][:, :, 0]
    w, b = float(disagreement.within(codes, policy)[0]), float(disagreement.between(codes, policy).rate[0])
    return {"W": w, "B": b, "excess": b - w}


def _aligned(ans_e: Sequence[Answers], ans_ref: Sequence[Answers]) -> list[np.ndarray]:
    if [len(item) for item in ans_e] != [len(item) for item in ans_ref]:
        raise BadInput(
            "The two readouts must list the same items with the same variants in the same order; their numbers "
            "differ. Keep only the variants that are present under both."
        )
    return coded(ans_e, ans_ref)


def _paired_rates(codes: np.ndarray, reference: np.ndarray, policy: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T_i and G_i of all items, and where both are defined."""
    t, g = disagreement.between(codes, policy).rate, disagreement.between(reference, policy).rate
    return t, g, ~np.isnan(t + g)


def _mean(x: np.ndarray) -> float:
    x = x[~np.isnan(x)]
    return float(x.mean()) if x.size else NAN
