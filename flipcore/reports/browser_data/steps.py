"""The items that J and K step through in the inspector."""

from collections.abc import Iterable


class Steps:
    """Items that K and J step through, each once."""

    def __init__(self, items: Iterable[str]) -> None:
        self._items = list(dict.fromkeys(items))
        # A dictionary, because searching a list of 100,000 items is slow.
        self._places = {item: place for place, item in enumerate(self._items)}

    def __len__(self) -> int:
        return len(self._items)

    def place(self, item_id: str) -> int | None:
        """Return the place of an item, counted from 0; None for an unknown item."""
        return self._places.get(item_id)

    def at(self, place: int) -> str | None:
        """Return the item at a place; None before the first and after the last."""
        return self._items[place] if 0 <= place < len(self._items) else None
