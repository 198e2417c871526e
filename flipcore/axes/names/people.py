"""The people that a text names: which capitalised words are persons, whether given name or surname,
and of which gender; and the lists that say so (data/names, see data/README.md, and `words.toml`
beside this file).

Conservative: a name of the lists counts, a name that is also a word or a place only with evidence
that it acts or owns, and an unknown word only if it acts and a pronoun speaks of it. What is not
recognised stays as it is, which harms nothing.
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
    """The names of data/names/<stem>.txt: women, men, surnames, or also_words (names that are words
    or places too)."""
    return frozenset((NAMES / f"{stem}.txt").read_text(encoding="utf-8").split())


def is_given_name(name: str) -> bool:
    """Tell whether a list of first names holds the name."""
    return name in listed("women") or name in listed("men")


def is_doubtful(name: str) -> bool:
    """A name that is also a word, a month or a place: a person only where the text says so."""
    return name in listed("also_words") or name in NO_PEOPLE


def gender(name: str) -> str:
    """WOMAN or MAN where only one list has it, else EITHER."""
    woman, man = name in listed("women"), name in listed("men")
    if woman == man:
        return EITHER
    return WOMAN if woman else MAN


@cache
def pool(kind: str) -> tuple[str, ...]:
    """Names to put in another's place, sorted: of a gender, fitting either, or "surname". None is a
    word or a place, and none ends in s, x or z, so that a possessive is always formed with 's."""
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
# a verb, or a plural: only with a pronoun beside it
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
    """One capitalised word; `run` are the capitalised words next to it and itself."""

    start: int
    end: int
    text: str
    starts_sentence: bool
    title: str
    run: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """A name that is to be replaced wherever it stands; `is_surname` says from which list."""

    name: str
    gender: str
    is_surname: bool


def tokens(text: str) -> list[Token]:
    """Capitalised words in reading order, without titles."""
    spans = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text)]
    words = []
    for i, (start, end, word) in enumerate(spans):
        before = _BEFORE.search(text[:start])
        title = ""
        if before and (before[1] in TITLES or (before[1] in KIN and not before[2])):
            title = before[1]
        if word not in TITLES and not (word in KIN and _next(text, spans, i=i)):
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


def _next(text: str, spans: Sequence[tuple[int, int, str]], i: int) -> bool:
    return i + 1 < len(spans) and text[spans[i][1] : spans[i + 1][0]] == " "


def _run(text: str, spans: Sequence[tuple[int, int, str]], i: int) -> tuple[str, ...]:
    low = high = i
    while low and _next(text, spans, i=low - 1):
        low -= 1
    while _next(text, spans, i=high):
        high += 1
    words = [word for _, _, word in spans[low : high + 1]]
    opens = bool(_SENTENCE_START.search(text[: spans[low][0]]))
    while (
        words[:1]
        and low < i
        and (words[0] in TITLES or words[0] in KIN or (words[0] in NO_PEOPLE and opens))
    ):
        words, low = words[1:], low + 1
    return tuple(words)


def people(text: str) -> list[Person]:
    """Every person of the text once, in the order of first mention."""
    words = tokens(text)
    by_word: dict[str, list[Token]] = {}
    for token in words:
        by_word.setdefault(token.text, []).append(token)
    # A word that also stands in small letters is a word: "Rose" where "rose" is read too.
    lower = set(re.findall(r"(?<![\w])[a-zà-ÿ]+(?![\w])", text))
    surnames = {
        word
        for word, places in by_word.items()
        if _is_surname(word, places, text=text, lower=lower)
    }
    given_names = [
        word
        for word, places in by_word.items()
        if word not in surnames and _is_person(word, places, text=text, lower=lower)
    ]
    persons = []
    for word in by_word:
        if word in surnames:
            persons.append(Person(word, EITHER, is_surname=True))
        elif word in given_names:
            persons.append(
                Person(
                    word,
                    _gender(word, by_word[word], text=text, given_names=given_names),
                    is_surname=False,
                )
            )
    return persons


def _is_surname(word: str, places: Sequence[Token], text: str, lower: set[str]) -> bool:
    """After a title, before "family", or after a given name of the lists and not itself a thing."""
    if word in NO_PEOPLE or word.lower() in lower:
        return False
    if any(_HOUSEHOLD.match(text[token.end :]) and len(token.run) <= 2 for token in places):
        return True
    if any(
        token.title in TITLES
        and not (is_given_name(word) and token.title in {"Coach", "Miss", "Chef", "Nurse"})
        for token in places
    ):
        return True
    after_given = any(
        len(token.run) == 2 and token.run[1] == word and is_given_name(token.run[0])
        for token in places
    )
    return after_given and (word in listed("surnames") or not is_given_name(word))


def _is_person(word: str, places: Sequence[Token], text: str, lower: set[str]) -> bool:
    """A given name: by the lists, with evidence where it is doubtful, or by deed and pronoun where
    it is unknown."""
    unaccompanied = [
        token
        for token in places
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
        for token in places
        if not is_listed or is_doubtful(word)
    ):
        return False
    if is_listed and not is_doubtful(word):
        return True
    evident = [token for token in unaccompanied if _evident(token, text)]
    has_pronoun = bool(_PRONOUN.search(text))
    does = [token for token in unaccompanied if has_pronoun and _DOES.match(text[token.end :])]
    if is_listed:
        return bool(evident or does) and all(
            token in evident or token in does or not token.starts_sentence for token in places
        )
    if (
        word in NO_PEOPLE
        or word.lower() in lower
        or not all(len(token.run) == 1 for token in places)
    ):
        return False
    acts = any(_ACTS.match(text[token.end :]) for token in evident)
    subject = any(token.starts_sentence or _SUBJECT.search(text[: token.start]) for token in places)
    return (
        subject
        and bool(evident)
        and (has_pronoun or (acts and len(places) > 1))
        and (acts or bool(does))
    )


def acts_alone(text: str, names: Sequence[str]) -> bool:
    """Tell whether a person of these names acts in the text.

    Owning counts where a pronoun speaks of the person. None may stand next to another capitalised
    word or after "the", as a famous person or a law of nature would.
    """
    places = [token for token in tokens(text) if token.text in names]
    if any(
        len(token.run) > 1 or re.search(r"\bthe\s$", text[: token.start], re.IGNORECASE)
        for token in places
    ):
        return False
    has_pronoun = bool(_PRONOUN.search(text))
    return any(
        _ACTS.match(text[token.end :])
        or _RELATION.search(text[: token.start])
        or (
            has_pronoun and (_POSSESSIVE.match(text[token.end :]) or _DOES.match(text[token.end :]))
        )
        for token in places
    )


def _evident(token: Token, text: str) -> bool:
    """The word acts, owns, is somebody's relation, or has a title."""
    after = text[token.end :]
    if token.title or _RELATION.search(text[: token.start]) or _POSSESSIVE.match(after):
        return True
    return bool(_ACTS.match(after)) and not (
        token.text in {"Will", "May"} and token.starts_sentence
    )


def _gender(word: str, places: Sequence[Token], text: str, given_names: Sequence[str]) -> str:
    """By the lists; by title, relation or pronoun where they do not say, or where there is one
    person and one gender."""
    listed_gender = gender(word) if is_given_name(word) else EITHER
    genders = {TITLES.get(token.title) or KIN.get(token.title, EITHER) for token in places} & {
        MAN,
        WOMAN,
    }
    for token in places:
        relation = _RELATION.search(text[: token.start])
        if relation and relation["man"]:
            genders.add(MAN)
        elif relation and relation["woman"]:
            genders.add(WOMAN)
    if len(given_names) == 1:
        genders |= _pronouns(text)
    elif listed_gender == EITHER and not genders:
        genders = _spoken_after(word, places, text=text, given_names=given_names)
    if len(genders) == 1:
        return genders.pop()
    return listed_gender if not genders else EITHER


def _pronouns(text: str) -> set[str]:
    return {MAN if man else WOMAN for man, _ in _PRONOUN.findall(text)}


def _spoken_after(
    word: str, places: Sequence[Token], text: str, given_names: Sequence[str]
) -> set[str]:
    """Genders of the pronouns between a mention and the next mention of somebody else."""
    names = [re.escape(name) for name in given_names if name != word]
    somebody_else = re.compile(r"\b(?:" + "|".join(names) + r")\b") if names else None
    genders: set[str] = set()
    for token in places:
        end = somebody_else.search(text, token.end) if somebody_else else None
        genders |= _pronouns(text[token.end : end.start() if end else len(text)])
    return genders
