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
    "An **invitation** is a link for one person. A reviewer's link opens one queue or one survey and nothing else. The first "
    "browser that opens it keeps it; send another link to somebody who changes browsers. **Revoke** ends it at once. People who "
    "log in get their level from `access.toml` in your own folder. The **log** says who did what; its rows are only added. A name "
    "that is replaced by a number is gone from every page, log and export of this database, and comes back with a file that still "
    "holds it."
)
