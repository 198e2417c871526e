"""Two sets of entries, target and retro, as they are compared: read from their sources, less what
must stay hidden, and divided into the part that is explored and the part that only a lock opens."""

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

PAGE = "holdout"  # whose lock opens what two sets set aside


@dataclass(frozen=True)
class Sets:
    """Target and retro as they are compared; `study_ids` are the stored studies that ask them in
    these roles, `record_id` is what moves, locks and decisions are kept under: a study's id where
    the sets are its roles."""

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
        """A hash of both sets' entries, whatever they are called."""
        return digest(sorted(_ids(self.target)), sorted(_ids(self.retro)))

    @cached_property
    def content_id(self) -> str:
        """A hash of all that both sets say of their entries, as where each comes from, which is no
        part of `sets_id`."""
        return digest(repr(self.target), repr(self.retro))

    @classmethod
    def without_study(
        cls, name: str, target: Iterable[Item], retro: Iterable[Item], **settings
    ) -> "Sets":
        """Make sets that are no study's roles: decisions on them are kept under what they hold."""
        sets = cls(name, tuple(target), tuple(retro), record_id="", **settings)
        return replace(sets, record_id=f"sets-{sets.sets_id}")

    @property
    def items(self) -> dict[str, Item]:
        return {item.item_id: item for item in (*self.target, *self.retro)}

    @property
    def is_of_study(self) -> bool:
        return self.record_id in self.study_ids


def sets_of_sources(name: str, sources: Sequence[ItemSource]) -> Sets:
    """Both sets read from their sources; an item that stands in both belongs to the target. Raises
    BadInput where a source cannot be read."""
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
    # An item of both sets is published, so it is no holdout.
    retro = written_from(without_ids(roles["retro"].values(), target_ids), target_ids)
    return Sets.without_study(
        name,
        roles["target"].values(),
        retro,
        notes=tuple(notes),
        sources=() if n_shared else tuple(sources),
    )


def sets_of_study(
    store: Store, study_id: str, name: str = "", lock: str | None = None, share_aside: float = 0.0
) -> Sets:
    """Items in the roles target and retro; those set aside under a `lock`, and only then."""
    target = tuple(holdout.role_items(store, study_id, "target", lock=lock))
    retro_items = tuple(holdout.role_items(store, study_id, "retro", lock=lock))
    retro = written_from(retro_items, _ids(target))
    return Sets(name, target, retro, study_id, (study_id,), share_aside)


def pocket_study(sets: Sets) -> Study:
    """The pocket model on these two sets, as the example declares it."""
    example = example_holdout()
    if sets.sources == example.items:
        return example
    return replace(
        example, name=f"Holdout: {sets.name.removeprefix('Example: ')}", items=sets.sources
    )


def divided_sets(store: Store, sets: Sets, share: float, *, confirmatory: bool) -> Sets:
    """Divide sets that are no study's, with the studies that asked them: the part set aside where
    `confirmatory` and the page has its lock, else the rest. A `share` above 0 is set aside now, for
    good, where none was before."""
    sets, aside = _without_hidden(store, sets), holdout.entries_aside(store, sets.record_id)
    if share and not aside:
        target, retro = _ids(sets.target), _ids(sets.retro)
        # The first share stands for good: nobody chooses it after looking.
        aside = holdout.keep_aside(store, sets.record_id, target, retro, share)
    if not aside:
        return _with_studies(store, sets)
    # Before a lock the open entries stand in: what is set aside is counted, and read by nobody.
    is_opened = confirmatory and lock_of_page(store, sets.record_id, PAGE) is not None

    def part(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if (item.item_id in aside) == is_opened)

    n_all = len(sets.target) + len(sets.retro)
    subset = replace(
        sets,
        target=part(sets.target),
        retro=part(sets.retro),
        share_aside=len(aside) / max(n_all, 1),
    )
    n_other = n_all - len(subset.target) - len(subset.retro)
    return _with_studies(store, replace(subset, n_aside=0 if is_opened else n_other))


def _without_hidden(store: Store, sets: Sets) -> Sets:
    """The sets less what a study set aside and no lock has opened: nothing shows that, wherever
    else it may be read from."""
    hidden = holdout.hidden_items(store, _ids((*sets.target, *sets.retro)))
    # The part that these sets set aside themselves is divided off later.
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
    """The items that are not among `ids`."""
    return tuple(item for item in items if item.item_id not in ids)


def written_from(retro: Sequence[Item], target_ids: Iterable[str]) -> tuple[Item, ...]:
    """The holdout entries with their sources named by item id. A file names a source by that id or
    by the entry's own key ("17" for gsm8k/17@1c0ffee2); what names no benchmark entry, or several,
    stays as it is and pairs with nothing.
    """
    ids_by_name: dict[str, list[str]] = {}
    for item_id in target_ids:
        ids_by_name.setdefault(item_id, []).append(item_id)
        ids_by_name.setdefault(item_id.split("/", 1)[-1].rsplit("@", 1)[0], []).append(item_id)

    def source_of(item: Item) -> Item:
        # A name that fits several entries pairs with none.
        ids = ids_by_name.get(item.source_id or "", [])
        return replace(item, source_id=ids[0]) if len(ids) == 1 else item

    return tuple(source_of(item) for item in retro)
