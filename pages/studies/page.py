"""Studies: what have we measured, and what did it say?"""

import streamlit as st

from flipcore.access.acting import Permission, acting
from flipcore.annotation.paraphrases.pair_files import merge_files
from flipcore.core.command_line import command
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB
from flipcore.reports.study import matches
from flipcore.runs.background import MAX_RUNNING, Turn
from pages.common import session
from pages.common.header import page_header
from pages.common.showing import how_to_read, plain, saved_upload, shown_problem
from pages.common.tab_title import draw_again
from pages.studies import card, import_outputs, questions


def show_queue() -> None:
    """Show the studies that wait for their turn; nothing if none waits."""
    # The container exists even without a queue. A fragment is redrawn at its path, and the browser
    # shows an empty page if the path belongs to another element by then.
    with st.container():
        if _queued_turns():
            _show_turns()


def _queued_turns() -> list[Turn]:
    """Return the turns of the queue, without those of the demo's studies."""
    # Nobody queued the demo's studies, and their cards say that they wait.
    registry = session.registry()
    return [turn for turn in registry.queue() if turn.study_id not in registry.demos]


@st.fragment(run_every=2.0)
def _show_turns() -> None:
    turns = _queued_turns()
    if not turns:
        st.rerun()
    with st.container(border=True, key="queue"):
        st.subheader(f"Queue: {len(turns)} waiting", anchor=False)
        for position, turn in enumerate(turns, 1):
            _show_turn(position, turn, is_alone=len(turns) == 1)
        n = session.registry().at_once()
        st.caption(
            f"Each person has {n} stud{'y' if n == 1 else 'ies'} running at a time. People take "
            "turns."
        )
        if acting().may(Permission.ACCESS):
            number = st.number_input(
                "Studies of one person at a time", 1, MAX_RUNNING, n, key="runs-at-once", width=260
            )
            if number != n:
                with shown_problem():
                    session.registry().set_at_once(int(number))
                    st.rerun()


def _show_turn(position: int, turn: Turn, *, is_alone: bool) -> None:
    """Show a study of the queue with buttons to move it or to take it out."""
    registry, study_id = session.registry(), turn.study_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"queued-{study_id}"):
        owner = f" · {plain(turn.person)}" if turn.person else ""
        st.markdown(f"{position}. {plain(turn.study.name)}{owner}", width="content")
        for label, n_places, icon in (
            ("Earlier", -1, "arrow_upward"),
            ("Later", 1, "arrow_downward"),
        ):
            if not is_alone and st.button(
                label, key=f"{label}-{study_id}", icon=f":material/{icon}:"
            ):
                with shown_problem():
                    registry.move(study_id, n_places)
                    st.rerun()
        if st.button("Take out", key=f"take-out-{study_id}", icon=":material/close:"):
            with shown_problem():
                registry.cancel(study_id)
                st.rerun()


def offer_merge() -> None:
    """Offer to merge database files of other machines into this store."""
    with st.popover("Merge results", icon=":material/merge:"):
        st.markdown(
            "Database files that other machines wrote. What is already here is kept once. Larger "
            f"ones: `{command('merge FILE')}` while the dashboard is closed."
        )
        uploads = st.file_uploader(
            f"DuckDB files, at most {MAX_UPLOAD_MB} MB each",
            type=["duckdb"],
            accept_multiple_files=True,
            key="merge-files",
        )
        if uploads and st.button("Merge", type="primary", key="merge-now"):
            with shown_problem():
                for sentence in merge_files(
                    [saved_upload(upload) for upload in uploads], session.store()
                ):
                    st.markdown(plain(sentence))


@st.fragment(run_every=4.0)
def _watch(study_ids: tuple[str, ...]) -> None:
    """Draw the page again when a study was added or deleted, for example by the command `run`."""
    if tuple(session.all_studies()["study_id"]) != study_ids:
        draw_again()


page_header("studies", choose=False)
st.markdown("**Flipscope** shows how much of a benchmark score to trust.")
if lost := session.store().lost_commits:
    st.warning(plain(lost), icon=":material/database_off:")
import_outputs.draw_section()
with st.container(horizontal=True, vertical_alignment="center"):
    st.page_link("new_study/page.py", label="New study", icon=":material/add_circle:")
    offer_merge()
    words = st.text_input(
        "Find",
        key="find",
        bind="query-params",
        placeholder="name or model",
        label_visibility="collapsed",
        width=260,
    )
answer_places = questions.draw_cards(session.all_studies().to_dict("records"))
show_queue()

# Read before the rows, so that a study that ends in between is drawn again and not called stopped.
running = set(session.registry().running())
rows = session.all_studies().to_dict("records")
with st.container():
    _watch(tuple(row["study_id"] for row in rows))
hits = [row for row in rows if matches(row, words)]
with st.container(key="cards", gap="xsmall"):
    if not rows:
        st.info(
            "Nothing has been measured yet. Declare a study to begin.", icon=":material/science:"
        )
    elif not hits:
        st.info(
            f"None of the {len(rows):,} studies has that in its name or models.",
            icon=":material/search_off:",
        )
    for row in hits:
        card.draw_card(row, running=row["study_id"] in running)
how_to_read(
    "Each row is one study: its answer first, what qualifies it on the page behind **Open**. A "
    "headline says whether what flips is mostly the extractor (under the compared extractor alone) "
    "or the model (under both). Intervals are 95%; items are resampled. *Partial* studies are "
    "unbiased, because items are asked in random order. Most answers of the demo were recorded; "
    "the others are asked on this machine."
)
questions.draw_answers(answer_places, rows, running)
