"""The route on a real server: what a browser, a stranger's page and a hostile client get."""

import json
import socket as sockets
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from flipcore.access.acting import Level, Person, acting_as
from flipcore.meeting.rooms import MAX_CHARACTERS
from flipcore.meeting.socket import PATH, meeting_routes

pytestmark = pytest.mark.slow
OPENED = []  # connections, closed after the last test


@pytest.fixture(scope="module", autouse=True)
def _closed():
    yield
    while OPENED:
        with suppress(ConnectionClosed):
            OPENED.pop().__exit__(None, None, None)


class Entrance:
    """Stands for the gate of the dashboard: who comes is whom the header `level` says, an analyst without it."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        level = dict(scope.get("headers", ())).get(b"level", b"analyst").decode()
        with acting_as(Person("grace@lab.example.org" if level == "viewer" else "", Level(level))):
            await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def server():
    """(address, host with port) of a server that has this route alone, with access on: the header `level` says who comes."""
    with sockets.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = Starlette(routes=meeting_routes(), middleware=[Middleware(Entrance)])
    access = pytest.MonkeyPatch()
    access.setattr("flipcore.access.acting.access_file", lambda: Path(__file__))
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"ws://127.0.0.1:{port}{PATH}", f"127.0.0.1:{port}"
    running.should_exit = True
    thread.join(5)
    access.undo()


class Client:
    def __init__(self, server, hello, origin=None, **headers):
        address, host = server
        opening = connect(address, origin=origin or f"http://{host}", additional_headers=headers, open_timeout=5)
        self.socket = opening.__enter__()
        OPENED.append(opening)
        with suppress(ConnectionClosed):  # who may not enter is not heard first
            self.say(hello)

    def say(self, message):
        self.socket.send(message if isinstance(message, (str, bytes)) else json.dumps(message))

    def until(self, kind):
        """The next message of this kind."""
        while (message := json.loads(self.socket.recv(timeout=5)))["kind"] != kind:
            pass
        return message

    def close_code(self):
        """What the server hangs up with, and the last thing it says."""
        last = {}
        try:
            while True:
                last = json.loads(self.socket.recv(timeout=5))
        except ConnectionClosed as closed:
            return closed.rcvd.code, last


@pytest.fixture
def presenter(server):
    client = Client(server, {"do": "open", "name": "Ada"})
    client.code = client.until("entered")["code"]
    yield client
    client.socket.close()


def test_a_follower_is_sent_what_the_presenter_moves_and_a_late_one_where_it_is(server, presenter):
    follower = Client(server, {"do": "join", "code": presenter.code})
    follower.until("room")
    presenter.say({"do": "place", "page": "holdout", "query": "study=s"})
    presenter.say({"do": "position", "board": "b", "at": {"at": 4}, "moving": True})
    late = Client(server, {"do": "join", "code": presenter.code.lower()})
    for one in (follower, late):
        assert one.until("position")["at"] == {"at": 4}
    presenter.say({"do": "end"})
    code, last = follower.close_code()
    assert code == 1000 and "ended" in last["sentence"]


def test_a_followers_state_is_refused_with_a_sentence_and_reaches_nobody(server, presenter):
    follower = Client(server, {"do": "join", "code": presenter.code})
    follower.say({"do": "position", "board": "b", "at": {"at": 666}, "moving": True})
    assert "Only the presenter" in follower.until("refusal")["sentence"]
    late = Client(server, {"do": "join", "code": presenter.code})
    late.say({"do": "ping"})
    assert late.until("pong"), "no position came before it"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://", "http://["])
def test_a_page_of_another_origin_is_shut_out(server, origin):
    with pytest.raises(InvalidStatus) as refused:
        Client(server, {"do": "open"}, origin=origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("level", ["reviewer", ""])
def test_whoever_may_not_read_results_gets_the_sentence(server, presenter, level):
    code, last = Client(server, {"do": "join", "code": presenter.code}, level=level).close_code()
    assert code == 4403 and last["kind"] == "end" and "you may not read results" in last["sentence"]


def test_somebody_who_is_logged_in_appears_under_no_other_name(server, presenter):
    viewer = Client(server, {"do": "join", "code": presenter.code, "name": "Ada"}, level="viewer")
    viewer.say({"do": "ask", "name": "Ada"})
    while not (asking := presenter.until("room")["asking"]):
        pass
    assert [one["title"] for one in asking] == ["grace@lab.example.org"]


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ("no json", 1007),
        ("[" * 5_000, 1007),
        (b"\x00\x01", 1003),
        ({"do": "position", "board": "b", "at": {}}, 1008),
        ({"do": "join", "code": "AAAA-AAAA"}, 4404),
        ({"do": "join"}, 4404),
        (json.dumps({"do": "open", "name": "x" * MAX_CHARACTERS}), 1009),
    ],
)
def test_a_hostile_first_message_gets_a_sentence_and_a_code(server, hello, code):
    said, last = Client(server, hello).close_code()
    assert said == code and last["kind"] == "end" and last["sentence"].endswith(".")


@pytest.mark.parametrize(("message", "code"), [("{", 1007), (b"\x00", 1003), ("x" * (MAX_CHARACTERS + 1), 1009)])
def test_a_hostile_presenter_is_cut_off_and_may_come_back(server, message, code):
    client = Client(server, {"do": "open"})
    entered = client.until("entered")
    client.say(message)
    said, last = client.close_code()
    assert said == code and last["kind"] == "refusal"
    again = Client(server, {"do": "join", "code": entered["code"], "ticket": entered["ticket"]})
    assert again.until("room")["presents"] is True


def test_a_flood_is_cut_off(server, presenter):
    flood = Client(server, {"do": "join", "code": presenter.code})
    with suppress(ConnectionClosed):
        for _ in range(2_000):
            flood.say({"do": "ping"})
    assert flood.close_code()[0] == 1008
