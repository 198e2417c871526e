"""A study as a dataset folder: `datasets.load_dataset` loads it, nobody is named, and what may not be passed on is not there."""

import io
import json
import zipfile

import pandas as pd
import pytest

from flipcore import __main__ as command_line
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, OwnPrompt, Part, Study
from flipcore.reports.exports.dataset import COMPLETIONS, NO_EXAMPLES, TABLES, dataset_folder
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """(store, study id): shipped items, and two of a file of the user's own whose licence nobody has named."""
    folder = tmp_path_factory.mktemp("dataset")
    own = folder / "own.jsonl"
    rows = [{"question": f"Private question {i}?", "options": ["a", "b"], "answer": 0} for i in range(2)]
    own.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    study = Study(
        name="to publish `it` | now",
        items=(
            ItemSource("flipscope_choice", n=6),
            ItemSource(
                "file",
                role="control",
                path=str(own),
                columns={"question": "question", "options": "options", "target": "answer"},
            ),
        ),
        axes=(Part("identity"), Part("option_order", {"n": 2})),
        extractors=(Part("regex"),),
        models=(ModelUse("simulated-clean"),),
    )
    store = Store.open(store_with(folder, study))
    yield store, study.study_id
    store.close()


@pytest.fixture(scope="module")
def with_examples(tmp_path_factory):
    """(store, study id): shipped items whose prompts show examples of a file whose licence nobody has named."""
    folder = tmp_path_factory.mktemp("examples")
    own = folder / "own.jsonl"
    rows = [{"question": f"Private question {i}?", "options": ["a", "b"], "answer": 0} for i in range(3)]
    own.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    source = ItemSource("file", path=str(own), columns={"question": "question", "options": "options", "target": "answer"})
    study = Study(
        name="with examples",
        items=(ItemSource("flipscope_choice", n=3),),
        axes=(Part("identity"),),
        extractors=(Part("regex"),),
        models=(ModelUse("simulated-clean"),),
        prompt=OwnPrompt(template="{{ question }}\n{{ choices }}\nReply:", n_examples=2, examples_from=source),
    )
    store = Store.open(store_with(folder, study))
    yield store, study.study_id
    store.close()


def test_examples_of_an_unknown_licence_are_left_out_of_the_prompts(with_examples):
    prompts = frames(dataset_folder(*with_examples))["completions"]["prompt"]
    assert len(prompts) and not prompts.str.contains("Private question").any()
    assert prompts.str.startswith(NO_EXAMPLES).all() and prompts.str.endswith("Reply:").all()
    named = frames(dataset_folder(*with_examples, license="cc-by-4.0"))["completions"]["prompt"]
    assert named.str.contains("Private question 1").all() and not named.str.contains(NO_EXAMPLES, regex=False).any()


def frames(folder):
    return {name: pd.read_parquet(io.BytesIO(folder.files[f"data/{name}.parquet"])) for name in TABLES}


def test_load_dataset_loads_every_table_from_the_folder(here, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(Store, "open", classmethod(lambda cls: here[0]))
    monkeypatch.setattr(here[0], "close", lambda: None)
    place = tmp_path / "published"
    assert command_line.main(["publish", here[1], "--folder", str(place)]) == 0
    for name, columns in TABLES.items():
        rows = datasets.load_dataset(str(place), name, split="train", cache_dir=str(tmp_path / "cache"))
        assert rows.column_names == list(columns) and len(rows) > 0
    assert datasets.load_dataset(str(place), split="train", cache_dir=str(tmp_path / "cache")).column_names[0] == "model"
    assert command_line.main(["publish", here[1], "--folder", str(tmp_path)]) == 1  # it holds other things


def test_items_of_an_unknown_licence_are_left_out_with_their_answers_and_counted(here):
    folder = dataset_folder(*here)
    assert (folder.n_items, folder.n_left_out) == (6, 2) and folder.unlicensed == ("file",)
    assert "2 items are left out, because of the licence of file" in folder.files["README.md"].decode()
    for name, frame in frames(folder).items():
        assert not frame["item_id"].str.startswith("file/").any(), name
        assert not frame.astype(str).apply(lambda column: column.str.contains("Private question")).to_numpy().any(), name


def test_a_licence_that_forbids_changed_copies_is_not_called_unknown(here, monkeypatch):
    monkeypatch.setattr("flipcore.reports.exports.dataset.license_of", lambda dataset, declared: "cc-by-nd-4.0")
    with pytest.raises(BadInput, match="is not known or forbids changed copies"):
        dataset_folder(*here)


def test_the_card_does_not_name_the_folders_of_whoever_ran_the_study(here, with_examples):
    for place in (here, with_examples):
        card = dataset_folder(*place, license="cc-by-4.0").files["README.md"].decode()
        study = studies.declared(*place)
        (path,) = [one.path for one in (*study.items, study.prompt and study.prompt.examples_from) if one and one.path]
        assert "own.jsonl" in card and path.removesuffix("own.jsonl") not in card


def test_a_licence_that_the_user_names_lets_them_in(here):
    folder = dataset_folder(*here, license="cc-by-4.0")
    assert (folder.n_items, folder.n_left_out) == (8, 0)
    card = folder.files["README.md"].decode()
    assert "license: other\n" in card and "file cc-by-4.0" in card and "items, control" in card
    with pytest.raises(BadInput, match="no identifier of the hub"):
        dataset_folder(*here, license="my own!")


def test_the_card_names_columns_and_counts_and_is_the_same_every_time(here):
    folder = dataset_folder(*here)
    card = folder.files["README.md"].decode()
    assert all(f"| {column.replace('_', chr(92) + '_')} |" in card for column in COMPLETIONS)
    assert "**People**: 0" in card and "**Models**: 1 (simulated-clean)" in card and r"# to publish \`it\` \| now" in card
    assert dict(dataset_folder(*here).files) == dict(folder.files)
    assert zipfile.ZipFile(io.BytesIO(folder.zipped())).namelist() == list(folder.files)
