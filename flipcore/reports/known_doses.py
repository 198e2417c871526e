"""The product's own decision where the truth is known: how often it says memory of items that were read, and of items that never
were. For the model card, the Ground truth tab and the tests alike."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from flipcore.claims.memory_gap import GAP_WITHIN, gap_claim
from flipcore.claims.memory_score import score_claim
from flipcore.claims.memory_sets import set_claim
from flipcore.claims.memory_truth import KnownDose, Record
from flipcore.core.paths import POCKET
from flipcore.core.study import RANDOM_CONTROL
from flipcore.stats.base.estimate import MIN_N, p_text
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import Sides, gap_decision
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.published_score import score_gap
from flipcore.stats.memory.rewritten import Rewritten

SCORE = "published score"  # how the name of one begins
CLEAN_SET = 40  # never-seen items in one set that could be accused
Tested = Callable[[np.ndarray, np.ndarray], SetTest]
DROP = "drop"  # how the name of a drop gap begins


def record(
    name: str, never: np.ndarray, fresh: np.ndarray, by_dose: Mapping[int, np.ndarray], tested: Tested = set_test
) -> Record:
    """The decision for one detector: the items of each dose, and sets of `CLEAN_SET` fresh items, against the `never` seen.
    Scores are large where memory is suspected; NaN leaves. Those of a drop gap, by name, are drops and decided as a gap, those of a
    published score are right or wrong; all others are decided as a set, by the detector's own test (`tested`). The controls are a random
    split of what was made alike."""
    decide = decision(name, tested)
    at = []
    for dose, scores in sorted(by_dose.items()):
        is_claimed, p = decide(scores, never)
        at.append(KnownDose(name, dose, int((~np.isnan(scores)).sum()), p, is_claimed))
    fresh = fresh[~np.isnan(fresh)]
    parts = [fresh[start : start + CLEAN_SET] for start in range(0, len(fresh), CLEAN_SET)]
    clean = [part for part in parts if len(part) >= MIN_N]
    return Record(name, tuple(at), len(clean), sum(decide(part, never)[0] for part in clean))


def decision(name: str, tested: Tested = set_test) -> Callable[[np.ndarray, np.ndarray], tuple[bool, float]]:
    """How a detector of this name decides on (scores, scores of never-seen items): (whether it says memory, p before Holm)."""
    if name.lower().startswith(DROP):
        return gap_decided
    return score_decided if name.lower().startswith(SCORE) else partial(set_decided, tested=tested)


def score_decided(right: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """Of published answers, 1 where right and 0 where wrong."""
    score = score_gap(right, never, RANDOM_CONTROL)
    return score_claim(score).is_made, score.p


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


N_IN_SET, N_CONTROLS, N_SETS = 20, 75, 400  # of what `against_doses` draws

AGAINST_DOSES = (
    f"AUC against dose 0 with its 95 % interval, then power: the share of {N_SETS} sets of {N_IN_SET} items of the dose that are called "
    f"memory against {N_CONTROLS} of dose 0, both drawn anew each time (seed 0). Never read: the same share of sets that no training held, "
    "with its 95 % interval; .05 is promised, .025 for drops and scores. “Published answer to new numbers” and CoDeC were tried and are "
    "not shipped. The hardness curve asks for the answers of five other models or more; it was tried on one set of problems a dose (the "
    "card, measured once), so it has no row and makes no verdict. Made by python -m tests.lab.pocket decisions."
)


def shipped_rows(path: Path = POCKET / "doses.json") -> list[dict[str, str]]:
    """The table of all detectors on the shipped pocket model, as `python -m tests.lab.pocket decisions` left it; empty without one."""
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []


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
