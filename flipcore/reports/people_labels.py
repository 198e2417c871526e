"""People's labels in an imported table: the judge's score corrected by them, or why it is not.

Labels correct a score if they are a random part of the outputs. Therefore every other column is
tested for telling which rows have a label (chi-square, Holm over columns). Where one does, the
labels were chosen: no corrected score is claimed, and a range states what they leave open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.runs.log_survey import ReadScores, Survey
from flipcore.stats.audit.labelled import columns_that_tell
from flipcore.stats.score.corrected import corrected

LEAST_LABELS = 20  # fewest labels that correct a score
MAX_COLUMNS = 3  # most columns that a sentence names
MAX_ODDS = 2.0  # largest odds ratio of "right" between rows without and with a label
_KEYS = ("model", "task", "number")


@dataclass(frozen=True)
class PeopleLabels:
    """Result of people's labels for one model; `corrected` is None if labels allow no score."""

    model: str
    sentence: str
    corrected: float | None = None


def people_labels(survey: Survey, read: ReadScores) -> list[PeopleLabels]:
    """Return a result per model of a table with people's labels and a judge's column. Empty without
    both columns, and where not all rows were read."""
    people, label_counts = _columns(survey)
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
    # a pivot table that keeps rows without labels would hold all combinations of the keys
    cells = frame.groupby([*_KEYS, "unit", "grader"], observed=True, sort=False)["value"].first()
    wide = cells.unstack("grader")
    if people[0] not in wide.columns:
        return []
    wide = wide[wide[judges[0]].notna()]
    telling_columns = columns_that_tell(label_counts)
    results = []
    for model, part in wide.groupby("model", observed=True):
        # Of several judges, and of several people, the table's first column counts.
        result = _labels_of_model(str(model), part, judges[0], people[0], telling_columns)
        results.append(result)
    return results


def _columns(survey: Survey) -> tuple[list[str], Mapping[str, Sequence[tuple[int, int]]]]:
    """Return the graders that are people, and the argument of `columns_that_tell`."""
    for file in survey.files:
        if people := str(file.about.columns.get("people", "")):
            return people.split(","), file.about.labelled
    return [], {}


def _labels_of_model(
    model: str, part: pd.DataFrame, judge: str, people: str, telling_columns: Sequence[str]
) -> PeopleLabels:
    verdicts, labels = part[judge].to_numpy(float), part[people].to_numpy(float)
    has_label = ~np.isnan(labels)
    n_labels = int(has_label.sum())
    counted = f"{n_labels:,} of {len(part):,} rows have people's labels ({people})"
    values = {*np.unique(verdicts), *np.unique(labels[has_label])}
    if not values <= {0.0, 1.0}:
        reason = "Labels correct a score of right and wrong, but no grades"
        return PeopleLabels(
            model, f"{model}: {verdicts.mean():.3g} by {judge}; {counted}. {reason}."
        )
    start = f"{model}: {verdicts.mean():.1%} by {judge}"
    if n_labels < LEAST_LABELS:
        return PeopleLabels(model, f"{start}; {counted}, too few to correct it.")
    if n_labels == len(part):
        share = float(labels.mean())
        return PeopleLabels(model, f"{start}; people say {share:.1%} ({people}, every row).", share)
    for value, word in ((0.0, "wrong"), (1.0, "right")):
        is_value = verdicts == value
        # Without a label on any such row, people's view of this verdict is unknown.
        if is_value.any() and not has_label[is_value].any():
            lacking = f"No row that {judge} calls {word} has a label"
            return PeopleLabels(model, f"{start}. {lacking}: {_range_text(verdicts, labels)}")
    if telling_columns:
        columns = ", ".join(telling_columns[:MAX_COLUMNS])
        tell = "tells" if len(telling_columns) == 1 else "tell"
        reason = f"The labels of {people} are no random part: {columns} {tell} which rows have one"
        return PeopleLabels(model, f"{start}. {reason}: {_range_text(verdicts, labels)}")
    # Rows of one passage or template tend to be judged alike, so they form one cluster.
    units = part.index.get_level_values("unit").to_numpy()
    score = corrected(verdicts, labels, units).estimate
    correction = (
        f"corrected by {n_labels:,} of people's labels ({people}): {score.value:.1%}"
        f" [{score.low:.1%}, {score.high:.1%}]"
    )
    return PeopleLabels(model, f"{start}; {correction}.", score.value)


def _range_text(verdicts: np.ndarray, labels: np.ndarray) -> str:
    """State the range of scores that chosen labels leave open, and what to do."""
    low, high = score_range(verdicts, labels)
    return (
        f"no corrected score. People would say from {low:.0%} to {high:.0%} if rows without a label"
        " are from half to twice as likely to be right, by odds, as those with one; label rows"
        " drawn at random."
    )


def score_range(verdicts: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return the smallest and largest share of rows that people would call right.

    `verdicts` (rows,) are the judge's 0 and 1, `labels` (rows,) people's, NaN without one. Rows
    without a label are right with odds that differ by at most `MAX_ODDS`. Where no row of a
    verdict has a label, all its rows may be wrong or right.
    """
    low = high = float(np.nansum(labels))
    for verdict in (0.0, 1.0):
        has_verdict = verdicts == verdict
        n_unlabelled = int((has_verdict & np.isnan(labels)).sum())
        labels_of_verdict = labels[has_verdict & ~np.isnan(labels)]
        if not labels_of_verdict.size:
            high += n_unlabelled
            continue
        share = labels_of_verdict.mean()
        low += n_unlabelled * _scale_odds(share, 1 / MAX_ODDS)
        high += n_unlabelled * _scale_odds(share, MAX_ODDS)
    return low / labels.size, high / labels.size


def _scale_odds(share: float, factor: float) -> float:
    """Return the share whose odds are `factor` times those of `share`."""
    return share * factor / (1 - share + share * factor)
