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
from duckdb import DuckDBPyConnection

SOURCES = ("items", "study_variants")
TABLES = (*SOURCES, "variants")  # their rows name items whose keys may be missing
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
# Limits a query to the items of the present batch. Otherwise an import of a million items would
# look at more than a hundred million.
_IS_GIVEN_ITEM = "IN (SELECT unnest($item_ids))"
_ITEMS = f"""
INSERT INTO questions.keys
WITH new AS (SELECT i.item_id, {_normalized("i.question")} AS question, {_OPTIONS} AS options,
    len(i.options) AS n
             FROM main.items i ANTI JOIN (SELECT item_id FROM questions.keys
                 WHERE variant_id = '') k USING (item_id) {{only_items}})
SELECT item_id, md5(if(n = 0, question, question || chr(31) || options)), true, '' FROM new
UNION ALL SELECT item_id, md5(question), false, '' FROM new WHERE n > 0
"""
_PROMPTS = f"""
INSERT INTO questions.keys
SELECT v.item_id, md5({_normalized("array_to_string((w.parts->>'$[*][1]')::VARCHAR[], '')")}),
    false, v.variant_id
FROM (SELECT DISTINCT i.item_id, i.variant_id FROM
    (FROM main.study_variants WHERE key = 'base') i {{only_items}}) v
ANTI JOIN questions.keys k USING (item_id, variant_id) JOIN main.variants w USING (variant_id)
"""

_TWINS = """
INSERT INTO questions.twins
WITH new AS (FROM questions.keys i {only_items}),
found AS (SELECT a.item_id, b.item_id AS twin FROM new a JOIN questions.keys b ON a.key = b.key
    AND (a.is_own OR b.is_own))
(SELECT item_id, twin FROM found UNION SELECT twin, item_id FROM found)
EXCEPT SELECT item_id, twin FROM questions.twins {only_pairs}
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
    only_items, only_pairs, params = "", "", {}
    if item_ids is not None:
        only_items = f"WHERE i.item_id {_IS_GIVEN_ITEM}"
        only_pairs = f"WHERE item_id {_IS_GIVEN_ITEM} OR twin {_IS_GIVEN_ITEM}"
        params = {"item_ids": list(item_ids)}
    n_added = 0
    for sql in (_ITEMS, _PROMPTS):
        ((n_new,),) = connection.execute(sql.format(only_items=only_items), params).fetchall()
        n_added += n_new
    if n_added:
        connection.execute(_TWINS.format(only_items=only_items, only_pairs=only_pairs), params)
