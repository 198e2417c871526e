"""Every log under some folders: the number that it reports of itself first, and the headline that Flipscope gives it.

`python -m tests.headlines FOLDER…` prints the table; a log without a number of its own says so.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.reports.log_scores import leading, task_scores
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies

Line = tuple[str, str, str, float | None, float | None, str]  # file, task, scorer, its number, ours, why they cannot be equal
TABLE = "{:44} {:22} {:26} {:>9} {:>9} {}"


def headlines(path: Path) -> Iterator[Line]:
    """A line a task and model of one log, or of the logs of one run."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "flips.duckdb")
        try:
            log_survey = survey([path])
            study_id = store_logs(log_survey, store)
            scores = task_scores(store, study_id, studies.declared(store, study_id))
            for model in log_survey.models:
                for one in leading(scores, model):
                    own = next(
                        (
                            row
                            for row in log_survey.reported
                            if (row.model, row.task, row.reducer or "mean") == (model, one.task, one.reducer)
                            and one.scorer in (row.readout, f"{row.readout} (log)")
                        ),
                        None,
                    )
                    lacks = own.n - one.n_items if own and own.n and one.n_epochs else 0
                    why = f"{lacks} of {own.n} items are not in the log" if own and lacks > 0 else ""
                    yield path.name, one.task, f"{one.scorer} ({one.reducer})", own.value if own else None, one.mean.value, why
            if not scores:
                yield path.name, next(iter(log_survey.kinds)), "no scorer scored", None, None, ""
        except BadInput as error:
            yield path.name, "", str(error)[:60], None, None, ""
        finally:
            store.close()


def logs_under(folder: Path) -> list[Path]:
    """Files that are logs by themselves; a folder with results beside their samples is one."""
    if any(folder.glob("samples_*.jsonl")):
        return [folder]
    inside = [one for one in sorted(folder.iterdir()) if not one.name.startswith("LICENSE")]
    files = [one for one in inside if one.suffix in (".eval", ".json", ".csv", ".jsonl")]
    return files + [log for one in inside if one.is_dir() for log in logs_under(one)]


def main(arguments: Sequence[str]) -> int:
    """1 where a log's number is not ours."""
    n_apart = 0
    print(TABLE.format("log", "task", "scorer", "its", "ours", ""))
    for folder in map(Path, arguments):
        folders.admit(folder)
        for path in logs_under(folder):
            for name, task, scorer, own, ours, why in headlines(path):
                is_apart = own is not None and (ours is None or abs(own - ours) > 1e-9) and not why
                n_apart += is_apart
                numbers = ["–" if one is None else f"{one:.6f}" for one in (own, ours)]
                print(TABLE.format(name[-44:], task[:22], scorer[:26], *numbers, why or ("NOT EQUAL" if is_apart else "")))
    print(f"{n_apart} headlines differ from the log's own number.")
    return 1 if n_apart else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
