"""The command line: python -m flipcore demo | run | stats | import | merge | export."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flipcore.core import folders
from flipcore.core.errors import FlipscopeError, StoreHeld
from flipcore.runs import import_command
from flipcore.store.connection import Store

# of `run` and `demo`; 1 is an error that kept a run from its end, 2 a command that argparse does not know
EXIT_CODES = {"done": 0, "failed": 1, "incomplete": 3, "over_budget": 4, "cancelled": 130}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m flipcore", description="Flipscope without a browser.")
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="run the demo study")
    run = commands.add_parser("run", help="run or resume a declared study")
    run.add_argument("toml", metavar="STUDY.toml")
    run.add_argument("--budget", type=float, metavar="USD", help="sets the study's budget from now on; its id stays")
    stats = commands.add_parser("stats", help="every estimate of a study")
    stats.add_argument("study", help="its id, or the start of its name")
    stats.add_argument("--json", action="store_true", help="machine-readable")
    stats.add_argument("--reference", help="the reference extractor (default regex where it was read)")
    import_command.add_arguments(commands.add_parser("import", help="outputs that somebody else recorded, as a study"))
    audit = commands.add_parser("audit", help="what an imported log says, and whether it holds")
    audit.add_argument("study", help="its id, or the start of its name")
    merge = commands.add_parser("merge", help="add what other database files hold")
    merge.add_argument("files", nargs="+", metavar="FILE")
    export = commands.add_parser("export", help="readouts and items as files")
    export.add_argument("study")
    export.add_argument("--format", default="parquet", choices=("parquet", "csv"))
    export.add_argument("--folder", default="exports")
    return made


def main(arguments: list[str] | None = None) -> int:
    """0 when it worked, 1 with a sentence when it did not; argparse exits with 2 for words it does not know. A run also says
    that calls failed (3), that its budget is used up (4) or that it was interrupted (130)."""
    given = parser().parse_args(arguments)
    try:
        return {
            "demo": _demo,
            "run": _run,
            "stats": _stats,
            "import": _import,
            "audit": _audit,
            "merge": _merge,
            "export": _export,
        }[given.command](given)
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What came back is stored; the same command goes on from here.", file=sys.stderr)
        return 130


def _demo(given) -> int:
    from flipcore.runs.demo import demo_study

    return _ask(demo_study(), "python -m flipcore demo")


def _run(given) -> int:
    from flipcore.core.study import Study

    folders.admit(".", Path(given.toml).parent)
    return _ask(Study.read(given.toml), f"python -m flipcore run {given.toml}", given.budget)


def _ask(study, command: str, budget: float | None = None) -> int:
    """Runs the study here, or hands it to the process that holds the database."""
    from flipcore.runs import demo, inbox, runner
    from flipcore.runs.cost import dollars
    from flipcore.store import rows
    from flipcore.store.queries import budgets

    try:
        store = Store.open()
    except StoreHeld as held:
        path = inbox.hand_over(study)
        print(f"{held}\nThe study was handed to it as {path.name}: it appears there under Studies as {study.name!r}.")
        return 0
    try:
        demo.fill_store(store)
        if budget is not None:
            store.writer.add("studies", [rows.study_row(study, "planned")]).result(30)
            budgets.set_budget(store, study.study_id, budget)
        with _interruptible() as cancel:
            last = runner.run(study, store, on_progress=_show, cancel=cancel)
        print(
            f"\n{study.name}: {last.state}. {last.n_done:,} calls, {last.n_reused:,} reused, {last.n_failed:,} failed, "
            f"{dollars(last.cost_usd)}. {last.message}\n"
            + ("" if last.state == "done" else f"Resume: {command}\n")
            + f"Next: python -m flipcore stats {study.study_id}"
        )
        return EXIT_CODES[last.state]
    finally:
        store.close()


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, so that calls on their way come in and are stored; a second Ctrl-C ends at once."""
    cancel = threading.Event()

    def stop(number, frame) -> None:
        if cancel.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show(p) -> None:
    print(f"\r{p.n_done:,} of about {p.n_calls:,} calls, {p.rate_per_s:,.0f} a second{p.left}   ", end="", file=sys.stderr)


def _chosen(store: Store, wanted: str) -> str:
    from flipcore.core.errors import BadInput
    from flipcore.store.queries import studies

    rows = studies.studies(store)
    found = [
        row["study_id"]
        for row in rows.to_dict("records")
        if row["study_id"] == wanted or row["name"].lower().startswith(wanted.lower())
    ]
    if len(found) != 1:
        there = "; ".join(f"{row['study_id']} ({row['name']})" for row in rows.to_dict("records")) or "none yet"
        what = "No study matches" if not found else f"{len(found)} studies match"
        raise BadInput(f"{what} {wanted!r}. There are: {there}.")
    return found[0]


def _stats(given) -> int:
    from dataclasses import replace

    from flipcore.claims.gates import reasons
    from flipcore.reports.cut_offs import cut_offs
    from flipcore.reports.memory import memory_tests
    from flipcore.reports.study import study_report
    from flipcore.stats.flips.label_mass import unreadable_labels
    from flipcore.stats.memory.rewritten import harness_accuracy
    from flipcore.store.queries import studies
    from flipcore.store.queries.endings import endings
    from flipcore.store.queries.pairs import control_pairs
    from flipcore.text.templates import repeated_templates

    store = Store.open()
    try:
        study_id = _chosen(store, given.study)
        frame = studies.readouts(store, study_id)
        study = studies.declared(store, study_id)
        temperatures = {use.name: use.temperature for use in study.models}
        items = studies.study_items(store, study_id)
        repeats = repeated_templates(list(items["question"]), list(items["family"]))
        gates, pairs = reasons(store, study_id), control_pairs(store)
        found = study_report(frame, given.reference, gates, temperatures, repeats)
        everything = studies.readouts(store, study_id, everything=True)
        by_model = {model: everything[everything["model"] == model] for model in found.decompositions}
        asked = {model: harness_accuracy(frame) for model, frame in by_model.items()}
        found = replace(
            found,
            memory={model: memory_tests(frame, study, model, items, gates, pairs) for model, frame in by_model.items()},
            harness={model: one for model, one in asked.items() if one},
        )
        cut = cut_offs(endings(store, study_id), frame)
        if given.json:
            print(json.dumps(found.as_dict() | {"cut_off": [one.as_dict() for one in cut]}, indent=2, ensure_ascii=False))
        else:
            print(
                "\n".join(
                    [found.text(), "", *(f"{one.model}, {one.sentence()}" for one in cut), *unreadable_labels(frame)]
                ).strip()
            )
        return 0
    finally:
        store.close()


def _import(given) -> int:
    from flipcore.core.errors import BadInput

    folders.admit(".", *(Path(file) if Path(file).is_dir() else Path(file).parent for file in given.files))
    if import_command.are_logs(given.files, given.map):
        if given.read:
            raise BadInput("A log of a known format names its own readouts; --read is for other files.")
        return import_command.import_logs(given.files, given.map, given.name, given.dry_run)
    return import_command.import_rows(given.files[0], given.map, given.read, given.name, given.dry_run)


def _audit(given) -> int:
    from flipcore.reports.audit import audit

    store = Store.open()
    try:
        print(audit(store, _chosen(store, given.study)).text())
        return 0
    finally:
        store.close()


def _merge(given) -> int:
    from flipcore.store.merge import merge

    store = Store.open()
    try:
        print("\n".join(merge(given.files, store).sentences()))
        return 0
    finally:
        store.close()


def _export(given) -> int:
    from flipcore.store.export import export

    store = Store.open()
    try:
        for path in export(store, _chosen(store, given.study), given.folder, given.format):
            print(path)
        return 0
    finally:
        store.close()


if __name__ == "__main__":
    sys.exit(main())
