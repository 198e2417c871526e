"""`python -m flipcore restore WHAT`: restores a backup, or an archived study's answers."""

import argparse
from pathlib import Path

from flipcore.commands.opening import on_study
from flipcore.store.connection import Store, default_path
from flipcore.text.counts import count_of

HELP = "back to a backup, or an archived study's answers back into the database"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a study or a file."""
    parser.add_argument(
        "study", help="an archived study, by its id or the start of its name; or a backup's file"
    )


def act(options: argparse.Namespace) -> int:
    """Restore a backup if a file has that name, else a study."""
    path = Path(options.study)
    return _go_back(path) if path.is_file() else _restore_study(options)


def _go_back(backup: Path) -> int:
    from flipcore.store.whole_copy import go_back

    path = default_path()
    number, copies = go_back(path, backup)
    former = f" What was there is in {' and '.join(map(str, copies))}." if copies else ""
    print(f"{path} is {backup} again, with {count_of(number, 'commit')}.{former}")
    return 0


@on_study
def _restore_study(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Restore the answers, and print the number of rows per table."""
    from flipcore.store.archiving import restore

    n_rows = restore(store, study_id).n_rows
    counts = ", ".join(f"{n:,} {table.replace('_', ' ')}" for table, n in n_rows.items())
    print(f"Back in {store.path}: {counts}.")
    return 0
