"""Inflation: how much better is a model on the published set than on the holdout?"""

import pandas as pd
import streamlit as st

from flipcore.charts.inflation import NAN, Inflated, inflation_figure
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.holdout import checked_models, inflation_of, ways
from flipcore.reports.holdout_sets import Sets, pocket_study
from flipcore.stats.base.estimate import p_text, percent_text, without_interval
from flipcore.stats.holdout.difficulty import BEFORE, Condition
from pages.common import screen, session
from pages.common.inspector import draw_inspector, open_item
from pages.common.showing import plain, show_figure, show_table, shown_problem
from pages.holdout import cached
from pages.holdout.set_selection import ask_models

# Haimes et al. (2024), table 3: model, inflation on TruthfulQA against Retro-Misconceptions in
# points, and the exact-match rate of Deng et al. (2024) in percent.
PUBLISHED = (("GPT-3.5 / ChatGPT", 13.1, 10), ("GPT-4", 11.1, 12), ("Mistral 7B", 8.5, 15))


def show(sets: Sets, *, confirmatory: bool) -> None:
    """Show every model's inflation, running studies, and published figures."""
    conditions = cached.all_conditions(sets, confirmatory=confirmatory, boosted=False)
    study_ids = set(sets.study_ids)
    # The button of this part starts this study.
    if sets.sources:
        study_ids.add(pocket_study(sets).study_id)
    running_ids = [
        study_id for study_id in study_ids if session.registry().progress(study_id) is not None
    ]
    for study_id in running_ids:
        _show_progress(study_id)
    if conditions:
        _show_inflation(sets, conditions, confirmatory=confirmatory)
    elif running_ids:
        st.caption("Nothing has come back yet. This tab fills as answers arrive.")
    else:
        _offer_study(sets)
    _show_published()


def show_sentence(sets: Sets, *, confirmatory: bool) -> None:
    """Show the sentence on inflation; nothing before a model has answered both sets."""
    conditions = cached.all_conditions(sets, confirmatory=confirmatory, boosted=False)
    if conditions:
        closed_gates = cached.closed_gates(sets, conditions, confirmatory=confirmatory)
        _, claim = inflation_of(conditions, closed_gates)
        # Somebody who does not know holdouts would take a higher score for good news.
        inflated = ", the public score is inflated" if claim.is_made else ""
        st.markdown(f"If the holdout is fair{inflated}: {plain(claim.text)}")


def _show_inflation(sets: Sets, conditions: list[Condition], *, confirmatory: bool) -> None:
    """Show the claim, a figure and a table of inflation per model, under one way of asking."""
    choices = ways(conditions)
    # A way is (extractor, layout of the prompt).
    way = choices[0]
    if len(choices) > 1:
        way = screen.select(
            "Answers read and asked as",
            choices,
            "inflation-way",
            width=420,
            format_func=lambda way: f"{way[0].replace('_', ' ')}, {way[1]}",
        )
    closed_gates = cached.closed_gates(sets, conditions, confirmatory=confirmatory)
    selection, claim = inflation_of(conditions, closed_gates, way)
    # Sorted like the figure.
    subset = sorted(selection, key=lambda condition: -condition.inflation().value)
    rows = [
        Inflated(condition.model, *condition.accuracies, condition.inflation())
        for condition in subset
    ]
    st.markdown(f"### {plain(claim.text)}")
    models = list(dict.fromkeys(condition.model for condition in subset))
    states = checked_models(sets.target, models)
    sentences_before = " ".join(
        state.sentence for state in states.values() if state.state == BEFORE
    )
    st.caption(
        plain(
            f"{claim.detail} One answer an item, intervals at 95% "
            f"({rows[0].inflation.method.replace('_', ' ')}), n = {rows[0].inflation.n:,}. A "
            "difference is contamination only as far as the two sets could have come from the "
            f"same source: read the verdict above with it. {sentences_before}"
        )
    )
    if way[0] == "rotation":
        st.caption(
            "Rotation reports the majority vote, which is right more often than a single answer: "
            "an inflation of 5 points in single answers reads as 12.5 here. Compare it with "
            "“rotation single”."
        )
    show_figure("inflation", lambda c: inflation_figure(rows, c))
    event = show_table(
        "inflation",
        [
            {
                "model": row.label,
                "benchmark": percent_text(row.target, 1),
                "holdout": percent_text(row.retro, 1),
                "inflation": row.inflation.text_points(),
                "p": p_text(condition.test(1.0).p),
                "interval": row.inflation.method.replace("_", " "),
                "n": row.inflation.n,
            }
            for condition, row in zip(subset, rows, strict=True)
        ],
        key="inflation-rows",
        on_select="rerun",
        selection_mode="single-row",
    )
    positions = event["selection"]["rows"] or ([0] if len(subset) == 1 else [])
    if positions:
        _show_questions(sets, subset[positions[0]])
    else:
        st.caption("Choose a model's row to list its questions and read their outputs.")


def _show_questions(sets: Sets, condition: Condition) -> None:
    """List the questions that one model answered; a click opens an item in the inspector."""
    with st.expander(f"Questions of {condition.model}", icon=":material/list:"):
        items = sets.items
        rows = []
        for name, answers in (("benchmark", condition.target), ("holdout", condition.retro)):
            for item_id, share in answers.items():
                item, question = item_id.split("@")[0], items[item_id].question
                rows.append((item_id, item, name, share, question))
        table = pd.DataFrame(rows, columns=["item_id", "item", "set", "right", "question"])
        # Answers that suggest memory come first: right as published, or wrong on the holdout.
        is_benchmark = table["set"] == "benchmark"
        suggests_memory = (is_benchmark & (table["right"] == 1)) | (
            ~is_benchmark & (table["right"] == 0)
        )
        table = table.assign(suggests_memory=suggests_memory)
        table = table.sort_values(["suggests_memory", "set"], ascending=[False, True])
        event = show_table(
            "inflation-questions",
            table[["item", "set", "right", "question"]],
            key=f"inflation-questions-{condition.model}",
            on_select="rerun",
            selection_mode="single-row",
            height=260,
        )
        positions = event["selection"]["rows"]
        chosen_id = table["item_id"].iloc[positions[0]] if positions else ""
        # For the open item leave the link alone, so that its chosen variant stays.
        if chosen_id and st.query_params.get("item") != chosen_id:
            open_item(chosen_id, axis=IDENTITY, readout=condition.extractor)
    if st.query_params.get("item") in items:
        draw_inspector(condition.study_id, condition.model, Steps(table["item_id"]), sheet=True)


def _offer_study(sets: Sets) -> None:
    """Say that no model has answered, and offer to ask some."""
    study = pocket_study(sets) if sets.sources else None
    st.info(
        "No model has answered both sets yet, so their accuracies cannot be compared.",
        icon=":material/query_stats:",
    )
    with st.container(horizontal=True):
        if study is not None and st.button(
            "Ask the pocket model",
            key="run-example",
            type="primary",
            icon=":material/play_arrow:",
            help="Takes seconds; needs no key or network. It knows the problems of its own world "
            "and little else",
        ):
            with shown_problem():
                session.registry().start(study)
                st.rerun()
        ask_models(sets)


@st.fragment(run_every=2.0)
def _show_progress(study_id: str) -> None:
    progress = session.registry().progress(study_id)
    if progress is None:
        st.rerun()
    share = progress.n_done / progress.n_calls if progress.n_calls else 0.0
    st.progress(
        min(share, 1.0),
        text=f"Asking the pocket model: {progress.n_done:,} of about {progress.n_calls:,} calls",
    )


def _show_published() -> None:
    st.subheader("What a published comparison looks like", anchor=False)
    st.caption(
        "Published figures of Haimes et al. (2024), table 3, not measured here: inflation of three "
        "models on TruthfulQA against Retro-Misconceptions. The paper prints no interval in that "
        "table. How wide one would be depends on the sets: 66 and 50 right of 100 each differ by "
        "16 points [+2.3, +28.9]. EM is the share of masked wrong options that a model completes "
        "word for word (Deng et al. 2024)."
    )
    rows = [
        Inflated(name, NAN, NAN, without_interval(value / 100, 0, note="published"))
        for name, value, _ in PUBLISHED
    ]
    left, right = st.columns([3, 2], vertical_alignment="center")
    show_figure("published", lambda c: inflation_figure(rows, c), place=left)
    show_table(
        "published-inflation",
        place=right,
        rows=[
            {"model": name, "inflation (points)": value, "EM (%)": match}
            for name, value, match in PUBLISHED
        ],
    )
