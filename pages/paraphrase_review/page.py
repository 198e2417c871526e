"""Review: is this the same question, what does this output answer, and is this key right?"""

import streamlit as st

from flipcore.access.acting import Level, acting
from pages.common import screen
from pages.common.header import page_header
from pages.paraphrase_review import agreeing, effect, exchanging, judging, keys, outputs

PARTS = ["Review", "Agreement", "Effect", "Outputs", "Keys", "Propose and exchange"]
# Other parts show the page's own question.
QUESTIONS = {"Outputs": "What does this output answer?", "Keys": "Is this question's key right?"}

if acting().level is Level.REVIEWER:
    judging.show(st.container())
    st.stop()
shown_part = st.session_state.get("part") or st.query_params.get("part", PARTS[0])
# While somebody reviews, the pair stands alone, without a header.
if not (judging.reviewer() and shown_part == PARTS[0]):
    page_header("paraphrase_review", choose=False, question=QUESTIONS.get(shown_part, ""))
with st.container(horizontal=True, vertical_alignment="center"):
    part = screen.segments("Part", PARTS, "part")
    form_place = st.container(width="content")
if part == "Review":
    judging.show(form_place)
elif part == "Agreement":
    agreeing.show()
elif part == "Effect":
    effect.show()
elif part == "Outputs":
    outputs.show()
elif part == "Keys":
    keys.show()
else:
    exchanging.show()
