"""What was cut off, model by model and extractor by extractor, with accuracy as asked and among finished answers."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.core.records import BASE, CUT, role_name
from flipcore.extractors import EXTRACTORS
from flipcore.reports.ranking import roles_of
from flipcore.reports.rows import plain
from flipcore.runs.truncation import share_text
from flipcore.stats.base.accuracy import accuracy_of
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.text.counts import count_of


@dataclass(frozen=True)
class Truncation:
    """One model under one extractor. Of the study's own prompt, over the items of `role`, as in Score: `as_asked` counts a cut answer as
    wrong, `among_finished` leaves it out."""

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
        """Whether somebody recorded how any answer ended."""
        return self.n_not_recorded < self.n_answers

    def sentence(self, title: str = "") -> str:
        """What `stats` and the page say; "not recorded" is never 0."""
        name = title or self.extractor.replace("_", " ")
        if not self.is_known:
            return f"{name}: cut off: not recorded ({self.n_answers:,} answers)."
        part = f"; of {self.n_not_recorded:,} more: not recorded" if self.n_not_recorded else ""
        if not self.n_cut:
            return f"{name}: none of {self.n_answers - self.n_not_recorded:,} answers was cut off{part}."
        n_endings = self.n_answers - self.n_not_recorded
        limit = f" at {count_of(self.max_tokens, 'token')}" if self.max_tokens else ""
        verb = "was" if self.n_cut == 1 else "were"
        share = share_text(self.n_cut, n_endings)
        sentence = f"{name}: {self.n_cut:,} of {n_endings:,} answers ({share}) {verb} cut off{limit}{part}."
        none_ended = self.n_cut == n_endings
        if np.isnan(self.as_asked.value) or (np.isnan(self.among_finished.value) and not none_ended):
            return sentence
        among = "none finished" if none_ended else f"{self.among_finished.text()} among finished answers"
        accuracies = f"{self.as_asked.text()} as asked, {among}"
        return f"{sentence} Accuracy at the own prompt ({role_name(self.role)} items): {accuracies}."

    def as_dict(self) -> dict:
        """Plain values for JSON; a missing number is None, and so is the count where nothing was recorded."""
        return {name: plain(value) for name, value in vars(self).items()} | {
            "n_cut": self.n_cut if self.is_known else None,
            "sentence": self.sentence(),
        }


def truncations(endings: pd.DataFrame, frame: pd.DataFrame) -> list[Truncation]:
    """`endings` as `store.queries.audit` gives them, `frame` the readouts of the same study."""
    summaries = []
    call = ["model", "item_id", "variant_id", "sample"]
    cut = frame.loc[frame["status"] == CUT, call].drop_duplicates().assign(is_cut=True)
    for row in endings.to_dict("records"):
        mine = frame[(frame["model"] == row["model"]) & (frame["extractor"] == row["extractor"]) & (frame["variant"] == BASE)]
        role = next(iter(roles_of(mine)), "")
        mine = mine[mine["is_correct"].notna() & (mine["role"] == role)].drop_duplicates(call)
        finished = mine if row["extractor"] in EXTRACTORS else mine[mine.merge(cut, how="left")["is_cut"].isna().to_numpy()]
        finished = finished[finished["status"] != CUT]
        is_told = not row["n_cut"] or len(finished) < len(mine)  # whether a readout tells which were cut off
        summaries.append(
            Truncation(
                str(row["model"]),
                str(row["extractor"]),
                int(row["n_answers"]),
                int(row["n_cut"]),
                int(row["n_not_recorded"]),
                int(row["max_tokens"] or 0),
                accuracy_of(mine),
                accuracy_of(finished) if is_told else missing(),
                role,
            )
        )
    return summaries
