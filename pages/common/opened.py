"""The open store and the running studies of this process.

The first request opens them, be it for a page, a link or a websocket.
"""

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool

from flipcore.access.acting import OWNER, acting_as, is_access_on
from flipcore.commands.access import keep_admin_link
from flipcore.core import early_imports
from flipcore.core.errors import FlipscopeError
from flipcore.store.connection import Store
from flipcore.store.queries import studies

# Until this is set, a page draws its heading before it waits for the store.
is_open = threading.Event()


@st.cache_resource(show_spinner="Opening the results …")
def open_store_and_registry():
    """Open the store and its registry of runs, once per process; return both.

    A fresh store starts the demo studies.
    """
    # Imported here, so that the heading of the first page need not wait for it.
    from flipcore.runs import demo
    from flipcore.runs.background import Registry

    # The first visitor may be a reader, who may not write what a fresh store needs.
    with acting_as(OWNER):
        opened_store = Store.open()
        registry = Registry(opened_store)
        demo.fill_store(opened_store)
        demos = demo.demo_studies()
        registry.demos |= {study.study_id for study in demos}
        if studies.studies(opened_store).empty:
            demo.fill_answers(opened_store)
            demo.declare(opened_store, demos)
            # They run one after another, so the first answer comes long before the last.
            for study in reversed(demos):
                registry.start(study)
        registry.settle(resumed=demos)
        registry.watch_inbox()
    is_open.set()
    return opened_store, registry


def store() -> Store:
    """Return the open store. Raises StoreHeld or BadInput if it cannot be opened."""
    return open_store_and_registry()[0]


HTTPS_PORT = 443


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Prepare the server before it takes requests.

    Modules of the first page are imported in the background. If access is on, the owner's own
    link is written and printed.
    """
    early_imports.begin()
    if is_access_on():
        try:
            print(
                await run_in_threadpool(lambda: keep_admin_link(store(), address())),
                file=sys.stderr,
            )
        except FlipscopeError as error:
            print(error, file=sys.stderr)
    yield


def address() -> str:
    """Return the URL at which a browser reaches the dashboard.

    Behind a proxy, the options `browser.serverAddress` and `browser.serverPort` name the proxy's
    host and port. Port 443 means https.
    """
    host, port = st.get_option("browser.serverAddress"), st.get_option("browser.serverPort")
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    scheme = "https" if port == HTTPS_PORT else "http"
    host_and_port = host if port == HTTPS_PORT else f"{host}:{port}"
    return f"{scheme}://{host_and_port}/{base}"
