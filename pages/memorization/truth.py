"""The part Ground truth: how well detectors find items that were read a known number of times.

The dose of an item is the number of times that the model read it in training.
"""

from collections.abc import Collection, Mapping

import streamlit as st

from flipcore.charts.memory import auc_by_dose, roc_by_dose, scores_by_dose
from flipcore.claims.memory_truth import detector_claim, record_claim, truth_claim
from flipcore.core.command_line import command
from flipcore.detectors import DETECTORS, ScoreDetector
from flipcore.reports.memory import (
    AGAINST_DOSES,
    decide_on_doses,
    detector_rows,
    record_rows,
    shipped_rows,
)
from flipcore.reports.worked_examples import truth_example
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.ground_truth import GroundTruth, ground_truth, rules_of, share_text
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import how_to_read, plain, show_figure, show_table
from pages.memorization.cached import View, scores
from pages.memorization.items import set_title


def show(view: View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show the detectors on this study's items, and on those of the pocket model."""
    detector_scores, doses, fresh_items = _scores_and_doses(view)
    _show_ground_truth(detector_scores, doses, fresh_items)
    st.caption(
        "The same with all numbers of times read, 150 controls and 400 fresh items per family: "
        f"`{command('run data/ground_truth.toml')}`, some 76,000 calls."
    )
    show_every_detector()


def show_every_detector() -> None:
    """Show how every detector does on the pocket model's items, per kind and dose."""
    if rows := shipped_rows():
        with st.expander(
            "Every detector on the pocket model, by how often it read the items",
            icon=":material/table:",
        ):
            show_table("against-doses", rows)
            st.caption(plain(AGAINST_DOSES))


def show_best_detector(view: View) -> None:
    """Say which detector is best on these items, with a link here; nothing without known doses."""
    if sentence := _best_detector(view):
        st.markdown(
            f"**Which detector to trust, on {set_title(view.kind).lower()}:** {plain(sentence)}"
        )
        st.button(
            "Open Ground truth",
            key="to-truth",
            icon=":material/fact_check:",
            on_click=st.session_state.update,
            args=({"tab": "truth"},),
        )


@session.cached(max_entries=16)
def _best_detector(view: View) -> str:
    """Return the sentence on the best detector; "" without known doses."""
    detector_scores, doses, fresh = _scores_and_doses(view)
    if not detector_scores or 0 not in doses.values() or not any(doses.values()):
        return ""
    rule = rules_of(detector_scores, doses, fresh)[0]
    truth = ground_truth(detector_scores, doses, fresh, rule)
    return truth_claim(truth).text if truth.detectors else ""


def _scores_and_doses(view: View) -> tuple[dict, dict, set]:
    """Return detector -> item -> score, item -> dose (None if unknown), and fresh items.

    Fresh items were never read and set no cut-off.
    """
    # The names without their units make a shorter sentence.
    by_detector = {name.split(" (")[0]: item_scores for name, item_scores in scores(view).items()}
    doses = session.doses(view.study_id)
    items: set[str] = set().union(*by_detector.values())
    # Every second never-seen item checks the cut-off, so the order must be the same in every
    # process. A set has none.
    return (
        by_detector,
        {item: doses.get(item) for item in sorted(items)},
        session.fresh_items(view.study_id) & items,
    )


RULE_TITLES = {
    "conformal": "5% false alarms on average",
    "tolerance": "tolerance bound (at most 5%, 95% sure)",
    "source": "the source's quantile",
}


def _show_ground_truth(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str] = (),
) -> None:
    """Show how well the detectors tell read items from items that were never read.

    The arguments are those that `_scores_and_doses` returns. Large scores suggest memory.
    """
    if not scores or 0 not in doses.values() or not any(doses.values()):
        st.info(
            "Nobody knows what an ordinary model has read. The pocket model read each of its items "
            "0, 1, 4, 16, 64 or 256 times: run the memory study on the sets pocket_problems, "
            "pocket_choice or pocket_prose, with items that it never read among them.",
            icon=":material/fact_check:",
        )
        return
    rules = rules_of(scores, doses, fresh)
    rule = screen.select(
        "Cut-off from never-seen items by",
        rules,
        f"truth-rule-{rules[0]}",
        format_func=RULE_TITLES.__getitem__,
        width=320,
    )
    truth = ground_truth(scores, doses, fresh, rule)
    if not truth.detectors:
        st.info(
            "No detector has a score on an item that was read. Wait for answers, or add "
            "extractors to the study.",
            icon=":material/hourglass_empty:",
        )
        return
    claim = truth_claim(truth)
    st.markdown(f"## {plain(claim.text)}")
    st.caption(plain(claim.detail))
    show_figure("truth-auc", lambda c: auc_by_dose(truth.detectors, c))
    show_table("detectors", detector_rows(truth))
    _show_decisions(truth)
    if truth.n_unknown:
        unknown = count_of(
            truth.n_unknown,
            "item has unknown exposure and is",
            "items have unknown exposure and are",
        )
        st.caption(f"{unknown} excluded.")
    _show_detector(truth)
    how_to_read(
        "The pocket model read each item a known number of times. **AUC** is the chance that a "
        "read item scores higher than one never read; 0.5 is a coin. **Flagged** is the share "
        "above a cut-off from never-read items, **false positives** that of *other* never-read "
        "items. A detector **sees from** the fewest reads whose interval lies above its "
        "false positives.",
        example=truth_example(truth),
    )


def _show_decisions(truth: GroundTruth) -> None:
    """Show the verdicts of the other parts on each dose, and on sets that were never read."""
    tests = {
        detector.title: detector.set_test
        for detector in DETECTORS.values()
        if isinstance(detector, ScoreDetector)
    }
    records = [
        decide_on_doses(
            detector.name,
            detector.never_seen,
            detector.fresh,
            {dose_result.dose: dose_result.scores for dose_result in detector.doses},
            tests.get(detector.name, set_test),
        )
        for detector in truth.detectors
    ]
    if records:
        st.markdown(plain(record_claim(records).text))
        show_table("decisions-by-dose", record_rows(records))
        st.caption(
            "Decided against the never-seen items as a random control, before Holm: drops by "
            "their gap, all else as a set."
        )


def _show_detector(truth: GroundTruth) -> None:
    """Show scores and ROC curves of one detector per dose."""
    names = [detector.name for detector in truth.detectors]
    name = st.selectbox(
        "Look closely at", names, key="truth-detector", bind="query-params", width=320
    )
    detector = truth.detectors[names.index(name)]
    st.markdown(plain(detector_claim(detector).text))
    left, right = st.columns(2)
    show_figure("truth-scores", lambda c: scores_by_dose(detector, c), place=left)
    show_figure("truth-roc", lambda c: roc_by_dose(detector, c), place=right)
    show_table(
        "by-dose",
        [
            {
                "times read": f"{dose_result.dose:,}",
                "items": len(dose_result.scores),
                "mean score": dose_result.mean.text(),
                "above never-seen": dose_result.above.text(),
                "AUC": dose_result.auc.text(),
                "flagged": share_text(dose_result.detected),
            }
            for dose_result in detector.doses
        ],
    )
