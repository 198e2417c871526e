"""Every preset says, on 20 items, what the harness that it is named after sends, character by character."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from flipcore.axes.variants import base
from flipcore.core.records import Item, Request
from flipcore.core.study import ItemSource, OwnPrompt, Study
from flipcore.runs.own_prompts import prompt_plan
from flipcore.text.prompt_presets import PRESETS
from tests.harnesses import python_with
from tests.runs.test_runner import tiny_study

N = 20
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
HERE = Path(__file__).parent
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
# what a template can trip over: blanks at the ends, quotes, braces, line breaks, other scripts, signs of markup
ODD = [
    "",
    " ",
    "\n",
    "'s",
    '"q"',
    "{{ x }}",
    "{% y %}",
    "a\nb",
    "Größe",
    "数",
    "<b>",
    "50%",
    "\\",
    "#",
    "..",
    "é",
    "A.",
    "?",
    "A)",
    "\t",
]


def choice_rows(n: int, n_options: int, start: int = 0) -> list[dict]:
    return [
        {
            "question_id": start + i,
            "question": f"Which is number {start + i}{ODD[i % len(ODD)]}",
            "choices": [f"{name}{i}" for name in ("oak", " tin", "ash ", "elm")],
            "options": [f"{name}{i}" for name in ("oak", " tin", "ash ", "elm", "fir", "yew")[:n_options]],
            "answer": i % 4,
            "answer_index": i % n_options,
            "subject": "abstract_algebra",
            "category": "biology",
            "cot_content": f"A: Let's think step by step. {start + i} is so. The answer is ({'ABCDEF'[i % n_options]}).",
        }
        for i in range(n)
    ]


def sum_rows(n: int, start: int = 0) -> list[dict]:
    return [
        {"question": f"What is {start + i} + 1{ODD[i % len(ODD)]}", "answer": f"Add.\n#### {start + i + 1}"} for i in range(n)
    ]


ROWS = {
    "mmlu": choice_rows(N, 4),
    "mmlu_dev": choice_rows(6, 4, 100),
    "pro": [row | {"answer": "ABCDEF"[row["answer_index"]]} for row in choice_rows(N, 6)],
    "pro_dev": [row | {"answer": "ABCDEF"[row["answer_index"]]} for row in choice_rows(6, 6, 100)],
    "gsm8k": sum_rows(N),
    "gsm8k_train": sum_rows(40, 500),
}


def items(name: str) -> list[Item]:
    """The same rows as the product's items."""
    rows, base_name = ROWS[name], name.split("_")[0]
    if base_name == "gsm8k":
        return [
            Item.make(dataset="gsm8k", key=str(i), kind="number", question=row["question"], target="1", solution=row["answer"])
            for i, row in enumerate(rows)
        ]
    options, place, category = (
        ("choices", "answer", "subject") if base_name == "mmlu" else ("options", "answer_index", "category")
    )
    return [
        Item.make(
            dataset=name,
            key=str(i),
            kind="choice",
            question=row["question"],
            options=tuple(row[options]),
            target=str(row[place]),
            category=row[category],
            solution=row["cot_content"].removeprefix("A: Let's think step by step. "),
        )
        for i, row in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Preset -> what the harness sent, of every harness that is installed."""
    folder, out = tmp_path_factory.mktemp("presets"), {}
    for name, rows in ROWS.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for harness, module in (("lm_eval", "lm_eval"), ("inspect", "inspect_ai")):
        if python := python_with(module):
            command = [python, str(HERE / "preset_prompts.py"), str(folder), harness]
            environment = os.environ | OFFLINE | {"HF_DATASETS_CACHE": str(folder / "cache")}
            subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=600, env=environment)
            out |= json.loads((folder / f"{harness}.json").read_text(encoding="utf-8"))
    return out


SPLITS = {"lm_eval_mmlu": "mmlu", "lm_eval_gsm8k": "gsm8k", "inspect_chain_of_thought": "gsm8k"}
SPLITS |= {f"{name}_turns": split for name, split in SPLITS.items()}


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_preset_is_the_harnesses_prompt(sent, preset, monkeypatch):
    if preset not in sent:
        pytest.skip("the harness of this preset is not installed: FLIPSCOPE_HARNESSES names an interpreter that has it")
    name = SPLITS.get(preset, "pro")
    examples = {"mmlu": "mmlu_dev", "gsm8k": "gsm8k_train", "pro": "pro_dev"}[name]
    monkeypatch.setattr("flipcore.datasets.load_report", lambda source: type("Report", (), {"items": items(source.dataset)}))
    study: Study = tiny_study(prompt=OwnPrompt(preset=preset, examples_from=ItemSource(examples)))
    own = prompt_plan(study, [(item, "benchmark") for item in items(name)], frozenset())
    prompts = [own.write_variants([base(item, "identity", "plain")], item)[0].prompt for item in items(name)]
    assert len(sent[preset]) == len(prompts) == N
    for said, one in zip(sent[preset], prompts, strict=True):
        messages = Request("generate", one.text, one.system, turns=one.turns).messages
        ours = {"prompt": one.text} if len(messages) == 1 else {"messages": messages}
        assert {"system": one.system} | ours == said
    assert any(one.turns for one in prompts) == preset.endswith("_turns")
