"""The odd-one-out survey (source 002, appendix F): ten labelled entries of each set, then which of
three is from the second?

A sheet follows from the survey and the annotator's name, so nobody has to keep it and nobody can
choose it. Entries are drawn without replacement: no entry stands on a sheet twice, and none whose
text stands in both sets stands on it at all.
"""

import asyncio
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.annotation.judging import Refusal, read_each
from flipcore.core.contracts import Backend
from flipcore.core.errors import BadInput, OverBudget
from flipcore.core.randomness import generator
from flipcore.core.records import OK, Call, Completion, Item, Request, digest
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.models import ModelCard, open_backend
from flipcore.runs.asking import Asking
from flipcore.runs.cost import Projection, dollars, projected, refusal
from flipcore.runs.embargo import check_embargo
from flipcore.stats.holdout.entries import entry_text
from flipcore.stats.holdout.survey import OddOneOut, odd_one_out_survey
from flipcore.store.connection import Store
from flipcore.store.export import as_meant
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements, planning
from flipcore.text.counts import count_of
from flipcore.text.tables import csv_text

TRIPLE, CHECK = "triple", "check"
SHOWN_AT_ONCE = 3
MISSED_CHECKS = 1  # an annotator with more than this many checks wrong is not counted
_CHECKS = (
    "Please choose this text: the question only checks that you are reading.",
    "Please leave this text alone.",
    "Please pass this text over.",
)


@dataclass(frozen=True)
class Survey:
    """Both sets' entries and how a sheet is drawn from them."""

    name: str
    target_ids: tuple[str, ...]
    retro_ids: tuple[str, ...]
    n_examples: int = 10
    n_triples: int = 10
    n_checks: int = 3
    seed: int = 0

    @property
    def survey_id(self) -> str:
        return digest(asdict(self))[:12]

    def row(self, sets_id: str) -> dict:
        return {
            "survey_id": self.survey_id,
            "name": self.name,
            "sets_id": sets_id,
            "design": asdict(self),
        }

    @classmethod
    def of_design(cls, design: Mapping) -> "Survey":
        return cls(
            **{
                **design,
                "target_ids": tuple(design["target_ids"]),
                "retro_ids": tuple(design["retro_ids"]),
            }
        )


@dataclass(frozen=True)
class Question:
    """Three entries by id, or sentences of an attention check; `right` is the place to choose."""

    kind: str
    choices: tuple[str, ...]
    right: int

    @property
    def odd(self) -> str | None:
        """The holdout entry; None in a check."""
        return self.choices[self.right] if self.kind == TRIPLE else None


@dataclass(frozen=True)
class Sheet:
    """One annotator's view: labelled examples of both sets, then the questions in order."""

    target_examples: tuple[str, ...]
    retro_examples: tuple[str, ...]
    questions: tuple[Question, ...]

    @property
    def examples(self) -> dict[str, tuple[str, ...]]:
        """Number of a set, as annotators know it -> its examples."""
        return {"1": self.target_examples, "2": self.retro_examples}


def new_survey(
    name: str,
    target: Sequence[Item],
    retro: Sequence[Item],
    *,
    n_examples: int = 10,
    n_triples: int = 10,
    n_checks: int = 3,
    seed: int = 0,
) -> Survey:
    """Make a survey over two sets. Raises BadInput if a set is too small for one sheet."""
    if min(n_examples, n_triples, n_checks) < 0 or n_triples < 1:
        raise BadInput(
            f"A survey of {n_examples} examples, {n_triples} triples and {n_checks} checks cannot "
            "be asked: take at least one triple, and no number below 0."
        )
    target_texts = {entry_text(item) for item in target}
    in_both = target_texts & {entry_text(item) for item in retro}
    target_ids, retro_ids = _distinct(target, in_both), _distinct(retro, in_both)
    for name_of, ids, needed in (
        ("benchmark", target_ids, n_examples + 2 * n_triples),
        ("holdout", retro_ids, n_examples + n_triples),
    ):
        if len(ids) < needed:
            raise BadInput(
                f"One sheet needs {needed} different {name_of} entries ({n_examples} examples and "
                f"{n_triples} triples) and there are {len(ids)}: ask fewer triples, show fewer "
                "examples, or take a larger set."
            )
    return Survey(
        name.strip() or "Survey",
        target_ids,
        retro_ids=retro_ids,
        n_examples=n_examples,
        n_triples=n_triples,
        n_checks=n_checks,
        seed=seed,
    )


def most_triples(target: Sequence[Item], retro: Sequence[Item], n_examples: int) -> int:
    """Number of triples that a sheet can hold next to its examples; 0 when none."""
    in_both = {entry_text(item) for item in target} & {entry_text(item) for item in retro}
    # A triple takes two benchmark entries and one of the holdout.
    return max(
        0,
        min(
            (len(_distinct(target, in_both)) - n_examples) // 2,
            len(_distinct(retro, in_both)) - n_examples,
        ),
    )


def _distinct(items: Sequence[Item], in_both: set[str]) -> tuple[str, ...]:
    """The first id of each text that does not stand in both sets."""
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(entry_text(item), item.item_id)
    return tuple(item_id for text, item_id in first.items() if text not in in_both)


def sheet(survey: Survey, annotator: str) -> Sheet:
    """The sheet of one annotator, the same on every machine."""
    rng = generator(survey.seed, "sheet", survey.survey_id, annotator)
    target = [survey.target_ids[i] for i in rng.permutation(len(survey.target_ids))]
    retro = [survey.retro_ids[i] for i in rng.permutation(len(survey.retro_ids))]
    e = survey.n_examples
    questions = []
    for i in range(survey.n_triples):
        pair, place = target[e + 2 * i : e + 2 * i + 2], int(rng.integers(SHOWN_AT_ONCE))
        questions.append(_question(TRIPLE, pair, retro[e + i], place=place))
    for _ in range(survey.n_checks):
        place = int(rng.integers(SHOWN_AT_ONCE))
        questions.append(_question(CHECK, _CHECKS[1:], _CHECKS[0], place=place))
    order = rng.permutation(len(questions))
    return Sheet(tuple(target[:e]), tuple(retro[:e]), questions=tuple(questions[i] for i in order))


def _question(kind: str, wrong: Sequence[str], right: str, place: int) -> Question:
    return Question(kind, (*wrong[:place], right, *wrong[place:]), right=place)


def answer_row(
    survey: Survey,
    annotator: str,
    position: int,
    place: int | None,
    *,
    is_model: bool = False,
    call_id: str | None = None,
) -> dict:
    """One answer as a row of `survey_answers`; `place` is 0 to 2, None for an unread reply."""
    question = sheet(survey, annotator).questions[position]
    return {
        "survey_id": survey.survey_id,
        "annotator": annotator,
        "is_model": is_model,
        "position": position,
        "kind": question.kind,
        "odd": question.odd,
        "chosen": None if place is None else question.choices[place],
        "is_correct": None if place is None else place == question.right,
        "call_id": call_id,
    }


def stored_surveys(store: Store, sets_id: str | None = None) -> dict[str, Survey]:
    """Return the surveys on two sets, or all, by id, newest first."""
    return {
        row["survey_id"]: Survey.of_design(row["design"]) for row in holdout.surveys(store, sets_id)
    }


def answers_to(store: Store, survey: Survey, annotator: str | None = None) -> list[dict]:
    """Return the answers that stand, of one annotator or of all: the latest to each question."""
    return judgements.standing(store, SURVEY_ANSWERS, annotator, survey_id=survey.survey_id)


@dataclass(frozen=True)
class Tally:
    """Answers that count, as columns for `odd_one_out_survey`; who was left out, and how many
    replies were unreadable."""

    hits: tuple[float, ...]
    entries: tuple[str, ...]
    annotators: tuple[str, ...]
    left_out: tuple[str, ...]
    n_unreadable: int


def tally(answers: Sequence[Mapping], *, is_model: bool = False) -> Tally:
    """The triples of all people (or models) who missed at most one attention check; rows as
    `answers_to` gives them."""
    rows = [row for row in answers if row["is_model"] == is_model]
    missed: dict[str, int] = {}
    for row in rows:
        if row["kind"] == CHECK:
            missed[row["annotator"]] = missed.get(row["annotator"], 0) + (not row["is_correct"])
    left_out = sorted(name for name, n in missed.items() if n > MISSED_CHECKS)
    triples = [row for row in rows if row["kind"] == TRIPLE and row["annotator"] not in left_out]
    read = [row for row in triples if row["is_correct"] is not None]
    return Tally(
        tuple(float(row["is_correct"]) for row in read),
        tuple(row["odd"] for row in read),
        annotators=tuple(row["annotator"] for row in read),
        left_out=tuple(left_out),
        n_unreadable=len(triples) - len(read),
    )


# What all surveys on two sets say together, of people or of models.


NO_SURVEY = "Not run: build a survey under Survey."
NO_ANSWER = "Not run: no survey on these sets has an answer yet. Send its link under Survey."


def survey_results(
    store: Store, sets_id: str, *, is_model: bool = False
) -> tuple[OddOneOut | None, str]:
    """(result, how) of all surveys on these sets, of people or models; else (None, why)."""
    surveys = stored_surveys(store, sets_id).values()
    hits: list[float] = []
    entries: list[str] = []
    people: list[str] = []
    out = unread = 0
    for survey in surveys:
        survey_tally = tally(answers_to(store, survey), is_model=is_model)
        hits += survey_tally.hits
        entries += survey_tally.entries
        people += survey_tally.annotators
        out += len(survey_tally.left_out)
        unread += survey_tally.n_unreadable
    if not hits:
        waiting = NO_ANSWER if surveys else NO_SURVEY
        return None, waiting if not (out or unread) else (
            f"Not run: no usable answers; attention checks left out {out:,} sheets, and "
            f"{unread:,} replies named no single text."
        )
    result = odd_one_out_survey(hits, entries, annotators=people)
    method = result.accuracy.method.replace("_", " ")
    exclusions = f"; {out} annotators left out by attention checks" if out else ""
    return result, (
        f"{'models' if is_model else 'people'}; clustered by entry and annotator ({method}); n = "
        f"{len(hits):,} answers, annotators {result.n_annotators:,}, entries "
        f"{result.n_entries:,}{exclusions}{f'; {unread} replies unreadable' if unread else ''}"
    )


def picks(store: Store, sets_id: str) -> dict[str, tuple[int, int]]:
    """Retro entry -> (answers that named it as the odd one, answers to triples that held it), over
    all surveys on these sets."""
    counts: dict[str, tuple[int, int]] = {}
    for survey in stored_surveys(store, sets_id).values():
        survey_tally = tally(answers_to(store, survey), is_model=False)
        for entry, hit in zip(survey_tally.entries, survey_tally.hits, strict=True):
            n_right, n = counts.get(entry, (0, 0))
            counts[entry] = (n_right + int(hit), n + 1)
    return counts


def pick_column(
    item_ids: Sequence[str], counts: Mapping[str, tuple[int, int]]
) -> dict[str, list[str | None]]:
    """A column of a table that says of each entry how many answers named it as the odd one, as
    `picks` counts them; no column where there was no answer."""
    if not counts:
        return {}
    pairs = (counts.get(item_id) for item_id in item_ids)
    return {"picked_in_the_survey": [f"{pair[0]} of {pair[1]}" if pair else None for pair in pairs]}


# Sheets as files, for annotators without a browser: out as CSV or JSON, back with answers; a bad
# row is refused by line.

COLUMNS = ("survey", "annotator", "question", "text_1", "text_2", "text_3", "answer")
NEEDED = ("survey", "annotator", "question", "answer")
EXAMPLE = "example of set "
MOST_ROWS = 20_000


def sheet_rows(
    survey: Survey, annotators: Sequence[str], items: Mapping[str, Item]
) -> list[dict[str, str]]:
    """Rows of the sheets of some annotators: labelled examples first, then questions with an empty
    answer (1, 2 or 3)."""
    rows = []
    for annotator in annotators:
        annotator_sheet = sheet(survey, annotator)
        start = {
            "survey": survey.survey_id,
            "annotator": annotator,
            "text_2": "",
            "text_3": "",
            "answer": "",
        }
        for number, ids in annotator_sheet.examples.items():
            for item_id in ids:
                example = {"question": EXAMPLE + number, "text_1": entry_text(items[item_id])}
                rows.append(start | example)
        for place, question in enumerate(annotator_sheet.questions, start=1):
            texts = _texts(question, items)
            rows.append(
                start
                | {"question": str(place)}
                | {f"text_{i}": text for i, text in enumerate(texts, start=1)}
            )
    return [{column: row[column] for column in COLUMNS} for row in rows]


def _texts(question: Question, items: Mapping[str, Item]) -> list[str]:
    """Texts to choose from: the entries of a triple, else the choices themselves."""
    if question.kind != TRIPLE:
        return list(question.choices)
    return [entry_text(items[item_id]) for item_id in question.choices]


def file_text(rows: Sequence[Mapping[str, str]], kind: str = "csv") -> str:
    """Rows as the text of a JSON file or of a CSV, without cells that a spreadsheet would run."""
    return (
        json.dumps(list(rows), ensure_ascii=False, indent=1) if kind == "json" else csv_text(rows)
    )


@dataclass(frozen=True)
class Returned:
    """Answers as rows for the store, and (line, sentence) of the rows that were refused."""

    rows: tuple[dict, ...]
    refusals: tuple[Refusal, ...]


def returned(path: str | Path, surveys: Mapping[str, Survey]) -> Returned:
    """Filled sheets back from a file that `read_rows` reads. Raises BadInput for one that it
    cannot; one bad row harms no other."""
    # One row more than the most tells that a file is too long, however long it is.
    lines = list(islice(read_rows(path), MOST_ROWS + 1))
    if len(lines) > MOST_ROWS:
        raise BadInput(
            f"The file has more than {MOST_ROWS:,} rows, which are the most that are read at once."
        )
    if not lines:
        raise BadInput(
            "The file has no rows: send back the sheet that was downloaded, with its answers."
        )
    rows: list[dict] = []
    line_of: dict[tuple, int] = {}

    def take(place: int, row: Row) -> None:
        if str(row.values.get("question") or "").startswith(EXAMPLE):
            return
        answer = _answer(row.values, surveys)
        key = answer["survey_id"], answer["annotator"], answer["position"]
        if key in line_of:
            raise BadInput(
                f"answers question {answer['position'] + 1} of {answer['annotator']} again "
                f"(first in line {line_of[key]})"
            )
        line_of[key] = row.line
        rows.append(answer)

    refusals = read_each(lines, take)
    return Returned(tuple(rows), refusals)


def _answer(row: Mapping, surveys: Mapping[str, Survey]) -> dict:
    lacking = [column for column in NEEDED if row.get(column) is None]
    if lacking:
        raise BadInput(f"has no {lacking[0]}; a filled sheet has {', '.join(NEEDED)}")
    values = {column: as_meant(str(row[column]).strip()) for column in NEEDED}
    survey = surveys.get(values["survey"])
    if survey is None:
        raise BadInput(f"names the survey {values['survey'][:40]!r}, which is not stored here")
    annotator = values["annotator"]
    if not annotator or len(annotator) > 80:
        raise BadInput(
            "names no annotator"
            if not annotator
            else "has an annotator's name of more than 80 characters"
        )
    n_questions = survey.n_triples + survey.n_checks
    if values["question"] not in [str(place + 1) for place in range(n_questions)]:
        raise BadInput(
            f"names the question {values['question'][:40]!r}; this survey has questions 1 to "
            f"{n_questions}"
        )
    if values["answer"] not in [str(place + 1) for place in range(SHOWN_AT_ONCE)]:
        reply = f"the answer {values['answer'][:40]!r}" if values["answer"] else "no answer"
        raise BadInput(f"has {reply}; write 1, 2 or 3")
    return answer_row(
        survey, annotator, position=int(values["question"]) - 1, place=int(values["answer"]) - 1
    )


# A model as the annotator of a survey: the same sheets, one call a question, all kept (source 002
# asks GPT-4o).

MAX_TOKENS = 32
_ASK = (
    "Below are entries of two data sets, and then three more entries. Two of the three belong to "
    "set 1 and one belongs to set 2. Which one belongs to set 2?\n\n{examples}\n\nThe three "
    "entries:\n\n{texts}\n\nAnswer with its number alone: 1, 2 or 3.\nAnswer:"
)
_PLACE = re.compile(r"(?<![\w.])([123])(?![\w]|\.\d)")


def place_in(text: str) -> int | None:
    """The place 0 to 2 that a reply names, None where it names none or several."""
    places = set(_PLACE.findall(text))
    return int(places.pop()) - 1 if len(places) == 1 else None


def prompt(annotator_sheet: Sheet, question: Question, items: Mapping[str, Item]) -> str:
    """Prompt of a question: all labelled examples, then the three texts by number."""
    shown = []
    for number, ids in annotator_sheet.examples.items():
        shown += [f"Set {number}:\n{entry_text(items[item_id])}" for item_id in ids]
    examples = "\n\n".join(shown)
    texts = _texts(question, items)
    return _ASK.format(
        examples=examples,
        texts="\n\n".join(f"{i}:\n{text}" for i, text in enumerate(texts, start=1)),
    )


@dataclass(frozen=True)
class ModelAnswers:
    """Replies to a model's sheets. `why_stopped` says why `n_missing` questions were not asked."""

    n_answers: int
    n_unreadable: int
    n_failed: int
    n_reused: int
    why_failed: str = ""
    n_missing: int = 0
    why_stopped: str = ""
    cost_usd: float = 0.0

    def sentence(self) -> str:
        reused = f", {self.n_reused:,} of them asked before" if self.n_reused else ""
        price = f", for {dollars(self.cost_usd)}" if self.cost_usd else ""
        failed = (
            f" {count_of(self.n_failed, 'call')} failed. {self.why_failed}" if self.n_failed else ""
        )
        missing = count_of(self.n_missing, "question was", plural="questions were")
        stopped = f" {missing} not asked. {self.why_stopped}" if self.n_missing else ""
        return (
            f"{self.n_answers:,} answers{reused}{price}; {self.n_unreadable:,} replies named no "
            f"single text.{failed}{stopped}"
        )


def calls_of(
    survey: Survey, items: Mapping[str, Item], backend: Backend, n_sheets: int
) -> dict[tuple[str, int], Call]:
    """(annotator, question) -> its call."""
    calls = {}
    for i in range(n_sheets):
        name = f"{backend.name} #{i + 1}"  # one a sheet, so that every sheet shows other entries
        annotator_sheet = sheet(survey, name)
        for position, question in enumerate(annotator_sheet.questions):
            request = Request(
                "generate",
                prompt(annotator_sheet, question, items=items),
                max_tokens=MAX_TOKENS,
                temperature=0.0,
                seed=survey.seed,
            )
            calls[name, position] = Call(backend.name, backend.revision, request=request)
    return calls


def projection(
    store: Store,
    survey: Survey,
    items: Mapping[str, Item],
    model: str,
    n_sheets: int,
    cards: Mapping[str, ModelCard],
) -> Projection:
    """Cost of asking at most: the questions without a stored reply."""
    calls = calls_of(survey, items, backend=open_backend(model, cards), n_sheets=n_sheets).values()
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
    """Asks the questions that were not asked before, keeps replies and answers; `budget_usd` is for
    this asking alone. Raises OverBudget before the first call when the projection is over the cap
    or the model costs money and there is none, and BadInput where the entries of the retro set
    would be sent unasked."""
    require(Permission.RUN)
    calls = calls_of(survey, items, backend=open_backend(model, cards), n_sheets=n_sheets)
    missing = {call.call_id: call for call in _missing(store, calls.values())}
    reason = refusal(
        projected(missing.values(), cards.get(model)), budget_usd, cards={model: cards.get(model)}
    )
    if reason:
        raise OverBudget(reason)
    how = "Tick the box for retro items to allow it."
    check_embargo(survey.retro_ids, model, may_send=may_send_retro, how=how)
    asking = Asking(
        store, survey.survey_id, models=[model], cards=cards, cap_usd=budget_usd, cancel=cancel
    )
    completions = asyncio.run(_replies(asking, list(calls.values())))
    rows, failed = [], []
    for (name, position), call in calls.items():
        completion = completions.get(call.call_id)
        if completion is not None and completion.status != OK:
            failed.append(completion.error)
        elif completion is not None:
            place, call_id = place_in(completion.text), completion.call_id
            row = answer_row(survey, name, position, place, is_model=True, call_id=call_id)
            rows.append(row)
    judgements.keep(store, SURVEY_ANSWERS, rows)
    return ModelAnswers(
        len(rows),
        sum(row["chosen"] is None for row in rows),
        n_failed=len(failed),
        n_reused=sum(call.call_id not in missing for call in calls.values()),
        why_failed=failed[0] if failed else "",
        n_missing=len(calls) - len(rows) - len(failed),
        why_stopped=asking.why,
        cost_usd=asking.progress.cost_usd,
    )


async def _replies(asking: Asking, calls: list[Call]) -> dict[str, Completion]:
    async with asking:
        return await asking.replies(calls)
