"""The part Effect: which paraphrases may be used, and how striking some changed the estimate."""

import pandas as pd
import streamlit as st

from flipcore.annotation.paraphrases.effect import (
    Effect,
    SourceGate,
    effect_rows,
    own_acceptance,
    own_effect,
    own_verdicts,
    source_gates,
)
from flipcore.annotation.paraphrases.effect import effect as effect_of
from flipcore.axes import AXES
from flipcore.charts.interval_rows import interval_rows
from flipcore.claims.gates import looks_claim, paraphrases_claim, sources_claim
from flipcore.core.records import FIRST_TOKEN, IDENTITY, WRITTEN_ANSWER
from flipcore.core.wordings import NOUNS
from flipcore.extractors import title_of
from flipcore.stats.base.estimate import MIN_N, percent_text
from flipcore.stats.base.gate_rules import ACCEPTANCE, MIN_PAIRS, few_pairs_sentence
from flipcore.store.queries import review
from flipcore.store.queries import studies as queries
from pages.common import session
from pages.common.flip_verdicts import show_marked_flips
from pages.common.links import choose_linked_study
from pages.common.showing import how_to_read, plain, show_figure, show_table, shown_problem
from pages.paraphrase_review import which_pairs
from pages.paraphrase_review.judging import reviewer


def show() -> None:
    """Show the gates of all sources, and the estimate with and without struck paraphrases."""
    states = queries.paraphrase_states(session.store())
    if states.empty:
        st.info(
            "There is no paraphrase yet. Bring pairs in under Propose and exchange.",
            icon=":material/upload:",
        )
        return
    if name := reviewer():
        for sentence in own_acceptance(own_verdicts(session.store(), name)):
            st.markdown(f"**{plain(sentence)}**")
    _show_gates(source_gates(states))
    studies = which_pairs.studies()
    if not studies:
        st.info(
            "No study has asked these paraphrases yet, so there is no estimate to move. Declare "
            "one with the axis Paraphrase.",
            icon=":material/science:",
        )
        st.page_link("new_study/page.py", label="Declare a study", icon=":material/add_circle:")
        return
    _show_estimates(studies)


def _show_gates(gates: list[SourceGate]) -> None:
    """Show the gate of every source of paraphrases, and what would open it."""
    st.markdown(f"## {plain(sources_claim([source.gate for source in gates]).text)}")
    st.caption(
        f"Counted here: all {sum(source.n_pairs for source in gates):,} stored paraphrases, "
        "whether a study asked them or not. A dataset's paraphrases by one author pass when the "
        f"lower bound of their acceptance is {percent_text(ACCEPTANCE)} or more, on at least "
        f"{MIN_PAIRS} reviewed pairs. Until then their flips are shown and excluded from all "
        "conclusions. Only people open a gate."
    )
    reviewed_sources = [source for source in gates if source.n_reviewed]
    # With very few pairs there is no interval to draw.
    rows = [
        (source.name, source.gate.accepted)
        for source in reviewed_sources
        if source.gate.accepted.n >= MIN_N
    ]
    if rows:
        show_figure(
            "gates",
            lambda c: interval_rows(rows, c, ACCEPTANCE, "lower bound wanted", is_share=True),
        )
    for source in reviewed_sources:
        mark = "✓" if source.gate.is_open else "–"
        verdict = paraphrases_claim(source.gate, source.sentence()).text
        st.markdown(
            f"**{mark} {plain(source.name)}**, {source.n_reviewed:,} of {source.n_pairs:,} pairs "
            f"reviewed by people  \n{plain(verdict)} "
            f"{plain(looks_claim(source.gate).text)} {plain(source.models_sentence())}"
        )
    unreviewed_sources = [source for source in gates if not source.n_reviewed]
    if unreviewed_sources:
        names = "; ".join(f"{source.name} ({source.n_pairs:,})" for source in unreviewed_sources)
        st.markdown(plain(f"No person has reviewed a pair yet of {names}."))
        for source in unreviewed_sources:
            if sentence := few_pairs_sentence(source.n_pairs):
                st.caption(plain(f"{source.name}: {sentence}"))
            if source.n_by_models:
                st.caption(plain(f"{source.name}: {source.models_sentence()}"))


def _show_estimates(studies: dict[str, str]) -> None:
    """Ask for study, axis, model and extractor; show T, G and A with and without struck pairs."""
    st.subheader("What it did to the estimate", anchor=False)
    study_place, axis_place, model_place, extractor_place = st.columns(4)
    study_id = choose_linked_study("Study", studies, "effect-study", place=study_place)
    axes = list(review.materials_by_axis(session.store(), study_id))
    axis = axis_place.selectbox(
        "Axis",
        axes,
        key="effect-axis",
        bind="query-params",
        format_func=lambda name: AXES[name].title,
    )
    frame = session.readouts(study_id, paraphrases="all")
    axis_frame = frame[frame["axis"] == axis]
    if axis_frame.empty:
        st.info("Nothing has come back on this axis yet.", icon=":material/hourglass_empty:")
        return
    models, names = list(axis_frame["model"].unique()), list(axis_frame["extractor"].unique())
    model = model_place.selectbox("Model", models, key="effect-model", bind="query-params")
    start = names.index(FIRST_TOKEN) if FIRST_TOKEN in names else 0
    extractor = extractor_place.selectbox(
        "Extractor", names, start, key="effect-readout", bind="query-params", format_func=title_of
    )
    # A study without written answers needs another reference extractor.
    reference = WRITTEN_ANSWER if WRITTEN_ANSWER in names else names[-1]
    st.caption(
        f"Counted here: the {NOUNS[axis][1]} that this study asked, of items that it did not set "
        "aside."
    )
    with shown_problem():
        effect = _effect(study_id, axis, model, extractor, reference)
        st.markdown(f"**{plain(effect.sentence(title_of(extractor).lower()))}**")
        if name := reviewer():
            st.markdown(plain(_own_effect(study_id, axis, model, extractor, reference, name)))
        _show_table(effect)
        which_pairs.show_struck(study_id, axis)
        # The second subset has the paraphrases that were not struck out.
        _, _, cell_without_struck = effect.subsets[1]
        show_marked_flips(study_id, model, extractor, cell_without_struck)
    how_to_read(
        "**Pairs that flip**: how often two prompts of an item get different answers. "
        "**Genuine**: the same under the written answer. **Artifact**: the difference of the two. "
        "A paraphrase is struck out when at least half of its reviewers find something changed. "
        "It then leaves all three at once, and undoing the verdict brings it back. A **gate** "
        "looks at the lower end of the interval and says how many more pairs would open it."
    )


def _rows(study_id: str, axis: str, model: str) -> pd.DataFrame:
    """Return the model's readouts of the axis and of reruns, with struck paraphrases."""
    frame = session.readouts(study_id, paraphrases="all")
    return frame[(frame["model"] == model) & frame["axis"].isin([axis, IDENTITY])]


@session.cached()
def _own_effect(
    study_id: str, axis: str, model: str, extractor: str, reference: str, name: str
) -> str:
    """Return the sentence on the effect of this reviewer's own verdicts."""
    store = session.store()
    pairs, verdicts = review.materials(store, study_id, axis), own_verdicts(store, name)
    return own_effect(_rows(study_id, axis, model), pairs, verdicts, extractor, reference, axis)


@session.cached("Striking out")
def _effect(study_id: str, axis: str, model: str, extractor: str, reference: str) -> Effect:
    pairs = review.materials(session.store(), study_id, axis)
    states = queries.paraphrase_states(session.store())
    return effect_of(_rows(study_id, axis, model), pairs, states, extractor, reference, axis)


def _show_table(effect: Effect) -> None:
    """Show T, G and A per subset of paraphrases, and what unreviewed ones could change."""
    show_table("effect", effect_rows(effect))
    if bounds := effect.bounds:
        st.caption(
            f"{bounds.n_unreviewed:,} {NOUNS[effect.axis][1]} have no verdict. If as large a share "
            f"of them is bad as of the {bounds.n_reviewed:,} reviewed pairs of the same sources, "
            f"{bounds.n_bad:,} would be struck out; the last row strikes those that move each "
            "estimate most, either way."
        )
    elif effect.unbounded:
        st.caption(plain(effect.unbounded))
    elif effect.subsets[1][1] > effect.subsets[2][1]:
        st.caption(
            f"None of this study's {NOUNS[effect.axis][1]} has been reviewed, so nothing is known "
            "of how bad they are."
        )
