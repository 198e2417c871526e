"""The open store and the running studies of this process.

Whoever asks first opens them: a page, a link or a websocket.
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

# Whoever comes before this is set sees the page's heading first.
is_open = threading.Event()


@st.cache_resource(show_spinner="Opening the results …")
def opened():
    """Open the store and its registry of runs; on the very first start, run the demo studies.

    All of it is the owner's doing, whoever came first.
    """
    # Imported here: the heading of the first page need not wait for it.
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
            # They run one after another: the first answer stands long before the last.
            for study in reversed(demos):
                registry.start(study)
        registry.settle(resumed=demos)
        registry.watch_inbox()
    is_open.set()
    return opened_store, registry


def store() -> Store:
    """The one open store. Raises StoreHeld or BadInput where it cannot be opened."""
    return opened()[0]


HTTPS_PORT = 443


@asynccontextmanager
async def greeted(app: Any) -> AsyncIterator[None]:
    """Import what the first page needs around the server's life.

    Where access is on, the owner's own link is written and said before anybody comes.
    """
    # In the background, while the browser still loads the page.
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
    """Return the address at which a browser reaches the dashboard.

    Behind a proxy `browser.serverAddress` says the name, and `browser.serverPort` the port: 443 is
    https.
    """
    host, port = st.get_option("browser.serverAddress"), st.get_option("browser.serverPort")
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    scheme = "https" if port == HTTPS_PORT else "http"
    place = host if port == HTTPS_PORT else f"{host}:{port}"
    return f"{scheme}://{place}/{base}"
