"""Choices of how to count flips, for the decision whether more flips are the extractor's than the
model's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np

from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices import choice as names
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option, Setting, selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve
from flipcore.stats.choices.joined import join_curves
from flipcore.stats.choices.material import Material
from flipcore.stats.choices.readouts import (
    ACCEPTED,
    LEAST_READ,
    ItemFacts,
    item_choices,
    items_left_out,
    origin_numbers,
    paraphrase_choice,
)
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import THREE, item_rates, quantities, stated_parts
from flipcore.stats.flips.disagreement import ABSENT, NULL
from flipcore.stats.flips.pooled import over_axes

REFERENCE, NULLS, BASE, AXES = "reference", "null", "base", "axes"
OWN_CLASS, DROP, ALWAYS_FLIP = "own_class", "drop", "always_flip"
IN_PAIRS, ALL = "in-pairs", "all"


@dataclass(frozen=True, eq=False)
class FlipMaterial(Material):
    """Value per item: share of pairs that flip under the extractor alone, minus the share that flip
    under both it and the reference. With `is_part` it is the first share alone.

    If all items have a noise floor (`has_floor`), both shares are beyond it. Then the difference
    may be above 0 only because reruns flip more, so the decision needs both curves above 0.
    `accepted` are the answers without those to paraphrases that nobody has reviewed.
    """

    answers: CodedAnswers
    extractor: str
    axes: tuple[str, ...]
    choices: tuple[Choice, ...]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    has_floor: bool
    is_part: bool = False
    origins: np.ndarray | None = None
    accepted: CodedAnswers | None = None
    has_outputs: ClassVar[bool] = True
    value_choices: ClassVar[tuple[str, ...]] = (  # type: ignore[misc] # no field here
        REFERENCE,
        NULLS,
        BASE,
        names.RERUNS,
        names.PARAPHRASES,
        AXES,
    )

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override] # follows from the floor
        low, high = SIGNED
        return (2 * low, 2 * high) if self.has_floor else SIGNED

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(map(str, self.answers.items))

    def values(self, setting: Setting) -> np.ndarray:
        rates = self.rates(setting)
        part_names = [f"{name}_excess" for name in THREE] if self.has_floor else list(THREE)
        extractor_rate, _, both_rate = quantities(rates, *part_names).T
        return extractor_rate if self.is_part else extractor_rate - both_rate

    def rates(self, setting: Setting) -> np.ndarray:
        """Return (items, quantities) means over axes, in the order of `decomposition.COLUMNS`."""
        answers = self.answers
        if self.accepted and setting.get(names.PARAPHRASES) == ACCEPTED:
            answers = self.accepted
        if setting.get(names.RERUNS) == names.FIRST:
            first_samples = {cell: codes[:, :, :1] for cell, codes in answers.codes.items()}
            answers = replace(answers, codes=first_samples)
        by_axis = []
        for axis in self.axes:
            if setting.get(AXES) == f"without-{axis}":
                continue
            rates = item_rates(
                answers,
                axis,
                self.extractor,
                setting.get(REFERENCE, self.choices[0].options[0].name),
                setting.get(NULLS, OWN_CLASS),
                include_base=setting.get(BASE, IN_PAIRS) == IN_PAIRS,
            )
            by_axis.append(rates.values)
        return over_axes(by_axis)


def flip_material(
    answers: CodedAnswers,
    extractor: str,
    axes: Sequence[str],
    references: Sequence[str],
    facts: ItemFacts,
    *,
    closed_gates: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    accepted: CodedAnswers | None = None,
) -> FlipMaterial:
    """Return the material and the possible choices for the flips of one model on `axes` under one
    extractor.

    `references` are extractors that read the same text, the declared one first. `closed_gates` and
    `titles` are as in `material_of`. `accepted` has the same shape as `answers`.
    """
    items = [str(item) for item in answers.items]
    gates, extractor_titles = closed_gates or {}, titles or {}
    # If an axis or the extractor is closed, all specifications are.
    always_closed = next((gates[name] for name in (*axes, extractor) if name in gates), "")
    always_closed = always_closed or _why_unread(answers, axes, extractor, extractor_titles)
    options = []
    for name in references:
        closed = gates.get(name, "") or _why_unread(answers, axes, name, extractor_titles)
        label = extractor_titles.get(name, name.replace("_", " ")).lower()
        options.append(Option(name, label, "reads the same answers", always_closed or closed))
    reason = "Its flips count as the model's."
    reference = Choice(REFERENCE, "Reference extractor", tuple(options), ChoiceClass.EQUAL, reason)
    clusters = np.arange(len(items)) if answers.families is None else answers.families
    categories = [facts.categories.get(item, "") for item in items]
    material = FlipMaterial(
        answers,
        extractor,
        tuple(axes),
        (reference,),
        items_left_out(items, facts),
        clusters,
        np.unique(categories, return_inverse=True)[1],
        has_floor=False,
        origins=origin_numbers(items, facts),
        accepted=accepted,
    )
    declared = material.rates({})
    is_defined = ~np.isnan(quantities(declared, "T")[:, 0])
    floors = quantities(declared[is_defined], "both_excess")
    has_floor = stated_parts(declared) != THREE and not np.isnan(floors).any()
    choices = [
        reference,
        *_answer_choices(answers, axes, extractor, references, has_floor=has_floor),
    ]
    # The answer key does not matter for flips.
    for choice in item_choices(items, facts):
        if choice.name in (names.REPEATED, names.CATEGORIES, names.ORIGIN):
            choices.append(choice)
    n_unreviewed = sum(axis in axes for _, axis, _ in facts.unreviewed)
    if accepted and n_unreviewed:
        choices.append(paraphrase_choice(n_unreviewed))
    return replace(material, choices=tuple(choices), has_floor=has_floor)


def flip_curve(material: FlipMaterial, choices: Sequence[Choice] | None = None) -> Curve:
    """Count flips under all combinations of `choices`. With a noise floor, the curve is that of the
    lesser of both conditions (`FlipMaterial`)."""
    to_count = selected(material.choices) if choices is None else choices
    curves = [count(material, to_count)]
    if material.has_floor:
        curves.append(count(replace(material, is_part=True), to_count))
    return join_curves(curves)


def _why_unread(
    answers: CodedAnswers, axes: Sequence[str], extractor: str, titles: Mapping[str, str]
) -> str:
    """Say that an extractor reads too few answers to be counted; "" if it reads enough."""
    codes = np.concatenate([answers.codes[axis, extractor].ravel() for axis in axes])
    n = int((codes != ABSENT).sum())
    share = 1 - int((codes == NULL).sum()) / n if n else 0.0
    title = titles.get(extractor, extractor).lower()
    return "" if share >= LEAST_READ else f"{title} reads {percent_text(share)}"


def _answer_choices(
    answers: CodedAnswers,
    axes: Sequence[str],
    extractor: str,
    references: Sequence[str],
    *,
    has_floor: bool,
) -> list[Choice]:
    """Return the choices about unread answers, the base prompt, reruns and axes."""
    cells = [answers.codes[cell] for cell in product(axes, (extractor, *references))]
    choices: list[Choice] = []
    options: tuple[Option, ...]
    if any((codes == NULL).any() for codes in cells):
        options = (
            Option(OWN_CLASS, "an answer of their own", "nothing is nothing twice"),
            Option(DROP, "left out", "nobody knows the answer"),
            Option(ALWAYS_FLIP, "always flip", "the worst case", is_uncertain=True),
        )
        reason = "No answer was found in some outputs."
        choices.append(Choice(NULLS, "Unread answers", options, ChoiceClass.EQUAL, reason))
    if all(answers.base[axis].any() and answers.base[axis].shape[1] > 2 for axis in axes):
        options = (
            Option(IN_PAIRS, "in the pairs", "declared"),
            Option(names.LEFT_OUT, "left out", "variants alone"),
        )
        reason = "The base prompt is one more prompt, or the one that all are compared with."
        choices.append(Choice(BASE, "Base prompt", options, ChoiceClass.EQUAL, reason))
    # A noise floor needs all reruns, so there is no choice if there is one.
    if not has_floor and any(codes.shape[2] > 1 for codes in cells):
        options = (
            Option(names.MEAN, "mean of all runs", "uses all that was asked"),
            Option(names.FIRST, "first run", "a user asks once"),
        )
        reason = "The same prompt was asked again."
        choices.append(Choice(names.RERUNS, "Reruns", options, ChoiceClass.EQUAL, reason))
    if len(axes) > 1:
        options = (Option(ALL, "all", "declared"),)
        for axis in axes:
            label = f"without {axis.replace('_', ' ')}"
            options += (Option(f"without-{axis}", label, "asks about other changes"),)
        reason = "Fewer changes are another question."
        choices.append(Choice(AXES, "Changes", options, ChoiceClass.UNCERTAIN, reason))
    return choices
