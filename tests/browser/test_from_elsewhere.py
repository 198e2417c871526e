"""Pages from elsewhere and proxies before a dashboard whose access is off: a foreign name that leads here, a frame, a socket, nginx with
and without forwarded headers, a tunnel. Nothing is asked of any machine but this one."""

import base64
import json
import os
import secrets
import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flipcore.access.guesses import MAX_OF_ADDRESS
from flipcore.invitations.start import ELSEWHERE, PROXIED, UNNAMED
from tests.browser.quick_server import EXACT
from tests.browser.serving import ROOT, Tunnel, browser_page, dashboard, free_port

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
REBOUND = ("--host-resolver-rules=MAP evil.test 127.0.0.1,MAP flips.test 127.0.0.1",)
SOCKETS = ("_stcore/stream", "meeting/socket")
# every route of Streamlit and of ours; a path that is none is the page itself
ROUTES = ("", "studies", "_stcore/health", "_stcore/host-config", "_stcore/metrics", "_stcore/upload_file/s/f", "media/x.csv",
          "component/x", "_stcore/bidi-components/x", "_stcore/script-health-check", "_stcore/agent/openapi.json", "_stcore/agent/interact",
          "_stcore/agent/mcp", "auth/login", "auth/logout", "oauth2callback", "static/js/x.js", "app/static/x", "favicon.png",
          "access/enter", "access/leave", *SOCKETS)  # fmt: skip


class Outside:
    """Stands where a server would go to reach the internet, and counts who comes."""

    def __init__(self):
        self.n = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self):
        while True:
            connection, _ = self._socket.accept()
            self.n += 1
            connection.close()


@pytest.fixture(scope="module")
def outside():
    return Outside()


@pytest.fixture(scope="module")
def address(database, outside, tmp_path_factory):
    """A dashboard with access off and its content policy as it is."""
    proxies = {"HTTP_PROXY": outside.address, "HTTPS_PROXY": outside.address, "http_proxy": outside.address}
    proxies |= {"https_proxy": outside.address, "NO_PROXY": "localhost,127.0.0.1", "no_proxy": "localhost,127.0.0.1"}
    home = str(tmp_path_factory.mktemp("alone"))
    with dashboard(ROOT / "app.py", database, FLIPSCOPE_HOME=home, **proxies, **{EXACT: "1"}) as url:
        yield url


@pytest.fixture(scope="module")
def port(address):
    return int(address.rpartition(":")[2])


def asked(port, path, method="GET", **headers):
    """(status, text, headers) of a request, with headers that are written with a `_` for each dash."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(connection):
        connection.putrequest(method, f"/{path}", skip_host="Host" in headers)
        for name, value in ({"Content-Length": "0"} | headers).items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        reply = connection.getresponse()
        return reply.status, reply.read().decode("utf-8", "replace"), reply.headers


def socket_status(port, path, **headers):
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": key, "Sec_WebSocket_Version": "13"}
    connection = socket.create_connection(("127.0.0.1", port), 30)
    lines = [f"GET /{path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in (upgrade | headers).items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    with connection, connection.makefile("rb") as stream:
        return int(stream.readline().split()[1])


def test_the_routes_are_all_of_them():
    """A release of Streamlit with another route shows here."""
    from streamlit.web.server.starlette import (
        starlette_agent_routes,
        starlette_auth_routes,
        starlette_routes,
        starlette_websocket,
    )

    modules = (starlette_routes, starlette_websocket, starlette_auth_routes, starlette_agent_routes)
    theirs = {
        value.strip("/").partition("{")[0].rstrip("/")
        for module in modules
        for name, value in vars(module).items()
        if "ROUTE" in name and isinstance(value, str) and ".." not in value
    }
    assert {one for one in theirs if one and not any(f"{path}/".startswith(f"{one}/") for path in ROUTES)} == set()


def test_no_route_and_no_socket_answers_to_a_foreign_name(port, outside):
    for path in ROUTES:
        for method in ("GET", "PUT", "POST", "DELETE", "OPTIONS"):
            status, text, headers = asked(port, path, method, Host=f"evil.test:{port}")
            assert (status, text) == (403, UNNAMED), (method, path)
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
    for path in SOCKETS:
        assert socket_status(port, path, Host=f"evil.test:{port}", Origin=f"http://evil.test:{port}") == 403
        assert socket_status(port, path, Host=f"evil.test:{port}") == 403
        for name in ("localhost", "127.0.0.1", "[::1]"):
            assert socket_status(port, path, Host=f"{name}:{port}", Origin=f"http://{name}:{port}") == 101
    assert asked(port, "", Host=f"localhost:{port}")[0] == 200


def test_every_answer_carries_the_headers(port):
    for path in ROUTES:
        for method in ("GET", "POST", "HEAD"):
            _, _, headers = asked(port, path, method, Host=f"localhost:{port}")
            assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff", (method, path)
            assert "frame-ancestors 'none'" in headers["content-security-policy"], (method, path)


def test_a_foreign_origin_makes_the_server_ask_nobody(port, outside):
    for path in (*ROUTES, *SOCKETS):
        assert asked(port, path, Host=f"localhost:{port}", Origin="http://evil.test")[:2] == (403, ELSEWHERE), path
    for path in SOCKETS:
        for origin in ("http://evil.test", "http://localhost:3000", "null"):
            assert socket_status(port, path, Host=f"localhost:{port}", Origin=origin) == 403
    assert outside.n == 0


def test_a_page_of_a_foreign_name_is_nobody_here(port):
    with browser_page(flags=REBOUND) as page:
        page.goto(f"http://evil.test:{port}/")
        assert page.inner_text("body") == UNNAMED
        opens = """(path) => new Promise((done) => {
            const socket = new WebSocket(`ws://${location.host}/${path}`, path.includes("stream") ? ["streamlit"] : []);
            socket.onopen = () => done("open"); socket.onerror = () => done("refused"); })"""
        assert [page.evaluate(opens, path) for path in SOCKETS] == ["refused"] * 2
        status = "(path) => fetch(`/${path}`, {method: 'PUT', body: 'x'}).then((reply) => reply.status)"
        assert page.evaluate(status, "_stcore/upload_file/s/f") == 403
        page.goto(f"http://localhost:{port}/")
        page.locator(".st-key-page-header h1").first.wait_for(timeout=90_000)
        assert [page.evaluate(opens, path) for path in SOCKETS] == ["open"] * 2


@contextmanager
def attacker(html):
    """A site of its own: another port of this machine, which a browser takes for another origin."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://evil.test:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_nobody_frames_a_page(port):
    with (
        attacker(f'<iframe id="f" src="http://localhost:{port}/"></iframe><p>there</p>') as site,
        browser_page(flags=REBOUND) as page,
    ):
        page.goto(site)
        page.get_by_text("there").wait_for()
        for _ in range(40):
            if (frame := page.frames[-1]).url.startswith("chrome-error:"):
                break
            page.wait_for_timeout(250)
        assert frame.url.startswith("chrome-error:") and any("frame-ancestors" in one for one in page.errors)


def test_a_page_of_another_site_opens_no_socket_and_sends_nothing(port, outside):
    script = f"""<script>
    window.said = Promise.all([{", ".join(f'"{path}"' for path in SOCKETS)}].map((path) => new Promise((done) => {{
        const socket = new WebSocket(`ws://localhost:{port}/${{path}}`);
        socket.onopen = () => done("open"); socket.onerror = () => done("refused"); }}))
      .concat([fetch("http://localhost:{port}/_stcore/health").then(() => "read").catch(() => "refused")]));
    </script>"""
    with attacker(script) as site, browser_page(flags=REBOUND) as page:
        page.goto(site)
        assert page.evaluate("window.said") == ["refused"] * 3
    assert outside.n == 0


def test_pages_live_with_the_policy(address):
    """Of each kind one: a chart, a map that is drawn by hand, a formula, a table, an upload."""
    links = (
        "",
        "new_study",
        "flips",
        "flips?show=Parts",
        "score",
        "ranking",
        "memorization",
        "holdout",
        "audit",
        "report",
        "glossary",
        "models",
    )
    with browser_page() as page:
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        for link in links:
            page.errors.clear()
            page.goto(f"{address}/{link}")
            page.locator(".st-key-page-header h1").first.wait_for(timeout=90_000)
            page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")
            page.wait_for_timeout(1_000)
            assert page.errors == [], link
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')")
        page.wait_for_timeout(500)
        assert page.evaluate("window.ran") is None and any("Content Security Policy" in one for one in page.errors)


NGINX = """daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;
events {{}} http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
uwsgi_temp_path {folder}; scgi_temp_path {folder};
server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{behind}; {lines} }} }} }}
"""
SOCKET_LINES = 'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; '
HOST_LINE = "proxy_set_header Host $http_host; "


@contextmanager
def nginx(folder, behind, lines):
    """The port of an nginx of our own that hands on to a port."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")
    if program is None:
        pytest.skip("no nginx on this machine: a proxy is tried only where there is one (apt-get install nginx-light)")
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, behind=behind, lines=lines))
    process = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.PIPE)
    try:
        for _ in range(100):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


@pytest.mark.parametrize(
    "lines, sentence",
    [
        (SOCKET_LINES + HOST_LINE, UNNAMED),
        (SOCKET_LINES + HOST_LINE + "proxy_set_header X-Forwarded-For $remote_addr;", PROXIED),
        (SOCKET_LINES + "proxy_set_header X-Forwarded-Proto $scheme;", PROXIED),
        (SOCKET_LINES + "proxy_set_header X-Real-IP $remote_addr;", PROXIED),
    ],
    ids=["the Host alone", "forwarded for", "forwarded proto", "real ip"],
)
def test_what_a_proxy_hands_on_is_refused(tmp_path, port, lines, sentence):
    with nginx(tmp_path, port, lines) as front:
        public = {"Host": f"flips.test:{front}"}
        for path in ROUTES:
            assert asked(front, path, **public)[:2] == (403, sentence), path
        for path in SOCKETS:
            assert socket_status(front, path, **public, Origin=f"http://flips.test:{front}") == 403


def test_a_proxy_that_names_itself_in_nothing_lets_no_page_in(tmp_path, port):
    """An nginx without a line calls this server 127.0.0.1, as a browser on this machine does: its pages get no socket, and send nothing."""
    with nginx(tmp_path, port, SOCKET_LINES) as front:
        public = {"Host": f"flips.test:{front}", "Origin": f"http://flips.test:{front}"}
        for path in SOCKETS:
            assert socket_status(front, path, **public) == 403
        for path in ("_stcore/upload_file/s/f", "access/enter", "access/leave"):
            assert asked(front, path, "PUT" if "upload" in path else "POST", **public)[:2] == (403, ELSEWHERE)


def test_behind_nginx_as_the_readme_has_it_a_page_with_access_on_works(tmp_path, database):
    home = tmp_path / "home"
    home.mkdir()
    (home / "access.toml").write_text("[levels]\n")
    lines = (
        SOCKET_LINES + HOST_LINE + "proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-For $remote_addr;"
    )
    with (
        dashboard(ROOT / "app.py", tmp_path / "flips.duckdb", FLIPSCOPE_HOME=str(home)) as url,
        nginx(tmp_path, int(url.rpartition(":")[2]), lines) as front,
        browser_page(flags=REBOUND) as page,
    ):
        link = (home / "admin-link").read_text().strip().partition("/access/")[2]
        page.goto(f"http://flips.test:{front}/")
        page.get_by_text("open to people who log in or were invited").wait_for(timeout=60_000)
        for path in ("_stcore/metrics", "media/x"):
            assert asked(front, path, Host=f"flips.test:{front}")[0] == 403
        page.goto(f"http://flips.test:{front}/access/{link}")
        page.locator(".st-key-page-header h1").first.wait_for(timeout=90_000)
        assert json.loads(asked(front, "_stcore/host-config", Host=f"flips.test:{front}")[1])["allowedOrigins"] == []


@pytest.mark.parametrize("is_named", [False, True], ids=["any proxy", "a proxy that was named"])
def test_an_address_that_a_header_names_counts_from_a_proxy_that_was_named_alone(tmp_path, is_named):
    """Whoever writes another address into each guess is one guesser, unless the proxy is believed."""
    (tmp_path / "access.toml").write_text("[levels]\n")
    environment = {"FLIPSCOPE_HOME": str(tmp_path)} | ({"FORWARDED_ALLOW_IPS": "127.0.0.1"} if is_named else {})
    with dashboard(ROOT / "app.py", tmp_path / "flips.duckdb", **environment) as url:
        port, body = int(url.rpartition(":")[2]), b'{"token": "x.y"}'
        headers = {"Origin": url, "Content-Type": "application/json"}

        def guess(number):
            with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                address = f"203.0.{number // 250}.{number % 250}"
                connection.request("POST", "/access/enter", body, headers | {"Host": url[7:], "X-Forwarded-For": address})
                return connection.getresponse().status

        with ThreadPoolExecutor(16) as pool:  # on a busy machine one after the other takes more than the minute that is counted
            statuses = list(pool.map(guess, range(MAX_OF_ADDRESS)))
        assert statuses == [403] * MAX_OF_ADDRESS and guess(MAX_OF_ADDRESS) == (403 if is_named else 429)


def test_a_tunnel_to_this_machine_works_by_its_own_name_alone(port):
    """The browser's Host is localhost there; one with a public name is refused."""
    with Tunnel(port) as tunnel:
        mine, public = {"Host": f"localhost:{tunnel.port}"}, {"Host": f"flips.test:{tunnel.port}"}
        assert asked(tunnel.port, "", **mine)[0] == 200 and asked(tunnel.port, "", **public)[:2] == (403, UNNAMED)
        for path in SOCKETS:
            assert socket_status(tunnel.port, path, **mine, Origin=f"http://localhost:{tunnel.port}") == 101
            assert socket_status(tunnel.port, path, **public, Origin=f"http://flips.test:{tunnel.port}") == 403
