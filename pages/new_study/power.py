"""How many items does a claim need, and what is the smallest effect that this design can detect?"""

from __future__ import annotations

import streamlit as st

from flipcore.claims.claim import Claim
from flipcore.claims.flips import plan_sentence
from flipcore.claims.plans import contrast_plan, equality_plan, gap_plan
from flipcore.stats.base.power import mde_equivalence, mde_gap

JUDGED, COMPARED = ("benchmark", "target"), ("control", "retro", "non_member")


def detectable(n_by_role: dict[str, int], n_read_twice: int, n_cells: int = 1) -> None:
    """Sentences about this design; all four times in five, at the 5 % level. `n_read_twice` items are read in two ways,
    in `n_cells` pairings of axis and extractor."""
    if sum(n_by_role.values()) < 10:
        st.caption("Below 10 items no interval is printed: take more.")
        return
    st.caption(plan_sentence(n_read_twice, n_cells))
    judged, compared = (sum(n_by_role.get(role, 0) for role in roles) for roles in (JUDGED, COMPARED))
    if judged and compared:
        gap = mde_gap(judged, compared, 0.2, 0.1, 0.2, 0.1)
        margin = mde_equivalence(0.7, judged, compared)
        st.caption(
            f"With {judged:,} against {compared:,}, a drop gap of about {100 * gap:.0f} pp would be found (if a fifth "
            f"of the items change), and two sets could be shown equal within {100 * margin:.0f} pp."
        )


def calculator() -> None:
    """Items needed for a drop gap, for two accuracies, and to show that two are equal."""
    with st.popover("How many items do I need?", icon=":material/calculate:"):
        power = st.segmented_control(
            "Found how often",
            [0.8, 0.9],
            default=0.8,
            required=True,
            key="power-power",
            format_func=lambda share: f"{100 * share:.0f} %",
        )
        what = st.segmented_control(
            "Claim",
            ["drop gap", "two accuracies differ", "two accuracies are equal"],
            default="drop gap",
            required=True,
            key="power-what",
        )
        claim = _answer(what, power)
        st.markdown(f"**{claim.text}**")
        st.caption(claim.detail)


def _answer(what: str, power: float) -> Claim:
    left, right = st.columns(2)
    if what == "drop gap":
        gap = left.number_input("Gap, pp", 1.0, 90.0, 15.0, 1.0, key="power-gap") / 100
        drop = right.number_input("Drop on the control, pp", 0.0, 90.0, 5.0, 1.0, key="power-drop") / 100
        coverage = left.number_input("Share that can be rewritten, %", 5.0, 100.0, 80.0, 5.0, key="power-coverage") / 100
        return gap_plan(gap, drop, coverage, power)
    first = left.number_input("Accuracy, %", 1.0, 99.0, 70.0, 1.0, key="power-first") / 100
    if what == "two accuracies differ":
        second = right.number_input("Other accuracy, %", 1.0, 99.0, 60.0, 1.0, key="power-second") / 100
        return contrast_plan(first, second, power)
    margin = right.number_input("Margin, pp", 1.0, 50.0, 10.0, 1.0, key="power-margin") / 100
    return equality_plan(first, margin, power)
