"""Queues, tables and files of judgements of any kind.

Subjects are pairs of texts, outputs or items; rows call their id `pair_id`. Each reviewer has an
order of their own, balanced over strata, with a share of subjects that everybody judges. Places
come from hashes of (seed, reviewer, subject). So a queue needs no storage, is the same on every
machine, resumes at the first subject without a judgement, and barely changes as subjects are added.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.datasets.reading.rows import Row
from flipcore.store.judgements import Kind

SHARED = 0.3  # share of the pairs that everybody judges
BLOCK = 10  # shared pairs that everybody judges before the next such block


@dataclass(frozen=True)
class Place:
    """One pair in a queue; everybody judges a shared pair, only one reviewer any other."""

    pair_id: str
    is_shared: bool


def queue(
    pairs: Sequence[Mapping],
    reviewer: str,
    *,
    shared: float = SHARED,
    seed: int = 0,
    risk: Mapping[str, float] | None = None,
) -> list[Place]:
    """Return all `pairs` (pair_id, dataset, generator) in this reviewer's order.

    The first n pairs, for any n, have the strata (dataset, generator) and the shared pairs in about
    their proportions. The shared pairs come in the same blocks for everybody, shuffled within a
    block, so that two reviewers who stop early overlap too. With `risk` (pair_id -> how far the
    estimate moves without the pair) the riskiest pairs come first.

    Raises BadInput for a share outside 0 to 1.
    """
    if not 0 <= shared <= 1:
        raise BadInput(f"The share that everybody judges lies between 0 and 1; got {shared}.")
    # Drawn by hash and not by number, so that added pairs do not change which ones are shared.
    shared_pairs, other_pairs = [], []
    for pair in pairs:
        if _uniform(seed, "shared", pair["pair_id"]) < shared:
            shared_pairs.append(pair)
        else:
            other_pairs.append(pair)
    common_order = _interleave(shared_pairs, seed, reviewer="")
    groups = (
        (_shuffle_blocks(common_order, seed, reviewer=reviewer), True),
        (_interleave(other_pairs, seed, reviewer=reviewer), False),
    )
    risks = risk or {}
    ranked_places = []
    for group, is_shared in groups:
        for pair_id, position in group:
            rank = (-risks.get(pair_id, 0.0), position, pair_id)
            ranked_places.append((rank, Place(pair_id, is_shared)))
    return [place for _, place in sorted(ranked_places, key=lambda ranked: ranked[0])]


def items_in_turn(order: Sequence[Place], item_of: Mapping[str, str]) -> list[Place]:
    """Return the places with the first of every item before any second; `item_of` is by pair id."""
    n_before: Counter[str] = Counter()
    turns = []
    for place in order:
        item = item_of[place.pair_id]
        turns.append((n_before[item], place))
        n_before[item] += 1
    return [place for _, place in sorted(turns, key=lambda turn: turn[0])]


def undone(
    order: Sequence[Place], by_reviewer: Collection[str], by_others: Collection[str]
) -> list[str]:
    """Return the pairs of a queue that this reviewer still has to judge.

    Pairs in `by_reviewer` are done, and so are pairs in `by_others` that are not shared.
    """
    return [
        place.pair_id
        for place in order
        if place.pair_id not in by_reviewer and (place.is_shared or place.pair_id not in by_others)
    ]


def _interleave(pairs: Sequence[Mapping], seed: int, reviewer: str) -> list[tuple[str, float]]:
    """Return (pair id, position from 0 to 1): random within a stratum, strata interleaved."""
    strata: dict[tuple, list[str]] = {}
    for pair in pairs:
        strata.setdefault((pair["dataset"], pair["generator"]), []).append(pair["pair_id"])
    placed = []
    for members in strata.values():
        order = sorted(members, key=lambda pair_id: _uniform(seed, "order", reviewer, pair_id))
        # The pairs of a stratum fill 0 to 1 evenly, so that the first n pairs have the strata in
        # proportion. The jitter keeps strata of equal size from coming in step.
        placed += [
            (pair_id, (i + _uniform(seed, "jitter", reviewer, pair_id)) / len(order))
            for i, pair_id in enumerate(order)
        ]
    return placed


def _shuffle_blocks(
    ordered: list[tuple[str, float]], seed: int, reviewer: str
) -> list[tuple[str, float]]:
    """Return the same positions, with the pairs of each block in this reviewer's order."""
    ordered = sorted(ordered, key=lambda row: row[::-1])  # by position, then pair id
    placed = []
    for start in range(0, len(ordered), BLOCK):
        block = ordered[start : start + BLOCK]
        order = sorted(
            (pair_id for pair_id, _ in block),
            key=lambda pair_id: _uniform(seed, "block", reviewer, pair_id),
        )
        placed += [(pair_id, position) for pair_id, (_, position) in zip(order, block, strict=True)]
    return placed


def _uniform(*names: object) -> float:
    """Return a number from 0 to 1 that depends only on the names."""
    return int(digest(*names)[:12], 16) / 16**12


def left_to_judge(
    order: Sequence[Place], reviewer: str, judgements: Iterable[Mapping], kind: Kind
) -> list[str]:
    """Return the subjects of a queue that this reviewer still has to judge, given `judgements`."""
    by_reviewer: set[str] = set()
    by_others: set[str] = set()
    for row in judgements:
        judged = by_reviewer if row[kind.reviewer] == reviewer else by_others
        judged.add(row[kind.subject[0]])
    return undone(order, by_reviewer, by_others)


def beginning(
    places: Sequence[Place], own_pairs: Collection[str], others_pairs: Collection[str]
) -> set[str]:
    """Return a reviewer's `own_pairs` before the first gap in the order.

    A gap is a pair that the reviewer did not judge. A pair that is not shared is no gap if
    somebody else judged it.
    """
    reached: set[str] = set()
    for place in places:
        if place.pair_id in own_pairs:
            reached.add(place.pair_id)
        elif place.is_shared or place.pair_id not in others_pairs:
            break
    return reached


def ratings_table(
    judgements: Iterable[Mapping], kind: Kind, answer: Callable[[Mapping], str | None]
) -> tuple[list[str], list[str], list[list[str | None]]]:
    """Return (reviewers, subjects, answers[reviewer][subject]), with None for no answer."""
    answers: dict[tuple[str, str], str | None] = {}
    for row in judgements:
        answers[row[kind.reviewer], row[kind.subject[0]]] = answer(row)
    reviewers = sorted({reviewer for reviewer, _ in answers})
    subjects = sorted({subject for _, subject in answers})
    table = []
    for reviewer in reviewers:
        table.append([answers.get((reviewer, subject)) for subject in subjects])
    return reviewers, subjects, table


Refusal = tuple[int, str]  # line number in a file, and the reason


def read_each(rows: Iterable[Row], take: Callable[[int, Row], None]) -> tuple[Refusal, ...]:
    """Call `take(index, row)` for each row of a file; return the refusals of bad rows."""
    refusals = []
    for index, row in enumerate(rows):
        try:
            if row.problem:
                raise BadInput(row.problem)
            take(index, row)
        except BadInput as error:
            refusals.append((row.line, f"{row.place} {error}."))
    return tuple(refusals)
