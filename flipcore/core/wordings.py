"""Changes of stored wordings, as `change` says: a paraphrase, a version with typos, or a
translation into a language."""

import re

from flipcore.core.errors import BadInput

PARAPHRASE, TYPOS, LANGUAGE = "paraphrase", "typos", "language"  # also the axes that ask them
# the axis of ways of asking, which may join stored wordings with other changes
COMBINED = "combined"
REVIEW_AXES = (PARAPHRASE, TYPOS, LANGUAGE)
# what one wording of an axis is called, and several
NOUNS = {
    PARAPHRASE: ("paraphrase", "paraphrases"),
    TYPOS: ("version with typos", "versions with typos"),
    LANGUAGE: ("translation", "translations"),
}
_INTO = f"{LANGUAGE}:"
_NAME = re.compile(r"[^\W\d_][\w() '-]{1,39}")


def into(language: str) -> str:
    """The `change` of a translation. Raises BadInput for what is no name of a language."""
    name = " ".join(language.split())
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{language[:40]!r} is no name of a language. Write it as German or Brazilian "
            "Portuguese, in 2 to 40 letters."
        )
    return f"{_INTO}{name}"


def language_of(change: str) -> str:
    """The language of a translation; "" for any other change."""
    return change.removeprefix(_INTO) if change.startswith(_INTO) else ""


def axis_of_change(change: str) -> str:
    """The axis that asks such wordings."""
    return LANGUAGE if language_of(change) else change


def checked_change(text: str) -> str:
    """A `change` as a file says it; BadInput where it is none."""
    text = text.strip() or PARAPHRASE
    if text in (PARAPHRASE, TYPOS):
        return text
    return into(language_of(text) or text)
