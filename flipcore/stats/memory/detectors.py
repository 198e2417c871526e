"""Agreement of detectors, item by item: flags side by side, and the agreement of each pair beyond
chance."""

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
    """Two detectors on the items that both judged; the counts are of flags."""

    first: str
    second: str
    agreement: Agreement
    n_both_flag: int
    n_first_only: int
    n_second_only: int

    @property
    def is_silent(self) -> bool:
        """True where one of the two flags nothing: kappa is then 0 or undefined."""
        return min(self.n_both_flag + self.n_first_only, self.n_both_flag + self.n_second_only) == 0


def pairs(flags: Flags) -> list[Pair]:
    """Return all pairs of detectors with at least one item in common."""
    overlaps = []
    for first, second in combinations(flags, 2):
        common = sorted(flags[first].keys() & flags[second].keys())
        if common:
            a = [bool(flags[first][item]) for item in common]
            b = [bool(flags[second][item]) for item in common]
            overlaps.append(
                Pair(
                    first,
                    second,
                    cohen_agreement(a, b),
                    n_both_flag=sum(x and y for x, y in zip(a, b, strict=True)),
                    n_first_only=sum(x and not y for x, y in zip(a, b, strict=True)),
                    n_second_only=sum(y and not x for x, y in zip(a, b, strict=True)),
                )
            )
    return overlaps


def flag_table(flags: Flags) -> pd.DataFrame:
    """Return one row per item that any detector judged, one column per detector, most flags first;
    None where it was not judged."""
    # Each item once, in the order in which detectors judged them.
    judged: dict[str, None] = {}
    for detector_flags in flags.values():
        judged |= dict.fromkeys(detector_flags)
    items = list(judged)
    columns: dict[str, object] = {"item_id": items}
    for name, detector_flags in flags.items():
        # "boolean", unlike bool, has a missing value for items that were not judged.
        columns[name] = pd.array([detector_flags.get(item) for item in items], dtype="boolean")
    table = pd.DataFrame(columns)
    table.insert(1, "flagged by", table[list(flags)].fillna(value=False).sum(axis=1).astype(int))
    return table.sort_values("flagged by", ascending=False, kind="stable", ignore_index=True)


def share_flagged_by_all(flags: Flags) -> Estimate:
    """Return, of the items that any detector flags, the share that no detector clears (Wilson)."""
    flagged: set[str] = set()
    cleared: set[str] = set()
    for detector_flags in flags.values():
        for item, flag in detector_flags.items():
            (flagged if flag else cleared).add(item)
    return share_estimate(len(flagged - cleared), len(flagged))


def pair_rows(overlaps: Sequence[Pair]) -> list[dict]:
    """Return a row for each pair of detectors, as a table shows them; no kappa where one of them
    flags nothing."""
    return [
        {
            "detector": pair.first,
            "and": pair.second,
            "κ": "–" if pair.is_silent else pair.agreement.estimate.text(),
            "same verdict, %": round(100 * pair.agreement.raw, 1),
            "both flag": pair.n_both_flag,
            "first only": pair.n_first_only,
            "second only": pair.n_second_only,
            "items": pair.agreement.n_items,
        }
        for pair in overlaps
    ]


def pairs_note(overlaps: Sequence[Pair]) -> str:
    """Say why some kappas mean little: no flags, or no difference; "" where none does."""
    n_silent = sum(pair.is_silent for pair in overlaps)
    same = [
        f"{pair.first} and {pair.second}"
        for pair in overlaps
        if pair.n_both_flag and not pair.n_first_only and not pair.n_second_only
    ]
    sentences = []
    if n_silent:
        sentences.append(
            f"In {n_silent} of {len(overlaps)} pairs one detector flags nothing, so κ says nothing "
            "there."
        )
    if same:
        sentences.append(f"{', '.join(same)} flag the very same items.")
    return " ".join(sentences)
