"""Stored outputs read again by a judge with a prompt of the user's own: priced before the first call, capped, resumable.

The judge's replies are completions like any other, children of the answers that they read. Its readouts are a version of their own
("judge v1"), written once every answer has its reply, so that no part of a study is shown for the whole.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.folders import allowed
from flipcore.core.records import Call, Completion, Readout, Request, correctness
from flipcore.extractors.judge import judged_reading
from flipcore.extractors.readings import asked_question, failure, no_answer, unfinished, unreadable
from flipcore.models import model_cards, open_backend
from flipcore.runs.asking import Asking
from flipcore.runs.cost import NOTHING, Projection, projected, refusal
from flipcore.runs.embargo import check_embargo, under_embargo
from flipcore.runs.progress import CANCELLED, OVER_BUDGET
from flipcore.runs.rereading import Answer, keep_version, stored_answers, version_of
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning, studies
from flipcore.text.counts import count_of

KINDS = ("choice", "number", "text")
MAX_TOKENS = 32
MOST_CHARS = 20_000  # of a prompt: a longer one is a file, pasted by mistake
EXAMPLE = """You read out which answer a text gives. You do not solve the question and do not correct the text.

Question:
{question}

{options}

The text to read, between the marks:
<<<
{text}
>>>

Reply with one line, "Final: " and the label, number or words that the text settles on, or "Final: none".
"""
_FIELD = re.compile(r"\{(question|options|text)\}")
_BLOCK = 256


@dataclass(frozen=True)
class JudgeProgress:
    """How far a judge is, in answers."""

    n_done: int
    n_all: int


@dataclass(frozen=True)
class JudgeRun:
    """`name` is the new readout, "" where it stopped before its end; `sentence` says what happened and what to do."""

    name: str
    sentence: str


def checked_prompt(prompt: str) -> str:
    """The prompt itself. Raises BadInput where the text that is read, or the line that is wanted, does not occur in it."""
    if len(prompt) > MOST_CHARS:
        raise BadInput(f"The judge's prompt has {len(prompt):,} characters; at most {MOST_CHARS:,} are sent. Shorten it.")
    if "{text}" not in prompt:
        raise BadInput(
            "The judge's prompt must hold {text}, where the stored answer goes; {question} and {options} are optional."
        )
    if "Final:" not in prompt:
        raise BadInput('The judge\'s prompt must ask for one line that begins with "Final:"; nothing else of a reply is read.')
    return prompt


def prompt_in(path: str) -> str:
    """The prompt that stands in a file. Raises BadInput for one that cannot be read."""
    try:
        return allowed(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            f"{path!r} is no text file that can be read; give a file in UTF-8 that holds the judge's prompt."
        ) from None


def priced(store: Store, study_id: str, judge: str, prompt: str) -> Projection:
    """What the calls that are not answered yet cost at most."""
    backend, card = open_backend(judge, model_cards()), model_cards().get(judge)
    total = NOTHING
    for block in _blocks(store, study_id):
        calls = {call.call_id: call for _, call in _calls(block, backend, checked_prompt(prompt)) if call}
        stored_ids = {row["call_id"] for row in planning.completions(store, list(calls))}
        total += projected([call for key, call in calls.items() if key not in stored_ids], card)
    return total


def judge_again(
    store: Store,
    study_id: str,
    judge: str,
    prompt: str = EXAMPLE,
    *,
    budget_usd: float | None = None,
    on_progress: Callable[[JudgeProgress], None] | None = None,
    cancel: threading.Event | None = None,
    may_send_retro: bool = False,
) -> JudgeRun:
    """Asks the judge about every stored answer of the study. `budget_usd` sets the study's budget from now on. Raises OverBudget
    before the first call when the rest would pass the budget, BadInput for a prompt or model that cannot judge, and where items of
    a retro set would be sent unasked."""
    require(Permission.RUN)
    study = studies.declared(store, study_id)
    if budget_usd is not None:
        budgets.set_budget(store, study_id, budget_usd)
    cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study_id)
    cards = model_cards()
    reason = refusal(priced(store, study_id, judge, prompt), cap, {judge: cards.get(judge)}, spent)
    if reason:
        raise OverBudget(reason)
    if judge not in {use.name for use in study.models}:
        retro_ids = under_embargo(store, [row["item_id"] for row in planning.members(store, study_id)])  # set aside or not
        check_embargo(retro_ids, judge, may_send=may_send_retro, how="Tick the box for retro items (--send-retro) to allow it.")
    asking = Asking(store, study_id, [judge], cards, cap, spent, of_study=True, cancel=cancel)
    return asyncio.run(_Judging(store, study_id, judge, prompt, asking).go(on_progress or (lambda progress: None)))


class _Judging:
    def __init__(self, store: Store, study_id: str, judge: str, prompt: str, asking: Asking) -> None:
        self.store, self.study_id, self.judge, self.prompt, self.asking = store, study_id, judge, prompt, asking

    async def go(self, on_progress: Callable[[JudgeProgress], None]) -> JudgeRun:
        readouts: list[Readout] = []
        params = {"model": self.judge, "prompt": self.prompt}
        name = version_of(self.store, self.study_id, "judge", params)
        n_all = sum(len(block) for block in _blocks(self.store, self.study_id))
        n_done = 0
        async with self.asking:
            for block in _blocks(self.store, self.study_id):
                pairs = list(_calls(block, self.asking.backends[self.judge], self.prompt))
                replies = await self.asking.replies([call for _, call in pairs if call])
                if self.asking.stopped():
                    break
                readouts += [self._readout(answer, call, replies, name) for answer, call in pairs]
                n_done += len(block)
                on_progress(JudgeProgress(n_done, n_all))
        if self.asking.ending:
            return JudgeRun("", self._stopped(n_done, n_all))
        if not n_all:
            raise BadInput("This study holds no written answer, so there is nothing to judge.")
        keep_version(self.store, self.study_id, name, "judge", params, readouts)
        n_failed = self.asking.progress.n_failed
        failed = f" {count_of(n_failed, 'call')} failed; the same again asks only those." if n_failed else ""
        return JudgeRun(name, f"{self.judge} judged {n_all:,} answers; stored as the readout {name!r}.{failed}")

    def _stopped(self, n_done: int, n_all: int) -> str:
        why = {OVER_BUDGET: "its budget is used up", CANCELLED: "you stopped it"}.get(self.asking.ending)
        if why is None:
            return f"The judge read {n_done:,} of {n_all:,} answers. {self.asking.why}"
        return f"The judge read {n_done:,} of {n_all:,} answers before {why}. The same again asks only the missing ones."

    def _readout(self, answer: Answer, call: Call | None, replies: dict[str, Completion], name: str) -> Readout:
        reply = replies.get(call.call_id) if call else None
        completions = [answer.completion, *([reply] if reply else [])]
        reading = no_answer(completions[:1])
        if reading is None and not answer.completion.text.strip():
            reading = unreadable("The answer is empty, so there was nothing to judge.")
        reading = reading or failure(completions, 2)
        if reading is None and unfinished(completions[1]):
            reading = unreadable("The judge's reply was cut off, so it was not read.")
        reading = reading or judged_reading(answer.item, answer.variant, completions[1].text)
        return answer.readout(name, reading, correctness(reading, answer.variant.target), [one.call_id for one in completions])


def _blocks(store: Store, study_id: str) -> Iterator[list[Answer]]:
    block: list[Answer] = []
    for answer in stored_answers(store, study_id, KINDS):
        block.append(answer)
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block


def _calls(block: list[Answer], backend: Backend, prompt: str) -> Iterator[tuple[Answer, Call | None]]:
    """Each answer with the call that judges it; None for one that is missing, cut off or empty. A text under several axes is
    judged once."""
    for answer in block:
        if no_answer([answer.completion]) is not None or not answer.completion.text.strip():
            yield answer, None
            continue
        request = Request("generate", filled(prompt, answer), max_tokens=MAX_TOKENS)
        yield answer, Call(backend.name, backend.revision, request, answer.sample, answer.completion.call_id)


def filled(prompt: str, answer: Answer) -> str:
    """The user's prompt with question, options and text put in, all at once: a field that stands in a text stays as it is."""
    item, variant = answer.item, answer.variant
    options = [f"{label}. {item.options[i]}" for label, i in zip(variant.labels, variant.order, strict=True)]
    fields = {"question": asked_question(item, variant), "options": "\n".join(options), "text": answer.completion.text}
    return _FIELD.sub(lambda match: fields[match[1]], prompt)
