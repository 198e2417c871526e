"""The command line: python -m flipcore demo | run | models | stats | report | publish | match | import | audit | access | merge |
export | archive | restore."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from flipcore.commands import access as access_command
from flipcore.commands import import_outputs as import_command
from flipcore.commands import match as match_command
from flipcore.commands import models as models_command
from flipcore.commands import publish as publish_command
from flipcore.commands import report as report_command
from flipcore.commands import run as run_command
from flipcore.core import folders
from flipcore.core.errors import FlipscopeError
from flipcore.runs.harnesses import writing
from flipcore.runs.interrupts import interruptible
from flipcore.store.connection import Store

EVERY_EVAL_EVER = "every-eval-ever"


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    root_parser = argparse.ArgumentParser(prog="python -m flipcore", description="Flipscope without a browser.")
    commands = root_parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="run the demo study")
    run_command.add_arguments(commands.add_parser("run", help="run or resume a declared study"))
    models_command.add_arguments(commands.add_parser("models", help="which models can be asked: list, add, test, remove"))
    stats = commands.add_parser("stats", help="every estimate of a study")
    stats.add_argument("study", help="its id, or the start of its name")
    stats.add_argument("--json", action="store_true", help="machine-readable")
    stats.add_argument("--reference", help="the reference extractor (default regex where it was read)")
    report_command.add_arguments(commands.add_parser("report", help="a study as one HTML file to take home"))
    publish_command.add_arguments(commands.add_parser("publish", help="a study as a dataset folder for the Hugging Face hub"))
    match_command.add_arguments(commands.add_parser("match", help="controls that are like the benchmark's items, as pairs"))
    import_command.add_arguments(commands.add_parser("import", help="outputs that somebody else recorded, as a study"))
    audit = commands.add_parser("audit", help="what an imported log says, and whether it holds")
    audit.add_argument("study", help="its id, or the start of its name")
    again = commands.add_parser("reread", help="read the stored outputs of a study again, by another extractor or pattern")
    again.add_argument("study", help="its id, or the start of its name")
    again.add_argument("--extractor", default="pattern", help="regex, pattern, text_match or judge (default pattern)")
    again.add_argument(
        "--judge", default="", metavar="MODEL", help="a model that `models` lists, which reads the answers as judge"
    )
    again.add_argument("--prompt", metavar="FILE", help="the judge's prompt, with {question}, {options} and {text}")
    again.add_argument("--budget", type=float, metavar="USD", help="sets the study's budget from now on")
    again.add_argument("--price", action="store_true", help="say what a judge would cost, and ask nothing")
    again.add_argument("--send-retro", action="store_true", help="let the judge read items of a retro set, too")
    again.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="its parameters: expression=… group=1"
    )
    writing.add_arguments(commands.add_parser("variants", help="the prompts of a study as a task of another harness"))
    plugins = commands.add_parser("plugins", help="what packages add to Flipscope, and what of it cannot be used")
    plugins.add_argument("--tables", action="store_true", help="what is shipped as Markdown, as the README has it")
    plugins.add_argument("--all", action="store_true", help="also what is shipped")
    access_command.add_arguments(commands.add_parser("access", help="who may use a dashboard on a network"))
    merge = commands.add_parser("merge", help="add what other database files hold")
    merge.add_argument("files", nargs="+", metavar="FILE")
    _add_archive(commands)
    export = commands.add_parser("export", help="readouts and items as files")
    export.add_argument("study")
    export.add_argument("--format", default="parquet", choices=("parquet", "csv", EVERY_EVAL_EVER))
    export.add_argument("--folder", default="exports")
    return root_parser


def _add_archive(commands) -> None:
    archive = commands.add_parser("archive", help="a finished study's answers as Parquet files beside the database")
    archive.add_argument(
        "--to", metavar="FOLDER", help="where, or a URL that fsspec opens (default: archive, beside the database)"
    )
    archive.add_argument(
        "--check", action="store_true", help="only read an archived study's files: do they hold what was put there?"
    )
    for one in (archive, commands.add_parser("restore", help="an archived study's answers back into the database")):
        one.add_argument("study", help="its id, or the start of its name")


def main(arguments: list[str] | None = None) -> int:
    """0 when it worked, 1 with a sentence when it did not; argparse exits with 2 for words it does not know. A run also says
    that calls failed (3), that its budget is used up (4) or that it was interrupted (130)."""
    options = parser().parse_args(arguments)
    try:
        return {
            "demo": _demo,
            "run": run_command.run,
            "models": models_command.models,
            "stats": _stats,
            "report": _report,
            "publish": _publish,
            "match": _match,
            "import": _import,
            "audit": _audit,
            "reread": _reread,
            "variants": _variants,
            "plugins": _plugins,
            "access": access_command.access,
            "merge": _merge,
            "export": _export,
            "archive": _archive,
            "restore": _archive,
        }[options.command](options)
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What came back is stored; run the same command to continue.", file=sys.stderr)
        return 130


def _demo(options) -> int:
    from flipcore.runs.demo import demo_study

    return run_command.ask(demo_study(), "python -m flipcore demo")


def _study_id(store: Store, query: str) -> str:
    from flipcore.reports.whole_study import study_of

    return study_of(store, query)


def _stats(options) -> int:
    from flipcore.reports.whole_study import whole_study

    store = Store.open()
    try:
        whole = whole_study(store, _study_id(store, options.study), options.reference)
        print(json.dumps(whole.as_dict(), indent=2, ensure_ascii=False) if options.json else whole.text())
        return 0
    finally:
        store.close()


def _report(options) -> int:
    store = Store.open()
    try:
        print(report_command.write_report(store, _study_id(store, options.study), options.out, options.outputs))
        return 0
    finally:
        store.close()


def _publish(options) -> int:
    store = Store.open()
    try:
        print(publish_command.publish(store, _study_id(store, options.study), options))
        return 0
    finally:
        store.close()


def _match(options) -> int:
    store = Store.open()
    try:
        return match_command.match(store, _study_id(store, options.study), options)
    finally:
        store.close()


def _import(options) -> int:
    from flipcore.core.errors import BadInput

    folders.admit(".", *(Path(file) if Path(file).is_dir() else Path(file).parent for file in options.files))
    if import_command.are_logs(options.files, options.map):
        if options.read:
            raise BadInput("A log of a known format names its own readouts; --read is for other files.")
        return import_command.import_logs(options.files, options.map, options.name, options.dry_run)
    return import_command.import_rows(options.files[0], options.map, options.read, options.name, options.dry_run)


def _audit(options) -> int:
    from flipcore.reports.audit import audit

    store = Store.open()
    try:
        print(audit(store, _study_id(store, options.study)).text())
        return 0
    finally:
        store.close()


def _reread(options) -> int:
    from flipcore.reports.rereading import changes, old_readout
    from flipcore.runs.rereading import params_of, reread

    store = Store.open()
    try:
        study_id = _study_id(store, options.study)
        if options.judge or options.extractor == "judge":
            name = _judgement(store, study_id, options)
        else:
            name = reread(store, study_id, options.extractor, params_of(options.extractor, options.set))
        if not name:
            return 0 if options.price else run_command.EXIT_CODES["incomplete"]
        print(f"Stored as the readout {name!r}; what was read before stays.")
        for change in changes(store, study_id, old_readout(store, study_id, name), name):
            print(f"{change.claim.text}\n   {change.claim.detail}")
        print(f"Next: python -m flipcore audit {study_id}")
        return 0
    finally:
        store.close()


def _judgement(store: Store, study_id: str, options) -> str:
    """The name of the judge's readouts; "" where it was only priced or did not come to its end."""
    from flipcore.core.errors import BadInput
    from flipcore.runs.judging_again import EXAMPLE, judge_again, priced, prompt_in

    if not options.judge:
        raise BadInput("A judge is a model: name one that `models` lists with --judge MODEL.")
    folders.admit(".", *([Path(options.prompt).parent] if options.prompt else []))
    prompt = prompt_in(options.prompt) if options.prompt else EXAMPLE
    print(f"{options.judge} as judge: {priced(store, study_id, options.judge, prompt).sentence()}.")
    if options.price:
        return ""
    how = {"budget_usd": options.budget, "may_send_retro": options.send_retro}
    with interruptible() as cancel:
        show = lambda p: print(f"\r{p.n_done:,} of {p.n_all:,} answers judged   ", end="", file=sys.stderr)  # noqa: E731
        judge_run = judge_again(store, study_id, options.judge, prompt, on_progress=show, cancel=cancel, **how)
    print(f"\n{judge_run.sentence}")
    return judge_run.name


def _variants(options) -> int:
    from flipcore.core.study import Study
    from flipcore.store.queries import studies

    store = Store.open()
    try:
        if options.study.endswith(".toml"):
            folders.admit(".", Path(options.study).parent)
            study = Study.read(options.study)
        else:
            study = studies.declared(store, _study_id(store, options.study))
        variant_files = writing.write_variants(store, study, options.harness, options.folder, options.model)
        print("\n".join([*map(str, variant_files.files), variant_files.sentence]))
        return 0
    finally:
        store.close()


def _plugins(options) -> int:
    from flipcore.reports.plugins import plugin_lines, tables

    print(tables() if options.tables else "\n".join(plugin_lines(options.all)))
    return 0


def _merge(options) -> int:
    from flipcore.annotation.paraphrases.from_elsewhere import merge_files

    store = Store.open()
    try:
        print("\n".join(merge_files(options.files, store)))
        return 0
    finally:
        store.close()


def _archive(options) -> int:
    from flipcore.store.archiving import archive, check, restore

    store = Store.open()
    try:
        study_id = _study_id(store, options.study)
        if options.command == "archive" and options.check:
            print(f"Nothing was changed. {check(store, study_id).sentence()}")
        elif options.command == "archive":
            print(f"{archive(store, study_id, options.to).sentence()} Pages and commands read them there.")
        else:
            print(f"Back in {store.path}: {', '.join(f'{n:,} {name}' for name, n in restore(store, study_id).n_rows.items())}.")
        return 0
    finally:
        store.close()


def _export(options) -> int:
    from flipcore.reports.every_eval_ever import write_every_eval_ever
    from flipcore.store.export import export

    store = Store.open()
    try:
        study_id = _study_id(store, options.study)
        if options.format == EVERY_EVAL_EVER:
            paths = write_every_eval_ever(store, study_id, options.folder)
        else:
            paths = export(store, study_id, options.folder, options.format)
        print("\n".join(map(str, paths)))
        return 0
    finally:
        store.close()


if __name__ == "__main__":
    sys.exit(main())
