"""Choices of how to count, their options, and the specifications: all combinations of options."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from flipcore.core.errors import BadInput

# Names of choices.
EXTRACTOR, UNREAD, CUT, RERUNS, PROMPT = "extractor", "unread", "cut", "reruns", "prompt"
KEY, REPEATED, WEIGHTS = "key", "repeated", "weights"
CATEGORIES, ORIGIN, PARAPHRASES = "categories", "origin", "paraphrases"
# Names of options that several choices share or that code compares.
WRONG, LEFT_OUT, MEAN, FIRST, OWN = "wrong", "left-out", "mean", "first", "own"
MAX_SPECIFICATIONS = 5_000


class ChoiceClass(StrEnum):
    """The class of a choice: do its options answer the same question equally well?"""

    EQUAL = "equally defensible"
    UNCERTAIN = "offered, counted apart"


@dataclass(frozen=True)
class Option:
    """One option of a choice.

    label, reason : texts for the page: the option, and why one may choose it.
    closed : why nothing may be claimed with this option; "" if something may.
    is_uncertain : True if the option is counted only if a user asks for it, although its choice is
        equally defensible.
    """

    name: str
    label: str
    reason: str
    closed: str = ""
    is_uncertain: bool = False


@dataclass(frozen=True)
class Choice:
    """A choice of how to count. The first option is the declared one; `reason` says why there is a
    choice."""

    name: str
    label: str
    options: tuple[Option, ...]
    kind: ChoiceClass
    reason: str


def asks_another_question(choice: Choice, option: Option) -> bool:
    """Return True if an option answers a slightly different question, so it is counted apart."""
    may_differ = option.is_uncertain or choice.kind is ChoiceClass.UNCERTAIN
    return may_differ and option.name != choice.options[0].name


def defensible(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """Return the choices without options that ask another question."""
    kept = []
    for choice in choices:
        options = [option for option in choice.options if not asks_another_question(choice, option)]
        if len(options) > 1:
            kept.append(replace(choice, options=tuple(options)))
    return tuple(kept)


# choice name -> option name; choices that are left out have their declared option
Setting = Mapping[str, str]


def selected(
    choices: Sequence[Choice], without: Iterable[str] = (), also: Iterable[str] = ()
) -> tuple[Choice, ...]:
    """Return the choices to count: the equally defensible ones, and those named in `also`.

    Parameters
    ----------
    without : "choice" leaves a choice as declared, "choice=option" leaves out one of its options.
    also : names of choices whose uncertain options count too.

    Raises
    ------
    BadInput
        For an unknown choice or option, and for leaving out a declared option.
    """
    included, excluded = set(also), set(without)
    _check_names(choices, included, excluded)
    to_count = []
    for choice in choices:
        if choice.name in excluded:
            continue
        if choice.kind is ChoiceClass.UNCERTAIN and choice.name not in included:
            continue
        options = list(choice.options[:1])
        for option in choice.options[1:]:
            is_excluded = f"{choice.name}={option.name}" in excluded
            if not is_excluded and (choice.name in included or not option.is_uncertain):
                options.append(option)
        if len(options) > 1:
            to_count.append(replace(choice, options=tuple(options)))
    return tuple(to_count)


def _check_names(choices: Sequence[Choice], included: set[str], excluded: set[str]) -> None:
    names = [choice.name for choice in choices]
    pairs, declared = [], []
    for choice in choices:
        declared.append(f"{choice.name}={choice.options[0].name}")
        pairs += [f"{choice.name}={option.name}" for option in choice.options[1:]]
    for name in (*included, *excluded):
        if name in declared:
            raise BadInput(f"{name} is as declared, so it cannot be left out.")
        if name not in names and (name in included or name not in pairs):
            listed = ", ".join([*names, *pairs] if name in excluded else names)
            raise BadInput(f"There is no choice {name!r} here. There are: {listed or 'none'}.")


def limit_specifications(
    choices: Sequence[Choice], limit: int = MAX_SPECIFICATIONS
) -> tuple[tuple[Choice, ...], str]:
    """Return the choices reduced to at most `limit` specifications, and a sentence that says which
    options were left out ("" if none).

    Options that ask another question go first, and of these the single prompts. Then the choice
    with the most options loses its last one, until few enough are left.
    """
    reduced, left_out = list(choices), []
    while math.prod(len(choice.options) for choice in reduced) > limit:
        priorities = []
        for choice in reduced:
            is_apart = asks_another_question(choice, choice.options[-1])
            is_single_prompt = is_apart and choice.name == PROMPT
            priorities.append((is_apart, is_single_prompt, len(choice.options)))
        index = max(range(len(reduced)), key=priorities.__getitem__)
        options = reduced[index].options
        left_out.append(f"{reduced[index].label.lower()} {options[-1].label}")
        reduced[index] = replace(reduced[index], options=options[:-1])
    if not left_out:
        return tuple(choices), ""
    sentence = f"Left out, because at most {limit:,} ways are counted: {', '.join(left_out)}."
    return tuple(reduced), sentence


def specifications(choices: Sequence[Choice]) -> np.ndarray:
    """Return (specifications, choices) option numbers of all combinations, the declared one
    first."""
    sizes = [len(choice.options) for choice in choices]
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), dtype=int)


def are_apart(choices: Sequence[Choice], options: np.ndarray) -> np.ndarray:
    """Return (rows,) True where a row of `specifications` has an option that asks another
    question."""
    is_apart = np.zeros(len(options), dtype=bool)
    for column, choice in enumerate(choices):
        asks = [asks_another_question(choice, option) for option in choice.options]
        is_apart |= np.array(asks)[options[:, column]]
    return is_apart


def setting_of(choices: Sequence[Choice], options: Sequence[int] | np.ndarray) -> dict[str, str]:
    """Return the setting of one row of `specifications`, choice name -> option name."""
    setting = {}
    for choice, option in zip(choices, options, strict=True):
        setting[choice.name] = choice.options[int(option)].name
    return setting
