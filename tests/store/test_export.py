"""An export carries all that is stored of a study: prompts, completions, spans, probabilities, losses, statuses."""

import json
from contextlib import closing

import pandas as pd
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.export import _frames, as_meant, export, neutral, safe
from tests.store.queries.test_inspection import KEY, VARIANT, filled
from tests.stores import empty_store

pytestmark = pytest.mark.usefixtures("allowed_folders")

__all__ = ["filled"]  # a fixture

STUDY = Study(
    name="out",
    items=(ItemSource("pocket_choice", n=3), ItemSource("pocket_problems", n=1)),
    axes=(Part("identity"), Part("option_order", {"n": 2})),
    extractors=(Part("regex"), Part("first_token"), Part("question_loss")),
    models=(ModelUse("pocket", max_tokens=6),),  # so that some answers are cut off
    layout="plain",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    store = Store.open(folder / "flips.duckdb")
    assert runner.run(STUDY, store).state == "done"
    paths = {form: export(store, STUDY.study_id, folder / form, form) for form in ("parquet", "csv")}
    yield store, {form: {path.stem.partition("-")[2]: path for path in several} for form, several in paths.items()}
    store.close()


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.slow
def test_every_readout_leads_to_the_prompt_and_the_text_that_it_was_read_from(exported, form):
    store, paths = exported
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    readouts, completions, sources = (read(paths[form][name]) for name in ("readouts", "completions", "readout_sources"))
    n_rows = store.rows("SELECT count(*) FROM readouts")[0][0]
    assert len(readouts) == n_rows and set(readouts["status"]) >= {"ok", "cut"}
    texts = completions.drop_duplicates("call_id").set_index("call_id")["text"]
    requests = completions.drop_duplicates("call_id").set_index("call_id")["request"].map(json.loads)
    stored = dict(store.rows("SELECT call_id, text FROM completions"))
    assert {call_id: text if isinstance(text, str) else "" for call_id, text in texts.items()} == stored
    assert requests.map(lambda one: len(one["prompt"] + one["continuation"]) > 20).all()  # a loss is asked of the text itself
    key = ["model", "item_id", "axis", "variant_id", "sample", "extractor"]
    spans = readouts[readouts["span_start"].notna()].merge(sources[[*key, "call_id"]], on=key)
    assert len(spans) and all(texts[one.call_id][int(one.span_start) : int(one.span_end)].strip() for one in spans.itertuples())


@pytest.mark.slow
def test_probabilities_losses_and_log_probabilities_go_out_as_they_are_stored(exported):
    store, paths = exported
    readouts, completions = (pd.read_parquet(paths["parquet"][name]) for name in ("readouts", "completions"))
    first = readouts[readouts["extractor"] == "first_token"]
    shares = first["probabilities"].map(json.loads)
    assert first["label_mass"].between(0, 1).all() and shares.map(lambda one: sum(share for _, share in one) <= 1.0001).all()
    assert readouts.groupby("extractor")["in_flips"].all().to_dict() == {
        "first_token": True,
        "question_loss": False,
        "regex": True,
    }
    losses = readouts[readouts["extractor"] == "question_loss"].set_index(["item_id", "axis", "variant_id"])["value"]
    stored = store.rows("SELECT item_id, axis, variant_id, value FROM readouts WHERE extractor = 'question_loss'")
    assert len(stored) == len(losses) and all(losses[tuple(place)] == value for *place, value in stored)
    tokens = completions["tokens"].dropna().map(json.loads)
    assert len(tokens) and tokens.map(lambda one: all(logprob <= 0 for _, logprob in one)).all()
    assert completions["top_logprobs"].notna().any()


def test_formulas_in_csv_are_neutralised_and_other_text_is_left():
    frame = pd.DataFrame({"question": ["=HYPERLINK(1)", "plain", "@x", "-1+2"], "n": [1, 2, 3, 4]})
    assert safe(frame)["question"].tolist() == ["'=HYPERLINK(1)", "plain", "'@x", "'-1+2"]
    assert safe(frame)["n"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "plain", "", "1", "'plain", "'"])
def test_a_text_is_again_what_it_was(text):
    assert as_meant(neutral(text)) == text
    assert neutral(text) == ("'" + text if text[:1] in ("=", "+", "-", "@") and text else text)


def test_only_text_is_neutralised():
    assert neutral(-1) == -1 and neutral(None) is None


def test_each_table_of_a_study_is_exported_once(store):
    study_id = STUDY.study_id
    item = {"study_id": study_id, "item_id": "i", "role": "benchmark", "position": 0, "confirmatory": False}
    call = {"study_id": study_id, "call_id": "c"}
    parts = {"studies": [rows.study_row(STUDY, "done")], "study_items": [item], "study_calls": [call]}
    store.writer.add_together(parts.items()).result()
    assert [name for name, _ in _frames(store, study_id)] == ["readouts", "items", "study", "study_calls"]


@pytest.fixture(scope="module")
def store_of_item(tmp_path_factory):
    """A store with a study of one item."""
    with closing(empty_store(tmp_path_factory.mktemp("item") / "flips.duckdb")) as store:
        item = {"study_id": STUDY.study_id, "item_id": "i", "role": "benchmark", "position": 0, "confirmatory": False}
        store.writer.add_together([("studies", [rows.study_row(STUDY, "done")]), ("study_items", [item])]).result()
        yield store


@pytest.fixture(scope="module")
def frames(store_of_item):
    return dict(_frames(store_of_item, STUDY.study_id))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_file_has_the_columns_of_its_table_alone(store_of_item, frames, tmp_path, form):
    paths = export(store_of_item, STUDY.study_id, tmp_path, form)
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    assert [[*read(path).columns] for path in paths] == [[*frame.columns] for frame in frames.values()]


def test_losses_are_exported_and_marked_as_no_part_of_flips(filled):
    loss = KEY | {"variant_id": VARIANT, "sample": 0, "extractor": "question_loss", "status": "ok", "value": 0.5}
    filled.writer.add("readouts", [loss | {"reason": "", "probabilities": "[]"}]).result()
    _, readouts = next(_frames(filled, "s"))
    assert readouts.groupby("extractor")["in_flips"].agg(list).to_dict() == {
        "question_loss": [False],
        "regex": [True, False],
    }  # the last one read nothing
    assert readouts.loc[readouts["extractor"] == "question_loss", "value"].tolist() == [0.5]
