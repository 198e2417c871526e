"""`flipscope audit FILE…` or `audit STUDY`: checks logs, tables or a study."""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flipcore.commands.choices import share_of
from flipcore.commands.opening import add_map, admit_folders_of, open_store
from flipcore.commands.questions import UNANSWERED, Unanswered, settle
from flipcore.core.errors import BadInput, StoreHeld
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import scores_read, store_logs, study_of
from flipcore.runs.log_survey import ReadScores, Survey, survey, tables_in
from flipcore.store.connection import Store
from flipcore.store.queries import studies

if TYPE_CHECKING:
    from flipcore.reports.log_scores import TaskScore

HELP = "what logs or tables say, and whether it holds"
IN_MEMORY = ":memory:"
MAX_FIRST = 3  # sentences on tables, and models with a first score, that are printed early
# Files from this size on get a first score. Smaller ones are checked within seconds.
LARGE_BYTES = 5_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `audit`."""
    parser.add_argument(
        "study",
        metavar="FILE or STUDY",
        nargs="+",
        help="logs, folders, zips or tables, as import takes them; or one study",
    )
    add_map(parser, "corrects a guess, as import does")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="store the files as a study; without it nothing is written",
    )
    parser.add_argument(
        "--above", metavar="BAR", help="is the best score above 45%% in every way of counting?"
    )
    parser.add_argument(
        "--all", action="store_true", help="every finding, and what could not be checked"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.add_argument("--html", metavar="OUT", help="also write the study's report to this file")


def act(options: argparse.Namespace) -> int:
    """Print the audit and return the exit code: UNANSWERED if a table can be read in two ways.
    Raises FlipscopeError for files that are no log, and for an unknown study."""
    try:
        return _audit(options)
    except Unanswered:
        return UNANSWERED


def _audit(options: argparse.Namespace) -> int:
    from flipcore.reports.audit import audit, verdict
    from flipcore.reports.graded_examples import graded_examples
    from flipcore.reports.whole_study import whole_study

    start = time.monotonic()
    first_scores: list[TaskScore] = []
    missing = [name for name in options.study if not Path(name).exists()]
    are_files = not missing
    if missing and len(options.study) > 1:
        print(f"There is no file or folder {missing[0]!r}; check the path.", file=sys.stderr)
        return 1
    with _open_store_for(options, are_files=are_files) as store:
        read_as: list[str] = []
        if are_files:
            study_id = _read_files(options, store, first_scores, read_as)
        else:
            study_id = _study_id(options.study[0], store)
        findings = audit(store, study_id)
        bar = None if options.above is None else share_of(options.above, "%")
        study = whole_study(store, study_id)
        answer = verdict(study, findings, bar)
        examples = graded_examples(study) if read_as else ""
        if first_scores and _scores_differ(first_scores, store, study_id):
            print(
                "Rows that are no item of the study are left out from here on: the first count"
                " holds them still.",
                file=sys.stderr,
            )
        if options.json:
            verdict_fields = answer.as_dict()
            if read_as:
                verdict_fields |= {"read_as": read_as, "graded_examples": examples}
            print(json.dumps(verdict_fields, indent=2, ensure_ascii=False))
        elif options.all or not are_files:
            every_choice = answer.every_choice
            lines = [f"{every_choice.text} {every_choice.detail}"] if every_choice else []
            printed = [*answer.score_lines, *lines, "", findings.text()]
        else:
            printed = [answer.text()]
        if not options.json:
            print("\n".join([*([examples] if examples else []), *printed]))
        if options.html:
            from flipcore.commands.report import write_report

            print(write_report(store, study_id, options.html, None), file=sys.stderr)
    if are_files:
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        outcome = "Nothing was stored; --keep stores a study."
        if options.keep:
            outcome = f"Stored as study {study_id}."
        print(
            f"{time.monotonic() - start:.1f} s, at most {peak_mb:,.0f} MB of memory. {outcome}",
            file=sys.stderr,
        )
    return 0


@contextmanager
def _open_store_for(options: argparse.Namespace, *, are_files: bool) -> Iterator[Store]:
    """Open the database, or one in memory for files that are not kept."""
    if options.keep or not are_files:
        with ExitStack() as stack:
            try:
                store = stack.enter_context(open_store())
            except StoreHeld as error:
                if are_files or not _is_file_name(options.study[0]):
                    raise
                raise BadInput(
                    f"{_no_file(options.study[0])}; check the path. Whether a study has that name"
                    " could not be looked up: another process, probably an open dashboard, holds"
                    " the database."
                ) from error
            yield store
        return
    with closing(Store.open(IN_MEMORY)) as store:
        yield store


def _is_file_name(name: str) -> bool:
    return bool(Path(name).suffix) or "/" in name or os.sep in name


def _no_file(name: str) -> str:
    return f"There is no file {name!r} here"


def _study_id(name: str, store: Store) -> str:
    """Return the id of the study with that name. Raises BadInput, which lists the studies, or says
    that there is no such file if the name looks like one."""
    from flipcore.reports.whole_study import study_id_of

    try:
        return study_id_of(store, name)
    except BadInput as error:
        if not _is_file_name(name):
            raise
        raise BadInput(f"{_no_file(name)}, and no study of that name; check the path.") from error


def _read_files(
    options: argparse.Namespace, store: Store, first_scores: "list[TaskScore]", read_as: list[str]
) -> str:
    """Read the files into a study and return its id.

    Print the scores of large files, and add them to `first_scores`, before the texts are stored and
    read, which takes three quarters of the time. Add sentences on how tables are read to `read_as`.
    """
    admit_folders_of(options.study)
    are_tables = bool(tables_in(options.study, options.map))
    recorded_scores = ReadScores({})

    def look(words: list[str], on_read: Callable[[Survey], None]) -> Survey:
        nonlocal recorded_scores
        corrections = corrections_of(words, of_tables=are_tables)
        recorded_scores = ReadScores(corrections)

        def say(log_survey: Survey) -> None:
            on_read(log_survey)
            read_as.extend(log_survey.read_as)
            if read_as and not options.json:
                print("\n".join(read_as[:MAX_FIRST]), flush=True)

        return survey(options.study, corrections, scores=recorded_scores, on_read=say)

    log_survey = settle(look, options.map, as_json=options.json)
    if not options.json:
        from flipcore.reports.people_labels import people_labels

        for labels in people_labels(log_survey, recorded_scores):
            print(labels.sentence, flush=True)
    if not options.json and _n_bytes(options.study) >= LARGE_BYTES:
        from flipcore.reports.log_scores import score_claim, scores_of

        first_scores += scores_of(scores_read(log_survey, recorded_scores), study_of(log_survey))
        for model in list(dict.fromkeys(score.model for score in first_scores))[:MAX_FIRST]:
            claim = score_claim(first_scores, model, f"{model}: ")
            print(f"First count, before the checks: {claim.text}", file=sys.stderr, flush=True)
    return store_logs(log_survey, store, is_checked=options.keep)


def _n_bytes(names: list[str]) -> int:
    """Return the size in bytes of the files, and of all files in the folders."""
    n_bytes = 0
    for name in names:
        path = Path(name)
        for file in path.rglob("*") if path.is_dir() else [path]:
            n_bytes += file.stat().st_size if file.is_file() else 0
    return n_bytes


def _scores_differ(first_scores: "list[TaskScore]", store: Store, study_id: str) -> bool:
    """Tell whether a printed first score differs from that of the stored rows."""
    from flipcore.reports.log_scores import task_scores

    stored_scores = task_scores(store, study_id, studies.declared(store, study_id))
    return {score.words() for score in first_scores} != {score.words() for score in stored_scores}
