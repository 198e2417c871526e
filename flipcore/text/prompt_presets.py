"""Prompts that published set-ups use, as templates (`prompt_presets.toml`): each is compared with what the harness itself sends, character
by character (`tests/harnesses/test_prompt_presets.py`)."""

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.study import OwnPrompt


@dataclass(frozen=True)
class Preset:
    """A published set-up: what it is called, which items it is for, and where the examples of the original come from."""

    title: str
    about: str
    kinds: frozenset[str]
    prompt: OwnPrompt


PRESETS = {
    name: Preset(one["title"], one["about"], frozenset(one["kinds"]), OwnPrompt(**one["prompt"]))
    for name, one in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}


def _as_turns(of: str) -> Preset:
    """The same set-up by chat, as lm-eval asks by default with a chat template: every example is two turns."""
    preset = PRESETS[of]
    about = "Chat. As lm-eval asks with a chat template: every example is a question and an answer, the description the system prompt."
    title = preset.title.removesuffix(", chat")
    return Preset(f"{title}, examples as turns", about, preset.kinds, replace(preset.prompt, as_turns=True))


PRESETS |= {f"{of}_turns": _as_turns(of) for of in ("lm_eval_mmlu", "lm_eval_gsm8k", "lm_eval_mmlu_pro")}


def resolved(own: OwnPrompt) -> OwnPrompt:
    """The prompt with the fields of its preset wherever it says nothing itself. BadInput for a preset that there is not."""
    if not own.preset:
        return own
    if own.preset not in PRESETS:
        raise BadInput(f"There is no preset of a prompt {own.preset[:40]!r}; choose one of {', '.join(PRESETS)}.")
    preset, empty = PRESETS[own.preset].prompt, OwnPrompt()
    own_fields = {field.name: getattr(own, field.name) for field in fields(own)}
    return replace(preset, **{name: value for name, value in own_fields.items() if value != getattr(empty, name)})
