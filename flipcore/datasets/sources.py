"""Which target entry a retro entry was written from, as its author's file says it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flipcore.core.records import Item


def written_from(retro: Sequence[Item], target_ids: Iterable[str]) -> tuple[Item, ...]:
    """The retro entries with their sources named by item id. A file names a source by that id or by the entry's own key
    ("17" for gsm8k/17@1c0ffee2); what names no target entry, or several, stays as it is and pairs with nothing."""
    ids_by_name: dict[str, list[str]] = {}
    for item_id in target_ids:
        ids_by_name.setdefault(item_id, []).append(item_id)
        ids_by_name.setdefault(item_id.split("/", 1)[-1].rsplit("@", 1)[0], []).append(item_id)

    def source_of(item: Item) -> Item:
        ids = ids_by_name.get(item.source_id or "", [])
        return replace(item, source_id=ids[0]) if len(ids) == 1 else item

    return tuple(source_of(item) for item in retro)
