"""A log with one damaged part: the part is refused with a sentence, and the rest is read."""

import json
import math
import zipfile

import pytest

from flipcore.datasets.recorded.log_records import prompt_from, whole_number
from flipcore.runs.log_survey import survey
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.parametrize("refs", [None, [[0]], [["a", "b"]], 3])
def test_a_sample_in_chunks_whose_references_are_damaged_is_refused_alone(tmp_path, refs):
    whole = made.chunked(tmp_path / "whole.eval")
    with zipfile.ZipFile(whole) as packed, zipfile.ZipFile(tmp_path / "damaged.eval", "w") as damaged:
        for name in packed.namelist():
            content = packed.read(name)
            if name.endswith("/sample.json"):
                content = json.dumps(json.loads(content) | {"message_refs": refs}).encode()
            damaged.writestr(name, content)
    found = survey([tmp_path / "damaged.eval"])
    assert found.n_refused == 1 and found.n_records == 1


def helm_states(folder):
    made.helm(folder)
    path = folder / "scenario_state.json"
    return path, json.loads(path.read_text(encoding="utf-8"))


def test_a_reference_that_is_no_option_and_no_answer_needs_no_text(tmp_path):
    path, log = helm_states(tmp_path / "run")
    log["adapter_spec"]["method"] = "generation"
    for state in log["request_states"]:
        del state["output_mapping"]
        state["instance"]["references"] = [{"output": {}, "tags": []}]
    path.write_text(json.dumps(log), encoding="utf-8")
    found = survey([tmp_path / "run"])
    assert not found.n_refused and found.n_records == len(log["request_states"])


@pytest.mark.parametrize("references", [["x"], [{"output": {}}]])
def test_the_last_options_of_a_log_may_be_damaged(tmp_path, references):
    path, log = helm_states(tmp_path / "run")
    log["adapter_spec"]["method"] = "multiple_choice_separate_original"
    for state in log["request_states"]:
        state["reference_index"] = 0
    log["request_states"][-1]["instance"]["references"] = references
    path.write_text(json.dumps(log), encoding="utf-8")
    found = survey([tmp_path / "run"])
    assert found.n_refused >= 1


@pytest.mark.parametrize(("value", "whole"), [(3, 3), (3.9, 3), (math.inf, None), (math.nan, None), (True, None), ("3", None)])
def test_a_count_that_is_no_finite_number_is_none(value, whole):
    assert whole_number(value) == whole


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_messages_in_json_are_the_prompt_however_they_are_indented(indent):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
    assert prompt_from(json.dumps(messages, indent=indent)) == ("2 + 2?", "Be brief.")


@pytest.mark.parametrize("text", ["[", "[{broken", '[{"a": 1}]', "[ ] Tick the box."])
def test_a_text_that_only_begins_like_messages_is_the_prompt_itself(text):
    assert prompt_from(text) == (text, "")
