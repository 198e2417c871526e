"""The first rows of a table, how their options and texts are written, and `key=column` words that correct a recording."""

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
from flipcore.datasets.recorded.fields import Field, bare_label, rows_apart, score_of, with_messages, with_paths
from flipcore.datasets.recorded.grouping import MOST_MB
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.stems import names
from flipcore.text.answers import answer_form, are_mathematics, number_at_end

N_LOOKED_AT = 200
KEYS = tuple(field.name for field in fields(Recording) if field.name not in ("fields", "dataset"))
COLUMNS = tuple(  # keys that name a column
    (
        "prompt question options order item variant text target models axes role harmless sample score scorer "
        "tasks category cluster pair finish"
    ).split()
)
FIRST = "first_token"
NO_MODEL_NAME = "recorded model"  # of a table that names none
_LETTERS = frozenset("ABCDEFGHIJ")
# of right answers that are no numbers make all of them short answers; a single one in a few rows
FEWEST_WORDS, MANY_WORDS = 0.05, 0.4
LEAST_WORDS = 8  # of a cell that is more than an answer
_PATTERNS = (r"^ *<[A-Z]>(.*?)</[A-Z]>", r"^ *\(?[A-Z][.):](.+)$")
_MARKERS = ("[/INST]", "\nmodel\n", "<|assistant|>", "\nassistant\n", "### Response:")


def looked_at(path: str, sheet: str = "") -> list[Mapping[str, Any]]:
    """The first good rows; raises BadInput for a file without any."""
    file_rows = list(islice(read_rows(path, most_mb=MOST_MB, sheet=sheet), N_LOOKED_AT))
    rows: list[Mapping[str, Any]] = [with_messages(row).values for row in file_rows if not row.problem]
    if not rows:
        first = f" {file_rows[0].place} {file_rows[0].problem.removesuffix('.')}." if file_rows else ""
        raise BadInput(
            f"{spoken_name(path)} has no row that can be read; it needs one JSON object a line, "
            f"or a header line and rows below it.{first}"
        )
    return rows


def answers_in(path: str, recording: Recording) -> list[Mapping[str, Any]]:
    """Return the first rows with a row per answer, and columns inside of others beside them."""
    return answers_of(looked_at(path, recording.sheet), recording)


def answers_of(rows: Sequence[Mapping[str, Any]], recording: Recording) -> list[Mapping[str, Any]]:
    """Return rows with a row per answer, and columns inside of others beside them."""
    answer_rows = apart(rows, recording.models_beside, recording.lists)
    return [with_paths(Row(0, dict(values)), recording.columns).values for values in answer_rows]


def columns_of(rows: Sequence[Mapping[str, Any]], nested: str = "") -> list[str]:
    """Names of columns, those inside of nested variants among them."""
    variants = variants_in(rows, nested) if nested else rows
    names: dict[str, None] = {}
    for values in variants:
        names |= dict.fromkeys(values)
    return [name for name in names if not (nested and name.startswith(nested))]


# A row that holds several answers: a column a model, or a list with an entry a sample.


def apart(rows: Sequence[Mapping[str, Any]], models: Sequence[str], lists: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows with a row an answer."""
    answer_rows: list[Mapping[str, Any]] = []
    for values in rows:
        for row in rows_apart(Row(0, dict(values)), models, lists):
            if not row.problem:
                answer_rows.append(row.values)
    return answer_rows


def objects_in_lists(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that hold a list of objects each, which are no turns of a conversation: outputs of their own, perhaps."""
    cells_by_column = {name: [row[name] for row in rows if row.get(name)] for name in columns_of(rows)}
    return [name for name, cells in cells_by_column.items() if cells and all(map(_lists_objects, cells))]


def _lists_objects(cell: Any) -> bool:
    if not isinstance(cell, list):
        return False
    return all(isinstance(entry, Mapping) and "role" not in entry for entry in cell)


# What Inspect's `analysis.samples_df` gives, alone or beside columns of `evals_df`: a row a sample and epoch, a column a scorer.

_INSPECT = {"sample_id", "eval_id", "id", "epoch"}
SCORER = "score_"


def is_of_inspect(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the rows are such a frame."""
    return _INSPECT <= rows[0].keys()


def _is_inspect_score(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    of_evals = name.startswith(f"{SCORER}headline") or name.endswith(("_accuracy", "_stderr", "_mean", "_std"))
    cells = [row[name] for row in rows if row.get(name) not in (None, "")]
    return name.startswith(SCORER) and not of_evals and 2 * sum(score_of(cell) is not None for cell in cells) > len(cells)


def inspect_recording(path: str, rows: Sequence[Mapping[str, Any]]) -> Recording | None:
    """The recording of a frame of Inspect's, None for any other table.

    The sample's `id` is the item: `sample_id` is one of each epoch. The model is a column of
    `evals_df`; without it the one that was used.
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
    """The one model of `model_usage`, which is an object or its JSON; a grader's is another and leaves the name open."""
    names: set[str] = set()
    for row in rows:
        usage = row.get("model_usage")
        try:
            names |= set(json.loads(usage) if isinstance(usage, str) else usage or ())
        except (ValueError, TypeError):
            continue
    return names.pop() if len(names) == 1 else NO_MODEL_NAME


def corrected(recording: Recording, words: Iterable[str], read: Sequence[str] | None = None) -> Recording:
    """`words` are "key=column" ("key=" clears it), `read` are "extractor=column" and replace the guessed fields. Raises
    BadInput for a word without "=" and for a key that no recording has."""
    changes: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or key not in (*KEYS, "dataset"):
            raise BadInput(f"{word!r} maps nothing; write key=column with one of the keys {', '.join(KEYS)}, dataset.")
        changes[key] = value.replace("\\n", "\n")
    if read is not None:
        changes["fields"] = tuple(_field(word) for word in read)
    return replace(recording, **changes)


def read_words(read: Iterable[str] | None) -> list[str]:
    """Readouts "extractor=column" as words of a correction. Raises BadInput for one that names none, and for two of one name."""
    names = [_field(word).extractor for word in read or ()]
    if len(set(names)) < len(names):
        raise BadInput(f"Two readouts are called {max(names, key=names.count)!r}; give each its own name.")
    return [f"read:{word}" for word in read or ()]


def words_between(first: Recording, wanted: Recording) -> list[str]:
    """Return the words that correct `first` to be `wanted`."""
    keys = [key for key in KEYS if getattr(wanted, key) != getattr(first, key)]
    words = [f"{key}={getattr(wanted, key)}".replace("\n", "\\n") for key in keys]
    if wanted.fields == first.fields:
        return words
    return [*words, *([f"read:{field.extractor}={field.column}" for field in wanted.fields] or ["read="])]


def _field(word: str) -> Field:
    extractor, sign, column = word.partition("=")
    if not sign or not extractor or not column:
        raise BadInput(f"{word!r} names no readout; write readout=column, for example first_token=scores.")
    return scored_field(extractor, column)


def scored_field(extractor: str, column: str, columns: Sequence[str] = ()) -> Field:
    """A field with the columns of the likeliest first token where they are known by their usual names."""
    token, score = "max_first_token", "max_first_token_score"
    has_token = not columns or (token in columns and score in columns)
    return Field(extractor, column, token, score) if extractor == FIRST and has_token else Field(extractor, column)


def mapping_of(recording: Recording) -> dict[str, Any]:
    """The recording as plain data without what is empty, to be kept in a study."""
    return {key: value for key, value in asdict(recording).items() if value} | {
        "fields": [{key: value for key, value in asdict(field).items() if value} for field in recording.fields]
    }


def variants_in(rows: Sequence[Mapping], nested: str, names: Sequence[str] = ()) -> list[Mapping[str, Any]]:
    """Return the rows with a row per variant, and the columns `names` inside of others beside them."""
    variants: list[Mapping[str, Any]] = []
    for row in rows:
        inner = [value for name, value in row.items() if nested and name.startswith(nested) and isinstance(value, Mapping)]
        variants += [{**row, **value} for value in inner] if inner else [row]
    return [with_paths(Row(0, dict(values)), names).values for values in variants]


def is_written(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds what a model wrote: half of its cells are sentences."""
    cells = [str(values[name]).strip() for values in variants if values.get(name) not in (None, "")]
    lengths = [(len(cell.split()), cell.endswith((".", "!", "?"))) for cell in cells]
    return bool(cells) and 2 * sum(n >= LEAST_WORDS or (n >= LEAST_WORDS // 2 and ends) for n, ends in lengths) > len(cells)


def is_order(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds a permutation in each row."""
    orders = [values[name] for values in variants if values.get(name) is not None]
    return bool(orders) and all(
        isinstance(order, (list, tuple)) and sorted(map(str, order)) == sorted(map(str, range(len(order)))) for order in orders
    )


def find_options(
    variants: Sequence[Mapping], columns: Sequence[str], *, prompt: str, target: str, listed: Sequence[str]
) -> str:
    """The column whose entries stand in the prompt in their own order, in nine of ten variants; or one column an option."""
    option_groups = [",".join(group) for group in option_columns(columns) if all("," not in name for name in group)]
    best, share = "", 0.0
    for name in (*columns, *option_groups):
        pairs = [(_listed(values, name), values.get(prompt)) for values in variants]
        pairs = [(options, text) for options, text in pairs if options]
        fits = sum(isinstance(text, str) and _stands_in(list(map(str, options)), text) for options, text in pairs)
        if pairs and fits / len(variants) > share:
            best, share = name, fits / len(variants)
    if share >= 0.9:
        return best
    usual = [name for name in listed if name in columns and len(listed) == 1]
    in_some = [name for name in usual if _shown_where_there(variants, name, prompt)]
    keyed = [name for name in option_groups if target and _is_key(variants, target, name.split(","))]
    return next(iter((*in_some, *(name for name in (*usual, *keyed) if _never_shown(variants, name, prompt)))), "")


def _shown_where_there(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Nine in ten of the lists of options stand in their prompt, where some rows have none: those ask for a free answer."""
    listed_rows = [(options, str(values.get(prompt))) for values in variants if (options := _listed(values, name))]
    return len(listed_rows) > 1 and sum(_stands_in(options, text) for options, text in listed_rows) >= 0.9 * len(listed_rows)


def _is_key(rows: Sequence[Mapping], name: str, options: Sequence[str]) -> bool:
    """Tell whether a column holds the right one of the options that other columns hold."""
    return all(_is_among(values.get(name), _listed(values, ",".join(options))) for values in rows)


def _is_among(target: Any, options: Sequence[str]) -> bool:
    """Tell whether a right answer is one of these options, or the letter of one."""
    letter = ord(target.strip().upper()) - ord("A") if isinstance(target, str) and len(target.strip()) == 1 else -1
    return str(target) in options or 0 <= letter < len(options)


def _listed(values: Mapping[str, Any], name: str) -> list[str]:
    """The entries of a list, the keys of an object, what the text of a column of options lists, or a column each."""
    value = values.get(name)
    if isinstance(value, (list, tuple, Mapping)):
        return list(map(str, value))
    if name not in values and "," in name:
        return list(options_in(values, name.split(","))) if all(column in values for column in name.split(",")) else []
    return list(options_in(values, name)) if names(name, "options") else []


def _never_shown(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Of nine in ten of the rows that list options the prompt holds less than half of them: then the list's own order is the only one
    known. One option may stand in a question by chance; rows without options ask for a free answer."""
    listed_rows = [(options, str(values.get(prompt))) for values in variants if (options := _listed(values, name))]
    n_hidden = sum(
        len(options) > 1 and 2 * sum(option in text for option in options) < len(options) for options, text in listed_rows
    )
    return bool(listed_rows) and n_hidden >= 0.9 * len(listed_rows)


def lists_as_many(variants: Sequence[Mapping], name: str, options: str) -> bool:
    """Tell whether a column lists as many entries as there are options: it is no right answer."""
    pairs = [(values.get(name), _listed(values, options)) for values in variants]
    listed = [(cell, shown) for cell, shown in pairs if cell not in (None, "")]
    return bool(listed) and all(isinstance(cell, list) and 1 < len(cell) == len(shown) for cell, shown in listed)


def shows_options(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Tell whether the prompt shows the options of a column, so that their order may change."""
    return bool(name) and not _never_shown(variants, name, prompt)


def are_roles(variants: Sequence[Mapping], name: str) -> bool:
    """Tell whether a column holds roles of items in every row."""
    return all(str(values.get(name)) in (*ROLES, "baseline") for values in variants)


def answers_form(variants: Sequence[Mapping], columns: Sequence[str]) -> str:
    """Return "text" where words, lists of words or formulas are among these answers, "" for numbers.

    Numbers and words in one table are one task: read apart, they would have two scores and no total.
    A single answer in words is a slip, and its row is refused.
    """
    cells = []
    for name in columns:
        cells += [values[name] for values in variants if values.get(name) not in (None, "")]
    n_words = sum(isinstance(cell, list) or number_at_end(str(cell)) is None for cell in cells)
    fewest = FEWEST_WORDS if n_words > 1 else MANY_WORDS
    has_words = n_words > 0 and n_words >= fewest * len(cells)
    is_text = has_words or are_mathematics(Counter(answer_form(str(cell)) for cell in cells))
    return "text" if cells and is_text else ""


def unused(recording: Recording, columns: Sequence[str]) -> list[str]:
    """Columns of the file that the recording makes no use of."""
    names_in_use = {*recording.scores, *recording.option_columns}
    names_in_use |= {*recording.models_beside, *recording.lists}
    for key in COLUMNS:
        names_in_use |= set(getattr(recording, key).split(","))
    for field in recording.fields:
        names_in_use |= {name for name in asdict(field).values() if isinstance(name, str)}
    names_in_use |= {name.partition(".")[0] for name in names_in_use}
    return [
        name for name in columns if name not in names_in_use and not (recording.nested and name.startswith(recording.nested))
    ]


def _stands_in(options: Sequence[str], prompt: str) -> bool:
    """At least two options that are more than labels, each at the end of a line or cell, one after the other."""
    position = 0
    for option in options:
        position = prompt.find(option, position)
        if position < 0:
            return False
        position += len(option)
    return len(options) > 1 and any(len(option) > 1 for option in options)


def find_pattern(variants: Sequence[Mapping], prompt: str) -> str:
    """The regular expression that finds the options in nine of ten prompts; "" without one."""
    texts = [values[prompt] for values in variants if isinstance(values.get(prompt), str)]
    fitting = [
        pattern
        for pattern in _PATTERNS
        if texts and sum(len(_last_list(pattern, text)) > 1 for text in texts) >= 0.9 * len(texts)
    ]
    return fitting[0] if fitting else ""


def _last_list(pattern: str, prompt: str) -> list[str]:
    """The last of the lists whose labels count from A; empty without one. The lists before it belong to examples, and a line like
    "A: Let's think" begins none."""
    lists: list[tuple[str, list[str]]] = []  # the last label, and the options so far
    for match in re.finditer(pattern, prompt, re.MULTILINE):
        letter = re.search("[A-Z]", match[0])
        label, option = letter[0] if letter else "", match[1] if match.re.groups else match[0]
        if lists and label and ord(label) == ord(lists[-1][0]) + 1:
            lists[-1] = label, [*lists[-1][1], option]
        elif label == "A":
            lists.append((label, [option]))
        elif lists:
            lists.append(("~", []))  # what follows goes on with no list
    return next((options for _, options in reversed(lists) if len(options) > 1), [])


def options_in_prompt(pattern: str, prompt: str) -> list[str]:
    """The options that the regular expression finds in a prompt; of several lists that count from A the last."""
    return _last_list(pattern, prompt) or re.findall(pattern, prompt, re.MULTILINE)


def find_marker(variants: Sequence[Mapping], text: str) -> str:
    """Return the mark before the answer in most texts that repeat their prompt; "" for none."""
    texts = [values[text] for values in variants if isinstance(values.get(text), str)] if text else []
    return next((mark for mark in _MARKERS if texts and sum(mark in output for output in texts) > len(texts) / 2), "")


def letters_among(cells: Sequence[Any], of_file: frozenset[str]) -> str:
    """ "A-E" where every right answer of the whole file is a letter and E is the last of them; "" otherwise."""
    letters = {bare_label(str(cell).strip()) for cell in cells if cell not in (None, "") and cell == cell}
    is_of_letters = letters <= _LETTERS and len(of_file) > 1 and of_file <= _LETTERS
    return f"A-{max(of_file)}" if is_of_letters else ""


def score_fields(variants: Sequence[Mapping], columns: Sequence[str]) -> tuple[Field, ...]:
    """The first column that holds a score per option, as the first token's."""
    scored = [name for name in columns if any(_is_scores(values.get(name)) for values in variants)]
    return (scored_field(FIRST, scored[0], columns),) if scored else ()


def _is_scores(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) > 1
        and all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in value.values())
        and any(isinstance(score, float) for score in value.values())
    )
