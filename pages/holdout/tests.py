"""The part Tests: the numbers of all tests, and the models for the test of difficulty."""

import streamlit as st

from flipcore.claims.holdout import outcome_claim
from flipcore.reports.holdout import START, HoldoutReport, bound_text, checked_models
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.base.estimate import p_text
from flipcore.stats.holdout.difficulty import BEFORE
from flipcore.stats.holdout.units import TITLES, detectable_text, estimate_text
from flipcore.text.counts import count_of
from pages.common.showing import plain, show_table
from pages.holdout import cached


def show_sizes(sets: Sets) -> None:
    """Show how many entries are compared, what was left out, and duplicates."""
    n = len(sets.target)
    pairs = cached.duplicates(sets)
    # Indices count benchmark and then holdout entries, so these pairs lie across the sets.
    across = [pair for pair in pairs if pair.first < n <= pair.second]
    aside = ""
    if sets.n_aside:
        aside = f", {sets.n_aside:,} more set aside"
    elif sets.share_aside:
        aside = ", those that were set aside"
    entries = f"{n:,} benchmark and {len(sets.retro):,} holdout entries{aside}."
    duplicates = f"{count_of(len(pairs), 'near duplicate')}: see Look inside." if pairs else ""
    st.caption(plain(" ".join([entries, *sets.notes, duplicates]).strip()))
    if any(pair.exact for pair in across):
        st.warning(
            "A text stands in both sets word for word, so it is not held out: leave it out before "
            "reading on.",
            icon=":material/content_copy:",
        )


def show(sets: Sets, report: HoldoutReport, *, confirmatory: bool) -> None:
    """Show every test's numbers as a table, then difficulty per model and condition."""
    rows = [
        {
            "test": TITLES[name],
            "estimate": estimate_text(test),
            "ours": outcome_claim(test).text,
            "p": p_text(test.p),
            "source's rule": test.source_state,
            "source's p": ", ".join(p_text(p) for p in test.p_source),
            "bound against the margin": bound_text(test),
            "could detect": detectable_text(test),
            "how": report.about[name],
        }
        for name, test in report.tests.items()
    ]
    column_config = {name: st.column_config.TextColumn(width="large") for name in ("ours", "how")}
    show_table("holdout-tests", rows, column_config=column_config)
    st.caption("At the margins where the handles above were last released.")
    for name, reason in report.missing.items():
        st.caption(plain(f"{TITLES[name]}. {reason}"))
    _show_difficulty(sets, confirmatory=confirmatory)


def _show_difficulty(sets: Sets, *, confirmatory: bool) -> None:
    """Show which models may have seen the benchmark, and their accuracies on both sets."""
    st.subheader("Who may be asked whether the sets are equally hard?", anchor=False)
    st.caption(
        "Only a model whose training ended before the benchmark was published cannot have seen it. "
        "Weak models make different sets look equally hard, so the source boosts them: an answer "
        "among the first k options, five examples, a helpful prompt. Every condition that a study "
        "measured is listed; the axes “Examples before the question” and “Prompt format” (Helpful "
        "prompt) add them."
    )
    conditions = cached.all_conditions(sets, confirmatory=confirmatory)
    if not conditions:
        st.info(
            "No model has answered both sets. Ask the pocket model under Inflation, or declare a "
            "study with these items as benchmark and holdout.",
            icon=":material/science:",
        )
        return
    models = list(dict.fromkeys(condition.model for condition in conditions))
    states = checked_models(sets.target, models)
    for state in states.values():
        st.markdown(plain(state.sentence))
    rows = []
    for condition in conditions:
        test = condition.test(START["difficulty"])
        n_right_target, n_target, n_right_retro, n_retro = condition.counts
        rows.append(
            {
                "model": condition.model,
                "read as": condition.extractor.replace("_", " "),
                "asked as": condition.layout,
                "boost": condition.boost or "none",
                "benchmark right": f"{n_right_target:,} of {n_target:,}",
                "holdout right": f"{n_right_retro:,} of {n_retro:,}",
                "difference": test.estimate.text_points(),
                "p": p_text(test.p),
                "pairs": "source-paired" if condition.pairs else "independent",
                "in the test": "yes" if states[condition.model].state == BEFORE else "no",
            }
        )
    show_table("conditions", rows)
