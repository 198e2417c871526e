"""The numbers of rewritten problems."""

import json

from flipcore.store.queries.memory import operands


def test_the_numbers_of_rewritten_items_stand_beside_those_that_they_replaced(store):
    variant = {"study_id": "s", "axis": "numeric_resample", "compared_with": "base", "position": 0}
    params = {
        "base": {"was": [9], "operands": [9]},
        "both": {"was": [1, 2], "operands": [3, 4.5]},
        "one": {"was": [1]},
        "none": {},
    }
    rows = [variant | {"item_id": "i", "variant_id": key, "key": key, "params": json.dumps(params[key])} for key in params]
    item = {"study_id": "s", "item_id": "i", "role": "target", "position": 0, "confirmatory": False}
    store.writer.add("study_variants", rows)
    store.writer.add("study_items", [item])
    store.writer.flush()
    assert sorted(operands(store, "s", "numeric_resample")) == [(1.0, 3.0), (2.0, 4.5)]
    assert operands(store, "s", "identity") == [] == operands(store, "t", "numeric_resample")
