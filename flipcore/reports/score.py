"""Scores of a study's models with their error bars, for the pages, the commands and the exports.

A score has a sentence, a dot per wording and per extractor, the parts of its uncertainty, and the
best use of the next calls.
"""

import math
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.charts.score import ScoreBars, score_figure
from flipcore.claims import score as claims
from flipcore.claims.claim import Claim, description
from flipcore.claims.corrected_ranks import (
    FEW,
    Labelled,
    PairByPeople,
    pairs_by_people,
    ranks_by_people,
)
from flipcore.core import grade_scales
from flipcore.core.records import ABSENT, BASE, IDENTITY, LOWER_IS_BETTER, OK, role_name
from flipcore.core.wordings import COMBINED
from flipcore.extractors import count_alike, title_of
from flipcore.reports.answer import LEVEL, Answer, FigureOf, Question
from flipcore.reports.ranking import counted_role
from flipcore.reports.read_by_people import OUTPUT_KEY, ExtractorErrors, corrected_score
from flipcore.reports.rows import Row, as_json, claim_fields
from flipcore.reports.unread import is_unread, unread_share, why_unread
from flipcore.stats.base.accuracy import tasks_of
from flipcore.stats.base.estimate import MISSING, Estimate, number_text, p_text, percent_text
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.ranking.order import rank_limits
from flipcore.stats.score.absence import (
    MAX_SHARE,
    absence_matters,
    absence_words,
    widen_for_absence,
)
from flipcore.stats.score.additivity import way_gaps
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import Components, ErrorBar, error_bar, shares
from flipcore.stats.score.next_calls import (
    FEW_DRAWS,
    Design,
    careful_components,
    gains,
    half_width,
    has_few_prompts,
    upper_components,
)
from flipcore.stats.score.reducers import MEAN

# (item, way of asking) -> axis -> variant key: the changes that a way of asking combines.
Settings = Mapping[tuple[str, str], Mapping[str, str]]
N_CALLS = 100  # number of further calls whose best use is shown
OWN_PROMPT = "own prompt"
COLUMNS = "model item_id axis variant_id variant sample extractor is_correct family status".split()
MANY_UNREAD = 0.05  # share of unread answers from which the score's sentence mentions them
LEAST_SHARED = 0.9  # share of common questions that two extractors need to be compared
MIN_CALLS = 6  # the smallest budget that can be split: three wordings of two questions
MAX_QUESTIONS = 100_000  # upper limit of the questions in a split budget
# Names of a log's metrics that are the mean of its scores.
MEANS = ("", "accuracy", "acc", "exact_match", "mean")
# Names of the intervals in exported files, from the narrowest to the widest.
INTERVALS = {
    "reruns": "run again",
    "questions": "other questions",
    "wordings": "other questions and wordings",
    "elsewhere": "another wording, once",
}
# Names of the same intervals on screen.
INTERVAL_TITLES = {
    "reruns": "reruns",
    "questions": "other questions",
    "wordings": "other questions and prompts",
    "elsewhere": "another prompt, once",
}
OTHER_RATERS = "other raters"  # stands for reruns where several people rated each output
_DRAWN_AT_RANDOM = re.compile(r"way-(\d+)")


@dataclass(frozen=True, eq=False)
class ModelScore:
    """The score of one model under the extractor `reference`.

    A wording is named by its way of asking, such as "option_order|rotate-1".

    - `bar`: the error bar over the wordings, under the reference extractor.
    - `extractor_bars`: extractor -> its bar over the same wordings, the reference included.
    - `comparable_extractors`: those that read most answers to the same questions. A sentence may
      mention their scores, unless the extractor is in `closed_extractors` (its gate is closed).
    - `changes`: axis -> its bar, for axes that change one thing and count as no sample of prompts.
    - `own_way`: the way of the study's own prompt. `own_prompt` is the score at it, None if it
      is one of the wordings.
    - `gaps`: way with several changes -> its effect on the score, less the sum of the effects of
      its changes, each asked alone.
    - `published`: the score that a log states. `people`: extractors against people's labels.
    - `unread`: share of the outputs that give no answer or were cut off; they count as wrong.
    - `why_not`: the reason that withholds the claims, or "".
    - `has_other_prompts`: True if variants were asked that the score leaves out.
    - `has_raters`: True if runs are ratings of one output by several people, and no reruns.
    - `n_questions_missing`: number of questions that only other models have rows of.
    - `table_scores`: the extractors that are a table's own scores.
    """

    model: str
    reference: str
    bar: ErrorBar
    extractor_bars: Mapping[str, ErrorBar]
    changes: Mapping[str, ErrorBar]
    own_way: str
    own_prompt: Estimate | None = None
    published: float | None = None
    why_not: str = ""
    closed_extractors: frozenset[str] = frozenset()
    people: tuple[ExtractorErrors, ...] = ()
    unread: float = 0.0
    gaps: Mapping[str, Estimate] = field(default_factory=dict)
    comparable_extractors: frozenset[str] = frozenset()
    has_other_prompts: bool = False
    has_raters: bool = False
    n_questions_missing: int = 0
    table_scores: frozenset[str] = frozenset()

    @property
    def interval_titles(self) -> Mapping[str, str]:
        """The names of its intervals on screen, from the narrowest to the widest."""
        return INTERVAL_TITLES | ({"reruns": OTHER_RATERS} if self.has_raters else {})

    def at_level(self, level: float) -> "ModelScore":
        """Return the score with all limits at another confidence level."""
        return replace(self, bar=self.bar.at_level(level))

    @property
    def own_axis(self) -> str:
        """The axis of the study's own prompt."""
        return self.own_way.partition("|")[0]

    @property
    def absent(self) -> float:
        """Share of the calls without a score; 0 where it is too small to matter."""
        return self.bar.absent if isinstance(self.bar, _BoundedErrorBar) else 0.0

    def title(self, way: str) -> str:
        """Return a wording's name on screen: "option order: rotate-1". The axis is left out where
        all wordings are of one axis."""
        if way == self.own_way:
            return OWN_PROMPT.capitalize()
        axis, key = way.split("|", 1)
        changed_ways = (name for name in self.bar.cells.wordings if name != self.own_way)
        n_axes = len({name.split("|", 1)[0] for name in changed_ways})
        shown = _DRAWN_AT_RANDOM.sub(r"random prompt \1", key)
        return shown if n_axes == 1 else f"{axis.replace('_', ' ')}: {shown}"

    @property
    def n_calls(self) -> int:
        """Number of calls that the score counts."""
        return int(self.bar.cells.n_runs.sum())

    @property
    def other_extractors(self) -> frozenset[str]:
        """The other extractors whose scores a sentence may mention."""
        return self.comparable_extractors - self.closed_extractors

    @property
    def other_scores(self) -> list[float]:
        """Scores under the other extractors that a sentence may mention."""
        names = self.other_extractors
        return [bar.value for name, bar in self.extractor_bars.items() if name in names]

    @property
    def _other_name(self) -> str:
        """The name of the other scores in a sentence."""
        if self.reference not in self.table_scores:
            return claims.EXTRACTOR
        has_scores = self.other_extractors & self.table_scores
        return claims.SCORE if has_scores else claims.EQUAL_ANSWERS

    @cached_property
    def claim(self) -> Claim:
        """The sentence of the score; it also names what is missing or unread."""
        at_own_prompt = self.own_prompt.value if self.own_prompt else None
        claim = claims.score_claim(
            self.model,
            self.bar,
            self.other_scores,
            self.why_not,
            own_score=at_own_prompt,
            other_name=self._other_name,
            has_other_prompts=self.has_other_prompts,
            has_raters=self.has_raters,
        )
        if self.absent:
            has_interval = self.bar.by_questions.has_interval
            absence = absence_words(self.absent, has_interval=has_interval)
            claim = replace(claim, sentence=f"{claim.sentence} {absence}")
        n_missing, n_asked = self.n_questions_missing, self.bar.cells.shape[0]
        if n_missing > MAX_SHARE * (n_missing + n_asked):
            missing = (
                f"{n_missing:,} of {n_missing + n_asked:,} questions have no row of {self.model}:"
                " nothing is said of questions like those."
            )
            claim = replace(claim, sentence=f"{claim.sentence} {missing}")
        if self.unread < MANY_UNREAD:
            return claim
        unread = f"{percent_text(self.unread)} unread, counted as wrong."
        return replace(claim, sentence=f"{claim.sentence} {unread}")

    @property
    def elsewhere(self) -> Claim:
        """The claim about the score that another wording would give."""
        return claims.elsewhere_claim(self.model, self.bar, self.why_not)

    @property
    def additivity(self) -> Claim:
        """The claim that combined changes move the score by the sum of what each does alone. Its
        sentence is empty where no change was asked both combined and alone."""
        gaps = {}
        for way, gap in self.gaps.items():
            gaps[_DRAWN_AT_RANDOM.sub(r"random prompt \1", way)] = gap
        return claims.additivity_claim(
            self.model, gaps, self.why_not, is_in_points=self.bar.cells.is_share
        )

    @cached_property
    def shares(self) -> Mapping[str, Estimate]:
        """Share of each part of the variance; empty where wordings were not measured."""
        return shares(self.bar)

    @cached_property
    def gains(self) -> Mapping[str, Design]:
        """Use of `N_CALLS` more calls -> the design with them and its half-width; empty where
        wordings were not measured."""
        # Ratings by several people are no calls.
        if self.has_raters or not self.bar.by_wordings.has_interval:
            return {}
        return gains(self.bar, N_CALLS)

    @property
    def next_sentence(self) -> str:
        """A sentence on the best use of the next calls; "" if wordings were not measured."""
        if not self.gains:
            return ""
        n_few_prompts = self.bar.cells.shape[1] if has_few_prompts(self.bar) else 0
        return claims.next_calls_words(
            self.half_width_now,
            self.gains,
            N_CALLS,
            is_share=self.bar.cells.is_share,
            few_prompts=n_few_prompts,
        )

    @property
    def half_width_now(self) -> float:
        """The half-width over questions and prompts, before the calls of `gains`."""
        if not (has_few_prompts(self.bar) or self.bar.n_effective < FEW_DRAWS):
            return self.bar.half_width("wordings")
        # The spread of few prompts is itself uncertain, so its upper limit counts, as in `gains`.
        sizes = (*self.bar.cells.shape, self.bar.cells.mean_runs)
        return half_width(careful_components(self.bar), *sizes, self.bar.level)

    def wordings(self) -> list[tuple[str, Estimate]]:
        """Return (title, score with its interval over other questions) per wording."""
        cells = self.bar.cells
        titled = []
        for i, way in enumerate(cells.wordings):
            # A single wording has no spread of wordings, so its interval is over questions alone.
            estimate = error_bar(cells.select_wording(i), self.bar.level).by_questions
            titled.append((self.title(way), estimate))
        return titled

    def rows(self) -> Iterator[Row]:
        """Yield the intervals, parts of the variance, extractors, wordings and gaps."""
        # Exported columns and JSON keep the name "reader" for an extractor.
        columns = {"model": self.model, "reader": self.reference}
        reference_title = title_of(self.reference)
        claim_of_interval = {"wordings": self.claim, "elsewhere": self.elsewhere}
        # Without measured wordings the sentence states the interval over other questions.
        if not self.bar.by_wordings.has_interval:
            claim_of_interval["questions"] = self.claim
        intervals = INTERVALS | ({"reruns": OTHER_RATERS} if self.has_raters else {})
        for name, title in intervals.items():
            estimate = self.bar.estimate(name)
            quantity, claim = f"score, {title}", claim_of_interval.get(name)
            yield Row(self.model, reference_title, quantity, estimate, claim=claim, columns=columns)
        for name, share in self.shares.items():
            part = "raters" if self.has_raters and name == "reruns" else name
            quantity = f"share of variance: {part}"
            yield Row(self.model, reference_title, quantity, share, columns=columns)
        quantity = "score read otherwise"
        for name, bar in self.extractor_bars.items():
            if name != self.reference:
                estimate, at_extractor = bar.by_questions, columns | {"reader": name}
                yield Row(self.model, title_of(name), quantity, estimate, columns=at_extractor)
        if self.bar.cells.shape[1] > 1:
            for wording, estimate in self.wordings():
                at_wording = columns | {"wording": wording}
                yield Row(self.model, wording, "score of one wording", estimate, columns=at_wording)
        quantity = "score less the sum of its changes"
        for i, (way, gap) in enumerate(self.gaps.items()):
            # One claim covers all gaps, so only the first row carries it.
            claim = self.additivity if i == 0 else None
            yield Row(
                self.model, way, quantity, gap, claim=claim, columns=columns | {"wording": way}
            )
        for errors in self.people:
            yield from errors.rows()

    def as_dict(self) -> dict[str, Any]:
        bar = self.bar
        intervals = {}
        for name in INTERVALS:
            width = {"half_width": as_json(bar.half_width(name)), "df": as_json(bar.df[name])}
            intervals[name] = as_json(bar.estimate(name)) | width
        return {
            "model": self.model,
            "reader": self.reference,
            **claim_fields(self.claim),
            "score": as_json(bar.value),
            "unread": as_json(self.unread),
            "n_questions": bar.cells.shape[0],
            "n_wordings": bar.cells.shape[1],
            "n_runs": bar.n_runs,
            "intervals": intervals,
            "shares": as_json(self.shares),
            "readers": {
                name: as_json(bar.by_questions) for name, bar in self.extractor_bars.items()
            },
            "wordings": as_json(dict(self.wordings())),
            "additivity": {"sentence": self.additivity.text, "gaps": as_json(self.gaps)},
            "next_calls": {name: as_json(gain.half_width) for name, gain in self.gains.items()},
            "people": [errors.as_dict() for errors in self.people],
        }


@dataclass(frozen=True, eq=False)
class Difference:
    """Two models on the same questions and wordings; `first` has the higher score on these. `bar`
    is the error bar of `first` less `second`."""

    first: str
    second: str
    bar: ErrorBar
    claim: Claim

    def rows(self) -> Iterator[Row]:
        columns, lead = {"first": self.first, "second": self.second}, f"lead over {self.second}"
        questions, wordings = INTERVALS["questions"], INTERVALS["wordings"]
        yield Row(self.first, questions, lead, self.bar.by_questions, columns=columns)
        yield Row(
            self.first, wordings, lead, self.bar.by_wordings, claim=self.claim, columns=columns
        )


@dataclass(frozen=True, eq=False)
class RanksByPeople:
    """Models compared by scores that people's labels correct.

    `pairs` has every pair of models whose outputs people labelled, the best model first. `ranks` is
    the claim on the ranks of all these models, None if there are fewer than three.
    """

    pairs: tuple[PairByPeople, ...] = ()
    ranks: Claim | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims on ranks and pairs; one sentence for several pairs with too few labels."""
        pair_claims = [pair.claim for pair in self.pairs]
        too_few = [claim for claim in pair_claims if claim.outcome == FEW and not claim.withheld]
        if len(too_few) > 1:
            pair_claims = [claim for claim in pair_claims if claim not in too_few]
            sentence = f"Too few people's labels to compare {len(too_few)} pairs of models."
            pair_claims.append(description(sentence, FEW))
        return (self.ranks, *pair_claims) if self.ranks else tuple(pair_claims)

    def table_rows(self) -> list[dict[str, Any]]:
        """One row per pair that has labels enough to be compared."""
        rows: list[dict[str, Any]] = []
        for pair in self.pairs:
            if math.isnan(pair.p):
                continue
            row = {
                "first": pair.first,
                "second": pair.second,
                "by people": pair.joint.text_points(),
                "extractor alone": f"{number_text(100 * pair.raw, 1, sign=True)} points",
                "p, pair alone": p_text(pair.difference.p),
                "p over all pairs": p_text(pair.p),
                "labels": pair.difference.n,
            }
            rows.append(row)
        return rows

    def rows(self) -> Iterator[Row]:
        quantity = "difference, corrected by people"
        for pair in self.pairs:
            columns = {"first": pair.first, "second": pair.second}
            title = f"lead over {pair.second}, corrected by people"
            yield Row(
                pair.first,
                "by people",
                quantity,
                pair.joint,
                claim=pair.claim,
                columns=columns,
                title=title,
            )

    def as_dict(self) -> dict[str, Any]:
        pairs = []
        for pair in self.pairs:
            row = {
                "first": pair.first,
                "second": pair.second,
                "sentence": pair.claim.text,
                "is_claimed": pair.claim.is_made,
                "difference": as_json(pair.joint),
                "difference_as_read": as_json(pair.raw),
                "p_pair_alone": as_json(pair.difference.p),
                "p_over_pairs": as_json(pair.p),
            }
            pairs.append(row)
        if self.ranks is None:
            return {"pairs": pairs, "ranks": None}
        ranks = {"sentence": self.ranks.text, "is_claimed": self.ranks.is_made}
        return {"pairs": pairs, "ranks": ranks | dict(self.ranks.numbers)}


@dataclass(frozen=True, eq=False)
class ScoreReport(Answer):
    """The scores of a study's models under the extractor `reference`. Only items in `role` count.
    Wordings of `random_axes` count as drawn at random. `notes` say what was left out and why."""

    models: tuple[ModelScore, ...]
    role: str
    reference: str
    random_axes: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    question = Question.SCORE

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The difference of every pair of models whose wordings were measured."""
        return tuple(_differences(self.models))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims on each model, then those on ranks and on pairs of models, then those that
        rest on people's labels."""
        all_claims: list[Claim] = []
        for model_score in self.models:
            own_claims = (model_score.claim, model_score.elsewhere, model_score.additivity)
            all_claims += [claim for claim in own_claims if claim.text]
        all_claims += [*self.ranks, *(difference.claim for difference in self.differences)]
        return (*all_claims, *self.by_people.claims)

    @cached_property
    def by_people(self) -> RanksByPeople:
        """The models compared by people's labels; empty where fewer than two have labels."""
        labelled = []
        for model_score in self.models:
            for errors in model_score.people:
                # Models are compared by the reference extractor, which is listed once at most.
                if errors.extractor != model_score.reference:
                    continue
                if errors.score and errors.units is not None:
                    labelled.append(
                        Labelled(errors.model, errors.score, errors.units, model_score.why_not)
                    )
        if len(labelled) < 2:
            return RanksByPeople()
        level = labelled[0].score.level
        pairs = pairs_by_people(labelled, level)
        return RanksByPeople(tuple(pairs), ranks_by_people(pairs, level))

    @cached_property
    def ranks(self) -> tuple[Claim, ...]:
        """The claim on each model's rank over other questions and wordings. Empty below three
        models, and where a pair of models has no answers in common."""
        names = [score.model for score in sorted(self.models, key=lambda score: -score.bar.value)]
        # For two models the claim on their difference says the same.
        if len(names) < 3 or len(self.differences) < len(names) * (len(names) - 1) // 2:
            return ()
        # The claims on pairs hold simultaneously, so each p here is a decision: 0 or 1.
        p = np.ones((len(names), len(names)))
        for pair in self.differences:
            if pair.claim.is_made:
                p[names.index(pair.first), names.index(pair.second)] = 0.0
        best, worst = rank_limits(p, 1 - self.models[0].bar.level)
        is_short = any(pair.bar.is_short("wordings") for pair in self.differences)
        return (claims.rank_claim(names, best.tolist(), worst.tolist(), is_short=is_short),)

    @property
    def whole_claims(self) -> tuple[Claim, ...]:
        """The sentences of the models whose wordings were measured."""
        measured = (score for score in self.models if score.bar.by_wordings.has_interval)
        return tuple(score.claim for score in measured)

    def find_model(self, name: str) -> ModelScore | None:
        """Return a model's score; None if the report lacks the model."""
        return next((score for score in self.models if score.model == name), None)

    @property
    def figures(self) -> Mapping[str, FigureOf]:
        """Each model's score with its intervals, prompts and extractors."""
        bars = [score_bars(model_score) for model_score in self.models]
        return {"score": lambda theme: score_figure(bars, theme)}

    def lines(self) -> list[str]:
        lines = [f"Score ({role_name(self.role)} items, {title_of(self.reference).lower()})"]
        for score in self.models:
            lines.append(f"  {score.claim.text} {score.claim.detail}".rstrip())
            further = (
                score.elsewhere.text,
                claims.share_words(score.shares, has_raters=score.has_raters),
                score.next_sentence,
                score.additivity.text,
            )
            lines += [f"    {line}" for line in further if line]
            lines += [f"    {errors.sentence} {errors.narrower}" for errors in score.people]
        for claim in (*self.ranks, *(pair.claim for pair in self.differences)):
            lines.append(f"  {claim.text} {claim.detail}".rstrip())
        lines += [f"  {claim.text}" for claim in self.by_people.claims]
        return lines + [f"  {note}" for note in self.notes]

    def rows(self) -> Iterator[Row]:
        for score in self.models:
            yield from score.rows()
        for pair in self.differences:
            yield from pair.rows()
        yield from self.by_people.rows()

    def as_dict(self) -> dict[str, Any]:
        differences = []
        for pair in self.differences:
            row = {
                "first": pair.first,
                "second": pair.second,
                "sentence": pair.claim.text,
                "detail": pair.claim.detail,
                "is_claimed": pair.claim.is_made,
            }
            for name in ("questions", "wordings", "elsewhere"):
                row[name] = as_json(pair.bar.estimate(name))
            differences.append(row)
        return {
            "role": self.role,
            "reader": self.reference,
            "wordings_drawn_from": list(self.random_axes),
            "models": [score.as_dict() for score in self.models],
            "differences": differences,
            "ranks": [{"sentence": claim.text, **claim.numbers} for claim in self.ranks],
            "by_people": self.by_people.as_dict(),
            "notes": list(self.notes),
        }


def random_axes(axes: Sequence[str], *, is_recorded: bool) -> tuple[str, ...]:
    """Return the axes whose wordings count as drawn at random by default. They are the combined
    axis where the study asked it, else all axes of a recording."""
    # Wordings that change one thing each show what moves a score; they are no sample of prompts.
    if COMBINED in axes:
        return (COMBINED,)
    return tuple(axis for axis in axes if axis != IDENTITY) if is_recorded else ()


def score_report(
    frame: pd.DataFrame,
    *,
    is_recorded: bool = False,
    reference: str | None = None,
    closed_gates: Mapping[str, str] | None = None,
    role: str | None = None,
    axes: Sequence[str] | None = None,
    level: float = LEVEL,
    scorers: Sequence[Mapping[str, Any]] = (),
    reported: Sequence[Mapping[str, Any]] = (),
    labelled: Sequence[Mapping[str, Any]] = (),
    settings: Settings | None = None,
    has_raters: bool = False,
    table_scores: frozenset[str] = frozenset(),
) -> ScoreReport | None:
    """Report the scores in readouts (`queries.studies.readouts`).

    None if nothing was judged, if a log's leading scorer gives no mean, and for a recording
    with several tasks, because tasks are not pooled. Only extractors on the scale of the reference
    are shown beside it.

    - `reference`: the reference extractor; by default a log's first scorer, else the study's usual
      one. A name without readouts counts as None.
    - `axes`: those whose wordings count as drawn at random; None leaves it to `random_axes`.
    - `role`: the role of the items that count; None takes the benchmark's.
    - `closed_gates`: axis or extractor -> why it is not claimed.
    - `scorers`: a log's scorers (`Study.scorers`). `reported`: scores that the log states.
    - `labelled`: people's labels (`annotation.judge_labels.labelled_readouts`).
    - `settings`: the changes that each way of asking combines (`queries.scores.settings`).
    - `has_raters`: True if samples are ratings of one output by several people.
    - `table_scores`: the scores that a table holds in columns of their own (`Study.table_scores`).
    """
    if frame.empty:
        return None
    gates = closed_gates or {}
    role = role or counted_role(frame)
    # A log lists a scorer once per task; its first entry decides.
    scorer_of: dict[str, Mapping[str, Any]] = {}
    for scorer in scorers:
        scorer_of.setdefault(str(scorer["scorer"]), scorer)
    scales = {name: scale_of(scorer) for name, scorer in scorer_of.items()}
    columns = [*COLUMNS, *(["value"] if scales else [])]
    readouts = _scored(_select(frame[columns], frame["role"] == role), scales)
    scored_by = set(readouts.loc[readouts["score"].notna(), "extractor"].unique())
    extractors = [name for name in readouts["extractor"].unique() if name in scored_by]
    if not extractors:
        return None
    # A log's score is the mean of its first scorer. Without such a mean the user names a reference.
    if scorers and reference not in extractors and not _gives_one_mean(scorers, extractors):
        return None
    # Tasks of a recording are different questions, so they are not pooled into one score.
    if is_recorded and tasks_of(readouts["item_id"].drop_duplicates()).nunique() > 1:
        return None
    if reference is None or reference not in extractors:
        reference = default_reference(extractors, list(scorer_of))
    all_axes = [str(axis) for axis in readouts["axis"].unique()]
    chosen_axes = random_axes(all_axes, is_recorded=is_recorded)
    if axes is not None:
        chosen_axes = tuple(axis for axis in all_axes if axis in set(axes))
    shared = _SharedSettings(
        reference=reference,
        extractors=extractors,
        axes=tuple(axis for axis in chosen_axes if axis not in gates),
        closed_gates=gates,
        level=level,
        stated=_stated_scores(reported),
        labelled=labelled,
        scales=scales,
        graded=_graded(readouts, extractors),
        settings=settings or {},
    )
    models = []
    n_questions = readouts["item_id"].nunique()
    for model in readouts["model"].unique():
        model_rows = _select(readouts, readouts["model"] == model)
        if model_score := _model_score(model_rows, str(model), shared):
            n_missing = n_questions - model_rows["item_id"].nunique()
            model_score = replace(
                model_score,
                n_questions_missing=n_missing,
                has_raters=has_raters,
                table_scores=table_scores,
            )
            models.append(model_score)
    if not models:
        return None
    notes = [f"Left out of the wordings: {gates[axis]}" for axis in chosen_axes if axis in gates]
    notes += _scale_notes(scorer_of.get(reference, {}), extractors, models)
    notes += _notes(models, shared.axes, all_axes, is_recorded=is_recorded)
    return ScoreReport(tuple(models), role, reference, random_axes=shared.axes, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _SharedSettings:
    """Settings that all models of a report share.

    `axes` are those whose wordings count as drawn at random. `stated` are the scores that logs
    report, by (model, extractor). `scales` are (lowest, highest) per scorer, None if unknown.
    `graded` are the extractors whose scores are grades.
    """

    reference: str
    extractors: Sequence[str]
    axes: tuple[str, ...]
    closed_gates: Mapping[str, str]
    level: float
    stated: Mapping[tuple[str, str], float]
    labelled: Sequence[Mapping[str, Any]]
    scales: Mapping[str, tuple[float, float] | None]
    graded: frozenset[str]
    settings: Settings


def _stated_scores(reported: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Return the means that logs report, by model and extractor."""
    stated = {}
    for row in reported:
        if row.get("metric", "") in MEANS and (row.get("reducer") or MEAN) == MEAN:
            # An import adds "(log)" where an extractor already has the readout's name.
            for name in (row["readout"], f"{row['readout']} (log)"):
                stated[row["model"], name] = row["value"]
    return stated


def scale_of(scorer: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the ends of a scorer's scale; None if they are equal, as of rows with one value."""
    low, high = grade_scales.scale_of(scorer)
    return (low, high) if low < high else None


def _scale_notes(
    scorer: Mapping[str, Any], extractors: Sequence[str], models: Sequence[ModelScore]
) -> Iterator[str]:
    if "low" in scorer and not scorer.get("is_declared"):
        low, high = grade_scales.scale_of(scorer)
        word = f"scale:{scorer['scorer']}=LOW..HIGH"
        yield (
            f"Nobody declared the scale; it is taken to be {low:g} to {high:g}. If it is another "
            f"one, import with --map {shlex.quote(word)}."
        )
    compared = set(chain.from_iterable(score.extractor_bars for score in models))
    if left_out := [title_of(name).lower() for name in extractors if name not in compared]:
        yield f"On another scale than the score, so not compared with it: {', '.join(left_out)}."


def _graded(readouts: pd.DataFrame, extractors: Sequence[str]) -> frozenset[str]:
    """Return the extractors whose scores are grades. All models count, so that a model with only 0
    and 1 has the same form as one with 0.5. Less of an error rate is no share of right answers."""
    score = readouts["score"].to_numpy()
    is_grade = ~np.isnan(score) & (score != 0) & (score != 1)
    graded = set(readouts.loc[is_grade, "extractor"].unique())
    return frozenset(
        name for name in extractors if name in graded or name.endswith(LOWER_IS_BETTER)
    )


def _gives_one_mean(scorers: Sequence[Mapping[str, Any]], extractors: Sequence[str]) -> bool:
    """Return whether the first scorer gives the mean score of a log with a single task."""
    first = scorers[0]
    return (
        first["scorer"] in extractors
        and first.get("reducer") == MEAN
        and len({scorer["task"] for scorer in scorers}) == 1
    )


def _scored(frame: pd.DataFrame, scorers: Collection[str]) -> pd.DataFrame:
    """Return the readouts with a column `score` in place of `is_correct`. It is 1 or 0 for right or
    wrong, else the grade that one of the `scorers` gave, else NaN."""
    right = frame["is_correct"].to_numpy(dtype=object)
    score = np.where(pd.isna(right), np.nan, right == True)  # noqa: E712 -- None is neither
    if scorers:
        # Values of other extractors, such as losses, are no scores.
        is_grade = pd.isna(right) & frame["extractor"].isin(scorers).to_numpy()
        score = np.where(is_grade, frame["value"].to_numpy(dtype=float), score)
    return frame.drop(columns="is_correct").assign(score=score.astype(float))


def _select(frame: pd.DataFrame, is_selected: pd.Series) -> pd.DataFrame:
    """Return the rows that are selected; the frame itself where all are."""
    # Ten million rows cost a second to copy.
    return frame if is_selected.all() else frame[is_selected]


def _model_score(frame: pd.DataFrame, model: str, shared: _SharedSettings) -> ModelScore | None:
    """Score one model from its readouts; None if the reference read no question."""
    reference, axes, level = shared.reference, shared.axes, shared.level

    own_rows = _select(frame, frame["extractor"] == reference)

    def rows_of(extractor: str) -> pd.DataFrame:
        rows = _select(frame, frame["extractor"] == extractor)
        return rows if extractor == reference else _on_outputs_of(own_rows, rows)

    all_bars = {}
    for name in shared.extractors:
        bar = _bar(
            rows_of(name), axes, level, shared.scales.get(name), is_graded=name in shared.graded
        )
        if bar:
            all_bars[name] = bar
    if reference not in all_bars:
        return None
    reference_cells, reference_rows = all_bars[reference].cells, own_rows
    # Only extractors on the reference's scale can be compared with it.
    bars: dict[str, ErrorBar] = {}
    is_lower_better = reference.endswith(LOWER_IS_BETTER)
    for name, bar in all_bars.items():
        has_same_bounds = bar.cells.bounds == reference_cells.bounds
        is_on_scale = has_same_bounds and bar.cells.is_share == reference_cells.is_share
        if is_on_scale and name.endswith(LOWER_IS_BETTER) == is_lower_better:
            bars[name] = bar
    scale = shared.scales.get(reference)
    changes = {}
    for axis in map(str, frame["axis"].unique()):
        if axis not in {*axes, IDENTITY, COMBINED, *shared.closed_gates}:
            axis_bar = _bar(
                reference_rows, (axis,), level, scale, is_graded=reference in shared.graded
            )
            if axis_bar and axis_bar.cells.shape[1] > 1:
                changes[axis] = axis_bar
    # The own prompt is scored on the questions of the score, not on all that it was asked.
    same_questions = reference_rows[reference_rows["item_id"].isin(reference_cells.questions)]
    # Without the combined axis the own prompt is one of the wordings already.
    own_prompt_bar = _bar(same_questions, (), level, scale) if COMBINED in axes else None
    bars[reference] = _bounded_bar(reference_rows, axes, level, scale, bars[reference])
    people = []
    if shared.labelled:
        for name, bar in bars.items():
            outputs = _outputs(rows_of(name), axes, bar.cells)
            people.append(corrected_score(model, name, outputs, shared.labelled, level))
    counted = _base_and_variants(same_questions, axes)
    # A failed call has no score; it is not an unread answer.
    statuses = [part.loc[part["score"].notna(), "status"] for part in counted]
    unread = unread_share(pd.concat(statuses))
    comparable = set()
    for name, bar in bars.items():
        if name == reference or not count_alike(name, reference):
            continue
        if not _is_comparable(rows_of(name), bar, bars[reference]):
            continue
        if not _agrees_where_both_scored(rows_of(name), reference_rows):
            comparable.add(name)
    # Every axis stores the study's own prompt as its base, which does not count as another prompt.
    is_variant = reference_rows["variant"] != BASE
    is_left_out = is_variant & ~reference_rows["axis"].isin(axes)
    gates = shared.closed_gates
    open_settings = {}
    for item_and_way, changes_of_way in shared.settings.items():
        if not set(changes_of_way) & set(gates):
            open_settings[item_and_way] = changes_of_way
    return ModelScore(
        model=model,
        reference=reference,
        bar=bars[reference],
        extractor_bars=bars,
        changes=changes,
        own_way=f"{frame['axis'].iloc[0]}|{BASE}",
        own_prompt=own_prompt_bar.by_questions if own_prompt_bar else None,
        published=shared.stated.get((model, reference)),
        why_not=gates.get(reference, "") or why_unread(model, reference, unread),
        closed_extractors=frozenset(name for name in shared.extractors if name in gates),
        people=tuple(filter(None, people)),
        unread=unread,
        gaps=_gaps(reference_rows, open_settings, bars[reference]),
        comparable_extractors=frozenset(comparable),
        has_other_prompts=bool(is_left_out.any()),
    )


def _on_outputs_of(reference_rows: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return another extractor's rows of the outputs that the reference scored.

    A failed call has no score by the reference, and counts as wrong by nobody else either.
    """
    is_scored = reference_rows["score"].notna()
    if is_scored.all() and len(reference_rows) >= len(rows):
        return rows
    outputs = pd.MultiIndex.from_frame(reference_rows.loc[is_scored, _OUTPUT])
    return rows[pd.MultiIndex.from_frame(rows[_OUTPUT]).isin(outputs)]


_OUTPUT = ["item_id", "axis", "variant_id", "sample"]


def _agrees_where_both_scored(rows: pd.DataFrame, reference_rows: pd.DataFrame) -> bool:
    """Return whether an extractor lacks some outputs and gives all others the same mean score."""
    scored, reference_scored = rows.dropna(subset="score"), reference_rows.dropna(subset="score")
    if len(scored) >= len(reference_scored):
        return False
    shared = _on_outputs_of(scored, reference_scored)
    return math.isclose(shared["score"].mean(), scored["score"].mean())


def _is_comparable(rows: pd.DataFrame, bar: ErrorBar, reference_bar: ErrorBar) -> bool:
    """Return whether another extractor's score may be shown beside the reference's.

    The extractor must have read most outputs. Of the questions that either of them scores, at least
    `LEAST_SHARED` must be scored by both.
    """
    questions, reference_questions = set(bar.cells.questions), set(reference_bar.cells.questions)
    n_shared, n_all = len(questions & reference_questions), len(questions | reference_questions)
    is_read = not is_unread(str(rows["extractor"].iloc[0]), unread_share(rows["status"]))
    return n_shared >= LEAST_SHARED * n_all and is_read and bool((rows["status"] == OK).any())


def _gaps(frame: pd.DataFrame, settings: Settings, bar: ErrorBar) -> Mapping[str, Estimate]:
    """Return way -> its effect on the score, less the sum of the effects of its changes.

    Only ways count that combine two changes or more, each of which was also asked alone.
    """
    ways = list(dict.fromkeys(way for _, way in settings))
    combined = []
    axes: set[str] = set()
    for (item, way), changes in settings.items():
        changed = {axis: key for axis, key in changes.items() if key != BASE}
        if len(changed) > 1:
            combined.append((item, way, changed))
            axes |= changed.keys()
    if not combined:
        return {}
    base, variants = _base_and_variants(frame, list(axes))
    asked = pd.concat([variants, frame[frame["axis"] == COMBINED]])
    variant_key = ["item_id", "axis", "variant"]
    score_of = asked.groupby(variant_key, observed=True)["score"].mean().to_dict()
    at_base = base.groupby("item_id", observed=True)["score"].mean().to_dict()
    items = list(dict.fromkeys(item for item, _, _ in combined))
    row_of = {item: i for i, item in enumerate(items)}
    column_of = {way: i for i, way in enumerate(ways)}
    gaps = np.full((len(items), len(ways)), math.nan)
    for item, way, changed in combined:
        base_score = at_base.get(item, math.nan)
        effect = score_of.get((item, COMBINED, way), math.nan) - base_score
        effects_alone = []
        for axis, key in changed.items():
            # The score of a change that was not asked alone is NaN, which makes the gap NaN.
            effects_alone.append(score_of.get((item, axis, key), math.nan) - base_score)
        gaps[row_of[item], column_of[way]] = effect - sum(effects_alone)
    by_item = frame.drop_duplicates("item_id").set_index("item_id")
    cluster_of = by_item["family"].astype(str).to_dict()
    clusters = np.array([cluster_of.get(item, item) for item in items])
    low, high = bar.cells.bounds
    return way_gaps(gaps, ways, clusters, bar.level, high - low)


def _bar(
    frame: pd.DataFrame,
    axes: Sequence[str],
    level: float,
    scale: tuple[float, float] | None,
    *,
    is_graded: bool = False,
) -> ErrorBar | None:
    """Return one model's error bar; None if no question was asked in every wording."""
    cells = replace(_cells(frame, axes, scale), is_graded=is_graded)
    if not cells.mean.size:
        return None
    return _CachedErrorBar(**_fields_of(error_bar(cells, level)))


def _fields_of(bar: ErrorBar) -> dict[str, Any]:
    return {part.name: getattr(bar, part.name) for part in fields(ErrorBar)}


@dataclass(frozen=True, eq=False)
class _CachedErrorBar(ErrorBar):
    """An error bar that computes each interval once."""

    # With 12,000 questions an interval takes 10 ms, and a board asks several times for each of the
    # intervals at its 56 levels.
    @cached_property
    def _by_name(self) -> dict[str, Estimate]:
        return {}

    def estimate(self, name: str) -> Estimate:
        if name not in self._by_name:
            self._by_name[name] = super().estimate(name)
        return self._by_name[name]


@dataclass(frozen=True, eq=False)
class _BoundedErrorBar(_CachedErrorBar):
    """An error bar whose limits hold whatever the absent scores would have been.

    `lowest` and `highest` are the bars with absent scores at either end of the scale. `absent` is
    the share of calls without a score.
    """

    lowest: ErrorBar
    highest: ErrorBar
    absent: float

    def at_level(self, level: float) -> ErrorBar:
        lowest, highest = self.lowest.at_level(level), self.highest.at_level(level)
        return replace(self, level=level, lowest=lowest, highest=highest)

    def estimate(self, name: str) -> Estimate:
        estimate = super().estimate(name)
        # Reruns vary the answered calls only.
        if name == "reruns":
            return estimate
        lowest, highest = self.lowest.estimate(name), self.highest.estimate(name)
        return widen_for_absence(estimate, lowest, highest, self.absent)


def _bounded_bar(
    frame: pd.DataFrame,
    axes: Sequence[str],
    level: float,
    scale: tuple[float, float] | None,
    bar: ErrorBar,
) -> ErrorBar:
    """Return `bar` with limits that allow for absent scores, those of calls without an output.
    Return `bar` itself where they do not matter."""
    is_absent = (frame["score"].isna() & (frame["status"] == ABSENT)).to_numpy()
    # On a scale without ends an absent score could be anything.
    if not is_absent.any() or not all(map(math.isfinite, bar.cells.bounds)):
        return bar
    own_way = f"{frame['axis'].iloc[0]}|{BASE}"
    ways = (frame["axis"].astype(str) + "|" + frame["variant"].astype(str)).to_numpy()
    # Every axis has the own prompt as its base; the cells name it by the first axis.
    ways = np.where(frame["variant"] == BASE, own_way, ways)
    # A wording that most questions lack is left out of the score, and so are its absent answers.
    is_absent = is_absent & np.isin(ways, bar.cells.wordings)
    counted = pd.concat(_base_and_variants(frame.assign(is_absent=is_absent), axes))
    n_counted = int((counted["score"].notna() | counted["is_absent"]).sum())
    share = float(counted["is_absent"].sum() / max(1, n_counted))

    def bar_at(end: float) -> ErrorBar | None:
        filled = frame.assign(score=frame["score"].mask(is_absent, end))
        return _bar(filled, axes, level, scale)

    low, high = bar.cells.bounds
    lowest, highest = bar_at(low), bar_at(high)
    if lowest is None or highest is None:
        return bar
    shift = max(abs(lowest.value - bar.value), abs(highest.value - bar.value))
    if not absence_matters(share, shift, math.sqrt(bar.variances["questions"][0])):
        return bar
    return _BoundedErrorBar(**_fields_of(bar), lowest=lowest, highest=highest, absent=share)


def _cells(
    frame: pd.DataFrame, axes: Sequence[str], scale: tuple[float, float] | None
) -> ScoreCells:
    """Return scores by question and wording.

    The wordings are the variants of `axes` and the study's own prompt. The own prompt is left out
    where `axes` has the combined axis. Its samples count once, although every axis stores them.
    """
    base, variants = _base_and_variants(frame, axes)
    ways = [f"{frame['axis'].iloc[0]}|{BASE}" if len(frame) else ""]
    # Each way is named once, because building text for ten million rows takes seconds.
    axis_codes, axis_names = pd.factorize(variants["axis"])
    variant_codes, variant_keys = pd.factorize(variants["variant"])
    # An axis and a variant as one number.
    pair_codes = axis_codes.astype(np.int64) * len(variant_keys) + variant_codes
    way_codes, asked_pairs = pd.factorize(pair_codes)
    for pair_code in asked_pairs.tolist():
        axis_code, variant_code = divmod(pair_code, len(variant_keys))
        ways.append(f"{axis_names[axis_code]}|{variant_keys[variant_code]}")
    # The own prompt has code 0.
    codes = np.concatenate([np.zeros(len(base), dtype=np.int64), way_codes + 1])
    wording = pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(ways))
    columns = ["item_id", "score", "family"]
    rows = pd.concat([base[columns], variants[columns]])
    return score_cells(rows.assign(wording=wording), scale)


def _base_and_variants(
    frame: pd.DataFrame, axes: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the own prompt, each sample once, and those of the variants of `axes`."""
    is_base = (frame["variant"] == BASE).to_numpy()
    # The own prompt is no sample of the combined ways of asking, which are drawn at random.
    base = frame[is_base & (COMBINED not in axes)].drop_duplicates(OUTPUT_KEY)
    return base, frame[~is_base & frame["axis"].isin(axes).to_numpy()]


def _outputs(frame: pd.DataFrame, axes: Sequence[str], cells: ScoreCells) -> pd.DataFrame:
    """Return the rows of the outputs that the cells count, each output once."""
    rows = pd.concat(_base_and_variants(frame, axes)).drop_duplicates(OUTPUT_KEY)
    ways = rows["axis"].astype(str) + "|" + rows["variant"].astype(str)
    return rows[rows["item_id"].isin(cells.questions) & ~ways.isin(cells.dropped_wordings)]


def _differences(models: Sequence[ModelScore]) -> Iterator[Difference]:
    """Compare each pair of models on their common questions and wordings."""
    pairs = list(combinations(sorted(models, key=lambda score: -score.bar.value), 2))
    for first, second in pairs:
        cells = first.bar.cells.minus(second.bar.cells)
        if not cells.mean.size:
            continue
        # A model that leads over all its questions may still lag on those that both were asked.
        if cells.mean.mean() < 0:
            first, second = second, first
            cells = first.bar.cells.minus(second.bar.cells)
        # All pairs are shown together, so each interval gets its share of the error (Bonferroni).
        bar = error_bar(cells, 1 - (1 - first.bar.level) / len(pairs))
        wording_gaps = cells.mean.mean(axis=0)
        # A smaller gap is a rounding error of the means, so the models tie.
        n_first, n_second = int((wording_gaps > 1e-12).sum()), int((wording_gaps < -1e-12).sum())
        n_ahead = (n_first, n_second, int((abs(wording_gaps) <= 1e-12).sum()))
        in_points = first.bar.cells.is_share and second.bar.cells.is_share
        why_not = first.why_not or second.why_not
        if in_points and not why_not:
            why_not = _why_not_by_unread(second, bar)
        why_not = why_not or _why_not_by_absence(first, second, bar)
        claim = claims.difference_claim(
            first.model, second.model, bar, n_ahead, why_not, is_in_points=in_points
        )
        if claim.text:
            yield Difference(first.model, second.model, bar, claim)


def _why_not_by_absence(first: ModelScore, second: ModelScore, bar: ErrorBar) -> str:
    """Say that calls without a score could make up a lead; "" if they could not."""
    if not (first.absent or second.absent) or not bar.by_wordings.excludes_zero():
        return ""
    # The worst case: the first model, which leads, at its lowest, and the second at its highest.
    lowest = first.bar.lowest if isinstance(first.bar, _BoundedErrorBar) else first.bar
    highest = second.bar.highest if isinstance(second.bar, _BoundedErrorBar) else second.bar
    if error_bar(lowest.cells.minus(highest.cells), bar.level).by_wordings.low > 0:
        return ""
    return (
        f"Calls without a score ({first.model}: {first.absent:.0%}, {second.model}:"
        f" {second.absent:.0%}) could make up the lead."
    )


def _why_not_by_unread(second: ModelScore, bar: ErrorBar) -> str:
    """Say that the second model's unread answers could make up its lag; "" if not."""
    if not bar.by_wordings.excludes_zero() or bar.by_wordings.low > second.unread:
        return ""
    return (
        f"{percent_text(second.unread, 1)} of {second.model}'s answers are unread, which could make"
        " up its lag."
    )


def behind(score: ModelScore, way: str, extractor: str) -> list[str]:
    """Return item ids, those first whose score under a wording or an extractor differs most from
    their mean score under the reference. `way` is ignored unless `extractor` is the reference."""
    cells = score.bar.cells
    mean_scores = cells.mean.mean(axis=1)
    if way in cells.wordings and extractor == score.reference:
        gaps = np.abs(cells.mean[:, cells.wordings.index(way)] - mean_scores)
        return [cells.questions[i] for i in np.argsort(-gaps, kind="stable")]
    score_of = dict(zip(cells.questions, mean_scores, strict=True))
    extractor_cells = score.extractor_bars.get(extractor, score.bar).cells
    extractor_scores = extractor_cells.mean.mean(axis=1)
    gap_of = {}
    for item, value in zip(extractor_cells.questions, extractor_scores, strict=True):
        # A question that the score lacks has nothing to differ from.
        gap_of[item] = abs(value - score_of.get(item, value))
    return sorted(gap_of, key=lambda item: -gap_of[item])


def scored_items(score: ModelScore) -> list[str]:
    """Return the ids of the items that a score is the mean of, the lowest scores first."""
    cells = score.bar.cells
    order = np.argsort(cells.mean.mean(axis=1), kind="stable")
    return [cells.questions[i] for i in order]


def _notes(
    models: Sequence[ModelScore],
    drawn_axes: Sequence[str],
    axes: Sequence[str],
    *,
    is_recorded: bool,
) -> Iterator[str]:
    """Say what the wordings are a sample of, and which questions and wordings are left out."""
    changes = [axis.replace("_", " ") for axis in axes if axis != IDENTITY]
    if not drawn_axes and changes:
        yield (
            f"Changed one at a time ({', '.join(changes)}), which says what moves a score and not"
            " how far another way of asking would. Ask in ways drawn at random for that."
        )
    elif is_recorded:
        # A log with one prompt has no shares and no sample of prompts.
        if any(score.shares for score in models):
            yield "The recorded prompts are taken as a sample of all that somebody might use."
    elif COMBINED not in drawn_axes and len(drawn_axes) > 1:
        yield (
            "Each wording changes one thing: ways that change several at once may lie further"
            " apart."
        )
    wordings: set[str] = set()
    for model_score in models:
        wordings.update(map(model_score.title, model_score.bar.cells.dropped_wordings))
    if wordings:
        yield f"Asked of less than half of the questions, left out: {', '.join(sorted(wordings))}."


def score_bars(score: ModelScore) -> ScoreBars:
    """Return the numbers of a model's score that a figure draws."""
    extractors: dict[str, float] = {}
    for name, bar in score.extractor_bars.items():
        if name in score.comparable_extractors:
            extractors[title_of(name)] = bar.value
    wordings: dict[str, float] = {}
    if score.bar.cells.shape[1] > 1:
        wordings = {score.title(way): value for way, value in score.bar.cells.by_wording()}
    at_own_prompt = {OWN_PROMPT: score.own_prompt.value} if score.own_prompt else {}
    intervals = {title: score.bar.estimate(name) for name, title in score.interval_titles.items()}
    return ScoreBars(
        score.model,
        score.bar.value,
        intervals=intervals,
        wordings=wordings,
        extractors=extractors,
        own_prompt=at_own_prompt,
    )


# Tables of a score, for a page and a report: one dict per row, by column title.


def _half_text(value: float, *, is_share: bool) -> str:
    """Return a half-width as text."""
    if math.isnan(value):
        return MISSING
    # The column's title has the sign ± already.
    return claims.half_text(value, is_share=is_share).removeprefix("± ")


def score_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per interval, the narrowest first."""
    bar, is_share = score.bar, score.bar.cells.is_share
    rows: list[dict[str, Any]] = []
    for name, title in score.interval_titles.items():
        estimate = bar.estimate(name)
        df = bar.df[name] if estimate.has_interval else math.nan
        row = {
            "interval over": title,
            "score": estimate.text_percent(1) if is_share else estimate.text(3),
            # A half-width of 0 would contradict the range beside it.
            "±": _half_text(bar.half_width(name) or math.nan, is_share=is_share),
            # Satterthwaite's are fractions, the others whole numbers.
            "degrees of freedom": number_text(df, 1).removesuffix(".0"),
            "note": estimate.note,
        }
        rows.append(row)
    return _without_empty_notes(rows)


def share_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per part of the variance."""
    titles = _PART_TITLES | ({"reruns": "raters"} if score.has_raters else {})
    rows: list[dict[str, Any]] = []
    for name, share in score.shares.items():
        title = titles.get(name, name)
        rows.append({"part": title, "share": share.text_percent(), "note": share.note})
    return _without_empty_notes(rows)


_PART_TITLES = {"wordings": "prompts", "question × wording": "question × prompt"}


def _without_empty_notes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows; the column of notes is left out where all are empty."""
    if not any(row["note"] for row in rows):
        for row in rows:
            del row["note"]
    return rows


def next_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per use of `N_CALLS` more calls, with the half-width that it would give. The
    use with the narrowest interval comes first."""
    now, is_share = score.half_width_now, score.bar.cells.is_share
    titles = {"wordings": "new prompts", "questions": "new questions", "reruns": "reruns"}
    rows: list[dict[str, Any]] = []
    for name in sorted(score.gains, key=lambda name: score.gains[name].half_width):
        design = score.gains[name]
        narrower = max(now - design.half_width, 0)
        row = {
            f"{N_CALLS} more calls as": titles[name],
            "± then": _half_text(design.half_width, is_share=is_share),
            "narrower by": _half_text(narrower, is_share=is_share),
        }
        rows.append(row)
    return rows


def best_sentence(score: ModelScore, n_calls: int) -> str:
    """Say how to split a new budget of `n_calls` best, by this score's variance components."""
    bar = score.bar
    worst = upper_components(bar)
    split = claims.split_words(bar.components, n_calls, MAX_QUESTIONS, bar.level, worst)
    half_width_words = claims.half_text(bar.half_width("wordings"), is_share=bar.cells.is_share)
    return f"{split}; here {score.n_calls:,} calls give {half_width_words}."


def plan_sentences(
    source: ErrorBar | Components, n_questions: int, n_wordings: int, n_runs: int
) -> tuple[str, ...]:
    """Say how precise a planned score would be, and where its calls and `N_CALLS` more should go.
    `source` is the error bar of an earlier score, or assumed variance components."""
    n_calls = n_questions * n_wordings * n_runs
    parts = source.components if isinstance(source, ErrorBar) else source
    # Only measured components have upper limits.
    worst = upper_components(source) if isinstance(source, ErrorBar) else None
    lines = claims.plan_words(parts, n_questions, n_wordings, n_runs, N_CALLS)
    if n_calls < MIN_CALLS:
        return lines
    return (*lines, f"{claims.split_words(parts, n_calls, MAX_QUESTIONS, worst=worst)}.")


def axis_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per axis that was changed alone, with the spread of the scores of its
    wordings."""
    rows = []
    for axis, bar in score.changes.items():
        is_share = bar.cells.is_share
        # The first value is that of the own prompt.
        values = [value for _, value in bar.cells.by_wording()]
        row = {
            "axis": axis.replace("_", " "),
            "prompts": bar.cells.shape[1],
            "lowest": claims.score_text(min(values), is_share=is_share),
            "highest": claims.score_text(max(values), is_share=is_share),
            "own prompt": claims.score_text(values[0], is_share=is_share),
            "spread of prompts (sd)": _half_text(
                math.sqrt(bar.components.wordings), is_share=is_share
            ),
        }
        rows.append(row)
    return rows


def wording_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per wording, the lowest score first; no row for a single wording."""
    rows: list[dict[str, Any]] = []
    if score.bar.cells.shape[1] > 1:
        for title, estimate in sorted(score.wordings(), key=lambda wording: wording[1].value):
            text = estimate.text_percent() if score.bar.cells.is_share else estimate.text()
            rows.append({"prompt": title, "score, questions only": text})
    return rows


def extractor_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per extractor."""
    rows = []
    for name, bar in score.extractor_bars.items():
        is_share = bar.cells.is_share
        row = {
            "extractor": title_of(name),
            "score": claims.score_text(bar.value, is_share=is_share),
            "questions": f"{len(bar.cells.questions):,}",
            "other questions": _limits(bar.by_questions, is_share=is_share),
            "other questions and prompts": _limits(bar.by_wordings, is_share=is_share),
        }
        rows.append(row)
    return rows


def _limits(estimate: Estimate, *, is_share: bool) -> str:
    return claims.limits_text(estimate, is_share=is_share) if estimate.has_interval else MISSING


def people_rows(score: ModelScore) -> list[dict[str, Any]]:
    """Return one row per extractor whose outputs people labelled."""
    rows = []
    for errors in score.people:
        row = errors.table_row()
        del row["model"]
        rows.append(row)
    return rows
