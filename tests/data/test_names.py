"""The name lists can be put into a problem without making it ambiguous."""

import re

import pytest

from tests.conftest import ROOT
from tests.data.test_items import PROBLEMS

NAMES = {path.stem: path.read_text("utf-8").splitlines() for path in sorted((ROOT / "data/names").glob("*.txt"))}
# English words (and days, months, places) that are also given names: a renamed sentence could be misread.
WORDS = set(
    """April Amber Angel Art Autumn Bill Carol Chance Chase Christian Cliff Crystal Daisy Dawn Dean Drew Faith Florence
    Forest Frank Gene Ginger Glen Grace Grant Guy Harmony Hazel Heather Hector Holly Hope Hunter Iris Ivy Jack Jade
    Jordan Josh Joy June Lance Lily Major Mark Mason Max May Melody Mercedes Miles Milan Olive Page Paris Pascal
    Pat Pearl Penny Petra Pierce Ray Reed Rich Rob Robin Rose Ruby Rusty Sage Said Sandy Sky Sofia Sue Summer Victor
    Victoria Violet Virginia Wade Will""".split()
)


@pytest.mark.parametrize(("stem", "n_least"), [("given_names", 300), ("surnames", 100)])
def test_a_list_is_long_sorted_and_without_repeats(stem, n_least):
    names = NAMES[stem]
    assert len(names) >= n_least
    assert names == sorted(set(names))
    assert all(re.fullmatch(r"[A-Z][a-z]+", name) for name in names)


def test_no_given_name_is_also_a_surname_or_a_common_word():
    assert not set(NAMES["given_names"]) & set(NAMES["surnames"])
    assert not set(NAMES["given_names"]) & WORDS


def test_the_people_of_the_problems_are_on_the_list():
    # A capitalised subject of one of these verbs is a person or a pronoun.
    verbs = "is|has|buys|keeps|earns|types|folds|plants|bakes|wants|needs"
    people = re.compile(rf"\b([A-Z][a-z]+) (?:{verbs})\b")
    pronouns = {"He", "She", "It", "They", "Each"}
    found = {name for item in PROBLEMS for name in people.findall(item["question"])} - pronouns
    assert len(found) >= 10
    assert found <= set(NAMES["given_names"])
