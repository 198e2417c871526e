"""Axes on the words of a question: paraphrases, translations, typos. Options and cues stay.

Paraphrases and translations come from the store. Only accepted ones are asked, on request also
unreviewed ones, never rejected ones. An unreviewed translation is in no flip until it is accepted.
Items that were made from templates bring their own wordings (`meta["paraphrases"]`). These mean the
same by construction, so they need no reviewer.

Typos swap two neighboring letters inside a few long words, or put the question into lower case. The
question must stay readable, so at most a fifth of its words change. They have six letters or more,
keep their first and last letter, and are no names, acronyms or words with a digit. A swap must not
give another word. Questions with formulas or code stay as they are. Where a capital has a meaning,
there is no version in lower case. With `reviewed` only stored and accepted versions are asked.
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

MAX_SHARE, MAX_VERSIONS = 0.2, 10
_WORD = re.compile(r"[^\W\d_]+")
_FORMULA = re.compile(r"[$\\`{}<>=^_|]|\b\w+\(")
_LONG = re.compile(r"(?<![\w'’-])[a-z]{6,}(?![\w'’-])")
# Words whose capitals carry a meaning: acronyms, single letters, words with digits.
_MEANINGFUL_CAPITALS = re.compile(
    r"\b\w*[A-Z]\w*[A-Z]\w*\b|\b[b-zB-HJ-Z]\b|\b\w*\d\w*[A-Za-z]\w*\b|\b[A-Za-z]+\d\w*\b"
)
# Pairs of words that a swap of two inner letters turns into each other.
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
            not 0 <= self.versions <= MAX_VERSIONS
            or not 0 < self.share <= MAX_SHARE
            or not (self.versions or self.lower)
        ):
            raise BadInput(
                f"Typos take up to {MAX_VERSIONS} versions and a share of the words above 0 and at "
                f"most {MAX_SHARE}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        unchanged = base(item, self.name, layout=layout)
        if self.reviewed:
            changed = [
                worded(item, self.name, prefix="reviewed-", layout=layout, wording=wording)
                for wording in material.wordings(item, with_unreviewed=False)
                if wording.change == TYPOS
            ]
            return collapsed([unchanged, *changed])
        versions = misspellings(item.question, self.versions, share=self.share, rng=rng)
        texts = {f"typos-{number}": text for number, text in enumerate(versions, start=1)}
        needs_case = _FORMULA.search(item.question) or _MEANINGFUL_CAPITALS.search(item.question)
        if self.lower and not needs_case:
            texts["lower"] = item.question.lower()
        changed = [
            variant(item, self.name, key=key, layout=layout, question=text)
            for key, text in texts.items()
        ]
        if not changed:
            return [
                base(item, self.name, layout=layout, params={"refusal": "no word", "why": NO_WORD})
            ]
        return collapsed([unchanged, *changed])


def misspellings(question: str, n: int, share: float, rng: np.random.Generator) -> list[str]:
    """Return up to `n` different versions of the question; [] if no word may change.
    `share` (0 to 1) of its words get a typo."""
    words: list[re.Match] = []
    if not _FORMULA.search(question):
        words = [match for match in _LONG.finditer(question) if _swaps(match[0])]
    # The share is of all words, although only long ones change.
    n_words = len(_WORD.findall(question))
    n_swaps = min(len(words), max(1, int(share * n_words)), int(MAX_SHARE * n_words))
    versions = (
        [_version(question, words, n_swaps=n_swaps, rng=rng) for _ in range(n)] if n_swaps else []
    )
    return list(dict.fromkeys(versions))


def _version(question: str, words: list[re.Match], n_swaps: int, rng: np.random.Generator) -> str:
    """Swap two letters in each of `n_swaps` random words."""
    text = question
    for i in sorted(rng.choice(len(words), n_swaps, replace=False)):
        word = words[i]
        start = word.start() + int(rng.choice(_swaps(word[0])))
        text = text[:start] + text[start + 1] + text[start] + text[start + 2 :]
    return text


def _swaps(word: str) -> list[int]:
    """Return the positions of inner letters that may be swapped with the next letter."""
    if word in _WORDS_OF_PAIRS or word.rstrip("s") in _WORDS_OF_PAIRS:
        return []
    return [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]


@dataclass(frozen=True)
class Language(Axis):
    """Stored translations, into `language` alone if one is given.
    With `unreviewed` also translations that no reviewer has judged; they are in no flip."""

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
        wanted_language = " ".join(self.language.split()).casefold()
        changed = []
        for wording in material.wordings(item, with_unreviewed=self.unreviewed):
            language = language_of(wording.change)
            is_wanted = wanted_language in ("", language.casefold())
            if axis_of_change(wording.change) == LANGUAGE and is_wanted:
                prefix = f"{language.lower().replace(' ', '-')}-"
                changed.append(
                    worded(item, self.name, prefix=prefix, layout=layout, wording=wording)
                )
        return collapsed([base(item, self.name, layout=layout), *changed])


@dataclass(frozen=True)
class ParaphraseAxis(Axis):
    """Stored paraphrases; with `unreviewed` also those that no reviewer has judged."""

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
