"""NCD and ROUGE-L of 10,000 outputs against the obvious way. Results must be identical; the ratios are printed."""

import lzma
import time

import pytest

from flipcore.core.randomness import generator
from flipcore.text.similarity import ncd_many, rouge_l_many

N_OUTPUTS, N_REFERENCES = 10_000, 167
WORDS = [f"{a}{b}" for a in "ba ke li mo ru sta tri".split() for b in "n s t r ll nd ck".split()]


def texts():
    """167 references of 100 words and 10,000 outputs: the reference with more and more words replaced."""
    rng = generator(0)
    references = [rng.choice(WORDS, 100).tolist() for _ in range(N_REFERENCES)]
    outputs = []
    for index in range(N_OUTPUTS):
        words = list(references[index % N_REFERENCES])
        for place in rng.choice(100, index // N_REFERENCES, replace=False):
            words[place] = WORDS[rng.integers(len(WORDS))]
        outputs.append(" ".join(words))
    return [" ".join(words) for words in references], outputs


def ncd_at_preset_9_extreme(x, y):
    size = [len(lzma.compress(data.encode(), preset=9 | lzma.PRESET_EXTREME)) for data in (x + y, x, y)]
    return (size[0] - min(size[1:])) / max(size[1:])


def in_groups(measure, references, outputs):
    results = [0.0] * len(outputs)
    for first, reference in enumerate(references):
        results[first::N_REFERENCES] = measure(reference, outputs[first::N_REFERENCES])
    return results


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


@pytest.mark.soak
def test_ncd_of_ten_thousand_outputs_equals_the_loop(capsys):
    references, outputs = texts()
    ours, seconds = timed(lambda: in_groups(lambda ref, outs: ncd_many(ref, outs, "xz"), references, outputs))
    sample = range(0, N_OUTPUTS, 250)
    loop, loop_seconds = timed(lambda: [ncd_at_preset_9_extreme(references[i % N_REFERENCES], outputs[i]) for i in sample])
    assert [ours[i] for i in sample] == loop
    loop_seconds *= N_OUTPUTS / len(sample)
    with capsys.disabled():
        print(
            f"\nNCD, {N_OUTPUTS:,} outputs: {seconds:.2f} s; loop at preset 9|EXTREME {loop_seconds:.0f} s "
            f"(from {len(sample)} of them): {loop_seconds / seconds:.0f} x"
        )


@pytest.mark.soak
def test_rouge_l_of_ten_thousand_outputs_equals_rouge_score(capsys):
    from rouge_score import rouge_scorer

    references, outputs = texts()
    ours, seconds = timed(lambda: in_groups(rouge_l_many, references, outputs))
    sample = range(0, N_OUTPUTS, 20)
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    loop, loop_seconds = timed(
        lambda: [scorer.score(references[i % N_REFERENCES], outputs[i])["rougeL"].fmeasure for i in sample]
    )
    assert [ours[i] for i in sample] == loop
    loop_seconds *= N_OUTPUTS / len(sample)
    with capsys.disabled():
        print(
            f"\nROUGE-L, {N_OUTPUTS:,} outputs: {seconds:.2f} s; rouge-score {loop_seconds:.0f} s "
            f"(from {len(sample)} of them): {loop_seconds / seconds:.0f} x"
        )
