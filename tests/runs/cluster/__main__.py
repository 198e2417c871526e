"""`python -m tests.runs.cluster` measures a study on a real Ray cluster of this machine, killed and not; it needs requirements-ray.txt.

    python -m tests.runs.cluster small FOLDER     400 calls, three workers, one kill, as JSON (test_ray_cluster.py)
    python -m tests.runs.cluster ways FOLDER      by Ray's client, by the environment, cancelled, with a wrong worker, as JSON
    python -m tests.runs.cluster kills [CALLS]    ten kills of workers and two of the driver
    python -m tests.runs.cluster curve [CALLS]    wall time for 1, 2 and 4 workers
    python -m tests.runs.cluster driver [CALLS]   answers a second that the driver takes in and stores, with workers that answer at once

`kills`, `curve` and `driver` print what tests/benchmarks/cluster.md holds.
"""

import dataclasses
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.runs.cluster.driver_speed import driver_speed
from tests.runs.cluster.killed import N_VARIANTS, Outcome, measured
from tests.runs.cluster.ways import Ways, by_registry

N_CALLS = 20_000
IN_FLIGHT, LATENCY_S = 64, 0.5
SLOW_S = 1.0  # of the curve: the server is what takes the time, not two cores


def row(one: Outcome) -> str:
    rate = one.n_calls / one.seconds
    return (
        f"| {one.n_workers} | {one.n_calls:,} | {one.n_worker_kills} | {one.n_driver_kills} | {one.n_repeated:,} | {one.n_on_way:,} | "
        f"{one.most_often} | {', '.join(one.differing) or 'none'} | {one.seconds:,.0f} | {rate:,.0f} |"
    )


def curve_row(one: Outcome) -> str:
    return (
        f"| {one.n_workers} | {one.n_calls:,} | {one.n_requests:,} | {one.seconds:,.0f} | {one.asking_s:,.0f} | "
        f"{one.n_calls / one.asking_s:,.0f} | {IN_FLIGHT * one.n_workers / SLOW_S:,.0f} | {os.getloadavg()[0]:.1f} |"
    )


def main(words: list[str]) -> None:
    what, *rest = words or ["kills"]
    if what == "small":
        outcome = measured(Path(rest[0]), 3, 100, 0.5, 8, (1, 0))
        print(json.dumps(dataclasses.asdict(outcome) | {"n_repeated": outcome.n_repeated}))
        return
    if what == "ways":
        print(json.dumps(Ways(Path(rest[0])).measured()))
        return
    if what == "registry":
        by_registry(Path(rest[0]))
        return
    n_calls = int(rest[0] if rest else N_CALLS)
    if what == "driver":
        print(driver_speed(n_calls))
        return
    n_items, latency_s = n_calls // N_VARIANTS, SLOW_S if what == "curve" else LATENCY_S
    for n_workers, kills in {"kills": [(3, (10, 2))], "curve": [(1, (0, 0)), (2, (0, 0)), (4, (0, 0))]}[what]:
        with tempfile.TemporaryDirectory() as folder:
            bench = Path(folder) / "bench"
            outcome = measured(bench, n_workers, n_items, latency_s, IN_FLIGHT, kills, is_compared=what == "kills")
        told = curve_row if what == "curve" else row
        print(told(outcome), outcome.ending, f"key in: {outcome.key_in or 'no file'}", sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
