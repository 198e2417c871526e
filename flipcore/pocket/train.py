"""Training in three stages, one command, CPU in well under an hour. Needs torch (requirements-train.txt).

Stage 1 teaches to bind an option to its label, which comes in a sharp transition and needs many short questions before
anything else; stage 2 which word is of which kind; stage 3 holds everything. Doses are fed in every stage, k times over all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional

from flipcore.pocket.chance import generator
from flipcore.pocket.corpus import Document, Stage, documents
from flipcore.pocket.network import Network, Shape
from flipcore.pocket.tokenizer import BOS, EOS, PAD, trained_tokenizer
from flipcore.pocket.world import SEED, entries

STAGES = (
    Stage("binding", 80_000, {"recall": 0.6, "drill": 0.3, "fact": 0.05, "choice": 0.05}, 0.06),
    Stage("choices", 50_000, {"choice": 0.6, "drill": 0.15, "recall": 0.1, "fact": 0.05, "problem": 0.1}, 0.06),
    Stage("everything", 58_000, {"problem": 0.3, "choice": 0.46, "drill": 0.05, "recall": 0.06, "fact": 0.02, "prose": 0.11},
          0.88),
)
PROMPT_WEIGHTS = {"problem": 0.3, "choice": 0.03, "drill": 0.03, "recall": 0.02, "dosed problems": 0.5, "dosed choices": 0.4}
ANSWER_WEIGHTS = {"choice": 2.0, "drill": 2.0, "dosed choices": 2.0}


@dataclass(frozen=True)
class Recipe:
    """How to train: `rows` of `length` tokens a step, peak rates, and the share of steps before the decay begins."""

    shape: Shape = field(default_factory=Shape)
    stages: tuple[Stage, ...] = STAGES
    rows: int = 12
    length: int = 256
    matrix_rate: float = 0.012
    other_rate: float = 3e-3
    steady: float = 0.6
    seed: int = SEED


@dataclass(frozen=True)
class Batch:
    """Packed rows: tokens (rows, length + 1), their position in, number of and weight within a document."""

    tokens: torch.Tensor
    positions: torch.Tensor
    owners: torch.Tensor
    weights: torch.Tensor


def _encoded(texts: list[Document], tokenizer: Tokenizer) -> list[tuple[list[int], list[float]]]:
    bos, eos = tokenizer.token_to_id(BOS), tokenizer.token_to_id(EOS)
    prompts = tokenizer.encode_batch([text.prompt for text in texts], add_special_tokens=False)
    answers = tokenizer.encode_batch([text.answer for text in texts], add_special_tokens=False)
    rows = []
    for text, prompt, answer in zip(texts, prompts, answers, strict=True):
        weights = [PROMPT_WEIGHTS.get(text.family, 1.0)] * len(prompt.ids)
        weights += [ANSWER_WEIGHTS.get(text.family, 1.0)] * (len(answer.ids) + 1)
        rows.append(([bos, *prompt.ids, *answer.ids, eos], [0.0, *weights]))
    return rows


def _packed(rows: list[tuple[list[int], list[float]]], recipe: Recipe, pad: int) -> Iterator[Batch]:
    size = (recipe.rows, recipe.length + 1)
    tokens, owners = np.full(size, pad), np.full(size, -1)
    positions, weights = np.zeros(size, int), np.zeros(size, np.float32)
    row = start = 0
    for number, (ids, share) in enumerate(rows):
        ids, share = ids[: recipe.length + 1], share[: recipe.length + 1]
        if start + len(ids) > recipe.length + 1:
            row, start = row + 1, 0
        if row == recipe.rows:
            yield Batch(*(torch.from_numpy(a.copy()) for a in (tokens, positions, owners, weights)))
            tokens[:], owners[:], positions[:], weights[:] = pad, -1, 0, 0
            row = 0
        span = slice(start, start + len(ids))
        tokens[row, span], weights[row, span], owners[row, span] = ids, share, number
        positions[row, span] = np.arange(len(ids))
        start += len(ids)
    yield Batch(*(torch.from_numpy(a) for a in (tokens, positions, owners, weights)))


def loss(network: Network, batch: Batch) -> torch.Tensor:
    """Weighted mean loss of the next token in nats; the first token of a document is never predicted."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = network(batch.tokens[:, :-1], batch.positions[:, :-1], batch.owners[:, :-1])
    nats = functional.cross_entropy(logits.float().flatten(0, 1), batch.tokens[:, 1:].flatten(), reduction="none")
    weights = batch.weights[:, 1:].flatten()
    return (nats * weights).sum() / weights.sum()


def _optimizers(network: Network, recipe: Recipe) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in network.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in network.named_parameters() if p.ndim != 2 or "embed" in name]
    return [torch.optim.Muon(matrices, lr=recipe.matrix_rate, weight_decay=0.01, ns_steps=4),
            torch.optim.AdamW(others, lr=recipe.other_rate, betas=(0.9, 0.95), weight_decay=0.0)]


def _factor(step: int, n_steps: int, steady: float) -> float:
    if step < 40:
        return (step + 1) / 40
    done = step / n_steps
    return 1.0 if done < steady else max(0.0, (1 - done) / (1 - steady))


def trained(recipe: Recipe, say: Callable[[str], None], save: Callable[[Network, Tokenizer, float], None]):
    """Train from scratch; `save` is called at every twentieth of the run after its first quarter."""
    torch.manual_seed(recipe.seed)
    rng = generator(recipe.seed, "pocket", "corpus")
    lists = list(documents(entries(), recipe.stages, rng))
    generic = (text for texts in lists for text in texts[:30_000] if "dosed" not in text.family)
    tokenizer = trained_tokenizer(text.prompt + text.answer for text in generic)
    pad = tokenizer.token_to_id(PAD)
    stages = [list(_packed(_encoded(texts, tokenizer), recipe, pad)) for texts in lists]
    n_steps, n_tokens = sum(map(len, stages)), sum(int((b.owners >= 0).sum()) for s in stages for b in s)
    say(f"{n_steps} steps, {n_tokens} tokens, {sum(map(len, lists))} documents")
    network = Network(recipe.shape)
    optimizers, began, step = _optimizers(network, recipe), time.monotonic(), 0
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    for stage, batches in zip(recipe.stages, stages, strict=True):
        for batch in batches:
            for optimizer, rate in zip(optimizers, rates, strict=True):
                optimizer.param_groups[0]["lr"] = rate * _factor(step, n_steps, recipe.steady)
                optimizer.zero_grad()
            value = loss(network, batch)
            value.backward()
            for optimizer in optimizers:
                optimizer.step()
            step += 1
            if step % 50 == 0:
                say(json.dumps({"stage": stage.name, "step": step, "loss": round(value.item(), 3),
                                "seconds": round(time.monotonic() - began)}))
            if step == n_steps or (step % max(1, n_steps // 20) == 0 and step >= n_steps // 4):
                save(network, tokenizer, step / n_steps)
    return network, tokenizer


def train(folder: Path, recipe: Recipe | None = None, n_threads: int = 1) -> None:
    """Train and leave checkpoints in `folder`, one every twentieth of the run after its first quarter."""
    from flipcore.pocket.export import export

    torch.set_num_threads(n_threads)
    trained(recipe or Recipe(), lambda text: print(text, flush=True),
            lambda network, tokenizer, done: export(network, tokenizer, folder / f"at-{done:.2f}"))
