"""A copy of the running database in one file."""

import datetime as dt
import hashlib
import threading
from types import SimpleNamespace

import pytest

from flipcore.access import policy
from flipcore.access.acting import Level, Person, access_file, acting_as
from flipcore.core.errors import AccessDenied, BadInput, NotStored
from flipcore.store import archiving
from flipcore.store.archiving import back_up
from flipcore.store.connection import Store


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    held = Store.open(tmp_path / "it's.duckdb")
    yield held
    held.close()


@pytest.mark.slow
def test_what_was_stored_before_is_in_the_copy_and_writing_goes_on(store, monkeypatch):
    for place in range(20):
        store.writer.add("store_info", [{"key": f"before {place}", "value": "x"}])
    later = threading.Thread(
        target=lambda: [store.writer.add("store_info", [{"key": f"after {i}", "value": "x"}]) for i in range(50)]
    )
    later.start()
    moment = archiving.now()
    monkeypatch.setattr(archiving, "now", lambda: moment)  # a copy is named by its second, which may pass meanwhile or not
    path = back_up(store)
    later.join()
    monkeypatch.setattr(archiving, "now", lambda: moment + dt.timedelta(seconds=1))
    again = back_up(store)
    with pytest.raises(BadInput, match="there already"):
        back_up(store)
    store.writer.flush()
    assert store.rows("SELECT count(*) FROM store_info WHERE key LIKE 'after %'") == [(50,)]
    copy = Store.open(path)
    assert copy.rows("SELECT count(*) FROM store_info WHERE key LIKE 'before %'") == [(20,)]
    copy.close()
    assert {one.name for one in path.parent.iterdir()} == {path.name, again.name}


def test_only_the_admin_copies_it_and_the_log_says_so(store):
    access_file().parent.mkdir()
    access_file().write_text(policy.TEMPLATE)
    with acting_as(Person("ana", Level.ANALYST)), pytest.raises(AccessDenied):
        back_up(store)
    with acting_as(Person("root", Level.ADMIN)):
        path = back_up(store)
    assert store.rows("SELECT who, act, target FROM acts") == [("root", "backed up the database", path.name)]


def test_a_backup_replaces_no_other(store, monkeypatch):
    moment = archiving.now()
    monkeypatch.setattr(archiving, "now", lambda: moment)
    path = back_up(store)
    path.write_text("another copy", encoding="utf-8")
    with pytest.raises(BadInput, match="is there already. Wait a second and try again."):
        back_up(store)
    assert path.read_text(encoding="utf-8") == "another copy"


def test_archived_rows_are_copied_where_their_files_can_be_used(monkeypatch):
    copied = []
    archives = {"whole": "a whole archive", "lost": "an archive without its files"}
    monkeypatch.setattr(archiving.archives, "archives", lambda connection: archives)
    monkeypatch.setattr(
        archiving.archives, "problem", lambda connection, archive: "Files are lost." if "without" in archive else ""
    )
    monkeypatch.setattr(archiving.archives, "insert_rows", lambda connection, archive, into: copied.append((archive, into)))
    monkeypatch.setattr(archiving, "_counts", lambda connection: {"readouts": 7})
    connection = SimpleNamespace(execute=lambda sql: SimpleNamespace(fetchall=lambda: [("flips",)]))
    assert archiving._copy_tables(connection, "'copy.duckdb'") == {"readouts": 7}
    assert copied == [("a whole archive", "copy_of_all.main")]


@pytest.mark.parametrize("n_rows", [7, 6])
def test_a_copy_with_other_numbers_of_rows_is_not_kept(monkeypatch, n_rows):
    monkeypatch.setattr(archiving, "_counts", lambda connection: {"readouts": n_rows})
    connection = SimpleNamespace(execute=lambda sql: None)
    if n_rows == 7:
        archiving._check_copy(connection, "'copy.duckdb'", {"readouts": 7})
        return
    with pytest.raises(NotStored, match="The copy differs from what was written, so it was not kept."):
        archiving._check_copy(connection, "'copy.duckdb'", {"readouts": 7})


def test_an_upload_is_what_its_name_says(store, tmp_path):
    """Other files of the folder have no hash in their names, and nothing is said of them."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    digest = hashlib.sha256(b"a,b").hexdigest()[:16]
    for name in (f"table-{digest}.csv", f"plain-{digest}", "notes.txt", f"{digest}.csv"):
        (folder / name).write_bytes(b"a,b")
    assert archiving.problems(store) == []
    assert archiving.no_problem_sentence(store).startswith("Nothing was changed. The log of acts has 0 rows, each chained")
    (folder / f"table-{digest}.csv").write_bytes(b"a,c")
    (folder / "notes.txt").write_bytes(b"a,c")
    assert archiving.problems(store) == [
        f"{folder / f'table-{digest}.csv'} is not what was uploaded under that name: it was cut or changed. Upload the file again."
    ]
