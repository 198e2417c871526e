"""Claims about several models: which is better at the study's own prompt, and in all ways.

A way is one prompt variant with one extractor. The declared way is the study's own prompt with the
reference extractor. Its tests are corrected only among themselves, which supposes that it was
declared before anybody saw an answer. A reader of the page Ranking may choose another reference
after seeing answers. The tests are then corrected as if it had been declared. The tests of all ways
together are a second family.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description, is_shown
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import (
    MIN_N,
    Estimate,
    level_text,
    missing,
    number_text,
    p_text,
    percent_text,
)
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.ranking.order import AHEAD, BEHIND, NOT_COMPARED, OPEN, TIED, Order, rank_limits
from flipcore.stats.ranking.ways import Way
from flipcore.text.counts import count_of, in_a_row

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
    (
        "a model's rank lies in its interval: the models shown to be behind another are behind it "
        "at the study's own prompt"
    ),
    error_rate=0.05,
    sides=1,
    family=(
        "all pairs of models in both directions, at the study's own prompt and reference "
        "extractor, Holm"
    ),
    worlds=(*WORLDS, "losses in templates, wins alone"),
)
SEPARATED = Assertion(
    "models separated",
    "under some way of asking and reading one of two models is better than the other",
    error_rate=0.05,
    sides=1,
    family="all pairs of models in both directions and all ways of asking and reading, Holm",
    worlds=WORLDS,
)
ASSERTIONS: tuple[Assertion, ...] = (BETTER, SEPARATED)
FIRST, SOME, NONE = "first", "some separated", "not separated"
TOO_LITTLE = "few"  # too few models, answers or items to rank
LEVEL = 0.95
MAX_NAMES = 3  # models that a sentence names
POWER = 0.8  # probability that the estimated number of further items decides


@dataclass(frozen=True, eq=False)
class Contest:
    """An order of models in each way, with adjusted p.

    declared_way : index of the declared way, -1 if no model has answers there.
    may_be_claimed : (ways,) False for ways that a closed gate excludes.
    closed_gates : axis or extractor -> reason.
    p_declared : (models, models) adjusted p, at the declared way, of the claim that the first model
        is better than the second.
    p_by_way : (ways, models, models) the same in every way, adjusted over all ways.
    """

    order: Order
    declared_way: int
    may_be_claimed: np.ndarray
    closed_gates: Mapping[str, str]
    p_declared: np.ndarray
    p_by_way: np.ndarray

    @property
    def models(self) -> tuple[str, ...]:
        return self.order.scores.models

    @property
    def declared_gate_reason(self) -> str:
        """Return why nothing is claimed at the declared way; "" if it may be."""
        if self.declared_way < 0 or self.may_be_claimed[self.declared_way]:
            return ""
        way = self.order.scores.ways[self.declared_way]
        return self.closed_gates.get(way.extractor, "")


def closes(gate: str, way: Way) -> bool:
    """Return whether a closed gate, named by its axis or extractor, excludes a way."""
    # The study's own prompt belongs to no axis that a gate could close.
    return way.extractor == gate or (way.axis == gate and not way.is_base)


def contest(order: Order, reference: str, closed_gates: Mapping[str, str] | None = None) -> Contest:
    """Return the order with its two families of tests."""
    ways = order.scores.ways
    gates = closed_gates or {}
    may_be_claimed, declared_way = np.ones(len(ways), dtype=bool), -1
    for i, way in enumerate(ways):
        may_be_claimed[i] = not any(closes(gate, way) for gate in gates)
        if way.is_base and way.extractor == reference:
            declared_way = i
    p_declared = np.full((len(order.scores.models),) * 2, np.nan)
    if declared_way >= 0:
        # The declared way is a family of its own.
        p_declared = order.adjusted(np.arange(len(ways)) == declared_way)[declared_way]
    return Contest(
        order,
        declared_way,
        may_be_claimed=may_be_claimed,
        closed_gates=gates,
        p_declared=p_declared,
        p_by_way=order.adjusted(may_be_claimed),
    )


def way_text(way: Way) -> str:
    """Return "own prompt, written answer" or "option order: rotate-1, first token"."""
    prompt = "own prompt" if way.is_base else f"{way.axis.replace('_', ' ')}: {way.key}"
    return f"{prompt}, {title_of(way.extractor).lower()}"


def difference(contest: Contest, j: int, k: int, level: float = LEVEL) -> Estimate:
    """Return how far model j is ahead of k at the declared way; missing if there is none.

    The interval agrees with the adjusted p: it excludes 0 exactly if that p is small enough.
    """
    if contest.declared_way < 0:
        return missing(level=level, note="not read at the study's own prompt")
    way, alpha = contest.declared_way, 1 - level
    raw_p, adjusted_p = contest.order.p[way, j, k], contest.p_declared[j, k]
    # The share of alpha that Holm leaves for this pair, or Bonferroni's share if p is 0 or 1.
    share = 1 / (len(contest.models) * (len(contest.models) - 1))
    if 0 < adjusted_p < 1:
        share = raw_p / adjusted_p
    # The opposite direction is tested too, so no shown lead has more than half of alpha.
    return contest.order.difference(way, j, k, alpha * min(share, 0.5))


def best_claim(contest: Contest, level: float = LEVEL) -> Claim:
    """Name the best model at the declared way, or those of which one is best."""
    if len(contest.models) < 2:
        return description(
            "This study has answers of one model, so there is nothing to rank.", TOO_LITTLE
        )
    if contest.declared_way < 0:
        return description(
            "No model was read by the reference extractor at the study's own prompt.", TOO_LITTLE
        )
    means = contest.order.means[contest.declared_way]
    by_mean = np.argsort(-means, kind="stable")
    ranking = [int(i) for i in by_mean if not np.isnan(means[i])]
    if not ranking:
        return description(
            "No item was answered by every model at the study's own prompt, so they have no "
            "common order.",
            TOO_LITTLE,
        )
    if len(ranking) < 2:
        return description("Only one model has answers at the study's own prompt.", TOO_LITTLE)
    first, second = ranking[:2]
    gap = difference(contest, first, second, level)
    n_clusters = int(contest.order.n_families[contest.declared_way])
    n = int(contest.order.n[contest.declared_way])
    first_name, second_name = contest.models[first], contest.models[second]
    p, ordered = float(contest.p_declared[first, second]), tuple(contest.models[i] for i in ranking)
    all_models = range(len(contest.models))
    most_unread = _most_unread(contest, contest.declared_way, all_models)
    unread = f"; up to {percent_text(most_unread, 1)} of answers unread or failed"
    if not most_unread:
        unread = ""
    numbers: dict[str, Any] = {"difference": gap, "p": p, "ranking": ordered}
    if n_clusters < MIN_N:
        units = "items" if n_clusters == n else "clusters of items"
        few = f"too few {units} for a claim ({n_clusters}){unread}"
        sentence = f"{_lead_clause(first_name, second_name, gap)}: {few}."
        detail = _declared_detail(contest, n, all_models)
        claim = Claim(BETTER, TOO_LITTLE, sentence, detail=detail, numbers=numbers)
        return claim.not_claimed(contest.declared_gate_reason)
    best, worst = rank_limits(contest.p_declared[np.ix_(ranking, ranking)], 1 - level)
    firsts = [contest.models[i] for i, rank in zip(ranking, best, strict=True) if rank == 1]
    models_behind = [name for name in ordered if name not in firsts]
    if len(firsts) == 1:
        outcome = FIRST
        rivals, over = "every other model", f" over {second_name}"
        size, likely = gap.likely_points()
        if len(ranking) == 2:
            rivals, over = second_name, ""
        sentence = f"{first_name} scores higher than {rivals}, by {size}{over}{likely}{unread}."
    elif models_behind:
        outcome, n_behind = SOME, len(models_behind)
        behind = f"{models_behind[0]} is" if n_behind == 1 else f"the other {n_behind} are"
        either = f"One of {len(firsts)} models"
        if len(firsts) <= MAX_NAMES:
            either = " or ".join(firsts)
        sentence = f"{either} is best, but which of them is undecided; {behind} behind{unread}."
    else:
        outcome, start = NONE, "No model is shown to be better than another"
        if len(ranking) == 2:
            start = "Undecided which is better"
        sentence = f"{start}: {_lead_clause(first_name, second_name, gap)}{unread}."
    n_more, assumption = n_more_items(contest, first, second, level), ""
    numbers |= {"not_behind": tuple(firsts), "n_more_items": n_more}
    # More items do not help if unread answers of the present ones leave the lead open.
    if outcome != FIRST and math.isfinite(n_more) and not most_unread:
        between = "it" if len(ranking) == 2 else f"between {first_name} and {second_name}"
        sentence += f" About {round_up(n_more):,} more items would decide {between}."
        assumption = " The number of further items supposes that the lead stays as it is."
    numbers |= {"best": dict(zip(ordered, best.tolist(), strict=True))}
    numbers |= {"worst": dict(zip(ordered, worst.tolist(), strict=True))}
    lead_p = f"Lead of {first_name} over {second_name}: {p_text(p)}. " if gap.value else ""
    detail = f"{lead_p}{_declared_detail(contest, n, all_models)}{assumption}"
    if len(firsts) > MAX_NAMES and outcome == SOME:
        detail = f"Not shown to be behind another: {', '.join(firsts)}. {detail}"
    # If it is undecided which model is best, the claim still asserts that others are behind.
    is_asserted = outcome != NONE
    claim = Claim(BETTER, outcome, sentence, asserted=is_asserted, detail=detail, numbers=numbers)
    return claim.not_claimed(contest.declared_gate_reason)


def n_more_items(contest: Contest, j: int, k: int, level: float = LEVEL) -> float:
    """Return about how many more items would show which of two models is better.

    This assumes that the paired differences at the declared way keep their mean and spread. The
    power is `POWER`, the level that of one pair among all. Infinite if the models tie, if there are
    too few items, or if no more are needed.
    """
    values, groups = contest.order.scores.values[contest.declared_way], contest.order.scores.groups
    differences = values[:, j] - values[:, k]
    is_known = ~np.isnan(differences)
    n = int(is_known.sum())
    clusters = np.arange(len(differences)) if groups is None else groups
    if n < MIN_N:
        return math.inf
    mean = clustered_mean(differences[is_known], clusters[is_known], bounds=None)
    if not mean.value or not mean.se > 0:
        return math.inf
    # The level of Holm's first step, which holds even if no other pair is separated.
    alpha = (1 - level) / (len(contest.models) * (len(contest.models) - 1))
    needed = (z_quantile(1 - alpha) + z_quantile(POWER)) * mean.se / abs(mean.value)
    return max(n * needed**2 - n, 0.0) or math.inf


def round_up(n: float) -> int:
    """Round a number of items up to two significant digits."""
    unit = 10 ** max(len(str(int(n))) - 2, 0)
    return int(-(-n // unit) * unit)


def _lead_clause(first_name: str, second_name: str, gap: Estimate) -> str:
    if gap.value == 0:
        return f"{first_name} and {second_name} are level"
    return f"{first_name} leads {second_name} by {''.join(gap.likely_points())}"


def lead_claim(
    contest: Contest,
    j: int,
    k: int,
    extractor_title: str,
    level: float = LEVEL,
    *,
    is_in_points: bool = True,
) -> Claim:
    """Return the claim about one pair at the declared way, where model j is ahead of k.

    The p and the interval are those of `best_claim`, over all pairs in both directions. Differences
    of grades are not in points.
    """
    p, gap = float(contest.p_declared[j, k]), difference(contest, j, k, level)
    asserted = is_shown(p, level)
    first, second, n = contest.models[j], contest.models[k], _n_of_both(contest, j, k)
    finding = f"Undecided whether {first} and {second} differ on {n:,} items"
    if asserted:
        finding = f"{first} scores higher than {second} on the same {n:,} items"
    text = gap.text_points() if is_in_points else gap.text()
    sentence = f"{finding}, by {extractor_title}: {text}."
    # Readers take a large p beside "undecided" for certainty, so it is in the detail.
    detail = f"{p_text(p)}. {_declared_detail(contest, n, (j, k))}"
    if asserted:
        sentence = sentence.removesuffix(".") + f", {p_text(p)}."
        detail = _declared_detail(contest, n, (j, k))
    n_more = n_more_items(contest, j, k, level)
    # More items do not help if unread answers of the present ones leave the lead open.
    is_all_read = not _most_unread(contest, contest.declared_way, (j, k))
    if not asserted and math.isfinite(n_more) and is_all_read:
        detail = (
            f"About {round_up(n_more):,} more items would decide it, should the lead stay what it "
            f"is. {detail}"
        )
    outcome = SOME if asserted else NONE
    numbers = {"difference": gap, "p": p}
    claim = Claim(BETTER, outcome, sentence, asserted=asserted, detail=detail, numbers=numbers)
    return claim.not_claimed(contest.declared_gate_reason)


def lead_words(
    contest: Contest,
    j: int,
    k: int,
    extractor_title: str,
    task: str = "",
    *,
    is_in_points: bool = True,
) -> str:
    """Return a sentence that only describes how far model j is ahead of k; `task` may be ""."""
    # Nothing is claimed, so the 95% interval is not corrected for other pairs.
    gap = contest.order.difference(contest.declared_way, j, k, 0.025)
    where = f" on {task}" if task else ""
    items = f"these {_n_of_both(contest, j, k):,} items{where}"
    finding = f"{contest.models[j]} is ahead of {contest.models[k]}"
    if not gap.excludes_zero():
        finding = f"Undecided whether {contest.models[j]} or {contest.models[k]} is ahead"
    text = gap.text_points() if is_in_points else gap.text()
    return f"{finding} on {items}, by {extractor_title}: {text}."


def _n_of_both(contest: Contest, j: int, k: int) -> int:
    """Count the items that both models answered at the declared way."""
    values = contest.order.scores.values[contest.declared_way]
    return int((~np.isnan(values[:, j] - values[:, k])).sum())


def _declared_detail(contest: Contest, n: int, models: Sequence[int]) -> str:
    """Return the small print of the declared way, for a sentence on `n` items."""
    n_pairs, family = len(contest.models) * (len(contest.models) - 1) // 2, ""
    if n_pairs > 1:
        family = f" p corrected for {n_pairs} pairs of models in both directions (Holm)."
    extractor = title_of(contest.order.scores.ways[contest.declared_way].extractor).lower()
    n_clusters = int(contest.order.n_families[contest.declared_way])
    is_clustered = n_clusters != int(contest.order.n[contest.declared_way])
    size = f"{n:,} items in {n_clusters:,} clusters" if is_clustered else f"{n:,} items"
    assumed = f" {CLUSTERS_LIKE_SEEN}" if is_clustered else ""
    basis = f"Study's own prompt, {extractor}, {size}.{family}{assumed}"
    return " ".join(filter(None, (basis, _unread_words(contest, n, models))))


def _unread_words(contest: Contest, n: int, models: Sequence[int]) -> str:
    """Name the models with unread answers at the declared way, and their possible accuracy.

    Return "" if every answer was read. `n` is the number of items in the sentence.
    """
    shares, lowest, highest, n_shared = _unread_bounds(contest, contest.declared_way, models)
    parts = []
    for m, share, low, high in zip(models, shares, lowest, highest, strict=True):
        if not share > 0:
            continue
        limits = "never read"
        if share < 1:
            limits = f"accuracy {number_text(100 * low, 0)} to {percent_text(high)}"
        parts.append(f"{contest.models[m]} {percent_text(share, 1)} ({limits})")
    if not parts:
        return ""
    # The sentence's mean leaves out items with a failed call.
    where = f" on the {n_shared:,} items asked" if n_shared != n else ""
    return f"Unreadable, cut off or failed{where}, whatever they were: {', '.join(parts)}."


def _most_unread(contest: Contest, way: int, models: Sequence[int]) -> float:
    """Return the largest share of unread answers of these models."""
    shares, *_ = _unread_bounds(contest, way, models)
    return float(shares.max())


def _unread_bounds(
    contest: Contest, way: int, models: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return (models,) shares of unread answers, lowest and highest accuracies, and n.

    The lowest accuracy counts unread answers as wrong, the highest as right. All are on the n items
    that all of `models` were asked. A model without answers in this way has NaN accuracies.
    """
    scores, columns = contest.order.scores, list(models)
    lowest, highest = scores.lowest[way][:, columns], scores.highest[way][:, columns]
    # A model without answers in this way must not exclude the items of the others.
    is_read = ~np.isnan(lowest).all(axis=0)
    is_asked = ~np.isnan(lowest[:, is_read]).any(axis=1)
    n = int(is_asked.sum())
    low, high = (bounds[is_asked].sum(axis=0) / max(n, 1) for bounds in (lowest, highest))
    shares = np.where(np.isnan(low), scores.unread[way, columns], high - low)
    return shares, low, high, n


def pair_claim(contest: Contest, j: int, k: int, level: float = LEVEL) -> Claim:
    """Count the claimed ways in which model j leads k, and those that separate the two."""
    leads = contest.order.leads(j, k)
    claimed_leads = leads[contest.may_be_claimed].tolist()
    ahead, behind, ties, n_open = (
        claimed_leads.count(kind) for kind in (AHEAD, BEHIND, TIED, OPEN)
    )
    n_ways = len(claimed_leads) - claimed_leads.count(NOT_COMPARED)
    n_first = _n_separating(contest.p_by_way[:, j, k], level)
    n_second = _n_separating(contest.p_by_way[:, k, j], level)
    first, second = contest.models[j], contest.models[k]
    if not n_ways:
        gates = " ".join(dict.fromkeys(contest.closed_gates.values()))
        no_items = f"{first} and {second} answered no item in common."
        return Claim(SEPARATED, NONE, "").not_claimed(gates or no_items)
    beyond = f"by more than chance at {level_text(level)}"
    sentence = (
        f"{first} leads {second} in {ahead} of {count_of(n_ways, 'combination')} of prompt and "
        f"extractor, in {n_first or 'none'} {beyond}."
    )
    if n_second:
        sentence += f" {second} leads in {n_second} {beyond}."
    outcome = SOME if n_first or n_second else NONE
    detail = f"{second} leads in {behind}, they tie in {ties}."
    if n_open:
        open_ways = np.flatnonzero(contest.may_be_claimed & (leads == OPEN))
        most_unread = max(_most_unread(contest, int(way), (j, k)) for way in open_ways)
        detail += (
            f" Unread or failed answers, up to {percent_text(most_unread, 1)}, leave open who "
            f"leads in {n_open}."
        )
    if len(claimed_leads) > n_ways:
        detail += (
            f" {len(claimed_leads) - n_ways} more are not compared: one of them was never read "
            "there."
        )
    numbers = {
        "ahead": ahead,
        "behind": behind,
        "ways": n_ways,
        "open": n_open,
        "separate": (n_first, n_second),
    }
    is_asserted = outcome == SOME
    return Claim(SEPARATED, outcome, sentence, asserted=is_asserted, detail=detail, numbers=numbers)


def _n_separating(p: np.ndarray, level: float) -> int:
    """Count the ways that separate two models at this level; p is NaN for a way without answers."""
    return sum(is_shown(float(way_p), level) for way_p in p)


def winners(contest: Contest) -> Claim:
    """Count the ways in which each model ranks first, as a description."""
    ways = [int(i) for i in np.flatnonzero(contest.may_be_claimed)]
    firsts = {}
    for m, model in enumerate(contest.models):
        first_in = [i for i in ways if contest.order.ranks[i, m] == 1]
        firsts[model] = [way_text(contest.order.scores.ways[i]) for i in first_in]
    counts = {model: len(won_ways) for model, won_ways in firsts.items() if won_ways}
    combinations = f"{count_of(len(ways), 'combination')} of prompt and extractor"
    if not counts:
        return description(f"No model ranks first in any of {combinations}.", firsts=firsts)
    if len(counts) > 1 and set(counts.values()) == {len(ways)}:
        models = in_a_row(list(counts)) if len(counts) <= MAX_NAMES else f"{len(counts)} models"
        all_of = "all " if len(ways) > 1 else ""
        return description(f"{models} tie for first in {all_of}{combinations}.", firsts=firsts)
    listed = ", ".join(f"{model} in {n}" for model, n in list(counts.items())[:MAX_NAMES])
    more = f" and {len(counts) - MAX_NAMES} more" if len(counts) > MAX_NAMES else ""
    ties = " (ties count for each)" if sum(counts.values()) > len(ways) else ""
    return description(f"Best in {combinations}: {listed}{more}{ties}.", firsts=firsts)
