"""Stored outputs read again by a judge, with a prompt of the user's own or by sameness of meaning: priced before the first call, capped,
resumable.

The judge's replies are completions like any other, children of the answers that they read. Its readouts are a version of their own
("judge v1"), written once every answer has its reply, so that no part of a study is shown for the whole.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from flipcore.access.acting import Permission, require
from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.folders import allowed
from flipcore.core.records import Call, Completion, Reading, Readout, Request, correctness
from flipcore.extractors import EXTRACTORS, extractor_of
from flipcore.extractors.judge import judged_reading
from flipcore.extractors.readings import asked_question, failure, no_answer, unfinished, unreadable
from flipcore.models import model_cards, open_backend
from flipcore.protocols.single_shot import read_by_judge
from flipcore.runs.asking import Asking
from flipcore.runs.cost import CHARS_PER_TOKEN, NOTHING, Projection, projected, refusal
from flipcore.runs.embargo import check_embargo, under_embargo
from flipcore.runs.progress import CANCELLED, OVER_BUDGET
from flipcore.runs.rereading import Answer, keep_version, stored_answers, version_of
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning, studies
from flipcore.store.queries.judges import JUDGE
from flipcore.store.rows import completion_of
from flipcore.text.counts import count_of

KINDS = ("choice", "number", "text")
TOGETHER = tuple(name for name, one in EXTRACTORS.items() if one.reads_together)  # which compare the answers to an item
MAX_TOKENS = 32
AT_MOST = "as if no two answers meant the same, at most "
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


def priced(store: Store, study_id: str, judge: str, prompt: str = EXAMPLE, *, extractor: str = JUDGE) -> Projection:
    """What the calls that are not answered yet cost at most; of an extractor that compares answers, as if no two meant the same."""
    backend, card, way = open_backend(judge, model_cards()), model_cards().get(judge), _way(judge, prompt, extractor)
    total = NOTHING
    for block in _blocks(store, study_id, way.kinds):
        replies: dict[str, Completion] = {}
        while True:
            read = way.read(block, backend, replies)
            open_calls = {call.call_id: call for *_, calls in read for call in calls if call.call_id not in replies}
            here = planning.completions(store, list(open_calls)) if open_calls else []
            if not here:
                break
            replies |= {row["call_id"]: completion_of(row) for row in here}
        total += projected(way.most(read, open_calls), card)
    return total


def judge_again(
    store: Store,
    study_id: str,
    judge: str,
    prompt: str = EXAMPLE,
    *,
    extractor: str = JUDGE,
    budget_usd: float | None = None,
    on_progress: Callable[[JudgeProgress], None] | None = None,
    cancel: threading.Event | None = None,
    may_send_retro: bool = False,
) -> JudgeRun:
    """Asks the judge about every stored answer of the study: by the prompt, or as an `extractor` that reads an item's answers together
    does. `budget_usd` sets the study's budget from now on. Raises OverBudget
    before the first call when the rest would pass the budget, BadInput for a prompt or model that cannot judge, and where items of
    a retro set would be sent unasked."""
    require(Permission.RUN)
    study = studies.declared(store, study_id)
    if budget_usd is not None:
        budgets.set_budget(store, study_id, budget_usd)
    cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study_id)
    cards = model_cards()
    reason = refusal(priced(store, study_id, judge, prompt, extractor=extractor), cap, {judge: cards.get(judge)}, spent)
    if reason:
        raise OverBudget(reason)
    if judge not in {use.name for use in study.models}:
        retro_ids = under_embargo(store, [row["item_id"] for row in planning.members(store, study_id)])  # set aside or not
        check_embargo(retro_ids, judge, may_send=may_send_retro, how="Tick the box for retro items (--send-retro) to allow it.")
    asking = Asking(store, study_id, [judge], cards, cap, spent, of_study=True, cancel=cancel)
    way = _way(judge, prompt, extractor)
    return asyncio.run(_Judging(store, study_id, way, asking).go(on_progress or (lambda progress: None)))


Judgements = list[tuple[Answer, Reading, list[Call]]]  # what is read in an answer, and the judge's calls that it takes


class _OwnPrompt:
    """Each answer by itself, by the user's prompt."""

    extractor, kinds = JUDGE, KINDS

    def __init__(self, judge: str, prompt: str) -> None:
        self.judge, self.prompt = judge, prompt
        self.params = {"model": judge, "prompt": prompt}

    def read(self, block: Sequence[Answer], backend: Backend, replies: Mapping[str, Completion]) -> Judgements:
        """With the replies so far."""
        return [self._read(answer, backend, replies) for answer in block]

    def most(self, read: Judgements, open_calls: Mapping[str, Call]) -> list[Call]:
        """The calls that are still to be made, at most."""
        return list(open_calls.values())

    def _read(self, answer: Answer, backend: Backend, replies: Mapping[str, Completion]) -> tuple[Answer, Reading, list[Call]]:
        """No call for an answer that is missing, cut off or empty. A text under several axes is judged once."""
        nothing = no_answer([answer.completion])
        if nothing is None and not answer.completion.text.strip():
            nothing = unreadable("The answer is empty, so there was nothing to judge.")
        if nothing:
            return answer, nothing, []
        request = Request("generate", filled(self.prompt, answer), max_tokens=MAX_TOKENS)
        call = Call(backend.name, backend.revision, request, answer.sample, answer.completion.call_id)
        came = [replies[call.call_id]] if call.call_id in replies else []
        reading = failure(came)
        if reading is None and unfinished(came[0]):
            reading = unreadable("The judge's reply was cut off, so it was not read.")
        return answer, reading or judged_reading(answer.item, answer.variant, came[0].text), [call]


class _Together:
    """The answers of one model to one item together, as an extractor compares them."""

    def __init__(self, judge: str, extractor: str) -> None:
        self.judge, self.extractor, self.params = judge, extractor, {"model": judge}
        self.reader = extractor_of(extractor)
        self.kinds = tuple(sorted(self.reader.applies_to))

    def read(self, block: Sequence[Answer], backend: Backend, replies: Mapping[str, Completion]) -> Judgements:
        """With the replies so far."""
        judgements: Judgements = []
        for _, answers in groupby(block, _place):
            several = list(answers)
            read = read_by_judge(
                self.reader, several[0].item, [(one.variant, one.completion) for one in several], backend, replies
            )
            judgements += [(answer, *rest) for answer, rest in zip(several, read, strict=True)]
        return judgements

    def most(self, read: Judgements, open_calls: Mapping[str, Call]) -> list[Call]:
        """Every comparison of the texts of an item of which one is still to be made, less those that were."""
        calls: list[Call] = []
        for _, judgements in groupby(read, lambda one: _place(one[0])):
            several = list(judgements)
            call_ids = {call.call_id for *_, of_one in several for call in of_one}
            if call_ids & open_calls.keys():
                texts = {answer.completion.text for answer, *_ in several}
                requests = [Request("generate", "", max_tokens=len(text) // CHARS_PER_TOKEN) for text in texts]
                every = self.reader.judge_requests(several[0][0].item, requests)
                calls += [Call(self.judge, "", one) for one in every[len(call_ids - open_calls.keys()) :]]
        return calls


def _way(judge: str, prompt: str, extractor: str) -> _OwnPrompt | _Together:
    """Raises BadInput for a prompt that cannot be one, and for an extractor that needs no judge."""
    if extractor == JUDGE:
        return _OwnPrompt(judge, checked_prompt(prompt))
    if extractor not in TOGETHER:
        names = ", ".join(TOGETHER)
        raise BadInput(
            f"No judge reads stored answers as {extractor!r}: leave it out for a prompt of your own, or name {names}."
        )
    return _Together(judge, extractor)


class _Judging:
    def __init__(self, store: Store, study_id: str, way: _OwnPrompt | _Together, asking: Asking) -> None:
        self.store, self.study_id, self.way, self.asking = store, study_id, way, asking

    async def go(self, on_progress: Callable[[JudgeProgress], None]) -> JudgeRun:
        readouts: list[Readout] = []
        way, judge = self.way, self.way.judge
        name, _ = version_of(self.store, self.study_id, way.extractor, way.params)
        n_all = sum(len(block) for block in _blocks(self.store, self.study_id, way.kinds))
        n_done = 0
        async with self.asking:
            for block in _blocks(self.store, self.study_id, way.kinds):
                judgements = await self._judgements(block)
                if self.asking.stopped():
                    break
                readouts += [_readout(name, *one) for one in judgements]
                n_done += len(block)
                on_progress(JudgeProgress(n_done, n_all))
        if self.asking.ending:
            return JudgeRun("", self._stopped(n_done, n_all))
        if not n_all:
            of = "" if way.kinds == KINDS else f" to a {' or '.join(way.kinds)} item"
            raise BadInput(f"This study holds no written answer{of}, so there is nothing to judge.")
        keep_version(self.store, self.study_id, name, way.extractor, way.params, readouts)
        n_failed = self.asking.progress.n_failed
        failed = f" {count_of(n_failed, 'call')} failed; the same again asks only those." if n_failed else ""
        return JudgeRun(name, f"{judge} judged {n_all:,} answers; stored as the readout {name!r}.{failed}")

    async def _judgements(self, block: Sequence[Answer]) -> Judgements:
        """What the judge makes of a block, once it has replied to all that it takes; of one that stops, what it makes so far."""
        replies: dict[str, Completion] = {}
        while True:
            judgements = self.way.read(block, self.asking.backends[self.way.judge], replies)
            open_calls = {call.call_id: call for *_, calls in judgements for call in calls if call.call_id not in replies}
            if not open_calls or self.asking.stopped():
                return judgements
            replies |= await self.asking.replies(list(open_calls.values()))

    def _stopped(self, n_done: int, n_all: int) -> str:
        why = {OVER_BUDGET: "its budget is used up", CANCELLED: "you stopped it"}.get(self.asking.ending)
        if why is None:
            return f"The judge read {n_done:,} of {n_all:,} answers. {self.asking.why}"
        return f"The judge read {n_done:,} of {n_all:,} answers before {why}. The same again asks only the missing ones."


def _readout(name: str, answer: Answer, reading: Reading, calls: Sequence[Call]) -> Readout:
    sources = [answer.completion.call_id, *(call.call_id for call in calls)]
    return answer.readout(name, reading, correctness(reading, answer.variant.target), sources)


def _place(answer: Answer) -> tuple[str, str]:
    return answer.model, answer.item.item_id


def _blocks(store: Store, study_id: str, kinds: Sequence[str]) -> Iterator[list[Answer]]:
    """So many answers or a few more: those of one model to one item stand together."""
    block: list[Answer] = []
    for answer in stored_answers(store, study_id, kinds):
        if len(block) >= _BLOCK and _place(answer) != _place(block[-1]):
            yield block
            block = []
        block.append(answer)
    if block:
        yield block


def filled(prompt: str, answer: Answer) -> str:
    """The user's prompt with question, options and text put in, all at once: a field that stands in a text stays as it is."""
    item, variant = answer.item, answer.variant
    options = [f"{label}. {item.options[i]}" for label, i in zip(variant.labels, variant.order, strict=True)]
    fields = {"question": asked_question(item, variant), "options": "\n".join(options), "text": answer.completion.text}
    return _FIELD.sub(lambda match: fields[match[1]], prompt)
