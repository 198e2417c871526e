"""TS-guessing on a whole study: a model that read the benchmark fills in what is hidden, and one that did not does not."""

import json
import re

import pytest

from flipcore.core.randomness import generator
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.detectors import DETECTORS, sees_memory
from flipcore.runs import runner
from flipcore.store.queries import studies
from tests.reports.test_memory_headline import memory_tests

pytestmark = pytest.mark.usefixtures("allowed_folders")

SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu".split()
N_BENCHMARK, N_CONTROL = 40, 60
NAMES = ("ts_guessing_exact", "ts_guessing_rouge_l")
EXACT = DETECTORS["ts_guessing_exact"].title


def _rows(n, name):
    """Questions whose four options are made of random syllables, so that nobody guesses one."""
    draw = generator(0, name)
    rows = []
    for number in range(n):
        options = [" ".join("".join(draw.choice(SYLLABLES, 3)) for _ in range(3)) for _ in range(4)]
        question = f"Which of these is the {name} name of place {number}?"
        rows.append({"question": question, "options": options, "answer": int(draw.integers(4))})
    return rows


@pytest.fixture
def found(tmp_path, store, monkeypatch):
    """What a study of those questions says of a model that recites from the rows that it is given."""
    rows = {name: _rows(n, name) for name, n in (("benchmark", N_BENCHMARK), ("control", N_CONTROL))}
    for name, part in rows.items():
        text = "\n".join(json.dumps(row) for row in part)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")

    def tests_of(*read):
        monkeypatch.setenv("FLIPSCOPE_CALLABLES", f"{__name__}:recite")
        READ.clear()
        for name in read:
            READ.update({row["question"]: row["options"] for row in rows[name]})
        columns = {"question": "question", "options": "options", "target": "answer"}
        sources = [ItemSource("file", path=str(tmp_path / f"{name}.jsonl"), columns=columns, role=name) for name in rows]
        study = Study(
            f"guessing {read}",
            tuple(sources),
            (Part("masked_option"),),
            (Part("word_for_word"), Part("rouge_l")),
            (ModelUse(f"{__name__}:recite"),),
            control="random",
            detectors=NAMES,
        )
        assert sees_memory(study)
        runner.run(study, store)
        tests = memory_tests(studies.readouts(store, study.study_id, everything=True), study)
        return {test.detector: test for test in tests[f"{__name__}:recite"]}

    return tests_of


READ: dict[str, list[str]] = {}  # question -> options, of what the model has read


def recite(prompt):
    """A chat model: it writes the hidden option with its label if it read the question, or else some other words."""
    question = re.search(r"Question: (.*)", prompt)[1]
    label = re.search(r"^([A-D])\. \[MASK\]$", prompt, re.MULTILINE)[1]
    options = READ.get(question)
    return f"{label}. {options['ABCD'.index(label)]}" if options else "Sorry, I cannot know that: ba ce di."


recite.revision = "1"


@pytest.mark.slow
def test_a_model_that_read_the_benchmark_is_seen_and_its_rates_are_said(found):
    tests = found("benchmark")
    assert set(tests) == {DETECTORS[name].title for name in NAMES}
    assert all(test.decision == "memory" for test in tests.values())
    detail = tests[EXACT].claim.detail
    assert "Filled in exactly: 40 of 40 (100%) of the benchmark, 0 of 60 (0%) of the controls." in detail
    assert tests[EXACT].numbers["n_exact"] == 40


@pytest.mark.slow
@pytest.mark.parametrize("read", [(), pytest.param(("benchmark", "control"), marks=pytest.mark.slow)])
def test_a_model_that_read_neither_or_both_is_not_accused(found, read):
    assert {test.decision for test in found(*read).values()} == {"none shown"}
