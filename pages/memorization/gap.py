"""Drop gap: does accuracy fall more under rewriting on the benchmark than on a control?"""

from collections.abc import Mapping

import streamlit as st

from flipcore.charts.slopes import slopes
from flipcore.charts.theme import colours
from flipcore.claims.memory_gap import old_rule, source_rule
from flipcore.detectors import DropGap as Detector
from flipcore.extractors import title_of
from flipcore.reports.browser_data.cutoffs import detector_line
from flipcore.reports.published import gap_notes, gap_rows, inconsistency_rows
from flipcore.reports.worked_examples import gap_example
from flipcore.stats.base.estimate import p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.stats.memory.gap_power import detectable_sentence
from pages.common import modes, record
from pages.common.notes import how_to_read, plain
from pages.common.tables import show_table
from pages.components.cutoff_line import cutoff_line
from pages.memorization import coverage, matching
from pages.memorization.cached import View, gap, gaps_of, readouts_of
from pages.memorization.items import item_table
from pages.memorization.verdicts import detectable, say, tests

START = {"margin": 0.05}


def show(view: View, mode: str, settings: dict, controls) -> None:
    gaps, readouts = gaps_of(view), readouts_of(view)
    if not gaps or not readouts:
        st.info(
            "The drop gap needs answers to rewritten items. Add an axis that rewrites (numbers resampled, names changed, "
            "paraphrase) and an extractor of answers to the study.",
            icon=":material/edit_note:",
        )
        return
    operator, extractor = _choices(view, controls, gaps, readouts)
    estimate = gap(view, operator, extractor, settings["margin"])
    verdict = tests(view, settings["margin"], operator, extractor)[0]
    sentences = say(verdict)
    st.markdown(plain(source_rule(estimate.gap_source, estimate.source_literal, estimate.source_directional).text))
    st.caption(plain(old_rule(estimate.perm_p, estimate.cond_gap).text))
    left, right = st.columns([2, 3])
    left.plotly_chart(
        slopes(estimate.benchmark, estimate.control, ("benchmark", "control"), colours(st.context.theme.type)),
        key="slopes",
        theme=None,
        config={"displayModeBar": False},
    )
    with right:
        moved, decision = cutoff_line(
            detector_line(verdict, estimate, gaps[operator].unit, settings["margin"]),
            locked=mode == "locked",
            key=f"margin-{view}-{operator}-{extractor}-{mode}",
        )
    record.log_move(view.study_id, moved)
    if decision:
        decision["sentences"] = [*sentences, *decision["sentences"]]
    about = {"model": view.model, "operator": operator, "readout": extractor}
    record.offer(view.study_id, "memorization", mode, decision and decision | about | {"margin": decision["cutoff"]})
    modes.remember(view.study_id, "memorization", START, moved and {"margin": moved["cutoff"]})
    _table(estimate)
    st.markdown(plain(estimate.benchmark.identity_sentence()))
    if st.toggle("What could this study find?", key="power", bind="query-params"):
        st.markdown(plain(detectable_sentence(*detectable(view, operator, extractor, settings["margin"]))))
    coverage.show(view, operator, estimate)
    matching.show(view, estimate)
    _published()
    _items(view, operator, extractor)
    _guide(estimate)


def _guide(estimate: DropGap) -> None:
    how_to_read(
        "A model that remembers loses accuracy when items are rewritten; a brittle one also on the control. The **gap** is "
        "the difference of both drops. With a *random* control it is memory at one-sided p ≤ .025; with *paired* controls "
        "differences within pairs decide; with *other* controls points, share kept and odds must agree. *No memory* is "
        "claimed only within your margin.",
        example=gap_example(estimate),
    )


def _choices(view: View, controls, gaps: Mapping[str, Detector], readouts: list[str]) -> tuple[str, str]:
    operator = controls.place.segmented_control(
        "Rewriting",
        list(gaps),
        default=next(iter(gaps)),
        required=True,
        format_func=lambda axis: gaps[axis].past,
        key="rewriting",
        bind="query-params",
    )
    extractor = controls.place.selectbox(
        "Answers read by", readouts, format_func=title_of, key="gap-readout", bind="query-params"
    )
    controls.note(gaps[operator].past, f"read by {title_of(extractor).lower()}")
    return operator, extractor


def _table(estimate: DropGap) -> None:
    rows = []
    for name, one in (("benchmark", estimate.benchmark), ("control", estimate.control)):
        tests = one.mcnemar or {}
        rows.append(
            {
                "set": name,
                "items": one.n_items,
                "covered": one.coverage.text(),
                "before": one.accuracy_before.text(),
                "after": one.accuracy_after.text(),
                "drop, pp": one.drop.text_pp().replace(" pp", ""),
                "broken": one.n_broken,
                "fixed": one.n_fixed,
                "McNemar exact": p_text(tests["exact"]) if tests else "–",
                "mid-p": p_text(tests["midp"]) if tests else "–",
                "p, corrected χ² (source)": f"{tests['chi2_cc']:.2g}" if tests else "–",
                "uncovered items right": one.accuracy_uncovered.text(),
            }
        )
    show_table("drops", rows)


def _published() -> None:
    with st.expander("The source's published table, recomputed", icon=":material/menu_book:"):
        show_table("published-gaps", gap_rows())
        st.caption(gap_notes())
        st.markdown("**What does not add up in the sources**")
        show_table("published-inconsistencies", inconsistency_rows())


def _items(view: View, operator: str, extractor: str) -> None:
    one = frames.rewritten(view.frame, operator, extractor, view.item_roles)
    st.markdown("**Benchmark items, those that broke first**")
    item_table(view, frames.drop_rows(one), operator, extractor, key=f"gap-items-{operator}")
