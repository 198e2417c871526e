"""Counting begins when the page is asked for: for who may read, and never before the store is open."""

import threading
import time

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from flipcore.access.acting import Permission, access_file, acting, require
from flipcore.invitations.gate import Gate
from pages.common import head_start


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """(path) -> what was counted, by whom: once the page has come and every thread has ended."""
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    made, is_open = [], threading.Event()
    is_open.set()

    def names():
        require(Permission.READ)
        return {"newest": "B", "older": "A"}

    monkeypatch.setattr(head_start.session, "names_of_studies", names)
    monkeypatch.setattr(head_start, "headline", lambda study_id: made.append((study_id, acting().name)))
    monkeypatch.setattr(head_start, "is_open", is_open)

    async def page(request):
        return PlainTextResponse("page")

    def login(cookies, scope):
        return {"email": cookies["login"], "email_verified": True} if "login" in cookies else {}

    gate = Middleware(Gate, store=lambda: None, login=login)
    app = Starlette(routes=[Route("/flips/{page:path}", page)], middleware=[gate, Middleware(head_start.HeadStart)])

    def of(path, login="", has_opened=True):
        made.clear()
        (is_open.set if has_opened else is_open.clear)()
        with TestClient(app, base_url="http://127.0.0.1:8501", cookies={"login": login} if login else {}) as client:
            assert client.get(f"/flips/{path}").text == "page"
        until = time.monotonic() + 30
        while any(thread.name == "flipscope-work" for thread in threading.enumerate()) and time.monotonic() < until:
            time.sleep(0.01)
        return list(made)

    return of


def test_the_study_of_the_link_is_counted_else_the_newest(asked):
    assert asked("flips?study=older") == asked("decomposition?model=m&study=older") == [("older", "")]
    assert asked("flips") == asked("flips?study=gone") == [("newest", "")]
    assert asked("glossary?study=older") == asked("flips/static/main.js") == []


def test_nothing_is_counted_before_the_store_is_open(asked):
    assert asked("flips", has_opened=False) == []


def test_where_access_is_on_it_is_counted_for_who_may_read(asked):
    access_file().write_text('[levels]\nviewer = ["v@x.org"]\n')
    assert asked("flips", login="v@x.org") == [("newest", "v@x.org")]
    assert asked("flips") == asked("flips", login="nobody@x.org") == []
