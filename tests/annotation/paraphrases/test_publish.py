import pytest

from flipcore.annotation.paraphrases.publish import card, publish, verified_rows
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]  # those of the `datasets` package itself


@pytest.fixture
def store(tmp_path):
    """Ten pairs: seven accepted by two reviewers, two rejected, one without a verdict."""
    opened = Store.open(tmp_path / "flips.duckdb")
    pairs = made_pairs(10)
    stored(opened, pairs)
    judgements.keep(
        opened,
        PAIR_VERDICTS,
        [
            verdict_row(pair, name, SAME if i < 7 else OTHER, "why" if i > 6 else "")
            for i, pair in enumerate(pairs[:9])
            for name in ("Ada Lovelace", "Bea")
        ],
    )
    yield opened
    opened.close()


def test_only_accepted_rewordings_are_in_it_and_reviewers_are_numbers(store):
    rows = verified_rows(store)
    assert len(rows) == 7 and {verdict["reviewer"] for row in rows for verdict in row["verdicts"]} == {1, 2}
    assert "Lovelace" not in str(rows) and rows[0]["n_kept"] == rows[0]["n_reviewers"] == 2


@pytest.mark.slow
def test_the_folder_loads_by_load_dataset_as_it_would_from_the_hub(store, tmp_path):
    import datasets

    models = [verdict_row(pair, "m", SAME, reviewer_kind="model") for pair in review.pairs(store)]
    judgements.keep(store, PAIR_VERDICTS, models)
    published = publish(store, "Apples", folder=tmp_path / "out", license="cc-by-4.0", language="de")
    again = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert published.n_rows == len(again) == 7 and again[0]["verdicts"][0]["meaning"] == "yes"
    assert again[0]["options"] == [] and again[0]["is_settled"] is False
    row = again[0]
    assert (row["n_reviewers"], row["n_models"]) == (2, 1)  # people and models apart
    assert sorted(one["reviewer_kind"] for one in row["verdicts"]) == ["model", "person", "person"]
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "# Apples" in text and "7 accepted paraphrases" in text and "| set | maker | 10 |" in text and "Ada" not in text
    assert "license: cc-by-4.0" in text and "language: de" in text and "**People**: 2." in text
    assert "1 model reviewer" in text and "Lovelace" not in text


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{"license": "mine: all"}, {"language": "English"}, {"language": "en\nx: 1"}])
def test_a_licence_or_language_that_is_no_code_is_a_sentence(store, tmp_path, wrong):
    with pytest.raises(BadInput, match="write one like"):
        publish(store, "Apples", folder=tmp_path / "out", **{"license": "mit"} | wrong)
    assert not (tmp_path / "out").exists()


def test_the_card_says_what_was_left_out_and_how_well_reviewers_agreed(store):
    text = card(store, "Apples")
    assert "2 were rejected and 1 have no" in text and "Krippendorff's alpha" in text and "on 9 pairs" in text
    assert "0.778 [" in text  # retention 7 of 9


@pytest.mark.slow
def test_one_source_may_be_published_alone(store, tmp_path):
    other = made_pairs(3, "other", "somebody")
    stored(store, other)
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Cem", SAME) for pair in other])
    rows = verified_rows(store, ("other", "somebody"))
    assert len(verified_rows(store)) == 10 and [row["dataset"] for row in rows] == ["other"] * 3
    text = card(store, "Apples", "mit", source=("other", "somebody"))
    assert "3 accepted paraphrases" in text and "| set |" not in text and "**People**: 1." in text


def test_the_hub_needs_a_token_and_one_place_must_be_given(store, monkeypatch, tmp_path):
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadInput, match="set HF_TOKEN"):
        publish(store, "Apples", repository="ada/apples")
    for places in ({}, {"folder": tmp_path, "repository": "ada/apples"}):
        with pytest.raises(BadInput, match="either a folder"):
            publish(store, "Apples", **places)


@pytest.mark.slow
def test_a_refusal_of_the_hub_is_a_sentence_without_the_token(store, monkeypatch):
    import huggingface_hub

    def refuse(self, repository, **rest):
        raise ConnectionError(f"401 for {repository} with {self.token}")

    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(huggingface_hub.HfApi, "create_repo", refuse)
    with pytest.raises(BadInput, match="did not take ada/apples: 401") as raised:
        publish(store, "Apples", repository="ada/apples", license="mit")
    assert "hf_secret" not in str(raised.value)


@pytest.mark.slow
def test_what_may_not_be_passed_on_is_left_out_and_counted(store, tmp_path):
    with pytest.raises(BadInput, match=r"Nothing was published. 7 more are left out: the licence of set is not known"):
        publish(store, "Apples", folder=tmp_path / "out")
    known = made_pairs(2, "gsm8k")
    stored(store, known)
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Cem", SAME) for pair in known])
    published = publish(store, "Apples", folder=tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert published.n_rows == 2 and "7 more are left out: the licence of set" in published.sentence()
    assert (
        "license: mit" in text
        and "gsm8k mit" in text
        and "**2 accepted paraphrases**" in text
        and "7 more are left out" in text
    )


def test_nothing_accepted_is_nothing_to_publish(tmp_path):
    opened = Store.open(tmp_path / "empty.duckdb")
    with pytest.raises(BadInput, match="nothing to publish"):
        publish(opened, "Apples", folder=tmp_path / "out")
    opened.close()
