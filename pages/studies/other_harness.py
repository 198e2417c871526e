"""A study's prompts for another harness, as a download."""

import streamlit as st

from flipcore.core.study import Study
from flipcore.runs.harnesses.writing import HARNESSES, zipped_variants
from pages.common import session
from pages.common.files import offer_file
from pages.common.notes import plain, shown_problem

TITLES = {"inspect": "Inspect AI", "lm-eval": "lm-evaluation-harness", "jsonl": "JSONL for any other"}


def harness_button(study_id: str, study: Study) -> None:
    """The prompts as a task of Inspect or lm-eval; what the harness writes is imported on this page."""
    with st.popover("For another harness", icon=":material/output:"):
        st.markdown("The study's prompts as a task. Import what the harness writes, and it becomes this study.")
        harness = st.selectbox("Harness", HARNESSES, format_func=TITLES.__getitem__, key=f"harness-{study_id}")
        names = [use.name for use in study.models]
        model = names[0] if len(names) == 1 else st.selectbox("Model", names, key=f"harness-model-{study_id}")
        if st.button("Write the prompts", key=f"harness-write-{study_id}"):
            with shown_problem():
                packed, sentence = zipped_variants(session.store(), study, harness, model)
                st.markdown(plain(sentence))
                offer_file(
                    "Download", packed, f"variants-{study_id}-{harness}.zip", "application/zip", key=f"harness-zip-{study_id}"
                )
