"""Claims about paraphrases and judges that people have checked.

`annotation.gates` finds out which gates of a study are closed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.gate_rules import ANY_LOOK, JudgeGate, ParaphraseGate

# The exact error of Wilson's one-sided 0.025 limit is at most 0.0281 (at 54 pairs) for 50 or more
# reviewed pairs, hence the rate of 0.03.
PARAPHRASES_PASS = Assertion(
    "paraphrases pass",
    "more than 0.80 of a source's paraphrases would be accepted by its reviewers",
    error_rate=0.03,
    sides=1,
    family="one look at the gate, after a number of pairs fixed beforehand",
    worlds=(
        "acceptance exactly 0.80",
        "acceptance 0.80, differing by item",
        "nothing accepted beyond a coin",
    ),
)
PARAPHRASES_HOLD = Assertion(
    "paraphrases pass at every look",
    (
        "more than 0.80 of a source's paraphrases would be accepted, even if pairs were reviewed "
        "until the gate opened"
    ),
    error_rate=ANY_LOOK,
    sides=1,
    family="all looks at the gate together",
    worlds=("acceptance exactly 0.80, looked at after every pair",),
)
JUDGE_PASSES = Assertion(
    "judge passes",
    "the judge agrees with people beyond chance by a kappa above 0.60",
    error_rate=0.025,
    sides=1,
    family="each look at the gate",
    worlds=(
        "kappa exactly 0.60, answers even",
        "kappa exactly 0.60, one answer in nine of ten",
        "kappa exactly 0.60, four answers",
    ),
)
ASSERTIONS = (PARAPHRASES_PASS, PARAPHRASES_HOLD, JUDGE_PASSES)


def reason(
    closed_gates: Mapping[str, str], axis: str = "", extractor: str = "", reference: str = ""
) -> str:
    """Return why a number of this axis, extractor and reference is not claimed; "" if it may be."""
    closed = (name for name in (axis, extractor, reference) if name in closed_gates)
    # An axis and its extractors may be closed for the same reason, which is given only once.
    return " ".join(dict.fromkeys(closed_gates[name] for name in closed))


def paraphrases_claim(gate: ParaphraseGate, sentence: str = "") -> Claim:
    """Return the sentence of a gate on paraphrases, which asserts something only if it is open.

    `sentence` replaces the gate's own one if it is closed and the caller knows more.
    """
    if not gate.is_open:
        return description(sentence or gate.sentence(), "closed", accepted=gate.accepted)
    return Claim(
        PARAPHRASES_PASS,
        "open",
        gate.sentence(),
        asserted=True,
        detail=gate.looks_sentence(),
        numbers={"accepted": gate.accepted},
    )


def looks_claim(gate: ParaphraseGate) -> Claim:
    """Say whether an open gate holds however often it was looked at; "" for a closed one."""
    holds = gate.holds_at_any_look
    outcome = "holds" if holds else "one look"
    return Claim(PARAPHRASES_HOLD, outcome, gate.looks_sentence(), asserted=holds)


def sources_claim(gates: Sequence[ParaphraseGate]) -> Claim:
    """Count the sources of paraphrases that pass; an assertion only if at least one does."""
    n_open = sum(gate.is_open for gate in gates)
    n_sources = f"{len(gates):,} {'source' if len(gates) == 1 else 'sources'} of paraphrases"
    if not n_open:
        return description(f"None of {n_sources} has passed the gate yet.", "closed")
    sentence = f"{n_open:,} of {n_sources} passed the gate."
    return Claim(PARAPHRASES_PASS, "open", sentence, asserted=True, numbers={"open": n_open})


def judge_claim(gate: JudgeGate) -> Claim:
    """Return the sentence of a judge's gate, which asserts something only if the gate is open."""
    numbers: dict[str, Any] = {"kappa": gate.agreement.estimate, "again": gate.rerun_changes}
    if not gate.is_open:
        return description(gate.sentence(), "closed", **numbers)
    return Claim(JUDGE_PASSES, "open", gate.sentence(), asserted=True, numbers=numbers)
