"""A score with its whole error bar, of every model of a study: the sentence, the dots of wordings
and readers, whose the uncertainty is, and where the next call goes. Cards, pages, command line,
notebook and report are views of it."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.charts.score import ScoreBars
from flipcore.claims import score as claims
from flipcore.claims.claim import Claim
from flipcore.claims.corrected_ranks import Labelled, PairByPeople, pairs_by_people, ranks_by_people
from flipcore.core.records import ABSENT, BASE, IDENTITY, OK, role_name
from flipcore.core.wordings import COMBINED
from flipcore.extractors import title_of
from flipcore.reports.ranking import roles_of
from flipcore.reports.read_by_people import ReaderErrors, corrected_score
from flipcore.reports.rows import Row, claim_fields, plain
from flipcore.reports.unread import unread_share, why_unread
from flipcore.stats.base.accuracy import tasks_of
from flipcore.stats.base.estimate import MISSING, Estimate, number_text, p_text, percent_text
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.score.absence import absence_matters, absence_words, bounded
from flipcore.stats.score.additivity import way_gaps
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import Components, ErrorBar, error_bar, shares
from flipcore.stats.score.next_calls import (
    FEW_DRAWS,
    Design,
    at_most,
    careful_components,
    gains,
    half_width,
    has_few_prompts,
)
from flipcore.stats.score.reducers import MEAN
from flipcore.text.counts import count_of

# (item, way of asking) -> axis -> its variant.
Settings = Mapping[tuple[str, str], Mapping[str, str]]
LEVEL, N_CALLS = 0.95, 100
OWN = "own prompt"
COLUMNS = [
    *(
        "model",
        "item_id",
        "axis",
        "variant_id",
        "variant",
        "sample",
        "extractor",
        "is_correct",
        "family",
        "status",
    )
]
MANY_UNREAD = 0.05  # of a model's answers, from which its score says so
LEAST_SHARED = 0.9  # of the questions of two readers, for one's score to stand beside the other's
FEWEST_CALLS = 6  # that can be split: three wordings of two questions
MOST_QUESTIONS = 100_000  # that a budget may be split into
# Metrics of a log that are the mean of its scores.
MEANS = ("", "accuracy", "acc", "exact_match", "mean")
INTERVALS = {
    "reruns": "run again",
    "questions": "other questions",
    "wordings": "other questions and wordings",
    "elsewhere": "another wording, once",
}
# On screen; the names above are those of exported files.
INTERVAL_TITLES = {
    "reruns": "reruns",
    "questions": "other questions",
    "wordings": "other questions and prompts",
    "elsewhere": "another prompt, once",
}
_DRAWN_AT_RANDOM = re.compile(r"way-(\d+)")


@dataclass(frozen=True, eq=False)
class ModelScore:
    """One model under the reference reader. A wording is named by its way
    ("option_order|rotate-1"). `readers` are the bars of all readers of the same wordings, `changes`
    that of each axis whose wordings are not among them (the study's own prompt and one change at a
    time), `own_prompt` the score at that prompt where it is none of the wordings, `own_way` its
    name, `published` what a log says of itself, `why_not` what withholds the claims, `people` each
    reader against people's labels of the same outputs where there are any, `unread` the share of
    the answers that state none or were cut off, which count as wrong, `gaps` how far each way of
    asking is from the sum of its changes where these were asked one at a time, too,
    `comparable_readers` those whose scores stand beside this one: they read something, and of the
    same questions."""

    model: str
    reader: str
    bar: ErrorBar
    readers: Mapping[str, ErrorBar]
    changes: Mapping[str, ErrorBar]
    own_way: str
    own_prompt: Estimate | None = None
    published: float | None = None
    why_not: str = ""
    closed_readers: frozenset[str] = frozenset()
    people: tuple[ReaderErrors, ...] = ()
    unread: float = 0.0
    gaps: Mapping[str, Estimate] = field(default_factory=dict)
    comparable_readers: frozenset[str] = frozenset()

    def at(self, level: float) -> "ModelScore":
        return replace(self, bar=self.bar.at(level))

    @property
    def absent(self) -> float:
        """The share of calls without a score where that matters, else 0."""
        return self.bar.absent if isinstance(self.bar, _BoundedBar) else 0.0

    def title(self, way: str) -> str:
        """ "option order: rotate-1"; the key alone where all wordings are of one axis."""
        axis, key = way.split("|", 1)
        if way == self.own_way:
            return OWN.capitalize()
        alone = (
            len({one.split("|", 1)[0] for one in self.bar.cells.wordings if one != self.own_way})
            == 1
        )
        shown = _DRAWN_AT_RANDOM.sub(r"random prompt \1", key)
        return shown if alone else f"{axis.replace('_', ' ')}: {shown}"

    @property
    def n_calls(self) -> int:
        return int(self.bar.cells.n_runs.sum())

    @property
    def other_scores(self) -> list[float]:
        """The scores under the other readers of the same questions that may be claimed."""
        names = self.comparable_readers - self.closed_readers
        return [bar.value for name, bar in self.readers.items() if name in names]

    @cached_property
    def claim(self) -> Claim:
        at_own_prompt = self.own_prompt.value if self.own_prompt else None
        claim = claims.score_claim(
            self.model, self.bar, self.other_scores, self.why_not, at_own_prompt
        )
        if self.absent:
            claim = replace(claim, sentence=f"{claim.sentence} {absence_words(self.absent)}")
        if self.unread < MANY_UNREAD:
            return claim
        unread = f"{percent_text(self.unread)} unread, counted as wrong."
        return replace(claim, sentence=f"{claim.sentence} {unread}")

    @property
    def elsewhere(self) -> Claim:
        return claims.elsewhere_claim(self.model, self.bar, self.why_not)

    @property
    def additivity(self) -> Claim:
        """Whether joint changes move the score as single ones do; no sentence where both were not
        asked."""
        return claims.additivity_claim(
            self.model, self.gaps, self.why_not, self.bar.cells.is_binary
        )

    @cached_property
    def shares(self) -> Mapping[str, Estimate]:
        """Whose the variance is; empty where wordings were not measured."""
        return shares(self.bar)

    @cached_property
    def gains(self) -> Mapping[str, Design]:
        """The designs after `N_CALLS` more calls; empty where wordings were not measured."""
        return gains(self.bar, N_CALLS) if self.bar.by_wordings.has_interval else {}

    @property
    def next_sentence(self) -> str:
        """Where the next call goes; "" where wordings were not measured."""
        if not self.gains:
            return ""
        few = self.bar.cells.shape[1] if has_few_prompts(self.bar) else 0
        return claims.next_words(
            self.half_width_now, self.gains, N_CALLS, self.bar.cells.is_binary, few_prompts=few
        )

    @property
    def half_width_now(self) -> float:
        """The half-width over questions and prompts that `gains` narrow: with few prompts that of
        their upper limit."""
        if not (has_few_prompts(self.bar) or self.bar.n_effective < FEW_DRAWS):
            return self.bar.half_width("wordings")
        sizes = (*self.bar.cells.shape, self.bar.cells.mean_runs)
        return half_width(careful_components(self.bar), *sizes, self.bar.level)

    def wordings(self) -> list[tuple[str, Estimate]]:
        """Each wording by its title, with its own score and interval over other questions."""
        cells = self.bar.cells
        every = (
            error_bar(cells.of_wording(i), self.bar.level).by_questions
            for i in range(cells.shape[1])
        )
        return list(zip(map(self.title, cells.wordings), every, strict=True))

    def rows(self) -> Iterator[Row]:
        """The intervals from inside out, whose the variance is, each reader and each wording."""
        of = {"model": self.model, "reader": self.reader}
        for name, title in INTERVALS.items():
            claim = {"wordings": self.claim, "elsewhere": self.elsewhere}.get(name)
            estimate = self.bar.estimate(name)
            if name == "questions" and not self.bar.by_wordings.has_interval:
                claim = self.claim
            yield Row(self.model, title_of(self.reader), f"score, {title}", estimate, claim, of)
        for name, share in self.shares.items():
            yield Row(
                self.model, title_of(self.reader), f"share of variance: {name}", share, place=of
            )
        for reader, bar in self.readers.items():
            if reader != self.reader:
                yield Row(
                    self.model,
                    title_of(reader),
                    "score read otherwise",
                    bar.by_questions,
                    place=of | {"reader": reader},
                )
        if self.bar.cells.shape[1] > 1:
            for wording, estimate in self.wordings():
                yield Row(
                    self.model,
                    wording,
                    "score of one wording",
                    estimate,
                    place=of | {"wording": wording},
                )
        for at, (way, gap) in enumerate(self.gaps.items()):
            claim, place = None if at else self.additivity, of | {"wording": way}
            yield Row(self.model, way, "score less the sum of its changes", gap, claim, place)
        for one in self.people:
            yield from one.rows()

    def as_dict(self) -> dict[str, Any]:
        bar, claim = self.bar, self.claim
        return {
            "model": self.model,
            "reader": self.reader,
            **claim_fields(claim),
            "score": plain(bar.value),
            "unread": plain(self.unread),
            "n_questions": bar.cells.shape[0],
            "n_wordings": bar.cells.shape[1],
            "n_runs": bar.n_runs,
            "intervals": {
                name: (
                    plain(bar.estimate(name))
                    | {"half_width": plain(bar.half_width(name)), "df": plain(bar.df[name])}
                )
                for name in INTERVALS
            },
            "shares": {name: plain(one) for name, one in self.shares.items()},
            "readers": {name: plain(one.by_questions) for name, one in self.readers.items()},
            "wordings": {name: plain(one) for name, one in self.wordings()},
            "additivity": {
                "sentence": self.additivity.text,
                "gaps": {way: plain(gap) for way, gap in self.gaps.items()},
            },
            "next_calls": {name: plain(one.half_width) for name, one in self.gains.items()},
            "people": [one.as_dict() for one in self.people],
        }


@dataclass(frozen=True, eq=False)
class Difference:
    """Two models on the same questions and wordings, the one with the higher score first; `bar` is
    of their differences."""

    first: str
    second: str
    bar: ErrorBar
    claim: Claim

    def rows(self) -> Iterator[Row]:
        for name in ("questions", "wordings"):
            claim, of = (
                self.claim if name == "wordings" else None,
                {"first": self.first, "second": self.second},
            )
            yield Row(
                self.first,
                INTERVALS[name],
                f"lead over {self.second}",
                self.bar.estimate(name),
                claim,
                of,
            )


@dataclass(frozen=True, eq=False)
class RanksByPeople:
    """Several models with people's labels in their scores: `pairs` of those whose outputs people
    labelled, the best first, and the claim of `ranks` where there are three or more."""

    pairs: tuple[PairByPeople, ...] = ()
    ranks: Claim | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (*((self.ranks,) if self.ranks else ()), *(one.claim for one in self.pairs))

    def table_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "first": one.first,
                "second": one.second,
                "by people": one.joint.text_points(),
                "extractor alone": f"{number_text(100 * one.raw, 1, sign=True)} points",
                "p, pair alone": p_text(one.difference.p),
                "p over all pairs": p_text(one.p),
                "labels": one.difference.n,
            }
            for one in self.pairs
        ]

    def rows(self) -> Iterator[Row]:
        for one in self.pairs:
            place, title = (
                {"first": one.first, "second": one.second},
                f"lead over {one.second}, corrected by people",
            )
            yield Row(
                one.first,
                "by people",
                "difference, corrected by people",
                one.joint,
                one.claim,
                place,
                title,
            )

    def as_dict(self) -> dict[str, Any]:
        pairs = [
            {
                "first": one.first,
                "second": one.second,
                "sentence": one.claim.text,
                "is_claimed": one.claim.is_made,
                "difference": plain(one.joint),
                "difference_as_read": plain(one.raw),
                "p_pair_alone": plain(one.difference.p),
                "p_over_pairs": plain(one.p),
            }
            for one in self.pairs
        ]
        ranks = (
            {"sentence": self.ranks.text, "is_claimed": self.ranks.is_made, **self.ranks.numbers}
            if self.ranks
            else None
        )
        return {"pairs": pairs, "ranks": ranks}


def ranks_of(models: Sequence[ReaderErrors], why_not: str = "") -> RanksByPeople:
    """Of models whose scores have labels in them, under one extractor; `why_not` withholds what is
    asserted."""
    there = [
        Labelled(one.model, one.score, one.units)
        for one in models
        if one.score and one.units is not None
    ]
    if len(there) < 2:
        return RanksByPeople()
    level = there[0].score.level
    pairs = pairs_by_people(there, level, why_not)
    return RanksByPeople(tuple(pairs), ranks_by_people(pairs, level, why_not))


@dataclass(frozen=True, eq=False)
class ScoreReport:
    """What is said of the scores of a study's models; `role` is that of the items counted,
    `random_axes` those whose wordings count as drawn at random, `notes` what was left out and
    why."""

    models: tuple[ModelScore, ...]
    role: str
    reader: str
    random_axes: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Of every pair of models whose wordings were measured."""
        return tuple(_differences(self.models))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The sentence of each model, what another wording would give, and which of two models
        scores higher, by people's labels too."""
        claims: list[Claim] = []
        for model_score in self.models:
            said = (model_score.claim, model_score.elsewhere, model_score.additivity)
            claims += [claim for claim in said if claim.text]
        claims += [*self.ranks, *(difference.claim for difference in self.differences)]
        return (*claims, *self.by_people.claims)

    @cached_property
    def by_people(self) -> RanksByPeople:
        """Every pair of models with people's labels in their scores; empty where outputs of fewer
        than two were labelled."""
        labelled = []
        for model_score in self.models:
            labelled += [
                people for people in model_score.people if people.reader == model_score.reader
            ][:1]
        reasons = [model_score.why_not for model_score in self.models if model_score.why_not]
        return ranks_of(labelled, reasons[0] if reasons else "")

    @cached_property
    def ranks(self) -> tuple[Claim, ...]:
        """Each model's rank over other questions and wordings, from the leads of all pairs; nothing
        below three models, or where some pair has no answers in common."""
        names = sorted((one.model for one in self.models), key=lambda model: -self.score_of(model))
        if len(names) < 3 or len(self.differences) < len(names) * (len(names) - 1) // 2:
            return ()
        p = np.ones((len(names), len(names)))
        for one in self.differences:
            lead = (one.first, one.second) if one.bar.value > 0 else (one.second, one.first)
            p[names.index(lead[0]), names.index(lead[1])] = 0.0 if one.claim.is_made else 1.0
        best, worst = (one.tolist() for one in rank_limits(p, 1 - self.models[0].bar.level))
        is_short = any(pair.bar.is_short("wordings") for pair in self.differences)
        return (claims.rank_claim(names, best, worst, is_short=is_short),)

    def score_of(self, model: str) -> float:
        """NaN of a model that is not here."""
        one = self.of(model)
        return one.bar.value if one else math.nan

    @property
    def whole_claims(self) -> tuple[Claim, ...]:
        """The sentences of the models whose wordings were measured."""
        return tuple(one.claim for one in self.models if one.bar.by_wordings.has_interval)

    def of(self, model: str) -> ModelScore | None:
        return next((one for one in self.models if one.model == model), None)

    def text(self) -> str:
        lines = [f"Score ({role_name(self.role)} items, {title_of(self.reader).lower()})"]
        for one in self.models:
            lines.append(f"  {one.claim.text} {one.claim.detail}".rstrip())
            further = (
                one.elsewhere.text,
                claims.share_words(one.shares),
                one.next_sentence,
                one.additivity.text,
            )
            lines += [f"    {line}" for line in further if line]
            lines += [f"    {people.sentence} {people.narrower}" for people in one.people]
        lines += [
            f"  {one.text} {one.detail}".rstrip()
            for one in (*self.ranks, *(pair.claim for pair in self.differences))
        ]
        lines += [f"  {one.text}" for one in self.by_people.claims]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def rows(self) -> Iterator[Row]:
        for one in self.models:
            yield from one.rows()
        for pair in self.differences:
            yield from pair.rows()
        yield from self.by_people.rows()

    def as_dict(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "reader": self.reader,
            "wordings_drawn_from": list(self.random_axes),
            "models": [one.as_dict() for one in self.models],
            "differences": [
                {
                    "first": one.first,
                    "second": one.second,
                    "sentence": one.claim.text,
                    "detail": one.claim.detail,
                    "is_claimed": one.claim.is_made,
                    **{
                        name: plain(one.bar.estimate(name))
                        for name in ("questions", "wordings", "elsewhere")
                    },
                }
                for one in self.differences
            ],
            "ranks": [{"sentence": one.text, **one.numbers} for one in self.ranks],
            "by_people": self.by_people.as_dict(),
            "notes": list(self.notes),
        }


def random_axes(axes: Sequence[str], *, is_recorded: bool) -> tuple[str, ...]:
    """The axes whose wordings count as drawn at random where nobody chose: ways of asking that the
    study drew, else those that a recording holds. One change at a time explains a score and draws
    nothing."""
    changes = [one for one in axes if one != IDENTITY]
    if COMBINED in changes:
        return (COMBINED,)
    return tuple(changes) if is_recorded else ()


def score_report(
    frame: pd.DataFrame,
    *,
    is_recorded: bool = False,
    reader: str | None = None,
    closed_gates: Mapping[str, str] | None = None,
    role: str | None = None,
    axes: Sequence[str] | None = None,
    level: float = LEVEL,
    scorers: Sequence[Mapping[str, Any]] = (),
    reported: Sequence[Mapping[str, Any]] = (),
    labelled: Sequence[Mapping[str, Any]] = (),
    settings: Settings | None = None,
) -> ScoreReport | None:
    """Of readouts (`queries.studies.readouts`); None where nothing was judged right or wrong.
    `axes` are those whose wordings count as drawn at random (`random_axes`), `closed_gates` axis or
    extractor -> why it is not claimed, `reported` what logs say of themselves
    (`queries.audit.reported`), `labelled` what people read
    (`annotation.judge_labels.labelled_readouts`), `settings` what ways of asking change
    (`queries.scores.settings`). Of a log with `scorers` of its own (`Study.scorers`) the first is
    the reader, with its shares or grades where the frame has them (`grades_of`); None where that is
    no mean, and of a recording with several tasks, which are not pooled. Only what is on the
    reader's scale is read beside it.
    """
    shut = dict(closed_gates or {})
    of_role = role or next(iter(roles_of(frame)), "")
    scales = {str(one["scorer"]): scale_of(one) for one in reversed(scorers)}
    columns = [*COLUMNS, *(["value"] if scales else [])]
    part = (
        _scored(_where(frame[columns], frame["role"] == of_role), scales) if len(frame) else frame
    )
    if part.empty or not part["score"].notna().any():
        return None
    if is_recorded and tasks_of(part["item_id"].drop_duplicates()).nunique() > 1:
        return None
    of_reader = part[part["score"].notna()].groupby("extractor", observed=True).size()
    readers = [name for name in part["extractor"].unique() if of_reader.get(name, 0)]
    if scorers and not (reader in readers or _is_one_mean(scorers, readers)):
        return None
    own_reader = (
        reader
        if reader and reader in readers
        else default_reference(readers, [str(one["scorer"]) for one in scorers])
    )
    all_axes = [str(axis) for axis in part["axis"].unique()]
    ways = random_axes(all_axes, is_recorded=is_recorded)
    if axes is not None:
        ways = tuple(axis for axis in all_axes if axis in set(axes))
    out = [axis for axis in ways if axis in shut]
    ways = tuple(axis for axis in ways if axis not in shut)
    stated = {}
    for row in reported:
        if row.get("metric", "") in MEANS and (row.get("reducer") or MEAN) == MEAN:
            for name in (row["readout"], f"{row['readout']} (log)"):
                stated[row["model"], name] = row["value"]
    models = []
    for model in part["model"].unique():
        model_score = _model_score(
            _where(part, part["model"] == model),
            model=str(model),
            reader=own_reader,
            readers=readers,
            axes=ways,
            shut=shut,
            level=level,
            stated=stated,
            labelled=labelled,
            scales=scales,
            settings=settings or {},
        )
        if model_score:
            models.append(model_score)
    if not models:
        return None
    notes = [f"Left out of the wordings: {shut[one]}" for one in out]
    notes += _scale_notes(
        next((one for one in scorers if one["scorer"] == own_reader), {}), readers, models
    )
    notes += _notes(models, ways, all_axes, is_recorded=is_recorded)
    return ScoreReport(tuple(models), of_role, own_reader, random_axes=ways, notes=tuple(notes))


def scale_of(scorer: Mapping[str, Any]) -> tuple[float, float] | None:
    """What a score can be; None where the rows alone tell, and tell one value."""
    low, high = float(scorer.get("low", 0.0)), float(scorer.get("high", 1.0))
    return (low, high) if low < high else None


def _scale_notes(
    scorer: Mapping[str, Any], readers: Sequence[str], models: Sequence[ModelScore]
) -> Iterator[str]:
    if "low" in scorer and not scorer.get("is_declared"):
        ends = f"{scorer['low']:g} to {scorer['high']:g}"
        yield (
            f"The scale is what the rows show, {ends}. If it is wider, import with --map"
            f" scale:{scorer['scorer']}=LOW..HIGH."
        )
    others = [
        title_of(name).lower() for name in readers if not any(name in one.readers for one in models)
    ]
    if others:
        yield f"On another scale than the score, so not compared with it: {', '.join(others)}."


def _is_one_mean(scorers: Sequence[Mapping[str, Any]], readers: Sequence[str]) -> bool:
    first = scorers[0]
    return (
        first["scorer"] in readers
        and first.get("reducer") == MEAN
        and len({one["task"] for one in scorers}) == 1
    )


def _scored(frame: pd.DataFrame, scorers: Collection[str]) -> pd.DataFrame:
    """The readouts with `score`: 1 and 0 for right and wrong, else the share or grade that one of
    the `scorers` gave."""
    right = frame["is_correct"].to_numpy(dtype=object)
    score = np.where(pd.isna(right), np.nan, right == True)  # noqa: E712 -- None is neither
    if scorers:
        is_grade = pd.isna(right) & frame["extractor"].isin(scorers).to_numpy()
        score = np.where(is_grade, frame["value"].to_numpy(dtype=float), score)
    return frame.drop(columns="is_correct").assign(score=score.astype(float))


def _where(frame: pd.DataFrame, is_there: pd.Series) -> pd.DataFrame:
    """The rows where it is so; the frame itself where that is everywhere, because ten million rows
    cost a second to copy."""
    return frame if is_there.all() else frame[is_there]


def _model_score(
    frame: pd.DataFrame,
    *,
    model: str,
    reader: str,
    readers: Sequence[str],
    axes: Sequence[str],
    shut: Mapping[str, str],
    level: float,
    stated: Mapping[tuple[str, str], float],
    labelled: Sequence[Mapping[str, Any]],
    scales: Mapping[str, tuple[float, float] | None],
    settings: Settings,
) -> ModelScore | None:
    all_bars = {}
    for name in readers:
        reader_bar = _bar(_where(frame, frame["extractor"] == name), axes, level, scales.get(name))
        if reader_bar:
            all_bars[name] = reader_bar
    if reader not in all_bars:
        return None
    # Only what is on the reader's scale is read beside it.
    scale_of_reader = all_bars[reader].cells.bounds, all_bars[reader].cells.is_binary
    bars: dict[str, ErrorBar] = {}
    for name, reader_bar in all_bars.items():
        if (reader_bar.cells.bounds, reader_bar.cells.is_binary) == scale_of_reader:
            bars[name] = reader_bar
    own_frame = _where(frame, frame["extractor"] == reader)
    scale = scales.get(reader)
    changes = {}
    for axis in map(str, frame["axis"].unique()):
        axis_bar = (
            _bar(own_frame, (axis,), level, scale)
            if axis not in {*axes, IDENTITY, COMBINED, *shut}
            else None
        )
        if axis_bar and axis_bar.cells.shape[1] > 1:
            changes[axis] = axis_bar
    same = own_frame[own_frame["item_id"].isin(bars[reader].cells.questions)]
    own_bar = _bar(same, (), level, scale) if COMBINED in axes else None
    bars[reader] = _bounded_bar(own_frame, axes, level, scale, bars[reader])
    people = (
        corrected_score(
            model,
            name,
            _outputs(_where(frame, frame["extractor"] == name), axes, bar.cells),
            labelled,
            level,
        )
        for name, bar in (bars.items() if labelled else ())
    )
    statuses = pd.concat(
        [part.loc[part["score"].notna(), "status"] for part in _base_and_rest(same, axes)]
    )
    unread = unread_share(statuses)
    comparable_readers = set()
    for name, bar in bars.items():
        if name != reader and _is_comparable(frame, name, bar, bars[reader]):
            comparable_readers.add(name)
    open_settings = {way: parts for way, parts in settings.items() if not set(parts) & set(shut)}
    return ModelScore(
        model=model,
        reader=reader,
        bar=bars[reader],
        readers=bars,
        changes=changes,
        own_way=f"{frame['axis'].iloc[0]}|{BASE}",
        own_prompt=own_bar.by_questions if own_bar else None,
        published=stated.get((model, reader)),
        why_not=shut.get(reader, "") or why_unread(model, reader, unread),
        closed_readers=frozenset(name for name in readers if name in shut),
        people=tuple(filter(None, people)),
        unread=unread,
        gaps=_gaps(own_frame, open_settings, bars[reader]),
        comparable_readers=frozenset(comparable_readers),
    )


def _is_comparable(frame: pd.DataFrame, name: str, bar: ErrorBar, reference: ErrorBar) -> bool:
    """Whether another reader read something, and nine in ten of the questions of both."""
    theirs, own = set(bar.cells.questions), set(reference.cells.questions)
    rows = _where(frame, frame["extractor"] == name)
    return len(theirs & own) >= LEAST_SHARED * len(theirs | own) and bool(
        (rows["status"] == OK).any()
    )


def _gaps(frame: pd.DataFrame, settings: Settings, bar: ErrorBar) -> Mapping[str, Estimate]:
    """Of each way of asking that makes two changes or more, all of which were also asked one at a
    time."""
    ways = list(dict.fromkeys(way for _, way in settings))
    joint = []
    axes: set[str] = set()
    for (item, way), parts in settings.items():
        changed = {axis: key for axis, key in parts.items() if key != BASE}
        if len(changed) > 1:
            joint.append((item, way, changed))
            axes |= changed.keys()
    if not joint:
        return {}
    base, rest = _base_and_rest(frame, list(axes))
    of_way = frame[frame["axis"] == COMBINED]
    cell = (
        pd.concat([rest, of_way])
        .groupby(["item_id", "axis", "variant"], observed=True)["score"]
        .mean()
        .to_dict()
    )
    own = base.groupby("item_id", observed=True)["score"].mean().to_dict()
    items = list(dict.fromkeys(item for item, _, _ in joint))
    gaps = np.full((len(items), len(ways)), math.nan)
    rows, columns = ({name: i for i, name in enumerate(names)} for names in (items, ways))
    for item, way, parts in joint:
        moves = [
            cell.get((item, axis, key), math.nan) - own.get(item, math.nan)
            for axis, key in parts.items()
        ]
        gaps[rows[item], columns[way]] = (
            cell.get((item, COMBINED, way), math.nan) - own.get(item, math.nan) - sum(moves)
        )
    family = frame.drop_duplicates("item_id").set_index("item_id")["family"].astype(str).to_dict()
    low, high = bar.cells.bounds
    return way_gaps(
        gaps, ways, np.array([family.get(one, one) for one in items]), bar.level, high - low
    )


def _bar(
    frame: pd.DataFrame, axes: Sequence[str], level: float, scale: tuple[float, float] | None
) -> ErrorBar | None:
    """Of one model and reader; None where no question was asked in every wording."""
    cells = _cells(frame, axes, scale)
    if not cells.mean.size:
        return None
    bar = error_bar(cells, level)
    return _FrugalBar(**{one.name: getattr(bar, one.name) for one in fields(bar)})


@dataclass(frozen=True, eq=False)
class _FrugalBar(ErrorBar):
    """Computes each interval once: of 12,000 questions it takes a hundredth of a second, and a
    board asks for each at 56 levels."""

    @cached_property
    def _by_name(self) -> dict[str, Estimate]:
        return {}

    def estimate(self, name: str) -> Estimate:
        if name not in self._by_name:
            self._by_name[name] = super().estimate(name)
        return self._by_name[name]


@dataclass(frozen=True, eq=False)
class _BoundedBar(_FrugalBar):
    """A bar whose limits hold whatever the absent scores were; `absent` is their share of the
    calls.

    `lowest` and `highest` are the bars with absent scores at either end of the scale.
    """

    lowest: ErrorBar
    highest: ErrorBar
    absent: float

    def at(self, level: float) -> ErrorBar:
        return replace(
            self, level=level, lowest=self.lowest.at(level), highest=self.highest.at(level)
        )

    def estimate(self, name: str) -> Estimate:
        estimate = super().estimate(name)
        if name == "reruns":
            return estimate
        return bounded(
            estimate, self.lowest.estimate(name), self.highest.estimate(name), self.absent
        )


def _bounded_bar(
    frame: pd.DataFrame,
    axes: Sequence[str],
    level: float,
    scale: tuple[float, float] | None,
    bar: ErrorBar,
) -> ErrorBar:
    """The bar with limits that allow for absent scores, where these matter; else the same bar."""
    is_absent = (frame["score"].isna() & (frame["status"] == ABSENT)).to_numpy()
    if not is_absent.any() or not all(map(math.isfinite, bar.cells.bounds)):
        return bar
    own_way = f"{frame['axis'].iloc[0]}|{BASE}"
    ways = (frame["axis"].astype(str) + "|" + frame["variant"].astype(str)).to_numpy()
    ways = np.where(frame["variant"] == BASE, own_way, ways)
    # A wording that most questions lack is left out of the score, and so are its absent answers.
    is_absent = is_absent & np.isin(ways, bar.cells.wordings)
    counted = pd.concat(_base_and_rest(frame.assign(is_absent=is_absent), axes))
    share = counted["is_absent"].sum() / max(
        1, (counted["score"].notna() | counted["is_absent"]).sum()
    )
    ends = (
        _bar(frame.assign(score=frame["score"].mask(is_absent, end)), axes, level, scale)
        for end in bar.cells.bounds
    )
    lowest, highest = ends
    if lowest is None or highest is None:
        return bar
    shift = max(abs(lowest.value - bar.value), abs(highest.value - bar.value))
    if not absence_matters(float(share), shift, math.sqrt(bar.variances["questions"][0])):
        return bar
    parts = {one.name: getattr(bar, one.name) for one in fields(ErrorBar)}
    return _BoundedBar(**parts, lowest=lowest, highest=highest, absent=float(share))


def _cells(
    frame: pd.DataFrame, axes: Sequence[str], scale: tuple[float, float] | None
) -> ScoreCells:
    """Questions × wordings: the variants of these axes, and the study's own prompt unless it draws
    whole ways of asking. What every axis compares with is one prompt, whose samples count once."""
    base, rest = _base_and_rest(frame, axes)
    own = f"{frame['axis'].iloc[0]}|{BASE}" if len(frame) else ""
    (axis, axes_here), (key, keys) = (pd.factorize(rest[name]) for name in ("axis", "variant"))
    codes, places = pd.factorize(axis.astype(np.int64) * max(len(keys), 1) + key)
    ways = [
        own,
        *(
            f"{axes_here[place // len(keys)]}|{keys[place % len(keys)]}"
            for place in places.tolist()
        ),
    ]
    at = np.concatenate([np.zeros(len(base), dtype=np.int64), codes + 1])
    wording = pd.Categorical.from_codes(at, dtype=pd.CategoricalDtype(ways))
    columns = ["item_id", "score", "family"]
    return score_cells(pd.concat([base[columns], rest[columns]]).assign(wording=wording), scale)


def _base_and_rest(frame: pd.DataFrame, axes: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    is_base = (frame["variant"] == BASE).to_numpy()
    base = frame[is_base & (COMBINED not in axes)].drop_duplicates(
        ["item_id", "variant_id", "sample"]
    )
    return base, frame[~is_base & frame["axis"].isin(axes).to_numpy()]


def _outputs(frame: pd.DataFrame, axes: Sequence[str], cells: ScoreCells) -> pd.DataFrame:
    """The outputs that the cells are made of, each once."""
    rows = pd.concat(_base_and_rest(frame, axes)).drop_duplicates(
        ["item_id", "variant_id", "sample"]
    )
    ways = rows["axis"].astype(str) + "|" + rows["variant"].astype(str)
    return rows[rows["item_id"].isin(cells.questions) & ~ways.isin(cells.wordings_left)]


def _differences(models: Sequence[ModelScore]) -> Iterator[Difference]:
    pairs = list(combinations(sorted(models, key=lambda one: -one.bar.value), 2))
    for first, second in pairs:
        cells = first.bar.cells.less(second.bar.cells)
        if not cells.mean.size:
            continue
        bar = error_bar(cells, 1 - (1 - first.bar.level) / len(pairs))
        gaps = cells.mean.mean(axis=0)
        ahead = (
            int((gaps > 1e-12).sum()),
            int((gaps < -1e-12).sum()),
            int((abs(gaps) <= 1e-12).sum()),
        )
        in_points = first.bar.cells.is_binary and second.bar.cells.is_binary
        why_not = (
            first.why_not or second.why_not or (_turned_by_unread(second, bar) if in_points else "")
        )
        why_not = why_not or _turned_by_absence(first, second, bar)
        claim = claims.difference_claim(first.model, second.model, bar, ahead, why_not, in_points)
        if claim.text:
            yield Difference(first.model, second.model, bar, claim)


def _turned_by_absence(first: ModelScore, second: ModelScore, bar: ErrorBar) -> str:
    """Why a lead is not claimed: with the calls that have no score it could be none."""
    if not (first.absent or second.absent) or not bar.by_wordings.excludes_zero():
        return ""
    lower, higher = (first, second) if bar.value > 0 else (second, first)
    least = lower.bar.lowest if isinstance(lower.bar, _BoundedBar) else lower.bar
    most = higher.bar.highest if isinstance(higher.bar, _BoundedBar) else higher.bar
    if error_bar(least.cells.less(most.cells), bar.level).by_wordings.low > 0:
        return ""
    return (
        f"Calls without a score ({lower.model}: {lower.absent:.0%}, {higher.model}:"
        f" {higher.absent:.0%}) could make up the lead."
    )


def _turned_by_unread(second: ModelScore, bar: ErrorBar) -> str:
    """Why a lead over this model is not claimed: were its unread answers right, they could make it
    up."""
    if not bar.by_wordings.excludes_zero() or bar.by_wordings.low > second.unread:
        return ""
    return (
        f"{percent_text(second.unread, 1)} of {second.model}'s answers are unread, which could make"
        " up its lag."
    )


def behind(one: ModelScore, way: str, reader: str) -> list[str]:
    """Items behind a wording or a reader: those on which it differs most from the score first."""
    cells, other = one.bar.cells, one.readers.get(reader, one.bar).cells
    if way in cells.wordings and reader == one.reader:
        gaps = np.abs(cells.mean[:, cells.wordings.index(way)] - cells.mean.mean(axis=1))
        return [cells.questions[i] for i in np.argsort(-gaps, kind="stable")]
    by_item = dict(zip(cells.questions, cells.mean.mean(axis=1), strict=True))
    gap = {
        item: abs(value - by_item.get(item, value))
        for item, value in zip(other.questions, other.mean.mean(axis=1), strict=True)
    }
    return sorted(gap, key=lambda item: -gap[item])


def _notes(
    models: Sequence[ModelScore], ways: Sequence[str], axes: Sequence[str], *, is_recorded: bool
) -> Iterator[str]:
    changes = [one.replace("_", " ") for one in axes if one != IDENTITY]
    if not ways and changes:
        yield (
            f"Changed one at a time ({', '.join(changes)}), which says what moves a score and not"
            " how far another way of asking would. Ask in ways drawn at random for that."
        )
    elif is_recorded:
        yield "The recorded wordings are taken as a sample of all that somebody might use."
    elif COMBINED not in ways and len(ways) > 1:
        yield (
            "Each wording changes one thing: ways that change several at once may lie further"
            " apart."
        )
    left = max((one.bar.cells.n_questions_left for one in models), default=0)
    if left:
        several = "Up to " if len({one.bar.cells.n_questions_left for one in models}) > 1 else ""
        yield (
            f"{several}{count_of(left, 'question lacks', 'questions lack')} an answer in some"
            " wording and are left out."
        )
    wordings: set[str] = set()
    for model_score in models:
        wordings.update(map(model_score.title, model_score.bar.cells.wordings_left))
    if wordings:
        yield f"Asked of less than half of the questions, left out: {', '.join(sorted(wordings))}."


def score_bars(one: ModelScore) -> ScoreBars:
    """What a figure draws of a model."""
    readers = {
        title_of(name): bar.value
        for name, bar in one.readers.items()
        if name in one.comparable_readers
    }
    many = one.bar.cells.shape[1] > 1
    wordings = {one.title(way): score for way, score in one.bar.cells.by_wording()} if many else {}
    at_own_prompt = {OWN: one.own_prompt.value} if one.own_prompt else {}
    intervals = {title: one.bar.estimate(name) for name, title in INTERVAL_TITLES.items()}
    return ScoreBars(one.model, one.bar.value, intervals, wordings, readers, at_own_prompt)


# Rows as a page and a report show them.


def score_rows(one: ModelScore) -> list[dict[str, Any]]:
    """A row an interval, from inside out."""
    rows = []
    for name, title in INTERVAL_TITLES.items():
        estimate = one.bar.estimate(name)
        row = {
            "interval over": title,
            "score": estimate.text_percent(1) if one.bar.cells.is_binary else estimate.text(3),
            "±": (
                claims.half_text(one.bar.half_width(name), one.bar.cells.is_binary).removeprefix(
                    "± "
                )
            ),
            "degrees of freedom": number_text(
                one.bar.df[name] if estimate.has_interval else math.nan, 1
            ),
            "note": estimate.note,
        }
        rows.append(row)
    return _noted(rows)


def share_rows(one: ModelScore) -> list[dict[str, Any]]:
    """Whose the variance is."""
    rows = []
    for name, share in one.shares.items():
        rows.append(
            {
                "part": _PART_TITLES.get(name, name),
                "share": share.text_percent(),
                "note": share.note,
            }
        )
    return _noted(rows)


_PART_TITLES = {"wordings": "prompts", "question × wording": "question × prompt"}


def _noted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without their notes where none has one."""
    return (
        rows
        if any(row["note"] for row in rows)
        else [{k: v for k, v in row.items() if k != "note"} for row in rows]
    )


def next_rows(one: ModelScore) -> list[dict[str, Any]]:
    """What `N_CALLS` more calls would buy, the most first."""
    now = one.half_width_now
    titles = {"wordings": "new prompts", "questions": "new questions", "reruns": "reruns"}
    return [
        {
            f"{N_CALLS} more calls as": titles[name],
            "± then": (
                claims.half_text(design.half_width, one.bar.cells.is_binary).removeprefix("± ")
            ),
            "narrower by": (
                claims.half_text(
                    max(now - design.half_width, 0), one.bar.cells.is_binary
                ).removeprefix("± ")
            ),
        }
        for name, design in sorted(one.gains.items(), key=lambda pair: pair[1].half_width)
    ]


def best_sentence(one: ModelScore, n_calls: int) -> str:
    """The best split of a budget from nothing, by this score's components, which are estimates
    themselves."""
    best = claims.split_words(
        one.bar.components, n_calls, MOST_QUESTIONS, one.bar.level, at_most(one.bar)
    )
    return (
        f"{best}; here {one.n_calls:,} calls give"
        f" {claims.half_text(one.bar.half_width('wordings'), one.bar.cells.is_binary)}."
    )


def plan_sentences(
    source: ErrorBar | Components, n_questions: int, n_wordings: int, n_runs: int
) -> tuple[str, ...]:
    """How sure the score of a study will be that varies as an earlier one's, or as somebody
    assumes, where `N_CALLS` more calls would go, and the best split of its own calls."""
    n_calls = n_questions * n_wordings * n_runs
    parts, worst = (
        (source, None) if isinstance(source, Components) else (source.components, at_most(source))
    )
    lines = claims.plan_words(parts, n_questions, n_wordings, n_runs, N_CALLS)
    return (
        lines
        if n_calls < FEWEST_CALLS
        else (*lines, f"{claims.split_words(parts, n_calls, MOST_QUESTIONS, worst=worst)}.")
    )


def axis_rows(one: ModelScore) -> list[dict[str, Any]]:
    """A row an axis that was changed by itself: how far its wordings lie apart."""
    rows = []
    for axis, bar in one.changes.items():
        scores, is_share = [score for _, score in bar.cells.by_wording()], bar.cells.is_binary
        spread = claims.half_text(math.sqrt(bar.components.wordings), is_share)
        row = {
            "axis": axis.replace("_", " "),
            "prompts": bar.cells.shape[1],
            "lowest": claims.score_text(min(scores), is_share),
            "highest": claims.score_text(max(scores), is_share),
            "own prompt": claims.score_text(scores[0], is_share),
            "spread of prompts (sd)": spread.removeprefix("± "),
        }
        rows.append(row)
    return rows


def wording_rows(one: ModelScore) -> list[dict[str, Any]]:
    """A row a wording, the lowest score first; none of one wording."""
    rows = (
        sorted(one.wordings(), key=lambda pair: pair[1].value) if one.bar.cells.shape[1] > 1 else []
    )
    share = one.bar.cells.is_binary
    return [
        {
            "prompt": title,
            "score, questions only": estimate.text_percent() if share else estimate.text(),
        }
        for title, estimate in rows
    ]


def reader_rows(one: ModelScore) -> list[dict[str, Any]]:
    """A row a reader."""
    return [
        {
            "extractor": title_of(name),
            "score": claims.score_text(bar.value, bar.cells.is_binary),
            "questions": f"{len(bar.cells.questions):,}",
            "other questions": _limits(bar.by_questions, is_share=bar.cells.is_binary),
            "other questions and prompts": _limits(bar.by_wordings, is_share=bar.cells.is_binary),
        }
        for name, bar in one.readers.items()
    ]


def _limits(estimate: Estimate, *, is_share: bool) -> str:
    return claims.limits_text(estimate, is_share) if estimate.has_interval else MISSING


def people_rows(one: ModelScore) -> list[dict[str, Any]]:
    """A row a reader whose outputs people labelled."""
    return [
        {name: value for name, value in people.table_row().items() if name != "model"}
        for people in one.people
    ]
