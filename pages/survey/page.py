"""Survey: which one of the three comes from the second set? This page shows no results."""

import streamlit as st

from flipcore.access.acting import acting
from flipcore.annotation.surveys.sheets import Survey
from flipcore.store.queries import holdout
from pages.common import session
from pages.common.header import page_header
from pages.common.notes import plain
from pages.survey import sheet

page_header("Survey", "Which one comes from the second set?", choose=False)
surveys = {row["survey_id"]: Survey.of_design(row["design"]) for row in holdout.surveys(session.store())}
link_id = acting().survey or st.query_params.get("survey", "")

if link_id in surveys:
    name = sheet.annotator(surveys[link_id])
    if name:
        sheet.run(surveys[link_id], name)
elif link_id:
    st.error("There is no survey under this link. Ask whoever sent it for a new one.", icon=":material/link_off:")
elif surveys:
    st.markdown("Choose a survey to answer:")
    for survey_id, survey in surveys.items():
        st.page_link(
            "survey/page.py",
            label=f"{plain(survey.name)} ({survey.n_triples + survey.n_checks} questions)",
            query_params={"survey": survey_id},
            icon=":material/quiz:",
        )
else:
    st.info("No survey has been built yet. It is built on the Holdout page, from two sets.", icon=":material/quiz:")
    st.page_link("holdout/page.py", label="Holdout", icon=":material/join:", query_params={"part": "Survey"})
