"""The three steps fold to a line each when they are done: what the line says, and the button that opens the next."""

from __future__ import annotations

import streamlit as st

from flipcore.axes import AXES
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS
from flipcore.extractors import EXTRACTORS


def remember(number: int, summary: str) -> None:
    """Keeps what a step's line says; the line itself is drawn before the step, so a change draws the page once more."""
    if st.session_state.get(f"summary-{number}") != summary:
        st.session_state[f"summary-{number}"] = summary
        st.rerun()


def done_button(number: int, ready: bool) -> None:
    st.button(
        "Done with this step", key=f"done-{number}", icon=":material/check:", disabled=not ready, on_click=_fold, args=(number,)
    )


def _fold(number: int) -> None:
    st.session_state[f"step-{number}"] = False
    if number < 3:
        st.session_state[f"step-{number + 1}"] = True


def items_summary(sources: list[ItemSource]) -> str:
    """ "24 of Flipscope: choices, all of Pocket: passages (control)"."""

    def one(source: ItemSource) -> str:
        title = LOADERS[source.dataset].title if source.dataset in LOADERS else source.dataset
        role = "" if source.role == "benchmark" else f" ({source.role})"
        return f"{source.n or 'all'} of {title}{role}"

    return ", ".join(map(one, sources)) or "which questions, in what role"


def questions_summary(settings: dict) -> str:
    axes = [AXES[part.name].title for part in settings.get("axes", ()) if part.name in AXES]
    extractors = [EXTRACTORS[part.name].title for part in settings.get("extractors", ()) if part.name in EXTRACTORS]
    if not axes or not extractors:
        return "what is changed, and how the answer is read"
    return f"{', '.join(axes)}; read by {', '.join(extractors)}"
