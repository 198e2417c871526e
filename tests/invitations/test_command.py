"""Access from the command line, and the owner's own link."""

import stat

import pytest

from flipcore.__main__ import main
from flipcore.access.acting import is_access_on
from flipcore.commands.access import keep_admin_link, link_file
from flipcore.invitations.links import enter
from flipcore.store.connection import Store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


def test_it_is_switched_on_and_off_and_says_where_it_stands(capsys):
    for words, said in (("status", "is off"), ("on", "is on"), ("on", "is on"), ("status", "is on"), ("off", "kept as")):
        assert main(["access", words]) == 0 and said in capsys.readouterr().out
    assert not is_access_on() and main(["access", "off"]) == 0


def test_a_link_of_the_command_line_lets_its_person_in(capsys):
    main(["access", "on"])
    capsys.readouterr()
    assert main(["access", "link", "Ada", "--level", "viewer", "--address", "https://x.example"]) == 0
    address, _, token = capsys.readouterr().out.strip().partition("#")
    assert address == "https://x.example/access/enter"
    store = Store.open()
    assert enter(store, token).place == "/"
    store.close()
    assert main(["access", "link", " "]) == 1 and "give a name" in capsys.readouterr().err


def test_the_owners_link_lies_in_a_file_of_theirs_until_it_was_opened():
    main(["access", "on"])
    store = Store.open()
    said = keep_admin_link(store, "http://localhost:1/")
    text = link_file().read_text().strip()
    assert str(link_file()) in said and text.partition("#")[2] not in said
    assert stat.S_IMODE(link_file().stat().st_mode) == 0o600
    keep_admin_link(store, "http://localhost:1/")
    assert link_file().read_text().strip() == text  # the same link while nobody opened it
    assert enter(store, text.partition("#")[2]).cookie
    assert "was opened before" in keep_admin_link(store, "http://localhost:1/")
    store.close()
