"""Claims about a score: intervals over other questions, prompts and extractors in one sentence.

A score without an interval over wordings is marked "questions only". The effect of other wordings
is then unknown, which is not the same as small.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N, Estimate, level_text, number_text, percent_text
from flipcore.stats.base.families import UNIT
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.corrected import Corrected
from flipcore.stats.score.error_bar import LEAST_WORDINGS, Components, ErrorBar
from flipcore.stats.score.next_calls import Design, best_design, designs_after, half_width
from flipcore.text.counts import count_of, with_capital

_WORLDS = (
    "wordings change nothing",
    "wordings change a little",
    "wordings change much",
    "graded scores",
    "grades near the top",
)
# Near an end of the scale, the scores of prompts have a skewed distribution.
_SKEWED = "nearly always right, prompts far apart"
_SHORT_WORLDS = (
    "few prompts that change nothing",
    "few prompts that change a little",
    "few prompts that change much",
    "few prompts, graded scores",
    "few prompts, grades near the top",
    "questions in clusters",
)
# A few prompts estimate the spread of prompts badly, and scores near an end of a scale are skewed.
# A 95% interval over other prompts then misses the truth in up to .09 of studies. So does one over
# few unequal clusters. Such intervals are printed with their true coverage, "about 91%". All rates
# were simulated (`tests/stats/claims.md`).
RATE, SHORT_RATE = 0.05, 0.09
QUESTIONS = Assertion(
    "score over other questions",
    "the mean over all questions like these, asked in these wordings, lies in the interval",
    error_rate=RATE,
    sides=2,
    family="each score",
    worlds=_WORLDS,
)
WHOLE = Assertion(
    "score over other questions and wordings",
    "the mean over all questions and all wordings like these lies in the interval",
    error_rate=RATE,
    sides=2,
    family="each score",
    worlds=(*_WORLDS, _SKEWED),
)
ELSEWHERE = Assertion(
    "another wording's score",
    "the score of one further wording of these questions lies in the interval",
    error_rate=RATE,
    sides=2,
    family="each score",
    worlds=(*_WORLDS, _SKEWED),
)
HIGHER = Assertion(
    "one model scores higher in any wording",
    "a model's mean over all questions and all wordings like these is higher than another's",
    error_rate=RATE,
    sides=2,
    family="all pairs of models, Bonferroni",
    worlds=(
        "equal models",
        "equal models, wordings suit one or the other",
        "equal models, nearly always right",
        "an order of five: a rank interval misses",
    ),
)
NOT_ADDING = Assertion(
    "changes do not add up",
    "some way of asking moves the score by more or less than its changes do one at a time",
    error_rate=0.05,
    sides=2,
    family="all ways of asking of one score, Bonferroni",
    worlds=(
        "changes add up",
        "changes add up, nearly always right",
        "changes add up, questions in families",
    ),
)


def _short(assertion: Assertion, *worlds: str) -> Assertion:
    """Return the assertion for a score whose interval covers less than its level."""
    name = f"{assertion.name}, about 91%"
    return replace(assertion, name=name, error_rate=SHORT_RATE, worlds=worlds)


SHORT_QUESTIONS = _short(QUESTIONS, _SHORT_WORLDS[-1])
SHORT_WHOLE = _short(WHOLE, *_SHORT_WORLDS, _SKEWED)
SHORT_ELSEWHERE = _short(ELSEWHERE, *_SHORT_WORLDS, _SKEWED)
SHORT_HIGHER = _short(
    HIGHER,
    "equal models, few prompts",
    "equal models, few prompts that suit one or the other",
    "equal models on questions in clusters",
    "equal models, few prompts, nearly always right",
    "an order of five, few prompts: a rank interval misses",
)
_SHORT_ASSERTIONS = (SHORT_QUESTIONS, SHORT_WHOLE, SHORT_ELSEWHERE, SHORT_HIGHER)
ASSERTIONS = (QUESTIONS, WHOLE, ELSEWHERE, HIGHER, NOT_ADDING, *_SHORT_ASSERTIONS)
OVER_PROMPTS = "with other questions and prompts like these"
OTHERS_LEFT_OUT = "Other prompts were asked, but this range leaves them out."
# Chance that a kind of prompt is missing from the drawn ones, for `unmet_words`.
UNMET = 0.05
# With at most this many prompts, a model must lead under each of them.
ALL_LEAD = 6
# Largest number of ranks in the sentence; further ones are in the detail.
MAX_RANKS = 5
WHOLE_BAR, QUESTIONS_ONLY, FEW = "whole error bar", "questions only", "few"
# Names of what other scores of the same outputs come from: a table's own score reads nothing.
EXTRACTOR, SCORE, EQUAL_ANSWERS = "extractor", "score", "Answers that equal the right one"
OTHER_QUESTIONS = "Intervals are over other questions in the same prompt."


def score_claim(
    model: str,
    bar: ErrorBar,
    extractor_scores: Sequence[float] = (),
    why_not: str = "",
    own_score: float | None = None,
    *,
    other_name: str = EXTRACTOR,
    has_other_prompts: bool = False,
    has_raters: bool = False,
) -> Claim:
    """Return the sentence of one model's score.

    For example "pocket: 87% right; with other questions and prompts 80 to 92%. …".
    `extractor_scores` are its scores under other extractors, which are called `other_name`:
    EXTRACTOR, SCORE or EQUAL_ANSWERS. `own_score` is the score at the
    study's own prompt, None if that is one of the variants. A reason in `why_not` withholds the
    claim. `has_other_prompts` is True if the score leaves out prompts that were asked, `has_raters`
    if runs are ratings of one output by several people. Shares of right answers are printed as
    percentages, grades on their own scale.
    """
    questions, wordings = bar.by_questions, bar.by_wordings
    is_share = bar.cells.is_share
    digits = (wordings if wordings.has_interval else questions).percent_digits
    value = score_text(bar.value, digits, is_share=is_share)
    start = f"{model} scores {value}{scale_words(bar.cells)}"
    if is_share:
        start = f"{model}: {value} right"
    extractor_words = other_extractors_words(
        extractor_scores, is_share=is_share, digits=digits, name=other_name
    )
    small_print = detail(bar, has_raters=has_raters)
    if own_score is not None:
        own_text = score_text(own_score, digits, is_share=is_share)
        small_print = f"Own prompt: {own_text}. {small_print}"
    numbers = {"questions": questions, "wordings": wordings}
    if not questions.has_interval:
        n_questions = bar.cells.shape[0]
        few = f"questions for an interval ({n_questions:,})"
        if n_questions >= MIN_N:
            few = f"clusters for an interval ({bar.n_families:,})"
        reason = f"too few {few}" if bar.why_not["questions"] else "all scores are equal"
        sentence = f"{start}: {reason}.{extractor_words}"
        claim = Claim(QUESTIONS, FEW, sentence, detail=small_print, numbers=numbers)
        return claim.not_claimed(why_not)
    if wordings.has_interval:
        assertion = SHORT_WHOLE if bar.is_short("wordings") else WHOLE
        outcome = WHOLE_BAR
        by_wordings = limits_text(wordings, is_share=is_share)
        sentence = f"{start}; {OVER_PROMPTS} {by_wordings}.{extractor_words}"
        small_print = f"{small_print} {unmet_words(bar)}"
    else:
        assertion = SHORT_QUESTIONS if bar.is_short("questions") else QUESTIONS
        outcome = QUESTIONS_ONLY
        # The sentence must not suggest that other prompts would change nothing.
        unmeasured = "Two prompts are too few to say how much the prompt matters."
        if bar.cells.shape[1] == 1:
            unmeasured = OTHERS_LEFT_OUT if has_other_prompts else "Asked in one wording only."
        by_questions = limits_text(questions, is_share=is_share)
        sentence = f"{start}; with other questions {by_questions}.{extractor_words} {unmeasured}"
    asserted = not questions.is_too_short
    claim = Claim(
        assertion, outcome, sentence, asserted=asserted, detail=small_print, numbers=numbers
    )
    if not asserted and not why_not:
        why_not = f"{bar.n_effective:.1f} clusters carry this score; 6 are needed."
    return claim.not_claimed(why_not)


def readout_words(model: str, bar: ErrorBar, scorer: str, why_not: str) -> str:
    """Show a score that is not claimed, with its interval and the reason.

    For example "pocket: 3.73 [3.20, 4.10] on a scale from 1 to 5 by judge (not claimed: …)". A
    clause in `why_not` fits into the brackets.
    """
    estimate = bar.by_wordings if bar.by_wordings.has_interval else bar.by_questions
    is_share = bar.cells.is_share
    words = score_text(bar.value, estimate.percent_digits, is_share=is_share)
    if estimate.has_interval and not estimate.is_too_short:
        limits = limits_text(estimate, is_share=is_share).removesuffix("%")
        words += f" [{limits.replace(' to ', ', ')}]"
    return f"{model}: {words}{scale_words(bar.cells)} by {scorer} (not claimed: {why_not})."


def difference_claim(
    first: str,
    second: str,
    bar: ErrorBar,
    n_leads: tuple[int, int, int],
    why_not: str = "",
    *,
    is_in_points: bool = True,
) -> Claim:
    """Say whether the first of two models scores higher over other questions and wordings.

    `bar` is made from their differences per cell, at the level of one pair of all. `n_leads` counts
    the wordings under which the first leads, the second leads, and neither does. Differences are
    percentage points if `is_in_points`, else grades.
    """
    difference = bar.by_wordings
    if not difference.has_interval:
        return description("")
    n_first, n_second, n_ties = n_leads
    n_prompts = sum(n_leads)
    needed = least_leads(n_first + n_second, bar.level)
    n_leader = n_first if difference.value > 0 else n_second
    is_beyond = bool(difference.excludes_zero()) and not difference.is_too_short
    # The interval rests on the spread of few prompts, so the count of leads must confirm it.
    asserted = is_beyond and n_leader >= needed
    start = f"Undecided whether {first} or {second} scores higher"
    if asserted:
        start = f"{first} scores higher than {second}"
    text = Estimate.text_points if is_in_points else partial(Estimate.text, digits=3)
    sentence = f"{start} {OVER_PROMPTS}: {text(difference)}."
    limits = clopper_pearson(n_second, n_prompts, bar.level)
    low, high = (number_text(100 * limit, 0) for limit in limits)
    ties = f", they tie in {n_ties}" if n_ties else ""
    n_led = f"{n_first} of" if n_second or n_ties else "all"
    small_print = f"{first} leads in {n_led} {n_prompts} prompts, {second} in {n_second}{ties}."
    small_print += (
        f" On these questions {second} would lead in {percent_text(n_second / n_prompts)} "
        f"[{low}, {high}] of such prompts."
    )
    if is_beyond and not asserted:
        small_print += f" A lead in at least {needed} prompts is needed."
    small_print += f" {unmet_words(bar)}"
    small_print += (
        f" Questions only: {text(bar.by_questions)}. In one further prompt: {text(bar.elsewhere)}."
    )
    assertion = HIGHER
    if bar.is_short("wordings"):
        assertion = SHORT_HIGHER
        small_print += (
            " With so few prompts or clusters equal models are told apart in up to "
            f"{percent_text(SHORT_RATE)} of studies."
        )
    outcome, numbers = "higher" if asserted else "undecided", {"difference": difference}
    claim = Claim(
        assertion, outcome, sentence, asserted=asserted, detail=small_print, numbers=numbers
    )
    return claim.not_claimed(why_not)


def rank_claim(
    models: Sequence[str],
    best: Sequence[int],
    worst: Sequence[int],
    why_not: str = "",
    *,
    is_short: bool = False,
) -> Claim:
    """Give the ranks that each model may have over other questions and wordings, jointly.

    `models` are in the order of their scores. `best` and `worst` are the highest and the lowest
    rank of each, by the leads of `difference_claim`. `is_short` is True if leads are claimed at
    `SHORT_RATE`.
    """
    ranks, is_open = [], True
    for model, first_rank, last_rank in zip(models, best, worst, strict=True):
        rank = f"{first_rank}" if first_rank == last_rank else f"{first_rank} to {last_rank}"
        ranks.append(f"{model} {rank}")
        is_open = is_open and first_rank == 1 and last_rank == len(models)
    small_print = ""
    if is_open:
        sentence = f"No model is shown to rank above another {OVER_PROMPTS}."
    else:
        sentence = f"Ranks {OVER_PROMPTS}: {', '.join(ranks[:MAX_RANKS])}."
        if len(ranks) > MAX_RANKS:
            small_print = f"Further ranks: {', '.join(ranks[MAX_RANKS:])}."
    numbers = {
        "best": dict(zip(models, best, strict=True)),
        "worst": dict(zip(models, worst, strict=True)),
    }
    assertion, outcome = SHORT_HIGHER if is_short else HIGHER, "undecided" if is_open else "ranked"
    claim = Claim(
        assertion, outcome, sentence, asserted=not is_open, detail=small_print, numbers=numbers
    )
    return claim.not_claimed(why_not)


def additivity_claim(
    model: str, gaps: Mapping[str, Estimate], why_not: str = "", *, is_in_points: bool = True
) -> Claim:
    """Say whether several changes at once move the score by the sum of their single effects.

    `gaps` maps the name of each way of asking to its gap (`stats.score.additivity.way_gaps`).
    """
    if not gaps:
        return description("")
    text = Estimate.text_points if is_in_points else partial(Estimate.text, digits=3)
    departing = []
    for name, way_gap in gaps.items():
        if way_gap.excludes_zero() and not way_gap.is_too_short:
            departing.append(name)
    # The largest gap among those that are shown; among all if none is.
    largest = max(departing or gaps, key=lambda name: abs(gaps[name].value))
    gap = f"{largest} is {text(gaps[largest])} from the sum of its parts"
    outcome = "undecided"
    sentence = f"Undecided whether several changes at once add up for {model}: at most, {gap}."
    if departing:
        outcome = "differs"
        sentence = f"Several changes at once do not add up for {model}: {gap}."
    differ = "differs" if len(departing) == 1 else "differ"
    n_ways = count_of(len(gaps), "way")
    small_print = f"{len(departing)} of {n_ways} of asking {differ}; all intervals hold at once."
    asserted, numbers = bool(departing), {"gap": gaps[largest]}
    claim = Claim(
        NOT_ADDING, outcome, sentence, asserted=asserted, detail=small_print, numbers=numbers
    )
    return claim.not_claimed(why_not)


def elsewhere_claim(model: str, bar: ErrorBar, why_not: str = "") -> Claim:
    """Return the range of the score under one further prompt for the same questions."""
    if not bar.elsewhere.has_interval:
        return description("")
    level = interval_level_text(bar, "elsewhere")
    limits = limits_text(bar.elsewhere, is_share=bar.cells.is_share)
    sentence = (
        f"{model}: another prompt would score between {limits.replace(' to ', ' and ')} on these "
        f"questions ({level})."
    )
    assertion = SHORT_ELSEWHERE if bar.is_short("elsewhere") else ELSEWHERE
    numbers = {"elsewhere": bar.elsewhere}
    claim = Claim(assertion, WHOLE_BAR, sentence, asserted=True, numbers=numbers)
    return claim.not_claimed(why_not)


def interval_level_text(bar: ErrorBar, name: str) -> str:
    """Return the level of an interval: "95%", or the simulated one, "about 91%"."""
    coverage = bar.estimate(name).coverage
    return _declared_level(bar) if coverage is None else f"about {percent_text(coverage)}"


def _declared_level(bar: ErrorBar) -> str:
    return level_text(bar.level)


def unmet_words(bar: ErrorBar) -> str:
    """Say how common a kind of prompt may be that is missing from the drawn ones."""
    # If one prompt in ten is bad, eight drawn prompts include none in 43% of studies. The interval
    # then misses the truth in a third of studies, and no computation on the drawn ones can help.
    n = bar.cells.shape[1]
    share = 1 - UNMET ** (1 / n)
    return (
        f"These {n} prompts may miss a kind that makes up to {percent_text(share)} of all prompts."
    )


def least_leads(n_prompts: int, level: float) -> int:
    """Return the number of prompts under which a model must lead to be called higher.

    Up to `ALL_LEAD` prompts it is all of them. From there on it is the critical value of a
    two-sided sign test at `level`, but at most all prompts but one.
    """
    if n_prompts <= ALL_LEAD:
        return n_prompts
    # `chance` is the probability of at least `needed` leads if both models are equal.
    needed, chance = n_prompts + 1, 0.0
    while needed > 0:
        chance_of_fewer = chance + math.comb(n_prompts, needed - 1) / 2**n_prompts
        if chance_of_fewer > (1 - level) / 2:
            break
        needed, chance = needed - 1, chance_of_fewer
    return min(needed, n_prompts - 1)


def scale_words(cells: ScoreCells) -> str:
    """Return " on a scale from 1 to 5"; "" for shares and unknown scales."""
    low, high = cells.bounds
    if (low, high) == UNIT or math.isinf(high - low):
        return ""
    return f" on a scale from {low:g} to {high:g}"


def score_text(value: float, digits: int = 0, *, is_share: bool) -> str:
    """Return "87%" for a share of right answers (`digits` decimals), "3.42" for a grade."""
    return percent_text(value, digits) if is_share else number_text(value)


def half_text(half: float, *, is_share: bool = True) -> str:
    """Return a half-width: "± 8.1 points" for a share of right answers, "± 0.081" for a grade."""
    return f"± {number_text(100 * half, 1)} points" if is_share else f"± {number_text(half, 3)}"


def limits_text(estimate: Estimate, *, is_share: bool) -> str:
    """Return "80 to 92%" for a share of right answers, "3.10 to 3.60" for a grade."""
    if not is_share:
        return f"{number_text(estimate.low)} to {number_text(estimate.high)}"
    digits = estimate.percent_digits
    return f"{number_text(100 * estimate.low, digits)} to {percent_text(estimate.high, digits)}"


def other_extractors_words(
    extractor_scores: Sequence[float],
    *,
    is_share: bool = True,
    digits: int = 0,
    name: str = EXTRACTOR,
) -> str:
    """Return " Other extractors read the same outputs as 53 to 86% right." or, of grades, " Other
    scores: 0.20 to 0.23."; "" without scores."""
    noun = name if is_share else SCORE
    # Scores that print the same count once, because "53 to 53%" is no range.
    score_by_text = {}
    for score in extractor_scores:
        if not math.isnan(score):
            score_by_text[score_text(score, digits, is_share=is_share)] = score
    texts = sorted(score_by_text, key=lambda text: score_by_text[text])
    if not texts:
        return ""
    between = texts[0]
    if len(texts) > 1:
        between = f"{texts[0].removesuffix('%')} to {texts[-1]}"
        if noun == EXTRACTOR:
            return f" Other extractors read the same outputs as {between} right."
    if noun == EQUAL_ANSWERS:
        return f" {noun}: {between}."
    start = f"Another {noun}" if len(extractor_scores) == 1 else f"Other {noun}s"
    return f" {start}: {between}."


def design_text(bar: ErrorBar, *, has_raters: bool = False) -> str:
    """Return "60 questions × 8 prompts × 3 runs", and how many questions were left out."""
    n_questions, n_prompts = bar.cells.shape
    noun = "rater" if has_raters else "run"
    fewest, most = int(bar.cells.n_runs.min()), int(bar.cells.n_runs.max())
    runs = count_of(most, noun) if fewest == most else f"{fewest} to {most} {noun}s"
    design = f"{count_of(n_questions, 'question')} × {count_of(n_prompts, 'prompt')} × {runs}"
    if n_dropped := bar.cells.n_dropped_questions:
        # Otherwise other pages, which count all questions, would seem to contradict this score.
        n_asked = count_of(n_questions + n_dropped, "question")
        design = f"{n_questions:,} of {n_asked} × {count_of(n_prompts, 'prompt')} × {runs}"
        return f"{design}; the others lack an answer to some prompt"
    return design


def detail(bar: ErrorBar, *, has_raters: bool = False) -> str:
    """Return the small print of a score: the design, the level of its range, and the ranges that
    leave out prompts, or all but reruns."""
    range_name = "wordings" if bar.by_wordings.has_interval else "questions"
    sentences = [f"{design_text(bar, has_raters=has_raters)}."]
    if not bar.estimate(range_name).has_interval:
        return sentences[0]
    level = interval_level_text(bar, range_name)
    sentences.append(f"{with_capital(level)} interval.")
    runs = "Raters" if has_raters else "Reruns"
    names = {"questions": "Other questions", "reruns": runs}
    for name, title in names.items():
        estimate = bar.estimate(name)
        # Reruns that always agree have a range of no width.
        if name == range_name or not estimate.low < estimate.high:
            continue
        part_level = interval_level_text(bar, name)
        other_level = "" if part_level == level else f" ({part_level})"
        limits = limits_text(estimate, is_share=bar.cells.is_share)
        sentences.append(f"{title} alone: {limits}{other_level}.")
    return " ".join(sentences)


_PART_NAMES = {
    "questions": "which questions were asked",
    "wordings": "how they were asked",
    "question × wording": "which prompt suits which question",
    "reruns": "chance between reruns",
}


def _part_names(*, has_raters: bool) -> Mapping[str, str]:
    return _PART_NAMES | ({"reruns": "differences between raters"} if has_raters else {})


def largest_shares_words(parts: Mapping[str, Estimate], *, has_raters: bool = False) -> str:
    """Name the two largest parts of the uncertainty; "" if wordings were not measured."""
    largest, names = _by_size(parts)[:2], _part_names(has_raters=has_raters)
    words = [f"{percent_text(share.value)} from {names.get(name, name)}" for name, share in largest]
    # "49% comes from which questions were asked, 35% from how they were asked."
    return f"{', '.join(words)}.".replace(" from", " comes from", 1) if words else ""


def share_words(parts: Mapping[str, Estimate], *, has_raters: bool = False) -> str:
    """Return the parts of the uncertainty, the largest first; "" if wordings were not measured."""
    measured = _by_size(parts)
    if not measured:
        return ""
    names = _part_names(has_raters=has_raters)
    words = [f"{_share_text(share)} from {names.get(name, name)}" for name, share in measured]
    return f"Of the uncertainty, {', '.join(words)}."


def _by_size(parts: Mapping[str, Estimate]) -> list[tuple[str, Estimate]]:
    """Return the parts that were measured, the largest first."""
    measured = [(name, share) for name, share in parts.items() if not math.isnan(share.value)]
    return sorted(measured, key=lambda part: -part[1].value)


def _share_text(share: Estimate) -> str:
    """Return "45% [16, 69]"."""
    if not share.has_interval:
        return percent_text(share.value)
    low, high = number_text(100 * share.low, 0), number_text(100 * share.high, 0)
    return f"{percent_text(share.value)} [{low}, {high}]"


def next_calls_words(
    now: float,
    more: Mapping[str, Design],
    n_calls: int,
    *,
    is_share: bool = True,
    few_prompts: int = 0,
) -> str:
    """Say by how much `n_calls` more calls narrow the half-width `now`, if used in the best way.

    For example "100 more calls on new prompts would narrow the range by 2.1 points at most."
    `more` maps each use of the calls to the resulting design. `few_prompts` is the number of
    prompts if they are too few to estimate the spread of prompts, else 0.
    """
    gain, best_use = max((now - design.half_width, use) for use, design in more.items())
    words = {"wordings": "new prompts", "questions": "new questions", "reruns": "reruns"}
    # It may be that no use of the calls narrows the range.
    gain = max(gain, 0)
    size = f"{number_text(100 * gain, 1)} points" if is_share else number_text(gain, 3)
    sentence = (
        f"{n_calls:,} more calls on {words[best_use]} would narrow the range by {size} at most."
    )
    if not few_prompts:
        return sentence
    return (
        f"{sentence} {few_prompts} are too few prompts to tell: how far prompts lie apart is "
        "taken at its upper limit."
    )


def plan_words(
    parts: Components, n_questions: int, n_wordings: int, n_runs: int, n_calls: int
) -> tuple[str, ...]:
    """Describe the half-width of a study of this size, and the best use of `n_calls` more calls.

    `parts` are the assumed variances of the score.
    """
    design = (
        f"{count_of(n_questions, 'question')} × {count_of(n_wordings, 'prompt')} × "
        f"{count_of(n_runs, 'run')}"
    )
    if n_questions < MIN_N:
        return (f"{design}: too few questions for an interval; from {MIN_N} on there is one.",)
    if n_wordings < LEAST_WORDINGS:
        with_eight = half_text(half_width(parts, n_questions, 8, n_runs))
        return (
            f"{design}: no interval over other prompts.",
            f"Eight prompts drawn at random would give {with_eight}.",
        )
    now = half_width(parts, n_questions, n_wordings, n_runs)
    more = next_calls_words(
        now, designs_after(parts, n_questions, n_wordings, n_runs, n_calls), n_calls
    )
    return f"{design}: {half_text(now)} with other questions and prompts.", more


def split_words(
    parts: Components,
    n_calls: int,
    most_questions: int,
    level: float = 0.95,
    worst: Components | None = None,
) -> str:
    """Return "1,440 calls are split best as 480 questions × 3 prompts × 1 run: ± 8.1 points".

    There is no full stop. `worst` are the variances at their upper limits, None if not known.
    """
    best_split = best_design(parts, n_calls, most_questions, level, worst)
    n_questions = count_of(int(best_split.n_questions), "question")
    n_prompts = count_of(int(best_split.n_wordings), "prompt")
    sizes = f"{n_questions} × {n_prompts} × {count_of(int(best_split.n_runs), 'run')}"
    return f"{n_calls:,} calls are split best as {sizes}: {half_text(best_split.half_width)}"


def corrected_words(model: str, extractor: str, score: Corrected) -> str:
    """Return estimates of the score that people's labels correct and of the extractor alone."""
    labels = count_of(score.n_labels, "label")
    sentence = (
        f"{model} with {labels} by people: {score.estimate.text_percent()} right; {extractor} "
        f"alone: {score.raw.text_percent()}."
    )
    if not score.estimate.has_interval:
        return f"{sentence} {score.estimate.note}"
    if score.has_normal_limits:
        return sentence
    few = (
        f"{score.n_disagreements} of {labels} differ in right or wrong, so exact limits of both "
        "error rates make the interval"
    )
    return f"{sentence} {few}."


def narrower_words(score: Corrected, n_more: int) -> str:
    """Say how `n_more` labels would narrow the interval, or how many a normal interval needs."""
    if score.has_normal_limits:
        # Labels remove the extractor's errors. The sampling error of the score remains.
        now, after_more, at_best = (
            half_text(score.half_width(n), is_share=True) for n in (0, n_more, math.inf)
        )
        return (
            f"{n_more:,} more labels: {now} becomes {after_more}; no number of labels takes it "
            f"below {at_best}."
        )
    if not score.n_labels or score.n_labels < MIN_N:
        return f"Label about {MIN_N - score.n_labels} more."
    if score.n_more is None:
        return (
            "No label differs from the extractor yet: at most "
            f"{percent_text(score.false_rights.high)} of its rights are wrong."
        )
    return f"Label about {score.n_more:,} more for an interval by prediction-powered inference."
