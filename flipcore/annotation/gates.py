"""Gates: a study may claim only from paraphrases and judges that people have checked enough.

All other results are shown and not claimed. Every page, card, command, export and record calls
`reasons`, or `closed_gates` for some axes and extractors, and then `claim.not_claimed(reason)`.
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

CLOSED_GATES = "closed_gates"  # key in the settings of a lock
OWN_PROMPT = (
    "A judge with a prompt of your own has not been compared with people: its readouts are shown, "
    "and nothing is claimed of them."
)
# The same in the middle of a sentence that shows the judge's readouts.
UNCOMPARED_JUDGE = "this judge has not been compared with people"
# The same where a table holds people's labels beside the judge's.
UNPASSED_JUDGE = "this judge has not passed a check against people's labels"
_LABEL = "Label outputs under Review, Outputs."
_UNKNOWN = (
    "These paraphrases are not stored here, so nobody could review them: bring them in under "
    "Review."
)
_MISSING = "No {noun} was asked, because these items have none here. Bring some in under Review."
_RECORDED = (
    "{what} came with a recording, and nobody reviewed them: they are shown, and nothing is "
    "claimed of them. Rewrites with a right answer of their own (--map "
    "axis:NAME=numeric_resample) need no review."
)
_IMPORT_AGAIN = " Import the same files again: paraphrases then come into Review."
# Axis -> what its variants are called at the start of a sentence.
_TITLES = {
    COMBINED: "Paraphrases",
    PARAPHRASE: "Paraphrases",
    LANGUAGE: "Translations",
    TYPOS: "Versions with typos",
}


def reasons(
    store: Store, study_id: str, judge: Callable[[], JudgeReport] | None = None
) -> dict[str, str]:
    """Return axis or extractor of the study -> why it is not claimed; empty if all gates are open.

    `judge` returns the study's judge report if the caller has it already. The result is also empty
    if the study is not stored.
    """
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
    """Return name -> what is missing, for those of these axes and extractors with a closed gate.

    With a lock (a row of `queries.locks`) they are the gates at the time of the lock, because
    later reviews must not change a locked result. Locks of older releases have no gates stored.
    """
    locked_gates = lock["settings"].get(CLOSED_GATES) if lock else None
    if locked_gates is not None:
        names = (*axes, *extractors)
        return {name: locked_gates[name] for name in names if name in locked_gates}
    reason_of = {}
    for axis in sorted({*axes} & {*REVIEW_AXES, COMBINED}):
        if missing := _missing_reviews(store, study_id, axis=axis):
            reason_of[axis] = missing
    judges = sorted({name for name in extractors if needs_judge(name)})
    for name in filter(reads_together, judges):
        rows = [row for row in labelled_readouts(store, study_id) if row["extractor"] == name]
        report = meaning_report(rows, *judge_queries.both_ways(store, study_id, extractor=name))
        if not report.gate.is_open:
            reason_of[name] = f"{report.sentences[0]} {_LABEL}"
    shipped_judges = []  # with the shipped prompt, which people's labels check
    for name in judges:
        if name in (judge_queries.JUDGE, judge_queries.BACKWARDS):
            shipped_judges.append(name)
        elif not reads_together(name):
            reason_of[name] = OWN_PROMPT
    if shipped_judges:
        report = judge() if judge else stored_judge_report(store, study_id)
        if not report.gate.is_open:
            reason_of |= dict.fromkeys(shipped_judges, f"{report.sentences[0]} {_LABEL}")
    return reason_of


def _missing_reviews(store: Store, study_id: str, axis: str) -> str:
    """Return why the wordings of this axis are not claimed; "" if all their sources passed.

    Typos by the axis's own rule and paraphrases that came with their items need no review. Those
    of a recording do, because nobody knows where they come from. Several changes at once are gated
    like the wordings in them.
    """
    gates, closed = [], []
    for row in studies.reviewed(store, study_id, axis=axis):
        dataset, generator, n_reviewed, n_accepted, n_chosen, n_pairs = row
        gate = paraphrase_gate(n_accepted, n_reviewed, n_chosen=n_chosen)
        gates.append(gate)
        if not gate.is_open:
            source = SourceGate(dataset, generator, n_pairs=n_pairs, n_split=0, gate=gate)
            closed.append(f"{_TITLES[axis]} of {dataset} by {generator}: {source.sentence()}")
    if gates:
        return " ".join(closed)
    if axis == COMBINED and not studies.asks_stored_wordings(store, study_id, axis=axis):
        return ""
    declared = studies.study(store, study_id)
    if declared is not None and declared.is_recorded:
        return _RECORDED.format(what=_TITLES[axis]) + (_IMPORT_AGAIN if axis == PARAPHRASE else "")
    if axis == TYPOS or studies.rewords_by_construction(store, study_id, axis=axis):
        return ""
    is_asked = declared is None or studies.asks_stored_wordings(store, study_id, axis=axis)
    return _UNKNOWN if is_asked else _MISSING.format(noun=NOUNS[axis][0])
