"""A reviewer's next pair, and the verdicts that stand for their source: the server decides, from
the reviewer's own random order and from nothing that a browser or a file says.

Where nobody is told apart there is one order for all: a name could be tried until its order begins
with the pairs that one likes.

A verdict counts as drawn at random where it lies on an unbroken beginning of its reviewer's order:
every pair before it is judged too, by them, or by somebody else whose verdict counts and to whom
the pair was left. What was picked out of the order lies behind a gap until the order has reached
it. Places come from hashes (`queue`), so a file can show the same, and nothing else can.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from flipcore.access.acting import EVERY, Permission, is_access_on, require
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

# Which of a reviewer's verdicts came up at random.


@dataclass(frozen=True)
class Order:
    """A reviewer's pairs in the order in which they come up; `at_random` unless somebody chose the
    pairs or what comes first."""

    reviewer: str
    places: tuple[Place, ...]
    at_random: bool


def order_of(
    store: Store,
    reviewer: str,
    *,
    shared: float = SHARED,
    source: str = EVERY,
    pair_ids: Collection[str] = (),
    risk: Mapping[str, float] | None = None,
) -> Order:
    """The order of one source's pairs ("dataset · generator"), of `pair_ids` that were selected, or
    of all; `risk` as `queue` takes it. Raises BadInput for a share outside 0 to 1."""
    pairs = review.strata(store)
    if pair_ids:
        subset = set(pair_ids)
        pairs = [row for row in pairs if row["pair_id"] in subset]
    elif source != EVERY:
        pairs = [row for row in pairs if source == review.source_of(row)]
    places = queue(pairs, reviewer if is_access_on() else "", shared=shared, risk=risk)
    return Order(reviewer, tuple(places), at_random=not pair_ids and risk is None)


def count_beginnings(store: Store) -> int:
    """Counts verdicts that came in by a file and make an unbroken beginning of their reviewers'
    orders, over everything or over one source; how many. The rest count once the order has reached
    them, or once no pair of their source is left."""
    rows = [
        row
        for row in judgements.standing(store, PAIR_VERDICTS)
        if row["reviewer_kind"] == PERSON and row["rule_version"] != ADJUDICATION
    ]
    waiting = [row for row in rows if row["by_choice"]]
    if not waiting:
        return 0
    sources = review.sources_of_pairs(store)
    random: set[tuple[str, str]] = set()
    for source in {EVERY, *(sources.get(row["pair_id"], EVERY) for row in waiting)}:
        random |= _together(store, rows, source=source)
    ids = [row["verdict_id"] for row in waiting if (row["reviewer"], row["pair_id"]) in random]
    review.count_as_random(store, ids)
    return len(ids)


def _together(store: Store, rows: Sequence[Mapping], source: str) -> set[tuple[str, str]]:
    """(reviewer, pair) of all reviewers' beginnings at once: a pair that was left to somebody else
    is no gap where their verdict lies on a beginning too. What does not hold is taken out until
    everything that is left does."""
    own_pairs: dict[str, set[str]] = {}
    for row in rows:
        own_pairs.setdefault(row["reviewer"], set()).add(row["pair_id"])
    orders = {name: order_of(store, name, source=source).places for name in own_pairs}
    so_far = own_pairs
    while True:
        still = {}
        for name, order in orders.items():
            by_others: set[str] = set()
            for other_name, pairs in so_far.items():
                if other_name != name:
                    by_others |= pairs
            still[name] = so_far[name] & beginning(order, own_pairs[name], others_pairs=by_others)
        if still == so_far:
            break
        so_far = still
    together: set[tuple[str, str]] = set()
    for name, pairs in so_far.items():
        together |= {(name, pair) for pair in pairs}
    return together


# What a reviewer's browser sends, made safe: each message is stored once, in order, and only then
# acknowledged. A message is {id, kind: "verdict" | "undo", pair_id, said, note, undoes}; its id is
# made in the browser and becomes the row's, so a message that is sent again (a lost connection, a
# reloaded page) changes nothing. Whether its pair came up at random is no matter of the message.


MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Receipt:
    """Ids that the browser may forget, and sentences about messages that could not be used."""

    acknowledged: tuple[str, ...]
    refusals: tuple[str, ...]


def take(
    store: Store, reviewer: str, messages: Sequence[Mapping], order: Order | None = None
) -> Receipt:
    """Stores the messages of one reviewer and returns when they are on disk. Whoever has an
    identity signs with it, whatever `reviewer` says. `order` is the one in which the server showed
    them pairs (default: their usual one over all sources); another reviewer's counts for nothing.
    Raises AccessDenied for whoever may not judge."""
    require(Permission.JUDGE)
    reviewer = signed(reviewer)
    messages = [message for message in messages[:MOST_AT_ONCE] if isinstance(message, Mapping)]
    pair_ids = [str(message.get("pair_id")) for message in messages]
    texts = {pair["pair_id"]: pair for pair in review.pairs(store, pair_ids)}
    standing = {
        row["verdict_id"]: row for row in judgements.standing(store, PAIR_VERDICTS, reviewer)
    }
    start, rows, refusals = now(), [], []
    for place, message in enumerate(messages):
        try:
            # Messages that came together keep their order: verdicts are sorted by their time.
            created_at = start + dt.timedelta(microseconds=place)
            row = _row(message, texts, standing=standing, reviewer=reviewer, created_at=created_at)
        except BadInput as error:
            refusals.append(str(error))
        else:
            rows.append(row)
            standing[row["verdict_id"]] = row
    order = order or order_of(store, reviewer)
    _count(
        store,
        rows,
        standing=standing,
        order=order if order.reviewer == reviewer else Order(reviewer, (), at_random=False),
    )
    return Receipt(tuple(str(message.get("id")) for message in messages), tuple(refusals))


def _count(store: Store, rows: list[dict], standing: Mapping[str, Mapping], order: Order) -> None:
    """Keeps the rows, as drawn at random where the reviewer's order had reached their pairs; so do
    chosen ones that it has reached by now."""
    taken_back = {row.get("undoes") for row in standing.values()}
    verdicts = {}
    for ident, row in standing.items():
        is_undo = row.get("undoes") or ident in taken_back
        if not is_undo and row["rule_version"] != ADJUDICATION:
            verdicts[ident] = row
    random: set[str] = set()
    if order.at_random:
        judged_ids = {row["pair_id"] for row in verdicts.values()}
        others_pairs = review.judged_by_others(store, order.reviewer, at_random=True)
        random = beginning(order.places, judged_ids, others_pairs=others_pairs)
    new = {row["verdict_id"] for row in rows}
    for row in rows:
        if not row["undoes"]:
            row["by_choice"] = row["pair_id"] not in random
    judgements.keep(store, PAIR_VERDICTS, rows)
    reached = []
    for ident, row in verdicts.items():
        if ident not in new and row["by_choice"] and row["pair_id"] in random:
            reached.append(ident)
    review.count_as_random(store, reached)


def _row(
    message: Mapping,
    texts: Mapping[str, Mapping],
    standing: Mapping[str, Mapping],
    reviewer: str,
    created_at: dt.datetime,
) -> dict:
    message_id = str(message.get("id"))
    if message.get("kind") == "undo":
        verdict = standing.get(str(message.get("undoes")))
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


AHEAD, BACK = 40, 5  # as many can be judged while the server is down
_LONG_CHARS = 420


# What one reviewer sees: the next pairs with what differs, the latest verdicts, how far; blind to
# what anybody else said.


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
    """The first undone pairs of `order` and the latest verdicts of this reviewer on it;
    `by_choice`: the order is not a random one, so a pair that anybody judged is left out."""
    ids = {place.pair_id for place in order}
    standing = judgements.standing(store, PAIR_VERDICTS, reviewer, among=ids)
    by_others = review.judged_by_others(store, reviewer, at_random=not by_choice)
    to_judge = undone(order, {row["pair_id"] for row in standing}, by_others)
    latest = standing[-BACK:]
    pair_ids = to_judge[:AHEAD] + [row["pair_id"] for row in latest]
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
        "pairs": [views[pair_id] for pair_id in to_judge[:AHEAD]],
        "history": history,
        "n_done": len(standing),
        "n_left": len(to_judge),
        "acknowledged": list(acknowledged),
        "finished": finished,
    }
    return ReviewView(data, len(standing))


def pair_view(pair: Mapping) -> dict:
    """Pair with differing words marked, its options, and the right answer (None if unknown)."""
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
    options = tuple(pair["options"] or ())
    item = Item(pair["item_id"], pair["dataset"], pair["kind"], pair["original"], options)
    return answer_text(item, pair["target"])
