"""What the model does on the manifest: answers, drops, losses and PEARL, one number an item, straight from inference."""

import re
from collections.abc import Sequence

import numpy as np

from flipcore.axes import axis_of
from flipcore.axes.bit_flip import flipped_text, split_text
from flipcore.axes.numeric_resample import Refusal
from flipcore.core.contracts import Material
from flipcore.core.randomness import world_generator
from flipcore.core.records import Completion, Item
from flipcore.extractors import extractor_of
from flipcore.models.batched import Generation
from flipcore.models.pocket_inference import PocketModel
from flipcore.stats.memory.pearl_analysis import level_means, sensitivity
from flipcore.text.similarity import rouge_l_many
from tests.axes.resampling import resample
from tests.lab.pocket.choices import framed
from tests.lab.pocket.world import Entry

LEVELS = (0, 1, 2, 3, 4, 5)  # per cent of bits (source 003)
TEMPERATURE = 0.7


def _greedy(model: PocketModel, prompts: Sequence[str], max_tokens: int) -> list[Generation]:
    return model.generate(prompts, max_tokens=max_tokens, temperature=0.0, seeds=[0] * len(prompts), stop=("\n\n",))


def numbers(model: PocketModel, questions: Sequence[str]) -> list[str | None]:
    """The number after `####` of each greedy answer; None where there is none."""
    replies = _greedy(model, [f"Question: {question}\nAnswer:" for question in questions], 80)
    matches = [re.search(r"#### (\d+)", reply.text) for reply in replies]
    return [match[1] if match else None for match in matches]


def resampled(entry: Entry) -> tuple[str, str] | None:
    """The problem with new numbers and its own target; None where the rewrite method refuses."""
    rewrite = resample(entry.question, entry.answer, world_generator(0, "card", entry.key))
    return None if isinstance(rewrite, Refusal) else (rewrite.question, str(rewrite.target))


class Picks:
    """How choice questions were answered in one layout: by first token and in text, as positions; None is unreadable."""

    def __init__(
        self, model: PocketModel, entries: Sequence[Entry], layout: str = "plain", labels: str = "ABCD", turn: int = 0
    ) -> None:
        orders = [np.roll(np.arange(4), turn) for _ in entries]
        option_rows = [tuple(e.options[i] for i in order) for e, order in zip(entries, orders, strict=True)]
        prompts = [framed(e.question, options, layout, labels) for e, options in zip(entries, option_rows, strict=True)]
        replies = _greedy(model, prompts, 12)
        shares = np.array(
            [
                [sum(np.exp(top.get(form, -np.inf)) for form in (label, f" {label}")) for label in labels]
                for top in model.first_token_logprobs(prompts)
            ]
        )
        self.mass = shares.sum(axis=1)
        self.first = [int(order[int(np.argmax(row))]) for order, row in zip(orders, shares, strict=True)]
        matches = [re.search(rf"(?<![\w])([{labels}])(?![\w])", reply.text) for reply in replies]
        self.text = [int(order[labels.index(m[1])]) if m else None for order, m in zip(orders, matches, strict=True)]
        targets = [int(e.target or -1) for e in entries]
        self.first_right = np.array([a == t for a, t in zip(self.first, targets, strict=True)])
        self.text_right = np.array([a == t for a, t in zip(self.text, targets, strict=True)])


def _nats(model: PocketModel, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    return np.array([-sum(value for _, value in tokens) for tokens in model.score(pairs)])


def _prompt(entry: Entry, question: str) -> str:
    if entry.family == "prose":
        return question
    return framed(question, entry.options) if entry.family == "choices" else f"Question: {question}\nAnswer:"


def question_loss(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Loss of the prompt, first paraphrase minus original, in nats: positive where the wording is known."""
    original = _nats(model, [("", _prompt(entry, entry.question)) for entry in entries])
    return _nats(model, [("", _prompt(entry, entry.paraphrases[0])) for entry in entries]) - original


def beside_reference(model: PocketModel, reference: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Loss of the prompt under a reference model less this model's own, in nats: positive where the wording is known."""
    texts = [("", _prompt(entry, entry.question)) for entry in entries]
    return _nats(reference, texts) - _nats(model, texts)


def answer_loss(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Loss of the answer after the first paraphrase minus after the original, in nats (source 001)."""
    original = _nats(model, [(_prompt(entry, entry.question), entry.answer) for entry in entries])
    return _nats(model, [(_prompt(entry, entry.paraphrases[0]), entry.answer) for entry in entries]) - original


def min_k(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Mean of the lowest 20 % of the prompt's token log-probabilities."""
    scores = model.score([("", _prompt(entry, entry.question)) for entry in entries])
    lowest = [sorted(value for _, value in tokens)[: max(1, len(tokens) // 5)] for tokens in scores]
    return np.array([float(np.mean(values)) for values in lowest])


def min_k_plus(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Mean of the lowest 20 % of the prompt's tokens, each in standard deviations from its mean over the vocabulary."""
    scored = model.score_with_spread([("", _prompt(entry, entry.question)) for entry in entries])
    values = [[(x - mean) / sd for (_, x), (mean, sd) in zip(*one, strict=True)] for one in scored]
    return np.array([float(np.mean(sorted(mine)[: max(1, len(mine) // 5)])) for mine in values])


def published_answer(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """Whether the published answer is given to the problem with new numbers, 1 or 0; NaN where the rewrite method refuses."""
    values = np.full(len(entries), np.nan)
    pairs = [(i, rewrite[0]) for i, entry in enumerate(entries) if (rewrite := resampled(entry)) is not None]
    for (i, _), answer in zip(pairs, numbers(model, [question for _, question in pairs]), strict=True):
        values[i] = answer == entries[i].target
    return values


def context_loss(model: PocketModel, entries: Sequence[Entry]) -> np.ndarray:
    """CoDeC an item (arXiv:2510.27055): loss a token of the prompt behind another item of its group less its loss alone, in nats. A
    context of the same kind helps with what was never read, and disturbs what was."""
    prompts = [_prompt(entry, entry.question) for entry in entries]
    alone = model.score([("", prompt) for prompt in prompts])
    behind = model.score(
        [(f"{before}\n\n", prompt) for before, prompt in zip([prompts[-1], *prompts[:-1]], prompts, strict=True)]
    )
    mean = [[np.mean([value for _, value in tokens]) for tokens in scored] for scored in (alone, behind)]
    return np.array(mean[0]) - np.array(mean[1])


def completion(model: PocketModel, entries: Sequence[Entry], measure: str, axis_name: str = "completion") -> np.ndarray:
    """How the model goes on behind what the axis shows of each item, compared with what it leaves out by `measure`, as a study
    does it."""
    kinds = {"problems": "number", "choices": "choice", "prose": "completion"}
    axis = axis_of(axis_name, {"instruction": ""})
    extractor = extractor_of(measure)
    items = []
    for entry in entries:
        text = {"question": entry.question, "options": tuple(entry.options), "target": entry.target}
        items.append(Item.make(dataset="pocket", key=entry.key, kind=kinds[entry.family], **text))
    variants = [axis.variants(item, "plain", world_generator(0, "card"), Material())[0] for item in items]
    texts: dict[int, str] = {}
    for room in sorted({int(one.params["room"]) for one in variants}):
        places = [i for i, one in enumerate(variants) if one.params["room"] == room]
        replies = model.generate(
            [variants[i].prompt.text for i in places], max_tokens=room, temperature=0.0, seeds=[0] * len(places)
        )
        texts |= {i: reply.text for i, reply in zip(places, replies, strict=True)}
    said = [
        extractor.read(*pair, [Completion("card", "ok", texts[i])]) for i, pair in enumerate(zip(items, variants, strict=True))
    ]
    return np.array([np.nan if one.value is None else one.value for one in said])


def pearl(model: PocketModel, entries: Sequence[Entry], n_samples: int = 10) -> np.ndarray:
    """Sensitivity of each passage's continuation to flipped bits of its beginning, by ROUGE-L (source 003)."""
    sensitivities = []
    for entry in entries:
        begin, reference = split_text(entry.question)
        rng = world_generator(0, "card", "bits", entry.key)
        texts = [flipped_text(begin, level, rng)[0] for level in LEVELS]
        prompts = [text for text in texts for _ in range(n_samples)]
        room = len(model.tokenizer.encode(reference).ids) + 4
        replies = model.generate(prompts, max_tokens=room, temperature=TEMPERATURE, seeds=range(len(prompts)))
        scores = rouge_l_many(reference, [reply.text for reply in replies])
        sensitivities.append(sensitivity(level_means([scores[i : i + n_samples] for i in range(0, len(prompts), n_samples)])))
    return np.array(sensitivities)
