"""What a reviewer's browser sends, made safe: each message is stored once, in order, and only then acknowledged.

A message is {id, kind: "verdict" | "undo", pair_id, said, note, undoes}; its id is made in the browser and becomes the row's,
so a message that is sent again (a lost connection, a reloaded page) changes nothing. Whether its pair came up at random is no matter
of the message: `random_order` decides it.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flipcore.access.acting import Permission, require, signature
from flipcore.annotation.paraphrases.random_order import Order, came_up, order_of
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, reviewer_name, undo_row, verdict_row
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store
from flipcore.store.queries import review
from flipcore.store.rows import now

MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Receipt:
    """Ids that the browser may forget, and sentences about messages that could not be used."""

    acknowledged: tuple[str, ...]
    refusals: tuple[str, ...]


def take(store: Store, reviewer: str, messages: Sequence[Mapping], order: Order | None = None) -> Receipt:
    """Stores the messages of one reviewer and returns when they are on disk. Whoever has an identity signs with it, whatever
    `reviewer` says. `order` is the one in which the server showed them pairs (default: their usual one over all sources); another
    reviewer's counts for nothing. Raises AccessDenied for whoever may not judge."""
    require(Permission.JUDGE)
    reviewer = reviewer_name(signature(reviewer))
    messages = [message for message in messages[:MOST_AT_ONCE] if isinstance(message, Mapping)]
    texts = {pair["pair_id"]: pair for pair in review.pairs(store, [str(one.get("pair_id")) for one in messages])}
    standing = {row["verdict_id"]: row for row in review.verdicts(store, reviewer)}
    start, rows, refusals = now(), [], []
    for place, message in enumerate(messages):
        try:
            row = _row(message, texts, standing, reviewer, start + dt.timedelta(microseconds=place))
        except BadInput as error:
            refusals.append(str(error))
        else:
            rows.append(row)
            standing[row["verdict_id"]] = row
    order = order or order_of(store, reviewer)
    _count(store, rows, standing, order if order.reviewer == reviewer else Order(reviewer, (), False))
    return Receipt(tuple(str(message.get("id")) for message in messages), tuple(refusals))


def _count(store: Store, rows: list[dict], standing: Mapping[str, Mapping], order: Order) -> None:
    """Keeps the rows, as drawn at random where the reviewer's order had reached their pairs; so do chosen ones that it has
    reached by now."""
    undone = {row["undoes"] for row in standing.values() if row.get("undoes")}
    verdicts = {ident: row for ident, row in standing.items() if not row.get("undoes") and ident not in undone}
    verdicts = {ident: row for ident, row in verdicts.items() if row["rule_version"] != ADJUDICATION}
    random = came_up(store, order, {row["pair_id"] for row in verdicts.values()})
    new = {row["verdict_id"] for row in rows}
    review.keep_verdicts(store, [row if row["undoes"] else row | {"by_choice": row["pair_id"] not in random} for row in rows])
    waiting = (row for ident, row in verdicts.items() if ident not in new and row["by_choice"])
    review.count_as_random(store, [row["verdict_id"] for row in waiting if row["pair_id"] in random])


def _row(
    message: Mapping, texts: Mapping[str, Mapping], standing: Mapping[str, Mapping], reviewer: str, at: dt.datetime
) -> dict:
    message_id = str(message.get("id"))
    if message.get("kind") == "undo":
        verdict = standing.get(str(message.get("undoes")))
        if verdict is None:
            raise BadInput("There is no standing verdict of yours to take back; it may have been taken back already.")
        return undo_row(verdict, verdict_id=message_id, created_at=at)
    pair = texts.get(str(message.get("pair_id")))
    if pair is None:
        raise BadInput(f"The pair {str(message.get('pair_id'))[:60]!r} is not stored here; reload the page.")
    raw_answers = message.get("said")
    answers = raw_answers if isinstance(raw_answers, Mapping) else {}
    note = str(message.get("note") or "")
    return verdict_row(pair, reviewer, answers, note, by_choice=True, verdict_id=message_id, created_at=at)
