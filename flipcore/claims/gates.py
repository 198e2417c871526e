"""What of a study may be claimed: paraphrases and judges that people have checked enough; the rest is shown, not claimed.

Every page, card, command, export and record asks `reasons` (or `closed_gates`, which looks up a part of it) and withholds what it
names by `claim.not_claimed(reason)`.
"""

from collections.abc import Callable, Iterable, Sequence

from flipcore.annotation.judge_labels import JudgeReport, judge_report
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.core.wordings import LANGUAGE, PARAPHRASE, REVIEW_AXES, TYPOS
from flipcore.extractors import needs_judge
from flipcore.stats.base.gate_looks import ANY_LOOK
from flipcore.stats.base.gate_rules import JudgeGate, ParaphraseGate, paraphrase_gate
from flipcore.store.connection import Store
from flipcore.store.queries import judges as judge_queries
from flipcore.store.queries import studies

OWN_PROMPT = "A judge with a prompt of your own has not been compared with people: its readouts are shown, and nothing is claimed of them."
PARAPHRASES_PASS = Assertion(
    "paraphrases pass",
    "more than 0.80 of a source's paraphrases would be accepted by its reviewers",
    0.03,  # Wilson's one-sided 0.025 is at most 0.0281 (54 pairs) where 50 pairs or more were reviewed, computed exactly
    1,
    "one look at the gate, after a number of pairs fixed beforehand",
    ("acceptance exactly 0.80", "acceptance 0.80, differing by item", "nothing accepted beyond a coin"),
)
PARAPHRASES_HOLD = Assertion(
    "paraphrases pass at every look",
    "more than 0.80 of a source's paraphrases would be accepted, even if pairs were reviewed until the gate opened",
    ANY_LOOK,
    1,
    "all looks at the gate together",
    ("acceptance exactly 0.80, looked at after every pair",),
)
JUDGE_PASSES = Assertion(
    "judge passes",
    "the judge agrees with people beyond chance by a kappa above 0.60",
    0.025,
    1,
    "each look at the gate",
    ("kappa exactly 0.60, answers even", "kappa exactly 0.60, one answer in nine of ten", "kappa exactly 0.60, four answers"),
)
ASSERTIONS = (PARAPHRASES_PASS, PARAPHRASES_HOLD, JUDGE_PASSES)
_UNKNOWN = "These paraphrases are not stored here, so nobody could review them: bring them in under Paraphrase review."


def reasons(store: Store, study_id: str, judge: Callable[[], JudgeReport] | None = None) -> dict[str, str]:
    """Axis or extractor of the study -> why it is not claimed, as a sentence; empty when every gate is open.

    `judge` gives the study's report where somebody holds it already. A study that is not stored has no reasons."""
    axes, extractors = studies.axes_and_extractors(store, study_id)
    return closed_gates(store, study_id, axes, extractors, judge)


def closed_gates(
    store: Store, study_id: str, axes: Iterable[str], extractors: Iterable[str], judge: Callable[[], JudgeReport] | None = None
) -> dict[str, str]:
    """Of these axes and extractors those whose gate is closed: name -> what is missing."""
    reason_of = {}
    for axis in sorted({*axes} & {*REVIEW_AXES}):
        if why := _wordings(store, study_id, axis):
            reason_of[axis] = why
    judges = sorted({name for name in extractors if needs_judge(name)})
    reason_of |= {name: OWN_PROMPT for name in judges if name not in (judge_queries.JUDGE, judge_queries.BACKWARDS)}
    judges = [name for name in judges if name not in reason_of]
    if judges:
        report = judge() if judge else judge_report(judge_queries.judged_texts(store, study_id), judge_queries.labels(store))
        if not report.gate.is_open:
            reason_of |= dict.fromkeys(judges, f"{report.sentences[0]} Label texts under Paraphrase review, Judge.")
    return reason_of


def reason(closed_gates: dict[str, str], axis: str = "", extractor: str = "", reference: str = "") -> str:
    """Why a number of this axis, under this extractor and reference, is not claimed; "" when it may be."""
    return " ".join(dict.fromkeys(closed_gates[name] for name in (axis, extractor, reference) if name in closed_gates))


def paraphrases_claim(gate: ParaphraseGate, sentence: str = "") -> Claim:
    """The sentence of a gate on paraphrases (`sentence` where the source's pairs say more); it asserts something only where the
    gate is open."""
    if not gate.is_open:
        return description(sentence or gate.sentence(), "closed", accepted=gate.accepted)
    return Claim(PARAPHRASES_PASS, "open", gate.sentence(), True, gate.looks_sentence(), numbers={"accepted": gate.accepted})


def looks_claim(gate: ParaphraseGate) -> Claim:
    """Whether an open gate holds however often it was looked at; "" of a closed one."""
    any_look = gate.holds_at_any_look
    return Claim(PARAPHRASES_HOLD, "holds" if any_look else "one look", gate.looks_sentence(), any_look)


def sources_claim(gates: Sequence[ParaphraseGate]) -> Claim:
    """How many sources of paraphrases pass; it asserts something only where one does."""
    n_open = sum(gate.is_open for gate in gates)
    n = f"{len(gates):,} {'source' if len(gates) == 1 else 'sources'} of paraphrases"
    if not n_open:
        return description(f"None of {n} has passed the gate yet.", "closed")
    return Claim(PARAPHRASES_PASS, "open", f"{n_open:,} of {n} passed the gate.", True, numbers={"open": n_open})


def judge_claim(gate: JudgeGate) -> Claim:
    """The sentence of a judge's gate; it asserts something only where the gate is open."""
    numbers = {"kappa": gate.agreement.estimate, "again": gate.again}
    if not gate.is_open:
        return description(gate.sentence(), "closed", "", **numbers)
    return Claim(JUDGE_PASSES, "open", gate.sentence(), True, numbers=numbers)


_OF = {PARAPHRASE: "Paraphrases", LANGUAGE: "Translations", TYPOS: "Versions with typos"}


def _wordings(store: Store, study_id: str, axis: str) -> str:
    """What closes the gates of the sources whose wordings the study asked on this axis; "" when all are open. Typos that follow the
    axis's own rule, and paraphrases that came with their items, need no reviewer."""
    gates = [
        (dataset, generator, paraphrase_gate(n_accepted, n_reviewed, n_chosen=n_chosen))
        for dataset, generator, n_reviewed, n_accepted, n_chosen in studies.reviewed(store, study_id, axis)
    ]
    shut = [
        f"{_OF[axis]} of {dataset} by {generator}: {gate.sentence()}" for dataset, generator, gate in gates if not gate.is_open
    ]
    if gates:
        return " ".join(shut)
    return "" if axis == TYPOS or studies.rewords_by_construction(store, study_id, axis) else _UNKNOWN
