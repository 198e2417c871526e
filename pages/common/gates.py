"""Gates: what has not been checked by people is shown and not claimed."""

from __future__ import annotations

from collections.abc import Iterable

from flipcore.claims import gates
from pages.common import judging, session


def closed(study_id: str, axes: Iterable[str], readouts: Iterable[str]) -> dict[str, str]:
    """Of these axes and readouts those that may not be claimed: name -> what is missing."""
    return gates.closed(session.store(), study_id, axes, readouts, lambda: judging.report(study_id))
