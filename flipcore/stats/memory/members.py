"""Facts about a study's items beyond their answers: options to guess among, templates that they
were made from, pairs."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from flipcore.core.study import OTHER_CONTROL, RANDOM_CONTROL
from flipcore.stats.memory.gap_decision import Families, Sides, are_split, exchangeable, families_of
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.published_score import FRESH, RANDOM
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.text.same_question import joined_clusters, question_key

FEW_FAMILIES = 0.8  # below so many families an item, single items are no longer independent
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Members:
    """Facts by item. `guess` item id -> 1/K (items without options are absent), `family` item id ->
    template, `pairs` those stored of its items, `control` the kind of control that the study
    declares, `newer` the items known to be newer than the model's training. `unread` are items that
    the model is known not to have read; `is_unpublished`: the study declares so of all its
    controls."""

    control: str = OTHER_CONTROL
    guess: Mapping[str, float] = field(default_factory=dict)
    family: Mapping[str, str] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=Pairs)
    newer: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    is_unpublished: bool = False

    def sides(self, benchmark: Rewritten, control: Rewritten) -> Sides:
        """Put two rewritten sets together with the facts about their items."""
        first, second = (self._mean_guess(items.covered_ids) for items in (benchmark, control))
        pairs = self.pairs
        return Sides(
            benchmark,
            control,
            (first, second),
            self.family or None,
            pairs.control_of or None,
            pairs.note(),
            pairs.problem(),
        )

    def score_control(self, controls: Collection[str]) -> str:
        """Return the kind of control of a published score: "random", "fresh" where all controls are
        newer than the model, else ""."""
        if self.control == RANDOM_CONTROL:
            return RANDOM
        return FRESH if controls and self.newer.issuperset(controls) else ""

    def never_published(self, controls: Collection[str]) -> bool:
        """Return True where no model, or at least not this one, can have read any of these
        controls."""
        return self.is_unpublished or (
            bool(controls) and (self.newer | self.unread).issuperset(controls)
        )

    def units(self, benchmark: Sequence[str], controls: Sequence[str]) -> Families:
        """Return the units of two sets of items: a name for each item, None where that is the
        item."""
        # A random split leaves families on both sides, whose items are then exchanged one by one.
        return (exchangeable if self.control == RANDOM_CONTROL else families_of)(
            benchmark, controls, self.family
        )

    def _mean_guess(self, ids: Sequence[str]) -> float:
        return sum(self.guess.get(item, 0.0) for item in ids) / len(ids) if ids else 0.0

    def is_templated(self, benchmark: Collection[str], control: Collection[str]) -> bool:
        """Return True where items of one template stand for each other, and the two sets have
        different templates: then a test of single items claims too much. A random split leaves the
        same templates on both sides, where items are exchangeable one by one."""
        first, second = (
            [self.family.get(item, item) for item in ids] for ids in (benchmark, control)
        )
        few = any(
            len(set(labels)) < FEW_FAMILIES * len(labels) for labels in (first, second) if labels
        )
        return few and not (self.control == RANDOM_CONTROL and are_split(first, second))


def members(
    items: pd.DataFrame,
    control: str = OTHER_CONTROL,
    pairs: Pairs | None = None,
    newer: Collection[str] = (),
) -> Members:
    """Gather the facts about items. `items` has item_id, question, options, meta and family, a row
    per item. The family of an item is the entry `family` of its data, else the item that it was
    made from, else its question with the numbers left out."""
    if items.empty:
        return Members(control)
    ids = items["item_id"].tolist()
    sizes = [0 if options is None else len(options) for options in items["options"]]
    guess = {item: 1 / n for item, n in zip(ids, sizes, strict=True) if n}
    # The item that each was made from, else itself.
    origins = items["family"].tolist() if "family" in items else ids
    sources = [
        None if source == item else source for source, item in zip(origins, ids, strict=True)
    ]
    names = [family_of(*row) for row in zip(items["question"], items["meta"], sources, strict=True)]
    keys = [
        question_key(question, _listed(options))
        for question, options in zip(items["question"], items["options"], strict=True)
    ]
    # One question under several ids is one cluster, whatever the ids say.
    family = dict(zip(ids, joined_clusters(names, keys), strict=True))
    return Members(control, guess, family, (pairs or Pairs()).among(set(ids)), frozenset(newer))


def _listed(options: Sequence[str] | None) -> tuple[str, ...]:
    return () if options is None else tuple(options)


def family_of(question: str, meta: object, source_id: object) -> str:
    """Return the template that an item belongs to."""
    data = json.loads(meta) if isinstance(meta, str) and meta else meta
    if isinstance(data, Mapping) and data.get("family"):
        return str(data["family"])
    # Items that differ in their numbers alone come from one template.
    return (
        str(source_id) if isinstance(source_id, str) and source_id else _NUMBER.sub("#", question)
    )
