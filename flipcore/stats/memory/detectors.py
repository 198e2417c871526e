"""Agreement between detectors per item: their flags side by side, and the agreement of each pair
beyond chance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from flipcore.stats.base.agreement import Agreement, cohen_agreement
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory.rewritten import share_estimate

# Detector -> item id -> flagged. Items that the detector did not judge are missing.
Flags = Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True)
class Pair:
    """Two detectors on the items that both judged, and how many of these items each flags."""

    first: str
    second: str
    agreement: Agreement
    n_both_flag: int
    n_first_only: int
    n_second_only: int

    @property
    def is_silent(self) -> bool:
        """True if one of the two detectors flags nothing: kappa is then 0 or undefined."""
        return min(self.n_both_flag + self.n_first_only, self.n_both_flag + self.n_second_only) == 0


def pairs(flags: Flags) -> list[Pair]:
    """Return all pairs of detectors with at least one item in common."""
    overlaps = []
    for first, second in combinations(flags, 2):
        common = sorted(flags[first].keys() & flags[second].keys())
        if common:
            first_flags = [bool(flags[first][item]) for item in common]
            second_flags = [bool(flags[second][item]) for item in common]
            counts = Counter(zip(first_flags, second_flags, strict=True))
            overlaps.append(
                Pair(
                    first,
                    second,
                    cohen_agreement(first_flags, second_flags),
                    n_both_flag=counts[True, True],
                    n_first_only=counts[True, False],
                    n_second_only=counts[False, True],
                )
            )
    return overlaps


def flag_table(flags: Flags) -> pd.DataFrame:
    """Return one row per item that any detector judged, most flags first.

    There is one column per detector, missing where that detector did not judge the item.
    """
    # A dict keeps each item once, in the order in which detectors judged them.
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
    """Return the share of the flagged items that no detector judged as clean (Wilson)."""
    flagged: set[str] = set()
    cleared: set[str] = set()
    for detector_flags in flags.values():
        flagged |= {item for item, flag in detector_flags.items() if flag}
        cleared |= {item for item, flag in detector_flags.items() if not flag}
    return share_estimate(len(flagged - cleared), len(flagged))


def pair_rows(overlaps: Sequence[Pair]) -> list[dict]:
    """Return one table row per pair of detectors; kappa is "–" if either flags nothing."""
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
    """Say which kappas mean little, because a detector flags nothing or two flag the same items.
    "" if none."""
    n_silent = sum(pair.is_silent for pair in overlaps)
    identical_pairs = [
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
    if identical_pairs:
        sentences.append(f"{', '.join(identical_pairs)} flag the very same items.")
    return " ".join(sentences)
