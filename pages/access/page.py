"""Access: who may do what?"""

import streamlit as st

from flipcore.access import policy
from flipcore.access.acting import acting
from flipcore.access.levels import Permission
from flipcore.invitations.start import OFF, not_an_admin
from pages.access import inviting, log
from pages.common.header import page_header
from pages.common.identity import who_line
from pages.common.notes import how_to_read, plain, shown_problem

page_header("Access", "Who may do what?", choose=False)
if not policy.is_on():
    st.info(OFF, icon=":material/lock_open:")
    st.stop()
if not acting().may(Permission.ACCESS):
    st.info(plain(not_an_admin(acting())), icon=":material/lock:")
    st.stop()
st.caption(f"You are {who_line(acting())}.")

with shown_problem():
    inviting.show()
    log.show()

how_to_read(
    "An **invitation** is a link for one person. A reviewer's link opens one queue or one survey and nothing else. It belongs to the "
    "first browser that opens it. **Revoke** ends it at once. Who logs in has the level that `access.toml` says. Rows of the **log** "
    "are never changed. A name that a number has replaced comes back only with a merged file that still holds it."
)
