"""What running a study takes: ``python -m tests.benchmarks.runner_speed [--demo]``, in seconds.

Some 10,000 calls to a server on this machine that answers after 20 ms (72 items with 139 samples each), 10,000 calls to a simulated
model (2,500 items with four orders each), and with --demo the demo of a fresh clone: the four studies as a command, and the dashboard
from its command to the first content in a browser. It imports nothing that is new, so that it can be copied into an older clone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from flipcore.core import folders
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard, model_cards
from flipcore.runs import plan, runner
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.models.server import Server


def seconds_of(study: Study, folder: Path, n_calls: int) -> float:
    store = Store.open(folder / f"{study.study_id}.duckdb")
    start = time.perf_counter()
    last = runner.run(study, store)
    seconds = time.perf_counter() - start
    store.close()
    assert (last.state, last.n_done) == ("done", n_calls), last
    return seconds


def of_server(folder: Path) -> float:
    use = ModelUse("lab", n_samples=139, max_tokens=8)
    study = Study("served", (ItemSource("flipscope_problems"),), (Part("identity"),), (Part("regex"),), (use,))
    with Server(delay_s=0.02) as server:
        card = ModelCard("lab", "openai_compatible", model="m", endpoint=server.url, price_in=0.0, price_out=0.0)
        cards = {**model_cards(), "lab": card}
        runner.model_cards = plan.model_cards = lambda: cards
        return seconds_of(study, folder, 72 * 139)


def of_simulated(folder: Path) -> float:
    lines = [json.dumps({"q": f"Question {i}?", "o": ["tin", "oak", "rye", "owl"], "a": i % 4}) for i in range(2_500)]
    (folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    columns = {"question": "q", "options": "o", "target": "a"}
    source = ItemSource("file", path=str(folder / "items.jsonl"), columns=columns)
    use = ModelUse("simulated-noisy")
    return seconds_of(Study("simulated", (source,), (Part("option_order"),), (Part("regex"),), (use,)), folder, 10_000)


def of_demo(folder: Path) -> float:
    start = time.perf_counter()
    fresh = {"FLIPSCOPE_DB": str(folder / "demo.duckdb"), "FLIPSCOPE_HOME": str(folder / "home")}
    subprocess.run(
        [sys.executable, "-m", "flipcore", "demo"], cwd=ROOT, env=os.environ | fresh, check=True, capture_output=True
    )
    return time.perf_counter() - start


def of_first_content(folder: Path) -> float:
    """From the command to the first heading, in a browser that is open already, while the demo begins."""
    from tests.browser.serving import browser_page, dashboard

    with browser_page() as page:
        start = time.perf_counter()
        with dashboard(ROOT / "app.py", folder / "first.duckdb", FLIPSCOPE_HOME=str(folder / "other")) as address:
            page.goto(address)
            page.locator("[data-testid=stMain] h1:visible, [data-testid=stMain] h2:visible").first.wait_for(timeout=60_000)
            return time.perf_counter() - start


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--demo", action="store_true")
    with tempfile.TemporaryDirectory(prefix="runner-speed-") as name:
        folders.admit(name)
        shapes = [of_server, of_simulated]
        shapes = [of_demo, of_first_content] if given.parse_args(words).demo else shapes
        print(", ".join(f"{one.__name__} {one(Path(name)):.1f} s" for one in shapes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
