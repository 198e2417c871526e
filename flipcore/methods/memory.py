"""Is the score memory? What each detector does, by the name of the detector."""

from flipcore.methods.method import Method

DROP_GAP = Method(
    "drop gap",
    "Items are rewritten with right answers of their own. The gap is the benchmark's loss of accuracy less the control's; which "
    "test decides depends on what the control is declared to be.",
    ("mcnemar1947note", "stuart2010matching"),
)
LOSS = Method(
    "loss test",
    "D is how much more surprising a checked paraphrase is than the published text, in nats. The number of items above the "
    "controls' mark is held against its exact distribution without memory; single items are named by conformal p-values.",
    ("benjamini1995controlling", "clopper1934use"),
)
MIN_K = Method(
    "Min-k %", "The score is the mean log-probability of the least likely tokens of the text.", ("shi2023detecting",)
)
MIN_K_PLUS = Method(
    "Min-k %++",
    "The score is the mean of the least likely tokens' log-probabilities, each in standard deviations from its mean over the "
    "vocabulary.",
    ("zhang2024mink",),
)
PEARL = Method(
    "PEARL",
    "Bits of a text's beginning are flipped; the score is the largest fall of the continuation's similarity from one level to "
    "the next. α is set on texts that cannot have been read.",
    ("djire2025memorization", "lin2004rouge", "cilibrasi2005clustering"),
)
COMPLETION = Method(
    "question completion",
    "The first half of an item is shown, and the continuation compared with the true second half: word for word, and by the words "
    "continued in order. The number of items above the controls' mark is held against its exact distribution without memory.",
    ("golchin2023time", "lin2004rouge"),
)
DRAGGED = Method(
    "a threshold that is moved",
    "Limits at a threshold hold for one that was fixed before looking; the simultaneous band holds at every position.",
    ("massart1990tight",),
)
_BEGINNINGS = {
    "drop_": DROP_GAP,
    "question_loss": LOSS,
    "answer_loss": LOSS,
    "min_k_plus": MIN_K_PLUS,
    "min_k": MIN_K,
    "pearl_": PEARL,
    "completion_": COMPLETION,
}


def method_of(detector: str) -> Method | None:
    """The method of a detector by its name; None of one that a package brought."""
    return next((method for start, method in _BEGINNINGS.items() if detector.startswith(start)), None)
