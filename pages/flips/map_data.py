"""Cached cells of the flip map, and the sentence above it."""

from dataclasses import dataclass

import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.core.records import FIRST_TOKEN
from flipcore.reports.flips import surface_claim
from flipcore.stats.flips import label_mass, surface
from flipcore.stats.flips.surface import Cells, Choices
from pages.common import gates, session
from pages.common import headline as shared
from pages.common.cached import cached
from pages.common.headline import headline


@dataclass(frozen=True)
class View:
    """What the flip map shows and how: everything that its link says. `opened` are axes whose variants stand beside them,
    `group` is "", "category", "template" or "model"."""

    study_id: str
    model: str
    field: str
    faithful: str
    titles: tuple[str, str]
    opened: tuple[str, ...] = ()
    group: str = ""
    is_difference: bool = False
    sort: str = "field"
    sort_title: str = ""
    search: str = ""
    flips_only: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose rows stand on the map: all of the study where they are the groups."""
        return tuple(use.name for use in session.declared(self.study_id).models) if self.group == "model" else (self.model,)


def leading_extractor(study_id: str) -> str:
    """The extractor of which the study's card speaks."""
    flips = headline(study_id).flips
    return flips.extractor if flips is not None else FIRST_TOKEN


def questions(study_id: str) -> dict[str, str]:
    return _column(study_id, "question")


def families(study_id: str) -> dict[str, str]:
    """Item -> the template or source that it shares with others, or itself."""
    return _column(study_id, "family")


def categories(study_id: str) -> dict[str, str]:
    return _column(study_id, "category")


@cached()
def _column(study_id: str, name: str) -> dict[str, str]:
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items[name].fillna("").astype(str), strict=True))


def of_model(study_id: str, model: str) -> pd.DataFrame:
    """The study's readouts of one model."""
    return _of_model(study_id, model).copy(deep=False)


@cached()
def _of_model(study_id: str, model: str) -> pd.DataFrame:
    frame = session.readouts(study_id)
    return frame[frame["model"] == model]


@cached()
def choices(study_id: str) -> Choices:
    """What the study's readouts offer to choose from."""
    return surface.choices(session.readouts(study_id))


@cached(max_entries=32)
def label_warnings(study_id: str, model: str) -> list[str]:
    """Where labels cannot be read as first tokens at all."""
    return label_mass.unreadable_labels(of_model(study_id, model))


@cached(max_entries=48)
def cells(study_id: str, model: str, field: str, faithful: str, axis: str | None = None) -> tuple[Cells, Cells]:
    """Both readouts' cells on the same rows and columns: of all axes, or of the variants of one."""
    frame = of_model(study_id, model)
    order = list(frame["item_id"].unique())
    if axis is None:
        return surface.aligned(surface.surface(frame, field), surface.surface(frame, faithful), order)
    return surface.aligned(surface.opened(frame, axis, field), surface.opened(frame, axis, faithful), order)


def answer(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> Claim:
    """The page's answer: which part of what flips is larger, with what qualifies it."""
    return _answer(study_id, model, field, faithful, axis, tuple(gates.closed_in(study_id).items()))


@cached(max_entries=32)
def _answer(study_id: str, model: str, field: str, faithful: str, axis: str | None, closed_gates: tuple) -> Claim:
    heat, estimates = session.temperature(study_id, model), shared.estimates(study_id, model, faithful)
    return surface_claim(of_model(study_id, model), field, faithful, axis, dict(closed_gates), heat, estimates)
