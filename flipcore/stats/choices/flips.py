"""Choices of how to count flips: are more of them the extractor's than the model's?"""

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
from flipcore.stats.choices.joined import joined
from flipcore.stats.choices.material import Material
from flipcore.stats.choices.readouts import LEAST_READ, ItemFacts, item_choices, items_left_out
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import THREE, item_rates, quantities, stated_parts
from flipcore.stats.flips.disagreement import ABSENT, NULL
from flipcore.stats.flips.pooled import over_axes

REFERENCE, NULLS, BASE, AXES = "reference", "null", "base", "axes"
OWN_CLASS, DROP, ALWAYS_FLIP = "own_class", "drop", "always_flip"
IN_PAIRS, ALL = "in-pairs", "all"


@dataclass(frozen=True, eq=False)
class FlipMaterial(Material):
    """Pairs per item that flip under one extractor alone, less those that flip under both it and
    the reference; with `is_part` the first alone.

    Where every item has a noise floor (`has_floor`), both are beyond it, and a part may be above
    the other only because reruns flip more: then both curves must be above 0.
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
    has_outputs: ClassVar[bool] = True
    value_choices: ClassVar[tuple[str, ...]] = (  # type: ignore[misc] # no field here
        REFERENCE,
        NULLS,
        BASE,
        names.RERUNS,
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
        single, _, shared = quantities(rates, *part_names).T
        return single if self.is_part else single - shared

    def rates(self, setting: Setting) -> np.ndarray:
        """(items, quantities) of `COLUMNS`, means over axes."""
        answers = self.answers
        if setting.get(names.RERUNS) == names.FIRST:
            firsts = {place: codes[:, :, :1] for place, codes in answers.codes.items()}
            answers = replace(answers, codes=firsts)
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
) -> FlipMaterial:
    """Return what can be chosen about the flips of one model by `axes` under one extractor.

    `references` are extractors that read the same text, the declared one first. `closed_gates` and
    `titles` as those of `material_of`.
    """
    items = [str(item) for item in answers.items]
    gates, extractor_titles = closed_gates or {}, titles or {}
    # What closes the axis or the extractor closes every way.
    always_closed = next((gates[name] for name in (*axes, extractor) if name in gates), "")
    always_closed = always_closed or _why_unread(answers, axes, extractor, extractor_titles)
    options = []
    for name in references:
        closed = gates.get(name, "") or _why_unread(answers, axes, name, extractor_titles)
        label = extractor_titles.get(name, name.replace("_", " ")).lower()
        options.append(Option(name, label, "reads the same answers", always_closed or closed))
    reference = Choice(
        REFERENCE,
        "Reference extractor",
        tuple(options),
        ChoiceClass.EQUAL,
        "Its flips count as the model's.",
    )
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
    )
    declared = material.rates({})
    is_defined = ~np.isnan(quantities(declared, "T")[:, 0])
    floors = quantities(declared[is_defined], "both_excess")
    has_floor = stated_parts(declared) != THREE and not np.isnan(floors).any()
    possible = [reference, *_counting(answers, axes, extractor, references, has_floor=has_floor)]
    of_items = item_choices(items, facts)
    varied = (names.REPEATED, names.CATEGORIES)
    possible += [choice for choice in of_items if choice.name in varied]
    return replace(material, choices=tuple(possible), has_floor=has_floor)


def flip_curve(material: FlipMaterial, choices: Sequence[Choice] | None = None) -> Curve:
    """Count flips in every way that `choices` allow; beyond a noise floor, both conditions."""
    kept = selected(material.choices) if choices is None else choices
    curves = [count(material, kept)]
    if material.has_floor:
        curves.append(count(replace(material, is_part=True), kept))
    return joined(curves)


def _why_unread(
    answers: CodedAnswers, axes: Sequence[str], extractor: str, titles: Mapping[str, str]
) -> str:
    codes = np.concatenate([answers.codes[axis, extractor].ravel() for axis in axes])
    n = int((codes != ABSENT).sum())
    share = 1 - int((codes == NULL).sum()) / n if n else 0.0
    title = titles.get(extractor, extractor).lower()
    return "" if share >= LEAST_READ else f"{title} reads {percent_text(share)}"


def _counting(
    answers: CodedAnswers,
    axes: Sequence[str],
    extractor: str,
    references: Sequence[str],
    *,
    has_floor: bool,
) -> list[Choice]:
    places = list(product(axes, (extractor, *references)))
    choices: list[Choice] = []
    options: tuple[Option, ...]
    if any((answers.codes[place] == NULL).any() for place in places):
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
    # A floor that reruns measure needs all of them.
    if not has_floor and any(answers.codes[place].shape[2] > 1 for place in places):
        options = (
            Option(names.MEAN, "mean", "uses all that was asked"),
            Option(names.FIRST, "the first", "a user asks once"),
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
