"""Measure what uploads hold: ``python -m tests.benchmarks.upload_memory [N_FILES] [MB_EACH]``.

A browser drops tables of outputs on the Studies page and imports them, a quarter of them at a time
in one session; printed is the server's resident memory before, and of each quarter when its tables
are shown and when they are stored. The server has the variables that ``flipscope`` starts it with;
``--bare`` starts it without them, as ``streamlit run app.py`` alone does.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from flipcore.launch import MEMORY_VARIABLES
from tests.benchmarks.surface_viewers import PATIENCE_MS, memory_mb
from tests.browser.serving import ROOT, browser_page, dashboard

ROW_BYTES = 20_000  # of one output's text, so that few rows make a large file
SETTLE_S = 3.0


def write_tables(folder: Path, n_files: int, mb_each: int) -> list[Path]:
    """Write tables of outputs, each of another model."""
    paths = []
    for number in range(n_files):
        path = folder / f"model-{number}.csv"
        with path.open("w", encoding="utf-8") as stream:
            stream.write("item,model,score,response\n")
            for row in range(mb_each * 1_000_000 // ROW_BYTES):
                text = f"{row} of {number}: " + os.urandom(ROW_BYTES // 2).hex()
                stream.write(f"q{row},model-{number},{int(row % 4 > 0)},{text[:ROW_BYTES]}\n")
        paths.append(path)
    return paths


def measure(n_files: int, mb_each: int, variables: dict[str, str]) -> dict[str, float]:
    """Resident memory of a server with these variables in MB, by what has happened."""
    held = {}

    def note(moment: str) -> None:
        time.sleep(SETTLE_S)
        held[moment] = memory_mb(address, "VmRSS")
        print(f"  {moment:<40}{held[moment]:>8,.0f} MB", flush=True)

    with tempfile.TemporaryDirectory(prefix="upload-memory-") as name:
        folder = Path(name)
        files = write_tables(folder, n_files, mb_each)
        database = folder / "flips.duckdb"
        server = dashboard(ROOT / "app.py", database, FLIPSCOPE_HOME=name, **variables)
        with server as address, browser_page() as page:
            page.set_default_timeout(PATIENCE_MS)
            page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
            page.goto(address)
            page.get_by_role("link", name="New study").first.wait_for()
            # The demo studies are computed at the first start, and take memory of their own.
            time.sleep(45)
            note("before")
            step = max(1, len(files) // 4)
            for start in range(0, len(files), step):
                page.locator("input[type=file]").first.set_input_files(files[start : start + step])
                button = page.get_by_role("button", name="Import as a study")
                button.wait_for()
                last = min(start + step, len(files))
                note(f"file {start + 1} to {last} uploaded and shown")
                button.click()
                page.get_by_role("heading", name="Audit").first.wait_for()
                time.sleep(10)
                note(f"file {start + 1} to {last} imported and audited")
                # By its link, which stays in the session.
                page.get_by_role("link", name="Studies").first.click()
                page.locator("input[type=file]").first.wait_for(state="attached")
    return held


def main(words: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_files", nargs="?", type=int, default=6)
    parser.add_argument("mb_each", nargs="?", type=int, default=50)
    parser.add_argument("--bare", action="store_true")
    chosen = parser.parse_args(words)
    print(f"{chosen.n_files} uploads of {chosen.mb_each} MB")
    measure(chosen.n_files, chosen.mb_each, {} if chosen.bare else MEMORY_VARIABLES)


if __name__ == "__main__":
    main(sys.argv[1:])
