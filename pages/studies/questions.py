"""The three questions with the demo's answers: sentence, small picture, two outputs."""

from collections.abc import Collection

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.access.acting import acting, acting_as
from flipcore.charts.flips import split_bar
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.memory import slopes
from flipcore.charts.theme import colours
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.core.work import Work
from flipcore.reports.answer import Question
from flipcore.reports.flips import flip_to_open
from flipcore.reports.holdout import HoldoutReport, SetsReport
from flipcore.reports.memory import REWRITING, break_to_open
from flipcore.runs.demo import demo_studies
from flipcore.runs.progress import QUEUED
from pages.common import screen, session
from pages.common.answers import answer_of, n_survey_rows
from pages.common.header import show_progress
from pages.common.headline import headline, memory_headline
from pages.common.showing import plain
from pages.holdout import cached as holdout_cached
from pages.holdout.chosen import sets_of
from pages.memorization.cached import View, gap
from pages.memorization.items import PARTS

HEIGHT_PX = 200
MARGIN = 0.05


def places(rows: list[dict]) -> dict[str, DeltaGenerator]:
    """Draw three cards with their questions; return demo study -> where `answers` writes.

    They are folded away when there are studies of one's own. They are drawn, with the room of an
    answer, before what stands below them is counted, so that nothing moves when the answers come.
    None where the demo is not there.
    """
    ids = [study.study_id for study in demo_studies()]
    # The place is there without the demo, too: what is drawn again below it keeps its path.
    place = st.container()
    answer_places: dict[str, DeltaGenerator] = {}
    if len(ids) < 3 or not set(ids[-3:]) <= {row["study_id"] for row in rows}:
        return answer_places
    cards = place.expander(
        "Three questions, answered by the demo",
        expanded=len(rows) <= len(ids),
        key="first-look",
        on_change="rerun",
    )
    with cards:
        titles = ("Does the answer flip?", "Is it memory?", "Is the holdout fair?")
        for study_id, column, title in zip(
            reversed(ids[-3:]), st.columns(3, border=True), titles, strict=True
        ):
            with column, screen.reserved_space(f"answer-{study_id}", 400, 350):
                st.subheader(title, anchor=False)
                answer_places[study_id] = st.container()
    return answer_places


def are_open() -> bool:
    """Return True while the cards are unfolded, so that their answers are in sight."""
    return bool(st.session_state.get("first-look"))


def answers(
    answer_places: dict[str, DeltaGenerator], rows: list[dict], running: Collection[str]
) -> None:
    """Draw each answer as soon as its demo study is done.

    `running` was read before `rows`.
    """
    answering = {row["study_id"] for row in rows if row["state"] == "done"}
    # Cards that only wait are drawn first, because an answer may take seconds to compute.
    answers_by_place = zip(
        answer_places.items(), (_flips, _memory, _holdout), strict=bool(answer_places)
    )
    for (study_id, place), answer in sorted(
        answers_by_place, key=lambda place_and_answer: place_and_answer[0][0] in answering
    ):
        # Whether it waits or answers, it is drawn at the same path.
        with place:
            if study_id in answering:
                answer(study_id)
            elif study_id in running:
                _waiting(study_id)
            else:
                st.caption(
                    "The demo study was stopped. Press Resume on its card to have the answer."
                )


def _picture(figure, name: str) -> None:
    st.plotly_chart(
        figure, key=f"look-{name}", theme=None, height=HEIGHT_PX, config={"displayModeBar": False}
    )


@st.fragment(run_every=2.0)
def _waiting(study_id: str) -> None:
    """Say how far the demo is; its card draws the page again when it is done."""
    progress = session.registry().progress(study_id)
    if progress is not None and progress.state == QUEUED:
        st.caption("The demo asks its studies one after another. The answer comes here.")
        return
    st.caption("The demo is asking the pocket model. The answer comes here.")
    if progress is not None:
        show_progress(progress)


def _flips(study_id: str) -> None:
    summary = headline(study_id)
    st.markdown(plain(summary.claims[0].text))
    if summary.flips is None:
        return
    _picture(split_bar(summary.flips, colours(st.context.theme.type)), "flips")
    if opened_cell := _flip_to_open(study_id, summary.flips.extractor):
        _link("flips/page.py", {"study": study_id} | opened_cell)


def _memory(study_id: str) -> None:
    st.markdown(plain(memory_headline(study_id)))
    view = View(
        study_id,
        session.store().revision(study_id),
        session.study_row(study_id)["models"][0],
        kind="number",
        confirmatory=False,
    )
    drop = gap(view, REWRITING, WRITTEN_ANSWER, MARGIN)
    _picture(
        slopes(
            drop.benchmark, drop.control, ("benchmark", "control"), colours(st.context.theme.type)
        ),
        "memory",
    )
    if opened_cell := _break_to_open(study_id):
        _link("memorization/page.py", {"study": study_id, "tab": PARTS["gap"]} | opened_cell)


def _holdout(study_id: str) -> None:
    """Show the verdict of the four tests, and the inflation that a fair holdout would mean."""
    sets = sets_of(f"study:{study_id}", session.study_row(study_id)["name"])
    if sets:
        _verdict(study_id)
    conditions = (
        holdout_cached.all_conditions(sets, confirmatory=False, boosted=False)[:1] if sets else []
    )
    if sets and conditions:
        rows = [
            Inflated(condition.model, *condition.accuracies, condition.inflation())
            for condition in conditions
        ]
        st.caption("If the holdout is fair, the score is inflated by:")
        _picture(inflation_figure(rows, colours(st.context.theme.type)), "holdout")
    st.page_link(
        "holdout/page.py",
        label="Read both sets side by side",
        icon=":material/arrow_forward:",
        query_params={"sets": f"study:{study_id}", "part": "Look inside"},
    )


def _verdict(study_id: str) -> None:
    # The tests take longer than a page may: a browser whose page is still being drawn when the next
    # run of it begins goes blank.
    tests = _tests_of(study_id)
    if tests is None or not tests.has_ended:
        _awaited(study_id)
        return
    try:
        report = tests.result(0)
    except FlipscopeError as error:
        st.markdown(plain(f"Not tested: {error}"))
        return
    st.markdown(
        plain(report.claim.text if report else "Each set needs at least five entries to be tested.")
    )


@st.fragment(run_every=2.0)
def _awaited(study_id: str) -> None:
    """Say the step of the tests; the page is drawn again when they have ended."""
    tests = _tests_of(study_id)
    if tests is not None and tests.has_ended:
        st.rerun()
    st.caption(
        plain(tests.line) if tests else "The four tests begin when nothing else is being asked."
    )


def _tests_of(study_id: str) -> Work[HoldoutReport | None] | None:
    """Return the tests at work or ended; None while a study is being asked."""
    # The tests would slow down a study that is being asked.
    if session.registry().running():
        return None
    return _testing(study_id, (session.revision(study_id), n_survey_rows()))


@st.cache_resource(max_entries=4, show_spinner=False)
def _testing(study_id: str, revision: tuple[int, int]) -> Work[HoldoutReport | None]:
    person = acting()

    def make() -> HoldoutReport | None:
        with acting_as(person):
            report: SetsReport = answer_of(study_id, Question.HOLDOUT)
            return report.tests

    return Work("Testing both sets", make)


def _link(page: str, params: dict[str, str]) -> None:
    label = "See the two outputs behind it"
    st.page_link(page, label=label, icon=":material/arrow_forward:", query_params=params)


@session.cached(max_entries=4, is_kept=True)
def _flip_to_open(study_id: str, field: str) -> dict[str, str] | None:
    return flip_to_open(session.readouts(study_id), field, session.declared(study_id).scorer_names)


@session.cached(max_entries=4, is_kept=True)
def _break_to_open(study_id: str) -> dict[str, str] | None:
    return break_to_open(session.readouts(study_id, everything=True))
