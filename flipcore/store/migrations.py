"""Migrate databases of earlier releases to the present schema, after copying them.

A column that schema.sql has and the file lacks is added with its default, so it needs no step here.
A change in the meaning of stored rows needs a numbered step. `SCHEMA_VERSION` is the number of the
last step. A file with a higher number is from a newer release, and is refused.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from duckdb import DuckDBPyConnection

from flipcore.core import whole_files
from flipcore.core.errors import BadInput
from flipcore.store import schema

SCHEMA_VERSION = 6

# Imports before schema 5 lost texts: of a sample that was followed by a later one of its item, and
# of one of two items with the same prompt. The readouts then name a call that does not exist, or
# that of another output. Deleting the mark of how far an import came makes it start again when the
# same files are imported.
_IMPORTED_STUDIES = (
    "SELECT study_id FROM studies WHERE 'import ' || study_id IN (SELECT key FROM store_info)"
)
_LOST_OUTPUTS = f"""
CREATE TEMP TABLE lost_outputs AS
WITH sources AS (
    SELECT DISTINCT study_id, model, item_id, variant_id, sample, position, call_id
        FROM readout_sources
    WHERE study_id IN ({_IMPORTED_STUDIES})
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
_MARK_LOST = """
UPDATE studies SET state = 'incomplete', message = printf(
    '%d of %d outputs have no text of their own: an earlier Flipscope lost texts at import. '
    || 'Import the same files again: they are read whole.', n_lost, n)
FROM lost_outputs l WHERE l.study_id = studies.study_id
"""
_UNDONE = (
    f"SELECT 'import ' || study_id FROM ({_IMPORTED_STUDIES}) JOIN studies USING (study_id) "
    "WHERE state <> 'done'"
)
_IMPORT_UNDONE_AGAIN = f"DELETE FROM store_info WHERE key IN ({_UNDONE})"

# These imports did not compare stored rows with the files either. Rows that were confused, as two
# equal questions might be, cannot be found by a query. So these imports start again, too.
_UNCOMPARED = (
    f"state = 'done' AND message NOT LIKE '%Read again%' AND study_id IN ({_IMPORTED_STUDIES})"
)
_MARK_UNCOMPARED = f"""
UPDATE studies SET message = message
    || ' An earlier Flipscope imported it and did not read the files again. Import the same files '
    || 'again: each output is then compared with what is stored.'
WHERE {_UNCOMPARED}
"""
_IMPORT_UNCOMPARED_AGAIN = (
    "DELETE FROM store_info WHERE key IN (SELECT 'import ' || study_id FROM studies "
    f"WHERE {_UNCOMPARED})"
)

# step -> statements that turn a file of the previous schema into one of this schema
STEPS: dict[int, tuple[str, ...]] = {
    2: (  # source documents were called seeds, which now means random seeds only
        """UPDATE holdout_versions
        SET results = replace(results::VARCHAR, '"p_seed"', '"p_source"')::JSON""",
    ),
    3: (  # the shipped reviewers are models
        (
            "UPDATE verdicts SET reviewer_kind = 'model' "
            "WHERE reviewer IN ('model-reviewer-a', 'model-reviewer-b')"
        ),
    ),
    # Packed readouts. The number keeps earlier releases away, which would not invalidate packs.
    4: (),
    5: (_LOST_OUTPUTS, _MARK_LOST, _IMPORT_UNDONE_AGAIN, "DROP TABLE lost_outputs"),
    6: (_MARK_UNCOMPARED, _IMPORT_UNCOMPARED_AGAIN),
}


def open_migrated(connect: Callable[[], DuckDBPyConnection], path: Path) -> DuckDBPyConnection:
    """Connect to a file, create its tables if it is new, and migrate it if it is older. An older
    file is copied first. Raises BadInput for a file of a newer release, and duckdb.Error for a file
    that is no database."""
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
    # Looking up columns takes a fifth of the time of opening a file. So do it only if the statement
    # of a table differs from the one that creates it now.
    declared_tables = schema.tables()
    is_as_created = all(
        statements.get(name) in (None, table.sql) for name, table in declared_tables.items()
    )
    if version == SCHEMA_VERSION and (is_as_created or not _missing_columns(connection)):
        if not declared_tables.keys() <= statements.keys():
            connection.execute(schema.schema_sql())
        return connection
    connection.execute("CHECKPOINT")
    connection.close()
    copy, n = path.with_name(f"{path.stem}.schema-{version}{path.suffix}"), 1
    # Never overwrite an earlier copy.
    while copy.exists():
        copy, n = path.with_name(f"{path.stem}.schema-{version}-{n}{path.suffix}"), n + 1
    whole_files.copy(path, copy)
    connection = connect()
    migrate(connection, version)
    return connection


def migrate(connection: DuckDBPyConnection, version: int) -> None:
    """Migrate an open database from schema `version` to the present one, in one transaction."""
    connection.execute("BEGIN")
    try:
        connection.execute(schema.schema_sql())
        for table, column, kind, default in _missing_columns(connection):
            clause = f" DEFAULT {default}" if default else ""
            connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {kind}{clause}')
        for step in range(version + 1, SCHEMA_VERSION + 1):
            for statement in STEPS[step]:
                connection.execute(statement)
        connection.execute(
            "UPDATE store_info SET value = $v WHERE key = 'schema'", {"v": str(SCHEMA_VERSION)}
        )
        connection.execute("COMMIT")
    except Exception:
        with suppress(Exception):  # a failed commit has been rolled back already
            connection.execute("ROLLBACK")
        connection.close()
        raise


def _create(connection: DuckDBPyConnection) -> None:
    version = f"INSERT INTO store_info VALUES ('schema', '{SCHEMA_VERSION}') ON CONFLICT DO NOTHING"
    # One transaction, because a commit per table takes half as long again and waits for the disk.
    connection.execute(f"BEGIN;{schema.schema_sql()}\n;{version};COMMIT")


def _version(connection: DuckDBPyConnection, statements: Mapping[str, str]) -> int | None:
    """Return the schema number in the file; None for an empty file."""
    if "store_info" not in statements:
        return None
    row = connection.execute("SELECT value FROM store_info WHERE key = 'schema'").fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else None


def _missing_columns(connection: DuckDBPyConnection) -> list[tuple[str, str, str, str | None]]:
    """Return (table, column, type, default) of columns in schema.sql that the file lacks."""
    rows = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    existing_columns = {(table, column) for table, column in rows}
    existing_tables = {table for table, _ in existing_columns}
    missing = []
    for table in schema.tables().values():
        for column in table.columns if table.name in existing_tables else ():
            if (table.name, column.name) not in existing_columns:
                missing.append((table.name, column.name, column.kind, column.default))
    return missing
