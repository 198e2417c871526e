"""Do detectors agree, item by item? Flags side by side, and how far each pair says the same beyond chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from flipcore.stats.base.agreement import Agreement, cohen_agreement
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.rewritten import share_estimate

Flags = Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True)
class Pair:
    """Two detectors on the items that both judged. `both`, `first_only`, `second_only` count flags."""

    first: str
    second: str
    agreement: Agreement
    both: int
    first_only: int
    second_only: int

    @property
    def is_silent(self) -> bool:
        """One of the two flags nothing: kappa is then 0 whatever the other does, or undefined."""
        return min(self.both + self.first_only, self.both + self.second_only) == 0


def pairs(flags: Flags) -> list[Pair]:
    """Every pair of detectors with at least one item in common."""
    overlaps = []
    for first, second in combinations(flags, 2):
        common = sorted(flags[first].keys() & flags[second].keys())
        if common:
            a, b = ([bool(flags[name][item]) for item in common] for name in (first, second))
            overlaps.append(
                Pair(
                    first,
                    second,
                    cohen_agreement(a, b),
                    sum(x and y for x, y in zip(a, b, strict=True)),
                    sum(x and not y for x, y in zip(a, b, strict=True)),
                    sum(y and not x for x, y in zip(a, b, strict=True)),
                )
            )
    return overlaps


def flag_table(flags: Flags) -> pd.DataFrame:
    """One row an item that any detector judged, one column a detector, most flags first; None where it was not judged."""
    items = list(dict.fromkeys(item for mine in flags.values() for item in mine))
    table = pd.DataFrame(
        {"item_id": items}
        | {name: pd.array([mine.get(item) for item in items], dtype="boolean") for name, mine in flags.items()}
    )
    table.insert(1, "flagged by", table[list(flags)].fillna(False).sum(axis=1).astype(int))
    return table.sort_values("flagged by", ascending=False, kind="stable", ignore_index=True)


def share_flagged_by_all(flags: Flags) -> Estimate:
    """Of the items that any detector flags, the share that every detector that judged them flags (Wilson)."""
    items = {item for mine in flags.values() for item, flag in mine.items() if flag}
    everywhere = [item for item in items if all(mine[item] for mine in flags.values() if item in mine)]
    return share_estimate(len(everywhere), len(items))


def pair_rows(overlaps: Sequence[Pair]) -> list[dict]:
    """A row for each pair of detectors, as a table shows them; no kappa where one of them flags nothing."""
    return [
        {
            "detector": one.first,
            "and": one.second,
            "κ": "–" if one.is_silent else one.agreement.estimate.text(),
            "same verdict, %": round(100 * one.agreement.raw, 1),
            "both flag": one.both,
            "first only": one.first_only,
            "second only": one.second_only,
            "items": one.agreement.n_items,
        }
        for one in overlaps
    ]


def pairs_note(overlaps: Sequence[Pair]) -> str:
    """Why some kappas mean little: one detector flags nothing, or two never differ; "" where none does."""
    rare = sum(one.is_silent for one in overlaps)
    same = [f"{one.first} and {one.second}" for one in overlaps if one.both and not one.first_only and not one.second_only]
    sentences = [f"In {rare} of {len(overlaps)} pairs one detector flags nothing, so κ says nothing there."] if rare else []
    sentences += [f"{', '.join(same)} flag the very same items."] if same else []
    return " ".join(sentences)
