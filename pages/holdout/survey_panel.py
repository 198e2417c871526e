"""The survey of two sets: build it, send its link, ask a model, exchange sheets, read results."""

import streamlit as st

from flipcore.annotation.surveys import sheets
from flipcore.annotation.surveys.sheets import (
    NO_ANSWER,
    NO_SURVEY,
    Survey,
    most_triples,
    new_survey,
    survey_results,
)
from flipcore.claims.holdout import survey_claim
from flipcore.models import model_cards
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.base.estimate import p_text
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.showing import (
    SEND_HOLDOUT_LABEL,
    offer_file,
    plain,
    saved_upload,
    show_table,
    shown_problem,
)


def show(sets: Sets) -> None:
    _results(sets)
    if st.session_state.get("model-asked"):
        st.info(plain(st.session_state.pop("model-asked")), icon=":material/smart_toy:")
    surveys = sheets.stored_surveys(session.store(), sets.sets_id)
    for survey in surveys.values():
        _one(survey, sets)
    with st.expander("Build a survey", expanded=not surveys, icon=":material/add:"):
        build_survey(sets)


def _results(sets: Sets) -> None:
    """Show the results of people, and next to them of models; a survey page never does."""
    for is_model, annotators in ((False, "People"), (True, "Models")):
        outcome, how = survey_results(session.store(), sets.sets_id, is_model=is_model)
        # Nobody expects models to have answered.
        if is_model and how in (NO_ANSWER, NO_SURVEY):
            continue
        claim = (
            None if outcome is None else survey_claim(outcome, "model" if is_model else "person")
        )
        st.markdown(f"**{annotators}.** {plain(claim.text if claim else how)}")
        if outcome is not None and claim is not None:
            st.caption(
                plain(
                    f"{claim.detail} {how}. Source's binomial test of rows: "
                    f"{p_text(outcome.p_source)}. One time in three is chance."
                )
            )


def _one(survey: Survey, sets: Sets) -> None:
    answers = sheets.answers_to(session.store(), survey)
    n_people = len({row["annotator"] for row in answers if not row["is_model"]})
    with st.container(border=True, key=f"survey-{survey.survey_id}"):
        st.markdown(
            f"**{plain(survey.name)}** · {survey.n_triples} triples, {survey.n_examples} examples "
            f"of each set, {survey.n_checks} checks · {n_people:,} "
            f"{'person has' if n_people == 1 else 'people have'} answered"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(
                "survey/page.py",
                label="Open the survey",
                icon=":material/open_in_new:",
                query_params={"survey": survey.survey_id},
            )
            st.caption(f"link for annotators: /survey?survey={survey.survey_id}")
        with st.container(horizontal=True):
            with st.popover("Ask a model", icon=":material/smart_toy:"):
                _ask(survey, sets)
            with st.popover("Sheets out", icon=":material/download:"):
                _out(survey, sets)
            with st.popover("Sheets in", icon=":material/upload:"):
                _in()
            if answers:
                offer_file(
                    "Answers as CSV",
                    sheets.file_text(SURVEY_ANSWERS.file_rows(answers)),
                    f"answers-{survey.survey_id}.csv",
                    "text/csv",
                    key=f"answers-{survey.survey_id}",
                    icon=":material/table:",
                )


def _ask(survey: Survey, sets: Sets) -> None:
    # Simulated models know the items of their own study alone.
    cards = {name: card for name, card in model_cards().items() if card.backend != "simulated"}
    model = st.selectbox("Model", list(cards), key=f"ask-model-{survey.survey_id}")
    own_function = st.text_input(
        "Or a Python function", key=f"ask-own-{survey.survey_id}", placeholder="module:function"
    )
    n = int(
        st.number_input(
            "Sheets", 1, 200, 5, key=f"ask-n-{survey.survey_id}", help="each shows other entries"
        )
    )
    budget = st.number_input(
        "Budget (US dollars)",
        0.0,
        10_000.0,
        None,
        key=f"ask-budget-{survey.survey_id}",
        placeholder="none: no paid call",
    )
    with shown_problem():
        st.caption(
            plain(
                sheets.projection(
                    session.store(), survey, sets.items, own_function or model, n, cards
                ).sentence()
            )
        )
        retro = st.checkbox(SEND_HOLDOUT_LABEL, key=f"ask-retro-{survey.survey_id}")
        if st.button("Ask", key=f"ask-{survey.survey_id}", type="primary"):
            with st.spinner("Asking …"):
                survey_run = sheets.ask_model(
                    session.store(),
                    survey,
                    sets.items,
                    own_function or model,
                    cards,
                    n_sheets=n,
                    budget_usd=budget,
                    may_send_retro=retro,
                )
            st.session_state["model-asked"] = f"{own_function or model}: {survey_run.sentence()}"
            st.rerun()


def _out(survey: Survey, sets: Sets) -> None:
    st.markdown("One sheet per annotator. The answer column is for 1, 2 or 3.")
    names = [
        line.strip()
        for line in st.text_area(
            "Annotators, a line each", key=f"names-{survey.survey_id}"
        ).splitlines()
    ]
    rows = sheets.sheet_rows(survey, [name for name in dict.fromkeys(names) if name], sets.items)
    for kind in ("csv", "json"):
        offer_file(
            f"Download as {kind.upper()}",
            sheets.file_text(rows, kind),
            f"survey-{survey.survey_id}.{kind}",
            key=f"out-{kind}-{survey.survey_id}",
            disabled=not rows,
        )


def _in() -> None:
    upload = st.file_uploader("Filled sheets, CSV or JSON", type=["csv", "json"], key="survey-in")
    if upload is None:
        return
    with shown_problem():
        # Sheets of any survey may be in the file.
        answers = sheets.returned(saved_upload(upload), sheets.stored_surveys(session.store()))
        st.markdown(
            f"{count_of(len(answers.rows), 'answer')} can be used, "
            f"{count_of(len(answers.refusals), 'row is', 'rows are')} refused."
        )
        if answers.refusals:
            show_table(
                "refused-answers",
                [{"line": line, "why": reason} for line, reason in answers.refusals[:200]],
            )
        if st.button(
            "Store the answers", key="survey-store", type="primary", disabled=not answers.rows
        ):
            judgements.keep(session.store(), SURVEY_ANSWERS, list(answers.rows))
            st.rerun()


# Build a survey of two sets: how many examples, triples and attention checks a sheet has.


def build_survey(sets: Sets) -> None:
    """Offer the sizes of a sheet, and the button that makes the survey."""
    st.caption(
        "Each annotator gets a sheet of their own: labelled examples of both sets, then triples of "
        "two benchmark entries and one holdout entry, with attention checks between them. No entry "
        "stands on a sheet twice. The source shows ten examples of each set and asks ten triples, "
        "with three checks."
    )
    columns = st.columns(4)
    most = most_triples(sets.target, sets.retro, 0)
    # The source uses ten; small sets allow fewer.
    usual = 10 if most_triples(sets.target, sets.retro, 10) >= 10 else min(10, most // 3)
    examples = columns[0].number_input(
        "Examples of each set", 0, 50, usual, key=f"survey-examples-{sets.sets_id}"
    )
    room = most_triples(sets.target, sets.retro, int(examples))
    triples = columns[1].number_input(
        f"Triples (at most {room})",
        1,
        100,
        max(1, min(10, room)),
        key=f"survey-triples-{sets.sets_id}",
    )
    checks = columns[2].number_input("Attention checks", 0, 10, 3, key="survey-checks")
    seed = columns[3].number_input("Seed", 0, 2**31 - 1, 0, key="survey-seed")
    name = st.text_input(
        "Name that annotators see", "Which one is different?", key="survey-name", max_chars=120
    )
    if st.button("Build the survey", key="build-survey", type="primary"):
        with shown_problem():
            survey = new_survey(
                name,
                sets.target,
                sets.retro,
                n_examples=int(examples),
                n_triples=int(triples),
                n_checks=int(checks),
                seed=int(seed),
            )
            holdout.keep_survey(
                session.store(), survey.row(sets.sets_id), [*sets.target, *sets.retro]
            )
            st.rerun()
