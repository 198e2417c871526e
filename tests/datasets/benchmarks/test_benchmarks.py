"""The four benchmarks from their public files, and through the `datasets` package."""

import json
import zipfile

import pytest

from flipcore import datasets
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS, load, load_report
from tests.datasets.files import CHOICES, written

pytestmark = pytest.mark.usefixtures("allowed_folders")

HUB = {  # the columns that each repository serves
    "gsm8k": {"question": "What is 2 + 2?", "answer": "2+2=<<2+2=4>>4\n#### 4"},
    "mmlu_pro": {
        "question_id": 7,
        "question": "q",
        "options": ["a", "b", "c"],
        "answer": "B",
        "answer_index": 1,
        "cot_content": "",
        "category": "philosophy",
        "src": "made",
    },
    "mmlu": {"question": "q", "subject": "virology", "choices": ["a", "b", "c", "d"], "answer": 1},
    "truthfulqa": {"question": "q", "mc1_targets": {"choices": ["b", "a", "c"], "labels": [1, 0, 0]}},
}


@pytest.fixture(autouse=True)
def nothing_remembered():
    """The hub serves other rows in each test, where a process reads a set once."""
    datasets._cached_report.cache_clear()


@pytest.mark.stand_in("datasets/benchmarks/test_small_files.py::test_a_file_of_gsm8k_loads_with_its_chains")
def test_gsm8k_test_split_loads_whole_with_its_chains(shared_data):
    report = load_report(ItemSource("gsm8k", path=str(shared_data / "gsm8k" / "test.jsonl")))
    assert (len(report.items), report.refusals) == (1319, ())
    assert (report.items[0].target, report.items[0].item_id.split("@")[0]) == ("18", "gsm8k/0")
    assert sum("<<" in item.solution for item in report.items) == 1301  # what is known of the file


@pytest.mark.slow
@pytest.mark.stand_in(
    "datasets/benchmarks/test_small_files.py::test_a_file_of_gsm8k_read_as_a_generic_file_has_the_same_targets"
)
def test_gsm8k_read_as_a_generic_file_has_the_same_targets(shared_data):
    path = str(shared_data / "gsm8k" / "test.jsonl")
    assert [item.target for item in load(ItemSource("file", path=path))] == [
        item.target for item in load(ItemSource("gsm8k", path=path))
    ]


@pytest.mark.stand_in(
    "datasets/benchmarks/test_small_files.py::test_a_file_of_truthfulqa_has_its_true_answer_at_no_fixed_place"
)
def test_truthfulqa_loads_with_the_true_answer_at_no_fixed_place(shared_data):
    report = load_report(ItemSource("truthfulqa", path=str(shared_data / "truthfulqa" / "TruthfulQA.csv")))
    assert len(report.items) + len(report.refusals) == 817
    ((_, why),) = report.refusals  # one question lists a false answer twice
    assert "same text in options" in why
    assert len({item.category for item in report.items}) == 38
    misconceptions = [item for item in report.items if item.category == "Misconceptions"]
    assert sum(item.meta["type"] == "Non-Adversarial" for item in misconceptions) == 59
    first = sum(item.target == "0" for item in report.items) / len(report.items)
    by_chance = sum(1 / len(item.options) for item in report.items) / len(report.items)
    assert abs(first - by_chance) < 0.045  # three standard errors of a share of .22 in 816


@pytest.mark.stand_in(
    "datasets/benchmarks/test_small_files.py::test_a_file_of_mmlu_has_no_header_and_a_folder_names_its_subjects"
)
def test_mmlu_reads_a_file_without_header_and_a_folder(shared_data):
    one = load(ItemSource("mmlu", path=str(shared_data / "mmlu" / "dev" / "virology_dev.csv")))
    assert len(one) == 5 and {item.category for item in one} == {"virology"} and {len(item.options) for item in one} == {4}
    report = load_report(ItemSource("mmlu", path=str(shared_data / "mmlu" / "dev")))
    assert len(report.items) + len(report.refusals) == 285 and len({item.category for item in report.items}) == 57
    assert all(why.startswith(f"Line {line} of ") and "_dev.csv has the same text" in why for line, why in report.refusals)


@pytest.mark.stand_in("datasets/benchmarks/test_small_files.py::test_a_file_of_mmlu_pro_tells_its_repeated_questions")
@pytest.mark.slow
def test_mmlu_pro_loads_from_a_model_s_outputs_and_tells_its_repeated_questions(shared_data, tmp_path):
    archive = zipfile.ZipFile(shared_data / "mmlu_pro_outputs" / "model_outputs_Mistral-7B-v0.1_5shots.zip")
    report = load_report(ItemSource("mmlu_pro", path=archive.extract(archive.namelist()[0], tmp_path)))
    assert len(report.items) == 12_032 - len(report.refusals)
    assert {why.split(" has ")[1] for _, why in report.refusals} == {"1 option; a choice needs at least two."}
    assert sum(item.category == "philosophy" for item in report.items) == 499
    assert {len(item.options) for item in report.items} == set(range(2, 11))
    assert any("the same as another; kept" in note for note in report.notes)


def test_an_mmlu_folder_without_files_gets_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="There is no CSV file"):
        load(ItemSource("mmlu", path=str(tmp_path)))


@pytest.mark.parametrize("name", HUB)
def test_a_benchmark_reads_what_its_repository_serves(monkeypatch, name):
    import datasets

    asked = []
    monkeypatch.setattr(datasets, "load_dataset", lambda *where, **rest: asked.append((*where, rest)) or [HUB[name]])
    (item,) = load(ItemSource(name))
    hub = LOADERS[name].hub
    assert asked == [(hub.repo, hub.config, {"split": hub.split})]
    assert item.kind == LOADERS[name].kind and item.published
    assert item.target == "4" if name == "gsm8k" else item.options[int(item.target)] == "b"


def test_the_hub_loader_reads_through_the_datasets_package(tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CHOICES))
    report = load_report(ItemSource("hub", options={"repo": str(tmp_path / "repo"), "split": "train"}))
    assert [item.target for item in report.items] == [str(row["answer"]) for row in CHOICES]
    assert report.items[0].category == "a" and "The options are read from column 'options'." in report.notes


def test_a_repository_that_does_not_answer_gets_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="The hub did not give .*nowhere.* Check the name and the network"):
        load(ItemSource("hub", options={"repo": str(tmp_path / "nowhere")}))


def test_without_a_network_the_sentence_comes_at_once(monkeypatch):
    from flipcore.datasets import dataset

    asked = []

    def unknown(*host):
        asked.append(host)
        raise OSError("no such host")

    monkeypatch.setattr(dataset.socket, "getaddrinfo", unknown)
    with pytest.raises(BadInput, match="The hub did not give nobody/nothing .*OfflineMode.*local copy"):
        load(ItemSource("hub", options={"repo": "nobody/nothing"}))
    assert len(asked) == 1  # five attempts of the package would each have asked


def test_truthfulqa_with_two_true_answers_is_refused(monkeypatch):
    import datasets

    row = {"question": "q", "mc1_targets": {"choices": ["a", "b"], "labels": [1, 1]}}
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [row])
    with pytest.raises(BadInput, match="marks 2 answers as true; mc1 has one"):
        load(ItemSource("truthfulqa"))


def test_a_right_answer_out_of_range_is_refused_with_its_line(tmp_path):
    rows = [HUB["mmlu_pro"], HUB["mmlu_pro"] | {"question_id": 8, "answer_index": 3}]
    path = written(tmp_path / "a.jsonl", rows).path
    report = load_report(ItemSource("mmlu_pro", path=path))
    assert report.refusals == ((2, "Line 2 has the right answer '3', which names none of its 3 options."),)
