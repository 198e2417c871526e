"""Gates: a study may claim only from paraphrases and judges that people have checked enough; the
rest is shown, not claimed.

Every page, card, command, export and record asks `reasons` (or `closed_gates`, which looks up a
part of it) and withholds what it names by `claim.not_claimed(reason)`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flipcore.annotation.judge_labels import (
    JudgeReport,
    labelled_readouts,
    meaning_report,
    stored_judge_report,
)
from flipcore.annotation.paraphrases.effect import SourceGate
from flipcore.core.wordings import COMBINED, LANGUAGE, NOUNS, PARAPHRASE, REVIEW_AXES, TYPOS
from flipcore.extractors import needs_judge, reads_together
from flipcore.stats.base.gate_rules import paraphrase_gate
from flipcore.store.connection import Store
from flipcore.store.queries import judges as judge_queries
from flipcore.store.queries import studies

CLOSED_GATES = "closed_gates"  # among the settings of a lock
OWN_PROMPT = (
    "A judge with a prompt of your own has not been compared with people: its readouts are shown, "
    "and nothing is claimed of them."
)
_LABEL = "Label outputs under Review, Outputs."
_UNKNOWN = (
    "These paraphrases are not stored here, so nobody could review them: bring them in under "
    "Review."
)
_NONE = "No {noun} was asked, because these items have none here. Bring some in under Review."
_RECORDED = (
    "{what} came with a recording, and nobody reviewed them: they are shown, and nothing is "
    "claimed of them. Rewrites with a right answer of their own (--map "
    "axis:NAME=numeric_resample) need no review."
)
_AGAIN = " Import the same files again: paraphrases then come into Review."
_OF = {
    COMBINED: "Paraphrases",
    PARAPHRASE: "Paraphrases",
    LANGUAGE: "Translations",
    TYPOS: "Versions with typos",
}


def reasons(
    store: Store, study_id: str, judge: Callable[[], JudgeReport] | None = None
) -> dict[str, str]:
    """Axis or extractor of the study -> why it is not claimed, as a sentence; empty when every gate
    is open.

    `judge` gives the study's report where somebody holds it already. A study that is not stored has
    no reasons."""
    axes, extractors = studies.axes_and_extractors(store, study_id)
    return closed_gates(store, study_id, axes=axes, extractors=extractors, judge=judge)


def closed_gates(
    store: Store,
    study_id: str,
    axes: Iterable[str],
    extractors: Iterable[str],
    judge: Callable[[], JudgeReport] | None = None,
    lock: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Those of these axes and extractors whose gate is closed: name -> what is missing. Under a
    lock (a row of `queries.locks`) as they stood when it was stored: a gate that people open or
    close afterwards changes nothing there. A lock of an older release holds none."""
    then = lock["settings"].get(CLOSED_GATES) if lock else None
    if then is not None:
        return {name: then[name] for name in (*axes, *extractors) if name in then}
    reason_of = {}
    for axis in sorted({*axes} & {*REVIEW_AXES, COMBINED}):
        if missing := _wordings(store, study_id, axis=axis):
            reason_of[axis] = missing
    judges = sorted({name for name in extractors if needs_judge(name)})
    for name in filter(reads_together, judges):
        rows = [row for row in labelled_readouts(store, study_id) if row["extractor"] == name]
        report = meaning_report(rows, *judge_queries.both_ways(store, study_id, extractor=name))
        if not report.gate.is_open:
            reason_of[name] = f"{report.sentences[0]} {_LABEL}"
    judges = [name for name in judges if not reads_together(name)]
    reason_of |= {
        name: OWN_PROMPT
        for name in judges
        if name not in (judge_queries.JUDGE, judge_queries.BACKWARDS)
    }
    judges = [name for name in judges if name not in reason_of]
    if judges:
        report = judge() if judge else stored_judge_report(store, study_id)
        if not report.gate.is_open:
            reason_of |= dict.fromkeys(judges, f"{report.sentences[0]} {_LABEL}")
    return reason_of


def _wordings(store: Store, study_id: str, axis: str) -> str:
    """Sentence that closes the gates of the sources whose wordings the study asked on this axis; ""
    when all are open. Typos that follow the axis's own rule, and paraphrases that came with their
    items, need no reviewer; those of a recording come from somewhere else. Ways of asking are gated
    like the wordings in them."""
    gates, shut = [], []
    for row in studies.reviewed(store, study_id, axis=axis):
        dataset, generator, n_reviewed, n_accepted, n_chosen, n_pairs = row
        gate = paraphrase_gate(n_accepted, n_reviewed, n_chosen=n_chosen)
        gates.append(gate)
        if not gate.is_open:
            source = SourceGate(dataset, generator, n_pairs=n_pairs, n_split=0, gate=gate)
            shut.append(f"{_OF[axis]} of {dataset} by {generator}: {source.sentence()}")
    if gates:
        return " ".join(shut)
    if axis == COMBINED and not studies.asks_stored_wordings(store, study_id, axis=axis):
        return ""
    declared = studies.study(store, study_id)
    if declared is not None and declared.is_recorded:
        return _RECORDED.format(what=_OF[axis]) + (_AGAIN if axis == PARAPHRASE else "")
    if axis == TYPOS or studies.rewords_by_construction(store, study_id, axis=axis):
        return ""
    is_asked = declared is None or studies.asks_stored_wordings(store, study_id, axis=axis)
    return _UNKNOWN if is_asked else _NONE.format(noun=NOUNS[axis][0])
