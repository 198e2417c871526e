"""Reasons for which completions end, in one vocabulary; and the separation of their reasoning.

A completion that ended at a token limit, at a filter or inside its reasoning holds no answer, only
a draft. "" means that nobody recorded how it ended; it does not mean that it finished.
"""

import re
from dataclasses import replace
from typing import Any

from flipcore.core.records import Completion

STOP = "stop"
LENGTH = "length"
FILTER = "content_filter"
OPEN = "open_reasoning"
REFUSAL = "refusal"
NOT_RECORDED = ""
ENDED_EARLY = (LENGTH, FILTER, OPEN)
# Share of a cell's answers. If more of them are cut, a claim is made only if both worst cases
# agree with it.
MAX_CUT = 0.05

_WORDS = {
    STOP: "stop eos eos_token end_turn stop_sequence stop_sequence_hit endoftext complete "
    "completed",
    LENGTH: "length max_tokens max_length max_output_tokens max_new_tokens model_length "
    "token_limit model_context_window_exceeded context_length truncated incomplete",
    FILTER: "content_filter content_filtered guardrail_intervened safety recitation "
    "prohibited_content blocklist spii image_safety moderation error_toxic",
    REFUSAL: "refusal refused",
    NOT_RECORDED: "none null nan unknown finish_reason_unspecified",
}
_BY_WORD = {"": NOT_RECORDED}
for _name, _words in _WORDS.items():
    _BY_WORD |= dict.fromkeys(_words.split(), _name)


def finish_reason(reason: Any) -> str:
    """Translate a server's or a log's reason into the words above; keep others ("tool_calls")."""
    if isinstance(reason, str) and reason in _BY_WORD:
        return _BY_WORD[reason]
    word = re.sub(
        r"[\s-]+", "_", str("" if reason is None else reason).strip().lower()
    ).removeprefix("finishreason.")
    return _BY_WORD.get(word, word)


# Reasoning as models mark it: <think> (DeepSeek, Qwen), [THINK] (Magistral), channels (gpt-oss),
# begin_of_thought (Sky-T1).
_OPENS = (
    r"<(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>(?:analysis"
    r"|commentary)<\|message\|>"
)
_OPENS += r"|<\|begin_of_thought\|>"
_CLOSES = r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]|<\|end_of_thought\|>"
_CLOSES += r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
_MARK = re.compile(f"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})", re.IGNORECASE)
# Every mark begins with one of these, in lower case. Looking for them first avoids the slow search.
_BEGINNINGS = ("<th", "</th", "<rea", "</rea", "<|", "[th", "[/th")


def reasoning_apart(text: str) -> tuple[str, str, bool]:
    """Split a text into (reasoning, answer, whether the reasoning is still open at the end).

    A closing mark without an opening one ends a block that the prompt itself opened, so everything
    before it is reasoning.
    """
    if "<" not in text and "[" not in text:
        return "", text, False
    folded = text.lower()
    if not any(beginning in folded for beginning in _BEGINNINGS):
        return "", text, False
    reasoning: list[str] = []
    answer: list[str] = []
    end, is_open = 0, False
    for mark in _MARK.finditer(text):
        before = text[end : mark.start()]
        end = mark.end()
        if mark["closes"] and not is_open:
            reasoning, answer = [*reasoning, *answer, before], []
        else:
            (reasoning if is_open else answer).append(before)
        is_open = bool(mark["opens"])
    if end == 0:
        return "", text, False
    (reasoning if is_open else answer).append(text[end:])
    return (
        "\n".join(part.strip() for part in reasoning if part.strip()),
        "".join(answer).lstrip(),
        is_open,
    )


def separate_reasoning(completion: Completion) -> Completion:
    """Move the reasoning out of a completion's text.

    No answer follows a block that is still open. The text is then what precedes the block, and
    `finish_reason` is OPEN, or the limit or filter that ended the block.
    """
    reasoning, answer, is_open = reasoning_apart(completion.text)
    if answer == completion.text:
        return completion
    reason = completion.finish_reason
    if is_open and reason not in (LENGTH, FILTER):
        reason = OPEN
    all_reasoning = "\n".join(filter(None, (completion.reasoning, reasoning)))
    return replace(completion, text=answer, reasoning=all_reasoning, finish_reason=reason)


def cut_reason(completion: Completion, *, length_counts: bool = True) -> str:
    """Return why nothing may be read from a completion, as a sentence.

    "" means that it finished, or that nobody recorded how it ended. With `length_counts=False` the
    token limit is no reason: continuations are asked for with a fixed length.
    """
    reason = completion.finish_reason
    if reason == OPEN:
        return "The answer was cut off inside its reasoning: no answer follows."
    if reason == FILTER:
        return "A content filter stopped the answer."
    if reason != LENGTH or not length_counts:
        return ""
    after = f" after {completion.n_tokens_out:,} tokens" if completion.n_tokens_out else ""
    inside = (
        ", inside its reasoning" if completion.reasoning and not completion.text.strip() else ""
    )
    return f"The answer was cut off at the token limit{after}{inside}."
