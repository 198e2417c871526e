"""The tables of packed readouts (`flipcore.store.packing`): the tables, and the one rule that
takes a mark away.

Packs are derived, so they stand in a schema of their own: no merge, export or migration knows of
them.
"""

from collections.abc import Collection
from contextlib import suppress

import duckdb
from duckdb import DuckDBPyConnection

from flipcore.core.records import digest

# Tables whose rows packs are made from; the others that they need never change a row.
SOURCES = ("readouts", "study_variants")
# The hash of this text says which release made the packs, so the text stays as it is.
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
    """Make the tables of packs where they are missing; drop those of another format."""
    shape = digest(_TABLES)
    with suppress(duckdb.Error):  # no such table, or one of another kind
        if connection.execute("SELECT shape FROM packed.shapes").fetchall() == [(shape,)]:
            return
    connection.execute("DROP SCHEMA IF EXISTS packed CASCADE")
    connection.execute(_TABLES)
    connection.execute("INSERT INTO packed.shapes VALUES ($shape)", {"shape": shape})


def drop_marks(connection: DuckDBPyConnection, study_ids: Collection[str] | None) -> None:
    """Remove the packs of these studies (None: of all), which hold no longer; called in the
    transaction that changes their readouts."""
    if study_ids is None:
        marks = connection.execute("DELETE FROM packed.marks RETURNING study_id").fetchall()
    elif study_ids:
        sql = "DELETE FROM packed.marks WHERE study_id IN (SELECT unnest($ids)) RETURNING study_id"
        marks = connection.execute(sql, {"ids": sorted(study_ids)}).fetchall()
    else:
        return
    # Only then: a run that writes every 100 ms need not look for rows that are not there.
    for (study_id,) in marks:
        forget(connection, study_id)


def forget(connection: DuckDBPyConnection, study_id: str) -> None:
    """Remove what is packed of a study, also where its mark is gone already."""
    for table in ("marks", "rows"):
        connection.execute(f"DELETE FROM packed.{table} WHERE study_id = $id", {"id": study_id})
