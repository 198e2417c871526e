"""Read stored outputs again: by an extractor or a pattern without a call, or by a judge.

Each re-reading adds readouts under a name of its own ("pattern v1", "regex v2"), so earlier results
do not change.
"""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.contracts import Backend, Extractor
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.folders import allowed
from flipcore.core.records import (
    BASE,
    Call,
    Completion,
    Item,
    Prompt,
    Reading,
    Readout,
    Request,
    Variant,
    correctness,
)
from flipcore.core.version import __version__
from flipcore.extractors import EXTRACTORS, VALUES, extractor_of
from flipcore.extractors.judge import judged_reading
from flipcore.extractors.readings import asked_question, failure, no_answer, unfinished, unreadable
from flipcore.models import model_cards, open_backend
from flipcore.protocols.single_shot import read_by_judge
from flipcore.runs.asking import Asking
from flipcore.runs.cost import CHARS_PER_TOKEN, NOTHING, Projection, projected, refusal
from flipcore.runs.embargo import check_embargo, under_embargo
from flipcore.runs.progress import CANCELLED, OVER_BUDGET
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import budgets, planning, studies
from flipcore.store.queries.judges import JUDGE
from flipcore.text.counts import count_of

_BATCH = 2_000
CAN_REREAD = tuple(
    name
    for name, extractor in EXTRACTORS.items()
    if extractor.reads_text_alone and name not in VALUES
)


def reread(
    store: Store, study_id: str, extractor: str, params: Mapping[str, Any] | None = None
) -> str:
    """Read every stored answer of the study and return the name of the new readouts. The same
    extractor with the same parameters returns the existing name. Raises BadInput for an extractor
    that needs more than written answers, and for a study without an answer for it."""
    require(Permission.RUN)
    studies.declared(store, study_id)
    if extractor not in CAN_REREAD:
        raise BadInput(
            f"{extractor!r} cannot read stored answers; choose one of {', '.join(CAN_REREAD)}."
        )
    reader = extractor_of(extractor, params)
    name, versions = version_of(store, study_id, extractor, dict(params or {}))
    if extractor not in fitting(store, study_id):
        kinds = " or ".join(sorted(reader.applies_to))
        raise BadInput(
            f"This study holds no written answer to a {kinds} item, so {extractor} has nothing to"
            " read."
        )
    _store_readouts(store, study_id, _readouts(store, study_id, reader, name))
    _store_versions(store, study_id, versions)
    return name


def fitting(store: Store, study_id: str) -> list[str]:
    """Return the extractors that can read at least one stored answer of the study."""
    kinds = planning.written_kinds(store, study_id)
    return [name for name in CAN_REREAD if EXTRACTORS[name].applies_to & kinds]


def params_of(extractor: str, words: Sequence[str]) -> dict[str, Any]:
    """Parse KEY=VALUE words into the extractor's parameters; commas separate the values of a list.
    Raises BadInput for a word without "=", and for a value of another type than the default."""
    params: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise BadInput(
                f"{word!r} sets nothing; write KEY=VALUE, for example expression=answer: (.+)"
            )
        default = getattr(EXTRACTORS.get(extractor), key, "")
        try:
            params[key] = (
                tuple(value.split(",")) if isinstance(default, tuple) else type(default)(value)
            )
        except (TypeError, ValueError):
            raise BadInput(f"{key} is {value!r}; it must be of the kind of {default!r}.") from None
    return params


def versions_of(store: Store, study_id: str) -> dict[str, dict[str, Any]]:
    """Return the re-readings of a study in order: name -> {"extractor": …, "params": …, "version":
    Flipscope's version}."""
    sql = "SELECT value FROM store_info WHERE key = $key"
    text = store.value(sql, key=_versions_key(study_id))
    return json.loads(text) if text else {}


def _versions_key(study_id: str) -> str:
    return f"reread {study_id}"


def keep_version(
    store: Store,
    study_id: str,
    name: str,
    extractor: str,
    params: dict[str, Any],
    readouts: Sequence[Readout],
) -> None:
    """Store all readouts of a re-reading, and add it to the study's versions."""
    versions = version_of(store, study_id, extractor, params)[1]
    _store_readouts(store, study_id, readouts)
    _store_versions(store, study_id, versions)


def _store_versions(store: Store, study_id: str, versions: Mapping[str, Any]) -> None:
    mark = {"key": _versions_key(study_id), "value": json.dumps(versions, ensure_ascii=False)}
    store.writer.add("store_info", [mark]).result()
    store.touch([study_id])


def version_of(
    store: Store, study_id: str, extractor: str, params: dict[str, Any]
) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return (name of this re-reading, all versions including it); an equal one keeps its name."""
    versions, names = versions_of(store, study_id), studies.axes_and_extractors(store, study_id)[1]
    declared = json.loads(
        json.dumps({"extractor": extractor, "params": params, "version": __version__})
    )
    for name, version in versions.items():
        if version == declared or _reads_alike(version, declared):
            return name, versions
    n_versions = sum(version["extractor"] == extractor for version in versions.values())
    number = 1 + (extractor in names) + n_versions
    while (name := f"{extractor} v{number}") in names:
        number += 1
    return name, versions | {name: declared}


def _reads_alike(version: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Return whether two versions differ only in parameters that repeat a default."""
    if version["extractor"] not in CAN_REREAD or version["version"] != declared["version"]:
        return False
    if version["extractor"] != declared["extractor"]:
        return False
    # Compare built extractors, because a parameter that repeats its default changes nothing.
    stored = extractor_of(version["extractor"], version["params"])
    return stored == extractor_of(declared["extractor"], declared["params"])


@dataclass(frozen=True)
class Answer:
    """One stored answer with its item and prompt."""

    model: str
    item: Item
    variant: Variant
    variant_id: str  # as stored: recordings may hold one prompt under several ids
    sample: int
    completion: Completion

    def readout(
        self, name: str, reading: Reading, *, is_correct: bool | None, sources: Sequence[str]
    ) -> Readout:
        """Make the readout of this answer by the extractor `name`."""
        place = (self.model, self.item.item_id, self.variant.axis, self.variant_id, self.sample)
        return Readout(*place, name, reading, is_correct, tuple(sources))


def stored_answers(store: Store, study_id: str, kinds: Sequence[str]) -> Iterator[Answer]:
    """Yield the study's stored answers to items of these kinds; other outputs are left out."""
    for row in planning.written_answers(store, study_id, sorted(kinds)):
        item = Item(
            item_id=row["item_id"],
            dataset=row["dataset"],
            kind=row["kind"],
            question=row["question"],
            options=tuple(row["options"]),
            target=row["item_target"],
        )
        parts = tuple((part, text) for part, text in json.loads(row["parts"]))
        variant = Variant(
            item_id=row["item_id"],
            axis=row["axis"],
            key=BASE,
            prompt=Prompt(parts, row["system"]),
            target=row["target"],
            order=tuple(row["option_order"]),
            labels=tuple(row["labels"]),
            layout=row["layout"],
        )
        completion = rows.completion_of(row)
        yield Answer(
            row["model"],
            item,
            variant=variant,
            variant_id=row["variant_id"],
            sample=row["sample"],
            completion=completion,
        )


def _readouts(store: Store, study_id: str, reader: Extractor, name: str) -> Iterator[Readout]:
    for answer in stored_answers(store, study_id, sorted(reader.applies_to)):
        reading = reader.read(answer.item, answer.variant, [answer.completion])
        is_correct = correctness(reading, answer.variant.target)
        yield answer.readout(
            name, reading, is_correct=is_correct, sources=[answer.completion.call_id]
        )


def _store_readouts(store: Store, study_id: str, readouts: Iterable[Readout]) -> int:
    """Store readouts in batches, so that few are in memory, and return their number."""
    remaining_readouts, n_stored = iter(readouts), 0
    while batch := list(islice(remaining_readouts, _BATCH)):
        readout_rows, source_rows = rows.readout_rows(study_id, batch)
        store.writer.add_together(
            [("readouts", readout_rows), ("readout_sources", source_rows)]
        ).result()
        n_stored += len(batch)
    return n_stored


# A judge reads stored outputs by the user's own prompt, or compares them by meaning. Its calls are
# priced before the first one, capped, and resumable. The judge's replies are completions whose
# parents are the answers. The readouts ("judge v1") are stored only when every answer has its
# reply, so that results for part of a study are never shown as results for the whole.

KINDS = ("choice", "number", "text")
# Extractors that compare all answers to an item with each other.
COMPARING_EXTRACTORS = tuple(
    name for name, extractor in EXTRACTORS.items() if extractor.reads_together
)
MAX_TOKENS = 32
AT_MOST = "as if no two answers meant the same, at most "
MAX_CHARS = 20_000  # of the judge's prompt; a longer one is probably a file pasted by mistake
EXAMPLE = """You read out which answer a text gives. You do not solve the question and do not \
correct the text.

Question:
{question}

{options}

The text to read, between the marks:
<<<
{text}
>>>

Reply with one line, "Final: " and the label, number or words that the text settles on, or \
"Final: none".
"""
_FIELD = re.compile(r"\{(question|options|text)\}")
_BLOCK = 256  # answers


@dataclass(frozen=True)
class JudgeProgress:
    """Progress of a judge: judged answers of all answers."""

    n_done: int
    n_all: int


@dataclass(frozen=True)
class JudgeRun:
    """Result of a judge's run."""

    name: str  # of the new readouts; "" if the judge stopped early
    sentence: str  # what happened, and what the user can do


def checked_prompt(prompt: str) -> str:
    """Return the prompt. Raises BadInput if it lacks {text} or "Final:", or is too long."""
    if len(prompt) > MAX_CHARS:
        raise BadInput(
            f"The judge's prompt has {len(prompt):,} characters; at most {MAX_CHARS:,} are sent."
            " Shorten it."
        )
    if "{text}" not in prompt:
        raise BadInput(
            "The judge's prompt must hold {text}, where the stored answer goes; {question} and"
            " {options} are optional."
        )
    if "Final:" not in prompt:
        raise BadInput(
            'The judge\'s prompt must ask for one line that begins with "Final:"; nothing else of a'
            " reply is read."
        )
    return prompt


def prompt_in(path: str) -> str:
    """Return the prompt in a file. Raises BadInput if the file cannot be read."""
    try:
        return allowed(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            f"{path!r} is no text file that can be read; give a file in UTF-8 that holds the"
            " judge's prompt."
        ) from None


def priced(
    store: Store, study_id: str, judge: str, prompt: str = EXAMPLE, *, extractor: str = JUDGE
) -> Projection:
    """Return an upper bound on the calls that are not answered yet. For an extractor that compares
    answers the bound assumes that no two mean the same."""
    cards = model_cards()
    backend, card = open_backend(judge, cards), cards.get(judge)
    method = _judging_method(judge, prompt, extractor)
    total = NOTHING
    for block in _blocks(store, study_id, method.kinds):
        replies: dict[str, Completion] = {}
        # Later calls depend on earlier replies, so look up stored replies until none is left.
        while True:
            judgements = method.read(block, backend, replies)
            open_calls = _open_calls(judgements, replies)
            stored_rows = planning.completions(store, list(open_calls)) if open_calls else []
            if not stored_rows:
                break
            replies |= {row["call_id"]: rows.completion_of(row) for row in stored_rows}
        total += projected(method.most_calls(judgements, open_calls), card)
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
    """Ask the judge about every stored answer of the study.

    The judge follows `prompt`, or compares an item's answers as `extractor` does, which is then one
    of COMPARING_EXTRACTORS. `budget_usd` replaces the study's budget. Raises OverBudget before the
    first call where the missing calls would exceed the budget. Raises BadInput for a prompt or
    model that cannot judge, and for items of a holdout unless `may_send_retro` allows to send them.
    """
    require(Permission.RUN)
    study = studies.declared(store, study_id)
    if budget_usd is not None:
        budgets.set_budget(store, study_id, budget_usd)
    cap, spent = budgets.budget_usd(store, study), budgets.spent_usd(store, study_id)
    cards = model_cards()
    reason = refusal(
        priced(store, study_id, judge, prompt, extractor=extractor),
        cap,
        {judge: cards.get(judge)},
        spent,
    )
    if reason:
        raise OverBudget(reason)
    if judge not in {use.name for use in study.models}:
        # The judge is no model of the study, so it must not see retro items without permission.
        retro_ids = under_embargo(
            store, [row["item_id"] for row in planning.members(store, study_id)]
        )
        check_embargo(
            retro_ids,
            judge,
            may_send=may_send_retro,
            how="Tick the box for holdout items (--send-retro) to allow it.",
        )
    asking = Asking(store, study_id, [judge], cards, cap, spent, links_calls=True, cancel=cancel)
    method = _judging_method(judge, prompt, extractor)
    return asyncio.run(
        _Judging(store, study_id, method, asking).go(on_progress or (lambda progress: None))
    )


# (answer, what is read in it, the judge's calls for it)
Judgements = list[tuple[Answer, Reading, list[Call]]]


def _open_calls(judgements: Judgements, replies: Mapping[str, Completion]) -> dict[str, Call]:
    """Return the calls without a reply, by id."""
    calls = chain.from_iterable(calls for *_, calls in judgements)
    return {call.call_id: call for call in calls if call.call_id not in replies}


class _ByOwnPrompt:
    """Judges each answer by itself, with the user's prompt."""

    extractor, kinds = JUDGE, KINDS

    def __init__(self, judge: str, prompt: str) -> None:
        self.judge, self.prompt = judge, prompt
        self.params = {"model": judge, "prompt": prompt}

    def read(
        self, block: Sequence[Answer], backend: Backend, replies: Mapping[str, Completion]
    ) -> Judgements:
        """Read the answers as far as the `replies` so far (by call id) allow."""
        return [self._read(answer, backend, replies) for answer in block]

    def most_calls(self, judgements: Judgements, open_calls: Mapping[str, Call]) -> list[Call]:
        """Return the calls that are still to be made."""
        return list(open_calls.values())

    def _read(
        self, answer: Answer, backend: Backend, replies: Mapping[str, Completion]
    ) -> tuple[Answer, Reading, list[Call]]:
        """Judge one answer; one that is missing, cut off or empty needs no call. The call's id
        depends on the answer's own call, so a text under several axes is judged once."""
        unjudged = no_answer([answer.completion])
        if unjudged is None and not answer.completion.text.strip():
            unjudged = unreadable("The answer is empty, so there was nothing to judge.")
        if unjudged:
            return answer, unjudged, []
        request = Request("generate", filled(self.prompt, answer), max_tokens=MAX_TOKENS)
        call = Call(
            backend.name, backend.revision, request, answer.sample, answer.completion.call_id
        )
        own_replies = [replies[call.call_id]] if call.call_id in replies else []
        reading = failure(own_replies)
        if reading is None and unfinished(own_replies[0]):
            reading = unreadable("The judge's reply was cut off, so it was not read.")
        if reading is None:
            reading = judged_reading(answer.item, answer.variant, own_replies[0].text)
        return answer, reading, [call]


class _ByComparison:
    """Judges one model's answers to one item together, as an extractor compares them."""

    def __init__(self, judge: str, extractor: str) -> None:
        self.judge, self.extractor, self.params = judge, extractor, {"model": judge}
        self.reader = extractor_of(extractor)
        self.kinds = tuple(sorted(self.reader.applies_to))

    def read(
        self, block: Sequence[Answer], backend: Backend, replies: Mapping[str, Completion]
    ) -> Judgements:
        """Read the answers as far as the `replies` so far (by call id) allow."""
        judgements: Judgements = []
        for _, group in groupby(block, _model_and_item):
            answers = list(group)
            texts = [(answer.variant, answer.completion) for answer in answers]
            readings = read_by_judge(self.reader, answers[0].item, texts, backend, replies)
            for answer, (reading, calls) in zip(answers, readings, strict=True):
                judgements.append((answer, reading, calls))
        return judgements

    def most_calls(self, judgements: Judgements, open_calls: Mapping[str, Call]) -> list[Call]:
        """Return the most calls that may still be made: all comparisons, less those made. Items
        whose comparisons are all made need no more."""
        calls: list[Call] = []
        for _, group in groupby(judgements, lambda judgement: _model_and_item(judgement[0])):
            item_judgements = list(group)
            item = item_judgements[0][0].item
            call_ids = _open_calls(item_judgements, {}).keys()
            if call_ids & open_calls.keys():
                texts = {answer.completion.text for answer, *_ in item_judgements}
                requests = [
                    Request("generate", "", max_tokens=len(text) // CHARS_PER_TOKEN)
                    for text in texts
                ]
                comparisons = self.reader.judge_requests(item, requests)
                n_made = len(call_ids - open_calls.keys())
                calls += [Call(self.judge, "", request) for request in comparisons[n_made:]]
        return calls


def _judging_method(judge: str, prompt: str, extractor: str) -> _ByOwnPrompt | _ByComparison:
    """Return how the judge reads answers. Raises BadInput for an invalid prompt or extractor."""
    if extractor == JUDGE:
        return _ByOwnPrompt(judge, checked_prompt(prompt))
    if extractor not in COMPARING_EXTRACTORS:
        names = ", ".join(COMPARING_EXTRACTORS)
        raise BadInput(
            f"No judge reads stored answers as {extractor!r}: leave it out for a prompt of your"
            f" own, or name {names}."
        )
    return _ByComparison(judge, extractor)


class _Judging:
    def __init__(
        self, store: Store, study_id: str, method: _ByOwnPrompt | _ByComparison, asking: Asking
    ) -> None:
        self.store, self.study_id, self.method, self.asking = store, study_id, method, asking

    async def go(self, on_progress: Callable[[JudgeProgress], None]) -> JudgeRun:
        readouts: list[Readout] = []
        method, judge = self.method, self.method.judge
        name, _ = version_of(self.store, self.study_id, method.extractor, method.params)
        n_all = sum(len(block) for block in _blocks(self.store, self.study_id, method.kinds))
        n_done = 0
        async with self.asking:
            for block in _blocks(self.store, self.study_id, method.kinds):
                judgements = await self._judgements(block)
                if self.asking.check_stopped():
                    break
                for answer, reading, calls in judgements:
                    sources = [answer.completion.call_id, *(call.call_id for call in calls)]
                    is_correct = correctness(reading, answer.variant.target)
                    readouts.append(
                        answer.readout(name, reading, is_correct=is_correct, sources=sources)
                    )
                n_done += len(block)
                on_progress(JudgeProgress(n_done, n_all))
        if self.asking.ending:
            return JudgeRun("", self._stop_sentence(n_done, n_all))
        if not n_all:
            kinds = "" if method.kinds == KINDS else f" to a {' or '.join(method.kinds)} item"
            raise BadInput(
                f"This study holds no written answer{kinds}, so there is nothing to judge."
            )
        keep_version(self.store, self.study_id, name, method.extractor, method.params, readouts)
        n_failed = self.asking.progress.n_failed
        failed = (
            f" {count_of(n_failed, 'call')} failed; the same again asks only those."
            if n_failed
            else ""
        )
        return JudgeRun(
            name, f"{judge} judged {n_all:,} answers; stored as the readout {name!r}.{failed}"
        )

    async def _judgements(self, block: Sequence[Answer]) -> Judgements:
        """Return the judgements of a block once all calls are answered or the asking stops."""
        replies: dict[str, Completion] = {}
        while True:
            judgements = self.method.read(block, self.asking.backends[self.method.judge], replies)
            open_calls = _open_calls(judgements, replies)
            if not open_calls or self.asking.check_stopped():
                return judgements
            replies |= await self.asking.replies(list(open_calls.values()))

    def _stop_sentence(self, n_done: int, n_all: int) -> str:
        reason = {OVER_BUDGET: "its budget is used up", CANCELLED: "you stopped it"}.get(
            self.asking.ending
        )
        if reason is None:
            return f"The judge read {n_done:,} of {n_all:,} answers. {self.asking.why}"
        return (
            f"The judge read {n_done:,} of {n_all:,} answers before {reason}. The same again asks"
            " only the missing ones."
        )


def _model_and_item(answer: Answer) -> tuple[str, str]:
    return answer.model, answer.item.item_id


def _blocks(store: Store, study_id: str, kinds: Sequence[str]) -> Iterator[list[Answer]]:
    """Yield answers in blocks; a block never splits one model's answers to one item."""
    block: list[Answer] = []
    for answer in stored_answers(store, study_id, kinds):
        if len(block) >= _BLOCK and _model_and_item(answer) != _model_and_item(block[-1]):
            yield block
            block = []
        block.append(answer)
    if block:
        yield block


def filled(prompt: str, answer: Answer) -> str:
    """Fill question, options and text into the user's prompt. All fields are filled in one pass, so
    that "{text}" within a question or answer stays as it is."""
    item, variant = answer.item, answer.variant
    options = [
        f"{label}. {item.options[i]}"
        for label, i in zip(variant.labels, variant.order, strict=True)
    ]
    fields = {
        "question": asked_question(item, variant),
        "options": "\n".join(options),
        "text": answer.completion.text,
    }
    return _FIELD.sub(lambda match: fields[match[1]], prompt)
