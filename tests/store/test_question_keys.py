"""Keys of questions: filled in by batch, they are those of all at once."""

import pytest

from flipcore.core.records import Item, Prompt, Variant
from flipcore.store import questions, recorded, rows
from flipcore.store.connection import Store
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow

TABLES = ("keys", "twins")


def _rows(number: int) -> dict[str, list[dict]]:
    """One item; every third asks what the one before it asks, and some are asked without options."""
    question = f"Which metal is number {number // 3}?"
    options = ("tin", "iron") if number % 3 else ()
    item = Item.make(dataset="made", key=str(number), kind="choice", question=question, options=options)
    prompt = Prompt((("stem", question if number % 2 else f"{question} {options}"),))
    variant = Variant(item.item_id, "identity", "base", prompt, None)
    return {
        "items": [rows.item_row(item)],
        "variants": [rows.variant_row(variant)],
        "study_variants": rows.study_variant_rows("s", [variant]),
    }


def _stored(store: Store) -> dict[str, list[tuple]]:
    return {name: sorted(store.rows(f"FROM questions.{name}")) for name in TABLES}


def test_keys_of_imported_batches_are_those_of_all_items_at_once(store):
    for first in (0, 3, 4, 9):  # each batch holds items of the one before it
        columns: dict[str, list[dict]] = {}
        for number in range(first, first + 6):
            for name, table_rows in _rows(number).items():
                columns.setdefault(name, []).extend(table_rows)
        batch = {}
        for name, table_rows in columns.items():
            cells = {column: [row[column] for row in table_rows] for column in table_rows[0]}
            batch[name] = columns_as_arrow(tables()[name], cells)
        recorded.store_columns(store, "s", batch, first, has_own_order=False).result(30)
    by_batch = _stored(store)
    for name in TABLES:
        store.writer.transact(
            lambda connection, name=name: connection.execute(f"DELETE FROM questions.{name}"), changes=()
        ).result(30)
    store.writer.transact(questions.add_missing_keys, changes=()).result(30)
    assert len(by_batch["keys"]) > 15 and len(by_batch["twins"]) > 15
    assert _stored(store) == by_batch


@pytest.mark.slow
def test_keys_of_batches_are_those_of_all_items_at_once():
    store = Store.open(":memory:")
    try:
        for number in range(12):
            store.writer.add_together(_rows(number).items()).result()
        by_batch = _stored(store)

        def fill_again(connection):
            for name in TABLES:
                connection.execute(f"DELETE FROM questions.{name}")
            questions.add_missing_keys(connection)

        store.writer.transact(fill_again, changes=()).result()
        assert len(by_batch["twins"]) > 12
        assert _stored(store) == by_batch
    finally:
        store.close()
