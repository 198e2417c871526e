"""What `streamlit run` is given: the dashboard, whose script `pages/main.py` names the pages."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from flipcore.core.errors import FlipscopeError
from flipcore.invitations.gate import Gate
from flipcore.invitations.routes import access_routes
from flipcore.invitations.start import start_sentence
from flipcore.meeting.socket import meeting_routes
from pages.common.fault import tell
from pages.common.head_start import HeadStart
from pages.common.identity import login_of
from pages.common.opened import greeted, store

try:
    print(start_sentence(st.get_option("server.address")), file=sys.stderr)
except FlipscopeError as error:
    raise SystemExit(str(error)) from None

app = App(
    Path(__file__).parent / "pages" / "main.py",
    lifespan=greeted,
    on_script_error=tell,
    routes=[*access_routes(store, st.get_option("server.baseUrlPath")), *meeting_routes(st.get_option("server.baseUrlPath"))],
    middleware=[Middleware(Gate, store=store, login=login_of), Middleware(HeadStart)],
)
