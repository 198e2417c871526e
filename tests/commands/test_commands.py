"""The commands: each stands in one table, opens the database in one place, and closes it however it ends."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flipcore.__main__ import Terminal, main, parser
from flipcore.annotation.key_review import UNANSWERABLE, errata_of, key_verdict_row
from flipcore.commands import COMMANDS
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.store.connection import Store
from flipcore.store.judgements import KEY_VERDICTS
from flipcore.store.queries import judgements, review, studies
from tests.conftest import ROOT
from tests.stores import copy_of, store_with

STUDY = Study(
    name="small",
    items=(ItemSource("flipscope_choice", n=4),),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-clean"),),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("finished"), STUDY)


@pytest.fixture
def path(finished, tmp_path, monkeypatch):
    """A copy of the finished study's database, which a command finds by itself."""
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.chdir(tmp_path)
    return copy_of(finished, tmp_path)


def test_every_file_of_commands_is_a_command():
    files = {path.stem for path in (ROOT / "flipcore" / "commands").glob("*.py")} - {"__init__", "opening", "questions"}
    assert files == {module.__name__.split(".")[-1] for module in COMMANDS.values()} and len(files) == len(COMMANDS)


def test_the_help_names_every_command_and_what_it_is_for(capsys):
    with pytest.raises(SystemExit, match="0"):
        parser().parse_args(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {module.HELP}" in shown for name, module in COMMANDS.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["stats", "small"], 0, marks=pytest.mark.slow),
        (["stats", "none"], 1),
        pytest.param(["audit", "small"], 0, marks=pytest.mark.slow),
        (["report", "small", "--out", "/dev/null/report.html"], 1),
        (["export", "small", "--format", "csv"], 0),
        (["variants", "small", "--for", "jsonl"], 0),
        (["variants", "none.toml", "--for", "jsonl"], 1),
        (["match", "small"], 1),
        (["reread", "small", "--set", r"expression=([A-D])"], 0),
        (["reread", "small", "--set", "expression=("], 1),
        (["archive", "small"], 0),
        (["archive", "small", "--check"], 1),
        (["restore", "small"], 1),
        (["merge", "none.duckdb"], 1),
        (["import", "none.jsonl"], 1),
        (["access", "link", "Ada"], 0),
    ],
)
def test_a_command_closes_the_database_however_it_ends(path, monkeypatch, capsys, words, code):
    opened, closed = [], []
    open_, close = Store.open, Store.close
    monkeypatch.setattr(Store, "open", classmethod(lambda cls, *at: opened.append(store := open_(*at)) or store))
    monkeypatch.setattr(Store, "close", lambda self: (closed.append(self), close(self))[1])
    assert main(words) == code, capsys.readouterr()
    assert opened == closed and (opened or words[0] in ("import", "variants"))
    said = capsys.readouterr()
    assert (said.err if code else said.out).strip()


# What the command line prints: no name is obeyed by a terminal, and no letter that it lacks ends a run in a traceback.


def printed(text, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    print(text, file=Terminal(stream), end="")
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_what_a_terminal_would_obey_is_shown_as_numbers():
    assert printed("\x1b]0;title\x07 \x9b2J a\rb \u202egpj") == "\\u001b]0;title\\u0007 \\u009b2J a\\u000db \\u202egpj"
    assert printed("\r5 of 9 rows   ") == "\r5 of 9 rows   " and printed("a\tb\nä") == "a\tb\nä"


def test_letters_that_the_terminal_lacks_become_plainer_ones():
    assert printed("T ≥ .3 … −1 ä", "ascii") == "T >= .3 ... -1 \\xe4"


@pytest.mark.slow  # what it prints is quick: the two tests above
def test_a_command_ends_well_where_the_terminal_knows_ascii_alone(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "FLIPSCOPE_DB": str(tmp_path / "flips.duckdb")}
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"id": {i}, "prompt": "Wie heißt {i}? \\u001b[2J", "response": "{i}", "target": {i}}}\n' for i in range(2))
    )
    commands = [["import", str(path), "--name", "Größe ≤ 3 \x1b[31m"], ["stats", "Größe ≤ 3 \x1b[31m"], ["plugins"]]
    # Three commands in one process: the terminal is the point, and each start takes a second.
    code = "import json, sys; from flipcore.__main__ import main; print([main(words) for words in json.loads(sys.argv[1])])"
    words = [sys.executable, "-c", code, json.dumps(commands)]
    ended = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True)
    assert ended.stdout.endswith(b"[0, 0, 0]\n"), ended
    assert b"Traceback" not in ended.stderr and b"\x1b" not in ended.stdout + ended.stderr, ended


@pytest.mark.slow
@pytest.mark.parametrize("command", [["plugins"], pytest.param(["stats", "small"], marks=pytest.mark.slow)])
def test_a_reader_that_goes_away_ends_a_command_without_a_word(path, command):
    """`flipscope stats … | head`, with a reader that is gone before the first line."""
    words = [sys.executable, "-m", "flipcore", *command]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (141, "")


@pytest.mark.slow
def test_errata_are_exported_by_command_as_the_page_shows_them(path, capsys):
    """A key that two people dispute, and before that a sentence."""
    command = ["export", "small", "--format", "errata", "--folder", str(path.parent / "out")]
    assert main(command) == 1 and "Nobody disputes a key" in capsys.readouterr().err
    store = Store.open()
    (study_id,) = (row["study_id"] for row in studies.studies(store).to_dict("records"))
    item = next(iter(review.items(store, list(studies.readouts(store, study_id)["item_id"].unique())).values()))
    judgements.keep(store, KEY_VERDICTS, [key_verdict_row(item, who, UNANSWERABLE) for who in ("Ada", "Ben")])
    rows = errata_of(store, study_id)
    store.close()
    assert main(command) == 0
    lines = Path(capsys.readouterr().out.strip()).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert [(row["item_id"], row["people say"], row["reviewers"]) for row in rows] == [(item.item_id, UNANSWERABLE, 2)]
