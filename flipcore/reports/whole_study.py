"""Every estimate and claim of a stored study, gates and locks obeyed, from one reading of its
readouts: command line, notebook, report, tables and dataset are views of it."""

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
from flipcore.reports.badges import badges_of
from flipcore.reports.flips import Headline, by_wording, judges, made_from, scores_alone
from flipcore.reports.holdout import HoldoutReport, Inflation, holdout_report, inflation
from flipcore.reports.log_scores import leading, task_scores
from flipcore.reports.memory import memory_tests, summary
from flipcore.reports.ranking import RankingReport, ranking_report, roles_of
from flipcore.reports.read_by_people import Judges, judges_of
from flipcore.reports.rows import Row, plain
from flipcore.reports.score import ScoreReport, score_report
from flipcore.reports.study import Report, study_report
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
from flipcore.store.queries import holdout, studies
from flipcore.store.queries import scores as queries
from flipcore.store.queries.audit import endings, reported
from flipcore.store.queries.locks import sight
from flipcore.store.queries.pairs import control_pairs
from flipcore.store.queries.readout_rows import all_and_harmless, as_texts
from flipcore.text.counts import count_of
from flipcore.text.templates import repeated_templates

# What was cut off, model by model and extractor by extractor, with accuracy as asked and among
# finished answers.


@dataclass(frozen=True)
class Truncation:
    """One model under one extractor. Of the study's own prompt, over the items of `role`, as in
    Score: `as_asked` counts a cut answer as wrong, `among_finished` leaves it out."""

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
        """True where the end of any answer was recorded."""
        return self.n_not_recorded < self.n_answers

    def sentence(self, title: str = "") -> str:
        """The sentence of `stats` and the page; "not recorded" is never 0."""
        name = title or self.extractor.replace("_", " ")
        if not self.is_known:
            return f"{name}: cut off: not recorded ({self.n_answers:,} answers)."
        part = f"; of {self.n_not_recorded:,} more: not recorded" if self.n_not_recorded else ""
        if not self.n_cut:
            return (
                f"{name}: none of {self.n_answers - self.n_not_recorded:,} answers was cut"
                f" off{part}."
            )
        n_endings = self.n_answers - self.n_not_recorded
        limit = f" at {count_of(self.max_tokens, 'token')}" if self.max_tokens else ""
        verb, share = "was" if self.n_cut == 1 else "were", share_text(self.n_cut, n_endings)
        cut_off = f"{verb} cut off{limit}{part}."
        sentence = f"{name}: {self.n_cut:,} of {n_endings:,} answers ({share}) {cut_off}"
        among = "none finished"
        if self.n_cut < n_endings:
            among = f"{self.among_finished.text_percent()} among finished answers"
            if np.isnan(self.among_finished.value):
                return sentence
        if np.isnan(self.as_asked.value):
            return sentence
        accuracies = f"{self.as_asked.text_percent()} as asked, {among}"
        return (
            f"{sentence} Accuracy at the own prompt ({role_name(self.role)} items): {accuracies}."
        )

    def as_dict(self) -> dict:
        """Plain values for JSON; a missing number is None, and so is the count where nothing was
        recorded."""
        n_cut = self.n_cut if self.is_known else None
        return plain(vars(self)) | {"n_cut": n_cut, "sentence": self.sentence()}


def truncations(endings: pd.DataFrame, frame: pd.DataFrame) -> list[Truncation]:
    """Count the answers that were cut off. `endings` as `store.queries.audit` gives them, `frame`
    the readouts of the same study."""
    summaries = []
    call = ["model", "item_id", "variant_id", "sample"]
    cut = frame.loc[frame["status"] == CUT, call].drop_duplicates().assign(is_cut=True)
    for row in endings.to_dict("records"):
        is_of_model = (frame["model"] == row["model"]) & (frame["variant"] == BASE)
        asked = frame[is_of_model & (frame["extractor"] == row["extractor"])]
        role = next(iter(roles_of(asked)), "")
        asked = asked[asked["is_correct"].notna() & (asked["role"] == role)].drop_duplicates(call)
        finished = asked[asked["status"] != CUT]
        # A log's scorer scores cut answers too: another extractor's status says which were cut.
        if row["extractor"] not in EXTRACTORS:
            finished = finished[finished.merge(cut, how="left")["is_cut"].isna().to_numpy()]
        # Calls were cut off, and no readout says which: the accuracy of the others is unknown.
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
    """The results of a study, with the tables that they are made from. `frame` are the readouts
    that its flips are made of, `everything` all that open items answered, `closed_gates` axis or
    extractor -> why it is not claimed, `pairs` the stored ones of its items, `row` what
    `queries.studies` says of it, `cut` how many answers were cut off."""

    store: Store
    study_id: str
    study: Study
    row: Mapping[str, Any]
    frame: pd.DataFrame
    everything: pd.DataFrame
    items: pd.DataFrame
    closed_gates: Mapping[str, str]
    pairs: Pairs
    report: Report
    cut: Sequence[Truncation]
    score: ScoreReport | None = None
    ranking: RankingReport | None = None
    judges: Judges = field(default_factory=Judges)

    # The tests take long, and most views of a study ask for none of them.
    @cached_property
    def holdout(self) -> HoldoutReport | None:
        """The four tests of the study's target and retro items, computed when they are first asked
        for; None without both sets."""
        return holdout_report(self.store, self.study_id)

    @cached_property
    def inflation(self) -> Inflation:
        """The lead of each model on the target over the retro set."""
        return inflation(
            conditions(holdout.accuracies(self.store, self.study_id)), self.closed_gates
        )

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every estimate, in the order of the report; what says by definition what another says is
        left out."""
        rows = list(self.score.rows()) if self.score else []
        for model in self.models:
            rows += self.report.rows(model)
        rows += self.ranking.rows() if self.ranking else ()
        rows += self.holdout.rows() if self.holdout else ()
        rows += self.inflation.rows()
        rows += self.judges.rows()
        return tuple(row for row in rows if not row.is_repeated)

    @property
    def claims(self) -> Iterator[Claim]:
        yield from self.score.claims if self.score else ()
        yield from self.ranking.claims if self.ranking else ()
        for model in self.models:
            yield from (*self.report.headlines[model].claims, *self.report.claims.get(model, ()))
            for test in self.report.memory.get(model, ()):
                yield from (test.claim, *test.further)
        yield from self.holdout_claims

    @property
    def holdout_claims(self) -> tuple[Claim, ...]:
        """The claims on two sets: the verdict, each of the four tests, inflation. None without both
        sets."""
        tests = self.holdout.claims if self.holdout else ()
        return (*tests, self.inflation.claim) if tests or self.inflation.conditions else ()

    @property
    def models(self) -> list[str]:
        return list(self.report.decompositions)

    @property
    def plugins(self) -> str:
        return self.row["plugins"]

    @property
    def badges(self) -> list[tuple[str, str]]:
        """(badge, text) of what qualifies every number here."""
        judge = any(needs_judge(name) for name in self.closed_gates)
        n_unreviewed = studies.n_unreviewed(self.store, self.study_id)
        pairs = badges_of(self.row, n_unreviewed, judge_is_closed=judge)
        # Nothing here is read under a lock.
        return [*pairs, ("EXPLORATORY", "EXPLORATORY")]

    @property
    def provenance(self) -> str:
        """The source of a figure or table, for its caption."""
        other_models = ", ".join(self.row["other_models"])
        named = f", replies name {other_models}" if other_models else ""
        return f"Study {self.study.name} ({self.study_id}){named}, Flipscope {__version__}"

    def answers_of(self, model: str) -> pd.DataFrame:
        return frames.with_reference(self.everything, self.study)[
            self.everything["model"].to_numpy() == model
        ]

    def flips_of(self, model: str) -> pd.DataFrame:
        return self.frame[self.frame["model"] == model]

    def temperature(self, model: str) -> float | None:
        """The temperature at which the model was asked; None where that is not known."""
        return next((use.temperature for use in self.study.models if use.name == model), None)

    def mismatch(self, model: str) -> str:
        """The two extractors that disagree most, of recorded answers without a right answer; "" of
        others."""
        frame = self.flips_of(model)
        n_readers = frame.loc[frame["answer"].notna(), "extractor"].nunique()
        # Where right answers are known, the scores show how far extractors disagree.
        if not self.study.is_recorded or frame["is_correct"].notna().any() or n_readers < 2:
            return ""
        return disagreements(frame, judges(frame)).sentence(title_of)

    def text(self) -> str:
        lines = [self.score.text(), ""] if self.score else []
        lines += [self.report.text(), ""]
        sets = self.holdout.text() if self.holdout else []
        if self.holdout_claims:
            sets.append(f"{self.inflation.claim.text} {self.inflation.claim.detail}".rstrip())
        if sets:
            lines += [*sets, ""]
        if self.ranking:
            lines += [self.ranking.text(), ""]
        for model in self.models:
            if mismatch := self.mismatch(model):
                lines.append(f"{model}: {mismatch}")
        lines += self.judges.sentences
        lines += [f"{truncation.model}, {truncation.sentence()}" for truncation in self.cut]
        lines += unreadable_labels(self.frame)
        if self.plugins:
            lines.append(f"Plug-ins of other packages: {self.plugins}.")
        return "\n".join(lines).strip()

    def as_dict(self) -> dict[str, Any]:
        return self.report.as_dict() | {
            "score": self.score.as_dict() if self.score else None,
            "ranking": self.ranking.as_dict() if self.ranking else None,
            "holdout": self.holdout.as_dict() if self.holdout else None,
            "inflation": self.inflation.as_dict() if self.inflation.conditions else None,
            "judges": self.judges.as_dict(),
            "cut_off": [truncation.as_dict() for truncation in self.cut],
            "plugins": self.plugins,
        }


def whole_study(store: Store, study_id: str, reference: str | None = None) -> WholeStudy:
    """Everything that may be said of a study now; `reference` as in `study_report`. What is set
    aside stays unseen."""
    # One reading of the stored rows serves the flips and everything else.
    everything, frame = all_and_harmless(store, study_id, sight(store, study_id, None), "standing")
    everything = as_texts(everything)
    study, items = studies.declared(store, study_id), studies.study_items(store, study_id)
    warning = repeated_templates(*made_from(items))
    gates, pairs = reasons(store, study_id), control_pairs(store, study_id)
    scores = task_scores(store, study_id, study)
    heat = {use.name: use.temperature for use in study.models}
    by_units = by_wording(frame, items, heat, by_task=study.is_recorded)
    repeats = {model: f"{warning} {sentence}" for model, sentence in by_units.items()}
    people = labelled_pairs(store, study_id)
    report = study_report(
        frame,
        reference,
        gates,
        heat,
        repeats=repeats,
        scores=scores,
        by_task=study.is_recorded,
        pairs=people,
    )
    models = list(dict.fromkeys([*report.decompositions, *everything["model"]]))
    by_model = {model: everything[everything["model"] == model] for model in models}
    accuracies = {model: harness_accuracy(part) for model, part in by_model.items()}
    # Models of which only values were read, as losses, have no flips.
    values_alone = [model for model in models if model not in report.decompositions]
    graders = queries.graders(store, study_id, study.scorers)
    labelled = labelled_readouts(store, study_id)
    # A log's own grades are no answers that could flip, so only the score reads them.
    score = score_report(
        studies.readouts(store, study_id, grades_of=graders) if graders else frame,
        is_recorded=study.is_recorded,
        reader=reference,
        closed_gates=gates,
        scorers=study.scorers,
        reported=reported(study),
        labelled=labelled,
        settings=queries.settings(store, study_id),
    )
    memory = memory_tests(everything, study, items, gates, pairs)
    judges = judges_of(
        frame, labelled, judge_models(store, study), [use.name for use in study.models]
    )
    headlines = {model: _beside(score, headline) for model, headline in report.headlines.items()}
    for model in values_alone:
        headlines[model] = scores_alone(scores, model) if leading(scores, model) else NO_ANSWERS
    memory_claims = {}
    for model, tests in memory.items():
        if tests:
            memory_claims[model] = summary(tests, frames.compared_sets(by_model[model], study))
    report = replace(
        report,
        headlines=headlines,
        decompositions=report.decompositions | {model: [] for model in values_alone},
        memory={model: [] for model in models} | memory,
        memory_claims=memory_claims,
        harness={model: accuracy for model, accuracy in accuracies.items() if accuracy},
    )
    rows = studies.studies(store)
    row = rows[rows["study_id"] == study_id].iloc[0]
    return WholeStudy(
        store=store,
        study_id=study_id,
        study=study,
        row={str(name): value for name, value in row.items()},
        frame=frame,
        everything=everything,
        items=items,
        closed_gates=gates,
        pairs=pairs,
        report=report,
        cut=truncations(endings(store, study_id), frame),
        score=score,
        ranking=ranking_report(frame, reference, gates, scorers=study.scorer_names),
        judges=judges,
    )


def judge_models(store: Store, study: Study) -> dict[str, str]:
    """Extractor -> the model that reads as it: the study's judge, and those that judged its stored
    outputs again."""
    models = {part.name: study.judge for part in study.extractors if needs_judge(part.name)}
    # A judge that read stored outputs again is not declared, and stands with its version.
    for name, version in versions_of(store, study.study_id).items():
        models[name] = version["params"].get("model")
    return {name: str(model) for name, model in models.items() if model}


def _beside(score: ScoreReport | None, headline: Headline) -> Headline:
    """A model that was asked in several wordings has one score, on one set of questions: its
    accuracy at the own prompt is left to it."""
    # Two accuracies of one model, over different prompts, would puzzle whoever reads the card.
    model_score = score.find_model(headline.model) if score else None
    if model_score is None or not model_score.bar.by_wordings.has_interval:
        return headline
    claims = tuple(claim for claim in headline.claims if claim is not headline.score)
    return replace(headline, claims=claims)


def study_of(store: Store, query: str) -> str:
    """The id of the one study of that id, or whose name begins so; BadInput lists what there is."""
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


def imported(path: Path, words: Sequence[str], store: Store) -> str:
    """The id of the study that files are, stored for a moment; `words` correct a guess, as --map
    does."""
    # Whoever names a file on the command line may read its folder.
    folders.admit(path if path.is_dir() else path.parent)
    corrections = corrections_of(words, of_tables=bool(tables_in([path], words)))
    return store_logs(survey([path], corrections), store, is_checked=False)
