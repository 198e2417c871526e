"""Two sets of entries, benchmark (`target`) and holdout (`retro`), ready to be compared.

They are read from their sources without hidden items. A share may be set aside; only a lock reveals
it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from flipcore.core.records import Item, digest
from flipcore.core.study import ItemSource, Study
from flipcore.datasets import load_report
from flipcore.runs.demo import example_holdout
from flipcore.store.connection import Store
from flipcore.store.queries import holdout
from flipcore.store.queries.locks import lock_of_page
from flipcore.text.counts import count_of

PAGE = "holdout"  # the page whose lock reveals the entries set aside


@dataclass(frozen=True)
class Sets:
    """Benchmark and holdout as they are compared.

    `study_ids` are the stored studies that asked the entries in these roles. Moves of thresholds,
    locks and decisions are stored under `record_id`: a study's id if the sets are its benchmark and
    holdout, else an id made from the entries. `share_aside` is the share of the entries that was
    set aside, `n_aside` the number that is hidden now.
    """

    name: str
    target: tuple[Item, ...]
    retro: tuple[Item, ...]
    record_id: str
    study_ids: tuple[str, ...] = ()
    share_aside: float = 0.0
    n_aside: int = 0
    notes: tuple[str, ...] = ()
    sources: tuple[ItemSource, ...] = ()

    @property
    def sets_id(self) -> str:
        """A hash of both sets' item ids, whatever the sets are called."""
        return digest(sorted(_ids(self.target)), sorted(_ids(self.retro)))

    @cached_property
    def content_id(self) -> str:
        """A hash of all fields of the entries, such as sources, which `sets_id` leaves out."""
        return digest(repr(self.target), repr(self.retro))

    @classmethod
    def without_study(
        cls, name: str, target: Iterable[Item], retro: Iterable[Item], **settings
    ) -> "Sets":
        """Make sets that belong to no study; `record_id` is made from their entries."""
        sets = cls(name, tuple(target), tuple(retro), record_id="", **settings)
        return replace(sets, record_id=f"sets-{sets.sets_id}")

    @property
    def items(self) -> dict[str, Item]:
        """All entries by item id."""
        return {item.item_id: item for item in (*self.target, *self.retro)}

    @property
    def is_of_study(self) -> bool:
        """True if the sets are a study's own: then `record_id` is that study's id."""
        return self.record_id in self.study_ids


def sets_of_sources(name: str, sources: Sequence[ItemSource]) -> Sets:
    """Read both sets from their sources; an item in both counts for the target.

    Raises BadInput if a source cannot be read.
    """
    roles: dict[str, dict[str, Item]] = {"target": {}, "retro": {}}
    notes = []
    for source in sources:
        if source.role in roles:
            report = load_report(source)
            roles[source.role] |= {item.item_id: item for item in report.items}
            notes += [note for note in report.notes if "refused" in note]
    n_shared = len(roles["retro"].keys() & roles["target"].keys())
    if n_shared:
        counted = count_of(
            n_shared,
            "item of the holdout is in the benchmark, too",
            "items of the holdout are in the benchmark, too",
        )
        notes.append(f"{counted}, and left out of the holdout.")
    target_ids = roles["target"].keys()
    # An item of both sets is published, so it cannot be a holdout entry.
    retro = with_source_ids(without_ids(roles["retro"].values(), target_ids), target_ids)
    return Sets.without_study(
        name,
        roles["target"].values(),
        retro,
        notes=tuple(notes),
        # A study asks its sources as they are, so no study can ask sets that lost shared items.
        sources=() if n_shared else tuple(sources),
    )


def sets_of_study(
    store: Store, study_id: str, name: str = "", lock: str | None = None, share_aside: float = 0.0
) -> Sets:
    """Return a study's target and retro items. With a `lock` they are the items that were set
    aside, without one the other items."""
    target = tuple(holdout.role_items(store, study_id, "target", lock=lock))
    retro_items = tuple(holdout.role_items(store, study_id, "retro", lock=lock))
    retro = with_source_ids(retro_items, _ids(target))
    return Sets(
        name,
        target,
        retro=retro,
        record_id=study_id,
        study_ids=(study_id,),
        share_aside=share_aside,
    )


def pocket_study(sets: Sets) -> Study:
    """Return a study that asks the pocket model (shipped with Flipscope) these two sets, with the
    settings of the example."""
    example = example_holdout()
    if sets.sources == example.items:
        return example
    return replace(
        example, name=f"Holdout: {sets.name.removeprefix('Example: ')}", items=sets.sources
    )


def divided_sets(store: Store, sets: Sets, share: float, *, confirmatory: bool) -> Sets:
    """Return one part of sets that belong to no study: the entries set aside, or the rest.

    The part set aside is returned only if `confirmatory` is True and the page has a lock. A
    `share` above 0 is set aside permanently, unless a part was set aside before.
    """
    sets, aside = _without_hidden(store, sets), holdout.entries_aside(store, sets.record_id)
    if share and not aside:
        target_ids, retro_ids = _ids(sets.target), _ids(sets.retro)
        # The first share is permanent, so that nobody chooses it after seeing results.
        aside = holdout.keep_aside(store, sets.record_id, target_ids, retro_ids, share)
    if not aside:
        return _with_studies(store, sets)
    # Without a lock the entries set aside are only counted, and the other entries are returned.
    is_opened = confirmatory and lock_of_page(store, sets.record_id, PAGE) is not None

    def part(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if (item.item_id in aside) == is_opened)

    n_all = len(sets.target) + len(sets.retro)
    target, retro = part(sets.target), part(sets.retro)
    n_hidden = 0 if is_opened else n_all - len(target) - len(retro)
    share_aside = len(aside) / max(n_all, 1)
    subset = replace(sets, target=target, retro=retro, share_aside=share_aside, n_aside=n_hidden)
    return _with_studies(store, subset)


def _without_hidden(store: Store, sets: Sets) -> Sets:
    """Return the sets without entries that a study set aside and no lock has opened. Such entries
    stay hidden even if another source contains them."""
    hidden = holdout.hidden_items(store, _ids((*sets.target, *sets.retro)))
    # The entries that these sets set aside themselves are handled by `divided_sets`.
    hidden -= holdout.entries_aside(store, sets.record_id)
    if not hidden:
        return sets
    note = (
        f"{count_of(len(hidden), 'entry is', 'entries are')} left out: a study set them aside, and"
        " only its lock opens them."
    )
    return replace(
        sets,
        target=without_ids(sets.target, hidden),
        retro=without_ids(sets.retro, hidden),
        notes=(*sets.notes, note),
    )


def _with_studies(store: Store, sets: Sets) -> Sets:
    study_ids = holdout.studies_of(store, _ids(sets.target), _ids(sets.retro))
    return replace(sets, study_ids=study_ids)


def _ids(items: Iterable[Item]) -> list[str]:
    return [item.item_id for item in items]


def without_ids(items: Iterable[Item], ids: Collection[str]) -> tuple[Item, ...]:
    """Return the items whose id is not among `ids`."""
    return tuple(item for item in items if item.item_id not in ids)


def with_source_ids(retro: Sequence[Item], target_ids: Iterable[str]) -> tuple[Item, ...]:
    """Return the holdout entries with `source_id` replaced by the item id of the source.

    A file names a source by its item id or by the entry's key ("17" for gsm8k/17@1c0ffee2). A name
    that fits no benchmark entry, or several, stays and pairs with nothing.
    """
    ids_by_name: dict[str, list[str]] = {}
    for item_id in target_ids:
        key = item_id.split("/", 1)[-1].rsplit("@", 1)[0]
        ids_by_name.setdefault(item_id, []).append(item_id)
        ids_by_name.setdefault(key, []).append(item_id)
    entries = []
    for item in retro:
        ids = ids_by_name.get(item.source_id or "", [])
        entries.append(replace(item, source_id=ids[0]) if len(ids) == 1 else item)
    return tuple(entries)
