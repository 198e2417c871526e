"""TS-guessing (arXiv:2311.09783): does the model fill in more hidden wrong options of the benchmark
than of its controls?

A model guesses some options that it never read; the controls show how many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from flipcore.axes import masked_option
from flipcore.detectors.completion import COMPLETE, Completed, WordForWord
from flipcore.detectors.detector import Evidence
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.memory.members import Members

_READS = "hidden options"


@dataclass(frozen=True)
class Guessed(Completed):
    """Similarity of the filled-in option to the hidden option."""

    axis: str = masked_option.AXIS.name
    reads: str = _READS


@dataclass(frozen=True)
class GuessedExactly(WordForWord):
    """Exact matches of the filled-in option with the hidden option."""

    axis: str = masked_option.AXIS.name
    reads: str = _READS

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        evidence = super().evidence(frame, item_roles, control_roles, members)
        if evidence is None:
            return None
        n_items, n_exact = self._count(frame, item_roles)
        n_controls, n_exact_control = self._count(frame, control_roles)
        rates = f"Filled in exactly: {_rate(n_exact, n_items)} of the benchmark"
        rates += f", {_rate(n_exact_control, n_controls)} of the controls."
        numbers = {**evidence.numbers, "n_exact": n_exact, "n_exact_control": n_exact_control}
        return replace(evidence, cut=f"{rates} {evidence.cut}", numbers=numbers)

    def _count(self, frame: pd.DataFrame, roles: Sequence[str]) -> tuple[int, int]:
        """Return how many items have a score, and how many were filled in exactly."""
        scores = self.scores(frame, roles)["d"]
        return len(scores), int((scores >= COMPLETE).sum())


def _rate(n_exact: int, n: int) -> str:
    return f"{n_exact:,} of {n:,} ({percent_text(n_exact / n, 0)})" if n else "none asked"


DETECTORS = (
    GuessedExactly(
        "ts_guessing_exact",
        "TS-guessing, exact match",
        about="Whether the model fills in a hidden wrong option exactly.",
        measure="word_for_word",
        unit="hidden option filled in exactly (1) or not (0)",
    ),
    Guessed(
        "ts_guessing_rouge_l",
        "TS-guessing, ROUGE-L",
        about="How much of a hidden wrong option the model fills in.",
        measure="rouge_l",
        unit="F1 of the words filled in and those of the hidden option (ROUGE-L)",
    ),
)
