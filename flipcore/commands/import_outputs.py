"""`python -m flipcore import`: stores recorded outputs as a study, and says how it read them."""

import argparse
import sys
from collections.abc import Callable

from flipcore.commands.opening import add_map, admit_folders_of, interruptible, open_store
from flipcore.commands.questions import UNANSWERED, Unanswered, settle
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.datasets.recorded.columns import read_words
from flipcore.runs.harnesses.import_answers import store_survey
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import ImportProgress
from flipcore.runs.log_survey import Survey, survey, tables_in
from flipcore.runs.progress import CANCELLED, INCOMPLETE
from flipcore.store.recorded import import_state

HELP = "outputs that somebody else recorded, as a study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `import`."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help=(
            "logs of Inspect, lm-evaluation-harness, HELM, lighteval, Every Eval Ever, ZeroEval,"
            " promptfoo or OpenAI evals: files, folders or zips, several become one study; or"
            " tables of any other kind (JSONL, JSON, CSV, Parquet)"
        ),
    )
    add_map(
        parser,
        "corrects a guess: of logs model=NAME, model:OLD=NEW, kind:TASK=choice|number|text,"
        " role:TASK=control, control=random|paired|other (what the controls are),"
        " unpublished_control=yes (they were never published),"
        " target:TASK=index|index1|text|none, axis:OLD=NEW, harmless:AXIS=no,"
        " cluster:TASK=family|subject|none, join=id|text, prompt:FILE=base|NAME,"
        " sample:FILE=NUMBER|rows, format=NAME (table: as a table), leave=READOUT; of tables also"
        " prompt=question text=response role=COLUMN pair=COLUMN and so on; KEY= clears one",
    )
    parser.add_argument(
        "--read",
        nargs="+",
        action="extend",
        metavar="READOUT=COLUMN",
        help=(
            "of tables: recorded answers or scores, for example first_token=scores; replaces the"
            " guessed ones"
        ),
    )
    parser.add_argument("--name", default="", help="of the study")
    parser.add_argument(
        "--dry-run", action="store_true", help="show what was guessed and read, and store nothing"
    )


def act(options: argparse.Namespace) -> int:
    """Import the files and return the exit code.

    It is 0 if all rows are stored, 1 for an incomplete import, 130 if it was interrupted, and 4 if
    a table can be read in two ways and no user can choose. Raises FlipscopeError for files that
    cannot be used.
    """
    admit_folders_of(options.files)
    words = [*options.map, *read_words(options.read)]
    if options.name:
        words.append(f"name={options.name}")
    are_tables = bool(tables_in(options.files, words))
    if options.read and not are_tables:
        raise BadInput(
            "A log of a known format names its own readouts; --read is for tables of outputs."
        )

    def look(map_words: list[str], on_read: Callable[[Survey], None]) -> Survey:
        corrections = corrections_of(map_words, of_tables=are_tables)
        return survey(options.files, corrections, _show_looking, on_read=on_read)

    try:
        log_survey = settle(look, words)
    except Unanswered:
        return UNANSWERED
    print("", file=sys.stderr)
    print("\n".join(log_survey.sentences()))
    example = "text=response item=id" if are_tables else "model=NAME kind:TASK=text leave=READOUT"
    print(f"Correct a guess with --map, for example --map {example}.")
    if options.dry_run:
        return 0
    with open_store() as store:
        with interruptible() as stop:
            study_id = store_survey(log_survey, store, _show, stop)
        state, message = import_state(store, study_id)
    print(f"\n{message}")
    if state == CANCELLED:
        return 130
    if log_survey.marks:
        print(f"Next: {command('stats')} {study_id}")
        return 0
    print(f"Stored as {log_survey.name!r}.")
    print(f"Next: {command('stats' if are_tables else 'audit')} {study_id}")
    return int(state == INCOMPLETE)


def _show_looking(n_rows: int) -> None:
    print(f"\r{n_rows:,} rows looked at   ", end="", file=sys.stderr)


def _show(progress: ImportProgress) -> None:
    print(f"\r{progress.n_done:,} of {progress.n_all:,} rows stored   ", end="", file=sys.stderr)
