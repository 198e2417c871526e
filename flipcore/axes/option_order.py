"""Option order: the same options in other places. Cyclic shifts visit every position; random permutations mix more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from flipcore.axes.variants import base, collapsed, variant
from flipcore.errors import BadInput


@dataclass(frozen=True)
class OptionOrder:
    """`n` variants in all, the base included (at most the number of options when cyclic)."""

    kind: str = field(default="cyclic", metadata={"choices": ("cyclic", "random")})
    n: int = 4
    name: ClassVar[str] = "option_order"
    title: ClassVar[str] = "Option order"
    about: ClassVar[str] = "The same options in another order; answers are compared as options, not as letters."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})

    def __post_init__(self):
        if self.kind not in ("cyclic", "random") or self.n < 2:
            raise BadInput(f"Option order has the kind {self.kind!r} with n = {self.n}; it takes cyclic or random, and n of "
                           "2 or more.")

    def variants(self, item, layout, rng, material):
        size = len(item.options)
        if self.kind == "cyclic":
            orders = [tuple((i + shift) % size for i in range(size)) for shift in _spread(size, self.n)]
            keys = [f"rotate-{shift}" for shift in _spread(size, self.n)]
        else:
            orders = [tuple(int(i) for i in rng.permutation(size)) for _ in range(self.n - 1)]
            keys = [f"shuffle-{i + 1}" for i in range(self.n - 1)]
        changed = [variant(item, self.name, key, layout, order=order) for key, order in zip(keys, orders, strict=True)]
        return collapsed([base(item, self.name, layout), *changed])


def _spread(size: int, n: int) -> list[int]:
    """Up to n - 1 distinct shifts, evenly spread over 1 … size - 1."""
    wanted = min(n - 1, size - 1)
    return [1 + (i * (size - 1)) // wanted for i in range(wanted)] if wanted > 0 else []


AXIS = OptionOrder()
