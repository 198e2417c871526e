"""Ranking: which model is better, and does that order hold?"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.extractors import title_of
from flipcore.reports.browser_data.levels import start_of
from flipcore.reports.ranking import RankingReport, compares_models, pair_rows
from flipcore.stats.flips.decomposition import REFERENCE, default_reference
from pages.common import modes, record, repeats, screen, session
from pages.common.header import offer_suited, page_header
from pages.common.notes import how_to_read, plain
from pages.common.tables import show_table
from pages.components.ranking_board import ranking_board
from pages.ranking import behind, by_model, cached

PAGE = "ranking"
START = {"level": 0.95, "reference": REFERENCE, "role": ""}
JOINT = (
    "In every mode, rank bars and p over all pairs hold together (guarded t tests in both directions, Holm: another test than a pair's "
    "own, so p differs even where there is one pair), and so do the differences for all pairs at once (Bonferroni, 95 %). An accuracy "
    "and what says “pair alone” hold one at a time."
)
BAND = "for all models and all ways of asking and reading at once, at any one level"


def settings(study_id: str, lock: dict | None) -> dict:
    """Level, reference extractor and role: those of the lock, or what the controls are left at."""
    scorers = session.declared(study_id).scorer_names
    view = modes.view_of(study_id, PAGE, start_of(scorers, START), lock)
    lock_id = lock["lock_id"] if lock else None
    names = list(session.readouts(study_id, lock=lock_id)["extractor"].unique())
    roles = cached.roles(study_id, lock_id)
    own = view["reference"] if view["reference"] in names else default_reference(names, scorers)
    role = view["role"] if view["role"] in roles else roles[0]
    if lock is None:
        with screen.view_button():
            own = st.selectbox(
                "Reference extractor",
                names,
                names.index(own),
                key="ranking-reference",
                bind="query-params",
                format_func=title_of,
            )
            role = st.selectbox("Items", roles, roles.index(role), key="ranking-role", bind="query-params")
        screen.view_line(title_of(own), f"{role.replace('_', ' ')} items")
    return view | {"reference": own, "role": role}


@st.fragment
def board(study_id: str, mode: str, view: cached.View, level: float, report: RankingReport) -> None:
    """The board, and behind a way of it the outputs on which two models differ."""
    moved, decision, way = ranking_board(
        cached.board(view, level),
        key=f"ranking-{study_id}-{mode}-{view.reference}-{view.role}",
        locked=mode == "locked",
        opened=st.query_params.get("way", ""),
    )
    record.log_move(study_id, moved)
    record.offer(study_id, PAGE, mode, decision and decision | {"reference": view.reference, "role": view.role})
    st.caption(modes.note(mode, study_id, BAND))
    if way:
        st.query_params["way"] = way
        st.rerun(scope="fragment")
    behind.show(study_id, report)
    modes.remember(study_id, PAGE, {"level": 0.95}, moved)


def content(study_id: str, mode: str, lock: dict | None, line: DeltaGenerator) -> None:
    """Everything below the header of a study with answers; `line` is the one with the mode."""
    with line:
        at = settings(study_id, lock)
    view = cached.view_of(study_id, lock["lock_id"] if lock else None, at["reference"], at["role"])
    report = cached.report(view, at["level"])
    if report is None:
        st.markdown("## Only one model has been answered so far, so there is nothing to rank.")
        return
    board(study_id, mode, view, at["level"], report)
    st.markdown(plain(report.claims[1].text))
    for note in report.notes:
        st.caption(plain(note))
    for one in cached.differences(view, at["level"]):
        st.markdown(plain(one.claim.text))
        st.caption(plain(one.claim.detail))
    st.subheader("Every pair on the same items", anchor=False)
    show_table("pairs-of-models", pair_rows(report.pairs))
    st.caption(JOINT)
    by_model.flip_surfaces(view)
    by_model.decomposition(view)
    repeats.show(study_id)
    if mode != "locked":
        by_model.memory_and_inflation(view)
    record.history(study_id)


study_id = page_header("ranking", fits=compares_models)
if study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    with line:
        mode = modes.mode_selector()
    lock = modes.lock_of(study_id, mode, PAGE)
    if mode == "locked" and lock is None:
        modes.offer_lock(
            study_id, PAGE, modes.view_of(study_id, PAGE, start_of(session.declared(study_id).scorer_names, START), None)
        )
    elif not compares_models(session.declared(study_id)):
        st.markdown("## This study asks one model. Duplicate it and add another to compare them.")
        offer_suited(f"{PAGE}/page.py", compares_models)
    elif session.readouts(study_id, lock=lock["lock_id"] if lock else None).empty:
        st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")
    else:
        content(study_id, mode, lock, line)

how_to_read(
    "A row is one **way**: a version of the prompt under one extractor. The number is the share of right answers. The dot "
    "is the model's rank, the bar its **rank interval**: all bars hold at once at the level above. A tinted cell is first. "
    "Click a row to read answers on which two models differ. **p, pair alone** is McNemar's, or a t test where samples are "
    "averaged."
)
