"""Gates: what has not been checked by people is shown, but enters no claim."""

from __future__ import annotations

from collections.abc import Iterable

from flipcore.stats.gates import paraphrase_gate
from flipcore.store import queries
from pages.common import judging, session

_UNKNOWN = "These rewordings are not stored here, so nobody could review them: bring them in under Paraphrase review."


def closed(study_id: str, axes: Iterable[str], readouts: Iterable[str]) -> dict[str, str]:
    """Of these axes and readouts those that may not be claimed: name -> what is missing."""
    said = {}
    if "paraphrase" in set(axes):
        sources = queries.reviewed(session.store(), study_id)
        shut = [(dataset, generator, paraphrase_gate(n_accepted, n_reviewed))
                for dataset, generator, n_reviewed, n_accepted in sources]
        shut = [row for row in shut if not row[2].is_open]
        if shut or not sources:
            said["paraphrase"] = " ".join(f"Rewordings of {dataset} by {generator}: {gate.sentence()}"
                                          for dataset, generator, gate in shut) or _UNKNOWN
    for name in sorted({name for name in readouts if name.startswith("judge")}):
        report = judging.report(study_id)
        if not report.gate.is_open:
            said[name] = f"{report.sentences[0]} Label texts under Paraphrase review, Judge."
    return said
