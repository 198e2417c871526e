"""Every memorization test of a study and its verdict: one family, for page, card, command line and
export alike."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flipcore.axes.bit_flip import AXES, BitFlip
from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import Colours, Figure
from flipcore.claims.claim import Claim, description
from flipcore.claims.memory import Witness, adjusted, after_rl, n_tests, summary_claim
from flipcore.claims.memory_gap import GAP_WITHIN, MARGIN, gap_claim
from flipcore.claims.memory_score import SCORE_HIGHER, curve_claim, score_claim
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
from flipcore.reports.answer import Answer, FigureOf, Question
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision, Sides, gap_decision
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.loss_test import FEWEST_CONTROLS
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.members import Members, members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.published_score import ScoreGap, score_gap
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.text.counts import with_capital
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
# The kinds of items, in the order in which they are shown.
NAMES = {
    "number": "problems",
    "choice": "choices",
    "text": "open questions",
    "completion": "passages",
    "code": "functions",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement(Evidence):
    """One detector's evidence on the items of one `kind`, or the `problem` that kept it from any.
    `detector` is its title, `name` that of the plug-in, `reads` its kind of evidence; `axis` and
    `measure` are what it was read from. `is_outside`: the study does not declare the detector;
    `is_lacking`: it does, and the detector is not installed here."""

    kind: str
    detector: str
    axis: str = ""
    measure: str = ""
    problem: str = ""
    name: str = ""
    is_outside: bool = False
    is_lacking: bool = False
    reads: str = ""


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = BitFlip.name) -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    return Setting(
        model,
        _TASKS[axis_name],
        metric,
        params.get("compressor", "xz"),
        tuple(map(float, axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))),
        int(axis.get("n_samples", 10)),
    )


def settings_of(detector: Detector, study: Study, model: str) -> dict[str, Any]:
    """The study's settings that a detector's analysis depends on."""
    if not isinstance(detector, Pearl):
        return {}
    return {"setting": pearl_setting(study, model, detector.measure, detector.axis)}


def detector_measurements(
    frame: pd.DataFrame, members: Members, declared: Collection[str] = SHIPPED
) -> list[Measurement]:
    """Measure with every detector on every kind of item that is compared, in the product's order;
    what was not asked is left out. `declared` is the family of the study."""
    measurements: list[Measurement] = []
    installed = {detector.name for detector in detectors()}
    lacking = [name for name in declared if name not in installed]
    for kind in kinds_in(frame):
        part = frame[frame["kind"] == kind]
        item_roles, control_roles = frames.roles_of(part)
        if item_roles and control_roles:
            measurements += _of_kind(kind, part, item_roles, control_roles, members, declared)
            # A declared detector that is not here stays in the family, so that the p-values of the
            # others do not depend on the machine that computes them.
            for name in lacking:
                problem = LACKING.format(name=name)
                measurements.append(
                    Measurement(
                        kind=kind, detector=name, name=name, problem=problem, is_lacking=True
                    )
                )
    return measurements


def kinds_in(frame: pd.DataFrame) -> list[str]:
    """The sets that are compared (`frames.compared_sets`): kinds of items in the product's order,
    or tasks in the recording's."""
    kinds = list(dict.fromkeys(frame["kind"]))
    shipped = [kind for kind in NAMES if kind in kinds]
    return [*shipped, *(kind for kind in kinds if kind not in NAMES)]


def _of_kind(
    kind: str,
    frame: pd.DataFrame,
    item_roles: list[str],
    control_roles: list[str],
    members: Members,
    declared: Collection[str],
) -> Iterator[Measurement]:
    for detector in detectors_in(frame):
        evidence, problem = None, ""
        try:
            evidence = detector.evidence(frame, item_roles, control_roles, members)
        except BadInput as error:
            problem = str(error)
        except Exception as error:  # the detector of a package may raise anything
            problem = DETECTORS.failure(detector.name, error)
        if evidence is None and not problem:
            continue  # these items were not asked for it at all
        yield Measurement(
            **vars(evidence or Evidence()),
            kind=kind,
            detector=detector.title,
            axis=detector.axis,
            measure=measure_of(detector, frame),
            problem=problem,
            name=detector.name,
            is_outside=detector.name not in declared,
            # Detectors that read one thing count as one kind of evidence.
            reads=detector.reads or detector.title,
        )


@dataclass(frozen=True, eq=False)
class MemoryTest:
    """Verdict of one detector on the items of one kind, with what more may be said and its numbers.

    The claim rests on a p that Holm corrected over `n_family` tests. `score` is the published score
    of the same items: a drop gap is said together with it.
    """

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
        """The difference of the items from their controls: a gap, or the share of a set beyond the
        controls' mark down to its one-sided 95% lower limit; missing where nothing was tested."""
        if self.measurement is None:
            return missing()
        if decided := self.measurement.gap or self.measurement.score:
            return decided.gap
        test = self.measurement.set_test
        if test is None or not test.n:
            return missing()
        share = test.n_beyond / test.n
        return Estimate(
            value=share,
            low=min(share, test.share_least),
            high=share,
            level=0.95,
            method="one-sided",
            n=test.n,
            seed=None,
        )

    @property
    def is_share(self) -> bool:
        """True where `effect` is the share of a set beyond the controls' mark, and no gap."""
        measurement = self.measurement
        if measurement is None or measurement.gap or measurement.score:
            return False
        return bool(measurement.set_test and measurement.set_test.n)

    @property
    def n_controls(self) -> int | None:
        """Count the controls that items were compared with; None where nothing was tested."""
        # Each kind of test counts them under a name of its own.
        for name in ("n_control", "n_controls", "n_non_members"):
            if name in self.numbers:
                return int(self.numbers[name])
        return None

    @property
    def chance(self) -> float:
        """The effect that is expected where nothing was memorized."""
        test = self.measurement.set_test if self.measurement else None
        return test.chance / test.n if test and test.n else 0.0

    @property
    def sentence(self) -> str:
        """The verdict and what more is claimed, as text."""
        more = [claim.text for claim in self.further[:SHOWN_DETAILS] if claim.is_made]
        return " ".join([self.claim.text, *more])

    def rows(self, model: str) -> Iterator[Row]:
        """Estimates of the test; without any, a row of what is missing, with verdict and n."""
        place = {
            "model": model,
            "items": self.items,
            "detector": self.detector,
            "decision": self.decision,
        }
        where = f"{self.items}, {self.detector}"
        p = {name: self.numbers.get(name, math.nan) for name in ("p", "p_adjusted")}
        has_estimate = False
        for name, number in self.numbers.items():
            if isinstance(number, Estimate):
                has_estimate = True
                yield Row(model, where, name, number, self.claim, place, p=p)
        if not has_estimate:
            of_set = missing(int(self.numbers.get("n", 0)), note="A test of the whole set.")
            quantity = "test of the set"
            yield Row(model, where, quantity, of_set, self.claim, place, p=p, is_repeated=True)

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
            **plain(self.numbers),
        }


def members_of(
    study: Study | None, items: pd.DataFrame | None, pairs: Pairs | None = None, model: str = ""
) -> Members:
    """Controls by declaration and items, and those newer than the model's training."""
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
    for item_id, stored in zip(items["item_id"], items["meta"], strict=True):
        meta = json.loads(stored) if isinstance(stored, str) and stored else stored
        is_own = str(item_id).startswith(f"{_POCKET}_") and isinstance(meta, Mapping)
        if is_own and meta.get("dose") == 0:
            unread.add(str(item_id))
    return frozenset(unread)


def measurements_of(
    frame: pd.DataFrame, study: Study, items: pd.DataFrame | None = None, pairs: Pairs | None = None
) -> dict[str, list[Measurement]]:
    """Measure every model of `frame`, everything that the models answered
    (`queries.readouts(..., everything=True)`), with every detector. `items` are the study's,
    `pairs` those stored of its items. A model's list is empty where nothing is compared."""
    frame = frames.compared_sets(frames.with_reference(frame, study), study)
    by_model = {}
    for name, part in frame.groupby("model", sort=False):
        model = str(name)
        controls = members_of(study, items, pairs, model)
        by_model[model] = detector_measurements(part, controls, study.detectors)
    return by_model


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
    # A gap is claimed at .025 on one side, so its p counts double beside those of sets.
    doubled, single = adjusted(list(one_sided.values()), list(sets.values()))
    p_of = dict(zip([*one_sided, *sets], [*doubled, *single], strict=True))
    n_family = n_tests(list(p_of.values()))
    tests: dict[str, list[MemoryTest]] = {}
    cards = model_cards()
    for model, measurements in by_model.items():
        scores = {}
        for measurement in measurements:
            if measurement.score is not None:
                scores[measurement.kind] = measurement.score
        is_after_rl = model in cards and cards[model].after_rl
        tests[model] = []
        for i, measurement in enumerate(measurements):
            p, score = p_of.get((model, i), math.nan), scores.get(measurement.kind)
            test = _test(measurement, score, control, p, n_family, closed_gates, margin)
            # Training by reinforcement moves losses, so that none shown there rules out nothing.
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
    first, unmoved = None, []
    for measurement in measurements:
        is_moved = measurement.kind == kind and measurement.axis == operator
        if not is_moved or measurement.gap is None:
            unmoved.append(measurement)
        elif first is None:
            first = replace(measurement, gap=gap)
    if first is None:
        title = f"drop gap, {operator}"
        first = Measurement(kind=kind, detector=title, axis=operator, gap=gap, reads=DropGap.reads)
    return [first, *unmoved]


def _one_sided_p(measurement: Measurement) -> float:
    """The p of a drop gap or a published score, which are claimed at .025."""
    decided = measurement.gap or measurement.score
    return math.nan if decided is None or decided.withheld else decided.p


def _set_p(measurement: Measurement) -> float:
    """NaN where no claim could be made of the set, so that it is no member of the family."""
    test = measurement.set_test
    if measurement.is_lacking:
        return 1.0
    if test is None or set_claim(test, templated=measurement.templated).withheld:
        return math.nan
    return test.p


def _test(
    measurement: Measurement,
    score: ScoreGap | None,
    control: str,
    p: float,
    n_family: int,
    closed_gates: Mapping[str, str],
    margin: float,
) -> MemoryTest:
    items, numbers = NAMES.get(measurement.kind, measurement.kind), dict(measurement.numbers)
    why_not = OUTSIDE if measurement.is_outside else closed_gates.get(measurement.axis, "")
    p_value = None if math.isnan(p) else p
    verdict = partial(
        MemoryTest,
        items=items,
        detector=measurement.detector,
        measurement=measurement,
        n_family=n_family,
    )
    if measurement.gap or measurement.score:
        if measurement.score:
            claim = score_claim(measurement.score, p_value, n_family)
        elif measurement.gap:
            claim = gap_claim(measurement.gap, margin, p_value, n_family, score)
        numbers |= {"p": _one_sided_p(measurement), "p_adjusted": p}
        return verdict(claim=claim.not_claimed(why_not), numbers=numbers, score=score)
    if measurement.curve:
        numbers["p"] = measurement.curve.p
        claim = curve_claim(measurement.curve)
        return verdict(claim=claim.not_claimed(why_not), numbers=numbers)
    test = measurement.set_test
    if test is None:
        claim = description(measurement.problem, "not computed")
        return verdict(claim=claim.not_claimed(measurement.problem), numbers=numbers)
    claim = set_claim(test, items, control, p_value, n_family, templated=measurement.templated)
    claim = claim.not_claimed(measurement.withheld).not_claimed(why_not)
    claim = replace(claim, detail=" ".join(filter(None, (claim.detail, measurement.cut))))
    further = [at_least_claim(test, claim, items)]
    if measurement.names_items:
        further.append(named_claim(measurement.n_named, claim, items))
    numbers |= {
        "p": test.p,
        "p_adjusted": p,
        "n_beyond": test.n_beyond,
        "k": test.k,
        "by_chance": test.chance,
        "share_at_least": test.share_least,
    }
    return verdict(claim=claim, further=tuple(further), numbers=numbers)


def why_no_test(frame: pd.DataFrame) -> str:
    """Say why a study has no test of memory, and what it needs."""
    if frame.empty:
        return "No detector was run: no answer has come back yet."
    item_roles, control_roles = frames.roles_of(frame)
    if not item_roles or not control_roles:
        lacking = "control, non_member or retro" if item_roles else "benchmark or target"
        return (
            f"No detector was run: no item has the role {lacking}. Declare items with it, or give"
            " a column of roles when importing."
        )
    return _no_rewriting(frame) or (
        "No detector was run: declare a rewriting axis, losses, question completion or flipped"
        " bits, or a control that is a random split of the benchmark."
    )


def _no_rewriting(frame: pd.DataFrame) -> str:
    """Say what a log lacks whose items have roles: the name of its rewriting, or the published
    wording; "" where neither."""
    rewritings = [detector.axis for detector in detectors() if isinstance(detector, DropGap)]
    is_base = frame["variant"] == BASE
    changes = [axis for axis in frame["axis"][~is_base].unique() if axis and axis != IDENTITY]
    no_bases = {*changes, *rewritings, IDENTITY}
    bases = [axis for axis in frame["axis"][is_base].unique() if axis not in no_bases]
    words = []
    if changes and not set(changes) & set(rewritings):
        words.append(f"axis:{changes[0]}=paraphrase")
    if bases:
        words.append(f"axis:{bases[0]}=identity")
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
    sets = {}
    for kind in kinds_in(frame):
        if kind in n.index:
            size = f"{n[kind]:,} {NAMES.get(kind, f'items of {kind}')}"
            sets[NAMES.get(kind, kind)] = size
    witnesses: list[Witness] = []
    memory_claims: list[Claim] = []
    tested: set[str] = set()
    for test in tests:
        measurement = test.measurement
        if test.items not in sets or (measurement and measurement.is_outside):
            continue
        tested.add(test.items)
        evidence = measurement.reads if measurement else test.detector
        witnesses.append(Witness(test.items, evidence, test.claim))
        # A higher published score may have other reasons than memory.
        if test.claim.assertion is not SCORE_HIGHER:
            memory_claims.append(test.claim)
    tested = tested or set(sets)
    tested_sets = {name: size for name, size in sets.items() if name in tested}
    n_controls = frame[frame["role"].isin(control_roles)]["item_id"].nunique()
    claim = summary_claim(witnesses, tested_sets, n_controls)
    # Where nothing could be tested, nothing is absent.
    if claim.outcome == "none shown" and all(claimed.withheld for claimed in memory_claims):
        withheld = memory_claims[0].withheld
        claim = claim.not_claimed(
            f"memory in the {' and '.join(tested_sets.values())} cannot be judged yet."
            f" {with_capital(withheld)}"
        )
    untested = " and ".join(size for name, size in sets.items() if name not in tested)
    if not untested:
        return claim
    return replace(claim, detail=f"{claim.detail} No detector was run on the {untested}.")


# A detector reports one of these; the first that it has is drawn.
_DRAWN = ("gap", "score_gap", "rate")


@dataclass(frozen=True, eq=False)
class MemoryReport(Answer):
    """Every test of memory of each model, one family over all models.

    `summaries` say which kinds of evidence agree, of each model that has tests; `why_none` what
    keeps a model from having any.
    """

    tests: Mapping[str, Sequence[MemoryTest]]
    summaries: Mapping[str, Claim]
    why_none: str = ""

    question = Question.MEMORY

    @property
    def claims(self) -> tuple[Claim, ...]:
        claims = tuple(test.claim for test in chain.from_iterable(self.tests.values()))
        return claims or (description(self.why_none, "not run"),)

    def rows(self) -> Iterator[Row]:
        for model, tests in self.tests.items():
            for test in tests:
                yield from test.rows(model)

    @property
    def figures(self) -> Mapping[str, FigureOf]:
        """Gaps and rates of the detectors that have one."""
        estimates: list[tuple[str, Estimate]] = []
        for test in chain.from_iterable(self.tests.values()):
            key = next((key for key in _DRAWN if key in test.numbers), "")
            if isinstance(estimate := test.numbers.get(key), Estimate):
                estimates.append((f"{test.detector}, {test.items}", estimate))

        def draw(theme: Colours) -> Figure:
            title = "gap or rate, as a share: 1 is 100%"
            return interval_rows(estimates, theme).update_xaxes(title_text=title)

        return {"detectors": draw} if estimates else {}

    def lines(self) -> list[str]:
        lines = []
        for model, tests in self.tests.items():
            if model in self.summaries:
                lines.append(f"  {self.summaries[model].text}")
            lines += [f"  {test.items}, {test.detector}: {test.sentence}" for test in tests]
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the summary and the tests of the first model."""
        model, tests = next(iter(self.tests.items()), ("", ()))
        summary = self.summaries.get(model)
        return {
            "memory_headline": summary.text if summary else None,
            "memory": [test.as_dict() for test in tests],
        }

    def find_model(self, model: str) -> "MemoryReport":
        """Return the tests of one model, corrected over all models as here."""
        return replace(self, tests={model: self.tests.get(model, ())})


def memory_report(
    tests: Mapping[str, Sequence[MemoryTest]], frame: pd.DataFrame, study: Study
) -> MemoryReport:
    """Report the tests of each model of `frame`, everything that the models answered."""
    summaries = {}
    for model, own_tests in tests.items():
        if own_tests:
            rows = frames.compared_sets(frame[frame["model"] == model], study)
            summaries[model] = summary(own_tests, rows)
    return MemoryReport(tests, summaries, why_no_test(frame))


def break_to_open(frame: pd.DataFrame) -> dict[str, str] | None:
    """{item, axis, readout} of a judged item that is answered right as published and wrong with
    other numbers; None without."""
    if frame.empty:
        return None
    is_first = frame["model"] == frame["model"].iloc[0]
    frame = frame[is_first & (frame["extractor"] == WRITTEN_ANSWER)]
    if REWRITING not in set(frame["axis"].unique()):
        return None
    item_roles, _ = frames.roles_of(frame)
    rows = frames.drop_rows(frames.rewritten(frame, REWRITING, WRITTEN_ANSWER, item_roles))
    breaks = rows[(rows["before"] == 1) & np.isfinite(rows["drop"]) & (rows["drop"] > 0)]
    if breaks.empty:
        return None
    return {"item": breaks["item_id"].iloc[0], "axis": REWRITING, "readout": WRITTEN_ANSWER}


def newer_items(items: pd.DataFrame, cutoff: str) -> frozenset[str]:
    """The items published after all of a training cut-off (ISO: a year, a month or a day). `items`
    has item_id and published."""
    # A cut-off may be a month or a year: an item within it may have been read.
    _, last_day = span("training cut-off", cutoff)
    newer = set()
    published = pd.to_datetime(items["published"], errors="coerce")
    for item_id, day in zip(items["item_id"], published, strict=True):
        if not pd.isna(day) and day.date() > last_day:
            newer.add(item_id)
    return frozenset(newer)


def fresh_control_warning(
    items: pd.DataFrame, control_ids: Collection[str], doses: Mapping[str, int], cutoff: str | None
) -> str:
    """Warn of too few unseen controls; "" where at least `FEWEST_CONTROLS` were published after the
    model's training cut-off, or are of dose 0 by their own data.

    `items` has item_id and published; `cutoff` is the model's, ISO, or None."""
    # On a real model fresh problems showed the same gap between published wording and paraphrase
    # as GSM8K, so without them wording passes for memory.
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
    doses = []
    for dose, scores in sorted(by_dose.items()):
        is_claimed, p = decide(scores, never)
        doses.append(KnownDose(name, dose, int((~np.isnan(scores)).sum()), p, is_claimed))
    fresh = fresh[~np.isnan(fresh)]
    n_clean = n_accused = 0
    for start in range(0, len(fresh), CLEAN_SET):
        part = fresh[start : start + CLEAN_SET]
        # The last set may be too small to be accused of anything.
        if len(part) >= MIN_N:
            n_clean += 1
            n_accused += decide(part, never)[0]
    return Record(name, tuple(doses), n_clean, n_accused)


def decision(
    name: str, tested: Tested = set_test
) -> Callable[[np.ndarray, np.ndarray], tuple[bool, float]]:
    """The decision function of a detector of this name: (scores, scores of never-seen items) ->
    (whether it says memory, p before Holm)."""
    if name.lower().startswith(DROP):
        return gap_decided
    return score_decided if name.lower().startswith(SCORE) else partial(set_decided, tested=tested)


def score_decided(right: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """Decide on published answers, 1 where right and 0 where wrong."""
    score = score_gap(right, never, RANDOM_CONTROL)
    return score_claim(score).is_made, score.p


def set_decided(
    scores: np.ndarray, never: np.ndarray, tested: Tested = set_test
) -> tuple[bool, float]:
    """Return whether the set's verdict is memory, and its p before Holm."""
    test = tested(scores, never)
    return set_claim(test, control=RANDOM_CONTROL).is_made, test.p


def gap_decided(drops: np.ndarray, never: np.ndarray) -> tuple[bool, float]:
    """Decide on a drop gap, from the drop of every item."""
    decision = gap_decision(Sides(_rewritten("b", drops), _rewritten("c", never)), RANDOM_CONTROL)
    claim = gap_claim(decision)
    return claim.is_made and claim.assertion is not GAP_WITHIN, decision.p


def _rewritten(name: str, drops: np.ndarray) -> Rewritten:
    """Items with these drops; whether what stayed was right or wrong decides nothing against a
    random control."""
    drops = drops[~np.isnan(drops)]
    before = (drops >= 0) * 1.0
    return Rewritten.make([f"{name}{i}" for i in range(len(drops))], before, before - drops)


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
    """One row per detector: its decision at each dose with p, and the sets of never-seen items that
    it accuses."""
    rows = []
    for record in records:
        row = {"detector": record.detector}
        for dose in record.decisions:
            verdict = "memory" if dose.is_claimed else "none shown"
            row[f"{dose.dose:,}×"] = f"{verdict} ({p_text(dose.p)}, n = {dose.n})"
        rows.append(row | {"never-seen sets accused": f"{record.n_accused} of {record.n_clean}"})
    return rows


def detector_rows(truth: GroundTruth) -> list[dict]:
    """One row per detector: the share that it flags at each dose, and wrongly."""
    rows = []
    for detector in truth.detectors:
        row = {
            "detector": detector.name,
            "sees from": "–" if detector.items_from is None else f"{detector.items_from:,}×",
            "a group from": "–" if detector.groups_from is None else f"{detector.groups_from:,}×",
            "false positives": share_text(detector.false_positives),
        }
        for dose in detector.doses:
            row[f"flagged at {dose.dose:,}×"] = share_text(dose.detected)
        rows.append(row | {"never seen": len(detector.never), "fresh": detector.false_positives.n})
    return rows
