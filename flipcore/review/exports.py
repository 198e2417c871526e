"""Pairs and verdicts as files that come back in: JSONL as it is, CSV with cells neutralised that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from flipcore.review.verdicts import CHECKS
from flipcore.store import queries, review_queries
from flipcore.store.connection import Store
from flipcore.store.export import neutral

PAIR_COLUMNS = ("pair_id", "dataset", "generator", "item_id", "original", "paraphrase", "state", "n_reviewers", "n_kept")
VERDICT_COLUMNS = ("verdict_id", "pair_id", "reviewer", *CHECKS, "note", "original_hash", "paraphrase_hash", "rule_version",
                   "created")


def pair_rows(store: Store) -> list[dict]:
    """Every stored pair with what stands of it now."""
    return [{**{column: row[column] for column in PAIR_COLUMNS}, "n_reviewers": int(row["n_reviewers"]),
             "n_kept": int(row["n_kept"])} for row in queries.paraphrase_states(store).to_dict("records")]


def verdict_rows(store: Store) -> list[dict]:
    """The verdicts that stand."""
    return [{column: row[column] for column in VERDICT_COLUMNS} for row in review_queries.verdicts(store)]


def written(rows: Sequence[Mapping], kind: str, columns: Sequence[str]) -> bytes:
    """Rows as the bytes of a "csv" or "jsonl" file in UTF-8."""
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
    out = io.StringIO()
    table = csv.DictWriter(out, columns, lineterminator="\n")
    table.writeheader()
    table.writerows({column: neutral("" if row[column] is None else row[column]) for column in columns} for row in rows)
    return out.getvalue().encode("utf-8")
