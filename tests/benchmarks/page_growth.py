"""How every page grows with the items of a study: ``python -m tests.benchmarks.page_growth [120 1200 12000] [--page flips]``.

One viewer opens each page in a process of its own a size: cold, then once more. A study of 120 items that a simulated model answered
is copied under new names until it has as many. Printed are seconds, and growth: times the seconds for ten times the items.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from flipcore.core import folders
from pages import navigation
from tests.benchmarks import test_paint_speed as copies

SMALLEST = 120
PAGES = tuple(one.folder for one in navigation.PAGES)


def times(n_items: int, pages: list[str]) -> dict[str, tuple[float, float]]:
    """Page -> seconds of its first run and of its second."""
    from tests.pages.opening import new_app

    copies.N_RUN = SMALLEST
    with tempfile.TemporaryDirectory(prefix="page-growth-") as folder:
        folders.admit(folder)
        os.environ |= {"FLIPSCOPE_DB": str(copies.large_store(Path(folder), n_items)), "FLIPSCOPE_HOME": folder}
        seconds = {}
        for page in pages:
            app, runs = new_app(f"{page}/page.py"), []
            for _ in range(2):
                start = time.perf_counter()
                app.run()
                runs.append(time.perf_counter() - start)
            if app.exception:
                raise SystemExit(f"{page}: {app.exception[0].value}")
            seconds[page] = (runs[0], runs[1])
        return seconds


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("items", nargs="*", type=int, default=[120, 1_200, 12_000])
    given.add_argument("--page", choices=PAGES, action="append", help="this page alone; may be given several times")
    given.add_argument("--one", action="store_true", help="in this process, as JSON")
    chosen = given.parse_args(words)
    pages = chosen.page or list(PAGES)
    if chosen.one:
        warnings.simplefilter("ignore")
        print(json.dumps(times(chosen.items[0], pages)))
        return
    by_size = []
    for n_items in chosen.items:
        own = [
            sys.executable,
            "-m",
            __spec__.name,
            "--one",
            str(n_items),
            *(word for page in pages for word in ("--page", page)),
        ]
        ended = subprocess.run(own, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        by_size.append(json.loads(ended.stdout.splitlines()[-1]))
    for which, name in enumerate(("cold", "again")):
        print(f"{name:>20}" + "".join(f"{n:>10,} s" for n in chosen.items) + "   growth")
        for page in pages:
            seconds = [size[page][which] for size in by_size]
            growth = (f"{after / before:.1f}" for before, after in itertools.pairwise(seconds))
            print(f"{page:>20}" + "".join(f"{one:>12.2f}" for one in seconds) + f"   × {', × '.join(growth)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
