"""Labels of both outputs of a pair: what people say of a flip. A random pair of each model, item and axis is served, its outputs apart and
blind, in the reviewer's own order.

These labels stand by themselves: base prompts come up more often in them than among all outputs, so they are in no estimate of single
outputs, and no single label is in a pair.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.annotation.judge_labels import IN_PAIRS, agreed_labels, seconds_of_a_label
from flipcore.annotation.paraphrases.queue import BLOCK, items_in_turn, queue
from flipcore.core.records import digest
from flipcore.store.connection import Store
from flipcore.store.queries import judges
from flipcore.text.answers import text_answer

Side = Mapping[str, Any]


def _two_by_two(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    return zip(sides[::2], sides[1::2], strict=True)


@dataclass(frozen=True)
class Pairs:
    """`rows` are the labelled pairs: model, item_id, axis, `variants` (their keys), `samples`, and whether it `flips` by people. `n_drawn`
    pairs there are to label; `n_labels` labels by `n_people` people took `seconds` each."""

    rows: tuple[Mapping[str, Any], ...]
    n_drawn: int
    n_labels: int
    n_people: int
    seconds: float


def pairs_to_label(sides: Sequence[Side], reviewer: str, labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Call ids in this reviewer's order, from `judges.pair_sides`: an item's second pair after every item's first, and the outputs of
    every ten pairs mixed, so that nobody sees which belong together."""
    pairs = {one["call_id"] + two["call_id"]: (one, two) for one, two in _two_by_two(sides)}
    order = queue(
        [
            {"pair_id": name, "dataset": one["dataset"], "generator": f"{one['model']}|{one['axis']}"}
            for name, (one, _) in pairs.items()
        ],
        reviewer,
    )
    standing = [row for row in labels if row["rule_version"] == IN_PAIRS]
    mine: Collection[str] = {row["call_id"] for row in standing if row["reviewer"] == reviewer}
    others: Collection[str] = {row["call_id"] for row in standing if row["reviewer"] != reviewer}
    left: list[str] = []
    served = items_in_turn(order, {name: one["item_id"] for name, (one, _) in pairs.items()})
    for start in range(0, len(served), BLOCK):
        calls = [
            (digest("pairs", reviewer, side["call_id"]), side["call_id"], place.shared)
            for place in served[start : start + BLOCK]
            for side in pairs[place.pair_id]
        ]
        left += [call for _, call, is_shared in sorted(calls) if call not in mine and (is_shared or call not in others)]
    return list(dict.fromkeys(left))


def labelled_pairs(store: Store, study_id: str) -> Pairs:
    """The pairs of the study whose two outputs people labelled in this order; of an output on which they are even there is no label."""
    sides = judges.pair_sides(store, study_id)
    here = {one["call_id"] for one in sides}
    labels = [row for row in judges.labels(store) if row["rule_version"] == IN_PAIRS and row["call_id"] in here]
    agreed, _ = agreed_labels([{**row, "by_choice": False} for row in labels])
    rows = [
        {name: one[name] for name in ("model", "item_id", "axis")}
        | {"variants": (one["variant"], two["variant"]), "samples": (one["sample"], two["sample"])}
        | {"flips": _answer(one, agreed) != _answer(two, agreed)}
        for one, two in _two_by_two(sides)
        if one["call_id"] in agreed and two["call_id"] in agreed
    ]
    return Pairs(
        tuple(rows), len(sides) // 2, len(labels), len({row["reviewer"] for row in labels}), seconds_of_a_label(labels)
    )


def _answer(side: Side, agreed: Mapping[str, str | None]) -> str | None:
    """What people read, as extractors have it: a text that is the target is one answer in whatever words."""
    label = agreed[side["call_id"]]
    return text_answer(label, side["target"]) if label and side["kind"] == "text" else label
