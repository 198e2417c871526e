"""Every estimate and claim of a stored study, for command line, notebook, report and exports.

Gates and locks are obeyed. The readouts are read from the store once, and again for the scores of a
log with grades of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.gates import reasons
from flipcore.annotation.judge_labels import labelled_pairs, labelled_readouts
from flipcore.claims.claim import Claim, description
from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, CUT, role_name
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.extractors import EXTRACTORS, needs_judge, title_of
from flipcore.reports.answer import Answer, Question, Settings
from flipcore.reports.badges import badges_of
from flipcore.reports.flips import Headline, by_wording, graders, scores_alone, wording_inputs
from flipcore.reports.holdout import HoldoutReport, Inflation, SetsReport, holdout_report, inflation
from flipcore.reports.log_scores import TaskScore, leading, task_scores
from flipcore.reports.memory import (
    Measurement,
    MemoryReport,
    family_tests,
    measurements_of,
    memory_report,
)
from flipcore.reports.ranking import RankingReport, counted_role, ranking_report
from flipcore.reports.read_by_people import Judges, judges_of
from flipcore.reports.rows import Row, as_json
from flipcore.reports.score import ScoreReport, score_report
from flipcore.reports.study import FlipsReport, study_report
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey, tables_in
from flipcore.runs.rereading import versions_of
from flipcore.runs.truncation import share_text
from flipcore.stats.base.accuracy import accuracy_of
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.flips.label_mass import unreadable_labels
from flipcore.stats.flips.readout_mismatch import disagreements
from flipcore.stats.holdout.difficulty import conditions
from flipcore.stats.memory import frames
from flipcore.stats.memory.matching import Pairs
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.store.connection import Store
from flipcore.store.queries import holdout, pairs, studies
from flipcore.store.queries import scores as queries
from flipcore.store.queries.audit import endings, reported
from flipcore.store.queries.locks import sight
from flipcore.store.queries.readout_rows import all_and_comparable, as_texts
from flipcore.text.counts import count_of
from flipcore.text.templates import repeated_templates


@dataclass(frozen=True)
class Truncation:
    """Answers of one model that were cut off, under one extractor, over all prompts.

    The accuracies are at the study's own prompt, over the items of `role`: `as_asked` counts a cut
    answer as wrong, `among_finished` leaves it out. `max_tokens` is 0 where unknown.
    """

    model: str
    extractor: str
    n_answers: int
    n_cut: int
    n_not_recorded: int
    max_tokens: int
    as_asked: Estimate
    among_finished: Estimate
    role: str

    @property
    def is_known(self) -> bool:
        """True if the log says for any answer whether it was cut off."""
        return self.n_not_recorded < self.n_answers

    def sentence(self, title: str = "") -> str:
        """Say how many answers were cut off, and what that costs in accuracy. Where nothing was
        recorded it says so and never prints 0."""
        name = title or self.extractor.replace("_", " ")
        if not self.is_known:
            return f"{name}: cut off: not recorded ({self.n_answers:,} answers)."
        more = f"; of {self.n_not_recorded:,} more: not recorded" if self.n_not_recorded else ""
        n_endings = self.n_answers - self.n_not_recorded
        if not self.n_cut:
            return f"{name}: none of {n_endings:,} answers was cut off{more}."
        limit = f" at {count_of(self.max_tokens, 'token')}" if self.max_tokens else ""
        verb, share = "was" if self.n_cut == 1 else "were", share_text(self.n_cut, n_endings)
        cut_off = f"{verb} cut off{limit}{more}."
        sentence = f"{name}: {self.n_cut:,} of {n_endings:,} answers ({share}) {cut_off}"
        finished = "none finished"
        if self.n_cut < n_endings:
            finished = f"{self.among_finished.text_percent()} among finished answers"
            if np.isnan(self.among_finished.value):
                return sentence
        if np.isnan(self.as_asked.value):
            return sentence
        accuracies = f"{self.as_asked.text_percent()} as asked, {finished}"
        return (
            f"{sentence} Accuracy at the own prompt ({role_name(self.role)} items): {accuracies}."
        )

    def as_dict(self) -> dict:
        """Return values for JSON; `n_cut` is None if nothing was recorded."""
        n_cut = self.n_cut if self.is_known else None
        return as_json(vars(self)) | {"n_cut": n_cut, "sentence": self.sentence()}


def truncations(call_endings: pd.DataFrame, frame: pd.DataFrame) -> list[Truncation]:
    """Count the answers that were cut off, per model and extractor. `call_endings` are those of
    `store.queries.audit`, `frame` the readouts of the same study."""
    summaries = []
    call_columns = ["model", "item_id", "variant_id", "sample"]
    cut = frame.loc[frame["status"] == CUT, call_columns].drop_duplicates().assign(is_cut=True)
    for row in call_endings.to_dict("records"):
        is_of_model = (frame["model"] == row["model"]) & (frame["variant"] == BASE)
        asked = frame[is_of_model & (frame["extractor"] == row["extractor"])]
        role = counted_role(asked)
        asked = asked[asked["is_correct"].notna() & (asked["role"] == role)]
        asked = asked.drop_duplicates(call_columns)
        finished = asked[asked["status"] != CUT]
        # A log's scorer scores cut answers too, so another extractor's status says which were cut.
        if row["extractor"] not in EXTRACTORS:
            finished = finished[finished.merge(cut, how="left")["is_cut"].isna().to_numpy()]
        # Where no readout says which calls were cut off, the accuracy among finished answers is
        # unknown.
        is_unknown = row["n_cut"] and len(finished) == len(asked)
        truncation = Truncation(
            model=str(row["model"]),
            extractor=str(row["extractor"]),
            n_answers=int(row["n_answers"]),
            n_cut=int(row["n_cut"]),
            n_not_recorded=int(row["n_not_recorded"]),
            max_tokens=int(row["max_tokens"] or 0),
            as_asked=accuracy_of(asked),
            among_finished=missing() if is_unknown else accuracy_of(finished),
            role=role,
        )
        summaries.append(truncation)
    return summaries


NO_ANSWERS = Headline((description("No answer is read that could flip."),))


@dataclass(frozen=True, eq=False)
class WholeStudy:
    """A stored study and its answers, with the tables that they are made from.

    Everything is read or computed on first use and then kept. Items that were set aside are hidden
    without the `lock` id. `reference` is the reference extractor that somebody chose, or "" for the
    default. Where a model lacks the chosen one, `study_report` takes no other for it and claims
    nothing of that model.
    """

    store: Store
    study_id: str
    reference: str = ""
    lock: str | None = None
    _answers: dict[tuple[Question, Settings], Answer | None] = field(default_factory=dict)

    @cached_property
    def study(self) -> Study:
        return studies.declared(self.store, self.study_id)

    @cached_property
    def items(self) -> pd.DataFrame:
        return studies.study_items(self.store, self.study_id)

    @cached_property
    def row(self) -> dict[str, Any]:
        """The study's row of `queries.studies.studies`."""
        rows = studies.studies(self.store)
        row = rows[rows["study_id"] == self.study_id].iloc[0]
        return {str(name): value for name, value in row.items()}

    @cached_property
    def closed_gates(self) -> Mapping[str, str]:
        """Axis or extractor -> why it is not claimed."""
        return reasons(self.store, self.study_id)

    @cached_property
    def control_pairs(self) -> Pairs:
        """The stored pairs of its items with controls."""
        return pairs.control_pairs(self.store, self.study_id, self.lock)

    @cached_property
    def _readouts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        # Both frames come from the same rows, which are slow to read.
        scope = sight(self.store, self.study_id, self.lock)
        all_readouts, flip_readouts = all_and_comparable(
            self.store, self.study_id, scope, paraphrases="standing"
        )
        return (
            as_texts(all_readouts),
            studies.without_graders(self.store, self.study_id, flip_readouts),
        )

    @property
    def all_readouts(self) -> pd.DataFrame:
        """All readouts of visible items."""
        return self._readouts[0]

    @property
    def flip_readouts(self) -> pd.DataFrame:
        """The readouts that count for flips."""
        return self._readouts[1]

    @property
    def score_readouts(self) -> pd.DataFrame:
        """The readouts that count for scores."""
        # A log's own grades cannot flip, so only scores use them.
        names = queries.graders(self.store, self.study_id, self.study.scorers)
        if not names:
            return self.flip_readouts
        return studies.readouts(self.store, self.study_id, lock=self.lock, grades_of=names)

    @cached_property
    def labelled(self) -> list[dict[str, Any]]:
        """People's labels of outputs; empty under a lock, which shows no corrections."""
        return [] if self.lock else labelled_readouts(self.store, self.study_id)

    @cached_property
    def task_scores(self) -> list[TaskScore]:
        return task_scores(self.store, self.study_id, self.study)

    def answer(self, question: Question, settings: Settings | None = None) -> Any:
        """Return the answer to a question, computed once per settings. None if the study has
        nothing to answer it with."""
        settings = settings or Settings(reference=self.reference)
        if (question, settings) not in self._answers:
            self._answers[question, settings] = compute_answer(question, self, settings)
        return self._answers[question, settings]

    @property
    def score(self) -> ScoreReport | None:
        return self.answer(Question.SCORE)

    @property
    def ranking(self) -> RankingReport | None:
        return self.answer(Question.RANKING)

    @cached_property
    def judges(self) -> Judges:
        """Judges (models that grade) compared with each other and with people's labels."""
        models = [use.name for use in self.study.models]
        judges = judge_models(self.store, self.study)
        return judges_of(self.flip_readouts, self.labelled, judges, models)

    @cached_property
    def cut(self) -> list[Truncation]:
        """Counts of answers that were cut off."""
        return truncations(endings(self.store, self.study_id), self.flip_readouts)

    @property
    def measurements(self) -> Mapping[str, Sequence[Measurement]]:
        """The measurements of each detector, by model."""
        return measurements_of(self.all_readouts, self.study, self.items, self.control_pairs)

    @property
    def memory(self) -> MemoryReport:
        return self.answer(Question.MEMORY)

    @cached_property
    def flips(self) -> dict[str, FlipsReport]:
        """The flips of each model; a model with losses alone has a report without cells."""
        temperatures = {use.name: use.temperature for use in self.study.models}
        by_task = self.study.is_recorded
        warning = repeated_templates(*wording_inputs(self.items))
        wording_notes = by_wording(self.flip_readouts, self.items, temperatures, by_task=by_task)
        reports = study_report(
            self.flip_readouts,
            self.reference or None,
            self.closed_gates,
            temperatures,
            repeats={model: f"{warning} {note}" for model, note in wording_notes.items()},
            scores=self.task_scores,
            by_task=by_task,
            pairs=labelled_pairs(self.store, self.study_id),
        )
        for model in self.models:
            if model in reports:
                headline = _without_repeated_accuracy(self.score, reports[model].headline)
            else:
                reports[model] = FlipsReport(model, NO_ANSWERS)
                is_scored = leading(self.task_scores, model)
                headline = scores_alone(self.task_scores, model) if is_scored else NO_ANSWERS
            harness = harness_accuracy(self.all_readouts[self.all_readouts["model"] == model])
            reports[model] = replace(reports[model], headline=headline, harness=harness)
        return reports

    def sentences_of_other_models(self) -> list[str]:
        """Return what memory and flips say of each model but the first, whose card says it."""
        sentences = []
        for model in self.models[1:]:
            summary, headline = self.memory.summaries.get(model), self.flips[model].headline
            claims = [] if summary is None else [summary]
            claims += [claim for claim in headline.claims if claim != headline.score]
            sentences += [f"{model}: {claim.text}" for claim in claims if claim.text]
        return sentences

    @property
    def sets(self) -> SetsReport:
        """Benchmark and holdout compared; its tests are slow, and most views do not need them."""
        return self.answer(Question.HOLDOUT)

    @property
    def holdout(self) -> HoldoutReport | None:
        """The four tests of the study's target and retro items; None without both sets."""
        return self.sets.tests

    @property
    def inflation(self) -> Inflation:
        """The lead of each model's score on the target over that on the retro set."""
        return self.sets.inflation

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every estimate in the order of the report, without rows that repeat another one."""
        rows = list(self.score.rows()) if self.score else []
        for model in self.models:
            rows += [*self.flips[model].rows(), *self.memory.find_model(model).rows()]
        rows += self.ranking.rows() if self.ranking else ()
        rows += self.sets.rows()
        rows += self.judges.rows()
        return tuple(row for row in rows if not row.is_repeated)

    @property
    def claims(self) -> Iterator[Claim]:
        yield from self.score.claims if self.score else ()
        yield from self.ranking.claims if self.ranking else ()
        for model in self.models:
            yield from self.flips[model].claims
            for test in self.memory.tests.get(model, ()):
                yield from (test.claim, *test.further)
        yield from self.sets.claims if self.sets.has_sets else ()

    @cached_property
    def models(self) -> list[str]:
        """The models with answers that could flip, then those with losses or other values alone."""
        names = [*self.flip_readouts["model"].unique(), *self.all_readouts["model"].unique()]
        return list(dict.fromkeys(map(str, names)))

    @property
    def plugins(self) -> str:
        return self.row["plugins"]

    @property
    def badges(self) -> list[tuple[str, str]]:
        """(badge, text) pairs that qualify every number here."""
        judge_is_closed = any(needs_judge(name) for name in self.closed_gates)
        n_unreviewed = studies.n_unreviewed(self.store, self.study_id)
        badges = badges_of(self.row, n_unreviewed, judge_is_closed=judge_is_closed)
        # Only pages show a study under a lock, and they make their own badges.
        return [*badges, ("EXPLORATORY", "EXPLORATORY")]

    @property
    def provenance(self) -> str:
        """The study and version, for the caption of a figure or table."""
        other_models = ", ".join(self.row["other_models"])
        named = f", replies name {other_models}" if other_models else ""
        return f"Study {self.study.name} ({self.study_id}){named}, Flipscope {__version__}"

    def readouts_of(self, model: str) -> pd.DataFrame:
        """Return all readouts of a model, with the columns of the reference models that memory
        tests use."""
        return frames.with_reference(self.all_readouts, self.study)[
            self.all_readouts["model"].to_numpy() == model
        ]

    def flip_readouts_of(self, model: str) -> pd.DataFrame:
        """Return the readouts of a model that count for flips."""
        return self.flip_readouts[self.flip_readouts["model"] == model]

    def temperature(self, model: str) -> float | None:
        """The temperature at which the model was asked; None if that is not known."""
        return next((use.temperature for use in self.study.models if use.name == model), None)

    def mismatch(self, model: str) -> str:
        """Name the two extractors that disagree most on a recording's answers. "" if right
        answers are known, because the scores show then how far extractors disagree."""
        frame = self.flip_readouts_of(model)
        n_extractors = frame.loc[frame["answer"].notna(), "extractor"].nunique()
        if not self.study.is_recorded or frame["is_correct"].notna().any() or n_extractors < 2:
            return ""
        return disagreements(frame, graders(frame)).sentence(title_of)

    def text(self) -> str:
        lines = [*self.score.lines(), ""] if self.score else []
        for model in self.models:
            lines += [*self.flips[model].lines(), *self.memory.find_model(model).lines(), ""]
        if not self.models:
            lines += ["No answer has come back yet.", ""]
        if self.sets.has_sets:
            lines += [*self.sets.lines(), ""]
        if self.ranking:
            lines += [*self.ranking.lines(), ""]
        for model in self.models:
            if mismatch := self.mismatch(model):
                lines.append(f"{model}: {mismatch}")
        lines += self.judges.sentences
        lines += [f"{truncation.model}, {truncation.sentence()}" for truncation in self.cut]
        lines += unreadable_labels(self.flip_readouts)
        if self.plugins:
            lines.append(f"Plug-ins of other packages: {self.plugins}.")
        return "\n".join(lines).strip()

    def as_dict(self) -> dict[str, Any]:
        models = {}
        for model, flips in self.flips.items():
            models[model] = flips.as_dict() | self.memory.find_model(model).as_dict()
        return {
            "models": models,
            "closed": dict(self.closed_gates),
            "score": self.score.as_dict() if self.score else None,
            "ranking": self.ranking.as_dict() if self.ranking else None,
            **self.sets.as_dict(),
            "judges": self.judges.as_dict(),
            "cut_off": [truncation.as_dict() for truncation in self.cut],
            "plugins": self.plugins,
        }


def whole_study(store: Store, study_id: str, reference: str | None = None) -> WholeStudy:
    """Return a study and its answers; `reference` as in `study_report`."""
    return WholeStudy(store, study_id, reference or "")


def compute_answer(question: Question, study: WholeStudy, settings: Settings) -> Answer | None:
    """Compute a study's answer to a question; None if there is none.

    Raises ValueError for flips, which have an answer per model (`WholeStudy.flips`).
    """
    if question is Question.RANKING:
        return ranking_report(
            study.flip_readouts,
            settings.reference or None,
            study.closed_gates,
            settings.role or None,
            settings.level,
            study.study.scorer_names,
        )
    if question is Question.HOLDOUT:
        measured = conditions(holdout.accuracies(study.store, study.study_id))
        tests = holdout_report(study.store, study.study_id)
        return SetsReport(tests, inflation(measured, study.closed_gates))
    if question is Question.MEMORY:
        control, gates = study.study.control, study.closed_gates
        family = family_tests(study.measurements, control, gates)
        return memory_report(family, study.all_readouts, study.study)
    if question is not Question.SCORE:
        raise ValueError(f"{question} has an answer per model: `WholeStudy.flips`.")
    return score_report(
        study.score_readouts,
        is_recorded=study.study.is_recorded,
        reference=settings.reference or None,
        closed_gates=study.closed_gates,
        role=settings.role or None,
        axes=settings.axes,
        level=settings.level,
        scorers=study.study.scorers,
        reported=reported(study.study),
        labelled=study.labelled,
        settings=queries.settings(study.store, study.study_id),
        has_raters=study.study.has_raters,
        table_scores=study.study.table_scores,
    )


def judge_models(store: Store, study: Study) -> dict[str, str]:
    """Return extractor -> the judge model behind it, for extractors that need a judge."""
    models = {part.name: study.judge for part in study.extractors if needs_judge(part.name)}
    # A judge that read stored outputs later is not declared; its version names the model.
    for name, version in versions_of(store, study.study_id).items():
        models[name] = version["params"].get("model")
    return {name: str(model) for name, model in models.items() if model}


def _without_repeated_accuracy(score: ScoreReport | None, headline: Headline) -> Headline:
    """Return the headline without its accuracy where the model has a score over several wordings.
    Two accuracies of one model, over different prompts, would confuse the reader of a card."""
    model_score = score.find_model(headline.model) if score else None
    if model_score is None or not model_score.bar.by_wordings.has_interval:
        return headline
    claims = tuple(claim for claim in headline.claims if claim is not headline.score)
    return replace(headline, claims=claims)


def study_id_of(store: Store, query: str) -> str:
    """Return the id of the study with that id, or whose name begins with `query`.

    Raises BadInput if no study or several studies match.
    """
    rows = studies.studies(store).to_dict("records")
    matching = []
    for row in rows:
        if row["study_id"] == query or row["name"].lower().startswith(query.lower()):
            matching.append(row)
    if len(matching) == 1:
        return matching[0]["study_id"]
    listed = "; ".join(f"{row['study_id']} ({row['name']})" for row in matching or rows)
    if matching:
        raise BadInput(f"{len(matching)} studies match {query!r}. They are: {listed}.")
    raise BadInput(f"No study matches {query!r}. There are: {listed or 'none yet'}.")


def import_log(path: Path, map_words: Sequence[str], store: Store) -> str:
    """Import a log into the store and return its study id; `map_words` are those of --map."""
    # A user who names a file on the command line may read its folder.
    folders.admit(path if path.is_dir() else path.parent)
    corrections = corrections_of(map_words, of_tables=bool(tables_in([path], map_words)))
    return store_logs(survey([path], corrections), store, is_checked=False)
