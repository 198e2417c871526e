"""Prompts that published set-ups use, as templates: each is compared with what the harness itself sends, character by character
(`tests/harnesses/test_prompt_presets.py`). lm-evaluation-harness 0.4.13 (MIT), Inspect 0.3.285 (MIT)."""

from dataclasses import dataclass, fields, replace

from flipcore.core.errors import BadInput
from flipcore.core.study import LM_EVAL, OwnPrompt

_LETTERS = "{% for label, text in choices %}{{ label }}. {{ text }}\n{% endfor %}"
_MMLU = f"{{{{ question | trim }}}}\n{_LETTERS}Answer:"
_PRO = (
    "Question:\n{{ question }}\nOptions:\n{% for label, text in choices %}{{ label }}. {{ text | trim }}\n{% endfor %}"
    "Answer: Let's think step by step."
)
_PRO_BEFORE = (
    "The following are multiple choice questions (with answers) about {{ category }}. Think step by step and then finish your "
    'answer with "the answer is (X)" where X is the correct letter choice.\n'
)
_INSPECT = "\n\n{{ question }}\n\n{% for label, text in choices %}{{ label }}) {{ text }}{% if not loop.last %}\n{% endif %}{% endfor %}"
_INSPECT_FORM = "should be of the following format: 'ANSWER: $LETTER' (without quotes) where LETTER is one of {{ letters }}."


@dataclass(frozen=True)
class Preset:
    """A published set-up: what it is called, which items it is for, and where the examples of the original come from."""

    title: str
    about: str
    kinds: frozenset[str]
    prompt: OwnPrompt


PRESETS: dict[str, Preset] = {
    "lm_eval_mmlu": Preset(
        "lm-eval, MMLU 5-shot",
        "Completion. The first five questions of the subject's dev split stand before the question.",
        frozenset({"choice"}),
        OwnPrompt(
            template=_MMLU,
            before="The following are multiple choice questions (with answers) about {{ subject }}.\n\n",
            example=f"{_MMLU} {{{{ answer }}}}",
            n_examples=5,
            same_category=True,
        ),
    ),
    "lm_eval_gsm8k": Preset(
        "lm-eval, GSM8K 5-shot",
        "Completion. Five problems of the train split with their solutions, drawn for each item as lm-eval draws them.",
        frozenset({"number"}),
        OwnPrompt(
            template="Question: {{ question }}\nAnswer:",
            example="Question: {{ question }}\nAnswer: {{ solution }}",
            n_examples=5,
            pick=LM_EVAL,
        ),
    ),
    "lm_eval_mmlu_pro": Preset(
        "lm-eval, MMLU-Pro chain of thought",
        "Completion. The first five questions of the category's validation split with their reasoning.",
        frozenset({"choice"}),
        OwnPrompt(template=_PRO, before=_PRO_BEFORE, example=f"{_PRO} {{{{ solution }}}}", n_examples=5, same_category=True),
    ),
    "lm_eval_mmlu_pro_chat": Preset(
        "lm-eval, MMLU-Pro chain of thought, chat",
        "Chat. As lm-eval asks with a chat template and its examples in one message: the description is the system prompt.",
        frozenset({"choice"}),
        OwnPrompt(
            template=_PRO,
            before=_PRO_BEFORE,
            before_as_system=True,
            example=f"{_PRO} {{{{ solution }}}}",
            n_examples=5,
            same_category=True,
        ),
    ),
    "inspect_multiple_choice": Preset(
        "Inspect, multiple choice",
        "Chat. One message, without examples; the whole answer is ANSWER and a letter.",
        frozenset({"choice"}),
        OwnPrompt(
            template="Answer the following multiple choice question. The entire content of your response "
            f"{_INSPECT_FORM}{_INSPECT}"
        ),
    ),
    "inspect_multiple_choice_cot": Preset(
        "Inspect, multiple choice with chain of thought",
        "Chat. One message, without examples; the last line is ANSWER and a letter.",
        frozenset({"choice"}),
        OwnPrompt(
            template="Answer the following multiple choice question. The last line of your response "
            f"{_INSPECT_FORM} Think step by step before answering.{_INSPECT}"
        ),
    ),
    "inspect_chain_of_thought": Preset(
        "Inspect, chain of thought",
        "Chat. The question and a request to reason first and to end with ANSWER.",
        frozenset({"number", "text"}),
        OwnPrompt(
            template="\n{{ question }}\n\nBefore answering, reason in a step-by-step manner as to get the right answer. Provide "
            'your answer at the end on its own line in the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to '
            "the question.\n"
        ),
    ),
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
