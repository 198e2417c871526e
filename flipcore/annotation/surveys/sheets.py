"""The odd-one-out survey (source 002, appendix F): which of three entries is from the holdout?

A sheet shows ten labelled entries of each set and then asks about triples. It follows from the
survey and the annotator's name, so nobody stores it and nobody can choose it. Entries are drawn
without replacement, and never if their text is in both sets.
"""

import asyncio
import json
import re
import threading
from collections import Counter
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
MAX_MISSED_CHECKS = 1  # annotators with more wrong attention checks do not count
# The texts of an attention check; the first one is right.
_CHECKS = (
    "Please choose this text: the question only checks that you are reading.",
    "Please leave this text alone.",
    "Please pass this text over.",
)


@dataclass(frozen=True)
class Survey:
    """The entries of both sets, and the numbers of which a sheet consists."""

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
        """Return the survey as a row for the store."""
        return {
            "survey_id": self.survey_id,
            "name": self.name,
            "sets_id": sets_id,
            "design": asdict(self),
        }

    @classmethod
    def of_design(cls, design: Mapping) -> "Survey":
        """Return the survey of a stored design, in which tuples became lists."""
        ids = {name: tuple(design[name]) for name in ("target_ids", "retro_ids")}
        return cls(**{**design, **ids})


@dataclass(frozen=True)
class Question:
    """Three entry ids, or three sentences of an attention check; `right` is the right place."""

    kind: str
    choices: tuple[str, ...]
    right: int

    @property
    def odd(self) -> str | None:
        """Id of the holdout entry; None for an attention check."""
        return self.choices[self.right] if self.kind == TRIPLE else None


@dataclass(frozen=True)
class Sheet:
    """One annotator's view: labelled examples of both sets, then the questions in order."""

    target_examples: tuple[str, ...]
    retro_examples: tuple[str, ...]
    questions: tuple[Question, ...]

    @property
    def examples(self) -> dict[str, tuple[str, ...]]:
        """Number of a set on the sheet -> its examples."""
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
    # A triple takes two benchmark entries and one of the holdout.
    for set_name, ids, needed in (
        ("benchmark", target_ids, n_examples + 2 * n_triples),
        ("holdout", retro_ids, n_examples + n_triples),
    ):
        if len(ids) < needed:
            raise BadInput(
                f"One sheet needs {needed} different {set_name} entries ({n_examples} examples and "
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
    """Return the largest number of triples that a sheet can have besides its examples."""
    in_both = {entry_text(item) for item in target} & {entry_text(item) for item in retro}
    # A triple takes two benchmark entries and one of the holdout.
    max_by_target = (len(_distinct(target, in_both)) - n_examples) // 2
    max_by_retro = len(_distinct(retro, in_both)) - n_examples
    return max(0, min(max_by_target, max_by_retro))


def _distinct(items: Sequence[Item], in_both: set[str]) -> tuple[str, ...]:
    """Return the first id of each text that is not in both sets."""
    id_by_text: dict[str, str] = {}
    for item in items:
        id_by_text.setdefault(entry_text(item), item.item_id)
    return tuple(item_id for text, item_id in id_by_text.items() if text not in in_both)


def sheet(survey: Survey, annotator: str) -> Sheet:
    """Return the sheet of one annotator, the same on every machine."""
    rng = generator(survey.seed, "sheet", survey.survey_id, annotator)
    target = [survey.target_ids[i] for i in rng.permutation(len(survey.target_ids))]
    retro = [survey.retro_ids[i] for i in rng.permutation(len(survey.retro_ids))]
    target_examples, target = target[: survey.n_examples], target[survey.n_examples :]
    retro_examples, retro = retro[: survey.n_examples], retro[survey.n_examples :]
    questions = []
    for i in range(survey.n_triples):
        place = int(rng.integers(SHOWN_AT_ONCE))
        questions.append(_question(TRIPLE, target[2 * i : 2 * i + 2], retro[i], place=place))
    for _ in range(survey.n_checks):
        place = int(rng.integers(SHOWN_AT_ONCE))
        questions.append(_question(CHECK, _CHECKS[1:], _CHECKS[0], place=place))
    order = rng.permutation(len(questions))
    ordered_questions = tuple(questions[i] for i in order)
    return Sheet(tuple(target_examples), tuple(retro_examples), questions=ordered_questions)


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
    """Return an answer as a row of `survey_answers`.

    `position` is the question's place on the sheet, from 0. `place` is the chosen text's, 0 to 2,
    and None if the reply names no single text.
    """
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
    """Return the latest answer to each question, of one annotator or of all (None)."""
    return judgements.standing(store, SURVEY_ANSWERS, annotator, survey_id=survey.survey_id)


@dataclass(frozen=True)
class Tally:
    """Answers to triples that count, as columns for `odd_one_out_survey`.

    `hits` are 1.0 for a found holdout entry, else 0.0. `left_out` are annotators who missed
    attention checks. `n_unreadable` replies named no single text.
    """

    hits: tuple[float, ...]
    entries: tuple[str, ...]
    annotators: tuple[str, ...]
    left_out: tuple[str, ...]
    n_unreadable: int


def tally(answers: Sequence[Mapping], *, is_model: bool = False) -> Tally:
    """Count `answers_to` of people, or of models, who missed at most `MAX_MISSED_CHECKS` checks."""
    rows = [row for row in answers if row["is_model"] == is_model]
    n_missed = Counter(
        row["annotator"] for row in rows if row["kind"] == CHECK and not row["is_correct"]
    )
    left_out = sorted(name for name, n in n_missed.items() if n > MAX_MISSED_CHECKS)
    triples = [row for row in rows if row["kind"] == TRIPLE and row["annotator"] not in left_out]
    readable = [row for row in triples if row["is_correct"] is not None]
    return Tally(
        tuple(float(row["is_correct"]) for row in readable),
        tuple(row["odd"] for row in readable),
        annotators=tuple(row["annotator"] for row in readable),
        left_out=tuple(left_out),
        n_unreadable=len(triples) - len(readable),
    )


NO_SURVEY = "Not run: build a survey under Survey."
NO_ANSWER = "Not run: no survey on these sets has an answer yet. Send its link under Survey."


def survey_results(
    store: Store, sets_id: str, *, is_model: bool = False
) -> tuple[OddOneOut | None, str]:
    """Return the joint result of all surveys on two sets, and words on its basis.

    The result is None, with the reason as words, if no answer of people (or models) counts.
    """
    surveys = stored_surveys(store, sets_id).values()
    hits: list[float] = []
    entries: list[str] = []
    annotators: list[str] = []
    n_left_out = n_unreadable = 0
    for survey in surveys:
        survey_tally = tally(answers_to(store, survey), is_model=is_model)
        hits += survey_tally.hits
        entries += survey_tally.entries
        annotators += survey_tally.annotators
        n_left_out += len(survey_tally.left_out)
        n_unreadable += survey_tally.n_unreadable
    if not hits and not n_left_out and not n_unreadable:
        return None, NO_ANSWER if surveys else NO_SURVEY
    if not hits:
        return None, (
            f"Not run: no usable answers; attention checks left out {n_left_out:,} sheets, and "
            f"{n_unreadable:,} replies named no single text."
        )
    result = odd_one_out_survey(hits, entries, annotators=annotators)
    method = result.accuracy.method.replace("_", " ")
    basis = (
        f"{'models' if is_model else 'people'}; clustered by entry and annotator ({method}); n = "
        f"{len(hits):,} answers, annotators {result.n_annotators:,}, entries "
        f"{result.n_entries:,}"
    )
    if n_left_out:
        basis += f"; {n_left_out} annotators left out by attention checks"
    if n_unreadable:
        basis += f"; {n_unreadable} replies unreadable"
    return result, basis


def picks(store: Store, sets_id: str) -> dict[str, tuple[int, int]]:
    """Return retro entry -> (answers that chose it, answers to its triples), over all surveys."""
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
    """Return a table's column of `picks`, None for entries without answers; {} for no picks."""
    if not counts:
        return {}
    cells: list[str | None] = []
    for item_id in item_ids:
        n_chosen, n = counts.get(item_id, (0, 0))
        cells.append(f"{n_chosen} of {n}" if n else None)
    return {"picked_in_the_survey": cells}


# Annotators without a browser get their sheets as files, and send them back with answers.
COLUMNS = ("survey", "annotator", "question", "text_1", "text_2", "text_3", "answer")
NEEDED = ("survey", "annotator", "question", "answer")
EXAMPLE = "example of set "  # begins the cell "question" of a labelled example
MAX_ROWS = 20_000


def sheet_rows(
    survey: Survey, annotators: Sequence[str], items: Mapping[str, Item]
) -> list[dict[str, str]]:
    """Return the rows of sheets: labelled examples, then questions with an empty answer."""
    rows = []
    for annotator in annotators:
        annotator_sheet = sheet(survey, annotator)
        empty_row = {
            "survey": survey.survey_id,
            "annotator": annotator,
            "text_2": "",
            "text_3": "",
            "answer": "",
        }
        for set_number, ids in annotator_sheet.examples.items():
            for item_id in ids:
                example = {"question": EXAMPLE + set_number, "text_1": entry_text(items[item_id])}
                rows.append(empty_row | example)
        for number, question in enumerate(annotator_sheet.questions, start=1):
            texts = _texts(question, items)
            cells = {f"text_{i}": text for i, text in enumerate(texts, start=1)}
            rows.append(empty_row | {"question": str(number)} | cells)
    return [{column: row[column] for column in COLUMNS} for row in rows]


def _texts(question: Question, items: Mapping[str, Item]) -> list[str]:
    """Return the texts to choose from: the entries of a triple, or the sentences of a check."""
    if question.kind != TRIPLE:
        return list(question.choices)
    return [entry_text(items[item_id]) for item_id in question.choices]


def file_text(rows: Sequence[Mapping[str, str]], kind: str = "csv") -> str:
    """Return rows as JSON, or as CSV without cells that a spreadsheet would run as formulas."""
    if kind == "json":
        return json.dumps(list(rows), ensure_ascii=False, indent=1)
    return csv_text(rows)


@dataclass(frozen=True)
class Returned:
    """Answers of filled sheets as rows for the store, and refusals of bad rows."""

    rows: tuple[dict, ...]
    refusals: tuple[Refusal, ...]


def returned(path: str | Path, surveys: Mapping[str, Survey]) -> Returned:
    """Read a file of filled sheets; a bad row is refused and the others are read.

    Raises BadInput for a file that cannot be read, is empty or is too long.
    """
    # One row more than allowed shows that a file is too long, without reading all of it.
    file_rows = list(islice(read_rows(path), MAX_ROWS + 1))
    if len(file_rows) > MAX_ROWS:
        raise BadInput(
            f"The file has more than {MAX_ROWS:,} rows, which are the most that are read at once."
        )
    if not file_rows:
        raise BadInput(
            "The file has no rows: send back the sheet that was downloaded, with its answers."
        )
    rows: list[dict] = []
    line_of: dict[tuple, int] = {}

    def take(index: int, row: Row) -> None:
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

    refusals = read_each(file_rows, take)
    return Returned(tuple(rows), refusals)


def _answer(row: Mapping, surveys: Mapping[str, Survey]) -> dict:
    """Return the answer of a file's row; BadInput messages follow the row's place in the file."""
    missing_columns = [column for column in NEEDED if row.get(column) is None]
    if missing_columns:
        raise BadInput(f"has no {missing_columns[0]}; a filled sheet has {', '.join(NEEDED)}")
    values = {column: as_meant(str(row[column]).strip()) for column in NEEDED}
    survey = surveys.get(values["survey"])
    if survey is None:
        raise BadInput(f"names the survey {values['survey'][:40]!r}, which is not stored here")
    annotator = values["annotator"]
    if not annotator:
        raise BadInput("names no annotator")
    if len(annotator) > 80:
        raise BadInput("has an annotator's name of more than 80 characters")
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


# A model annotates the same sheets, with one stored call per question (source 002 asks GPT-4o).
MAX_TOKENS = 32
_ASK = (
    "Below are entries of two data sets, and then three more entries. Two of the three belong to "
    "set 1 and one belongs to set 2. Which one belongs to set 2?\n\n{examples}\n\nThe three "
    "entries:\n\n{texts}\n\nAnswer with its number alone: 1, 2 or 3.\nAnswer:"
)
_PLACE = re.compile(r"(?<![\w.])([123])(?![\w]|\.\d)")


def place_in(text: str) -> int | None:
    """Return the place, 0 to 2, that a reply names; None if it names none or several."""
    places = set(_PLACE.findall(text))
    return int(places.pop()) - 1 if len(places) == 1 else None


def prompt(annotator_sheet: Sheet, question: Question, items: Mapping[str, Item]) -> str:
    """Return the prompt of a question: all labelled examples, then the three numbered texts."""
    examples = []
    for number, ids in annotator_sheet.examples.items():
        examples += [f"Set {number}:\n{entry_text(items[item_id])}" for item_id in ids]
    texts = enumerate(_texts(question, items), start=1)
    numbered_texts = [f"{number}:\n{text}" for number, text in texts]
    return _ASK.format(examples="\n\n".join(examples), texts="\n\n".join(numbered_texts))


@dataclass(frozen=True)
class ModelAnswers:
    """Counts of a model's replies to its sheets.

    `n_reused` answers were stored before. `why_failed` is the first error of `n_failed` calls.
    `why_stopped` is the reason why `n_missing` questions were not asked.
    """

    n_answers: int
    n_unreadable: int
    n_failed: int
    n_reused: int
    why_failed: str = ""
    n_missing: int = 0
    why_stopped: str = ""
    cost_usd: float = 0.0

    def sentence(self) -> str:
        """Return all counts as sentences."""
        reused = f", {self.n_reused:,} of them asked before" if self.n_reused else ""
        price = f", for {dollars(self.cost_usd)}" if self.cost_usd else ""
        failed = ""
        if self.n_failed:
            failed = f" {count_of(self.n_failed, 'call')} failed. {self.why_failed}"
        missing = count_of(self.n_missing, "question was", plural="questions were")
        stopped = f" {missing} not asked. {self.why_stopped}" if self.n_missing else ""
        return (
            f"{self.n_answers:,} answers{reused}{price}; {self.n_unreadable:,} replies named no "
            f"single text.{failed}{stopped}"
        )


def calls_of(
    survey: Survey, items: Mapping[str, Item], backend: Backend, n_sheets: int
) -> dict[tuple[str, int], Call]:
    """Return (annotator, position of the question) -> call."""
    calls = {}
    for i in range(n_sheets):
        # One name per sheet, because the name decides which entries a sheet shows.
        name = f"{backend.name} #{i + 1}"
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
    """Return the largest cost of the questions without a stored reply."""
    calls = calls_of(survey, items, backend=open_backend(model, cards), n_sheets=n_sheets).values()
    return projected(_unanswered(store, calls), cards.get(model))


def _unanswered(store: Store, calls: Iterable[Call]) -> list[Call]:
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
    """Ask a model the questions of its sheets, and store replies and answers.

    Questions with a stored reply are not asked again. `budget_usd` limits this run alone. Raises
    OverBudget before the first call if the projected cost exceeds it, or if there is none and the
    model costs money. Raises BadInput if entries of the retro set would be sent without
    `may_send_retro`.
    """
    require(Permission.RUN)
    calls = calls_of(survey, items, backend=open_backend(model, cards), n_sheets=n_sheets)
    new_calls = {call.call_id: call for call in _unanswered(store, calls.values())}
    reason = refusal(
        projected(new_calls.values(), cards.get(model)), budget_usd, cards={model: cards.get(model)}
    )
    if reason:
        raise OverBudget(reason)
    how = "Tick the box for holdout items to allow it."
    check_embargo(survey.retro_ids, model, may_send=may_send_retro, how=how)
    asking = Asking(
        store, survey.survey_id, models=[model], cards=cards, cap_usd=budget_usd, cancel=cancel
    )
    completions = asyncio.run(_replies(asking, list(calls.values())))
    rows, errors = [], []
    for (name, position), call in calls.items():
        completion = completions.get(call.call_id)
        if completion is not None and completion.status != OK:
            errors.append(completion.error)
        elif completion is not None:
            place, call_id = place_in(completion.text), completion.call_id
            row = answer_row(survey, name, position, place, is_model=True, call_id=call_id)
            rows.append(row)
    judgements.keep(store, SURVEY_ANSWERS, rows)
    return ModelAnswers(
        len(rows),
        sum(row["chosen"] is None for row in rows),
        n_failed=len(errors),
        n_reused=sum(call.call_id not in new_calls for call in calls.values()),
        why_failed=errors[0] if errors else "",
        n_missing=len(calls) - len(rows) - len(errors),
        why_stopped=asking.why,
        cost_usd=asking.progress.cost_usd,
    )


async def _replies(asking: Asking, calls: list[Call]) -> dict[str, Completion]:
    async with asking:
        return await asking.replies(calls)
