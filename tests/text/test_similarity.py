import lzma
import math
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.text import similarity

WORDS = "the cat sat on a mat İx ß é ,, 12 B-c don't 3.5 ﬁ \u2028".split(" ")


def sentence(rng, n):
    return " ".join(rng.choice(WORDS, n))


def rouge_package():
    # brings nltk, which takes a second of every worker's collection
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(["rougeL"])


@pytest.mark.slow
@given(st.lists(st.sampled_from(WORDS), max_size=30), st.lists(st.sampled_from(WORDS), max_size=30))
@settings(max_examples=150, deadline=None)
def test_rouge_l_equals_the_rouge_score_package(ref, hyp):
    scorer = rouge_package()
    ref, hyp = " ".join(ref), " ".join(hyp)
    assert similarity.rouge_l(ref, hyp) == scorer.score(ref, hyp)["rougeL"].fmeasure


@pytest.mark.slow
@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_rouge_l_equals_the_rouge_score_package_on_any_text(ref, hyp):
    assert similarity.rouge_l(ref, hyp) == rouge_package().score(ref, hyp)["rougeL"].fmeasure


def test_rouge_l_is_zero_when_nothing_can_be_compared():
    assert similarity.rouge_l("", "") == similarity.rouge_l("", "x") == similarity.rouge_l("x", "¿?") == 0.0


def slow_common_subsequence(first, second):
    best = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            best[i + 1][j + 1] = best[i][j] + 1 if a == b else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc"), max_size=80), st.lists(st.sampled_from("abc"), max_size=80))
@settings(max_examples=150, deadline=None)
def test_the_longest_common_subsequence_is_that_of_the_quadratic_table(first, second):
    assert similarity.n_common_subsequence(first, second) == slow_common_subsequence(first, second)


@pytest.mark.slow
def test_a_dictionary_sized_to_the_input_gives_the_length_of_preset_9_extreme():
    rng = generator(5)
    for n_words in (0, 1, 3, 10, 40, 200, 1_000, 4_000, 15_000):
        for data in (sentence(rng, n_words).encode(), rng.bytes(5 * n_words), b"ab" * n_words):
            assert similarity.n_bytes_compressed(data) == len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def test_ncd_follows_its_definition():
    x, y = "the quick brown fox " * 4, "jumps over the lazy dog " * 3
    for name, size in (
        ("zlib", lambda b: len(zlib.compress(b, 9))),
        ("xz", lambda b: len(lzma.compress(b, preset=9 | lzma.PRESET_EXTREME))),
    ):
        both, a, b = size((x + y).encode()), size(x.encode()), size(y.encode())
        assert similarity.ncd(x, y, name) == (both - min(a, b)) / max(a, b)


def test_ncd_of_empty_texts_is_settled_by_definition():
    assert similarity.ncd("", "") == 0.0
    assert similarity.ncd("", "x") == similarity.ncd("x", "") == 1.0


def test_a_text_is_near_itself_under_xz_at_every_length():
    # computed independently: .074 / .019 / .012 / .012 at 50 / 200 / 1,000 / 8,000 characters (bz2: .09 to .24)
    prose = sentence(generator(1), 4_000)
    for n, stated in ((50, 0.074), (200, 0.019), (1_000, 0.012), (8_000, 0.012)):
        assert similarity.ncd(prose[:n], prose[:n], "xz") <= stated + 0.01


def test_zlib_fails_beyond_its_window_and_xz_does_not():
    noise = generator(2).integers(32, 127, 40_000).astype("uint8").tobytes().decode()
    assert similarity.ncd(noise, noise, "zlib") > 0.9
    assert similarity.ncd(noise, noise, "xz") < 0.05
    long = generator(3).integers(32, 127, 100_000).astype("uint8").tobytes().decode()
    assert similarity.ncd(long, long, "xz") < 0.05  # a copy 100 kB back needs a dictionary of the input's size
    assert "32 kB" in similarity.compressor_warning([noise], "zlib")
    assert similarity.compressor_warning([noise], "xz") == ""
    assert "zlib" in similarity.compressor_warning(["short"], "xz")


def test_many_outputs_get_the_same_distances_as_one_at_a_time():
    outputs = ["a b c", "", "a b c", "x" * 50]
    assert similarity.ncd_many("a b c d", outputs) == [similarity.ncd("a b c d", out, "xz") for out in outputs]
    assert similarity.rouge_l_many("a b c d", outputs) == [similarity.rouge_l("a b c d", out) for out in outputs]


def test_bz2_is_refused_with_the_reason():
    with pytest.raises(BadInput, match="away from itself"):
        similarity.ncd("a", "b", "bz2")


def test_a_lone_surrogate_from_a_server_does_not_stop_the_distance():
    assert math.isfinite(similarity.ncd("a\ud800b", "ab"))
