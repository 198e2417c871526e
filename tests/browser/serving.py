"""The dashboard in a process of its own, and a Chromium to look at it."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


def chromium_path() -> str:
    """Chromium on PATH (or in CHROMIUM); without one the test is skipped, but in CI it fails."""
    found = os.environ.get("CHROMIUM") or next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None and os.environ.get("CI"):
        pytest.fail("CI must have Chromium: .ci/run installs it")
    if found is None:
        pytest.skip("no Chromium on this machine: the browser tests need one")
    return found


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@contextmanager
def dashboard(app: Path, database: Path, port: int = 0, options: tuple[str, ...] = (), **environment: str):
    """The address of a running Streamlit app whose results lie in `database`; started again on its `port`, it goes on."""
    port, log = port or free_port(), database.with_suffix(".log")
    with log.open("ab") as out:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.browser.quick_server",
                "run",
                str(app),
                "--server.headless=true",
                f"--server.port={port}",
                "--server.fileWatcherType=none",
                *options,
            ],
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=os.environ | {"FLIPSCOPE_DB": str(database)} | environment,
        )
        try:
            wait_until_healthy(port, server, log)
            yield f"http://localhost:{port}"
        finally:
            server.terminate()
            server.wait(20)


def wait_until_healthy(port: int, server: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1).close()
            return
        except OSError:
            if server.poll() is not None:
                raise AssertionError(f"the app did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.25)
    raise AssertionError("the app was not healthy within a minute")


class Tunnel:
    """A way to a port of this machine as `ssh -L` makes one: bytes in, bytes out, at a `port` of its own while it is entered. With
    `upload_bytes` a connection breaks, at once and on both sides, when it has passed on so many of an upload; `n_broken` did."""

    def __init__(self, behind: int, upload_bytes: int | None = None):
        self.behind, self.upload_bytes, self.n_broken, self.port = behind, upload_bytes, 0, free_port()
        self._ready, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(10)

    async def _serve(self):
        async with await asyncio.start_server(self._connected, "127.0.0.1", self.port):
            self._ready.set()
            while not self._stop.is_set():
                await asyncio.sleep(0.05)

    async def _connected(self, reader, writer):
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self.behind)

        async def up():
            n_upload = 0
            while data := await reader.read(65_536):
                if n_upload or b"PUT /_stcore/upload_file/" in data:
                    n_upload += len(data)
                if self.upload_bytes is not None and n_upload > self.upload_bytes:
                    self.n_broken += 1
                    writer.transport.abort()
                    to_writer.transport.abort()
                    return
                to_writer.write(data)
                await to_writer.drain()
            to_writer.close()

        async def down():
            while data := await to_reader.read(65_536):
                writer.write(data)
                await writer.drain()
            writer.close()

        await asyncio.gather(up(), down(), return_exceptions=True)


@contextmanager
def browser_page(width: int = 1440, height: int = 900, flags: tuple[str, ...] = ()):
    """A fresh Chromium page; uncaught JavaScript errors, and what the content policy refused, are collected in `page.errors`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium_path(), args=[*FLAGS, *flags])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda line: page.errors.append(line.text) if "Content Security Policy" in line.text else None)
        try:
            yield page
        finally:
            browser.close()
