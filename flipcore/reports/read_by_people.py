"""Extractors compared with people's labels, per model and extractor.

How often the extractor reads another answer than people do, in which way, and the score and flips
with that corrected.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.judge_labels import Pairs
from flipcore.claims.score import corrected_words, narrower_words
from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors import needs_judge, title_of
from flipcore.reports.rows import Row, as_json
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement
from flipcore.stats.base.estimate import MIN_N, MISSING, Estimate, number_text, percent_text
from flipcore.stats.flips.decomposition import COLUMNS, Decomposition
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.score.corrected import Corrected, corrected
from flipcore.stats.score.corrected_flips import FlipsByPeople, flips_by_people
from flipcore.stats.score.self_preference import SelfPreference, self_preference
from flipcore.store.queries.judges import BACKWARDS
from flipcore.text.counts import count_of, with_capital, without_capital

# Columns that identify an output among those of one model, and among those of several.
OUTPUT_KEY = ["item_id", "variant_id", "sample"]
MODEL_OUTPUT_KEY = ["model", *OUTPUT_KEY]
N_MORE = 100  # the further labels whose effect is shown


def with_limits(estimate: Estimate) -> str:
    """Return an estimate for a table; a dash where labels are too few for limits."""
    # A number without limits would look more certain than so few labels make it.
    return estimate.text_percent() if estimate.has_interval else MISSING


# Ways in which an extractor and people disagree; the last two are about right and wrong.
_KINDS = (
    "another answer",
    "no answer read",
    "people see no answer",
    "right counted wrong",
    "wrong counted right",
)


@dataclass(frozen=True, eq=False)
class ExtractorErrors:
    """One model's labelled outputs under one extractor.

    `labelled_rows` are rows of `labelled_readouts`. `score` is the score of all outputs, corrected
    by the labels; None if nobody asked for it. `units` (n outputs,) names the cluster of each
    scored output.
    """

    model: str
    extractor: str
    labelled_rows: tuple[Mapping[str, Any], ...]
    score: Corrected | None = None
    units: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of labelled outputs."""
        return len(self.labelled_rows)

    @cached_property
    def error(self) -> Estimate:
        """Share of the labelled outputs that extractor and people read differently."""
        differs = [not row["is_same"] for row in self.labelled_rows]
        return accuracy(differs, [row["family"] for row in self.labelled_rows])

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Number of outputs per kind of disagreement. The kinds overlap: an output may count as
        "another answer" and as "right counted wrong"."""
        counts = dict.fromkeys(_KINDS, 0)
        for row in self.labelled_rows:
            if not row["is_same"]:
                lacks_answer, lacks_label = row["answer"] is None, row["label"] is None
                counts["another answer"] += not lacks_answer and not lacks_label
                counts["no answer read"] += lacks_answer
                counts["people see no answer"] += lacks_label
            if row["label_is_right"] is not None:
                is_right, is_counted_right = bool(row["label_is_right"]), bool(row["is_correct"])
                counts["right counted wrong"] += is_right and not is_counted_right
                counts["wrong counted right"] += is_counted_right and not is_right
        return counts

    @property
    def headline(self) -> str:
        """The share of disagreements, in a sentence without its full stop."""
        outputs = f"{count_of(self.n, 'labelled output')} of {self.model}"
        if self.error.has_interval:
            share, note = self.error.text_percent(), ""
        else:
            n_differing = sum(not row["is_same"] for row in self.labelled_rows)
            share, note = f"{n_differing:,}", f"; {without_capital(self.error.note.rstrip('.'))}"
            if self.n < MIN_N:
                note = f", too few for an interval ({MIN_N} are needed)"
        return (
            f"{title_of(self.extractor)} reads {share} of {outputs} otherwise than people do{note}"
        )

    @property
    def sentence(self) -> str:
        """The corrected score beside the extractor's, or that labels are too few. "" without a
        score."""
        if self.score is None:
            return ""
        if not self.score.estimate.has_interval:
            # People may have labelled further outputs of the study, which make no score.
            labels = count_of(self.score.n_labels, "label by people is", "labels by people are")
            return (
                f"{labels} of outputs behind the score of {self.model}, too few to correct it."
                f" {self.score.estimate.note}".rstrip()
            )
        return corrected_words(self.model, title_of(self.extractor).lower(), self.score)

    @property
    def narrower(self) -> str:
        """A sentence on the effect of more labels; "" without a score."""
        return narrower_words(self.score, N_MORE) if self.score else ""

    def table_row(self) -> dict[str, Any]:
        row = {
            "model": self.model,
            "extractor": title_of(self.extractor),
            "labels": self.n,
            "reads otherwise": self.error.text_percent(),
            **self.kinds,
        }
        if self.score is None:
            return row
        return row | {
            "score as read": self.score.raw.text_percent(),
            "corrected": with_limits(self.score.estimate),
            "by labels alone": with_limits(self.score.by_people),
        }

    def rows(self) -> Iterator[Row]:
        # Exported columns and JSON keep the name "reader" for an extractor.
        columns, title = {"model": self.model, "reader": self.extractor}, title_of(self.extractor)
        yield Row(self.model, title, "read otherwise than people do", self.error, columns=columns)
        if self.score:
            quantity = "score, corrected by people"
            yield Row(self.model, title, quantity, self.score.estimate, columns=columns)

    def as_dict(self) -> dict[str, Any]:
        errors = {
            "reader": self.extractor,
            "n_labels": self.n,
            "error": as_json(self.error),
            "kinds": self.kinds,
        }
        if self.score is None:
            return errors
        return errors | {
            "sentence": self.sentence,
            "score_as_read": as_json(self.score.raw),
            "corrected": as_json(self.score.estimate),
            "by_labels_alone": as_json(self.score.by_people),
            "n_disagreements": self.score.n_disagreements,
            **_half_widths(self.score),
        }


def _half_widths(estimate: Corrected | FlipsByPeople) -> dict[str, float | None]:
    """Return the half-width now, after `N_MORE` labels, and with infinitely many."""
    return {
        "half_width": as_json(estimate.half_width()),
        f"half_width_after_{N_MORE}_more": as_json(estimate.half_width(N_MORE)),
        "half_width_at_best": as_json(estimate.half_width(math.inf)),
    }


def extractor_errors(rows: Sequence[Mapping[str, Any]]) -> list[ExtractorErrors]:
    """Return one record per model and extractor from rows of `labelled_readouts`."""
    rows_of: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        rows_of.setdefault((row["model"], row["extractor"]), []).append(row)
    return [
        ExtractorErrors(model, extractor, tuple(labelled_rows))
        for (model, extractor), labelled_rows in rows_of.items()
    ]


def corrected_score(
    model: str,
    extractor: str,
    outputs: pd.DataFrame,
    rows: Sequence[Mapping[str, Any]],
    level: float,
) -> ExtractorErrors | None:
    """Correct the score of one model under one extractor by people's labels.

    `outputs` has item_id, variant_id, sample, score and family. `rows` are those of
    `labelled_readouts`, of any model. None without a label, and where scores are not 0 or 1.
    """
    scored = outputs[outputs["score"].notna()]
    row_of = {}
    for row in rows:
        is_own = (row["model"], row["extractor"]) == (model, extractor)
        if is_own and row["label_is_right"] is not None:
            row_of[tuple(row[name] for name in OUTPUT_KEY)] = row
    labels, labelled_rows = np.full(len(scored), math.nan), []
    for i, output in enumerate(zip(*(scored[name] for name in OUTPUT_KEY), strict=True)):
        if output in row_of:
            labels[i] = float(row_of[output]["label_is_right"])
            labelled_rows.append(row_of[output])
    # Labels say right or wrong, which corrects no grades.
    if not labelled_rows or not scored["score"].isin((0, 1)).all():
        return None
    units = scored["family"].astype(str).to_numpy()
    score = corrected(scored["score"], labels, units, level)
    return ExtractorErrors(model, extractor, tuple(labelled_rows), score, units)


def examples(rows: Sequence[Mapping[str, Any]], n: int = 20) -> list[dict[str, Any]]:
    """Return the first `n` outputs that extractor and people read differently, as table rows."""
    differing_rows = [row for row in rows if not row["is_same"]]
    shown = []
    for row in differing_rows[:n]:
        example = {
            "extractor": title_of(row["extractor"]),
            "model": row["model"],
            "item": row["item_id"],
            "extractor reads": row["answer"] or "–",
            "people read": row["label"] or "–",
            # Models mostly give the answer at the end.
            "the output ends": row["text"][-200:],
        }
        shown.append(example)
    return shown


def cost_words(n_labels: int, n_people: int, seconds: float) -> str:
    """Say what the labels cost in people and minutes; `seconds` per label, NaN where unknown."""
    people = "one person" if n_people == 1 else f"{n_people} people"
    duration = ""
    if not math.isnan(seconds):
        minutes = count_of(max(round(n_labels * seconds / 60), 1), "minute")
        duration = f", about {minutes} of reading"
    return f"{count_of(n_labels, 'label')} by {people}{duration}."


# The flip rates T = G + A of a model, corrected by people's labels of pairs of outputs.


def cell_name(cell: Decomposition) -> str:
    """Return the axis and extractor of a cell as text: "option order, first token"."""
    return f"{cell.axis.replace('_', ' ')}, {title_of(cell.extractor).lower()}"


@dataclass(frozen=True, eq=False)
class PeopleOnFlips:
    """Flip rates of one axis, or of all axes, under one extractor.

    `raw` are those that extractors give, `people` the same corrected by people's labels. A
    `why_not` that is not "" keeps them from conclusions.
    """

    model: str
    raw: Decomposition
    people: FlipsByPeople
    why_not: str = ""

    @property
    def sentence(self) -> str:
        """The corrected G and A beside those of the extractors, or that labels are too few. It
        states estimates and gives no verdict."""
        name = with_capital(cell_name(self.raw))
        pairs = count_of(self.people.n_pairs, "labelled pair")
        stated, artifact = self.people.stated, self.people.artifact
        if not stated.has_interval:
            return f"{name}: {pairs}, too few to correct the flips. {stated.note}".rstrip()
        as_read = f"{title_of(self.raw.reference).lower()} alone: {percent_text(self.raw.G.value)}"
        genuine = (
            f"{name}: by {pairs} {stated.text_percent()} of pairs state another answer; {as_read}."
        )
        gate = f"Not claimed: {self.why_not}" if self.why_not else ""
        return (
            f"{genuine} Artifact: {artifact.text_percent()} instead of "
            f"{percent_text(self.raw.A.value)}. {gate}".rstrip()
        )

    @property
    def narrower(self) -> str:
        """A sentence on the half-width of G after more labelled pairs, or how many are missing."""
        people = self.people
        if people.has_normal_limits:
            now, then, best = (number_text(people.half_width(n), 3) for n in (0, N_MORE, math.inf))
            return (
                f"{N_MORE} more pairs: ± {now} becomes ± {then}; no number of labels takes it"
                f" below ± {best}."
            )
        if people.n_pairs < MIN_N:
            return f"Label about {MIN_N - people.n_pairs} more pairs."
        # Without a disagreement nobody can say how many more labels would find some.
        if people.n_more is None:
            missed = percent_text(people.errors.false_wrongs.high)
            return (
                f"No labelled pair differs from the reference yet: it misses at most {missed} of"
                " what it calls no flip."
            )
        return (
            f"Label about {people.n_more:,} more pairs for an interval by prediction-powered"
            " inference."
        )

    def table_row(self) -> dict[str, Any]:
        people = self.people
        return {
            "axis": self.raw.axis.replace("_", " "),
            "extractor": title_of(self.raw.extractor),
            "pairs": people.n_pairs,
            "flips that people do not see": people.errors.false_rights.text_percent(),
            "flips missed": people.errors.false_wrongs.text_percent(),
            "T": self.raw.T.text_percent(),
            "G as read": self.raw.G.text_percent(),
            "G by people": with_limits(people.stated),
            "by labels alone": with_limits(people.by_labels_alone),
            "A as read": "reference" if self.raw.is_reference else self.raw.A.text_percent(),
            "A by people": with_limits(people.artifact),
        }

    def rows(self) -> Iterator[Row]:
        where, people = cell_name(self.raw), self.people
        columns = {"model": self.model, "axis": self.raw.axis, "extractor": self.raw.extractor}
        yield Row(self.model, where, "G, corrected by people", people.stated, columns=columns)
        yield Row(self.model, where, "A, corrected by people", people.artifact, columns=columns)

    def as_dict(self) -> dict[str, Any]:
        people = self.people
        return {
            "axis": self.raw.axis,
            "extractor": self.raw.extractor,
            "reference": self.raw.reference,
            "sentence": self.sentence,
            "is_claimed": not self.why_not,
            "n_pairs": people.n_pairs,
            "n_disagreements": people.n_disagreements,
            "T": as_json(self.raw.T),
            "G_as_read": as_json(self.raw.G),
            "G": as_json(people.stated),
            "A_as_read": as_json(self.raw.A),
            "A": as_json(people.artifact),
            "G_by_labels_alone": as_json(people.by_labels_alone),
            **_half_widths(people),
        }


def people_on_flips(
    model: str,
    cells: Sequence[Decomposition],
    frame: pd.DataFrame,
    pairs: Pairs,
    closed_gates: Mapping[str, str],
    level: float = 0.95,
    *,
    at_once: bool = False,
) -> list[PeopleOnFlips]:
    """Correct G and A by people's labels of pairs.

    The first rows are over all axes whose gate is open, where there are several; one row per cell
    follows. Rows without a labelled pair are left out. `frame` has the readouts of this model from
    which `cells` were made, with unreadable answers as a class of their own. With `at_once` all
    intervals hold simultaneously (Bonferroni).
    """
    labelled_rows = [row for row in pairs.rows if row["model"] == model]
    if not labelled_rows or not cells:
        return []
    answer_of = _answers_by_readout(frame, {row["item_id"] for row in labelled_rows})
    # The item values of a cell are in the order of the items in the frame.
    item_index = {name: i for i, name in enumerate(pd.factorize(frame["item_id"])[1])}
    # An axis behind a closed gate enters no mean over axes.
    open_cells = [cell for cell in cells if cell.axis not in closed_gates]
    axes = {cell.axis for cell in open_cells}
    pooled = across_axes(open_cells) if len(axes) > 1 else []
    results = []
    for i, cell in enumerate((*pooled, *cells)):
        cell_axes = axes if i < len(pooled) else {cell.axis}
        flips_by_reference, flips_as_labelled, items = [], [], []
        for row in labelled_rows:
            if row["axis"] not in cell_axes:
                continue
            flips = _flips_under_reference(row, answer_of, cell)
            if flips is not None:
                flips_by_reference.append(flips)
                flips_as_labelled.append(row["flips"])
                items.append(item_index[row["item_id"]])
        values = pd.DataFrame(cell.item_values, columns=list(COLUMNS))
        t, g = values["T"].to_numpy(), values["G"].to_numpy()
        clusters = cell.families if cell.families is not None else np.arange(t.size)
        people = flips_by_people(
            t, g, flips_by_reference, flips_as_labelled, items, clusters, level
        )
        names = (cell.axis, cell.extractor, cell.reference)
        # Cells without a labelled pair have nothing to show beside the extractors.
        if people.n_pairs:
            why_not = next((closed_gates[name] for name in names if closed_gates.get(name)), "")
            results.append(PeopleOnFlips(model, cell, people, why_not))
    if not at_once or not results:
        return results
    # Each row has two intervals, of G and of A.
    each_level = 1 - (1 - level) / (2 * len(results))
    return [replace(row, people=replace(row.people, level=each_level)) for row in results]


def leading(rows: Sequence[PeopleOnFlips]) -> PeopleOnFlips:
    """Return the first row of an extractor other than the reference, or else the first row."""
    return next((row for row in rows if not row.raw.is_reference), rows[0])


def shown_rows(rows: Sequence[PeopleOnFlips]) -> list[PeopleOnFlips]:
    """Return the rows with limits; where labels are too few for any, the leading row alone."""
    with_interval = [row for row in rows if row.people.stated.has_interval]
    return with_interval or ([leading(rows)] if rows else [])


def _answers_by_readout(frame: pd.DataFrame, items: set[str]) -> dict[tuple[Any, ...], str | None]:
    """Return (item, axis, variant, sample, extractor) -> answer; None for an unreadable one. Absent
    and cut answers have no entry."""
    part = frame[frame["item_id"].isin(items) & frame["status"].isin((OK, UNREADABLE))]
    columns = ["item_id", "axis", "variant", "sample", "extractor", "status", "answer"]
    answer_of: dict[tuple[Any, ...], str | None] = {}
    values = (part[name].astype(object) for name in columns)
    for *readout, status, answer in zip(*values, strict=True):
        answer_of[tuple(readout)] = answer if status == OK else None
    return answer_of


def _flips_under_reference(
    row: Mapping[str, Any], answer_of: Mapping[tuple[Any, ...], str | None], cell: Decomposition
) -> bool | None:
    """Tell whether a labelled pair flips under the reference; None if an answer is lacking."""
    answers = []
    for name in (cell.reference, cell.extractor):
        for variant, sample in zip(row["variants"], row["samples"], strict=True):
            key = (row["item_id"], row["axis"], variant, sample, name)
            # T = G + A counts only pairs that both extractors read.
            if key not in answer_of:
                return None
            answers.append(answer_of[key])
    # The first two answers are those of the reference.
    return answers[0] != answers[1]


# Checks of judges: whether two judges agree, and whether a judge favours its own family of models.

ALIASES = {"o": "gpt", "chatgpt": "gpt"}  # OpenAI names its reasoning models by the letter o


def family_of(model: str) -> str:
    """Return a model's family: "gpt" for "openai/gpt-4o", "llama" for "Meta-Llama-3-8B". The family
    of a Python function is its own name."""
    # A Python function is named "module.part:function", and has no family.
    if ":" in model and "." in model.partition(":")[0]:
        return model
    words = re.findall(r"[a-z]+", model.rpartition("/")[2].lower())
    first = next((word for word in words if word not in ("meta", "nous", "deepinfra")), model)
    return ALIASES.get(first, first)


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """Two judges on the same outputs. `same` is the share of outputs that both read alike; texts
    that neither could read count too."""

    first: str
    second: str
    same: Estimate
    agreement: Agreement
    n: int

    @property
    def sentence(self) -> str:
        kappa = self.agreement.estimate.text()
        names = f"{title_of(self.first)} and {title_of(self.second).lower()}"
        return f"{names} read {self.same.text()} of {self.n:,} outputs alike, kappa {kappa}."


@dataclass(frozen=True, eq=False)
class Contestant:
    """A judge that is itself among the models of the study, or has models of its family there.

    `own_models` are those models. `n_own` and `n_others` count the labelled outputs of its own and
    of other models; `preference` is None if either has none.
    """

    judge: str
    extractor: str
    own_models: tuple[str, ...]
    preference: SelfPreference | None
    n_own: int = 0
    n_others: int = 0

    @property
    def above_people(self) -> dict[str, Estimate | None]:
        """The judge's score less people's, by "own", "others" and "apart" (their difference)."""
        preference = self.preference
        if preference is None:
            return dict.fromkeys(("own", "others", "apart"))
        return dict(preference.by_key)

    @property
    def sentence(self) -> str:
        conflict = f"judges its own family ({', '.join(self.own_models)})"
        if self.judge in self.own_models:
            conflict = "answers here itself"
        start = f"The judge {self.judge} {conflict}."
        preference = self.preference
        if preference is None:
            return (
                f"{start} Label outputs of these models and of others to see whether it favours its"
                " own."
            )
        points = {name: lead.text_points() for name, lead in preference.by_key.items()}
        return (
            f"{start} Beside people it scores its own outputs {points['own']}"
            f" (n = {self.n_own:,}) and others' {points['others']} (n = {self.n_others:,}). Apart:"
            f" {points['apart']}."
        )


@dataclass(frozen=True, eq=False)
class Judges:
    """The pairs of judges of a study, and its judges that are contestants."""

    pairs: tuple[TwoJudges, ...] = ()
    contestants: tuple[Contestant, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        of_contestants = [contestant.sentence for contestant in self.contestants]
        return (*of_contestants, *(pair.sentence for pair in self.pairs))

    def rows(self) -> Iterator[Row]:
        for pair in self.pairs:
            names, columns = (pair.first, pair.second), {"first": pair.first, "second": pair.second}
            yield Row("", ", ".join(names), "two judges read alike", pair.same, columns=columns)
        for contestant in self.contestants:
            judge, title = contestant.judge, title_of(contestant.extractor)
            columns = {"judge": judge, "reader": contestant.extractor}
            for name, estimate in contestant.above_people.items():
                if estimate is not None:
                    quantity = f"judge above people, {name}"
                    yield Row(judge, title, quantity, estimate, columns=columns)

    def as_dict(self) -> dict[str, Any]:
        pairs, contestants = [], []
        for pair in self.pairs:
            row = {
                "first": pair.first,
                "second": pair.second,
                "sentence": pair.sentence,
                "same": as_json(pair.same),
                "kappa": as_json(pair.agreement.estimate),
                "n": pair.n,
            }
            pairs.append(row)
        for contestant in self.contestants:
            row = {
                "judge": contestant.judge,
                "reader": contestant.extractor,
                "own": list(contestant.own_models),
                "sentence": contestant.sentence,
                "above_people": as_json(contestant.above_people),
            }
            contestants.append(row)
        return {"pairs": pairs, "contestants": contestants}


def judges_of(
    frame: pd.DataFrame,
    labelled: Sequence[Mapping[str, Any]],
    model_of: Mapping[str, str],
    models: Sequence[str],
) -> Judges:
    """Compare the judges among the extractors of `frame`, which has readouts.

    `labelled` are people's labels (`judge_labels.labelled_readouts`). `model_of` is judge -> the
    model behind it. `models` are those of the study.
    """
    extractors = []
    for name in frame["extractor"].unique() if len(frame) else ():
        # The judge that reads the options backwards is a check of the judge, not a second judge.
        if needs_judge(str(name)) and name != BACKWARDS:
            extractors.append(str(name))
    pairs = [_compare_judges(frame, first, second) for first, second in combinations(extractors, 2)]
    contestants = []
    for extractor in extractors:
        if extractor not in model_of:
            continue
        # A judge that is among the models concerns itself alone, otherwise its whole family.
        judge = model_of[extractor]
        own_models = tuple(name for name in models if family_of(name) == family_of(judge))
        if judge in models:
            own_models = (judge,)
        if own_models:
            contestants.append(_contestant(extractor, judge, own_models, labelled))
    return Judges(tuple(pair for pair in pairs if pair), tuple(contestants))


def _contestant(
    extractor: str, judge: str, own_models: tuple[str, ...], labelled: Sequence[Mapping[str, Any]]
) -> Contestant:
    """Compare a judge's verdicts on `own_models` and on other models with people's labels."""
    rows = [
        row
        for row in labelled
        if row["extractor"] == extractor and row["label_is_right"] is not None
    ]
    is_own = [row["model"] in own_models for row in rows]
    n_own = sum(is_own)
    # A preference is a difference, so it needs labels of both sides.
    if not 0 < n_own < len(rows):
        return Contestant(judge, extractor, own_models, preference=None)
    preference = self_preference(
        [bool(row["is_correct"]) for row in rows],
        [row["label_is_right"] for row in rows],
        is_own,
        [row["family"] for row in rows],
    )
    return Contestant(
        judge,
        extractor,
        own_models=own_models,
        preference=preference,
        n_own=n_own,
        n_others=len(rows) - n_own,
    )


def _compare_judges(frame: pd.DataFrame, first: str, second: str) -> TwoJudges | None:
    """Return the agreement of two judges; None if they read no output in common."""
    cluster = "family" if "family" in frame else "item_id"
    columns = list(dict.fromkeys([*MODEL_OUTPUT_KEY, cluster, "status", "answer"]))

    def read_by(name: str) -> pd.DataFrame:
        is_read = (frame["extractor"] == name) & frame["status"].isin((OK, UNREADABLE))
        return frame.loc[is_read, columns].astype(object).drop_duplicates(MODEL_OUTPUT_KEY)

    by_second = read_by(second)[[*MODEL_OUTPUT_KEY, "answer"]]
    merged = read_by(first).merge(by_second, on=MODEL_OUTPUT_KEY, suffixes=("", "_second"))
    if merged.empty:
        return None
    # Two judges that cannot read a text agree on it.
    answers = merged[["answer", "answer_second"]]
    answers = answers.where(answers.notna(), "none")
    is_same = answers["answer"] == answers["answer_second"]
    same = accuracy(is_same.tolist(), merged[cluster].to_numpy())
    agreement = cohen_log_agreement(answers["answer"].tolist(), answers["answer_second"].tolist())
    return TwoJudges(first, second, same, agreement, len(merged))
