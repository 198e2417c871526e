"""What a column may hold by the words of its name, where nobody has agreed on the name: the prompt, the right answer, or what was said."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

PROMPT, TARGET, OUTPUT = "prompt", "target", "output"

_ELSE = frozenset(  # of a name that is about one of the three: prompt_tokens, response_time, question_type, reference_contexts
    "tokens token time latency id ids idx index type kind cost length len count num number score scores prob probs logprob logprobs logits "
    "template name names format category config hash path file url date language lang context contexts reasoning explanation rationale "
    "source choices options embedding tags topic difficulty level status error reason version judge grader rater annotator human reviewer "
    "feedback critique verdict shot shots image is has system scale unit confidence".split()
)
_OF_OUTPUT = frozenset(
    "response responses reply output outputs completion completions generation prediction pred preds actual".split()
)
_OF_PROMPT = frozenset("prompt question query instruction problem input sentence".split())
_ANSWER = frozenset("answer answers ans solution choice label labels text final".split())
_KEY = frozenset({"answer", "answers", "ans", "label", "labels", "text"})  # of the key, where nothing else says whose
_OF_TARGET = frozenset("gold golden truth truths gt reference ref expected correct right true target ideal official".split())
_OF_MODEL = frozenset(
    "model llm assistant student agent ai bot generated predicted extracted parsed chosen selected gpt claude llama".split()
)
_MOST = 40  # characters of a name; longer is a sentence, of a table without a header
_READING = frozenset("pred preds predicted prediction parsed extracted answer ans final".split())


def _words(name: str) -> list[str]:
    return re.findall("[a-z]+|[0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())


def is_about(name: str) -> bool:
    """Whether a column says something about a prompt or an answer, by its name: how long it is, where it came from, how good it was."""
    words = frozenset(_words(name))
    return bool(words & _ELSE - ({"system"} if words & _OF_OUTPUT else set()))


def is_reading(name: str) -> bool:
    """Whether a column of outputs holds what was read of one rather than the whole: pred_ans beside llm_output."""
    return not _READING.isdisjoint(_words(name))


def part_of(name: str) -> str:
    """PROMPT, TARGET or OUTPUT; "" where the words say none of them, something about one, or one of several: answer_b."""
    *_, last = several = _words(name.rpartition(".")[2]) or [""]
    if is_about(name) or len(last) < 2 or last.isdecimal() or len(name) > _MOST:
        return ""
    words = frozenset(several)
    of_target, of_model = words & _OF_TARGET, words & _OF_MODEL
    if words & _OF_OUTPUT:
        return TARGET if of_target else OUTPUT
    if words & _OF_PROMPT:
        return PROMPT
    if words & _ANSWER:
        # answer and answer_en are the key's; final_answer and qwen_answer are a model's as often
        names_key = words != {"text"} and all(one in _KEY or len(one) == 2 for one in words)
        if of_target or (names_key and not of_model):
            return TARGET
        return OUTPUT if of_model else ""
    if of_target - {"true"} and words <= _OF_TARGET | {"ground", "standard"}:
        return TARGET
    return OUTPUT if words & {"predicted", "guess", "hypothesis"} else ""


def parts_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[str]]:
    """Those of these columns that are of each part and that most rows fill, prompts with texts of their own."""
    parts: dict[str, list[str]] = {PROMPT: [], TARGET: [], OUTPUT: []}
    for name in names:
        part, cells = part_of(name), [row[name] for row in rows if row.get(name) not in (None, "", [], {})]
        if not part or 2 * len(cells) < len(rows) or any(isinstance(one, (bool, Mapping)) for one in cells):
            continue
        if part == PROMPT and (
            2 * len({str(one) for one in cells}) < len(cells) or not all(isinstance(one, str) for one in cells)
        ):
            continue
        parts[part].append(name)
    return parts
