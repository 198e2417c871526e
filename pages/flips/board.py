"""The threshold board: how much of what flips is genuine, under each extractor and change, at the level that is dragged."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.claims import flips
from flipcore.reports.browser_data.levels import at_settings, band_words, start_of, with_own_reference
from flipcore.reports.worked_examples import flips_example
from pages.common import gates, modes, record, repeats, session
from pages.common.flip_verdicts import marked_flips_by_readout
from pages.common.header import offer_suited
from pages.common.notes import how_to_read, plain
from pages.components.boards import threshold_board
from pages.flips import behind, board_data, each_readout, predicted

PAGE = "decomposition"  # what locks and decisions of every release are stored under


def what_is_not_claimed(closed_gates: dict[str, str]) -> None:
    """Each reason once, with all the axes and extractors that it closes."""
    for why in dict.fromkeys(closed_gates.values()):
        names = [name.replace("_", " ") for name in closed_gates if closed_gates[name] == why]
        st.warning(plain(f"Not claimed: {' and '.join(names)}. {why}"), icon=":material/door_front:")


@st.fragment
def board(study_id: str, model: str, mode: str, view: dict, closed_gates: dict, cells: list) -> None:
    """The threshold board, and beside it the outputs behind a row that was clicked."""
    rows = {f"{one.axis}|{one.extractor}" for one in cells}
    is_open = behind.opened_row() in rows
    with st.container(key="beside"):
        left, right = st.columns([11, 9], gap="medium") if is_open else (st.container(), None)
    with left:
        moved, decision, row = threshold_board(
            at_settings(board_data.board(study_id, model, mode, closed_gates), view),
            key=f"board-{study_id}-{model}-{mode}",
            locked=mode == "locked",
            opened=behind.opened_row(),
        )
        record.log_move(study_id, moved)
        record.offer(study_id, PAGE, mode, decision and decision | {"model": model})
        st.caption(modes.note(mode, study_id, band_words(cells)))
    if right is not None:
        with right:
            behind.show(study_id, model, mode, view["reference"])
    if row in rows:
        behind.open_row(study_id, model, mode, row, view["reference"])
        st.rerun(scope="fragment")
    modes.remember(study_id, PAGE, start_of(session.declared(study_id).scorer_names), moved)


def show(study_id: str, line: DeltaGenerator) -> None:
    """The board with every estimate under it; the mode and the model stand in `line`."""
    with line:
        mode = modes.mode_selector()
        choice = st.container(width=220)
    lock = modes.lock_of(study_id, mode, PAGE)
    scorers = session.declared(study_id).scorer_names
    start = start_of(scorers)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    models = list(frame["model"].unique())
    example = ""
    if mode == "locked" and lock is None:
        modes.offer_lock(study_id, PAGE, modes.view_of(study_id, PAGE, start, None))
    elif not models:
        st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")
    else:
        model = choice.selectbox("Model", models, key="model", bind="query-params", label_visibility="collapsed")
        coded = board_data.answers(study_id, model, mode)
        view = with_own_reference(modes.view_of(study_id, PAGE, start, lock), coded.extractors, scorers)
        cells = board_data.decompositions(study_id, model, mode, view)
        example = flips_example(cells)
        if view["reference"] not in coded.extractors:
            st.markdown(f"## {plain(flips.lacking_reference(view['reference'], coded.extractors).text)}")
        elif not cells:
            st.markdown("## This study only sends the same prompts again. Add an axis to have something to decompose.")
            offer_suited("flips/page.py", lambda study: study.changes_prompts)
        else:
            closed_gates = gates.closed_gates(study_id, {one.axis for one in cells}, {one.extractor for one in cells})
            board(study_id, model, mode, view, closed_gates, cells)
            what_is_not_claimed(closed_gates)
            repeats.show(study_id)
            st.subheader("Every estimate", anchor=False)
            heat = session.temperature(study_id, model)
            family = board_data.every_pairing(study_id, model, mode)
            board_data.table(cells, flips.cell_claims(cells, closed_gates, heat, family), heat)
            board_data.warnings(cells)
            marked_flips_by_readout(study_id, model, cells)
            each_readout.section(study_id, model, mode, view["policy"])
            predicted.predictor(study_id, model, mode)
            record.history(study_id)
    how_to_read(
        "**T** is how often two harmless versions of an item get different answers, **G** the same under the reference extractor, "
        "**A** is T − G. ✓ artifact: more pairs flip under one extractor alone than under both. ✓ genuine: more under both. Each beyond "
        "its **noise floor** (line; reference: diamond), how often reruns flip. p: Holm over rows.",
        example=example,
    )
