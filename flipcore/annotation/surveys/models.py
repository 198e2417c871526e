"""A model as the annotator of a survey: the same sheets, one call a question, all kept (source 002 asks GPT-4o)."""

import asyncio
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flipcore.access.acting import Permission, require
from flipcore.annotation.surveys.sheets import TRIPLE, Question, Sheet, Survey, answer_row, sheet
from flipcore.core.contracts import Backend
from flipcore.core.errors import OverBudget
from flipcore.core.records import OK, Call, Completion, Item, Request
from flipcore.models import ModelCard, open_backend
from flipcore.runs.asking import Asking
from flipcore.runs.cost import Projection, dollars, projected, refusal
from flipcore.runs.embargo import check_embargo
from flipcore.stats.holdout.entries import entry_text
from flipcore.store.connection import Store
from flipcore.store.queries import holdout, planning
from flipcore.text.counts import count_of

MAX_TOKENS = 32
_ASK = (
    "Below are entries of two data sets, and then three more entries. Two of the three belong to set 1 and one belongs to "
    "set 2. Which one belongs to set 2?\n\n{examples}\n\nThe three entries:\n\n{texts}\n\nAnswer with its number alone: 1, "
    "2 or 3.\nAnswer:"
)
_PLACE = re.compile(r"(?<![\w.])([123])(?![\w]|\.\d)")


def place_in(text: str) -> int | None:
    """The place 0 to 2 that a reply names, None where it names none or several."""
    places = set(_PLACE.findall(text))
    return int(places.pop()) - 1 if len(places) == 1 else None


def prompt(annotator_sheet: Sheet, question: Question, items: Mapping[str, Item]) -> str:
    """What the model is shown: all labelled examples, then the three texts by number."""
    examples = "\n\n".join(
        f"Set {number}:\n{entry_text(items[one])}"
        for number, ids in (("1", annotator_sheet.target_examples), ("2", annotator_sheet.retro_examples))
        for one in ids
    )
    texts = [entry_text(items[one]) if question.kind == TRIPLE else one for one in question.choices]
    return _ASK.format(examples=examples, texts="\n\n".join(f"{i}:\n{text}" for i, text in enumerate(texts, start=1)))


@dataclass(frozen=True)
class ModelAnswers:
    """What came back of a model's sheets. `why_stopped` is a sentence where `n_missing` questions were not asked."""

    n_answers: int
    n_unreadable: int
    n_failed: int
    n_reused: int
    why_failed: str = ""
    n_missing: int = 0
    why_stopped: str = ""
    cost_usd: float = 0.0

    def sentence(self) -> str:
        again = f", {self.n_reused:,} of them asked before" if self.n_reused else ""
        price = f", for {dollars(self.cost_usd)}" if self.cost_usd else ""
        failed = f" {count_of(self.n_failed, 'call')} failed. {self.why_failed}" if self.n_failed else ""
        missing = count_of(self.n_missing, "question was", "questions were")
        stopped = f" {missing} not asked. {self.why_stopped}" if self.n_missing else ""
        return f"{self.n_answers:,} answers{again}{price}; {self.n_unreadable:,} replies named no single text.{failed}{stopped}"


def calls_of(survey: Survey, items: Mapping[str, Item], backend: Backend, n_sheets: int) -> dict[tuple[str, int], Call]:
    """(annotator, question) -> its call."""
    calls = {}
    for i in range(n_sheets):
        name = f"{backend.name} #{i + 1}"  # one a sheet, so that every sheet shows other entries
        annotator_sheet = sheet(survey, name)
        for position, question in enumerate(annotator_sheet.questions):
            request = Request(
                "generate", prompt(annotator_sheet, question, items), max_tokens=MAX_TOKENS, temperature=0.0, seed=survey.seed
            )
            calls[name, position] = Call(backend.name, backend.revision, request)
    return calls


def projection(
    store: Store, survey: Survey, items: Mapping[str, Item], model: str, n_sheets: int, cards: Mapping[str, ModelCard]
) -> Projection:
    """What asking would cost at most: the questions without a stored reply."""
    calls = calls_of(survey, items, open_backend(model, cards), n_sheets).values()
    return projected(_missing(store, calls), cards.get(model))


def _missing(store: Store, calls: Iterable[Call]) -> list[Call]:
    by_id = {call.call_id: call for call in calls}
    stored_ids = {row["call_id"] for row in planning.completions(store, list(by_id))}
    return [call for call_id, call in by_id.items() if call_id not in stored_ids]


def ask_model(
    store: Store,
    survey: Survey,
    items: Mapping[str, Item],
    model: str,
    cards: Mapping[str, ModelCard],
    *,
    n_sheets: int = 1,
    budget_usd: float | None = None,
    may_send_retro: bool = False,
    cancel: threading.Event | None = None,
) -> ModelAnswers:
    """Asks the questions that were not asked before, keeps replies and answers; `budget_usd` is for this asking alone. Raises
    OverBudget before the first call when the projection is over the cap or the model costs money and there is none, and BadInput
    where the entries of the retro set would be sent unasked."""
    require(Permission.RUN)
    calls = calls_of(survey, items, open_backend(model, cards), n_sheets)
    missing = {call.call_id: call for call in _missing(store, calls.values())}
    reason = refusal(projected(missing.values(), cards.get(model)), budget_usd, {model: cards.get(model)})
    if reason:
        raise OverBudget(reason)
    check_embargo(survey.retro_ids, model, may_send=may_send_retro, how="Tick the box for retro items to allow it.")
    asking = Asking(store, survey.survey_id, [model], cards, budget_usd, cancel=cancel)
    completions = asyncio.run(_replies(asking, list(calls.values())))
    by_question = {key: completions[call.call_id] for key, call in calls.items() if call.call_id in completions}
    answered = {key: one for key, one in by_question.items() if one.status == OK}
    rows = [
        answer_row(survey, name, position, place_in(one.text), is_model=True, call_id=one.call_id)
        for (name, position), one in answered.items()
    ]
    holdout.keep_answers(store, rows)
    failed = [one.error for one in by_question.values() if one.status != OK]
    return ModelAnswers(
        len(rows),
        sum(row["chosen"] is None for row in rows),
        len(failed),
        sum(call.call_id not in missing for call in calls.values()),
        failed[0] if failed else "",
        len(calls) - len(by_question),
        asking.why,
        asking.progress.cost_usd,
    )


async def _replies(asking: Asking, calls: list[Call]) -> dict[str, Completion]:
    async with asking:
        return await asking.replies(calls)
