"""Summary: one row per detector and kind of items, with verdict, control and error rate."""

import streamlit as st

from flipcore.charts.memory import CLAIMED, NONE_SHOWN, OPEN, WITHHELD, DetectorMark, detector_rows
from flipcore.claims.memory import POSITIVE
from flipcore.claims.memory_gap import UNDECIDED
from flipcore.models import model_cards
from flipcore.reports.memory import MemoryTest, summary
from flipcore.stats.memory.training_end import control_rows, control_sentence
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import how_to_read, offer_table, plain, show_figure, show_table
from pages.memorization import truth
from pages.memorization.cached import View, members, tests
from pages.memorization.items import detector_title


def show(view: View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show the verdicts of all detectors, what controls they have, and their error rates."""
    verdicts = tests(view, settings["margin"])
    if not verdicts:
        st.info(
            "This study has no test for this tab. Add rewriting axes, losses, question completion "
            "or flipped bits.",
            icon=":material/memory:",
        )
        return
    claim = summary(verdicts, view.all_kinds)
    st.markdown(f"## {plain(claim.text)}")
    truth.show_best_detector(view)
    marks = [_mark(verdict) for verdict in verdicts]
    if any(mark.is_drawn for mark in marks):
        show_figure("detectors", lambda c: detector_rows(marks, c))
    # With one kind of items, the column of items is useless.
    has_kinds = len({verdict.items for verdict in verdicts}) > 1
    table = [_row(verdict, has_kinds=has_kinds) for verdict in verdicts]
    with st.expander("What each detector says", key="memory-tests"):
        st.caption(plain(claim.detail))
        st.table(
            {name: [plain(row[name]) for row in table] for name in table[0]},
            border="horizontal",
            hide_index=True,
        )
        offer_table("memory-summary", table)
    control = session.declared(view.study_id).control
    st.caption(plain(f"The study declares its control as “{control}”."))
    if n_pairs := len(members(view).pairs.control_of):
        st.caption(plain(f"Stored: {count_of(n_pairs, 'pair')} of benchmark and control items."))
    card = model_cards().get(view.model)
    cutoff = card.cutoff if card else None
    rows = control_rows(session.study_items(view.study_id), view.control_roles, cutoff)
    has_doses = bool(session.doses(view.study_id))
    st.markdown(plain(control_sentence(rows, view.model, cutoff, doses_known=has_doses)))
    with st.popover("Dates by set", icon=":material/event:"):
        show_table("dates-of-controls", rows)
    how_to_read(
        "Each row is one test with its own control: a gap with its 95% interval, or the share of "
        "items beyond the controls' mark, with a line down to how many differ at least. The tick "
        "is what chance gives. **Error rate** is how often the rule is wrong when nothing was "
        "memorized, over all detectors together (Holm). *None shown* does not show that there is "
        "nothing."
    )


def _mark(verdict: MemoryTest) -> DetectorMark:
    """Return the detector's row of the figure."""
    claim, symbol = verdict.claim, NONE_SHOWN
    if claim.is_made and claim.outcome in POSITIVE:
        symbol = CLAIMED
    elif claim.withheld:
        symbol = WITHHELD
    elif claim.outcome == UNDECIDED:
        symbol = OPEN
    return DetectorMark(
        detector_title(verdict.detector),
        verdict.items,
        verdict=verdict.decision,
        symbol=symbol,
        sentence=verdict.sentence,
        effect=verdict.effect,
        chance=verdict.chance,
        is_share=verdict.is_share,
    )


def _row(verdict: MemoryTest, *, has_kinds: bool) -> dict[str, str]:
    """Return the detector's row of the table; `has_kinds` adds the column of item kinds."""
    assertion = verdict.claim.assertion
    rate = f"{100 * assertion.error_rate:g}%" if assertion else "–"
    return ({"items": verdict.items} if has_kinds else {}) | {
        "detector": detector_title(verdict.detector),
        "verdict": verdict.decision,
        "what it says": verdict.sentence,
        "controls": f"{verdict.n_controls or 0:,}",
        "error rate, one-sided": rate,
    }
