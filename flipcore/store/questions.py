"""Keys by which an item is known as a question under any id, so that what one study sets aside is
not read in another file of the same questions.

Two items ask the same where question and options are the same but for case, spaces and the order of
the options; where one of them stands there without its options; and where the question of one is
the whole prompt of the other. Keys are derived, so they stand in a schema of their own, and whoever
writes items has them filled in: no file says its own.
"""

from contextlib import suppress

import duckdb
from duckdb import DuckDBPyConnection

SOURCES = ("items", "study_variants")
_TABLES = """
CREATE SCHEMA questions;
CREATE TABLE questions.keys (
    item_id TEXT, key TEXT,
    is_own     BOOLEAN,     -- the item's own; the others stand for the same question told otherwise
    variant_id TEXT         -- whose prompt it is; '' for the item itself
);
CREATE TABLE questions.twins (item_id TEXT, twin TEXT);  -- each id of its question, its own too
"""


def _plain(text: str) -> str:
    return f"lower(trim(regexp_replace({text}, '\\s+', ' ', 'g')))"


_OPTIONS = f"list_sort([{_plain('o')} for o in i.options])::VARCHAR"
_ITEMS = f"""
INSERT INTO questions.keys
WITH new AS (SELECT i.item_id, {_plain("i.question")} AS question, {_OPTIONS} AS options,
    len(i.options) AS n
             FROM main.items i ANTI JOIN (SELECT item_id FROM questions.keys
                 WHERE variant_id = '') k USING (item_id))
SELECT item_id, md5(if(n = 0, question, question || chr(31) || options)), true, '' FROM new
UNION ALL SELECT item_id, md5(question), false, '' FROM new WHERE n > 0
"""
_PROMPTS = f"""
INSERT INTO questions.keys
SELECT v.item_id, md5({_plain("array_to_string((w.parts->>'$[*][1]')::VARCHAR[], '')")}), false,
    v.variant_id
FROM (SELECT DISTINCT item_id, variant_id FROM main.study_variants WHERE key = 'base') v
ANTI JOIN questions.keys k USING (item_id, variant_id) JOIN main.variants w USING (variant_id)
"""

_TWINS = """
INSERT INTO questions.twins
SELECT DISTINCT a.item_id, b.item_id FROM questions.keys a JOIN questions.keys b ON a.key = b.key
    AND (a.is_own OR b.is_own)
EXCEPT SELECT item_id, twin FROM questions.twins
"""


def prepare(connection: DuckDBPyConnection) -> None:
    """Make the table where it is not there yet, and fills in what an earlier release or another
    program left out."""
    with suppress(duckdb.CatalogException):
        connection.execute(_TABLES)
    # A look at an empty file takes a tenth of the time of filling in nothing.
    if connection.execute(
        "SELECT EXISTS (FROM main.items) OR EXISTS (FROM main.study_variants)"
    ).fetchall()[0][0]:
        fill(connection)


def fill(connection: DuckDBPyConnection) -> None:
    """Fill in keys of items and base prompts that have none, in the transaction that writes
    them."""
    n = sum(connection.execute(sql).fetchall()[0][0] for sql in (_ITEMS, _PROMPTS))
    if n:
        connection.execute(_TWINS)
