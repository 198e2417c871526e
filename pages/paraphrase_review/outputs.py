"""The part Outputs: people label which answer an output gives, to check extractors and judges.

They do not see what any extractor read.
"""

import streamlit as st

from flipcore.annotation import judge_labels
from flipcore.annotation.judge_labels import labelled_pairs, pairs_to_label
from flipcore.charts.interval_rows import interval_rows
from flipcore.claims.gates import judge_claim
from flipcore.core.records import Item
from flipcore.extractors import title_of
from flipcore.reports.read_by_people import cost_words, examples, extractor_errors, judges_of
from flipcore.reports.whole_study import judge_models
from flipcore.stats.base.estimate import percent_text
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges
from flipcore.text.counts import count_of
from pages.common import gates, session
from pages.common.differences import show_spans
from pages.common.header import show_badges
from pages.common.showing import how_to_read, plain, show_figure, show_table
from pages.paraphrase_review.desk import Desk, choose_reviewed_study, draw_answer_row

NONE_KEY = "0"
DESK = Desk(
    OUTPUT_LABELS,
    key="labels",
    start_label="Label outputs",
    icon=":material/label:",
    orders={
        "random": "at random",
        "pairs": "random pairs, for flips",
        "doubt": "outputs that extractors differ on first",
    },
    done_word="labelled",
    finished_message="Every output that is yours to label has a label.",
    stop_label="Stop, and see the errors",
    captions={
        "pairs": (
            "Both outputs of random pairs come up, mixed with others. These labels correct flips "
            "and are in no estimate of single outputs."
        ),
        "doubt": (
            "Labels given in this order show where extractors fail. They are in no estimate, "
            "because these outputs are no random sample."
        ),
    },
)


def show() -> None:
    """Show the errors of extractors and the judge's gate, or the labelling if it has begun."""
    study_id = choose_reviewed_study("outputs-study")
    if study_id is None:
        return
    if DESK.reviewer_and_order:
        _label(study_id, *DESK.reviewer_and_order)
        return
    queued = _queued(study_id)
    if not queued:
        st.info(
            "There is no output to read yet: no extractor has read a written answer of this study.",
            icon=":material/label:",
        )
        return
    _show_errors(study_id, len(queued))
    _show_n_pairs(study_id)
    DESK.show_start_form()
    if study_id in judges.studies_with_judge(session.store()):
        st.subheader("May the judge be claimed?", anchor=False)
        show_judge_gate(study_id)
    how_to_read(
        "You see a question and an output, not whose it is nor what was read in it. Each reviewer "
        "has an order of their own; a share of the outputs goes to everybody, so that agreement "
        "can be measured. **Random pairs** bring both outputs of a pair, for the page Flips. "
        "**Reads otherwise** is the share of labelled outputs in which the extractor reads another "
        "answer than most people. The page Score corrects the score by these labels."
    )


@session.cached(max_entries=16)
def _queued(study_id: str) -> list[dict]:
    return judges.outputs(session.store(), study_id)


@session.cached(max_entries=16)
def _sides(study_id: str) -> list[dict]:
    return judges.pair_sides(session.store(), study_id)


def _show_errors(study_id: str, n_outputs: int) -> None:
    """Show how often each extractor reads another answer than people do."""
    store = session.store()
    rows = judge_labels.labelled_readouts(store, study_id)
    n = len({row["call_id"] for row in rows})
    errors = extractor_errors(rows)
    if not errors:
        st.markdown(
            f"Nobody has labelled one of the {n_outputs:,} outputs of this study yet, so how "
            "often they are misread is not known."
        )
        return
    # The headline is about the worst extractor; if several are equal, the one with most labels.
    worst = max(errors, key=lambda row: (row.error.value, row.n))
    st.markdown(f"## {plain(worst.headline)}")
    call_ids = {row["call_id"] for row in rows}
    labels = judgements.standing(store, OUTPUT_LABELS, among=call_ids)
    n_people = len({row["reviewer"] for row in labels})
    cost = cost_words(len(labels), n_people, judge_labels.median_label_seconds(labels))
    st.caption(plain(f"{count_of(n, 'output')} of {n_outputs:,} counted. {cost}"))
    interval_errors = [
        (f"{title_of(error.extractor)}, {error.model}", error.error)
        for error in errors
        if error.error.has_interval
    ]
    if interval_errors:
        show_figure("reads-otherwise", lambda c: interval_rows(interval_errors, c, is_share=True))
    show_table("readers-against-people", [error.table_row() for error in errors])
    agreement = judge_labels.people_agreement(labels)
    if agreement.n_items:
        sentence = (
            "On outputs read by two people or more they agree in "
            f"{percent_text(agreement.raw)} of pairs. {agreement.sentence()}"
        )
        st.markdown(plain(sentence))
    if misread := examples(rows):
        with st.expander("Outputs that are read otherwise"):
            show_table("misread", misread)


def _show_n_pairs(study_id: str) -> None:
    """Show how many pairs of outputs are labelled; the errors above do not count these labels."""
    pairs = labelled_pairs(session.store(), study_id)
    if pairs.n_labels:
        st.caption(
            f"{count_of(len(pairs.rows), 'pair')} of {pairs.n_drawn:,} labelled: the page Flips, "
            "Parts, corrects G and A by them."
        )


@st.fragment
def _label(study_id: str, name: str, order: str) -> None:
    """Let the reviewer label one output after another."""
    store = session.store()
    queued = _queued(study_id)
    queued_ids = [output["call_id"] for output in queued]
    labels = judgements.standing(store, OUTPUT_LABELS, among=queued_ids)
    if order == "pairs":
        open_ids = pairs_to_label(_sides(study_id), name, labels)
    else:
        open_ids = judge_labels.ids_to_label(queued, name, labels, by_doubt=order == "doubt")
    # Labels of pairs are no part of estimates on single outputs, so they are counted apart.
    own_labels = [
        row
        for row in labels
        if row["reviewer"] == name
        and (row["rule_version"] == judge_labels.IN_PAIRS) == (order == "pairs")
    ]
    DESK.ask(
        own_labels,
        open_ids,
        lambda call_id: _draw_output(judges.output(store, study_id, call_id), name, order),
    )


def _draw_output(output: dict, name: str, order: str) -> None:
    """Show the question as it was asked, the output, and a button per option."""

    def keep(answer: str | None) -> None:
        by_choice, in_pairs = order == "doubt", order == "pairs"
        DESK.keep(
            lambda: judge_labels.label_row(
                output, name, answer, by_choice=by_choice, in_pairs=in_pairs
            )
        )

    item = Item(
        output["item_id"],
        output["dataset"],
        output["kind"],
        output["question"],
        tuple(output["options"]),
    )
    left, right = st.columns([2, 3])
    with left:
        st.caption("The question was")
        show_spans(output["question"], (), key=f"asked-{output['call_id']}")
    with right.container(border=True):
        st.caption(
            "The output. Which answer does it settle on? Do not solve the question, do not "
            "correct the text."
        )
        show_spans(output["text"] or " ", (), key=f"read-{output['call_id']}")
    with draw_answer_row(item, output["labels"], output["option_order"], output["call_id"], keep):
        st.button(
            "No single answer",
            key=f"label-none-{output['call_id']}",
            shortcut=NONE_KEY,
            icon=":material/block:",
            on_click=keep,
            args=(None,),
        )


def show_judge_gate(study_id: str) -> None:
    """Show whether the judge agrees with people, is free of position bias, and repeats itself."""
    report = gates.judge_report_of(study_id)
    _, position, repeated = report.sentences
    st.markdown(f"**{plain(judge_claim(report.gate).text)}**")
    if not report.gate.is_open:
        show_badges([("JUDGE NOT PASSED", "JUDGE NOT PASSED")])
    st.progress(
        min(1.0, report.gate.agreement.n_items / report.gate.fewest),
        text=f"{report.gate.agreement.n_items:,} of at least {report.gate.fewest} texts labelled; "
        f"{report.n_texts:,} were judged",
    )
    for text in report.gate.agreement.warnings:
        st.warning(plain(text), icon=":material/warning:")
    if report.gate.agreement.n_items:
        rows = [("Kappa against people", report.gate.agreement.estimate)]
        show_figure(
            "judge-kappa",
            lambda c: interval_rows(rows, c, report.gate.threshold, "lower bound wanted"),
        )
    show_table("judge-gate", judge_labels.gate_rows(report))
    st.markdown(plain(position))
    st.markdown(plain(repeated))
    store, study = session.store(), session.declared(study_id)
    labelled = judge_labels.labelled_readouts(store, study_id)
    models = [use.name for use in study.models]
    judges_report = judges_of(
        session.readouts(study_id), labelled, judge_models(store, study), models
    )
    for sentence in judges_report.sentences:
        st.markdown(plain(sentence))
    if report.n_tied:
        st.caption(
            f"On {report.n_tied} texts people are evenly divided; they have no label until one "
            "more person reads them."
        )
    st.caption(
        "An unreadable reply counts as an answer of its own. A judge that has not passed is shown "
        "on every page and excluded from all conclusions."
    )
