"""Code of replies: what of a reply is run, and a study of code from declaration to its flips."""

import asyncio
import json
import time
from dataclasses import replace

import pandas as pd
import pytest

from flipcore.annotation.judge_labels import canonical_answer
from flipcore.annotation.key_review import suspects
from flipcore.core import sandbox
from flipcore.core.contracts import Ask
from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT, CUT, OK, SANDBOX, UNREADABLE, Call, Completion, Request, correctness
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.extractors import extractor_of
from flipcore.extractors.unit_tests import code_of
from flipcore.models import open_backend
from flipcore.runs.plan import plan, projection
from flipcore.runs.runner import run
from flipcore.store.queries import studies
from tests.extractors.asking import FAILED, said, shown

pytestmark = pytest.mark.usefixtures("allowed_folders")

HEAD = 'from typing import List\n\n\ndef double(x: int) -> int:\n    """ Twice x.\n    >>> double(2)\n    4\n    """\n'
ROWS = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": HEAD.replace("double", name),
        "canonical_solution": f"    return {n} * x\n",
        "entry_point": name,
        "test": f"def check(candidate):\n    assert candidate(2) == {2 * n}\n    assert candidate(5) == {5 * n}\n",
    }
    for n, name in ((2, "double"), (3, "triple"), (4, "fourfold"))
]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return str(file)


@pytest.fixture
def item(path):
    return load(ItemSource("humaneval_code", path=path))[0]


@pytest.fixture
def allowed(monkeypatch):
    monkeypatch.setenv(sandbox.VARIABLE, "1")
    if reason := sandbox.why_not():
        pytest.skip(reason)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\ndef double(x):\n    return 2 * x\n```", "def double(x):\n    return 2 * x\n"),
        (
            "First\n```\ndef double(x):\n    return 1\n```\nBetter:\n```py\ndef double(x):\n    return 2\n```",
            "def double(x):\n    return 2\n",
        ),
        (
            "```python\ndef double(x):\n    return 2\n```\nTry it:\n```python\nprint(double(2))\n```",
            "def double(x):\n    return 2\n",
        ),
        ("```python\n    return 2 * x\n```", "    return 2 * x\n"),
        ("```python\ndef double(x):\n    return 2", "def double(x):\n    return 2"),
        ("```python\ndouble = lambda x: 2 * x\n```", "double = lambda x: 2 * x\n"),
        ("Sure:\nimport math\ndef double(x):\n    return 2", "import math\ndef double(x):\n    return 2"),
        ("    return 2 * x\n", "    return 2 * x\n"),
        ("I cannot write that.", None),
        ("", None),
    ],
)
def test_the_code_of_a_reply_is_its_last_block_that_defines_the_function(text, code):
    assert code_of(text, "double") == code


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    ("text", "from_blocks", "as_it_is"),
    [
        ("```python\ndef double(x):\n    return 2 * x\n```", "passed", "failed"),
        ("    return 2 * x\n", "passed", "passed"),
        ("    return 2 * x\n\ndef main():\n    no Python", "failed", "passed"),
        ("Here:\n```python\n    def double(x):\n        return 2 * x\n```", "passed", "failed"),
        ("```python\ndef double(x):\n    return x\n```", "failed", "failed"),
    ],
)
def test_what_is_run_is_read_as_passed_or_failed(item, text, from_blocks, as_it_is):
    assert reading(item, said(text)).answer == from_blocks
    assert reading(item, said(text), "raw_unit_tests").answer == as_it_is


def reading(item, completion, name="unit_tests"):
    """The reading of a reply whose program is run here."""
    extractor, variant = extractor_of(name), shown(item)
    needs = extractor.needs(item, variant, Ask(), [completion])
    verdicts = []
    if len(needs) > 1:
        verdict, why = sandbox.run(sandbox.Program(**json.loads(needs[1].request.prompt)))
        verdicts = [Completion("v", "ok", text=f"{verdict}: {why}")]
    return extractor.read(item, variant, [completion, *verdicts])


@pytest.mark.usefixtures("allowed")
def test_without_code_nothing_is_run_and_what_could_not_be_run_is_missing_and_not_wrong(item):
    extractor, variant = extractor_of("unit_tests"), shown(item)
    for text, status in (("No.", UNREADABLE), ("   ", UNREADABLE)):
        assert len(extractor.needs(item, variant, Ask(), [said(text)])) == 1
        assert extractor.read(item, variant, [said(text)]).status == status
    assert extractor.read(item, variant, [said("```\nx", finish_reason="length")]).status == CUT
    code = said("```python\ndef double(x):\n    return 2\n```")
    for verdict in (FAILED, said("no tests: The item's tests never call its function.")):
        found = extractor.read(item, variant, [code, verdict])
        assert (found.status, correctness(found, item.target)) == (ABSENT, None)


def test_where_the_admin_did_not_allow_it_a_study_is_refused_before_anything_is_asked(item, path, store, monkeypatch):
    monkeypatch.delenv(sandbox.VARIABLE, raising=False)
    assert sandbox.VARIABLE in extractor_of("unit_tests").why_not()
    for way in (lambda: run(study(path), store), lambda: projection(plan(study(path), store))):
        with pytest.raises(BadInput, match=sandbox.VARIABLE):
            way()
    assert store.rows_of("SELECT * FROM completions") == []
    assert open_backend(SANDBOX).abilities == frozenset()


def study(path, **rest):
    return Study(
        "Code",
        (ItemSource("humaneval_code", path=path),),
        (Part("identity"), Part("prompt_format", {"layouts": ("bare", "helpful")})),
        (Part("raw_unit_tests"), Part("unit_tests")),
        (ModelUse("simulated-clean"),),
        **rest,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("allowed")
def test_a_study_of_code_has_verdicts_flips_and_accuracy_and_runs_the_same_program_once(path, store, monkeypatch):
    programs = []
    whole = sandbox.run
    monkeypatch.setattr(sandbox, "run", lambda program, stop=None: programs.append(program) or whole(program, stop))
    declared = study(path)
    expected = projection(plan(declared, store)).n_calls
    progress = run(declared, store)
    assert (progress.state, progress.n_done) == ("done", progress.n_calls) and progress.n_calls == expected
    frame = studies.readouts(store, declared.study_id)
    mine = frame[frame["extractor"] == "unit_tests"]
    assert set(mine["status"]) == {OK} and set(mine["answer"]) <= {"passed", "failed"}
    assert mine["is_correct"].tolist() == (mine["answer"] == "passed").tolist() and len(mine) == 3 * (2 + 3)
    assert len(programs) == len({program.code for program in programs}) < len(frame)
    children = store.rows_of("SELECT parent_id, text FROM completions WHERE model = $model", model=SANDBOX)
    parents = {row["call_id"] for row in store.rows_of("SELECT call_id FROM completions")}
    assert children and all(row["parent_id"] in parents for row in children)
    again = run(replace(declared, name="Code again"), store)
    assert again.n_reused == again.n_done and len(programs) == len({program.code for program in programs})


@pytest.mark.usefixtures("allowed")
def test_the_sandbox_runs_programs_and_nothing_that_a_study_sends_it_as_a_question(path, store):
    declared = replace(study(path), models=(ModelUse(SANDBOX),), extractors=(Part("unit_tests"),))
    run(declared, store)
    frame = studies.readouts(store, declared.study_id)
    assert set(frame["status"]) == {ABSENT}


def test_programs_that_fail_agree_on_nothing_and_people_say_passed_or_failed(item):
    rows = [
        {"model": f"m{n}", "item_id": item.item_id, "variant_id": "v", "sample": 0, "extractor": "unit_tests"} for n in range(9)
    ]
    frame = pd.DataFrame(rows).assign(answer="failed", is_correct=False)
    assert suspects(frame, {item.item_id: item}) == []
    assert canonical_answer(item.kind, 0, "failed") == "failed"
    with pytest.raises(BadInput, match="passed or failed"):
        canonical_answer(item.kind, 0, "def double(x): ...")


@pytest.mark.usefixtures("allowed")
def test_a_run_that_is_stopped_ends_its_programs_and_stores_no_verdict_of_them():
    async def stopped():
        backend = open_backend(SANDBOX)
        program = {"code": "def f(x):\n    while True: pass", "name": "f", "tests": "f(1)", "cpu_s": 60}
        waiting = asyncio.create_task(backend.complete(Call(SANDBOX, "", Request("generate", json.dumps(program)))))
        await asyncio.sleep(0.5)
        backend.halt()
        return await waiting

    completion = asyncio.run(stopped())
    assert (completion.status, completion.n_attempts) == ("failed", 0)


@pytest.mark.usefixtures("allowed")
def test_no_more_programs_run_at_once_than_fit_into_memory(monkeypatch):
    n_running, peaks = [], []

    def run(program, stop):
        n_running.append(program)
        peaks.append(len(n_running))
        time.sleep(0.05)
        n_running.pop()
        return sandbox.PASSED, ""

    monkeypatch.setattr(sandbox, "most_at_once", lambda: 2)
    monkeypatch.setattr(sandbox, "run", run)

    async def run_all():
        backend = open_backend(SANDBOX)
        programs = [{"code": f"def f(x):\n    return {n}", "name": "f", "tests": "f(1)"} for n in range(6)]
        calls = [Call(SANDBOX, "", Request("generate", json.dumps(program))) for program in programs]
        return await asyncio.gather(*map(backend.complete, calls))

    assert [made.text for made in asyncio.run(run_all())] == [sandbox.PASSED] * 6
    assert max(peaks) == 2
