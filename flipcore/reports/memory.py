"""Every memorization test of a study with its verdict, corrected as one family.

The last part tests the decisions where the truth is known, because training doses were controlled.
"""

import json
import math
import shlex
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
from flipcore.core.study import DETECTORS as DEFAULT_DETECTORS
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
from flipcore.reports.rows import Row, as_json
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, p_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision, Sides, gap_decision
from flipcore.stats.memory.ground_truth import GroundTruth, share_text
from flipcore.stats.memory.loss_test import MIN_CONTROLS
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.members import Members, members
from flipcore.stats.memory.pearl_alpha import Setting
from flipcore.stats.memory.published_score import ScoreGap, score_gap
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.text.counts import with_capital
from flipcore.text.dates import span

# Why nothing is claimed of a detector that the study does not declare.
OUTSIDE = (
    "the study does not declare this detector, so it stands outside the family over which the error"
    " rate holds. A study that names it under detectors, beside the others, counts it."
)
LACKING = (
    "The study declares the detector {name}, and no package here offers it; the others are"
    " corrected for it all the same."
)
REWRITING = "numeric_resample"  # the axis on which `break_to_open` looks for a wrong answer
N_FURTHER = 1  # number of a test's further claims in its sentence
_TASKS = {axis.name: axis.task for axis in AXES}
# Kind of item -> its plural on screen, in the order in which kinds are shown.
KIND_PLURALS = {
    "number": "problems",
    "choice": "choices",
    "text": "open questions",
    "completion": "passages",
    "code": "functions",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement(Evidence):
    """One detector's evidence on the items of one `kind`, or the `problem` that prevented it.

    `detector` is its title on screen, `detector_name` the name of the plug-in, and `reads` its kind
    of evidence. It used the answers under the axis `axis`, as the extractor `measure` read them.
    `is_outside` is True if the study does not declare the detector, `is_lacking` if it does
    but the detector is not installed here.
    """

    kind: str
    detector: str
    axis: str = ""
    measure: str = ""
    problem: str = ""
    detector_name: str = ""
    is_outside: bool = False
    is_lacking: bool = False
    reads: str = ""


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = BitFlip.name) -> Setting:
    """Return all settings that PEARL's alpha depends on, as the study declares them."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    extractor = next((part.params for part in study.extractors if part.name == metric), {})
    # Defaults are those of the axis and of the extractor.
    levels_pct = axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
    return Setting(
        model=model,
        task=_TASKS[axis_name],
        metric=metric,
        compressor=extractor.get("compressor", "xz"),
        levels_pct=tuple(map(float, levels_pct)),
        n_samples=int(axis.get("n_samples", 10)),
    )


def settings_of(detector: Detector, study: Study, model: str) -> dict[str, Any]:
    """Return the keyword arguments that a detector's analysis takes from the study."""
    if not isinstance(detector, Pearl):
        return {}
    return {"setting": pearl_setting(study, model, detector.measure, detector.axis)}


def detector_measurements(
    frame: pd.DataFrame, members: Members, declared: Collection[str] = DEFAULT_DETECTORS
) -> list[Measurement]:
    """Measure with every detector on every kind of item that has controls. Detectors whose answers
    were not asked for are left out. `declared` are the detectors of the study's family."""
    measurements: list[Measurement] = []
    installed = {detector.name for detector in detectors()}
    lacking = [name for name in declared if name not in installed]
    for kind in kinds_in(frame):
        part = frame[frame["kind"] == kind]
        item_roles, control_roles = frames.roles_of(part)
        if item_roles and control_roles:
            measurements += _measure_kind(kind, part, item_roles, control_roles, members, declared)
            # A declared detector that is not installed stays in the family. So the p-values of the
            # other detectors do not depend on the machine that computes them.
            for name in lacking:
                measurements.append(
                    Measurement(
                        kind=kind,
                        detector=name,
                        detector_name=name,
                        problem=LACKING.format(name=name),
                        is_lacking=True,
                    )
                )
    return measurements


def kinds_in(frame: pd.DataFrame) -> list[str]:
    """Return the sets that are compared (`frames.compared_sets`). They are kinds of items in the
    order of `KIND_PLURALS`, then a recording's tasks in its own order."""
    kinds = list(dict.fromkeys(frame["kind"]))
    known_kinds = [kind for kind in KIND_PLURALS if kind in kinds]
    return [*known_kinds, *(kind for kind in kinds if kind not in KIND_PLURALS)]


def _measure_kind(
    kind: str,
    frame: pd.DataFrame,
    item_roles: list[str],
    control_roles: list[str],
    members: Members,
    declared: Collection[str],
) -> Iterator[Measurement]:
    """Measure with every detector on the items of one kind; `frame` has their readouts."""
    for detector in detectors_in(frame):
        evidence, problem = None, ""
        try:
            evidence = detector.evidence(frame, item_roles, control_roles, members)
        except BadInput as error:
            problem = str(error)
        # A detector of another package may raise anything.
        except Exception as error:
            problem = DETECTORS.failure(detector.name, error)
        if evidence is None and not problem:
            continue  # the study did not ask these items what the detector needs
        yield Measurement(
            # A measurement has all fields of the evidence, and those below.
            **vars(evidence or Evidence()),
            kind=kind,
            detector=detector.title,
            axis=detector.axis,
            measure=measure_of(detector, frame),
            problem=problem,
            detector_name=detector.name,
            is_outside=detector.name not in declared,
            # Detectors with an equal `reads` count as one kind of evidence.
            reads=detector.reads or detector.title,
        )


@dataclass(frozen=True, eq=False)
class MemoryTest:
    """Verdict of one detector on the items of one kind, with further claims and its numbers.

    Holm corrects the claim's p over `n_family` tests. `score` is the published score of the same
    items, which a drop gap's sentence mentions; None without one. `measurement` is None if
    nothing was measured.
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
        """The difference of the items from their controls; missing where nothing was tested.

        It is a gap, or the share of the items above the `mark` of `SetTest` (a high rank of the
        controls) with its one-sided 95% lower limit.
        """
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
        """True if `effect` is a share of the items, not a gap."""
        measurement = self.measurement
        if measurement is None or measurement.gap or measurement.score:
            return False
        return bool(measurement.set_test and measurement.set_test.n)

    @property
    def n_controls(self) -> int | None:
        """Number of controls in the comparison; None if nothing was tested."""
        # Each kind of test stores this number under its own name.
        for name in ("n_control", "n_controls", "n_non_members"):
            if name in self.numbers:
                return int(self.numbers[name])
        return None

    @property
    def chance(self) -> float:
        """The effect that is expected without memorization."""
        test = self.measurement.set_test if self.measurement else None
        return test.chance / test.n if test and test.n else 0.0

    @property
    def sentence(self) -> str:
        """The verdict and the first of the further claims, where it is made."""
        further = [claim.text for claim in self.further[:N_FURTHER] if claim.is_made]
        return " ".join([self.claim.text, *further])

    def rows(self, model: str) -> Iterator[Row]:
        """Yield one row per estimate; a test without estimates has one row with a missing value."""
        columns = {
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
                yield Row(model, where, name, number, claim=self.claim, columns=columns, p=p)
        if not has_estimate:
            no_estimate = missing(int(self.numbers.get("n", 0)), note="A test of the whole set.")
            yield Row(
                model,
                where,
                "test of the set",
                no_estimate,
                claim=self.claim,
                columns=columns,
                p=p,
                is_repeated=True,
            )

    def as_dict(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "detector": self.detector,
            "name": self.measurement.detector_name if self.measurement else "",
            "origin": str(origin_of(self.measurement.detector_name)) if self.measurement else "",
            "decision": self.decision,
            "sentence": self.sentence,
            "detail": self.claim.detail,
            "asserted": self.claim.is_made,
            **as_json(self.numbers),
        }


def members_of(
    study: Study | None, items: pd.DataFrame | None, pairs: Pairs | None = None, model: str = ""
) -> Members:
    """Return what is known of the controls and of the items' membership in the training. Without
    `items` only the study's declaration counts."""
    control = study.control if study else OTHER_CONTROL
    is_unpublished = study is not None and study.unpublished_control
    if items is None:
        return Members(control, is_unpublished=is_unpublished)
    card = model_cards().get(model)
    newer = newer_items(items, card.cutoff) if card and card.cutoff else ()
    unread = _unread_by_pocket(items) if card and card.backend == _POCKET else frozenset()
    known_members = members(items, control, pairs, newer)
    return replace(known_members, unread=unread, is_unpublished=is_unpublished)


_POCKET = "pocket"  # the pocket model's backend, and the first word of its own datasets' ids


def _unread_by_pocket(items: pd.DataFrame) -> frozenset[str]:
    """Return the items of the pocket model's own datasets that its training did not contain."""
    unread = set()
    for item_id, stored_meta in zip(items["item_id"], items["meta"], strict=True):
        is_text = isinstance(stored_meta, str) and stored_meta
        meta = json.loads(stored_meta) if is_text else stored_meta
        is_own = str(item_id).startswith(f"{_POCKET}_") and isinstance(meta, Mapping)
        if is_own and meta.get("dose") == 0:
            unread.add(str(item_id))
    return frozenset(unread)


def measurements_of(
    frame: pd.DataFrame, study: Study, items: pd.DataFrame | None = None, pairs: Pairs | None = None
) -> dict[str, list[Measurement]]:
    """Measure every model with every detector; model -> measurements.

    `frame` has all readouts (`queries.readouts(..., everything=True)`). `items` are the study's,
    `pairs` the stored pairs of items and controls. A model's list is empty where nothing is
    compared.
    """
    frame = frames.compared_sets(frames.with_reference(frame, study), study)
    by_model = {}
    for name, part in frame.groupby("model", sort=False):
        model = str(name)
        known_members = members_of(study, items, pairs, model)
        by_model[model] = detector_measurements(part, known_members, study.detectors)
    return by_model


def family_tests(
    by_model: Mapping[str, Sequence[Measurement]],
    control: str,
    closed_gates: Mapping[str, str],
    margin: float = MARGIN,
) -> dict[str, list[MemoryTest]]:
    """Test all declared detectors of all models as one family (Holm); model -> tests.

    Models share a family because a reader may look at any of them. A closed gate withholds claims
    but does not shrink the family. A detector that is not installed counts as p = 1, which corrects
    the others most.
    """
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
    # A gap is claimed at .025 one-sided and a set at .05, so the p of a gap is doubled.
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
            test = _word_test(measurement, score, control, p, n_family, closed_gates, margin)
            # Reinforcement learning shifts losses, so "none shown" by losses rules out nothing.
            if is_after_rl and measurement.reads == Loss.reads:
                test = replace(test, claim=after_rl(test.claim))
            tests[model].append(test)
    return tests


def moved_p(family: Mapping[str, Sequence[MemoryTest]], moved: MemoryTest, p: float) -> float:
    """Return the Holm-corrected p of a detector whose cut-off was moved. `p` is that of the largest
    excess over all cut-offs of `moved`; it replaces the detector's own p in `family`."""
    gaps, sets = [], []
    for test in chain.from_iterable(family.values()):
        measurement = test.measurement
        if measurement is None or measurement.is_outside:
            continue
        if measurement.gap or measurement.score:
            gaps.append(_one_sided_p(measurement))
        if measurement is not moved.measurement:
            sets.append(_set_p(measurement))
    _, adjusted_sets = adjusted(gaps, [p, *sets])
    return adjusted_sets[0]


def with_gap(
    measurements: Sequence[Measurement], kind: str, operator: str, gap: GapDecision
) -> list[Measurement]:
    """Return the measurements with `gap` in place of the drop gap on the axis `operator`. The
    measurement with the new gap comes first."""
    replaced, other_results = None, []
    for measurement in measurements:
        is_on_axis = measurement.kind == kind and measurement.axis == operator
        if not is_on_axis or measurement.gap is None:
            other_results.append(measurement)
        elif replaced is None:
            replaced = replace(measurement, gap=gap)
    if replaced is None:
        title, reads = f"drop gap, {operator}", DropGap.reads
        replaced = Measurement(kind=kind, detector=title, axis=operator, gap=gap, reads=reads)
    return [replaced, *other_results]


def _one_sided_p(measurement: Measurement) -> float:
    """Return the p of a drop gap or a published score; NaN where its claim is withheld."""
    decided = measurement.gap or measurement.score
    return math.nan if decided is None or decided.withheld else decided.p


def _set_p(measurement: Measurement) -> float:
    """Return the p of a set; NaN where no claim could be made, so that the family leaves it out."""
    test = measurement.set_test
    if measurement.is_lacking:
        return 1.0
    if test is None or set_claim(test, templated=measurement.templated).withheld:
        return math.nan
    return test.p


def _word_test(
    measurement: Measurement,
    score: ScoreGap | None,
    control: str,
    p: float,
    n_family: int,
    closed_gates: Mapping[str, str],
    margin: float,
) -> MemoryTest:
    """Word the verdict of a measurement; `p` is the corrected one, NaN outside the family."""
    items, numbers = KIND_PLURALS.get(measurement.kind, measurement.kind), dict(measurement.numbers)
    why_not = OUTSIDE if measurement.is_outside else closed_gates.get(measurement.axis, "")
    p_value = None if math.isnan(p) else p
    make_test = partial(
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
        return make_test(claim=claim.not_claimed(why_not), numbers=numbers, score=score)
    if measurement.curve:
        numbers["p"] = measurement.curve.p
        claim = curve_claim(measurement.curve)
        return make_test(claim=claim.not_claimed(why_not), numbers=numbers)
    test = measurement.set_test
    if test is None:
        claim = description(measurement.problem, "not computed")
        return make_test(claim=claim.not_claimed(measurement.problem), numbers=numbers)
    claim = set_claim(test, items, control, p_value, n_family, templated=measurement.templated)
    claim = claim.not_claimed(measurement.withheld).not_claimed(why_not)
    details = [text for text in (claim.detail, measurement.cut) if text]
    claim = replace(claim, detail=" ".join(details))
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
    return make_test(claim=claim, further=tuple(further), numbers=numbers)


def why_no_test(frame: pd.DataFrame) -> str:
    """Say why a study has no test of memory, and how to get one."""
    if frame.empty:
        return "No detector was run: no answer has come back yet."
    item_roles, control_roles = frames.roles_of(frame)
    if not item_roles or not control_roles:
        lacking = "control, non_member or retro" if item_roles else "benchmark or target"
        return (
            f"No detector was run: no item has the role {lacking}. Declare items with it, or give"
            " a column of roles when importing."
        )
    return _how_to_name_rewriting(frame) or (
        "No detector was run: declare a rewriting axis, losses, question completion or flipped"
        " bits, or a control that is a random split of the benchmark."
    )


def _how_to_name_rewriting(frame: pd.DataFrame) -> str:
    """Say how to import a log so that its rewriting or published wording is known. "" if nothing
    was changed, and where both are known already."""
    rewritings = [detector.axis for detector in detectors() if isinstance(detector, DropGap)]
    is_base = frame["variant"] == BASE
    changes = [axis for axis in frame["axis"][~is_base].unique() if axis and axis != IDENTITY]
    # An own prompt on any other axis may be the published wording under another name.
    known_axes = {*changes, *rewritings, IDENTITY}
    bases = [axis for axis in frame["axis"][is_base].unique() if axis not in known_axes]
    corrections = []
    if changes and not set(changes) & set(rewritings):
        corrections.append(f"axis:{changes[0]}=paraphrase")
    if bases:
        corrections.append(f"axis:{bases[0]}=identity")
    if not changes or not corrections:
        return ""
    return (
        "No detector was run: a rewriting is compared with the published wording. The study's"
        f" changes are {', '.join(changes)}; the rewritings that detectors compare are"
        f" {', '.join(rewritings)}. Say when importing which is which, for example --map"
        f" {shlex.join(corrections)}, and what the controls are: control=random, paired or other."
    )


def summary(tests: Sequence[MemoryTest], frame: pd.DataFrame) -> Claim:
    """Word the headline of one model: which kinds of evidence show memory, in which sets.

    Sets without controls are named in the small line, because no detector ran on them. The claim is
    withheld where every test is.
    """
    item_roles, control_roles = frames.roles_of(frame)
    n_items = frame[frame["role"].isin(item_roles)].groupby("kind")["item_id"].nunique()
    size_of = {}
    for kind in kinds_in(frame):
        if kind in n_items.index:
            size = f"{n_items[kind]:,} {KIND_PLURALS.get(kind, f'items of {kind}')}"
            size_of[KIND_PLURALS.get(kind, kind)] = size
    witnesses: list[Witness] = []
    memory_claims: list[Claim] = []
    tested: set[str] = set()
    for test in tests:
        measurement = test.measurement
        if test.items not in size_of or (measurement and measurement.is_outside):
            continue
        tested.add(test.items)
        evidence = measurement.reads if measurement else test.detector
        witnesses.append(Witness(test.items, evidence, test.claim))
        # A higher published score may have other reasons than memory.
        if test.claim.assertion is not SCORE_HIGHER:
            memory_claims.append(test.claim)
    # Without any test there is no set to single out as untested.
    tested = tested or set(size_of)
    tested_sets = {name: size for name, size in size_of.items() if name in tested}
    n_controls = frame[frame["role"].isin(control_roles)]["item_id"].nunique()
    claim = summary_claim(witnesses, tested_sets, n_controls)
    # Where every test is withheld, "none shown" would claim too much.
    if claim.outcome == "none shown" and all(claimed.withheld for claimed in memory_claims):
        withheld = memory_claims[0].withheld
        claim = claim.not_claimed(
            f"memory in the {' and '.join(tested_sets.values())} cannot be judged yet."
            f" {with_capital(withheld)}"
        )
    untested = " and ".join(size for name, size in size_of.items() if name not in tested)
    if not untested:
        return claim
    return replace(claim, detail=f"{claim.detail} No detector was run on the {untested}.")


# Names of the estimate that the figure draws; a detector has at most one of them.
_DRAWN = ("gap", "score_gap", "rate")


@dataclass(frozen=True, eq=False)
class MemoryReport(Answer):
    """Every test of memory of each model, corrected as one family over all models.

    `summaries` is model -> which kinds of evidence agree, for models with tests. `why_none` says
    why there is no test, "" otherwise.
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
        """The figure of the detectors that have a gap or a rate."""
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
        claim = self.summaries.get(model)
        return {
            "memory_headline": claim.text if claim else None,
            "memory": [test.as_dict() for test in tests],
        }

    def find_model(self, model: str) -> "MemoryReport":
        """Return the tests of one model; their p-values stay corrected over all models."""
        return replace(self, tests={model: self.tests.get(model, ())})


def memory_report(
    tests: Mapping[str, Sequence[MemoryTest]], frame: pd.DataFrame, study: Study
) -> MemoryReport:
    """Report the tests of each model; `frame` has all readouts of the study."""
    summaries = {}
    for model, own_tests in tests.items():
        if own_tests:
            rows = frames.compared_sets(frame[frame["model"] == model], study)
            summaries[model] = summary(own_tests, rows)
    return MemoryReport(tests, summaries, why_no_test(frame))


def break_to_open(frame: pd.DataFrame) -> dict[str, str] | None:
    """Return {item, axis, readout} of an item that the model answers wrong with other numbers. Its
    published wording was answered right. None if there is no such item."""
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
    """Return the items that were published after a training cut-off. `cutoff` is an ISO year, month
    or day; `items` has item_id and published."""
    # Items within the month or year of the cut-off may have been in the training.
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
    """Warn of too few controls that the model cannot have seen; "" if there are enough.

    A control counts if it was published after `cutoff` (ISO, None if unknown) or if its
    dose is 0. `items` has item_id and published.
    """
    # A real model showed the same gap between published wording and paraphrase on fresh problems
    # as on GSM8K. Without fresh controls an effect of wording would look like memory.
    newer = newer_items(items, cutoff) if cutoff else ()
    n = sum(item_id in newer or doses.get(item_id) == 0 for item_id in control_ids)
    if n >= MIN_CONTROLS:
        return ""
    return (
        f"No fresh control: {n:,} of {len(control_ids):,} controls are known to be newer than the"
        f" model's training; {MIN_CONTROLS} are needed. A paraphrase can cost a model as much on"
        " problems that were never published. Add such problems as controls, each with its"
        " publication date, and the model's training cut-off in data/models.toml."
    )


# Decisions where the truth is known: how often items that the training contained are called memory,
# and items that it did not contain. For the model card, the Ground truth tab and tests.

SCORE = "published score"  # names of detectors by published scores begin so
DROP = "drop"  # names of drop gaps begin so
CLEAN_SET = 40  # number of never-seen items in one set that the detector must not call memory
SetTester = Callable[[np.ndarray, np.ndarray], SetTest]


def decide_on_doses(
    name: str,
    never_seen: np.ndarray,
    fresh: np.ndarray,
    by_dose: Mapping[int, np.ndarray],
    run_test: SetTester = set_test,
) -> Record:
    """Decide with one detector on the items of each dose and on sets of fresh items.

    Parameters
    ----------
    name : the detector's name, which tells how it decides (`decision_function`).
    never_seen : scores of never-seen items, the controls; a random split of items made alike.
    fresh : scores of further never-seen items, decided in sets of `CLEAN_SET`.
    by_dose : number of times that the training contained an item -> scores of such items.
    run_test : the detector's own test of a set.

    Scores are large where memory is suspected. NaN scores are left out.
    """
    decide = decision_function(name, run_test)
    doses = []
    for dose, scores in sorted(by_dose.items()):
        is_claimed, p = decide(scores, never_seen)
        n = int((~np.isnan(scores)).sum())
        doses.append(KnownDose(name, dose, n, p=p, is_claimed=is_claimed))
    fresh = fresh[~np.isnan(fresh)]
    n_sets = n_accused = 0
    for start in range(0, len(fresh), CLEAN_SET):
        fresh_set = fresh[start : start + CLEAN_SET]
        # The last set may be too small for a test.
        if len(fresh_set) >= MIN_N:
            n_sets += 1
            is_claimed, _ = decide(fresh_set, never_seen)
            n_accused += is_claimed
    return Record(name, tuple(doses), n_sets, n_accused)


def decision_function(
    name: str, run_test: SetTester = set_test
) -> Callable[[np.ndarray, np.ndarray], tuple[bool, float]]:
    """Return the decision function of a detector by its name.

    The function takes scores and scores of never-seen items. It returns whether memory is claimed,
    and p before Holm. Drop gaps take drops, published scores take 1 and 0 for right and wrong.
    """
    if name.lower().startswith(DROP):
        return decide_gap
    if name.lower().startswith(SCORE):
        return decide_score
    return partial(decide_set, run_test=run_test)


def decide_score(right: np.ndarray, never_seen: np.ndarray) -> tuple[bool, float]:
    """Decide on published answers, 1 where right and 0 where wrong: (claims memory, p)."""
    score = score_gap(right, never_seen, RANDOM_CONTROL)
    return score_claim(score).is_made, score.p


def decide_set(
    scores: np.ndarray, never_seen: np.ndarray, run_test: SetTester = set_test
) -> tuple[bool, float]:
    """Decide on a set of scores: (claims memory, p before Holm)."""
    test = run_test(scores, never_seen)
    return set_claim(test, control=RANDOM_CONTROL).is_made, test.p


def decide_gap(drops: np.ndarray, never_seen: np.ndarray) -> tuple[bool, float]:
    """Decide on a drop gap from the drop of each item: (claims memory, p before Holm)."""
    sides = Sides(_rewritten("benchmark", drops), _rewritten("control", never_seen))
    decision = gap_decision(sides, RANDOM_CONTROL)
    claim = gap_claim(decision)
    return claim.is_made and claim.assertion is not GAP_WITHIN, decision.p


def _rewritten(name: str, drops: np.ndarray) -> Rewritten:
    """Return items with these drops."""
    drops = drops[~np.isnan(drops)]
    # An item without a drop counts as right before and after. Against a random control it decides
    # nothing whether it was right or wrong.
    before = (drops >= 0) * 1.0
    return Rewritten.make([f"{name}{i}" for i in range(len(drops))], before, before - drops)


# Sizes of the draws that `AGAINST_DOSES` describes.
N_IN_SET, N_CONTROLS, N_SETS = 20, 75, 400

AGAINST_DOSES = (
    "Per number of times read: the AUC against never-read items with its 95% interval, then the"
    f" power: the share of {N_SETS} sets of {N_IN_SET} such items that are called memory against"
    f" {N_CONTROLS} never-read ones, both drawn anew each time (seed 0). “Never read” has the same"
    " share for sets of items that the training did not hold, with its 95% interval; at most .05"
    " is promised, .025 for drops and scores. “Published answer to new numbers” and CoDeC were"
    " tried and are not shipped. The hardness curve needs the answers of five other models or more."
    " It was tried on one set of problems per number of times read (in the model card, measured"
    " once), so it has no row and makes no verdict. Made by python -m tests.lab.pocket decisions."
)


def shipped_rows(path: Path = POCKET / "doses.json") -> list[dict[str, str]]:
    """Return the table of all detectors on the shipped pocket model; empty without the file.
    `python -m tests.lab.pocket decisions` writes the file."""
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []


def record_rows(records: Sequence[Record]) -> list[dict[str, str]]:
    """Return one row per detector: its decision and p per dose, and the clean sets it accuses."""
    rows = []
    for record in records:
        row = {"detector": record.detector}
        for dose in record.decisions:
            verdict = "memory" if dose.is_claimed else "none shown"
            row[f"{dose.dose:,}×"] = f"{verdict} ({p_text(dose.p)}, n = {dose.n})"
        rows.append(row | {"never-seen sets accused": f"{record.n_accused} of {record.n_clean}"})
    return rows


def detector_rows(truth: GroundTruth) -> list[dict]:
    """Return one row per detector: shares of flagged items per dose, and its false positives."""
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
        rows.append(
            row | {"never seen": len(detector.never_seen), "fresh": detector.false_positives.n}
        )
    return rows
