"""Audit: what does this log say, and does it hold?"""

import streamlit as st

from flipcore.claims.audit_input import Finding
from flipcore.core.errors import FlipscopeError
from flipcore.reports.audit import ALONE, Audit, audit
from flipcore.reports.browser_data.steps import Steps
from pages.audit import further
from pages.common import session
from pages.common.cached import cached
from pages.common.header import page_header
from pages.common.inspector import inspector_place, open_item
from pages.common.notes import how_to_read, plain


@cached("Looking at every row", 8)
def audit_of(study_id: str) -> Audit:
    return audit(session.store(), study_id)


def card(number: int, one: Finding) -> None:
    with st.container(border=True):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**{number}. {plain(one.claim.text)}**")
        if one.claim.detail:
            left.caption(plain(one.claim.detail))
        if one.items:
            right.button(
                f"Look at {len(one.items):,}",
                key=f"look-{number}",
                icon=":material/search:",
                on_click=_open,
                args=(number, one),
                help="Opens the first of the items behind this finding; j and k step through them.",
            )


def _open(number: int, one: Finding) -> None:
    open_item(one.items[0], axis=one.axis, readout=one.extractor, finding=str(number), on=one.model)


study_id = page_header("audit")
if study_id is not None:
    try:
        report = audit_of(study_id)
    except FlipscopeError as error:
        st.info(plain(error), icon=":material/hourglass_empty:")
        st.stop()
    n = len(report.findings)
    st.markdown(f"## {plain(report.headline)}")
    st.caption(plain(f"{report.recognised} {ALONE}"))
    further.buttons(study_id)
    number_in_link = st.query_params.get("finding", "")
    opened = report.findings[int(number_in_link) - 1] if number_in_link.isdecimal() and 0 < int(number_in_link) <= n else None
    if opened and opened.items:
        model = opened.model or session.study_row(study_id)["models"][0]
        inspector_place(study_id, model, Steps(opened.items), sheet=True, title=opened.claim.text)
    for number, one in enumerate(report.findings, start=1):
        card(number, one)
    if lines := report.coverage.lines():
        with st.expander(f"Checks that could not be made ({len(lines)})"):
            st.markdown("\n".join(f"- {plain(line)}" for line in lines))
    if report.notes:
        with st.expander(f"What the import said ({len(report.notes):,})"):
            for note in report.notes:
                st.markdown(f"- {plain(note)}")

how_to_read(
    "No model is asked: every number comes from the rows of the log. **Reported against recomputed** is the mean of the "
    "log's own scores. Differences of two scores are **paired** on the same items and claimed at p < .05 each. **Repeats** "
    "are the noise floor. A flip rate is at most 2 − acc₁ − acc₂. **lm-eval's SCORE** undoes its swap of options twice, so "
    "an answer at the original place always counts as right."
)
