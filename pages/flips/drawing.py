"""The map as the browser takes it, made of cached cells."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.core.records import digest
from flipcore.core.version import __version__
from flipcore.reports.browser_data import flip_map
from flipcore.reports.browser_data.steps import Steps
from flipcore.stats.flips import map_cells
from flipcore.stats.flips.surface import Cells
from pages.common import session
from pages.common.cached import cached
from pages.flips.map_data import View, categories, cells, families, questions


@dataclass(frozen=True)
class DrawnMap:
    """The map as the browser takes it, with what a click on it means: `items` and `models` of its rows in their order, `steps` for
    J and K."""

    arrays: dict
    version: str
    caption: str
    items: tuple[str, ...]
    models: tuple[str, ...]
    steps: Steps


@cached("Drawing the map", 12)
def drawn_map(view: View) -> DrawnMap:
    """The map of a view, made again only when something new came."""
    pairs = [cells(view.study_id, model, view.field, view.faithful) for model in view.models]
    first, second = pairs[0] if len(pairs) == 1 else tuple(map_cells.stacked(side) for side in zip(*pairs, strict=True))
    model_of_row = [model for model, pair in zip(view.models, pairs, strict=True) for _ in pair[0].items]
    texts, family = questions(view.study_id), families(view.study_id)
    order = flip_map.map_rows(first, second, view.sort, view.search, view.flips_only, texts)
    names = _group_names(view, first.items, model_of_row)
    rows = flip_map.in_groups(first, second, order, names, view.sort)
    items, models = ([of_row[i] for i in rows.rows] for of_row in (first.items, model_of_row))
    first, second = (_opened(view, part, side) for side, part in enumerate((first, second)))
    if view.is_difference:
        panels = [(f"{view.titles[0]} minus {view.titles[1].lower()}, pp", map_cells.difference(first, second))]
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
    version = digest(view.study_id, session.store().revision(view.study_id), repr(view))[:16]
    return DrawnMap(arrays, version, _caption(view, len(items)), tuple(items), tuple(models), Steps(items))


def _opened(view: View, base: Cells, side: int) -> Cells:
    """One readout's cells with the variants of the opened axes in place."""
    opened = {
        axis: map_cells.stacked([cells(view.study_id, model, view.field, view.faithful, axis)[side] for model in view.models])
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
        "95 % intervals over items, families as one",
    )
    study = session.declared(view.study_id)
    return flip_map.caption(study.name, view.study_id, settings, __version__, dt.date.today().isoformat())
