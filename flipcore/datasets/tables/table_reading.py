"""A table as it was read, and the questions that it leaves open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

from flipcore.datasets.tables.coding import Coding
from flipcore.datasets.tables.grid import Grid
from flipcore.datasets.tables.roles import Roles
from flipcore.datasets.tables.shape import Shape

# the grader that compares outputs and right answers here, beside those of the table
MATCH = "match"


@dataclass(frozen=True)
class Choice:
    """One of two readings: what it says, the score that it gives, and its words of `--map`."""

    says: str
    words: tuple[str, ...]
    score: float = nan

    @property
    def score_text(self) -> str:
        """The score as a percentage where it is a share."""
        return f"{self.score:.1%}" if 0 <= self.score <= 1 else f"{self.score:.3g}"

    @property
    def text(self) -> str:
        """The reading in one line, its score first where it has one."""
        scored = "" if self.score != self.score else f" Score: {self.score_text}."
        return f"{self.says}{scored} --map {' '.join(self.words)}"


@dataclass(frozen=True)
class Question:
    """Something the table does not tell: what was seen, and two readings of it."""

    about: str
    seen: str
    first: Choice
    second: Choice

    @property
    def moves_score(self) -> bool:
        """Tell whether the two readings give other scores, or only one of them gives any."""
        first, second = self.first.score, self.second.score
        are_none = first != first and second != second
        return not are_none and not abs(first - second) < 1e-9

    @property
    def choices(self) -> tuple[Choice, Choice]:
        """Both readings."""
        return self.first, self.second


@dataclass(frozen=True)
class TableReading:
    """A table as it is read. `scores` are means by arm and grader, `refusal` says why it is not."""

    file: str
    n_rows: int
    shape: Shape
    roles: Roles
    grid: Grid
    n_items: int = 0
    n_conditions: int = 1
    n_runs: int = 1
    n_clusters: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()
    scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    coding: Coding | None = None
    model: str = ""
    model_column: str = ""  # that names one model in every row
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # rows that count nowhere, and why
    questions: tuple[Question, ...] = ()
    refusal: str = ""
    missing: Mapping[str, int] = field(default_factory=dict)
    lower: tuple[str, ...] = ()  # scores of which less is better, by their names
    n_copies: int = 0
    alike: frozenset[str] = frozenset()  # columns that part the rows as the items do
    letters: frozenset[str] = frozenset()  # of a key that is letters, or a letter and a text
    columns: tuple[str, ...] = ()  # those that hold anything, objects as paths
    named_models: frozenset[str] = frozenset()  # by the rows themselves
    n_files: int = 1  # that were staged as one table
    other_sheets: tuple[str, ...] = ()  # of an Excel file, that are not read
    models_of_files: Mapping[int, frozenset[str]] = field(
        default_factory=dict
    )  # named models by file
    labelled: Mapping[str, tuple[tuple[int, int], ...]] = field(
        default_factory=dict
    )  # see `people.labelled_by`

    @property
    def has_long_key(self) -> bool:
        """Tell whether right answers are long texts that no output repeats: word for word says
        nothing.
        """
        agreements = self.roles.agreements
        return self.coding is Coding.LONG_TEXT and not any(agreed.n_right for agreed in agreements)

    @property
    def is_open(self) -> bool:
        """Tell whether a question must be answered before anything is claimed."""
        return bool(self.questions)
