"""Text -> unit rows: what is embedded, what is kept, and what is said when it cannot be done."""

import json

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.paths import PARAPHRASES
from flipcore.core.records import Item
from flipcore.stats.holdout.entries import entry_text
from flipcore.vectors import embeddings
from flipcore.vectors.embeddings import EMBEDDINGS, embedded, embedding_by_name, unit_rows
from tests.vectors.embeddings.items import entry, topical

pytestmark = pytest.mark.usefixtures("allowed_folders")


class Counting:
    """Each text's length and number of vowels; remembers what it was asked for."""

    name, title, about, sent_to, of_text_alone = "counting", "Counts", "", "", True

    def __init__(self, revision="1"):
        self.revision, self.asked = revision, []

    def why_not(self):
        return ""

    def vectors(self, texts):
        self.asked += texts
        return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=float)


@pytest.fixture
def counting(monkeypatch):
    backend = Counting()
    monkeypatch.setattr(embeddings, "EMBEDDINGS", (*EMBEDDINGS, backend))
    return backend


@pytest.mark.parametrize("question", ["Is it so?", "Is it so", " Is it so ?? "])
def test_an_entry_is_its_question_with_one_mark_and_its_options_in_alphabetical_order(question):
    assert entry_text(entry(0, question, "no", "maybe", "Yes")) == "Is it so?\nYes\nmaybe\nno"


def test_a_completion_keeps_its_own_end():
    assert entry_text(entry(0, "def f(x):", kind="completion")) == "def f(x):"


def test_rows_are_float32_of_length_one_in_the_order_of_the_items(store):
    items = topical("animals", 12) + topical("numbers", 12)
    rows, described = embedded(store, items)
    assert rows.dtype == np.float32 and np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(24), abs=1e-6)
    backwards = embedded(store, items[::-1])[0][::-1]
    assert rows @ rows.T == pytest.approx(backwards @ backwards.T, abs=1e-4)
    assert described == f"Word frequencies (LSA), {rows.shape[1]} dimensions"


def test_entries_of_one_topic_are_more_alike_than_those_of_two(store):
    rows, _ = embedded(store, topical("animals", 16) + topical("numbers", 16))
    cosines = rows @ rows.T
    own = (cosines[:16, :16].sum() - 16) / (16 * 15)
    assert own > cosines[:16, 16:].mean() + 0.05


def test_what_is_kept_is_not_computed_again(store, counting):
    items = topical("animals", 5)
    first, _ = embedded(store, items[:3], "counting")
    again, _ = embedded(store, items, "counting")
    assert counting.asked == [entry_text(item) for item in items]
    assert again[:3] == pytest.approx(first)
    assert np.array_equal(embedded(store, items[::-1], "counting")[0], again[::-1])


def test_another_revision_is_computed_anew(store, counting):
    embedded(store, topical("animals", 3), "counting")
    counting.revision = "2"
    embedded(store, topical("animals", 3), "counting")
    assert len(counting.asked) == 6


def test_a_text_that_comes_twice_is_asked_for_once(store, counting):
    same = [entry(i, "Is it so?") for i in range(4)]
    rows, _ = embedded(store, same, "counting")
    assert len(counting.asked) == 1 and np.array_equal(rows, rows[[0, 0, 0, 0]])


def test_what_was_computed_before_a_failure_is_kept(store, counting, monkeypatch):
    monkeypatch.setattr(embeddings, "TEXTS_AT_ONCE", 2)
    items = topical("animals", 6)

    def failing(texts, whole=counting.vectors):
        if len(counting.asked) >= 4:
            raise BadInput("the server is gone.")
        return whole(texts)

    monkeypatch.setattr(counting, "vectors", failing)
    with pytest.raises(BadInput, match="gone"):
        embedded(store, items, "counting")
    monkeypatch.undo()
    monkeypatch.setattr(embeddings, "EMBEDDINGS", (counting,))
    embedded(store, items, "counting")
    assert counting.asked == [entry_text(item) for item in items]


def test_vectors_that_depend_on_the_set_are_not_kept(store):
    embedded(store, topical("animals", 8))
    assert store.rows("SELECT count(*) FROM embeddings") == [(0,)]


def test_an_unknown_embedding_is_a_sentence_with_what_there_is():
    with pytest.raises(BadInput, match="no embedding called 'word2vec'; choose one of lsa, mpnet, server"):
        embedding_by_name("word2vec")


def test_an_entry_without_words_is_named(store):
    blank = Item.make(dataset="made", key="7", kind="number", question="  ")
    with pytest.raises(BadInput, match="made/7@.* has no words"):
        embedded(store, [*topical("animals", 5), blank])


def test_a_vector_without_a_direction_is_named():
    with pytest.raises(BadInput, match="made/1@.* length 0"):
        unit_rows(np.array([[1.0, 2.0], [0.0, 0.0]]), [entry(0, "a?"), entry(1, "b?")])
    with pytest.raises(BadInput, match="made/0@.* length nan"):
        unit_rows(np.array([[np.nan, 2.0]]), [entry(0, "a?")])


def test_two_entries_are_too_few_for_word_frequencies(store):
    with pytest.raises(BadInput, match="at least three entries to compare and 2 came"):
        embedded(store, topical("animals", 2))


def test_every_embedding_says_what_it_is_and_whether_it_can_be_used():
    names = [one.name for one in EMBEDDINGS]
    assert len(set(names)) == len(names)
    for one in EMBEDDINGS:
        assert one.title and one.about.endswith(".") and (one.why_not() == "" or one.why_not().endswith("."))
    assert EMBEDDINGS[0].why_not() == "" and EMBEDDINGS[0].sent_to == ""


def test_sentence_transformers_missing_is_a_sentence(store, monkeypatch):
    from flipcore.core.errors import MissingPackage
    from flipcore.vectors.embeddings import kinds

    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="pip install -r requirements-bert.txt"):
        embedded(store, topical("animals", 3), "mpnet")


def test_sentence_transformers_embed_texts_one_by_one(tmp_path):
    """The real package on a tiny model with random weights: a text's vector does not depend on its company."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed (requirements-bert.txt)")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    from flipcore.vectors.embeddings.kinds import SentenceTransformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "dog", "cat", "seven"]
    BertTokenizerFast(vocab={word: i for i, word in enumerate(words)}).save_pretrained(tmp_path / "bert")
    BertModel(
        BertConfig(
            vocab_size=8,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=16,
        )
    ).save_pretrained(tmp_path / "bert")
    transformer = Transformer(str(tmp_path / "bert"), max_seq_length=16)
    SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu").save(str(tmp_path / "tiny"))
    tiny = SentenceTransformers(str(tmp_path / "tiny"))
    rows = tiny.vectors(["dog cat", "seven", "dog cat"])
    assert rows.shape == (3, 16) and rows[0] == pytest.approx(rows[2]) and np.abs(rows[0] - rows[1]).max() > 0.01
    assert tiny.vectors(["seven"])[0] == pytest.approx(rows[1], abs=1e-5)


def test_weights_that_cannot_be_had_are_a_sentence(monkeypatch, tmp_path):
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed (requirements-bert.txt)")
    from flipcore.vectors.embeddings.kinds import SentenceTransformers

    with pytest.raises(BadInput, match="weights of .* could not be loaded"):
        SentenceTransformers(str(tmp_path / "nothing")).vectors(["a text"])


def test_the_default_finds_shipped_paraphrases(store):
    """Nearly every shipped question has its own paraphrase as the nearest of all."""
    lines = [json.loads(line) for line in (PARAPHRASES / "shipped.jsonl").read_text("utf-8").splitlines()]
    pairs = {row["original"]: row["paraphrase"] for row in reversed(lines) if row["dataset"] == "flipscope_problems"}
    texts = [*pairs, *pairs.values()]
    rows, _ = embedded(store, [Item.make(dataset="x", key=str(i), kind="number", question=one) for i, one in enumerate(texts)])
    n = len(pairs)
    assert n > 50 and ((rows[:n] @ rows[n:].T).argmax(axis=1) == np.arange(n)).mean() > 0.9


@pytest.mark.stand_in("test_the_default_finds_shipped_paraphrases")
@pytest.mark.slow
def test_the_default_finds_rewordings_of_real_questions(store, shared_data):
    """Its docstring's figure: 98% of GSM8K's test questions have their own rewording as the nearest of 1,315."""
    from tests.holdout_real import benchmark, rephrased

    target = benchmark("gsm8k")
    retro = rephrased(target)
    rows, _ = embedded(store, [*target, *retro])
    own = {item.item_id: i for i, item in enumerate(target)}
    source = np.array([own[item.source_id] for item in retro])
    nearest = (rows[source] @ rows[len(target) :].T).argmax(axis=1)
    assert (nearest == np.arange(len(retro))).mean() > 0.97
