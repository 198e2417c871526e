"""Score: how much of this score to trust?"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.claims.score import largest_shares_words
from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports import score as score_reports
from flipcore.reports.browser_data.steps import Steps
from pages.common import modes, record, repeats, scores, screen, session
from pages.common.header import page_header
from pages.common.headline import score_sentences
from pages.common.inspector import inspector_place, open_item
from pages.common.showing import how_to_read, plain, show_table
from pages.components import boards

# Under the board: what another wording would give, whose the uncertainty is, where the next call goes, and every number.


def under_board(report: score_reports.ScoreReport) -> None:
    """The parts of one model; of several the chosen one."""
    for claim in (*report.ranks, *(one.claim for one in report.differences), *report.by_people.claims):
        st.markdown(plain(claim.text))
        if claim.detail:
            st.caption(plain(claim.detail))
    names = [one.model for one in report.models]
    name = st.selectbox("Model", names, key="score-model", bind="query-params", width=330) if len(names) > 1 else names[0]
    one = report.find_model(name) or report.models[0]
    left, right = st.columns(2, gap="large")
    with left:
        _shares(one)
    with right:
        _next(one)
    if rows := score_reports.axis_rows(one):
        st.subheader("One change at a time", anchor=False)
        show_table("score-axes", rows)
    with st.expander("Every number", icon=":material/table_rows:"):
        if one.elsewhere.text:
            st.markdown(plain(one.elsewhere.text))
        if rows and one.additivity.text:
            st.markdown(plain(one.additivity.text))
            st.caption(plain(one.additivity.detail))
        _budget(one)
        _people(one)
        _numbers(one)


def _shares(one: score_reports.ModelScore) -> None:
    st.subheader("Where does the uncertainty come from?", anchor=False)
    if not one.shares:
        st.markdown(plain(one.bar.by_wordings.note))
        return
    st.markdown(plain(largest_shares_words(one.shares)))
    show_table("score-shares", score_reports.share_rows(one))


def _next(one: score_reports.ModelScore) -> None:
    st.subheader("What would narrow this?", anchor=False)
    if not one.gains:
        st.markdown("Known once 10 questions were asked in three random prompts.")
        return
    st.markdown(plain(one.next_sentence))
    show_table("score-next", score_reports.next_rows(one))


def _budget(one: score_reports.ModelScore) -> None:
    """How a number of calls would be split best; nothing before it is known."""
    if not one.gains:
        return
    n_calls = st.number_input(
        "Calls to spend in all", 6, 10_000_000, one.n_calls, key="score-budget", bind="query-params", width=220
    )
    st.caption(plain(score_reports.best_sentence(one, int(n_calls))))


def _people(one: score_reports.ModelScore) -> None:
    st.subheader("Read by people", anchor=False)
    own = next((people for people in one.people if people.reader == one.reader), None)
    if own:
        st.markdown(plain(own.sentence))
        st.caption(plain(own.narrower))
    if one.people:
        show_table("score-people", score_reports.people_rows(one))
    else:
        st.markdown("Nobody has labelled an output behind this score, so how often it is misread is not known.")
        st.page_link(
            "paraphrase_review/page.py", label="Label outputs", icon=":material/label:", query_params={"part": "Outputs"}
        )


def _numbers(one: score_reports.ModelScore) -> None:
    show_table("score-intervals", score_reports.score_rows(one))
    left, right = st.columns(2, gap="large")
    if rows := score_reports.wording_rows(one):
        show_table("score-wordings", rows, place=left)
    if len(one.readers) > 1:
        show_table("score-readers", score_reports.reader_rows(one), place=right)


PAGE = "score"
START = {"level": scores.LEVEL, "reader": "", "role": "", "axes": ""}
BAND = "for every model and extractor here at once, at any one level"


def settings(study_id: str, lock: dict | None) -> dict:
    """Level, reader, role and the axes that count as drawn: those of the lock, or what the controls are left at."""
    view = modes.view_of(study_id, PAGE, START, lock)
    lock_id = lock["lock_id"] if lock else None
    there = scores.Choices.of(study_id, lock_id)
    reader = view["reader"] if view["reader"] in there.readers else there.reader
    role = view["role"] if view["role"] in there.roles else there.roles[0]
    ways = [one for one in (view["axes"].split("+") if view["axes"] else there.ways) if one in there.axes]
    if lock is None:
        with screen.view_button():
            reader = screen.select(
                "Reader",
                there.readers,
                "score-reader",
                choice=reader,
                format_func=title_of,
                help="The extractor whose readouts make the score",
            )
            role = st.selectbox("Items", there.roles, there.roles.index(role), key="score-role", bind="query-params")
            ways = st.multiselect(
                "Wordings drawn at random",
                there.axes,
                ways,
                key="score-axes",
                bind="query-params",
                format_func=lambda name: name.replace("_", " "),
                help="Changes whose prompts stand for all that somebody might use. The others are fixed and add no uncertainty.",
            )
        line = ", ".join(one.replace("_", " ") for one in ways) or "none"
        screen.view_line(title_of(reader), f"{role_name(role)} items", f"prompts drawn: {line}")
    return view | {"reader": reader, "role": role, "axes": "+".join(ways)}


@st.fragment
def board(study_id: str, mode: str, at: dict, view: scores.View, report: score_reports.ScoreReport) -> None:
    """The board, and behind a dot of it the outputs."""
    with screen.room("score", 160 + 150 * len(report.models), 380 + 190 * len(report.models)):
        moved, decision, dot = boards.draw(
            "score_board",
            scores.board(view, at["level"], mode == "simultaneous"),
            key=f"score-{study_id}-{mode}-{view.reader}-{view.role}-{at['axes']}",
            locked=mode == "locked",
            opened=st.query_params.get("way", ""),
        )
    record.log_move(study_id, moved)
    settings = {name: at[name] for name in ("reader", "role", "axes")}
    record.offer(study_id, PAGE, mode, decision and decision | settings)
    st.caption(modes.note(mode, study_id, BAND))
    if dot and (one := report.find_model(dot["model"])):
        _open(one, dot)
        st.rerun(scope="fragment")
    of = report.find_model(st.query_params.get("of", "")) or report.models[0]
    steps = Steps(score_reports.behind(of, st.query_params.get("way", ""), st.query_params.get("readout", of.reader)))
    inspector_place(study_id, of.model, steps, readout=of.reader, sheet=True)
    modes.remember(study_id, PAGE, {"level": 0.95}, moved)


def _open(one: score_reports.ModelScore, dot: dict) -> None:
    """The item on which a wording or a reader differs most from the score, into the link."""
    way, reader = dot.get("way", one.own_way), dot.get("reader", one.reader)
    axis, variant = way.split("|", 1)
    items = score_reports.behind(one, way, reader)
    if items:
        open_item(items[0], axis=axis, readout=reader, variant=variant, of=one.model, way=way)


def content(study_id: str, mode: str, lock: dict | None, line: DeltaGenerator) -> None:
    """Everything below the header of a study with answers; `line` is the one with the mode."""
    with line:
        at = settings(study_id, lock)
    lock_id = lock["lock_id"] if lock else None
    view = scores.view_of(study_id, lock_id, at["reader"], at["role"], tuple(filter(None, at["axes"].split("+"))))
    report = scores.report(view, at["level"])
    if report is None:
        by_task = [] if lock else score_sentences(study_id)
        none = "Nothing was judged right or wrong here, so there is no score."
        st.markdown(f"## {'Scores of several tasks, or by no mean of right answers, are not pooled.' if by_task else none}")
        for sentence in by_task:
            st.markdown(plain(sentence))
        return
    board(study_id, mode, at, view, report)
    for note in report.notes:
        st.caption(plain(note))
    repeats.show(study_id)
    under_board(report)
    record.history(study_id)


study_id = page_header("score")
if study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    with line:
        mode = modes.mode_selector()
    lock = modes.lock_of(study_id, mode, PAGE)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None, of_scores=True)
    if modes.has_something(study_id, PAGE, mode, lock, START, frame):
        content(study_id, mode, lock, line)

how_to_read(
    "The open circle is the score. Around it lie, from inside out: **reruns** of the same calls; **other questions** in these prompts; "
    "**other questions and prompts**; the thin line is what one further prompt would report. A dot is the score of one prompt, a "
    "diamond that of one extractor. Click one to read the outputs behind it."
)
