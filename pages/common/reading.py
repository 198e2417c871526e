"""How to read what is shown: at most 80 words, and the way to the glossary."""

from __future__ import annotations

import streamlit as st


def how_to_read(text: str, *, title: str = "How to read this") -> None:
    """`text` is Markdown of the page's own; a test counts its words."""
    with st.expander(title, icon=":material/menu_book:"):
        st.markdown(text)
        st.markdown("[Glossary: terms, formulas and papers](glossary)")
