"""Items made from one template: the same wording with other numbers and names."""

import re
from collections import Counter
from collections.abc import Sequence

FEWEST_WORDS = 8  # shorter wordings repeat by chance ("Which of these is true?")
MANY = 0.1
_NUMBER = re.compile(r"\d[\d,.]*")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


def template(question: str) -> str:
    """The wording with a mark for each number and capitalised word, in lower case and single
    spaces."""
    return " ".join(_NAME.sub("@", _NUMBER.sub("#", question)).lower().split())


def _wording(question: str, options: Sequence[str]) -> str:
    """The template of a question together with those of its options: "Which of these is a bird?" of
    other options is no repetition."""
    return " / ".join([template(question), *sorted(map(template, options))])


def wordings(
    questions: Sequence[str], families: Sequence[str], options: Sequence[Sequence[str]]
) -> list[str]:
    """The unit of each item if wordings were units: its wording where another family has it too,
    else its family."""
    names = [
        _wording(q, o) if len(q.split()) >= FEWEST_WORDS else ""
        for q, o in zip(questions, options, strict=True)
    ]
    n_families = Counter(wording for wording, _ in set(zip(names, families, strict=True)))
    return [
        f"wording {wording}" if wording and n_families[wording] > 1 else str(family)
        for wording, family in zip(names, families, strict=True)
    ]


def repeated_templates(
    questions: Sequence[str], families: Sequence[str], options: Sequence[Sequence[str]]
) -> str:
    """A sentence where a tenth of the items or more repeat another's wording, its options' too, and
    are families of their own; else empty.

    `families` names what each item was made from. Questions of fewer than eight words are not
    looked at."""
    pairs = []
    for question, family, item_options in zip(questions, families, options, strict=True):
        if len(question.split()) >= FEWEST_WORDS:
            pairs.append((_wording(question, item_options), family))
    distinct = set(pairs)
    n_families = Counter(wording for wording, _ in distinct)
    n_repeated = sum(n_families[wording] > 1 for wording, _ in pairs)
    if not pairs or n_repeated < MANY * len(questions):
        return ""
    return (
        f"{n_repeated:,} of {len(questions):,} items repeat another item's wording with other "
        "numbers or names. Each is counted by itself here; group them with a column source_id."
    )
