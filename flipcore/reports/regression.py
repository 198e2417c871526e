"""Two runs compared by the gate: what moved, which items broke, whether the model or the reader changed, and what decides it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.extractors import EXTRACTORS, title_of
from flipcore.reports.rows import plain
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.score import regression
from flipcore.stats.score.reducers import MEAN, is_known, item_scores
from flipcore.stats.score.regression import FAIL, PASS, UNDECIDED, Loss
from flipcore.store.connection import Store
from flipcore.store.queries import scores, studies
from flipcore.text.counts import count_of

N_BROKEN = 20  # items that a summary lists
_WORD = {PASS: "✓ PASS", FAIL: "✗ FAIL", UNDECIDED: "– UNDECIDED"}


@dataclass(frozen=True)
class Run:
    """One side: a stored study and which of its models is meant ("" where it has one)."""

    store: Store
    study_id: str
    model: str = ""

    @property
    def study(self) -> Study:
        return studies.declared(self.store, self.study_id)


@dataclass(frozen=True, eq=False)
class TaskCheck:
    """One task: its loss under the reader that decides, and under others that read the stored outputs of both runs. `floor` is how often
    reruns of the old prompt differ in score, NaN where it ran once; `n_old` and `n_new` are the items that each run has."""

    task: str
    reader: str
    loss: Loss
    outcome: str
    others: Mapping[str, Loss]
    losers: tuple[str, ...]
    floor: float
    n_old: int
    n_new: int
    scale: float

    def sentence(self, margin: float) -> str:
        """The verdict, the loss with its limits, and what it rests on."""
        one, unit = self.loss, self._text
        if one.n < regression.MIN_N:
            return f"{self.task}: {self.outcome}, {count_of(one.n, 'shared item is', 'shared items are')} too few to judge by."
        loss = f"loss {unit(one.value)} [{unit(one.low)}, {unit(one.high)}] on {one.n:,} items"
        within = " A loss is shown, within the margin." if self.outcome == PASS and one.low > 0 else ""
        return f"{self.task}: {self.outcome}, {loss} by {title_of(self.reader).lower()}; margin {unit(margin)}.{within}"

    def notes(self, margin: float) -> Iterator[str]:
        """What else a reader of the verdict asks."""
        n = self.loss.n
        if n < max(self.n_old, self.n_new):
            yield f"{self.n_old:,} items in the old run, {self.n_new:,} in the new one: judged on the {n:,} that both have."
        yield f"{count_of(self.loss.n_fell, 'item')} fell, {self.loss.n_rose:,} rose."
        if not math.isnan(self.floor):
            yield f"Reruns of the old run differ on {number_text(self.floor)} of its items' pairs of runs; the limits hold this noise."
        for name, other in self.others.items():
            read = f"loss {self._text(other.value)} [{self._text(other.low)}, {self._text(other.high)}]"
            yield f"The stored outputs of both runs read by {title_of(name).lower()}: {read}."
        if self.outcome == UNDECIDED and math.isfinite(need := self.loss.n_to_decide(margin)):
            more = max(0, math.ceil(need) - n)
            yield f"About {more:,} more items would decide it four times in five, should the loss stay what it is."

    def _text(self, value: float) -> str:
        return f"{number_text(100 * value, 1, sign=True)} points" if self.scale == 1 else number_text(value, 2, sign=True)


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """All tasks together."""

    tasks: tuple[TaskCheck, ...]
    outcome: str
    margin: float
    old: str
    new: str

    @property
    def headline(self) -> str:
        why = {
            PASS: "no task lost the margin or more",
            FAIL: "a loss is shown",
            UNDECIDED: "a loss of the margin is neither shown nor excluded",
        }[self.outcome]
        of = f" on {count_of(len(self.tasks), 'task')}" if len(self.tasks) > 1 else ""
        return f"{self.outcome}: {self.new} against {self.old}{of}, {why}."

    def text(self) -> str:
        lines = [self.headline]
        for one in self.tasks:
            lines += [one.sentence(self.margin), *(f"  {note}" for note in one.notes(self.margin))]
            lines += [f"  Fell: {', '.join(one.losers[:8])}{' …' if len(one.losers) > 8 else ''}"] * bool(one.losers)
        return "\n".join(lines)

    def markdown(self) -> str:
        lines = [f"### {_WORD[self.outcome]}", "", self.headline, "", "| task | verdict | items | loss | 90% limits | reader |"]
        lines += ["|---|---|---:|---:|---|---|"]
        for one in self.tasks:
            limits = f"{one._text(one.loss.low)} to {one._text(one.loss.high)}"
            cells = (one.task, _WORD[one.outcome], f"{one.loss.n:,}", one._text(one.loss.value), limits, title_of(one.reader))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        for one in self.tasks:
            lines += ["", f"**{one.task}**", "", *(f"- {note}" for note in one.notes(self.margin))]
            if one.losers:
                listed = "".join(f"- `{item}`\n" for item in one.losers)
                lines += [
                    "",
                    f"<details><summary>{count_of(len(one.losers), 'item')} that fell</summary>\n\n{listed}</details>",
                ]
        return "\n".join(lines) + "\n"

    def junit(self) -> str:
        """One case a task: a failure where it failed, skipped where it is undecided."""
        cases = []
        for one in self.tasks:
            message = quoteattr(one.sentence(self.margin))
            inner = {FAIL: f"<failure message={message}/>", UNDECIDED: f"<skipped message={message}/>"}.get(one.outcome, "")
            cases.append(f'  <testcase classname="flipscope" name={quoteattr(one.task)}>{inner}</testcase>')
        n_failed, n_open = (sum(one.outcome == word for one in self.tasks) for word in (FAIL, UNDECIDED))
        head = f'<testsuite name="flipscope check" tests="{len(self.tasks)}" failures="{n_failed}" skipped="{n_open}">'
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>", ""])

    def as_dict(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "headline": self.headline,
            "margin": self.margin,
            "error": regression.ERROR,
            "tasks": [
                {
                    "task": one.task,
                    "outcome": one.outcome,
                    "sentence": one.sentence(self.margin),
                    "reader": one.reader,
                    **{name: plain(getattr(one.loss, name)) for name in ("value", "low", "high", "p_small", "p_loss", "n")},
                    "fell": list(one.losers),
                    "notes": list(one.notes(self.margin)),
                    "other_readers": {name: plain(other.value) for name, other in one.others.items()},
                }
                for one in self.tasks
            ],
        }


def regression_check(old: Run, new: Run, margin: float, in_points: bool = True) -> RegressionCheck:
    """`margin` in units of the score. Raises BadInput where the runs share no task, item or reader, and for a margin in percentage points
    of a score that is no share."""
    frames = {side: _scores(run) for side, run in (("old", old), ("new", new))}
    models = {side: _model(frames[side], run.model, side) for side, run in (("old", old), ("new", new))}
    parts = {side: frame[frame["model"] == models[side]] for side, frame in frames.items()}
    tasks = [one for one in dict.fromkeys(parts["new"]["task"]) if one in set(parts["old"]["task"])]
    if not tasks:
        there = [", ".join(dict.fromkeys(part["task"])) or "none" for part in parts.values()]
        raise BadInput(
            f"The runs share no task: the old one has {there[0]}, the new one {there[1]}. Give two runs of one task."
        )
    checks = tuple(_task(task, parts, old.study, new.study, margin, in_points) for task in tasks)
    together = regression.outcome([one.loss for one in checks])
    return RegressionCheck(checks, together, margin, models["old"] or "the old run", models["new"] or "the new run")


def _scores(run: Run) -> pd.DataFrame:
    names = [*run.study.scorer_names, *(part.name for part in run.study.extractors)]
    frame = scores.scores(run.store, run.study_id, list(dict.fromkeys(names)))
    return frame.assign(task=frame["item_id"].str.partition("/")[0]).dropna(subset="score")


def _model(frame: pd.DataFrame, name: str, side: str) -> str:
    """The one model of a run, or the one that is named."""
    there = list(dict.fromkeys(frame["model"]))
    if not there:
        raise BadInput(f"The {side} run holds no score.")
    if name and name not in there:
        raise BadInput(f"The {side} run has no model {name!r}; it has {', '.join(there)}.")
    if not name and len(there) > 1:
        raise BadInput(f"The {side} run has {len(there)} models ({', '.join(there)}); choose one with --{side}-model.")
    return name or there[0]


def _task(task: str, parts: Mapping[str, pd.DataFrame], old: Study, new: Study, margin: float, in_points: bool) -> TaskCheck:
    of_task = {side: part[part["task"] == task] for side, part in parts.items()}
    both = [name for name in dict.fromkeys(of_task["new"]["extractor"]) if name in set(of_task["old"]["extractor"])]
    if not both:
        readers = [", ".join(dict.fromkeys(part["extractor"])) for part in of_task.values()]
        raise BadInput(f"{task}: the old run was read by {readers[0]}, the new one by {readers[1]}; no reader read both.")
    own = [one for one in new.scorers if one["task"] == task]
    reader = default_reference(both, [str(one["scorer"]) for one in own])
    scorer = next((one for one in own if one["scorer"] == reader), {})
    reducer = str(scorer.get("reducer", MEAN))
    low, high = _scale(reader, task, old, new)
    if in_points and (low, high) != (0.0, 1.0):
        raise BadInput(
            f"{task}: {reader} gives scores from {low:g} to {high:g}, which have no percentage points; write --margin as a number on it."
        )
    by_reader = {name: _by_item(of_task, name, reducer if name == reader and is_known(reducer) else MEAN) for name in both}
    table = by_reader[reader]
    if table.dropna().empty:
        raise BadInput(f"{task}: the runs share no item; their questions, options or right answers are not the same.")
    families = of_task["new"].groupby("item_id")["family"].first().reindex(table.index).to_numpy()
    values = {
        name: _loss(one, margin, high - low if name == reader else 1.0, families, table.index)
        for name, one in by_reader.items()
    }
    fell = (table["old"] - table["new"]).dropna().sort_values(ascending=False, kind="stable")
    losers = tuple(fell.index[fell > 0])[:N_BROKEN]
    n_old, n_new = (of_task[side].loc[of_task[side]["extractor"] == reader, "item_id"].nunique() for side in ("old", "new"))
    others = {name: one for name, one in values.items() if name != reader and (name in EXTRACTORS or name in new.scorer_names)}
    loss = values[reader]
    return TaskCheck(task, reader, loss, loss.outcome, others, losers, _floor(of_task["old"], reader), n_old, n_new, high - low)


def _scale(reader: str, task: str, *sides: Study) -> tuple[float, float]:
    """What a score can be, over both runs."""
    rows = [one for side in sides for one in side.scorers if (one["task"], one["scorer"]) == (task, reader)]
    lows, highs = ([float(one.get(key, default)) for one in rows] for key, default in (("low", 0.0), ("high", 1.0)))
    return min(lows, default=0.0), max(highs, default=1.0)


def _by_item(of_task: Mapping[str, pd.DataFrame], reader: str, reducer: str) -> pd.DataFrame:
    """Items × (old, new), NaN where a run has no score of the item."""
    columns = {}
    for side, part in of_task.items():
        rows = part[part["extractor"] == reader]
        columns[side] = item_scores(rows["score"], rows["item_id"], reducer)
    return pd.DataFrame(columns)


def _loss(table: pd.DataFrame, margin: float, scale: float, families: np.ndarray, items: pd.Index) -> Loss:
    own = table.reindex(items)
    return regression.loss(
        own["old"].to_numpy(dtype=float), own["new"].to_numpy(dtype=float), margin, scale, families.astype(str)
    )


def _floor(part: pd.DataFrame, reader: str) -> float:
    """How often two runs of an item differ in score; NaN where it ran once."""
    rows = part[part["extractor"] == reader]
    by_item = rows.groupby("item_id")["score"]
    pairs = [_share_of_pairs(one.to_numpy()) for _, one in by_item if len(one) > 1]
    return float(np.mean(pairs)) if pairs else math.nan


def _share_of_pairs(values: np.ndarray) -> float:
    n, (_, counts) = len(values), np.unique(values, return_counts=True)
    return 1 - float((counts * (counts - 1)).sum()) / (n * (n - 1))
