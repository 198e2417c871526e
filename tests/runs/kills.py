"""Kills -9 of a run and of the dashboard, and what is left: `python -m tests.runs.kills [N_RUN] [N_DASHBOARD] [N_SERVED]` writes
kills.md.

A child works on one study; it is killed after a seeded number of calls was sent; the next child goes on. At the end the study is
finished and every table is compared with one that nobody interrupted. Each call that is sent is written down before it is sent.
A third way asks an HTTP server, and is killed in the middle: once replies of this child have been stored and more are on their way.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import own_models
from flipcore.models.cards import ModelCard
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.models.server import Server

TABLE = Path(__file__).with_name("kills.md")
MAX_CALLS = 400  # that a child sends before it is killed; about 130 are on their way at once
STUDY = Study(
    "killed",
    (ItemSource("flipscope_choice", n=30), ItemSource("flipscope_problems", n=30)),
    (Part("option_order", {"n": 4}), Part("identity")),
    (Part("regex"), Part("first_token")),
    (ModelUse("simulated-artifact-prone", n_samples=12), ModelUse("simulated-noisy", n_samples=12)),
)
SERVED = "served"  # its one model is an HTTP server of this process
SERVED_STUDY = Study(
    "killed in the middle",
    (ItemSource("flipscope_choice", n=60),),
    (Part("option_order", {"n": 4}), Part("identity")),
    (Part("regex"),),
    (ModelUse(SERVED, n_samples=12, temperature=1.0),),
)
TITLES = {"run": "run", "dashboard": "dashboard", "served": "run, in the middle"}
MIDDLE = (10, 60)  # requests after which a child is killed; 8 are on their way at once
_LINE = 21  # bytes: a call's id and the end of the line
_CHILD = """
import asyncio, os, sys
from flipcore.models.simulated import Simulated
from flipcore.runs import inbox
from flipcore.core.study import Study
sent = os.open(os.environ["SENT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
answered = Simulated.complete
async def slowly(self, call):
    os.write(sent, (call.call_id + "\\n").encode())
    await asyncio.sleep(0.15)
    return await answered(self, call)
Simulated.complete = slowly
if sys.argv[1] == "run":
    from flipcore.__main__ import main
    sys.exit(main(["run", os.environ["STUDY"]]))
inbox.hand_over(Study.read(os.environ["STUDY"]))
from streamlit.testing.v1 import AppTest
AppTest.from_file("pages/main.py", default_timeout=300).run()
import time
time.sleep(600)
"""
_COMPARED = {
    "completions": "call_id, model, revision, request::VARCHAR, sample, status, text, top_logprobs::VARCHAR, n_attempts",
    "readouts": "model, item_id, axis, variant_id, sample, extractor, status, answer, value, is_correct, probabilities::VARCHAR",
    "readout_sources": "model, item_id, axis, variant_id, sample, extractor, position, call_id",
    "study_calls": "call_id",
    "study_items": "item_id, role, position, confirmatory",
    "study_variants": "item_id, axis, variant_id, key, position, compared_with",
    "variants": "variant_id, item_id, parts::VARCHAR, option_order, labels",
}


@dataclass(frozen=True)
class Outcome:
    """`n_sent` calls went out, `n_repeated` of them again after a kill; `most_sent` is the most that one call was sent."""

    way: str
    n_kills: int
    n_calls: int
    n_sent: int
    n_repeated: int
    most_sent: int
    differing: tuple[str, ...]


def contents(store: Store, study: Study) -> dict[str, list[tuple]]:
    """Table -> its rows, in order, without times; of the killed study."""
    rows_by_table = {}
    for table, columns in _COMPARED.items():
        of_study = "WHERE study_id = $study_id" if "study" in table or "readout" in table else ""
        given = {"study_id": study.study_id} if of_study else {}
        if table in ("completions", "variants"):
            members = "study_calls" if table == "completions" else "study_variants"
            key = "call_id" if table == "completions" else "variant_id"
            of_study = f"WHERE {key} IN (SELECT {key} FROM {members} WHERE study_id = $study_id)"
            given = {"study_id": study.study_id}
        rows_by_table[table] = store.rows(f"SELECT {columns} FROM {table} {of_study} ORDER BY ALL", **given)
    return rows_by_table


def killed(way: str, n_kills: int, folder: Path, seed: int = 7, study: Study = STUDY) -> Outcome:
    """Kills children of one way `n_kills` times, finishes the study and compares."""
    rng, sent, path = random.Random(seed), folder / "sent.txt", folder / "study.toml"
    path.write_text(study.to_toml(), encoding="utf-8")
    environment = {**os.environ, "FLIPSCOPE_DB": str(folder / "flips.duckdb"), "SENT": str(sent), "STUDY": str(path)}
    n_done = 0
    if way == "dashboard":  # a database with a study in it, or the first start would run the demos too
        n_done += _killed_once("run", environment, sent, 1)
    for _ in range(n_kills):
        n_done += _killed_once(way, environment, sent, rng.randint(1, MAX_CALLS))
    store = Store.open(folder / "flips.duckdb")
    last = runner.run(study, store)
    assert last.state == "done", last.message
    after = contents(store, study)
    store.close()
    whole = Store.open(folder / "whole.duckdb")
    runner.run(study, whole)
    before = contents(whole, study)
    whole.close()
    counts = Counter(sent.read_text(encoding="utf-8").split())
    n_again = sum(n - 1 for n in counts.values())
    differing = tuple(table for table in _COMPARED if before[table] != after[table])
    return Outcome(way, n_done, last.n_done, counts.total(), n_again, max(counts.values()), differing)


class Heard(Server):
    """Answers after a moment, and writes down what was asked, each prompt under a number."""

    def __init__(self) -> None:
        super().__init__(delay_s=0.05)

    def asked(self) -> Counter[str]:
        return Counter(str(sorted(body.items(), key=str)) for body in self.bodies)


def killed_in_the_middle(n_kills: int, folder: Path, seed: int = 7, study: Study = SERVED_STUDY) -> Outcome:
    """Kill runs against a server while replies come in, finish the study and compare."""
    rng, path, homes = random.Random(seed), folder / "study.toml", {}
    path.write_text(study.to_toml(), encoding="utf-8")
    with Heard() as server:
        card = ModelCard(
            SERVED, "openai_compatible", model="m", endpoint=server.url, n_in_flight=8, price_in=0.0, price_out=0.0
        )
        homes = {"FLIPSCOPE_HOME": str(folder / "home"), "FLIPSCOPE_DB": str(folder / "flips.duckdb")}
        before = {name: os.environ.get(name) for name in homes}
        os.environ |= homes
        try:
            own_models.save(card)
            n_done = 0
            with suppress(KeyboardInterrupt):  # Ctrl-C: compared after as many kills as there were
                for number in range(n_kills):
                    n_done += _killed_in_the_middle_once(dict(os.environ), path, server, rng.randint(*MIDDLE))
                    print(f"\r{number + 1} of {n_kills} kills", end="", file=sys.stderr, flush=True)
            n_killed_sent = len(server.bodies)
            store = Store.open(folder / "flips.duckdb")
            last = runner.run(study, store)
            assert last.state == "done", last.message
            after, counts = contents(store, study), server.asked()
            store.close()
            whole = Store.open(folder / "whole.duckdb")
            runner.run(study, whole)
            expected = contents(whole, study)
            whole.close()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
    assert n_killed_sent, "no child asked anything"
    # The server takes no seed: samples of a prompt are one request, asked as often as there are samples.
    n_again = counts.total() - last.n_done
    differing = tuple(table for table in _COMPARED if expected[table] != after[table])
    return Outcome("run, in the middle", n_done, last.n_done, counts.total(), n_again, max(counts.values()), differing)


def _killed_in_the_middle_once(environment: dict[str, str], path: Path, server: Heard, n_more: int) -> int:
    before = len(server.bodies)
    child = subprocess.Popen(
        [sys.executable, "-m", "flipcore", "run", str(path)],
        env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 240
    while child.poll() is None and time.monotonic() < end and len(server.bodies) < before + n_more:
        time.sleep(0.005)
    is_alive = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait(30)
    return int(is_alive)


def _killed_once(way: str, environment: dict[str, str], sent: Path, n_calls: int) -> int:
    """1 when the child was killed at work, once it had sent so many calls; 0 when it had ended by itself."""

    def n_sent() -> int:
        return sent.stat().st_size // _LINE if sent.exists() else 0

    before = n_sent()
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, way], env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 240
    while child.poll() is None and time.monotonic() < end and n_sent() < before + n_calls:
        time.sleep(0.01)
    is_alive = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait(30)
    return int(is_alive)


def main() -> None:
    given = [int(word) for word in sys.argv[1:4]]
    n_run, n_dashboard, n_served = given if len(given) == 3 else (50, 10, 100)
    lines = [
        "# Kills -9",
        "",
        "`python -m tests.runs.kills` writes this table. One study, killed after seeded numbers of calls while others are on their",
        "way, then finished; its tables are compared row by row with those of a run that nobody interrupted.",
        "",
        "| killed | kills at work | calls | sent | sent again | most often one call | tables that differ |",
        "|---|---|---|---|---|---|---|",
    ]
    for way, n in (("run", n_run), ("dashboard", n_dashboard), ("served", n_served)):
        if not n:  # its line stays as it is
            lines += [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {TITLES[way]} |")]
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome = killed_in_the_middle(n, Path(folder)) if way == "served" else killed(way, n, Path(folder))
        counts = f"{outcome.n_calls:,} | {outcome.n_sent:,} | {outcome.n_repeated:,} | {outcome.most_sent}"
        lines.append(f"| {TITLES[way]} | {outcome.n_kills} | {counts} | {', '.join(outcome.differing) or 'none'} |")
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(lines[-1], flush=True)


if __name__ == "__main__":
    main()
