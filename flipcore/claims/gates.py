"""What is said of paraphrases and judges that people have checked; which gates of a study are closed says `annotation.gates`."""

from collections.abc import Sequence

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.gate_looks import ANY_LOOK
from flipcore.stats.base.gate_rules import JudgeGate, ParaphraseGate

PARAPHRASES_PASS = Assertion(
    "paraphrases pass",
    "more than 0.80 of a source's paraphrases would be accepted by its reviewers",
    0.03,  # Wilson's one-sided 0.025 is at most 0.0281 (54 pairs) where 50 pairs or more were reviewed, computed exactly
    1,
    "one look at the gate, after a number of pairs fixed beforehand",
    (
        "acceptance exactly 0.80",
        "acceptance 0.80, differing by item",
        "nothing accepted beyond a coin",
    ),
)
PARAPHRASES_HOLD = Assertion(
    "paraphrases pass at every look",
    "more than 0.80 of a source's paraphrases would be accepted, even if pairs were reviewed "
    "until the gate opened",
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
    (
        "kappa exactly 0.60, answers even",
        "kappa exactly 0.60, one answer in nine of ten",
        "kappa exactly 0.60, four answers",
    ),
)
ASSERTIONS = (PARAPHRASES_PASS, PARAPHRASES_HOLD, JUDGE_PASSES)


def reason(
    closed_gates: dict[str, str], axis: str = "", extractor: str = "", reference: str = ""
) -> str:
    """Why a number of this axis, under this extractor and reference, is not claimed; "" when it may be."""
    return " ".join(
        dict.fromkeys(
            closed_gates[name] for name in (axis, extractor, reference) if name in closed_gates
        )
    )


def paraphrases_claim(gate: ParaphraseGate, sentence: str = "") -> Claim:
    """The sentence of a gate on paraphrases (`sentence` where the source's pairs say more); it asserts something only where the
    gate is open."""
    if not gate.is_open:
        return description(sentence or gate.sentence(), "closed", accepted=gate.accepted)
    return Claim(
        PARAPHRASES_PASS,
        "open",
        gate.sentence(),
        True,
        gate.looks_sentence(),
        numbers={"accepted": gate.accepted},
    )


def looks_claim(gate: ParaphraseGate) -> Claim:
    """Whether an open gate holds however often it was looked at; "" of a closed one."""
    any_look = gate.holds_at_any_look
    return Claim(
        PARAPHRASES_HOLD, "holds" if any_look else "one look", gate.looks_sentence(), any_look
    )


def sources_claim(gates: Sequence[ParaphraseGate]) -> Claim:
    """How many sources of paraphrases pass; it asserts something only where one does."""
    n_open = sum(gate.is_open for gate in gates)
    n = f"{len(gates):,} {'source' if len(gates) == 1 else 'sources'} of paraphrases"
    if not n_open:
        return description(f"None of {n} has passed the gate yet.", "closed")
    return Claim(
        PARAPHRASES_PASS,
        "open",
        f"{n_open:,} of {n} passed the gate.",
        True,
        numbers={"open": n_open},
    )


def judge_claim(gate: JudgeGate) -> Claim:
    """The sentence of a judge's gate; it asserts something only where the gate is open."""
    numbers = {"kappa": gate.agreement.estimate, "again": gate.rerun_changes}
    if not gate.is_open:
        return description(gate.sentence(), "closed", "", **numbers)
    return Claim(JUDGE_PASSES, "open", gate.sentence(), True, numbers=numbers)
