"""Who looks at a large flip surface waits how long: ``python -m tests.benchmarks.surface_viewers [12000] [--viewers 8]``.

A study of so many items × 20 variants × 4 readouts is drawn and packed. A viewer here is a program that speaks Streamlit's own protocol
over its websocket and takes every message, so that the server alone is timed; Chromium, on the same cores, is timed beside it: to the
title, and to the painted map. Each way of looking has a server of its own.

``--for 200`` lets the viewers come at once to a server that has just started and stay for so many seconds: each opens a page after
another, with a new session after every fifth. Printed are the first looks, all others, and the server's memory.

``--first`` lets each of the viewers open one page of a server that has just started: the glossary, which computes nothing; then the pages
above with nothing kept, and with what the server before has kept. Printed are also the processor's seconds of the server, which say more
than a clock where other programs run.
"""

import argparse
import asyncio
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from websockets.asyncio.client import connect

from flipcore.core import folders
from flipcore.store import archiving, packing
from flipcore.store.connection import results_folder
from tests.benchmarks.page_growth import PAGES
from tests.benchmarks.readout_growth import A_MODEL, MODELS, store_of
from tests.benchmarks.test_paint_speed import machine
from tests.browser.serving import ROOT, browser_page, dashboard

MAP = ".flipmap[data-painted]"
PATIENCE_MS = 600_000
LOOKS, PAUSE_S = 5, 2.0  # pages of a session, and about how long somebody looks at one


def drawn(folder: Path, n: int) -> Path:
    """A file in which the study has ended and is packed."""
    store, study_id = store_of(folder, n, MODELS[:1])
    archiving.restore(store, study_id)
    assert packing.pack(store, study_id)
    store.writer.checkpoint()
    store.close()
    return folder / "flips.duckdb"


def session(address: str):
    """A viewer's line to the server, to be entered."""
    # A socket that names no origin is refused while access is off.
    return connect(
        address.replace("http", "ws") + "/_stcore/stream",
        subprotocols=["streamlit"],
        max_size=None,
        origin=address,
        open_timeout=120,
        ping_interval=None,
    )


async def look(address: str, page: str = "flips") -> dict[str, float]:
    """Seconds until the title, the map and the end of the script arrived, of one viewer who comes for it."""
    start = time.perf_counter()
    async with session(address) as socket:
        return await seen(socket, page, start)


async def seen(socket, page: str, start: float) -> dict[str, float]:
    """The same, of one who is there."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    seconds: dict[str, float] = {}
    begin = BackMsg()
    begin.rerun_script.page_name = "" if page == "studies" else page  # which is the page at /
    await socket.send(begin.SerializeToString())
    while "end" not in seconds or "title" not in seconds:
        message = ForwardMsg()
        message.ParseFromString(await socket.recv())
        now = time.perf_counter() - start
        # a part of the page before that draws itself again, or a run that gives way to the next, ends as well
        if message.WhichOneof("type") == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            seconds["end"] = now
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise SystemExit(f"{page}: {element.exception.message}")
        if kind == "heading":
            seconds.setdefault("title", now)
        if kind == "bidi_component" and element.bidi_component.component_name.endswith("flip_map"):
            seconds["map"] = now
    return seconds


def looks(address: str, n: int, page: str = "flips") -> list[dict[str, float]]:
    """What `n` viewers who come at once wait for."""
    return looks_at(address, [page] * n)


def painted(page, address: str) -> tuple[float, float]:
    """Seconds to the title and to the painted map, of a tab that opens the page."""
    start = time.perf_counter()
    page.goto(address + "/flips")
    page.locator("h1").first.wait_for(timeout=PATIENCE_MS)
    title = time.perf_counter() - start
    page.locator(MAP).wait_for(timeout=PATIENCE_MS)
    return title, time.perf_counter() - start


def within(page) -> float:
    """Seconds from a click in the navigation to the painted map, of somebody who looked at another page."""
    page.get_by_role("link", name="Review").click()
    page.get_by_role("heading", name="Review", exact=True).wait_for()
    start = time.perf_counter()
    page.get_by_role("link", name="Flips").click()
    page.locator(MAP).wait_for(timeout=PATIENCE_MS)
    return time.perf_counter() - start


def server(path: Path):
    """A dashboard, whose address is what is entered."""
    return dashboard(ROOT / "app.py", path, FLIPSCOPE_HOME=str(path.parent))


async def stayed(
    address: str, n: int, for_s: float
) -> tuple[list[tuple[float, str, dict[str, float]]], list[tuple[float, float]]]:
    """Each look of `n` viewers (when it began, its page, its seconds), and what the server held second by second (when, MB)."""
    begun, all_seen, held = time.perf_counter(), [], []

    async def stays(number: int) -> None:
        rng, pages = random.Random(number), []
        while time.perf_counter() - begun < for_s:
            start = time.perf_counter()
            async with session(address) as socket:
                for _ in range(LOOKS):
                    pages = pages or rng.sample(PAGES, len(PAGES))
                    page = pages.pop()
                    all_seen.append((start - begun, page, await seen(socket, page, start)))
                    if time.perf_counter() - begun >= for_s:
                        return
                    await asyncio.sleep(rng.uniform(0.5, 2 * PAUSE_S))
                    start = time.perf_counter()

    async def watches() -> None:
        while True:
            held.append((time.perf_counter() - begun, memory_mb(address, "VmRSS")))
            await asyncio.sleep(1.0)

    watching = asyncio.ensure_future(watches())
    await asyncio.gather(*(stays(number) for number in range(n)))
    watching.cancel()
    return all_seen, held


def long_stay(path: Path, n: int, for_s: float) -> None:
    """Prints what `n` viewers wait for who come at once to a server that has just started and stay."""
    with server(path) as address:
        all_seen, held = asyncio.run(stayed(address, n, for_s))
    at_first = [one for when, _, one in all_seen if when < 0.5]
    later = [one for when, _, one in all_seen if when >= 0.5]
    print(f"  {f'{n} viewers at once at a fresh server, {for_s:,.0f} s':<64}{'median':>8}{'p95':>8}{'n':>5}")
    told("the first title of each", [one["title"] for one in at_first])
    told("the end of each first page", [one["end"] for one in at_first])
    told("every other title", [one["title"] for one in later])
    told("the end of every other page", [one["end"] for one in later])
    ends = {page: max((one["end"] for _, seen_page, one in all_seen if seen_page == page), default=0.0) for page in PAGES}
    slowest = sorted(ends, key=lambda page: -ends[page])[:3]
    print("  the longest waits for an end: " + ", ".join(f"{page} {ends[page]:.1f} s" for page in slowest))
    for name, start, end in (("second quarter", 0.25, 0.5), ("third quarter", 0.5, 0.75), ("last quarter", 0.75, 1.0)):
        part = [mb for when, mb in held if start * for_s <= when < end * for_s]
        print(f"  the server holds, {name:<44}{statistics.median(part):>10,.0f} MB, at most {max(part):,.0f}")


def first_pages(path: Path, n: int) -> None:
    """Print what `n` viewers wait for who each open one page of a fresh server, and what it costs."""
    pages = [random.Random(number).sample(PAGES, len(PAGES))[-1] for number in range(n)]
    shutil.rmtree(results_folder(path), ignore_errors=True)
    print(f"  {n} first pages at once: {', '.join(pages)}")
    for name, chosen in (("glossary alone", ["glossary"] * n), ("nothing kept yet", pages), ("kept", pages)):
        with server(path) as address:
            all_seen = looks_at(address, chosen)
            told(f"{name}: the end of each page", [one["end"] for one in all_seen])
            slowest = max(zip([one["end"] for one in all_seen], chosen, strict=True))
            print(
                f"    the processor worked {cpu_s(address):.1f} s; the longest was {slowest[1]}, {slowest[0]:.1f} s", flush=True
            )


def looks_at(address: str, pages: list[str]) -> list[dict[str, float]]:
    """What viewers wait for who come at once, one to each page."""

    async def all_of_them() -> list[dict[str, float]]:
        return await asyncio.gather(*(look(address, page) for page in pages))

    return asyncio.run(all_of_them())


def process_of(address: str) -> Path | None:
    """Return the folder in /proc of the server at `address`."""
    port = f"--server.port={address.rsplit(':', 1)[1]}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if port in (place / "cmdline").read_bytes().split(b"\0"):
                return place
    return None


def cpu_s(address: str) -> float:
    """Seconds of a processor that the server at `address` has taken."""
    place = process_of(address)
    if place is None:
        return float("nan")
    user, system = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def memory_mb(address: str, kind: str = "VmHWM") -> float:
    """The most memory that the server at `address` has held, or what it holds (VmRSS)."""
    place = process_of(address)
    lines = (place / "status").read_text().splitlines() if place else []
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith(kind)), float("nan"))


def told(name: str, seconds: list[float]) -> None:
    seconds = sorted(seconds)
    p95 = seconds[max(0, -(-95 * len(seconds) // 100) - 1)]
    print(f"  {name:<64}{statistics.median(seconds):>8.2f}{p95:>8.2f}{len(seconds):>5}", flush=True)


def every_page(path: Path) -> None:
    """Seconds until each page's title and its end have arrived, on a server that has counted nothing yet."""
    with server(path) as address:
        looks(address, 1, "glossary")
        print(f"  {'seconds until the title of a page, and its end':<64}{'title':>8}{'end':>8}{'again':>8}")
        for page in PAGES:
            (first,), (again,) = looks(address, 1, page), looks(address, 1, page)
            print(f"  {page:<64}{first['title']:>8.2f}{first['end']:>8.2f}{again['end']:>8.2f}", flush=True)


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("items", nargs="?", type=int, default=12_000)
    given.add_argument("--viewers", type=int, default=8)
    given.add_argument("--rounds", type=int, default=5)
    given.add_argument("--pages", action="store_true", help="also every other page, each opened twice")
    given.add_argument(
        "--for", type=float, default=0.0, dest="for_s", help="seconds that viewers stay; nothing else is timed then"
    )
    given.add_argument("--first", action="store_true", help="one page each of a fresh server; nothing else is timed then")
    given.add_argument("--servers", type=int, default=3, help="with --for: how many fresh servers they come to")
    chosen = given.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="surface-viewers-") as name:
        folder = Path(name)
        folders.admit(folder)
        path = drawn(folder, chosen.items)
        print(f"{chosen.items:,} items × 20 variants × 4 readouts ({chosen.items * A_MODEL:,} readouts), {machine()}")
        if chosen.first:
            first_pages(path, chosen.viewers)
            return
        if chosen.for_s:
            for _ in range(chosen.servers):
                long_stay(path, chosen.viewers, chosen.for_s)
            return
        print(f"  {'seconds until the flip map':<64}{'median':>8}{'p95':>8}{'n':>5}")
        fresh = []
        for _ in range(3):
            with server(path) as address:
                fresh += looks(address, 1)
        told("has arrived: a server that nobody has looked at", [one["map"] for one in fresh])
        told("  its title", [one["title"] for one in fresh])
        fresh = []
        for _ in range(3):
            with server(path) as address:
                fresh += looks(address, chosen.viewers)
        told(f"has arrived: {chosen.viewers} viewers at once, of such a server", [one["map"] for one in fresh])
        told("  their titles", [one["title"] for one in fresh])
        with server(path) as address:
            looks(address, 1, "glossary")
            told("has arrived: nothing was counted yet", [looks(address, 1)[0]["map"]])
            told("has arrived: it was counted before", [looks(address, 1)[0]["map"] for _ in range(chosen.rounds)])
            at_once = [one for _ in range(chosen.rounds) for one in looks(address, chosen.viewers)]
            told(f"has arrived: {chosen.viewers} viewers at once", [one["map"] for one in at_once])
            told("  their titles", [one["title"] for one in at_once])
            print(f"  the server's peak: {memory_mb(address):,.0f} MB")
        with server(path) as address:
            looks(address, 1, "glossary")
            with browser_page() as page:
                page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
                title, first = painted(page, address)
                told("is painted in Chromium: nothing was counted yet", [first])
                told("  its title", [title])
                told("is painted in Chromium: from another page", [within(page) for _ in range(chosen.rounds)])
                again = [painted(page, address) for _ in range(chosen.rounds)]
                told("is painted in Chromium: loaded anew", [one for _, one in again])
                told("  its title", [one for one, _ in again])
        if chosen.pages:
            every_page(path)


if __name__ == "__main__":
    main(sys.argv[1:])
