"""Make readouts of the recorded fields of one variant: a score per option, or the option, label or number itself.

A column may be inside another one: `doc.options`, `resps[0][0]`, `messages[-1].content`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.rows import Row
from flipcore.datasets.recorded.log_records import LogReadout, number_of, prompt_from, right_of
from flipcore.datasets.tables.coding import score_of_cell
from flipcore.datasets.tables.own_columns import OF_SAMPLE, bare_column, is_shared, own_key, parts_of_share, row_labels
from flipcore.datasets.tables.stems import names
from flipcore.datasets.tables.turns import with_last_turn
from flipcore.text.answers import number_at_end, text_target
from flipcore.text.prompts import labels_of


@dataclass(frozen=True)
class Field:
    """One recorded readout. `column` holds a score per label or option text, or the label or option text itself.

    `top_token` and `top_score` are the columns of the likeliest first token and its score on the same scale (logits or
    log-probabilities). They bound the label mass from above.
    """

    extractor: str
    column: str
    top_token: str = ""
    top_score: str = ""


def score_of(value: Any) -> float | None:
    """Return the score in a cell; None for anything else.

    A number, a percentage, 3/5, true or false, a word for passed or failed, a letter of Inspect (C, P, I, N), or an object
    with one of them, as scorers of Weave write it.
    """
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    score = number_of(_score_of_text(value) if isinstance(value, str) else value)
    # the cosine of equal texts may be 1.0000000000000002
    return 1.0 if score is not None and 1 < score < 1 + _ROUNDING else score


_ROUNDING = 1e-9
_score_of_text = lru_cache(4_096)(score_of_cell)  # the cells of a table repeat


def scorer_readout(name: str, value: Any) -> LogReadout:
    """Return the score of a row as a readout, without a score for an empty cell. Raises BadInput for any other cell."""
    is_missing = isinstance(value, str) and value.strip().lower() in ("", "nan", "none", "null", "na")
    if value is None or value != value or is_missing:
        return LogReadout(name, reason="The table has no score here.")
    score = score_of(value)
    if score is None:
        raise BadInput(
            f"has the score {str(value)[:40]!r}, which is no number, no right or wrong and no grade; for another column: "
            "--map score=COLUMN"
        )
    return LogReadout(name, None, right_of(score), score)


def readout_of(
    field: Field,
    values: Mapping,
    kind: str,
    options: Sequence[str],
    order: Sequence[int],
    is_answered: bool = False,
    form: str = "",
) -> LogReadout:
    """Return the readout of a row's field for one variant.

    `options` are those of the item, `order` that of the variant, `form` (one of TARGET_FORMS) tells how the column names an
    option. A missing field is absent; an empty one is unreadable if the row `is_answered` and the column is a program's
    readout. Raises BadInput for scores that belong to no option.
    """
    value = values.get(field.column)
    # an extractor leaves the cell empty if it found no answer
    if is_answered and field.column in values and names(field.column, "readout") and (value is None or value != value):
        return LogReadout(field.extractor, unreadable=True, reason=f"The log's own reading, {field.column}, found no answer.")
    if value is None or value == {} or value != value:
        return LogReadout(field.extractor, reason=f"The record has no field {field.column!r}.")
    if isinstance(value, Mapping) and not options:
        return LogReadout(field.extractor, reason=f"The options that {field.column!r} holds scores of are not in the table.")
    if isinstance(value, Mapping):
        return _best_option(field, value, values, options, order)
    if isinstance(value, bool):
        return LogReadout(field.extractor, None, value, float(value))  # right or wrong, without an answer
    if isinstance(value, float) and not value.is_integer():
        value = float(f"{value:.14g}")  # a program's 19.489999999999988 is 19.49
    place = _option_index(options, order, str(value), form) if kind == "choice" else None
    return LogReadout(field.extractor, str(value), place=place)


def _best_option(field: Field, scores: Mapping, values: Mapping, options: Sequence[str], order: Sequence[int]) -> LogReadout:
    """Return the option with the highest score as a readout; equal scores throughout are placeholders."""
    by_index = {_option_index(options, order, str(key)): score for key, score in scores.items()}
    if None in by_index or any(not isinstance(score, (int, float)) or score != score for score in by_index.values()):
        raise BadInput(f"holds scores in {field.column!r} that are no numbers or belong to no option")
    best_score = max(by_index.values())
    winners = [option for option, score in by_index.items() if score == best_score]
    if len(winners) == len(by_index) > 1:
        return LogReadout(field.extractor, reason=f"Every score in {field.column!r} is {best_score}: a placeholder.")
    if len(winners) > 1:
        return LogReadout(field.extractor, unreadable=True, reason=f"{len(winners)} options have the same highest score.")
    (place,) = winners
    assert place is not None
    note = _mass_note(labels_of("upper", len(order)), list(by_index.values()), values, field)
    return LogReadout(field.extractor, options[place], reason=note, place=place)


def _mass_note(labels: Sequence[str], scores: Sequence[float], values: Mapping, field: Field) -> str:
    """Say what is known about the label mass: nothing, or the bound labels / (labels + likeliest other token)."""
    top_score, token = values.get(field.top_score), values.get(field.top_token)
    if not isinstance(top_score, (int, float)) or token is None or str(token).strip() in labels:
        return "Label mass unknown: only the labels' scores were recorded."
    bound = 1 / (1 + 1 / sum(math.exp(min(score - top_score, 700.0)) for score in scores))
    return f"Label mass unknown, at most {bound:.2g}: the likeliest first token was {str(token)!r}."


def _option_index(options: Sequence[str], order: Sequence[int], text: str, form: str = "") -> int | None:
    """Return the index of the option that a label, its text, or both ("B. oak") name; None for none or several.

    In a column of letters, a letter is a label even if it is the text of another option.
    """
    text = text.strip()
    if form in ("index", "index1") and re.fullmatch(r"\d{1,2}", text):
        place = int(text) - (form == "index1")
        return order[place] if 0 <= place < len(order) else None
    if list(options).count(text) == 1 and not (form == "letter" and bare_label(text) in labels_of("upper", len(order))):
        return list(options).index(text)
    label = bare_label(text)
    labelled_text = re.match(r"\(?(\w{1,2})[.):]\s*(\S.*)", text, re.DOTALL)  # "B. oak"
    for shown_label, place in zip(labels_of("upper", len(order)), order, strict=True):
        if shown_label == label or (labelled_text and labelled_text.groups() == (shown_label, options[place])):
            return place
    folded = [option.strip().rstrip(".").casefold() for option in options]
    bare = text.rstrip(".").casefold()  # some models write only small letters
    return folded.index(bare) if folded.count(bare) == 1 else None


def bare_label(text: str) -> str:
    """Return a label without brackets and periods: B for (B), B. and B)."""
    match = re.fullmatch(r"\(?(\w{1,2})[.):]?", text)
    return match[1] if match else text


_STEP = re.compile(r"\[(-?\d+)\]|\.?([^.\[\]]+)")
_NAMED_ENTRY = re.compile(r"(.+?)\[(?!-?\d+\])(.+)\]\.(\w+)")  # metrics[Relevancy].score, an entry by its name


def value_at(values: Any, path: str) -> Any:
    """Return the value at a path, or of a column called like the path; None if there is neither."""
    if isinstance(values, Mapping) and path in values:
        return values[path]
    if isinstance(values, Mapping) and (parts := parts_of_share(path, values)):
        part, total = (values[name] for name in parts)
        return None if part is None or total is None else f"{part}/{total}"
    if named := _NAMED_ENTRY.fullmatch(path):
        list_path, name, key = named.groups()
        return _entry_value(value_at(values, list_path), name, key)
    value = values
    for index, name in _STEP.findall(path):
        if index and isinstance(value, (list, tuple)) and -len(value) <= int(index) < len(value):
            value = value[int(index)]
        elif name and isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return _value_by_dotted_key(values, path)
    return value


def _value_by_dotted_key(values: Any, path: str) -> Any:
    """Return the value at a path with a dot inside a key, as in responses.gpt-3.5-turbo; None for none."""
    for key, inner in values.items() if isinstance(values, Mapping) and path.count(".") > 1 else ():
        if isinstance(inner, Mapping) and path.startswith(f"{key}."):
            return value_at(inner, path[len(key) + 1 :])
    return None


def _entry_value(entries: Any, name: str, key: str) -> Any:
    """Return the value of an entry in a list of {name, score}."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and name in (entry.get("name"), entry.get("metric"), entry.get("metric_name")):
            return entry.get(key)
    return None


def with_paths(row: Row, names: Iterable[str]) -> Row:
    """Return the row with a further column per path in `names`, and per name with commas, whose texts are joined."""
    if row.problem:
        return row
    row = with_messages(row)
    joined_names = [name for name in names if "," in name and name not in row.values]
    if joined_names:
        parts: list[str] = []
        for name in joined_names:
            parts += name.split(",")
        row = with_paths(row, parts)
        joined: dict[str, str] = {}
        for name in joined_names:
            cells = [row.values.get(part) for part in name.split(",")]
            text = "\n\n".join(cell for cell in cells if isinstance(cell, str) and cell)
            if text:
                joined[name] = text
        row = replace(row, values={**row.values, **joined})
    paths = {name for name in names if any(sign in name for sign in ".[/") and name not in row.values}
    inner = {path: value for path in paths if (value := value_at(row.values, path)) is not None}
    return replace(row, values={**row.values, **inner}) if inner else row


def with_messages(row: Row) -> Row:
    """Return the row with each list of messages as one text, and with the assistant's last turn as its response."""
    if not row.problem and (values := with_last_turn(row.values)) is not row.values:
        row = replace(row, values=dict(values))
    texts = {name: _messages_text(value) for name, value in row.values.items() if isinstance(value, list) and value}
    texts = {name: text for name, text in texts.items() if text}
    return replace(row, values={**row.values, **texts}) if texts else row


def _messages_text(entries: Sequence[Any]) -> str:
    """Return the text of a conversation; "" for a list of anything else."""
    messages = []
    for message in entries:
        if not isinstance(message, Mapping) or "role" not in message or not {"content", "prompt"} & message.keys():
            return ""
        messages.append({"role": message["role"], "content": message.get("content", message.get("prompt"))})
    prompt, system = prompt_from(messages)
    return "\n\n".join(filter(None, (system, prompt)))


@lru_cache(64)  # the same for all rows of a table
def _own_columns(columns: tuple[str, ...], models: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return {model: {key: column}} of columns named after a model, such as {"gpt-4o": {"correct": "gpt-4o correct"}}."""
    other_columns = [column for column in columns if column not in models]
    own_columns = {}
    for model in models:
        keys = {key: column for column in other_columns if (key := own_key(column, model))}
        own_columns[model] = {key: column for key, column in keys.items() if not is_shared(column, key, model, columns)}
    return own_columns


def split_row(row: Row, models: Sequence[str], lists: Sequence[str]) -> Iterator[Row]:
    """Split a row with several answers into a row per answer; a row with no answer has a problem.

    `models` are the names of models. Their answers are in columns that are called or begin like that, as an object or as single
    cells. A model with empty cells has no row. `lists` are columns of lists with an entry per sample. All rows get the other columns.
    """
    if row.problem or not (models or lists):
        yield row
        return
    own_columns = _own_columns(tuple(row.values), tuple(models))
    split_columns = {*models, *lists}
    for columns in own_columns.values():
        split_columns |= set(columns.values())
    # objects with a key per model, such as {"translations": {"alpha": "…"}, "scores": {"alpha": {"bleu": 0.3}}}
    objects = {
        column: cell for column, cell in row.values.items() if isinstance(cell, Mapping) and not cell.keys().isdisjoint(models)
    }
    split_columns |= objects.keys()
    shared = {name: value for name, value in row.values.items() if name not in split_columns}
    n_rows, labels = 0, row_labels(tuple(models))
    for name in models:
        cell = value_at(row.values, name)
        model_cells = {key: row.values[column] for key, column in own_columns[name].items()}
        model_cells |= {column: keyed[name] for column, keyed in objects.items() if name in keyed}
        is_column = name in row.values or cell is not None
        if any(value not in (None, "", {}) for value in ([cell] if is_column else model_cells.values())):
            answer: Mapping = {bare_column(name): cell} if is_column else {}
            answer = cell if isinstance(cell, Mapping) else answer
            n_rows += 1
            yield replace(row, values={**shared, **answer, **model_cells, **labels[name]})
    sample_lists = {name: row.values[name] for name in lists if isinstance(row.values.get(name), list)}
    n_samples = max(map(len, sample_lists.values()), default=0)
    for sample in range(n_samples):
        cells = {name: values[sample] for name, values in sample_lists.items() if sample < len(values)}
        sample_cells = {name: cell for name, cell in cells.items() if not isinstance(cell, Mapping)}
        for name, entry in cells.items():
            if isinstance(entry, Mapping):
                for key, value in entry.items():
                    sample_cells[f"{name}.{key}" if key in shared else key] = value
        yield replace(row, values={**shared, **sample_cells, OF_SAMPLE: sample})
    if not n_rows and not n_samples:
        yield replace(row, problem="holds no answer")


def right_answer(value: Any, prompt_options: Sequence[str], order: Sequence[int], kind: str, form: str = "") -> str | None:
    """Return the right answer of a variant in canonical form: a number, words, or places of options in the item's own order.

    A cell names an option by text, label or place in the order shown. The `form` of its column (one of TARGET_FORMS) is tried
    first, because 1 may be a place and the text of another option. None for an empty cell. Raises BadInput for any other cell.
    """
    if value is None or value != value or value == "":
        return None
    if kind == "text":
        return text_target(map(str, value) if isinstance(value, (list, tuple)) else [str(value)])
    text = str(value).strip()
    if not prompt_options:
        number = number_at_end(text)
        if number is None:
            raise BadInput(f"has the right answer {text[:40]!r}, which is no number")
        return number
    labels = labels_of("upper", len(prompt_options))
    places = [str(place) for place in range(len(prompt_options) + 1)]
    choices_by_form = {
        "text": (list(prompt_options), text),
        "letter": (list(labels), bare_label(text)),
        "index": (places[:-1], text),
    }
    choices_by_form |= {"index1": (places[1:], text)} if form == "index1" else {}
    for candidate in sorted(choices_by_form, key=lambda candidate: candidate != form):
        choices, choice = choices_by_form[candidate]
        if choice in choices:  # two options may have the same text: then both are right
            return "\n".join(str(place) for place, shown in zip(order, choices, strict=True) if shown == choice)
    raise BadInput(f"has the right answer {text[:40]!r}, which names none of the options shown")
