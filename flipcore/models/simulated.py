"""A simulated model with planted truth, for calibration and tests.

Everything computed from it is labelled SIMULATED.

Each item has a settled answer. A variant's answer deviates from it with probability p ~ Beta(.6,
.6/genuine - .6). The first token deviates from the variant's answer with q ~ Beta(.6, .6/artifact -
.6), and each sample deviates from its variant with `noise`. Deviations go to one other option, so
two of them cancel and all rates are known. All draws are hashes of (seed, item, prompt, sample), so
the same call always gets the same answer.

Memory and brittleness are as in source 000's models (`tests.lab.simulations`): a share of the
published items is recalled in the published wording, and a share of the right answers is lost with
other words or numbers. An item counts as published if its own data say so (`dose`, how often it was
trained on), or else if the study asks it as benchmark or target.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.finish import LENGTH, STOP
from flipcore.core.records import ABILITIES, CODE, SPREAD, Call, Completion, Item, Variant, digest
from flipcore.text.prompts import LAYOUTS

LABEL_MASS = 0.9  # probability of all labels together as the first token
WINNER_SHARE = 0.7  # of the label mass, for the label that is the answer
_PUBLISHED = ("benchmark", "target")


@dataclass(frozen=True)
class Profile:
    """Planted rates, 0 to 1; the field names are part of the model's revision.

    `ability` is the share of items that it answers right. `recall` is the share of published items
    that it answers right in the published wording, whatever its ability. `brittle` is the share of
    right answers that it loses in any other wording.
    """

    ability: float
    genuine: float = 0.0
    artifact: float = 0.0
    noise: float = 0.0
    recall: float = 0.0
    brittle: float = 0.0


PROFILES = {
    "clean": Profile(ability=0.8, genuine=0.02, artifact=0.02, noise=0.0),
    "memorized": Profile(ability=0.6, genuine=0.05, artifact=0.05, noise=0.0, recall=1.0),
    "brittle": Profile(ability=0.8, genuine=0.20, artifact=0.02, noise=0.0),
    "artifact-prone": Profile(ability=0.8, genuine=0.05, artifact=0.25, noise=0.02),
    "noisy": Profile(ability=0.8, genuine=0.05, artifact=0.05, noise=0.10),
    "memorized-000": Profile(ability=0.74, recall=1.0),
    "clean-000": Profile(ability=0.80),
    "brittle-000": Profile(ability=0.80, brittle=0.25),
}


def _was_seen(item: Item, role: str) -> bool:
    """Tell whether the published wording was in training, by the item's data or else its role."""
    dose = item.meta.get("dose")
    return dose > 0 if isinstance(dose, int) else role in _PUBLISHED


class Simulated(Backend):
    """A backend that gets its items in advance (`prepare`) and draws its answers by hashes."""

    simulated = True
    abilities = frozenset(ABILITIES) - {SPREAD}

    def __init__(self, name: str, profile: Profile, seed: int = 0) -> None:
        self.name, self.profile, self.seed = name, profile, seed
        self.revision = f"planted-{profile}-{seed}"
        self._by_prompt: dict[str, tuple[Item, Variant, bool]] = {}
        self._published: frozenset[str] = frozenset()

    def prepare(
        self,
        items: Iterable[Item],
        variants: Iterable[Variant],
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Tell the model the meaning of the prompts, and which items it saw in training.
        A model that remembers other items is another model, so its revision differs."""
        items = list(items)
        self._published = frozenset(
            item.item_id for item in items if _was_seen(item, (roles or {}).get(item.item_id, ""))
        )
        if self.profile.recall:
            self.revision = f"planted-{self.profile}-{self.seed}-{digest(sorted(self._published))}"
        by_id = {item.item_id: item for item in items}
        for variant in variants:
            if variant.item_id in by_id:
                item, prompt = by_id[variant.item_id], variant.prompt.text
                original = item.question in prompt
                self._by_prompt[prompt] = (item, variant, original)

    def why_not(self, ability: str) -> str:
        return f"{self.name} has no vocabulary." if ability == SPREAD else ""

    async def complete(self, call: Call) -> Completion:
        entry = self._by_prompt.get(call.request.prompt)
        verdict = None
        if entry is None and call.request.kind == "generate":
            verdict = judge_reply(call.request.prompt)
        if verdict:
            return _completion(call, 4, text=verdict, finish_reason=STOP)
        if entry is None:
            error = "A simulated model answers only the items of its own study."
            return Completion(call.call_id, "failed", error=error)
        item, variant, original = entry
        method = {
            "generate": self._generated,
            "first_token": self._first_token,
            "score": self._scored,
        }[call.request.kind]
        return method(call, item, variant, original=original)

    def _uniform(self, *parts) -> float:
        """Return a uniform draw in [0, 1): the hash of the seed and the parts."""
        text = "\x1f".join(str(part) for part in (self.seed, *parts))
        seven_bytes = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:7]
        return int.from_bytes(seven_bytes, "big") / 2**56

    def _rate(self, mean: float, *parts) -> float:
        """Draw a rate from Beta(.6, .6/mean - .6), which has this mean."""
        from scipy.special import betaincinv

        return float(betaincinv(0.6, 0.6 / mean - 0.6, self._uniform(*parts))) if mean else 0.0

    def _deviates(self, item: Item, variant: Variant, sample: int) -> bool:
        """Tell whether the model's answer in this sample differs from the item's settled answer."""
        rate = self._rate(self.profile.genuine, item.item_id, "mind")
        prompt = variant.prompt.text
        is_moved = self._uniform(item.item_id, prompt, "mind") < rate
        is_noisy = self._uniform(item.item_id, prompt, sample, "noise") < self.profile.noise
        return is_moved != is_noisy

    def _is_right(self, item: Item, *, original: bool) -> bool:
        """Tell whether the settled answer is right: by memory, else by ability and brittleness.
        `original` says that the prompt has the published wording."""
        if (
            original
            and item.item_id in self._published
            and self._uniform(item.item_id, "recall") < self.profile.recall
        ):
            return True
        is_able = self._uniform(item.item_id, "ability") < self.profile.ability
        return is_able and (
            original or self._uniform(item.item_id, "brittle") >= self.profile.brittle
        )

    def _answer(self, item: Item, variant: Variant, *, original: bool, deviates: bool) -> str:
        """Return the settled answer to this variant, or the other answer that deviations go to."""
        # Opinions have no right answer; any one will do.
        is_right, target = self._is_right(item, original=original), variant.target or "0"
        if item.kind == "choice":
            n = len(item.options)
            wrong = (int(target) + 1 + int(self._uniform(item.item_id, "wrong") * (n - 1))) % n
            option = int(target) if is_right else wrong
            return str((option + 1) % n if deviates else option)
        value = target if is_right else f"{target}1"
        return f"{value}7" if deviates else value

    def _generated(self, call: Call, item: Item, variant: Variant, *, original: bool) -> Completion:
        answer = self._answer(
            item, variant, original=original, deviates=self._deviates(item, variant, call.sample)
        )
        if item.kind == "choice":
            position = variant.order.index(int(answer))
            is_terse = "terse" in variant.params or (
                variant.layout in LAYOUTS and self._uniform(item.item_id, "chatty") >= 0.5
            )
            if is_terse:
                text = f" {variant.labels[position]}"
            else:
                text = f" The answer is ({variant.labels[position]}) {item.options[int(answer)]}."
        elif item.kind == CODE:
            if answer == variant.target:
                body = item.solution
            else:
                body = f"def {item.meta.get('entry_point')}(*_):\n    return None"
            text = f"Here it is:\n\n```python\n{body}\n```\n"
        else:
            text = f" Working it out step by step.\n#### {answer}"
        n_chars = 4 * call.request.max_tokens  # a token counts as four characters, as below
        is_cut = 0 < n_chars < len(text)
        text = text[:n_chars] if is_cut else text
        return _completion(
            call, len(text) // 4 + 1, text=text, finish_reason=LENGTH if is_cut else STOP
        )

    def _first_token(
        self, call: Call, item: Item, variant: Variant, *, original: bool
    ) -> Completion:
        answer_deviates = self._deviates(item, variant, call.sample)
        rate = self._rate(self.profile.artifact, item.item_id, "readout")
        token_deviates = self._uniform(item.item_id, variant.prompt.text, "readout") < rate
        answer = self._answer(
            item, variant, original=original, deviates=answer_deviates != token_deviates
        )
        if item.kind != "choice":
            return Completion(
                call.call_id, "ok", top_logprobs={" The": math.log(0.9)}, cost_usd=0.0
            )
        position = variant.order.index(int(answer))
        other_mass = (1 - WINNER_SHARE) * LABEL_MASS / max(len(variant.labels) - 1, 1)
        logprobs = {
            f" {label}": math.log(WINNER_SHARE * LABEL_MASS if i == position else other_mass)
            for i, label in enumerate(variant.labels)
        }
        return _completion(call, 1, top_logprobs=logprobs | {" The": math.log(1 - LABEL_MASS)})

    def _scored(self, call: Call, item: Item, variant: Variant, *, original: bool) -> Completion:
        answer = self._answer(
            item, variant, original=original, deviates=self._deviates(item, variant, call.sample)
        )
        is_answer = (
            item.kind == "choice" and call.request.continuation.strip() == item.options[int(answer)]
        )
        tokens = tuple(
            (f" {word}", -0.5 if is_answer else -2.5) for word in call.request.continuation.split()
        )
        return _completion(call, 0, tokens=tokens)


def _completion(call: Call, n_tokens_out: int, **fields: Any) -> Completion:
    n_tokens_in = len(call.request.prompt) // 4
    return Completion(
        call.call_id,
        "ok",
        **fields,
        n_tokens_in=n_tokens_in,
        n_tokens_out=n_tokens_out,
        cost_usd=0.0,
        latency_s=0.0,
    )


_JUDGE_PROMPT = re.compile(
    r"\AYou read out which (option|number) an answer.*<<<\n(.*)\n>>>\n.*\"Final: \"", re.DOTALL
)
_LABELLED = re.compile(r"\s*(?:The answer is \()?(\w+)(?:\).*)?\s*", re.DOTALL)
_NUMBER = re.compile(r"(?:.*#### )?\s*(-?[\d,./]+)\s*", re.DOTALL)


def judge_reply(prompt: str) -> str | None:
    """Return the line that a judge's prompt asks for; None if this is no judge's prompt."""
    request = _JUDGE_PROMPT.match(prompt)
    if request is None:
        return None
    kind, text = request.groups()
    match = (_LABELLED if kind == "option" else _NUMBER).fullmatch(text)
    return f"Final: {match[1]}" if match else "Final: none"
