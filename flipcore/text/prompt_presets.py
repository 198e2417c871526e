"""Prompts of published set-ups as templates (`prompt_presets.toml`).

`tests/harnesses/test_prompt_presets.py` compares each with what the harness itself sends, character
by character.
"""

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.study import OwnPrompt


@dataclass(frozen=True)
class Preset:
    """A published set-up: title, a sentence about its source, kinds of items, and prompt."""

    title: str
    about: str
    kinds: frozenset[str]
    prompt: OwnPrompt


PRESETS: dict[str, Preset] = {}
for _name, _table in tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
).items():
    PRESETS[_name] = Preset(
        title=_table["title"],
        about=_table["about"],
        kinds=frozenset(_table["kinds"]),
        prompt=OwnPrompt(**_table["prompt"]),
    )


def _as_turns(name: str) -> Preset:
    """Return the same set-up for chat, with two turns per example, as lm-eval asks by default with
    a chat template."""
    preset = PRESETS[name]
    about = (
        "Chat. As lm-eval asks with a chat template: every example is a question and an answer, "
        "the description the system prompt."
    )
    title = preset.title.removesuffix(", chat")
    prompt = replace(preset.prompt, as_turns=True)
    return Preset(f"{title}, examples as turns", about, kinds=preset.kinds, prompt=prompt)


for _name in ("lm_eval_mmlu", "lm_eval_gsm8k", "lm_eval_mmlu_pro"):
    PRESETS[f"{_name}_turns"] = _as_turns(_name)


def resolved(declared: OwnPrompt) -> OwnPrompt:
    """Return the prompt with its empty fields filled from its preset. Raises BadInput for an
    unknown preset."""
    if not declared.preset:
        return declared
    if declared.preset not in PRESETS:
        raise BadInput(
            f"There is no preset of a prompt {declared.preset[:40]!r}; choose one of "
            f"{', '.join(PRESETS)}."
        )
    empty = OwnPrompt()
    changes = {}
    for field in fields(declared):
        value = getattr(declared, field.name)
        if value != getattr(empty, field.name):
            changes[field.name] = value
    return replace(PRESETS[declared.preset].prompt, **changes)
