"""A finished study's answers as Parquet files: every query says the same, nothing is written to it, and it comes back whole."""

import json
import re
import shutil
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pandas as pd
import pytest

from flipcore.__main__ import main
from flipcore.core.errors import BadInput
from flipcore.runs import runner
from flipcore.runs.rereading import reread
from flipcore.store import archives, archiving
from flipcore.store.archives import TABLES
from flipcore.store.archiving import archive, back_up, check, restore
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.merge import merge
from flipcore.store.queries import decisions, locks, planning, studies
from flipcore.store.schema import tables
from tests.runs.test_runner import tiny_study
from tests.store import test_merge_rows

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = tiny_study(name="half set aside", confirmatory_share=0.4)
OTHER = tiny_study(name="shares calls with it")
S = STUDY.study_id


@pytest.fixture
def ran(store):
    for study in (STUDY, OTHER):
        assert runner.run(study, store).state == "done"
    return store


def everything(store) -> dict[str, pd.DataFrame]:
    """What every kind of query says of the study."""
    frames = {f"rows of {table}": studies.rows_of(store, S, table) for table in ("readouts", "readout_sources", "study_calls")}
    frames |= {
        "readouts": studies.readouts(store, S, everything=True),
        "flips": studies.readouts(store, S),
        "studies": studies.studies(store),
        "completions": pd.DataFrame(planning.written_answers(store, S, ["choice", "number"])),
        "basis": pd.DataFrame([decisions.data_state(store, S)]),
    }
    return frames


def hot(store) -> dict[str, list[tuple]]:
    """The rows that stand in the file itself."""
    cursor = store.own_cursor()
    try:  # no time stamps: DuckDB wants pytz for them
        columns = {table: ", ".join(name for name in tables()[table].names if name != "created_at") for table in TABLES}
        return {table: cursor.execute(f"SELECT {columns[table]} FROM {table} ORDER BY ALL").fetchall() for table in TABLES}
    finally:
        cursor.close()


def same(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame]) -> None:
    for name, frame in first.items():
        pd.testing.assert_frame_equal(frame, second[name], obj=name)


@pytest.mark.slow
def test_every_query_says_the_same_of_an_archived_study_and_it_comes_back_whole(ran, tmp_path):
    before, whole = everything(ran), hot(ran)
    moved = archive(ran, S)
    assert (tmp_path / "archive" / f"study_id={S}").is_dir()
    assert moved.n_rows["readouts"] == sum(row[0] == S for row in whole["readouts"]) > 0
    left = hot(ran)
    assert not [row for row in left["readouts"] if row[0] == S] and [row for row in left["readouts"] if row[0] != S]
    assert len(left["completions"]) == len(whole["completions"])  # all of them are held by the other study, too
    same(before, everything(ran))
    ran.close()
    again = Store.open(tmp_path / "flips.duckdb")
    same(before, everything(again))
    back = restore(again, S)
    assert back == moved and hot(again) == whole and not again.archives
    same(before, everything(again))
    assert not list((tmp_path / "archive").rglob("*.parquet"))
    again.close()


@pytest.mark.slow
def test_completions_go_along_that_no_other_study_holds(store, tmp_path):
    runner.run(STUDY, store)
    before, whole = everything(store), hot(store)
    n = store.rows("SELECT count(*) FROM completions")[0][0]
    assert archive(store, S).n_rows["completions"] == n > 0 and not hot(store)["completions"]
    same(before, everything(store))
    # what is archived is not bought again by a study that asks the same
    assert runner.run(OTHER, store).n_reused > 0
    restore(store, S)
    assert set(whole["completions"]) <= set(hot(store)["completions"])


@pytest.mark.slow
def test_what_was_set_aside_stays_unseen_and_comes_under_a_lock(ran):
    hidden = {row[0] for row in ran.rows("SELECT item_id FROM study_items WHERE study_id = $s AND confirmatory", s=S)}
    archive(ran, S)
    assert hidden and not hidden & set(studies.readouts(ran, S)["item_id"])
    assert not hidden & set(studies.rows_of(ran, S, "readouts")["item_id"])
    lock = locks.keep_lock(ran, S, "decomposition", {}, "Ada")
    assert set(studies.readouts(ran, S, lock=lock)["item_id"]) == hidden


@pytest.mark.slow
def test_nothing_is_written_to_an_archived_study(ran, tmp_path, monkeypatch):
    shutil.copy(ran.path, tmp_path / "none.duckdb")
    export(ran, S, tmp_path / "before")
    archive(ran, S)
    assert runner.run(STUDY, ran).state == "done"  # nothing is missing, and nothing is written
    monkeypatch.setattr("flipcore.runs.runner.code_hash", lambda: "x")  # so that every item would be looked at
    refused = {
        "a run that would ask more": lambda: runner.run(STUDY, ran),
        "reread": lambda: reread(ran, S, "regex"),
        "delete": lambda: studies.delete_study(ran, S),
        "a row": lambda: ran.writer.add("readouts", [{"study_id": S}]),
    }
    for act in refused.values():
        with pytest.raises(BadInput, match=f"archived, so nothing is written.*restore {S}"):
            act()
    with pytest.raises(BadInput, match="archived already"):
        archive(ran, S)
    export(ran, S, tmp_path / "after")
    for path in (tmp_path / "before").glob("*.parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(tmp_path / "after" / path.name), obj=path.name)


@pytest.mark.slow
def test_a_file_with_rows_of_an_archived_study_is_merged_after_it_came_back(ran, tmp_path):
    there = Store.open(tmp_path / "there.duckdb")
    runner.run(STUDY, there)
    there.close()
    archive(ran, S)
    before = hot(ran)
    with pytest.raises(BadInput, match=f"restore {S}.*Nothing of it was taken over"):
        merge([tmp_path / "there.duckdb"], ran)
    assert hot(ran) == before
    restore(ran, S)
    assert not +merge([tmp_path / "there.duckdb"], ran).skipped


@pytest.mark.slow
def test_an_archive_that_is_not_there_is_said_and_never_looks_empty(ran, tmp_path):
    archive(ran, S, tmp_path / "away")
    ran.close()
    (tmp_path / "away").rename(tmp_path / "elsewhere")
    store = Store.open(tmp_path / "flips.duckdb")
    copy = back_up(store)
    store.close()
    for path in (tmp_path / "flips.duckdb", copy):
        store = Store.open(path)
        with pytest.raises(BadInput, match=r"are not there: .* are in .*away\. Put back what was archived"):
            studies.declared(store, S)
        with pytest.raises(BadInput, match="Files of the archive are not there"):
            restore(store, S)
        assert studies.declared(store, OTHER.study_id) == OTHER and len(studies.readouts(store, OTHER.study_id))
        store.close()
    (tmp_path / "elsewhere").rename(tmp_path / "away")
    store = Store.open(copy)
    assert len(studies.readouts(store, S))
    store.close()


@pytest.mark.slow
def test_a_backup_holds_what_is_archived_in_its_one_file(ran, tmp_path):
    before, whole = everything(ran), hot(ran)
    archive(ran, S)
    copy = back_up(ran)
    assert S in ran.archives
    shutil.rmtree(tmp_path / "archive")
    store = Store.open(copy)
    assert not store.archives and hot(store) == whole
    same(before, everything(store))
    store.close()


def test_a_few_rows_are_moved_out_looked_at_and_come_back(store):
    """A failed call stays, because a run may still replace it."""
    study_id = test_merge_rows.S
    test_merge_rows.fill(store, ["A", "B", ""])
    before = hot(store)
    moved = archive(store, study_id)
    assert moved.n_rows == {"readouts": 3, "readout_sources": 3, "completions": 2} and moved.has_files
    assert {table: len(rows) for table, rows in hot(store).items()} == {"readouts": 0, "readout_sources": 0, "completions": 1}
    assert store.rows("SELECT (SELECT count(*) FROM readouts), (SELECT count(*) FROM completions)") == [(3, 3)]
    with pytest.raises(BadInput, match="is archived, so nothing is written to it"):
        store.writer.add("study_calls", [{"study_id": study_id, "call_id": "c"}])
    store.writer.add("study_calls", [{"study_id": "another", "call_id": "c"}]).result()
    assert check(store, study_id) == moved
    with store.own_cursor() as cursor:
        for n in (2, 4):
            other = replace(moved, n_rows=moved.n_rows | {"readouts": n})
            assert archives.problem(cursor, other) == f"The archive holds 3 readouts, and {n} were put there."
        other = replace(moved, fingerprints=moved.fingerprints | {"readouts": "0"})
        assert "as many readouts as were put there, but some of them were changed since" in archives.problem(cursor, other)
        assert archives.problem(cursor, replace(moved, fingerprints={})) == ""  # of an earlier release
        other = replace(moved, files=moved.files | {"readouts": [f"{moved.folder}/none.parquet"]})
        assert archives.problem(cursor, other) == f"Files of the archive are not there: {moved.sentence()}"
    assert moved.sentence() == f"3 readouts, 3 readout sources, 2 completions of {study_id} are in {moved.folder}."
    with pytest.raises(BadInput, match="archived already"):
        archive(store, study_id)
    assert all(Path(path).is_file() for path in moved.paths)
    assert restore(store, study_id) == moved and hot(store) == before and not store.archives
    assert len(moved.paths) == 3 and not any(Path(path).exists() for path in moved.paths)


def test_only_a_study_that_is_done_is_archived(store):
    with pytest.raises(BadInput, match="there is no such study"):
        archive(store, "nowhere")
    with pytest.raises(BadInput, match="nothing to restore"):
        restore(store, "nowhere")
    test_merge_rows.fill(store, ["A"])
    store.writer.transact(lambda c: c.execute("UPDATE studies SET state = 'cancelled'")).result(10)
    with pytest.raises(BadInput, match="its state is cancelled.*run it to its end first"):
        archive(store, test_merge_rows.S)


CHANGES = {
    "a row less": (lambda frame: frame.iloc[1:], "holds [0-9,]+ readouts, and [0-9,]+ were put there"),
    "other answers": (
        lambda frame: frame.assign(answer="1"),
        "as many readouts as were put there, but some of them were changed",
    ),
    "values exchanged": (
        lambda frame: frame.assign(label_mass=frame["label_mass"].iloc[::-1].to_numpy()),
        "some of them were changed",
    ),
}


@pytest.mark.slow
def test_a_backup_takes_in_no_changed_file(ran):
    moved = archive(ran, S)
    path = Path(moved.files["readouts"][0])
    pd.read_parquet(path).assign(answer="1").to_parquet(path, index=False)
    store = Store.open(back_up(ran))
    assert store.archives == {S: moved}  # with its fingerprints, so that the change is still seen
    store.close()


@pytest.mark.slow
def test_a_file_that_was_changed_is_seen_and_not_restored(store):
    runner.run(STUDY, store)
    moved = archive(store, S)
    assert check(store, S) == moved
    path = Path(moved.files["readouts"][0])
    whole = path.read_bytes()
    for change, words in CHANGES.values():
        change(pd.read_parquet(path)).to_parquet(path, index=False)
        with pytest.raises(BadInput, match=words):
            check(store, S)
        with pytest.raises(BadInput, match=f"{words}.*Nothing was restored"):
            restore(store, S)
        assert S in store.archives
        path.write_bytes(whole)
    assert check(store, S) == moved


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def changed(path):
    CHANGES["other answers"][0](pd.read_parquet(path)).to_parquet(path, index=False)


@pytest.mark.slow
@pytest.mark.parametrize("damage, words", [(cut, "cannot be read"), (changed, "were changed"), (Path.unlink, "are not there")])
def test_an_archive_is_looked_at_when_its_file_is_opened_and_what_does_not_hold_is_not_read(
    ran, tmp_path, caplog, damage, words
):
    path = Path(archive(ran, S).files["readouts"][0])
    ran.close()
    whole = path.read_bytes()
    damage(path)
    store = Store.open(tmp_path / "flips.duckdb")
    assert words in caplog.text
    for ask in (studies.declared, check):
        with pytest.raises(BadInput, match=words):
            ask(store, S)
    assert len(studies.readouts(store, OTHER.study_id)) and "state" in studies.studies(store)  # everything else is read as ever
    store.close()
    path.write_bytes(whole)
    store = Store.open(tmp_path / "flips.duckdb")
    assert len(studies.readouts(store, S))
    store.close()


@pytest.mark.slow
def test_an_archive_that_nobody_touched_is_read_whole_once(ran, tmp_path, monkeypatch):
    path = Path(archive(ran, S).files["readouts"][0])
    ran.close()
    read = []
    monkeypatch.setattr(archives, "_difference", lambda connection, one: read.append(one.study_id) or "")
    Store.open(tmp_path / "flips.duckdb").close()
    assert read == []
    path.touch()
    for _ in range(2):
        Store.open(tmp_path / "flips.duckdb").close()
    assert read == [S]


@pytest.mark.slow
def test_an_archive_of_an_earlier_release_is_counted(store):
    runner.run(STUDY, store)
    moved = archive(store, S)
    old = json.dumps({name: value for name, value in asdict(moved).items() if name not in ("fingerprints", "stamps")})
    store.writer.transact(lambda c: c.execute("UPDATE store_info SET value = ? WHERE key = ?", [old, f"archive {S}"])).result(
        10
    )
    store.look_for_archives()
    assert check(store, S).fingerprints == {} and restore(store, S).n_rows == moved.n_rows


@pytest.mark.slow
def test_an_archive_without_a_column_that_came_later_is_read_and_comes_back_whole(store, tmp_path):
    """It could be neither read nor restored: the column of its files was looked for by name."""
    runner.run(STUDY, store)
    before, rows = everything(store), hot(store)
    moved = archive(store, S)
    older, names = tmp_path / "older.parquet", [name for name in tables()["completions"].names if name != "other_model"]
    with duckdb.connect() as connection:
        for file in moved.files["completions"]:
            connection.execute(f"COPY (SELECT * EXCLUDE other_model FROM '{file}') TO '{older}' (FORMAT parquet)")
            older.replace(file)
        found = archives.rows_of(connection, "completions", moved.files["completions"])
        _, mark = archives.fingerprint(connection, "completions", found, names=names)
    old = asdict(moved) | {"fingerprints": moved.fingerprints | {"completions": mark}, "stamps": {}}
    store.writer.transact(
        lambda c: c.execute("UPDATE store_info SET value = ? WHERE key = ?", [json.dumps(old), f"archive {S}"])
    ).result(10)
    store.close()
    reopened = Store.open(tmp_path / "flips.duckdb")
    same(before, everything(reopened))
    assert check(reopened, S).n_rows == moved.n_rows
    restore(reopened, S)
    assert hot(reopened) == rows and not reopened.archives
    reopened.close()


@pytest.mark.slow
def test_the_command_moves_there_and_back(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    store = Store.open()
    runner.run(STUDY, store)
    store.close()
    assert main(["archive", "half", "--to", str(tmp_path / "cold")]) == 0
    assert str(tmp_path / "cold") in capsys.readouterr().out and list((tmp_path / "cold").rglob("readouts.parquet"))
    assert main(["archive", S, "--check"]) == 0 and "Nothing was changed." in capsys.readouterr().out
    assert main(["stats", S]) == 0 and "50% right" in capsys.readouterr().out
    assert main(["restore", S]) == 0 and "Back in" in capsys.readouterr().out
    assert main(["restore", S]) == 1 and "nothing to restore" in capsys.readouterr().err


@pytest.mark.slow
def test_a_url_is_written_and_read_through_fsspec(ran):
    pytest.importorskip("fsspec")
    before = everything(ran)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = archive(ran, S, "memory://cold")
        assert moved.files["readouts"][0].startswith("memory://cold/")
        same(before, everything(ran))
        restore(ran, S)
    same(before, everything(ran))
    with pytest.raises(BadInput, match="cannot be opened here"):
        archive(ran, S, "nowhere://cold")


class Written:
    """A connection of two models' rows, that notes where they are copied to."""

    def __init__(self):
        self.models, self.places = [], []

    def execute(self, sql, params=None):
        if match := re.search(r"TO '(.*?)'", sql):
            assert ("ORDER BY item_id" in sql) == (" FROM completions" not in sql)
            self.models.append(params["model"])
            self.places.append(match[1])
            if "://" not in match[1]:
                Path(match[1]).write_bytes(b"")
        return SimpleNamespace(fetchall=lambda: [("m",), ("n/o",)])


@pytest.mark.parametrize("table", ["readouts", "completions"])
@pytest.mark.parametrize("is_url", [False, True])
def test_each_models_rows_have_a_file_of_their_own(tmp_path, monkeypatch, table, is_url):
    """On this machine by way of a draft, at a URL directly."""
    monkeypatch.setattr(archives, "fingerprint", lambda *arguments: (4, "sum"))
    root = "memory://bucket" if is_url else str(tmp_path)
    connection = Written()
    found, paths = archiving._write_table(connection, table, "s", root)
    assert (found, connection.models) == ((4, "sum"), ["m", "n/o"])
    assert paths == [f"{root}/study_id=s/model={name}/{table}.parquet" for name in ("m", "n%2Fo")]
    if is_url:
        assert connection.places == paths
    else:
        assert all(Path(path).is_file() for path in paths) and not {*paths} & {*connection.places}


@pytest.mark.parametrize(
    ("tables", "rows", "is_refused"),
    [
        (("readouts", "completions"), (), False),
        (("readouts",), ("INSERT INTO theirs_readouts VALUES ('s')",), True),
        (("readouts",), ("INSERT INTO theirs_readouts VALUES ('t')",), False),
        (("completions",), ("INSERT INTO theirs_completions VALUES ('c')",), True),
        (("completions",), ("INSERT INTO theirs_completions VALUES ('d')",), False),
        (("studies",), ("INSERT INTO theirs_readouts VALUES ('s')",), False),
    ],
)
@pytest.mark.parametrize("has_calls", [True, False])
def test_a_file_with_rows_of_a_study_that_is_archived_here_is_not_merged(
    monkeypatch, tmp_path, tables, rows, is_refused, has_calls
):
    connection = duckdb.connect()
    calls = tmp_path / "calls.parquet"
    connection.execute(f"COPY (SELECT 'c' AS call_id) TO '{calls}' (FORMAT parquet)")
    connection.execute("CREATE TABLE theirs_readouts (study_id TEXT); CREATE TABLE theirs_completions (call_id TEXT)")
    for sql in rows:
        connection.execute(sql)
    archive = SimpleNamespace(files={"completions": [str(calls)] if has_calls else []})
    monkeypatch.setattr(archives, "archives", lambda connection: {"s": archive})
    if is_refused and (has_calls or "readouts" in tables):
        with pytest.raises(BadInput, match="The study s is archived"):
            archives.check_merge(connection, set(tables))
    else:
        archives.check_merge(connection, set(tables))


@pytest.mark.parametrize("to", [None, "cold", "memory://cold"])
def test_an_archive_goes_beside_the_database_to_a_folder_or_to_a_url(tmp_path, monkeypatch, to):
    monkeypatch.chdir(tmp_path)
    actions, refreshed = [], []

    def transact(action, needs, **how):
        actions.append((action.keywords, how["act"], how["on"]))
        return SimpleNamespace(result=lambda: "the archive")

    store = SimpleNamespace(
        archives={},
        path=tmp_path / "data" / "flips.duckdb",
        writer=SimpleNamespace(transact=transact, checkpoint=lambda: refreshed.append("checkpoint")),
        look_for_archives=lambda: refreshed.append("archives"),
        touch=refreshed.extend,
    )
    assert archive(store, "s", to) == "the archive"
    folders = {None: str(tmp_path / "data" / "archive"), "cold": str(tmp_path / "cold"), "memory://cold": "memory://cold"}
    assert actions == [({"study_id": "s", "root": folders[to]}, "archived a study", "s")]
    assert refreshed == ["archives", "checkpoint", "s"]
