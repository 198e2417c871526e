"""A table of numbers by 64-bit hash, for imports of a million rows: some ten bytes per entry."""

from array import array
from hashlib import blake2b

_FIRST_SIZE = 1 << 10  # slots of an empty table; a power of two, so that the lowest bits of a key are a slot
_MAX_IN_USE = 0.6  # share of the slots in use above which the table grows


def hash_of(*parts: str) -> int:
    """Return a hash of texts in 1 … 2⁶⁴ − 1, which is the same in every process."""
    text = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little") or 1


class HashTable:
    """`width` unsigned 64-bit numbers per key, which is a hash itself.

    Open addressing with linear probing; the lowest bits of a key are its slot, 0 marks a free one. Two
    texts with one hash share an entry: with a million entries that happens in one of 3·10⁷ tables.
    """

    def __init__(self, width: int) -> None:
        self.width, self._n = width, 0
        self._allocate(_FIRST_SIZE)

    def __len__(self) -> int:
        return self._n

    def get(self, key: int) -> tuple[int, ...] | None:
        """Return the numbers of a key; None without an entry."""
        slot = self._slot(key)
        if not self._keys[slot]:
            return None
        return tuple(column[slot] for column in self._columns)

    def set(self, key: int, *values: int) -> None:
        """Set the numbers of a key."""
        slot = self._slot(key)
        if not self._keys[slot]:
            if self._n >= _MAX_IN_USE * len(self._keys):
                self._grow()
                slot = self._slot(key)
            self._keys[slot] = key
            self._n += 1
        for column, value in zip(self._columns, values, strict=True):
            column[slot] = value

    def _slot(self, key: int) -> int:
        """Return the slot of a key, or the free slot for it."""
        keys, mask = self._keys, len(self._keys) - 1
        slot = key & mask
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _allocate(self, n_slots: int) -> None:
        self._keys = array("Q", bytes(8 * n_slots))
        self._columns = [array("Q", bytes(8 * n_slots)) for _ in range(self.width)]

    def _grow(self) -> None:
        keys, columns = self._keys, self._columns
        self._allocate(2 * len(keys))
        for old_slot, key in enumerate(keys):
            if key:
                slot = self._slot(key)
                self._keys[slot] = key
                for column, values in zip(self._columns, columns, strict=True):
                    column[slot] = values[old_slot]
