"""Access: who may do what?"""

import streamlit as st

from flipcore.access.acting import acting
from pages.access import inviting, log
from pages.common.header import page_header
from pages.common.identity import who_line
from pages.common.notes import how_to_read, shown_problem

page_header("Access", "Who may do what?", choose=False)
st.caption(f"You are {who_line(acting())}.")

with shown_problem():
    inviting.show()
    log.show()

how_to_read(
    "An **invitation** is a link for one person. A reviewer's link opens one queue or one survey and nothing else. It belongs to the "
    "first browser that opens it. **Revoke** ends it at once. Who logs in has the level that `access.toml` says. Rows of the **log** "
    "are only added. A name that gave way to a number is gone from this database, and comes back with a merged file that holds it."
)
