"""The product's own decision where the truth is known: how often it says memory of items that were read, and of items that never
were. For the model card, the Ground truth tab and the tests alike."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from flipcore.claims.memory_gap import GAP_WITHIN, gap_claim
from flipcore.claims.memory_sets import set_claim
from flipcore.claims.memory_truth import KnownDose, Record
from flipcore.core.study import RANDOM_CONTROL
from flipcore.stats.base.estimate import MIN_N, p_text
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import Sides, gap_decision
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.rewritten import Rewritten

CLEAN_SET = 40  # never-seen items in one set that could be accused
Tested = Callable[[np.ndarray, np.ndarray], SetTest]
DROP = "drop"  # how the name of a drop gap begins


def record(
    name: str, never: np.ndarray, fresh: np.ndarray, by_dose: Mapping[int, np.ndarray], tested: Tested = set_test
) -> Record:
    """The decision for one detector: the items of each dose, and sets of `CLEAN_SET` fresh items, against the `never` seen.
    Scores are large where memory is suspected; NaN leaves. Those of a drop gap, by name, are drops and decided as a gap; all
    others as a set, by the detector's own test (`tested`). The controls are a random split of what was made alike."""
    decide = gap_decided if name.lower().startswith(DROP) else partial(set_decided, tested=tested)
    at = []
    for dose, scores in sorted(by_dose.items()):
        is_claimed, p = decide(scores, never)
        at.append(KnownDose(name, dose, int((~np.isnan(scores)).sum()), p, is_claimed))
    fresh = fresh[~np.isnan(fresh)]
    parts = [fresh[start : start + CLEAN_SET] for start in range(0, len(fresh), CLEAN_SET)]
    clean = [part for part in parts if len(part) >= MIN_N]
    return Record(name, tuple(at), len(clean), sum(decide(part, never)[0] for part in clean))


def set_decided(scores: np.ndarray, never: np.ndarray, tested: Tested = set_test) -> tuple[bool, float]:
    """Whether the set's verdict is memory, and its p before Holm."""
    test = tested(scores, never)
    return set_claim(test, control=RANDOM_CONTROL).is_made, test.p


def gap_decided(drops: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """The same of the drop gap, from the drop of every item."""
    decision = gap_decision(Sides(_rewritten("b", drops), _rewritten("c", never)), RANDOM_CONTROL)
    claim = gap_claim(decision)
    return claim.is_made and claim.assertion is not GAP_WITHIN, decision.p


def _rewritten(name: str, drops: np.ndarray) -> Rewritten:
    """Items with these drops; whether what stayed was right or wrong decides nothing against a random control."""
    there = drops[~np.isnan(drops)]
    before = (there >= 0) * 1.0
    return Rewritten.make([f"{name}{i}" for i in range(len(there))], before, before - there)


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
