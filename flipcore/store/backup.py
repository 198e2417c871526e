"""A copy of the whole database in one file, taken while it runs: the one writer makes it between two transactions. What is archived
in files beside the database stands in the copy itself."""

from functools import partial
from pathlib import Path

from duckdb import DuckDBPyConnection

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput, NotStored
from flipcore.core.whole_files import whole_file
from flipcore.store.archives import archives, bring_in, problem, text
from flipcore.store.audit_log import act_row
from flipcore.store.connection import Store
from flipcore.store.rows import now
from flipcore.store.schema import tables


def back_up(store: Store) -> Path:
    """The copy, named by this second in UTC. Raises AccessDenied for whoever is no admin, BadInput where there is one already."""
    person = require(Permission.FILES)
    beside = Path(store.path)
    path = beside.parent / "backups" / f"{beside.stem}-{now():%Y%m%d-%H%M%S}.duckdb"
    try:
        with whole_file(path, over=False) as draft:
            try:
                counts = store.writer.transact(partial(_copied, place=text(str(draft))), changes=()).result()
            finally:
                store.writer.transact(_let_go, changes=()).result(60)
            store.writer.transact(partial(_check, place=text(str(draft)), counts=counts), changes=()).result()
            store.writer.transact(_let_go, changes=()).result(60)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already. Wait a second and try again.") from error
    store.writer.add_together(act_row(person, "backed up the database", path.name)).result(60)
    return path


def _copied(connection: DuckDBPyConnection, place: str) -> dict[str, int]:
    """Table -> how many rows the copy has of it."""
    _let_go(connection)
    name = connection.execute("SELECT current_database()").fetchall()[0][0]
    connection.execute(f"ATTACH {place} AS copy_of_all")
    connection.execute(f'COPY FROM DATABASE "{name}" TO copy_of_all')
    for one in archives(connection).values():
        if not problem(connection, one):  # else the copy says where it was, and what it was
            bring_in(connection, one, "copy_of_all.main")
    return _counts(connection)


def _check(connection: DuckDBPyConnection, place: str, counts: dict[str, int]) -> None:
    """Raises NotStored where the file that was written reads otherwise."""
    connection.execute(f"ATTACH {place} AS copy_of_all (READ_ONLY)")
    if _counts(connection) != counts:
        raise NotStored("The copy reads otherwise than it was written, so it was not kept. Check the disk and try again.")


def _counts(connection: DuckDBPyConnection) -> dict[str, int]:
    return {name: connection.execute(f"SELECT count(*) FROM copy_of_all.main.{name}").fetchall()[0][0] for name in tables()}


def _let_go(connection: DuckDBPyConnection) -> None:
    connection.execute("DETACH DATABASE IF EXISTS copy_of_all")
