"""Scores by a log's own scorers, per task: the scorer and reducer that the log names first lead.

Tasks are never pooled. Where the rows do not determine a score (a corpus measure, a custom
reducer), the log's reported score is taken.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from flipcore.claims.claim import Claim, description
from flipcore.claims.score import OTHER_QUESTIONS
from flipcore.core.grade_scales import scale_of
from flipcore.core.records import LOWER_IS_BETTER
from flipcore.core.study import Study
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import Estimate, missing, number_text, without_interval
from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.score.absence import absence_matters, absence_words, widen_for_absence
from flipcore.stats.score.cells import score_cells
from flipcore.stats.score.error_bar import error_bar
from flipcore.stats.score.reducers import MEAN, is_known, item_scores
from flipcore.store.connection import Store
from flipcore.store.queries import scores as queries
from flipcore.store.queries.audit import reported
from flipcore.text.counts import count_of, with_capital

MAX_PASSES = 8  # the largest k of pass^k
MIXED = "not always alike"  # the share of items whose runs differ
FLOOR = "two runs differ"  # the share of an item's pairs of runs that differ
MAX_TASKS = 3  # most tasks that a headline names


@dataclass(frozen=True)
class TaskScore:
    """The score of one model on one task.

    `role` is "" unless the task's items are in several roles. `scale` has the ends of the scale, as
    declared (`is_declared`) or as the rows show. `n_epochs` is the largest number of runs of an
    item, 0 where the score is the log's reported one. `has_raters` is True if the runs are ratings
    of one output by several people. `has_versions` is True if other prompts
    were asked too; the score is at the own prompt. `absent` is the share of calls without a score,
    0 where it is too small to matter. `items` are the ids of the scored items, lowest scores first.
    """

    model: str
    task: str
    role: str
    scorer: str
    reducer: str
    mean: Estimate
    n_items: int
    n_epochs: int
    scale: tuple[float, float]
    is_share: bool
    is_declared: bool = False
    passes: tuple[tuple[str, Estimate], ...] = ()
    has_versions: bool = False
    absent: float = 0.0
    items: tuple[str, ...] = ()
    has_raters: bool = False

    def passes_words(self) -> str:
        """Return "airline, reward, of 4 runs per item: pass^1 42.0% [29.1, 56.1], …". "" if each
        item ran once, for grades, and for ratings by several people."""
        if not self.passes:
            return ""
        shares = ", ".join(f"{name} {share.text_percent(1)}" for name, share in self.passes)
        runs = f"{self.n_epochs} runs per item{self._prompt_words}"
        return f"{self.task}, {self.scorer}, of {runs}: {shares}."

    @property
    def _prompt_words(self) -> str:
        return " at the own prompt" if self.has_versions else ""

    def words(self) -> str:
        """Return "42% [31, 54] of 50 items, by reward (mean of 4 epochs)"."""
        if not self.n_epochs:
            reducer = "" if self.reducer == MEAN else f" ({self.reducer})"
            return (
                f"{number_text(self.mean.value, 2)} by {self.scorer}{reducer}, as the log reports"
                " it: its rows do not give this number"
            )
        if math.isnan(self.mean.value):
            return f"not defined by {self.scorer}"
        value = self.mean.text_percent() if self.is_share else self.mean.text()
        if self.scale != (0.0, 1.0):
            # The rows may not reach the ends of an undeclared scale.
            seen = "" if self.is_declared else " seen"
            value += f" on a scale{seen} from {self.scale[0]:g} to {self.scale[1]:g}"
        items = count_of(self.n_items, "item")
        if self.mean.n < self.n_items:
            items += f" in {count_of(self.mean.n, 'cluster')}"
        scorer = self.scorer
        if self.n_epochs > 1 or self.reducer != MEAN:
            noun = "rater" if self.has_raters else "epoch"
            scorer += f" ({self.reducer} of {count_of(self.n_epochs, noun)})"
        note = "" if self.mean.has_interval else ", too few for an interval"
        return f"{value} of {items}{self._prompt_words}, by {scorer}{note}"

    @property
    def verb(self) -> str:
        """The text before `words`, as in "right on 42% of 50 items"."""
        if math.isnan(self.mean.value):
            return "score"
        return "right on" if self.is_share else "mean score"


def task_scores(store: Store, study_id: str, study: Study) -> list[TaskScore]:
    """Return the score per model, task, scorer and reducer, in the log's order. Empty for studies
    without a log's scorers."""
    if not study.scorers:
        return []
    scorers = [str(scorer["scorer"]) for scorer in study.scorers]
    # Other extractors' rows tell failed calls from calls that a scorer was not meant for.
    extractors = [part.name for part in study.extractors]
    frame = queries.scores(store, study_id, list(dict.fromkeys([*scorers, *extractors])))
    frame = queries.with_failed_calls(frame, store, study_id)
    frame = frame.assign(task=frame["item_id"].str.partition("/")[0])
    return _scores_of_study(frame, study)


def scores_of(rows: Sequence[Mapping[str, Any]], study: Study) -> list[TaskScore]:
    """Return the scores of rows with model, task, item_id, role, extractor, score and family."""
    return _scores_of_study(pd.DataFrame(rows), study) if rows else []


def _scores_of_study(frame: pd.DataFrame, study: Study) -> list[TaskScore]:
    scores = list(_scores(frame, study.scorers, reported(study)))
    if not study.has_raters:
        return scores
    # pass^k is about runs of a model, not about people who rated one output.
    return [replace(score, passes=(), has_raters=True) for score in scores]


def _scores(
    frame: pd.DataFrame,
    scorers: Iterable[Mapping[str, Any]],
    reported_scores: Sequence[Mapping[str, Any]],
) -> Iterator[TaskScore]:
    """Yield a score per scorer, model and role. `frame` has the rows of scorers and extractors."""
    models = list(dict.fromkeys([*frame["model"], *(row["model"] for row in reported_scores)]))
    stated: dict[tuple[str, ...], Any] = {}
    for row in reported_scores:
        # An import adds "(log)" where an extractor already has the readout's name.
        for name in (row["readout"], f"{row['readout']} (log)"):
            key = (row["model"], row["task"], name, row.get("reducer") or MEAN)
            stated.setdefault(key, row["value"])
    by_task = {str(task): part for task, part in frame.groupby("task", sort=False, observed=True)}
    no_rows = frame.iloc[:0]
    for scorer in scorers:
        task, name = str(scorer["task"]), str(scorer["scorer"])
        reducer = str(scorer.get("reducer", MEAN))
        task_rows = by_task.get(task, no_rows)
        values = task_rows.loc[task_rows["extractor"] == name, "score"].dropna()
        # A model with only 0 and 1 is worded as one with 0.5.
        has_grades = not values.isin((0.0, 1.0)).all()
        for model in models:
            asked = task_rows[task_rows["model"] == model]
            part = asked[asked["extractor"] == name]
            # A score that the rows determine replaces the reported one.
            if part["score"].notna().any() and is_known(reducer) and scorer.get("of_rows", True):
                roles = list(part["role"].unique())
                for role in roles:
                    scored, asked_in_role = part[part["role"] == role], asked[asked["role"] == role]
                    shown_role = str(role) if len(roles) > 1 else ""
                    score = _score(scored, asked_in_role, model, shown_role, scorer)
                    yield replace(score, is_share=False, passes=()) if has_grades else score
                continue
            value = stated.get((model, task, name, reducer))
            if value is not None:
                mean = without_interval(float(value), 0, 0.95)
                yield TaskScore(
                    model=model,
                    task=task,
                    role="",
                    scorer=name,
                    reducer=reducer,
                    mean=mean,
                    n_items=0,
                    n_epochs=0,
                    scale=scale_of(scorer),
                    is_share=False,
                )


def _score(
    part: pd.DataFrame, asked: pd.DataFrame, model: str, role: str, scorer: Mapping[str, Any]
) -> TaskScore:
    """Return a score of `part`, the scorer's rows; `asked` has those of all extractors."""
    reducer, scale = str(scorer.get("reducer", MEAN)), scale_of(scorer)
    by_item = item_scores(part["score"], part["item_id"], reducer)
    clusters = part.groupby("item_id", sort=False)["family"].first().reindex(by_item.index)
    n_epochs = int(part["score"].notna().groupby(part["item_id"]).sum().max())
    # Values 0 and 1 are a share of right answers only if higher is better.
    are_verdicts = scale == (0.0, 1.0) and bool(part["score"].dropna().isin((0.0, 1.0)).all())
    is_share = are_verdicts and not str(scorer["scorer"]).endswith(LOWER_IS_BETTER)
    mean = accuracy(by_item, clusters) if is_share else _grade(by_item, clusters, scale)
    mean, absent = _bounded(mean, part, asked, reducer, is_share=is_share, scale=scale)
    passes = tuple(_passes(part, clusters, n_epochs)) if is_share and n_epochs > 1 else ()
    return TaskScore(
        model=model,
        task=str(scorer["task"]),
        role=role,
        scorer=str(scorer["scorer"]),
        reducer=reducer,
        mean=mean,
        n_items=int(by_item.notna().sum()),
        n_epochs=n_epochs,
        scale=scale,
        is_share=is_share,
        is_declared=bool(scorer.get("is_declared")),
        passes=passes,
        has_versions=bool(part["has_versions"].any()),
        absent=absent,
        items=tuple(map(str, by_item.dropna().sort_values(kind="stable").index)),
    )


def _bounded(
    mean: Estimate,
    part: pd.DataFrame,
    asked: pd.DataFrame,
    reducer: str,
    *,
    is_share: bool,
    scale: tuple[float, float],
) -> tuple[Estimate, float]:
    """Return the mean with limits that allow for failed calls, and the share of these calls.

    Where they do not matter, return the mean as it is and 0. A call failed where the scorer's row
    has no score, or where no extractor read anything of the item.
    """
    is_read = asked["score"].notna().groupby(asked["item_id"]).any()
    scored_items = set(part["item_id"])
    failed_items = [item for item in is_read.index[~is_read] if item not in scored_items]
    n_epochs = int(part["score"].notna().groupby(part["item_id"]).sum().max())
    n_absent = int(part["score"].isna().sum()) + len(failed_items) * n_epochs
    # Without limits there is nothing to widen.
    if not n_absent or not mean.has_interval:
        return mean, 0.0
    share = n_absent / (n_absent + int(part["score"].notna().sum()))
    rows = part
    if failed_items:
        failed = asked[asked["item_id"].isin(failed_items)].drop_duplicates("item_id")
        rows = pd.concat([part, pd.concat([failed] * n_epochs).assign(score=math.nan)])
    ends = []
    for end in scale:
        filled = rows.assign(score=rows["score"].fillna(end))
        by_item = item_scores(filled["score"], filled["item_id"], reducer)
        families = filled.groupby("item_id", sort=False)["family"].first().reindex(by_item.index)
        ends.append(accuracy(by_item, families) if is_share else _grade(by_item, families, scale))
    shift = max(abs(end.value - mean.value) for end in ends)
    # A 95% interval is about four standard errors wide.
    se = (mean.high - mean.low) / 4
    if not absence_matters(share, shift, se):
        return mean, 0.0
    return widen_for_absence(mean, ends[0], ends[1], share), share


def _grade(by_item: pd.Series, families: pd.Series, scale: tuple[float, float]) -> Estimate:
    """Return the mean of grades with the limits of a score in one wording."""
    rows = pd.DataFrame(
        {
            "item_id": by_item.index,
            "wording": "",
            "score": by_item.to_numpy(),
            "family": families.to_numpy(),
        }
    )
    cells = score_cells(rows, scale if scale[0] < scale[1] else None)
    return error_bar(cells).by_questions if cells.mean.size else missing()


def _passes(
    part: pd.DataFrame, families: pd.Series, n_epochs: int
) -> Iterator[tuple[str, Estimate]]:
    """Yield pass^k per k, pass@k for the largest k, and how far runs of an item differ. pass^k is
    the chance that k runs of an item are all right, pass@k that at least one is."""
    largest_k = min(n_epochs, MAX_PASSES)
    for k in range(1, largest_k + 1):
        by_item = item_scores(part["score"], part["item_id"], f"pass_hat_{k}").dropna()
        yield f"pass^{k}", accuracy(by_item, families.reindex(by_item.index))
    # For an item with fewer than k runs pass@k is unknown, but the reducer would call it right.
    n_runs = part["score"].notna().groupby(part["item_id"]).sum()
    by_item = item_scores(part["score"], part["item_id"], f"pass_at_{largest_k}")
    by_item = by_item[n_runs.reindex(by_item.index) >= largest_k]
    yield f"pass@{largest_k}", accuracy(by_item, families.reindex(by_item.index))
    by_item = item_scores(part["score"], part["item_id"])
    by_item = by_item[n_runs.reindex(by_item.index) > 1]
    is_mixed = ((by_item > 0) & (by_item < 1)).astype(float)
    yield MIXED, accuracy(is_mixed, families.reindex(by_item.index))
    # Two runs of an item differ where exactly one is right: 2 (share right − share both right).
    right = item_scores(part["score"], part["item_id"], "pass_hat_1")
    twice_right = item_scores(part["score"], part["item_id"], "pass_hat_2")
    by_item = 2 * (right - twice_right).dropna()
    # The same interval as that of an audit's noise floor, because it is the same quantity.
    yield FLOOR, mean_interval(by_item, families.reindex(by_item.index))


def leading(scores: Sequence[TaskScore], model: str) -> list[TaskScore]:
    """Return a model's leading score per task and role: by the task's first scorer and reducer."""
    first: dict[tuple[str, str], TaskScore] = {}
    scorer_of: dict[str, str] = {}
    for score in scores:
        # A later scorer never leads, even in a role that the task's first scorer did not score.
        if score.model == model and scorer_of.setdefault(score.task, score.scorer) == score.scorer:
            first.setdefault((score.task, score.role), score)
    return list(first.values())


def sentences_of_tasks(scores: Sequence[TaskScore], prefix: str = "") -> list[str]:
    """Word one model's scores, a text each; `prefix` will come before the first."""
    has_tasks = len({score.task for score in scores}) > 1
    sentences = []
    for score in scores:
        labels = [score.task] if has_tasks else []
        if score.role:
            labels.append(score.role.replace("_", " "))
        label = f"{', '.join(labels)}: " if labels else ""
        sentence = f"{score.verb} {score.words()}."
        if not label and not prefix:
            sentence = with_capital(sentence)
        absence = f" {absence_words(score.absent)}" if score.absent else ""
        sentences.append(f"{label}{sentence}{absence}")
    return sentences


def score_claim(scores: Sequence[TaskScore], model: str, prefix: str = "") -> Claim:
    """Word a model's scores, one sentence per task; `prefix` comes first."""
    first = leading(scores, model)
    # How many tasks there are decides whether each is named, so all are worded.
    sentences = sentences_of_tasks(first, prefix)[:MAX_TASKS]
    if len(first) > MAX_TASKS:
        sentences.append(
            f"{count_of(len(first) - MAX_TASKS, 'further task')} under Every estimate."
        )
    has_interval = any(score.mean.has_interval for score in first[:MAX_TASKS])
    detail = OTHER_QUESTIONS if has_interval else ""
    return description(f"{prefix}{' '.join(sentences)}", detail=detail)
