"""The part Survey: build a survey of both sets, collect answers, and read the results."""

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
    """Show the results, the surveys of these sets, and the form for a new one."""
    _show_results(sets)
    if st.session_state.get("model-asked"):
        st.info(plain(st.session_state.pop("model-asked")), icon=":material/smart_toy:")
    surveys = sheets.stored_surveys(session.store(), sets.sets_id)
    for survey in surveys.values():
        _show_survey(survey, sets)
    with st.expander("Build a survey", expanded=not surveys, icon=":material/add:"):
        offer_new_survey(sets)


def _show_results(sets: Sets) -> None:
    """Show the results of people and of models. The survey's own page must not show them."""
    for is_model, annotators in ((False, "People"), (True, "Models")):
        outcome, how = survey_results(session.store(), sets.sets_id, is_model=is_model)
        # Surveys are made for people, so say nothing if no model has answered.
        if is_model and how in (NO_ANSWER, NO_SURVEY):
            continue
        claim = None
        if outcome is not None:
            claim = survey_claim(outcome, "model" if is_model else "person")
        st.markdown(f"**{annotators}.** {plain(claim.text if claim else how)}")
        if outcome is not None and claim is not None:
            st.caption(
                plain(
                    f"{claim.detail} {how}. Source's binomial test of rows: "
                    f"{p_text(outcome.p_source)}. One time in three is chance."
                )
            )


def _show_survey(survey: Survey, sets: Sets) -> None:
    """Show a survey with its link, and offer to ask a model and to exchange sheets."""
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
                _offer_model(survey, sets)
            with st.popover("Sheets out", icon=":material/download:"):
                _offer_sheets(survey, sets)
            with st.popover("Sheets in", icon=":material/upload:"):
                _import_sheets()
            if answers:
                offer_file(
                    "Answers as CSV",
                    sheets.file_text(SURVEY_ANSWERS.file_rows(answers)),
                    f"answers-{survey.survey_id}.csv",
                    "text/csv",
                    key=f"answers-{survey.survey_id}",
                    icon=":material/table:",
                )


def _offer_model(survey: Survey, sets: Sets) -> None:
    """Offer to let a model or a Python function answer the survey."""
    # A simulated model knows only the items of its own study.
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
    name = own_function or model
    with shown_problem():
        price = sheets.projection(session.store(), survey, sets.items, name, n, cards)
        st.caption(plain(price.sentence()))
        may_send_holdout = st.checkbox(SEND_HOLDOUT_LABEL, key=f"ask-retro-{survey.survey_id}")
        if st.button("Ask", key=f"ask-{survey.survey_id}", type="primary"):
            with st.spinner("Asking …"):
                survey_run = sheets.ask_model(
                    session.store(),
                    survey,
                    sets.items,
                    name,
                    cards,
                    n_sheets=n,
                    budget_usd=budget,
                    may_send_retro=may_send_holdout,
                )
            st.session_state["model-asked"] = f"{name}: {survey_run.sentence()}"
            st.rerun()


def _offer_sheets(survey: Survey, sets: Sets) -> None:
    """Ask for the annotators' names, and offer their sheets as a file."""
    st.markdown("One sheet per annotator. The answer column is for 1, 2 or 3.")
    text = st.text_area("Annotators, a line each", key=f"names-{survey.survey_id}")
    names = dict.fromkeys(line.strip() for line in text.splitlines())
    rows = sheets.sheet_rows(survey, [name for name in names if name], sets.items)
    for kind in ("csv", "json"):
        offer_file(
            f"Download as {kind.upper()}",
            sheets.file_text(rows, kind),
            f"survey-{survey.survey_id}.{kind}",
            key=f"out-{kind}-{survey.survey_id}",
            disabled=not rows,
        )


def _import_sheets() -> None:
    """Ask for filled sheets, of any survey, and offer to store their answers."""
    upload = st.file_uploader("Filled sheets, CSV or JSON", type=["csv", "json"], key="survey-in")
    if upload is None:
        return
    with shown_problem():
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


N_EXAMPLES = N_TRIPLES = 10  # as in the source


def offer_new_survey(sets: Sets) -> None:
    """Ask how many examples, triples and checks a sheet has, and offer to build the survey."""
    st.caption(
        "Each annotator gets a sheet of their own: labelled examples of both sets, then triples of "
        "two benchmark entries and one holdout entry, with attention checks between them. No entry "
        "stands on a sheet twice. The source shows ten examples of each set and asks ten triples, "
        "with three checks."
    )
    examples_place, triples_place, checks_place, seed_place = st.columns(4)
    # Small sets get fewer examples, so that enough triples remain.
    n_usual = N_EXAMPLES
    if most_triples(sets.target, sets.retro, N_EXAMPLES) < N_TRIPLES:
        n_usual = min(N_EXAMPLES, most_triples(sets.target, sets.retro, 0) // 3)
    n_examples = examples_place.number_input(
        "Examples of each set", 0, 50, n_usual, key=f"survey-examples-{sets.sets_id}"
    )
    n_possible = most_triples(sets.target, sets.retro, int(n_examples))
    n_triples = triples_place.number_input(
        f"Triples (at most {n_possible})",
        1,
        100,
        max(1, min(N_TRIPLES, n_possible)),
        key=f"survey-triples-{sets.sets_id}",
    )
    n_checks = checks_place.number_input("Attention checks", 0, 10, 3, key="survey-checks")
    seed = seed_place.number_input("Seed", 0, 2**31 - 1, 0, key="survey-seed")
    name = st.text_input(
        "Name that annotators see", "Which one is different?", key="survey-name", max_chars=120
    )
    if st.button("Build the survey", key="build-survey", type="primary"):
        with shown_problem():
            survey = new_survey(
                name,
                sets.target,
                sets.retro,
                n_examples=int(n_examples),
                n_triples=int(n_triples),
                n_checks=int(n_checks),
                seed=int(seed),
            )
            holdout.keep_survey(
                session.store(), survey.row(sets.sets_id), [*sets.target, *sets.retro]
            )
            st.rerun()
