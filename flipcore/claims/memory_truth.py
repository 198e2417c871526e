"""What a detector sees where the truth is known: sentences about doses, and how often the product's own decision is right."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.memory.ground_truth import Detector, GroundTruth, share_text

SEES = Assertion(
    "sees from dose",
    "from this dose on the detector flags more items than it flags of never-seen ones",
    0.025,
    1,
    "each detector, largest dose first",
    ("nothing seen at any dose",),
)
SHIFTS = Assertion(
    "tells a group from dose",
    "from this dose on the group's mean score lies above that of the never-seen items",
    0.025,
    1,
    "each detector, largest dose first",
    ("nothing seen at any dose",),
)


def detector_claim(detector: Detector) -> Claim:
    """What one detector sees; its sentence names the dose from which on it does."""
    if detector.cutoff is None:
        claim = Claim(SEES, "no claim", f"{detector.name}: no cut-off.", False)
        return claim.not_claimed(
            f"{detector.name} has {len(detector.never):,} never-seen items, too few to set a "
            "cut-off."
        )
    by_dose = {one.dose: one for one in detector.doses}
    if detector.sees is not None:
        share = share_text(by_dose[detector.sees].detected)
        return Claim(
            SEES,
            "sees",
            f"{detector.name} sees memory from dose {detector.sees:,} on ({share} flagged there).",
            True,
        )
    if detector.shifts is not None:
        above = by_dose[detector.shifts].above.text()
        sentence = (
            f"{detector.name} tells no single item, but a group from dose {detector.shifts:,} on "
            f"(mean {above} above never-seen)."
        )
        return Claim(SHIFTS, "group", sentence, True)
    return Claim(SEES, "none shown", f"{detector.name}: nothing shown at any dose.", False)


def best_detector(truth: GroundTruth) -> Detector | None:
    """Of the detectors that flag single items the one that does so from the smallest dose on, and there tells best; None where
    none does."""
    seeing = [
        (one, at)
        for one in truth.detectors
        for at in one.doses
        if one.sees is not None and at.dose == one.sees
    ]
    return min(seeing, key=lambda pair: (pair[1].dose, -pair[1].auc.value))[0] if seeing else None


def truth_claim(truth: GroundTruth) -> Claim:
    """The first sentence of the tab: which detectors see how little, and which show nothing."""
    by_detector = [(one, detector_claim(one)) for one in truth.detectors]
    if not any(one.cutoff is not None for one in truth.detectors):
        return description(
            "Not enough never-seen items to set any cut-off; nothing can be said of any detector.",
            "no claim",
        )
    single = _by_dose(
        [(one.sees, one.name) for one, claim in by_detector if claim.outcome == "sees"]
    )
    groups = _by_dose(
        [(one.shifts, one.name) for one, claim in by_detector if claim.outcome == "group"]
    )
    blind = [one.name for one, claim in by_detector if claim.outcome == "none shown"]
    parts = [f"At {100 * truth.rate:g}% false positives."]
    parts += [f"Single items are seen by {'; by '.join(single)}."] if single else []
    parts += [f"Whole groups only by {'; by '.join(groups)}."] if groups else []
    parts += [f"Nothing is shown by {_listed(blind)}."] if blind and (single or groups) else []
    outcome = "sees" if single else "group" if groups else "none shown"
    sentence = _first_sentence(truth, [claim.outcome for _, claim in by_detector])
    return Claim(
        SEES if single else SHIFTS, outcome, sentence, bool(single or groups), " ".join(parts)
    )


def _first_sentence(truth: GroundTruth, outcomes: Sequence[str]) -> str:
    """How many detectors see what, and the best of them."""
    if best := best_detector(truth):
        share = next(at.detected for at in best.doses if at.dose == best.sees)
        n = f"{outcomes.count('sees')} of {len(outcomes)} detectors"
        name = f"{best.name[:1].upper()}{best.name[1:]}"
        return (
            f"{name} finds single items that were read {best.sees:,} times or more "
            f"({share_text(share)} flagged); {n} find any."
        )
    n_groups = outcomes.count("group")
    rest = (
        f"; {n_groups} of {len(outcomes)} tell whole groups from never-seen items"
        if n_groups
        else ""
    )
    return f"No detector shows memory of a single item{rest}."


def _by_dose(pairs: Sequence[tuple[int | None, str]]) -> list[str]:
    names: dict[int, list[str]] = {}
    for dose, name in pairs:
        if dose is not None:
            names.setdefault(dose, []).append(name)
    return [f"{_listed(mine)} from dose {dose:,} on" for dose, mine in sorted(names.items())]


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True)
class KnownDose:
    """The product's own decision on items of one dose: `p` (before any correction) and whether "memory" is claimed."""

    detector: str
    dose: int
    n: int
    p: float
    is_claimed: bool


@dataclass(frozen=True)
class Record:
    """Decisions of one detector where the truth is known: `at` each dose, and on `n_clean` sets of never-seen items, of which
    `n_accused` were called memory."""

    detector: str
    at: tuple[KnownDose, ...]
    n_clean: int
    n_accused: int

    @property
    def hits(self) -> int:
        return sum(one.is_claimed for one in self.at)


def record_claim(records: Sequence[Record]) -> Claim:
    """Hits and false accusations of every decision, counted and not inferred."""
    hits, n_sets = sum(one.hits for one in records), sum(len(one.at) for one in records)
    wrong, clean = sum(one.n_accused for one in records), sum(one.n_clean for one in records)
    return description(
        f"The decisions accuse {hits} of {n_sets} sets that were read, and {wrong} of {clean} "
        "sets that never were.",
        hits=hits,
        known=n_sets,
        wrong=wrong,
        clean=clean,
    )
