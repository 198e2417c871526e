"""Pairs and verdicts as tables: the rows that leave as files and come back in through `pair_files`."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from flipcore.annotation.paraphrases.verdicts import CHECKS
from flipcore.store.connection import Store
from flipcore.store.export import neutral
from flipcore.store.queries import review, studies

PAIR_COLUMNS = (
    *("pair_id", "dataset", "generator", "item_id", "original", "paraphrase", "change", "state"),
    *("n_reviewers", "n_kept", "n_models", "n_models_kept", "settled_by", "settled_why"),
)
VERDICT_COLUMNS = (
    "verdict_id",
    "pair_id",
    "reviewer",
    "reviewer_kind",
    *CHECKS,
    "note",
    "original_hash",
    "paraphrase_hash",
    "rule_version",
    "created",
)


def pair_rows(store: Store) -> list[dict]:
    """Every stored pair with what stands of it now; none of an item that is set aside."""
    return [
        {
            **{column: row[column] for column in PAIR_COLUMNS},
            **{column: int(row[column]) for column in PAIR_COLUMNS if column.startswith("n_")},
        }
        for row in studies.paraphrase_states(store).to_dict("records")
        if not row["set_aside"]
    ]


def verdict_rows(store: Store) -> list[dict]:
    """The verdicts that stand."""
    return [{column: row[column] for column in VERDICT_COLUMNS} for row in review.verdicts(store)]


def file_bytes(rows: Sequence[Mapping], kind: str, columns: Sequence[str]) -> bytes:
    """Rows as the bytes of a "csv" or "jsonl" file in UTF-8."""
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
    out = io.StringIO()
    table = csv.DictWriter(out, columns, lineterminator="\n")
    table.writeheader()
    table.writerows({column: neutral("" if row[column] is None else row[column]) for column in columns} for row in rows)
    return out.getvalue().encode("utf-8")
