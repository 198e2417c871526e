"""The question as the store of reviewed wordings has it: in other words, in another language, or
with typos; options and cues stay.

Only accepted paraphrases are asked by default, and a rejected one never. Items that were made from
templates carry their other wordings with them (`meta["paraphrases"]`): those mean the same by
construction, so they need no reviewer and are asked too.

A translation asks the same only where somebody verified it. So accepted ones are asked, and an
unreviewed one, where a study asks for those too, is in no flip until it is accepted.

Typos and casing need no store: two neighbouring letters inside a few long words change places, or
the question is in lower case. Bounded, so that the question stays readable and asks the same: words
of six letters or more, first and last letter kept, never a name, an acronym, a word with a digit or
one that a swap turns into another word; at most a fifth of the words. Questions with formulas or
code are left as they are, and casing is left where a capital carries meaning. With `reviewed` only
versions are asked that stand in the store and that reviewers accepted.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant, worded
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Variant
from flipcore.core.wordings import LANGUAGE, PARAPHRASE, TYPOS, axis_of_change, language_of

MOST_SHARE, MOST = 0.2, 10
_WORD = re.compile(r"[^\W\d_]+")
_FORMULA = re.compile(r"[$\\`{}<>=^_|]|\b\w+\(")
_LONG = re.compile(r"(?<![\w'’-])[a-z]{6,}(?![\w'’-])")
_CARRIES = re.compile(
    r"\b\w*[A-Z]\w*[A-Z]\w*\b|\b[b-zB-HJ-Z]\b|\b\w*\d\w*[A-Za-z]\w*\b|\b[A-Za-z]+\d\w*\b"
)
# words that a swap of two inner letters turns into another word, both ways
_PAIRS = """
angels angles, barely barley, boarder broader, carving craving, casual causal, casually causally,
dairies diaries, marital martial, minuets minutes, sacred scared, signed singed, silver sliver,
trails trials, unites unties, united untied
"""
_WORDS_OF_PAIRS = frozenset(_WORD.findall(_PAIRS))
NO_WORD = (
    "No word of the question may be changed: they are short, names, or a formula stands among them."
)


@dataclass(frozen=True)
class Typos(Axis):
    versions: int = param(2, "versions with typos")
    share: float = param(0.1, "share of the words with a typo")
    lower: bool = param(True, "also in lower case")
    reviewed: bool = param(False, "only versions that reviewers accepted")
    name: ClassVar[str] = "typos"
    title: ClassVar[str] = "Typos and casing"
    about: ClassVar[str] = (
        "A few letters of the question change places, or the question is in lower case."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        if (
            not 0 <= self.versions <= MOST
            or not 0 < self.share <= MOST_SHARE
            or not (self.versions or self.lower)
        ):
            raise BadInput(
                f"Typos take up to {MOST} versions and a share of the words above 0 and at most "
                f"{MOST_SHARE}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        plain = base(item, self.name, layout=layout)
        if self.reviewed:
            versions = [
                wording
                for wording in material.wordings(item, with_unreviewed=False)
                if wording.change == TYPOS
            ]
            return collapsed(
                [
                    plain,
                    *(
                        worded(item, self.name, prefix="reviewed-", layout=layout, wording=wording)
                        for wording in versions
                    ),
                ]
            )
        texts = {
            f"typos-{i + 1}": text
            for i, text in enumerate(
                misspellings(item.question, self.versions, share=self.share, rng=rng)
            )
        }
        if self.lower and not _FORMULA.search(item.question) and not _CARRIES.search(item.question):
            texts["lower"] = item.question.lower()
        changed = [
            variant(item, self.name, key=key, layout=layout, question=text)
            for key, text in texts.items()
        ]
        if not changed:
            return [
                base(item, self.name, layout=layout, params={"refusal": "no word", "why": NO_WORD})
            ]
        return collapsed([plain, *changed])


def misspellings(question: str, n: int, share: float, rng: np.random.Generator) -> list[str]:
    """Up to `n` different versions of the question; none where no word may be touched."""
    words: list[re.Match] = []
    if not _FORMULA.search(question):
        words = [match for match in _LONG.finditer(question) if _swaps(match[0])]
    # The share is of all words, though only long ones are touched: a fifth at most stays readable.
    n_words = len(_WORD.findall(question))
    most = min(len(words), max(1, int(share * n_words)), int(MOST_SHARE * n_words))
    versions = [_version(question, words, most=most, rng=rng) for _ in range(n)] if most else []
    return list(dict.fromkeys(versions))


def _version(question: str, words: list[re.Match], most: int, rng: np.random.Generator) -> str:
    text = question
    for i in sorted(rng.choice(len(words), most, replace=False)):
        word = words[i]
        i_letter = word.start() + int(rng.choice(_swaps(word[0])))
        text = text[:i_letter] + text[i_letter + 1] + text[i_letter] + text[i_letter + 2 :]
    return text


def _swaps(word: str) -> list[int]:
    """Positions at which two different inner neighbours of the word may change places."""
    if word in _WORDS_OF_PAIRS or word.rstrip("s") in _WORDS_OF_PAIRS:
        return []
    return [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]


@dataclass(frozen=True)
class Language(Axis):
    """`language` asks translations into that one alone; `unreviewed` also those that nobody has
    judged yet, which are in no flip."""

    language: str = param("", "language (empty: every one)")
    unreviewed: bool = param(False, "also unreviewed ones")
    name: ClassVar[str] = LANGUAGE
    title: ClassVar[str] = "Language"
    about: ClassVar[str] = (
        "The question in another language, as a stored translation that reviewers accepted; "
        "options stay as they are."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        only = " ".join(self.language.split()).casefold()
        changed = []
        for wording in material.wordings(item, with_unreviewed=self.unreviewed):
            language = language_of(wording.change)
            is_asked = only in ("", language.casefold())
            if axis_of_change(wording.change) == LANGUAGE and is_asked:
                prefix = f"{language.lower().replace(' ', '-')}-"
                changed.append(
                    worded(item, self.name, prefix=prefix, layout=layout, wording=wording)
                )
        return collapsed([base(item, self.name, layout=layout), *changed])


@dataclass(frozen=True)
class ParaphraseAxis(Axis):
    """With `unreviewed`, paraphrases that no reviewer has judged are asked as well."""

    unreviewed: bool = param(False, "also unreviewed ones")
    name: ClassVar[str] = "paraphrase"
    title: ClassVar[str] = "Paraphrase"
    about: ClassVar[str] = (
        "A stored paraphrase of the question that reviewers accepted, or that is the same by "
        "construction."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS
    drop_gap: ClassVar[bool] = True
    past: ClassVar[str] = "paraphrased"

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        changed = [
            worded(item, self.name, prefix="reworded-", layout=layout, wording=wording)
            for wording in material.wordings(item, with_unreviewed=self.unreviewed)
            if wording.change == PARAPHRASE
        ]
        wordings = [
            variant(item, self.name, key=f"wording-{i + 1}", layout=layout, question=text)
            for i, text in enumerate(item.meta.get("paraphrases", ()))
        ]
        return collapsed([base(item, self.name, layout=layout), *changed, *wordings])


AXES = (Typos(), Language(), ParaphraseAxis())
