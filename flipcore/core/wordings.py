"""The values of a stored wording's `change`: a paraphrase, a version with typos, a translation."""

import re

from flipcore.core.errors import BadInput

# Also the names of the axes that ask such wordings.
PARAPHRASE, TYPOS, LANGUAGE = "paraphrase", "typos", "language"
# The axis that may combine a stored wording with other changes.
COMBINED = "combined"
REVIEW_AXES = (PARAPHRASE, TYPOS, LANGUAGE)
# Axis -> (one of its wordings, several of them)
NOUNS = {
    PARAPHRASE: ("paraphrase", "paraphrases"),
    TYPOS: ("version with typos", "versions with typos"),
    LANGUAGE: ("translation", "translations"),
}
_INTO = f"{LANGUAGE}:"
_NAME = re.compile(r"[^\W\d_][\w() '-]{1,39}")


def into(language: str) -> str:
    """Return the `change` of a translation into a language; BadInput for an impossible name."""
    name = " ".join(language.split())
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{language[:40]!r} is no name of a language. Write it as German or Brazilian "
            "Portuguese, in 2 to 40 letters."
        )
    return f"{_INTO}{name}"


def language_of(change: str) -> str:
    """Return the language of a translation; "" for any other change."""
    return change.removeprefix(_INTO) if change.startswith(_INTO) else ""


def axis_of_change(change: str) -> str:
    """Return the axis that asks wordings with this change."""
    return LANGUAGE if language_of(change) else change


def checked_change(text: str) -> str:
    """Return the `change` that a file's text names; BadInput if it names none."""
    text = text.strip() or PARAPHRASE
    if text in (PARAPHRASE, TYPOS):
        return text
    return into(language_of(text) or text)
