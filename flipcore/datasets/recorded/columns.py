"""Which column of a recording holds what: guessed from its first rows, and corrected by `key=column` words."""

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
from flipcore.datasets.recorded.by_structure import cell_readout, graders_of, named_roles, read_by_structure, with_structure
from flipcore.datasets.recorded.column_words import OUTPUT, PROMPT, TARGET, is_about, is_reading, parts_of
from flipcore.datasets.recorded.fields import (
    BY_PROGRAM,
    OF_SAMPLE,
    Field,
    bare_label,
    rows_apart,
    score_of,
    value_at,
    with_messages,
    with_paths,
)
from flipcore.datasets.recorded.grouping import MOST_MB
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.reading import TableReading
from flipcore.text.answers import answer_form, are_mathematics, number_at_end
from flipcore.text.prompts import labels_of

N_LOOKED_AT = 200
KEYS = tuple(field.name for field in fields(Recording) if field.name not in ("fields", "dataset"))
COLUMNS = tuple(  # keys that name a column
    (
        "prompt question options order item variant text target models axes role harmless sample score scorer "
        "tasks category cluster pair finish"
    ).split()
)
SCORES = tuple(
    "score correct is_correct reward accuracy passed pass success grade rating points right acc exact_match resolved solved "
    "is_solved true_false is_match result verdict value base_status plus_status rewards accs scores graded_list "
    "raw_scored_generations follow_all_instructions".split()
)
_SCORE_ENDS = tuple(f"_{name}" for name in SCORES if "_" not in name)
_OF_SCORES = {  # what a table of scores alone may name besides
    key: tuple(names.split())
    for key, names in {
        "item": "item item_id question_id example_id doc_id task_id input_id sample_id problem_id instance_id id key idx "
        "question index",
        "sample": "epoch sample run run_idx run_id trial repeat replicate seed attempt sample_id",
        "variant": "variant variant_id prompt_id template wording perturbation prompt_format prompt_name",
        "scorer": "scorer metric grader judge",
        "tasks": "task task_name task_type benchmark dataset eval",
        "category": "category subject topic",
        "cluster": "cluster source_id family template_id passage_id document_id group_id",
    }.items()
}
ITEMS = _OF_SCORES["item"]
_NAMES = {
    key: tuple(names.split())
    for key, names in {
        "prompt": "prompt prompt_used full_prompt formatted_prompt origin_prompt input inputs query question instruction "
        "question_content inputs.question inputs.input inputs.prompt inputs.query inputs.messages "
        "input.question input.input input.prompt input.query input.messages",
        "question": "original_question question question_text stem problem",
        "text": "response raw_response completion generation generated_text model_output model_outputs output generated_prediction "
        "outputs.answer outputs.output outputs.response outputs.text text responses completions generations outputs "
        "raw_generations actual_output output_list output.answer output.output output.response output.text",
        "item": "item item_id question_id example_id doc_id task_id id key idx",
        "variant": "variant variant_id template perturbation prompt_format",
        "order": "permutation option_order order",
        "target": "target gold gold_answer correct_answer correct_option ground_truth ground_truth_answer groundtruth "
        "groundtruth_answer reference_answer expected_answer answer_key answer gt "
        "expected expected_output reference_output reference ideal reference_outputs.answer reference_outputs.output "
        "reference_outputs.expected reference_output.answer expected.answer expected.output",
        "models": "model model_name model_id metadata.model generator",
        "axes": "axis perturbation_type",
        "role": "role item_role",
        "harmless": "harmless",
        "finish": "finish_reason stop_reason finishReason stopReason",
    }.items()
}
QUESTIONS = (*_NAMES["prompt"], *_NAMES["question"])
_OPTIONS = ("options", "choices", "index2ans")
_WRAPPED = tuple("inputs outputs reference_outputs feedback scores metadata input output reference_output expected".split())
# what a question may be about
_BESIDE = tuple("context passage document article solution candidate_solution code".split())
_IMAGES = ("image", "image_path", "img", "image_file", "audio", "video")  # by name: which one a question is about
LONGEST_PATH = 300  # characters; what is longer is the image itself
_ANSWERS = (*BY_PROGRAM, "label", "human_label", "choice")
OUTPUTS = frozenset((*_NAMES["text"], *_ANSWERS))
FIRST = "first_token"
NO_MODEL_NAME = "recorded model"  # of a table that names none
_LETTERS = frozenset("ABCDEFGHIJ")
LEAST_APART = 0.1  # of the questions have several right answers, where they are about a text beside them
MOST_OF_NAME = 60  # characters of a task's name
LEAST_WORDS = 8  # of a cell that is more than an answer
_PATTERNS = (r"^ *<[A-Z]>(.*?)</[A-Z]>", r"^ *\(?[A-Z][.):](.+)$")
_MARKERS = ("[/INST]", "\nmodel\n", "<|assistant|>", "\nassistant\n", "### Response:")


def looked_at(path: str) -> list[Mapping[str, Any]]:
    """The first good rows; raises BadInput for a file without any."""
    every = list(islice(read_rows(path, most_mb=MOST_MB), N_LOOKED_AT))
    rows: list[Mapping[str, Any]] = _with_inner([with_messages(row).values for row in every if not row.problem])
    if not rows:
        first = f" {every[0].place} {every[0].problem.removesuffix('.')}." if every else ""
        raise BadInput(
            f"{spoken_name(path)} has no row that can be read; it needs one JSON object a line, "
            f"or a header line and rows below it.{first}"
        )
    return rows


def _with_inner(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The columns inside of those that platforms of evaluations wrap theirs in, beside them."""
    wrapped = [name for name in _WRAPPED if name != "scores" or _are_scorers(rows, name)]
    inner = (
        {f"{name}.{key}": one for name in wrapped if isinstance(row.get(name), Mapping) for key, one in row[name].items()}
        for row in rows
    )
    return [{**row, **more} for row, more in zip(rows, inner, strict=True)]


def _are_scorers(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether an object of scores has one a scorer, the same in every row, and not one an option, which is a label or stands in a text."""
    (names, *others) = {frozenset(map(str, row[name])) for row in rows if isinstance(row.get(name), Mapping)} or {frozenset()}
    texts = [text for row in rows for text in row.values() if isinstance(text, str)]
    return not others and all(len(one) > 2 for one in names) and not any(one in text for one in names for text in texts)


def answers_in(path: str, recording: "Recording") -> list[Mapping[str, Any]]:
    """The same with a row an answer, where a row holds several."""
    return apart(looked_at(path), recording.models_beside, recording.lists)


def models_named(path: str) -> frozenset[str]:
    """The models that the rows of a table name themselves, of all rows: the first may be of one. Raises BadInput for a file without any."""
    called = _by_name(columns_of(looked_at(path)))
    column = next((called[name] for name in _NAMES["models"] if name in called), "")
    rows = read_rows(path, most_mb=MOST_MB) if column else ()
    return frozenset(str(model) for row in rows if not row.problem and (model := value_at(row.values, column)))


def columns_of(rows: Sequence[Mapping[str, Any]], nested: str = "") -> list[str]:
    """Names of columns, those inside of nested variants among them."""
    return list(
        dict.fromkeys(name for values in _variants(rows, nested) for name in values if not (nested and name.startswith(nested)))
    )


def guessed(path: str, words: Mapping[str, str] | None = None) -> Recording:
    """The likeliest recording; what does not fit is left empty, and everything can be corrected by `words`, key by key.

    Raises BadInput for a table of something else than outputs and scores."""
    rows = looked_at(path)
    reading = read_by_structure(path, words or {})
    if reading.refusal:
        raise BadInput(reading.refusal)
    if is_of_inspect(rows) and (scores := [one for one in rows[0] if _is_inspect_score(rows, one)]):
        return _of_inspect(path, rows, scores)
    if objects := _objects_of_models(rows):
        return _guessed(path, rows, reading, models=objects)
    if lists := _lists_of_samples(rows):
        return _guessed(path, rows, reading, lists=lists)
    if reading.shape and not reading.shape.versions:
        return _guessed(path, rows, reading, models=reading.shape.models, lists=reading.shape.lists)
    guess = _guessed(path, rows, reading)
    if guess.text or guess.fields or guess.score:
        return guess
    if objects := objects_in_lists(rows):
        outputs = [name for name in objects if _SEVERAL.fullmatch(name)]
        return _guessed(path, rows, reading, lists=outputs) if len(outputs) == 1 else guess
    answers = _answers_of_models(rows, guess)
    return _guessed(path, rows, reading, models=answers) if answers else guess


def _guessed(
    path: str, table: Sequence[Mapping[str, Any]], reading: TableReading, models: Sequence[str] = (), lists: Sequence[str] = ()
) -> Recording:
    """The guess of rows that each hold one answer, or those of `models` or `lists` of samples beside each other."""
    rows = apart(table, models, lists)
    nested = "" if models or lists else _nested(rows)
    variants = list(_variants(rows, nested))
    columns = columns_of(rows, nested)
    called = _by_name(columns)
    guess = {
        key: max(
            (called[name] for name in _NAMES[key] if name in called and _texts_in(variants, called[name])),
            key=lambda name: 2 * len(_texts_in(variants, name)) >= len(variants),  # the first that most rows have
            default="",
        )
        for key in ("prompt", "text")
    }
    answers = [called[name] for name in _ANSWERS if name in called]
    guess["text"] = guess["text"] or next((name for name in answers if _is_written(variants, name)), "")
    own = [name for name in columns if models and name not in columns_of(table)]
    guess["text"] = guess["text"] or next((name for name in own if _is_written(variants, name)), "")
    plain = {name: column for name, column in called.items() if not isinstance(variants[0].get(column), Mapping)}
    guess |= {
        key: next((plain[name] for name in _NAMES[key] if name in plain), "")
        for key in ("variant", "target", "models", "axes", "harmless", "finish")
    }
    other = called.get("answer", "")  # what was said, where another column holds what is right
    guess["text"] = guess["text"] or (other if other != guess["target"] and _is_written(variants, other) else "")
    guess["question"] = next(
        (called[name] for name in _NAMES["question"] if name in called and called[name] != guess["prompt"]), ""
    )
    usual = {column for name, column in called.items() if name in {*_USUAL, *_ANSWERS} and name not in SCORES}
    usual |= {*score_columns(variants)}
    by_word = parts_of(variants, [] if nested else [one for one in columns if one not in usual])
    guess["target"] = guess["target"] or next(iter(by_word[TARGET]), "")
    outputs = [] if models or lists else [one for one in by_word[OUTPUT] if not _NO_MODEL.search(one)]
    texts = [one for one in outputs if not is_reading(one)] or outputs
    guess["text"] = guess["text"] or (texts[0] if len(texts) == 1 and _is_written(variants, texts[0]) else "")
    if not (guess["prompt"] or guess["question"]):
        guess["prompt"] = next(iter(by_word[PROMPT]), "")
    guess["target"] = "" if guess["target"] == guess["text"] else guess["target"]
    guess |= {} if nested else named_roles(reading, guess, columns)
    if guess["text"] and not guess["prompt"]:
        guess["prompt"], guess["question"] = guess["question"], ""
    guess["item"] = (
        ""
        if nested
        else next((called[name] for name in _NAMES["item"] if name in called), "")
        or _repeated(variants, guess["question"] or guess["prompt"], guess["variant"])
    )
    if not (guess["item"] or nested) and guess["models"] and reading.n_models > 1:
        guess["item"] = guess["question"] or guess["prompt"]  # which each model was asked
    guess["order"] = next((name for name in _NAMES["order"] if name in columns and _is_order(variants, name)), "")
    guess["options"] = _options(variants, columns, guess["prompt"], guess["target"])
    pattern = "" if guess["options"] else _pattern(variants, guess["prompt"])
    in_prompt = guess["options"] and not _never_shown(variants, guess["options"], guess["prompt"])
    guess["role"] = next((name for name in _NAMES["role"] if name in columns and _are_roles(variants, name)), "")
    graded = set() if nested else {name.partition(".")[0] for name in reading.roles.graders if "." in name}
    fields = _fields(variants, [name for name in columns if name != guess["text"] and name not in graded])
    bare = [] if fields else [one for one in outputs if one != guess["text"]]
    fields += tuple(Field(one, one) for one in bare if len(bare) == 1)
    if (
        not guess["target"]
        and not guess["text"]
        and "label" in (readers := [one.extractor for one in fields])
        and readers[0] != FIRST
    ):
        guess["target"], fields = "label", tuple(one for one in fields if one.extractor != "label")
    if not nested and (column := cell_readout(reading, guess, [field.column for field in fields])):
        fields = (*fields, Field(column, column))
    fields = tuple(field for field in fields if nested or not guess["target"] or field.column != reading.roles.target)
    guess["tasks"] = "" if nested else _tasks(variants, columns, guess["prompt"], guess.values())
    guess["prompt"] = _with_what_it_is_about(variants, [one for one in _BESIDE if one in columns], guess)
    answered = [guess["target"]] if guess["target"] else [one.column for one in fields if one.extractor != FIRST]
    letters = "" if guess["options"] or pattern or nested else _letters(reading, variants, guess["target"])
    guess["answers"] = "" if guess["options"] or pattern else letters or _answers(variants, answered)
    guess["sample"] = OF_SAMPLE if lists else ""
    guess["score"] = "" if nested else next(iter(score_columns(variants, guess.values())), "")
    if not nested:
        taken = [name for name in (*guess.values(), *(field.column for field in fields)) if name != guess["score"]]
        guess["score"] = graders_of(reading, guess["score"], taken)
    if guess["score"] and not guess["prompt"]:
        prompt = next((name for name in reading.roles.prompts if name in columns and not nested), "")
        if prompt and reading.roles.output:
            guess["prompt"] = prompt
        else:
            guess |= _of_scores(columns, guess)
    axis = "option_order" if in_prompt or pattern or guess["order"] else "recorded"
    if image := next((name for name in _IMAGES if 0 < max(map(len, _texts_in(variants, name)), default=0) < LONGEST_PATH), ""):
        guess["question"] = f"{guess['question'] or guess['prompt']},{image}"
    recording = Recording(
        Path(path).stem,
        _model(rows, guess["models"]),
        nested=nested,
        option_pattern=pattern,
        axis=axis,
        text_after=_marker(variants, guess["text"]),
        model_columns=",".join(models),
        sample_columns=",".join(lists),
        fields=fields,
        **guess,
    )
    return with_structure(recording, reading)


def _by_name(columns: Sequence[str]) -> dict[str, str]:
    """What a column may be called -> the first that is: by its own name, or however its words are written (Model Answer, Correct?)."""
    apart = {name: re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name) for name in reversed(columns)}  # actualOutput
    names = {re.sub(r"[^a-z0-9.]+", "_", one.lower()).strip("_"): name for name, one in apart.items()}
    return names | {name: name for name in columns}


# A row that holds several answers: a column a model, or a list with an entry a sample.

_LEAST_LABELS = 0.9  # of a column's cells are labels of options, where a model's answers stand in it
_NO_MODEL = re.compile(
    r"majority|consensus|vote|gold|truth|human|correct|expected|reference|entropy|judge|rater|annotator|grader", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"(?:model_)?(?:responses|outputs|completions|generations|predictions|preds|samples|rollouts|runs|attempts|trials|results)",
    re.IGNORECASE,
)
_OF_MODELS = re.compile(
    r"\b(?:chat)?(?:gpt|claude|llama|qwen|gemini|gemma|mistral|mixtral|deepseek|phi|grok|command-r|olmo|falcon|vicuna|alpaca|palm|pythia|"
    r"bloom|internlm|baichuan|glm|yi|kimi|o[134])(?=\b|[\d_-])",
    re.IGNORECASE,
)
_USUAL = {*SCORES, *ITEMS, *(name for names in _NAMES.values() for name in names)}
_ANSWER_NAME = re.compile(
    r"(?:^|[_ .-])(response|output|completion|generation|prediction|pred|answer)s?(?:[_ .-]|$)", re.IGNORECASE
)


def apart(rows: Sequence[Mapping[str, Any]], models: Sequence[str], lists: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows with a row an answer."""
    return [one.values for values in rows for one in rows_apart(Row(0, dict(values)), models, lists) if not one.problem]


def _lists_of_samples(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that hold a list each, in every row as long as each other, an output or a score among them."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in columns_of(rows):
        cells = [row.get(name) for row in rows]
        if "," not in name and all(
            isinstance(one, list) and not any(isinstance(x, (list, dict)) for x in one) for one in cells
        ):
            alike.setdefault(tuple(len(one) for one in cells if isinstance(one, list)), []).append(name)
    for lengths, names in alike.items():
        if (
            (max(lengths) > 1 or {*names} & {*BY_PROGRAM} or ({*names} & {*SCORES} and {*names} & {*_NAMES["text"]}))
            and not {*names} & {*_OPTIONS, *_NAMES["order"]}
            and {*names} & {*SCORES, *_NAMES["text"], *_ANSWERS}
        ):
            return names
    return []


def _objects_of_models(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that hold an object each, all with the same columns inside, a score or a text among them. Columns that count on from 0 or 1
    are variants of one model."""
    alike: dict[frozenset[str], list[str]] = {}
    for name in columns_of(rows):
        if name.partition(".")[0] in _WRAPPED:
            continue
        cells = [row[name] for row in rows if row.get(name) not in (None, "", {})]
        shapes = {frozenset(one) if isinstance(one, Mapping) else frozenset() for one in cells}
        if len(shapes) == 1 and any(shapes) and "," not in name and not any(map(_is_scores, cells)):
            alike.setdefault(shapes.pop(), []).append(name)
    for inner, names in alike.items():
        ends = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
        counts_on = all(ends) and sorted(int(one[2]) for one in ends if one) in (list(range(k, k + len(names))) for k in (0, 1))
        if len(names) > 1 and not counts_on and inner & {*SCORES, *_NAMES["text"], *_ANSWERS}:
            return names
    return []


def objects_in_lists(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that hold a list of objects each, which are no turns of a conversation: outputs of their own, perhaps."""
    cells = {name: [row[name] for row in rows if row.get(name)] for name in columns_of(rows)}
    return [
        name
        for name, several in cells.items()
        if several
        and all(isinstance(one, list) and all(isinstance(x, Mapping) and "role" not in x for x in one) for one in several)
    ]


def _answers_of_models(rows: Sequence[Mapping[str, Any]], guess: Recording) -> list[str]:
    """Two columns or more that hold labels of the item's options, or are called like what was said. Votes and right answers are no
    model."""
    n_options = max((len(_listed(row, guess.options)) for row in rows), default=0) if guess.options else 0
    columns = columns_of(rows)
    keyed = [one for one in option_columns(columns) if any(_is_key(rows, name, one) for name in {*columns} - {*one})]
    elsewhere = {name for one in keyed for name in one}
    free = [name for name in unused(guess, columns) if "," not in name and name not in elsewhere and not _NO_MODEL.search(name)]
    of_labels, by_name, of_models = [], [], [name for name in free if _OF_MODELS.search(name)]
    for name in free:
        cells = [str(row[name]).strip() for row in rows if row.get(name) not in (None, "")]
        if cells and sum(one in labels_of("upper", n_options) for one in cells) >= _LEAST_LABELS * len(cells):
            of_labels.append(name)
        if cells and _ANSWER_NAME.search(name) and not is_about(name):
            by_name.append(name)
    return next((several for several in (of_labels, by_name) if len(several) > 1), of_models)


# What Inspect's `analysis.samples_df` gives, alone or beside columns of `evals_df`: a row a sample and epoch, a column a scorer.

_INSPECT = {"sample_id", "eval_id", "id", "epoch"}
SCORER = "score_"


def is_of_inspect(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether it is such a frame."""
    return _INSPECT <= rows[0].keys()


def _is_inspect_score(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    of_evals = name.startswith(f"{SCORER}headline") or name.endswith(("_accuracy", "_stderr", "_mean", "_std"))
    return name.startswith(SCORER) and not of_evals and _are_scores(rows, name)


def _of_inspect(path: str, rows: Sequence[Mapping[str, Any]], scores: Sequence[str]) -> Recording:
    """The sample's `id` is the item: `sample_id` is one of each epoch. The model is a column of `evals_df`; without it the one that was
    used."""
    columns = columns_of(rows)
    models = next((one for one in ("model", "eval_model") if one in columns), "")
    return Recording(
        Path(path).stem,
        _model(rows, models) if models else _used_model(rows),
        prompt="",
        item="id",
        question="input" if "input" in columns else "",
        answers="text",
        axis="recorded",
        models=models,
        sample="epoch",
        score=",".join(scores),
        tasks=next((one for one in ("task_display_name", "task_name") if one in columns), ""),
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


def score_columns(rows: Sequence[Mapping[str, Any]], elsewhere: Iterable[str] = ()) -> list[str]:
    """The columns that are called like a score and hold numbers, rights and wrongs, or grades, or else those whose name ends so
    (binary_correct) and that hold rights and wrongs alone; those that hold something else are `elsewhere`."""
    wrapped = {name for name in _WRAPPED if isinstance(rows[0].get(name), Mapping)} if rows else set()
    columns = [name for name in columns_of(rows) if name not in {*elsewhere, *wrapped}]
    by_name = _by_name(columns)
    called = [by_name[name] for name in SCORES if name in by_name and _are_scores(rows, by_name[name])]
    ends = (*_SCORE_ENDS, *(f"{sign}{name}" for name in SCORES for sign in "./"))
    return called or [
        name
        for name in holders_of_scores(rows)
        if name in columns and (name.lower().endswith(ends) or name.startswith(("scores.", "feedback.")))
    ]


def holders_of_scores(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of which every value is right or wrong, whatever they are called."""
    values = {name: {score_of(row.get(name)) for row in rows} for name in columns_of(rows)}
    return [name for name, there in values.items() if there == {0.0, 1.0}]


def _are_scores(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    there = [row[name] for row in rows if row.get(name) not in (None, "")]
    return bool(there) and 2 * sum(score_of(one) is not None for one in there) > len(there)


def _of_scores(columns: Sequence[str], guess: Mapping[str, str]) -> dict[str, str]:
    """What else a table of scores alone names. No column is two things."""
    elsewhere, more = {guess["score"], guess["models"]}, {}
    for key, names in _OF_SCORES.items():
        more[key] = next((name for name in names if name in columns and name not in elsewhere), "")
        elsewhere.add(more[key])
    return more | {
        "answers": "text",
        "question": "",
        "target": "",
        "text": guess["text"] if guess["text"] not in elsewhere else "",
    }


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


def words_between(first: Recording, other: Recording) -> list[str]:
    """What corrects `first` to be `other`."""
    keys = [key for key in KEYS if getattr(other, key) != getattr(first, key)]
    words = [f"{key}={getattr(other, key)}".replace("\n", "\\n") for key in keys]
    if other.fields == first.fields:
        return words
    return [*words, *([f"read:{one.extractor}={one.column}" for one in other.fields] or ["read="])]


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


def _nested(rows: Sequence[Mapping]) -> str:
    """The prefix of columns that hold an object each and differ by a number: shuffle_0, shuffle_1."""
    prefixes = Counter(
        match[1]
        for row in rows
        for name, value in row.items()
        if isinstance(value, Mapping)
        for match in [re.fullmatch(r"(.*?)\d+", name)]
        if match
    )
    return max(prefixes, key=lambda prefix: prefixes[prefix], default="")


def _variants(rows: Sequence[Mapping], nested: str) -> Iterable[Mapping[str, Any]]:
    for row in rows:
        inner = [value for name, value in row.items() if nested and name.startswith(nested) and isinstance(value, Mapping)]
        yield from ({**row, **value} for value in inner) if inner else (row,)


def variants_of(rows: Sequence[Mapping], recording: Recording) -> list[Mapping[str, Any]]:
    """The rows with a row a variant, and columns inside of others beside them."""
    names = recording.columns
    return [with_paths(Row(0, dict(values)), names).values for values in _variants(rows, recording.nested)]


def _texts_in(variants: Sequence[Mapping], name: str) -> list[str]:
    return [values[name] for values in variants if isinstance(values.get(name), str) and values[name].strip()]


def _is_written(variants: Sequence[Mapping], name: str) -> bool:
    """Whether a column called like an answer holds what a model wrote: half of its cells are sentences."""
    cells = [str(values[name]).strip() for values in variants if values.get(name) not in (None, "")]
    words = [(len(one.split()), one.endswith((".", "!", "?"))) for one in cells]
    return bool(cells) and 2 * sum(n >= LEAST_WORDS or (n >= LEAST_WORDS // 2 and ends) for n, ends in words) > len(cells)


def _is_order(variants: Sequence[Mapping], name: str) -> bool:
    orders = [values[name] for values in variants if values.get(name) is not None]
    return bool(orders) and all(
        isinstance(one, (list, tuple)) and sorted(map(str, one)) == sorted(map(str, range(len(one)))) for one in orders
    )


def _options(variants: Sequence[Mapping], columns: Sequence[str], prompt: str, target: str) -> str:
    """The column whose entries stand in the prompt in their own order, in nine of ten variants; or one column an option."""
    several = [",".join(one) for one in option_columns(columns) if all("," not in name for name in one)]
    best, share = "", 0.0
    for name in (*columns, *several):
        listed = [(_listed(values, name), values.get(prompt)) for values in variants]
        pairs = [(options, text) for options, text in listed if options]
        fits = sum(isinstance(text, str) and _stands_in(list(map(str, options)), text) for options, text in pairs)
        if pairs and fits / len(variants) > share:
            best, share = name, fits / len(variants)
    if share >= 0.9:
        return best
    usual = [name for name in _OPTIONS if name in columns]
    in_some = [name for name in usual if _shown_where_there(variants, name, prompt)]
    keyed = [name for name in several if target and _is_key(variants, target, name.split(","))]
    return next(iter((*in_some, *(name for name in (*usual, *keyed) if _never_shown(variants, name, prompt)))), "")


def _shown_where_there(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Nine in ten of the lists of options stand in their prompt, where some rows have none: those ask for a free answer."""
    there = [(options, str(values.get(prompt))) for values in variants if (options := _listed(values, name))]
    return len(there) > 1 and sum(_stands_in(options, text) for options, text in there) >= 0.9 * len(there)


def _is_key(rows: Sequence[Mapping], name: str, options: Sequence[str]) -> bool:
    """Whether a column holds the right one of the options that other columns hold."""
    return all(_is_among(values.get(name), _listed(values, ",".join(options))) for values in rows)


def _is_among(target: Any, options: Sequence[str]) -> bool:
    """Whether a right answer is one of these options, or the letter of one."""
    letter = ord(target.strip().upper()) - ord("A") if isinstance(target, str) and len(target.strip()) == 1 else -1
    return str(target) in options or 0 <= letter < len(options)


def _listed(values: Mapping[str, Any], name: str) -> list[str]:
    """The entries of a list, the keys of an object, what the text of a column of options lists, or a column each."""
    value = values.get(name)
    if isinstance(value, (list, tuple, Mapping)):
        return list(map(str, value))
    if name not in values and "," in name:
        return list(options_in(values, name.split(","))) if all(one in values for one in name.split(",")) else []
    return list(options_in(values, name)) if name in _OPTIONS else []


def _never_shown(variants: Sequence[Mapping], name: str, prompt: str) -> bool:
    """Of nine in ten of the rows that list options the prompt holds less than half of them: then the list's own order is the only one
    known. One option may stand in a question by chance; rows without options ask for a free answer."""
    there = [(options, str(values.get(prompt))) for values in variants if (options := _listed(values, name))]
    apart = sum(len(options) > 1 and 2 * sum(one in text for one in options) < len(options) for options, text in there)
    return bool(there) and apart >= 0.9 * len(there)


def _repeated(variants: Sequence[Mapping], question: str, variant: str) -> str:
    """The column of the question where rows that name their variant share it: they belong to one item."""
    questions = [values.get(question) for values in variants] if question and variant else []
    return question if len(set(map(str, questions))) < len(questions) else ""


def _tasks(variants: Sequence[Mapping], columns: Sequence[str], prompt: str, elsewhere: Iterable[str]) -> str:
    """The column that names the row's task: a few short names, each of several prompts."""
    for name in (one for one in _OF_SCORES["tasks"] if prompt and one in columns and one not in {*elsewhere}):
        names = [values.get(name) for values in variants]
        n_prompts = len({str(values.get(prompt)) for values in variants})
        if all(isinstance(one, str) and 0 < len(one) <= MOST_OF_NAME for one in names) and 2 * len({*names}) <= n_prompts:
            return name
    return ""


def _with_what_it_is_about(variants: Sequence[Mapping], beside: Sequence[str], guess: Mapping[str, str]) -> str:
    """The column of the prompt, and that of a text `beside` where a question is asked of several texts: its right answers, which are
    several within a task for many questions, are one each with the text."""
    prompt, target = guess["prompt"], guess["target"]

    def n_apart(*names: str) -> int:
        right: dict[tuple, set] = {}
        for values in variants:
            right.setdefault(tuple(str(values.get(one)) for one in (guess["tasks"], prompt, *names)), set()).add(
                str(values.get(target))
            )
        return sum(len(one) > 1 for one in right.values())

    least = LEAST_APART * len({str(values.get(prompt)) for values in variants})
    if not (prompt and target) or n_apart() < least:
        return prompt
    return next((f"{prompt},{one}" for one in beside if one not in guess.values() and not n_apart(one)), prompt)


def _are_roles(variants: Sequence[Mapping], name: str) -> bool:
    return all(str(values.get(name)) in (*ROLES, "baseline") for values in variants)


def _letters(reading: TableReading, variants: Sequence[Mapping], target: str) -> str:
    """ "A-E" where every right answer of the whole file is a letter and E is the last of them; "" otherwise."""
    cells = [value_at(values, target) for values in variants] if target else []
    letters = {bare_label(str(cell).strip()) for cell in cells if cell not in (None, "") and cell == cell}
    there = reading.letters if target == reading.roles.target else letters
    is_of_letters = letters <= _LETTERS and len(there) > 1 and there <= _LETTERS
    return f"A-{max(there)}" if is_of_letters else ""


def _answers(variants: Sequence[Mapping], columns: Sequence[str]) -> str:
    """ "text" where most of these answers are words or lists of words, or formulas are among them; "" (numbers) otherwise."""
    cells = [values[name] for name in columns for values in variants if values.get(name) not in (None, "")]
    numbers = [not isinstance(one, list) and number_at_end(str(one)) is not None for one in cells]
    is_text = 2 * sum(numbers) < len(cells) or are_mathematics(Counter(answer_form(str(one)) for one in cells))
    return "text" if cells and is_text else ""


def unused(recording: Recording, columns: Sequence[str]) -> list[str]:
    """Columns of the file that the recording makes no use of."""
    names_in_use = (
        {name for key in COLUMNS for name in getattr(recording, key).split(",")}
        | set(recording.scores)
        | set(recording.option_columns)
        | {*recording.models_beside, *recording.lists}
        | {name for field in recording.fields for name in asdict(field).values() if isinstance(name, str)}
    )
    return [
        name for name in columns if name not in names_in_use and not (recording.nested and name.startswith(recording.nested))
    ]


def _stands_in(options: Sequence[str], prompt: str) -> bool:
    """At least two options that are more than labels, each at the end of a line or cell, one after the other."""
    at = 0
    for option in options:
        at = prompt.find(option, at)
        if at < 0:
            return False
        at += len(option)
    return len(options) > 1 and any(len(option) > 1 for option in options)


def _pattern(variants: Sequence[Mapping], prompt: str) -> str:
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


def _marker(variants: Sequence[Mapping], text: str) -> str:
    texts = [values[text] for values in variants if isinstance(values.get(text), str)] if text else []
    return next((mark for mark in _MARKERS if texts and sum(mark in one for one in texts) > len(texts) / 2), "")


def _fields(variants: Sequence[Mapping], columns: Sequence[str]) -> tuple[Field, ...]:
    """The first column of scores is the first token's; further ones, and columns of what was said, are named after
    themselves."""
    scored = [
        name
        for name in columns
        if any(_is_scores(values.get(name)) for values in variants) and not (name == "scores" and _are_scorers(variants, name))
    ]
    called = _by_name(columns)
    answer_columns = [
        called[name]
        for name in _ANSWERS
        if name in called
        and not isinstance(variants[0].get(called[name]), (Mapping, list))
        and not (scored and name == "choice")
    ]  # beside scores it is their argmax
    first = [scored_field(FIRST, scored[0], columns)] if scored else []
    return (*first, *(Field(name, name) for name in answer_columns))


def _is_scores(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) > 1
        and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value.values())
        and any(isinstance(one, float) for one in value.values())
    )


def _model(rows: Sequence[Mapping], column: str) -> str:
    return str(rows[0].get(column) or NO_MODEL_NAME) if column else NO_MODEL_NAME
