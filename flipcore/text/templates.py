"""Items made from one template: the same wording with different numbers and names."""

import re
from collections import Counter
from collections.abc import Sequence

_MIN_WORDS = 8  # shorter wordings repeat by chance ("Which of these is true?")
_LEAST_SHARE = 0.1  # share of repeating items from which on a sentence says so
_NUMBER = re.compile(r"\d[\d,.]*")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


def template(question: str) -> str:
    """Return the wording with # for each number and @ for each capitalised word, in lower case and
    with single spaces."""
    return " ".join(_NAME.sub("@", _NUMBER.sub("#", question)).lower().split())


def _wording(question: str, options: Sequence[str]) -> str:
    """Return the templates of a question and its options; "" for a question of few words.

    The options count, because "Which of these birds can swim and also fly?" may be asked often."""
    if len(question.split()) < _MIN_WORDS:
        return ""
    return " / ".join([template(question), *sorted(map(template, options))])


def wordings(
    questions: Sequence[str], families: Sequence[str], options: Sequence[Sequence[str]]
) -> list[str]:
    """Return the unit of each item if wordings were units: its wording if another family has the
    same, else its family."""
    names = [_wording(*texts) for texts in zip(questions, options, strict=True)]
    n_families = Counter(wording for wording, _ in set(zip(names, families, strict=True)))
    return [
        f"wording {wording}" if wording and n_families[wording] > 1 else str(family)
        for wording, family in zip(names, families, strict=True)
    ]


def repeated_templates(
    questions: Sequence[str], families: Sequence[str], options: Sequence[Sequence[str]]
) -> str:
    """Return a sentence if at least a tenth of the items repeat the wording of another family, in
    question and options; else "".

    `families` names what each item was made from. Questions of fewer than eight words do not count.
    """
    units = wordings(questions, families, options)
    n_repeated = sum(unit != str(family) for unit, family in zip(units, families, strict=True))
    if not n_repeated or n_repeated < _LEAST_SHARE * len(questions):
        return ""
    return (
        f"{n_repeated:,} of {len(questions):,} items repeat another item's wording with other "
        "numbers or names. Each is counted by itself here; group them with a column source_id."
    )
