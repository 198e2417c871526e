"""PEARL: does a text's continuation break off when bits of its beginning are flipped?"""

import pandas as pd
import streamlit as st

from flipcore.charts.memory import level_curves
from flipcore.detectors import Pearl as PearlDetector
from flipcore.detectors import pearls_in
from flipcore.extractors import title_of
from flipcore.reports.browser_data.cutoffs import detector_line, pearl_cutoff
from flipcore.reports.worked_examples import pearl_example
from flipcore.stats.base.estimate import number_text
from flipcore.stats.memory.pearl_alpha import RULES, min_calibration
from flipcore.stats.memory.pearl_analysis import Pearl
from flipcore.store.queries import memory as memory_queries
from flipcore.text.similarity import compressor_warning
from pages.common import screen, session
from pages.common.links import binding
from pages.common.showing import how_to_read, show_figure
from pages.components import boards
from pages.memorization.cached import (
    View,
    handle_move,
    sensitivities,
    setting_of,
    show_any_cutoff,
    show_verdict,
    verdict,
)
from pages.memorization.items import show_item_table

START = {"alpha": None, "rule": "tolerance", "fpr": 0.05}


def show(view: View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show PEARL's verdict and curves, with a cut-off alpha to drag and the texts."""
    pearls = pearls_in(view.frame)
    if not pearls:
        st.info(
            "PEARL needs passages: add completion items in two roles, the axis Flipped bits and a "
            "similarity extractor.",
            icon=":material/flip:",
        )
        return
    detector = _choose_detector(controls, pearls)
    axis, metric = detector.axis, detector.measure
    rule, fpr = _choose_rule(controls, mode, settings)
    pearl = sensitivities(view, detector, rule, fpr)
    judged_test = verdict(view, settings["margin"], detector.name)
    sentences = show_verdict(judged_test, pearl.sentence())
    n = pearl.calibration.n
    if n < min_calibration(fpr) and rule == "tolerance":
        st.warning(
            f"{n:,} non-members are too few for a tolerance bound. Add some, accept a higher "
            "false-positive rate, or take the conformal rule, which holds on average.",
            icon=":material/warning:",
        )
    # Only the distance by compression depends on how well the compressor works on these texts.
    texts = (
        memory_queries.references(session.store(), view.study_id, axis) if metric == "ncd" else []
    )
    if warning := compressor_warning(texts, setting_of(view, metric, axis).compressor):
        st.warning(warning, icon=":material/warning:")
    # Until somebody moves alpha, it comes from the non-members.
    alpha = settings["alpha"]
    alpha = pearl_cutoff(pearl) if alpha is None else alpha
    line = detector_line(
        judged_test, pearl, detector.unit, alpha, simultaneous=mode == "simultaneous"
    )
    key = f"alpha-{view}-{axis}-{metric}-{rule}-{fpr}-{mode}"
    moved, decision, _ = boards.draw(line.data(), key=key, locked=mode == "locked")
    if moved or settings["alpha"] is not None:
        sentences += show_any_cutoff(judged_test, view, pearl, settings["margin"])
    about = {"task": detector.task.capitalize(), "metric": metric, "rule": rule, "fpr": fpr}
    handle_move(
        view,
        mode,
        setting="alpha",
        start=START,
        sentences=sentences,
        moved=moved,
        decision=decision,
        about=about,
    )
    _show_curves(view, pearl, alpha, metric, axis)
    if pearl.n_incomplete:
        st.caption(
            f"{pearl.n_incomplete:,} texts are not complete yet, or too short to differ at every "
            "level, and are left out."
        )
    _show_items(view, metric, axis, pearl, alpha)
    how_to_read(
        "Each curve is a text: how close continuations stay to the true one as more bits of its "
        "beginning are flipped. **Sensitivity** is the largest fall between two levels: memory "
        "breaks off, skill fades. The **verdict** tests all texts together. **α** comes from "
        "non-members: the tolerance bound holds with 95% confidence, the conformal rule on "
        "average, the source's quantile not.",
        example=pearl_example(pearl),
    )


def _show_curves(view: View, pearl: Pearl, alpha: float, metric: str, axis: str) -> None:
    """Draw the similarity of each text's continuation per level of flipped bits."""
    # A flipped bit changes a whole character, so the share of changed characters is larger than
    # that of bits. The labels name both.
    touched = memory_queries.characters_touched(session.store(), view.study_id, axis)
    levels = []
    for level in setting_of(view, metric, axis).levels_pct:
        characters = f" ({100 * touched[level]:.0f}%)" if level in touched else ""
        levels.append(f"{level:g}%{characters}")
    flagged = pearl.sensitivity > alpha
    show_figure("curves", lambda c: level_curves(pearl.means, flagged, levels, c, title_of(metric)))
    st.caption(
        "You are tuning α on the data it is evaluated on, so the detection rate is optimistic. "
        "Lock α before the confirmatory texts are read."
    )


def _show_items(view: View, metric: str, axis: str, pearl: Pearl, alpha: float) -> None:
    """List the texts with their sensitivity; texts above `alpha` are flagged."""
    rows = pd.DataFrame(
        {
            "item_id": pearl.item_ids,
            "sensitivity": pearl.sensitivity,
            "abruptness": pearl.abruptness,
            "p, levels alike": pearl.p,
            "q, levels alike": pearl.q,
            "flagged": pearl.sensitivity > alpha,
        }
    )
    st.markdown(f"**Texts, the most abrupt first; α = {number_text(alpha, 3)}**")
    show_item_table(
        view,
        rows.sort_values("sensitivity", ascending=False, ignore_index=True),
        axis,
        metric,
        key=f"pearl-{axis}-{metric}",
    )
    st.caption(
        "p, levels alike: how often levels in random order fall as far; q: after "
        "Benjamini–Hochberg over the texts. Small for "
        "skill as for memory: α and the verdict on the set tell them apart."
    )


RULE_TITLES = {
    "tolerance": "tolerance bound (default)",
    "conformal": "conformal",
    "source": "the source's quantile",
}


def _choose_detector(controls: screen.Controls, pearls: list[PearlDetector]) -> PearlDetector:
    """Return the detector with the chosen task and similarity."""
    tasks = list(dict.fromkeys(pearl.task for pearl in pearls))
    task, has_choice = tasks[0], len(tasks) > 1
    if has_choice:
        task = screen.segments(
            "Task",
            tasks,
            "task",
            place=controls.place,
            label_visibility="visible",
            format_func=str.capitalize,
        )
    by_measure = {pearl.measure: pearl for pearl in pearls if pearl.task == task}
    metric = controls.place.selectbox(
        "Similarity", list(by_measure), format_func=title_of, key="metric", bind="query-params"
    )
    controls.note(task if has_choice else "", title_of(metric))
    return by_measure[metric]


def _choose_rule(controls: screen.Controls, mode: str, settings: dict) -> tuple[str, float]:
    """Return the rule that sets alpha, and its largest share of false positives.

    A lock fixes both.
    """
    with controls.place:
        rule = screen.select(
            "α from non-members by",
            sorted(RULES, reverse=True),
            "pearl-rule",
            choice=settings["rule"],
            format_func=RULE_TITLES.__getitem__,
            disabled=mode == "locked",
        )
        fpr = st.number_input(
            "False positives at most",
            min_value=0.005,
            max_value=0.5,
            value=float(settings["fpr"]),
            step=0.005,
            key="pearl-fpr",
            bind=binding("pearl-fpr"),
            format="%.3f",
            disabled=mode == "locked",
        )
    controls.note(
        RULE_TITLES[rule].removesuffix(" (default)"), f"at most {100 * fpr:g}% false positives"
    )
    return rule, fpr
