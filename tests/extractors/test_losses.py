"""Losses and min-k % from scored texts, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.core.contracts import Ask
from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT, OK, Call, Completion, Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from flipcore.extractors import extractor_of
from flipcore.models.pocket_arrays import padded
from flipcore.models.pocket_inference import Pocket, PocketModel
from tests.extractors.asking import choice, number, shown

SCORED = Completion("c", "ok", tokens=(("a", -1.0), ("b", -3.0), ("c", -0.5), ("d", -0.5), ("e", -2.0)))


def read(name, item, completion=SCORED, variant=None, **params):
    return extractor_of(name, params).read(item, variant or shown(item), [completion])


def test_a_loss_is_minus_the_sum_or_the_mean_of_the_log_probabilities():
    assert read("question_loss", number()).value == 7.0
    assert read("answer_loss", number(), norm="token").value == pytest.approx(1.4)


def test_min_k_is_the_mean_of_the_least_likely_tokens():
    assert read("min_k", number(), pct=40.0).value == -2.5
    assert read("min_k", number()).value == -3.0
    assert read("min_k", number(), pct=1.0).value == -3.0  # at least one token


TEXTS = [item.question for item in load(ItemSource("pocket_problems", n=5))]
TEXTS += [item.question for item in load(ItemSource("pocket_prose", n=5))]


@pytest.mark.parametrize("text", TEXTS)
def test_min_k_plus_is_the_authors_formula(text):
    """ArXiv 2404.02936, as their code has it: (log p - mu) / sigma over the vocabulary, the mean of the lowest k %."""
    model = PocketModel.load()
    ids = model.tokenizer.encode(text).ids
    logits = model.logits(model._hidden(*padded([ids]))[0])[:-1].astype(np.float64)
    probs = np.exp(logits - logits.max(-1, keepdims=True))
    probs /= probs.sum(-1, keepdims=True)
    log_probs = np.log(probs)
    mu = (probs * log_probs).sum(-1)
    sigma = (probs * np.square(log_probs)).sum(-1) - np.square(mu)
    mink_plus = (log_probs[np.arange(len(ids) - 1), ids[1:]] - mu) / np.sqrt(sigma)
    expected = np.mean(np.sort(mink_plus)[: int(len(mink_plus) * 0.2)])
    backend, item = Pocket(), Item.make(dataset="t", key="1", kind="completion", question=text)
    (need,) = extractor_of("min_k_plus").needs(item, shown(item), Ask(), [])
    (completion,) = backend.complete_batch([Call("pocket", backend.revision, need.request)])
    assert read("min_k_plus", item, completion).value == pytest.approx(expected, abs=1e-6)


def test_min_k_plus_without_a_spread_is_absent_and_a_token_without_alternatives_is_its_mean():
    assert "not how they lie over its vocabulary" in read("min_k_plus", number()).reason
    sure = replace(SCORED, spread=((-1.0, 0.5), (-1.0, 1.0), (-0.5, 0.0), (-1.0, 1.0), (-1.0, 1.0)))
    assert read("min_k_plus", number(), sure, pct=100.0).value == pytest.approx((0 - 2 + 0 + 0.5 - 1) / 5)


def test_a_request_without_a_spread_keeps_its_id():
    """What was asked before min-k %++ is not asked again."""
    plain = extractor_of("min_k").needs(number(), shown(number()), Ask(), [])[0].request
    with_spread = extractor_of("min_k_plus").needs(number(), shown(number()), Ask(), [])[0].request
    assert "spread" not in plain.declared() and with_spread.declared() == plain.declared() | {"spread": True}
    assert (plain.ability, with_spread.ability) == ("score", "vocabulary_spread")


def test_the_answer_that_is_scored_is_the_published_one():
    solved = Item.make(dataset="t", key="9", kind="number", question="How many?", target="4", solution="2+2=4\n#### 4")
    wanted = {(choice(), "options"): " tin", (number(), "target"): " 18", (solved, "solution"): " 2+2=4\n#### 4"}
    for (item, _), text in wanted.items():
        (need,) = extractor_of("answer_loss").needs(item, shown(item), Ask(), [])
        assert (need.request.kind, need.request.prompt, need.request.continuation) == ("score", shown(item).prompt.text, text)


def test_a_rewriting_with_another_answer_has_no_published_answer():
    item = number()
    other = shown(item, target="99")
    assert list(extractor_of("answer_loss").needs(item, other, Ask(), [])) == []
    reading = extractor_of("answer_loss").read(item, other, [])
    assert (reading.status, reading.value) == (ABSENT, None) and "no published answer" in reading.reason


def test_the_wording_is_scored_from_nothing_and_both_readers_share_the_request():
    item = number()
    needs = [extractor_of(name).needs(item, shown(item), Ask(), [])[0].request for name in ("question_loss", "min_k")]
    assert needs[0] == needs[1] and (needs[0].prompt, needs[0].continuation) == ("", shown(item).prompt.text)


@pytest.mark.parametrize("tokens", [None, (("a", 0.0), ("b", 0.0)), (("a", float("nan")),)])
def test_missing_and_placeholder_log_probabilities_are_absent(tokens):
    for name in ("question_loss", "answer_loss", "min_k"):
        reading = read(name, number(), Completion("c", "ok", tokens=tokens))
        assert (reading.status, reading.value) == (ABSENT, None)
    assert read("question_loss", number()).status == OK


def test_parameters_that_do_not_fit_are_sentences():
    for name, params, why in (("question_loss", {"norm": "char"}, "sum, token"), ("min_k", {"pct": 0.0}, "above 0")):
        with pytest.raises(BadInput, match=why):
            extractor_of(name, params)
