"""Many small tables of one layout: read together, and to the same ids as each one alone."""

import csv
import json
from pathlib import Path

import pytest

from flipcore.datasets.recorded import layouts
from flipcore.datasets.recorded.log_records import LogRecord
from flipcore.datasets.tables import reading
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import Survey, survey

pytestmark = pytest.mark.usefixtures("allowed_folders")

N_FILES = 25
QUESTION = "How many sheep has farmer {} after {} more of them came home?"


def rows_of(file: int, *, n_rows: int = 4, counts_within: bool = False, models: tuple[str, ...] = ()) -> list[dict]:
    """The rows of one file; a third of the outputs are wrong."""
    rows = []
    for number in range(n_rows):
        place = file * n_rows + number
        row = {
            "id": number if counts_within else f"q{place}",
            "question": QUESTION.format(place, place % 7),
            "response": f"They are {place + (place % 3 == 0)} sheep now.",
            "gold": place,
        }
        for model in models or ("",):
            rows.append(row | ({"model": model} if model else {}))
    return rows


def write_files(folder: Path, files: dict[str, list[dict]], suffix: str = ".jsonl") -> Path:
    """Write a folder of tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        path = folder / f"{name}{suffix}"
        if suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        elif suffix == ".json":
            path.write_text(json.dumps(rows), encoding="utf-8")
        else:
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
    return folder


def records_of(found: Survey) -> list[LogRecord]:
    """All records, in order."""
    return list(found.records())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({}, id="ids of all files together"),
        pytest.param({"counts_within": True}, id="ids that count within a file"),
        pytest.param({"models": ("small", "large")}, id="two models per file"),
    ],
)
def test_files_read_together_have_the_records_that_each_has_alone(tmp_path, monkeypatch, suffix, shape):
    n_files = 6  # each of which is read alone, too, which takes most of the time of 25
    files = {f"part_{n:03}": rows_of(n, **shape) for n in range(n_files)}
    folder = write_files(tmp_path / "many", files, suffix)
    monkeypatch.setattr(layouts, "MIN_FILES", n_files)
    together = survey([folder])
    monkeypatch.setattr(layouts, "MIN_FILES", n_files + 1)
    alone = survey([folder])
    assert records_of(together) == records_of(alone)
    assert together.n_records == n_files * 4 * len(shape.get("models", ("",)))
    assert len(together.read_as) == 1 and f"in each of {n_files} files" in together.read_as[0]


def test_files_of_one_row_are_read_by_all_of_them(tmp_path):
    scores = {f"item_{n}": [{"score": n % 2, "id": f"q{n}"}] for n in range(N_FILES)}
    found = survey([write_files(tmp_path / "scores", scores)])
    assert found.n_records == N_FILES
    assert sum(record.readouts[0].score for record in records_of(found)) == N_FILES // 2


def test_files_are_profiled_once(tmp_path, monkeypatch):
    n_profiles = 0

    def counted(*given):
        nonlocal n_profiles
        n_profiles += 1
        return profile(*given)

    profile = reading.profile
    monkeypatch.setattr(reading, "profile", counted)
    survey([write_files(tmp_path / "many", {f"part_{n:03}": rows_of(n) for n in range(N_FILES)})])
    assert n_profiles == 1


def test_a_file_unlike_the_others_is_read_alone(tmp_path):
    files = {f"part_{n:03}": rows_of(n) for n in range(N_FILES)}
    files["odd"] = [{"item": f"x{n}", "passed": n % 2} for n in range(8)]
    found = survey([write_files(tmp_path / "many", files)])
    assert len(found.read_as) == 2 and found.n_records == N_FILES * 4 + 8


def test_a_broken_line_is_said_of_its_file_alone(tmp_path):
    folder = write_files(tmp_path / "many", {f"part_{n:03}": rows_of(n) for n in range(N_FILES)})
    with (folder / "part_003.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("{broken\n")
    found = survey([folder])
    assert found.n_records == N_FILES * 4 and found.n_refused == 1
    assert "part_003" in found.refusals[0]


def test_files_of_other_models_keep_their_names(tmp_path):
    rows = [rows_of(0, n_rows=6)] * N_FILES
    found = survey([write_files(tmp_path / "many", {f"model-{chr(97 + n)}x": several for n, several in enumerate(rows)})])
    assert len(found.models) == N_FILES and len(found.kinds) == 1


def test_what_a_user_says_of_columns_holds_for_all_files(tmp_path):
    files = {
        f"part_{n:03}": [row | {"first": n % 2, "score": (n + i) % 2} for i, row in enumerate(rows_of(n))]
        for n in range(N_FILES)
    }
    folder = write_files(tmp_path / "many", files)
    found = survey([folder], corrections_of(["score=first"], of_tables=True))
    assert set(found.readouts) == {"first"}


@pytest.mark.slow
def test_files_of_many_rows_are_of_one_layout_only_with_the_same_kinds(tmp_path):
    files = {}
    for n in range(N_FILES):
        files[f"sums-{n}"] = rows_of(n, n_rows=20)
        files[f"letters-{n}"] = [
            row | {"gold": "AB"[i % 2], "response": "AB"[i % 3 % 2]} for i, row in enumerate(rows_of(n, n_rows=20))
        ]
    found = survey([write_files(tmp_path / "many", files)])
    assert len(found.read_as) == 2
