"""The requests of a link, and the gate in front of every other."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from flipcore.access import policy
from flipcore.access.acting import acting
from flipcore.access.levels import Level
from flipcore.invitations.gate import Gate, cookies_of
from flipcore.invitations.links import COOKIE, ELSEWHERE, ENTER, FOREIGN
from flipcore.invitations.routes import LEAVE, access_routes
from flipcore.invitations.start import PROXIED, TRUSTED_VARIABLE, UNTRUSTED
from tests.invitations.test_links import invited

HERE = "http://127.0.0.1:8501"
JSON = {"Origin": HERE}


async def who(request):
    person = acting()
    return PlainTextResponse(f"{person.name}|{person.level}")


async def socket(websocket):
    await websocket.accept()
    await websocket.send_text(acting().name)
    await websocket.close()


@pytest.fixture
def client(store):
    def login(cookies, scope):
        return {"email": cookies["login"], "email_verified": True} if "login" in cookies else {}

    paths = ("/who", "/media/x", "/_stcore/upload_file/s/f")
    routes = [*access_routes(lambda: store, "flips"), *(Route(path, who, methods=["GET", "PUT"]) for path in paths)]
    app = Starlette(
        routes=[*routes, WebSocketRoute("/socket", socket)], middleware=[Middleware(Gate, store=lambda: store, login=login)]
    )
    with TestClient(app, base_url=HERE) as one:
        yield one


def handed_in(client, token, headers=JSON):
    return client.post(f"/flips{ENTER}", json={"token": token}, headers=headers)


def test_the_page_of_a_link_runs_its_own_script_alone_and_is_kept_by_nobody(client):
    reply = client.get(f"/flips{ENTER}")
    assert reply.status_code == 200 and "no-store" in reply.headers["cache-control"]
    assert "script-src 'sha256-" in reply.headers["content-security-policy"] and "default-src 'none'" in str(reply.headers)
    assert reply.headers["referrer-policy"] == "no-referrer" and reply.headers["x-frame-options"] == "DENY"


def test_a_token_becomes_a_cookie_that_no_script_reads(client, store, admin):
    _, token = invited(store, admin, "Ada")
    reply = handed_in(client, token)
    cookie = reply.headers["set-cookie"]
    assert reply.json() == {"sentence": "Welcome.", "place": "/flips/paraphrase_review"}
    assert all(word in cookie for word in ("HttpOnly", "SameSite=lax", "Path=/flips", "Max-Age")) and "Secure" not in cookie
    assert token.partition(".")[2] not in cookie
    client.cookies.set(COOKIE, client.cookies[COOKIE], path="/")
    assert client.get("/who").text == "Ada|reviewer"
    with client.websocket_connect("/socket") as one:
        assert one.receive_text() == "Ada"
    fresh = TestClient(client.app, base_url=HERE)
    assert handed_in(fresh, token).json() == {"sentence": ELSEWHERE} and fresh.get("/who").text == "|"
    assert client.post(f"/flips{LEAVE}", headers=JSON).status_code == 200


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(client, store, admin):
    _, token = invited(store, admin, "Bo")
    assert "Secure" in handed_in(client, token, JSON | {"X-Forwarded-Proto": "https"}).headers["set-cookie"]


def test_another_site_logs_nobody_in_and_nonsense_is_a_sentence(client, store, admin):
    _, token = invited(store, admin, "Cy")
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}):
        assert handed_in(client, token, headers).status_code == 403
    assert client.post(f"/flips{ENTER}", content="{}", headers=JSON | {"Content-Type": "text/plain"}).status_code == 403
    assert client.post(f"/flips{LEAVE}", headers={"Origin": "https://evil.example"}).status_code == 403
    for body in ("", "[", "[]", "3", '{"token": 3}', '{"token": {"a": 1}}', "x" * 5_000, "[" * 1_900):
        reply = client.post(f"/flips{ENTER}", content=body, headers=JSON | {"Content-Type": "application/json"})
        assert reply.status_code == 403 and reply.json() == {"sentence": FOREIGN}, body[:20]
    assert handed_in(client, token).json()["place"]  # none of it used the link up


def test_uploads_and_files_are_for_whoever_may(client, store, admin):
    policy.path().write_text('[levels]\nviewer = ["v@x.org"]\nanalyst = ["a@x.org"]\n')
    answers = {}
    for name in ("", "v@x.org", "a@x.org", "nobody@x.org"):
        client.cookies.clear()
        if name:
            client.cookies.set("login", name)
        answers[name] = [client.put("/_stcore/upload_file/s/f").status_code, client.get("/media/x").status_code]
    assert answers == {"": [403, 403], "v@x.org": [403, 200], "a@x.org": [200, 200], "nobody@x.org": [403, 403]}
    assert client.get("/who").text == f"nobody@x.org|{Level.NONE}"


def test_without_access_only_this_machine_comes_in(client, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv(TRUSTED_VARIABLE, raising=False)
    assert client.get("/who").text == "|admin" and "no invitation is needed" in handed_in(client, "x").json()["sentence"]
    far = TestClient(client.app, base_url="http://192.168.1.7:8501")
    assert far.get("/who").status_code == 403 and far.get("/who").text == UNTRUSTED
    with pytest.raises(WebSocketDisconnect), far.websocket_connect("/socket"):
        pass
    # a proxy on this machine hands on what other machines send
    for header in ("X-Forwarded-For", "Forwarded", "x-real-ip", "Via"):
        assert client.get("/who", headers={header: "203.0.113.9"}).text == PROXIED
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/socket", headers={"X-Forwarded-Proto": "https"}):
        pass
    monkeypatch.setenv(TRUSTED_VARIABLE, "1")
    assert far.get("/who").text == client.get("/who", headers={"Via": "1.1 proxy"}).text == "|admin"


def test_cookies_that_cannot_be_read_are_none():
    scope = {"headers": [(b"host", b"x"), (b"cookie", b'a=1; b="2"; ; =3; c'), (b"cookie", b"d=\xff=4")]}
    assert cookies_of(scope) == {"a": "1", "b": "2", "": "3", "c": "", "d": "ÿ=4"}
