"""A study's declaration as text: items, models, sizes, and what it can be expected to find."""

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

OWN_SOURCES = ("file", "text", "hub")  # datasets that read a user's own items
MAX_LISTED = 6  # most values of a filter that a line lists


def items_text(store: Store, row: Mapping[str, Any]) -> str:
    """Return "60 items, 23 of them set aside"; `row` is that of `studies.studies`."""
    n_aside, items = n_set_aside(store, row["study_id"]), count_of(int(row["n_items"]), "item")
    return f"{items}, {n_aside:,} of them set aside" if n_aside else items


def items_summary(sources: Sequence[ItemSource]) -> str:
    """Return "24 of Flipscope: choices, all of Pocket: passages (control)"."""
    return ", ".join(map(_source_text, sources)) or "which questions, in what role"


def _source_text(source: ItemSource) -> str:
    title = LOADERS[source.dataset].title if source.dataset in LOADERS else source.dataset
    role = "" if source.role == "benchmark" else f" ({source.role})"
    return f"{source.n or 'all'} of {title}{role}"


def questions_summary(settings: Mapping[str, Any]) -> str:
    """State the numbers of axes and extractors, or what is still to be chosen."""
    axes, extractors = settings.get("axes", ()), settings.get("extractors", ())
    if not axes or not extractors:
        return "what is changed, and how the answer is read"
    return f"{count_of(len(axes), 'axis', 'axes')}, {count_of(len(extractors), 'extractor')}"


def models_summary(models: Sequence[ModelUse]) -> str:
    """Return "temperature 0.7, 2 samples, token limit 96", once per different setting."""
    settings = set()
    for use in models:
        samples = count_of(use.n_samples, "sample")
        limit = f"token limit {use.max_tokens:,}"
        settings.add(f"temperature {use.temperature:g}, {samples}, {limit}")
    return "; ".join(sorted(settings))


def n_answer_extractors(study: Study, kind: str) -> int:
    """Return how many extractors of a study read an answer to items of a kind."""
    return sum(
        kind in EXTRACTORS[part.name].applies_to
        for part in study.extractors
        if part.name in EXTRACTORS and part.name not in VALUES
    )


def design_sentence(n_items: int, n_read_twice: int, n_cells: int) -> tuple[str, str]:
    """Return what a design finds four times in five, and its conditions. `n_read_twice` items are
    read by two extractors, in `n_cells` pairs of axis and extractor."""
    if n_items < MIN_N:
        return f"Below {MIN_N} items there is no interval. Take more.", ""
    sentence, comma, conditions = plan_sentence(n_read_twice, n_cells).partition(", if ")
    return (f"{sentence}." if comma else sentence), conditions


def duration_text(seconds: float | None) -> str:
    """Return a duration in seconds up to two minutes, then in minutes; None is "unknown"."""
    if seconds is None:
        return "unknown"
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def source_title(source: ItemSource) -> str:
    """Return the title of a source; a source of the hub has its repository in brackets."""
    name = LOADERS[source.dataset].title if source.dataset in LOADERS else source.dataset
    return f"{name} ({source.options['repo']})" if source.options.get("repo") else name


def filter_text(value) -> str:
    """Return the values that a filter keeps as text; a long list as a number."""
    if isinstance(value, (list, tuple)) and len(value) > MAX_LISTED:
        return f"one of {len(value):,}"
    return str(value)


def in_order(parts: tuple[Part, ...], before: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts in the order of `before`, new ones last."""
    rank_of = {part.name: rank for rank, part in enumerate(before)}
    return tuple(sorted(parts, key=lambda part: rank_of.get(part.name, len(rank_of))))


def dataset_names() -> list[str]:
    """Return the datasets, those of a user's own items first in the order of `OWN_SOURCES`."""

    def rank(name: str) -> int:
        return OWN_SOURCES.index(name) if name in OWN_SOURCES else len(OWN_SOURCES)

    return sorted(LOADERS, key=rank)
