"""Ground truth: what each detector sees of items that the model read a known number of times."""

from collections.abc import Collection, Mapping

import streamlit as st

from flipcore.charts.memory import auc_by_dose, roc_by_dose, scores_by_dose
from flipcore.claims.memory_truth import detector_claim, record_claim, truth_claim
from flipcore.core.command_line import command
from flipcore.detectors import DETECTORS, ScoreDetector
from flipcore.reports.memory import AGAINST_DOSES, detector_rows, record, record_rows, shipped_rows
from flipcore.reports.worked_examples import truth_example
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.ground_truth import GroundTruth, ground_truth, rules_of, share_text
from flipcore.text.counts import count_of
from pages.common import screen, session
from pages.common.showing import how_to_read, plain, show_figure, show_table
from pages.memorization.cached import View, scores
from pages.memorization.items import set_title


def show(view: View, mode: str, settings: dict, controls) -> None:
    _ground_truth(*_scores_and_doses(view))
    st.caption(
        "The same with all doses, 150 controls and 400 fresh items a family: "
        f"`{command('run data/ground_truth.toml')}`, some 76,000 calls."
    )
    every_detector()


def every_detector() -> None:
    """Show each detector, failing ones too, on every kind of the pocket model's items by dose."""
    if rows := shipped_rows():
        with st.expander("Every detector on the pocket model, by dose", icon=":material/table:"):
            show_table("against-doses", rows)
            st.caption(plain(AGAINST_DOSES))


def in_a_line(view: View) -> None:
    """Say which detector Ground truth trusts most on these items, and link to it.

    Nothing where no exposure is known.
    """
    if sentence := _best(view):
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
def _best(view: View) -> str:
    known_scores, doses, fresh = _scores_and_doses(view)
    if not known_scores or 0 not in doses.values() or not any(doses.values()):
        return ""
    truth = ground_truth(known_scores, doses, fresh, rules_of(known_scores, doses, fresh)[0])
    return truth_claim(truth).text if truth.detectors else ""


def _scores_and_doses(view: View) -> tuple[dict, dict, set]:
    """Return (detector -> item -> score, item -> times read, items that set no cut-off)."""
    # Units in the names would only lengthen the sentence.
    by_detector = {name.split(" (")[0]: item_scores for name, item_scores in scores(view).items()}
    # Only some items say how often they were in the training data.
    doses = session.doses(view.study_id)
    items: set[str] = set().union(*by_detector.values())
    # Sorted, because every second never-seen item checks the cut-off, and a set has another order
    # in every process.
    return (
        by_detector,
        {item: doses.get(item) for item in sorted(items)},
        session.fresh_items(view.study_id) & items,
    )


# Where the truth is known: what each detector sees of items that the model read a known number of
# times.

TITLES = {
    "conformal": "5% false alarms on average",
    "tolerance": "tolerance bound (at most 5%, 95% sure)",
    "source": "the source's quantile",
}


def _ground_truth(
    scores: Mapping[str, Mapping[str, float]],
    doses: Mapping[str, int | None],
    fresh: Collection[str] = (),
) -> None:
    """Show the detectors where the truth is known.

    `scores` is detector -> item -> score (large where memory is suspected); `doses` item -> times
    read, 0 never, None unknown; `fresh` are never-seen items that set no cut-off.
    """
    if not scores or 0 not in doses.values() or not any(doses.values()):
        st.info(
            "Nobody knows what an ordinary model has read. The pocket model read each of its items "
            "0, 1, 4, 16, 64 or 256 times: run the memory study on the sets pocket_problems, "
            "pocket_choice or pocket_prose, with items of dose 0 among them.",
            icon=":material/fact_check:",
        )
        return
    rules = rules_of(scores, doses, fresh)
    rule = screen.select(
        "Cut-off from never-seen items by",
        rules,
        f"truth-rule-{rules[0]}",
        format_func=TITLES.__getitem__,
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
    _decisions(truth)
    if truth.n_unknown:
        unknown = count_of(
            truth.n_unknown,
            "item has unknown exposure and is",
            "items have unknown exposure and are",
        )
        st.caption(f"{unknown} excluded.")
    _closely(truth)
    how_to_read(
        "The pocket model read each item a known number of times. **AUC** is the chance that a "
        "read item scores higher than one never read; 0.5 is a coin. **Flagged** is the share "
        "above a cut-off from never-read items, **false positives** that of *other* never-read "
        "items. A detector **sees from** the smallest dose whose interval lies above its false "
        "positives.",
        example=truth_example(truth),
    )


def _decisions(truth: GroundTruth) -> None:
    """Show the verdict of the other tabs on each dose, and on sets that were never seen."""
    tests = {
        detector.title: detector.set_test
        for detector in DETECTORS.values()
        if isinstance(detector, ScoreDetector)
    }
    records = [
        record(
            detector.name,
            detector.never,
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


def _closely(truth: GroundTruth) -> None:
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
