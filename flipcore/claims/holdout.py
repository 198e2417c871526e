"""Claims about benchmark and holdout: outcome of each test, joint verdict, inflation, survey."""

import math
from collections.abc import Iterable, Sequence

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, p_text
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.survey import CHANCE, OddOneOut
from flipcore.stats.holdout.units import bound_text, estimate_text, margin_text
from flipcore.stats.holdout.verdict import (
    ALPHA,
    BEYOND,
    COPIES,
    DIFFERENT,
    DISTINGUISHABLE,
    EQUIVALENT,
    INDISTINGUISHABLE,
    OUTCOMES,
    TESTS,
    UNDECIDED,
    WITHIN,
    HoldoutTest,
    HoldoutVerdict,
)
from flipcore.text.counts import in_a_row, with_capital

TOPICS = {
    "difficulty": "difficulty",
    "semantic": "semantic similarity",
    "prediction": "prediction accuracy",
    "odd one out": "the survey",
}
# Worlds of the claims ledger (tests/lab/claims) in which both sets have the same distribution.
_NULL_WORLDS = (
    "identical sets",
    "identical sets of unequal size",
    "source-paired sets",
    "templated entries",
    "templates of unequal size",
)
_BOUNDARY = ("difference exactly at the margin", "at the margin, unequal sizes")
_COPIED = (
    "copied holdout, 10 %, paraphrase",
    "copied holdout, 30 %, paraphrase",
    "copied holdout, 10 %, edit",
    "copied holdout, 30 %, edit",
    "copied holdout, 10 %, new numbers",
    "copied holdout, 30 %, new numbers",
)
_TWINS = tuple(f"copied holdout, {share} %, twins" for share in (10, 30))
_HIDDEN = ("the old model guesses", "the old model is always right", *_COPIED, *_TWINS)
SETS_DIFFER = Assertion(
    "sets differ",
    "the two sets do not come from one source",
    error_rate=0.05,
    sides=2,
    family="the tests of a page, Holm",
    worlds=_NULL_WORLDS,
)
SETS_DIFFER_BEYOND = Assertion(
    "sets differ beyond the margin",
    "the difference is larger than the margin",
    error_rate=0.05,
    sides=2,
    family="each test",
    worlds=_BOUNDARY,
)
SETS_EQUIVALENT = Assertion(
    "sets are equivalent on a test",
    (
        "the difference is smaller than the margin, and no more entries are close copies than the "
        "sentence says, if it says so"
    ),
    error_rate=0.05,
    sides=1,
    family="each test",
    worlds=(*_BOUNDARY, *_HIDDEN),
)
SETS_WITHIN = Assertion(
    "sets differ within the margin",
    "there is a difference, and it is smaller than the margin",
    error_rate=0.05,
    sides=2,
    family="each test",
    worlds=_BOUNDARY,
)
SAME_SOURCE = Assertion(
    "sets could have one source",
    (
        "on every test the difference is smaller than its margin, and no more entries are close "
        "copies than is said"
    ),
    error_rate=0.05,
    sides=1,
    family="all four tests, intersection-union",
    worlds=("three tests equivalent, one at its margin", *_COPIED[:2]),
)
BENCHMARK_HIGHER = Assertion(
    "target is answered better",
    "a model's accuracy on the target is higher than on retro",
    error_rate=0.05,
    sides=2,
    family="the models of a page, Holm",
    worlds=(
        "equal accuracies",
        "equal accuracies of unequal sets",
        "equal accuracies of pairs",
        "equal accuracies of templates",
        "templates of unequal size",
        "few errors of many models",
    ),
)
HOLDOUT_STANDS_OUT = Assertion(
    "annotators find the retro entry",
    "annotators choose the retro entry more often than one time in three",
    error_rate=0.05,
    sides=2,
    family="each kind of annotator",
    worlds=("entries of unequal oddness", "annotators of unequal skill", "few annotators"),
)
ASSERTIONS = (
    SETS_DIFFER,
    SETS_DIFFER_BEYOND,
    SETS_EQUIVALENT,
    SETS_WITHIN,
    SAME_SOURCE,
    BENCHMARK_HIGHER,
    HOLDOUT_STANDS_OUT,
)
# An undecided test asserts nothing, so it is not listed.
_BY_OUTCOME = {
    BEYOND: SETS_DIFFER_BEYOND,
    DIFFERENT: SETS_DIFFER,
    WITHIN: SETS_WITHIN,
    EQUIVALENT: SETS_EQUIVALENT,
}
# Kind of annotator -> the words for many of them, for few, and for one.
_ANNOTATORS = {
    "person": ("People", "these people", "One person"),
    "model": ("Sheets of models", "these sheets", "One sheet of a model"),
}


def outcome_claim(test: HoldoutTest) -> Claim:
    """Return the outcome of one test at its margin."""
    topic, p, margin = TOPICS[test.name], p_text(test.p), margin_text(test.name, test.margin)
    numbers = {"estimate": test.estimate, "p": test.p, "margin": test.margin, "bound": test.bound}
    outcome = test.state
    if outcome == BEYOND:
        sentence = (
            f"The sets differ on {topic} beyond the margin: {estimate_text(test)} against "
            f"{margin} ({p})."
        )
    elif outcome == WITHIN:
        sentence = (
            f"The sets differ on {topic} ({p}), but within the margin: {bound_text(test)} against "
            f"{margin}{_copies_words(test)}."
        )
    elif outcome == DIFFERENT and test.blind == COPIES:
        sentence = (
            f"Entries of one set stand for entries of the other: {topic} ({p}). The holdout may "
            "copy the benchmark."
        )
    elif outcome == DIFFERENT:
        sentence = f"The sets differ on {topic} ({p}), {_why_not_placed(test)}."
    elif outcome == EQUIVALENT:
        sentence = (
            f"The sets are alike on {topic}: {bound_text(test)}, within the margin "
            f"{margin}{_copies_words(test)}."
        )
    else:
        sentence = f"Undecided on {topic}: {_why_open(test, margin)}."
        return Claim(None, outcome, sentence, numbers=numbers)
    return Claim(_BY_OUTCOME[outcome], outcome, sentence, asserted=True, numbers=numbers)


def most_copies(tests: Iterable[HoldoutTest]) -> int | None:
    """Return the percentage of holdout entries that may still be close copies, rounded up.

    Sets that are equal on average may contain copies. None if no test bounds the copies, or if too
    many entries have close twins in their own set.
    """
    tests = list(tests)
    # A copy is found because its original is its nearest entry, unless a twin is nearer still.
    if any(test.has_many_twins for test in tests):
        return None
    shares = [test.copied_at_most for test in tests if not math.isnan(test.copied_at_most)]
    # 1e-9, because 100 * 0.14 is a little above 14 and must not become 15.
    return math.ceil(100 * max(shares) - 1e-9) if shares else None


MANY_TWINS = (
    "how many are close copies cannot be told, because too many have close twins in their own set"
)


def _copies_words(test: HoldoutTest) -> str:
    """Return "; at most 3% are close copies", or why nobody can tell; "" without a bound."""
    if test.has_many_twins:
        return f"; {MANY_TWINS}"
    limit = most_copies([test])
    return "" if limit is None else f"; at most {limit}% are close copies"


def _why_not_placed(test: HoldoutTest) -> str:
    """Say why a shown difference is neither within the margin nor beyond it."""
    if test.blind:
        return f"and sameness could not show: {test.blind}"
    if test.margin is None:
        return "and no margin is set"
    if not test.is_bounded:
        return "in how alike the entries of a set are, which no margin bounds"
    return "not shown to lie within the margin or beyond it"


def _why_open(test: HoldoutTest, margin: str) -> str:
    """Say why a test is undecided."""
    if test.too_few:
        return test.too_few
    if test.blind:
        return test.blind
    if test.margin is None:
        return f"no difference is shown ({p_text(test.p)}), and no margin is set"
    finding = "no difference is shown"
    if test.p < ALPHA:
        finding = f"{p_text(test.p)} alone, no difference by Holm over the tests"
    return f"{finding}, and {bound_text(test)} reaches past the margin {margin}"


def verdict_claim(verdict: HoldoutVerdict) -> Claim:
    """Return the joint verdict of all tests, with that of the source's rule in the detail."""
    detail = f"The source's rule says {verdict.source_state}."
    # Sets that are equal on average may contain copies, so such a claim gives a limit of them.
    with_copies, limit = detail, most_copies(verdict.tests)
    if any(test.has_many_twins for test in verdict.tests):
        with_copies = f"{with_capital(MANY_TWINS)}. {detail}"
    elif limit is not None:
        with_copies = (
            f"At most {limit}% of the holdout entries are close copies, nearest to their own "
            f"original. {detail}"
        )
    by_outcome: dict[str, list[str]] = {outcome: [] for outcome in OUTCOMES}
    for test in verdict.tests:
        by_outcome[test.state].append(TOPICS[test.name])
    if verdict.state == DISTINGUISHABLE:
        parts = []
        if by_outcome[BEYOND]:
            parts.append(f"beyond the margin on {in_a_row(by_outcome[BEYOND])}")
        if by_outcome[DIFFERENT]:
            parts.append(f"different on {in_a_row(by_outcome[DIFFERENT])}")
        sentence = f"The sets can be told apart: {'; '.join(parts)}."
        return Claim(SETS_DIFFER, verdict.state, sentence, asserted=True, detail=detail)
    if verdict.state == INDISTINGUISHABLE:
        sentence = (
            f"The sets could have come from the same source: they are alike on all {len(TESTS)} "
            "tests."
        )
        if by_outcome[WITHIN]:
            sentence = (
                f"All {len(TESTS)} tests lie within their margins; a small difference is shown on "
                f"{in_a_row(by_outcome[WITHIN])}."
            )
        return Claim(SAME_SOURCE, verdict.state, sentence, asserted=True, detail=with_copies)
    # The survey needs people and is often left out. The other tests may still agree.
    if list(verdict.missing) == [TESTS[-1]] and not by_outcome[UNDECIDED]:
        n = len(verdict.tests)
        sentence = (
            f"The sets could have one source as far as it was tested: alike on {n} of {n} tests; "
            "the survey was not run."
        )
        if by_outcome[WITHIN]:
            small = in_a_row(by_outcome[WITHIN])
            sentence = (
                f"{n} of {n} tests lie within their margins, with a small difference on {small}; "
                "the survey was not run."
            )
        return Claim(SAME_SOURCE, EQUIVALENT, sentence, asserted=True, detail=with_copies)
    return Claim(None, verdict.state, _undecided_sentence(verdict, by_outcome), detail=detail)


def _undecided_sentence(verdict: HoldoutVerdict, by_outcome: dict[str, list[str]]) -> str:
    """Return "Undecided: the holdout is like the benchmark on 2 of 4 tests, 2 have …"."""
    alike = len(by_outcome[EQUIVALENT]) or "none"
    parts = [f"the holdout is like the benchmark on {alike} of {len(TESTS)} tests"]
    for n, singular, plural in (
        (len(by_outcome[WITHIN]), "differs within its margin", "differ within their margins"),
        (len(by_outcome[UNDECIDED]), "is inconclusive", "are inconclusive"),
        (len(verdict.missing), "has not been run", "have not been run"),
    ):
        if n:
            parts.append(f"{n} {singular if n == 1 else plural}")
    return f"Undecided: {', '.join(parts)}."


def inflation_claim(conditions: Sequence[Condition]) -> Claim:
    """Count the models that score higher on the benchmark than on the holdout.

    There is one condition per model, and p is corrected over the models (Holm). Without conditions
    the claim is a description.
    """
    if not conditions:
        return description(
            "No model has answered both sets, so there is no inflation to show.", "missing"
        )
    estimates = [condition.inflation() for condition in conditions]
    p = holm([condition.test(1.0).p for condition in conditions])
    n_better = 0
    for model_p, estimate in zip(p, estimates, strict=True):
        # The p is two-sided: the interval must agree with it and show the direction.
        if model_p < ALPHA and estimate.low > 0 and not estimate.is_too_short:
            n_better += 1
    largest = max(range(len(conditions)), key=lambda i: estimates[i].value)
    model = conditions[largest].model
    size, likely = estimates[largest].likely_points()
    if len(conditions) == 1:
        sentence = f"{model} is not shown to score higher on the benchmark: {size}{likely}."
        if n_better:
            sentence = f"{model} scores {size} higher on the benchmark than on the holdout{likely}."
        detail = f"{p_text(p[0])}."
    else:
        score = "scores" if n_better == 1 else "score"
        verb = f"{n_better:,} of {len(conditions):,} models {score}"
        if not n_better:
            verb = f"None of {len(conditions):,} models is shown to score"
        sentence = (
            f"{verb} higher on the benchmark than on the holdout; the largest difference is "
            f"{model}'s, {size}{likely}."
        )
        detail = "Holm over the models. The largest of several differences is on average too large."
    cut_sentences = [(condition.model, condition.cut_sentence()) for condition in conditions]
    cut = " ".join(f"{name}: {cut_words}" for name, cut_words in cut_sentences if cut_words)
    detail = " ".join(filter(None, (detail, cut, "Intervals are over questions only.")))
    numbers = {
        "inflation": estimates[largest],
        "p": min(p),
        "better": n_better,
        "models": len(conditions),
    }
    return Claim(
        BENCHMARK_HIGHER if n_better else None,
        "inflated" if n_better else UNDECIDED,
        sentence,
        asserted=bool(n_better),
        detail=detail,
        numbers=numbers,
    )


def survey_claim(answers: OddOneOut, annotator: str = "person") -> Claim:
    """Say whether annotators ("person" or "model") find the holdout entry among three."""
    if answers.too_few:
        return description(f"Undecided: {answers.too_few}.", UNDECIDED, n_entries=answers.n_entries)
    annotators, these_annotators, one_annotator = _ANNOTATORS[annotator]
    is_better = answers.p < ALPHA and answers.accuracy.value > CHANCE
    if answers.n_annotators == 1:
        name, verb = one_annotator, "finds" if is_better else "is not shown to find"
    else:
        # Few annotators do not stand for people in general.
        is_general = answers.n_annotators >= MIN_N
        name = annotators if is_general else these_annotators.capitalize()
        verb = "find" if is_better else "are not shown to find"
    detail = (
        f"{answers.n_annotators:,} annotators, {answers.n_entries:,} holdout entries. "
        f"{answers.accuracy.note}"
    ).strip()
    sentence = (
        f"{name} {verb} the holdout entry more often than one time in three: "
        f"{answers.accuracy.text_percent()} ({p_text(answers.p)})."
    )
    return Claim(
        HOLDOUT_STANDS_OUT if is_better else None,
        "stands out" if is_better else UNDECIDED,
        sentence,
        asserted=is_better,
        detail=detail,
        numbers={"accuracy": answers.accuracy, "p": answers.p},
    )
