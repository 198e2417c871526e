"""The names that `cases.json` has for flip metrics (source 004, flipbench), on plain lists of answers, None for an unreadable one: each
hands its lists to the product's own function. No reference of its own stands here; slow independent ones are in `tests.naive`.

An item is a list with one answer a variant; the base prompt is one of the variants.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.protocols.rotation import Votes
from flipcore.stats.base.separability import auc
from flipcore.stats.flips import disagreement
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import COLUMNS, decompositions, item_rates
from flipcore.stats.flips.disagreement import ABSENT, NULL
from flipcore.stats.flips.per_readout import flip_summary, item_entropies, item_modal_agreements

__all__ = ["auc"]

Answers = Sequence[Hashable | None]
AXIS, COMPARED, REFERENCE = "axis", "compared", "reference"


def coded(*readouts: Sequence[Answers]) -> list[np.ndarray]:
    """Each readout (items of answers) as an (items, variants, 1) array of codes that mean the same in all of them."""
    codes: dict[Hashable, int] = {None: NULL}
    width = max([1, *(len(item) for items in readouts for item in items)])  # the product never sees an item without a variant
    out = []
    for items in readouts:
        array = np.full((len(items), width, 1), ABSENT, dtype=np.int64)
        for row, item in enumerate(items):
            array[row, : len(item), 0] = [codes.setdefault(answer, len(codes) - 1) for answer in item]
        out.append(array)
    return out


def study(*readouts: Sequence[Answers]) -> CodedAnswers:
    """One axis under the compared extractor and perhaps the reference."""
    codes = {(AXIS, name): part for name, part in zip((COMPARED, REFERENCE), coded(*readouts), strict=False)}
    items = np.arange(len(readouts[0])).astype(object)
    base = {AXIS: np.zeros(codes[AXIS, COMPARED].shape[:2], dtype=bool)}
    extractors = (COMPARED, REFERENCE)[: len(readouts)]
    return CodedAnswers(items, (AXIS,), extractors, codes, base, dict.fromkeys(codes, 0), np.array([]))


def item_flip_rate(answers: Answers, policy: str = "own_class") -> float:
    return float(disagreement.between(coded([answers])[0], policy).rate[0])


def item_flip_rate_closed(answers: Answers, policy: str = "own_class") -> float:
    """v/(v-1) (1 - sum p_k^2): what the product's rate is by class sizes."""
    v = _classes(answers, policy).sum()
    return float(v / (v - 1)) * _from_shares(answers, policy) if v > 1 else math.nan


def item_flip_rate_vstat(answers: Answers) -> float:
    """1 - sum p_k^2, draws WITH replacement: the source's, biased low by (v-1)/v, so never comparable between different v."""
    return _from_shares(answers, "own_class")


def _from_shares(answers: Answers, policy: str) -> float:
    sizes = _classes(answers, policy)
    return float(1 - ((sizes / sizes.sum()) ** 2).sum()) if sizes.sum() > 1 else math.nan


def _classes(answers: Answers, policy: str) -> np.ndarray:
    """Sizes of the answer classes of one item; none of one that is all NULL."""
    counts = Counter(answers)
    n_null = counts.pop(None, 0)
    nulls = {"drop": [], "always_flip": [1] * n_null, "own_class": [n_null] * (n_null > 0)}[policy]
    return np.array([*counts.values(), *nulls] if counts else [], dtype=float)


def flip_rate(items: Sequence[Answers], policy: str = "own_class", weight: str = "macro") -> dict[str, float]:
    """`macro` is the mean of the defined T_i; `micro` pools pairs, so an item weighs v(v-1)/2."""
    if weight not in ("macro", "micro"):
        raise BadInput(f"There is no weight {weight!r}; choose 'macro' (mean of items) or 'micro' (pooled pairs).")
    found = flip_summary(study(items), AXIS, COMPARED, policy=policy, kind="clt_cluster")
    return {"T": found.T.value if weight == "macro" else found.micro, "n_items": found.n_items, "n_excluded": found.n_excluded}


def item_entropy(answers: Answers, base: float = 2.0, policy: str = "own_class", miller_madow: bool = False) -> float:
    """In units of the logarithm's `base`, with Miller and Madow's (K-1)/(2 v ln base) on request."""
    bits = float(item_entropies(coded([answers])[0], policy)[0])
    sizes = _classes(answers, policy)
    bias = (sizes.size - 1) / (2 * sizes.sum() * math.log(base)) if miller_madow and sizes.size else 0.0
    return bits * math.log(2) / math.log(base) + bias


def item_modal_agreement(answers: Answers) -> float:
    return float(item_modal_agreements(coded([answers])[0])[0])


def consistency_rate(items: Sequence[Answers], policy: str = "own_class") -> float:
    """SCORE's CR (arXiv:2503.00137) with exact match."""
    return 1 - flip_summary(study(items), AXIS, COMPARED, policy=policy, kind="clt_cluster").T.value


def decompose(ans_e: Sequence[Answers], ans_ref: Sequence[Answers], policy: str = "own_class") -> dict[str, float]:
    """T, G, A, the two parts of A and what flips under both, on the items that both readouts define."""
    found = item_rates(_aligned(ans_e, ans_ref), AXIS, COMPARED, REFERENCE, policy)
    names = ("T", "G", "A", "A_plus", "A_minus", "both")
    columns = found.values[:, [list(COLUMNS).index(name) for name in names]]
    parts = [x[~np.isnan(x)] for x in columns.T]
    means = {name: float(x.mean()) if x.size else math.nan for name, x in zip(names, parts, strict=True)}
    return {"n_items": found.n_items} | means


def decompose_bootstrap(
    ans_e: Sequence[Answers],
    ans_ref: Sequence[Answers],
    seed: int = 0,
    n_boot: int = 2000,
    level: float = 0.95,
    policy: str = "own_class",
) -> dict:
    """Percentile intervals of T, G, A (`ci`) and of A - G (`paired_diff`), and the source's rule: lo(A) > hi(G)."""
    options = {"kind": "percentile", "level": level, "seed": seed, "n_boot": n_boot, "tests": False}
    (found,) = decompositions(
        _aligned(ans_e, ans_ref), REFERENCE, policy=policy, extractors=[COMPARED], rule="source_nonoverlap", **options
    )
    ci = {name: [getattr(found, name).low, getattr(found, name).high] for name in "TGA"}
    difference = [found.A_minus_G.low, found.A_minus_G.high]
    return {"ci": ci, "paired_diff": difference, "source_nonoverlap": found.A.low > found.G.high}


def null_floor(samples_by_variant: Sequence[Answers], policy: str = "own_class") -> dict[str, float]:
    """One item asked several times: W within variants (decoding noise), B between variants, excess B - W."""
    codes = coded(samples_by_variant)[0][None, :, :, 0]
    w, b = float(disagreement.within(codes, policy)[0]), float(disagreement.between(codes, policy).rate[0])
    return {"W": w, "B": b, "excess": b - w}


def _aligned(ans_e: Sequence[Answers], ans_ref: Sequence[Answers]) -> CodedAnswers:
    if [len(item) for item in ans_e] != [len(item) for item in ans_ref]:
        raise BadInput(
            "The two readouts must list the same items with the same variants in the same order; their numbers "
            "differ. Keep only the variants that are present under both."
        )
    return study(ans_e, ans_ref)


# The harness of source 002, C.1, on its own: `protocols.rotation` asks a model by the same votes.


def lead3_two_option(p: float, lead: int = 3) -> float:
    """P(the right one of two options first leads by `lead`) when each vote is right with `p`; no minimum (gambler's ruin)."""
    right, wrong = p**lead, (1 - p) ** lead
    return right / (right + wrong)


def c1_run(
    response_at: Callable[[int, int], int | None], n_options: int, min_n: int = 5, lead: int = 3, cap: int = 100
) -> dict[str, object]:
    """One item through C.1. `response_at(t, rotation)` is the option (in canonical order) voted for at attempt t = 1, 2, …
    or None when no answer could be read.

    Stops at the first t >= `min_n` with a lead of `lead`, else at `cap`. An unreadable attempt counts as an attempt and
    not as a vote. Returns {choice (None without a vote: unreadable), attempts, counts, stopped: "lead" or "cap"}.
    """
    votes = Votes([0] * n_options, [0] * n_options)
    for attempt in range(1, cap + 1):
        vote = response_at(attempt, (attempt - 1) % n_options)
        if vote is not None:
            votes.counts[vote] += 1
            votes.reached_at[vote] = attempt
        if attempt >= min_n and votes.lead() >= lead:
            return {"choice": votes.first_top(), "attempts": attempt, "counts": votes.counts, "stopped": "lead"}
    return {"choice": votes.first_top(), "attempts": cap, "counts": votes.counts, "stopped": "cap"}
