"""What `streamlit run` is given: the dashboard, whose script `pages/main.py` names the pages."""

import os
import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config, net_util
from streamlit.starlette import App

from flipcore.core.errors import FlipscopeError
from flipcore.invitations.gate import Gate
from flipcore.invitations.routes import access_routes
from flipcore.invitations.start import hosts_of_sockets, start_sentence
from flipcore.meeting.socket import meeting_routes
from pages.common.fault import tell
from pages.common.head_start import HeadStart
from pages.common.identity import login_of
from pages.common.opened import greeted, store

try:
    print(start_sentence(st.get_option("server.address")), file=sys.stderr)
except FlipscopeError as error:
    raise SystemExit(str(error)) from None

hosts = st.get_option("server.allowedHosts")
config.set_option("server.allowedHosts", hosts_of_sockets(hosts))
net_util._external_ip = (
    ""  # else a start, and a page from elsewhere, would have Streamlit ask a server outside which address this is
)
os.environ.setdefault("FORWARDED_ALLOW_IPS", "")  # uvicorn believes no proxy of what came to it but those that are named there

app = App(
    Path(__file__).parent / "pages" / "main.py",
    lifespan=greeted,
    on_script_error=tell,
    routes=[*access_routes(store, st.get_option("server.baseUrlPath")), *meeting_routes(st.get_option("server.baseUrlPath"))],
    middleware=[Middleware(Gate, store=store, login=login_of, hosts=hosts), Middleware(HeadStart)],
)
