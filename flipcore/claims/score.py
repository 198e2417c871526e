"""How much of a score to trust: its intervals over other questions, other wordings and other readers, as one sentence.

A score without an interval over wordings is marked "questions only": how it would move if somebody worded the questions otherwise is
then unknown, which is not the same as small.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, Estimate, number_text, percent_text
from flipcore.stats.base.families import UNIT
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.corrected import Corrected
from flipcore.stats.score.error_bar import LEAST_WORDINGS, Components, ErrorBar
from flipcore.stats.score.next_calls import Design, after, best_design, half_width
from flipcore.text.counts import count_of

_WORLDS = (
    "wordings change nothing",
    "wordings change a little",
    "wordings change much",
    "questions in families",
    "graded scores",
    "grades near the top",
)
# Three wordings say little of how far wordings lie apart: a 95% interval over others then misses the truth in up to .09 of worlds, as
# does one over few unequal families. What each rate says was simulated (`tests/stats/claims.md`).
SHORT_RATE, OTHER_RATE = 0.09, 0.06
QUESTIONS = Assertion(
    "score over other questions",
    "the mean over all questions like these, asked in these wordings, lies in the interval",
    SHORT_RATE,
    2,
    "each score",
    _WORLDS,
)
WHOLE = Assertion(
    "score over other questions and wordings",
    "the mean over all questions and all wordings like these lies in the interval",
    SHORT_RATE,
    2,
    "each score",
    _WORLDS,
)
ELSEWHERE = Assertion(
    "another wording's score",
    "the score of one further wording of these questions lies in the interval",
    OTHER_RATE,
    2,
    "each score",
    _WORLDS,
)
HIGHER = Assertion(
    "one model scores higher in any wording",
    "a model's mean over all questions and all wordings like these is higher than another's",
    SHORT_RATE,
    2,
    "all pairs of models, Bonferroni",
    (
        "equal models",
        "equal models, wordings suit one or the other",
        "equal models on questions in families",
        "equal models, nearly always right",
        "an order of five: a rank interval misses",
    ),
)
NOT_ADDING = Assertion(
    "changes do not add up",
    "some way of asking moves the score by more or less than its changes do one at a time",
    0.05,
    2,
    "all ways of asking of one score, Bonferroni",
    ("changes add up", "changes add up, nearly always right", "changes add up, questions in families"),
)
ASSERTIONS: tuple[Assertion, ...] = (QUESTIONS, WHOLE, ELSEWHERE, HIGHER, NOT_ADDING)
MOST_RANKS = 5  # that the sentence lists
WHOLE_BAR, QUESTIONS_ONLY, FEW = "whole error bar", "questions only", "few"


def score_claim(model: str, bar: ErrorBar, readers: Sequence[float] = (), why_not: str = "", own: float | None = None) -> Claim:
    """The sentence of one model's score; `readers` are its scores under other readers, `own` that at the study's own prompt where it is
    none of the wordings, `why_not` what withholds it."""
    questions, wordings = bar.by_questions, bar.by_wordings
    value = number_text(bar.value)
    start = f"{model} answers {value} right" if bar.cells.is_binary else f"{model} scores {value}{scale_words(bar.cells)}"
    read = read_words(readers)
    small = f"Own prompt: {number_text(own)}. {detail(bar)}" if own is not None else detail(bar)
    numbers = {"questions": questions, "wordings": wordings}
    if not questions.has_interval:
        n = bar.cells.shape[0]
        few = f"questions for an interval ({n:,})" if n < MIN_N else f"families for an interval ({bar.n_families:,})"
        why = f"too few {few}" if bar.why_not["questions"] else "all scores are equal"
        return Claim(QUESTIONS, FEW, f"{start}: {why}{read}.", False, small, "", numbers).not_claimed(why_not)
    if wordings.has_interval:
        sentence = f"{start}: {interval_text(wordings)} over other questions and wordings{read}."
        small = f"Other questions alone: {interval_text(questions)}. {small}"
    else:
        is_one = bar.cells.shape[1] == 1
        unmeasured = "how wording matters was not measured" if is_one else "two wordings are too few to say more"
        sentence = f"{start}: {interval_text(questions)} over other questions{read}; {unmeasured}."
    assertion, outcome = (WHOLE, WHOLE_BAR) if wordings.has_interval else (QUESTIONS, QUESTIONS_ONLY)
    is_made = not questions.is_too_short
    claim = Claim(assertion, outcome, sentence, is_made, small, "", numbers)
    return claim.not_claimed(why_not or ("" if is_made else f"{bar.n_effective:.1f} families carry this score; 6 are needed."))


def difference_claim(
    first: str, second: str, bar: ErrorBar, ahead: tuple[int, int, int], why_not: str = "", is_in_points: bool = True
) -> Claim:
    """Whether the first of two models scores higher over other questions and wordings. `bar` is of their differences cell by cell, its
    level that of one pair of all; `ahead` says under how many wordings the first leads, the second leads, and neither. Shares of right
    answers differ in percentage points (`is_in_points`), grades in their own units."""
    whole = bar.by_wordings
    if not whole.has_interval:
        return description("")
    asserted = bool(whole.excludes_zero()) and not whole.is_too_short
    start = f"{first} scores higher than {second}" if asserted else f"Undecided whether {first} or {second} scores higher"
    text = Estimate.text_pp if is_in_points else partial(Estimate.text, digits=3)
    sentence = f"{start}: {text(whole)} over other questions and wordings."
    low, high = (number_text(100 * end, 0) for end in clopper_pearson(ahead[1], sum(ahead), bar.level))
    ties = f", they tie under {ahead[2]}" if ahead[2] else ""
    of = f"{ahead[0]} of" if ahead[1] or ahead[2] else "all"
    small = f"{first} leads under {of} {sum(ahead)} wordings, {second} under {ahead[1]}{ties}."
    small += (
        f" On these questions {second} would lead under {percent_text(ahead[1] / sum(ahead))} [{low}, {high}] of such wordings."
    )
    further = f" Questions only: {text(bar.by_questions)}. In one further wording: {text(bar.elsewhere)}."
    claim = Claim(HIGHER, "higher" if asserted else "undecided", sentence, asserted, small + further, "", {"difference": whole})
    return claim.not_claimed(why_not)


def rank_claim(models: Sequence[str], best: Sequence[int], worst: Sequence[int], why_not: str = "") -> Claim:
    """Each model's rank over other questions and other wordings, which the leads of `difference_claim` leave open; the models in the
    order of their scores, `best` and `worst` each one's ranks. All hold together."""
    ranks = [f"{one} {a}" if a == b else f"{one} {a} to {b}" for one, a, b in zip(models, best, worst, strict=True)]
    is_open = all(a == 1 and b == len(models) for a, b in zip(best, worst, strict=True))
    over = "over other questions and wordings"
    sentence = (
        f"No model is shown to rank above another {over}." if is_open else f"Ranks {over}: {', '.join(ranks[:MOST_RANKS])}."
    )
    detail = f"Further ranks: {', '.join(ranks[MOST_RANKS:])}." if len(ranks) > MOST_RANKS and not is_open else ""
    numbers = {"best": dict(zip(models, best, strict=True)), "worst": dict(zip(models, worst, strict=True))}
    return Claim(HIGHER, "undecided" if is_open else "ranked", sentence, not is_open, detail, "", numbers).not_claimed(why_not)


def additivity_claim(model: str, gaps: Mapping[str, Estimate], why_not: str = "", is_in_points: bool = True) -> Claim:
    """Whether the changes that ways of asking join move this model's score as they do one at a time; `gaps` are
    `stats.score.additivity.way_gaps` by the ways' names."""
    if not gaps:
        return description("")
    text = Estimate.text_pp if is_in_points else partial(Estimate.text, digits=3)
    there = [name for name, one in gaps.items() if one.excludes_zero() and not one.is_too_short]
    largest = max(there or gaps, key=lambda name: abs(gaps[name].value))
    gap = f"{largest}, {text(gaps[largest])} from the sum of its parts"
    sentence = (
        f"Changes do not add up for {model}: {gap}."
        if there
        else f"Changes are not shown to depart from adding up for {model}: most {gap}."
    )
    differ = "differs" if len(there) == 1 else "differ"
    detail = f"{len(there)} of {count_of(len(gaps), 'way')} of asking {differ}; all intervals hold at once."
    claim = Claim(NOT_ADDING, "differs" if there else "undecided", sentence, bool(there), detail, "", {"gap": gaps[largest]})
    return claim.not_claimed(why_not)


def elsewhere_claim(model: str, bar: ErrorBar, why_not: str = "") -> Claim:
    """What somebody would report who words the same questions in another way, once."""
    if not bar.elsewhere.has_interval:
        return description("")
    low, high = (number_text(one) for one in (bar.elsewhere.low, bar.elsewhere.high))
    at = percent_text(bar.level, 1 if bar.level > 0.989 else 0)
    sentence = f"In one further wording these questions give {model} between {low} and {high} ({at})."
    return Claim(ELSEWHERE, WHOLE_BAR, sentence, True, "", "", {"elsewhere": bar.elsewhere}).not_claimed(why_not)


def scale_words(cells: ScoreCells) -> str:
    """ " on a scale from 1 to 5"; "" of shares and where the scale is not known."""
    low, high = cells.bounds
    return "" if (low, high) == UNIT or math.isinf(high - low) else f" on a scale from {low:g} to {high:g}"


def interval_text(one: Estimate) -> str:
    """ "[0.75, 0.89]"."""
    return f"[{number_text(one.low)}, {number_text(one.high)}]"


def read_words(readers: Sequence[float]) -> str:
    """ "; other ways of reading: 0.64 to 0.78" of the scores under other readers; "" without any."""
    there = sorted(one for one in readers if not math.isnan(one))
    if not there:
        return ""
    low, high = (number_text(one) for one in (there[0], there[-1]))
    return f"; other ways of reading: {low}" if low == high else f"; other ways of reading: {low} to {high}"


def design_text(bar: ErrorBar) -> str:
    """ "60 questions × 8 wordings × 3 reruns"."""
    n, m = bar.cells.shape
    whole = round(bar.n_runs)
    runs = count_of(whole, "run") if math.isclose(bar.n_runs, whole) else f"{bar.n_runs:.1f} runs"
    return f"{count_of(n, 'question')} × {count_of(m, 'wording')} × {runs}"


def detail(bar: ErrorBar) -> str:
    """What the sentence rests on, in small type: the design and the half-widths, whose limits the sentence prints."""
    half = bar.half_widths
    names = {"questions": "questions", "wordings": "questions and wordings", "reruns": "reruns alone"}
    parts = [f"{name} ± {number_text(half[key], 3)}" for key, name in names.items() if not math.isnan(half[key])]
    at = percent_text(bar.level, 1 if bar.level > 0.989 else 0)
    return f"{design_text(bar)}. {at} half-widths: {', '.join(parts)}." if parts else f"{design_text(bar)}."


def share_words(parts: Mapping[str, Estimate]) -> str:
    """Whose the uncertainty is, the largest share first; "" where wordings were not measured."""
    there = sorted((one for one in parts.items() if not math.isnan(one[1].value)), key=lambda one: -one[1].value)
    return f"Of the variance: {', '.join(f'{name} {_share(one)}' for name, one in there)}." if there else ""


def _share(one: Estimate) -> str:
    """ "45% [16, 69]": few wordings say little of whose the variance is."""
    limits = f" [{number_text(100 * one.low, 0)}, {number_text(100 * one.high, 0)}]" if one.has_interval else ""
    return f"{percent_text(one.value)}{limits}"


def next_words(now: float, more: Mapping[str, Design], n_calls: int) -> str:
    """ "100 more calls: as new wordings − 0.021, as new questions − 0.004, as reruns − 0.001." What each takes off the half-width, the
    most first."""
    off = sorted(((now - one.half_width, name) for name, one in more.items()), reverse=True)
    as_what = {"wordings": "as new wordings", "questions": "as new questions", "reruns": "as reruns"}
    words = (f"{as_what[name]} {number_text(-gain, 3, sign=True)}" for gain, name in off)
    return f"{n_calls:,} more calls change the ± by: {', '.join(words)}."


def plan_words(parts: Components, n_questions: int, n_wordings: int, n_runs: int, n_calls: int) -> tuple[str, ...]:
    """What a study of that size would say if its score varied so, and where `n_calls` more would go."""
    design = f"{count_of(n_questions, 'question')} × {count_of(n_wordings, 'wording')} × {count_of(n_runs, 'run')}"
    if n_questions < MIN_N:
        return (f"{design}: too few questions for an interval; from {MIN_N} on there is one.",)
    if n_wordings < LEAST_WORDINGS:
        with_eight = number_text(half_width(parts, n_questions, 8, n_runs), 3)
        return (
            f"{design}: no interval over other wordings.",
            f"Eight ways of asking, drawn at random, would give ± {with_eight}.",
        )
    now = half_width(parts, n_questions, n_wordings, n_runs)
    more = next_words(now, after(parts, n_questions, n_wordings, n_runs, n_calls), n_calls)
    return f"{design}: ± {number_text(now, 3)} over other questions and wordings.", more


def split_words(
    parts: Components, n_calls: int, most_questions: int, level: float = 0.95, worst: Components | None = None
) -> str:
    """ "1,440 calls are split best as 480 questions × 3 wordings × 1 run: ± 0.081", without its full stop."""
    best = best_design(parts, n_calls, most_questions, level, worst)
    counts = ((best.n_questions, "question"), (best.n_wordings, "wording"), (best.n_runs, "run"))
    sizes = " × ".join(count_of(int(n), word) for n, word in counts)
    return f"{n_calls:,} calls are split best as {sizes}: ± {number_text(best.half_width, 3)}"


def corrected_words(model: str, reader: str, score: Corrected) -> str:
    """The score with people's labels in it beside that of the extractor alone: an estimate, and no verdict."""
    n = f"{score.n_labels:,} label{'s' * (score.n_labels != 1)}"
    sentence = f"{model} with {n} by people: {score.estimate.text(3)}; {reader} alone: {score.raw.text(3)}."
    if not score.estimate.has_interval:
        return f"{sentence} {score.estimate.note}"
    if score.has_normal_limits:
        return sentence
    few = f"{score.n_disagreements} of {n} differ in right or wrong, so exact limits of both error rates make the interval"
    return f"{sentence} {few}."


def narrower_words(score: Corrected, n_more: int) -> str:
    """What more labels would do to the half-width, or how many are missing to the normal interval."""
    if score.has_normal_limits:
        now, then, best = (number_text(score.half_width(n), 3) for n in (0, n_more, math.inf))
        return f"{n_more:,} more labels: ± {now} becomes ± {then}; no number of labels takes it below ± {best}."
    if not score.n_labels or score.n_labels < MIN_N:
        return f"Label about {MIN_N - score.n_labels} more."
    if score.n_more is None:
        return (
            f"No label differs from the extractor yet: at most {percent_text(score.false_rights.high)} of its rights are wrong."
        )
    return f"Label about {score.n_more:,} more for an interval by prediction-powered inference."
