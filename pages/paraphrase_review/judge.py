"""Judge: does the model that reads answers read them as people do? Labels are given without seeing what it said."""

import streamlit as st

from flipcore.annotation.judge_labels import gate_rows, ids_to_label, label_row, undo_row
from flipcore.annotation.paraphrases.verdicts import reviewer_name
from flipcore.charts.interval_rows import interval_rows
from flipcore.claims.gates import judge_claim
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Item
from flipcore.store.queries import judges
from flipcore.text.answers import answer_text
from pages.common import gates, session
from pages.common.differences import marked_span
from pages.common.header import show_badges
from pages.common.identity import name_field
from pages.common.links import study_choice
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_figure, show_table
from pages.paraphrase_review.judging import reviewer

NONE_KEY = "0"


def show() -> None:
    studies = judges.studies_with_judge(session.store())
    if not studies:
        st.info(
            "No judge has read anything yet. Declare a study with the extractor Judge and name a model that judges.",
            icon=":material/balance:",
        )
        st.page_link("new_study/page.py", label="Declare a study", icon=":material/add_circle:")
        return
    study_id = study_choice("Study", studies, "judge-study", 420)
    name = st.session_state.get("labels-as")
    if name:
        _label(study_id, name)
    else:
        judge_gate(study_id)
        _who()


def _who() -> None:
    """A form, so that after Enter no field has the keys of the options."""
    with st.form("label-as", border=False):
        name = name_field("Your name, to label texts", "judge-name", value=reviewer(), max_chars=80, width=320)
        if st.form_submit_button("Label texts", type="primary", icon=":material/label:") and name.strip():
            with shown_problem():
                st.session_state["labels-as"] = reviewer_name(name)
                st.rerun()


@st.fragment
def _label(study_id: str, name: str) -> None:
    store = session.store()
    texts = {one["call_id"]: one for one in judges.judged_texts(store, study_id)}
    labels = [row for row in judges.labels(store) if row["call_id"] in texts]
    open_ids = ids_to_label(list(texts.values()), name, labels)
    mine = [row for row in labels if row["reviewer"] == name]
    st.progress(
        len(mine) / max(len(mine) + len(open_ids), 1), text=plain(f"{name}: {len(mine):,} labelled · {len(open_ids):,} left")
    )
    if open_ids:
        _text(texts[open_ids[0]], name)
    else:
        st.success("Every text that is yours to label has a label. Thank you.")
    with st.container(horizontal=True):
        if mine:
            st.button(
                "Take the last one back",
                key="unlabel",
                shortcut="z",
                icon=":material/undo:",
                on_click=lambda: judges.keep_labels(store, [undo_row(mine[-1])]),
            )
        if st.button("Stop, and see the gate", key="unlabelled", icon=":material/logout:"):
            st.session_state.pop("labels-as")
            st.rerun()


def _text(text: dict, name: str) -> None:
    """The question as it was asked, the text, and one key an option."""
    item = Item(text["item_id"], text["dataset"], text["kind"], text["question"], tuple(text["options"]))
    left, right = st.columns([2, 3])
    with left:
        st.caption("The question was")
        marked_span(text["question"], None, key=f"asked-{text['call_id']}")
    with right.container(border=True):
        st.caption("The text to read. Which answer does it settle on? Do not solve the question, do not correct the text.")
        marked_span(text["text"], None, key=f"read-{text['call_id']}")
    if item.kind == "number":
        with st.form("number", border=False):
            place = f"number-{text['call_id']}"
            st.text_input("The number that it gives", key=place, width=260)
            st.form_submit_button(
                "This number", type="primary", on_click=lambda: _keep(text, name, st.session_state[place].strip() or "nothing")
            )
    with st.container(horizontal=True):
        for number, (label, option) in enumerate(zip(text["labels"], text["option_order"], strict=True), start=1):
            st.button(
                plain(f"{label}. {answer_text(item, str(option))}"),
                key=f"label-{text['call_id']}-{option}",
                shortcut=str(number) if number < 10 else None,
                on_click=_keep,
                args=(text, name, str(option)),
            )
        st.button(
            "No single answer",
            key=f"label-none-{text['call_id']}",
            shortcut=NONE_KEY,
            icon=":material/block:",
            on_click=_keep,
            args=(text, name, None),
        )


def _keep(text: dict, name: str, answer: str | None) -> None:
    """Runs before the next text is drawn."""
    try:
        judges.keep_labels(session.store(), [label_row(text, name, answer)])
    except FlipscopeError as error:
        st.toast(plain(error), icon=":material/error:")


# The gate of a study's judge: agreement with people, the order of the options, and itself when asked again.


def judge_gate(study_id: str) -> None:
    """Verdict, progress, figure and table of the gate."""
    report = gates.judge_report_of(study_id)
    _, position, again = report.sentences
    st.markdown(f"## {plain(judge_claim(report.gate).text)}")
    if not report.gate.is_open:
        show_badges([("JUDGE NOT PASSED", "JUDGE NOT PASSED")])
    st.progress(
        min(1.0, report.gate.agreement.n_items / report.gate.fewest),
        text=f"{report.gate.agreement.n_items:,} of at least {report.gate.fewest} texts labelled; {report.n_texts:,} were judged",
    )
    for text in report.gate.agreement.warnings:
        st.warning(plain(text), icon=":material/warning:")
    if report.gate.agreement.n_items:
        rows = [("Kappa against people", report.gate.agreement.estimate)]
        show_figure("judge-kappa", lambda c: interval_rows(rows, c, report.gate.threshold, "lower bound wanted"))
    show_table("judge-gate", gate_rows(report))
    st.markdown(plain(position))
    st.markdown(plain(again))
    if report.n_even:
        st.caption(f"On {report.n_even} texts people are evenly divided; they have no label until one more person reads them.")
    st.caption(
        "An unreadable reply counts as an answer of its own. A judge that has not passed is shown on every page and "
        "excluded from all conclusions. Whoever labels sees the text and the options, not what the judge said."
    )
