"""Could a model have seen an item? The item's publication date against the training cut-off.

The date of a set is its publication. Its texts may be older (TriviaQA's questions are from quiz
sites). So NO assumes that no text was public earlier, and that the cut-off declared by the model's
maker is true.
"""

import calendar
import re
from datetime import date
from typing import NamedTuple

from flipcore.core.errors import BadInput

YES, NO, UNKNOWN = "yes", "no", "unknown"
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


class Exposure(NamedTuple):
    """An `answer` (YES, NO or UNKNOWN), and a `sentence` with the reason and the assumption."""

    answer: str
    sentence: str


def could_have_been_seen(published: str | None, cutoff: str | None) -> Exposure:
    """Decide whether a text could be in the training data of a model with this cut-off.

    Only items with the answer NO can be controls.

    Parameters
    ----------
    published, cutoff
        Year-month-day, year-month or year; None if unknown. A month or a year means any of its
        days: a model with the cut-off December 2023 may have been trained until its last day.

    Raises
    ------
    BadInput
        For any other text.
    """
    if not published:
        return Exposure(
            UNKNOWN, "It has no publication date, so nothing says that it could not have been seen."
        )
    if not cutoff:
        return Exposure(
            UNKNOWN,
            "The model's training cut-off is not declared (edit it under Models), so nothing says "
            "what it could have seen.",
        )
    first, last = span("publication date", published)
    earliest_cutoff, latest_cutoff = span("training cut-off", cutoff)
    if first > latest_cutoff:
        return Exposure(
            NO,
            f"It was published on {published}, after the training cut-off {cutoff}, and could not "
            "have been seen, if that cut-off is true and nothing of it was public earlier.",
        )
    if last <= earliest_cutoff:
        return Exposure(
            YES,
            f"It was published on {published}, before the training cut-off {cutoff}, and could "
            "have been seen. Whether it was is another question.",
        )
    return Exposure(
        UNKNOWN,
        f"It was published on {published} and the training cut-off is {cutoff}: too coarse to say "
        "which came first.",
    )


def span(date_name: str, text: str) -> tuple[date, date]:
    """Return the first and last day that a date, a month or a year can mean. Raises BadInput, with
    `date_name` in its sentence, for any other text."""
    match = _DATE.fullmatch(text.strip())
    message = (
        f"The {date_name} is {text[:40]!r}; write it as year-month-day, 2024-03-01, or as "
        "year-month."
    )
    if match is None:
        raise BadInput(message)
    year, month, day = (int(part or 0) for part in match.groups())
    try:
        last_month = month or 12
        last_day = day or calendar.monthrange(year, last_month)[1]
        return date(year, month or 1, day or 1), date(year, last_month, last_day)
    except (ValueError, IndexError) as error:
        raise BadInput(message) from error
