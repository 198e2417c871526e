"""Check items before they are used, with a sentence for each reason to refuse one."""

from datetime import date

from flipcore.core.errors import BadInput
from flipcore.core.records import KINDS, Item

MAX_OPTIONS = 26


def checked(item: Item) -> Item:
    """Return the item. Raises BadInput for a bad kind, question, date, option or right answer."""
    if item.kind not in KINDS:
        raise BadInput(f"has the kind {item.kind!r}; a kind is one of {', '.join(KINDS)}")
    if not item.question.strip():
        raise BadInput("has no question")
    if item.published is not None and not _is_date(item.published):
        raise BadInput(
            f"has the publication date {item.published[:40]!r}; write it as year-month-day, "
            "2024-03-01"
        )
    if item.kind == "choice":
        _check_options(item)
    elif item.options:
        raise BadInput(f"is a {item.kind} item with options; only choice items have options")
    return item


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _check_options(item: Item) -> None:
    n_options = len(item.options)
    if n_options < 2:
        options = "1 option" if n_options else "no options"
        raise BadInput(f"has {options}; a choice needs at least two")
    if n_options > MAX_OPTIONS:
        raise BadInput(f"has {n_options} options; there are labels for {MAX_OPTIONS}")
    empty = [place for place, text in enumerate(item.options, start=1) if not text.strip()]
    if empty:
        raise BadInput(f"has no text in option {empty[0]}")
    first: dict[str, int] = {}
    for place, text in enumerate(item.options, start=1):
        if first.setdefault(text.strip(), place) != place:
            raise BadInput(
                f"has the same text in options {first[text.strip()]} and {place} "
                f"({text.strip()[:60]!r}), so an answer could not be told apart; change one of them"
            )
    right = [] if item.target is None else item.target.split("\n")
    if not all(place.isdecimal() and int(place) < n_options for place in right):
        raise BadInput(
            f"has the right answer {item.target!r}, which names none of its {n_options} options"
        )
