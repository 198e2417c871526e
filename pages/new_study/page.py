"""New study: what do you want to know about which model?"""

import datetime
from dataclasses import replace

import streamlit as st

from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.study import Study
from flipcore.detectors import family
from flipcore.reports.declaration import items_summary, models_summary, questions_summary
from flipcore.runs.demo import demo_study
from flipcore.runs.plan import parts
from flipcore.store.queries import studies
from pages.common import session
from pages.common.drafts import offered_draft
from pages.common.header import page_header
from pages.common.showing import plain
from pages.new_study.items import items_step, offer_own_file
from pages.new_study.models import (
    choose_models,
    choose_reference,
    choose_references,
    models_step,
    with_callable,
)
from pages.new_study.price import draw_price_panel
from pages.new_study.questions import parts_step, prompt_step, purposes_step, show_preview

MAX_LETTERS = 120  # of the name of a study


def draft() -> Study:
    """Return the study with whose settings the steps start.

    The link (`?from_study=`) names a stored study or a draft of another page. Without it the steps
    start with the demo's study.
    """
    origin = st.query_params.get("from_study", "")
    # Only for a new link, because later runs must keep what the user has set.
    if st.session_state.get("draft-of") != origin:
        parent, problem = _study_to_copy(origin)
        offered = offered_draft(origin)
        if offered:
            base = offered.study
        elif parent:
            base = replace(parent, name=f"{parent.name} (copy)")
        else:
            base = replace(demo_study(), name="")
        st.session_state["draft"] = base
        if origin and not parent and not problem and not offered:
            problem = f"The study of this link is not here; this is a copy of {demo_study().name}."
        st.session_state["draft-of"], st.session_state["draft-problem"] = origin, problem
        st.session_state["draft-sources"] = list(base.items)
    if st.session_state["draft-problem"]:
        st.error(plain(st.session_state["draft-problem"]), icon=":material/unknown_document:")
    return st.session_state["draft"]


def _study_to_copy(study_id: str) -> tuple[Study | None, str]:
    """Return the stored study and "", or None and why it cannot be copied ("" if it is unknown)."""
    try:
        study = studies.study(session.store(), study_id)
        if study is None:
            return None, ""
        if study.is_recorded:
            return (
                None,
                "This study was imported: recorded outputs cannot be asked again. This is a copy "
                "of the demo instead.",
            )
        parts(study)
        return study, ""
    except BadInput as error:
        return None, f"This study cannot be duplicated here. {error}"


def set_summary(number: int, summary: str) -> None:
    """Set the summary in the title of a step's expander."""
    if st.session_state.get(f"summary-{number}") != summary:
        # The title was drawn before the content, so the page has to be drawn again.
        st.session_state[f"summary-{number}"] = summary
        st.rerun()


def step_details(number: int, title: str, icon: str):
    """Return an expander for the details of a step, with a summary of them in its title."""
    summary = st.session_state.get(f"summary-{number}")
    return st.expander(
        f"{title}" + (f" – {plain(summary)}" if summary else ""),
        icon=icon,
        expanded=st.session_state.get(f"step-{number}", False),
        key=f"step-{number}",
        on_change="rerun",
    )


page_header("new_study", choose=False)
base = draft()
is_copy = bool(st.query_params.get("from_study"))
offered = offered_draft(st.query_params.get("from_study", ""))
for note in offered.notes if offered else ():
    st.caption(plain(note))
steps, side = st.columns([5, 2], gap="medium")

with steps:
    st.header("1 Your questions", anchor=False)
    sources = st.session_state["draft-sources"]
    offer_own_file(sources)
    with step_details(1, "Holdout, other sources and filters", ":material/list:"):
        sources = items_step(sources)
        set_summary(1, items_summary(sources))
    st.header("2 The model", anchor=False)
    models = choose_models(list(base.models))
    how_asked = step_details(3, "How it is asked", ":material/smart_toy:")
    with how_asked:
        models = with_callable(models)
    st.header("3 What do you want to find out?", anchor=False)
    purposes = purposes_step(base, sources)
    with step_details(2, "Axes and extractors", ":material/shuffle:"):
        parts_chosen = (
            parts_step(base, sources, models, purposes, is_copy=is_copy) if sources else {}
        )
        if not sources:
            st.info("Choose items first: what can be changed depends on them.")
        set_summary(2, questions_summary(parts_chosen))
    with how_asked:
        settings = prompt_step(base) | parts_chosen
        models = models_step(models, parts_chosen.get("extractors", ()))
        reference_model = choose_reference(
            base.reference_model, models, settings.get("extractors", ())
        )
        reference_models = choose_references(base.reference_models, models)
        set_summary(3, models_summary(models))
    if sources:
        with st.expander("See what will be asked", icon=":material/visibility:"):
            show_preview(replace(base, items=tuple(sources), **settings))
    toml = st.expander("The study as TOML", icon=":material/code:")
# Drawn after the steps, because on a phone it is below them. Otherwise the steps would move.
with side:
    before_start = st.container(border=True, key="before-start")
with before_start:
    st.header("Before you start", anchor=False)
    # With a limit of Streamlit's own, a longer name would be dropped almost without notice.
    entered = st.text_input(
        "Name", base.name or f"Study of {datetime.datetime.now():%Y-%m-%d %H:%M}", key="study-name"
    )
    name = entered[:MAX_LETTERS].strip()
    if len(entered) > MAX_LETTERS:
        st.info(
            f"A name has at most {MAX_LETTERS} characters; these {len(entered):,} are cut there.",
            icon=":material/content_cut:",
        )

study = problem = None
if sources and settings.get("axes") and settings.get("extractors") and models:
    axis_names = [part.name for part in settings["axes"]]
    extractor_names = [part.name for part in settings["extractors"]]
    # Replaced, so that settings without a control stay as in the draft.
    study = replace(base, name=name, items=tuple(sources), models=tuple(models), **settings)
    base = replace(base, reference_model=reference_model)
    study = replace(
        study,
        detectors=family(base, axis_names, extractor_names),
        reference_model=reference_model,
        reference_models=reference_models,
    )

with toml:
    if st.toggle("Edit it here", key="edit-toml") and study is not None:
        text = st.text_area(
            "Study", study.to_toml(), height=420, key="toml", label_visibility="collapsed"
        )
        try:
            study = Study.from_toml(text)
        except FlipscopeError as error:
            study, problem = None, str(error)
            st.error(plain(error), icon=":material/error:")
    elif study is not None:
        st.code(study.to_toml(), language="toml")

with before_start:
    if study is not None:
        draw_price_panel(study)
    else:
        missing = [
            word
            for word, choice in (
                ("items", sources),
                ("an axis", settings.get("axes")),
                ("an extractor", settings.get("extractors")),
                ("a model", models),
            )
            if not choice
        ]
        st.info(
            f"Still to choose: {', '.join(missing)}."
            if missing
            else "Correct the TOML to continue."
        )
