"""The answer of a study to one question, for pages, command line, notebook and exports."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import pandas as pd

from flipcore.charts.theme import Colours, Figure, colours
from flipcore.claims.claim import Claim
from flipcore.core.errors import BadInput
from flipcore.reports.rows import Row, notebook_table

LEVEL = 0.95
FigureOf = Callable[[Colours], Figure]


class Question(StrEnum):
    """A question that somebody asks of a study."""

    SCORE = "score"
    FLIPS = "flips"
    RANKING = "ranking"
    MEMORY = "memory"
    HOLDOUT = "holdout"
    CHOICES = "choices"


@dataclass(frozen=True)
class Settings:
    """A user's choices on which an answer depends; "" and None leave a choice to the study.

    `reference` is the name of the reference extractor and `role` the role of the items that count.
    Variants of `axes` count as drawn at random. `level` is that of the intervals.
    """

    reference: str = ""
    role: str = ""
    axes: tuple[str, ...] | None = None
    level: float = LEVEL


class Answer(ABC):
    """The answer of a study to one question: claims, estimates and figures. A class per question
    holds the numbers from which its sentences, tables and boards are made."""

    question: ClassVar[Question]

    @property
    @abstractmethod
    def claims(self) -> tuple[Claim, ...]:
        """Claims in the order in which they are shown; the first is the headline."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield every estimate, in the order of the report."""

    def lines(self) -> list[str]:
        """Return what the command line prints."""
        return [f"{claim.text} {claim.detail}".rstrip() for claim in self.claims]

    @property
    def figures(self) -> Mapping[str, FigureOf]:
        """Figures by name, each a function of a theme."""
        return {}

    @property
    def withheld(self) -> tuple[str, ...]:
        """Reasons why claims are not made, each once."""
        return tuple(dict.fromkeys(claim.withheld for claim in self.claims if claim.withheld))

    @property
    def frame(self) -> pd.DataFrame:
        """Table of estimates, one row each, with their claims (`claim`, `is_claimed`)."""
        return notebook_table(self.rows())

    def text(self) -> str:
        """Return the sentences of the claims, one per line, without the details of `lines`."""
        return "\n".join(claim.text for claim in self.claims if claim.text)

    def figure(self, dark: bool = False) -> Figure:  # noqa: FBT001, FBT002 -- notebooks call it so
        """Draw the figure of the same page. Raises BadInput if there is nothing to draw."""
        if not self.figures:
            raise BadInput("There is nothing to draw yet: no estimate is defined.")
        theme = colours("dark" if dark else None)
        draw = next(iter(self.figures.values()))
        # The figure has its own background, because a notebook may be light or dark.
        return draw(theme).update_layout(paper_bgcolor=theme.page, plot_bgcolor=theme.page)
