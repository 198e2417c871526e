"""Glossary: what does this word mean?"""

import streamlit as st

from flipcore.methods.terms import TERMS
from pages.common.header import page_header
from pages.glossary.pictures import ALT_TEXTS, picture

page_header("Glossary", "What does this word mean?", choose=False)
words = st.text_input(
    "Find", key="term", bind="query-params", placeholder="Find a word", label_visibility="collapsed", width=260
)
matches = [term for term in TERMS if words.strip().lower() in f"{term.name} {term.meaning}".lower()]
if not matches:
    st.info("No term has these words. Try one word, or clear the field.", icon=":material/search_off:")
for term in matches:
    with st.container(border=True):
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.markdown(f"## {term.name}\n{term.meaning}")
        if term.formula:
            left.latex(term.formula)
        if term.paper:
            left.caption(term.paper)
        if term.picture:
            right.image(picture(term.picture, st.context.theme.type), width=220, alt=ALT_TEXTS[term.picture])
