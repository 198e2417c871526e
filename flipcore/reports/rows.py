"""The numbers of an answer, one row per estimate: JSON, notebook, report and tables are views of
these rows."""

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
    """One estimate. `place` names what it is of, by column ("axis": "option_order"); `where` says
    the same in words, `quantity` is its name there, `title` that of a list over all questions.
    `claim` is what is said of it, None where nothing is; `p` are p-values by name. `is_repeated`
    where it says by definition what another row says."""

    model: str
    where: str
    quantity: str
    estimate: Estimate
    claim: Claim | None = None
    place: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    p: Mapping[str, float] = field(default_factory=dict)
    is_repeated: bool = False

    def with_claim(self) -> dict[str, Any]:
        """The row for a notebook: the place by column, the estimate with a missing number as NaN,
        and the claim."""
        claim = {"claim": self.claim.text, "is_claimed": self.claim.is_made} if self.claim else {}
        return {**self.place, "quantity": self.quantity, **asdict(self.estimate), **claim, **self.p}

    def in_list(self) -> dict[str, Any]:
        """The row of a list over all questions, at full precision; what is missing is None."""
        estimate, quantity = self.estimate, self.title or self.quantity
        return {
            "model": self.model,
            "where": self.where,
            "quantity": quantity,
            "value": plain(estimate.value),
            "low": plain(estimate.low),
            "high": plain(estimate.high),
            "level": plain(estimate.level),
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
    # An empty table has the columns of a full one, so that a notebook's next line works.
    return pd.DataFrame(columns=["model", "quantity", *ESTIMATE, "claim", "is_claimed"])


def claim_fields(claim: Claim) -> dict[str, Any]:
    """A claim for JSON: what is shown, what qualifies it, its verdict in a word, and whether it
    asserts anything."""
    return {
        "sentence": claim.text,
        "detail": claim.detail,
        "outcome": claim.word,
        "is_claimed": claim.is_made,
    }


def plain(value: Any) -> Any:
    """Make values that JSON has: an estimate by its fields, and None for a number that is missing
    or not finite."""
    if isinstance(value, Estimate):
        return {name: plain(part) for name, part in asdict(value).items()}
    if isinstance(value, float):
        # JSON has neither NaN nor infinity.
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return value
