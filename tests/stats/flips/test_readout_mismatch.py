"""How often two extractors disagree: with unreadable as an answer of its own, and where both read one."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.flips.readout_mismatch import disagreements


def rows(first: list, second: list) -> pd.DataFrame:
    words = {"cut": "cut", "absent": "absent", None: "unreadable"}
    return pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "variant_id": f"v{i}",
                "sample": 0,
                "extractor": name,
                "status": words.get(answer, "ok"),
                "answer": None if answer in words else answer,
            }
            for name, answers in (("first", first), ("second", second))
            for i, answer in enumerate(answers)
        ]
    )


def test_unreadable_counts_once_as_an_answer_and_once_not_at_all():
    found = disagreements(rows(["A", "A", "A", None, "B"], ["A", "B", None, None, "B"]))
    pair = ("first", "second")
    assert found.n_rows[pair] == 5 and found.estimates[pair].value == pytest.approx(2 / 5)
    assert found.n_both_read[pair] == 3 and found.both_read[pair].value == pytest.approx(1 / 3)
    assert "33%" in found.sentence(str) and "both read" in found.sentence(str)
    assert found.table(str)["answers, both read"].tolist() == [3]


def test_what_was_cut_off_or_is_absent_is_in_neither():
    found = disagreements(rows(["A", "cut", "A", "absent"], ["A", "B", "cut", "B"]))
    pair = ("first", "second")
    assert found.n_rows[pair] == found.n_both_read[pair] == 1 and found.estimates[pair].value == 0
    assert "both read" not in found.sentence(str)


def looped(frame: pd.DataFrame, a: str, b: str) -> tuple[list[float], list[str], int]:
    """By loops, over prompts by name: whether the two answers differ, whose item it is, and how many of them both read."""
    there: dict[tuple, dict] = {}
    for row in frame.to_dict("records"):
        one = there.setdefault((row["item_id"], row["variant_id"], row["sample"]), {})
        one.setdefault(row["extractor"], (row["status"], None if pd.isna(row["answer"]) else row["answer"], row["family"]))
    differ, families, n_read = [], [], 0
    for (item, *_), one in sorted(there.items()):
        if all(name in one and one[name][0] not in ("cut", "absent") for name in (a, b)):
            differ.append(float(one[a][1] != one[b][1]))
            families.append((item, one[a][2]))
            n_read += one[a][1] is not None and one[b][1] is not None
    return differ, families, n_read


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_loops_over_prompts_count(seed):
    """Answers of chance, several samples, a prompt that stands under two axes, families of three items or none."""
    rng = np.random.default_rng(seed)
    status = ["ok", "ok", "ok", "unreadable", "cut", "absent"]
    frame = pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "variant_id": f"v{i}-{way}",
                "sample": s,
                "extractor": e,
                "family": f"f{i // 3 if seed % 2 else i}",
            }
            | {"status": (word := rng.choice(status)), "answer": str(rng.integers(3)) if word == "ok" else None}
            for i in rng.permutation(60)
            for way in ("base", "x", "base", "y")
            for s in range(2)
            for e in ("second", "first", "third")
            if rng.random() > 0.1
        ]
    )
    mismatch = disagreements(frame)
    assert len(mismatch.estimates) == 3
    for (a, b), estimate in mismatch.estimates.items():
        differ, names, n_read = looped(frame, a, b)
        clusters = np.array([family for _, family in names], dtype=object)
        own = mean_interval(differ, clusters)
        assert (mismatch.n_rows[a, b], mismatch.n_both_read[a, b]) == (len(differ), n_read)
        assert (estimate.low, estimate.high) == pytest.approx((own.low, own.high))  # families summed in another order
        assert (estimate.value, estimate.n) == (own.value, own.n)
    first = frame.drop_duplicates(["item_id", "variant_id", "sample", "extractor"])
    for name, share in mismatch.unreadable.items():
        assert share == (first.loc[first["extractor"] == name, "status"] == "unreadable").mean()


def test_a_scorer_that_only_judges_is_compared_by_right_and_wrong():
    def row(item, extractor, answer, is_correct):
        return {"item_id": item, "variant_id": "v", "sample": 0, "extractor": extractor, "status": "ok"} | {
            "answer": answer,
            "is_correct": is_correct,
        }

    rows = [row(k, "score", "7" if k < 3 else "wrong", k < 3) for k in range(10)]
    rows += [row(k, "regex", "7" if k < 4 else str(k), k < 4) for k in range(10)]
    frame = pd.DataFrame(rows)
    assert disagreements(frame).share[0, 1] == 0.7  # which is the share of wrong answers
    assert disagreements(frame, ["score"]).share[0, 1] == 0.1


def test_a_scorer_is_compared_by_right_and_wrong_or_not_at_all():
    """A grade without a known right answer disagreed with the written answer in 100% of all."""
    rows = []
    for i in range(12):
        said = {"item_id": f"i{i}", "variant_id": "v", "sample": 0, "status": "ok", "family": f"i{i}"}
        rows.append(said | {"extractor": "correct", "answer": "right" if i % 3 else "wrong", "is_correct": None})
        rows.append(said | {"extractor": "regex", "answer": str(i), "is_correct": None})
    rows[-1] |= {"status": "unreadable", "answer": None}
    unknown = disagreements(pd.DataFrame(rows))
    assert unknown.sentence(str) == "" and unknown.n_rows["correct", "regex"] == 0
    rows[-1] |= {"status": "ok", "answer": "11"}
    for row in rows:
        row["is_correct"] = row["answer"] == "right" if row["extractor"] == "correct" else True
    known = disagreements(pd.DataFrame(rows))
    assert known.estimates["correct", "regex"].value == pytest.approx(4 / 12)
