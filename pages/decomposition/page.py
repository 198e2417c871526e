"""Decomposition: how much of the instability is genuine?"""

import streamlit as st

from flipcore.charts.bars import decomposition_bars
from flipcore.charts.theme import colours
from flipcore.claims import flips
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
        mode = modes.mode_selector()
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
        coded = cached.answers(study_id, model, mode)
        view = cached.settings(modes.view_of(study_id, PAGE, cached.START, lock), coded)
        cells = cached.decompositions(study_id, model, mode, view)
        if view["reference"] not in coded.extractors:
            st.markdown(f"### {plain(flips.lacking_reference(view['reference'], coded.extractors).text)}")
        elif not cells:
            st.markdown("### This study changes nothing but asks again: add an axis to have something to decompose.")
        else:
            closed = gates.closed(study_id, cells)
            board = cached.board(study_id, model, mode, closed)
            moved, decision = threshold_board(
                cached.started(board, view), key=f"board-{study_id}-{model}-{mode}", locked=mode == "locked"
            )
            record.log_move(study_id, moved)
            modes.remember(study_id, PAGE, cached.START, moved)
            record.offer(study_id, PAGE, mode, decision and decision | {"model": model})
            st.caption(modes.note(mode, study_id, BAND))
            gates.notice(closed)
            cached.repeats(study_id)
            st.plotly_chart(
                decomposition_bars(cells, cached.title_of, colours(st.context.theme.type)),
                key="bars",
                theme=None,
                config={"displayModeBar": False},
            )
            st.subheader("Every estimate", anchor=False)
            cached.table(cells, flips.cell_claims(cells, closed, session.temperature(study_id, model)))
            cached.warnings(cells)
            people.summary(study_id, model, cells)
            alone.section(study_id, model, mode, view["policy"])
            predicted.predictor(study_id, model, mode)
            record.history(study_id)

with st.expander("How to read this"):
    st.markdown(
        "**T** is how often two harmless versions of an item get different answers under an extractor. **G** (genuine) is the "
        "same under the reference extractor, by default the answer that the model wrote. **A** (artifact) is T − G. Pairs "
        "flip in three ways: under the compared extractor alone (A+), under the reference alone (A−), or under both; so T is "
        "A+ and both, G is both and A−, and A may be negative. The grey ticks are **noise floors** of either total: how "
        "often a prompt of that axis, sent again, gets another answer. Where both floors were measured, sentences and "
        "verdicts are about what lies above them. ✓ A > G means that more of what flips is artifact than genuine at this "
        "level, ✗ A < G that more is genuine, – that the data do not decide. p values are corrected over all rows (Holm) and "
        "count an unseen item against the verdict. Items (families of items, where they share a source) are the unit of "
        "resampling; every cell on the board comes from the same draws."
    )
