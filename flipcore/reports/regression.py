"""Compare two runs: does the new one lose more than a margin, and on which items?"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.claims.regression import Names, loss_claim, verdict_claim, why_not_judged
from flipcore.core.errors import BadInput
from flipcore.core.grade_scales import scale_of
from flipcore.core.study import Study
from flipcore.extractors import EXTRACTORS, title_of
from flipcore.reports.rows import as_json, claim_fields
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.score import regression
from flipcore.stats.score.reducers import MEAN, is_known, item_scores
from flipcore.stats.score.regression import FAIL, PASS, UNDECIDED, Bounds, Loss, TaskScores
from flipcore.store.connection import Store
from flipcore.store.queries import scores, studies
from flipcore.text.counts import count_of

MAX_LOSERS = 20  # most items with a lower score that a summary lists
MAX_NAMED = 8  # most of them in one line of text
# The outcome of one of several tasks that does not fail: only the mean over tasks can pass.
NO_VERDICT = ""
_WORD = {PASS: "✓ PASS", FAIL: "✗ FAIL", UNDECIDED: "– UNDECIDED", NO_VERDICT: "no FAIL"}
# The two runs: keys of mappings, and columns of tables.
_OLD, _NEW = "old", "new"
_LIMITS = "90% limits"


@dataclass(frozen=True)
class Run:
    """A stored study and one of its models; `model` may be "" if the study has one model."""

    store: Store
    study_id: str
    model: str = ""

    @property
    def study(self) -> Study:
        return studies.declared(self.store, self.study_id)


@dataclass(frozen=True, eq=False)
class TaskTable:
    """The scores of one task under one extractor.

    `by_item` has a row per item and the columns old and new, NaN where a run has no score.
    `left_out` leaves absent scores out; `worst` and `best` fill them in as is worst and best for
    the new run. The three are equal where no score is absent. `n_absent` counts the items that lack
    a score in a run, `n_added` those that only the new run asked.
    """

    by_item: pd.DataFrame
    left_out: TaskScores
    worst: TaskScores
    best: TaskScores
    n_absent: int
    n_added: int


@dataclass(frozen=True, eq=False)
class TaskReading:
    """One task of both runs under the `extractor` that decides, and under the other extractors.

    `floor` is the share of pairs of old runs of an item that differ in score, NaN where each item
    ran once. `losers` are the items whose score fell, the largest loss first. `n_old` and `n_new`
    count the items with a score in each run. `has_versions` is True if items were asked in other
    prompts too; only the own prompt is compared. `has_raters` is True if the old runs are ratings
    of one output by several people.
    """

    task: str
    extractor: str
    table: TaskTable
    other_extractors: Mapping[str, TaskScores]
    losers: tuple[str, ...]
    floor: float
    n_old: int
    n_new: int
    margin: float
    has_versions: bool
    has_raters: bool = False


@dataclass(frozen=True, eq=False)
class TaskCheck:
    """The loss of one task, with absent scores left out, at their worst and at their best.

    `outcome` is the task's own verdict where the check has one task, or where the task fails or
    cannot be judged. Otherwise it is `NO_VERDICT`.
    """

    reading: TaskReading
    loss: Loss
    outcome: str
    worst: Loss
    best: Loss
    other_extractors: Mapping[str, Loss]

    @property
    def task(self) -> str:
        return self.reading.task

    @property
    def sentence(self) -> str:
        """One sentence: the task, its verdict if any, and the loss with its limits."""
        verdict = f"{self.outcome}, " if self.outcome else ""
        if not self.loss.is_judged:
            return f"{self.task}: {verdict}{why_not_judged(self.loss)}."
        prompt = " at the own prompt" if self.reading.has_versions else ""
        return (
            f"{self.task}: {verdict}{change_text(self.loss)} on"
            f" {count_of(self.loss.n, 'item')}{prompt} by"
            f" {title_of(self.reading.extractor).lower()}; margin"
            f" {amount_text(self.loss.margin, self.loss.scale)}."
        )

    def notes(self) -> Iterator[str]:
        """Notes on the verdict: absent scores, reruns, other extractors, what would decide it."""
        n_absent, n_added = self.reading.table.n_absent, self.reading.table.n_added
        if n_absent:
            yield (
                f"{count_of(n_absent, 'item lacks a score', 'items lack scores')} in one run:"
                f" {self.reading.n_old:,} items of the old run and {self.reading.n_new:,} of the"
                f" new one have one. At their worst: {change_text(self.worst)}; at their best:"
                f" {change_text(self.best)}."
            )
        if n_added:
            added = count_of(n_added, "item is", "items are")
            yield f"{added} only in the new run and not compared."
        if self.reading.has_versions:
            yield "Other prompts of these items were not compared."
        yield f"{count_of(self.loss.n_fell, 'item')} fell, {self.loss.n_rose:,} rose."
        if not math.isnan(self.reading.floor):
            share = number_text(100 * self.reading.floor, 0)
            differing = f"Reruns of the old run differ in {share}% of its items' pairs of runs"
            if self.reading.has_raters:
                differing = f"Two raters of one output of the old run differ in {share}% of pairs"
            yield f"{differing}; the limits hold this noise."
        for name, loss in self.other_extractors.items():
            yield (
                f"The stored outputs of both runs read by {title_of(name).lower()}:"
                f" {change_text(loss)}."
            )
        # Where scores are absent, asking for them again helps more than further items.
        n_more = 0 if n_absent else _n_more(self.loss)
        if self.outcome == UNDECIDED and n_more:
            yield (
                f"About {n_more:,} more items would decide it four times in five, should the loss"
                " stay what it is."
            )


def _n_more(loss: Loss) -> int:
    """Return how many more items would decide a loss; 0 where no number would."""
    n_needed = loss.n_to_decide
    return max(0, math.ceil(n_needed) - loss.n) if math.isfinite(n_needed) else 0


def amount_text(value: float, scale: float) -> str:
    """Return a loss or margin as text: "2.5 points" on the scale 0 to 1, else a plain number."""
    if scale != 1:
        return number_text(value, 2)
    digits = 0 if math.isclose(100 * value, round(100 * value), abs_tol=1e-9) else 1
    text = number_text(100 * value, digits)
    return f"{text} {'point' if text.strip('−') == '1' else 'points'}"


def change_text(loss: Loss) -> str:
    """Return the change of a score as text: "5.0 points lower [1.2, 8.8] (90%)". The limits are
    left out where there are too few items for them."""
    if math.isnan(loss.value):
        return "no score to compare"
    # A negative loss is a gain, which is printed as a positive number and "higher".
    sign = -1 if loss.value < 0 else 1
    factor, digits, unit = (100, 1, " points") if loss.scale == 1 else (1, 2, "")
    value = number_text(abs(loss.value) * factor, digits)
    text = f"{value}{unit} {'higher' if sign < 0 else 'lower'}"
    # The rounded value decides, because "0.0 points lower" would say nothing.
    if float(value.replace(",", "")) == 0:
        text = "no change"
    if math.isnan(loss.low) or math.isnan(loss.high):
        return text
    # The limits follow the printed sign, so those of a gain change places.
    low, high = sorted((sign * loss.low, sign * loss.high))
    limits = f"[{number_text(factor * low, digits)}, {number_text(factor * high, digits)}]"
    return f"{text} {limits} (90%)"


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """The verdict on all tasks together.

    `missing` are the tasks that only the old run has, `added` those that only the new run has.
    `every_choice` is task -> the claim whether its verdict holds in every way of counting.
    """

    tasks: tuple[TaskCheck, ...]
    bounds: Bounds
    margin: float
    old: str
    new: str
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    every_choice: Mapping[str, Claim] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        return self.bounds.outcome

    @cached_property
    def verdict(self) -> Claim:
        names = Names(
            self.old,
            self.new,
            margin=amount_text(self.margin, self._mean.scale),
            tasks=tuple(task.task for task in self.tasks),
            missing_tasks=self.missing,
            n_absent=sum(task.reading.table.n_absent for task in self.tasks),
        )
        return verdict_claim(self.bounds, names)

    @property
    def headline(self) -> str:
        return " ".join(filter(None, (self.verdict.text, loss_claim(self.bounds).text)))

    @property
    def _mean(self) -> Loss:
        return self.bounds.left_out.mean

    @property
    def _mean_outcome(self) -> str:
        # The check may fail because of a single task while the mean does not.
        if self.bounds.is_mean_failing and self.outcome == FAIL:
            return FAIL
        if len(self.tasks) == 1:
            return self.outcome
        # The mean must also pass with absent scores at their worst.
        is_passing = max(self._mean.p_small, self.bounds.worst.mean.p_small) < regression.ERROR
        return PASS if is_passing and not self.missing else UNDECIDED

    @property
    def mean_sentence(self) -> str:
        """The mean over tasks with its limits; "" if there is one task."""
        if len(self.tasks) < 2:
            return ""
        title = f"Mean of {len(self.tasks)} tasks"
        if not self._mean.is_judged:
            return f"{title}: {self._mean_outcome}, {why_not_judged(self._mean)}."
        return (
            f"{title}: {self._mean_outcome}, {change_text(self._mean)}; "
            f"margin {amount_text(self.margin, self._mean.scale)}. Each task counts the same."
        )

    def notes(self) -> Iterator[str]:
        """Notes on the check as a whole."""
        if self.missing:
            yield (
                f"In the old run only: {', '.join(self.missing)}. Run"
                f" {'it' if len(self.missing) == 1 else 'them'} to decide."
            )
        if self.added:
            yield f"In the new run only, not compared: {', '.join(self.added)}."
        if self.bounds.is_open_by_absence and not self.missing:
            yield (
                f"With these left out it would be {self.bounds.left_out.outcome}. Ask for the"
                " missing scores again to decide."
            )
        # Missing tasks and absent scores have to be run first; more items would not help.
        lacks_scores = bool(self.missing) or self.bounds.is_open_by_absence
        is_open = self.outcome == UNDECIDED and not lacks_scores
        n_more = _n_more(self._mean) if is_open and len(self.tasks) > 1 else 0
        if n_more:
            yield (
                f"About {n_more:,} more items over all tasks would decide it four times in five,"
                " should the loss stay what it is."
            )
        if self.verdict.detail:
            yield self.verdict.detail

    def notes_on(self, task: TaskCheck) -> Iterator[str]:
        """Notes on one task; the claim on every choice comes last."""
        yield from task.notes()
        if claim := self.every_choice.get(task.task):
            yield f"{claim.text} {claim.detail}".rstrip()

    def text(self) -> str:
        lines = [self.headline, *(f"  {note}" for note in self.notes())]
        if self.mean_sentence:
            lines.append(self.mean_sentence)
        for task in self.tasks:
            lines += [task.sentence, *(f"  {note}" for note in self.notes_on(task))]
            if losers := task.reading.losers:
                more = " …" if len(losers) > MAX_NAMED else ""
                lines.append(f"  Fell: {', '.join(losers[:MAX_NAMED])}{more}")
        return "\n".join(lines)

    def markdown(self) -> str:
        lines = [f"### {_WORD[self.outcome]}", "", self.headline, ""]
        lines += [f"- {note}" for note in self.notes()]
        lines += [
            "",
            f"| task | verdict | items | change | {_LIMITS} of the loss | extractor |",
            "|---|---|---:|---:|---|---|",
        ]
        if len(self.tasks) > 1:
            title = f"mean of {len(self.tasks)} tasks"
            lines.append(_row(title, self._mean_outcome, self._mean, extractor=""))
        for task in self.tasks:
            extractor = title_of(task.reading.extractor)
            lines.append(_row(task.task, task.outcome, task.loss, extractor))
        for name in self.missing:
            undecided = f"{_WORD[UNDECIDED]} | 0 | missing from the new run"
            lines.append(f"| {_cell(name)} | {undecided} | | |")
        for task in self.tasks:
            lines += ["", f"**{task.task}**", "", *(f"- {note}" for note in self.notes_on(task))]
            if losers := task.reading.losers:
                listed = "".join(f"- `{item}`\n" for item in losers)
                title = f"{count_of(len(losers), 'item')} that fell"
                lines += ["", f"<details><summary>{title}</summary>\n\n{listed}</details>"]
        return "\n".join(lines) + "\n"

    def junit(self) -> str:
        """Return the check as JUnit XML: a case per task, first one for the mean of several tasks.
        FAIL is a failure; undecided and missing tasks are skipped."""
        cases = []
        if self.mean_sentence:
            title = f"mean of {len(self.tasks)} tasks"
            cases.append((title, self._mean_outcome, self.mean_sentence))
        cases += [(task.task, task.outcome, task.sentence) for task in self.tasks]
        for task_name in self.missing:
            cases.append((task_name, UNDECIDED, f"{task_name} is missing from the new run."))
        # JUnit has no third verdict. "Skipped" is shown and fails no pipeline.
        tags = {FAIL: "failure", UNDECIDED: "skipped"}
        lines = []
        for name, outcome, sentence in cases:
            inner = f"<{tags[outcome]} message={quoteattr(sentence)}/>" if outcome in tags else ""
            lines.append(
                f'  <testcase classname="flipscope" name={quoteattr(name)}>{inner}</testcase>'
            )
        outcomes = [outcome for _, outcome, _ in cases]
        head = (
            f'<testsuite name="flipscope check" tests="{len(cases)}"'
            f' failures="{outcomes.count(FAIL)}" skipped="{outcomes.count(UNDECIDED)}">'
        )
        start = '<?xml version="1.0" encoding="UTF-8"?>'
        return "\n".join([start, head, *lines, "</testsuite>", ""])

    def as_dict(self) -> dict[str, Any]:
        tasks = []
        for task in self.tasks:
            other_losses = {}
            for name, loss in task.other_extractors.items():
                other_losses[name] = as_json(loss.value)
            row = {
                "task": task.task,
                "outcome": task.outcome,
                "sentence": task.sentence,
                "reader": task.reading.extractor,
                **_numbers(task.loss),
                "at_worst": _numbers(task.worst),
                "at_best": _numbers(task.best),
                "n_absent": task.reading.table.n_absent,
                "fell": list(task.reading.losers),
                "notes": list(self.notes_on(task)),
                "other_readers": other_losses,
            }
            if claim := self.every_choice.get(task.task):
                row["every_choice"] = claim_fields(claim)
            tasks.append(row)
        return {
            "outcome": self.outcome,
            "headline": self.headline,
            "margin": self.margin,
            "error": regression.ERROR,
            "mean": _numbers(self._mean),
            "missing_tasks": list(self.missing),
            "added_tasks": list(self.added),
            "notes": list(self.notes()),
            "tasks": tasks,
        }


def _numbers(loss: Loss) -> dict[str, Any]:
    names = ("value", "low", "high", "p_small", "p_large", "p_loss", "n")
    return {name: as_json(getattr(loss, name)) for name in names}


def _cell(text: str) -> str:
    # A bar would end the cell of a Markdown table.
    return text.replace("|", "\\|")


def _row(name: str, outcome: str, loss: Loss, extractor: str) -> str:
    limits = "too few items"
    if not math.isnan(loss.low):
        limits = f"{amount_text(loss.low, loss.scale)} to {amount_text(loss.high, loss.scale)}"
    change = change_text(loss).partition(" [")[0]
    cells = (name, _WORD[outcome], f"{loss.n:,}", change, limits, extractor)
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def regression_check(
    old: Run, new: Run, margin: float, *, in_points: bool = True
) -> RegressionCheck:
    """Compare two runs; `margin` is in units of the score.

    `in_points` tells that the user wrote the margin in percentage points. Raises BadInput if the
    runs share no task, item or extractor, where scales differ between tasks, and for a margin in
    points of a score that is not on the scale 0 to 1.
    """
    models, parts, scored = {}, {}, {}
    for side, run in ((_OLD, old), (_NEW, new)):
        frame = _scores(run)
        models[side] = _choose_model(frame, run.model, side)
        parts[side] = frame[frame["model"] == models[side]]
        scored[side] = list(dict.fromkeys(parts[side].dropna(subset="score")["task"]))
    shared = [task for task in scored[_NEW] if task in set(scored[_OLD])]
    if not shared:
        old_tasks, new_tasks = (", ".join(scored[side]) or "none" for side in (_OLD, _NEW))
        raise BadInput(
            f"The runs share no task: the old one has {old_tasks}, the new one {new_tasks}. Give"
            " two runs of one task."
        )
    # A task that was not run again prevents a PASS.
    missing = tuple(task for task in scored[_OLD] if task not in set(shared))
    added = tuple(task for task in scored[_NEW] if task not in set(shared))
    readings = [
        _read_task(task, parts, old.study, new.study, margin, in_points=in_points)
        for task in shared
    ]
    scale_of = {reading.task: reading.table.left_out.scale for reading in readings}
    if len(set(scale_of.values())) > 1:
        widths = ", ".join(f"{task} {scale:g}" for task, scale in scale_of.items())
        raise BadInput(
            f"The tasks' scores have scales of different width ({widths}), which one margin cannot"
            " judge; give files of one task each."
        )
    bounds = bounds_of([reading.table for reading in readings], margin, has_all_tasks=not missing)
    tasks = tuple(_task_check(reading, bounds, index) for index, reading in enumerate(readings))
    return RegressionCheck(
        tasks=tasks,
        bounds=bounds,
        margin=margin,
        old=models[_OLD] or "the old run",
        new=models[_NEW] or "the new run",
        missing=missing,
        added=added,
    )


def bounds_of(tables: Sequence[TaskTable], margin: float, *, has_all_tasks: bool = True) -> Bounds:
    """Judge the tasks with absent scores left out, at their worst and at their best."""
    left_out = regression.judge([table.left_out for table in tables], margin)
    # Without absent scores all three judgements are the same.
    if not any(table.n_absent for table in tables):
        return Bounds(left_out, left_out, left_out, has_all_tasks)
    worst = regression.judge([table.worst for table in tables], margin)
    best = regression.judge([table.best for table in tables], margin)
    return Bounds(left_out, worst, best, has_all_tasks)


def _scores(run: Run) -> pd.DataFrame:
    """Return one row per sample and extractor; `score` is NaN for failed and unreadable calls."""
    names = [*run.study.scorer_names, *(part.name for part in run.study.extractors)]
    frame = scores.scores(run.store, run.study_id, list(dict.fromkeys(names)))
    # Failed calls have no stored readout, but they count as absent scores.
    frame = scores.with_failed_calls(frame, run.store, run.study_id)
    return frame.assign(task=frame["item_id"].str.partition("/")[0])


def _choose_model(frame: pd.DataFrame, name: str, side: str) -> str:
    """Return the model `name`, or the only model of the run where `name` is "".

    Raises BadInput if the choice is not possible.
    """
    models = list(dict.fromkeys(frame.dropna(subset="score")["model"]))
    if not models:
        raise BadInput(f"The {side} run holds no score.")
    if name and name not in models:
        raise BadInput(f"The {side} run has no model {name!r}; it has {', '.join(models)}.")
    if not name and len(models) > 1:
        raise BadInput(
            f"The {side} run has {len(models)} models ({', '.join(models)}); choose one with"
            f" --{side}-model."
        )
    return name or models[0]


def _task_check(reading: TaskReading, bounds: Bounds, index: int) -> TaskCheck:
    """Return the check of the task at `index` among the tasks of `bounds`."""
    if len(bounds.left_out.tasks) == 1:
        outcome = bounds.outcome
    elif not bounds.left_out.tasks[index].is_judged:
        outcome = UNDECIDED
    else:
        # One of several tasks can only fail; whether the runs pass is decided by their mean.
        outcome = FAIL if bounds.is_failing[index] else NO_VERDICT
    other_losses = {}
    for name, scores_read in reading.other_extractors.items():
        other_losses[name] = regression.loss_of([scores_read], reading.margin)
    loss = bounds.left_out.tasks[index]
    worst, best = bounds.worst.tasks[index], bounds.best.tasks[index]
    return TaskCheck(
        reading, loss, outcome=outcome, worst=worst, best=best, other_extractors=other_losses
    )


def _read_task(
    task: str,
    parts: Mapping[str, pd.DataFrame],
    old: Study,
    new: Study,
    margin: float,
    *,
    in_points: bool,
) -> TaskReading:
    """Read one task of both runs by the extractor that leads in the new run."""
    asked = {side: part[part["task"] == task] for side, part in parts.items()}
    scored = {side: part.dropna(subset="score") for side, part in asked.items()}
    old_extractors = set(scored[_OLD]["extractor"])
    new_extractors = dict.fromkeys(scored[_NEW]["extractor"])
    shared = [name for name in new_extractors if name in old_extractors]
    if not shared:
        old_names, new_names = (
            ", ".join(dict.fromkeys(scored[side]["extractor"])) for side in (_OLD, _NEW)
        )
        raise BadInput(
            f"{task}: the old run was read by {old_names}, the new one by {new_names}; no"
            " extractor read both."
        )
    scorers = [scorer for scorer in new.scorers if scorer["task"] == task]
    extractor = default_reference(shared, [str(scorer["scorer"]) for scorer in scorers])
    reducers = [scorer.get("reducer", MEAN) for scorer in scorers if scorer["scorer"] == extractor]
    # A log's custom reducer cannot be recomputed from the rows, so the mean is compared then.
    reducer = str(reducers[0]) if reducers and is_known(str(reducers[0])) else MEAN
    low, high = _scale(extractor, task, old, new)
    if in_points and (low, high) != (0.0, 1.0):
        raise BadInput(
            f"{task}: {extractor} gives scores from {low:g} to {high:g}, which have no percentage"
            " points; write --margin as a number on it."
        )
    # Where the runs name an item's cluster differently, the new run's name wins.
    rows_asked = pd.concat([asked[_NEW], asked[_OLD]])
    clusters = rows_asked.groupby("item_id")["family"].first().astype(str)
    table = task_table(asked, extractor, reducer, ends=(low, high), clusters=clusters)
    by_item = table.by_item
    if by_item.dropna().empty:
        raise BadInput(
            f"{task}: the runs share no item: their ids differ, or their questions, options or"
            " right answers. To match by the question alone: --map item=COLUMN of the question."
        )
    # The largest losses first; ties keep the order of the items.
    fell = (by_item[_OLD] - by_item[_NEW]).dropna().sort_values(ascending=False, kind="stable")
    other_extractors = {}
    for name in shared:
        if name != extractor and (name in EXTRACTORS or name in new.scorer_names):
            # Other extractors give 0 or 1, whatever the scale of the deciding scorer.
            other_extractors[name] = _task_scores(_by_item(scored, name, MEAN), clusters, 1.0)
    return TaskReading(
        task,
        extractor,
        table,
        other_extractors,
        losers=tuple(fell.index[fell > 0])[:MAX_LOSERS],
        floor=_noise_floor(scored[_OLD], extractor),
        n_old=int(by_item[_OLD].notna().sum()),
        n_new=int(by_item[_NEW].notna().sum()),
        margin=margin,
        has_versions=bool(rows_asked["has_versions"].any()),
        has_raters=old.has_raters and extractor in old.scorer_names,
    )


def _scale(extractor: str, task: str, *sides: Study) -> tuple[float, float]:
    """Return the ends of a score's scale over both runs; 0 and 1 where none is declared."""
    lows, highs = [], []
    for scorer in chain.from_iterable(study.scorers for study in sides):
        if (scorer["task"], scorer["scorer"]) == (task, extractor):
            low, high = scale_of(scorer)
            lows.append(low)
            highs.append(high)
    return min(lows, default=0.0), max(highs, default=1.0)


def _by_item(rows: Mapping[str, pd.DataFrame], extractor: str, reducer: str) -> pd.DataFrame:
    """Return a row per item with the columns old and new; NaN where a run has no score of it."""
    columns = {}
    for side, part in rows.items():
        scored = part[part["extractor"] == extractor]
        columns[side] = item_scores(scored["score"], scored["item_id"], reducer)
    return pd.DataFrame(columns)


def _task_scores(by_item: pd.DataFrame, clusters: pd.Series, scale: float) -> TaskScores:
    item_clusters = clusters.reindex(by_item.index).to_numpy(dtype=str)
    old_scores, new_scores = (by_item[side].to_numpy(dtype=float) for side in (_OLD, _NEW))
    return TaskScores(old_scores, new_scores, item_clusters, scale)


def task_table(
    asked: Mapping[str, pd.DataFrame],
    extractor: str,
    reducer: str = MEAN,
    *,
    ends: tuple[float, float] = (0.0, 1.0),
    clusters: pd.Series,
) -> TaskTable:
    """Tabulate one task's scores with absent ones left out, at their worst and at their best.

    `asked` is run -> rows, one per item, sample and extractor, with `score` NaN where absent.
    `ends` are those of the scale, `clusters` names each item's cluster.
    """
    low, high = ends
    scored = {side: part.dropna(subset="score") for side, part in asked.items()}
    by_item = _by_item(scored, extractor, reducer)
    left_out = _task_scores(by_item, clusters, high - low)
    # Items that only the new run asked are not compared, so they lack nothing.
    old_items = set(asked[_OLD]["item_id"])
    compared = [item for item in by_item.index if item in old_items]
    n_added = len(by_item) - len(compared)
    lacking = {}
    for side in (_OLD, _NEW):
        lacking[side] = _lacking_runs(asked[side], scored[side], extractor, compared)
    is_absent = (lacking[_OLD] > 0) | (lacking[_NEW] > 0)
    if not is_absent.any():
        return TaskTable(by_item, left_out, left_out, left_out, n_absent=0, n_added=n_added)

    def filled(old_score: float, new_score: float) -> TaskScores:
        complete = {
            _OLD: _with_fill(scored[_OLD], extractor, lacking[_OLD], old_score),
            _NEW: _with_fill(scored[_NEW], extractor, lacking[_NEW], new_score),
        }
        filled_items = _by_item(complete, extractor, reducer).reindex(compared)
        return _task_scores(filled_items, clusters, high - low)

    # Worst for the new run: its absent scores are lowest and those of the old run highest.
    worst, best = filled(high, low), filled(low, high)
    n_absent = int(is_absent.sum())
    return TaskTable(by_item, left_out, worst, best, n_absent=n_absent, n_added=n_added)


def _lacking_runs(
    asked: pd.DataFrame, rows: pd.DataFrame, extractor: str, items: list[str]
) -> pd.Series:
    """Return the number of runs of each item that have no score under an extractor."""
    n_asked = asked.drop_duplicates(["item_id", "sample"])["item_id"].value_counts()
    # Logs do not state how many runs were planned, so the most frequent number counts.
    n_usual = int(n_asked.mode().max())
    is_read = rows["extractor"] == extractor
    n_scored = rows[is_read].drop_duplicates(["item_id", "sample"])["item_id"].value_counts()
    return (n_usual - n_scored.reindex(items, fill_value=0)).clip(lower=0)


def _with_fill(
    rows: pd.DataFrame, extractor: str, lacking: pd.Series, score: float
) -> pd.DataFrame:
    """Return the rows with a row of `score` added for each lacking run."""
    items = np.repeat(lacking.index.to_numpy(), lacking.to_numpy())
    added = pd.DataFrame({"item_id": items, "extractor": extractor, "score": score})
    return pd.concat([rows[["item_id", "extractor", "score"]], added], ignore_index=True)


def _noise_floor(part: pd.DataFrame, extractor: str) -> float:
    """Return the mean share of an item's pairs of runs with different scores. NaN where every item
    ran once."""
    rows = part[part["extractor"] == extractor]
    shares = []
    for _, item_rows in rows.groupby("item_id")["score"]:
        n = len(item_rows)
        if n > 1:
            _, counts = np.unique(item_rows.to_numpy(), return_counts=True)
            n_equal_pairs = float((counts * (counts - 1)).sum())
            shares.append(1 - n_equal_pairs / (n * (n - 1)))
    return float(np.mean(shares)) if shares else math.nan
