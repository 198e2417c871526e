"""Runs Inspect itself over drawn settings, without a network: ``python inspect_runs.py FOLDER N`` writes N logs."""

import random
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import choice, includes, match
from inspect_ai.solver import generate, multiple_choice, solver, system_message

MODEL = "mockllm/model"


def chosen(rng, n, n_outputs):
    """Options, perhaps shuffled, and answers that name one, none, or were cut off."""
    samples = [
        Sample(id=f"i{i}", input=f"Which {i}?", choices=["oak", "tin", "ash"], target="ABC"[i % 3], metadata={"subject": "s"})
        for i in range(n)
    ]
    said = ["ANSWER: A", "ANSWER: B", "no idea", "ANSWER: C"]
    outputs = [
        ModelOutput.from_content(MODEL, rng.choice(said), stop_reason=rng.choice(["stop", "max_tokens"]))
        for _ in range(n_outputs)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=[multiple_choice(shuffle=rng.random() < 0.3)], scorer=choice())
    return task, outputs


def written(rng, n, n_outputs):
    """Sums, with or without a system message, read by one scorer or two."""
    samples = [Sample(id=i + 1, input=f"{i}+{i}?", target=str(2 * i)) for i in range(n)]
    outputs = [ModelOutput.from_content(MODEL, f"It is {2 * i + rng.choice([0, 0, 1])}") for i in range(n_outputs)]
    solver = [system_message("Be brief."), generate()] if rng.random() < 0.5 else [generate()]
    scorer = [match(numeric=True), includes()] if rng.random() < 0.5 else match(location="end")
    return Task(dataset=MemoryDataset(samples), solver=solver, scorer=scorer), outputs


@solver
def breaking(ids):
    """Fails on these samples, as a tool or a parser does."""

    async def solve(state, generate):
        if state.sample_id in ids:
            raise ValueError("the sandbox is gone")
        return state

    return solve


def reasoned(output):
    """The same answer behind a part of reasoning, which may name another."""
    parts = [ContentReasoning(reasoning="Perhaps ANSWER: B, or 7."), ContentText(text=output.completion)]
    message = ChatMessageAssistant(content=parts, model=MODEL, source="generate")
    return ModelOutput(model=MODEL, choices=[ChatCompletionChoice(message=message, stop_reason=output.stop_reason)])


def main(folder: str, n_logs: int) -> None:
    for number in range(n_logs):
        rng = random.Random(number)
        epochs, n = rng.choice([1, 1, 2, 3]), rng.choice([3, 5])
        task, outputs = (chosen if rng.random() < 0.5 else written)(rng, n, n * epochs)
        outputs = [reasoned(one) for one in outputs] if rng.random() < 0.3 else outputs
        broken = {task.dataset[0].id} if rng.random() < 0.3 else set()
        solvers = task.solver if isinstance(task.solver, list) else [task.solver]
        task = Task(dataset=task.dataset, solver=[breaking(broken), *solvers], scorer=task.scorer)
        for one in outputs:
            one.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
        eval(
            task,
            model=get_model(MODEL, custom_outputs=outputs),
            epochs=epochs,
            log_dir=f"{folder}/{number}",
            log_format=rng.choice(["eval", "eval", "json"]),
            limit=rng.choice([None, 2]),
            fail_on_error=False,
            token_limit=rng.choice([None, None, 8]),
            display="none",
            temperature=rng.choice([0.0, 1.0]),
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
