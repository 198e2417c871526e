"""480 ways of counting 12,000 items, against the board of Ranking of the same answers, in one run. CPU seconds, as ratios."""

import time

import numpy as np
import pandas as pd
import pytest

from flipcore.core.randomness import generator
from flipcore.reports.browser_data.ranking import board
from flipcore.reports.ranking import ranking_report
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.readouts import ItemFacts, answers_of, material_of

N, EXTRACTORS, SAMPLES, PROMPTS = 12_000, 5, 2, 2


def readouts() -> pd.DataFrame:
    rng, frames = generator(0), []
    items = np.array([f"q{i}" for i in range(N)])
    for model, right in (("A", 0.72), ("B", 0.70)):
        mind = rng.random(N) < right
        for prompt in range(PROMPTS):
            for extractor in range(EXTRACTORS):
                for sample in range(SAMPLES):
                    is_unread = rng.random(N) < 0.03
                    columns = {
                        "model": model,
                        "item_id": items,
                        "role": "benchmark",
                        "axis": "option_order" if prompt else "identity",
                        "variant": f"r{prompt}" if prompt else "base",
                        "variant_id": np.char.add(items, f"v{prompt}"),
                        "extractor": "regex" if not extractor else f"reader {extractor}",
                        "sample": sample,
                        "status": np.where(is_unread, "unreadable", "ok"),
                        "is_correct": (mind ^ (rng.random(N) < 0.1)) & ~is_unread,
                        "answer": "1",
                        "family": items,
                    }
                    frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def timed(compute):
    start = time.process_time()
    return compute(), time.process_time() - start


@pytest.mark.soak
def test_every_choice_is_there_before_the_board_of_ranking(capsys):
    frame = readouts()
    ids = [f"q{i}" for i in range(N)]
    facts = ItemFacts(
        categories={item: f"c{i % 40}" for i, item in enumerate(ids)},
        repeated=set(ids[::50]),
        wrong_key=set(ids[1:200:2]),
        disputed=set(ids[1:600:2]),
    )
    _, board_seconds = timed(lambda: board(ranking_report(frame), 0.95))
    material, answer_seconds = timed(lambda: material_of(answers_of(frame, "regex", facts).of_models("A", "B"), facts))
    curve, count_seconds = timed(lambda: count(material))
    assert len(curve) == 480
    curve.ways.first, curve.states(0.95)
    _, drag_seconds = timed(lambda: [curve.states(0.95, margin / 1000) for margin in range(20)])
    with capsys.disabled():
        print(f"\nboard of Ranking {board_seconds:.2f} s; of it: answers {answer_seconds / board_seconds:.2f}, ", end="")
        print(f"480 ways {count_seconds / board_seconds:.2f}, a drag {drag_seconds / 20 / board_seconds:.4f}")
    assert answer_seconds + count_seconds < 1.5 * board_seconds
    assert drag_seconds / 20 < 0.01 * board_seconds
