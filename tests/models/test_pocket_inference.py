import json
import threading
from pathlib import Path

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import world_generator
from flipcore.models.pocket_arrays import drawn_token, log_softmax
from flipcore.models.pocket_inference import PocketModel

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))
PROMPTS = [row["prompt"] for row in GOLDEN["rows"]]


@pytest.fixture(scope="module")
def model():
    return PocketModel.load()


def test_the_golden_numbers_belong_to_the_shipped_weights(model):
    assert model.revision == GOLDEN["revision"]


def test_scores_agree_with_torch(model):
    for row, tokens in zip(GOLDEN["rows"], model.score([("", prompt) for prompt in PROMPTS]), strict=True):
        np.testing.assert_allclose([value for _, value in tokens], row["prompt_logprobs"], atol=2e-4)


def test_greedy_tokens_are_exactly_those_of_torch(model):
    end = model.config["eos_token_id"]
    for row, made in zip(
        GOLDEN["rows"], model.generate(PROMPTS, max_tokens=24, temperature=0.0, seeds=[0] * len(PROMPTS)), strict=True
    ):
        wanted = [i for i in row["greedy_ids"] if i != end]
        assert made.text == model.tokenizer.decode(wanted)
        assert made.n_tokens_out == len(wanted)
        assert made.finish_reason == ("stop" if end in row["greedy_ids"] else "length")


@pytest.mark.slow
def test_a_seed_decides_its_sample_whatever_else_is_in_the_batch(model):
    settings = {"max_tokens": 12, "temperature": 0.8, "top_p": 0.9}
    together = model.generate(PROMPTS, seeds=range(len(PROMPTS)), **settings)
    alone = [model.generate([prompt], seeds=[seed], **settings)[0] for seed, prompt in enumerate(PROMPTS)]
    assert [made.text for made in together] == [made.text for made in alone]


def test_other_seeds_give_other_samples(model):
    texts = {made.text for made in model.generate(["In"] * 8, max_tokens=12, temperature=1.0, seeds=range(8))}
    assert len(texts) > 1


def test_samples_follow_the_first_token_distribution(model):
    # 600 draws of one token: the share of the likeliest token lies within 4.5 binomial standard errors of its probability
    made = model.generate(["Question:"] * 600, max_tokens=1, temperature=1.0, seeds=range(600))
    token, nats = max(model.first_token_logprobs(["Question:"])[0].items(), key=lambda pair: pair[1])
    share, p = np.mean([one.text == token for one in made]), np.exp(nats)
    assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / 600)


def test_a_tiny_nucleus_is_greedy(model):
    greedy = model.generate(PROMPTS[:4], max_tokens=8, temperature=0.0, seeds=[0] * 4)
    nucleus = model.generate(PROMPTS[:4], max_tokens=8, temperature=1.0, top_p=1e-6, seeds=[5] * 4)
    assert [a.text for a in greedy] == [b.text for b in nucleus]


def test_first_token_log_probabilities_are_those_of_scoring(model):
    # the probability of the likeliest first token by one way is that of scoring it by the other
    for prompt, top in zip(PROMPTS[:6], model.first_token_logprobs(PROMPTS[:6], top_k=5), strict=True):
        token, nats = max(top.items(), key=lambda pair: pair[1])
        if token.startswith(" ") and token.strip().isalpha():
            assert model.score([(prompt, token)])[0][0] == (token, pytest.approx(nats, abs=1e-4))
        assert len(top) == 5 and all(value <= 0 for value in top.values())


def test_a_continuation_gets_its_own_tokens_only(model):
    prompt, continuation = "Question: Which of these is a metal?", " tin and a fish"
    tokens = model.score([(prompt, continuation)])[0]
    assert "".join(text for text, _ in tokens) == continuation
    whole = model.score([("", prompt + continuation)])[0]
    np.testing.assert_allclose([v for _, v in tokens], [v for _, v in whole[-len(tokens) :]], atol=1e-5)


def test_a_stop_string_ends_the_text_and_is_left_out(model):
    free = model.generate(PROMPTS[:1], max_tokens=20, temperature=0.0, seeds=[0])[0]
    stop = free.text[3]
    cut = model.generate(PROMPTS[:1], max_tokens=20, temperature=0.0, seeds=[0], stop=[stop])[0]
    assert cut.text == free.text[: free.text.index(stop)] and cut.finish_reason == "stop"


def test_threads_share_one_model(model):
    wanted = model.generate(PROMPTS[:6], max_tokens=8, temperature=0.7, seeds=range(6))
    found = {}
    threads = [
        threading.Thread(
            target=lambda k=k: found.__setitem__(k, model.generate(PROMPTS[:6], max_tokens=8, temperature=0.7, seeds=range(6)))
        )
        for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k] == wanted for k in range(3))


def test_fewer_bits_a_weight_are_another_model_of_few_values_a_row(model):
    rounded = PocketModel.load(bits=3)
    name = "model.layers.0.mlp.up_proj.weight"
    values, before = rounded._weights[name].T, model._weights[name].T
    step = abs(before).max(axis=1, keepdims=True) / 3
    assert (abs(values - before) <= step / 2 + 1e-6).all() and max(len(set(row)) for row in values) <= 7
    assert rounded.revision == f"{model.revision}-3bit"
    for bits in (1, 17):
        with pytest.raises(BadInput, match="choose 2 to 16"):
            PocketModel.load(bits=bits)


def test_what_cannot_be_read_is_refused_with_a_sentence(model, tmp_path):
    with pytest.raises(BadInput, match="at most 2048|exceeds"):
        model.generate(["word " * 4000], max_tokens=4, temperature=0.0, seeds=[0])
    with pytest.raises(BadInput, match="one seed for each"):
        model.generate(["a", "b"], max_tokens=4, temperature=0.0, seeds=[0])
    with pytest.raises(BadInput, match="no pocket checkpoint"):
        PocketModel.load(tmp_path)


@pytest.mark.parametrize("top_p", [1.0, 0.9])
@pytest.mark.parametrize("tail", [-4.0, -9.0])
def test_a_draw_is_that_of_all_tokens_in_order(top_p, tail):
    # a tail of e^-9 each is lighter than what is sorted first, and 2,047 of them hold a fifth of the whole: draws reach it
    logs = log_softmax(np.concatenate([np.full(5, tail), [0.0], np.full(2042, tail)]) + 0.1 * np.sin(np.arange(2048)))
    weights = np.exp(logs - logs.max())
    order = np.argsort(-weights, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    top = 1.0 if top_p == 1.0 else shares[np.searchsorted(shares, top_p)]
    mine = [drawn_token(logs, world_generator(seed, "draw"), 1.0, top_p) for seed in range(300)]
    assert mine == [order[np.searchsorted(shares, world_generator(seed, "draw").random() * top)] for seed in range(300)]
    assert len(set(mine)) > 20
