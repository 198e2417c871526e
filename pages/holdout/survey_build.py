"""Build a survey of two sets: how many examples, triples and attention checks a sheet has."""

import streamlit as st

from flipcore.annotation.surveys.sheets import most_triples, new_survey
from flipcore.reports.holdout_sets import Sets
from flipcore.store.queries import holdout
from pages.common import session
from pages.common.notes import shown_problem


def build_survey(sets: Sets) -> None:
    """The sizes of a sheet, and the button that makes the survey."""
    st.caption(
        "Each annotator gets a sheet of their own: labelled examples of both sets, then triples of two target entries "
        "and one retro entry, with attention checks between them. No entry stands on a sheet twice. The source shows "
        "ten examples of each set and asks ten triples, with three checks."
    )
    columns = st.columns(4)
    most = most_triples(sets.target, sets.retro, 0)
    usual = 10 if most_triples(sets.target, sets.retro, 10) >= 10 else min(10, most // 3)
    examples = columns[0].number_input("Examples of each set", 0, 50, usual, key=f"survey-examples-{sets.sets_id}")
    room = most_triples(sets.target, sets.retro, int(examples))
    triples = columns[1].number_input(
        f"Triples (at most {room})", 1, 100, max(1, min(10, room)), key=f"survey-triples-{sets.sets_id}"
    )
    checks = columns[2].number_input("Attention checks", 0, 10, 3, key="survey-checks")
    seed = columns[3].number_input("Seed", 0, 2**31 - 1, 0, key="survey-seed")
    name = st.text_input("Name that annotators see", "Which one is different?", key="survey-name", max_chars=120)
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
            holdout.keep_survey(session.store(), survey.row(sets.sets_id), [*sets.target, *sets.retro])
            st.rerun()
