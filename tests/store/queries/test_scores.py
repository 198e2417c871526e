"""Scores of a recorded study, from rows that no import wrote."""

import pandas as pd

from flipcore.core.records import Item
from flipcore.store.queries.scores import with_failed_calls
from flipcore.store.rows import item_row

ITEMS = [Item.make(dataset="d", key=key, kind="number", question=f"{key}?", target="1") for key in ("read", "failed")]


def test_failed_calls_are_known_where_one_model_was_asked(store):
    """Of several models an item may never have been asked of one."""
    read, failed = (item.item_id for item in ITEMS)
    placed = {"study_id": "s", "role": "benchmark", "confirmatory": False}
    items = [placed | {"item_id": item.item_id, "position": place} for place, item in enumerate(ITEMS)]
    store.writer.add_together([("items", [item_row(item) for item in ITEMS]), ("study_items", items)]).result()
    sql = (
        f"INSERT INTO readouts VALUES ('s', 'm', '{read}', 'x', 'v', 0, 'r', 'ok', 'A', NULL, true, NULL, NULL, '', '[]', NULL)"
    )
    store.writer.transact(lambda connection: connection.execute(sql), changes=()).result()
    row = {
        "item_id": read,
        "role": "benchmark",
        "sample": 0,
        "extractor": "r",
        "score": 1.0,
        "family": "f",
        "has_versions": False,
    }
    for models, n_failed in (("", 0), ("m", 1), ("mn", 0)):
        frame = pd.DataFrame([{"model": model} | row for model in models], columns=["model", *row])
        with_failed = with_failed_calls(frame, store, "s")
        assert list(with_failed) == list(frame) and with_failed["score"].isna().sum() == n_failed
        assert with_failed["model"].tolist() == [*models, *["m"] * n_failed]
        assert with_failed["item_id"].tolist() == [read] * len(models) + [failed] * n_failed
        assert with_failed.index.is_unique  # columns that are made of it line up by row
        assert (with_failed["sample"] == 0).all()  # its only run; a second one would count as an epoch of its own
