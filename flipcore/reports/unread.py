"""Unread answers: of less than half, what an extractor of ours read says more of it than of the
model."""

import pandas as pd

from flipcore.claims.audit_input import MOST_UNREAD
from flipcore.core.records import CUT, UNREADABLE
from flipcore.extractors import EXTRACTORS, title_of
from flipcore.stats.base.estimate import percent_text


def unread_share(statuses: pd.Series) -> float:
    """Share of answers that state none or were cut off, 0 of none; failed calls do not count."""
    return float(statuses.isin((UNREADABLE, CUT)).mean()) if len(statuses) else 0.0


def is_unread(extractor: str, share: float) -> bool:
    """Return whether no score may be given of answers of which `share` was not read."""
    # What a log's own scorer read is its score, unless that is nothing.
    return share == 1.0 or (share > MOST_UNREAD and extractor in EXTRACTORS)


def why_unread(model: str, extractor: str, share: float) -> str:
    """Say why no score is given; "" where one is."""
    if not is_unread(extractor, share):
        return ""
    by = f"({title_of(extractor).lower()})"
    if share == 1.0:
        return f"no answer of {model} could be read {by}."
    return f"{percent_text(share)} of {model}'s answers could not be read {by}."
