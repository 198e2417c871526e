"""The input of an audit and its findings, shared by its checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.core.records import (
    ABSENT,
    BASE,
    CUT,
    IDENTITY,
    ROTATION_READOUTS,
    UNREADABLE,
    WRITTEN_ANSWER,
    WRITTEN_MATH,
    WRITTEN_WORDS,
    WRONG,
)
from flipcore.extractors import EXTRACTORS, VALUES, title_of

# A printed score may be rounded to three digits.
ROUNDING = 0.0006
LEAST_TEMPLATES, MOST_READOUTS, N_LISTED = 10, 12, 200
OURS = (WRITTEN_ANSWER, "cloze", WRITTEN_WORDS, WRITTEN_MATH)
OWN_PROMPT = IDENTITY
MOST_UNREAD = 0.5  # of a model's answers, above which an extractor of ours gives no score
# Such readouts are in no pair of answers.
NO_ANSWER = (ABSENT, CUT)
READ = (
    "item_id",
    "family",
    "model",
    "axis",
    "variant",
    "position",
    "sample",
    "extractor",
    "status",
    "answer",
    "value",
    "is_correct",
)


RERUNS = ["model", "temperature", "n_items", "n_outputs", "n_same", "n_timed", "n_chars"]
OUTPUTS = ["model", "item_id", "variant_id", "sample", "what"]
LENGTHS = "model max_tokens finish_reason n_tokens_out n_chars ends_open n n_texts".split()


@dataclass(frozen=True)
class Finding:
    """A claim with what stands behind it.

    `items` are those to look at, under `model`, `axis` and `extractor`. `rank` sorts: the higher
    the worse. `about` names the check.
    """

    about: str
    claim: Claim
    rank: float
    items: tuple[str, ...] = ()
    model: str = ""
    axis: str = OWN_PROMPT
    extractor: str = ""


@dataclass(frozen=True)
class AuditInput:
    """The tables of a log that an audit reads.

    `frame` is every readout of the study (store.queries.studies.readouts with everything),
    `harmless` those of which flips are made (the same without `everything`), `items` its items
    with question, options, target and category, `calls` one row per model with counts by status
    and finish reason, `reported` what the logs say, `scorers` the readouts of the logs' own
    scorers, the one that leads first, `scales` the lowest and highest score of each task and
    readout whose scores are grades, `prompts` the base prompt of each item and its system message,
    `facts` what rows say against their log. `reruns`, `outputs` and `lengths` are of
    `store.queries.audit`: prompts that were asked again, refusals and empty outputs, and
    how long outputs are.
    """

    frame: pd.DataFrame
    items: pd.DataFrame
    calls: pd.DataFrame
    harmless: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=READ))
    reported: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default_factory=tuple)
    scorers: Sequence[str] = ()
    scales: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    prompts: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["item_id", "prompt"])
    )
    facts: Sequence[Mapping[str, Any]] = ()
    reruns: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RERUNS))
    outputs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=OUTPUTS))
    lengths: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=LENGTHS))


def legible(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts without those of our extractors that read less than half of a model's
    outputs: they call everything wrong, and say nothing against another score."""
    is_unread = frame["status"].isin((UNREADABLE, CUT))
    unread = is_unread.groupby([frame["model"], frame["extractor"]], observed=True)
    is_illegible = unread.transform("mean") > MOST_UNREAD
    return frame[~(is_illegible & frame["extractor"].isin(OURS))]


def scored(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts with `score`, `task` and `is_base`.

    `score` is 1, 0, a share, or NaN; `is_base` is True of the own prompt.
    """
    right = frame["is_correct"].map({True: 1.0, False: 0.0}).astype(float)
    # A loss or a similarity of ours is no score.
    value = frame["value"].astype(float).where(~frame["extractor"].isin((*OURS, *VALUES)))
    # Each id is split once: a log of a million rows has few items.
    codes, items = pd.factorize(frame["item_id"])
    tasks = pd.array([str(item).partition("/")[0] for item in items], dtype="str")
    task = pd.Series(tasks.take(codes), index=frame.index)
    is_base = (frame["variant"] == BASE) & (frame["axis"] == OWN_PROMPT)
    return frame.assign(score=right.where(right.notna(), value), task=task, is_base=is_base)


def shares_alone(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of readouts whose scores lie from 0 to 1."""
    # A grade on another scale is neither right nor wrong, and no difference to it is one in
    # percentage points.
    is_outside = (frame["score"] < 0) | (frame["score"] > 1)
    if not is_outside.any():
        return frame
    grades = set(zip(frame["task"][is_outside], frame["extractor"][is_outside], strict=True))
    return frame[[key not in grades for key in zip(frame["task"], frame["extractor"], strict=True)]]


def with_scales(
    frame: pd.DataFrame, scales: Mapping[tuple[str, str], tuple[float, float]]
) -> pd.DataFrame:
    """Return the rows with `low` and `high`, the ends of their readout's scale for their task.

    Scores from 0 to 1 are on that scale. Grades are on the one that the log declares, else on the
    range of all grades of that task and readout.
    """
    low, high = pd.Series(0.0, index=frame.index), pd.Series(1.0, index=frame.index)
    for key, part in frame.groupby(["task", "extractor"], sort=False, observed=True):
        lowest, highest = part["score"].min(), part["score"].max()
        if (lowest >= 0 and highest <= 1 and key not in scales) or part["score"].isna().all():
            continue
        ends = scales.get((str(key[0]), str(key[1])), (lowest, highest))
        low[part.index], high[part.index] = min(ends[0], lowest), max(ends[1], highest)
    return frame.assign(low=low, high=high)


def what_differs(part: pd.DataFrame) -> str:
    """Return the word for what differs between readouts of one extractor: "answers" or "scores"."""
    wrong_answers = part.loc[part["is_correct"] == False, "answer"]  # noqa: E712
    # An extractor that judges takes no answer out: two wrong answers of it are one.
    is_judging = len(wrong_answers) > 0 and (wrong_answers == WRONG).all()
    return "scores" if is_judging else "answers"


def item_scores(frame: pd.DataFrame) -> pd.Series:
    """Return the mean score per item; repeats of an item move together."""
    return frame.groupby("item_id", sort=False)["score"].mean()


def spoken_name(extractor: object) -> str:
    """Return the name of an extractor in a sentence: the title of ours, a log's own name."""
    if extractor in (*EXTRACTORS, *ROTATION_READOUTS):
        return title_of(str(extractor)).lower()
    return str(extractor)
