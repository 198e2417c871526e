"""The model in the box behind the common contract."""

import asyncio

import numpy as np
import pytest

from flipcore.core.errors import MissingAbility
from flipcore.core.paths import POCKET
from flipcore.core.records import Call, Request
from flipcore.models.pocket_arrays import batches, log_softmax, padded, softmax
from flipcore.models.pocket_inference import Pocket

here = pytest.mark.skipif(not (POCKET / "model.safetensors").is_file(), reason="the pocket checkpoint is not trained yet")
PROMPT = "Question: Which of these is a metal?\nA. rye\nB. barley\nC. tin\nD. oats\nAnswer:"


def together(requests, samples=(0,)):
    async def main():
        backend = Pocket()
        try:
            return await asyncio.gather(
                *(
                    backend.complete(Call("pocket", backend.revision, request, sample))
                    for request in requests
                    for sample in samples
                )
            )
        finally:
            await backend.close()

    return asyncio.run(main())


def test_a_missing_checkpoint_is_a_sentence(tmp_path):
    with pytest.raises(MissingAbility, match="train"):
        Pocket(path=tmp_path)


@here
def test_calls_of_all_kinds_that_arrive_together_are_each_answered():
    requests = [
        Request("generate", PROMPT, max_tokens=6),
        Request("first_token", PROMPT, max_tokens=1, top_k=20),
        Request("score", PROMPT, continuation=" tin"),
        Request("generate", PROMPT, max_tokens=3),
    ]
    text, token, score, short = together(requests)
    assert {one.status for one in (text, token, score, short)} == {"ok"}
    assert text.n_tokens_out <= 6 and short.n_tokens_out <= 3
    assert len(token.top_logprobs) == 20 and all(nats < 0 for nats in token.top_logprobs.values())
    assert "".join(piece for piece, _ in score.tokens) == " tin" and all(nats < 0 for _, nats in score.tokens)


@here
def test_a_prompt_that_it_cannot_read_fails_alone_and_costs_its_batch_nothing():
    made = together([Request("first_token", text, max_tokens=1, top_k=20) for text in (PROMPT, "word " * 3_000, PROMPT + " ")])
    assert [one.status for one in made] == ["ok", "failed", "ok"] and "reads at most" in made[1].error


@here
def test_at_temperature_0_samples_agree_and_above_it_they_differ_and_repeat():
    cold = together([Request("generate", PROMPT, max_tokens=12)], range(4))
    assert len({one.text for one in cold}) == 1
    warm = Request("generate", PROMPT, max_tokens=12, temperature=1.5, seed=3)
    first, again = together([warm], range(8)), together([warm], range(8))
    assert [one.text for one in first] == [one.text for one in again]
    assert len({one.text for one in first}) > 1


@here
def test_a_batch_gives_what_one_at_a_time_gives():
    requests = [Request("score", PROMPT, continuation=f" {word}") for word in ("rye", "barley", "tin", "oats")]
    for alone, batched in zip((together([one])[0] for one in requests), together(requests), strict=True):
        assert [text for text, _ in alone.tokens] == [text for text, _ in batched.tokens]
        assert [nats for _, nats in alone.tokens] == pytest.approx([nats for _, nats in batched.tokens], abs=1e-4)


@here
@pytest.mark.parametrize("kind", ["generate", "first_token", "score"])
def test_a_prompt_that_is_too_long_fails_alone_and_says_why(kind):
    settings = {"continuation": " tin"} if kind == "score" else {}
    requests = [Request(kind, prompt, max_tokens=4, **settings) for prompt in (PROMPT, "tin " * 3000, PROMPT + " x")]
    short, long, other = together(requests)
    assert (short.status, long.status, other.status) == ("ok", "failed", "ok")
    assert "tokens" in long.error and "2048" in long.error
    assert short == together(requests[:1])[0]


@here
def test_a_system_prompt_stands_before_the_prompt():
    ways = (Request("first_token", PROMPT, "Be brief.", top_k=5), Request("first_token", f"Be brief.\n\n{PROMPT}", top_k=5))
    apart, whole, plain = together([*ways, Request("first_token", PROMPT, top_k=5)])
    assert apart.top_logprobs == pytest.approx(whole.top_logprobs) and apart.top_logprobs != pytest.approx(plain.top_logprobs)


# Arrays of the pocket model: rows of tokens filled up, and batches of like length.


def test_rows_are_filled_to_the_longest():
    tokens, lengths = padded([[1, 2, 3], [4]])
    assert tokens.tolist() == [[1, 2, 3], [4, 0, 0]] and lengths.tolist() == [3, 1]


def test_batches_hold_every_row_once_and_like_lengths_together():
    lengths = [5, 1, 9, 3] * 40
    groups = list(batches(lengths))
    assert sorted(place for group in groups for place in group) == list(range(160))
    ordered = [lengths[place] for group in groups for place in group]
    assert ordered == sorted(lengths)


def test_probabilities_sum_to_one_and_large_numbers_do_not_overflow():
    x = np.array([[1000.0, 1000.0], [0.0, np.log(3.0)]])
    assert np.allclose(softmax(x.copy()), [[0.5, 0.5], [0.25, 0.75]])
    assert np.allclose(np.exp(log_softmax(x.copy())), [[0.5, 0.5], [0.25, 0.75]])
