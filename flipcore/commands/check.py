"""`flipscope check OLD NEW --margin 2pp`: is the new run worse by more than a margin?"""

import argparse
import json
import re
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from flipcore.commands.opening import add_map, admit_folders_of
from flipcore.core.errors import BadInput
from flipcore.core.whole_files import write
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey, tables_in
from flipcore.store.connection import Store

HELP = "a regression gate: PASS 0, FAIL 1, UNDECIDED 2, an error 3"
ERROR = 3  # exit code of every error, a wrong command line included
CODES = {"PASS": 0, "FAIL": 1, "UNDECIDED": 2}
_MARGIN = re.compile(r"\s*(\d*\.?\d+)\s*(pp|%|)\s*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check`."""
    parser.add_argument(
        "old",
        metavar="OLD",
        help="logs or tables of the run that is compared with: a file, a folder or a zip",
    )
    parser.add_argument("new", metavar="NEW", help="the same of the run that is judged")
    parser.add_argument(
        "--margin",
        default="",
        help="the largest loss that is accepted: 2pp, or a number on the score's own scale",
    )
    parser.add_argument(
        "--old-model", default="", metavar="NAME", help="where the old run has several"
    )
    parser.add_argument(
        "--new-model", default="", metavar="NAME", help="where the new run has several"
    )
    add_map(parser, "corrects a guess in both runs, as import does")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML with any of margin, old-model and new-model; options come before it",
    )
    parser.add_argument(
        "--every-choice",
        action="store_true",
        help="also say whether it holds in every defensible way of counting; the exit code stays",
    )
    parser.add_argument(
        "--json",
        metavar="OUT",
        help="machine-readable, to a file (- prints it in place of the text)",
    )
    parser.add_argument("--markdown", metavar="OUT", help="a summary for a pull request, to a file")
    parser.add_argument("--junit", metavar="OUT", help="JUnit XML, to a file: a case a task")


def act(options: argparse.Namespace) -> int:
    """Print the verdict and return its exit code. Raises BadInput if nothing can be judged."""
    from flipcore.reports.choices import loss_claims
    from flipcore.reports.regression import Run, regression_check

    settings = _settings(options)
    margin, in_points = margin_of(settings["margin"])
    # This comes first, because survey and tables_in refuse files outside of the admitted folders.
    paths = [options.old, options.new]
    admit_folders_of(paths)
    words = list(options.map)
    if all(_is_one_task(path, words) for path in paths):
        # Tables without a column of tasks are named after their files. Give both runs the same
        # name, or old.csv and new.csv would have no task in common.
        words.insert(0, f"dataset={Path(options.new).stem}")
    with ExitStack() as stack:
        runs = []
        for path, model in zip(paths, (settings["old-model"], settings["new-model"]), strict=True):
            store = Store.open(":memory:")
            stack.callback(store.close)
            are_tables = bool(tables_in([path], words))
            log_survey = survey([path], corrections_of(words, of_tables=are_tables))
            runs.append(Run(store, store_logs(log_survey, store, is_checked=False), model))
        check = regression_check(runs[0], runs[1], margin=margin, in_points=in_points)
        if options.every_choice:
            check = replace(check, every_choice=loss_claims(runs[0], runs[1], check))
    as_json = json.dumps(check.as_dict(), indent=2, ensure_ascii=False)
    print(as_json if options.json == "-" else check.text())
    for out, text in (
        (options.json, as_json),
        (options.markdown, check.markdown()),
        (options.junit, check.junit()),
    ):
        if out and out != "-":
            write(Path(out), text)
            print(f"Written: {out}", file=sys.stderr)
    return CODES[check.outcome]


def _is_one_task(path: str, words: list[str]) -> bool:
    """Tell whether a path is a table, or a folder whose tables are runs of one task.
    That task is named after the folder, so its name only says which version it is."""
    if not tables_in([path]):
        return False
    if Path(path).is_file():
        return True
    tasks = survey([path], corrections_of(words, of_tables=True)).kinds
    # Answers in words may be a second task, named after the first.
    return {task.removesuffix(" in words") for task in tasks} == {Path(path).name}


def margin_of(text: str) -> tuple[float, bool]:
    """Return (margin in units of the score, whether it was given in percentage points).
    Raises BadInput for a text that is no margin."""
    if not text:
        raise BadInput(
            "How far may the score fall? Write --margin 2pp for two percentage points, or a number"
            " above 0 on the score's own scale."
        )
    match = _MARGIN.fullmatch(text)
    if not match or not float(match[1]):
        raise BadInput(
            f"--margin {text!r} is no margin; write --margin 2pp, or a number above 0 on the"
            " score's own scale."
        )
    return (float(match[1]) / 100, True) if match[2] else (float(match[1]), False)


def _settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings: each option, or if it is missing what the settings file says."""
    option_values = {
        "margin": options.margin,
        "old-model": options.old_model,
        "new-model": options.new_model,
    }
    if not options.config:
        return option_values
    try:
        table = tomllib.loads(Path(options.config).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"The settings in {options.config} could not be read: {error}.") from None
    unknown = sorted(set(table) - set(option_values))
    if unknown:
        raise BadInput(
            f"{options.config} has {unknown[0]!r}, which is no setting; there are"
            f" {', '.join(option_values)}."
        )
    return {key: value or str(table.get(key, "")) for key, value in option_values.items()}
