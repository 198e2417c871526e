"""From a source to items: what is refused, filtered, drawn and told."""

import json
from dataclasses import replace

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import KINDS, Item
from flipcore.core.study import ItemSource
from flipcore.datasets import LOADERS, load, load_report, rows_of, sources_by_role
from flipcore.datasets.licenses import license_of, may_be_passed_on
from flipcore.datasets.reading.checks import checked
from flipcore.reports.holdout_sets import with_source_ids
from flipcore.stats.holdout.entries import paired_rows
from tests.datasets.files import CHOICES, written

pytestmark = pytest.mark.usefixtures("allowed_folders")

GOOD = {"question": "Which is a metal?", "options": ["tin", "oak"], "answer": 0, "date": "2024-03-01", "id": "good"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"options": ["tin"]}, "Line 2 has 1 option; a choice needs at least two."),
        ({"options": []}, "none of its 0 options"),
        ({"options": ["oak", "oak "]}, "the same text in options 1 and 2 ('oak')"),
        ({"options": ["oak", " "]}, "no text in option 2"),
        ({"options": [str(i) for i in range(30)]}, "30 options; there are labels for 26"),
        ({"answer": 2}, "'2', which (read as index) is none of its 2 options"),
        ({"answer": -1}, "'-1', which"),
        ({"answer": None}, "has no right answer"),
        ({"answer": {}}, "'{}', which"),
        ({"question": "  "}, "has no question"),
        ({"question": 7}, "int instead of text"),
        ({"date": "last week"}, "publication date 'last week'"),
        ({"date": "2024-02-30"}, "publication date"),
    ],
)
def test_a_bad_row_is_refused_with_a_sentence_and_the_others_load(tmp_path, change, why):
    report = load_report(written(tmp_path / "a.jsonl", [GOOD, GOOD | {"id": "bad"} | change, GOOD | {"id": "third"}]))
    assert len(report.items) == 2
    ((line, sentence),) = report.refusals
    assert line == 2 and sentence.startswith("Line 2 ") and why in sentence and sentence.endswith(".")
    assert "1 of 3 rows were refused." in report.notes


def test_a_row_without_the_column_is_refused(tmp_path):
    report = load_report(written(tmp_path / "a.jsonl", [GOOD, {"question": "?", "options": ["a", "b"], "id": 2}]))
    assert report.refusals == ((2, "Line 2 has no column 'answer'; it has question, options, id."),)


def test_nothing_left_is_an_error_that_names_the_first_line(tmp_path):
    with pytest.raises(BadInput, match="None of the 1 rows of a.jsonl could be used. Line 1 has 1 option"):
        load(written(tmp_path / "a.jsonl", [GOOD | {"options": ["tin"]}]))


def test_a_header_alone_has_no_rows(tmp_path):
    with pytest.raises(BadInput, match="a.csv has no rows"):
        load(written(tmp_path / "a.csv", "question,answer\n"))
    with pytest.raises(BadInput, match="b.jsonl has no readable row"):
        rows_of(written(tmp_path / "b.jsonl", "{broken\n{broken\n"), 5)


def test_items_that_ask_the_same_are_told_and_kept(tmp_path):
    twin = GOOD | {"id": "twin", "options": ["oak", "tin"], "answer": 1}
    report = load_report(written(tmp_path / "a.jsonl", [GOOD, twin]))
    assert len(report.items) == 2
    assert report.notes[-1] == "1 item asks the same as another; kept: file/twin = file/good."


def test_a_row_repeated_under_the_same_id_is_refused(tmp_path):
    report = load_report(written(tmp_path / "a.jsonl", [GOOD, GOOD]))
    assert report.refusals == ((2, "Line 2 repeats line 1 word for word under the same id."),)


def test_hostile_text_stays_text(tmp_path):
    text = "<script>alert(1)</script> =cmd|' /C calc'!A0 {0} %s ' OR 1=1 --\u202e\x00"
    item = load(written(tmp_path / "a.jsonl", [GOOD | {"question": text, "options": [text, "b"]}]))[0]
    assert item.question == text and item.options[0] == text


def test_a_file_without_options_or_answers_holds_completions(tmp_path):
    assert load(written(tmp_path / "a.jsonl", [{"text": "The harbour wakes."}]))[0].kind == "completion"


def test_a_survey_without_right_answers_holds_choices(tmp_path):
    item = load(written(tmp_path / "a.jsonl", [{"question": "Tea?", "options": ["yes", "no"]}]))[0]
    assert (item.kind, item.target) == ("choice", None)


@pytest.mark.parametrize(("answer", "target"), [("1,450.00", "1450"), (14.5, "29/2"), ("so\n#### 7", "7"), (3, "3")])
def test_numbers_become_exact(tmp_path, answer, target):
    item = load(written(tmp_path / "a.jsonl", [{"question": "How many?", "answer": answer}]))[0]
    assert (item.kind, item.target) == ("number", target)


def test_a_draw_is_seeded_nested_and_in_order(tmp_path):
    path = written(tmp_path / "a.jsonl", CHOICES).path
    drawn = {
        (n, seed): [item.item_id for item in load(ItemSource("file", path=path, n=n, seed=seed))]
        for n in (3, 6)
        for seed in range(5)
    }
    everything = [item.item_id for item in load(ItemSource("file", path=path))]
    for (n, seed), ids in drawn.items():
        assert len(ids) == n and ids == sorted(ids, key=everything.index)
        assert set(drawn[3, seed]) <= set(drawn[6, seed])
    assert len({tuple(drawn[3, seed]) for seed in range(5)}) > 1
    assert drawn[3, 0] == [item.item_id for item in load(ItemSource("file", path=path, n=3))]


def test_categories_filter_before_the_draw(tmp_path):
    source = written(tmp_path / "a.jsonl", CHOICES)
    report = load_report(ItemSource("file", path=source.path, categories=("a",), n=99))
    assert {item.category for item in report.items} == {"a"} and len(report.items) == 4
    assert "99 items were asked for and there are 4." in report.notes
    with pytest.raises(BadInput, match="has no category 'moon'; it has a, b"):
        load(ItemSource("file", path=source.path, categories=("moon",)))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (ItemSource("moon"), "no dataset called 'moon'; choose one of flipscope_choice"),
        (ItemSource("flipscope_choice", n=-1), "give a number from 1, or 0 for all"),
        (ItemSource("flipscope_choice", columns={"question": "q"}), "knows its own columns"),
        (ItemSource("flipscope_choice", options={"split": "x"}), "takes no options for a local copy"),
        (ItemSource("file"), "needs a local path or a repository"),
        (ItemSource("hub", options={"speed": 1}), "no option 'speed'; it takes repo, config and split"),
    ],
)
def test_a_source_that_cannot_be_used_gets_a_sentence(source, why):
    with pytest.raises(BadInput, match=why):
        load(source)


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_a_loader_says_what_it_is(loader):
    assert LOADERS[loader.name] is loader and loader.title and loader.about.endswith((".", "answer.", "network."))
    assert loader.kind in (*KINDS, "any")
    assert (loader.item is None) != (loader.maker is None)


def test_a_bad_line_of_a_benchmark_is_refused_with_its_number(tmp_path):
    rows = [{"question": "q", "answer": "#### 4"}, {"question": "q", "answer": "four"}]
    report = load_report(ItemSource("gsm8k", path=written(tmp_path / "a.jsonl", rows).path))
    assert [item.target for item in report.items] == ["4"] and report.refusals[0][0] == 2
    assert report.refusals[0][1].startswith("Line 2 has no number after ####")


def test_the_first_rows_come_without_reading_them_as_items(tmp_path):
    source = written(tmp_path / "a.jsonl", "broken\n" + "".join(json.dumps(row) + "\n" for row in CHOICES))
    assert rows_of(source, 2) == CHOICES[:2]


# What may be passed on: a licence that is known and allows changed copies.


def test_a_licence_that_is_unknown_or_forbids_changed_copies_lets_nothing_out():
    assert [may_be_passed_on(one) for one in ("mit", "cc-by-nd-4.0", "", "other", "unknown")] == [True, *[False] * 4]


def test_a_dataset_that_names_a_licence_is_not_declared_another():
    assert license_of("gsm8k", "cc-by-nd-4.0") == "mit"
    assert license_of("file", "cc-by-4.0") == license_of("of nobody", "cc-by-4.0") == "cc-by-4.0" and license_of("file") == ""


def item(dataset, key, source=None):
    return Item.make(dataset=dataset, key=key, kind="number", question=f"{dataset} {key}?", target="1", source_id=source)


TARGET = [item("gsm8k", key) for key in ("1", "2", "a/b")]


def test_a_source_is_named_by_item_id_or_by_key():
    retro = [item("new", "1", "2"), item("new", "2", TARGET[0].item_id), item("new", "3", "a/b"), item("new", "4")]
    found = with_source_ids(retro, [one.item_id for one in TARGET])
    assert [one.source_id for one in found] == [TARGET[1].item_id, TARGET[0].item_id, TARGET[2].item_id, None]
    assert [one.item_id for one in found] == [one.item_id for one in retro]


def test_a_name_of_no_entry_or_of_two_pairs_with_nothing():
    target = [*TARGET, item("other", "1")]
    retro = [item("new", "1", "1"), item("new", "2", "elsewhere")]
    assert with_source_ids(retro, [one.item_id for one in target]) == tuple(retro)


def test_a_file_that_says_what_each_entry_was_written_from_makes_source_pairs(tmp_path):
    path = tmp_path / "retro.csv"
    path.write_text("question,answer,written_from\nnew one?,3,2\nnew two?,4,1\n", encoding="utf-8")
    loaded = load_report(ItemSource("file", path=str(path)))
    assert any("The item it was written from is read from column 'written_from'" in note for note in loaded.notes)
    retro = with_source_ids(loaded.items, [one.item_id for one in TARGET])
    assert paired_rows(TARGET, retro).tolist() == [1, 0, 3, 4]


# A row that is no item says in a sentence why.


CHOICE = Item.make(dataset="d", key="1", kind="choice", question="Which?", options=("tin", "oak"), target="0")


def test_an_item_that_is_one_comes_back_as_it_was():
    assert checked(CHOICE) is CHOICE
    assert checked(replace(CHOICE, target="0\n1", published="2024-03-01")).target == "0\n1"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "riddle"}, "a kind is one of choice, number"),
        ({"question": "  "}, "has no question"),
        ({"published": "March 2024"}, "year-month-day"),
        ({"published": "2024-02-30"}, "year-month-day"),
        ({"options": ("tin",)}, "has 1 option; a choice needs at least two"),
        ({"options": ()}, "has no options"),
        ({"options": tuple(map(str, range(27)))}, "there are labels for 26"),
        ({"options": ("tin", " ")}, "has no text in option 2"),
        ({"options": ("tin", "tin ")}, "the same text in options 1 and 2"),
        ({"target": "2"}, "names none of its 2 options"),
        ({"kind": "number"}, "only choice items have options"),
    ],
)
def test_each_way_to_be_no_item_has_a_sentence(change, why):
    with pytest.raises(BadInput, match=why):
        checked(replace(CHOICE, **change))


def test_what_a_file_held_is_remembered_until_the_file_changes(tmp_path):
    source = written(tmp_path / "a.jsonl", [GOOD])
    first = load_report(source)
    assert load_report(source) is first
    written(tmp_path / "a.jsonl", [GOOD, GOOD | {"id": "second", "question": "Which of the two is a metal?"}])
    assert len(load_report(source).items) == 2
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(BadInput, match="There is no file"):
        load_report(source)


def test_what_a_folder_held_is_remembered_until_one_of_its_files_changes(tmp_path):
    (tmp_path / "a.txt").write_text("One day a man went out to see the sea, and it was not there. " * 40, encoding="utf-8")
    source = ItemSource("text", path=str(tmp_path))
    first = load_report(source)
    assert load_report(source) is first
    (tmp_path / "a.txt").write_text("Another day he stayed at home, and the sea came in to see him. " * 40, encoding="utf-8")
    assert "Another day" in load_report(source).items[0].question


def set_of(tmp_path, column, values):
    lines = [f"What is {n} times 3?,{3 * n},{values[n % len(values)]}" for n in range(12)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([f"question,answer,{column}", *lines]), encoding="utf-8")
    return ItemSource("file", path=str(path))


@pytest.mark.parametrize(
    ("column", "values", "roles"),
    [
        ("set", ("benchmark", "control"), ["benchmark", "control"]),
        ("Group", ("Benchmark", "Control"), ["benchmark", "control"]),
        ("split", ("benchmark", "holdout"), ["target", "retro"]),
        ("set", ("benchmark", "control", "holdout"), ["benchmark", "control", "retro"]),
        ("split", ("train", "test"), ["benchmark"]),
        ("topic", ("benchmark", "control"), ["benchmark"]),
    ],
)
def test_a_column_of_roles_parts_an_own_file(tmp_path, column, values, roles):
    sources = sources_by_role(set_of(tmp_path, column, values))
    assert [source.role for source in sources] == roles
    items = [load(source) for source in sources]
    assert [len(several) for several in items] == [12 // len(roles)] * len(roles)
    # the ids do not depend on the column
    plain = load(ItemSource("file", path=sources[0].path))
    assert {item.item_id for several in items for item in several} == {item.item_id for item in plain}
