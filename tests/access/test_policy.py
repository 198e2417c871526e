"""The file of levels: by list, by claim, and what it must not say."""

import os

import pytest

from flipcore.access import policy
from flipcore.access.acting import (
    ALL_SOURCES,
    NOBODY,
    OWNER,
    QUEUE,
    Level,
    Person,
    access_file,
    acting,
    acting_as,
    is_access_on,
)
from flipcore.core.errors import BadInput

FILE = """
[levels]
admin = ["Ada@Example.org"]
analyst = ["*@lab.example.org", "ada@example.org"]
reviewer = ["guest@example.org"]
[claim]
name = "groups"
viewer = ["staff"]
analyst = ["authors"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))


def level_of(**login) -> Level:
    return policy.policy().person({"email_verified": True} | login).level


def test_a_login_has_its_level_by_list_and_else_by_claim():
    access_file().write_text(FILE)
    assert level_of(email="ada@example.org") is Level.ADMIN  # two lists: the first of admin, analyst, viewer, reviewer
    assert level_of(email="Bo@LAB.example.org") is Level.ANALYST
    assert level_of(email="x@other.org", groups=["staff", "x"]) is Level.VIEWER
    assert level_of(sub="17", groups="authors") is Level.ANALYST
    assert level_of(email="x@other.org", groups=["Staff"]) is Level.NONE and level_of(email="x@other.org") is Level.NONE
    guest = {"email": "guest@example.org", "email_verified": "true"}
    assert policy.policy().person(guest) == Person("guest@example.org", Level.REVIEWER, QUEUE + ALL_SOURCES)


def test_an_address_that_is_not_verified_names_nobody():
    access_file().write_text(FILE)
    assert level_of(email="ada@example.org", email_verified=False) is Level.NONE
    assert level_of(email="ada@example.org", email_verified=True) is Level.ADMIN
    assert level_of(email="ada@example.org", email_verified=None) is Level.NONE  # a provider that says nothing is not believed
    access_file().write_text(FILE + "[login]\naddresses_are_verified = true\n")
    os.utime(access_file(), ns=(1, 1))  # a file of the same moment would be read from memory
    assert level_of(email="ada@example.org", email_verified=None) is Level.ADMIN
    assert level_of(email="ada@example.org", email_verified=False) is Level.NONE
    assert policy.policy().person({}) == NOBODY


def test_access_is_on_while_the_file_is_there_and_follows_its_changes():
    with acting_as(NOBODY):
        assert not is_access_on() and acting() == OWNER
        access_file().write_text(policy.TEMPLATE)
        assert is_access_on() and acting() == NOBODY and level_of(email="ada@example.org") is Level.NONE
        access_file().write_text(FILE)
        assert level_of(email="ada@example.org") is Level.ADMIN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[levels", "not valid TOML"),
        ("[people]", "unknown table"),
        ("levels = 3", "no table"),
        ("[levels]\nroot = []", "names the level 'root'"),
        ("[levels]\nadmin = 'ada'", "no list of texts"),
        ("[levels]\nadmin = [3]", "no list of texts"),
        ("[claim]\nviewer = ['x']", "without its name"),
        ("#" * 1_100_000, "more than"),
        ("\udcff", "not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_sentence_and_opens_nothing(text, said):
    access_file().write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=said):
        policy.policy()
    assert is_access_on()
