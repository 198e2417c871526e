"""Ranking: which model is better, and does that order hold?"""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from flipcore.charts.flips import decomposition_bars, flip_panels
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports.answer import Question
from flipcore.reports.browser_data.levels import start_of
from flipcore.reports.browser_data.ranking import way_id
from flipcore.reports.by_model import flip_rows, memory_rows
from flipcore.reports.holdout import inflation_of
from flipcore.reports.ranking import (
    RankingReport,
    by_rank,
    compares_models,
    pair_rows,
    roles_of,
    split_items,
)
from flipcore.reports.score import ScoreReport
from flipcore.stats.base.estimate import level_text
from flipcore.stats.flips.decomposition import REFERENCE, default_reference
from flipcore.stats.holdout.difficulty import conditions
from flipcore.store.queries import holdout
from pages.common import every_choice, gates, modes, record, repeats, scores, screen, session
from pages.common.answers import answer_of
from pages.common.header import offer_suited, page_header
from pages.common.inspector import draw_output
from pages.common.showing import how_to_read, plain, show_figure, show_table
from pages.components import boards
from pages.ranking import cached


def show_flip_maps(
    study_id: str, lock_id: str | None, reference: str, models: Sequence[str]
) -> None:
    """Draw a small flip map per model, with the same rows and one scale.

    It begins with the reference extractor. Nothing if each question was asked once.
    """
    names = [
        name
        for name in session.readouts(study_id, lock=lock_id)["extractor"].unique()
        if cached.panels(study_id, lock_id, name).is_measured
    ]
    if not names:
        return
    # The sort is stable, so that the others keep their order.
    names.sort(key=lambda name: name != reference)
    st.subheader("Where each model flips", anchor=False)
    extractor = screen.segments("Extractor", names, "panels-of", format_func=title_of)
    panels = cached.panels(study_id, lock_id, extractor)
    # With many items, a row stands for several of them.
    row_title = (
        "items, most flips first"
        if panels.items_a_row == 1
        else f"items, {panels.items_a_row} a row, most flips first"
    )
    rates = {model: panels.rates[model] for model in models if model in panels.rates}
    show_figure("panels", lambda c: flip_panels(rates, panels.means, panels.columns, c, row_title))


def show_decomposition(
    study_id: str, lock_id: str | None, reference: str, models: Sequence[str]
) -> None:
    """Show one row per model and extractor over all axes; nothing without flip rates."""
    measured = [
        model_flips
        for model_flips in cached.flips(study_id, lock_id, reference)
        if model_flips.is_measured
    ]
    if not measured:
        return
    # Sorted by rank, like everything on this page.
    flips = sorted(measured, key=lambda model_flips: models.index(model_flips.model))
    st.subheader("What flips, model by model", anchor=False)
    cells = [model_flips.cell for model_flips in flips]
    show_figure("by-model", lambda c: decomposition_bars(cells, title_of, c))
    show_table("flips-by-model", flip_rows(flips))


def show_memory_and_inflation(study_id: str) -> None:
    """Show inflation and memory detectors of every model, if the study has them.

    Both leave out the items that were set aside.
    """
    # Inflation needs accuracies on a benchmark and a holdout.
    all_conditions = conditions(holdout.accuracies(session.store(), study_id))
    if all_conditions:
        model_conditions, claim = inflation_of(all_conditions, gates.all_closed_gates(study_id))
        st.subheader("Inflation, model by model", anchor=False)
        st.markdown(plain(claim.text))
        bars = [
            Inflated(condition.model, *condition.accuracies, condition.inflation())
            for condition in model_conditions
        ]
        show_figure("inflated", lambda c: inflation_figure(bars, c))
    if "control" not in session.declared(study_id).roles:
        return
    st.subheader("Memory, model by model", anchor=False)
    # Only on request, because it computes every detector's tests for every model.
    if st.toggle("Compute", key="memory-by-model", bind="query-params"):
        show_table("memory-by-model", memory_rows(answer_of(study_id, Question.MEMORY).tests))


def show_outputs(study_id: str, report: RankingReport) -> None:
    """Show two models' outputs of one item, under the way that the link names; nothing without it.

    A way is a version of the prompt under one extractor. The user chooses among the items that one
    of the two models has right and the other one wrong.
    """
    contest = report.contest
    ids = [way_id(way) for way in contest.order.scores.ways]
    # A link may name a way that this study lacks.
    if st.query_params.get("way") not in ids:
        return
    way_index = ids.index(st.query_params["way"])
    way = contest.order.scores.ways[way_index]
    with st.container(border=True, key="behind-way"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            pairs = {
                f"{pair.first} v {pair.second}": (pair.first, pair.second) for pair in report.pairs
            }
            pair = st.selectbox(
                "Models", list(pairs), key="behind-pair", bind="query-params", width=360
            )
            items = split_items(contest, way_index, *pairs[pair])
            item = st.selectbox(
                "Item on which they differ",
                items,
                key="behind-item",
                bind="query-params",
                width=300,
            )
            st.button("Close", key="behind-close", icon=":material/close:", on_click=_close_way)
        if item is None:
            st.info("Under this way the two models are right and wrong on the same items.")
            return
        for column, model, is_left in zip(st.columns(2), pairs[pair], (True, False), strict=True):
            with column:
                draw_output(study_id, model, item, way, is_left=is_left)


def _close_way() -> None:
    st.query_params.pop("way", None)


PAGE = "ranking"
START = {"level": 0.95, "reference": REFERENCE, "role": ""}
JOINT = (
    "Ranks, p and differences over all pairs are corrected for all pairs (Holm, Bonferroni). An "
    "accuracy and what says “pair alone” hold one at a time. The p over all pairs comes from "
    "another test than a pair's own p, so they may differ even where there is one pair."
)
BAND = "for all models and all ways of asking and reading at once, at any one level"


def choose_settings(study_id: str, lock: dict | None) -> dict:
    """Return level, reference extractor and role, from the lock or from the controls."""
    scorers = session.declared(study_id).scorer_names
    view = modes.view_of(study_id, PAGE, start_of(scorers, START), lock)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    names, roles = list(frame["extractor"].unique()), roles_of(frame)
    reference = (
        view["reference"] if view["reference"] in names else default_reference(names, scorers)
    )
    role = view["role"] if view["role"] in roles else roles[0]
    if lock is None:
        with screen.view_button():
            reference = screen.select(
                "Reference extractor",
                names,
                "ranking-reference",
                choice=reference,
                format_func=title_of,
            )
            role = st.selectbox(
                "Items", roles, roles.index(role), key="ranking-role", bind="query-params"
            )
        screen.view_line(title_of(reference), f"{role_name(role)} items")
    return view | {"reference": reference, "role": role}


@st.fragment
def draw_board(
    study_id: str, mode: str, chosen: dict, lock_id: str | None, report: RankingReport
) -> None:
    """Draw the board, and below it two outputs under the way that was clicked."""
    board_data = cached.board(study_id, cached.settings_of(study_id, lock_id, chosen), lock_id)
    n_ways = len(board_data["rows"])
    # The height of the drawn board, wide and narrow: its head and its rows.
    with screen.reserved_space("ranking", 170 + 37 * n_ways, 410 + 38 * n_ways):
        moved, decision, way = boards.draw(
            board_data,
            key=f"ranking-{study_id}-{mode}-{chosen['reference']}-{chosen['role']}",
            locked=mode == "locked",
            opened=st.query_params.get("way", ""),
        )
    record.log_move(study_id, moved)
    record.offer_decision(
        study_id,
        PAGE,
        mode,
        decision and decision | {"reference": chosen["reference"], "role": chosen["role"]},
    )
    st.caption(modes.note_text(mode, study_id, BAND))
    if way and isinstance(way, str):
        # Written into the link, so that others can open the same view.
        st.query_params["way"] = way
        st.rerun(scope="fragment")
    show_outputs(study_id, report)
    modes.remember(study_id, PAGE, {"level": 0.95}, moved)


def draw_content(study_id: str, mode: str, lock: dict | None, line: DeltaGenerator) -> None:
    """Draw everything below the header of a study with answers; controls go to `line`."""
    with line:
        chosen = choose_settings(study_id, lock)
    lock_id = lock["lock_id"] if lock else None
    report: RankingReport | None = answer_of(
        study_id, Question.RANKING, cached.settings_of(study_id, lock_id, chosen), lock_id
    )
    if report is None:
        st.markdown(
            "## There is nothing to rank: no two models have answers that are right or wrong."
        )
        return
    draw_board(study_id, mode, chosen, lock_id, report)
    st.markdown(plain(report.winners.text))
    for note in report.notes:
        st.caption(plain(note))
    # Only the score's report has leads and ranks that hold for other questions and prompts, and
    # leads and ranks that are corrected by people's labels.
    score_settings = scores.settings_of(
        study_id, lock_id, chosen["reference"], chosen["role"], level=chosen["level"]
    )
    score: ScoreReport | None = answer_of(study_id, Question.SCORE, score_settings, lock_id)
    for claim in (
        (*score.ranks, *(difference.claim for difference in score.differences)) if score else ()
    ):
        st.markdown(plain(claim.text))
        st.caption(plain(claim.detail))
    st.subheader("Every pair on the same items", anchor=False)
    show_table("pairs-of-models", pair_rows(report.pairs))
    st.caption(f"Intervals at {level_text(chosen['level'])}. {JOINT}")
    if score and score.by_people.pairs:
        st.subheader("With people's labels in the scores", anchor=False)
        for claim in score.by_people.claims:
            st.markdown(plain(claim.text))
        if rows := score.by_people.table_rows():
            show_table("pairs-by-people", rows)
            st.caption(
                "Each model's score is corrected by the labels of its own outputs (page Score); p "
                "over all pairs is corrected by Holm's method."
            )
    ranked = [report.contest.models[m] for m in by_rank(report.contest)]
    # Models without right or wrong answers have no rank, but their answers may flip.
    unranked = set(session.readouts(study_id, lock=lock_id)["model"]) - set(ranked)
    models = [*ranked, *sorted(unranked)]
    show_flip_maps(study_id, lock_id, chosen["reference"], models)
    show_decomposition(study_id, lock_id, chosen["reference"], models)
    repeats.show(study_id)
    # These leave out the items that were set aside, so they have nothing to show under a lock.
    if mode != "locked":
        show_memory_and_inflation(study_id)
    record.show_decisions(study_id)


def show_order(study_id: str, line: DeltaGenerator) -> None:
    """Show the order of the models under every way of asking and reading."""
    with line:
        mode = modes.mode_selector()
    lock = modes.lock_of(study_id, mode, PAGE)
    frame = session.readouts(study_id, lock=lock["lock_id"] if lock else None)
    start = start_of(session.declared(study_id).scorer_names, START)
    if modes.can_show(study_id, PAGE, mode, lock, start, has_readouts=not frame.empty):
        draw_content(study_id, mode, lock, line)
    how_to_read(
        "A row is one **way**: a version of the prompt under one extractor. The number is the "
        "share of right answers. The dot is the model's rank, the bar its **rank interval**: all "
        "bars hold at once at the level above. A tinted cell marks a model that ranks first. Click "
        "a row to read answers on which two models differ. **p, pair alone** is McNemar's, or a t "
        "test where samples are averaged."
    )


study_id = page_header("ranking", fits=compares_models)
if study_id is not None:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="view-line")
    if not compares_models(session.declared(study_id)):
        st.markdown("## This study asks one model. Duplicate it and add another to compare them.")
        offer_suited(f"{PAGE}/page.py", compares_models)
    elif screen.segments("Show", ["Order", every_choice.TITLE], "show", place=line) == "Order":
        show_order(study_id, line)
    else:
        every_choice.show_pair(study_id, line)
