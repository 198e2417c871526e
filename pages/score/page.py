"""Score: how much of this score to trust?"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.claims.score import largest_shares_words
from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports import score as score_reports
from flipcore.reports.answer import Question, Settings
from flipcore.reports.browser_data.steps import Steps
from pages.common import every_choice, modes, record, repeats, scores, screen, session
from pages.common.answers import answer_of
from pages.common.header import page_header
from pages.common.headline import score_sentences
from pages.common.inspector import draw_inspector, open_item
from pages.common.links import binding
from pages.common.showing import how_to_read, plain, show_table
from pages.components import boards


def show_details(report: score_reports.ScoreReport) -> None:
    """Show leads and ranks, and for one model where its uncertainty comes from and all numbers."""
    for claim in (
        *report.ranks,
        *(difference.claim for difference in report.differences),
        *report.by_people.claims,
    ):
        st.markdown(plain(claim.text))
        if claim.detail:
            st.caption(plain(claim.detail))
    names = [model_score.model for model_score in report.models]
    if len(names) > 1:
        name = st.selectbox("Model", names, key="score-model", bind="query-params", width=330)
    else:
        name = names[0]
    model_score = report.find_model(name) or report.models[0]
    left, right = st.columns(2, gap="large")
    with left:
        _show_shares(model_score)
    with right:
        _show_next_calls(model_score)
    if rows := score_reports.axis_rows(model_score):
        st.subheader("One change at a time", anchor=False)
        show_table("score-axes", rows)
    with st.expander("Every number", icon=":material/table_rows:"):
        for note in report.notes:
            st.caption(plain(note))
        if model_score.elsewhere.text:
            st.markdown(plain(model_score.elsewhere.text))
        if rows and model_score.additivity.text:
            st.markdown(plain(model_score.additivity.text))
            st.caption(plain(model_score.additivity.detail))
        _show_best_split(model_score)
        _show_people(model_score)
        _show_numbers(model_score)


def _show_shares(model_score: score_reports.ModelScore) -> None:
    st.subheader("Where does the uncertainty come from?", anchor=False)
    if not model_score.shares:
        st.markdown(plain(model_score.bar.by_wordings.note))
        return
    words = largest_shares_words(model_score.shares, has_raters=model_score.has_raters)
    st.markdown(plain(words))
    show_table("score-shares", score_reports.share_rows(model_score))


def _show_next_calls(model_score: score_reports.ModelScore) -> None:
    st.subheader("What would narrow this?", anchor=False)
    if model_score.has_raters:
        st.markdown("People gave these scores, so no calls to a model are planned for it.")
        return
    if not model_score.gains:
        st.markdown("Known once 10 questions were asked in three random prompts.")
        return
    st.markdown(plain(model_score.next_sentence))
    show_table("score-next", score_reports.next_rows(model_score))


def _show_best_split(model_score: score_reports.ModelScore) -> None:
    """Show how to split a number of calls over questions and prompts; nothing if unknown."""
    if not model_score.gains:
        return
    n_calls = st.number_input(
        "Calls to spend in all",
        6,
        10_000_000,
        model_score.n_calls,
        key="score-budget",
        bind=binding("score-budget"),
        width=220,
    )
    st.caption(plain(score_reports.best_sentence(model_score, int(n_calls))))


def _show_people(model_score: score_reports.ModelScore) -> None:
    """Show the score as corrected by people's labels of outputs."""
    st.subheader("Read by people", anchor=False)
    # People's labels exist per extractor; take those of the extractor that makes the score.
    score_by_people = next(
        (people for people in model_score.people if people.extractor == model_score.reference), None
    )
    if score_by_people:
        st.markdown(plain(score_by_people.sentence))
        st.caption(plain(score_by_people.narrower))
    if model_score.people:
        show_table("score-people", score_reports.people_rows(model_score))
    else:
        st.markdown(
            "Nobody has labelled an output behind this score, so how often it is misread is not "
            "known."
        )
        st.page_link(
            "paraphrase_review/page.py",
            label="Label outputs",
            icon=":material/label:",
            query_params={"part": "Outputs"},
        )


def _show_numbers(model_score: score_reports.ModelScore) -> None:
    show_table("score-intervals", score_reports.score_rows(model_score))
    left, right = st.columns(2, gap="large")
    if rows := score_reports.wording_rows(model_score):
        show_table("score-wordings", rows, place=left)
    if len(model_score.extractor_bars) > 1:
        show_table("score-readers", score_reports.extractor_rows(model_score), place=right)


PAGE = "score"
START = {"level": scores.LEVEL, "reader": "", "role": "", "axes": ""}
BAND = "for every model and extractor here at once, at any one level"


def choose_settings(study_id: str, lock: dict | None) -> dict:
    """Return level, extractor, role and axes drawn at random, from the lock or the controls."""
    view = modes.view_of(study_id, PAGE, START, lock)
    lock_id = lock["lock_id"] if lock else None
    choices = scores.Choices.load(study_id, lock_id)
    # A link may name an extractor or a role that this study lacks.
    extractor = view["reader"] if view["reader"] in choices.extractors else choices.extractor
    role = view["role"] if view["role"] in choices.roles else choices.roles[0]
    link_axes = view["axes"].split("+") if view["axes"] else choices.random_axes
    random_axes = [axis for axis in link_axes if axis in choices.axes]
    if lock is None:
        with screen.view_button():
            extractor = screen.select(
                "Extractor",
                choices.extractors,
                "score-reader",
                choice=extractor,
                format_func=title_of,
                help="The extractor whose readouts make the score",
            )
            role = st.selectbox(
                "Items",
                choices.roles,
                choices.roles.index(role),
                key="score-role",
                bind="query-params",
            )
            random_axes = st.multiselect(
                "Prompts drawn at random",
                choices.axes,
                random_axes,
                key="score-axes",
                bind="query-params",
                format_func=lambda name: name.replace("_", " "),
                help="Changes whose prompts stand for all that somebody might use. The others are "
                "fixed and add no uncertainty.",
            )
        axes_text = ", ".join(axis.replace("_", " ") for axis in random_axes) or "none"
        screen.view_line(
            title_of(extractor), f"{role_name(role)} items", f"prompts drawn: {axes_text}"
        )
    return view | {"reader": extractor, "role": role, "axes": "+".join(random_axes)}


def _answer_settings(study_id: str, lock: str | None, chosen: dict) -> Settings:
    axes = tuple(filter(None, chosen["axes"].split("+")))
    return scores.settings_of(
        study_id, lock, chosen["reader"], chosen["role"], axes, chosen["level"]
    )


@st.fragment
def draw_board(
    study_id: str, mode: str, chosen: dict, lock: str | None, report: score_reports.ScoreReport
) -> None:
    """Draw the board, and the inspector with outputs of the dot that was clicked."""
    # The height of the drawn board, wide and narrow, is that of its head and its models. Models
    # that were asked in one prompt are lower, because they have no dots for prompts.
    n, n_with_prompts = len(report.models), sum(bool(score.shares) for score in report.models)
    wide, narrow = 120 * n + 30 * n_with_prompts, 150 * n + 40 * n_with_prompts
    with screen.reserved_space("score", 200 + wide, 380 + narrow):
        moved, decision, dot = boards.draw(
            scores.board(
                study_id, _answer_settings(study_id, lock, chosen), lock, mode == "simultaneous"
            ),
            key=f"score-{study_id}-{mode}-{chosen['reader']}-{chosen['role']}-{chosen['axes']}",
            locked=mode == "locked",
            opened=st.query_params.get("way", ""),
        )
    record.log_move(study_id, moved)
    settings = {name: chosen[name] for name in ("reader", "role", "axes")}
    record.offer_decision(study_id, PAGE, mode, decision and decision | settings)
    st.caption(modes.note_text(mode, study_id, BAND))
    # The click may come from a board with other settings and other models.
    if isinstance(dot, dict) and (model_score := report.find_model(dot.get("model", ""))):
        _open_dot(model_score, dot)
        st.rerun(scope="fragment")
    opened_score = report.find_model(st.query_params.get("of", "")) or report.models[0]
    way = st.query_params.get("way", "")
    extractor = st.query_params.get("readout", opened_score.reference)
    steps = Steps(score_reports.behind(opened_score, way, extractor))
    draw_inspector(study_id, opened_score.model, steps, readout=opened_score.reference, sheet=True)
    # This board can only move the level.
    modes.remember(study_id, PAGE, {"level": 0.95}, moved)


def _open_dot(model_score: score_reports.ModelScore, dot: dict) -> None:
    """Open the item on which the dot's prompt or extractor differs most from the score."""
    way = str(dot.get("way", model_score.own_way))
    extractor = str(dot.get("reader", model_score.reference))
    axis, _, variant = way.partition("|")
    items = score_reports.behind(model_score, way, extractor)
    # There is no item if the prompt agrees with the score on all of them.
    if items:
        open_item(
            items[0], axis=axis, readout=extractor, variant=variant, of=model_score.model, way=way
        )


def draw_content(study_id: str, mode: str, lock: dict | None, line: DeltaGenerator) -> None:
    """Draw everything below the header of a study with answers; controls go to `line`."""
    with line:
        chosen = choose_settings(study_id, lock)
    lock_id = lock["lock_id"] if lock else None
    report: score_reports.ScoreReport | None = answer_of(
        study_id, Question.SCORE, _answer_settings(study_id, lock_id, chosen), lock_id
    )
    if report is None:
        # These sentences are about all items, so they must not appear under a lock.
        sentences = [] if lock else score_sentences(study_id)
        st.markdown(
            "## Scores of several tasks, or by no mean of right answers, are not pooled."
            if sentences
            else "## Nothing was judged right or wrong here, so there is no score."
        )
        for sentence in sentences:
            st.markdown(plain(sentence))
        return
    draw_board(study_id, mode, chosen, lock_id, report)
    repeats.show(study_id)
    show_details(report)
    record.show_decisions(study_id)


def show_intervals(study_id: str, line: DeltaGenerator) -> None:
    """Show each model's score with its nested intervals."""
    with line:
        mode = modes.mode_selector()
    lock = modes.lock_of(study_id, mode, PAGE)
    has_readouts = bool(scores.Choices.load(study_id, lock["lock_id"] if lock else None).extractors)
    if modes.can_show(study_id, PAGE, mode, lock, START, has_readouts=has_readouts):
        draw_content(study_id, mode, lock, line)
    narrowest = "**reruns** of the same calls"
    if session.declared(study_id).has_raters:
        narrowest = "**other raters** of the same outputs"
    how_to_read(
        f"The open circle is the score. Around it lie, from inside out: {narrowest}; "
        "**other questions** in these prompts; **other questions and prompts**; the thin "
        "line is what one further prompt would report. A dot is the score of one prompt, a diamond "
        "that of one extractor. Click one to read the outputs behind it."
    )


study_id = page_header("score")
if study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    part = screen.segments("Show", ["Intervals", every_choice.TITLE], "show", place=line)
    if part == "Intervals":
        show_intervals(study_id, line)
    else:
        every_choice.show_score(study_id, line)
