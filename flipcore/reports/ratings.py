"""Ratings of one output by several people, in words: each one, their mean, and if they differ."""

from collections.abc import Sequence

from flipcore.core.records import RIGHT, WRONG, Item
from flipcore.stats.base.estimate import number_text, percent_text
from flipcore.store.queries.inspection import SampleView
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of

NO_RATING = "no rating"


def rating_text(item: Item, rating: SampleView) -> str:
    """Return what one person gave: "4", "right"."""
    if rating.is_correct is not None:
        return RIGHT if rating.is_correct else WRONG
    # The answer of a grade 3 would be the fourth option of a question with options.
    if rating.value is not None:
        return f"{rating.value:g}"
    return NO_RATING if rating.answer is None else answer_text(item, rating.answer)


def mean_words(ratings: Sequence[SampleView]) -> str:
    """Return "Mean of 3 raters: 67% right. Their ratings differ."."""
    scores: list[float] = []
    for rating in ratings:
        score = rating.is_correct if rating.value is None else rating.value
        if score is not None:
            scores.append(float(score))
    if not scores:
        return "Nobody rated this output."
    mean = sum(scores) / len(scores)
    is_share = all(rating.is_correct is not None for rating in ratings)
    text = f"{percent_text(mean)} right" if is_share else number_text(mean, 2)
    if len(scores) == 1:
        verdict = RIGHT if mean else WRONG
        return f"1 rater: {verdict if is_share else text}."
    differ = "Their ratings differ." if len(set(scores)) > 1 else "They agree."
    return f"Mean of {count_of(len(scores), 'rater')}: {text}. {differ}"


def ratings_words(item: Item, ratings: Sequence[SampleView]) -> str:
    """Return "anna 4, bilal 2, chen no rating"."""
    return ", ".join(f"{rating.rater} {rating_text(item, rating)}" for rating in ratings)
