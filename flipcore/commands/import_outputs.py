"""`python -m flipcore import`: what was recognised, what is used and left, and the study that it becomes."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from flipcore.commands.opening import open_store
from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import sources
from flipcore.datasets.recorded.columns import looked_at
from flipcore.runs.harnesses.coming_back import store_survey
from flipcore.runs.interrupts import interruptible
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import ImportProgress
from flipcore.runs.log_survey import recognised, survey
from flipcore.store.recorded import import_state

HELP = "outputs that somebody else recorded, as a study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `import`."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="logs of Inspect, lm-evaluation-harness, HELM, lighteval, Every Eval Ever, ZeroEval, promptfoo or OpenAI evals: "
        "files, folders or zips, several become one study; or one JSONL, JSON, CSV or Parquet file of any other kind",
    )
    parser.add_argument(
        "--map",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="corrects a guess: of logs model=NAME, model:OLD=NEW, kind:TASK=choice|number|text, role:TASK=control, "
        "target:TASK=index|index1|text|none, axis:OLD=NEW, harmless:AXIS=no, cluster:TASK=family|subject|none, join=id|text, "
        "prompt:FILE=base|NAME, sample:FILE=NUMBER|rows, "
        "format=NAME, leave=READOUT; of other files prompt=question text=response and so on; KEY= clears one",
    )
    parser.add_argument(
        "--read",
        nargs="+",
        action="extend",
        metavar="READOUT=COLUMN",
        help="of other files: recorded answers or scores, for example first_token=scores; replaces the guessed ones",
    )
    parser.add_argument("--name", default="", help="of the study")
    parser.add_argument("--dry-run", action="store_true", help="show what was guessed and read, and store nothing")


def act(options: argparse.Namespace) -> int:
    """The exit code of an import: of logs of a known format, or of a table of outputs."""
    folders.admit(".", *(Path(file) if Path(file).is_dir() else Path(file).parent for file in options.files))
    if are_logs(options.files, options.map):
        if options.read:
            raise BadInput("A log of a known format names its own readouts; --read is for other files.")
        return import_logs(options.files, options.map, options.name, options.dry_run)
    return import_rows(options.files[0], options.map, options.read, options.name, options.dry_run)


def are_logs(files: Sequence[str], words: Sequence[str]) -> bool:
    """Whether any of the files is a log of a known format, or one is asked to be read as such."""
    if len(files) > 1 or any(word.startswith("format=") for word in words):
        return True
    logs, _, unread = recognised(files)
    return bool(logs) or any("LFS" in sentence or "zip" in sentence for sentence in unread)


def why_no_log(files: Sequence[str]) -> list[str]:
    """Of files none of which is a known log: a sentence for each that is no table of outputs either, else where such a table goes."""
    sentences = []
    for path in (source.path for source in sources(files)):
        if not any(path.is_relative_to(one) for one in files):
            continue  # out of a zip, which no table is read from
        try:
            looked_at(str(path))
        except BadInput as error:
            sentences.append(str(error))
    return sentences or ["No known log is among these. Use the field below for a table of outputs."]


def import_logs(files: Sequence[str], words: Sequence[str], name: str = "", dry_run: bool = False) -> int:
    """0 when all of it is stored, 130 when it was interrupted. Raises a FlipscopeError with a sentence for what cannot be used."""
    corrections = corrections_of([*words, *([f"name={name}"] if name else [])])
    log_survey = survey(files, corrections, lambda n: print(f"\r{n:,} rows looked at   ", end="", file=sys.stderr))
    print("", file=sys.stderr)
    print("\n".join(log_survey.sentences()))
    print("Correct a guess with --map, for example --map model=NAME kind:TASK=text leave=READOUT.")
    if dry_run:
        return 0
    with open_store() as store:
        with interruptible() as stop:
            study_id = store_survey(log_survey, store, _show, stop)
        state, message = import_state(store, study_id)
    if state == "cancelled":
        print(f"\n{message}")
        return 130
    if log_survey.marks:
        print(f"\n{message}\nNext: python -m flipcore stats {study_id}")
        return 0
    print(f"\nStored as {log_survey.name!r}.\nNext: python -m flipcore audit {study_id}")
    return 0


def _show(progress: ImportProgress) -> None:
    print(f"\r{progress.n_done:,} of {progress.n_all:,} rows stored   ", end="", file=sys.stderr)


def import_rows(file: str, words: Sequence[str], read: Sequence[str] | None, name: str = "", dry_run: bool = False) -> int:
    """A file of rows that no reader of logs knows: its columns are guessed and corrected."""
    from flipcore.datasets.recorded.columns import columns_of, corrected, guessed, looked_at, mapping_of, unused
    from flipcore.runs.importing import imported, store_imported

    recording = corrected(guessed(file), words, read)
    columns = [(key, str(value).replace("\n", "\\n")) for key, value in mapping_of(recording).items() if key != "fields"]
    print("Columns: " + ", ".join(f"{key}={value}" for key, value in columns))
    print("Readouts: " + (", ".join(f"{field.extractor}={field.column}" for field in recording.fields) or "none recorded"))
    unused_columns = unused(recording, columns_of(looked_at(file), recording.nested))
    print("Not used: " + (", ".join(unused_columns) or "nothing") + (" (--map KEY=COLUMN uses one)" if unused_columns else ""))
    outputs = imported(file, recording, name)
    print(outputs.sentence)
    if dry_run:
        return 0
    with open_store() as store:
        with interruptible() as stop:
            study_id = store_imported(outputs, store, _show, stop)
        state, message = import_state(store, study_id)
    print("", file=sys.stderr)
    if state == "cancelled":
        print(message)
        return 130
    print(f"Stored as {outputs.study.name!r}.\nNext: python -m flipcore stats {study_id}")
    return 0
