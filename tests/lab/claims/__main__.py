"""Simulates the claims: ``python -m tests.lab.claims [--only MODULE] [--cell TEXT] [--share 0.05 --seed N --runs N]``.

Without options it runs every cell (4,000 runs each) and rewrites tests/stats/claims/MODULE.json and tests/stats/claims.md.
``--only memory`` runs and rewrites one module's rows, ``--cell "drop gap"`` those whose name holds the text; the others stay
as they were. Each row is stored when it is done.
``--check`` runs the first runs of every row again and compares what they decide with what is stored: rows that differ are stale, and
the exit code is 1. ``--stale`` simulates these anew, and cells that have no row. ``--trace`` stores today's first runs for rows that
have none, which says that today's code is the code they were simulated on.
``--render`` only writes the page again (after a merge conflict in it: take either side, then render).
``--share 0.05`` runs a random part on a printed seed, writes nothing, and ends with 1 if a claim fails.
``--on ray`` runs the cells on a Ray cluster, with the same rows.
"""

import argparse
import difflib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from time import monotonic
from typing import Any

from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.randomness import generator
from flipcore.runs.cluster.ray_cluster import RayCluster
from tests import doc_pages
from tests.lab.claims import MODULES, all_cells, cells_of, results
from tests.lab.claims.acceptance import Row, failures
from tests.lab.claims.running import Place, finished, traced
from tests.lab.claims.traces import Trace, difference

N_PROCESSES = 2


def run(
    places: Sequence[Place],
    *,
    seed: int = 0,
    runs: int | None = None,
    commit: str = "",
    processes: int = N_PROCESSES,
    on: str = "",
) -> Iterator[Row]:
    """The rows of these cells, in order, each as soon as it and those before it are done. A row depends on its cell and the seed
    alone, so it is the same wherever it was computed: here, or `on` a Ray cluster."""
    if min(len(places), processes) < 2 and not on:
        for place in places:
            yield _print_row(finished(place, seed, runs, commit))
        return
    with _pool(processes, on) as pool:
        waiting = [pool.submit(finished, place, seed, runs, commit) for place in places]
        for future in waiting:
            yield _print_row(future.result())


class RayPool(Executor):
    """Functions of their arguments alone, each a task of Ray on a processor of the cluster; one whose worker is lost is run again. The
    same interface as a pool of processes, so whoever uses one can use the other."""

    def __init__(self, on: str) -> None:
        self._cluster = RayCluster(on)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        import ray

        return ray.remote(function).remote(*args, **kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._cluster.close()


def _pool(processes: int, on: str) -> Executor:
    return RayPool(on) if on else ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


def sample(share: float, seed: int, only: Sequence[str] = MODULES) -> list[Place]:
    """A random part of the cells that have a row, at least one, the same for the same seed."""
    rows = {module: results.rows_on_disk(module) for module in only}
    places = [(module, i) for module in only for i, cell in enumerate(cells_of(module)) if cell.name in rows[module]]
    if not places:
        return []
    n = min(len(places), max(1, round(share * len(places))))
    selection = generator(seed, "claims", "sample").choice(len(places), n, replace=False)
    return [places[i] for i in sorted(selection)]


def _print_row(row: Row) -> Row:
    low, high = row.limits
    print(f"{row.truth:7} {row.rate:.4f} [{low:.4f}, {high:.4f}] of {row.n_runs:,}, {row.nominal:g}: {row.name}", flush=True)
    return row


def _commit() -> str:
    """The commit of the working tree, with a plus where the code differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "--", "flipcore", "tests/lab") else "")


def render() -> str:
    """The page of everything stored, written and returned; the pages of methods, which name its worst rows, are written with it."""
    rows = {module: results.rows_on_disk(module) for module in MODULES}
    waiting = [cell.name for module, cells in all_cells().items() for cell in cells if cell.name not in rows[module]]
    text = results.markdown({module: list(part.values()) for module, part in rows.items()}, waiting, results.last_check())
    results.TABLE.write_text(text, encoding="utf-8")
    doc_pages.write()
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """``python -m tests.lab.claims``: runs the cells and writes the table; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.claims", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=MODULES)
    parser.add_argument("--cell", default="", help="only cells whose name holds this text")
    parser.add_argument("--share", type=float, help="a random share of the cells; writes nothing")
    parser.add_argument("--seed", type=int, default=0, help="of the random share and of its runs")
    parser.add_argument("--runs", type=int, help="at most so many runs a cell")
    parser.add_argument("--check", action="store_true", help="run the first runs of the rows again; 1 where a row is stale")
    parser.add_argument("--stale", action="store_true", help="only cells that are stale or have no row")
    parser.add_argument("--trace", action="store_true", help="store the first runs of rows that have none; simulates nothing")
    parser.add_argument("--processes", type=int, default=N_PROCESSES)
    parser.add_argument("--on", default="", metavar="WHERE", help="a Ray cluster: `ray`, ray://HOST:PORT or HOST:PORT")
    parser.add_argument("--render", action="store_true", help="write the page again and run nothing")
    options = parser.parse_args(arguments)
    if options.render:
        render()
        return 0
    try:
        if options.trace:
            return store_traces(options)
        return check_rows(options) if options.check else _simulated(options)
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return 1


def check_rows(options: argparse.Namespace) -> int:
    """Run the first runs of the rows again: 1 where one decides otherwise than when it was simulated."""
    stored = _stored_rows(options)
    start, stale = monotonic(), {}
    places = [place for place, row in stored.items() if row.trace is not None]
    for done, (place, trace) in enumerate(traces_of(places, options.processes), start=1):
        row = stored[place]
        if row.trace is not None and (what := difference(row.trace, trace)):
            stale[row.name] = what
            print(f"STALE {row.name}: {what}", flush=True)
        if done % 50 == 0:
            print(f"{done} of {len(places)} rows, {monotonic() - start:,.0f} s", flush=True)
    untraced = [row.name for row in stored.values() if row.trace is None]
    for name in untraced:
        print(f"STALE {name}: it keeps no first runs; simulate it anew, or store them with --trace")
    print(
        f"{len(places)} rows checked in {monotonic() - start:,.0f} s, {len(stale)} stale, {len(untraced)} without first runs."
    )
    if not (options.cell or options.only):
        results.store_check(results.Check(_commit(), len(places), (*stale, *untraced)))
        render()
    return 1 if stale or untraced else 0


def store_traces(options: argparse.Namespace) -> int:
    """Store today's first runs for rows that have none."""
    stored = _stored_rows(options)
    places = [place for place, row in stored.items() if row.trace is None]
    names = {module: [cell.name for cell in cells_of(module)] for module, _ in places}
    start = monotonic()
    for done, (place, trace) in enumerate(traces_of(places, options.processes), start=1):
        results.store(place[0], [replace(stored[place], trace=trace)], names[place[0]])
        if done % 50 == 0:
            print(f"{done} of {len(places)} rows, {monotonic() - start:,.0f} s", flush=True)
    render()
    print(f"{len(places)} rows traced in {monotonic() - start:,.0f} s.")
    return 0


def _stored_rows(options: argparse.Namespace) -> dict[Place, Row]:
    """The rows that the options name, by place. Raises BadInput where they name none."""
    rows: dict[Place, Row] = {}
    names = []
    for module in [options.only] if options.only else MODULES:
        on_disk = results.rows_on_disk(module)
        for index, cell in enumerate(cells_of(module)):
            names.append(cell.name)
            if cell.name in on_disk and options.cell in cell.name:
                rows[module, index] = on_disk[cell.name]
    require_cells(options.cell, names)
    return rows


def traces_of(places: Sequence[Place], processes: int = N_PROCESSES) -> Iterator[tuple[Place, Trace]]:
    """The first runs of these cells, each as soon as it is done."""
    if min(len(places), processes) < 2:
        yield from map(traced, places)
        return
    with _pool(processes, "") as pool:
        for future in as_completed([pool.submit(traced, place) for place in places]):
            yield future.result()


def _simulated(options: argparse.Namespace) -> int:
    """Runs what the options name: 1 where a claim failed."""
    only = [options.only] if options.only else list(MODULES)
    start = monotonic()
    if options.share:
        print(f"Cells and streams of --share {options.share:g} --seed {options.seed}")
        places = sample(options.share, options.seed, only)
        rows = list(run(places, seed=options.seed, runs=options.runs, processes=options.processes, on=options.on))
    else:
        require_cells(options.cell, [cell.name for module in only for cell in cells_of(module)])
        rows = _rewritten(only, options)
    failed = failures(rows, slack=options.runs is not None or options.share is not None)
    print("\n".join([f"FAILED {name}: {why}" for name, why in failed.items()]))
    print(f"{len(rows)} cells in {monotonic() - start:,.0f} s, {len(failed)} failed.")
    return 1 if failed else 0


def require_cells(text: str, names: Sequence[str]) -> None:
    """Raise BadInput where no cell's name holds the text: nothing run must not look like nothing failed."""
    if any(text in name for name in names):
        return
    near = difflib.get_close_matches(text, names, n=3, cutoff=0.3)
    hint = f" Near names: {'; '.join(near)}." if near else ""
    raise BadInput(f"No cell's name holds {text!r} (of {len(names)} cells). Nothing was run.{hint}")


def _rewritten(only: Sequence[str], options: argparse.Namespace) -> list[Row]:
    """Runs the chosen cells and writes each row when it is done; fewer runs than the table's are shown and never written."""
    cells, commit, rows = all_cells(), _commit(), []
    check = results.last_check()
    stale = set(check.stale) if check else set()
    for module in only:
        names = [cell.name for cell in cells[module]]
        rows_there = results.rows_on_disk(module)
        places = [
            (module, i)
            for i, name in enumerate(names)
            if options.cell in name and (not options.stale or name not in rows_there or name in stale)
        ]
        for row in run(places, runs=options.runs, commit=commit, processes=options.processes, on=options.on):
            rows.append(row)
            if options.runs is None:
                results.store(module, [row], names)
    if options.runs is None:
        if check:
            done = {row.name for row in rows}
            results.store_check(replace(check, stale=tuple(name for name in check.stale if name not in done)))
        render()
    return rows


if __name__ == "__main__":
    sys.exit(main())
