"""A study's declaration and its prospects, in a line each."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.claims.flips import plan_sentence
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import LOADERS
from flipcore.extractors import EXTRACTORS, VALUES
from flipcore.stats.base.estimate import MIN_N
from flipcore.store.connection import Store
from flipcore.store.queries.locks import n_set_aside
from flipcore.text.counts import count_of

OWN = ("file", "text", "hub")
MOST_LISTED = 6  # values of a filter that a line holds


def items_text(store: Store, row: Mapping[str, Any]) -> str:
    """ "60 items, 23 of them set aside"; of a row of `studies.studies`."""
    n_aside, items = n_set_aside(store, row["study_id"]), count_of(int(row["n_items"]), "item")
    return f"{items}, {n_aside:,} of them set aside" if n_aside else items


def items_summary(sources: Sequence[ItemSource]) -> str:
    """ "24 of Flipscope: choices, all of Pocket: passages (control)"."""
    return ", ".join(map(_source_text, sources)) or "which questions, in what role"


def _source_text(source: ItemSource) -> str:
    title = LOADERS[source.dataset].title if source.dataset in LOADERS else source.dataset
    role = "" if source.role == "benchmark" else f" ({source.role})"
    return f"{source.n or 'all'} of {title}{role}"


def questions_summary(settings: Mapping[str, Any]) -> str:
    """The numbers of axes and extractors in `settings`, or what is still to be chosen."""
    axes, extractors = settings.get("axes", ()), settings.get("extractors", ())
    if not axes or not extractors:
        return "what is changed, and how the answer is read"
    return f"{count_of(len(axes), 'axis', 'axes')}, {count_of(len(extractors), 'extractor')}"


def models_summary(models: Sequence[ModelUse]) -> str:
    """ "temperature 0.7, 2 samples, token limit 96"; all different settings of several models."""
    settings = set()
    for use in models:
        samples = count_of(use.n_samples, "sample")
        limit = f"token limit {use.max_tokens:,}"
        settings.add(f"temperature {use.temperature:g}, {samples}, {limit}")
    return "; ".join(sorted(settings))


def n_readings(study: Study, kind: str) -> int:
    """The number of the study's extractors that read an answer of that kind."""
    return sum(
        kind in EXTRACTORS[part.name].applies_to
        for part in study.extractors
        if part.name in EXTRACTORS and part.name not in VALUES
    )


def design_sentence(n_items: int, n_read_twice: int, n_cells: int) -> tuple[str, str]:
    """Return what a design finds four times in five, and what that rests on; `n_read_twice` of its
    items are read in two ways, in `n_cells` combinations of axis and extractor."""
    if n_items < MIN_N:
        return f"Below {MIN_N} items there is no interval. Take more.", ""
    sentence, comma, conditions = plan_sentence(n_read_twice, n_cells).partition(", if ")
    return (f"{sentence}." if comma else sentence), conditions


def duration_text(seconds: float | None) -> str:
    """Seconds up to two minutes, then minutes; None is unknown."""
    if seconds is None:
        return "unknown"
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def source_title(source: ItemSource) -> str:
    """The title of a source; one of the hub with its repository."""
    name = LOADERS[source.dataset].title if source.dataset in LOADERS else source.dataset
    return f"{name} ({source.options['repo']})" if source.options.get("repo") else name


def filter_text(value) -> str:
    """The values that a filter keeps; a long list is counted."""
    if isinstance(value, (list, tuple)) and len(value) > MOST_LISTED:
        return f"one of {len(value):,}"
    return str(value)


def in_order(parts: tuple[Part, ...], before: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts in the order of the draft, new ones last; a part whose parameters say the same
    stays as it was written."""
    places = {part.name: place for place, part in enumerate(before)}
    return tuple(sorted(parts, key=lambda part: places.get(part.name, len(places))))


def dataset_names() -> list[str]:
    """The sources of items: a file of one's own first, other things of one's own next."""
    # Plug-ins bring datasets in any order.
    return sorted(LOADERS, key=lambda name: OWN.index(name) if name in OWN else len(OWN))
