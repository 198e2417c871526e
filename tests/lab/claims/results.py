"""The claims table on disk: rows as JSON, one file a module, and the page rendered from all of them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.lab.claims.acceptance import MOST, Row, failures
from tests.lab.claims.code import code_of

FOLDER = Path("tests/stats/claims")
TABLE = Path("tests/stats/claims.md")
CURRENT, REWORDED, BELOW, OLDER = "current", "worded anew", "older below its sentence", "older than its sentence"
_MARKS = {CURRENT: "", REWORDED: " °", BELOW: " †", OLDER: " ‡"}
_COLUMNS = "| claim | world | n | runs | {} | commit |"


def rows_on_disk(module: str, folder: Path = FOLDER) -> dict[str, Row]:
    """Cell name -> its last row; empty before the first run."""
    path = folder / f"{module}.json"
    return {row["name"]: Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def age(row: Row) -> str:
    """Whether this row was run on the code that says its claims today: `CURRENT`, or what has changed since."""
    try:
        code = code_of(row.claim)
    except KeyError:
        return OLDER
    if row.sentence != code.sentence:
        return OLDER
    if row.below != code.below:
        return BELOW
    return CURRENT if row.words == code.words else REWORDED


def store(module: str, fresh: Iterable[Row], names: Sequence[str], folder: Path = FOLDER) -> None:
    """Writes the rows of a module in the order of `names`: fresh ones replace, those of cells that are gone leave."""
    rows = rows_on_disk(module, folder) | {row.name: row for row in fresh}
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(rows[name]), ensure_ascii=False) for name in names if name in rows]
    (folder / f"{module}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def ages_sentence(rows: Sequence[Row]) -> str:
    """How many rows were run on the code of today, and how many before it changed."""
    n = Counter(map(age, rows))
    return (
        f"Of {len(rows)} rows {n[CURRENT]} were run on the code that says their sentence now, {n[REWORDED]} (°) on code that said the "
        f"same in other words, {n[BELOW]} (†) before the last change "
        f"of an estimator below it, {n[OLDER]} (‡) before the last change of the module that makes it, or on code that was not "
        "recorded. A new name counts as a change, except of a local variable."
    )


def markdown(rows: Mapping[str, Sequence[Row]], waiting: Sequence[str] = ()) -> str:
    """The table of every module's rows; acceptance is judged over all of them at once. `waiting` names cells without a row."""
    every = [row for part in rows.values() for row in part]
    failed = failures(every)
    n_null = sum(row.truth == "null" for row in every)
    out = [
        "# How often the claims are false",
        "",
        "Each claim is simulated through the function that makes its sentence, in worlds where it is false. A cell fails if the",
        f"lower 95 % Clopper–Pearson bound, Holm over all {n_null} null cells, exceeds nominal, or if the point exceeds",
        f"{MOST} × nominal. Written by `python -m tests.lab.claims`; streams come from the cells' names. {len(failed)} cells",
        "fail.",
        "",
        ages_sentence(every),
        "The commit is the one that a row was run on; with a plus, the code in the folder differed from it.",
    ]
    for module, part in rows.items():
        null, planted, outside = ([row for row in part if row.truth == truth] for truth in ("null", "planted", "outside"))
        if null:
            out += ["", f"## {module.capitalize()}: false claims", "", _COLUMNS.format("false [95 %] | nominal | pass")]
            out += ["|---|---|---|--:|---|--:|---|---|"] + [_null_line(row, failed.get(row.name, "")) for row in null]
        for title, others in (("power on planted truth", planted), ("where a claim's condition does not hold", outside)):
            if others:
                out += ["", f"## {module.capitalize()}: {title}", "", _COLUMNS.format("claimed [95 %]")]
                out += ["|---|---|---|--:|---|---|"] + [_line(row, _rate(row)) for row in others]
    if waiting:
        out += ["", "## Not run", "", f"{len(waiting)} cells stand ready and have no row yet, so they support nothing:", ""]
        out += [f"- {name}" for name in waiting]
    return "\n".join(out) + "\n"


def _line(row: Row, middle: str) -> str:
    return f"| {row.claim} | {row.world} | {row.n} | {row.n_runs:,} | {middle} | {row.commit}{_MARKS[age(row)]} |"


def _null_line(row: Row, why: str) -> str:
    return _line(row, f"{_rate(row)} | {row.nominal:g} | {f'**no**: {why}' if why else 'yes'}")


def _rate(row: Row) -> str:
    low, high = row.limits
    return f"{row.rate:.4f} [{low:.4f}, {high:.4f}]"
