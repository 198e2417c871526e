"""People's labels that came with a table: the judge's score corrected by them, or why it is not.

Labels correct a score if they are a random part of the outputs. Every other column of the table is
held against whether a row has a label (chi-square, Holm over the columns); where one of them tells,
the labels were chosen: then no corrected score is claimed, and a range says what they leave open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.runs.log_survey import ReadScores, Survey
from flipcore.stats.audit.labelled import columns_that_tell
from flipcore.stats.score.corrected import corrected

LEAST_LABELS = 20
MOST_ODDS = 2.0  # how much likelier to be right, by odds, chosen rows may be than the others


@dataclass(frozen=True)
class PeopleLabels:
    """Result of people's labels for one model: a sentence, and perhaps a corrected score."""

    model: str
    sentence: str
    corrected: float | None = None


def people_labels(survey: Survey, read: ReadScores) -> list[PeopleLabels]:
    """Return a sentence per model of the tables that hold people's labels beside a judge's
    column."""
    people, labelled = _columns(survey)
    if not people or not read.is_whole:
        return []
    frame = pd.DataFrame(
        read.rows, columns=[*_KEYS, "role", "family", "subject", "grader", "score", "is_right"]
    )
    frame["unit"] = frame["family"].where(frame["family"] != "", frame["number"].astype(str))
    frame["value"] = frame["score"].fillna(frame["is_right"].astype(float))
    judges = [grader for grader in frame["grader"].drop_duplicates() if grader not in people]
    if not judges:
        return []
    wide = frame.pivot_table(
        "value", [*_KEYS, "unit"], "grader", aggfunc="first", dropna=False, observed=True
    )
    wide = wide[wide[judges[0]].notna()]
    # Of several judges, and of several people, the first column of the table counts.
    chosen, by_model = columns_that_tell(labelled), wide.groupby("model", observed=True)
    return [
        _labels_of_model(str(model), part, judges[0], people[0], chosen) for model, part in by_model
    ]


_KEYS = ("model", "task", "number")


def _columns(survey: Survey) -> tuple[list[str], Mapping[str, Sequence[tuple[int, int]]]]:
    """The graders that are people, and the counts of labelled rows by column."""
    for file in survey.files:
        if people := str(file.about.columns.get("people", "")):
            return people.split(","), file.about.labelled
    return [], {}


def _labels_of_model(
    model: str, part: pd.DataFrame, judge: str, people: str, chosen: Sequence[str]
) -> PeopleLabels:
    verdicts, labels = part[judge].to_numpy(float), part[people].to_numpy(float)
    has_label = ~np.isnan(labels)
    n_labels = int(has_label.sum())
    begins = f"{model}: {verdicts.mean():.1%} by {judge}"
    values = {*np.unique(verdicts), *np.unique(labels[has_label])}
    if n_labels < LEAST_LABELS or not values <= {0.0, 1.0}:
        counted = f"{n_labels:,} of {len(part):,} rows have people's labels ({people})"
        return PeopleLabels(model, f"{begins}; {counted}, too few to correct it.")
    if n_labels == len(part):
        share = float(labels.mean())
        return PeopleLabels(
            model, f"{begins}; people say {share:.1%} ({people}, every row).", share
        )
    for value, word in ((0.0, "wrong"), (1.0, "right")):
        is_value = verdicts == value
        # Nothing says what people think of a verdict that they saw none of.
        if is_value.any() and not has_label[is_value].any():
            lacking = f"No row that {judge} calls {word} has a label"
            return PeopleLabels(model, f"{begins}. {lacking}: {_open(verdicts, labels)}")
    if chosen:
        columns = ", ".join(chosen[:3])
        reason = f"The labels of {people} are no random part: {columns} tells which rows have one"
        return PeopleLabels(model, f"{begins}. {reason}: {_open(verdicts, labels)}")
    # Rows of one passage or template are labelled and judged alike.
    units = part.index.get_level_values("unit").to_numpy()
    score = corrected(verdicts, labels, units).estimate
    words = (
        f"corrected by {n_labels:,} of people's labels ({people}): {score.value:.1%}"
        f" [{score.low:.1%}, {score.high:.1%}]"
    )
    return PeopleLabels(model, f"{begins}; {words}.", score.value)


def _open(reader: np.ndarray, labels: np.ndarray) -> str:
    """The scores that chosen labels leave open, and what to do."""
    low, high = score_range(reader, labels)
    return (
        f"no corrected score. People would say from {low:.0%} to {high:.0%} if rows without a label"
        " are from half to twice as likely to be right, by odds, as those with one; label rows"
        " drawn at random."
    )


def score_range(reader: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest share that people would call right, by the odds of the rows
    without a label.

    A verdict of which no row has a label may be anything from all wrong to all right.
    """
    low = high = float(np.nansum(labels))
    for verdict in (0.0, 1.0):
        has_verdict = reader == verdict
        n_open = int((has_verdict & np.isnan(labels)).sum())
        by_people = labels[has_verdict & ~np.isnan(labels)]
        if not by_people.size:
            high += n_open
            continue
        share = by_people.mean()
        low += n_open * _with_odds(share, 1 / MOST_ODDS)
        high += n_open * _with_odds(share, MOST_ODDS)
    return low / labels.size, high / labels.size


def _with_odds(share: float, factor: float) -> float:
    return share * factor / (1 - share + share * factor)
