"""Three hundred damaged logs: a sentence each, never a traceback, in bounded time and memory."""

import json
import zipfile

import pytest

from flipcore.core.errors import FlipscopeError
from flipcore.core.randomness import generator
from flipcore.datasets.recorded.log_places import hashes_of
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import _log_rows, study_of
from flipcore.runs.log_survey import survey
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")

WRITERS = {
    "lm_eval": lambda folder: made.lm_eval(folder / "run"),
    "scored": lambda folder: made.lm_eval_scored(folder / "samples_x_2025.jsonl"),
    "inspect": lambda folder: made.inspect_eval(
        folder / "a.eval", [made.inspect_sample(i) for i in range(3)], made.inspect_header(1, 3)
    ),
    "chunked": lambda folder: made.chunked(folder / "b.eval"),
    "eee": lambda folder: made.eee(folder / "eee"),
    "helm": lambda folder: made.helm(folder / "helm") / "scenario_state.json",
    "lighteval": lambda folder: made.lighteval(folder / "details_x_2025.parquet"),
    "zeroeval": lambda folder: made.zeroeval(folder / "z.json"),
    "promptfoo": lambda folder: made.promptfoo(folder / "p.json"),
    "openai_evals": lambda folder: made.openai_evals(folder / "o.jsonl"),
}
WRONG = (None, 1, -1.5, True, "", "x", [], {}, [[]], {"a": None}, "\ud800", float("nan"), "9" * 400)


def damaged(data: bytes, rng) -> bytes:
    """Cut off, a part doubled, bytes changed, or a value of another type put in."""
    how, at = int(rng.integers(5)), int(rng.integers(1, max(2, len(data))))
    if how == 0:
        return data[:at]
    if how == 1:
        return data[:at] + data[at // 2 :]
    if how == 2:
        changed = bytearray(data)
        for place in rng.integers(0, len(data), 6):
            changed[int(place)] = int(rng.integers(256))
        return bytes(changed)
    if how == 3:
        return data + data[:at]
    return retyped(data, rng)


def retyped(data: bytes, rng) -> bytes:
    try:
        rows = [json.loads(line) for line in data.decode().splitlines()]
    except (ValueError, UnicodeDecodeError):
        return data[: len(data) // 2]
    for row in rows:
        spoiled(row, rng)
    return "\n".join(json.dumps(row) for row in rows).encode("utf-8", "surrogatepass")


def spoiled(value, rng, depth: int = 0) -> None:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys:
        return
    key = keys[int(rng.integers(len(keys)))]
    if depth < 4 and isinstance(value[key], (dict, list)) and rng.random() < 0.7:
        spoiled(value[key], rng, depth + 1)
    else:
        value[key] = WRONG[int(rng.integers(len(WRONG)))]


@pytest.mark.slow
@pytest.mark.parametrize("format_name", WRITERS)
def test_thirty_damaged_logs_of_each_format_give_sentences_only(tmp_path, format_name):
    n_sentences = 0
    for number in range(30):
        rng = generator(number, "damaged logs", format_name)
        folder = tmp_path / str(number)
        folder.mkdir()
        path = WRITERS[format_name](folder)
        path.write_bytes(damaged(path.read_bytes(), rng))
        try:
            found = survey([folder], corrections_of(["model=m"]))
            assert study_of(found).study_id
            assert sum(built is not None for built in _log_rows(found, hashes_of(()))) <= found.n_records
            n_sentences += found.n_refused + len(found.unread)
            assert all(sentence.endswith(".") and "Traceback" not in sentence for sentence in found.refusals)
        except FlipscopeError as error:
            n_sentences += 1
            assert str(error).strip() and "\n" not in str(error)
    assert n_sentences > 5


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps(made.inspect_header(1, 1)))
        packed.writestr("samples/1_epoch_1.json", b"[" + b" " * 60_000_000)
    found_or_error = ""
    try:
        found = survey([tmp_path / "bomb.eval"])
        found_or_error = found.refusals[0]
    except FlipscopeError as error:
        found_or_error = str(error)
    assert "is not valid JSON" in found_or_error or "would unpack" in found_or_error


def test_a_line_of_a_million_characters_and_deep_nesting(tmp_path):
    row = made.lm_eval_row(0, "x" * 1_000_000, "1", False)
    path = made.lines(tmp_path / "samples_x_2025.jsonl", [row])
    with path.open("a") as stream:
        stream.write("[" * 100_000 + "\n")
    found = survey([path], corrections_of(["model=m"]))
    assert found.n_records == 1 and "nested too deeply" in found.refusals[0]
