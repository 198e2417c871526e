"""Audit: what does this log say, and does it hold?"""

import streamlit as st

from flipcore.core.errors import FlipscopeError
from pages.audit import cached, finding
from pages.common import session
from pages.common.header import page_header
from pages.common.inspector import inspector
from pages.common.notes import plain

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
    number_in_link = st.query_params.get("finding", "")
    opened = audit.findings[int(number_in_link) - 1] if number_in_link.isdecimal() and 0 < int(number_in_link) <= n else None
    if opened and opened.items:
        item = st.query_params.get("item", opened.items[0])
        models = session.study_row(study_id)["models"]
        model = opened.model or models[0]
        with st.container(border=True):
            st.markdown(f"**{plain(opened.claim.text)}**")
            inspector(study_id, model, item, opened.axis, opened.extractor, opened.items)
    for number, one in enumerate(audit.findings, start=1):
        finding.card(number, one)
    if audit.notes:
        with st.expander(f"What the import said ({len(audit.notes):,})"):
            for note in audit.notes:
                st.markdown(f"- {plain(note)}")

with st.expander("How to read this"):
    st.markdown(
        "No model is asked: every number comes from the rows of the log. **Reported against recomputed**: the mean of the "
        "log's own scores, where it holds all the rows. **Readouts** are the log's filters and scorers, and *regex* and *cloze*, "
        "which Flipscope reads again from the saved texts and log-likelihoods. A difference of two scores is **paired**: both "
        "are taken on the same items, so the interval is that of the items' differences; the unpaired one beside it is what "
        "two printed standard errors give. It is claimed at p < .05, each on its own.\n\n"
        "**Repeats** are the noise floor. **A flip rate is at most 2 − acc₁ − acc₂**, because of two different answers one is "
        "wrong.\n\n"
        "**lm-eval's SCORE** asks an item once for each place of the right option and undoes the swap by two lines, of which "
        "the second undoes the first: an answer at the option's original place always counts as the right option. With K "
        "options, a model that always names one place, where a share p of the right options stand, gets "
        "p + (1 − p)(K − 2)/K instead of (1 − p)(K − 2)/K: with K = 10 and p = .095, .819 instead of .724."
    )
