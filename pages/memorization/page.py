"""Memory: is the score memory?"""

import streamlit as st

from flipcore.core.study import Study
from flipcore.detectors import sees_memory
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.memory import kinds_in
from flipcore.stats.memory import frames
from pages.common import modes, record, repeats, screen, session
from pages.common.header import offer_suited, page_header
from pages.common.inspector import draw_inspector
from pages.common.showing import shown_problem
from pages.memorization import agreement, gap, loss, pearl, summary, truth
from pages.memorization.cached import View
from pages.memorization.items import PARTS, set_title

PAGE = "memorization"
TABS = {
    "summary": summary,
    "gap": gap,
    "loss": loss,
    "pearl": pearl,
    "agreement": agreement,
    "truth": truth,
}


def _fits(study: Study) -> bool:
    return sees_memory(study, session.roles(study.study_id))


study_id = page_header("memorization", fits=_fits)
if study_id is not None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line"):
        tab = screen.segments("Part", list(TABS), "tab", format_func=PARTS.__getitem__)
        mode = modes.mode_selector()
        controls = screen.Controls()
    lock = modes.lock_of(study_id, mode, PAGE)
    start = loss.START | pearl.START | gap.START
    settings = modes.view_of(study_id, PAGE, start, lock)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None, everything=True)
    if modes.can_show(study_id, PAGE, mode, lock, start, has_readouts=not frame.empty):
        models = list(frame["model"].unique())
        kinds = kinds_in(frames.compared_sets(frame, session.declared(study_id)))
        with controls.place:
            model = st.selectbox("Model", models, key="model", bind="query-params")
            # PEARL needs passages. With a key of its own, its control does not change the kind that
            # the other parts show.
            is_on_passages = tab == "pearl" and "completion" in kinds
            kind = screen.segments(
                "Items",
                kinds,
                "passages" if is_on_passages else "kind",
                default="completion" if is_on_passages else kinds[0],
                label_visibility="visible",
                format_func=set_title,
            )
        controls.note(model, set_title(kind).lower())
        view = View(study_id, session.store().revision(study_id), model, kind, mode == "locked")
        if not view.item_roles or not view.control_roles:
            st.info(
                "This page compares items that may have been trained on with controls that cannot "
                "have been. This study has only one of the two among these items: add items with "
                "the role control (or benchmark) under New study.",
                icon=":material/compare:",
            )
            offer_suited("memorization/page.py", _fits)
            st.page_link(
                "new_study/page.py",
                label="Declare a study with controls",
                icon=":material/add_circle:",
            )
        else:
            with shown_problem():
                TABS[tab].show(view, mode, settings, controls)
            if st.query_params.get("item") and tab != "truth":
                draw_inspector(study_id, model, Steps(view.frame["item_id"].unique()), sheet=True)
            repeats.show(study_id)
            st.caption(modes.note_text(mode, study_id, "at every position of a cut-off at once"))
            record.show_decisions(study_id)
