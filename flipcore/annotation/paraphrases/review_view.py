"""What one reviewer sees: the next pairs with what differs, the latest verdicts, how far; blind to what anybody else said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flipcore.annotation.paraphrases.queue import Place, undone
from flipcore.annotation.paraphrases.verdicts import CHECKS
from flipcore.core.records import Item
from flipcore.store.connection import Store
from flipcore.store.queries import review
from flipcore.text.answers import answer_text
from flipcore.text.differences import word_differences

AHEAD, BACK = 40, 5  # as many can be judged while the server is down
_LONG_CHARS = 420


@dataclass(frozen=True)
class ReviewView:
    """`data` is what the browser draws; `n_done` counts the pairs that this reviewer judged."""

    data: dict
    n_done: int


def review_view(
    store: Store,
    reviewer: str,
    order: Sequence[Place],
    acknowledged: Sequence[str] = (),
    finished: str = "",
    *,
    by_choice: bool = False,
) -> ReviewView:
    """The first undone pairs of `order` and the latest verdicts of this reviewer on it; `by_choice`: the
    order is not a random one, so a pair that anybody judged is left out."""
    ids = {place.pair_id for place in order}
    standing = [row for row in review.verdicts(store, reviewer) if row["pair_id"] in ids]
    others = review.judged_by_others(store, reviewer, at_random=not by_choice)
    rest = undone(order, {row["pair_id"] for row in standing}, others)
    latest = standing[-BACK:]
    pair_ids = rest[:AHEAD] + [row["pair_id"] for row in latest]
    views = {pair["pair_id"]: pair_view(pair) for pair in review.pairs(store, pair_ids)} if pair_ids else {}
    data = {
        "reviewer": reviewer,
        "checks": [list(check) for check in CHECKS.items()],
        "pairs": [views[pair_id] for pair_id in rest[:AHEAD]],
        "history": [
            {"pair": views[row["pair_id"]], "verdict_id": row["verdict_id"], "said": {check: row[check] for check in CHECKS}}
            for row in latest
        ],
        "n_done": len(standing),
        "n_left": len(rest),
        "acknowledged": list(acknowledged),
        "finished": finished,
    }
    return ReviewView(data, len(standing))


def pair_view(pair: Mapping) -> dict:
    """A pair with the words that differ marked on both sides, its options, and the right answer (None if unknown)."""
    original, changed = pair["original"], pair["paraphrase"]
    original_runs = [["gone" if kind == "new" else kind, text] for kind, text in _joined(word_differences(changed, original))]
    return {
        "id": pair["pair_id"],
        "original": original_runs,
        "paraphrase": _joined(word_differences(original, changed)),
        "options": list(pair["options"] or ()),
        "answer": _answer(pair),
        "size": "long" if max(len(original), len(changed)) > _LONG_CHARS else "short",
    }


def _joined(runs: list[list[str]]) -> list[list[str]]:
    """Marked words with nothing but space between them become one run: fewer marks to read."""
    groups: list[list[str]] = []
    for i, (kind, text) in enumerate(runs):
        bridge = kind == "same" and text.isspace() and i + 1 < len(runs) and runs[i + 1][0] == "new"
        kind = "new" if bridge and groups and groups[-1][0] == "new" else kind
        if groups and groups[-1][0] == kind:
            groups[-1][1] += text
        else:
            groups.append([kind, text])
    return groups


def _answer(pair: Mapping) -> str | None:
    if pair["target"] is None:
        return None
    return answer_text(
        Item(pair["item_id"], pair["dataset"], pair["kind"], pair["original"], tuple(pair["options"] or ())), pair["target"]
    )
