"""A copy of the whole database in one file, taken while it runs: the one writer makes it between two transactions. What is archived
in files beside the database stands in the copy itself."""

from __future__ import annotations

from pathlib import Path

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.core.errors import BadInput
from flipcore.store.acts import act_row
from flipcore.store.archives import archives, bring_in, problem
from flipcore.store.connection import Store
from flipcore.store.rows import now


def backups_folder(store: Store) -> Path:
    """Beside the database."""
    return Path(store.path).parent / "backups"


def back_up(store: Store) -> Path:
    """The copy, named by this second in UTC. Raises AccessDenied for whoever is no admin, BadInput where there is one already."""
    person = require(Permission.FILES)
    folder = backups_folder(store)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Path(store.path).stem}-{now():%Y%m%d-%H%M%S}.duckdb"
    if path.exists():
        raise BadInput(f"{path} is there already. Wait a second and try again.")
    place = str(path).replace("'", "''")

    def copy(connection) -> None:
        name = connection.execute("SELECT current_database()").fetchone()[0]
        connection.execute(f"ATTACH '{place}' AS copy_of_all")
        connection.execute(f'COPY FROM DATABASE "{name}" TO copy_of_all')
        for one in archives(connection).values():
            if not problem(connection, one):  # else the copy says where it was, and what it was
                bring_in(connection, one, "copy_of_all.main")

    def let_go(connection) -> None:
        connection.execute("DETACH DATABASE IF EXISTS copy_of_all")

    store.writer.add_together(act_row(person, "backed up the database", path.name)).result(
        60
    )  # a transaction writes to one file
    try:
        store.writer.transact(copy, changes=()).result()
    finally:
        store.writer.transact(let_go, changes=()).result(60)
    return path
