"""Ways to a real cluster: Ray's client, the address of the environment, a cancellation in the terminal and one by the registry, as the
page makes it, two runs at once, a worker that fails every call, and machines without Flipscope. The study, server and tables are those
of `killed.py`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from flipcore.core import folders
from flipcore.core.study import Study
from tests.conftest import ROOT
from tests.runs.cluster.killed import N_VARIANTS, Bench

N_ITEMS, LATENCY_S, N_AT_ONCE = 60, 0.3, 8
N_BEFORE_CANCEL = 40  # requests
LIMIT_S = 200.0


def _ended(child: subprocess.Popen) -> str:
    """What a child said, with its exit code in front."""
    try:
        words, _ = child.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        raise
    return f"{child.returncode} {words}"


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("it did not come to that")
        time.sleep(0.05)


class Ways:
    """One cluster of two machines, and a database a way."""

    def __init__(self, folder: Path) -> None:
        self.bench, self.folder = Bench(folder, N_ITEMS, LATENCY_S, N_AT_ONCE), folder
        self.outcomes: dict[str, dict] = {}

    def measured(self) -> dict[str, dict]:
        """Way -> what was said (`words`), how many requests arrived (`n_requests`), which tables differ from one process's."""
        bench = self.bench
        try:
            bench.serve(0.0)
            alone = self.folder / "alone.duckdb"
            _ended(bench.driver(alone))
            self.whole = bench.tables(alone)
            assert len(self.whole["completions"]) == N_ITEMS * N_VARIANTS
            bench.serve(LATENCY_S)
            bench.start_cluster(2, has_client=True)
            bench.environment["RAY_ADDRESS"] = bench.cluster.address
            self._way("client", self._by_the_client)
            self._way("environment", lambda path: [_ended(bench.driver(path, "ray"))])
            self._way("terminal", self._cancelled_in_the_terminal)
            self._way("registry", lambda path: [_ended(self._child(path))])
            self._way("two runs", self._two_at_once)
            bench.stop_cluster()
            bench.start_cluster(2, n_wrong=1)
            self._way("wrong worker", lambda path: [_ended(bench.driver(path, bench.cluster.address))])
            bench.stop_cluster()
            bench.start_cluster(1, has_client=True, is_installed=False)
            self._way("not installed", self._by_the_client)
        finally:
            bench.stop_cluster()
            bench.stop_server()
        return self.outcomes

    def _way(self, name: str, run: Callable[[Path], list[str]]) -> None:
        path, before = self.folder / f"{name}.duckdb", self.bench.n_requests()
        words = run(path)
        most_at_once = self.bench.most_at_once(before) if self.bench.n_requests() > before else 0
        tables = self.bench.tables(path)
        differing = [table for table in self.whole if self.whole[table] != tables[table]]
        n_requests = self.bench.n_requests() - before
        self.outcomes[name] = {
            "words": words, "n_requests": n_requests, "most_at_once": most_at_once, "differing": differing
        }  # fmt: skip

    def _by_the_client(self, path: Path) -> list[str]:
        """Ray starts a server for each client and gives it half a minute, which a busy machine may need; nothing was asked then."""
        for _ in range(3):
            words = _ended(self.bench.driver(path, f"ray://127.0.0.1:{self.bench.client_port}"))
            if "could not be reached" not in words:
                break
        return [words]

    def _cancelled_in_the_terminal(self, path: Path) -> list[str]:
        before = self.bench.n_requests()
        child = self.bench.driver(path, "ray")
        _wait(lambda: self.bench.n_requests() >= before + N_BEFORE_CANCEL)
        child.send_signal(signal.SIGINT)
        return [_ended(child), _ended(self.bench.driver(path, "ray"))]

    def _two_at_once(self, path: Path) -> list[str]:
        """Two drivers with a database each, begun together."""
        children = [self.bench.driver(one, "ray") for one in (path, path.with_name("beside.duckdb"))]
        return [_ended(child) for child in children]

    def _child(self, path: Path) -> subprocess.Popen:
        words = [sys.executable, "-m", "tests.runs.cluster", "registry", str(self.folder / "study.toml")]
        environment = self.bench.environment | {"FLIPSCOPE_DB": str(path)}
        return subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def by_registry(path: Path) -> None:
    """Starts a study on the cluster of the environment as a page does, cancels it in its midst, and resumes it where it ran."""
    from flipcore.runs.background import Registry
    from flipcore.store.connection import Store
    from flipcore.store.queries import planning

    folders.admit(".", path.parent)
    os.environ["FLIPSCOPE_HOME"] = str(path.parent / "home")  # the tests' own home has no model of this server
    study, store = Study.read(path), Store.open(os.environ["FLIPSCOPE_DB"])
    registry = Registry(store)

    def n_done() -> int:
        progress = registry.progress(study.study_id)
        return progress.n_done if progress else 0

    try:
        registry.start(study, "ray")
        _wait(lambda: n_done() >= N_BEFORE_CANCEL or not registry.running())
        assert registry.running(), registry.problem(study.study_id)
        workers = registry.progress(study.study_id).workers
        registry.cancel(study.study_id)
        _wait(lambda: not registry.running())
        print(planning.study_end(store, study.study_id)[0], len(workers), "workers", flush=True)
        registry.start(study)  # where it ran last
        _wait(lambda: not registry.running())
        print(planning.study_end(store, study.study_id)[0], registry.problem(study.study_id), flush=True)
    finally:
        store.close()
