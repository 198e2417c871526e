"""Ground truth: what each detector sees of items that the model read a known number of times."""

import streamlit as st

from flipcore.claims.memory_truth import truth_claim
from flipcore.stats.memory.ground_truth import ground_truth as truth_of_scores
from flipcore.stats.memory.ground_truth import rules_of
from pages.common import session
from pages.common.cached import cached
from pages.common.notes import plain
from pages.memorization import ground_truth
from pages.memorization.cached import View, scores
from pages.memorization.titles import KINDS


def show(view: View, mode: str, settings: dict, controls) -> None:
    ground_truth.show(*_scores_and_doses(view))
    st.caption(
        "The same with all doses, 150 controls and 400 fresh items a family: `python -m flipcore run "
        "data/ground_truth.toml`, some ten minutes on two cores."
    )


def in_a_line(view: View) -> None:
    """Which detector Ground truth trusts most on these items, and the way there; nothing where no exposure is known."""
    if sentence := _best(view):
        st.markdown(f"**Which detector to trust, on {KINDS[view.kind].lower()}:** {plain(sentence)}")
        st.button("Open Ground truth", key="to-truth", icon=":material/fact_check:", on_click=_open_truth)


def _open_truth() -> None:
    st.session_state["tab"] = "truth"


@cached(max_entries=16)
def _best(view: View) -> str:
    known_scores, doses, fresh = _scores_and_doses(view)
    if not known_scores or 0 not in doses.values() or not any(doses.values()):
        return ""
    truth = truth_of_scores(known_scores, doses, fresh, rules_of(known_scores, doses, fresh)[0])
    return truth_claim(truth).text if truth.detectors else ""


def _scores_and_doses(view: View) -> tuple[dict, dict, set]:
    """(detector -> item -> score, item -> times read, items that set no cut-off)."""
    by_detector = {name.split(" (")[0]: mine for name, mine in scores(view).items()}  # units would only lengthen the sentence
    doses = session.doses(view.study_id)
    items = {item for mine in by_detector.values() for item in mine}
    # in order: every second never-seen item checks the cut-off, and a set has another order in every process
    return by_detector, {item: doses.get(item) for item in sorted(items)}, session.fresh_items(view.study_id) & items
