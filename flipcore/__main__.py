"""The command line: python -m flipcore demo | run | stats | import | merge | export."""

from __future__ import annotations

import argparse
import json
import sys

from flipcore.core.errors import FlipscopeError, StoreHeld
from flipcore.runs import import_command
from flipcore.store.connection import Store


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m flipcore", description="Flipscope without a browser.")
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="run the demo study")
    run = commands.add_parser("run", help="run or resume a declared study")
    run.add_argument("toml", metavar="STUDY.toml")
    stats = commands.add_parser("stats", help="every estimate of a study")
    stats.add_argument("study", help="its id, or the start of its name")
    stats.add_argument("--json", action="store_true", help="machine-readable")
    stats.add_argument("--reference", default="regex", help="the reference readout (default regex)")
    import_command.add_arguments(commands.add_parser("import", help="outputs that somebody else recorded, as a study"))
    merge = commands.add_parser("merge", help="add what other database files hold")
    merge.add_argument("files", nargs="+", metavar="FILE")
    export = commands.add_parser("export", help="readouts and items as files")
    export.add_argument("study")
    export.add_argument("--format", default="parquet", choices=("parquet", "csv"))
    export.add_argument("--folder", default="exports")
    return made


def main(arguments: list[str] | None = None) -> int:
    """0 when it worked, 1 with a sentence when it did not; argparse exits with 2 for words it does not know."""
    given = parser().parse_args(arguments)
    try:
        return {"demo": _demo, "run": _run, "stats": _stats, "import": _import, "merge": _merge, "export": _export}[
            given.command
        ](given)
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What came back is stored; the same command goes on from here.", file=sys.stderr)
        return 130


def _demo(given) -> int:
    from flipcore.runs.demo import demo_study

    return _ask(demo_study())


def _run(given) -> int:
    from flipcore.core.study import Study

    return _ask(Study.read(given.toml))


def _ask(study) -> int:
    """Runs the study here, or hands it to the process that holds the database."""
    from flipcore.runs import demo, inbox, runner

    try:
        store = Store.open()
    except StoreHeld as held:
        path = inbox.hand_over(study)
        print(f"{held}\nThe study was handed to it as {path.name}: it appears there under Studies as {study.name!r}.")
        return 0
    try:
        demo.fill_store(store)
        last = runner.run(study, store, on_progress=_show)
        print(
            f"\n{study.name}: {last.state}. {last.n_done:,} calls, {last.n_reused:,} reused, {last.n_failed:,} failed, "
            f"${last.cost_usd:,.2f}. {last.message}\nNext: python -m flipcore stats {study.study_id}"
        )
        return 0 if last.state == "done" else 1
    finally:
        store.close()


def _show(p) -> None:
    left = "" if p.eta_s is None else f", about {p.eta_s:,.0f} s left"
    print(f"\r{p.n_done:,} of about {p.n_calls:,} calls, {p.rate_per_s:,.0f} a second{left}   ", end="", file=sys.stderr)


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

    from flipcore.claims.gates import closed
    from flipcore.reports.memory import memory_tests
    from flipcore.reports.study import study_report
    from flipcore.stats.memory.rewritten import harness_accuracy
    from flipcore.store.queries import studies

    store = Store.open()
    try:
        study_id = _chosen(store, given.study)
        frame = studies.readouts(store, study_id)
        found = study_report(frame, given.reference, closed(store, study_id, set(frame["axis"]), set(frame["extractor"])))
        study, everything = studies.study(store, study_id), studies.readouts(store, study_id, everything=True)
        by_model = {model: everything[everything["model"] == model] for model in found.decompositions}
        asked = {model: harness_accuracy(frame) for model, frame in by_model.items()}
        found = replace(
            found,
            memory={model: memory_tests(frame, study, model) for model, frame in by_model.items()},
            harness={model: one for model, one in asked.items() if one},
        )
        print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if given.json else found.text())
        return 0
    finally:
        store.close()


def _import(given) -> int:
    from flipcore.core.errors import BadInput

    if import_command.are_logs(given.files, given.map):
        if given.read:
            raise BadInput("A log of a known format names its own readouts; --read is for other files.")
        return import_command.import_logs(given.files, given.map, given.name, given.dry_run)
    return import_command.import_rows(given.files[0], given.map, given.read, given.name, given.dry_run)


def _merge(given) -> int:
    from flipcore.store.merge import merge

    store = Store.open()
    try:
        added = merge(given.files, store)
        print(", ".join(f"{n:,} {table}" for table, n in added.items()) + " added." if added else "Nothing new in there.")
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
