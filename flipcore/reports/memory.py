"""Every memorization test of a study and its verdict: one family, for page, card, command line and
export alike."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flipcore.axes.bit_flip import AXES, BitFlip
from flipcore.claims.claim import Claim, description
from flipcore.claims.memory import Witness, adjusted, after_rl, n_tests, summary_claim
from flipcore.claims.memory_curve import curve_claim
from flipcore.claims.memory_gap import GAP_WITHIN, MARGIN, gap_claim
from flipcore.claims.memory_score import SCORE_HIGHER, score_claim
from flipcore.claims.memory_sets import at_least_claim, named_claim, set_claim
from flipcore.claims.memory_truth import KnownDose, Record
from flipcore.core.errors import BadInput
from flipcore.core.paths import POCKET
from flipcore.core.records import BASE, IDENTITY, WRITTEN_ANSWER
from flipcore.core.study import DETECTORS as SHIPPED
from flipcore.core.study import OTHER_CONTROL, RANDOM_CONTROL, Study
from flipcore.detectors import (
    DETECTORS,
    Detector,
    DropGap,
    Pearl,
    detectors,
    detectors_in,
    measure_of,
    origin_of,
)
from flipcore.detectors.detector import Evidence
from flipcore.detectors.losses import Loss
from flipcore.models import model_cards
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision, Sides, gap_decision
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.hardness_curve import Excess
from flipcore.stats.memory.loss_test import FEWEST_CONTROLS
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.members import Members, members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.published_score import ScoreGap, score_gap
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.text.dates import span

OUTSIDE = (
    "the study does not declare this detector, so it stands outside the family over which the error"
    " rate holds. A study that names it under detectors, beside the others, counts it."
)
LACKING = (
    "The study declares the detector {name}, and no package here offers it; the others are"
    " corrected for it all the same."
)
REWRITING = "numeric_resample"  # where to look first for a break
SHOWN_DETAILS = 1  # of a test's further claims, in the text of the command line
_TASKS = {axis.name: axis.task for axis in AXES}
NAMES = {
    "number": "problems",
    "choice": "choices",
    "text": "open questions",
    "completion": "passages",
    "code": "functions",
}


_HANDED_OVER = tuple(part.name for part in fields(Evidence))


@dataclass(frozen=True, eq=False)
class Measurement:
    """One detector on the items of one `kind`: a drop gap, a published score or a test of the set,
    or the `problem` that kept it from any. `detector` is its title, `name` that of the plug-in,
    `reads` its kind of evidence; `axis` and `measure` are what it was read from; `numbers` are
    Estimates and counts by name. `withheld` says why nothing is claimed of the set although it was
    tested, `cut` what cut answers mean for it. `is_outside`: the study does not declare the
    detector; `is_lacking`: it does, and the detector is not installed here."""

    kind: str
    detector: str
    axis: str
    measure: str
    gap: GapDecision | None = None
    score: ScoreGap | None = None
    curve: Excess | None = None
    set_test: SetTest | None = None
    templated: bool = False
    n_named: int = 0
    problem: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    names_items: bool = False
    withheld: str = ""
    cut: str = ""
    is_outside: bool = False
    is_lacking: bool = False
    reads: str = ""

    def of(self, evidence: Evidence | None) -> "Measurement":
        """The same with what its detector hands over."""
        if evidence is None:
            return self
        return replace(self, **{name: getattr(evidence, name) for name in _HANDED_OVER})


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = BitFlip.name) -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    levels = tuple(float(x) for x in axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))
    return Setting(
        model,
        _TASKS[axis_name],
        metric,
        params.get("compressor", "xz"),
        levels,
        int(axis.get("n_samples", 10)),
    )


def settings_of(detector: Detector, study: Study, model: str) -> dict[str, Any]:
    """What a detector's analysis needs to know of the study's declaration."""
    return (
        {"setting": pearl_setting(study, model, detector.measure, detector.axis)}
        if isinstance(detector, Pearl)
        else {}
    )


def detector_measurements(
    frame: pd.DataFrame, members: Members, declared: Collection[str] = SHIPPED
) -> list[Measurement]:
    """Every detector on every kind of item that is compared, in the house's order; what was not
    asked is left out. `declared` is the family of the study."""
    measurements: list[Measurement] = []
    lacking = [name for name in declared if name not in {one.name for one in detectors()}]
    for kind in kinds_in(frame):
        part = frame[frame["kind"] == kind]
        item_roles, control_roles = frames.roles_of(part)
        if item_roles and control_roles:
            measurements += _of_kind(kind, part, item_roles, control_roles, members, declared)
            for name in lacking:
                problem = LACKING.format(name=name)
                measurements.append(
                    Measurement(
                        kind, name, axis="", measure="", problem=problem, name=name, is_lacking=True
                    )
                )
    return measurements


def kinds_in(frame: pd.DataFrame) -> list[str]:
    """What is compared as one set each (`frames.compared_sets`): kinds of items in the house's
    order, or tasks in the recording's."""
    there = list(dict.fromkeys(frame["kind"]))
    return [
        *(kind for kind in NAMES if kind in there),
        *(kind for kind in there if kind not in NAMES),
    ]


def _of_kind(
    kind: str,
    frame: pd.DataFrame,
    item_roles: list[str],
    control_roles: list[str],
    members: Members,
    declared: Collection[str],
) -> Iterator[Measurement]:
    for detector in detectors_in(frame):
        try:
            evidence, problem = detector.evidence(frame, item_roles, control_roles, members), ""
        except BadInput as error:
            evidence, problem = None, str(error)
        except Exception as error:  # the detector of a package may raise anything
            evidence, problem = None, DETECTORS.failure(detector.name, error)
        if evidence is None and not problem:
            continue  # these items were not asked for it at all
        yield Measurement(
            kind,
            detector.title,
            detector.axis,
            measure_of(detector, frame),
            problem=problem,
            name=detector.name,
            is_outside=detector.name not in declared,
            reads=detector.reads or detector.title,
        ).of(evidence)


@dataclass(frozen=True, eq=False)
class MemoryTest:
    """One detector on the items of one kind: its verdict, what more may be said, and its numbers.
    `adjusted` is its p after Holm over the family of `n_family`; NaN where there is none. `score`
    is the published score of the same items, beside which a drop gap is read."""

    items: str
    detector: str
    claim: Claim
    further: tuple[Claim, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    measurement: Measurement | None = None
    n_family: int = 1
    score: ScoreGap | None = None

    @property
    def decision(self) -> str:
        """The verdict as a word: "memory", "none shown", ..., or "not claimed"."""
        return self.claim.word

    @property
    def effect(self) -> Estimate:
        """How far the items differ from their controls: a gap, or the share of a set beyond the
        controls' mark down to its one-sided 95% lower limit; missing where nothing was tested."""
        one = self.measurement
        decided = (one.gap or one.score) if one else None
        if decided:
            return decided.gap
        test = one.set_test if one else None
        if test is None or not test.n:
            return missing()
        share = test.n_beyond / test.n
        return Estimate(share, min(share, test.share_least), share, 0.95, "one-sided", test.n, None)

    @property
    def is_share(self) -> bool:
        """Whether `effect` is the share of a set beyond the controls' mark, and no gap."""
        found = self.measurement
        return bool(
            found and not (found.gap or found.score) and found.set_test and found.set_test.n
        )

    @property
    def chance(self) -> float:
        """Where the effect would lie had nothing been memorized."""
        test = self.measurement.set_test if self.measurement else None
        return test.chance / test.n if test and test.n else 0.0

    @property
    def sentence(self) -> str:
        """The verdict and what more is claimed, as text."""
        more = [one.text for one in self.further[:SHOWN_DETAILS] if one.is_made]
        return " ".join([self.claim.text, *more])

    def rows(self, model: str) -> Iterator[Row]:
        """Its estimates; a test without any has a row of what is missing, with its verdict and
        n."""
        place = {
            "model": model,
            "items": self.items,
            "detector": self.detector,
            "decision": self.decision,
        }
        p = {name: self.numbers.get(name, math.nan) for name in ("p", "p_adjusted")}
        estimates = {name: one for name, one in self.numbers.items() if isinstance(one, Estimate)}
        of_set = {
            "test of the set": missing(
                int(self.numbers.get("n", 0)), note="A test of the whole set."
            )
        }
        for name, one in (estimates or of_set).items():
            where = f"{self.items}, {self.detector}"
            yield Row(model, where, name, one, self.claim, place, p=p, is_repeated=not estimates)

    def as_dict(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "detector": self.detector,
            "name": self.measurement.name if self.measurement else "",
            "origin": str(origin_of(self.measurement.name)) if self.measurement else "",
            "decision": self.decision,
            "sentence": self.sentence,
            "detail": self.claim.detail,
            "asserted": self.claim.is_made,
        } | {name: plain(value) for name, value in self.numbers.items()}


def members_of(
    study: Study | None, items: pd.DataFrame | None, pairs: Pairs | None = None, model: str = ""
) -> Members:
    """What a study's own declaration and items say of its controls, and which of them are newer
    than the model's training."""
    control = study.control if study else OTHER_CONTROL
    declared = study is not None and study.unpublished_control
    if items is None:
        return Members(control, is_unpublished=declared)
    card = model_cards().get(model)
    newer = newer_items(items, card.cutoff) if card and card.cutoff else ()
    unread = _unread_by_pocket(items) if card and card.backend == _POCKET else frozenset()
    return replace(members(items, control, pairs, newer), unread=unread, is_unpublished=declared)


_POCKET = "pocket"  # the kind of the pocket model, and how the names of its own data sets begin


def _unread_by_pocket(items: pd.DataFrame) -> frozenset[str]:
    """Items of the pocket model's own data sets that its training, which is known, did not hold."""
    unread = set()
    for item_id, meta in zip(items["item_id"], items["meta"], strict=True):
        known = json.loads(meta) if isinstance(meta, str) and meta else meta
        is_own = str(item_id).startswith(f"{_POCKET}_") and isinstance(known, Mapping)
        if is_own and known.get("dose") == 0:
            unread.add(str(item_id))
    return frozenset(unread)


def memory_tests(
    frame: pd.DataFrame,
    study: Study,
    items: pd.DataFrame | None = None,
    closed_gates: Mapping[str, str] | None = None,
    pairs: Pairs | None = None,
) -> dict[str, list[MemoryTest]]:
    """Of every model of `frame`, everything that the models answered (`queries.readouts(...,
    everything=True)`). `items` are the study's, `closed_gates` gates that are closed
    (`gates.reasons`), `pairs` those stored of its items. A model's list is empty where nothing is
    compared."""
    frame = frames.compared_sets(frames.with_reference(frame, study), study)
    by_model = {
        str(model): detector_measurements(
            part, members_of(study, items, pairs, str(model)), study.detectors
        )
        for model, part in frame.groupby("model", sort=False)
    }
    return family_tests(by_model, study.control, closed_gates or {}, MARGIN)


def family_tests(
    by_model: Mapping[str, Sequence[Measurement]],
    control: str,
    closed_gates: Mapping[str, str],
    margin: float = MARGIN,
) -> dict[str, list[MemoryTest]]:
    """All declared detectors of all models as one family by Holm: whoever looks at one model could
    have looked at another. A closed gate withholds its claims and leaves the family as it is. A
    detector that is not installed here is a member all the same, with the p that costs the others
    most."""
    one_sided: dict[tuple[str, int], float] = {}
    sets: dict[tuple[str, int], float] = {}
    for model, measurements in by_model.items():
        for i, measurement in enumerate(measurements):
            if measurement.is_outside:
                continue
            if measurement.gap is not None or measurement.score is not None:
                one_sided[model, i] = _one_sided_p(measurement)
            if measurement.set_test is not None or measurement.is_lacking:
                sets[model, i] = _set_p(measurement)
    doubled, single = adjusted(list(one_sided.values()), list(sets.values()))
    p_of = dict(zip([*one_sided, *sets], [*doubled, *single], strict=True))
    n_family = n_tests(list(p_of.values()))
    tests: dict[str, list[MemoryTest]] = {}
    cards = model_cards()
    for model, measurements in by_model.items():
        scores = {
            measurement.kind: measurement.score
            for measurement in measurements
            if measurement.score is not None
        }
        is_after_rl = model in cards and cards[model].after_rl
        tests[model] = []
        for i, measurement in enumerate(measurements):
            p, score = p_of.get((model, i), math.nan), scores.get(measurement.kind)
            test = _test(measurement, score, control, p, n_family, closed_gates, margin)
            if is_after_rl and measurement.reads == Loss.reads:
                test = replace(test, claim=after_rl(test.claim))
            tests[model].append(test)
    return tests


def moved_p(family: Mapping[str, Sequence[MemoryTest]], moved: MemoryTest, p: float) -> float:
    """Holm's p, over the same `family`, of a detector whose cut-off was moved: `p` is that of the
    largest excess over all of its cut-offs, and takes the place of its own."""
    gaps, sets = [], []
    for test in chain.from_iterable(family.values()):
        measurement = test.measurement
        if measurement is None or measurement.is_outside:
            continue
        if measurement.gap or measurement.score:
            gaps.append(_one_sided_p(measurement))
        if measurement is not moved.measurement:
            sets.append(_set_p(measurement))
    return adjusted(gaps, [p, *sets])[1][0]


def with_gap(
    measurements: Sequence[Measurement], kind: str, operator: str, gap: GapDecision
) -> list[Measurement]:
    """The family with one drop gap read by another extractor; it comes first."""
    mine = [
        one
        for one in measurements
        if one.kind == kind and one.gap is not None and one.axis == operator
    ]
    first = (
        replace(mine[0], gap=gap)
        if mine
        else Measurement(kind, f"drop gap, {operator}", operator, "", gap, reads=DropGap.reads)
    )
    return [first, *(one for one in measurements if one not in mine)]


def _one_sided_p(one: Measurement) -> float:
    """Of a drop gap or a published score, which are claimed at .025."""
    decided = one.gap or one.score
    return math.nan if decided is None or decided.withheld else decided.p


def _set_p(one: Measurement) -> float:
    """NaN where no claim could be made of the set, so that it is no member of the family."""
    if one.is_lacking:
        return 1.0
    return (
        math.nan
        if one.set_test is None or set_claim(one.set_test, templated=one.templated).withheld
        else one.set_test.p
    )


def _test(
    one: Measurement,
    score: ScoreGap | None,
    control: str,
    p: float,
    n_family: int,
    closed_gates: Mapping[str, str],
    margin: float,
) -> MemoryTest:
    items, why = (
        NAMES.get(one.kind, one.kind),
        (OUTSIDE if one.is_outside else closed_gates.get(one.axis, "")),
    )
    p_value = None if math.isnan(p) else p
    claim = gap_claim(one.gap, margin, p_value, n_family, score) if one.gap else None
    claim = score_claim(one.score, p_value, n_family) if one.score else claim
    if claim:
        numbers = {**one.numbers, "p": _one_sided_p(one), "p_adjusted": p}
        return MemoryTest(
            items, one.detector, claim.not_claimed(why), (), numbers, one, n_family, score
        )
    if one.curve:
        numbers = {**one.numbers, "p": one.curve.p}
        return MemoryTest(
            items, one.detector, curve_claim(one.curve).not_claimed(why), (), numbers, one, n_family
        )
    if one.set_test is None:
        claim = description(one.problem, "not computed").not_claimed(one.problem)
        return MemoryTest(items, one.detector, claim, (), one.numbers, one, n_family)
    claim = (
        set_claim(one.set_test, items, control, p_value, n_family, one.templated)
        .not_claimed(one.withheld)
        .not_claimed(why)
    )
    claim = replace(claim, detail=" ".join(filter(None, (claim.detail, one.cut))))
    least = at_least_claim(one.set_test, claim, items)
    further = (least, *([named_claim(one.n_named, claim, items)] if one.names_items else []))
    test = one.set_test
    numbers = dict(one.numbers) | {
        "p": test.p,
        "p_adjusted": p,
        "n_beyond": test.n_beyond,
        "k": test.k,
        "by_chance": test.chance,
        "share_at_least": test.share_least,
    }
    return MemoryTest(items, one.detector, claim, further, numbers, one, n_family)


def why_no_test(frame: pd.DataFrame) -> str:
    """Why a study has no test of memory, and what it needs."""
    if frame.empty:
        return "No detector was run: no answer has come back yet."
    item_roles, control_roles = frames.roles_of(frame)
    for roles, what in (
        (item_roles, "benchmark or target"),
        (control_roles, "control, non_member or retro"),
    ):
        if not roles:
            return (
                f"No detector was run: no item has the role {what}. Declare items with it, or give"
                " a column of roles when importing."
            )
    return _no_rewriting(frame) or (
        "No detector was run: declare a rewriting axis, losses, question completion or flipped"
        " bits, or a control that is a random split of the benchmark."
    )


def _no_rewriting(frame: pd.DataFrame) -> str:
    """What a log lacks whose items have roles: the name of its rewriting, or the published wording
    beside it; "" for neither."""
    rewritings = [one.axis for one in detectors() if isinstance(one, DropGap)]
    is_base = frame["variant"] == BASE
    changes = [axis for axis in frame["axis"][~is_base].unique() if axis and axis != IDENTITY]
    bases = [
        axis
        for axis in frame["axis"][is_base].unique()
        if axis not in (*changes, *rewritings, IDENTITY)
    ]
    words = (
        []
        if set(changes) & set(rewritings)
        else [f"axis:{axis}=paraphrase" for axis in changes[:1]]
    )
    words += [f"axis:{axis}=identity" for axis in bases[:1]]
    if not changes or not words:
        return ""
    return (
        "No detector was run: a rewriting is compared with the published wording. The study's"
        f" changes are {', '.join(changes)}; the rewritings that detectors compare are"
        f" {', '.join(rewritings)}. Say when importing which is which, for example --map"
        f" {' '.join(words)}, and what the controls are: control=random, paired or other."
    )


def summary(tests: Sequence[MemoryTest], frame: pd.DataFrame) -> Claim:
    """The line above the table: which kinds of evidence see memory, in how many benchmark items of
    which of the `compared_sets`. A set that no detector was run on, for want of controls, is named
    apart: nothing was looked for there. Where every test is withheld, so is the line."""
    item_roles, control_roles = frames.roles_of(frame)
    n = frame[frame["role"].isin(item_roles)].groupby("kind")["item_id"].nunique()
    sets = {
        NAMES.get(kind, kind): f"{n[kind]:,} {NAMES.get(kind, f'items of {kind}')}"
        for kind in kinds_in(frame)
        if kind in n.index
    }
    mine = [
        one
        for one in tests
        if one.items in sets and not (one.measurement and one.measurement.is_outside)
    ]
    witnesses = [
        Witness(one.items, one.measurement.reads if one.measurement else one.detector, one.claim)
        for one in mine
    ]
    of_memory = [one for one in mine if one.claim.assertion is not SCORE_HIGHER]
    tested = {one.items for one in mine} or set(sets)
    claim = summary_claim(
        witnesses,
        {name: size for name, size in sets.items() if name in tested},
        frame[frame["role"].isin(control_roles)]["item_id"].nunique(),
    )
    # nothing was tested, so nothing is absent
    if claim.outcome == "none shown" and all(one.claim.withheld for one in of_memory):
        here = " and ".join(size for name, size in sets.items() if name in tested)
        why = of_memory[0].claim.withheld
        claim = claim.not_claimed(
            f"memory in the {here} cannot be judged yet. {why[:1].upper()}{why[1:]}"
        )
    rest = " and ".join(size for name, size in sets.items() if name not in tested)
    return (
        replace(claim, detail=f"{claim.detail} No detector was run on the {rest}.")
        if rest
        else claim
    )


def memory_headline(
    frame: pd.DataFrame,
    study: Study,
    items: pd.DataFrame | None = None,
    closed_gates: Mapping[str, str] | None = None,
    pairs: Pairs | None = None,
) -> Claim | None:
    """Of the first model: the summary over all its detectors; None where nothing is compared
    yet."""
    if frame.empty:
        return None
    model = str(frame["model"].iloc[0])
    tests = memory_tests(frame, study, items, closed_gates, pairs)[model]
    return (
        summary(tests, frames.compared_sets(frame[frame["model"] == model], study))
        if tests
        else None
    )


def break_to_open(frame: pd.DataFrame) -> dict[str, str] | None:
    """{item, axis, readout} of a judged item that is answered right as published and wrong with
    other numbers; None without."""
    frame = (
        frame[(frame["extractor"] == WRITTEN_ANSWER) & (frame["model"] == frame["model"].iloc[0])]
        if len(frame)
        else frame
    )
    if frame.empty or REWRITING not in set(frame["axis"].unique()):
        return None
    rows = frames.drop_rows(
        frames.rewritten(frame, REWRITING, WRITTEN_ANSWER, frames.roles_of(frame)[0])
    )
    breaks = rows[(rows["before"] == 1) & np.isfinite(rows["drop"]) & (rows["drop"] > 0)]
    return (
        {"item": breaks["item_id"].iloc[0], "axis": REWRITING, "readout": WRITTEN_ANSWER}
        if len(breaks)
        else None
    )


def newer_items(items: pd.DataFrame, cutoff: str) -> frozenset[str]:
    """The items published after all of a training cut-off (ISO: a year, a month or a day). `items`
    has item_id and published."""
    end, published = (
        span("training cut-off", cutoff)[1],
        pd.to_datetime(items["published"], errors="coerce"),
    )
    return frozenset(items["item_id"][[not pd.isna(day) and day.date() > end for day in published]])


def fresh_control_warning(
    items: pd.DataFrame, control_ids: Collection[str], doses: Mapping[str, int], cutoff: str | None
) -> str:
    """ "" where at least `FEWEST_CONTROLS` of the controls are known to be unseen: published after
    the model's training cut-off, or of dose 0 by their own data. Else the warning: on a real model
    fresh problems showed the same gap between published wording and paraphrase as GSM8K, so without
    them wording passes for memory.

    `items` has item_id and published; `cutoff` is the model's, ISO, or None."""
    newer = newer_items(items, cutoff) if cutoff else ()
    n = sum(item_id in newer or doses.get(item_id) == 0 for item_id in control_ids)
    if n >= FEWEST_CONTROLS:
        return ""
    return (
        f"No fresh control: {n:,} of {len(control_ids):,} controls are known to be newer than the"
        f" model's training; {FEWEST_CONTROLS} are needed. A paraphrase can cost a model as much on"
        " problems that were never published. Add such problems as controls, each with its"
        " publication date, and the model's training cut-off in data/models.toml."
    )


# The product's own decision where the truth is known: how often it says memory of items that were
# read, and of items that never were. For the model card, the Ground truth tab and the tests alike.

SCORE = "published score"  # how the name of one begins
CLEAN_SET = 40  # never-seen items in one set that could be accused
Tested = Callable[[np.ndarray, np.ndarray], SetTest]
DROP = "drop"  # how the name of a drop gap begins


def record(
    name: str,
    never: np.ndarray,
    fresh: np.ndarray,
    by_dose: Mapping[int, np.ndarray],
    tested: Tested = set_test,
) -> Record:
    """The decision for one detector: the items of each dose, and sets of `CLEAN_SET` fresh items,
    against the `never` seen. Scores are large where memory is suspected; NaN leaves. Those of a
    drop gap, by name, are drops and decided as a gap, those of a published score are right or
    wrong; all others are decided as a set, by the detector's own test (`tested`). The controls are
    a random split of what was made alike."""
    decide = decision(name, tested)
    at = []
    for dose, scores in sorted(by_dose.items()):
        is_claimed, p = decide(scores, never)
        at.append(KnownDose(name, dose, int((~np.isnan(scores)).sum()), p, is_claimed))
    fresh = fresh[~np.isnan(fresh)]
    parts = [fresh[start : start + CLEAN_SET] for start in range(0, len(fresh), CLEAN_SET)]
    clean = [part for part in parts if len(part) >= MIN_N]
    return Record(name, tuple(at), len(clean), sum(decide(part, never)[0] for part in clean))


def decision(
    name: str, tested: Tested = set_test
) -> Callable[[np.ndarray, np.ndarray], tuple[bool, float]]:
    """How a detector of this name decides on (scores, scores of never-seen items): (whether it says
    memory, p before Holm)."""
    if name.lower().startswith(DROP):
        return gap_decided
    return score_decided if name.lower().startswith(SCORE) else partial(set_decided, tested=tested)


def score_decided(right: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """Of published answers, 1 where right and 0 where wrong."""
    score = score_gap(right, never, RANDOM_CONTROL)
    return score_claim(score).is_made, score.p


def set_decided(
    scores: np.ndarray, never: np.ndarray, tested: Tested = set_test
) -> tuple[bool, float]:
    """Whether the set's verdict is memory, and its p before Holm."""
    test = tested(scores, never)
    return set_claim(test, control=RANDOM_CONTROL).is_made, test.p


def gap_decided(drops: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """The same of the drop gap, from the drop of every item."""
    decision = gap_decision(Sides(_rewritten("b", drops), _rewritten("c", never)), RANDOM_CONTROL)
    claim = gap_claim(decision)
    return claim.is_made and claim.assertion is not GAP_WITHIN, decision.p


def _rewritten(name: str, drops: np.ndarray) -> Rewritten:
    """Items with these drops; whether what stayed was right or wrong decides nothing against a
    random control."""
    there = drops[~np.isnan(drops)]
    before = (there >= 0) * 1.0
    return Rewritten.make([f"{name}{i}" for i in range(len(there))], before, before - there)


N_IN_SET, N_CONTROLS, N_SETS = 20, 75, 400  # of what `against_doses` draws

AGAINST_DOSES = (
    f"AUC against dose 0 with its 95% interval, then power: the share of {N_SETS} sets of"
    f" {N_IN_SET} items of the dose that are called memory against {N_CONTROLS} of dose 0, both"
    " drawn anew each time (seed 0). Never read: the same share of sets that no training held,"
    " with its 95% interval; .05 is promised, .025 for drops and scores. “Published answer to new"
    " numbers” and CoDeC were tried and are not shipped. The hardness curve asks for the answers"
    " of five other models or more; it was tried on one set of problems a dose (the card, measured"
    " once), so it has no row and makes no verdict. Made by python -m tests.lab.pocket decisions."
)


def shipped_rows(path: Path = POCKET / "doses.json") -> list[dict[str, str]]:
    """The table of all detectors on the shipped pocket model, as `python -m tests.lab.pocket
    decisions` left it; empty without one."""
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []


def record_rows(records: Sequence[Record]) -> list[dict[str, str]]:
    """One row a detector: its decision at each dose with p, and the sets of never-seen items that
    it accuses."""
    rows = []
    for record in records:
        row = {"detector": record.detector}
        for dose in record.at:
            verdict = "memory" if dose.is_claimed else "none shown"
            row[f"{dose.dose:,}×"] = f"{verdict} ({p_text(dose.p)}, n = {dose.n})"
        rows.append(row | {"never-seen sets accused": f"{record.n_accused} of {record.n_clean}"})
    return rows


def detector_rows(truth: GroundTruth) -> list[dict]:
    """One row a detector: what it flags at each dose, and wrongly."""
    rows = []
    for detector in truth.detectors:
        row = {
            "detector": detector.name,
            "sees from": "–" if detector.sees is None else f"{detector.sees:,}×",
            "a group from": "–" if detector.shifts is None else f"{detector.shifts:,}×",
            "false positives": share_text(detector.false_positives),
        }
        for dose in detector.at:
            row[f"flagged at {dose.dose:,}×"] = share_text(dose.detected)
        rows.append(row | {"never seen": len(detector.never), "fresh": detector.false_positives.n})
    return rows
