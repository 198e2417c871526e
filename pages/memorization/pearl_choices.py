"""What PEARL is asked for: the task, the similarity, and how alpha comes from the non-members."""

import streamlit as st

from flipcore.detectors import Pearl
from flipcore.extractors import title_of
from flipcore.stats.memory.pearl_alpha import RULES, min_calibration
from pages.memorization.cached import View

TITLES = {"tolerance": "tolerance bound (default)", "conformal": "conformal", "source": "the source's quantile"}


def task_and_metric(view: View, controls, pearls: list[Pearl]) -> Pearl:
    """The detector that is looked at: its task, and its similarity."""
    tasks = list(dict.fromkeys(one.task for one in pearls))
    task = (
        controls.place.segmented_control(
            "Task", tasks, default=tasks[0], required=True, format_func=str.capitalize, key="task", bind="query-params"
        )
        if tasks[1:]
        else tasks[0]
    )
    by_measure = {one.measure: one for one in pearls if one.task == task}
    metric = controls.place.selectbox("Similarity", list(by_measure), format_func=title_of, key="metric", bind="query-params")
    controls.note(task if tasks[1:] else "", title_of(metric))
    return by_measure[metric]


def rule_and_rate(controls, mode: str, settings: dict) -> tuple[str, float]:
    """The rule that sets alpha, and the share of false positives that it promises; both stay as locked."""
    with controls.place:
        rule = st.selectbox(
            "α from non-members by",
            sorted(RULES, reverse=True),
            format_func=TITLES.__getitem__,
            key="pearl-rule",
            bind="query-params",
            disabled=mode == "locked",
            index=sorted(RULES, reverse=True).index(settings["rule"]),
        )
        fpr = st.number_input(
            "False positives at most",
            0.005,
            0.5,
            float(settings["fpr"]),
            0.005,
            key="pearl-fpr",
            bind="query-params",
            format="%.3f",
            disabled=mode == "locked",
        )
    controls.note(TITLES[rule].removesuffix(" (default)"), f"at most {100 * fpr:g} % false positives")
    return rule, fpr


def warn_of_few(n: int, rule: str, fpr: float) -> None:
    """Say so where `n` non-members cannot give a tolerance bound."""
    if n < min_calibration(fpr) and rule == "tolerance":
        st.warning(
            f"{n:,} non-members are too few for a tolerance bound. Add some, accept a higher false-positive rate, or take the "
            "conformal rule, which holds on average.",
            icon=":material/warning:",
        )
