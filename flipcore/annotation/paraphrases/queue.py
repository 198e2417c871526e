"""What to ask a reviewer next: an order of their own, balanced over strata, with a share that everybody judges.

Places come from hashes of (seed, reviewer, pair), so a queue needs no storage, is the same on every machine, resumes at the
first pair without a verdict, and barely changes when pairs are added.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.records import digest

SHARED = 0.3
BLOCK = 10  # shared pairs that everybody judges before the next such block


@dataclass(frozen=True)
class Place:
    """One pair in a queue; a shared one is judged by everybody, any other by whoever comes first."""

    pair_id: str
    shared: bool


def queue(
    pairs: Sequence[Mapping], reviewer: str, *, shared: float = SHARED, seed: int = 0, risk: Mapping[str, float] | None = None
) -> list[Place]:
    """All `pairs` (pair_id, dataset, generator) in this reviewer's order.

    Every beginning of it holds the strata (dataset, generator) and the shared pairs in about their proportions. The shared
    pairs come in the same blocks for everybody, shuffled within, so that two who stop early overlap too. With `risk`
    (pair_id -> how far the estimate moves without the pair) the riskiest come first. Raises BadInput for a share outside
    0 to 1."""
    if not 0 <= shared <= 1:
        raise BadInput(f"The share that everybody judges lies between 0 and 1; got {shared}.")
    common = [pair for pair in pairs if _uniform(seed, "shared", pair["pair_id"]) < shared]
    names = {pair["pair_id"] for pair in common}
    own = [pair for pair in pairs if pair["pair_id"] not in names]
    groups = (_shuffled_in_blocks(_spread(common, seed, ""), seed, reviewer), True), (_spread(own, seed, reviewer), False)
    risks = risk or {}
    places = [
        (-risks.get(pair_id, 0.0), at, pair_id, Place(pair_id, is_shared))
        for group, is_shared in groups
        for pair_id, at in group
    ]
    return [place for *_, place in sorted(places, key=lambda row: row[:3])]


def items_in_turn(order: Sequence[Place], item_of: Mapping[str, str]) -> list[Place]:
    """The order with an item's second place after every item's first, and so on; `item_of` pair id -> item."""
    n_before: Counter[str] = Counter()
    turns = []
    for place in order:
        item = item_of[place.pair_id]
        turns.append((n_before[item], place))
        n_before[item] += 1
    return [place for _, place in sorted(turns, key=lambda turn: turn[0])]


def undone(order: Sequence[Place], by_reviewer: Collection[str], by_others: Collection[str]) -> list[str]:
    """The pairs of a queue that this reviewer still has to judge: not in `by_reviewer`, nor in
    `by_others` unless everybody judges it."""
    return [
        place.pair_id
        for place in order
        if place.pair_id not in by_reviewer and (place.shared or place.pair_id not in by_others)
    ]


def _spread(pairs: Sequence[Mapping], seed: int, who: str) -> list[tuple[str, float]]:
    """(pair, place in 0..1): within a stratum at random, strata interleaved."""
    strata: dict[tuple, list[str]] = {}
    for pair in pairs:
        strata.setdefault((pair["dataset"], pair["generator"]), []).append(pair["pair_id"])
    places = []
    for members in strata.values():
        order = sorted(members, key=lambda pair_id: _uniform(seed, "order", who, pair_id))
        places += [(pair_id, (i + _uniform(seed, "jitter", who, pair_id)) / len(order)) for i, pair_id in enumerate(order)]
    return places


def _shuffled_in_blocks(spread: list[tuple[str, float]], seed: int, reviewer: str) -> list[tuple[str, float]]:
    """The same places, the pairs of each block in this reviewer's order."""
    spread = sorted(spread, key=lambda row: row[::-1])
    places = []
    for start in range(0, len(spread), BLOCK):
        block = spread[start : start + BLOCK]
        order = sorted((pair_id for pair_id, _ in block), key=lambda pair_id: _uniform(seed, "block", reviewer, pair_id))
        places += [(pair_id, at) for pair_id, (_, at) in zip(order, block, strict=True)]
    return places


def _uniform(*names: object) -> float:
    return int(digest(*names)[:12], 16) / 16**12
