"""The tables of packed readouts (`flipcore.store.packing`), and how packs become invalid.

Packs are derived data, so they are in a schema of their own, which merge, export and migrations
ignore.
"""

from collections.abc import Collection
from contextlib import suppress

import duckdb
from duckdb import DuckDBPyConnection

from flipcore.core.records import digest

# Tables that packs are made from. Packs use other tables, too, whose rows never change.
SOURCES = ("readouts", "study_variants")
# A hash of this text tells the format of existing packs, so change it only with the format.
_TABLES = """
CREATE SCHEMA packed;
CREATE TABLE packed.shapes (shape TEXT);
CREATE TABLE packed.marks (
    study_id TEXT PRIMARY KEY, rule TEXT NOT NULL, token TEXT NOT NULL, n_readouts BIGINT NOT NULL,
    layouts TEXT[] NOT NULL, answers TEXT[] NOT NULL, reasons TEXT[] NOT NULL);
CREATE TABLE packed.rows (
    study_id TEXT, model TEXT, item_id TEXT,
    layout       INTEGER,                        -- the place in the mark's layouts
    variants     TEXT[], materials TEXT[],       -- a variant
    states       UTINYINT[],                     -- readout: place in STATUSES + 4 x in RIGHTS
    answers      INTEGER[],                      -- the place in the mark's answers; -1 for none
    reasons      INTEGER[],
    numbers      DOUBLE[], label_masses DOUBLE[] -- NULL where no readout of the row has one
);
"""


def prepare(connection: DuckDBPyConnection) -> None:
    """Create the tables of packs where they are missing; replace those of another format."""
    shape = digest(_TABLES)
    with suppress(duckdb.Error):  # the table is missing or has other columns
        if connection.execute("SELECT shape FROM packed.shapes").fetchall() == [(shape,)]:
            return
    connection.execute("DROP SCHEMA IF EXISTS packed CASCADE")
    connection.execute(_TABLES)
    connection.execute("INSERT INTO packed.shapes VALUES ($shape)", {"shape": shape})


def drop_marks(connection: DuckDBPyConnection, study_ids: Collection[str] | None) -> None:
    """Remove packs of these studies (None: of all), in the transaction that changes readouts."""
    if study_ids is None:
        marks = connection.execute("DELETE FROM packed.marks RETURNING study_id").fetchall()
    elif study_ids:
        sql = "DELETE FROM packed.marks WHERE study_id IN (SELECT unnest($ids)) RETURNING study_id"
        marks = connection.execute(sql, {"ids": sorted(study_ids)}).fetchall()
    else:
        return
    # Only studies with a mark have packs, and a run that writes every 100 ms should not search.
    for (study_id,) in marks:
        forget(connection, study_id)


def forget(connection: DuckDBPyConnection, study_id: str) -> None:
    """Remove all packs of a study, even if its mark is gone already."""
    for table in ("marks", "rows"):
        connection.execute(f"DELETE FROM packed.{table} WHERE study_id = $id", {"id": study_id})
