"""The real training loop and the attributions, on a tiny model with random weights; no download."""

import importlib.util

import numpy as np
import pytest

from flipcore.core.errors import BadInput, MissingPackage
from flipcore.stats.base.separability import out_of_fold, separability
from flipcore.vectors.classifiers import kinds
from flipcore.vectors.classifiers.kinds import Bert

has_bert = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
needs_bert = pytest.mark.skipif(not has_bert, reason="torch and transformers are not installed (requirements-bert.txt)")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("allowed_folders"),
]  # of the packages themselves, while they are imported

WORDS = "dog cat horse cow three seven nine eleven the is before in row and then".split()
ANIMALS, NUMBERS = WORDS[:4], WORDS[4:8]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Bert:
    """Two layers of 32 units and a vocabulary of 20 words, with random weights, in a folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    torch.set_num_threads(1)  # threads of a tiny model wait for one another longer than they compute
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(vocab={word: i for i, word in enumerate(vocabulary)}).save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForSequenceClassification(
            BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=64,
                max_position_embeddings=32,
                num_labels=2,
            )
        ).save_pretrained(folder)
    return Bert(str(folder), n_epochs=6, learning_rate=3e-3, n_tokens=24)


def sentences(words, n):
    return [f"the {words[i % 4]} is before the {words[(i + 1) % 4]} in row" for i in range(n)]


TEXTS, LABELS = sentences(ANIMALS, 20) + sentences(NUMBERS, 20), np.repeat([0, 1], 20)


@needs_bert
@pytest.mark.slow
def test_training_tells_the_sets_apart_on_entries_it_has_not_seen(tiny):
    fit_predict = tiny.prepared(TEXTS)
    scores = out_of_fold(np.arange(40), LABELS, np.arange(40) % 5, fit_predict)
    assert ((scores > 0.5) == (LABELS == 1)).mean() > 0.95


@needs_bert
@pytest.mark.slow
def test_the_whole_cross_validation_is_permuted(tiny):
    found = separability(np.arange(40), LABELS, tiny.prepared(TEXTS), m=3)
    assert found.p == 0.25 and found.n_permutations == 3  # (0 + 1) / (3 + 1)


@needs_bert
def test_the_same_seed_trains_the_same_model(tiny):
    first, again = (tiny.tuned(TEXTS[::4], LABELS[::4]).decisions(TEXTS[1:5]) for _ in range(2))
    assert np.array_equal(first, again)
    other = Bert(tiny.model, n_epochs=6, learning_rate=3e-3, n_tokens=24, seed=1).tuned(TEXTS[::4], LABELS[::4])
    assert not np.array_equal(first, other.decisions(TEXTS[1:5]))


@needs_bert
def test_training_leaves_the_global_generator_as_it_was(tiny):
    import torch

    before = torch.random.get_rng_state()
    tiny.tuned(TEXTS[::8], LABELS[::8])
    assert torch.equal(before, torch.random.get_rng_state())


@needs_bert
def test_attributions_sum_to_the_decision_less_that_of_nothing(tiny):
    # completeness (Sundararajan et al. 2017, proposition 1), up to the error of the midpoints
    import torch

    tuned = tiny.tuned(TEXTS, LABELS)
    text = TEXTS[25]
    pulls = tuned.attributions(text)
    read = tuned.read([text])
    empty = torch.where(torch.isin(read["input_ids"], torch.tensor([2, 3])), read["input_ids"], 0)
    with torch.no_grad():
        logits = tuned.model(input_ids=empty, attention_mask=read["attention_mask"]).logits
    nothing = float(logits[0, 1] - logits[0, 0])
    assert [piece for piece, _ in pulls] == text.split()
    assert sum(pull for _, pull in pulls) == pytest.approx(float(tuned.decisions([text])[0]) - nothing, rel=0.1)


@needs_bert
@pytest.mark.slow
def test_the_words_that_differ_give_the_sets_away(tiny):
    found = tiny.giveaways(TEXTS, LABELS, np.arange(40) % 4)
    leading = [one for one in found if one.token in ANIMALS + NUMBERS]
    assert leading[:3] == found[:3]
    assert all((one.weight > 0) == (one.token in NUMBERS) for one in leading)
    assert all(one.n_target == 0 for one in leading if one.token in NUMBERS)


@needs_bert
def test_weights_that_cannot_be_had_are_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="weights of .* could not be loaded"):
        Bert(str(tmp_path / "nothing")).tuned(TEXTS[:2], LABELS[[0, -1]])


def test_missing_packages_are_a_sentence(monkeypatch):
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="Needs torch and transformers: pip install -r requirements-bert.txt"):
        Bert().prepared(TEXTS)
    with pytest.raises(MissingPackage, match="requirements-bert.txt"):
        Bert().giveaways(TEXTS, LABELS, np.arange(40) % 5)
