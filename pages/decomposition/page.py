"""Decomposition: how much of the instability is genuine?"""

import streamlit as st

from flipcore.charts.bars import decomposition_bars
from flipcore.charts.theme import colours
from pages.common import modes, record, session
from pages.common.header import page_header
from pages.common.notes import plain
from pages.components.threshold_board import threshold_board
from pages.decomposition import alone, cached, gates, people, predicted

PAGE = "decomposition"
BAND = "for every row, reference readout and null policy at once, at any one level"

study_id = page_header("Decomposition", "How much of the instability is genuine?")
if study_id is not None:
    with st.container(horizontal=True, vertical_alignment="center"):
        mode = modes.chosen()
        choice = st.container(width=320)
    lock = modes.lock_of(study_id, mode, PAGE)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    models = list(dict.fromkeys(frame["model"]))
    if mode == "locked" and lock is None:
        modes.offer_lock(study_id, PAGE, modes.view_of(study_id, PAGE, cached.START, None))
    elif not models:
        st.info("Nothing has come back yet. This page fills as answers arrive.", icon=":material/hourglass_empty:")
    else:
        model = choice.selectbox("Model", models, key="model", bind="query-params", label_visibility="collapsed")
        view = modes.view_of(study_id, PAGE, cached.START, lock)
        found = cached.decompositions(study_id, model, mode, view)
        if not found:
            st.markdown("### This study changes nothing but asks again: add an axis to have something to decompose.")
        else:
            closed = gates.closed(study_id, found)
            st.markdown(f"### {plain(cached.answer(found, closed))}")
            board = cached.board(study_id, model, mode)
            moved, decision = threshold_board(
                cached.started(board, view), key=f"board-{study_id}-{model}-{mode}", locked=mode == "locked"
            )
            record.log_move(study_id, moved)
            modes.remember(study_id, PAGE, cached.START, moved)
            record.offer(study_id, PAGE, mode, decision and decision | {"model": model})
            st.caption(f"{cached.tally(found, closed)} {modes.note(mode, study_id, BAND)}")
            gates.shown(closed)
            st.plotly_chart(
                decomposition_bars(found, cached.title_of, colours(st.context.theme.type)),
                key="bars",
                theme=None,
                config={"displayModeBar": False},
            )
            st.subheader("Every estimate", anchor=False)
            cached.table(found, study_id)
            cached.warnings(found)
            people.shown(study_id, model, found)
            alone.shown(study_id, model, mode, view["policy"])
            predicted.predictor(study_id, model, mode)
            record.kept(study_id)

with st.expander("How to read this"):
    st.markdown(
        "**T** is how often two harmless versions of an item get different answers under a readout. **G** (genuine) is the "
        "same under the reference readout, by default the answer that the model wrote. **A** (artifact) is T − G: what "
        "exists only because of how the answer was read. A may be negative: then the reference is the noisier of the two. "
        "**A+** are pairs that flip under the readout alone, **A−** those that flip under the reference alone. The grey "
        "ticks are **floors**: how often a prompt of that axis, sent again, gets another answer; *asked again* on the flip "
        "surface is the same for the original prompt alone. ✓ A > G means that more of the flip rate is "
        "artifact than genuine at this level, ✗ A < G that less is, – that the data do not decide. Items are the unit of "
        "resampling; every cell on the board comes from the same draws."
    )
