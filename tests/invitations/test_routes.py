"""The requests of a link, and the gate in front of every other."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from flipcore.access.acting import Level, access_file, acting
from flipcore.access.guesses import MAX_OF_ONE
from flipcore.invitations.gate import LEAVE, TOO_MANY, Gate, access_routes, cookies_of
from flipcore.invitations.links import COOKIE, ELSEWHERE, ENTER, FOREIGN
from flipcore.invitations.start import PROXIED, TRUSTED_VARIABLE, UNTRUSTED
from tests.invitations.test_links import invited

HERE = "http://127.0.0.1:8501"
SOCKET = "ws://127.0.0.1:8501/socket"  # the test's client else calls it testserver
JSON = {"Origin": HERE}
FORWARDING_HEADERS = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "x-real-ip", "Via",
                      "CF-Connecting-IP", "True-Client-IP", "X-Client-IP")  # fmt: skip


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

    paths = (
        "/who",
        "/media/x",
        "/static/media/Symbols.nEdyypZU.woff2",
        "/flips/static/media/Symbols.nEdyypZU.woff2",
        "/media/static/media/x.woff2",
        "/_stcore/upload_file/s/f",
        "/_stcore/metrics",
        "/flips/_stcore/metrics",
        "/_stcore/host-config",
    )
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
    with client.websocket_connect(SOCKET) as one:
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
    access_file().write_text('[levels]\nviewer = ["v@x.org"]\nanalyst = ["a@x.org"]\n')
    answers = {}
    for name in ("", "v@x.org", "a@x.org", "nobody@x.org"):
        client.cookies.clear()
        if name:
            client.cookies.set("login", name)
        answers[name] = [client.put("/_stcore/upload_file/s/f").status_code, client.get("/media/x").status_code]
    assert answers == {"": [403, 403], "v@x.org": [403, 200], "a@x.org": [200, 200], "nobody@x.org": [403, 403]}
    assert client.get("/who").text == f"nobody@x.org|{Level.NONE}"


def test_fonts_of_the_page_are_for_everybody_and_files_of_studies_are_not(client):
    """A reviewer's buttons showed the names of icons, because `/static/media/` was taken for files of studies."""
    access_file().write_text('[levels]\nviewer = ["v@x.org"]\n')
    fonts = ("/static/media/Symbols.nEdyypZU.woff2", "/flips/static/media/Symbols.nEdyypZU.woff2")
    assert [client.get(path).status_code for path in fonts] == [200, 200]
    assert [client.get(path).status_code for path in ("/media/x", "/media/static/media/x.woff2")] == [403, 403]


def test_without_access_only_this_machine_comes_in(client, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv(TRUSTED_VARIABLE, raising=False)
    assert client.get("/who").text == "|admin" and "no invitation is needed" in handed_in(client, "x").json()["sentence"]
    far = TestClient(client.app, base_url="http://192.168.1.7:8501")
    assert far.get("/who").status_code == 403 and far.get("/who").text == UNTRUSTED
    with pytest.raises(WebSocketDisconnect), far.websocket_connect("ws://192.168.1.7:8501/socket"):
        pass
    # a proxy on this machine hands on what other machines send
    for header in FORWARDING_HEADERS:
        assert client.get("/who", headers={header: "203.0.113.9"}).text == PROXIED, header
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET, headers=JSON | {header: "203.0.113.9"}):
            pass
    monkeypatch.setenv(TRUSTED_VARIABLE, "1")
    assert far.get("/who").text == client.get("/who", headers={"Via": "1.1 proxy"}).text == "|admin"


def test_cookies_that_cannot_be_read_are_none():
    scope = {"headers": [(b"host", b"x"), (b"cookie", b'a=1; b="2"; ; =3; c'), (b"cookie", b"d=\xff=4")]}
    assert cookies_of(scope) == {"a": "1", "b": "2", "": "3", "c": "", "d": "ÿ=4"}


@pytest.fixture
def alone(client, tmp_path, monkeypatch):
    """The same server with access off."""
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv(TRUSTED_VARIABLE, raising=False)
    return client


OURS = ["localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:8501", "[::1]", "LOCALHOST:8501", "localhost.:8501"]
FOREIGN_HOSTS = ["evil.test", "evil.test:8501", "localhost.evil.test", "127.0.0.1.evil.test:8501", "evil.test#localhost",
                 "localhost:8501@evil.test", "localhost/evil.test", "127.0.0.2", "0.0.0.0:8501", "10.0.0.1", "[::2]:8501", "",
                 "localhost:8501, evil.test", "localhost:x"]  # fmt: skip
PATHS = ["/who", "/media/x", f"/flips{ENTER}", "/nowhere"]


@pytest.mark.parametrize("host", OURS)
def test_this_machine_is_answered_by_its_own_names(alone, host):
    assert alone.get("/who", headers={"Host": host}).text == "|admin"
    with alone.websocket_connect(SOCKET, headers={"Host": host, "Origin": f"http://{host}"}) as one:
        assert one.receive_text() == ""
    with pytest.raises(WebSocketDisconnect), alone.websocket_connect(SOCKET, headers={"Host": host}):
        pass  # no browser opens a socket without saying which page does


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_name_that_leads_here_is_nobody_while_access_is_off(alone, host):
    """A page of that name would be of the same origin as this server, and could do whatever its owner may."""
    for path in PATHS:
        for method in ("GET", "PUT", "POST", "OPTIONS"):
            reply = alone.request(method, path, headers={"Host": host})
            assert reply.status_code == 403 and "allowedHosts" in reply.text, (method, path)
    for origin in (f"http://{host}", None):
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        with pytest.raises(WebSocketDisconnect), alone.websocket_connect(SOCKET, headers=headers):
            pass


def test_a_name_that_the_user_gave_is_answered_and_a_trusted_network_by_address(store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv(TRUSTED_VARIABLE, raising=False)
    gate = Middleware(Gate, store=lambda: store, hosts=("flips.test", "*.lab.test"))
    client = TestClient(Starlette(routes=[Route("/who", who)], middleware=[gate]), base_url=HERE)

    def answers(*hosts):
        return [client.get("/who", headers={"Host": host}).status_code for host in hosts]

    assert answers("flips.test:80", "a.lab.test", "Flips.Test", "localhost") == [200] * 4
    assert answers("lab.test", "flips.test.evil.test", "10.0.0.7:8501", "xflips.test") == [403] * 4
    monkeypatch.setenv(TRUSTED_VARIABLE, "1")  # a page of an address is this server's own, one of a name may be anybody's
    assert answers("10.0.0.7:8501", "[fe80::1]:8501", "flips.test") == [200] * 3
    assert answers("evil.test", "10.0.0.7.evil.test") == [403] * 2


def test_a_page_from_elsewhere_is_refused_before_anybody_looks_up_where_this_server_is(client, tmp_path, monkeypatch):
    """Whether access is on or off: a browser says which page asks."""
    for is_on in (True, False):
        if not is_on:
            monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
        for origin in ("http://evil.test", "http://localhost:3000", "null", "http://127.0.0.1", "file://"):
            for method in ("GET", "PUT", "POST", "OPTIONS"):
                assert client.request(method, "/who", headers={"Origin": origin}).status_code == 403, (method, origin)
            with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET, headers={"Origin": origin}):
                pass
        assert client.get("/who", headers=JSON).status_code == 200
        with client.websocket_connect(SOCKET, headers=JSON) as one:
            one.receive_text()


async def broken(request):
    raise ZeroDivisionError


def test_every_answer_forbids_framing_and_says_what_its_page_may_load(client, store, tmp_path, monkeypatch):
    replies = [client.get(path) for path in ("/who", "/nowhere", "/media/x", f"/flips{ENTER}")]
    replies += [client.get("/who", headers={"Origin": "http://evil.test"}), handed_in(client, "x"), client.post("/who")]
    app = Starlette(routes=[Route("/broken", broken)], middleware=[Middleware(Gate, store=lambda: store)])
    replies.append(TestClient(app, base_url=HERE, raise_server_exceptions=False).get("/broken"))
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    replies.append(client.get("/who", headers={"Host": "evil.test"}))
    assert {reply.status_code for reply in replies} >= {200, 403, 404, 405, 500}
    for reply in replies:
        assert reply.headers["x-frame-options"] == "DENY" and reply.headers["x-content-type-options"] == "nosniff", reply.url
        policies = reply.headers.get_list("content-security-policy")
        assert len(policies) == 1 and "frame-ancestors 'none'" in policies[0] and "default-src" in policies[0], reply.url
        assert "*" not in policies[0] and "http" not in policies[0], "nothing of another site is loaded"
    assert "sha256-" in client.get(f"/flips{ENTER}").headers["content-security-policy"]  # a page's own stays


def test_figures_of_the_server_need_a_level(client):
    access_file().write_text('[levels]\nviewer = ["v@x.org"]\nadmin = ["a@x.org"]\n')
    answers = {}
    for name in ("", "v@x.org", "a@x.org"):
        client.cookies.clear()
        if name:
            client.cookies.set("login", name)
        paths = ("/_stcore/metrics", "/flips/_stcore/metrics", "/_stcore/host-config")
        answers[name] = [client.get(path).text for path in paths]
    nobody, viewer, admin = answers.values()
    assert "You may not" in nobody[0] and "You may not" in nobody[1] and "|" not in nobody[2] and "allowedOrigins" in nobody[2]
    assert "You may not" in viewer[0] and viewer[2] == "v@x.org|viewer"
    assert admin == ["a@x.org|admin"] * 3


def test_links_are_not_guessed_and_whoever_tries_shuts_nobody_else_out(client, store, admin):
    """Behind a proxy that was not named all come from one address; a forged header makes nobody another."""
    _, token = invited(store, admin, "Flo")
    guesser, other = TestClient(client.app, base_url=HERE), TestClient(client.app, base_url=HERE)
    for one in (guesser, other):
        assert "HttpOnly" in one.get(f"/flips{ENTER}").headers["set-cookie"]
        assert "set-cookie" not in one.get(f"/flips{ENTER}").headers
    for number in range(MAX_OF_ONE):
        assert handed_in(guesser, f"{number}.x", JSON | {"X-Forwarded-For": f"203.0.113.{number}"}).json() == {
            "sentence": FOREIGN
        }
    reply = handed_in(guesser, token, JSON | {"X-Forwarded-For": "203.0.113.99"})
    assert reply.status_code == 429 and reply.json() == {"sentence": TOO_MANY}
    assert handed_in(other, token).json()["place"]
