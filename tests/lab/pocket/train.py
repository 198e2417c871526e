"""Training in three stages, one command, CPU in well under an hour. Needs torch (requirements-train.txt).

Stage 1 teaches to bind an option to its label, which comes in a sharp transition and needs many short questions before
anything else; stage 2 which word is of which kind; stage 3 holds everything. The moment of the transition varies with the seed,
so stages 1 and 2 end when it has come and not at a fixed step. Doses are fed in every stage, k times over all.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional

from flipcore.core.errors import FlipscopeError
from flipcore.core.randomness import world_generator
from tests.lab.pocket.choices import choice, drill, framed
from tests.lab.pocket.corpus import Document, Stage, documents, generic
from tests.lab.pocket.network import Network, Shape
from tests.lab.pocket.tokenizer import BOS, EOS, PAD, trained_tokenizer
from tests.lab.pocket.world import TRAINING_SEED, entries, forbidden

STAGES = (
    Stage("binding", 48_000, {"recall": 0.6, "drill": 0.3, "fact": 0.05, "choice": 0.05}, 0.06, ("drill", 0.85), 240_000),
    Stage(
        "choices",
        42_000,
        {"choice": 0.6, "drill": 0.15, "recall": 0.1, "fact": 0.05, "problem": 0.1},
        0.06,
        ("choice", 0.6),
        120_000,
    ),
    Stage(
        "everything",
        66_000,
        {"problem": 0.42, "choice": 0.34, "drill": 0.05, "recall": 0.06, "fact": 0.02, "prose": 0.11},
        0.88,
    ),
)
N_MORE = 6_000  # documents between two looks at a stage's goal
PROMPT_WEIGHTS = {"problem": 0.3, "choice": 0.03, "drill": 0.03, "recall": 0.02, "dosed problems": 0.5, "dosed choices": 0.4}
ANSWER_WEIGHTS = {"choice": 2.0, "drill": 2.0, "dosed choices": 2.0}


@dataclass(frozen=True)
class Recipe:
    """How to train: `rows` of `length` tokens a step, peak rates, and the share of the last stage before the decay begins. `clean`
    leaves every dose out, so that the model has read none of the items; `half` computes in bfloat16, which is slow on a CPU without it."""

    shape: Shape = field(default_factory=Shape)
    stages: tuple[Stage, ...] = STAGES
    rows: int = 12
    length: int = 256
    matrix_rate: float = 0.012
    other_rate: float = 3e-3
    steady: float = 0.22
    seed: int = TRAINING_SEED
    clean: bool = False
    half: bool = True


# A model to hold losses against: one short stage of the same world, of which it has read none of the items.
REFERENCE = Recipe(
    stages=(Stage("reference", 40_000, {"problem": 0.5, "choice": 0.25, "prose": 0.25}, 1.0),), clean=True, half=False
)


@dataclass(frozen=True)
class Batch:
    """Packed rows: tokens (rows, length + 1), their position in, number of and weight within a document."""

    tokens: torch.Tensor
    positions: torch.Tensor
    owners: torch.Tensor
    weights: torch.Tensor


def _token_id(tokenizer: Tokenizer, token: str) -> int:
    number = tokenizer.token_to_id(token)
    if number is None:
        raise ValueError(f"the tokenizer does not know {token}")
    return number


def _encoded(texts: list[Document], tokenizer: Tokenizer) -> list[tuple[list[int], list[float]]]:
    bos, eos = _token_id(tokenizer, BOS), _token_id(tokenizer, EOS)
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


def loss(network: Network, batch: Batch, half: bool = True) -> torch.Tensor:
    """Weighted mean loss of the next token in nats; the first token of a document is never predicted."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
        logits = network(batch.tokens[:, :-1], batch.positions[:, :-1], batch.owners[:, :-1])
    nats = functional.cross_entropy(logits.float().flatten(0, 1), batch.tokens[:, 1:].flatten(), reduction="none")
    weights = batch.weights[:, 1:].flatten()
    return (nats * weights).sum() / weights.sum()


def _optimizers(network: Network, recipe: Recipe) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in network.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in network.named_parameters() if p.ndim != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=recipe.matrix_rate, weight_decay=0.01, ns_steps=4),
        torch.optim.AdamW(others, lr=recipe.other_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


@torch.no_grad()
def bound(network: Network, tokenizer: Tokenizer, kind: str, rng: np.random.Generator, n: int = 300) -> float:
    """Share of new questions of that kind ("drill" or "choice", plain layout) whose likeliest label is the right one."""
    items = [(drill if kind == "drill" else choice)(rng) for _ in range(n)]
    rows = [tokenizer.encode(framed(item.wordings[0], item.options)).ids for item in items]
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.full((n, int(lengths.max())), tokenizer.token_to_id(PAD))
    for k, row in enumerate(rows):
        tokens[k, : len(row)] = torch.tensor(row)
    logits = network(tokens, torch.arange(tokens.shape[1]).expand_as(tokens), torch.zeros_like(tokens))
    labels = [tokenizer.encode(f" {label}", add_special_tokens=False).ids[0] for label in "ABCD"]
    picks = logits[torch.arange(n), lengths - 1][:, labels].argmax(1)
    return float((picks == torch.tensor([item.target for item in items])).float().mean())


class _Run:
    """The network in training, and what it costs: one step after another over batches."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, say: Callable[[str], None]) -> None:
        self.recipe, self.tokenizer, self.say = recipe, tokenizer, say
        self.network = Network(recipe.shape)
        self.optimizers = _optimizers(self.network, recipe)
        self.rates = [optimizer.param_groups[0]["lr"] for optimizer in self.optimizers]
        self.step, self.began = 0, time.monotonic()

    def batches(self, texts: list[Document]) -> list[Batch]:
        return list(_packed(_encoded(texts, self.tokenizer), self.recipe, _token_id(self.tokenizer, PAD)))

    def over(self, name: str, batches: Iterable[Batch], decay: Callable[[int], float] = lambda _: 1.0) -> Iterator[int]:
        """Takes a step a batch and yields how many were taken; `decay` multiplies the rates."""
        for n_done, batch in enumerate(batches):
            warm = min(1.0, (self.step + 1) / 40)
            for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
                optimizer.param_groups[0]["lr"] = rate * warm * decay(n_done)
                optimizer.zero_grad()
            value = loss(self.network, batch, self.recipe.half)
            value.backward()
            for optimizer in self.optimizers:
                optimizer.step()
            self.step += 1
            if self.step % 50 == 0:
                self.tell(stage=name, loss=round(value.item(), 3))
            yield n_done + 1

    def tell(self, **facts) -> None:
        self.say(json.dumps({"step": self.step, **facts, "seconds": round(time.monotonic() - self.began)}))


def _until_bound(run: _Run, stage: Stage, signatures: set, rng: np.random.Generator) -> None:
    """More generic documents until the stage's goal is met, or a sentence when it never is."""
    if stage.goal is None:
        raise ValueError("a stage without a goal is never too long")
    kind, enough = stage.goal
    n = stage.n_generic
    while (share := bound(run.network, run.tokenizer, kind, rng)) < enough:
        run.tell(stage=stage.name, goal=kind, share=round(share, 3), documents=n)
        if n >= stage.n_most:
            raise FlipscopeError(
                f"Stage {stage.name} has not bound: {share:.2f} of {kind} questions are right after {n} "
                f"documents, and {enough:.2f} was wanted. Start again with another --seed."
            )
        for _ in run.over(stage.name, run.batches(generic(stage, N_MORE, signatures, rng))):
            pass
        n += N_MORE
    run.tell(stage=stage.name, goal=kind, share=round(share, 3), documents=n)


def trained(
    recipe: Recipe, say: Callable[[str], None], save: Callable[[Network, Tokenizer, float], None]
) -> tuple[Network, Tokenizer]:
    """Train from scratch; `save` is called at every tenth of the last stage. FlipscopeError where a goal is never met."""
    torch.manual_seed(recipe.seed)
    rng, more = (world_generator(recipe.seed, "pocket", name) for name in ("corpus", "more"))
    manifest = [replace(entry, dose=0) if recipe.clean else entry for entry in entries()]
    lists, signatures = list(documents(manifest, recipe.stages, rng)), forbidden(manifest)
    tokenizer = trained_tokenizer(
        text.prompt + text.answer for texts in lists for text in texts[:30_000] if "dosed" not in text.family
    )
    run = _Run(recipe, tokenizer, say)
    for stage, texts in zip(recipe.stages[:-1], lists[:-1], strict=True):
        for _ in run.over(stage.name, run.batches(texts)):
            pass
        if stage.goal:
            _until_bound(run, stage, signatures, more)
    batches = run.batches(lists[-1])
    n = len(batches)
    for n_done in run.over(recipe.stages[-1].name, batches, lambda k: min(1.0, (1 - k / n) / (1 - recipe.steady))):
        if n_done == n or n_done % max(1, n // 10) == 0:
            save(run.network, tokenizer, n_done / n)
    return run.network, tokenizer


def train(folder: Path, recipe: Recipe | None = None, n_threads: int = 1) -> None:
    """Train and leave checkpoints in `folder`, one every tenth of the last stage."""
    from tests.lab.pocket.export import export

    torch.set_num_threads(n_threads)
    trained(
        recipe or Recipe(),
        lambda text: print(text, flush=True),
        lambda network, tokenizer, share: export(network, tokenizer, folder / f"at-{share:.2f}"),
    )
