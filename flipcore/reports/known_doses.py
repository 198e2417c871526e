"""The product's own decision where the truth is known: how often it says memory of items that were read, and of items that never
were. For the model card, the Ground truth tab and the tests alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.claims.memory_sets import set_claim
from flipcore.claims.memory_truth import KnownDose, Record
from flipcore.core.study import RANDOM_CONTROL
from flipcore.stats.base.estimate import MIN_N, p_text
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.ground_truth import GroundTruth, share_text

CLEAN_SET = 40  # never-seen items in one set that could be accused


def record(name: str, never: np.ndarray, fresh: np.ndarray, by_dose: Mapping[int, np.ndarray]) -> Record:
    """The set's decision for one detector: the items of each dose, and sets of `CLEAN_SET` fresh items, against the `never` seen.
    Scores are large where memory is suspected; NaN leaves. The controls are a random split of what was made alike."""
    at = []
    for dose, scores in sorted(by_dose.items()):
        claim, test = _decided(scores, never)
        at.append(KnownDose(name, dose, test.n, test.p, claim.is_made))
    fresh = fresh[~np.isnan(fresh)]
    parts = [fresh[start : start + CLEAN_SET] for start in range(0, len(fresh), CLEAN_SET)]
    clean = [part for part in parts if len(part) >= MIN_N]
    return Record(name, tuple(at), len(clean), sum(_decided(part, never)[0].is_made for part in clean))


def _decided(scores: np.ndarray, never: np.ndarray):
    test = set_test(scores, never)
    return set_claim(test, control=RANDOM_CONTROL), test


def record_rows(records: Sequence[Record]) -> list[dict[str, str]]:
    """One row a detector: its decision at each dose with p, and the sets of never-seen items that it accuses."""
    return [
        {
            "detector": one.detector,
            **{f"{at.dose:,}×": f"{'memory' if at.is_claimed else 'none shown'} ({p_text(at.p)}, n = {at.n})" for at in one.at},
            "never-seen sets accused": f"{one.n_accused} of {one.n_clean}",
        }
        for one in records
    ]


def detector_rows(truth: GroundTruth) -> list[dict]:
    """One row a detector: what it flags at each dose, and wrongly."""
    return [
        {
            "detector": one.name,
            "sees from": "–" if one.sees is None else f"{one.sees:,}×",
            "a group from": "–" if one.shifts is None else f"{one.shifts:,}×",
            "false positives": share_text(one.false_positives),
            **{f"flagged at {at.dose:,}×": share_text(at.detected) for at in one.at},
            "never seen": len(one.never),
            "fresh": one.false_positives.n,
        }
        for one in truth.detectors
    ]
