"""Keys by which an item is known as a question under any id, so that what one study sets aside is
not read in another file of the same questions.

Two items ask the same where question and options are the same but for case, spaces and the order of
the options; where one of them stands there without its options; and where the question of one is
the whole prompt of the other. Keys are derived, so they stand in a schema of their own, and whoever
writes items has them filled in: no file says its own.
"""

from collections.abc import Collection
from contextlib import suppress

import duckdb
from duckdb import DuckDBPyConnection

SOURCES = ("items", "study_variants")
TABLES = (*SOURCES, "variants")  # whose rows tell of which items keys may be missing
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
# Of a batch of an import, what was there before need not be looked at again: with all of it in each
# batch, an import of a million items looked at more than a hundred million.
_AMONG = "IN (SELECT unnest($item_ids))"
_ITEMS = f"""
INSERT INTO questions.keys
WITH new AS (SELECT i.item_id, {_plain("i.question")} AS question, {_OPTIONS} AS options,
    len(i.options) AS n
             FROM main.items i ANTI JOIN (SELECT item_id FROM questions.keys
                 WHERE variant_id = '') k USING (item_id) {{of_items}})
SELECT item_id, md5(if(n = 0, question, question || chr(31) || options)), true, '' FROM new
UNION ALL SELECT item_id, md5(question), false, '' FROM new WHERE n > 0
"""
_PROMPTS = f"""
INSERT INTO questions.keys
SELECT v.item_id, md5({_plain("array_to_string((w.parts->>'$[*][1]')::VARCHAR[], '')")}), false,
    v.variant_id
FROM (SELECT DISTINCT i.item_id, i.variant_id FROM
    (FROM main.study_variants WHERE key = 'base') i {{of_items}}) v
ANTI JOIN questions.keys k USING (item_id, variant_id) JOIN main.variants w USING (variant_id)
"""

_TWINS = """
INSERT INTO questions.twins
WITH new AS (FROM questions.keys i {of_items}),
found AS (SELECT a.item_id, b.item_id AS twin FROM new a JOIN questions.keys b ON a.key = b.key
    AND (a.is_own OR b.is_own))
(SELECT item_id, twin FROM found UNION SELECT twin, item_id FROM found)
EXCEPT SELECT item_id, twin FROM questions.twins {known}
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


def fill(connection: DuckDBPyConnection, item_ids: Collection[str] | None = None) -> None:
    """Fill in keys of items and base prompts that have none, in the transaction that writes them:
    of these items, or of all."""
    of_items, of_pairs, params = "", "", {}
    if item_ids is not None:
        of_items = f"WHERE i.item_id {_AMONG}"
        of_pairs = f"WHERE item_id {_AMONG} OR twin {_AMONG}"
        params = {"item_ids": list(item_ids)}
    n = 0
    for sql in (_ITEMS, _PROMPTS):
        ((n_new,),) = connection.execute(sql.format(of_items=of_items), params).fetchall()
        n += n_new
    if n:
        connection.execute(_TWINS.format(of_items=of_items, known=of_pairs), params)
