"""Open weights against the project's own pocket model, token by token: two programs over one checkpoint."""

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.paths import POCKET

pytest.importorskip("torch", reason="open weights need torch: pip install -r requirements-transformers.txt")
pytest.importorskip("transformers", reason="open weights need transformers: pip install -r requirements-transformers.txt")

from flipcore.models.pocket_inference import PocketModel
from flipcore.models.weights.inference import OpenModel, Text
from tests.models.weights.checkpoints import copy, prompts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # the library's own
    pytest.mark.skipif(not (POCKET / "model.safetensors").is_file(), reason="the pocket checkpoint is not here"),
]
PROMPTS = prompts() if (POCKET / "items").is_dir() else []
NATS = 2e-4  # single precision in two orders of summation


@pytest.fixture(scope="module")
def ours():
    return PocketModel.load()


@pytest.fixture(scope="module")
def theirs():
    return OpenModel.load(POCKET, device="cpu")


def texts(words):
    return [Text(one) for one in words]


def test_first_tokens_have_the_same_log_probabilities(ours, theirs):
    one, other = ours.first_token_logprobs(PROMPTS, 20), theirs.first_token_logprobs(texts(PROMPTS), 20)
    assert len(one) >= 12
    for mine, its in zip(one, other, strict=True):
        shared = set(mine) & set(its)
        assert len(shared) >= 18 and max(abs(mine[token] - its[token]) for token in shared) < NATS


def test_scores_are_the_same_token_by_token_from_nothing_and_from_a_prompt(ours, theirs):
    halves = [(text[: len(text) // 2], text[len(text) // 2 :]) for text in PROMPTS]
    pairs = [*halves, *(("", text) for text in PROMPTS), ("héllo wörld – ", "日本 🙂")]
    one, other = ours.score(pairs), theirs.score(pairs)
    for mine, its in zip(one, other, strict=True):
        assert [token for token, _ in mine] == [token for token, _ in its]
        assert [nats for _, nats in its] == pytest.approx([nats for _, nats in mine], abs=NATS)


@pytest.mark.parametrize("settings", [dict(temperature=0.0), dict(temperature=0.8), dict(temperature=1.0, top_p=0.7)])
def test_texts_ends_and_token_counts_are_the_same(ours, theirs, settings):
    seeds = range(len(PROMPTS))
    one = ours.generate(PROMPTS, max_tokens=24, seeds=seeds, **settings)
    other = theirs.generate(texts(PROMPTS), max_tokens=24, seeds=seeds, **settings)
    rows = [[(g.text, g.n_tokens_in, g.n_tokens_out, g.finish_reason) for g in made] for made in (one, other)]
    assert rows[0] == rows[1]
    assert {g.finish_reason for g in one} == {"stop", "length"} or settings["temperature"] == 0


def test_a_stop_string_ends_a_row_and_leaves_the_others_alone(ours, theirs):
    settings = dict(max_tokens=24, temperature=0.0, seeds=range(len(PROMPTS)), stop=(" a", "."))
    one, other = ours.generate(PROMPTS, **settings), theirs.generate(texts(PROMPTS), **settings)
    assert [(g.text, g.n_tokens_out, g.finish_reason) for g in other] == [
        (g.text, g.n_tokens_out, g.finish_reason) for g in one
    ]
    assert len({g.n_tokens_out for g in one}) > 3 and not any(" a" in g.text for g in other)


@pytest.fixture
def one_thread():
    """Several threads add up in an order that depends on the batch, and tokens as likely as each other change places."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_a_batch_gives_what_one_at_a_time_gives(theirs):
    together = theirs.generate(texts(PROMPTS), max_tokens=12, temperature=0.9, seeds=range(len(PROMPTS)))
    alone = [theirs.generate([Text(p)], max_tokens=12, temperature=0.9, seeds=[k])[0] for k, p in enumerate(PROMPTS)]
    assert together == alone


def test_few_rows_at_a_time_score_the_same_as_many(theirs, monkeypatch):
    pairs = [("", text) for text in PROMPTS]
    many = theirs.score(pairs)
    monkeypatch.setattr("flipcore.models.weights.inference.MAX_LOGITS", 1)
    few = theirs.score(pairs)
    assert [[token for token, _ in one] for one in few] == [[token for token, _ in one] for one in many]
    assert np.concatenate([[n for _, n in one] for one in few]) == pytest.approx(
        np.concatenate([[n for _, n in one] for one in many]), abs=NATS
    )


def test_a_text_that_is_too_long_is_a_sentence(theirs):
    with pytest.raises(BadInput, match="at most 2,048"):
        theirs.score([("", "tin " * 3_000)])
    with pytest.raises(BadInput, match="to come"):
        theirs.generate([Text("tin " * 1_020)], max_tokens=2_000, temperature=0.0, seeds=[0])


def test_a_checkpoints_own_sampling_settings_do_not_change_what_comes_but_its_end_tokens_count(theirs, tmp_path):
    greedy = theirs.generate(texts(PROMPTS), max_tokens=12, temperature=0.0, seeds=range(len(PROMPTS)))
    folder = copy(tmp_path / "a", **{"generation_config.json": {"repetition_penalty": 3.0, "do_sample": True, "top_k": 1}})
    other = OpenModel.load(folder, device="cpu")
    assert other.generate(texts(PROMPTS), max_tokens=12, temperature=0.0, seeds=range(len(PROMPTS))) == greedy
    stop = theirs._tokenizer(" a", add_special_tokens=False)["input_ids"][0]
    folder = copy(tmp_path / "b", **{"generation_config.json": {"eos_token_id": [1, stop]}})
    ended = OpenModel.load(folder, device="cpu").generate(
        texts(PROMPTS), max_tokens=12, temperature=0.0, seeds=range(len(PROMPTS))
    )
    assert sum(one.finish_reason == "stop" for one in ended) > sum(one.finish_reason == "stop" for one in greedy)


def test_what_overflows_is_refused_and_never_drawn_from():
    import torch

    broken = OpenModel.load(POCKET, device="cpu")
    broken._model.lm_head.weight.data[:] = torch.nan
    for temperature in (0.0, 1.0):
        with pytest.raises(BadInput, match="overflowed"):
            broken.generate([Text("x")], max_tokens=2, temperature=temperature, seeds=[0])
    with pytest.raises(BadInput, match="overflowed"):
        broken.first_token_logprobs([Text("x")], 5)


def test_a_template_sets_the_prompt_once_and_refuses_in_words(theirs, tmp_path):
    assert theirs.chat("Hello", "Be brief.") == Text("<bos>Be brief.Hello", is_templated=True)
    assert theirs.first_token_logprobs([theirs.chat("Hello")], 5) == theirs.first_token_logprobs([Text("Hello")], 5)
    none = OpenModel.load(copy(tmp_path, **{"tokenizer_config.json": {"chat_template": None}}), device="cpu")
    with pytest.raises(BadInput, match="no chat template"):
        none.chat("Hello")


def test_damaged_weights_are_a_sentence(tmp_path):
    folder = copy(tmp_path)
    (folder / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="could not be loaded"):
        OpenModel.load(folder)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """A tiny model of random weights, of another architecture than the pocket model's, and its library's own objects."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = copy(tmp_path_factory.mktemp("untrained"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(7)
    sizes = dict(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=256, initializer_range=0.5)
    ends = dict(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **ends)).eval()
    model.save_pretrained(folder)
    return OpenModel.load(folder, device="cpu"), model, tokenizer


def test_the_spread_over_the_vocabulary_and_min_k_plus_are_those_of_the_authors_formula(untrained):
    torch = pytest.importorskip("torch")
    ours, model, tokenizer = untrained
    for text in PROMPTS[:10]:
        (pieces, spread) = ours.score_with_spread([("", text)])[0]
        ids = tokenizer(text, return_tensors="pt").input_ids
        with torch.inference_mode():
            logs = torch.log_softmax(model(ids).logits[0, :-1].double(), dim=-1)
        shares = logs.exp()  # arXiv:2404.02936: mean and standard deviation of log p(z) where z is drawn from p
        mean = (shares * logs).sum(-1)
        deviation = ((shares * logs.square()).sum(-1) - mean.square()).sqrt()
        of_tokens = logs.gather(-1, ids[0, 1:, None])[:, 0]
        assert len(pieces) == len(of_tokens) > 5 and len({round(one, 3) for _, one in spread}) > 5
        assert np.array(spread) == pytest.approx(torch.stack([mean, deviation], 1).numpy(), abs=1e-6)
        lowest = ((of_tokens - mean) / deviation).sort().values[: max(1, len(of_tokens) // 5)].mean()
        mine = sorted((nats - m) / sd for (_, nats), (m, sd) in zip(pieces, spread, strict=True))
        assert np.mean(mine[: max(1, len(mine) // 5)]) == pytest.approx(float(lowest), abs=1e-6)
