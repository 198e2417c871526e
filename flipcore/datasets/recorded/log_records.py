"""Records, which all readers of logs yield: one completion of one prompt, with the harness's own readouts.

Readers decide nothing. A fact that a log lacks stays empty or None. Answers and right answers stay as
the harness wrote them; `log_rows` makes them canonical, in the same way for all formats.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flipcore.core.records import digest
from flipcore.datasets.tables.table_reading import Question


@dataclass(slots=True)
class LogReadout:
    """The readout of a completion by one filter or scorer of the harness.

    `answer` is as the scorer wrote it. `answer`, `is_correct` and `score` are None if it gives
    none. `unreadable` means that the scorer found no answer.
    """

    name: str
    answer: str | None = None
    is_correct: bool | None = None
    score: float | None = None
    unreadable: bool = False
    reason: str = ""
    place: int | None = None  # the option's index in the item's own order, if the log gives it


@dataclass(frozen=True, slots=True)
class PlanMark:
    """The planned prompt of a study that a record answers; `model` is the model's name in the study."""

    study_id: str
    model: str
    variant_id: str
    sample: int


def mark_of(metadata: Any) -> PlanMark | None:
    """Return the mark that `python -m flipcore variants` wrote into the metadata of a prompt; None for none."""
    if not isinstance(metadata, dict) or "flipscope_study" not in metadata:
        return None
    study_id, model, variant_id = (metadata.get(f"flipscope_{name}") for name in ("study", "model", "variant"))
    sample = whole_number(metadata.get("flipscope_sample"))
    if not (isinstance(study_id, str) and isinstance(model, str) and isinstance(variant_id, str)) or sample is None:
        return None
    return PlanMark(study_id, model, variant_id, sample)


@dataclass(slots=True)
class LogRecord:
    """One completion.

    place : the record's place in its log, for messages.
    item : the item's id within `task`.
    item_hash : hash of the item's document, by which it is found in other logs and tasks.
    options, order : the options in the item's own order, and their indices in the prompt's order.
    targets : right answers as written: text, label, index or number; with `target_is_place` an
        index from 0.
    axis, variant : name of the change; "" for the log's own prompt.
    harmless : False if the change may have moved the right answer.
    sample : the repeat or epoch from 0, None for "the next one".
    category, family : the subject; the template or passage that items share.
    option_scores : log-likelihoods in nats of `continuations`, one per option.
    latency_s : seconds.
    """

    place: str
    task: str
    item: str
    question: str
    prompt: str
    model: str = ""
    system: str = ""
    item_hash: str = ""
    options: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    labels: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    target_is_place: bool = False
    kind: str = ""
    role: str = "benchmark"
    pair: str = ""  # the same text for a benchmark item and its control
    axis: str = ""
    variant: str = ""
    harmless: bool = True
    sample: int | None = 0
    sample_from: int | None = None  # the number of the file's first sample, if a user gave it
    sampling: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    finish_reason: str = ""
    reasoning: str = ""
    n_tokens_in: int | None = None
    n_tokens_out: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    error: str = ""
    tokens: tuple[tuple[str, float], ...] | None = None
    top_logprobs: Mapping[str, float] | None = None
    option_scores: tuple[float, ...] | None = None
    continuations: tuple[str, ...] = ()
    readouts: tuple[LogReadout, ...] = ()
    category: str = ""
    family: str = ""
    item_id: str = ""  # the stored id, in formats that had ids before `log_rows` made them
    repeat: str = ""  # the name under which a table repeats a prompt of its item
    raw_reply: str = ""  # JSON of what else is recorded of an output; without `text` it is all there is
    served_model: str = ""  # the server's name of the model that answered
    is_backward: bool = False  # the call ended before it began
    mark: PlanMark | None = None  # the planned prompt of a study that another harness asked
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejection:
    """A row that is no record; `sentence` begins with its place in the file and gives the reason."""

    sentence: str


@dataclass(frozen=True)
class ReportedScore:
    """A score that a log reports for one of its tasks.

    `readout` is its name in the records. `reducer` makes one score of an item's epochs ("mean", "pass_at_2"). `n`, `stderr`
    and `reducer` are None if the log lacks them.
    """

    model: str
    task: str
    readout: str
    value: float
    n: int | None = None
    stderr: float | None = None
    metric: str = ""
    reducer: str | None = None


@dataclass(frozen=True)
class Run:
    """The task and the model of a log, and the settings by which two runs are two systems."""

    task: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The settings in words: "temperature 0.7, top p 1"."""
        phrases = []
        for name, value in self.settings.items():
            text = f"{value:g}" if isinstance(value, float) else str(value)
            phrases.append(f"{name.replace('_', ' ')} {text}")
        return ", ".join(phrases) or "default settings"


@dataclass
class LogAbout:
    """Facts of a log beside its records.

    `notes` are sentences for people, `uses` and `leaves` name the parts that are read and not read.
    `columns` says which column of a table holds what (`recording.Recording`). `plan` has the numbers of `items` and `epochs`, and perhaps
    the `ids`, that were to be asked. `doubts` are (subject, sentence) about columns that could be read
    in two ways.
    """

    format: str
    reported: list[ReportedScore] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    uses: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    doubts: list[tuple[str, str]] = field(default_factory=list)
    run: Run | None = None
    read_as: str = ""  # how a table was read, in a sentence
    questions: tuple[Question, ...] = ()  # that a table leaves open
    # column -> (rows with people's label, rows without) per group of its values
    labelled: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    unreadable: str = ""  # why no row can be read before a question is answered


def as_text(value: Any) -> str:
    """Return the text of a message's content: a string, or the texts in a list of parts."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return as_text(value.get("text", value.get("content", "")))
    if isinstance(value, Sequence):
        return "".join(as_text(part) for part in value if not (isinstance(part, dict) and part.get("type") in _OTHER_PARTS))
    return str(value)


_OTHER_PARTS = {"image", "image_url", "audio", "video", "reasoning", "thinking", "tool_use"}


def reasoning_of(content: Any) -> str:
    """Return the reasoning parts of a message's content, "" for none."""
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in ("reasoning", "thinking")]
    return "\n".join(as_text(part.get("reasoning") or part.get("thinking") or part.get("summary") or "") for part in parts)


def prompt_of(messages: Iterable[Any]) -> tuple[str, str]:
    """Return (prompt, system prompt) of chat messages.

    A single message is the prompt itself; of several, each has its role in brackets above it.
    """
    system_texts: list[str] = []
    turns: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, dict):
            role, text = str(message.get("role", "user")), as_text(message.get("content"))
            if role == "system":
                system_texts.append(text)
            else:
                turns.append((role, text))
    prompt = turns[0][1] if len(turns) == 1 else "\n\n".join(f"[{role}]\n{text}" for role, text in turns)
    return prompt, "\n".join(system_texts)


def prompt_from(value: Any) -> tuple[str, str]:
    """Return (prompt, system prompt) of a prompt in a log: a text, a list of messages, or their JSON."""
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    messages = _messages_in(value) if isinstance(value, str) else value
    if _are_messages(messages):
        return prompt_of(messages)
    if isinstance(value, str):
        return value, ""
    return ("", "") if value is None else (json.dumps(value, ensure_ascii=False, default=str), "")


def _messages_in(text: str) -> Any:
    """Return the content of a text that may be messages in JSON; None for any other text."""
    # Most prompts are not JSON, so look at the beginning before parsing.
    if not re.match(r"\s*\[\s*\{", text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _are_messages(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(message, dict) and "content" in message and "role" in message for message in value)


# Columns that name what items share; the first one with a value counts.
_CLUSTER_COLUMNS = tuple(
    "source_id template_id template original_id seed_id parent_id passage_id document_id group_id "
    "family article_id story_id paragraph_id".split()
)
# Columns with the shared text itself.
_PASSAGE_COLUMNS = ("passage", "context", "article", "story", "document", "paragraph")
_SHARED_COLUMNS = frozenset(_CLUSTER_COLUMNS + _PASSAGE_COLUMNS)
_SHORTEST_PASSAGE = 80  # characters; a shorter text is a title or a topic, not a passage that items share
_LONGEST_NAME = 60  # characters; a longer name is hashed, because every row repeats it


def family_of(doc: Any) -> str:
    """Return the template or passage of a document: its name, or a hash of its text; "" for none."""
    if not isinstance(doc, dict) or _SHARED_COLUMNS.isdisjoint(doc):
        return ""
    for name in _CLUSTER_COLUMNS:
        value = doc.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            text = str(value).strip()
            return f"{name} {text if len(text) <= _LONGEST_NAME else digest(text)}"
    for passage in (doc.get(name) for name in _PASSAGE_COLUMNS):
        if isinstance(passage, str) and len(passage) >= _SHORTEST_PASSAGE:
            return f"passage {digest(passage)}"
    return ""


def number_of(value: Any) -> float | None:
    """Return a finite number, also from a string or a bool; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and math.isfinite(value):
        return float(value)
    return None


def usable_tokens(tokens: Iterable[tuple[str, Any]]) -> tuple[tuple[str, float], ...] | None:
    """Return (token, log-probability) pairs; None if a number is missing, or all are 0 (placeholders)."""
    pairs: list[tuple[str, float]] = []
    for text, value in tokens:
        log_probability = number_of(value)
        if log_probability is None:
            return None
        pairs.append((text, log_probability))
    return tuple(pairs) if any(log_probability for _, log_probability in pairs) else None


def whole_number(value: Any) -> int | None:
    """Return a finite number without its fraction; None for anything else, also for a bool."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value)


def right_of(score: float | None) -> bool | None:
    """Return True for 1, False for 0, None for any other score, which does not say what is right."""
    return None if score is None or score not in (0.0, 1.0) else score == 1.0
