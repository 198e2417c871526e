"""The input of an audit and its findings, shared by its checks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
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
from flipcore.extractors import EXTRACTORS, VALUES, count_alike, title_of

# A printed score may be rounded to three digits.
ROUNDING = 0.0006
LEAST_TEMPLATES = 10  # least number of categories of items whose scores are compared
MAX_COMPARED = 12  # largest number of extractors, or of models, that are compared in pairs
N_LISTED = 200  # largest number of items that a finding names
# Names of Flipscope's own extractors that run on the outputs of an imported log.
OURS = (WRITTEN_ANSWER, "cloze", WRITTEN_WORDS, WRITTEN_MATH)
OWN_PROMPT = IDENTITY
MAX_UNREAD = 0.5  # share of a model's outputs; above it our extractor's scores are not compared
# Readouts with these statuses take part in no pair of answers.
NO_ANSWER = (ABSENT, CUT)
READOUT_COLUMNS = (
    "item_id family model axis variant position sample extractor status answer value is_correct"
).split()
RERUNS = ["model", "temperature", "n_items", "n_outputs", "n_same", "n_timed", "n_chars"]
OUTPUTS = ["model", "item_id", "variant_id", "sample", "what"]
LENGTHS = "model max_tokens finish_reason n_tokens_out n_chars ends_open n n_texts".split()


@dataclass(frozen=True)
class Finding:
    """A claim, with the items that show it.

    `about` names the check. A finding with a higher `rank`, up to 100, is worse and comes first.
    Only the order of ranks matters: each check has a number that places it among the others.
    `items` are the ids of items to look at, under `model`, `axis` and `extractor`. `other_model` is
    the one that `model` is compared with. A field that does not apply is "".
    """

    about: str
    claim: Claim
    rank: float
    items: tuple[str, ...] = ()
    model: str = ""
    axis: str = OWN_PROMPT
    extractor: str = ""
    other_model: str = ""


@dataclass(frozen=True)
class AuditInput:
    """The tables of a log that an audit reads.

    - `frame`: every readout of the study (`store.queries.studies.readouts` with `everything`).
    - `harmless`: the readouts that flips are counted on, of prompts whose changes keep the right
      answer (the same function without `everything`).
    - `items`: one row per item with question, options, target and category.
    - `calls`: counts per model, status and finish reason.
    - `reported`: scores that the logs report; `facts`: places where rows contradict their log.
    - `notes`: sentences of the import.
    - `scorers`: extractor names of the logs' own scorers, the leading one first.
    - `one_aspect`: pairs of extractors that grade one aspect, such as a judge and people.
    - `half_right`: extractors whose score of 0.5 means half right.
    - `scales`: (task, extractor) -> lowest and highest score, for scores that are grades.
    - `prompts`: the base prompt and system message per item.
    - `unchecked`: extractor -> why nothing is claimed of it, such as a judge that was not compared
      with people, as a clause.
    - `has_raters`: True if samples are ratings of one output by several people, and no reruns.
    - `reruns`, `outputs`, `lengths`: repeated prompts, refusals and empty outputs, and lengths of
      outputs, all from `store.queries.audit`.
    """

    frame: pd.DataFrame
    items: pd.DataFrame
    calls: pd.DataFrame
    harmless: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=READOUT_COLUMNS))
    reported: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default_factory=tuple)
    scorers: Sequence[str] = ()
    one_aspect: Collection[frozenset[str]] = ()
    half_right: Collection[str] = ()
    scales: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    prompts: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["item_id", "prompt"])
    )
    facts: Sequence[Mapping[str, Any]] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    has_raters: bool = False
    reruns: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RERUNS))
    outputs: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=OUTPUTS))
    lengths: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=LENGTHS))


def legible(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out each extractor of ours on models of whose outputs it reads less than half.

    It counts nearly everything as wrong there, which is no evidence against a score.
    """
    is_unread = frame["status"].isin((UNREADABLE, CUT))
    unread = is_unread.groupby([frame["model"], frame["extractor"]], observed=True)
    is_illegible = unread.transform("mean") > MAX_UNREAD
    return frame[~(is_illegible & frame["extractor"].isin(OURS))]


def scored(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts with the columns `score`, `task` and `is_base`.

    `score` is 1, 0, a share, a grade, or NaN if there is none. `is_base` is True at the log's own
    prompt.
    """
    correctness = frame["is_correct"].map({True: 1.0, False: 0.0}).astype(float)
    # The values of our own extractors are losses and similarities, not scores.
    value = frame["value"].astype(float).where(~frame["extractor"].isin((*OURS, *VALUES)))
    # Split each id once, because a log of a million rows has few items.
    codes, items = pd.factorize(frame["item_id"])
    tasks = pd.array([str(item).partition("/")[0] for item in items], dtype="str")
    task = pd.Series(tasks.take(codes), index=frame.index)
    is_base = (frame["variant"] == BASE) & (frame["axis"] == OWN_PROMPT)
    return frame.assign(score=correctness.fillna(value), task=task, is_base=is_base)


def keep_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the readouts of those tasks and extractors whose scores all lie from 0 to 1."""
    # A grade on another scale is neither right nor wrong, and a difference of grades is not in
    # percentage points.
    is_outside = (frame["score"] < 0) | (frame["score"] > 1)
    if not is_outside.any():
        return frame
    grades = set(zip(frame["task"][is_outside], frame["extractor"][is_outside], strict=True))
    return frame[[key not in grades for key in zip(frame["task"], frame["extractor"], strict=True)]]


def with_scales(
    frame: pd.DataFrame, scales: Mapping[tuple[str, str], tuple[float, float]]
) -> pd.DataFrame:
    """Return the rows with `low` and `high`, the ends of the scale of their task and extractor.

    The scale is the declared one of `scales`, else 0 to 1 if all scores lie in it, else the range
    of the scores.
    """
    low, high = pd.Series(0.0, index=frame.index), pd.Series(1.0, index=frame.index)
    by_scale = frame.groupby(["task", "extractor"], sort=False, observed=True)
    for (task, extractor), part in by_scale:
        declared = scales.get((str(task), str(extractor)))
        lowest, highest = part["score"].min(), part["score"].max()
        is_share = declared is None and lowest >= 0 and highest <= 1
        if is_share or part["score"].isna().all():
            continue
        # Scores beyond the ends of a declared scale widen it.
        declared_low, declared_high = declared or (lowest, highest)
        low[part.index] = min(declared_low, lowest)
        high[part.index] = max(declared_high, highest)
    return frame.assign(low=low, high=high)


def comparable_pairs(log: AuditInput, frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs of extractors whose scores of one output count the same thing.

    Both say right or wrong, or both grade one aspect, and neither alone allows a tolerance. `frame`
    has scores.
    """
    by_extractor = frame["score"].groupby(frame["extractor"], sort=False, observed=True)
    verdicts, extractors = set(), []
    for name, scores in by_extractor:
        extractors.append(str(name))
        halves = [0.5] if name in log.half_right else []
        if scores.isin([0.0, 1.0, *halves]).all():
            verdicts.add(str(name))
    pairs = []
    for first, second in combinations(extractors[:MAX_COMPARED], 2):
        if not count_alike(first, second):
            continue
        if {first, second} <= verdicts or {first, second} in log.one_aspect:
            pairs.append((first, second))
    return pairs


def what_differs(part: pd.DataFrame) -> str:
    """Return the word for what differs between readouts of one extractor: "answers" or "scores"."""
    wrong_answers = part.loc[part["is_correct"] == False, "answer"]  # noqa: E712
    # A judge only says right or wrong, so two different wrong answers look the same.
    is_judging = len(wrong_answers) > 0 and (wrong_answers == WRONG).all()
    return "scores" if is_judging else "answers"


def item_scores(frame: pd.DataFrame) -> pd.Series:
    """Return the mean score per item over all its rows, by item id."""
    return frame.groupby("item_id", sort=False)["score"].mean()


def spoken_name(extractor: object) -> str:
    """Return an extractor's name for a sentence: our extractor's title, or the log's own name."""
    if extractor in (*EXTRACTORS, *ROTATION_READOUTS):
        return title_of(str(extractor)).lower()
    return str(extractor)
