"""Random orders of review: a reviewer's next pair, and which verdicts count as drawn at random.

Only verdicts drawn at random may stand for their source. The server decides which they are, from
the reviewer's random order, and never from what a browser or a file states. Without access control
all reviewers have one order, because people could try names until an order suits them.

A verdict counts as drawn at random if its reviewer's order has no gap before it. Each earlier pair
was judged by the same reviewer, or by somebody else if it is not shared and that verdict counts
too. A pair that was picked out of the order counts as soon as the order reaches it. Places come
from hashes (`queue`), so verdicts from a file can be checked in the same way.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from flipcore.access.acting import ALL_SOURCES, Permission, is_access_on, require
from flipcore.annotation.judging import SHARED, Place, beginning, queue, undone
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, CHECKS, PERSON, verdict_row
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS, signed
from flipcore.store.queries import judgements, review
from flipcore.store.rows import now
from flipcore.text.answers import answer_text
from flipcore.text.differences import word_differences


@dataclass(frozen=True)
class Order:
    """A reviewer's pairs in the order in which they come up.

    `at_random` is False if somebody chose the pairs, or if the riskiest come first.
    """

    reviewer: str
    places: tuple[Place, ...]
    at_random: bool


def order_of(
    store: Store,
    reviewer: str,
    *,
    shared: float = SHARED,
    source: str = ALL_SOURCES,
    pair_ids: Collection[str] = (),
    risk: Mapping[str, float] | None = None,
) -> Order:
    """Return the order of the selected `pair_ids`, of one source's pairs, or of all pairs.

    `source` is "dataset · generator". `shared` and `risk` are as in `queue`. Raises BadInput for a
    share outside 0 to 1.
    """
    pairs = review.pairs_with_source(store)
    if pair_ids:
        subset = set(pair_ids)
        pairs = [row for row in pairs if row["pair_id"] in subset]
    elif source != ALL_SOURCES:
        pairs = [row for row in pairs if source == review.source_of(row)]
    places = queue(pairs, reviewer if is_access_on() else "", shared=shared, risk=risk)
    return Order(reviewer, tuple(places), at_random=not pair_ids and risk is None)


def count_beginnings(store: Store) -> int:
    """Mark verdicts from files as drawn at random if no gap is before them; return how many.

    The order is that over all pairs or over one source. Other verdicts are marked later, when the
    order reaches them.
    """
    rows = [
        row
        for row in judgements.standing(store, PAIR_VERDICTS)
        if row["reviewer_kind"] == PERSON and row["rule_version"] != ADJUDICATION
    ]
    waiting = [row for row in rows if row["by_choice"]]
    if not waiting:
        return 0
    sources = review.sources_of_pairs(store)
    reached: set[tuple[str, str]] = set()
    for source in {ALL_SOURCES, *(sources.get(row["pair_id"], ALL_SOURCES) for row in waiting)}:
        reached |= _without_gaps(store, rows, source=source)
    ids = [row["verdict_id"] for row in waiting if (row["reviewer"], row["pair_id"]) in reached]
    review.mark_as_random(store, ids)
    return len(ids)


def _without_gaps(store: Store, rows: Sequence[Mapping], source: str) -> set[tuple[str, str]]:
    """Return (reviewer, pair id) of all verdicts without a gap before them, over all reviewers.

    A pair that somebody else judged is no gap only if that verdict has no gap before it either. So
    start from all verdicts and remove those behind a gap until nothing changes.
    """
    own_pairs: dict[str, set[str]] = {}
    for row in rows:
        own_pairs.setdefault(row["reviewer"], set()).add(row["pair_id"])
    orders = {name: order_of(store, name, source=source).places for name in own_pairs}
    counted = own_pairs
    while True:
        remaining = {}
        for name, order in orders.items():
            by_others: set[str] = set()
            for other_name, pairs in counted.items():
                if other_name != name:
                    by_others |= pairs
            reached = beginning(order, own_pairs[name], others_pairs=by_others)
            remaining[name] = counted[name] & reached
        if remaining == counted:
            break
        counted = remaining
    verdicts: set[tuple[str, str]] = set()
    for name, pairs in counted.items():
        verdicts |= {(name, pair) for pair in pairs}
    return verdicts


# Browsers send messages {id, kind: "verdict" | "undo", pair_id, said, note, undoes}. Each is stored
# once, in order, and only then acknowledged. The browser makes the id, which becomes the row's id.
# So a message that is sent again (lost connection, reloaded page) changes nothing.
MAX_MESSAGES = 500


@dataclass(frozen=True)
class Receipt:
    """Ids of messages that the browser may forget, and reasons why some were refused."""

    acknowledged: tuple[str, ...]
    refusals: tuple[str, ...]


def take(
    store: Store, reviewer: str, messages: Sequence[Mapping], order: Order | None = None
) -> Receipt:
    """Store the messages of one reviewer and wait until they are on disk.

    A signed-in user signs with their identity instead of `reviewer`. `order` is the one in which
    the server showed the pairs; None for the reviewer's order over all sources. The order of
    another reviewer makes no verdict random. Raises AccessDenied without the permission to judge.
    """
    require(Permission.JUDGE)
    reviewer = signed(reviewer)
    messages = [message for message in messages[:MAX_MESSAGES] if isinstance(message, Mapping)]
    pair_ids = [str(message.get("pair_id")) for message in messages]
    texts = {pair["pair_id"]: pair for pair in review.pairs(store, pair_ids)}
    own_rows = {
        row["verdict_id"]: row for row in judgements.standing(store, PAIR_VERDICTS, reviewer)
    }
    start, rows, refusals = now(), [], []
    for index, message in enumerate(messages):
        try:
            # A microsecond apart, because verdicts are sorted by time and must keep their order.
            created_at = start + dt.timedelta(microseconds=index)
            row = _message_row(
                message, texts, own_rows=own_rows, reviewer=reviewer, created_at=created_at
            )
        except BadInput as error:
            refusals.append(str(error))
        else:
            rows.append(row)
            own_rows[row["verdict_id"]] = row
    order = order or order_of(store, reviewer)
    if order.reviewer != reviewer:
        order = Order(reviewer, (), at_random=False)
    _store_and_count(store, rows, own_rows=own_rows, order=order)
    return Receipt(tuple(str(message.get("id")) for message in messages), tuple(refusals))


def _store_and_count(
    store: Store, rows: list[dict], own_rows: Mapping[str, Mapping], order: Order
) -> None:
    """Store the rows, and mark verdicts that the random order has reached, older ones too."""
    taken_back = {row.get("undoes") for row in own_rows.values()}
    verdicts = {}
    for verdict_id, row in own_rows.items():
        is_undone = row.get("undoes") or verdict_id in taken_back
        if not is_undone and row["rule_version"] != ADJUDICATION:
            verdicts[verdict_id] = row
    reached_pairs: set[str] = set()
    if order.at_random:
        judged_ids = {row["pair_id"] for row in verdicts.values()}
        others_pairs = review.judged_by_others(store, order.reviewer, at_random=True)
        reached_pairs = beginning(order.places, judged_ids, others_pairs=others_pairs)
    new_ids = {row["verdict_id"] for row in rows}
    for row in rows:
        if not row["undoes"]:
            row["by_choice"] = row["pair_id"] not in reached_pairs
    judgements.keep(store, PAIR_VERDICTS, rows)
    older_ids = []
    for verdict_id, row in verdicts.items():
        if verdict_id not in new_ids and row["by_choice"] and row["pair_id"] in reached_pairs:
            older_ids.append(verdict_id)
    review.mark_as_random(store, older_ids)


def _message_row(
    message: Mapping,
    texts: Mapping[str, Mapping],
    own_rows: Mapping[str, Mapping],
    reviewer: str,
    created_at: dt.datetime,
) -> dict:
    """Return the row of `verdicts` for a message; raises BadInput if it cannot be used.

    `texts` are the stored pairs by id, and `own_rows` the reviewer's verdicts by id.
    """
    message_id = str(message.get("id"))
    if message.get("kind") == "undo":
        verdict = own_rows.get(str(message.get("undoes")))
        if verdict is None:
            raise BadInput(
                "There is no standing verdict of yours to take back; it may have been taken back "
                "already."
            )
        return PAIR_VERDICTS.undo(verdict, row_id=message_id, created_at=created_at)
    pair = texts.get(str(message.get("pair_id")))
    if pair is None:
        raise BadInput(
            f"The pair {str(message.get('pair_id'))[:60]!r} is not stored here; reload the page."
        )
    answers = message.get("said")
    return verdict_row(
        pair,
        reviewer,
        answers=answers if isinstance(answers, Mapping) else {},
        note=str(message.get("note") or ""),
        by_choice=True,
        verdict_id=message_id,
        created_at=created_at,
    )


# Pairs that a page gets in advance, to judge while the server is down, and latest verdicts.
N_AHEAD, N_LATEST = 40, 5
_MAX_SHORT_CHARS = 420


@dataclass(frozen=True)
class ReviewView:
    """A reviewer's page: `data` for the browser, and the number of pairs that they judged."""

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
    """Return the next pairs of `order` and this reviewer's latest verdicts on it.

    With `by_choice` the order is not random. Then pairs that are not shared are left out if anybody
    judged them, else only if a verdict drawn at random did.
    """
    ids = {place.pair_id for place in order}
    own_verdicts = judgements.standing(store, PAIR_VERDICTS, reviewer, among=ids)
    by_others = review.judged_by_others(store, reviewer, at_random=not by_choice)
    to_judge = undone(order, {row["pair_id"] for row in own_verdicts}, by_others)
    latest = own_verdicts[-N_LATEST:]
    pair_ids = to_judge[:N_AHEAD] + [row["pair_id"] for row in latest]
    views = {}
    if pair_ids:
        views = {pair["pair_id"]: pair_view(pair) for pair in review.pairs(store, pair_ids)}
    history = []
    for row in latest:
        checks = {check: row[check] for check in CHECKS}
        history.append(
            {"pair": views[row["pair_id"]], "verdict_id": row["verdict_id"], "said": checks}
        )
    data = {
        "reviewer": reviewer,
        "checks": [list(check) for check in CHECKS.items()],
        "pairs": [views[pair_id] for pair_id in to_judge[:N_AHEAD]],
        "history": history,
        "n_done": len(own_verdicts),
        "n_left": len(to_judge),
        "acknowledged": list(acknowledged),
        "finished": finished,
    }
    return ReviewView(data, len(own_verdicts))


def pair_view(pair: Mapping) -> dict:
    """Return a pair with marked differences, options, and the right answer (None if unknown)."""
    original, changed = pair["original"], pair["paraphrase"]
    original_runs = [
        ["gone" if kind == "new" else kind, text]
        for kind, text in _joined(word_differences(changed, original))
    ]
    return {
        "id": pair["pair_id"],
        "original": original_runs,
        "paraphrase": _joined(word_differences(original, changed)),
        "options": list(pair["options"] or ()),
        "answer": _answer(pair),
        "size": "long" if max(len(original), len(changed)) > _MAX_SHORT_CHARS else "short",
    }


def _joined(runs: list[list[str]]) -> list[list[str]]:
    """Join marked words with only white space between them, so that there are fewer marks."""
    groups: list[list[str]] = []
    for i, (kind, text) in enumerate(runs):
        # White space that both texts have, between two marked words.
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
    options = tuple(pair["options"] or ())
    item = Item(pair["item_id"], pair["dataset"], pair["kind"], pair["original"], options)
    return answer_text(item, pair["target"])
