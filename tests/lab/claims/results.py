"""The claims table on disk: rows as JSON, one file a module, and the page rendered from all of them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.lab.claims.acceptance import MOST, Row, failures
from tests.lab.claims.traces import Trace

FOLDER = Path("tests/stats/claims")
TABLE = Path("tests/stats/claims.md")
CHECKED = "claims_checked.json"  # beside the folder of rows: what the last whole `--check` found
_STALE_MARK = " ‡"
_COLUMNS = "| claim | world | n | runs | {} | commit |"


def rows_on_disk(module: str, folder: Path = FOLDER) -> dict[str, Row]:
    """Cell name -> its last row; empty before the first run."""
    path = folder / f"{module}.json"
    if not path.exists():
        return {}
    rows = {}
    for stored in json.loads(path.read_text(encoding="utf-8")):
        trace = stored.pop("trace", None)
        rows[stored["name"]] = Row(**stored, trace=Trace(**trace) if trace else None)
    return rows


@dataclass(frozen=True)
class Check:
    """What the last whole check found: names of stale rows, and the commit it ran on."""

    commit: str
    n_rows: int
    stale: tuple[str, ...]


def last_check(folder: Path = FOLDER) -> Check | None:
    """Return the last whole check, or None before the first."""
    path = folder.parent / CHECKED
    if not path.exists():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Check(stored["commit"], stored["n_rows"], tuple(stored["stale"]))


def store_check(check: Check, folder: Path = FOLDER) -> None:
    """Keep what a whole check found."""
    text = json.dumps(asdict(check), indent=1, ensure_ascii=False)
    (folder.parent / CHECKED).write_text(text + "\n", encoding="utf-8")


def store(module: str, fresh: Iterable[Row], names: Sequence[str], folder: Path = FOLDER) -> None:
    """Writes the rows of a module in the order of `names`: fresh ones replace, those of cells that are gone leave."""
    rows = rows_on_disk(module, folder) | {row.name: row for row in fresh}
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(rows[name]), ensure_ascii=False) for name in names if name in rows]
    (folder / f"{module}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def check_sentence(rows: Sequence[Row], check: Check | None) -> str:
    """Say how many rows still decide as they did when they were simulated."""
    n_traced = sum(row.trace is not None for row in rows)
    kept = (
        f"{n_traced} of {len(rows)} rows keep what their first runs decided. `python -m tests.lab.claims --check` runs these "
        "again on today's code; a row that decides otherwise is stale and is simulated anew (`--stale`)."
    )
    if check is None:
        return f"{kept} No whole check is recorded."
    stale = f"{len(check.stale)} were stale ({_STALE_MARK.strip()})" if check.stale else "none was stale"
    return f"{kept} The last whole check, on {check.commit}, ran {check.n_rows} rows; {stale}."


def markdown(rows: Mapping[str, Sequence[Row]], waiting: Sequence[str] = (), check: Check | None = None) -> str:
    """The table of every module's rows; acceptance is judged over all of them at once. `waiting` names cells without a row."""
    every = [row for part in rows.values() for row in part]
    stale = set(check.stale) if check else set()
    failed = failures(every)
    n_null = sum(row.truth == "null" for row in every)
    out = [
        "# How often the claims are false",
        "",
        "Each claim is simulated through the function that makes its sentence, in worlds where it is false. A cell fails if the",
        f"lower 95% Clopper–Pearson bound exceeds nominal ({n_null} null cells), or if the point exceeds",
        f"{MOST} × nominal. Written by `python -m tests.lab.claims`; streams come from the cells' names. {len(failed)} cells",
        "fail.",
        "",
        check_sentence(every, check),
        "The commit is the one that a row was run on; with a plus, the code in the folder differed from it.",
    ]
    for module, part in rows.items():
        null, planted, outside = ([row for row in part if row.truth == truth] for truth in ("null", "planted", "outside"))
        if null:
            out += ["", f"## {module.capitalize()}: false claims", "", _COLUMNS.format("false [95%] | nominal | pass")]
            out += ["|---|---|---|--:|---|--:|---|---|"] + [_null_line(row, failed.get(row.name, ""), stale) for row in null]
        for title, others in (("power on planted truth", planted), ("where a claim's condition does not hold", outside)):
            if others:
                out += ["", f"## {module.capitalize()}: {title}", "", _COLUMNS.format("claimed [95%]")]
                out += ["|---|---|---|--:|---|---|"] + [_line(row, _rate(row), stale) for row in others]
    if waiting:
        out += ["", "## Not run", "", f"{len(waiting)} cells stand ready and have no row yet, so they support nothing:", ""]
        out += [f"- {name}" for name in waiting]
    return "\n".join(out) + "\n"


def _line(row: Row, middle: str, stale: Collection[str]) -> str:
    mark = _STALE_MARK if row.name in stale else ""
    return f"| {row.claim} | {row.world} | {row.n} | {row.n_runs:,} | {middle} | {row.commit}{mark} |"


def _null_line(row: Row, why: str, stale: Collection[str]) -> str:
    passes = f"**no**: {why}" if why else "yes"
    return _line(row, f"{_rate(row)} | {row.nominal:g} | {passes}", stale)


def _rate(row: Row) -> str:
    low, high = row.limits
    return f"{row.rate:.4f} [{low:.4f}, {high:.4f}]"
