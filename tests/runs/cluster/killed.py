"""A study on a real Ray cluster of separate processes while workers and the driver are killed: what is stored, what was asked twice.

The cluster, the server and the driver are children of this process; a kill is SIGKILL to a process that is one of them or a child of
one. The server writes down every request, so what is counted is what arrived there.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import chdir, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.runs.kills import contents

KEY, WRONG_KEY = "sk-cluster-4711-secret", "sk-wrong"  # the server refuses the second
N_VARIANTS = 4
LIMIT_S = 3_600.0


@dataclass
class Outcome:
    """`n_requests` arrived at the server for `n_calls` calls; `n_on_way` is how many may have been on their way at the kills.
    `seconds` are those of the whole command, `asking_s` those from the first request to the last. `differing` tables are not those
    of one process, `key_in` are files of the cluster that hold the key."""

    n_workers: int
    n_calls: int = 0
    n_requests: int = 0
    n_worker_kills: int = 0
    n_driver_kills: int = 0
    n_on_way: int = 0
    n_distinct: int = 0
    most_often: int = 0
    seconds: float = 0.0
    asking_s: float = 0.0
    ending: str = ""
    differing: list[str] = field(default_factory=list)
    key_in: list[str] = field(default_factory=list)

    @property
    def n_repeated(self) -> int:
        return self.n_requests - self.n_distinct


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Bench:
    """A folder with a server, a cluster, a study and its database."""

    def __init__(self, folder: Path, n_items: int, latency_s: float, n_in_flight: int) -> None:
        self.folder, self.latency_s, self.n_in_flight = folder, latency_s, n_in_flight
        self.log, self.database = folder / "requests.txt", folder / "flips.duckdb"
        self.port, self.client_port = free_port(), 0
        self.environment = os.environ | {
            "FLIPSCOPE_HOME": str(folder / "home"),
            "FLIPSCOPE_FOLDERS": str(folder),
            "LAB_KEY": KEY,
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self.study = self._declared(n_items)
        self.server: subprocess.Popen | None = None
        self.cluster = None

    def _declared(self, n_items: int) -> Study:
        """A study of choices with N_VARIANTS prompts an item, and the card of the server."""
        (self.folder / "home").mkdir(parents=True)
        card = (
            f'[lab]\nbackend = "openai_compatible"\nmodel = "lab"\nendpoint = "http://127.0.0.1:{self.port}/v1"\n'
            f'api_key_env = "LAB_KEY"\nprice_in = 0.0\nprice_out = 0.0\nn_in_flight = {self.n_in_flight}\nabilities = ["generate"]\n'
        )
        (self.folder / "home" / "models.toml").write_text(card, encoding="utf-8")
        path = self.folder / "items.jsonl"
        lines = [
            json.dumps(
                {"question": f"How much is {i} plus {i}?", "options": [str(2 * i + k) for k in range(4)], "answer": 0, "id": i}
            )
            for i in range(n_items)
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        columns = {"question": "question", "options": "options", "target": "answer", "key": "id", "target_as": "index"}
        source = ItemSource("file", path=str(path), columns=columns)
        study = Study(
            "on a cluster",
            (source,),
            (Part("option_order", {"n": N_VARIANTS}),),
            (Part("regex"),),
            (ModelUse("lab", max_tokens=16),),
        )
        (self.folder / "study.toml").write_text(study.to_toml(), encoding="utf-8")
        return study

    def serve(self, latency_s: float) -> None:
        """Starts the server, or starts it anew with another latency."""
        self.stop_server()
        words = [sys.executable, "-m", "tests.runs.cluster.planted_server", str(self.port), str(latency_s), str(self.log)]
        self.server = subprocess.Popen(words, cwd=ROOT, env=self.environment)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError("the server did not start")

    def stop_server(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait(20)

    def start_cluster(self, n_workers: int, has_client: bool = False, n_wrong: int = 0, is_installed: bool = True) -> None:
        """A head without processors, with a server for Ray's client if need be, and as many machines with one processor each, which
        are as many processes here. The first `n_wrong` machines have a key that the server refuses; Flipscope is installed on all or
        none."""
        from ray.cluster_utils import Cluster

        os.environ |= {"LAB_KEY": KEY, "RAY_USAGE_STATS_ENABLED": "0", "FLIPSCOPE_HOME": str(self.folder / "home")}
        os.environ["PYTHONPATH"] = str(ROOT) if is_installed else ""  # Ray's client brings no code of its own
        node = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
        head = {"num_cpus": 0, **node}
        if has_client:
            head["ray_client_server_port"] = self.client_port = free_port()
        with nullcontext() if is_installed else chdir(self.folder):  # `python -m` finds what lies where it is started
            self.cluster = Cluster(initialize_head=True, head_node_args=head)
            for i in range(n_workers):
                os.environ["LAB_KEY"] = WRONG_KEY if i < n_wrong else KEY
                self.cluster.add_node(num_cpus=1, **node)

    def stop_cluster(self) -> None:
        if self.cluster is not None:
            self.cluster.shutdown()
            self.cluster = None

    def driver(self, database: Path, on: str = "") -> subprocess.Popen:
        words = [sys.executable, "-m", "flipcore", "run", str(self.folder / "study.toml"), *(["--on", on] if on else [])]
        environment = self.environment | {"FLIPSCOPE_DB": str(database)}
        return subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def n_requests(self) -> int:
        return len(self.log.read_bytes().splitlines()) if self.log.exists() else 0

    def counts(self) -> Counter[str]:
        """How often each prompt arrived at the server."""
        return Counter(line.split()[1] for line in self.log.read_text(encoding="utf-8").splitlines())

    def most_at_once(self, n_before: int) -> int:
        """How many calls the server had at once, at most, after its first `n_before`."""
        return max(int(line.split()[2]) for line in self.log.read_text(encoding="utf-8").splitlines()[n_before:])

    def asking_s(self) -> float:
        """Seconds from the first request to the last."""
        times = [float(line.split()[0]) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return max(times) - min(times)

    def worker_pids(self) -> list[int]:
        """The processes of actors, children of this cluster's own machines; one that was started anew may stand on the head."""
        raylets = {node.all_processes["raylet"][0].process.pid for node in self.cluster.list_all_nodes()}
        pids = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent in raylets and b"RayWorker" in (entry / "cmdline").read_bytes():
                    pids.append(int(entry.name))
            except (OSError, ValueError):
                continue
        return sorted(pids)

    def tables(self, database: Path) -> dict[str, list[tuple]]:
        """What is stored, but for how often it was attempted."""
        store = Store.open(database)
        held = contents(store, self.study)
        store.close()
        return held | {"completions": [row[:-1] for row in held["completions"]]}

    def n_stored(self) -> int:
        store = Store.open(self.database)
        ((n,),) = store.rows("SELECT count(*) FROM completions")
        store.close()
        return n


def _tell(bench: Bench, who: str, began: float) -> None:
    """A line while it goes on: what a run of twenty minutes has done so far is not lost with it."""
    print(f"killed {who} after {time.monotonic() - began:.0f} s, {bench.n_requests():,} requests", file=sys.stderr, flush=True)


def run_and_kill(bench: Bench, outcome: Outcome, n_worker_kills: int, n_driver_kills: int, seed: int) -> None:
    """Runs the study to its end; kills come after seeded numbers of requests."""
    rng = random.Random(seed)
    kinds = ["worker"] * n_worker_kills + ["driver"] * n_driver_kills
    rng.shuffle(kinds)
    moments = sorted(rng.uniform(0.03, 0.9) * outcome.n_calls for _ in kinds)
    began = time.monotonic()
    child = bench.driver(bench.database, bench.cluster.address)
    for kind, moment in zip(kinds, moments, strict=True):
        while bench.n_requests() < moment and child.poll() is None and time.monotonic() - began < LIMIT_S:
            time.sleep(0.05)
        if child.poll() is not None:
            break
        if kind == "worker":
            while not (pids := bench.worker_pids()) and child.poll() is None:  # those killed before are on their way up
                time.sleep(0.2)
            if pids:
                os.kill(rng.choice(pids), signal.SIGKILL)
                outcome.n_worker_kills += 1
                _tell(bench, "a worker", began)
                outcome.n_on_way += bench.n_in_flight
            continue
        child.kill()
        child.communicate()
        outcome.n_driver_kills += 1
        _tell(bench, "the driver", began)
        time.sleep(3.0)  # what workers still send arrives at the server
        outcome.n_on_way += len(bench.counts()) - bench.n_stored()
        child = bench.driver(bench.database, bench.cluster.address)
    words, _ = child.communicate(timeout=LIMIT_S)
    outcome.seconds = time.monotonic() - began
    outcome.ending = words[words.rfind("on a cluster:") :].strip() or words[-1500:]


def measured(
    folder: Path,
    n_workers: int,
    n_items: int,
    latency_s: float,
    n_in_flight: int,
    kills: tuple[int, int] = (0, 0),
    seed: int = 7,
    is_compared: bool = True,
) -> Outcome:
    """One study on a cluster of so many workers, with kills of workers and of the driver; then the same in one process, compared."""
    bench = Bench(folder, n_items, latency_s, n_in_flight)
    outcome = Outcome(n_workers, n_items * N_VARIANTS)
    try:
        bench.serve(latency_s)
        bench.start_cluster(n_workers)
        run_and_kill(bench, outcome, *kills, seed)
        session = Path(bench.cluster.head_node.get_session_dir_path())
        outcome.key_in = [path.name for path in session.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        bench.stop_cluster()
        counts = bench.counts()
        outcome.n_requests, outcome.n_distinct, outcome.most_often = counts.total(), len(counts), max(counts.values())
        outcome.asking_s = bench.asking_s()
        if not is_compared:
            return outcome
        bench.serve(0.0)
        alone = folder / "alone.duckdb"
        bench.driver(alone).communicate(timeout=LIMIT_S)
        before, after = bench.tables(alone), bench.tables(bench.database)
        outcome.differing = [table for table in before if before[table] != after[table]]
        assert len(before["completions"]) == outcome.n_calls
    finally:
        bench.stop_cluster()
        bench.stop_server()
    return outcome
