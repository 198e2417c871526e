"""Migrations: a database of an earlier release is brought to this schema, after it was copied.

Two ways. A column that schema.sql has and the file lacks is added with its default, so a new column
needs no step here. What changes the meaning of what is stored is a numbered step. `SCHEMA_VERSION`
is the number of the last one; a file with a higher number was written by a newer release and is
refused.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from duckdb import DuckDBPyConnection

from flipcore.core import whole_files
from flipcore.core.errors import BadInput
from flipcore.store import schema

SCHEMA_VERSION = 6

# Imports before schema 5 kept no text of a sample that stood behind a later one of its item, and
# one text for two items of one prompt: their readouts name a call that is not there, or the call of
# another output. A study's marks of how far it came go, so that the same files are read again from
# their start.
_LOGS = "SELECT study_id FROM studies WHERE 'import ' || study_id IN (SELECT key FROM store_info)"
_LOST_OUTPUTS = f"""
CREATE TEMP TABLE lost_outputs AS
WITH sources AS (
    SELECT DISTINCT study_id, model, item_id, variant_id, sample, position, call_id
        FROM readout_sources
    WHERE study_id IN ({_LOGS})
), calls AS (
    SELECT study_id, call_id, count(*) > 1 AS is_shared, call_id IN (SELECT call_id
        FROM completions) AS is_there
    FROM sources GROUP BY ALL
)
SELECT study_id, count(DISTINCT (model, item_id, variant_id, sample)) AS n,
       count(DISTINCT (model, item_id, variant_id, sample)) FILTER (is_shared
           OR NOT is_there) AS n_lost
FROM sources JOIN calls USING (study_id, call_id) GROUP BY study_id HAVING n_lost > 0
"""
_SAY_LOST = """
UPDATE studies SET state = 'incomplete', message = printf(
    '%d of %d outputs have no text of their own: an earlier Flipscope lost texts at import. '
    || 'Import the same files again: they are read whole.', n_lost, n)
FROM lost_outputs l WHERE l.study_id = studies.study_id
"""
_UNDONE = (
    f"SELECT 'import ' || study_id FROM ({_LOGS}) JOIN studies USING (study_id) "
    "WHERE state <> 'done'"
)
_READ_AGAIN = f"DELETE FROM store_info WHERE key IN ({_UNDONE})"

# Nor did they compare what is stored with the files: rows that were taken for one another, two
# equal questions say, left no trace that a query could find. Such a study is read from its start
# too when its files come again.
_UNREAD = f"state = 'done' AND message NOT LIKE '%Read again%' AND study_id IN ({_LOGS})"
_SAY_UNREAD = f"""
UPDATE studies SET message = message
    || ' An earlier Flipscope imported it and did not read the files again. Import the same files '
    || 'again: each output is then compared with what is stored.'
WHERE {_UNREAD}
"""
_READ_UNREAD = (
    "DELETE FROM store_info WHERE key IN (SELECT 'import ' || study_id FROM studies "
    f"WHERE {_UNREAD})"
)

# step -> what turns a file of the schema before it into one of this schema
STEPS: dict[int, tuple[str, ...]] = {
    2: (  # the documents behind the product are called sources; a seed is a random seed
        """UPDATE holdout_versions
        SET results = replace(results::VARCHAR, '"p_seed"', '"p_source"')::JSON""",
    ),
    3: (  # the reviewers that were shipped so far are models
        (
            "UPDATE verdicts SET reviewer_kind = 'model' "
            "WHERE reviewer IN ('model-reviewer-a', 'model-reviewer-b')"
        ),
    ),
    # Packed readouts: a release before them would change readouts and leave their packs standing.
    4: (),
    5: (_LOST_OUTPUTS, _SAY_LOST, _READ_AGAIN, "DROP TABLE lost_outputs"),
    6: (_SAY_UNREAD, _READ_UNREAD),
}


def prepared(connect: Callable[[], DuckDBPyConnection], path: Path) -> DuckDBPyConnection:
    """An open connection to a file of this schema; a fresh file gets it, an older one is backed up
    and brought to it.

    Raises BadInput for a file of a newer release, and duckdb.Error for what is no database."""
    is_fresh = not (path.exists() or path.with_name(f"{path.name}.wal").exists())
    connection = connect()
    if is_fresh:
        _create(connection)
        return connection
    statements = dict(
        connection.execute(
            "SELECT table_name, sql FROM duckdb_tables() WHERE schema_name = 'main'"
        ).fetchall()
    )
    version = _version(connection, statements)
    if version is None:
        _create(connection)
        return connection
    if version > SCHEMA_VERSION:
        connection.close()
        raise BadInput(
            f"{path} was written by a newer Flipscope (schema {version}; this one reads up to"
            f" {SCHEMA_VERSION}). Update Flipscope, or choose another file with FLIPSCOPE_DB."
        )
    if version < 1:
        connection.close()
        raise BadInput(
            f"{path} says that it has schema {version}, which no release wrote. Choose another file"
            " with FLIPSCOPE_DB."
        )
    # Columns are looked up only where a table is not word for word as it is created now: that
    # lookup takes a fifth of the time of opening a file.
    wanted = schema.tables()
    is_as_created = all(statements.get(name) in (None, table.sql) for name, table in wanted.items())
    if version == SCHEMA_VERSION and (is_as_created or not _missing_columns(connection)):
        if not wanted.keys() <= statements.keys():
            connection.execute(schema.schema_sql())
        return connection
    connection.execute("CHECKPOINT")
    connection.close()
    # Never over an earlier copy.
    copy, n = path.with_name(f"{path.stem}.schema-{version}{path.suffix}"), 1
    while copy.exists():
        copy, n = path.with_name(f"{path.stem}.schema-{version}-{n}{path.suffix}"), n + 1
    whole_files.copy(path, copy)
    connection = connect()
    migrate(connection, version)
    return connection


def migrate(connection: DuckDBPyConnection, version: int) -> None:
    """Bring an open database of schema `version` to this one, in one transaction."""
    connection.execute("BEGIN")
    try:
        connection.execute(schema.schema_sql())
        for table, column, kind, default in _missing_columns(connection):
            words = f" DEFAULT {default}" if default else ""
            connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {kind}{words}')
        for step in range(version + 1, SCHEMA_VERSION + 1):
            for statement in STEPS[step]:
                connection.execute(statement)
        connection.execute(
            "UPDATE store_info SET value = $v WHERE key = 'schema'", {"v": str(SCHEMA_VERSION)}
        )
        connection.execute("COMMIT")
    except Exception:
        with suppress(Exception):  # a commit that failed has rolled back
            connection.execute("ROLLBACK")
        connection.close()
        raise


def _create(connection: DuckDBPyConnection) -> None:
    version = f"INSERT INTO store_info VALUES ('schema', '{SCHEMA_VERSION}') ON CONFLICT DO NOTHING"
    # One transaction: a commit per table takes half as much again, and waits for the disk.
    connection.execute(f"BEGIN;{schema.schema_sql()}\n;{version};COMMIT")


def _version(connection: DuckDBPyConnection, statements: Mapping[str, str]) -> int | None:
    """The schema number that the file says it has; None for an empty file."""
    if "store_info" not in statements:
        return None
    row = connection.execute("SELECT value FROM store_info WHERE key = 'schema'").fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else None


def _missing_columns(connection: DuckDBPyConnection) -> list[tuple[str, str, str, str | None]]:
    """(table, column, type, default) that schema.sql has and a table of the file lacks."""
    rows = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    existing_columns = {(table, column) for table, column in rows}
    old = {table for table, _ in existing_columns}
    missing = []
    for table in schema.tables().values():
        for column in table.columns if table.name in old else ():
            if (table.name, column.name) not in existing_columns:
                missing.append((table.name, column.name, column.kind, column.default))
    return missing
