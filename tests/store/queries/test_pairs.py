"""Each benchmark item has its latest control, and each control one benchmark item."""

import datetime as dt
import json

from flipcore.store.queries import pairs
from flipcore.store.rows import now

START = now()


def test_a_control_belongs_to_the_first_of_its_items_and_the_latest_pair_counts(store, monkeypatch):
    names = [("i", "x", 0), ("i", "y", 1), ("j", "y", 0), ("k", "z", 0), ("l", pairs.UNPAIRED, 1), ("l", "w", 0)]
    for number, (benchmark, control, minutes) in enumerate(names):
        row = {"benchmark_id": benchmark, "control_id": control, "how": json.dumps({"number": number})}
        row |= {"made_by": "Ada", "created_at": START + dt.timedelta(minutes=minutes)}
        store.writer.add("control_pairs", [row])
    store.writer.flush()
    found = pairs.control_pairs(store)
    assert found.control_of == {"i": "y", "k": "z"} and found.how_of == {"i": {"number": 1}, "k": {"number": 3}}
    monkeypatch.setattr(pairs, "lock_by_id", lambda store, study_id, lock: {"created_at": START + dt.timedelta(seconds=30)})
    assert pairs.control_pairs(store, "s", "lock").control_of == {"i": "x", "j": "y", "k": "z", "l": "w"}
