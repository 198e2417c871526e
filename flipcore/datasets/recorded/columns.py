"""How the first rows of a table write options and texts, and the `key=column` words that correct a recording."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name
from flipcore.core.records import ROLES
from flipcore.datasets.reading.columns import option_columns, options_in
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.fields import Field, bare_label, score_of, split_row, with_messages, with_paths
from flipcore.datasets.recorded.grouping import MAX_MB
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.stems import names
from flipcore.text.answers import answer_form, are_mathematics, number_at_end

N_LOOKED_AT = 200  # rows from the beginning of a table by which its columns are understood
KEYS = tuple(field.name for field in fields(Recording) if field.name not in ("fields", "dataset"))
COLUMNS = tuple(  # keys that name a column
    (
        "prompt question options order item variant text target models axes role harmless sample score scorer "
        "tasks category cluster pair finish error"
    ).split()
)
FIRST = "first_token"
NO_MODEL_NAME = "recorded model"  # the model of a table that names none
_LETTERS = frozenset("ABCDEFGHIJ")
_LEAST_SHARE = 0.9  # least share of rows in which options must be found
# Least share of right answers in words for which all are texts; and the share if only one is, which may be a slip.
_LEAST_IN_WORDS, _LEAST_OF_ONE = 0.05, 0.4
_MIN_WORDS = 8  # words of a cell that is an output rather than a bare answer
_PATTERNS = (r"^ *<[A-Z]>(.*?)</[A-Z]>", r"^ *\(?[A-Z][.):](.+)$")
_MARKERS = ("[/INST]", "\nmodel\n", "<|assistant|>", "\nassistant\n", "### Response:")


def first_good_rows(path: str, sheet: str = "") -> list[Mapping[str, Any]]:
    """Return the first good rows of a file. Raises BadInput for a file that has none."""
    file_rows = list(islice(read_rows(path, most_mb=MAX_MB, sheet=sheet), N_LOOKED_AT))
    rows: list[Mapping[str, Any]] = [with_messages(row).values for row in file_rows if not row.problem]
    if not rows:
        first = f" {file_rows[0].place} {file_rows[0].problem.removesuffix('.')}." if file_rows else ""
        raise BadInput(
            f"{spoken_name(path)} has no row that can be read; it needs one JSON object per line, "
            f"or a header line and rows below it.{first}"
        )
    return rows


def answers_in(path: str, recording: Recording) -> list[Mapping[str, Any]]:
    """Return the first rows of a file as `answers_of` does."""
    return answers_of(first_good_rows(path, recording.sheet), recording)


def answers_of(rows: Sequence[Mapping[str, Any]], recording: Recording) -> list[Mapping[str, Any]]:
    """Return a row per answer, with the recording's paths (doc.options) as further columns."""
    answer_rows = split_rows(rows, recording.models_beside, recording.lists)
    return [with_paths(Row(0, dict(values)), recording.columns).values for values in answer_rows]


def columns_of(rows: Sequence[Mapping[str, Any]], nested: str = "") -> list[str]:
    """Return the names of columns in the order of their first row; `nested` columns are replaced by their keys."""
    variants = variants_in(rows, nested) if nested else rows
    column_names: dict[str, None] = {}
    for values in variants:
        column_names |= dict.fromkeys(values)
    return [name for name in column_names if not (nested and name.startswith(nested))]


def split_rows(rows: Sequence[Mapping[str, Any]], models: Sequence[str], lists: Sequence[str]) -> list[Mapping[str, Any]]:
    """Split rows with several answers into a row per answer; rows without an answer are left out."""
    answer_rows: list[Mapping[str, Any]] = []
    for values in rows:
        for row in split_row(Row(0, dict(values)), models, lists):
            if not row.problem:
                answer_rows.append(row.values)
    return answer_rows


def objects_in_lists(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns whose cells are lists of objects other than the turns of a conversation."""

    def lists_objects(cell: Any) -> bool:
        return isinstance(cell, list) and all(isinstance(entry, Mapping) and "role" not in entry for entry in cell)

    cells_by_column = {name: [row[name] for row in rows if row.get(name)] for name in columns_of(rows)}
    return [name for name, cells in cells_by_column.items() if cells and all(map(lists_objects, cells))]


# Data frames of Inspect's `analysis.samples_df`, perhaps joined with `evals_df`: a row per sample and epoch, a column per scorer.

_INSPECT = {"sample_id", "eval_id", "id", "epoch"}
SCORER = "score_"


def is_of_inspect(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the rows are a data frame of Inspect."""
    return _INSPECT <= rows[0].keys()


def _is_inspect_score(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Tell whether a column holds the scores of samples, and not a score of the whole evaluation."""
    is_of_evals = name.startswith(f"{SCORER}headline") or name.endswith(("_accuracy", "_stderr", "_mean", "_std"))
    cells = [row[name] for row in rows if row.get(name) not in (None, "")]
    n_scores = sum(score_of(cell) is not None for cell in cells)
    return name.startswith(SCORER) and not is_of_evals and 2 * n_scores > len(cells)


def inspect_recording(path: str, rows: Sequence[Mapping[str, Any]]) -> Recording | None:
    """Return the recording of a data frame of Inspect; None for any other table.

    The column `id` is the item, because `sample_id` differs by epoch. Without the column of models
    from `evals_df`, the model is the one in `model_usage`.
    """
    if not is_of_inspect(rows):
        return None
    scores = [name for name in rows[0] if _is_inspect_score(rows, name)]
    if not scores:
        return None
    columns = columns_of(rows)
    models = next((name for name in ("model", "eval_model") if name in columns), "")
    return Recording(
        Path(path).stem,
        str(rows[0].get(models) or NO_MODEL_NAME) if models else _used_model(rows),
        prompt="",
        item="id",
        question="input" if "input" in columns else "",
        answers="text",
        axis="recorded",
        models=models,
        sample="epoch",
        score=",".join(scores),
        tasks=next((name for name in ("task_display_name", "task_name") if name in columns), ""),
    )


def _used_model(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the only model in `model_usage`; NO_MODEL_NAME for several, of which one may be the grader."""
    models: set[str] = set()
    for row in rows:
        usage = row.get("model_usage")
        try:
            models |= set(json.loads(usage) if isinstance(usage, str) else usage or ())
        except (ValueError, TypeError):
            continue
    return models.pop() if len(models) == 1 else NO_MODEL_NAME


def corrected(recording: Recording, words: Iterable[str], read: Sequence[str] | None = None) -> Recording:
    """Return the recording with corrections: `words` are "key=column" ("key=" clears the field).

    `read` are "extractor=column" and replace the guessed fields. Raises BadInput for a word without
    "=" and for a key that no recording has.
    """
    changes: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or key not in (*KEYS, "dataset"):
            raise BadInput(f"{word!r} maps nothing; write key=column with one of the keys {', '.join(KEYS)}, dataset.")
        changes[key] = value.replace("\\n", "\n")
    if read is not None:
        changes["fields"] = tuple(_parse_field(word) for word in read)
    return replace(recording, **changes)


def read_words(read: Iterable[str] | None) -> list[str]:
    """Return "read:extractor=column" for each "extractor=column". Raises BadInput for another form and for equal names."""
    extractors = [_parse_field(word).extractor for word in read or ()]
    if len(set(extractors)) < len(extractors):
        raise BadInput(f"Two readouts are called {max(extractors, key=extractors.count)!r}; give each its own name.")
    return [f"read:{word}" for word in read or ()]


def words_between(first: Recording, wanted: Recording) -> list[str]:
    """Return the words that correct `first` to be `wanted`."""
    keys = [key for key in KEYS if getattr(wanted, key) != getattr(first, key)]
    words = [f"{key}={getattr(wanted, key)}".replace("\n", "\\n") for key in keys]
    if wanted.fields == first.fields:
        return words
    return [*words, *([f"read:{field.extractor}={field.column}" for field in wanted.fields] or ["read="])]


def _parse_field(word: str) -> Field:
    extractor, sign, column = word.partition("=")
    if not sign or not extractor or not column:
        raise BadInput(f"{word!r} names no readout; write readout=column, for example first_token=scores.")
    return scored_field(extractor, column)


def scored_field(extractor: str, column: str, columns: Sequence[str] = ()) -> Field:
    """Return a field. One of the extractor FIRST gets the usual columns of the likeliest token, unless `columns` lacks them."""
    token, score = "max_first_token", "max_first_token_score"
    has_token = not columns or (token in columns and score in columns)
    return Field(extractor, column, token, score) if extractor == FIRST and has_token else Field(extractor, column)


def mapping_of(recording: Recording) -> dict[str, Any]:
    """Return the recording as plain data without empty fields, to be stored in a study."""
    return {key: value for key, value in asdict(recording).items() if value} | {
        "fields": [{key: value for key, value in asdict(field).items() if value} for field in recording.fields]
    }


def variants_in(rows: Sequence[Mapping], nested: str, names: Sequence[str] = ()) -> list[Mapping[str, Any]]:
    """Return a row per variant, with the paths among `names` as further columns."""
    variants: list[Mapping[str, Any]] = []
    for row in rows:
        inner = [value for name, value in row.items() if nested and name.startswith(nested) and isinstance(value, Mapping)]
        variants += [{**row, **value} for value in inner] if inner else [row]
    return [with_paths(Row(0, dict(values)), names).values for values in variants]


def holds_sentences(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds outputs in words: more than half of its cells are sentences."""
    cells = [str(values[name]).strip() for values in variants if values.get(name) not in (None, "")]
    n_sentences = 0
    for cell in cells:
        fewest = _MIN_WORDS // 2 if cell.endswith((".", "!", "?")) else _MIN_WORDS
        n_sentences += len(cell.split()) >= fewest
    return 2 * n_sentences > len(cells)


def is_order(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds a permutation in each row."""
    orders = [values[name] for values in variants if values.get(name) is not None]
    for order in orders:
        if not isinstance(order, (list, tuple)) or sorted(map(str, order)) != sorted(map(str, range(len(order)))):
            return False
    return bool(orders)


def find_options(
    variants: Sequence[Mapping], columns: Sequence[str], *, prompt: str, target: str, listed: Sequence[str]
) -> str:
    """Return the column of the options, or several with commas between; "" for none.

    Nine of ten prompts show the options in their own order. Or no prompt shows them, and the column
    is among the reading's options (`listed`), or `target` names one of several columns.
    """
    option_groups = [",".join(group) for group in option_columns(columns) if all("," not in name for name in group)]
    best_column, best_share = "", 0.0
    for name in (*columns, *option_groups):
        pairs = [(_options_in_cell(values, name), values.get(prompt)) for values in variants]
        pairs = [(options, text) for options, text in pairs if options]
        n_in_order = sum(isinstance(text, str) and _are_shown(list(map(str, options)), text) for options, text in pairs)
        if pairs and n_in_order / len(variants) > best_share:
            best_column, best_share = name, n_in_order / len(variants)
    if best_share >= _LEAST_SHARE:
        return best_column
    usual = [name for name in listed if name in columns and len(listed) == 1]
    for name in usual:
        # rows without options are left out, because they ask for a free answer
        listed_rows = _rows_with_options(variants, name, prompt)
        n_shown = sum(_are_shown(options, text) for options, text in listed_rows)
        if len(listed_rows) > 1 and n_shown >= _LEAST_SHARE * len(listed_rows):
            return name
    keyed = [name for name in option_groups if target and _is_key(variants, target, name)]
    return next((name for name in (*usual, *keyed) if _never_shown(variants, name, prompt)), "")


def _rows_with_options(variants: Sequence[Mapping], name: str, prompt: str) -> list[tuple[list[str], str]]:
    """Return (options, prompt) of each row that lists options in a column."""
    pairs = [(_options_in_cell(values, name), str(values.get(prompt))) for values in variants]
    return [(options, text) for options, text in pairs if options]


def _is_key(rows: Sequence[Mapping], name: str, option_columns: str) -> bool:
    """Tell whether a column holds one of the options of its row, or the letter or place of one, in all rows."""
    if _holds_places(rows, name, option_columns):
        return True
    for values in rows:
        target, options = values.get(name), _options_in_cell(values, option_columns)
        letter = target.strip().upper() if isinstance(target, str) else ""
        place = ord(letter) - ord("A") if len(letter) == 1 else -1
        if str(target) not in options and not 0 <= place < len(options):
            return False
    return True


def _holds_places(rows: Sequence[Mapping], name: str, option_columns: str) -> bool:
    """Tell whether a column holds places of options from 0, the first and the last place among them."""
    places = {str(values.get(name)) for values in rows}
    list_lengths = {len(_options_in_cell(values, option_columns)) for values in rows}
    if len(list_lengths) != 1 or len(places) < 2:
        return False
    (n_options,) = list_lengths
    return places == {str(place) for place in range(n_options)}


def _options_in_cell(values: Mapping[str, Any], name: str) -> list[str]:
    """Return the options in a cell: entries of a list or an object, parts of a text, or one per column."""
    value = values.get(name)
    if isinstance(value, (list, tuple, Mapping)):
        return list(map(str, entries_of_options(value)))
    if name not in values and "," in name:
        return list(options_in(values, name.split(","))) if all(column in values for column in name.split(",")) else []
    return list(options_in(values, name)) if names(name, "options") else []


def entries_of_options(options: Sequence | Mapping) -> list:
    """Return the options in a list or an object: the texts under labels, else the object's keys."""
    if not isinstance(options, Mapping):
        return list(options)
    are_labels = all(len(str(key)) == 1 or str(key).isdigit() for key in options)
    # true and false say which options are right, and are no texts
    are_texts = all(isinstance(text, (str, int)) and not isinstance(text, bool) for text in options.values())
    return list(options.values() if are_labels and are_texts else options)


def _never_shown(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Tell whether prompts do not show the options, in nine of ten rows that list options.

    Fewer than half of a row's options may be in its question by chance.
    """
    listed_rows = _rows_with_options(variants, name, prompt)
    n_hidden = 0
    for options, text in listed_rows:
        n_shown = sum(option in text for option in options)
        n_hidden += len(options) > 1 and 2 * n_shown < len(options)
    return bool(listed_rows) and n_hidden >= _LEAST_SHARE * len(listed_rows)


def lists_as_many(variants: Sequence[Mapping], name: str, options: str) -> bool:
    """Tell whether a column lists one entry per option in all rows, and so is no right answer."""
    filled = [values for values in variants if values.get(name) not in (None, "")]
    for values in filled:
        cell = values[name]
        if not isinstance(cell, list) or not 1 < len(cell) == len(_options_in_cell(values, options)):
            return False
    return bool(filled)


def shows_options(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Tell whether the prompt shows the options of a column, so that their order may change."""
    return bool(name) and not _never_shown(variants, name, prompt)


def are_roles(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds roles of items in every row."""
    return all(str(values.get(name)) in (*ROLES, "baseline") for values in variants)


def answers_form(variants: Sequence[Mapping], columns: Sequence[str]) -> str:
    """Return "text" if words, lists or formulas are among these answers, "" for numbers.

    Numbers and words in one table are one task; as two tasks they would have two scores and no total.
    A single answer in words among numbers is a slip, and its row is refused.
    """
    cells = []
    for name in columns:
        cells += [values[name] for values in variants if values.get(name) not in (None, "")]
    n_words = sum(isinstance(cell, list) or number_at_end(str(cell)) is None for cell in cells)
    fewest = _LEAST_IN_WORDS if n_words > 1 else _LEAST_OF_ONE
    has_words = n_words > 0 and n_words >= fewest * len(cells)
    is_text = has_words or are_mathematics(Counter(answer_form(str(cell)) for cell in cells))
    return "text" if cells and is_text else ""


def find_unused(recording: Recording, columns: Sequence[str]) -> list[str]:
    """Return the columns that the recording does not use."""
    names_in_use = {*recording.scores, *recording.option_columns}
    names_in_use |= {*recording.models_beside, *recording.lists}
    for key in COLUMNS:
        names_in_use |= set(getattr(recording, key).split(","))
    for field in recording.fields:
        names_in_use |= {name for name in asdict(field).values() if isinstance(name, str)}
    names_in_use |= {name.partition(".")[0] for name in names_in_use}
    free = [name for name in columns if name not in names_in_use]
    return [name for name in free if not (recording.nested and name.startswith(recording.nested))]


def _are_shown(options: Sequence[str], prompt: str) -> bool:
    """Tell whether a prompt shows the options in order: two or more, and not only letters."""
    position = 0
    for option in options:
        position = prompt.find(option, position)
        if position < 0:
            return False
        position += len(option)
    return len(options) > 1 and any(len(option) > 1 for option in options)


def find_pattern(variants: Sequence[Mapping], prompt: str) -> str:
    """Return the regular expression that finds options in nine of ten prompts; "" for none."""
    texts = [values[prompt] for values in variants if isinstance(values.get(prompt), str)]
    for pattern in _PATTERNS:
        n_found = sum(len(_last_option_list(pattern, text)) > 1 for text in texts)
        if texts and n_found >= _LEAST_SHARE * len(texts):
            return pattern
    return ""


_CAPITAL = re.compile("[A-Z]")


def _last_option_list(pattern: str, prompt: str) -> list[str]:
    """Return the options of the last list in a prompt with labels A, B, …; [] for none.

    Earlier lists belong to examples. A single line like "A: Let's think" is no list.
    """
    lists: list[tuple[str, list[str]]] = []  # (last label, options so far)
    for match in re.finditer(pattern, prompt, re.MULTILINE):
        letter = _CAPITAL.search(match[0])
        label, option = letter[0] if letter else "", match[1] if match.re.groups else match[0]
        if lists and label and ord(label) == ord(lists[-1][0]) + 1:
            lists[-1] = label, [*lists[-1][1], option]
        elif label == "A":
            lists.append((label, [option]))
        elif lists:
            lists.append(("~", []))  # any other line ends the list
    return next((options for _, options in reversed(lists) if len(options) > 1), [])


def options_in_prompt(pattern: str, prompt: str) -> list[str]:
    """Return the options that a regular expression finds in a prompt: those of the last of several lists."""
    return _last_option_list(pattern, prompt) or re.findall(pattern, prompt, re.MULTILINE)


def find_marker(variants: Sequence[Mapping], text: str) -> str:
    """Return the text between prompt and answer in outputs that repeat their prompt; "" for none."""
    outputs = [values[text] for values in variants if isinstance(values.get(text), str)] if text else []
    return next((marker for marker in _MARKERS if sum(marker in output for output in outputs) > len(outputs) / 2), "")


def letters_of_keys(cells: Sequence[Any], file_letters: frozenset[str]) -> str:
    """Return "A-E" if all right answers of the file are letters up to E; "" otherwise."""
    letters = {bare_label(str(cell).strip()) for cell in cells if cell not in (None, "") and cell == cell}
    is_of_letters = letters <= _LETTERS and len(file_letters) > 1 and file_letters <= _LETTERS
    return f"A-{max(file_letters)}" if is_of_letters else ""


def score_fields(variants: Sequence[Mapping], columns: Sequence[str]) -> tuple[Field, ...]:
    """Return a field of the extractor FIRST for the first column with a score per option; () for none."""
    for name in columns:
        if any(_holds_scores(values.get(name)) for values in variants):
            return (scored_field(FIRST, name, columns),)
    return ()


def _holds_scores(value: Any) -> bool:
    """Tell whether a cell is an object of two numbers or more, not all whole."""
    if not isinstance(value, Mapping) or len(value) < 2:
        return False
    are_numbers = all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in value.values())
    return are_numbers and any(isinstance(score, float) for score in value.values())
