"""Finds the people that a text names, with the gender of each name.

It uses lists of names (data/names, see data/README.md) and of words (`words.toml` beside this
file), and it is conservative. A listed name counts. A name that is also a word or a place counts
only with evidence: it acts or owns something. An unknown word counts only if it acts and a pronoun
refers to it. A person who is not found keeps the name, which does no harm.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flipcore.core.paths import NAMES

WOMAN, MAN, EITHER = "woman", "man", "either"

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def _gender_by_word(kind: str) -> dict[str, str]:
    genders: dict[str, str] = {}
    for gender, words in _WORDS[kind].items():
        genders |= dict.fromkeys(words.split(), gender)
    return genders


TITLES, KIN = _gender_by_word("titles"), _gender_by_word("kin")
NO_PEOPLE = frozenset(_WORDS["no_people"].split())
NICKNAMES: dict[str, str] = {}
for _name, _forms in _WORDS["short_forms"].items():
    NICKNAMES |= dict.fromkeys(_forms.split(), _name)


@cache
def listed(stem: str) -> frozenset[str]:
    """Return the names in data/names/<stem>.txt: women, men, surnames, or also_words (names that
    are also words or mentions)."""
    return frozenset((NAMES / f"{stem}.txt").read_text(encoding="utf-8").split())


def is_given_name(name: str) -> bool:
    """Tell whether a list of given names holds the name."""
    return name in listed("women") or name in listed("men")


def is_doubtful(name: str) -> bool:
    """Tell whether a name is also a word, a month or a place, so that it may be no person."""
    return name in listed("also_words") or name in NO_PEOPLE


def gender(name: str) -> str:
    """Return WOMAN or MAN where only that list has the name, else EITHER."""
    woman, man = name in listed("women"), name in listed("men")
    if woman == man:
        return EITHER
    return WOMAN if woman else MAN


@cache
def pool(kind: str) -> tuple[str, ...]:
    """Return sorted names to use as replacements; `kind` is a gender or "surname". None of them is
    also a word or a place. None ends in s, x or z, so that every possessive is formed with 's."""
    women, men = listed("women"), listed("men")
    names = {
        WOMAN: women - men,
        MAN: men - women,
        EITHER: women & men,
        "surname": listed("surnames") - women - men,
    }[kind]
    return tuple(
        sorted(
            name
            for name in names
            if not is_doubtful(name) and name[-1] not in "sxz" and len(name) > 2
        )
    )


_TOKEN = re.compile(r"(?<![\w-])(?<![^\W\d_]['’])[^\W\d_a-zà-ÿ][^\W\d_]+(?![\w-])")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n][\"”’')\]]*|^\W+)\s*[\"“‘'(]*$")
_BEFORE = re.compile(r"([^\W\d_]+)(\.?)\s$")
_POSSESSIVE = re.compile(r"['’]s\b")
_ACTS = re.compile(
    r"\s(?:also |then |now |only |already |just |still |always |usually |currently |initially |"
    r"decided |will |would |can |could |should |has |had |is |was |did |does |wants? |wanted |"
    r"needs? |needed )*(?:has|had|is|was|wants?|wanted|needs?|needed|buys?|bought|sells?|sold|"
    r"makes?|made|gets?|got|gives?|gave|goes|went|eats?|ate|runs?|ran|walks?|walked|works?|worked|"
    r"earns?|earned|pays?|paid|spends?|spent|saves?|saved|takes?|took|reads?|bakes?|baked|plays?|"
    r"played|plants?|planted|collects?|collected|owns?|owned|drives?|drove|lives?|lived|likes?|"
    r"liked|loves?|loved|finds?|found|picks?|picked|writes?|wrote|receives?|received|brings?|"
    r"brought|uses?|used|starts?|started|decides?|decided|loses?|lost|does|did|can|could|will|"
    r"would|should|cuts?|puts?|cooks?|cooked|cleans?|cleaned|counts?|counted|orders?|ordered|"
    r"invites?|invited|weighs?|weighed|charges?|charged|says?|said|and|were|are|have|currently|"
    r"gathers?|keeps?|kept|rides?|rode|swims?|swam|hikes?|hiked|travels?|travell?ed|watche[sd]|"
    r"teache[sd]|taught|types?|typed|thinks?|knows?|tells?|told|asks?|asked|drinks?|drank|"
    r"borrows?|borrowed|adds?|added|visits?|visited|practices?|grows?|grew|sees?|saw|leaves?|left|"
    r"rents?|rented|hires?|hired|raises?|raised|feeds?|fed|sits?|sat|throws?|threw|begins?|began|"
    r"leads?|shares?|shared|sews?|sewed|paints?|painted|builds?|built|draws?|drew|stores?|owes?|"
    r"owed|turns?|turned|plans?|planned|fills?|filled|folds?|folded|hands?|handed|tries|tried|"
    r"stops?|stopped)\b"
)
# This also matches plurals of nouns, so it counts only in a text with a pronoun.
_DOES = re.compile(r"\s[a-z]{2,}(?:s|ed)\b(?<!as)(?<!us)")
_SUBJECT = re.compile(
    r"(?:,|\b(?:and|or|than|if|when|while|did|does|do|that|as|will|can|should|by|with|to|for|each"
    r"|day))\s$",
    re.IGNORECASE,
)
_HOUSEHOLD = re.compile(r"\s(?:family|twins|household|brothers|sisters|siblings|kids|couple)\b")
_PLACED = re.compile(
    r"\b(?:in|at|near|across|during|around|through|the|a|an|of|St\.?|Saint|Lake|Mount|Fort|Port|"
    r"Los|San|visit(?:s|ed|ing)?)\s$",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(?:(?P<man>brother|father|dad|uncle|son|husband|boyfriend|grandfather|nephew|grandson|boy|"
    r"man)|(?P<woman>sister|mother|mom|aunt|daughter|wife|girlfriend|grandmother|niece|"
    r"granddaughter|girl|woman)|friends?|cousin|neighbou?r|classmate|named|called|roommate|"
    r"partner|colleague|sibling),?\s$"
)
_PRONOUN = re.compile(r"\b(?:(he|him|his|himself)|(she|her|hers|herself))\b", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    """One capitalized word. `title` is the title or kinship word before it, or "". `run` are all
    adjacent capitalized words, itself included."""

    start: int
    end: int
    text: str
    starts_sentence: bool
    title: str
    run: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """A person's name, and the list that its replacement must come from."""

    name: str
    gender: str
    is_surname: bool


def tokens(text: str) -> list[Token]:
    """Return the capitalized words in reading order, without titles."""
    spans = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text)]
    words = []
    for i, (start, end, word) in enumerate(spans):
        before = _BEFORE.search(text[:start])
        title = ""
        if before and (before[1] in TITLES or (before[1] in KIN and not before[2])):
            title = before[1]
        if word not in TITLES and not (word in KIN and _is_followed(text, spans, i=i)):
            words.append(
                Token(
                    start,
                    end,
                    text=word,
                    starts_sentence=bool(_SENTENCE_START.search(text[:start])),
                    title=title,
                    run=_run(text, spans, i=i),
                )
            )
    return words


def _is_followed(text: str, spans: Sequence[tuple[int, int, str]], i: int) -> bool:
    """Tell whether only a blank separates span `i` from the next one."""
    if i + 1 == len(spans):
        return False
    _, end, _ = spans[i]
    next_start, _, _ = spans[i + 1]
    return text[end:next_start] == " "


def _run(text: str, spans: Sequence[tuple[int, int, str]], i: int) -> tuple[str, ...]:
    """Return the adjacent capitalized words around span `i`, without leading titles."""
    first = last = i
    while first and _is_followed(text, spans, i=first - 1):
        first -= 1
    while _is_followed(text, spans, i=last):
        last += 1
    words = [word for _, _, word in spans[first : last + 1]]
    opens_sentence = bool(_SENTENCE_START.search(text[: spans[first][0]]))
    while (
        words[:1]
        and first < i
        and (words[0] in TITLES or words[0] in KIN or (words[0] in NO_PEOPLE and opens_sentence))
    ):
        words, first = words[1:], first + 1
    return tuple(words)


def people(text: str) -> list[Person]:
    """Return every person of the text once, in the order of first mention."""
    by_word: dict[str, list[Token]] = {}
    for token in tokens(text):
        by_word.setdefault(token.text, []).append(token)
    # A word that also occurs in small letters is no name: "Rose" in a text with "rose".
    lowercase = set(re.findall(r"(?<![\w])[a-zà-ÿ]+(?![\w])", text))
    surnames = {
        word
        for word, mentions in by_word.items()
        if _is_surname(word, mentions, text=text, lowercase=lowercase)
    }
    given_names = [
        word
        for word, mentions in by_word.items()
        if word not in surnames and _is_person(word, mentions, text=text, lowercase=lowercase)
    ]
    persons = []
    for word, mentions in by_word.items():
        if word in surnames:
            persons.append(Person(word, EITHER, is_surname=True))
        elif word in given_names:
            name_gender = _gender(word, mentions, text=text, given_names=given_names)
            persons.append(Person(word, name_gender, is_surname=False))
    return persons


def _is_surname(word: str, mentions: Sequence[Token], text: str, lowercase: set[str]) -> bool:
    """Tell whether a word is a surname: after a title, before "family", or after a given name."""
    if word in NO_PEOPLE or word.lower() in lowercase:
        return False
    if any(_HOUSEHOLD.match(text[token.end :]) and len(token.run) <= 2 for token in mentions):
        return True
    if any(
        token.title in TITLES
        and not (is_given_name(word) and token.title in {"Coach", "Miss", "Chef", "Nurse"})
        for token in mentions
    ):
        return True
    after_given = any(
        len(token.run) == 2 and token.run[1] == word and is_given_name(token.run[0])
        for token in mentions
    )
    return after_given and (word in listed("surnames") or not is_given_name(word))


def _is_person(word: str, mentions: Sequence[Token], text: str, lowercase: set[str]) -> bool:
    """Tell whether a word is a given name. Listed names count, doubtful ones only with evidence.
    Unknown words must act, and a pronoun must refer to them."""
    # Mentions that stand alone, or with a listed name in front of a surname.
    unaccompanied = [
        token
        for token in mentions
        if len(token.run) == 1
        or (
            is_given_name(word)
            and len(token.run) == 2
            and token.run[0] == word
            and token.run[1] not in NO_PEOPLE
        )
    ]
    is_listed = is_given_name(word)
    if not unaccompanied or any(
        _PLACED.search(text[: token.start]) and not _POSSESSIVE.match(text[token.end :])
        for token in mentions
        if not is_listed or is_doubtful(word)
    ):
        return False
    if is_listed and not is_doubtful(word):
        return True
    evident = [token for token in unaccompanied if _has_evidence(token, text)]
    has_pronoun = bool(_PRONOUN.search(text))
    doing = [token for token in unaccompanied if has_pronoun and _DOES.match(text[token.end :])]
    if is_listed:
        return bool(evident or doing) and all(
            token in evident or token in doing or not token.starts_sentence for token in mentions
        )
    if (
        word in NO_PEOPLE
        or word.lower() in lowercase
        or not all(len(token.run) == 1 for token in mentions)
    ):
        return False
    acts = any(_ACTS.match(text[token.end :]) for token in evident)
    is_subject = any(
        token.starts_sentence or _SUBJECT.search(text[: token.start]) for token in mentions
    )
    return (
        is_subject
        and bool(evident)
        and (has_pronoun or (acts and len(mentions) > 1))
        and (acts or bool(doing))
    )


def acts_alone(text: str, names: Sequence[str]) -> bool:
    """Tell whether a person of these names acts in the text.

    Owning counts too where the text has a pronoun. No mention may be next to another capitalized
    word or after "the", as famous persons and laws of nature are.
    """
    mentions = [token for token in tokens(text) if token.text in names]
    if any(
        len(token.run) > 1 or re.search(r"\bthe\s$", text[: token.start], re.IGNORECASE)
        for token in mentions
    ):
        return False
    has_pronoun = bool(_PRONOUN.search(text))
    return any(
        _ACTS.match(text[token.end :])
        or _RELATION.search(text[: token.start])
        or (
            has_pronoun and (_POSSESSIVE.match(text[token.end :]) or _DOES.match(text[token.end :]))
        )
        for token in mentions
    )


def _has_evidence(token: Token, text: str) -> bool:
    """Tell whether a mention acts, owns, is somebody's relation, or has a title."""
    after = text[token.end :]
    if token.title or _RELATION.search(text[: token.start]) or _POSSESSIVE.match(after):
        return True
    return bool(_ACTS.match(after)) and not (
        token.text in {"Will", "May"} and token.starts_sentence
    )


def _gender(word: str, mentions: Sequence[Token], text: str, given_names: Sequence[str]) -> str:
    """Return a person's gender; EITHER where the text and the lists leave it open.
    Titles, relations and pronouns in the text override the lists."""
    listed_gender = gender(word) if is_given_name(word) else EITHER
    genders = {TITLES.get(token.title) or KIN.get(token.title, EITHER) for token in mentions}
    genders &= {MAN, WOMAN}
    for token in mentions:
        relation = _RELATION.search(text[: token.start])
        if relation and relation["man"]:
            genders.add(MAN)
        elif relation and relation["woman"]:
            genders.add(WOMAN)
    if len(given_names) == 1:
        genders |= _pronoun_genders(text)
    elif listed_gender == EITHER and not genders:
        genders = _pronoun_genders_after(word, mentions, text=text, given_names=given_names)
    if len(genders) == 1:
        return genders.pop()
    return listed_gender if not genders else EITHER


def _pronoun_genders(text: str) -> set[str]:
    return {MAN if man else WOMAN for man, _ in _PRONOUN.findall(text)}


def _pronoun_genders_after(
    word: str, mentions: Sequence[Token], text: str, given_names: Sequence[str]
) -> set[str]:
    """Return the genders of pronouns between a mention and the next mention of somebody else."""
    names = [re.escape(name) for name in given_names if name != word]
    somebody_else = re.compile(r"\b(?:" + "|".join(names) + r")\b") if names else None
    genders: set[str] = set()
    for token in mentions:
        end = somebody_else.search(text, token.end) if somebody_else else None
        genders |= _pronoun_genders(text[token.end : end.start() if end else len(text)])
    return genders
