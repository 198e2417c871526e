"""Audit: what does this log say, and does it hold?"""

import streamlit as st

from flipcore.core.errors import FlipscopeError
from pages.audit import cached, finding, further
from pages.common import session
from pages.common.header import page_header
from pages.common.inspector import inspector_place
from pages.common.notes import plain
from pages.common.reading import how_to_read

study_id = page_header("Audit", "What does this log say, and does it hold?")
if study_id is not None:
    try:
        audit = cached.audit(study_id)
    except FlipscopeError as error:
        st.info(plain(error), icon=":material/hourglass_empty:")
        st.stop()
    n = len(audit.findings)
    st.markdown(f"### {n:,} finding{'s' * (n != 1)}, worst first" if n else "### Nothing speaks against this log.")
    st.caption(plain(audit.recognised))
    further.buttons(study_id)
    number_in_link = st.query_params.get("finding", "")
    opened = audit.findings[int(number_in_link) - 1] if number_in_link.isdecimal() and 0 < int(number_in_link) <= n else None
    if opened and opened.items:
        model = opened.model or session.study_row(study_id)["models"][0]
        inspector_place(study_id, model, opened.items, sheet=True, title=opened.claim.text)
    for number, one in enumerate(audit.findings, start=1):
        finding.card(number, one)
    if audit.notes:
        with st.expander(f"What the import said ({len(audit.notes):,})"):
            for note in audit.notes:
                st.markdown(f"- {plain(note)}")

how_to_read(
    "No model is asked: every number comes from the rows of the log. **Reported against recomputed** is the mean of the "
    "log's own scores. Differences of two scores are **paired** on the same items and claimed at p < .05 each. **Repeats** "
    "are the noise floor. A flip rate is at most 2 − acc₁ − acc₂. **lm-eval's SCORE** undoes its swap of options twice, so "
    "an answer at the original place always counts as right."
)
