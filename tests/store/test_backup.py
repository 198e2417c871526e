"""A copy of the running database in one file."""

import datetime as dt
import threading

import pytest

from flipcore.access import policy
from flipcore.access.acting import Level, Person, access_file, acting_as
from flipcore.core.errors import AccessDenied, BadInput
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
