"""The reading of a table, and the questions that it leaves open."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

from flipcore.datasets.tables.coding import Coding
from flipcore.datasets.tables.grid import Grid
from flipcore.datasets.tables.roles import Roles
from flipcore.datasets.tables.shape import Shape

# the name of this package's own grader, which compares outputs with right answers
MATCH = "match"


@dataclass(frozen=True)
class Choice:
    """One of two readings: a sentence, its words of `--map`, and its score (NaN for none).

    `least` is the score if only outputs count that are the right answer word for word, and `score`
    that of all that contain it; NaN if there is one way to count.
    """

    says: str
    words: tuple[str, ...]
    score: float = nan
    least: float = nan
    is_share: bool = True  # whether a score from 0 to 1 is a share

    @property
    def score_text(self) -> str:
        """The score in words, or the range that it lies in."""
        if not self.is_share:
            return f"{self.score:.3g}"
        if self.score - self.least >= 0.01:
            return f"{self.least:.1%} to {self.score:.1%}"
        return score_text(self.score)

    @property
    def text(self) -> str:
        """The reading in one line, with its score where it has one."""
        scored = "" if self.score != self.score else f" Score: {self.score_text}."
        return f"{self.says}{scored} --map {shlex.join(self.words)}"


def score_text(score: float) -> str:
    """Format a score, as a percentage if it is between 0 and 1."""
    return f"{score:.1%}" if 0 <= score <= 1 else f"{score:.3g}"


@dataclass(frozen=True)
class Question:
    """A question about a table: its subject, what the table shows, and two readings of it."""

    about: str
    seen: str
    first: Choice
    second: Choice

    @property
    def moves_score(self) -> bool:
        """Tell whether the two readings give different scores, or only one of them gives any."""
        first, second = self.first.score, self.second.score
        are_none = first != first and second != second
        return not are_none and not abs(first - second) < 1e-9

    @property
    def choices(self) -> tuple[Choice, Choice]:
        """Both readings."""
        return self.first, self.second


@dataclass(frozen=True)
class TableReading:
    """The reading of a table.

    `scores` are means by (arm, grader), `missing` the rows without a score by grader. `refusal` is
    the reason why the table cannot be read, "" if it can.
    """

    file: str
    n_rows: int
    shape: Shape
    roles: Roles
    grid: Grid
    n_items: int = 0
    n_conditions: int = 1
    n_runs: int = 1
    most_runs: int = 1  # of a question; others may have fewer
    n_clusters: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()
    scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    coding: Coding | None = None
    model: str = ""
    model_column: str = ""  # the column that names `model` in every row
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # phrases about rows that do not count, with the reason
    questions: tuple[Question, ...] = ()
    refusal: str = ""
    missing: Mapping[str, int] = field(default_factory=dict)
    lower: tuple[str, ...] = ()  # scores of which less is better, by their names
    n_copies: int = 0  # rows that were dropped because they repeat another one
    alike: frozenset[str] = frozenset()  # columns that divide the rows as the items do
    letters: frozenset[str] = frozenset()  # the letters that right answers name
    n_keys_in_words: int = 0  # rows whose right answer holds no digit
    columns: tuple[str, ...] = ()  # all columns that are not empty; objects as dotted paths
    # for the prompt and the output, where the file has no such column: what they were made from
    made_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named_models: frozenset[str] = frozenset()  # models that the rows name
    n_files: int = 1  # files that were staged as one table
    other_sheets: tuple[str, ...] = ()  # sheets of an Excel file that are not read
    # the models that the rows of each file name
    models_of_files: Mapping[int, frozenset[str]] = field(default_factory=dict)
    # the result of `people.labelled_by`
    labelled: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    @property
    def has_long_key(self) -> bool:
        """Tell whether right answers are long texts, which no output repeats word for word."""
        agreements = self.roles.agreements
        return self.coding is Coding.LONG_TEXT and not any(agreed.n_right for agreed in agreements)

    @property
    def is_open(self) -> bool:
        """Tell whether a question must be answered before anything is claimed."""
        return bool(self.questions)
