"""Recorded outputs as a study: through the store the numbers are the source's, and nothing of it can be asked again."""

import json
import threading
from dataclasses import replace

import pytest

from flipcore import __main__ as command
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.datasets.recorded.columns import corrected, guessed
from flipcore.datasets.recorded.fields import Field
from flipcore.datasets.recorded.outputs import Recording
from flipcore.reports.study import study_report
from flipcore.runs import importing, runner
from flipcore.runs.importing import imported, preview_row, store_imported
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection

ROWS = [
    {
        "id": i,
        "prompt": f"Which is {i}?\nA. {a}\nB. {b}",
        "shown": [a, b],
        "scores": {"A": 2.0, "B": 1.0},
        "gold": "oak",
        "text": "The answer is A.",
    }
    for i in range(3)
    for a, b in (("oak", "tin"), ("tin", "oak"))
]
RECORDING = Recording(
    "made", "m", "prompt", (Field("first_token", "scores"),), item="id", options="shown", text="text", target="gold"
)


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "flips.duckdb")
    yield opened
    opened.close()


def written(tmp_path, rows, name="made.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_an_import_is_an_ordinary_study(tmp_path, store):
    found = imported(written(tmp_path, ROWS), RECORDING, "Mine")
    study_id = store_imported(found, store)
    (row,) = studies.studies(store).to_dict("records")
    assert (row["study_id"], row["name"], row["state"], row["models"]) == (study_id, "Mine", "done", ["m"])
    assert (row["n_items"], row["n_calls_done"], row["n_failed"], row["simulated"]) == (3, 6, 0, False)
    frame = studies.readouts(store, study_id)
    assert len(frame) == 12 and set(frame["extractor"]) == {"first_token", "regex"}
    # A is oak in the base and tin when turned, so every pair flips and only the base is right
    assert frame.groupby("variant")["is_correct"].mean().to_dict() == {"base": 1.0, "variant-1": 0.0}
    seen = inspection(store, study_id, "m", found.first[0].item.item_id, "option_order")
    assert [variant.readings[0].text for variant in seen.variants] == ["The answer is A."] * 2


@pytest.mark.slow
def test_importing_again_changes_nothing(tmp_path, store):
    path = written(tmp_path, ROWS)
    first, second = (store_imported(imported(path, RECORDING), store) for _ in range(2))
    assert first == second and len(studies.studies(store)) == 1 and len(studies.readouts(store, first)) == 12


@pytest.mark.slow
def test_two_recordings_of_one_prompt_keep_their_texts_apart(tmp_path, store):
    other = [row | {"text": "The answer is B."} for row in ROWS]
    ids = [
        store_imported(imported(path, RECORDING, path.stem), store)
        for path in (written(tmp_path, ROWS, "a.jsonl"), written(tmp_path, other, "b.jsonl"))
    ]
    wanted = "extractor == 'regex' and variant == 'base'"
    answers = [studies.readouts(store, one).query(wanted)["answer"].iloc[0] for one in ids]
    assert answers == ["0", "1"]


def test_a_recorded_study_survives_toml_and_cannot_be_asked_again(tmp_path, store):
    study = imported(written(tmp_path, ROWS), RECORDING).study
    again = Study.from_toml(study.to_toml())
    assert again == study and again.study_id == study.study_id and again.is_recorded
    with pytest.raises(BadInput, match="recorded outputs cannot be asked again"):
        runner.run(again, store)


@pytest.mark.parametrize(
    ("recording", "why"),
    [
        (replace(RECORDING, fields=(), text=""), "nothing to read"),
        (replace(RECORDING, fields=(Field("regex", "scores"),)), "would be called 'regex'"),
        (replace(RECORDING, fields=(Field("a", "scores"), Field("a", "gold"))), "called 'a'"),
        (replace(RECORDING, prompt=""), "no column for the prompt"),
        (replace(RECORDING, prompt="moon"), "no column 'moon'"),
    ],
)
def test_a_recording_that_cannot_be_read_gets_a_sentence(tmp_path, recording, why):
    with pytest.raises(BadInput, match=why):
        imported(written(tmp_path, ROWS), recording)


@pytest.mark.slow
def test_real_first_tokens_flip_1102_times_of_1800_through_the_store(shared_data, store):
    path = str(shared_data / "mcq_mismatch" / "mistral-7b" / "test.first40.json")
    found = imported(path, corrected(guessed(path), ["model=mistral-7b"]))
    frame = studies.readouts(store, store_imported(found, store))
    of_first, of_text = study_report(frame, "regex").decompositions["mistral-7b"]
    assert (of_first.extractor, of_first.n_items) == ("first_token", 40)
    assert of_first.T.value == pytest.approx(1102 / 1800)
    assert 0.5 < of_text.T.value < 0.65  # the generated text of the same rows turns nearly as often
    first = frame[frame["extractor"] == "first_token"]
    assert first["label_mass"].isna().all() and set(first["reason"].str.split(",|:").str[0]) == {"Label mass unknown"}
    assert first["reason"].str.contains("at most").mean() > 0.5
    assert (frame.query("extractor == 'regex'")["status"] == "ok").sum() > 200


def test_a_field_that_no_row_has_is_missing_and_no_disagreement(shared_data, store):
    path = str(shared_data / "mcq_robustness" / "gemma-7b" / "shards" / "shard_0.json_labeled_resolved.json")
    found = imported(path, corrected(guessed(path), ["model=gemma-7b"], ["first_token=content_score_dict", "fourth=fourth"]))
    frame = studies.readouts(store, store_imported(found, store))
    assert set(frame[frame["extractor"] == "fourth"]["status"]) == {"absent"}


@pytest.mark.slow
def test_the_command_imports_and_says_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    path = written(tmp_path, ROWS)
    assert command.main(["import", str(path), "--dry-run"]) == 0
    assert "6 recorded outputs on 3 items" in capsys.readouterr().out and not (tmp_path / "flips.duckdb").exists()
    assert command.main(["import", str(path), "--map", "model=oak-1", "target=gold", "--name", "Mine"]) == 0
    said = capsys.readouterr().out
    assert "by oak-1" in said and "python -m flipcore stats" in said
    assert command.main(["stats", "Mine"]) == 0 and "oak-1" in capsys.readouterr().out
    assert command.main(["import", str(path), "--map", "moon"]) == 1 and "maps nothing" in capsys.readouterr().err
    assert command.main(["import", str(path), "--read", "scores"]) == 1 and "names no readout" in capsys.readouterr().err


def test_a_variant_keeps_its_own_right_answer_role_and_axis(tmp_path, store):
    rows = [
        {
            "item": i,
            "variant": name,
            "axis": "numbers",
            "role": "control" if i < 2 else "benchmark",
            "prompt": f"{i} + {plus} = ?",
            "response": str(i + plus),
            "target": i + plus,
        }
        for i in range(4)
        for name, plus in (("base", 1), ("changed", 7))
    ]
    path = written(tmp_path, rows)
    study_id = store_imported(imported(path, guessed(str(path))), store)
    frame = studies.readouts(store, study_id, everything=True)
    assert frame["is_correct"].tolist() == [True] * 8 and set(frame["axis"]) == {"numbers"}
    assert sorted(frame.drop_duplicates("item_id")["role"]) == ["benchmark", "benchmark", "control", "control"]
    # another right answer is no harmless change, so a model that is right throughout does not flip
    assert set(studies.readouts(store, study_id)["variant"]) == {"base"}


def test_paths_lists_and_several_right_words(tmp_path, store):
    rows = [
        {"doc": {"q": f"Capital of {i}?", "gold": ["The Hague", "Den Haag"]}, "resps": [[said]], "id": i}
        for i, said in enumerate(["den haag.", "Ghent", "the hague"])
    ]
    words = ["prompt=doc.q", "target=doc.gold", "item=id", "answers=text", "text=resps[0][0]", "question="]
    path = written(tmp_path, rows)
    recording = corrected(guessed(str(path)), words, ["said=resps[0][0]"])
    study_id = store_imported(imported(path, recording), store)
    frame = studies.readouts(store, study_id).query("extractor == 'said'")
    assert dict(zip(frame["answer"], frame["is_correct"], strict=True)) == {"hague": True, "ghent": False}


def test_rows_that_are_numbered_are_grouped_by_their_question(tmp_path):
    rows = [{"id": n, "prompt": f"Q{n % 300}?", "response": str(n % 300), "target": n % 300} for n in range(600)]
    assert imported(written(tmp_path, rows), guessed(str(written(tmp_path, rows)))).n_items == 300


def test_a_preview_row_has_the_question_the_version_and_every_readout(tmp_path):
    found = imported(written(tmp_path, ROWS), RECORDING, "Mine")
    row = preview_row(found.first[0], found.readouts)
    assert row["version"] == "base" and set(row) == {"question", "version", "options shown", "first_token", "regex"}
    assert row["first_token"] == row["regex"] and row["first_token"] in row["options shown"].split(" | ")[0]


def table_of(store, study_id):
    frame = studies.readouts(store, study_id)
    return frame.sort_values(list(frame.columns)).reset_index(drop=True).astype(str)


def test_an_import_that_is_stopped_goes_on_and_ends_the_same(tmp_path, store, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 2)
    outputs, stop = imported(written(tmp_path, ROWS), RECORDING, "Mine"), threading.Event()
    steps = []
    study_id = store_imported(outputs, store, lambda done: (steps.append(done.n_done), stop.set()), stop)
    (row,) = studies.studies(store).to_dict("records")
    assert (row["state"], steps) == ("cancelled", [2]) and "after 2 of 6 outputs" in row["message"]
    store_imported(outputs, store, lambda done: steps.append(done.n_done))
    assert steps == [2, 4, 6] and studies.studies(store)["state"].tolist() == ["done"]
    monkeypatch.setattr(importing, "BATCH", 6_000)
    other = Store.open(tmp_path / "other.duckdb")
    store_imported(outputs, other)
    whole = table_of(other, study_id)
    other.close()
    assert table_of(store, study_id).equals(whole) and len(whole) == 12
    store_imported(outputs, store, lambda done: pytest.fail("it was stored again"))


def test_a_file_that_changed_since_it_was_looked_at_is_not_stored(tmp_path, store):
    path = written(tmp_path, ROWS)
    outputs = imported(path, RECORDING)
    written(tmp_path, ROWS[:4])
    with pytest.raises(BadInput, match="has changed since it was looked at"):
        store_imported(outputs, store)
    assert studies.studies(store).empty
