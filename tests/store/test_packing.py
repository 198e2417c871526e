"""Packed readouts: the same frame as from the readouts themselves, and none whenever these may have changed, whoever changed them."""

import json
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import demo, runner
from flipcore.store import packing, rows
from flipcore.store.archiving import archive, back_up, restore
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.merge import merge
from flipcore.store.queries import judgements, locks, studies
from tests.store.queries.test_readout_rows import shuffled
from tests.stores import store_with

TYPOS = (
    "INSERT INTO paraphrases VALUES ('typos', 'd', 'i', 'o', 'p', 'g', now(), 'typos')",
    "UPDATE study_variants SET material_id = 'typos' WHERE axis = 'prompt_format' AND key <> 'base'",
)
ACCEPTED = (
    """INSERT INTO verdicts (verdict_id, pair_id, reviewer, meaning, note, original_hash, paraphrase_hash, rule_version, created_at)
       VALUES ('v', 'typos', 'Ada', 'yes', '', '', '', 'majority-1', now())""",
)
STUDY = Study(
    "packed",
    (ItemSource("flipscope_choice", n=9), ItemSource("flipscope_problems", role="control", n=5)),
    (
        Part("identity"),
        Part("option_order", {"n": 3}),
        Part("prompt_format"),
        Part("paraphrase", {"unreviewed": True}),
        Part("numeric_resample"),
    ),
    (Part("first_token"), Part("regex"), Part("answer_loss")),
    (ModelUse("simulated-artifact-prone", n_samples=2), ModelUse("simulated-noisy", n_samples=2)),
    confirmatory_share=0.3,
)
S = STUDY.study_id
SMALL = Study(
    "small",
    (ItemSource("flipscope_choice", n=3), ItemSource("flipscope_problems", n=2)),
    (Part("identity"), Part("option_order", {"n": 2})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-artifact-prone", n_samples=2),),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    path = tmp_path_factory.mktemp("packs") / "flips.duckdb"
    store = Store.open(path)
    demo.fill_store(store)
    assert runner.run(STUDY, store).state == "done"
    store.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    (tmp_path / "flips.duckdb").write_bytes(filled.read_bytes())
    held = Store.open(tmp_path / "flips.duckdb")
    yield held
    held.close()


@pytest.fixture(scope="module")
def filled_with_little(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("small"), SMALL)


@pytest.fixture
def small(filled_with_little, tmp_path):
    (tmp_path / "flips.duckdb").write_bytes(filled_with_little.read_bytes())
    with closing(Store.open(tmp_path / "flips.duckdb")) as opened:
        yield opened


def execute(store, sql: str, **params) -> None:
    store.writer.transact(lambda connection: connection.execute(sql, params or None)).result(30)


def unpacked(store, **scope) -> pd.DataFrame:
    """The frame as the readouts themselves give it: its mark is away meanwhile."""
    assert packing.is_packed(store, S)
    kept = store.frame("SELECT * FROM packed.marks")
    execute(store, "DELETE FROM packed.marks")
    frame = studies.readouts(store, S, **scope)

    def put_back(connection) -> None:
        connection.register("kept", kept)
        connection.execute("INSERT INTO packed.marks SELECT * FROM kept")

    store.writer.transact(put_back, changes=()).result(30)
    return frame


def same(store, **scope) -> int:
    """How many rows both ways give, and that they are the same."""
    frame = studies.readouts(store, S, **scope)
    assert packing.is_packed(store, S)
    pd.testing.assert_frame_equal(frame, unpacked(store, **scope))
    return len(frame)


def n_packed(store, study_id=S) -> int:
    return store.rows("SELECT count(*) FROM packed.rows WHERE study_id = $id", id=study_id)[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("odd", [0.1, pytest.param(0.0, marks=pytest.mark.slow)])
def test_packs_give_the_frame_that_the_readouts_give(store, odd):
    shuffled(store, 1, odd=odd)
    assert not packing.is_packed(store, S) and packing.pack(store, S)
    assert same(store) > 350
    n = {one: same(store, paraphrases=one) for one in ("accepted", "standing", "all")}
    assert n["accepted"] < n["standing"] <= n["all"]


@pytest.mark.slow
def test_rows_that_are_missing_or_have_values_are_packed_as_they_are(store):
    execute(store, "DELETE FROM readouts WHERE hash(item_id, axis, extractor, model) % 7 = 0")
    execute(store, "UPDATE readouts SET value = 0.25 WHERE hash(item_id) % 3 = 0 AND extractor = 'regex'")
    execute(store, "UPDATE readouts SET is_correct = NULL, reason = 'no ''reason''' WHERE hash(variant_id) % 5 = 0")
    assert packing.pack(store, S) and same(store) > 250
    frame = studies.readouts(store, S)
    assert set(frame["value"].dropna()) == {0.25} and frame["is_correct"].isna().any()


ODD = {
    "variants at one position": "UPDATE study_variants SET position = 1 WHERE position IN (1, 2)",
    "only losses": "DELETE FROM readouts WHERE extractor <> 'answer_loss'",
    "no readouts": "DELETE FROM readouts",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ODD)
def test_studies_that_are_odd_are_packed_as_they_are(store, what):
    execute(store, ODD[what])
    assert packing.pack(store, S) and (same(store) > 0) == (what == "variants at one position")


@pytest.mark.slow
def test_readouts_are_those_of_one_state_where_a_study_is_packed_again_meanwhile(store, monkeypatch):
    assert packing.pack(store, S)
    before, mark_in = studies.readouts(store, S), packing.mark_in

    def changing(cursor, study_id):
        mark = mark_in(cursor, study_id)
        execute(store, "UPDATE readouts SET answer = '0' WHERE answer IS NOT NULL")
        assert packing.pack(store, study_id)
        return mark

    monkeypatch.setattr(packing, "mark_in", changing)
    pd.testing.assert_frame_equal(studies.readouts(store, S), before)
    monkeypatch.undo()
    assert before["answer"].nunique() > 1 and studies.readouts(store, S)["answer"].nunique() == 1


def test_a_study_is_read_from_packs_as_from_its_readouts(small):
    before = studies.readouts(small, SMALL.study_id)
    assert len(before) == 40 and packing.pack(small, SMALL.study_id) and packing.is_packed(small, SMALL.study_id)
    pd.testing.assert_frame_equal(studies.readouts(small, SMALL.study_id), before)


def test_a_study_whose_packing_was_stopped_is_not_packed(small):
    stop = threading.Event()
    stop.set()
    assert packing.pack(small, SMALL.study_id, stop) is False and not packing.is_packed(small, SMALL.study_id)
    stop.clear()
    assert packing.pack(small, SMALL.study_id, stop) is True and packing.is_packed(small, SMALL.study_id)


def test_a_deleted_study_leaves_nothing_packed_though_its_mark_was_gone(small):
    assert packing.pack(small, SMALL.study_id)
    execute(small, "DELETE FROM packed.marks")
    assert n_packed(small, SMALL.study_id)
    studies.delete_study(small, SMALL.study_id)
    assert n_packed(small, SMALL.study_id) == 0


@pytest.mark.slow
def test_verdicts_and_locks_decide_when_packs_are_read(store):
    assert packing.pack(store, S)
    before = same(store)
    sql = """SELECT material_id FROM study_variants JOIN study_items USING (study_id, item_id)
             WHERE material_id IS NOT NULL AND NOT confirmatory ORDER BY ALL LIMIT 1"""
    pair = store.rows(sql)[0][0]
    verdict = {"verdict_id": "v", "pair_id": pair, "reviewer": "Ada", "meaning": "no", "note": "", "original_hash": ""}
    verdict |= {"paraphrase_hash": "", "rule_version": "majority-1", "created_at": rows.now()}
    lock = locks.keep_lock(store, S, "decomposition", {}, "Ada")
    locked = same(store, lock=lock)
    judgements.keep(store, PAIR_VERDICTS, [verdict])
    assert packing.is_packed(store, S) and same(store) < before and same(store, lock=lock) == locked > 0
    ids = [set(studies.readouts(store, S, lock=one)["item_id"]) for one in (None, lock)]
    assert ids[0] and ids[1] and not ids[0] & ids[1]


@pytest.mark.slow
def test_stored_typos_count_once_they_are_accepted(store):
    for sql in TYPOS:
        execute(store, sql)
    assert packing.pack(store, S)
    before = same(store)
    store.writer.transact(lambda connection: connection.execute(ACCEPTED[0]), changes=()).result(30)
    assert same(store) > before


CHANGES = {
    "a row of readouts": lambda store, _: store.writer.add("readouts", store.rows_of("SELECT * FROM readouts LIMIT 1")).result(30),
    "a row of variants": lambda store, _: store.writer.add(
        "study_variants", store.rows_of("SELECT * FROM study_variants WHERE study_id = $id LIMIT 1", id=S)
    ).result(30),
    "a function of the connection": lambda store, _: execute(store, "UPDATE readouts SET answer = '0' WHERE answer = '1'"),
    "a merge": lambda store, other: merge([other], store),
    "a resumed run": lambda store, _: [
        execute(store, "DELETE FROM item_runs"), execute(store, "DELETE FROM readouts"), packing.pack(store, S), runner.run(STUDY, store)
    ],
    "a deleted study": lambda store, _: studies.delete_study(store, S),
}  # fmt: skip
KEEPS = {
    "an archive": lambda store, folder: archive(store, S, folder.parent / "archive"),
    "a backup": lambda store, folder: back_up(store),
    "a revived archive": lambda store, folder: [archive(store, S, folder.parent / "archive"), restore(store, S)],
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_no_pack_holds_after_what_may_change_readouts(store, filled, what):
    assert packing.pack(store, S) and packing.is_packed(store, S)
    CHANGES[what](store, filled)
    assert not packing.is_packed(store, S) and n_packed(store) == 0


@pytest.mark.slow
@pytest.mark.parametrize("what", KEEPS)
def test_packs_hold_where_the_same_readouts_stand_elsewhere(store, tmp_path, what):
    execute(store, "UPDATE study_items SET confirmatory = false")
    assert packing.pack(store, S)
    before = studies.readouts(store, S)
    KEEPS[what](store, tmp_path / "flips.duckdb")
    pd.testing.assert_frame_equal(studies.readouts(store, S), before)
    assert same(store) == len(before)


def test_readouts_that_change_while_they_are_packed_leave_no_mark(small, monkeypatch):
    chunks = packing.chunks

    def changing(*words, **more):
        for one in chunks(*words, **more):
            execute(small, "UPDATE readouts SET answer = '0' WHERE answer = '1'")
            yield one

    monkeypatch.setattr(packing, "chunks", changing)
    assert not packing.pack(small, SMALL.study_id) and not packing.is_packed(small, SMALL.study_id)


@pytest.mark.slow
def test_chunks_and_other_rules_and_unknown_states(store, monkeypatch):
    assert packing.pack(store, S)
    whole = studies.readouts(store, S)
    monkeypatch.setattr(packing, "CHUNK", 200)
    assert packing.pack(store, S)
    pd.testing.assert_frame_equal(studies.readouts(store, S), whole)
    monkeypatch.setattr(packing, "rule_hash", lambda: "of another release")
    assert not packing.is_packed(store, S)
    monkeypatch.undo()
    execute(store, "UPDATE readouts SET status = 'odd' WHERE extractor = 'regex'")
    with pytest.raises(ValueError, match="status"):
        packing.pack(store, S)
    assert not packing.is_packed(store, S)


def test_a_study_that_is_wanted_and_large_is_packed_in_the_background(small, monkeypatch):
    packing.pack_later(small, SMALL.study_id)
    assert small not in packing._THREADS  # it is not large
    monkeypatch.setattr(packing, "LARGE", 40)
    packing.pack_later(small, SMALL.study_id)
    end = time.monotonic() + 20
    while not packing.is_packed(small, SMALL.study_id) and time.monotonic() < end:
        time.sleep(0.01)
    assert packing.is_packed(small, SMALL.study_id)


@pytest.mark.slow
def test_a_large_study_is_packed_once_somebody_has_read_it(store, monkeypatch):
    before = studies.readouts(store, S)
    time.sleep(0.2)
    assert not packing.is_packed(store, S)  # it is not large
    monkeypatch.setattr(packing, "LARGE", 100)
    studies.readouts(store, S)
    end = time.monotonic() + 20
    while not packing.is_packed(store, S) and time.monotonic() < end:
        time.sleep(0.02)
    assert packing.is_packed(store, S)
    pd.testing.assert_frame_equal(studies.readouts(store, S), before)


@pytest.mark.slow
def test_what_cannot_be_packed_is_not_tried_again_until_it_changes(store, monkeypatch):
    tried, pack = [], packing.pack
    monkeypatch.setattr(packing, "pack", lambda *words: tried.append(1) or pack(*words))
    monkeypatch.setattr(packing, "LARGE", 100)
    execute(store, "UPDATE readouts SET status = 'odd' WHERE extractor = 'regex'")

    def read_until(ended) -> None:
        end = time.monotonic() + 20
        while not ended() and time.monotonic() < end:
            studies.readouts(store, S)
            time.sleep(0.02)
        assert ended()

    read_until(lambda: tried)
    for _ in range(10):
        studies.readouts(store, S)
        time.sleep(0.02)
    assert len(tried) == 1
    execute(store, "UPDATE readouts SET status = 'ok' WHERE status = 'odd'")
    read_until(lambda: packing.is_packed(store, S))
    assert len(tried) == 2


@pytest.mark.parametrize(
    "what", ["CREATE TABLE packed.shapes (n INTEGER)", "CREATE VIEW packed.shapes AS SELECT 1 / 'a' AS shape"]
)
def test_what_else_stands_in_the_place_of_packs_goes(small, what):
    path = small.path
    for sql in ("DROP SCHEMA packed CASCADE", "CREATE SCHEMA packed", what):
        small.writer.transact(lambda connection, sql=sql: connection.execute(sql), changes=()).result(30)
    small.close()
    again = Store.open(path)
    assert (
        not packing.is_packed(again, SMALL.study_id)
        and packing.pack(again, SMALL.study_id)
        and packing.is_packed(again, SMALL.study_id)
    )
    again.close()


@pytest.mark.slow
def test_packs_of_another_release_are_left_behind(store):
    assert packing.pack(store, S)
    before, path = studies.readouts(store, S), store.path
    execute(store, "UPDATE packed.shapes SET shape = 'another'")
    store.close()
    again = Store.open(path)
    assert not packing.is_packed(again, S)
    pd.testing.assert_frame_equal(studies.readouts(again, S), before)
    assert packing.pack(again, S) and packing.is_packed(again, S)
    again.close()


# The packer alone, on readouts of no study.


def table_of(*readouts, **columns):
    """Readouts as (model, item, variant, sample, extractor, status, answer), on one axis, in order."""
    names = ("model", "item_id", "variant_id", "sample", "extractor", "status", "answer")
    read = {name: list(column) for name, column in zip(names, zip(*readouts, strict=True), strict=True)}
    n = len(readouts)
    read |= {"axis": ["x"] * n, "key": read["variant_id"], "position": [0] * n, "compared_with": ["base"] * n}
    read |= {"material_id": pa.array([None] * n, pa.string()), "value": pa.array([None] * n, pa.float64())}
    read |= {"is_correct": [True] * n, "label_mass": pa.array([None] * n, pa.float64()), "reason": [""] * n}
    return pa.table(read | columns)


def test_a_row_has_its_readouts_as_codes_in_lists():
    packer = packing.Packer()
    rows = packer.pack(
        table_of(
            ("m", "i", "v", 0, "a", "ok", "A"),
            ("m", "i", "v", 0, "b", "unreadable", None),
            ("m", "i", "w", 0, "a", "cut", None),
            ("m", "j", "v", 0, "a", "absent", "B"),
            ("n", "j", "v", 0, "a", "ok", "A"),
            is_correct=[True, False, None, None, False],
            value=pa.array([None, 0.5, None, None, None], pa.float64()),
            material_id=pa.array(["p", "p", None, None, "p"]),
        )
    )
    assert rows.to_pydict() == {
        "model": ["m", "m", "n"],
        "item_id": ["i", "j", "j"],
        "layout": [rows["layout"][0].as_py(), rows["layout"][1].as_py(), rows["layout"][1].as_py()],
        "variants": [["v", "w"], ["v"], ["v"]],
        "materials": [["p", None], [None], ["p"]],
        "states": [[0 + 4, 1 + 0, 2 + 8], [3 + 8], [0]],
        "answers": [[0, -1, -1], [1], [0]],
        "reasons": [[0, 0, 0], [0], [0]],
        "numbers": [[None, 0.5, None], None, None],
        "label_masses": [None, None, None],
    }
    assert packer.answers.texts == ["A", "B"] and packer.reasons.texts == [""]
    layouts = [json.loads(text) for text in packer.layouts.texts]
    of_first, of_others = (layouts[rows["layout"][row].as_py()] for row in (0, 1))
    # axis, key, position, compared with, sample and extractor of each readout, and the place of its variant
    assert of_first == [["x"] * 3, ["v", "v", "w"], [0] * 3, ["base"] * 3, [0] * 3, ["a", "b", "a"], [0, 0, 1]]
    assert of_others == [["x"], ["v"], [0], ["base"], [0], ["a"], [0]]
    # Codes go on in the next chunk, and a layout that is known keeps its own.
    later = packer.pack(table_of(("m", "k", "v", 0, "a", "ok", "C"), ("m", "l", "v", 0, "a", "ok", "B")))
    assert later["answers"].to_pylist() == [[2], [1]] and later["layout"].to_pylist() == [rows["layout"][1].as_py()] * 2
    assert len(packer.layouts.texts) == 2
    with pytest.raises(ValueError, match="status"):
        packer.pack(table_of(("m", "k", "v", 0, "a", "odd", "C")))


@pytest.mark.parametrize("differing", range(3))
def test_layouts_that_differ_in_one_readout_are_two(differing):
    """Wherever they differ; were two taken for one, packing would end with an error."""
    readouts = [("m", item, "v", sample, "a", "ok", "A") for item in "ij" for sample in range(3)]
    readouts[differing] = (*readouts[differing][:4], "z", "ok", "A")
    packer = packing.Packer()
    layouts = packer.pack(table_of(*readouts))["layout"].to_pylist()
    assert sorted(layouts) == [0, 1] and len(packer.layouts.texts) == 2
    swapped = [("m", "i", "v", 0, x, "ok", "A") for x in "ab"] + [("m", "j", "v", 0, x, "ok", "A") for x in "ba"]
    assert len(set(packing.Packer().pack(table_of(*swapped))["layout"].to_pylist())) == 2


class Cursor:
    """Three items with so many readouts; a table of readouts is named by the items that it is of."""

    def __init__(self, n_readouts):
        self.n_readouts, self.asked = n_readouts, []

    def execute(self, sql, params):
        found = [(self.n_readouts,)] if "count(*)" in sql else [("a",), ("b",), ("c",)]
        return SimpleNamespace(fetchall=lambda: found)

    def sql(self, sql, params):
        self.asked.append((params["low"], params["high"]))
        return SimpleNamespace(to_arrow_table=lambda: "" if params["low"] == "b" else self.asked[-1])


@pytest.mark.parametrize(
    ("n_readouts", "asked"),
    [(0, [("a", "c")]), (30, [("a", "c")]), (31, [("a", "b"), ("c", "c")]), (46, [("a", "a"), ("b", "b"), ("c", "c")]),
     (900, [("a", "a"), ("b", "b"), ("c", "c")])],
)  # fmt: skip
def test_items_are_packed_in_chunks_of_about_so_many_readouts(monkeypatch, n_readouts, asked):
    monkeypatch.setattr(packing, "CHUNK", 30)
    cursor, packer = Cursor(n_readouts), SimpleNamespace(pack=lambda table: table)
    # A chunk without readouts is none.
    assert list(packing.chunks(cursor, "s", packer)) == [items for items in asked if items[0] != "b"]
    assert cursor.asked == asked


class Closing:
    """As much of a store as the thread that packs needs."""

    def __init__(self):
        self.before_closing, self.writer = [], SimpleNamespace(n_changes=lambda study_id: 0)


def test_closing_ends_packing_after_the_study_in_hand(monkeypatch):
    begun, go_on, packed = threading.Event(), threading.Event(), []

    def pack(store, study_id, stop):
        packed.append(study_id)
        begun.set()
        go_on.wait(10)

    monkeypatch.setattr(packing, "_is_due", lambda store, study_id: True)
    monkeypatch.setattr(packing, "pack", pack)
    store = Closing()
    thread = packing._Thread(store)
    for study_id in ("first", "second", "second"):
        thread.add(study_id)
    assert begun.wait(10)
    thread._stop.set()
    go_on.set()
    (stop,) = store.before_closing
    stop()
    assert packed == ["first"] and not thread._thread.is_alive()


def test_studies_that_are_wanted_twice_are_packed_once_each(monkeypatch):
    done, packed = threading.Event(), []

    def pack(store, study_id, stop):
        packed.append(study_id)
        if study_id == "last":
            done.set()

    monkeypatch.setattr(packing, "_is_due", lambda store, study_id: study_id != "not due")
    monkeypatch.setattr(packing, "pack", pack)
    thread = packing._Thread(Closing())
    for study_id in ("not due", "first", "last"):
        thread.add(study_id)
    assert done.wait(10)
    thread.stop()
    assert packed == ["first", "last"]
