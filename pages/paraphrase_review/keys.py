"""The part Keys: people check suspect answer keys by answering the question without its key."""

import json

import streamlit as st

from flipcore.annotation import key_review
from flipcore.core.records import Item
from flipcore.reports.study import with_and_without
from flipcore.store.judgements import KEY_VERDICTS
from flipcore.store.queries import judgements, review
from flipcore.text.counts import count_of
from pages.common import gates, session
from pages.common.differences import show_spans
from pages.common.showing import how_to_read, offer_file, plain, show_table
from pages.paraphrase_review.desk import Desk, choose_reviewed_study, draw_answer_row

DESK = Desk(
    KEY_VERDICTS,
    key="keys",
    start_label="Review keys",
    icon=":material/key:",
    orders={"suspects": "suspects, the most suspect first", "random": "all items, at random"},
    done_word="reviewed",
    finished_message="Every item of this order is reviewed.",
    stop_label="Stop, and see what people say",
)
LETTERS = [chr(ord("A") + i) for i in range(26)]


def show() -> None:
    """Show suspect and disputed keys, or the review if it has begun."""
    study_id = choose_reviewed_study("keys-study")
    if study_id is None:
        return
    suspects = _suspects(study_id)
    if not suspects:
        st.info("No answer to an item with a key has come back yet.", icon=":material/key:")
        return
    if DESK.reviewer_and_order:
        reviewer, order = DESK.reviewer_and_order
        _review(suspects, reviewer, order)
        return
    _show_results(study_id, suspects)
    DESK.show_start_form()
    how_to_read(
        "An item is **suspect** where half or more of its answers, over models, wordings and "
        "extractors, agree on one answer that is not its key. Good models share mistakes, so "
        "people decide: you answer the question without seeing the key or an answer. An item is "
        "**disputed** where more people say something else than say its key. Its key stays as it "
        "is."
    )


@session.cached("Looking for suspect keys", max_entries=8, is_kept=True)
def _suspects(study_id: str) -> list[key_review.Suspect]:
    frame = session.readouts(study_id)
    item_ids = [str(item_id) for item_id in frame["item_id"].unique()]
    return key_review.suspects(frame, review.items(session.store(), item_ids))


def _show_results(study_id: str, suspects: list[key_review.Suspect]) -> None:
    """Show what people say of reviewed items; others must stay hidden from their reviewers."""
    n = sum(suspect.suspicion.is_suspect for suspect in suspects)
    # `suspicion.n` is 0 for an item with too few outputs.
    n_enough = sum(suspect.suspicion.n > 0 for suspect in suspects)
    st.markdown(f"## {count_of(n, 'item has', 'items have')} a key that most answers disagree with")
    if n_enough < len(suspects):
        count = count_of(len(suspects) - n_enough, "item has", "items have")
        st.caption(
            f"{count} fewer than {key_review.MIN_OUTPUTS} outputs: too few to suspect a key. "
            "Ask more models or wordings."
        )
    items = {suspect.item.item_id: suspect.item for suspect in suspects}
    verdicts = judgements.standing(session.store(), KEY_VERDICTS)
    reviews = key_review.key_reviews(items, verdicts)
    disputed = sorted(item_id for item_id, reviewed in reviews.items() if reviewed.is_disputed)
    reviewers: set[str] = set()
    for item_review in reviews.values():
        reviewers |= {row["reviewer"] for row in item_review.rows}
    n_people = len(reviewers)
    if not reviews:
        st.caption(f"Of {len(suspects):,} items with answers. Nobody has reviewed one yet.")
        return
    st.caption(
        plain(
            f"Of {len(suspects):,} items with answers. {count_of(len(reviews), 'item')} reviewed "
            f"by {n_people} {'person' if n_people == 1 else 'people'}; "
            f"{count_of(len(disputed), 'item')} disputed."
        )
    )
    rate = key_review.rate_of_disputed(reviews)
    # Suspects are not a random sample, so the rate comes only from items drawn at random.
    if rate.has_interval:
        st.markdown(
            plain(
                f"Of the items drawn at random {rate.text_percent()} are disputed ({rate.n:,} "
                "items)."
            )
        )
    if rows := key_review.errata(suspects, reviews):
        st.subheader("Errata", anchor=False)
        show_table("errata", rows)
        jsonl = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        offer_file(
            "JSONL",
            jsonl,
            "errata.jsonl",
            "application/jsonl",
            key="errata-jsonl",
            type="tertiary",
            icon=None,
        )
    if disputed:
        st.subheader("With and without them", anchor=False)
        show_table("without-disputed", _with_and_without(study_id, tuple(disputed)))


@session.cached("Leaving out disputed items", max_entries=8)
def _with_and_without(study_id: str, disputed: tuple[str, ...]) -> list[dict]:
    """Return scores with and without the disputed items."""
    return with_and_without(session.readouts(study_id), disputed, gates.all_closed_gates(study_id))


@st.fragment
def _review(suspects: list[key_review.Suspect], name: str, order: str) -> None:
    store, by_suspicion = session.store(), order == "suspects"
    items = {suspect.item.item_id: suspect.item for suspect in suspects}
    verdicts = judgements.standing(store, KEY_VERDICTS, among=items)
    open_ids = key_review.ids_to_review(suspects, name, verdicts, by_suspicion=by_suspicion)
    own_verdicts = [row for row in verdicts if row["reviewer"] == name]
    DESK.ask(
        own_verdicts,
        open_ids,
        lambda item_id: _draw_question(items[item_id], name, drawn_as_suspect=by_suspicion),
    )


def _draw_question(item: Item, name: str, *, drawn_as_suspect: bool) -> None:
    """Show the question and the buttons of an answer, without its key."""

    def keep(verdict: str, answer: str | None = None) -> None:
        DESK.keep(
            lambda: key_review.key_verdict_row(
                item, name, verdict, answer, by_choice=drawn_as_suspect
            )
        )

    # The page asks whether the key is right. A reviewer, who does not see it, answers the question.
    st.markdown(f"## {KEY_VERDICTS.question}")
    show_spans(item.question, (), key=f"key-{item.item_id}")
    order = list(range(len(item.options)))
    with draw_answer_row(
        item,
        LETTERS[: len(order)],
        order,
        f"key-{item.item_id}",
        lambda answer: keep(key_review.ANSWER, answer),
    ):
        for verdict, key, title in (
            (key_review.AMBIGUOUS, "a", "Ambiguous"),
            (key_review.UNANSWERABLE, "u", "Unanswerable"),
        ):
            st.button(
                title, key=f"{verdict}-{item.item_id}", shortcut=key, on_click=keep, args=(verdict,)
            )
