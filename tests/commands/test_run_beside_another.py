"""`run` beside a process that holds the database: a dashboard that answers, or another command."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from flipcore.__main__ import main
from flipcore.commands import run
from flipcore.core.errors import StoreHeld
from flipcore.core.study import ItemSource, ModelUse, Part
from flipcore.runs import inbox
from flipcore.store.connection import Store
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

# Without the product, whose start takes a second: what counts is the file that is held.
HOLDER = """
import os
import sys
import duckdb
connection = duckdb.connect(os.environ["FLIPSCOPE_DB"])
print("held", flush=True)
sys.stdin.readline()
connection.close()
"""

OFFER = """
import sys
from flipcore.core.study import Study
from flipcore.runs.inbox import hand_over
print(hand_over(Study.from_toml(sys.argv[1])))
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """Another process that holds the database until a line is written to it."""
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr(run, "ANSWER_S", 0.3)
    monkeypatch.setattr(run, "RETRY_S", 0.05)
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.communicate("\n", timeout=20)


def n_readouts():
    store = Store.open()
    try:
        return store.rows("SELECT count(*) FROM readouts")[0][0]
    finally:
        store.close()


@pytest.mark.slow
def test_run_waits_for_a_command_and_then_asks_the_study(holder, capsys):
    release = threading.Timer(1.0, lambda: (holder.stdin.write("\n"), holder.stdin.flush()))
    release.start()
    code = run.ask(tiny_study(), "again")
    assert code == 0 and holder.wait(20) == 0
    said = capsys.readouterr()
    assert "which takes no studies" in said.err and "probably an open dashboard" not in said.err and "tiny: done" in said.out
    assert n_readouts() > 0
    assert list(inbox.inbox_path().iterdir()) == []


def test_run_hands_over_to_a_dashboard_that_takes_the_study(holder, capsys):
    taken = []

    def watch():
        until = time.monotonic() + 10
        while not taken and time.monotonic() < until:
            taken.extend(inbox.take())
            time.sleep(0.05)

    dashboard = threading.Thread(target=watch)
    dashboard.start()
    assert run.ask(tiny_study(), "again") == 0
    dashboard.join()
    assert [study.name for study, _ in taken] == ["tiny"]
    assert "a dashboard, which took the study" in capsys.readouterr().out


@pytest.mark.slow  # its quick half: the test of an offer that still waits, below
def test_two_commands_with_one_study_do_not_take_each_other_for_a_dashboard(holder, capsys):
    """The first withdraws its offer while the second waits for an answer to its own."""
    study = tiny_study()
    other = subprocess.run([sys.executable, "-c", OFFER, study.to_toml()], capture_output=True, text=True, timeout=60)
    other_path = Path(other.stdout.strip())
    assert other_path.is_file()
    timer = threading.Timer(0.1, other_path.unlink)
    timer.start()
    with pytest.raises(StoreHeld):
        Store.open()
    assert not run._is_taken_over(study, "", StoreHeld("held"))
    timer.join()
    assert "took the study" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_later_run_asks_what_no_dashboard_took(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr(run, "LEFT_OVER_S", 0.0)
    inbox.hand_over(tiny_study(name="left behind"))
    assert run.ask(tiny_study(), "again") == 0
    assert "left behind: done" in capsys.readouterr().out


def test_a_study_left_before_the_clock_was_set_back_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = inbox.hand_over(tiny_study())
    later = time.time() + 3_600
    os.utime(path, (later, later))
    ((study, _),) = inbox.take(min_age_s=run.LEFT_OVER_S)
    assert study.study_id == tiny_study().study_id and not path.exists()


def test_a_study_that_still_waits_for_an_answer_is_not_taken_by_another_run(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = inbox.hand_over(tiny_study())
    assert inbox.take(min_age_s=run.LEFT_OVER_S) == [] and path.exists()
    assert inbox.withdraw(path) and not inbox.withdraw(path)


@pytest.mark.parametrize(
    ("of_study", "words"),
    [({"models": (ModelUse("nobody"),)}, "no model 'nobody'"), ({"axes": (Part("sideways"),)}, "'sideways'")],
    ids=["model", "axis"],
)
def test_a_name_that_nothing_offers_is_refused_before_anybody_waits(holder, tmp_path, capsys, of_study, words):
    path = tmp_path / "study.toml"
    path.write_text(replace(tiny_study(), **of_study).to_toml(), encoding="utf-8")
    assert main(["run", str(path)]) == 1
    said = capsys.readouterr().err
    assert words in said and "Waiting" not in said


def test_a_study_that_is_handed_over_names_copies_of_its_own_files(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "data" / "flips.duckdb"))
    table = tmp_path / "quiz.csv"
    table.write_text("question,answer\nWhat is 1 plus 1?,2\n", encoding="utf-8")
    study = replace(tiny_study(), items=(ItemSource("file", path=str(table)), ItemSource("pocket_choice", n=2)))
    own, shipped = run._with_kept_files(study).items
    assert Path(own.path).parent == tmp_path / "data" / "uploads" and shipped.path is None
    assert Path(own.path).read_text(encoding="utf-8") == table.read_text(encoding="utf-8")
