"""Tell by their names whether two scores grade one aspect of an output, such as judge and people.

Metrics of different names, such as faithfulness and relevance, measure different things. Comparing
their means says nothing about an output.
"""

from collections.abc import Collection, Iterable
from functools import cache
from itertools import combinations

from flipcore.datasets.tables.grid import is_rater
from flipcore.datasets.tables.stems import last_part, names, names_right, stems, words_of

# of a score's name, that say how it was given, and nothing about its aspect
_NEUTRAL_WORDS = set("label labels labelled labeled graded judged log qa by of given".split())
_PROVIDERS = set("openai anthropic google meta deepseek mistralai opus sonnet haiku turbo".split())


def grade_one_aspect(first: str, second: str) -> bool:
    """Tell whether two names differ only in who graded: judge_clarity and human_clarity."""
    first_aspect, first_has_grader = _aspect_of(first)
    second_aspect, second_has_grader = _aspect_of(second)
    return first_aspect == second_aspect and (first_has_grader or second_has_grader)


def pairs_of_one_aspect(
    scores: Iterable[str], graders: Collection[str] = ()
) -> frozenset[frozenset[str]]:
    """Return the pairs of scores that grade one aspect; `graders` are named by who graded."""
    pairs = set()
    for first, second in combinations(dict.fromkeys(scores), 2):
        if {first, second} <= set(graders) or grade_one_aspect(first, second):
            pairs.add(frozenset((first, second)))
    return frozenset(pairs)


def says_half_right(name: str) -> bool:
    """Tell whether a score of 0.5 means half right by its name, as of a judge, unlike of recall."""
    return names_right(name) or _aspect_of(name)[1]


@cache
def _aspect_of(name: str) -> tuple[frozenset[str], bool]:
    """Return the words of an aspect, and whether a name says who graded."""
    words = words_of(last_part(name))
    graders = {word for word in words if _is_grader(word)}
    aspect = set()
    for word in words:
        is_grade = stems("grade").has(word) or stems("filler").has(word)
        # the version of a judge, as in gpt_4o_score, unlike the 2 of rouge2
        is_version = bool(graders) and (len(word) < 3 or word in _PROVIDERS)
        if not (word in graders or is_grade or is_version or word in _NEUTRAL_WORDS):
            aspect.add(word)
    return frozenset(aspect), bool(graders)


def _is_grader(word: str) -> bool:
    kinds = ("judge", "people", "model")
    return is_rater(word) or any(names(word, kind) for kind in kinds)
