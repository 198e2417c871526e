"""Claims about several models: who is better at the study's own prompt, and whether that order survives other ways of asking
and reading.

A way is a variant of the prompt under one extractor. Two families, because two questions are asked: the study's own prompt under
the reference extractor was declared beforehand, and all ways together were not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, p_text, percent_text
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.ranking.order import AHEAD, BEHIND, NOT_COMPARED, OPEN, TIED, Order, rank_limits
from flipcore.stats.ranking.ways import Way
from flipcore.text.counts import count_of

WORLDS = (
    "all equal",
    "one is worse",
    "templated items",
    "nearly always right",
    "an order: rank intervals miss it",
    "half of one unreadable",
)
BETTER = Assertion(
    "one model is better",
    "a model's rank lies in its interval: the models shown to be behind another are behind it at "
    "the study's own prompt",
    0.05,
    1,
    "all pairs of models in both directions, at the study's own prompt and reference extractor, "
    "Holm",
    WORLDS,
)
SEPARATED = Assertion(
    "models separated",
    "under some way of asking and reading one of two models is better than the other",
    0.05,
    1,
    "all pairs of models in both directions and all ways of asking and reading, Holm",
    WORLDS,
)
ASSERTIONS: tuple[Assertion, ...] = (BETTER, SEPARATED)
FIRST, SOME, NONE, FEW = "first", "some separated", "not separated", "few"
LEVEL = 0.95
MOST_NAMES = 3
POWER = 0.8  # of the number of items that would decide


@dataclass(frozen=True, eq=False)
class Contest:
    """An order with what of it may be claimed: `closed_gates` (axis or extractor -> why) leave ways out.
    `own` is the way that was declared, -1 where no model was read so. `at_own` and `at_all` are adjusted p (models, models) and
    (ways, models, models)."""

    order: Order
    own: int
    claimed: np.ndarray
    left_out: Mapping[str, str]
    at_own: np.ndarray
    at_all: np.ndarray

    @property
    def models(self) -> tuple[str, ...]:
        return self.order.scores.models

    @property
    def why_own(self) -> str:
        """Why nothing is claimed at the declared way; "" where it may be."""
        if self.own < 0 or self.claimed[self.own]:
            return ""
        way = self.order.scores.ways[self.own]
        return self.left_out.get(way.extractor, "")


def contest(order: Order, reference: str, closed_gates: Mapping[str, str] | None = None) -> Contest:
    """The order with its two families of tests."""
    ways = order.scores.ways
    shut = closed_gates or {}
    claimed = np.array(
        [not {way.axis if not way.is_base else "", way.extractor} & set(shut) for way in ways],
        dtype=bool,
    )
    own = next((i for i, way in enumerate(ways) if way.is_base and way.extractor == reference), -1)
    one = np.arange(len(ways)) == own
    at_own = (
        order.adjusted(one)[own] if own >= 0 else np.full((len(order.scores.models),) * 2, np.nan)
    )
    return Contest(order, own, claimed, shut, at_own, order.adjusted(claimed))


def place(way: Way) -> str:
    """ "own prompt, written answer"; "option order: rotate-1, first token"."""
    prompt = "own prompt" if way.is_base else f"{way.axis.replace('_', ' ')}: {way.key}"
    return f"{prompt}, {title_of(way.extractor).lower()}"


def difference(one: Contest, j: int, k: int, level: float = LEVEL) -> Estimate:
    """How far model j is ahead of k at the declared way (the first one where none was), with the interval that agrees with the p over
    all pairs: it excludes 0 exactly where that p is small enough."""
    way, alpha = max(one.own, 0), 1 - level
    alone, adjusted = one.order.p[way, j, k], one.at_own[j, k]
    share = alone / adjusted if 0 < adjusted < 1 else 1 / (len(one.models) * (len(one.models) - 1))
    return one.order.difference(way, j, k, alpha * min(share, 0.5))


def best_claim(one: Contest, level: float = LEVEL) -> Claim:
    """Who is first at the study's own prompt under the reference extractor, or which models are not shown to differ."""
    if len(one.models) < 2:
        return description("This study has answers of one model, so there is nothing to rank.", FEW)
    if one.own < 0:
        return description(
            "No model was read by the reference extractor at the study's own prompt.", FEW
        )
    means = one.order.means[one.own]
    ranking = [
        int(i)
        for i in np.argsort(-np.nan_to_num(means, nan=-1.0), kind="stable")
        if not np.isnan(means[i])
    ]
    if not ranking:
        return description(
            "No item was answered by every model at the study's own prompt, so they have no "
            "common order.",
            FEW,
        )
    if len(ranking) < 2:
        return description("Only one model has answers at the study's own prompt.", FEW)
    first, second = ranking[:2]
    gap = difference(one, first, second, level)
    n_families, n = int(one.order.n_families[one.own]), int(one.order.n[one.own])
    names = [one.models[i] for i in (first, second)]
    p, ordered = float(one.at_own[first, second]), tuple(one.models[i] for i in ranking)
    every = range(len(one.models))
    most = float(_unread(one, one.own, every)[0].max())
    unread = f"; up to {percent_text(most, 1)} of answers unread or failed" if most else ""
    numbers: dict[str, Any] = {"difference": gap, "p": p, "ranking": ordered}
    if n_families < MIN_N:
        what = "items" if n_families == n else "clusters of items"
        sentence = f"{_lead(names, gap)}: too few {what} for a claim ({n_families}){unread}."
        return Claim(
            BETTER, FEW, sentence, False, _own_detail(one, n, every), "", numbers
        ).not_claimed(one.why_own)
    best, worst = rank_limits(one.at_own[np.ix_(ranking, ranking)], 1 - level)
    firsts = [one.models[i] for i, rank in zip(ranking, best, strict=True) if rank == 1]
    others = [name for name in ordered if name not in firsts]
    behind = f"{others[0]} is" if len(others) == 1 else f"the other {len(others)} are"
    outcome = FIRST if len(firsts) == 1 else SOME if len(firsts) < len(ranking) else NONE
    sentences = {
        FIRST: f"{names[0]} is better than every other model: {gap.text_points()} over {names[1]}, "
        f"{p_text(p)}{unread}.",
        SOME: f"First is {_either(firsts)}, not separated at {percent_text(level)}; {behind} "
        f"behind{unread}.",
        NONE: f"No model is shown to be better than another at {percent_text(level)}: "
        f"{_lead(names, gap)}{unread}.",
    }
    more = n_more_items(one, first, second, level)
    numbers |= {"not_behind": tuple(firsts), "n_more_items": more}
    if (
        outcome != FIRST and math.isfinite(more) and not most
    ):  # no further item reads what was not read
        decides = (
            f"About {round_up(more):,} more items would decide between {names[0]} and {names[1]}"
        )
        sentences[outcome] += f" {decides}, should the lead stay what it is."
    numbers |= {"best": dict(zip(ordered, best.tolist(), strict=True))}
    numbers |= {"worst": dict(zip(ordered, worst.tolist(), strict=True))}
    detail = _own_detail(one, n, every)
    if len(firsts) > MOST_NAMES and outcome == SOME:
        detail = f"Not shown to be behind another: {', '.join(firsts)}. {detail}"
    claim = Claim(BETTER, outcome, sentences[outcome], outcome != NONE, detail, "", numbers)
    return claim.not_claimed(one.why_own)


def n_more_items(one: Contest, j: int, k: int, level: float = LEVEL) -> float:
    """About how many more items would show four times in five which of two models is better.

    By the paired differences at the declared way, should their mean and spread stay what they are;
    at the level that a pair has among all pairs. Infinite where the models are level.
    """
    values, groups = one.order.scores.values[one.own], one.order.scores.groups
    differences = values[:, j] - values[:, k]
    is_known = ~np.isnan(differences)
    n, clusters = int(is_known.sum()), np.arange(len(differences)) if groups is None else groups
    if n < MIN_N:
        return math.inf
    mean = clustered_mean(differences[is_known], clusters[is_known], bounds=None)
    if not mean.value or not mean.se > 0:
        return math.inf
    # Holm's first step: as if no other pair were separated
    alpha = (1 - level) / (len(one.models) * (len(one.models) - 1))
    needed = (z_quantile(1 - alpha) + z_quantile(POWER)) * mean.se / abs(mean.value)
    return max(n * needed**2 - n, 0.0) or math.inf


def round_up(n: float) -> int:
    """Return a number of items with two digits, never less than it is."""
    unit = 10 ** max(len(str(int(n))) - 2, 0)
    return int(-(-n // unit) * unit)


def _lead(names: Sequence[str], gap: Estimate) -> str:
    if gap.value == 0:
        return f"{names[0]} and {names[1]} are level"
    return f"{names[0]} leads {names[1]} by {gap.text_points()}"


def lead_claim(one: Contest, j: int, k: int, reader: str, level: float = LEVEL) -> Claim:
    """Of one pair at the declared way, model j ahead: by the p and the interval of `best_claim`, over all pairs in both directions."""
    p, gap = float(one.at_own[j, k]), difference(one, j, k, level)
    asserted = p <= 1 - level + 1e-12
    first, second, n = one.models[j], one.models[k], _n_of_both(one, j, k)
    sentence = (
        f"{first} scores higher than {second} on the same {n:,} items, read by {reader}: "
        f"{gap.text_points()}, {p_text(p)}."
        if asserted
        else f"Undecided whether {first} and {second} differ on {n:,} items, read by {reader}: "
        f"{gap.text_points()}, {p_text(p)}."
    )
    detail = _own_detail(one, n, (j, k))
    more = n_more_items(one, j, k, level)
    if not asserted and math.isfinite(more) and not _unread(one, one.own, (j, k))[0].max():
        detail = (
            f"About {round_up(more):,} more items would decide it, should the lead stay what it "
            f"is. {detail}"
        )
    outcome = SOME if asserted else NONE
    claim = Claim(BETTER, outcome, sentence, asserted, detail, "", {"difference": gap, "p": p})
    return claim.not_claimed(one.why_own)


def lead_words(one: Contest, j: int, k: int, reader: str, task: str = "") -> str:
    """How far model j is ahead, and nothing beyond the rows."""
    gap = one.order.difference(one.own, j, k, 0.025)
    where = f" on {task}" if task else ""
    items = f"these {_n_of_both(one, j, k):,} items{where}"
    return (
        f"{one.models[j]} is {gap.text_points()} ahead of {one.models[k]} on {items}, read by "
        f"{reader}."
    )


def _n_of_both(one: Contest, j: int, k: int) -> int:
    values = one.order.scores.values[one.own]
    return int((~np.isnan(values[:, j] - values[:, k])).sum())


def _either(names: Sequence[str]) -> str:
    return " or ".join(names) if len(names) <= MOST_NAMES else f"one of {len(names)} models"


def _own_detail(one: Contest, n: int, models: Sequence[int]) -> str:
    pairs = len(one.models) * (len(one.models) - 1) // 2
    family = (
        f" p corrected for {pairs} pairs of models in both directions (Holm)." if pairs > 1 else ""
    )
    reader = title_of(one.order.scores.ways[one.own].extractor).lower()
    n_clusters = int(one.order.n_families[one.own])
    is_clustered = n_clusters != int(one.order.n[one.own])
    size = f"{n:,} items in {n_clusters:,} clusters" if is_clustered else f"{n:,} items"
    assumed = f" {CLUSTERS_LIKE_SEEN}" if is_clustered else ""
    basis = f"Study's own prompt, {reader}, {size}.{family}{assumed}"
    return " ".join(filter(None, (basis, _unread_words(one, n, models))))


def _unread_words(one: Contest, n: int, models: Sequence[int]) -> str:
    """Which of these models have answers at the declared way that nobody read, and what their accuracy can be; empty where every answer
    was read. `n` items are those of the sentence."""
    shares, lowest, highest, n_shared = _unread(one, one.own, models)
    parts = [
        f"{one.models[m]} {percent_text(share, 1)}"
        + (
            f" (accuracy {number_text(100 * low, 0)} to {percent_text(high)})"
            if share < 1
            else " (never read)"
        )
        for m, share, low, high in zip(models, shares, lowest, highest, strict=True)
        if share > 0
    ]
    where = (
        f" on the {n_shared:,} items asked" if n_shared != n else ""
    )  # a mean leaves out the items of a failed call
    return (
        f"Unreadable, cut off or failed{where}, whatever they were: {', '.join(parts)}."
        if parts
        else ""
    )


def _unread(
    one: Contest, way: int, models: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Of each of `models` the share of answers that nobody read, and its accuracy with those wrong and right, on the n items that all of
    them were asked; of one that was never read 1 and NaN."""
    lowest, highest = (
        side[way][:, list(models)] for side in (one.order.scores.lowest, one.order.scores.highest)
    )
    there = ~np.isnan(lowest[:, ~np.isnan(lowest).all(axis=0)]).any(axis=1)
    least, most = (side[there].sum(axis=0) / max(int(there.sum()), 1) for side in (lowest, highest))
    never = one.order.scores.unread[way, list(models)]
    return np.where(np.isnan(least), never, most - least), least, most, int(there.sum())


def pair_claim(one: Contest, j: int, k: int, level: float = LEVEL) -> Claim:
    """Under how many ways model j leads k, and how many separate them; over all ways that may be claimed."""
    leads = one.order.leads(j, k)
    every = leads[one.claimed].tolist()
    ahead, behind, ties, n_open = (every.count(kind) for kind in (AHEAD, BEHIND, TIED, OPEN))
    n_ways = len(every) - every.count(NOT_COMPARED)
    for_j, for_k = (
        int((np.nan_to_num(p, nan=1.0) <= 1 - level + 1e-12).sum())
        for p in (one.at_all[:, j, k], one.at_all[:, k, j])
    )
    first, second = one.models[j], one.models[k]
    if not n_ways:
        why = (
            " ".join(dict.fromkeys(one.left_out.values()))
            or f"{first} and {second} answered no item in common."
        )
        return Claim(SEPARATED, NONE, "").not_claimed(why)
    at_level = f"at {percent_text(level)}"
    if for_j and for_k:
        separating = (
            f"{for_j} separate{'s' if for_j == 1 else ''} them {at_level} for {first}, {for_k} "
            f"for {second}"
        )
    elif for_j or for_k:
        separating = f"{for_j or for_k} separate{'s' if for_j + for_k == 1 else ''} them {at_level}"
    else:
        separating = f"none separates them {at_level}"
    sentence = (
        f"{first} leads {second} in {ahead} of {count_of(n_ways, 'combination')} of prompt and "
        f"extractor; {separating}."
    )
    outcome = SOME if for_j or for_k else NONE
    swap = f"{second} leads in {behind}, they tie in {ties}."
    if n_open:
        most = max(
            float(_unread(one, int(way), (j, k))[0].max())
            for way in np.flatnonzero(one.claimed & (leads == OPEN))
        )
        swap += (
            f" Unread or failed answers, up to {percent_text(most, 1)}, leave open who leads in "
            f"{n_open}."
        )
    if len(every) > n_ways:
        swap += f" {len(every) - n_ways} more are not compared: one of them was never read there."
    numbers = {
        "ahead": ahead,
        "behind": behind,
        "ways": n_ways,
        "open": n_open,
        "separate": (for_j, for_k),
    }
    return Claim(SEPARATED, outcome, sentence, bool(for_j or for_k), swap, "", numbers)


def winners(one: Contest) -> Claim:
    """Which ways would have made each model the winner: a count, and nothing beyond it."""
    ways = [i for i in range(len(one.claimed)) if one.claimed[i]]
    firsts = {
        model: [place(one.order.scores.ways[i]) for i in ways if one.order.ranks[i, m] == 1]
        for m, model in enumerate(one.models)
    }
    counts = {model: len(places) for model, places in firsts.items() if places}
    combinations = f"{count_of(len(ways), 'combination')} of prompt and extractor"
    if not counts:
        return description(f"No model ranks first in any of {combinations}.", firsts=firsts)
    if len(counts) > 1 and set(counts.values()) == {len(ways)}:
        who = _in_a_row(list(counts)) if len(counts) <= MOST_NAMES else f"{len(counts)} models"
        return description(
            f"{who} tie for first in {'all ' if len(ways) > 1 else ''}{combinations}.",
            firsts=firsts,
        )
    listed = ", ".join(f"{model} {n}" for model, n in list(counts.items())[:MOST_NAMES])
    more = f" and {len(counts) - MOST_NAMES} more" if len(counts) > MOST_NAMES else ""
    ties = " (ties count for each)" if sum(counts.values()) > len(ways) else ""
    return description(f"First in {combinations}: {listed}{more}{ties}.", firsts=firsts)


def _in_a_row(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
