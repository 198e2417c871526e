"""Gates: what has not been checked by people is shown, but enters no claim."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.decomposition import Decomposition
from flipcore.stats.gates import paraphrase_gate
from flipcore.store import queries
from pages.common import judging, session
from pages.common.notes import plain


def closed(study_id: str, found: list[Decomposition]) -> dict[str, str]:
    """Axis or readout -> the sentence that says what is missing; empty when everything here may be claimed."""
    said = {}
    if any(one.axis == "paraphrase" for one in found):
        sources = queries.reviewed(session.store(), study_id)
        shut = [(dataset, generator, paraphrase_gate(n_accepted, n_reviewed))
                for dataset, generator, n_reviewed, n_accepted in sources]
        shut = [row for row in shut if not row[2].is_open]
        if shut or not sources:
            said["paraphrase"] = " ".join(f"Rewordings of {dataset} by {generator}: {gate.sentence()}"
                                          for dataset, generator, gate in shut) or "No rewording of these items is stored."
    for name in {one.extractor for one in found if one.extractor.startswith("judge")}:
        report = judging.report(study_id)
        if not report.gate.is_open:
            said[name] = f"{report.sentences[0]} Label texts under Paraphrase review, Judge."
    return said


def shown(closed: dict[str, str]) -> None:
    for name, why in closed.items():
        st.warning(plain(f"{name.replace('_', ' ')} enters no claim. {why}"), icon=":material/door_front:")
