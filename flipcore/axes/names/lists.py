"""Names that a person may bear, by gender, and capitalised words that are no people. Lists: data/names (data/README.md), and `words.toml`
beside this file."""

import tomllib
from functools import cache
from pathlib import Path

from flipcore.core.paths import NAMES

WOMAN, MAN, EITHER = "woman", "man", "either"

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
TITLES, KIN = ({word: gender for gender, words in _WORDS[kind].items() for word in words.split()} for kind in ("titles", "kin"))
NO_PEOPLE = frozenset(_WORDS["no_people"].split())
NICKNAMES = {short: name for name, forms in _WORDS["short_forms"].items() for short in forms.split()}


@cache
def listed(stem: str) -> frozenset[str]:
    """The names of data/names/<stem>.txt: women, men, surnames, or also_words (names that are words or places too)."""
    return frozenset((NAMES / f"{stem}.txt").read_text(encoding="utf-8").split())


def is_given_name(name: str) -> bool:
    """Whether a list of first names holds it."""
    return name in listed("women") or name in listed("men")


def is_doubtful(name: str) -> bool:
    """A name that is also a word, a month or a place: a person only where the text says so."""
    return name in listed("also_words") or name in NO_PEOPLE


def gender(name: str) -> str:
    """WOMAN or MAN where only one list has it, else EITHER."""
    woman, man = name in listed("women"), name in listed("men")
    return EITHER if woman == man else WOMAN if woman else MAN


@cache
def pool(kind: str) -> tuple[str, ...]:
    """Names to put in another's place, sorted: of a gender, fitting either, or "surname". None is a word or a place, and none
    ends in s, x or z, so that a possessive is always formed with 's."""
    women, men = listed("women"), listed("men")
    names = {WOMAN: women - men, MAN: men - women, EITHER: women & men, "surname": listed("surnames") - women - men}[kind]
    return tuple(sorted(name for name in names if not is_doubtful(name) and name[-1] not in "sxz" and len(name) > 2))
