"""A real HTTP server on localhost that speaks the embeddings API, and misbehaves when told to."""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.store.connection import Store
from flipcore.vectors import embeddings
from flipcore.vectors.embeddings import embedded, kinds
from flipcore.vectors.embeddings.kinds import Server
from tests.vectors.embeddings.items import topical

pytestmark = pytest.mark.usefixtures("allowed_folders")

KEY = "sk-planted-0123456789"


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("a")), 1.0]


class Held:
    """`faults` are consumed one a request: ("status", code, message) or ("reply", object); else vectors come, last first."""

    def __init__(self, *faults):
        self.faults, self.bodies, self.keys = deque(faults), [], []

    def __enter__(self):
        held = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                held.bodies.append(body)
                held.keys.append(self.headers.get("Authorization"))
                code, reply = held.answer(self.path, body)
                data = json.dumps(reply).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )  # a wait at the end otherwise
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def answer(self, path, body):
        assert path == "/v1/embeddings" and body["model"] == "tiny"
        fault = self.faults.popleft() if self.faults else None
        if fault and fault[0] == "status":
            return fault[1], {"error": {"message": fault[2]}}
        if fault:
            return 200, fault[1]
        rows = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
        return 200, {"object": "list", "model": "tiny", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_vectors_come_in_the_order_of_the_texts_whatever_the_order_of_the_reply():
    with Held() as held:
        found = Server(held.url, "tiny").vectors(["a", "bb", "aaa"])
    assert found.tolist() == [vector("a"), vector("bb"), vector("aaa")]
    assert held.keys == [f"Bearer {KEY}"]


def test_long_lists_are_sent_in_parts(monkeypatch):
    monkeypatch.setattr(kinds, "TEXTS_PER_REQUEST", 2)
    with Held() as held:
        found = Server(held.url, "tiny").vectors(["a", "bb", "ccc", "dddd", "e"])
    assert [len(body["input"]) for body in held.bodies] == [2, 2, 1] and found[:, 0].tolist() == [1, 2, 3, 4, 1]


@pytest.mark.slow
def test_a_passing_fault_is_asked_again():
    with Held(("status", 503, "busy"), ("status", 429, "slow down")) as held:
        assert len(Server(held.url, "tiny").vectors(["a"])) == 1
    assert len(held.bodies) == 3


def test_a_refused_key_is_a_sentence_without_the_key():
    wanted = "refused the key in OPENAI_API_KEY"
    with Held(("status", 401, f"Incorrect API key provided: {KEY}")) as held, pytest.raises(BadInput, match=wanted) as raised:
        Server(held.url, "tiny").vectors(["a"])
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "reply, said",
    [
        ({"data": []}, "sent 0 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}, "sent 1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, "vectors of different lengths"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": []}]}, "sent 2 vectors for 2 texts"),
    ],
)
def test_a_reply_that_does_not_fit_is_a_sentence(reply, said):
    with Held(("reply", reply)) as held, pytest.raises(BadInput, match=said):
        Server(held.url, "tiny").vectors(["a", "b"])


def test_a_server_that_is_not_there_is_a_sentence():
    with Held() as held:
        url = held.url
    with pytest.raises(BadInput, match=r"tiny could not be reached at http://127.0.0.1:\d+/v1"):
        Server(url, "tiny", n_retries=0).vectors(["a"])


def test_without_an_address_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("FLIPSCOPE_EMBEDDINGS_URL", raising=False)
    monkeypatch.delenv("FLIPSCOPE_EMBEDDINGS_MODEL", raising=False)
    assert "FLIPSCOPE_EMBEDDINGS_URL" in Server().why_not() and Server().sent_to == ""
    with pytest.raises(BadInput, match="FLIPSCOPE_EMBEDDINGS_MODEL"):
        Server().vectors(["a"])


def test_the_environment_names_address_and_model(monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_EMBEDDINGS_URL", "http://localhost:1/v1")
    monkeypatch.setenv("FLIPSCOPE_EMBEDDINGS_MODEL", "tiny")
    assert Server().why_not() == "" and Server().sent_to == "http://localhost:1/v1"
    assert Server().revision != Server(model="large").revision


def test_what_a_server_sent_is_kept_and_only_new_texts_are_sent(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "flips.duckdb")
    items = topical("animals", 6)
    with Held() as held:
        monkeypatch.setattr(embeddings, "EMBEDDINGS", (Server(held.url, "tiny"),))
        embedded(store, items[:4], "server")
        rows, _ = embedded(store, items, "server")
    assert [len(body["input"]) for body in held.bodies] == [4, 2]
    assert np.array_equal(embedded(store, items, "server")[0], rows)  # the server is gone and not needed
    stored = store.rows("SELECT DISTINCT backend, revision FROM embeddings")
    store.close()
    assert len(stored) == 1 and KEY not in str(stored)
