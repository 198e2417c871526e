"""How far an import came, in which order its rows stand, and its bases under every axis."""

import pyarrow as pa
import pytest

from flipcore.store import recorded
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow


def execute(store, *statements) -> None:
    def act(connection):
        for sql in statements:
            connection.execute(sql)

    store.writer.transact(act, changes=()).result(30)


def test_an_import_counts_its_rows_while_its_study_is_there_and_keeps_the_order_of_its_file(store):
    calls = {"study_calls": columns_as_arrow(tables()["study_calls"], {"study_id": ["s"], "call_id": ["c"]})}
    recorded.store_columns(store, "s", calls, 7, has_own_order=False).result(30)
    assert recorded.import_mark(store, "s") == 0 and not recorded.is_in_file_order(store, "s")
    execute(store, "INSERT INTO studies VALUES ('s', '', '', '', 'done', 'well', 0, now(), now(), now(), '[]', '')")
    assert recorded.import_mark(store, "s") == 7 and recorded.import_state(store, "s") == ("done", "well")
    recorded.store_columns(store, "s", {}, 9, has_own_order=True).result(30)
    assert recorded.import_mark(store, "s") == 9 and recorded.is_in_file_order(store, "s")
    assert recorded.import_mark(store, "t") == 0 and not recorded.is_in_file_order(store, "t")
    assert store.rows("SELECT study_id, call_id FROM study_calls") == [("s", "c")]


VARIANT = "INSERT INTO study_variants VALUES ('s', '{}', '{}', '{}', '{}', 0, 'base', NULL, '{{}}')"
READOUT = (
    "INSERT INTO readouts VALUES ('s', 'm', '{}', 'own', '{}', 0, 'regex', 'ok', 'A', NULL, true, NULL, NULL, '', '[]', NULL)"
)
SOURCE = "INSERT INTO readout_sources VALUES ('s', 'm', 'i', 'own', 'v', 0, 'regex', 0, 'c')"


@pytest.mark.parametrize("axes", [(), ("order",), ("order", "format")])
def test_the_own_prompt_is_the_base_of_every_axis_on_which_its_item_varies(store, axes):
    """Item j does not vary, and w is no base."""
    execute(
        store,
        *(VARIANT.format(*row) for row in (("i", "own", "v", "base"), ("j", "own", "u", "base"), ("i", "own", "w", "other"))),
        *(VARIANT.format("i", axis, f"of {axis}", "rotate-1") for axis in axes),
        *(READOUT.format(*row) for row in (("i", "v"), ("j", "u"), ("i", "w"))),
        SOURCE,
    )
    before = store.rows("SELECT item_id, axis, variant_id FROM study_variants ORDER BY ALL")
    for _ in range(2):  # a second time changes nothing
        recorded.copy_bases(store, "s", "own")
        added = [("i", axis, "v") for axis in axes]
        assert store.rows("SELECT item_id, axis, variant_id FROM study_variants ORDER BY ALL") == sorted([*before, *added])
        for table in ("readouts", "readout_sources"):
            found = store.rows(f"SELECT item_id, axis, variant_id FROM {table} WHERE axis <> 'own' ORDER BY ALL")
            assert found == sorted(added)
    sources = recorded.sources_of(store, "s", ["i", "j"])
    assert sources == {("m", "i", axis, "v", 0, "regex"): ("c",) for axis in ("own", *axes)}


def completions(**columns):
    columns = {"status": ["ok"], "text": ["t"], "reasoning": [None], "tokens": [None]} | columns
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def test_sums_count_what_was_handed_over(store):
    sums = recorded.Sums()
    sums.add({}, n_calls=2, n_sources=3)
    assert (sums.n_calls, sums.n_sources, sums.output_sum, sums.source_sum) == (2, 3, 0, 0)
    sums.add({"completions": completions(call_id=["c"])}, n_calls=1, n_sources=0)
    once = sums.output_sum
    sums.add({"completions": completions(call_id=["c"])}, n_calls=4, n_sources=5)
    assert (sums.n_calls, sums.n_sources, sums.source_sum) == (7, 8, 0) and sums.output_sum == 2 * once > 0
    other = recorded.Sums()
    other.add({"completions": completions(call_id=["c"], text=["u"])}, n_calls=1, n_sources=0)
    assert other.output_sum != once
    assert recorded.Sums().agree(store, "s") and not sums.agree(store, "s")


def test_calls_of_a_model_are_counted_except_those_named(store):
    rows = [("a", "m", "ok"), ("b", "m", "failed"), ("c", "m", "failed"), ("d", "n", "failed"), ("e", "n", "failed")]
    values = "('{0}', '{1}', 'r', false, '{{}}', 0, NULL, '{2}', '', '', 1, '', '', now())"
    names = "call_id, model, revision, simulated, request, sample, parent_id, status, text, finish_reason, n_attempts, error"
    execute(
        store,
        f"INSERT INTO completions ({names}, raw_reply, created_at) VALUES {', '.join(values.format(*row) for row in rows)}",
        "INSERT INTO study_calls SELECT 's', call_id FROM completions",
    )
    assert recorded.other_calls(store, "s", ["m"], ["b"]) == (2, 1)
    assert recorded.other_calls(store, "s", ["m", "n"], []) == (5, 4)
    assert recorded.other_calls(store, "t", ["m", "n"], []) == (0, 0)
    assert set(recorded.completions_at(store, ["a", "d", "x"])) == {"a", "d"}
