"""What a file from elsewhere says of itself is checked before it comes in: an id is the hash of what it names, a row has its study.

What does not hold is skipped and counted with its reason; the rest comes in.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.records import Request, digest
from flipcore.core.study import Study
from flipcore.store.schema import Table

_BATCH = 5_000
_ELSEWHERE = "their study is neither here nor in that file"
_NOWHERE = "they point to no item, variant or completion of their study"
_OTHER_CALL = "their id is not the hash of their call, so they answer another one"
_OTHER_STUDY = "their id is not the hash of their declaration"
_OWN_BUDGET = "the study is here, and its budget is set here"

OF_A_PLACE = ("acts", "invitations", "invitation_events")  # tables whose rows say from which file they came

Skipped = Counter[tuple[str, str]]


def drop_untrue(connection, table_by_name: Mapping[str, Table], there: set[str], skipped: Skipped, file: str) -> None:
    """Removes from the temporary tables what is not what its id says, and rows of studies that nobody declared."""
    if "completions" in there:
        columns = [row[0] for row in connection.execute("DESCRIBE theirs_completions").fetchall()]
        parent = "parent_id" if "parent_id" in columns else "NULL"
        failing = _failing(connection, _unproven_calls(parent), _is_call)
        _drop_where(connection, "completions", "call_id", failing, skipped, _OTHER_CALL)
    if "studies" in there:
        _drop_where(
            connection,
            "studies",
            "study_id",
            _failing(connection, "SELECT study_id, toml FROM theirs_studies", _is_study),
            skipped,
            _OTHER_STUDY,
        )
    declared = "SELECT study_id FROM main.studies"
    if "studies" in there:
        declared += " UNION SELECT study_id FROM theirs_studies"
    for name in sorted(there - {"studies"}):
        if "study_id" in table_by_name[name].key:  # what has a key of its own outlives its study: purchases, locks, decisions
            _drop(connection, name, f"study_id NOT IN ({declared})", skipped, _ELSEWHERE)
    if "verdicts" in there:  # how its pairs were drawn is not for a file to say
        connection.execute("ALTER TABLE theirs_verdicts ADD COLUMN IF NOT EXISTS by_choice BOOLEAN")
        connection.execute("UPDATE theirs_verdicts SET by_choice = true")
    for name in there & set(OF_A_PLACE):  # who did what there is not told as if it was done here
        had = "origin" in [row[0] for row in connection.execute(f"DESCRIBE theirs_{name}").fetchall()]
        connection.execute(f"ALTER TABLE theirs_{name} ADD COLUMN IF NOT EXISTS origin TEXT")
        before = "CASE WHEN coalesce(origin, '') = '' THEN '' ELSE ' < ' || origin END" if had else "''"
        connection.execute(f"UPDATE theirs_{name} SET origin = $file || {before}", {"file": file})
    if "acts" in there:  # and stands in no chain of this file
        for column in ("number", "link"):
            connection.execute(f"ALTER TABLE theirs_acts DROP COLUMN IF EXISTS {column}")
    if "budgets" in there:
        _drop(connection, "budgets", "study_id IN (SELECT study_id FROM main.studies)", skipped, _OWN_BUDGET)


def drop_dangling(connection, skipped: Skipped) -> None:
    """Removes readouts whose item or variant is not in their study, or that name no completion that they were read from; called
    when everything else is in. An absent readout was read from nothing."""
    key = "study_id, model, item_id, axis, variant_id, sample, extractor"
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE dangling AS SELECT {key} FROM theirs_readouts r
        WHERE NOT EXISTS (SELECT 1 FROM main.study_items i JOIN main.items q USING (item_id)
                          WHERE i.study_id = r.study_id AND i.item_id = r.item_id)
           OR NOT EXISTS (SELECT 1 FROM main.study_variants v JOIN main.variants w USING (variant_id)
                          WHERE (v.study_id, v.item_id, v.axis, v.variant_id) = (r.study_id, r.item_id, r.axis, r.variant_id))
           OR r.status <> 'absent' AND NOT EXISTS (SELECT 1 FROM theirs_readout_sources s
                          WHERE (s.study_id, s.model, s.item_id, s.axis, s.variant_id, s.sample, s.extractor)
                              = (r.study_id, r.model, r.item_id, r.axis, r.variant_id, r.sample, r.extractor))"""
    )
    _drop(connection, "readouts", f"({key}) IN (SELECT ({key}) FROM dangling)", skipped, _NOWHERE)
    connection.execute(f"DELETE FROM theirs_readout_sources WHERE ({key}) NOT IN (SELECT ({key}) FROM theirs_readouts)")
    connection.execute("DROP TABLE temp.dangling")


def _unproven_calls(parent: str) -> str:
    """The query of calls of which SQL cannot say that their id is their hash: `digest` over the same text, put together from the
    columns. None that `_is_call` refuses is proven, because a request with a field twice, an unknown one or an object in it is left
    to that; so is what the two write in other characters, such as 1e-05."""
    names = sorted(one.name for one in fields(Request))
    values = {name: f"(field[{i}]::VARCHAR)" for i, name in enumerate(names, 1)}
    request = ", ".join(f"""'"{name}":' || {value}""" for name, value in values.items())
    return f"""
        WITH calls AS (
            SELECT call_id, model, revision, request, sample, {parent}::VARCHAR AS parent,
                   json_extract(request, {[f"$.{name}" for name in names]}) AS field, len(json_keys(request)) AS n_keys
            FROM theirs_completions)
        SELECT call_id, model, revision, request::VARCHAR, sample, parent FROM calls
        WHERE n_keys = 0 OR n_keys <> {" + ".join(f"({value} IS NOT NULL)::INT" for value in values.values())}
           OR {" OR ".join(f"coalesce({value}[1] IN ('[', '{{') AND contains({value}, '{{'), false)" for value in values.values())}
           OR call_id <> substr(sha256('[' || to_json(model) || ',' || to_json(revision) || ',{{' || concat_ws(',', {request}) || '}},'
                || sample || ',' || coalesce(to_json(parent)::VARCHAR, 'null') || ']'), 1, 20)"""


def _is_call(row: tuple) -> bool:
    call_id, model, revision, text, sample, parent_id = row
    try:
        request = json.loads(text)
        return isinstance(request, dict) and call_id == digest(model, revision, request, sample, parent_id)
    except (ValueError, RecursionError):
        return False


def _is_study(row: tuple) -> bool:
    """A declaration that this version cannot read is shown as such; nobody can tell its id."""
    study_id, toml = row
    try:
        return study_id == Study.from_toml(toml).study_id
    except BadInput:
        return True


def _failing(connection, sql: str, holds: Callable[[tuple], bool]) -> Iterator[str]:
    """The ids, in the first column, of rows that do not hold."""
    rows = connection.execute(sql)
    while batch := rows.fetchmany(_BATCH):
        yield from (row[0] for row in batch if not holds(row))


def _drop_where(connection, table: str, column: str, ids: Iterator[str], skipped: Skipped, why: str) -> None:
    if wrong := list(ids):
        _drop(connection, table, f"{column} IN (SELECT unnest($ids))", skipped, why, {"ids": wrong})


def _drop(connection, table: str, where: str, skipped: Skipped, why: str, params: dict[str, Any] | None = None) -> None:
    before = connection.execute(f"SELECT count(*) FROM theirs_{table}").fetchall()[0][0]
    connection.execute(f"DELETE FROM theirs_{table} WHERE {where}", params)
    skipped[table, why] += before - connection.execute(f"SELECT count(*) FROM theirs_{table}").fetchall()[0][0]
