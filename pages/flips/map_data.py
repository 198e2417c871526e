"""Cached cells of the flip map, and the sentence above it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from flipcore.annotation.judge_labels import labelled_pairs
from flipcore.claims.claim import Claim
from flipcore.core.records import FIRST_TOKEN, digest
from flipcore.core.version import __version__
from flipcore.reports import flips as reports
from flipcore.reports.browser_data import flip_map
from flipcore.reports.browser_data.steps import Steps
from flipcore.reports.flips import surface_claim
from flipcore.stats.flips import label_mass, map_cells, surface
from flipcore.stats.flips.surface import Cells, Choices
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements
from pages.common import gates, session
from pages.common import headline as shared
from pages.common.headline import headline


@dataclass(frozen=True)
class View:
    """The settings of the flip map: everything that its link says.

    `opened` are axes whose variants stand next to them, `group` is "", "category", "template" or
    "model".
    """

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
        """Return the models whose rows are on the map: all of them where models are the groups."""
        return (
            tuple(use.name for use in session.declared(self.study_id).models)
            if self.group == "model"
            else (self.model,)
        )


def leading_extractor(study_id: str) -> str:
    # The map opens where the card speaks of, so that both say the same.
    flips = headline(study_id).flips
    return flips.extractor if flips is not None else FIRST_TOKEN


def questions(study_id: str) -> dict[str, str]:
    return _column(study_id, "question")


def families(study_id: str) -> dict[str, str]:
    """Item -> the template or source that it shares with others, or itself."""
    return _column(study_id, "family")


def categories(study_id: str) -> dict[str, str]:
    return _column(study_id, "category")


@session.cached()
def _column(study_id: str, name: str) -> dict[str, str]:
    items = session.study_items(study_id)
    # Items without a value are grouped together, not left out.
    return dict(zip(items["item_id"], items[name].fillna("").astype(str), strict=True))


def n_groups(study_id: str, name: str) -> int:
    """Count the values of a column of items; those without one are one group."""
    return session.study_items(study_id)[name].fillna("").nunique()


def of_model(study_id: str, model: str) -> pd.DataFrame:
    return _of_model(study_id, model).copy(deep=False)


@session.cached()
def _of_model(study_id: str, model: str) -> pd.DataFrame:
    frame = session.readouts(study_id)
    return frame[frame["model"] == model]


@session.cached(is_kept=True)
def most_disputed(study_id: str, model: str) -> list[str]:
    """Return the items of one model, those first on which its extractors disagree."""
    return reports.most_disputed(_of_model(study_id, model))


@session.cached(is_kept=True)
def why_nothing_was_read(study_id: str) -> str:
    """Return why no output of the study could be read; "" where one was."""
    return reports.why_nothing_was_read(session.readouts(study_id))


@session.cached(is_kept=True)
def asked_once(study_id: str) -> bool:
    return reports.asked_once(session.readouts(study_id))


@session.cached(is_kept=True)
def choices(study_id: str) -> Choices:
    """Return what the study's readouts offer to choose from."""
    return surface.choices(session.readouts(study_id))


@session.cached(max_entries=32)
def n_labelled_pairs(study_id: str) -> int:
    """Count the pairs of outputs that people labelled on both sides."""
    return _n_labelled_pairs(study_id, judgements.n_rows(session.store(), OUTPUT_LABELS))


@session.cached(max_entries=16)
def _n_labelled_pairs(study_id: str, n_labels: int) -> int:
    return len(labelled_pairs(session.store(), study_id).rows)


@session.cached(is_kept=True)
def label_warnings(study_id: str, model: str) -> list[str]:
    """Return warnings about labels that cannot be read as first tokens at all."""
    return label_mass.unreadable_labels(of_model(study_id, model))


@session.cached(max_entries=48, is_kept=True)
def cells(
    study_id: str, model: str, field: str, faithful: str, axis: str | None = None
) -> tuple[Cells, Cells]:
    """Return both extractors' cells on the same rows and columns.

    The columns are all axes, or the variants of one.
    """
    frame = of_model(study_id, model)
    order = list(frame["item_id"].unique())
    if axis is None:
        return surface.aligned(
            surface.surface(frame, field), surface.surface(frame, faithful), order
        )
    return surface.aligned(
        surface.opened(frame, axis, field), surface.opened(frame, axis, faithful), order
    )


def answer(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> Claim:
    """Return the page's answer: which part of the flips is larger, with its qualifications."""
    return _answer(study_id, model, field, faithful, axis, tuple(gates.closed_in(study_id).items()))


@session.cached(max_entries=32, is_kept=True)
def _answer(
    study_id: str, model: str, field: str, faithful: str, axis: str | None, closed_gates: tuple
) -> Claim:
    heat = session.temperature(study_id, model)
    estimates = shared.estimates(study_id, model, faithful)
    return surface_claim(
        of_model(study_id, model), field, faithful, axis, dict(closed_gates), heat, estimates
    )


# The map as the browser takes it, made of cached cells.


@dataclass(frozen=True)
class DrawnMap:
    """The map as the browser takes it, with what a click on it means.

    `items` and `models` are those of its rows in their order, `steps` the items for J and K.
    """

    arrays: dict
    version: str
    caption: str
    items: tuple[str, ...]
    models: tuple[str, ...]
    steps: Steps


@session.cached("Drawing the map", 12)
def drawn_map(view: View) -> DrawnMap:
    """Draw the map of a view, again only when something new came."""
    # A search is kept for no other server: every word would be a file.
    arrays, items, models = _map_content(view) if view.search else _kept_map_content(view)
    # The browser sends the version with every click, so that a click on an old map is known.
    version = digest(view.study_id, session.store().revision(view.study_id), repr(view))[:16]
    return DrawnMap(arrays, version, _caption(view, len(items)), items, models, Steps(items))


@session.cached(max_entries=12, is_kept=True)
def _kept_map_content(view: View) -> tuple[dict, tuple[str, ...], tuple[str, ...]]:
    return _map_content(view)


def _map_content(view: View) -> tuple[dict, tuple[str, ...], tuple[str, ...]]:
    """Return what the browser draws, and the items and models of its rows."""
    pairs = [cells(view.study_id, model, view.field, view.faithful) for model in view.models]
    first, second = (
        pairs[0]
        if len(pairs) == 1
        else tuple(map_cells.stacked(side) for side in zip(*pairs, strict=True))
    )
    model_of_row: list[str] = []
    for model, (model_cells, _) in zip(view.models, pairs, strict=True):
        model_of_row += [model] * len(model_cells.items)
    # The search looks in the questions' own texts.
    texts, family = questions(view.study_id), families(view.study_id)
    order = flip_map.map_rows(
        first, second, view.sort, view.search, texts, flips_only=view.flips_only
    )
    names = _group_names(view, first.items, model_of_row)
    rows = flip_map.in_groups(first, second, order, names, view.sort)
    items = [first.items[i] for i in rows.rows]
    models = [model_of_row[i] for i in rows.rows]
    first, second = (_opened(view, part, side) for side, part in enumerate((first, second)))
    if view.is_difference:
        panels = [
            (
                f"{view.titles[0]} minus {view.titles[1].lower()}, points",
                map_cells.difference(first, second),
            )
        ]
    else:
        panels = [(view.titles[0], first), (view.titles[1], second)]
    arrays = flip_map.map_arrays(
        panels[:1] if view.field == view.faithful else panels,
        rows,
        texts,
        family,
        signed=view.is_difference,
        models=[group.label for group in rows.groups] if view.group == "model" else (),
    )
    return arrays, tuple(items), tuple(models)


def _opened(view: View, base: Cells, side: int) -> Cells:
    """Return one extractor's cells with the variants of the opened axes in place."""
    opened = {
        axis: map_cells.stacked(
            [
                cells(view.study_id, model, view.field, view.faithful, axis)[side]
                for model in view.models
            ]
        )
        for axis in view.opened
        if axis in base.columns and len(view.models) == 1
    }
    return map_cells.with_variants(base, opened) if opened else base


def _group_names(view: View, items: Sequence[str], model_of_row: Sequence[str]) -> list[str] | None:
    if view.group == "model":
        return list(model_of_row)
    if not view.group:
        return None
    names = categories(view.study_id) if view.group == "category" else families(view.study_id)
    return [names.get(item) or f"no {view.group}" for item in items]


def _caption(view: View, n: int) -> str:
    settings = (
        ", ".join(view.models),
        f"{view.titles[0]} v {view.titles[1]}",
        f"{n:,} rows sorted by {view.sort_title}",
        f"grouped by {view.group}" if view.group else "",
        f"questions with {view.search!r}" if view.search else "",
        "only items that flip" if view.flips_only else "",
        "95% intervals over items, families as one",
    )
    study = session.declared(view.study_id)
    return flip_map.caption(
        study.name, view.study_id, settings, __version__, dt.date.today().isoformat()
    )
