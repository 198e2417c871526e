"""Drop gap: does accuracy fall more under rewriting on the benchmark than on a control?"""

from collections.abc import Mapping

import streamlit as st

from flipcore.annotation import control_matching
from flipcore.charts.memory import balance_figure, slopes
from flipcore.claims.memory_gap import MARGIN, old_rule, source_rule
from flipcore.core.study import PAIRED_CONTROL
from flipcore.detectors import DropGap as DropGapDetector
from flipcore.extractors import title_of
from flipcore.reports.browser_data.cutoffs import detector_line
from flipcore.reports.published import gap_notes, gap_rows, inconsistency_rows
from flipcore.reports.worked_examples import gap_example
from flipcore.runs.asking_again import Draft
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap as DropGapAnalysis
from flipcore.stats.memory.gap_power import detectable_sentence
from flipcore.stats.memory.matching import CALIPER, MAX_IMBALANCE, TITLES, TRAITS, Matching
from flipcore.stats.memory.operand_size import operand_check
from flipcore.store.queries import memory
from pages.common import screen, session
from pages.common.drafts import open_draft
from pages.common.identity import name_field
from pages.common.links import binding
from pages.common.showing import how_to_read, plain, show_figure, show_table, shown_problem
from pages.components import boards
from pages.memorization.cached import (
    View,
    answer_extractors,
    detectable,
    drop_gaps,
    gap_analysis,
    handle_move,
    members,
    show_verdict,
    tests,
)
from pages.memorization.items import show_item_table

START = {"margin": MARGIN}


def show(view: View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show the drop gap of a rewriting axis, its items, and how to match controls."""
    gaps, extractors = drop_gaps(view), answer_extractors(view)
    if not gaps or not extractors:
        st.info(
            "The drop gap needs answers to rewritten items. Add an axis that rewrites (numbers "
            "resampled, names changed, paraphrase) and an extractor of answers to the study.",
            icon=":material/edit_note:",
        )
        return
    operator, extractor = _choose(controls, gaps, extractors)
    analysis = gap_analysis(view, operator, extractor, settings["margin"])
    # `tests` puts the gap at these settings first.
    verdict = tests(view, settings["margin"], operator, extractor)[0]
    line = detector_line(verdict, analysis, gaps[operator].unit, settings["margin"])
    moved, decision, _ = boards.draw(
        line.data(), locked=mode == "locked", key=f"margin-{view}-{operator}-{extractor}-{mode}"
    )
    # The board's headline is the verdict, at the margin that is dragged.
    sentences = show_verdict(verdict, has_headline=False)
    show_figure(
        "slopes",
        lambda c: slopes(analysis.benchmark, analysis.control, ("benchmark", "control"), c),
    )
    handle_move(
        view,
        mode,
        setting="margin",
        start=START,
        sentences=sentences,
        moved=moved,
        decision=decision,
        about={"operator": operator, "readout": extractor},
    )
    _show_drops(analysis)
    st.markdown(plain(analysis.benchmark.identity_sentence()))
    if st.toggle("What could this study find?", key="power", bind="query-params"):
        design, smallest_gap = detectable(view, operator, extractor, settings["margin"])
        st.markdown(plain(detectable_sentence(design, smallest_gap)))
    _show_coverage(view, operator, analysis)
    _show_matching(view, analysis)
    with st.expander("By other rules", icon=":material/rule:"):
        rule = source_rule(
            analysis.gap_source,
            is_literal=analysis.source_literal,
            is_directional=analysis.source_directional,
        )
        st.markdown(plain(rule.text))
        st.markdown(plain(old_rule(analysis.perm_p, analysis.cond_gap).text))
    with st.expander("The source's published table, recomputed", icon=":material/menu_book:"):
        show_table("published-gaps", gap_rows())
        st.caption(gap_notes())
        st.markdown("**What does not add up in the sources**")
        show_table("published-inconsistencies", inconsistency_rows())
    st.markdown("**Benchmark items, those that broke first**")
    rows = frames.drop_rows(frames.rewritten(view.frame, operator, extractor, view.item_roles))
    show_item_table(view, rows, operator, extractor, key=f"gap-items-{operator}")
    how_to_read(
        "A model that remembers loses accuracy when items are rewritten; a brittle one also on the "
        "control. The **gap** is the difference of both drops. With a *random* control it is "
        "memory at one-sided p ≤ .025; with *paired* controls differences within pairs decide; "
        "with *other* controls points, share kept and odds must agree. *No memory* is claimed only "
        "within your margin.",
        example=gap_example(analysis),
    )


def _choose(
    controls: screen.Controls, gaps: Mapping[str, DropGapDetector], extractors: list[str]
) -> tuple[str, str]:
    """Draw the controls; return the chosen rewriting axis and extractor."""
    operator = screen.segments(
        "Rewriting",
        list(gaps),
        "rewriting",
        place=controls.place,
        label_visibility="visible",
        format_func=lambda axis: gaps[axis].past,
    )
    extractor = screen.select(
        "Answers read by", extractors, "gap-readout", place=controls.place, format_func=title_of
    )
    controls.note(gaps[operator].past, f"read by {title_of(extractor).lower()}")
    return operator, extractor


def _show_drops(analysis: DropGapAnalysis) -> None:
    """Show both sets with accuracy before and after rewriting, the drop and McNemar's tests."""
    rows = []
    for name, drop in (("benchmark", analysis.benchmark), ("control", analysis.control)):
        tests = drop.mcnemar or {}
        rows.append(
            {
                "set": name,
                "items": drop.n_items,
                "covered": drop.coverage.text_percent(),
                "before": drop.accuracy_before.text_percent(),
                "after": drop.accuracy_after.text_percent(),
                "drop, points": drop.drop.text_points().replace(" points", ""),
                "broken": drop.n_broken,
                "fixed": drop.n_fixed,
                "McNemar exact": p_text(tests["exact"]) if tests else "–",
                "mid-p": p_text(tests["midp"]) if tests else "–",
                "p, corrected χ² (source)": f"{tests['chi2_cc']:.2g}" if tests else "–",
                "uncovered items right": drop.accuracy_uncovered.text_percent(),
            }
        )
    show_table("drops", rows)


def _show_coverage(view: View, operator: str, analysis: DropGapAnalysis) -> None:
    """Show whether rewritten items are special, whether numbers kept their size, and refusals."""
    sentences = []
    for name, drop in (("Benchmark", analysis.benchmark), ("Control", analysis.control)):
        if selection := drop.selection_sentence():
            sentences.append(f"{name}: {selection}")
    pairs = memory.operands(session.store(), view.study_id, operator)
    if pairs:
        original_numbers, new_numbers = zip(*pairs, strict=True)
        sentences.append(operand_check(original_numbers, new_numbers).sentence())
    refusals = memory.refusals(session.store(), view.study_id, operator)
    for sentence in sentences:
        st.markdown(plain(sentence))
    if not refusals.empty:
        with st.popover(
            f"Why {int(refusals['items'].sum()):,} items could not be rewritten",
            icon=":material/block:",
        ):
            show_table("not-covered", refusals)


# Matching pairs benchmark items with similar controls. A new study can declare these pairs.

OWN_CONTROLS = "this study's controls"


def _show_matching(view: View, analysis: DropGapAnalysis) -> None:
    """Show the gap within stored pairs, and behind a toggle the form that matches controls."""
    pairs = members(view).pairs
    if analysis.gap_matched is not None:
        sentence = (
            f"Within {len(pairs.control_of):,} stored pairs the gap is "
            f"{analysis.gap_matched.text_points()}. {pairs.note()}"
        )
        if session.declared(view.study_id).control != PAIRED_CONTROL:
            sentence += " This is for comparison: the study declares another control."
        st.markdown(plain(sentence))
    if st.toggle("Match controls", key=f"match-{view.study_id}", bind="query-params"):
        with st.container(border=True), shown_problem():
            _match_controls(view)


def _match_controls(view: View) -> None:
    """Ask for source, traits and caliper, match, and show balance and buttons."""
    study, store = session.declared(view.study_id), session.store()
    sources = control_matching.control_sources(store)
    models = control_matching.reference_models(store, study)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        origin = st.selectbox(
            "Controls from",
            [OWN_CONTROLS, *sources],
            key="match-from",
            bind="query-params",
            width=280,
        )
        traits = st.multiselect(
            "Match by",
            TRAITS,
            TRAITS,
            key="match-by",
            bind="query-params",
            format_func=TITLES.__getitem__,
            width=420,
        )
        caliper = st.number_input(
            "Largest difference in a pair, SD",
            min_value=0.05,
            max_value=3.0,
            value=CALIPER,
            step=0.05,
            key="match-caliper",
            bind=binding("match-caliper"),
            width=220,
        )
    references = (
        st.multiselect("Reference models", models, models, key="match-models", bind="query-params")
        if models
        else []
    )
    source = sources.get(origin)
    if source is None:
        matching = control_matching.matched_in_study(
            store, view.study_id, traits, caliper, references
        )
    else:
        matching = control_matching.matched_from_set(
            store, view.study_id, source, traits, caliper, references
        )
    _show_balance(matching)
    _offer_storing(view, matching, source)


def _show_balance(matching: Matching) -> None:
    """Show how alike benchmark and controls are per trait, before and after matching."""
    st.markdown(f"**{plain(matching.sentence())}**")
    if matching.unknown:
        names = ", ".join(TITLES[name] for name in matching.unknown)
        st.caption(plain(f"Not matched on {names}: one of the two sets does not hold it."))
    left, right = st.columns([3, 2])
    show_figure("balance", lambda c: balance_figure(matching.balance, c), place=left)
    show_table(
        "balance",
        place=right,
        rows=[
            {
                "trait": trait.title,
                "before, SD": number_text(trait.before, sign=True),
                "after, SD": number_text(trait.after, sign=True),
                "variance ratio after": number_text(trait.ratio_after),
                "matched": "yes" if trait.trait in matching.by else "no",
            }
            for trait in matching.balance
        ],
    )
    st.caption(
        "Differences of means in standard deviations. A paired claim needs at most "
        f"{MAX_IMBALANCE:g} after matching. Models under test cannot be reference models."
    )


def _offer_storing(view: View, matching: Matching, source) -> None:
    """Offer to store the pairs and to declare a new study with them.

    `source` is the set of the controls; None if they are this study's.
    """
    store, study = session.store(), session.declared(view.study_id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        reviewer = name_field("Your name", key="match-name", width=240)
        if st.button(
            "Store these pairs",
            key="match-store",
            type="primary",
            disabled=not (reviewer.strip() and matching.pairs),
        ):
            control_matching.store_matching(store, matching, reviewer)
            st.rerun()
        if matching.pairs and (source is not None or study.control != PAIRED_CONTROL):
            if st.button(
                "New study with paired controls", key="match-study", disabled=study.is_recorded
            ):
                paired_study = control_matching.paired_study(study, matching, source)
                open_draft(f"paired-{view.study_id}", Draft(paired_study, notes=()))
