"""Choices of how to count, each with its options, and the specifications that they make."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from flipcore.core.errors import BadInput

EXTRACTOR, UNREAD, CUT, RERUNS, PROMPT = "extractor", "unread", "cut", "reruns", "prompt"
KEY, REPEATED, WEIGHTS, CATEGORIES = "key", "repeated", "weights", "categories"
WRONG, LEFT_OUT, MEAN, FIRST, OWN = "wrong", "left-out", "mean", "first", "own"
MOST = 5_000  # specifications


class ChoiceClass(StrEnum):
    """The standing of a choice: do its options answer the same question equally well?"""

    EQUAL = "equally defensible"
    UNCERTAIN = "offered, counted apart"


@dataclass(frozen=True)
class Option:
    """One way of a choice. `closed` says why it may not be claimed, "" where it may.

    An `is_uncertain` option of an equally defensible choice is offered and counted apart.
    """

    name: str
    label: str
    reason: str
    closed: str = ""
    is_uncertain: bool = False


@dataclass(frozen=True)
class Choice:
    """A choice of how to count; its declared option stands first. `reason` says why it is open."""

    name: str
    label: str
    options: tuple[Option, ...]
    kind: ChoiceClass
    reason: str


Setting = Mapping[str, str]  # choice -> option, by name; a choice that is not named is as declared


def selected(
    choices: Sequence[Choice], without: Iterable[str] = (), also: Iterable[str] = ()
) -> tuple[Choice, ...]:
    """Return the choices to be counted: the equally defensible ones, and those named in `also`.

    Parameters
    ----------
    without : "choice" leaves a choice as declared, "choice=option" leaves out one of its options.
    also : names of choices whose uncertain options count too.

    Raises
    ------
    BadInput
        For a name that no choice or option has, and for an option that was declared.
    """
    included, excluded = set(also), set(without)
    _check_names(choices, included, excluded)
    kept = []
    for choice in choices:
        if choice.name in excluded:
            continue
        if choice.kind is ChoiceClass.UNCERTAIN and choice.name not in included:
            continue
        options = list(choice.options[:1])
        for option in choice.options[1:]:
            is_out = f"{choice.name}={option.name}" in excluded
            if not is_out and (choice.name in included or not option.is_uncertain):
                options.append(option)
        if len(options) > 1:
            kept.append(replace(choice, options=tuple(options)))
    return tuple(kept)


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


def at_most(choices: Sequence[Choice], most: int = MOST) -> tuple[tuple[Choice, ...], str]:
    """Return choices with at most so many specifications, and a sentence on what was left out.

    Single prompts leave first, then the last options of the choice that has most.
    """
    kept, left_out = list(choices), []
    while math.prod(len(choice.options) for choice in kept) > most:
        sizes = []
        for choice in kept:
            is_single_prompt = choice.name == PROMPT and choice.options[-1].is_uncertain
            sizes.append((is_single_prompt, len(choice.options)))
        index = max(range(len(kept)), key=sizes.__getitem__)
        options = kept[index].options
        left_out.append(f"{kept[index].label.lower()} {options[-1].label}")
        kept[index] = replace(kept[index], options=options[:-1])
    if not left_out:
        return tuple(choices), ""
    sentence = f"Left out, because at most {most:,} ways are counted: {', '.join(left_out)}."
    return tuple(kept), sentence


def specifications(choices: Sequence[Choice]) -> np.ndarray:
    """(n_specifications, n_choices) option numbers, all combinations, the declared one first."""
    sizes = [len(choice.options) for choice in choices]
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), dtype=int)


def setting_of(choices: Sequence[Choice], options: Sequence[int] | np.ndarray) -> dict[str, str]:
    """Return the setting of one row of `specifications`."""
    setting = {}
    for choice, option in zip(choices, options, strict=True):
        setting[choice.name] = choice.options[int(option)].name
    return setting
