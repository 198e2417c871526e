"""A study left for the dashboard is taken once; a file that is none is set aside with its reason."""

import time

import pytest

from flipcore.runs.background import Registry
from flipcore.runs.inbox import hand_over, inbox_path, take, withdraw
from flipcore.store.connection import Store
from tests.runs.test_runner import tiny_study


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


def test_a_study_is_taken_as_it_was_left_and_only_once():
    assert take() == []
    path = hand_over(tiny_study())
    assert path.parent == inbox_path() and list(inbox_path().iterdir()) == [path]
    assert take() == [(tiny_study(), "")] and take() == []


def test_where_it_is_to_run_goes_with_it():
    hand_over(tiny_study(), "ray://head:10001")
    assert take() == [(tiny_study(), "ray://head:10001")]


def test_a_file_that_is_no_study_is_set_aside_with_a_sentence():
    hand_over(tiny_study())
    (inbox_path() / "broken.toml").write_text("axes = [", encoding="utf-8")
    assert take() == [(tiny_study(), "")]
    assert "not valid TOML" in (inbox_path() / "broken.why.txt").read_text(encoding="utf-8")
    assert (inbox_path() / "broken.refused").exists() and take() == []


def test_a_study_whose_taker_died_before_it_was_asked_is_taken_by_the_next():
    path = hand_over(tiny_study())
    path.rename(path.with_suffix(".taken"))
    assert take() == [(tiny_study(), "")] and take() == []


def test_a_dashboard_takes_what_was_left_beside_its_own_database(tmp_path, monkeypatch):
    """The variable may name another database by now: the watch is of the one that is open."""
    monkeypatch.setattr("flipcore.runs.background.INBOX_S", 0.01)
    store = Store.open(tmp_path / "watched" / "flips.duckdb")
    taken = []
    monkeypatch.setattr(Registry, "start", lambda registry, study, on="": taken.append(study.name))
    Registry(store).watch_inbox()
    try:
        left = hand_over(tiny_study(name="of another"))
        (tmp_path / "watched" / "inbox").mkdir(exist_ok=True)
        moved = tmp_path / "watched" / "inbox" / left.name
        moved.write_text(tiny_study(name="its own").to_toml(), encoding="utf-8")
        until = time.monotonic() + 20
        # The file goes before the study starts, so what counts is the start.
        while not taken and time.monotonic() < until:
            time.sleep(0.01)
        assert taken == ["its own"] and left.exists()
    finally:
        store.close()


def test_a_study_is_taken_back_unless_the_dashboard_has_it(tmp_path):
    path = tmp_path / "study.toml"
    path.touch()
    assert withdraw(path) is True and not path.exists() and withdraw(path) is False
