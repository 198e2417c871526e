"""Review: is this the same question, what does this output answer, and is this key right?"""

import streamlit as st

from flipcore.access.acting import acting
from flipcore.access.levels import Level
from pages.common import screen
from pages.common.header import page_header
from pages.paraphrase_review import agreeing, effect, exchanging, judging, keys, outputs, proposing

PARTS = ["Review", "Agreement", "Effect", "Outputs", "Keys", "Propose and exchange"]

if acting().level is Level.REVIEWER:
    judging.show(st.container())
    st.stop()
focused = judging.reviewer() and st.query_params.get("part", PARTS[0]) == PARTS[0]
if not focused:
    page_header("paraphrase_review", choose=False)
with st.container(horizontal=True, vertical_alignment="center"):
    part = screen.segments("Part", PARTS, "part")
    beside = st.container(width="content")
if part == "Review":
    judging.show(beside)
elif part == "Agreement":
    agreeing.show()
elif part == "Effect":
    effect.show()
elif part == "Outputs":
    outputs.show()
elif part == "Keys":
    keys.show()
else:
    proposing.show()
    exchanging.show()
