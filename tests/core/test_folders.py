"""Which folders may be read: the admin's list, or what the command line was given; a link out of them leads nowhere."""

import pytest

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.core.paths import DATA


@pytest.fixture(autouse=True)
def nobody_admitted(monkeypatch):
    monkeypatch.delenv(folders.VARIABLE, raising=False)
    monkeypatch.setattr(folders, "_admitted", set())


def test_the_projects_data_may_always_be_read_and_nothing_beside_it(tmp_path):
    assert folders.allowed(DATA / "models.toml") == (DATA / "models.toml").resolve()
    with pytest.raises(BadInput, match="outside of the folders that may be read"):
        folders.allowed(tmp_path / "secret")


def test_a_folder_is_admitted_with_what_lies_below(tmp_path):
    folders.admit(tmp_path)
    assert folders.allowed(tmp_path / "a" / "b") == (tmp_path / "a" / "b").resolve()


def test_a_link_that_leads_out_is_followed_and_refused(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("secret", encoding="utf-8")
    (inside / "link").symlink_to(outside)
    folders.admit(inside)
    with pytest.raises(BadInput, match="outside"):
        folders.allowed(inside / "link")


def test_the_admins_list_overrides_what_was_admitted(tmp_path, monkeypatch):
    folders.admit(tmp_path)
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path / "only"))
    assert folders.allowed(tmp_path / "only" / "x")
    with pytest.raises(BadInput, match="outside"):
        folders.allowed(tmp_path / "x")


def test_what_is_no_path_is_a_sentence():
    with pytest.raises(BadInput, match="is no path"):
        folders.allowed("a\0b")
