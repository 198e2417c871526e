"""What of a study may be claimed: rewordings and judges that people have checked enough; the rest is shown without a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flipcore.annotation.judge_labels import JudgeReport, judge_report
from flipcore.claims.gate_rules import paraphrase_gate
from flipcore.store.connection import Store
from flipcore.store.queries import judges as judge_queries
from flipcore.store.queries import studies

_UNKNOWN = "These rewordings are not stored here, so nobody could review them: bring them in under Paraphrase review."


def closed(
    store: Store, study_id: str, axes: Iterable[str], readouts: Iterable[str], judge: Callable[[], JudgeReport] | None = None
) -> dict[str, str]:
    """Of these axes and readouts those whose gate is closed: name -> what is missing. `judge` gives the study's report where
    somebody holds it already."""
    said = {}
    if "paraphrase" in set(axes):
        gates = [
            (dataset, generator, paraphrase_gate(n_accepted, n_reviewed))
            for dataset, generator, n_reviewed, n_accepted in studies.reviewed(store, study_id)
        ]
        shut = [
            f"Rewordings of {dataset} by {generator}: {gate.sentence()}"
            for dataset, generator, gate in gates
            if not gate.is_open
        ]
        if shut or not gates:
            said["paraphrase"] = " ".join(shut) or _UNKNOWN
    judges = sorted({name for name in readouts if name.startswith("judge")})
    if judges:
        report = judge() if judge else judge_report(judge_queries.judged_texts(store, study_id), judge_queries.labels(store))
        if not report.gate.is_open:
            said |= dict.fromkeys(judges, f"{report.sentences[0]} Label texts under Paraphrase review, Judge.")
    return said
