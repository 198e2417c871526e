"""Keys that identify the same question under several item ids.

They keep a question that one study sets aside hidden in other studies, too. Two items ask the same
question if

- question and options agree, except for case, spaces and the order of options;
- the questions agree and one of the items has no options;
- the question of one is the whole prompt of the other.

Keys are derived data in a schema of their own. The writer computes them for all new items, so no
merged file can bring its own.
"""

from collections.abc import Collection
from contextlib import suppress

import duckdb
import pyarrow
from duckdb import DuckDBPyConnection

SOURCES = ("items", "study_variants")
TABLES = ("items", "variants", "study_variants")  # their rows name items whose keys may be missing
_TABLES = """
CREATE SCHEMA questions;
CREATE TABLE questions.keys (
    item_id TEXT, key TEXT,
    is_own     BOOLEAN,     -- the item's own key; others find its question in another form
    variant_id TEXT         -- whose prompt it is; '' for the item itself
);
CREATE TABLE questions.twins (item_id TEXT, twin TEXT);  -- all ids of the same question
"""


def _normalized(text: str) -> str:
    # A single space stays as it is, because replacing each one takes twice as long.
    return f"lower(trim(regexp_replace({text}, '\\s\\s+|[^\\S ]', ' ', 'g')))"


_OPTIONS = f"list_sort([{_normalized('o')} for o in i.options])::VARCHAR"
_PROMPT = _normalized("array_to_string((w.parts->>'$[*][1]')::VARCHAR[], '')")
# The tables of items, variants and study_variants are named by the caller, because to search the
# stored ones for each batch of a million items takes longer than to make their keys.
_MAKE_NEW = f"""
CREATE TEMP TABLE new_keys AS
WITH present AS {{present}},
new AS (SELECT i.item_id, {_normalized("i.question")} AS question, {_OPTIONS} AS options,
    len(i.options) AS n
        FROM {{items}} i ANTI JOIN (FROM present WHERE variant_id = '') USING (item_id)),
prompts AS (SELECT DISTINCT item_id, variant_id FROM {{study_variants}} WHERE key = 'base')
SELECT item_id, md5(if(n = 0, question, question || chr(31) || options)) AS key, true AS is_own,
    '' AS variant_id FROM new
UNION ALL SELECT item_id, md5(question), false, '' FROM new WHERE n > 0
UNION ALL SELECT v.item_id, md5({_PROMPT}), false, v.variant_id
    FROM prompts v ANTI JOIN present USING (item_id, variant_id)
    JOIN {{variants}} w USING (variant_id)
"""
# Both orders of a pair are stored or neither is, so only one of them is looked for.
_ADD_TWINS = """
INSERT INTO questions.twins
WITH pairs AS (SELECT a.item_id, b.item_id AS twin FROM new_keys a JOIN questions.keys b
    ON a.key = b.key AND (a.is_own OR b.is_own)),
new AS (FROM pairs EXCEPT FROM questions.twins SEMI JOIN new_keys USING (item_id))
FROM new UNION SELECT twin, item_id FROM new
"""


def prepare(connection: DuckDBPyConnection) -> None:
    """Create the tables where they are missing, and add keys that are missing."""
    with suppress(duckdb.CatalogException):
        connection.execute(_TABLES)
    # For an empty file, this query takes a tenth of the time of `add_missing_keys`.
    if connection.execute(
        "SELECT EXISTS (FROM main.items) OR EXISTS (FROM main.study_variants)"
    ).fetchall()[0][0]:
        add_missing_keys(connection)


def add_missing_keys(
    connection: DuckDBPyConnection, item_ids: Collection[str] | None = None
) -> None:
    """Add missing keys of these items and base prompts (None: of all), in their transaction."""
    if item_ids is not None and not item_ids:
        return
    item_filter = "" if item_ids is None else "WHERE item_id IN (SELECT unnest($item_ids))"
    # All keys together may need more memory than an import leaves.
    present = "NOT MATERIALIZED" if item_ids is None else ""
    sql = _MAKE_NEW.format(
        present=f"{present} (FROM questions.keys {item_filter})",
        items=f"(FROM main.items {item_filter})",
        study_variants=f"(FROM main.study_variants {item_filter})",
        variants="main.variants",
    )
    connection.execute(sql, {} if item_ids is None else {"item_ids": list(item_ids)})
    _add_new(connection)


def add_keys_of_batch(
    connection: DuckDBPyConnection,
    batch_items: pyarrow.Table,
    batch_variants: pyarrow.Table,
    batch_study_variants: pyarrow.Table,
) -> None:
    """Add missing keys of items and of all their variants, in the transaction that stores them."""
    # DuckDB finds the tables by the names of the arguments.
    sql = _MAKE_NEW.format(
        present="(FROM questions.keys SEMI JOIN batch_items USING (item_id))",
        items="batch_items",
        study_variants="batch_study_variants",
        variants="batch_variants",
    )
    connection.execute(sql)
    _add_new(connection)


def _add_new(connection: DuckDBPyConnection) -> None:
    ((n_new,),) = connection.execute("INSERT INTO questions.keys FROM new_keys").fetchall()
    if n_new:
        connection.execute(_ADD_TWINS)
    connection.execute("DROP TABLE new_keys")
