"""Entity rename (source 000): the same story with other names of people; the target stays.

Each name is replaced in the whole question, with its possessives and plurals. A new name has the
gender of the old one, begins with another letter, and is not similar to any word or name in the
text. An item is refused and keeps its base prompt where its names matter or may be confused.
`params["names"]` lists [old, new] pairs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar

import numpy as np

from flipcore.axes.names import people
from flipcore.axes.variants import Refusal, rewritten_or_base, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Variant

_ABOUT_LETTERS = re.compile(
    r"\b(?:letters? (?:in|of)|alphabet\w*|initials|rhym\w+|nickname\w*|spell\w*|syllables?|vowels?|"
    r"consonants?|anagram|palindrome|short for|named after|"
    r"first names?|last names?|surnames?)\b",
    re.IGNORECASE,
)
_REAL = re.compile(
    r"\b(?:kings?|queens?|emperor|pope|gospel|bible|biblical|prophet|saint|st\.|century|"
    r"philosoph\w+|president|novel|opera|poem|poet|author|character|film|song|according to|"
    r"theor\w+|scientist|historian|\d{4}|wrote|war|composer|painter|artist|play|reign|dynasty|"
    r"treaty|act|v\.|vs\.?)\b|[“\"](?:The|A|An) [A-Z]",
    re.IGNORECASE,
)
_FORMAL = re.compile(
    r"[∨∧⊃≡→∀∃¬]|[~•]\s?[A-Z(]|\b(?:symboli[sz]\w+|predicate logic|propositional|translat\w+)\b",
    re.IGNORECASE,
)
_MIN_SIMILARITY = 0.8  # SequenceMatcher's ratio from which names count as alike


@dataclass(frozen=True)
class Renaming:
    """The rewritten question, and its (old, new) names."""

    question: str
    names: tuple[tuple[str, str], ...]


def renaming(item: Item, rng: np.random.Generator) -> Renaming | Refusal:
    """Rename an item's people; return why not where that is not safe."""
    full_text = "\n".join([item.question, *item.options])
    persons = people.people(item.question)
    refusal = _refusal(item, persons, full_text=full_text)
    if refusal:
        return refusal
    new_names = _new_names(persons, full_text, rng=rng)
    if new_names is None:
        return Refusal("no name left", "Every name of the lists is too like one of the text.")
    question = _renamed(item.question, new_names)
    for old in new_names:
        # In small letters, a doubtful name is probably the word.
        flags = 0 if people.is_doubtful(old) else re.IGNORECASE
        if re.search(rf"(?<!\w){re.escape(old)}(?!\w)", question, flags):
            return Refusal(
                "name in another form",
                f"{old} also stands in the text in a form that is not replaced.",
            )
    return Renaming(question, tuple(new_names.items()))


def _refusal(item: Item, persons: Sequence[people.Person], full_text: str) -> Refusal | None:
    """Return why an item's people cannot be renamed safely; None if they can."""
    if not persons:
        return Refusal("no person named", "No word of the question is certainly a person's name.")
    if _ABOUT_LETTERS.search(full_text):
        return Refusal(
            "the name itself matters",
            "The text speaks of letters or names, so another name may change the answer.",
        )
    if item.kind == "choice":
        if _FORMAL.search(full_text):
            return Refusal(
                "the name itself matters", "A formula may stand for the name by its first letter."
            )
        may_be_real = (
            _REAL.search(full_text)
            or any(person.is_surname or not people.is_given_name(person.name) for person in persons)
            or not people.acts_alone(item.question, [person.name for person in persons])
        )
        if may_be_real:
            return Refusal(
                "may be a real person",
                "The question may be about somebody who lived; another name would be wrong.",
            )
        names = [person.name for person in persons]
        if any(_stands_in_option(name, item.options) for name in names):
            return Refusal(
                "name in an option",
                "An option names the person, and options are read as the item has them.",
            )
    twins = _one_person_twice([person.name for person in persons], full_text)
    if twins:
        return Refusal("two forms of one name", f"{twins[0]} and {twins[1]} may be one person.")
    return None


def _stands_in_option(name: str, options: Sequence[str]) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return any(pattern.search(option) for option in options)


def _one_person_twice(names: Sequence[str], full_text: str) -> tuple[str, str] | None:
    """Return two names of the text that may mean one person; None without such names.

    "Sam" and "Samantha", "Robert" and "Bob", "Michael" and "Micheal" may be one person, who would
    otherwise get two names.
    """
    words = {token.text for token in people.tokens(full_text)} - people.NO_PEOPLE
    for name in names:
        for word in sorted(words - {name, name + "s"}):
            # "Sam and Samantha" are two persons.
            if re.search(
                rf"\b(?:{name}(?:, | and | or ){word}|{word}(?:, | and | or ){name})\b", full_text
            ):
                continue
            short, long = sorted((name, word), key=len)
            is_nickname = people.NICKNAMES.get(name, name) == people.NICKNAMES.get(word, word)
            is_word_listed = people.is_given_name(word)
            is_misspelling = (
                not (people.is_given_name(name) and is_word_listed)
                and len(short) > 3
                and _are_alike(name, word)
            )
            is_short_form = is_word_listed and len(short) > 2 and long.startswith(short)
            if is_nickname or is_misspelling or is_short_form:
                return name, word
    return None


def _are_alike(a: str, b: str) -> bool:
    ratio = SequenceMatcher(None, a.lower(), b.lower(), autojunk=False).ratio()
    return ratio >= _MIN_SIMILARITY


def _new_names(
    persons: Sequence[people.Person], full_text: str, rng: np.random.Generator
) -> dict[str, str] | None:
    """Draw a new name for each person, old -> new; None if the lists have none that fits."""
    words = {word.lower() for word in re.findall(r"[^\W\d_]{3,}", full_text)}
    capitalized_words = {token.text for token in people.tokens(full_text)}
    new_names: dict[str, str] = {}
    for person in persons:
        candidates = people.pool("surname" if person.is_surname else person.gender)
        names = capitalized_words | set(new_names.values())
        for i in rng.permutation(len(candidates)):
            if _fits(candidates[i], person.name, words=words, names=names):
                new_names[person.name] = candidates[i]
                break
        else:
            return None
    return new_names


def _fits(new: str, old: str, words: set[str], names: set[str]) -> bool:
    """Tell whether no word (in small letters) and no name can be confused with a new name."""
    folded = new.lower()
    if folded[0] == old[0].lower() or any(
        folded.startswith(word) or word.startswith(folded) for word in words
    ):
        return False
    return not any(
        _are_alike(new, name)
        or new.startswith(name)
        or name.startswith(new)
        or people.NICKNAMES.get(new, new) == people.NICKNAMES.get(name, name)
        for name in names
    )


def _renamed(text: str, new_names: Mapping[str, str]) -> str:
    """Replace all names at once, also in "James'", "Jameses" and "the Smiths"."""
    names = "|".join(re.escape(old) for old in sorted(new_names, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<![\w-])(?<![^\W\d_]['’])({names})(s['’]?(?!\w)|es(?!\w)|['’](?=\s+[a-z\d$]))?(?!\w)"
    )

    def replacement(match: re.Match) -> str:
        ending = match[2] or ""
        if ending in ("'", "’") and match[1][-1] in "sxz":
            ending += "s"
        return new_names[match[1]] + ("s" if ending == "es" else ending)

    return pattern.sub(replacement, text)


@dataclass(frozen=True)
class EntityRename(Axis):
    """`n` renamings of an item."""

    n: int = param(1, "how many")
    name: ClassVar[str] = "entity_rename"
    title: ClassVar[str] = "Names changed"
    about: ClassVar[str] = "The same story about people of other names; the right answer stays."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})
    rewrites: ClassVar[bool] = True
    drop_gap: ClassVar[bool] = True
    past: ClassVar[str] = "names changed"

    def __post_init__(self) -> None:
        if not 1 <= self.n <= 100:
            raise BadInput(
                f"Entity rename has n = {self.n}; give a number of renamings from 1 to 100."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        def renamed(number: int, rewrite: Renaming) -> Variant:
            params = {"names": [list(pair) for pair in rewrite.names]}
            return variant(
                item,
                self.name,
                key=f"rename-{number}",
                layout=layout,
                question=rewrite.question,
                params=params,
            )

        return rewritten_or_base(
            item,
            self.name,
            layout=layout,
            rewrites=[renaming(item, rng) for _ in range(self.n)],
            variant_of=renamed,
        )


AXIS = EntityRename()
