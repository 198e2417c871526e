"""Records that every reader of a log yields: one completion of one prompt, with what the log's own
harness read from it.

Nothing is decided here. What a log does not say stays empty or None; what a harness wrote (answers,
right answers) stays as it was written and is made canonical in `log_rows`, so that all formats go
the same way.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flipcore.core.records import digest
from flipcore.datasets.tables.table_reading import Question


@dataclass(slots=True)
class LogReadout:
    """Readout of a completion by one filter or scorer: the `answer` as it wrote it (None where it
    gives none), whether it called it right, and its `score` (None where it is no number).
    `unreadable` says that it found no answer."""

    name: str
    answer: str | None = None
    is_correct: bool | None = None
    score: float | None = None
    unreadable: bool = False
    reason: str = ""
    place: int | None = None  # the option's index in the item's own order, where the log says it so


@dataclass(frozen=True, slots=True)
class PlanMark:
    """Prompt of a study that an answer belongs to; `model` is the study's name for it."""

    study_id: str
    model: str
    variant_id: str
    sample: int


def mark_of(marks: Any) -> PlanMark | None:
    """The names that `python -m flipcore variants` wrote beside a prompt, as a harness keeps them; None without them."""
    if not isinstance(marks, dict) or "flipscope_study" not in marks:
        return None
    study_id, model, variant_id = (marks.get(f"flipscope_{name}") for name in ("study", "model", "variant"))
    sample = count_of(marks.get("flipscope_sample"))
    if not (isinstance(study_id, str) and isinstance(model, str) and isinstance(variant_id, str)) or sample is None:
        return None
    return PlanMark(study_id, model, variant_id, sample)


@dataclass(slots=True)
class LogRecord:
    """One completion.

    `item` is the item's id within `task`; `item_hash` a hash of its document, which joins it with the same document in other
    logs and tasks. `options` stand in the item's own order, `order` lists their indices in the order of the prompt. `targets`
    are the right answers as written (text, label, index or number; an index from 0 where `target_is_place`). `axis` and
    `variant` say what was changed ("" for the log's own prompt). `sample` is the repeat or epoch from 0, None for "a further
    one". `category` is the subject, `family` the template or passage that the item shares with others. `option_scores` are
    log-likelihoods in nats of `continuations`, one an option. Times are seconds.
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
    pair: str = ""  # what a benchmark item and its control share
    axis: str = ""
    variant: str = ""
    harmless: bool = True
    sample: int | None = 0
    sample_from: int | None = None  # what a user said the number of its file's first sample is
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
    item_id: str = ""  # of a format whose items had ids of their own before all formats went one way
    repeat: str = ""  # the name under which a table asks a prompt of its item again
    raw_reply: str = ""  # what was recorded of an output beside its text, or in place of one
    served_model: str = ""  # what the server called the model that answered
    is_backward: bool = False  # it ended before it began
    mark: PlanMark | None = None  # the prompt of a study of ours that another harness asked
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejection:
    """A row that is no record: `sentence` begins with its place in the file."""

    sentence: str


@dataclass(frozen=True)
class ReportedScore:
    """A score that a log reports of itself. `readout` is the name that its records use; `n` and `stderr` are None where the
    log does not say them. `reducer` makes one score of an item's epochs ("mean", "pass_at_2"); None where the log names none."""

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
    """Task that a log asked, the model it asked, and the settings that make another system of it."""

    task: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The settings as people say them."""
        if not self.settings:
            return "default settings"
        return ", ".join(f"{name.replace('_', ' ')} {_spoken(value)}" for name, value in self.settings.items())


def _spoken(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass
class LogAbout:
    """Statements of a log about itself, beside its records. `notes` are sentences for people;
    `counts_outputs` is how many outputs it says it holds; `columns` is how a table's columns are
    read; `plan` has the `items`, `epochs` and perhaps `ids` that were to be asked. `doubts` say
    what its score could rest on besides, as (about, sentence): columns that could be read two ways.
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
    questions: tuple[Question, ...] = ()  # what a table leaves open
    labelled: Mapping[str, tuple[tuple[int, int], ...]] = field(
        default_factory=dict
    )  # rows that people labelled, by each column
    unreadable: str = ""  # why it has no rows before its questions are answered


def as_text(value: Any) -> str:
    """Text of a message's content: a string, or a list of parts of which the text parts are kept."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return as_text(value.get("text", value.get("content", "")))
    if isinstance(value, Sequence):
        return "".join(as_text(one) for one in value if not (isinstance(one, dict) and one.get("type") in _NO_TEXT))
    return str(value)


_NO_TEXT = {"image", "image_url", "audio", "video", "reasoning", "thinking", "tool_use"}


def reasoning_of(content: Any) -> str:
    """The reasoning parts of a message's content."""
    if not isinstance(content, list):
        return ""
    parts = [one for one in content if isinstance(one, dict) and one.get("type") in ("reasoning", "thinking")]
    return "\n".join(as_text(one.get("reasoning") or one.get("thinking") or one.get("summary") or "") for one in parts)


def prompt_of(messages: Iterable[Any]) -> tuple[str, str]:
    """(prompt, system) of chat messages. One user message is the prompt itself; several turns are set out by role."""
    turns = [(str(one.get("role", "user")), as_text(one.get("content"))) for one in messages if isinstance(one, dict)]
    system = "\n".join(text for role, text in turns if role == "system")
    dialogue = [(role, text) for role, text in turns if role != "system"]
    if len(dialogue) == 1:
        return dialogue[0][1], system
    return "\n\n".join(f"[{role}]\n{text}" for role, text in dialogue), system


def prompt_from(value: Any) -> tuple[str, str]:
    """(prompt, system) of what a log calls the prompt: text, a list of messages, or either as JSON in a string."""
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if (isinstance(value, str) and value.lstrip()[:2] in ("[{", "[ ")) or (isinstance(value, str) and value[:3] == "[\n "):
        try:
            messages = json.loads(value)
        except (ValueError, RecursionError):
            return value, ""
        value = messages if isinstance(messages, list) and messages and all(_is_message(one) for one in messages) else value
    if isinstance(value, (list, tuple)) and value and all(_is_message(one) for one in value):
        return prompt_of(value)
    if isinstance(value, str):
        return value, ""
    return ("", "") if value is None else (json.dumps(value, ensure_ascii=False, default=str), "")


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "content" in value and "role" in value


_FAMILY = (
    *("source_id", "template_id", "template", "original_id", "seed_id", "parent_id", "passage_id", "document_id", "group_id"),
    *("family", "article_id", "story_id", "paragraph_id"),
)
_PASSAGE = ("passage", "context", "article", "story", "document", "paragraph")
_FAMILY_NAMES = frozenset(_FAMILY + _PASSAGE)
_LEAST_PASSAGE, _LONGEST_NAME = 80, 60  # characters


def family_of(doc: Any) -> str:
    """Return what a document says of the template or passage that it shares with others: its name,
    or a hash of its text; "" for none."""
    if not isinstance(doc, dict) or _FAMILY_NAMES.isdisjoint(doc):
        return ""
    for name in _FAMILY:
        value = doc.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            text = str(value).strip()
            return f"{name} {text if len(text) <= _LONGEST_NAME else digest(text)}"
    texts = (doc.get(name) for name in _PASSAGE)
    text = next((one for one in texts if isinstance(one, str) and len(one) >= _LEAST_PASSAGE), "")
    return f"passage {digest(text)}" if text else ""


def number_of(value: Any) -> float | None:
    """A finite number, also from a string or a bool; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
        return float(value)
    return None


def count_of(value: Any) -> int | None:
    """A whole number, or None."""
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value else None


def right_of(score: float | None) -> bool | None:
    """True for 1, False for 0, None for a score between, which calls nothing right or wrong."""
    return None if score is None or score not in (0.0, 1.0) else score == 1.0
