"""Facts about a study's items other than their answers: the chance of a right guess, the template,
the stored pairs, and whether the model can have read them."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from flipcore.core.study import OTHER_CONTROL, RANDOM_CONTROL
from flipcore.stats.memory.gap_decision import Families, Sides, are_split, families_of, split_units
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.published_score import FRESH, RANDOM
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.text.same_question import joined_clusters, question_key

FEW_FAMILIES = 0.8  # with fewer families per item, items do not count as independent
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Members:
    """Facts about the items of a study.

    control : kind of control that the study declares.
    guess : item id -> chance of a right guess, 1 / options; items without options are absent.
    family : item id -> template.
    pairs : stored pairs of benchmark items and controls.
    newer : ids of items known to be newer than the model's training.
    unread : ids of items that the model is known not to have read.
    is_unpublished : True if the study declares that its controls were never published.
    """

    control: str = OTHER_CONTROL
    guess: Mapping[str, float] = field(default_factory=dict)
    family: Mapping[str, str] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=Pairs)
    newer: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    is_unpublished: bool = False

    def sides(self, benchmark: Rewritten, control: Rewritten) -> Sides:
        """Return two rewritten sets together with the facts about their items."""
        return Sides(
            benchmark,
            control,
            guess=(self._mean_guess(benchmark.covered_ids), self._mean_guess(control.covered_ids)),
            family=self.family or None,
            pairs=self.pairs.control_of or None,
            pairs_note=self.pairs.note(),
            pairs_problem=self.pairs.problem(),
        )

    def score_control(self, controls: Collection[str]) -> str:
        """Return the kind of control that a published score can be compared with: "random" after a
        random split, "fresh" if all controls are newer than the model, else ""."""
        if self.control == RANDOM_CONTROL:
            return RANDOM
        return FRESH if controls and self.newer.issuperset(controls) else ""

    def never_published(self, controls: Collection[str]) -> bool:
        """Return True if the model cannot have read any of these controls."""
        return self.is_unpublished or (
            bool(controls) and (self.newer | self.unread).issuperset(controls)
        )

    def units(self, benchmark: Sequence[str], controls: Sequence[str]) -> Families:
        """Return the name of each item's unit in two sets; (None, None) if each item is a unit."""
        # Items of a family on both sides are exchanged one by one only after a random split.
        compute_units = split_units if self.control == RANDOM_CONTROL else families_of
        return compute_units(benchmark, controls, self.family)

    def _mean_guess(self, ids: Sequence[str]) -> float:
        return sum(self.guess.get(item, 0.0) for item in ids) / len(ids) if ids else 0.0

    def is_templated(self, benchmark: Collection[str], control: Collection[str]) -> bool:
        """Return True if many items share templates, so that a test of single items claims too
        much. A random split leaves the same templates on both sides and allows single items."""
        families = [self.family.get(item, item) for item in benchmark]
        control_families = [self.family.get(item, item) for item in control]
        has_few_families = any(
            len(set(labels)) < FEW_FAMILIES * len(labels) for labels in (families, control_families)
        )
        is_random_split = self.control == RANDOM_CONTROL and are_split(families, control_families)
        return has_few_families and not is_random_split


def members(
    items: pd.DataFrame,
    control: str = OTHER_CONTROL,
    pairs: Pairs | None = None,
    newer: Collection[str] = (),
) -> Members:
    """Gather the facts about items.

    `items` has one row per item, with the columns item_id, question, options, meta and, if known,
    family (the item that it was made from, or itself). `control`, `pairs` and `newer` are as in
    `Members`.
    """
    if items.empty:
        return Members(control)
    ids = items["item_id"].tolist()
    origins = items["family"].tolist() if "family" in items else ids
    columns = zip(ids, items["question"], items["options"], items["meta"], origins, strict=True)
    guess, names, keys = {}, [], []
    for item, question, options, meta, origin in columns:
        options = () if options is None else tuple(options)
        if options:
            guess[item] = 1 / len(options)
        # An item that was made from no other names itself as its origin.
        names.append(family_of(question, meta, None if origin == item else origin))
        keys.append(question_key(question, options))
    # The same question under several ids is one cluster, even if the names differ.
    family = dict(zip(ids, joined_clusters(names, keys), strict=True))
    return Members(control, guess, family, (pairs or Pairs()).among(set(ids)), frozenset(newer))


def family_of(question: str, meta: object, source_id: object) -> str:
    """Return the name of the template that an item belongs to: the entry "family" of its `meta`,
    else the id of the item that it was made from, else its question without numbers."""
    data = json.loads(meta) if isinstance(meta, str) and meta else meta
    if isinstance(data, Mapping) and data.get("family"):
        return str(data["family"])
    if isinstance(source_id, str) and source_id:
        return source_id
    return _NUMBER.sub("#", question)
