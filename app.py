"""The dashboard, for `streamlit run`; its script `pages/main.py` names the pages."""

import logging
import os
import sys
from pathlib import Path

import streamlit as st
import uvicorn.config
from starlette.middleware import Middleware
from streamlit import config, delta_generator
from streamlit.starlette import App

from flipcore.core.errors import FlipscopeError
from flipcore.invitations.gate import Gate, access_routes
from flipcore.invitations.start import hosts_of_sockets, start_sentence
from flipcore.meeting.socket import meeting_routes
from pages.common.head_start import FirstStyle, HeadStart
from pages.common.identity import login_of
from pages.common.opened import lifespan, store
from pages.common.showing import show_fault

try:
    print(start_sentence(st.get_option("server.address")), file=sys.stderr)
except FlipscopeError as error:
    raise SystemExit(str(error)) from None

hosts = st.get_option("server.allowedHosts")
config.set_option("server.allowedHosts", hosts_of_sockets(hosts))
# By default uvicorn takes every client on this machine for a proxy and believes the client address
# in its headers.
if "FORWARDED_ALLOW_IPS" not in os.environ:
    uvicorn.config.ProxyHeadersMiddleware = lambda app, **_: app  # type: ignore[misc, assignment]

# Otherwise the first element of the first page waits: Streamlit reads the source of every frame, to
# warn in a Python prompt.
delta_generator._use_warning_has_been_displayed = True

# The store is opened outside of a page too, by a link, a socket and the start. Streamlit logs a
# warning about each, which says nothing to whoever starts the dashboard.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(
    lambda record: "missing ScriptRunContext" not in record.getMessage()
)

base_path = st.get_option("server.baseUrlPath")
gate = Middleware(Gate, store=store, login=login_of, hosts=hosts)
app = App(
    Path(__file__).parent / "pages" / "main.py",
    lifespan=lifespan,
    on_script_error=show_fault,
    routes=[*access_routes(store, base_path), *meeting_routes(base_path)],
    # The gate comes first: nothing begins for somebody who may not enter.
    middleware=[gate, Middleware(HeadStart), Middleware(FirstStyle)],
)
