"""The line at the top of every page: which study, on what, how far; and the badges that qualify every number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from flipcore.core.study import Study
from flipcore.store.queries import studies
from pages.common import judging, session
from pages.common.notes import plain

BADGES: dict[str, tuple[Literal["red", "orange", "yellow", "blue", "green", "violet", "gray"], str]] = {
    "SIMULATED": (
        "orange",
        "Every answer comes from a simulated model with planted truth. Run a study on another model to see a real one.",
    ),
    "POCKET": (
        "blue",
        "Answers of the small model in the box: real log-probabilities and real memorization, but no model "
        "that anybody ranks. Run a study on another model to remove this.",
    ),
    "EXPLORATORY": (
        "gray",
        "Settings may be changed after seeing the result, so intervals are not confirmatory. Lock the "
        "settings on a study with a confirmatory share to remove this.",
    ),
    "LOCKED": ("violet", "Settings were stored before the confirmatory items were read; other settings are refused."),
    "PARTIAL": (
        "orange",
        "The study is still running or was stopped: items are asked in random order, so what is here is "
        "an unbiased part. Let it finish to remove this.",
    ),
    "UNREVIEWED PARAPHRASES": (
        "orange",
        "Some rewordings have not been accepted by a reviewer yet. Review them to remove this.",
    ),
    "JUDGE NOT PASSED": (
        "orange",
        "The judge's agreement with people has not been shown to reach 0.60, or another of its tests is open; "
        "it is excluded from all conclusions. Label texts under Paraphrase review, Judge, to remove this.",
    ),
}


def badges(row: dict) -> list[tuple[str, str]]:
    """(badge, text) pairs that apply to a study as `queries.studies` describes it."""
    pairs = []
    if row["simulated"]:
        pairs.append(("SIMULATED", "SIMULATED"))
    if "pocket" in list(row["models"]):
        pairs.append(("POCKET", "POCKET"))
    if studies.n_unreviewed(session.store(), row["study_id"]):
        pairs.append(("UNREVIEWED PARAPHRASES", "UNREVIEWED PARAPHRASES"))
    if judging.is_closed(row["study_id"]):
        pairs.append(("JUDGE NOT PASSED", "JUDGE NOT PASSED"))
    if row["state"] != "done":
        share = row["n_calls_done"] / row["n_calls"] if row["n_calls"] else 0.0
        pairs.append(("PARTIAL", f"PARTIAL {min(share, 1.0):.0%}".replace("%", " %")))
    return pairs


def show_badges(pairs: list[tuple[str, str]]) -> None:
    with st.container(horizontal=True, gap="small"):
        for badge, text in pairs:
            colour, meaning = BADGES[badge]
            st.badge(text, color=colour, help=meaning)


def page_header(
    title: str,
    question: str,
    *,
    choose: bool = True,
    extra: tuple[tuple[str, str], ...] = (),
    fits: Callable[[Study], bool] | None = None,
) -> str | None:
    """Title, question, the study and its badges; the study's id, or None after saying how to get one. `fits` tells which
    studies the page can show anything of."""
    left, right = st.columns([3, 2])
    with left.container(gap="xxsmall"):
        st.title(title, anchor=False)
        st.markdown(f"**{question}**")
    if not choose:
        return None
    with right:
        study_id = session.chosen_study(fits)
    if study_id is None:
        st.info("Nothing has been measured yet.", icon=":material/science:")
        st.page_link("new_study/page.py", label="Declare a study", icon=":material/add_circle:")
        return None
    row = session.study_row(study_id)
    when = row["created_at"].strftime("%Y-%m-%d %H:%M") if row["created_at"] is not None else ""
    with right:
        st.caption(
            f"{plain(', '.join(row['models']) or 'no model')} · {int(row['n_items']):,} items · {when} · "
            f"flipscope {row['code_version']} · id `{study_id}`"
        )
        show_badges(badges(row) + list(extra))
    if study_id in session.registry().running():
        with right:
            _follow(study_id, session.store().revision(study_id))
    return study_id


@st.fragment(run_every=3.0)
def _follow(study_id: str, revision: int) -> None:
    """While a study runs: how far it is; the page is drawn again when there is something new."""
    progress = session.registry().progress(study_id)
    if progress is None or session.store().revision(study_id) != revision:
        st.rerun()
    show_progress(progress)


def show_progress(progress) -> None:
    """A run's progress, rate and time left on one line."""
    if not progress.n_calls:
        st.progress(0.0, text="Writing the prompts …")
        return
    share = progress.n_done / progress.n_calls
    st.progress(
        min(share, 1.0),
        text=f"{progress.n_done:,} of {progress.n_calls:,} calls, {progress.rate_per_s:,.0f} a second{plain(progress.outlook)}",
    )
