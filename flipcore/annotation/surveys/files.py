"""Sheets as files, for annotators without a browser: out as CSV or JSON, back with answers; a bad row is refused by line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from flipcore.annotation.surveys.sheets import SHOWN_AT_ONCE, TRIPLE, Survey, answer_row, sheet
from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.reading.rows import read_rows
from flipcore.stats.holdout.entries import entry_text
from flipcore.store.export import as_meant
from flipcore.text.tables import csv_text

COLUMNS = ("survey", "annotator", "question", "text_1", "text_2", "text_3", "answer")
NEEDED = ("survey", "annotator", "question", "answer")
EXAMPLE = "example of set "
MOST_ROWS = 20_000


def sheet_rows(survey: Survey, annotators: Sequence[str], items: Mapping[str, Item]) -> list[dict[str, str]]:
    """Rows of the sheets of some annotators: labelled examples first, then questions with an empty answer (1, 2 or 3)."""
    rows = []
    for annotator in annotators:
        annotator_sheet = sheet(survey, annotator)
        start = {"survey": survey.survey_id, "annotator": annotator, "text_2": "", "text_3": "", "answer": ""}
        for number, ids in (("1", annotator_sheet.target_examples), ("2", annotator_sheet.retro_examples)):
            rows += [start | {"question": EXAMPLE + number, "text_1": entry_text(items[one])} for one in ids]
        for place, question in enumerate(annotator_sheet.questions, start=1):
            texts = [entry_text(items[one]) if question.kind == TRIPLE else one for one in question.choices]
            rows.append(start | {"question": str(place)} | {f"text_{i}": text for i, text in enumerate(texts, start=1)})
    return [{column: row[column] for column in COLUMNS} for row in rows]


def file_text(rows: Sequence[Mapping[str, str]], kind: str = "csv") -> str:
    """Rows as the text of a CSV (cells that a spreadsheet would run are neutralised) or JSON file."""
    return json.dumps(list(rows), ensure_ascii=False, indent=1) if kind == "json" else csv_text(rows)


@dataclass(frozen=True)
class Returned:
    """Answers as rows for the store, and (line, sentence) of the rows that were refused."""

    rows: tuple[dict, ...]
    refusals: tuple[tuple[int, str], ...]


def returned(path: str | Path, surveys: Mapping[str, Survey]) -> Returned:
    """Filled sheets back from a file that `read_rows` reads. Raises BadInput for one that it cannot; one bad row harms no other."""
    lines = list(islice(read_rows(path), MOST_ROWS + 1))
    if len(lines) > MOST_ROWS:
        raise BadInput(f"The file has more than {MOST_ROWS:,} rows, which are the most that are read at once.")
    if not lines:
        raise BadInput("The file has no rows: send back the sheet that was downloaded, with its answers.")
    rows: list[dict] = []
    refusals: list[tuple[int, str]] = []
    line_of: dict[tuple, int] = {}
    for row in lines:
        if str(row.values.get("question") or "").startswith(EXAMPLE):
            continue
        try:
            if row.problem:
                raise BadInput(row.problem)
            answer = _answer(row.values, surveys)
            key = answer["survey_id"], answer["annotator"], answer["position"]
            if key in line_of:
                raise BadInput(
                    f"answers question {answer['position'] + 1} of {answer['annotator']} again (first in line {line_of[key]})"
                )
        except BadInput as error:
            refusals.append((row.line, f"{row.place} {error}."))
        else:
            line_of[key] = row.line
            rows.append(answer)
    return Returned(tuple(rows), tuple(refusals))


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
        raise BadInput("names no annotator" if not annotator else "has an annotator's name of more than 80 characters")
    n_questions = survey.n_triples + survey.n_checks
    if values["question"] not in [str(place + 1) for place in range(n_questions)]:
        raise BadInput(f"names the question {values['question'][:40]!r}; this survey has questions 1 to {n_questions}")
    if values["answer"] not in [str(place + 1) for place in range(SHOWN_AT_ONCE)]:
        reply = f"the answer {values['answer'][:40]!r}" if values["answer"] else "no answer"
        raise BadInput(f"has {reply}; write 1, 2 or 3")
    return answer_row(survey, annotator, int(values["question"]) - 1, int(values["answer"]) - 1)
