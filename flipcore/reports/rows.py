"""The numbers of an answer, one row per estimate, for JSON, notebook, report and tables."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.stats.base.estimate import Estimate

ESTIMATE = ("value", "low", "high", "level", "method", "n", "seed", "note", "coverage")


@dataclass(frozen=True, eq=False)
class Row:
    """One estimate of a study, a row of the tables of results.

    `columns` is column -> value ("axis": "option_order"), and `where` states the same as text.
    `quantity` names the estimate; `title` is its name in a list over all questions, "" for the same
    name. `claim` is the claim that rests on it, if any. `p` is name -> p-value. `is_repeated` is
    True if another row has the same number by definition.
    """

    model: str
    where: str
    quantity: str
    estimate: Estimate
    claim: Claim | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    p: Mapping[str, float] = field(default_factory=dict)
    is_repeated: bool = False

    def with_claim(self) -> dict[str, Any]:
        """Return the row for a notebook; a missing number is NaN."""
        row = {**self.columns, "quantity": self.quantity, **asdict(self.estimate)}
        if self.claim:
            row |= {"claim": self.claim.text, "is_claimed": self.claim.is_made}
        return {**row, **self.p}

    def in_list(self) -> dict[str, Any]:
        """Return the row for a list over all questions; a missing number is None."""
        estimate, quantity = self.estimate, self.title or self.quantity
        return {
            "model": self.model,
            "where": self.where,
            "quantity": quantity,
            "value": as_json(estimate.value),
            "low": as_json(estimate.low),
            "high": as_json(estimate.high),
            "level": as_json(estimate.level),
            "method": estimate.method.replace("_", " "),
            "n": estimate.n,
            "seed": estimate.seed,
            "note": estimate.note,
        }


def notebook_table(rows: Iterable[Row]) -> pd.DataFrame:
    """Make a table of estimates, one row each."""
    records = [row.with_claim() for row in rows]
    if records:
        return pd.DataFrame(records)
    # An empty table has the columns of a full one, so that code in a notebook works on both.
    return pd.DataFrame(columns=["model", "quantity", *ESTIMATE, "claim", "is_claimed"])


def claim_fields(claim: Claim) -> dict[str, Any]:
    """Return a claim for JSON: sentence, small print, verdict, and whether it is made."""
    return {
        "sentence": claim.text,
        "detail": claim.detail,
        "outcome": claim.word,
        "is_claimed": claim.is_made,
    }


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: an estimate as its fields, NaN and infinity as None."""
    if isinstance(value, Estimate):
        return {name: as_json(part) for name, part in asdict(value).items()}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: as_json(part) for name, part in value.items()}
    return value
