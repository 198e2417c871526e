"""What a reviewer's browser sends, made safe: each message is stored once, in order, and only then acknowledged.

A message is {id, kind: "verdict" | "undo", pair_id, said, note, by_choice, undoes}; its id is made in the browser and becomes the row's,
so a message that is sent again (a lost connection, a reloaded page) changes nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flipcore.access.acting import require, signature
from flipcore.access.levels import Permission
from flipcore.annotation.paraphrases.verdicts import reviewer_name, undo_row, verdict_row
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


def take(store: Store, reviewer: str, messages: Sequence[Mapping]) -> Receipt:
    """Stores the messages of one reviewer and returns when they are on disk. Whoever has an identity signs with it, whatever
    `reviewer` says. Raises AccessDenied for whoever may not judge."""
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
    review.keep_verdicts(store, rows)
    return Receipt(tuple(str(message.get("id")) for message in messages), tuple(refusals))


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
    note, by_choice = str(message.get("note") or ""), message.get("by_choice") is True
    return verdict_row(pair, reviewer, answers, note, by_choice=by_choice, verdict_id=message_id, created_at=at)
