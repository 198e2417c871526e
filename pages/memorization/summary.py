"""Summary: a row for every detector, with what it says, its control, its error rate."""

from __future__ import annotations

import streamlit as st

from flipcore.core.errors import FlipscopeError
from flipcore.stats.memory import frames
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE
from pages.common.notes import plain
from pages.memorization.cached import (
    KINDS,
    NAMES,
    View,
    gap,
    loss,
    losses,
    measures_of,
    pearls_of,
    readouts_of,
    sensitivities,
    title_of,
)
from pages.memorization.controls import shown as dates_of_controls

FLAGGED, SILENT, UNDECIDED = "✓ memory", "✗ no sign", "– undecided"


def show(view: View, mode: str, settings: dict, controls) -> None:
    rows = [*_gaps(view, settings), *_losses(view), *_pearls(view, settings)]
    if not rows:
        st.info(
            "This study asks nothing that can tell memory from skill. Add rewriting axes, losses or flipped bits.",
            icon=":material/memory:",
        )
        return
    n_yes, n_open = (sum(row["verdict"] == verdict for row in rows) for verdict in (FLAGGED, UNDECIDED))
    st.markdown(
        "### "
        + plain(
            f"{n_yes} of {len(rows)} detectors see memory in these {len(set(view.frame['item_id'])):,} {KINDS[view.kind].lower()}"
            + (f"; {n_open} are undecided." if n_open > 1 else "; one is undecided." if n_open else ".")
        )
    )
    st.table({name: [plain(row[name]) for row in rows] for name in rows[0]}, border="horizontal", hide_index=True)
    dates_of_controls(view)
    with st.expander("How to read this"):
        st.markdown(
            "Each row is one test with its own control. **Error rate** is what the rule promises when nothing was memorized. "
            "Tests that measure different things may disagree without either being wrong: see *Do they agree?*. ✗ means that "
            "the test saw nothing, which is not the same as showing that there is nothing."
        )


def _gaps(view: View, settings: dict) -> list[dict]:
    rows = []
    for operator in frames.operators(view.frame):
        for readout in readouts_of(view)[:1]:
            found = gap(view, operator, readout, settings["margin"])
            verdict = {"flag": FLAGGED, "no evidence": SILENT}.get(found.decision, UNDECIDED)
            rows.append(
                _row(
                    f"Drop gap, {NAMES[operator]}",
                    verdict,
                    found.sentence(),
                    f"{found.control.n_items:,} controls, rewritten alike",
                    "2.5 % (one-sided permutation)",
                )
            )
    return rows


def _losses(view: View) -> list[dict]:
    rows = []
    for measure in measures_of(view, frames.LOSSES):
        if not len(losses(view, measure)[0]):
            continue
        try:
            found = loss(view, measure)
        except FlipscopeError as error:
            rows.append(_row(title_of(measure), UNDECIDED, str(error), "too few", "–"))
            continue
        verdict = FLAGGED if found.flagged[DEFAULT_RULE].any() else SILENT
        rows.append(
            _row(
                title_of(measure),
                verdict,
                found.sentence(),
                f"{len(found.d0):,} controls",
                "5 % of the flagged (false discoveries)",
            )
        )
    return rows


def _pearls(view: View, settings: dict) -> list[dict]:
    rows = []
    for axis, metric, title in pearls_of(view):
        found, _ = sensitivities(view, metric, settings["rule"], settings["fpr"], axis)
        usable = found.calibration.alpha < 2
        verdict = UNDECIDED if not usable else FLAGGED if found.flagged.any() else SILENT
        rows.append(
            _row(
                title,
                verdict,
                found.sentence(),
                f"{found.calibration.n:,} non-members",
                f"{100 * settings['fpr']:g} % of non-members",
            )
        )
    return rows


def _row(detector: str, verdict: str, says: str, control: str, error: str) -> dict:
    return {"detector": detector, "verdict": verdict, "what it says": says, "control": control, "error rate": error}
