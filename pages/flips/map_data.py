"""Cached data of the flip map, and the claim above it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from flipcore.annotation.judge_labels import labelled_pairs
from flipcore.claims.claim import Claim
from flipcore.core.records import FIRST_TOKEN, digest
from flipcore.core.version import __version__
from flipcore.reports import flips as flips_report
from flipcore.reports.browser_data import flip_map
from flipcore.reports.browser_data.steps import Steps
from flipcore.stats.flips import label_mass, map_cells, surface
from flipcore.stats.flips.surface import Cells, Choices
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements
from pages.common import gates, session
from pages.common import headline as headlines


@dataclass(frozen=True)
class View:
    """The settings of the flip map, which are in its link.

    `compared` is the compared extractor and `reference` the reference extractor; `titles` are their
    titles. `opened` are the axes whose variants are shown. `group` is "" (no groups), "category",
    "template" or "model". `sort` is a key of `SORT_TITLES` in `pages.flips.map`: "field" puts the
    items first that flip most under the compared extractor. `search` holds words of a question.
    """

    study_id: str
    model: str
    compared: str
    reference: str
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
        """Return the models on the map: all if the rows are grouped by model, else one."""
        if self.group != "model":
            return (self.model,)
        return tuple(use.name for use in session.declared(self.study_id).models)


def leading_extractor(study_id: str) -> str:
    """Return the extractor of the study's headline, so that the map starts with what it says."""
    flips = headlines.headline(study_id).flips
    return flips.extractor if flips is not None else FIRST_TOKEN


def questions(study_id: str) -> dict[str, str]:
    """Return item id -> text of the question."""
    return _column(study_id, "question")


def families(study_id: str) -> dict[str, str]:
    """Return item id -> cluster: the template or source that items share, or an id of its own."""
    return _column(study_id, "family")


def categories(study_id: str) -> dict[str, str]:
    """Return item id -> category; "" without one."""
    return _column(study_id, "category")


@session.cached()
def _column(study_id: str, name: str) -> dict[str, str]:
    items = session.study_items(study_id)
    # Items without a value form one group instead of being left out.
    return dict(zip(items["item_id"], items[name].fillna("").astype(str), strict=True))


def n_groups(study_id: str, name: str) -> int:
    """Count the values of a column of items; all items without a value count as one group."""
    return session.study_items(study_id)[name].fillna("").nunique()


def readouts_of_model(study_id: str, model: str) -> pd.DataFrame:
    """Return the rows of `session.readouts` of one model."""
    return _readouts_of_model(study_id, model).copy(deep=False)


@session.cached()
def _readouts_of_model(study_id: str, model: str) -> pd.DataFrame:
    frame = session.readouts(study_id)
    return frame[frame["model"] == model]


@session.cached(is_kept=True)
def most_disputed(study_id: str, model: str) -> list[str]:
    """Return the ids of a model's items; items on which extractors disagree come first."""
    return flips_report.most_disputed(_readouts_of_model(study_id, model))


@session.cached(is_kept=True)
def why_nothing_was_read(study_id: str) -> str:
    """Return why no output of the study could be read; "" if at least one was read."""
    return flips_report.why_nothing_was_read(session.readouts(study_id))


@session.cached(is_kept=True)
def asked_once(study_id: str) -> bool:
    """Return True if the study has one prompt and one sample per question: nothing can flip."""
    return flips_report.asked_once(session.readouts(study_id))


@session.cached(is_kept=True)
def choices(study_id: str) -> Choices:
    """Return the models, extractors and axes of the study's readouts."""
    return surface.choices(session.readouts(study_id))


@session.cached(max_entries=32)
def n_labelled_pairs(study_id: str) -> int:
    """Count the pairs of outputs that people labelled on both sides."""
    return _n_labelled_pairs(study_id, judgements.n_rows(session.store(), OUTPUT_LABELS))


@session.cached(max_entries=16)
def _n_labelled_pairs(study_id: str, n_labels: int) -> int:
    # `n_labels` is only a part of the cache key, so that a new label makes the pairs count anew.
    return len(labelled_pairs(session.store(), study_id).rows)


@session.cached(is_kept=True)
def label_warnings(study_id: str, model: str) -> list[str]:
    """Return warnings about option labels that the first token cannot express."""
    return label_mass.unreadable_labels(readouts_of_model(study_id, model))


@session.cached(max_entries=48, is_kept=True)
def cells(
    study_id: str, model: str, compared: str, reference: str, axis: str | None = None
) -> tuple[Cells, Cells]:
    """Return the cells of the compared and of the reference extractor.

    Both have the same rows and columns. A row is an item. The columns are all axes or, with
    `axis`, the variants of that axis.
    """
    frame = readouts_of_model(study_id, model)
    order = list(frame["item_id"].unique())
    if axis is None:
        compared_cells = surface.surface(frame, compared)
        reference_cells = surface.surface(frame, reference)
    else:
        compared_cells = surface.variant_cells(frame, axis, compared)
        reference_cells = surface.variant_cells(frame, axis, reference)
    return surface.align(compared_cells, reference_cells, order)


def map_claim(study_id: str, model: str, compared: str, reference: str, axis: str | None) -> Claim:
    """Return the claim above the map: whether genuine flips or artifacts prevail."""
    return _map_claim(
        study_id, model, compared, reference, axis, tuple(gates.all_closed_gates(study_id).items())
    )


@session.cached(max_entries=32, is_kept=True)
def _map_claim(
    study_id: str, model: str, compared: str, reference: str, axis: str | None, closed_gates: tuple
) -> Claim:
    frame, temperature = readouts_of_model(study_id, model), session.temperature(study_id, model)
    cells = headlines.estimates(study_id, model, reference)
    return flips_report.map_claim(
        frame, compared, reference, axis, dict(closed_gates), temperature, cells
    )


@dataclass(frozen=True)
class DrawnMap:
    """The browser's data to draw the map, and the data to interpret a click on it.

    `arrays` go to the browser. `items` and `models` have one id per row, in the order of the rows.
    `steps` are the items that the keys J and K step through. `version` identifies the map.
    """

    arrays: dict
    version: str
    caption: str
    items: tuple[str, ...]
    models: tuple[str, ...]
    steps: Steps


@session.cached("Drawing the map", max_entries=12)
def drawn_map(view: View) -> DrawnMap:
    """Return the map of a view. It is made again only when the study has new answers."""
    # Searches are not stored beside the database, because each search would add a file.
    arrays, items, models = _map_content(view) if view.search else _kept_map_content(view)
    # The browser sends the version with every click, so that a click on an old map is recognized.
    version = digest(view.study_id, session.store().revision(view.study_id), repr(view))[:16]
    return DrawnMap(
        arrays,
        version,
        caption=_caption(view, len(items)),
        items=items,
        models=models,
        steps=Steps(items),
    )


@session.cached(max_entries=12, is_kept=True)
def _kept_map_content(view: View) -> tuple[dict, tuple[str, ...], tuple[str, ...]]:
    return _map_content(view)


def _map_content(view: View) -> tuple[dict, tuple[str, ...], tuple[str, ...]]:
    """Return the arrays for the browser, and the items and models of the rows."""
    # Per model: the cells of the compared and of the reference extractor.
    pairs = [cells(view.study_id, model, view.compared, view.reference) for model in view.models]
    if len(pairs) == 1:
        compared_cells, reference_cells = pairs[0]
    else:
        compared_cells = map_cells.stack([pair[0] for pair in pairs])
        reference_cells = map_cells.stack([pair[1] for pair in pairs])
    model_of_row: list[str] = []
    for model, (model_cells, _) in zip(view.models, pairs, strict=True):
        model_of_row += [model] * len(model_cells.items)
    texts, family = questions(view.study_id), families(view.study_id)
    order = flip_map.map_rows(
        compared_cells, reference_cells, view.sort, view.search, texts, flips_only=view.flips_only
    )
    names = _group_names(view, compared_cells.items, model_of_row)
    rows = flip_map.in_groups(compared_cells, reference_cells, order, names, view.sort)
    items = [compared_cells.items[i] for i in rows.rows]
    models = [model_of_row[i] for i in rows.rows]
    compared_cells, reference_cells = _with_variants(view, compared_cells, reference_cells)
    if view.is_difference:
        title = f"{view.titles[0]} minus {view.titles[1].lower()}, points"
        panels = [(title, map_cells.difference(compared_cells, reference_cells))]
    else:
        panels = [(view.titles[0], compared_cells), (view.titles[1], reference_cells)]
    arrays = flip_map.map_arrays(
        panels[:1] if view.compared == view.reference else panels,
        rows,
        texts,
        family,
        signed=view.is_difference,
        models=[group.label for group in rows.groups] if view.group == "model" else (),
    )
    return arrays, tuple(items), tuple(models)


def _with_variants(view: View, compared: Cells, reference: Cells) -> tuple[Cells, Cells]:
    """Return the cells of both extractors, on a map of one model with variants of opened axes."""
    compared_variants: dict[str, Cells] = {}
    reference_variants: dict[str, Cells] = {}
    for axis in view.opened if len(view.models) == 1 else ():
        if axis in compared.columns:
            compared_variants[axis], reference_variants[axis] = cells(
                view.study_id, view.models[0], view.compared, view.reference, axis
            )
    if not compared_variants:
        return compared, reference
    return (
        map_cells.with_variants(compared, compared_variants),
        map_cells.with_variants(reference, reference_variants),
    )


def _group_names(view: View, items: Sequence[str], model_of_row: Sequence[str]) -> list[str] | None:
    """Return the name of each row's group; None if the rows are not grouped."""
    if view.group == "model":
        return list(model_of_row)
    if not view.group:
        return None
    names = categories(view.study_id) if view.group == "category" else families(view.study_id)
    return [names.get(item) or f"no {view.group}" for item in items]


def _caption(view: View, n: int) -> str:
    """Return the caption of a saved picture of a map with `n` rows."""
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
