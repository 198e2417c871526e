"""How many items does a claim need, and what is the smallest effect that this design can detect?"""

import streamlit as st

from flipcore.claims.claim import Claim
from flipcore.claims.flips import plan_sentence
from flipcore.claims.plans import contrast_plan, equality_design, equality_plan, gap_design, gap_plan
from flipcore.core.study import OTHER_CONTROL
from pages.common.notes import plain

MEMORY, HOLDOUT = (("benchmark",), ("control", "non_member")), (("target",), ("retro",))


def detectable(n_by_role: dict[str, int], n_read_twice: int, n_cells: int = 1, control: str = OTHER_CONTROL) -> None:
    """Sentences about this design; all four times in five, by the pages' own rules. `n_read_twice` items are read in two ways,
    in `n_cells` pairings of axis and extractor; `control` is what the study declares its controls to be."""
    if sum(n_by_role.values()) < 10:
        st.caption("Below 10 items there is no interval. Take more.")
        return
    st.caption(plan_sentence(n_read_twice, n_cells))
    if not st.toggle("What could the sets show?", key="power-sets", help="simulates the rules of the other pages"):
        return
    n_items, n_controls = (sum(n_by_role.get(role, 0) for role in roles) for roles in MEMORY)
    if n_items and n_controls:
        claim = gap_design(n_items, n_controls, control)
        st.caption(plain(f"{claim.text} {claim.detail}"))
    target, retro = (sum(n_by_role.get(role, 0) for role in roles) for roles in HOLDOUT)
    if target and retro:
        claim = equality_design(target, retro)
        st.caption(plain(f"{claim.text} {claim.detail}"))


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
        gains = right.number_input("Answers set right by rewriting, %", 0.0, 50.0, 5.0, 1.0, key="power-gains") / 100
        return gap_plan(gap, drop, coverage, power, gains)
    first = left.number_input("Accuracy, %", 1.0, 99.0, 70.0, 1.0, key="power-first") / 100
    if what == "two accuracies differ":
        second = right.number_input("Other accuracy, %", 1.0, 99.0, 60.0, 1.0, key="power-second") / 100
        return contrast_plan(first, second, power)
    margin = right.number_input("Margin, pp", 1.0, 50.0, 10.0, 1.0, key="power-margin") / 100
    return equality_plan(first, margin, power)
