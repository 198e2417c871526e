"""Unread answers: an extractor that read too few gives no score.

A score of the few answers that it read would describe the extractor rather than the model.
"""

import pandas as pd

from flipcore.claims.audit_input import MAX_UNREAD
from flipcore.core.records import CUT, UNREADABLE
from flipcore.extractors import EXTRACTORS, title_of
from flipcore.stats.base.estimate import percent_text


def unread_share(statuses: pd.Series) -> float:
    """Return the share of statuses that are unreadable or cut off; 0 where there are none."""
    return float(statuses.isin((UNREADABLE, CUT)).mean()) if len(statuses) else 0.0


def is_unread(extractor: str, share: float) -> bool:
    """Tell whether an extractor left too large a `share` of the answers unread for a score."""
    # A log's own scorer keeps its score unless it read nothing at all.
    return share == 1.0 or (share > MAX_UNREAD and extractor in EXTRACTORS)


def why_unread(model: str, extractor: str, share: float) -> str:
    """Say why no score is given; "" if one is."""
    if not is_unread(extractor, share):
        return ""
    extractor_text = f"({title_of(extractor).lower()})"
    if share == 1.0:
        return f"no answer of {model} could be read {extractor_text}."
    return f"{percent_text(share)} of {model}'s answers could not be read {extractor_text}."
