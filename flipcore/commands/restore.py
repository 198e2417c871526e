"""`python -m flipcore restore STUDY`: an archived study's answers back in the database."""

import argparse

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "an archived study's answers back into the database"
add_arguments = add_study


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Bring them back, and says how many rows of each table."""
    from flipcore.store.archiving import restore

    n_rows = restore(store, study_id).n_rows
    counts = ", ".join(f"{n:,} {table.replace('_', ' ')}" for table, n in n_rows.items())
    print(f"Back in {store.path}: {counts}.")
    return 0
