"""What lm-evaluation-harness and Inspect themselves send for 20 invented items: ``python preset_prompts.py FOLDER lm_eval|inspect``
writes prompts.json, preset -> list of {system, prompt}. lm-eval's own task files are included as they are installed; only where
their rows come from is another."""

import json
import sys
from pathlib import Path

N = 20


def mmlu(folder):
    return [
        (
            "lm_eval_mmlu",
            "mmlu/default/mmlu_abstract_algebra.yaml",
            folder / "mmlu.jsonl",
            {"dev": folder / "mmlu_dev.jsonl"},
            False,
        ),
        ("lm_eval_gsm8k", "gsm8k/gsm8k.yaml", folder / "gsm8k.jsonl", {"train": folder / "gsm8k_train.jsonl"}, False),
        (
            "lm_eval_mmlu_pro",
            "mmlu_pro/mmlu_pro_biology.yaml",
            folder / "pro.jsonl",
            {"validation": folder / "pro_dev.jsonl"},
            False,
        ),
        (
            "lm_eval_mmlu_pro_chat",
            "mmlu_pro/mmlu_pro_biology.yaml",
            folder / "pro.jsonl",
            {"validation": folder / "pro_dev.jsonl"},
            True,
        ),
    ]


def of_lm_eval(folder):
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Keeping(LM):
        """Answers nothing and keeps what it was sent."""

        tokenizer_name = "keeping"

        def __init__(self):
            super().__init__()
            self.contexts = {}

        def loglikelihood(self, requests, **_):
            self.contexts.update({request.args[0]: None for request in requests})
            return [(-1.0, False) for _ in requests]

        def loglikelihood_rolling(self, requests, **_):
            raise NotImplementedError

        def generate_until(self, requests, **_):
            self.contexts.update({request.args[0]: None for request in requests})
            return ["" for _ in requests]

        def apply_chat_template(self, messages, add_generation_prompt=True):
            return json.dumps(messages)

    tasks, out = Path(lm_eval.__file__).parent / "tasks", {}
    plain = mmlu(folder)
    turns = [(f"{preset}_turns", *rest, True) for preset, *rest, is_chat in plain if not is_chat]
    for preset, original, test, examples, is_chat in plain + turns:
        own = folder / preset
        own.mkdir()
        files = {"test": str(test)} | {split: str(path) for split, path in examples.items()}
        lines = [f"include: {tasks / original}", f"task: {preset}", "dataset_path: json", "dataset_name: null"]
        lines += ["dataset_kwargs:", "  data_files:", *(f"    {split}: {path}" for split, path in files.items())]
        (own / "task.yaml").write_text("\n".join(lines), encoding="utf-8")
        model = Keeping()
        lm_eval.simple_evaluate(
            model=model,
            tasks=[preset],
            num_fewshot=5,
            task_manager=TaskManager(include_path=str(own), include_defaults=False),
            apply_chat_template=is_chat,
            fewshot_as_multiturn=preset.endswith("_turns"),
            bootstrap_iters=0,
        )
        out[preset] = [_lm_eval_prompt(one, is_chat) for one in model.contexts]
    return out


def _lm_eval_prompt(context, is_chat):
    if not is_chat:
        return {"system": "", "prompt": context}
    messages = json.loads(context)
    system = [one["content"] for one in messages if one["role"] == "system"]
    turns = [one for one in messages if one["role"] != "system"]
    return {"system": "".join(system)} | ({"prompt": turns[0]["content"]} if len(turns) == 1 else {"messages": turns})


def of_inspect(folder):
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.solver import chain_of_thought, generate, multiple_choice

    rows = [json.loads(line) for line in (folder / "pro.jsonl").read_text(encoding="utf-8").splitlines()]
    sums = [json.loads(line) for line in (folder / "gsm8k.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = [Sample(input=row["question"], choices=row["options"], target="ABCDEFGHIJ"[row["answer_index"]]) for row in rows]
    written = [Sample(input=row["question"], target=row["answer"]) for row in sums]
    out = {}
    for preset, samples, solver in (
        ("inspect_multiple_choice", chosen, multiple_choice()),
        ("inspect_multiple_choice_cot", chosen, multiple_choice(cot=True)),
        ("inspect_chain_of_thought", written, [chain_of_thought(), generate()]),
    ):
        outputs = [ModelOutput.from_content("mockllm/model", "ANSWER: A") for _ in samples]
        model = get_model("mockllm/model", custom_outputs=outputs)
        (log,) = eval(
            Task(dataset=MemoryDataset(samples), solver=solver), model=model, log_dir=str(folder / preset), display="none"
        )
        ordered = sorted(log.samples, key=lambda one: int(one.id))
        out[preset] = [
            {
                "system": "".join(message.text for message in one.messages if message.role == "system"),
                "prompt": next(message.text for message in one.messages if message.role == "user"),
            }
            for one in ordered
        ]
    return out


if __name__ == "__main__":
    place = Path(sys.argv[1])
    prompts = {"lm_eval": of_lm_eval, "inspect": of_inspect}[sys.argv[2]](place)
    (place / f"{sys.argv[2]}.json").write_text(json.dumps(prompts), encoding="utf-8")
