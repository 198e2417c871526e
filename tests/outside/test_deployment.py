"""The deployment as it is written down: the Dockerfile's steps as a script, nginx and TLS before it."""

import base64
import json
import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import closing, contextmanager
from http.client import HTTPSConnection
from pathlib import Path

import pytest
import streamlit

from tests.browser.serving import free_port, wait_until_healthy
from tests.outside.user import ROOT

FILES = ROOT / "docs" / "deployment"
NAME = "flips.example.org"
DOCKERFILE = (FILES / "Dockerfile").read_text(encoding="utf-8")
MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
UNITS = sorted([*FILES.glob("*.service"), *FILES.glob("*.timer")])


def program(name):
    """Where a system's program is; the test is skipped without it."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")
    return found or pytest.skip(f"no {name} on this machine")


def words_of(step):
    """The words of a step in JSON: CMD, or CMD of HEALTHCHECK."""
    return json.loads(re.search(rf"^{step}.*?(\[.*\])$", DOCKERFILE, re.MULTILINE)[1])


def variables(folder):
    """The variables that the Dockerfile sets, its /data a folder here."""
    line = re.search(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)[1]
    pairs = dict(pair.split("=", 1) for pair in line.split())
    return {name: value.replace("/data", str(folder)) for name, value in pairs.items() if name != "PATH"}


@contextmanager
def served(user, folder, *options):
    """The port of the container's command, at a port of its own."""
    port, log = free_port(), user.folder.parent / "server.log"
    command, *words = words_of("CMD")
    assert command == "flipscope"
    environment = user.environment | variables(folder) | {"FORWARDED_ALLOW_IPS": "*"}
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            [str(user.command), *words, f"--server.port={port}", *options],
            cwd=user.folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_healthy(port, server, log)
            yield port, environment
        finally:
            server.terminate()
            server.wait(30)
    said = log.read_text(encoding="utf-8")
    assert "Traceback" not in said and "ScriptRunContext" not in said and f"http://{NAME}" not in said


@contextmanager
def proxy(folder, behind):
    """The port of nginx with the deployment's own server block, and a certificate made for it."""
    nginx, openssl = program("nginx"), program("openssl")
    port = free_port()
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *files, *subject], check=True, capture_output=True
    )
    block = (FILES / "nginx.conf").read_text(encoding="utf-8")
    for before, after in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/nginx/certificates", str(folder)),
        ("flipscope:8501", f"127.0.0.1:{behind}"),
    ):
        assert before in block
        block = block.replace(before, after)
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{block} }}\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([nginx, "-c", str(configuration), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "nginx ended"
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def connection(port, folder):
    """A TLS connection that checks the certificate by the public name."""
    context = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    joined = HTTPSConnection(NAME, port, timeout=60, context=context)
    joined._create_connection = lambda address, *more, **options: socket.create_connection(("127.0.0.1", port), 60)
    return joined


def asked(port, folder, path, **headers):
    with closing(connection(port, folder)) as joined:
        joined.request("GET", path, headers={"Host": NAME, **headers})
        reply = joined.getresponse()
        return reply.status, reply.read().decode(errors="replace")


def test_the_units_of_systemd_are_whole(tmp_path):
    verify = program("systemd-analyze")
    for unit in UNITS:
        text = re.sub(r"/opt/flipscope/bin/flipscope", shutil.which("true"), unit.read_text(encoding="utf-8"))
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    done = subprocess.run([verify, "verify", *map(str, sorted(tmp_path.iterdir()))], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "flipscope" in line]
    assert ours == [] and done.returncode == 0, done.stderr


def test_the_database_and_its_copies_are_for_their_own_user_alone():
    for unit in FILES.glob("*.service"):
        text = unit.read_text(encoding="utf-8")
        assert "UMask=0077\n" in text and "StateDirectoryMode=0700\n" in text, unit


def test_the_unit_and_compose_start_it_alike():
    """Streamlit's own line at the start names http and the port of TLS."""
    unit, compose = ((FILES / name).read_text(encoding="utf-8") for name in ("flipscope.service", "compose.yaml"))
    words = "--browser.serverPort 443 --logger.hideWelcomeMessage true"
    assert words in unit and words in re.sub(r'[",]', "", compose)


def test_the_files_name_one_another_and_what_they_start():
    compose = (FILES / "compose.yaml").read_text(encoding="utf-8")
    for words in ("docs/deployment/Dockerfile", "./nginx.conf:", "fullchain.pem", "data:/data"):
        assert words in compose
    assert "VOLUME /data" in DOCKERFILE and "USER flipscope" in DOCKERFILE
    for kept in ("app.py", "pages", "flipcore", "data", ".streamlit", "requirements*.txt"):
        assert f"!{kept}\n" in (FILES / "Dockerfile.dockerignore").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_steps_of_the_dockerfile_behind_nginx_and_tls(whole_user, tmp_path):
    data, front = tmp_path / "data", tmp_path / "front"
    data.mkdir()
    front.mkdir()
    environment = whole_user.environment | variables(data)
    refused = subprocess.run(
        [str(whole_user.command), *words_of("CMD")[1:], f"--server.port={free_port()}"],
        env=environment, cwd=whole_user.folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert refused.returncode != 0 and "access on" in refused.stderr + refused.stdout
    subprocess.run([str(whole_user.command), "access", "on"], env=environment, check=True, capture_output=True)
    public = ("--browser.serverAddress", NAME, "--browser.serverPort", "443", "--logger.hideWelcomeMessage", "true")
    font = f"/static/media/{next(MEDIA.glob('MaterialSymbols-*.woff2')).name}"
    with served(whole_user, data, *public) as (port, environment), proxy(front, port) as tls:
        status, page = asked(tls, front, "/")
        assert status == 200 and "<title>" in page
        assert asked(tls, front, "/_stcore/metrics")[0] == 403  # nobody yet
        assert asked(tls, front, font)[0] == 200  # without it, names of icons stand over the words
        link = (data / "home" / "admin-link").read_text(encoding="utf-8")
        assert link.startswith(f"https://{NAME}/access/enter#")
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
        assert asked_socket(tls, front, upgrade | {"Origin": f"https://{NAME}"}) == 101
        assert asked_socket(tls, front, upgrade | {"Origin": "https://evil.example"}) == 403
        health = [word.replace("8501", str(port)) for word in words_of("HEALTHCHECK")]
        python = str(whole_user.command.parent / "python")
        subprocess.run([python, *health[1:]], env=environment, check=True, timeout=60)
        target = data / "copy.duckdb"
        done = subprocess.run(
            [str(whole_user.command), "backup", str(target)], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0 and target.is_file(), done.stderr


def asked_socket(port, folder, headers):
    with closing(connection(port, folder)) as joined:
        joined.request("GET", "/_stcore/stream", headers={"Host": NAME, **headers})
        return joined.getresponse().status
