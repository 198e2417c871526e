"""How to make a retro-holdout: the guide of source 002 (appendices D and E) in this product's own words, `guide.md`."""

from pathlib import Path

import streamlit as st

_STEPS = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").split("\n## ")[1:]
STEPS = {title: text for title, _, text in (step.partition("\n") for step in _STEPS)}


def show() -> None:
    st.markdown(
        "A retro-holdout is written after a benchmark was published and must look as if it had been drawn with it. "
        "Everything else on this page tests that; this is how to get there."
    )
    for title, text in STEPS.items():
        with st.expander(title, expanded=title == "Before the first entry"):
            st.markdown(text)
