"""Three questions that the demo's studies answer: each with a sentence, a chart and a link."""

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
from pages.holdout.set_selection import sets_of
from pages.memorization.cached import View, gap_analysis
from pages.memorization.items import PARTS

HEIGHT_PX = 200  # of a chart
MARGIN = 0.05  # of the drop gap, a share
# Answered by the last of the demo's studies, the second from the end, and the third from the end.
TITLES = ("Does the answer flip?", "Is it memory?", "Is the holdout fair?")


def draw_cards(rows: list[dict]) -> dict[str, DeltaGenerator]:
    """Draw three cards with their questions; return demo study -> container for its answer.

    `rows` are the rows of all studies. The cards are folded if the user has own studies. They are
    drawn early, with reserved space, so that nothing moves when the answers come. Returns {} if the
    demo's studies are not in the store.
    """
    demo = demo_studies()
    ids = [study.study_id for study in reversed(demo)][: len(TITLES)]
    # This container exists without the demo, too, so that fragments below it keep their path.
    place = st.container()
    answer_places: dict[str, DeltaGenerator] = {}
    if len(ids) < len(TITLES) or not set(ids) <= {row["study_id"] for row in rows}:
        return answer_places
    cards = place.expander(
        "Three questions, answered by the demo",
        expanded=len(rows) <= len(demo),
        key="first-look",
        on_change="rerun",
    )
    with cards:
        columns = st.columns(len(TITLES), border=True)
        for study_id, column, title in zip(ids, columns, TITLES, strict=True):
            with column, screen.reserved_space(f"answer-{study_id}", 400, 350):
                st.subheader(title, anchor=False)
                answer_places[study_id] = st.container()
    return answer_places


def draw_answers(
    answer_places: dict[str, DeltaGenerator], rows: list[dict], running: Collection[str]
) -> None:
    """Draw the answer of each demo study that is done, else why it has to wait.

    `answer_places` are those of `draw_cards`. `running` must be read before `rows`.
    """
    if not answer_places:
        return
    done = {row["study_id"] for row in rows if row["state"] == "done"}
    draw_answer = dict(zip(answer_places, (_draw_flips, _draw_memory, _draw_holdout), strict=True))
    # Cards that wait are drawn first, because an answer may take seconds to compute.
    for study_id in sorted(answer_places, key=lambda study_id: study_id in done):
        with answer_places[study_id]:
            if study_id in done:
                draw_answer[study_id](study_id)
            elif study_id in running:
                _show_waiting(study_id)
            else:
                st.caption(
                    "The demo study was stopped. Press Resume on its card to have the answer."
                )


def _show_chart(figure, name: str) -> None:
    st.plotly_chart(
        figure, key=f"look-{name}", theme=None, height=HEIGHT_PX, config={"displayModeBar": False}
    )


@st.fragment(run_every=2.0)
def _show_waiting(study_id: str) -> None:
    """Show the progress of the demo study; its card draws the page again when it is done."""
    progress = session.registry().progress(study_id)
    if progress is not None and progress.state == QUEUED:
        st.caption("The demo asks its studies one after another. The answer comes here.")
        return
    st.caption("The demo is asking the pocket model. The answer comes here.")
    if progress is not None:
        show_progress(progress)


def _draw_flips(study_id: str) -> None:
    """Show the claim on flips, with a chart of its parts and a link to two outputs."""
    summary = headline(study_id)
    st.markdown(plain(summary.claims[0].text))
    if summary.flips is None:
        return
    _show_chart(split_bar(summary.flips, colours(st.context.theme.type)), "flips")
    if opened_cell := _flip_to_open(study_id, summary.flips.extractor):
        _link_to_outputs("flips/page.py", {"study": study_id} | opened_cell)


def _draw_memory(study_id: str) -> None:
    """Show whether the model remembers, with a chart of the drop gap and a link to two outputs."""
    st.markdown(plain(memory_headline(study_id)))
    view = View(
        study_id,
        session.store().revision(study_id),
        session.study_row(study_id)["models"][0],
        kind="number",
        confirmatory=False,
    )
    drop = gap_analysis(view, REWRITING, WRITTEN_ANSWER, MARGIN)
    _show_chart(
        slopes(
            drop.benchmark, drop.control, ("benchmark", "control"), colours(st.context.theme.type)
        ),
        "memory",
    )
    if opened_cell := _break_to_open(study_id):
        _link_to_outputs(
            "memorization/page.py", {"study": study_id, "tab": PARTS["gap"]} | opened_cell
        )


def _draw_holdout(study_id: str) -> None:
    """Show the verdict of the four tests, and the inflation if the holdout is fair."""
    sets = sets_of(f"study:{study_id}", session.study_row(study_id)["name"])
    if sets:
        _draw_verdict(study_id)
        conditions = holdout_cached.all_conditions(sets, confirmatory=False, boosted=False)[:1]
    else:
        conditions = []
    if conditions:
        rows = [
            Inflated(condition.model, *condition.accuracies, condition.inflation())
            for condition in conditions
        ]
        st.caption("If the holdout is fair, the score is inflated by:")
        _show_chart(inflation_figure(rows, colours(st.context.theme.type)), "holdout")
    st.page_link(
        "holdout/page.py",
        label="Read both sets side by side",
        icon=":material/arrow_forward:",
        query_params={"sets": f"study:{study_id}", "part": "Look inside"},
    )


def _draw_verdict(study_id: str) -> None:
    """Show the verdict of the four tests, or their progress."""
    # The tests run in a thread, because they take long: if the next run of a page begins while the
    # page is still being drawn, the browser shows a blank page.
    tests = _tests_of(study_id)
    if tests is None or not tests.has_ended:
        _show_test_progress(study_id)
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
def _show_test_progress(study_id: str) -> None:
    """Show the current step of the tests; draw the page again when they have ended."""
    tests = _tests_of(study_id)
    if tests is not None and tests.has_ended:
        st.rerun()
    st.caption(
        plain(tests.line) if tests else "The four tests begin when nothing else is being asked."
    )


def _tests_of(study_id: str) -> Work[HoldoutReport | None] | None:
    """Return the tests of both sets, at work or ended; None while any study is running."""
    # The tests would slow down a running study.
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


def _link_to_outputs(page: str, params: dict[str, str]) -> None:
    label = "See the two outputs behind it"
    st.page_link(page, label=label, icon=":material/arrow_forward:", query_params=params)


@session.cached(max_entries=4, is_kept=True)
def _flip_to_open(study_id: str, extractor: str) -> dict[str, str] | None:
    scorers = session.declared(study_id).scorer_names
    return flip_to_open(session.readouts(study_id), extractor, scorers)


@session.cached(max_entries=4, is_kept=True)
def _break_to_open(study_id: str) -> dict[str, str] | None:
    return break_to_open(session.readouts(study_id, everything=True))
