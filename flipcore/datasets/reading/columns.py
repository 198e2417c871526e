"""Generic files: find the columns of the question, the options and the right answer.

A mapping names the columns of question, options (one with lists, or one per option), target,
category, key, solution, published and source_id (the item it was written from). `target_as` is the
form of the right answer: text, letter, index (from 0) or index1 (from 1). `kind` = "text" means
that rows without options have short answers. Mappings are guessed and can be corrected.
"""

import ast
import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import canonical_number, text_target

NAMES = {  # by field: names that its column may have, the likeliest first
    field: tuple(names.split())
    for field, names in {
        "question": "question question_text question_stem prompt prompt_text query problem stem "
        "input text sentence original_question",
        "options": "options choices answers candidates alternatives endings",
        "target": "target answer label gold correct correct_answer right_answer answer_text "
        "expected expected_answer ground_truth reference answer_key answerkey answer_index "
        "best_answer correct_option correct_choice right_option solution_number key",
        "category": "category subject topic domain task type",
        "key": "key id question_id qid q_id item_id item idx index uid number no nr num #",
        "solution": "solution rationale explanation cot_content",
        "published": "published date publication_date",
        "source_id": "source_id source_item written_from based_on",
    }.items()
}
FIELDS = (*NAMES, "target_as", "kind")
LONGEST_ANSWER = 300  # characters; a longer right answer is a text, which no short answer equals
TARGET_FORMS = ("text", "letter", "index", "index1")
# by field: words in other names that its column may have, if its values fit
_WORDS = {
    "question": {"question", "prompt", "problem", "stem"},
    "target": {"answer", "key", "correct", "gold", "right"},
    "category": {"category", "subject", "topic", "domain"},
    "key": {"id", "nr", "no", "number"},
}
_OPTION_COLUMN = re.compile(
    r"(?:(?:option|choice|opa|ans|answer|ending)[ _-]?)?([a-z]|\d{1,2})", re.IGNORECASE
)


def guess_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the likeliest mapping for these rows, by names and values of columns.

    Fields without a fitting column are left out. A column whose values repeat is never the id. One
    called "key" is the right answer if it holds letters of options.
    """
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    mapping: dict[str, Any] = {}
    for field, names in NAMES.items():
        used: set[str] = set()
        for mapped in mapping.values():
            used.update([mapped] if isinstance(mapped, str) else mapped)
        free = [column for column in columns if column not in used]
        named: list = []
        for name in names:
            named += [column for column in free if _snake_case(column) == name]
        if field == "options":
            fitting = [column for column in named if any(options_in(row, column) for row in rows)]
            fitting = fitting or option_columns(free)
        else:
            words = _WORDS.get(field, set())
            by_word = [column for column in free if words & set(_snake_case(column).split("_"))]
            candidates = [(column, True) for column in named]
            candidates += [(column, False) for column in by_word if column not in named]
            fitting = [
                column
                for column, is_named in candidates
                if _fits_field(field, column, rows, mapping, is_named=is_named)
            ]
        if fitting:
            mapping[field] = fitting[0]
    # SQuAD lists all right answers of a question without options
    if mapping.get("options") == "answers" and "target" not in mapping:
        mapping["target"] = mapping.pop("options")
    if "options" in mapping and "target" in mapping:
        mapping["target_as"] = target_form(rows, mapping)
    return mapping


def _fits_field(
    field: str,
    column: str,
    rows: Sequence[Mapping[str, Any]],
    mapping: Mapping[str, Any],
    *,
    is_named: bool,
) -> bool:
    """Tell whether the values of a column fit a field.

    The name of the column is one of the field's names (`is_named`), or has a word of the field.
    """
    if field == "key":
        return not _repeats(rows, column)
    if field == "question" and not is_named:
        values = [row.get(column) for row in rows if not _is_missing(row.get(column))]
        n_sentences = sum(" " in str(value) for value in values)
        return all(isinstance(value, str) for value in values) and 2 * n_sentences > len(values)
    if field == "target" and (not is_named or _snake_case(column) == "key"):
        if "options" not in mapping:
            return is_named and _repeats(rows, column)
        form = target_form(rows, {**mapping, "target": column})
        n_fitting = sum(
            _find_place(row.get(column), options_in(row, mapping["options"]), form, row, mapping)
            is not None
            for row in rows
        )
        return n_fitting > len(rows) / 2 and (form in ("letter", "text") or _repeats(rows, column))
    return True


def _repeats(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Tell whether two different rows have the same value in a column."""
    first: dict[str, Mapping[str, Any]] = {}
    filled = [row for row in rows if not _is_missing(row.get(column))]
    return any(first.setdefault(str(row[column]), row) != row for row in filled)


def _snake_case(column: str) -> str:
    return re.sub(r"[\s-]+", "_", str(column).strip().lower())


def option_columns(columns: Sequence[str]) -> list[list[str]]:
    """Return [[A, B, C, D]] or [[option_a, …]] for columns with an option each; [] for none.

    They are the largest group of at least two columns with the same prefix.
    """
    by_prefix: dict[str, list[str]] = {}
    for column in columns:
        match = _OPTION_COLUMN.fullmatch(str(column).strip())
        if match:
            by_prefix.setdefault(str(column).strip().lower()[: match.start(1)], []).append(column)
    longest = max(by_prefix.values(), key=len, default=[])
    return [longest] if len(longest) > 1 else []


def options_in(row: Mapping[str, Any], column: str | Sequence[str]) -> tuple[str, ...]:
    """Return the option texts of a row: one per column, or those of a cell (a list, an object, or
    a text: JSON, Python, or parts between line ends, | or ;)."""
    if not isinstance(column, str):
        return tuple(str(row[name]) for name in column if not _is_missing(row[name]))
    value = row.get(column)
    if isinstance(value, str):
        value = _parse_list(value)
    if isinstance(value, Mapping):
        value = value.get("text", list(value.values()))
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(
        str(entry["text"] if isinstance(entry, Mapping) and "text" in entry else entry)
        for entry in value
    )


def _parse_list(text: str) -> Any:
    if text.strip().startswith(("[", "{")):
        for parse in (json.loads, ast.literal_eval):
            try:
                return parse(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    for separator in ("\n", "|", ";"):
        if separator in text:
            return [part.strip() for part in text.split(separator) if part.strip()]
    return None


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def target_form(rows: Sequence[Mapping[str, Any]], mapping: Mapping[str, Any]) -> str:
    """Return the form of the right answer that fits the most rows.

    In a tie, a number counts from 0 rather than being an option's text.
    """
    n_fitting = dict.fromkeys(TARGET_FORMS, 0)
    n_numbers = 0
    for row in rows:
        value, options = row.get(mapping["target"]), options_in(row, mapping["options"])
        if _is_missing(value) or not options:
            continue
        n_numbers += not isinstance(value, str)
        for form in TARGET_FORMS:
            n_fitting[form] += _find_place(value, options, form, row, mapping) is not None
    order = ("index", "index1", "text", "letter") if n_numbers else TARGET_FORMS
    return max(order, key=lambda form: n_fitting[form])


def _find_place(
    value: Any,
    options: Sequence[str],
    form: str,
    row: Mapping[str, Any],
    mapping: Mapping[str, Any],
) -> int | None:
    """Return the place of the option that a right answer names in this form; None for none."""
    text = str(value).strip()
    if form == "text":
        texts = [option.strip() for option in options]
        return texts.index(text) if text in texts else None
    if form == "letter":
        labels, label = _labels(row, mapping["options"], len(options)), text.strip("().").upper()
        return labels.index(label) if label in labels else None
    number = int(value) if isinstance(value, float) and value.is_integer() else text
    place = int(number) - (form == "index1") if re.fullmatch(r"\d{1,4}", str(number)) else -1
    return place if 0 <= place < len(options) else None


def _labels(row: Mapping[str, Any], column: str | Sequence[str], n_options: int) -> list[str]:
    """Return the labels in a cell of options, {"text": …, "label": …} in ARC, else the letters."""
    value = row.get(column) if isinstance(column, str) else None
    if isinstance(value, Mapping) and "label" in value:
        return [str(label).upper() for label in value["label"]]
    return list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n_options])


def explain(mapping: Mapping[str, Any]) -> list[str]:
    """Return the mapping as sentences, so that a user can see what was guessed."""
    sentences = []
    subjects = {
        "target": "right answer is",
        "options": "options are",
        "key": "id is",
        "source_id": "item it was written from is",
    }
    for field in NAMES:
        column = mapping.get(field)
        if column:
            place = (
                f"column {column!r}" if isinstance(column, str) else f"columns {', '.join(column)}"
            )
            sentences.append(f"The {subjects.get(field, f'{field} is')} read from {place}.")
    forms = {
        "text": "as the option's text",
        "letter": "as a letter",
        "index": "as a number counted from 0",
        "index1": "as a number counted from 1",
    }
    if "target" not in mapping and ("options" in mapping or "kind" in mapping):
        sentences.append("No column holds a right answer: no score, flips only.")
    if mapping.get("target_as"):
        sentences.append(f"The right answer is written {forms[mapping['target_as']]}.")
    return sentences


# columns that may say which items are controls, and the words in them
ROLE_COLUMNS = ("role", "item_role", "set", "split", "group", "subset")
_ROLE_WORDS = {
    "benchmark": "benchmark members member target original",
    "control": "control controls non_member non_members nonmember baseline",
    "holdout": "holdout held_out heldout hold_out retro",
}


def roles_in(rows: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, str]]:
    """Return the column of roles, and the role of each of its values; ("", {}) for none.

    Train and test, for example, are no roles but parts of a data set.
    """
    columns = {_snake_case(column): column for column in chain.from_iterable(rows)}
    for name in ROLE_COLUMNS:
        if name not in columns:
            continue
        column = columns[name]
        kind_by_value = {str(row.get(column)): _role_kind(row.get(column)) for row in rows}
        kinds = set(kind_by_value.values())
        if "" in kinds or len(kinds) < 2 or "benchmark" not in kinds:
            continue
        if "control" in kinds:
            role_by_kind = {"benchmark": "benchmark", "control": "control", "holdout": "retro"}
        else:
            role_by_kind = {"benchmark": "target", "holdout": "retro"}
        return column, {value: role_by_kind[kind] for value, kind in kind_by_value.items()}
    return "", {}


def _role_kind(value: Any) -> str:
    """Return "benchmark", "control" or "holdout" by the word in a cell; "" for anything else."""
    word = _snake_case(str(value))
    return next((kind for kind, words in _ROLE_WORDS.items() if word in words.split()), "")


def maker(rows: Sequence[Row], columns: Mapping[str, Any], dataset: str) -> Callable[[Row], Item]:
    """Return the function that makes an item from a row, by the mapping `columns` or a guess."""
    good_rows = [row.values for row in rows if not row.problem]
    mapping = complete_mapping(good_rows, columns)
    role_column, _ = roles_in(good_rows)

    def item(row: Row) -> Item:
        values = row.values
        meta = {role_column: str(values[role_column])} if role_column else {}
        more_fields = {
            field: str(values[mapping[field]])
            for field in ("category", "solution", "published", "source_id")
            if field in mapping and not _is_missing(values.get(mapping[field]))
        }
        key = values[mapping["key"]] if "key" in mapping else row.line
        options = options_in(values, mapping["options"]) if "options" in mapping else ()
        target, kind = _target_and_kind(values, options, mapping)
        question = values[mapping["question"]]
        if not isinstance(question, str):
            raise BadInput(f"has {type(question).__name__} instead of text as its question")
        return Item.make(
            dataset=dataset,
            key=str(key),
            kind=kind,
            question=question,
            options=options,
            target=target,
            meta=meta,
            **more_fields,
        )

    return item


def complete_mapping(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the mapping `columns`, or a guessed one, with the form of the right answer.

    Raises BadInput for unknown fields, forms, kinds or columns, and without a question.
    """
    mapping = {field: column for field, column in columns.items() if column} or guess_columns(rows)
    column_names = set(chain.from_iterable(rows))
    unknown = sorted(set(mapping) - set(FIELDS))
    if unknown:
        raise BadInput(
            f"The column mapping has the unknown field {unknown[0]!r}; it may have "
            f"{', '.join(FIELDS)}."
        )
    if mapping.get("target_as", "text") not in TARGET_FORMS:
        raise BadInput(
            f"The right answer is said to be written as {mapping['target_as']!r}; it is one of "
            f"{', '.join(TARGET_FORMS)}."
        )
    if mapping.get("kind", "text") != "text" or ("kind" in mapping and "options" in mapping):
        raise BadInput(
            f'The column mapping has the kind {mapping["kind"]!r}; it may be "text" where there '
            "are no options, or left out."
        )
    listing = ", ".join(map(str, sorted(column_names, key=str))) or "none"
    if "question" not in mapping:
        raise BadInput(
            "No column looks like the question; name it, or add a header line if there is none. "
            f"The columns are {listing}."
        )
    for field in NAMES:
        names = mapping.get(field) or []
        for column in names if isinstance(names, (list, tuple)) else [names]:
            if column not in column_names:
                raise BadInput(
                    f"The {field} should be in the column {column!r}, which the file does not "
                    f"have; it has {listing}."
                )
    if "options" in mapping and "target" in mapping and "target_as" not in mapping:
        mapping["target_as"] = target_form(rows, mapping)
    return mapping


def _target_and_kind(
    values: Mapping[str, Any], options: Sequence[str], mapping: Mapping[str, Any]
) -> tuple[str | None, str]:
    """Return (right answer, kind of item); the answer is a place, a number, a text or None."""
    if "target" not in mapping:
        return None, "choice" if "options" in mapping else mapping.get("kind", "completion")
    value = values[mapping["target"]]
    if _is_missing(value) and "kind" in mapping:
        return None, mapping["kind"]
    if _is_missing(value):
        raise BadInput("has no right answer")
    if "options" in mapping:
        place = _find_place(value, options, mapping["target_as"], values, mapping)
        if place is None:
            raise BadInput(
                f"has the right answer {str(value)[:60]!r}, which (read as "
                f"{mapping['target_as']}) is none of its {len(options)} options"
            )
        return str(place), "choice"
    answers = _answers_in(value)
    numbers = [canonical_number(answer.rpartition("####")[2]) for answer in answers]
    if answers and None not in numbers and "kind" not in mapping:
        return "\n".join(dict.fromkeys(filter(None, numbers))), "number"
    longest = max(map(len, answers), default=0)
    if not 0 < longest <= LONGEST_ANSWER:
        raise BadInput(
            f"has a right answer of {longest:,} characters, and there are no options; a short "
            f"answer has 1 to {LONGEST_ANSWER}"
        )
    return text_target(answers, as_written=True), "text"


def _answers_in(value: Any) -> list[str]:
    """Return the right answers of a cell: a list, SQuAD's {"text": […]}, a JSON list or a text."""
    if isinstance(value, str) and value.strip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            parsed = json.loads(value)
            if isinstance(parsed, list) and all(isinstance(answer, str) for answer in parsed):
                value = parsed
    is_list = isinstance(value, (Mapping, list, tuple))
    answers = options_in({"": value}, "") if is_list else (str(value),)
    return [answer.strip() for answer in answers if answer.strip()]
