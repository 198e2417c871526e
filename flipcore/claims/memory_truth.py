"""Claims about detectors on known doses, that is on items read a known number of times."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.memory.ground_truth import Detector, DoseResult, GroundTruth, share_text
from flipcore.text.counts import in_a_row, with_capital

SEES = Assertion(
    "sees from dose",
    "from this dose on the detector flags more items than it flags of never-seen ones",
    error_rate=0.025,
    sides=1,
    family="each detector, largest dose first",
    worlds=("nothing seen at any dose",),
)
SHIFTS = Assertion(
    "tells a group from dose",
    "from this dose on the group's mean score lies above that of the never-seen items",
    error_rate=0.025,
    sides=1,
    family="each detector, largest dose first",
    worlds=("nothing seen at any dose",),
)


def detector_claim(detector: Detector) -> Claim:
    """Say the smallest dose from which one detector sees memory, of items or of groups."""
    if detector.cutoff is None:
        claim = Claim(SEES, "no claim", f"{detector.name}: no cut-off.")
        return claim.not_claimed(
            f"{detector.name} has {len(detector.never_seen):,} never-seen items, too few to set a "
            "cut-off."
        )
    # Seeing single items is more than seeing a group, so it comes first.
    if detector.items_from is not None:
        share = share_text(_smallest_found(detector).detected)
        sentence = (
            f"{detector.name} finds single items that were read {_times(detector.items_from)} or "
            f"more ({share} of them)."
        )
        return Claim(SEES, "sees", sentence, asserted=True)
    if detector.groups_from is not None:
        smallest = next(dose for dose in detector.doses if dose.dose == detector.groups_from)
        above = smallest.above.text()
        sentence = (
            f"{detector.name} finds no single item, but groups of items that were read "
            f"{_times(detector.groups_from)} or more (mean {above} above never-seen)."
        )
        return Claim(SHIFTS, "group", sentence, asserted=True)
    return Claim(
        SEES, "none shown", f"{detector.name} shows nothing, however often items were read."
    )


def best_detector(truth: GroundTruth) -> Detector | None:
    """Return the detector that flags single items from the smallest dose on; None if none does.

    Of several, return the one with the highest AUC at that dose.
    """
    finding = [detector for detector in truth.detectors if detector.items_from is not None]
    # Of two equal detectors `min` returns the first one.
    return min(
        finding,
        key=lambda detector: (detector.items_from, -_smallest_found(detector).auc.value),
        default=None,
    )


def _smallest_found(detector: Detector) -> DoseResult:
    """Return the result at the smallest dose from which the detector finds single items."""
    return next(dose for dose in detector.doses if dose.dose == detector.items_from)


def truth_claim(truth: GroundTruth) -> Claim:
    """Return the headline of all detectors, with the smallest dose of each in the detail."""
    if not any(detector.cutoff is not None for detector in truth.detectors):
        return description(
            "Not enough never-seen items to set any cut-off; nothing can be said of any detector.",
            "no claim",
        )
    claims = [detector_claim(detector) for detector in truth.detectors]
    seeing_items, seeing_groups, blind = [], [], []
    for detector, claim in zip(truth.detectors, claims, strict=True):
        if claim.outcome == "sees":
            seeing_items.append((detector.items_from, detector.name))
        elif claim.outcome == "group":
            seeing_groups.append((detector.groups_from, detector.name))
        elif claim.outcome == "none shown":
            blind.append(detector.name)
    single, groups = _dose_words(seeing_items), _dose_words(seeing_groups)
    parts = [f"At {100 * truth.rate:g}% false positives."]
    parts += [f"Single items are found {'; '.join(single)}."] if single else []
    parts += [f"Only whole groups are found {'; '.join(groups)}."] if groups else []
    parts += [f"Nothing is shown by {_names(blind)}."] if blind and (single or groups) else []
    outcome = "group" if groups else "none shown"
    if single:
        outcome = "sees"
    sentence = _first_sentence(truth, [claim.outcome for claim in claims])
    return Claim(
        SEES if single else SHIFTS,
        outcome,
        sentence,
        asserted=bool(single or groups),
        detail=" ".join(parts),
    )


def _first_sentence(truth: GroundTruth, outcomes: Sequence[str]) -> str:
    """Name the best detector and count those that find single items, else those for groups."""
    if best := best_detector(truth):
        share = _smallest_found(best).detected
        n_finding = f"{outcomes.count('sees')} of {len(outcomes)} detectors"
        return (
            f"{with_capital(best.name)} finds single items that were read "
            f"{_times(best.items_from)} or more ({share_text(share)} of them); {n_finding} find "
            "any."
        )
    n_groups = outcomes.count("group")
    group_words = ""
    if n_groups:
        group_words = f"; {n_groups} of {len(outcomes)} tell whole groups from never-seen items"
    return f"No detector shows memory of a single item{group_words}."


def _dose_words(pairs: Sequence[tuple[int | None, str]]) -> list[str]:
    """Return "by losses and min-k if read 8 times or more" per dose, of (dose, detector) pairs."""
    names_by_dose: dict[int, list[str]] = {}
    for dose, name in pairs:
        if dose is not None:
            names_by_dose.setdefault(dose, []).append(name)
    return [
        f"by {_names(names)} if read {_times(dose)} or more"
        for dose, names in sorted(names_by_dose.items())
    ]


def _times(dose: int | None) -> str:
    return "once" if dose == 1 else f"{dose:,} times"


def _names(detectors: Sequence[str]) -> str:
    """Return a list of detectors as text, with what follows a comma in a name in brackets."""
    # Otherwise "drop gap, names changed and drop gap, paraphrased" would read as four items.
    return in_a_row([re.sub(r", (.*)", r" (\1)", name) for name in detectors])


@dataclass(frozen=True)
class KnownDose:
    """The decision of one detector on `n` items of one dose; `p` is not corrected."""

    detector: str
    dose: int
    n: int
    p: float
    is_claimed: bool


@dataclass(frozen=True)
class Record:
    """Decisions of one detector on items whose dose is known, one decision per dose.

    `n_accused` of `n_clean` sets of never-seen items were called memory, falsely.
    """

    detector: str
    decisions: tuple[KnownDose, ...]
    n_clean: int
    n_accused: int

    @property
    def hits(self) -> int:
        return sum(known_dose.is_claimed for known_dose in self.decisions)


def record_claim(records: Sequence[Record]) -> Claim:
    """Count hits and false accusations over all records, as a description."""
    hits = sum(record.hits for record in records)
    n_read = sum(len(record.decisions) for record in records)
    n_accused = sum(record.n_accused for record in records)
    n_clean = sum(record.n_clean for record in records)
    return description(
        f"The decisions accuse {hits} of {n_read} sets that were read, and {n_accused} of "
        f"{n_clean} sets that never were.",
        hits=hits,
        known=n_read,
        wrong=n_accused,
        clean=n_clean,
    )
