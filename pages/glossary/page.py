"""Glossary: what does this word mean?"""

import streamlit as st

from flipcore.charts.term_pictures import about, picture
from flipcore.methods.words import TERMS
from pages.common.header import page_header

NO_PAPER = "No paper: a word of Flipscope's own."

page_header("glossary", choose=False)
words = st.text_input(
    "Find",
    key="term",
    bind="query-params",
    placeholder="Find a word",
    label_visibility="collapsed",
    width=260,
)
query = words.strip().lower()
matches = [term for term in TERMS if query in f"{term.name} {term.meaning}".lower()]
if not matches:
    st.info(
        "No term has these words. Try one word, or clear the field.", icon=":material/search_off:"
    )
for start in range(0, len(matches), 2):
    for column, term in zip(st.columns(2), matches[start : start + 2], strict=False):
        with column.container(border=True, height="stretch"):
            left, right = st.columns([3, 2], vertical_alignment="center")
            left.markdown(f"## {term.name}\n{term.meaning}")
            right.image(
                picture(term.picture, st.context.theme.type), width=220, alt=about(term.picture)
            )
            st.latex(term.formula)
            st.caption(term.paper or NO_PAPER)
