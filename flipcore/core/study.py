"""A study: the declared experiment, read from TOML and written as TOML.

Its id is the hash of its declaration.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from flipcore.core import bounds
from flipcore.core.declared import declared
from flipcore.core.errors import BadInput
from flipcore.core.records import EFFORTS, IDENTITY, ROLES, digest

T = TypeVar("T")
RECORDED = "recorded"  # the dataset and protocol of studies that were imported
# Two options of an imported study's items, which are left out of its id, because they came later:
# the file that each score comes from, if several logs report one,
FILES_OF_REPORTED = "reported_in"
# and sentences about rows that contradict the import.
REMARKS = "remarks"
RANDOM_CONTROL, PAIRED_CONTROL, CALIBRATED_CONTROL, OTHER_CONTROL = CONTROLS = (
    "random",
    "paired",
    "calibrated",
    "other",
)
# The detectors of a study that names none. The list never grows: a longer family would change
# verdicts that people have already read. A study names a newer detector itself.
DETECTORS = tuple(
    "drop_numeric_resample drop_entity_rename drop_paraphrase published_score question_loss "
    "answer_loss min_k pearl_completion_rouge_l pearl_completion_ncd pearl_summary_rouge_l "
    "pearl_summary_ncd".split()
)
# Fields that were added later. At their default they are left out of the id, so that the ids of
# older studies stay as they were.
_LATER_MODEL_FIELDS = ("stop", "effort", "reasoning_budget")
_LATER_FIELDS: dict[str, Any] = {
    "control": OTHER_CONTROL,
    "unpublished_control": False,
    "judge_sees_retro": False,
    "prompt": None,
    "detectors": DETECTORS,
    "reference_model": "",
    "reference_models": (),
}
# Columns of a recording that are not in the id, so that tables keep the id of earlier imports.
_LATER_COLUMNS = ("error", "raters")
# A field that nothing read. Files may still have it, and it stays in the id at its default, so that
# the ids of older studies stay as they were.
_DROPPED_FIELD = "unreviewed_paraphrases"


@dataclass(frozen=True)
class ItemSource:
    """The items that a study takes from one dataset, and their role.

    `n` items (0 = all) are drawn with `seed`, from those of the `categories` (all if empty). `path`
    is a local copy of the dataset. `columns` maps the item's fields to the columns of a generic
    file. `options` are settings of the loader. `where` keeps the items with these values in their
    own data: {"dose": [64, 256], "split": "control"}.
    """

    dataset: str
    role: str = "benchmark"
    n: int = 0
    seed: int = 0
    categories: tuple[str, ...] = ()
    path: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)


def with_targets(sources: Iterable[ItemSource]) -> list[ItemSource]:
    """Return the sources; a benchmark beside a holdout becomes the target of the comparison.

    Menus call both roles benchmark. With controls, a benchmark stays the set to test memory on.
    """
    sources = list(sources)
    roles = {source.role for source in sources}
    if "retro" in roles and not roles & {"target", "control"}:
        for index, source in enumerate(sources):
            if source.role == "benchmark":
                sources[index] = replace(source, role="target")
    return sources


@dataclass(frozen=True)
class Part:
    """An axis or an extractor by name, with its parameters."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelUse:
    """A model of data/models.toml (or `module:function`) and its settings.

    `stop` are texts that end an answer. A model that goes on after its answer needs them; otherwise
    the token limit cuts its answers off. `effort` and `reasoning_budget` (tokens) limit its
    reasoning; "" and 0 leave that to the server.
    """

    name: str
    temperature: float = 0.0
    n_samples: int = 1
    seed: int = 0
    max_tokens: int = 256
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    effort: str = ""
    reasoning_budget: int = 0


FIRST, BY_SEED, LM_EVAL = PICKS = ("first", "drawn", "lm_eval")


@dataclass(frozen=True)
class OwnPrompt:
    """A prompt in the user's own words, used instead of a layout (`text.own_prompts`).

    `preset` names a known prompt, whose settings apply to all fields that are not set here.
    `template` is the question and `example` one example with its answer. `before` stands in front
    of the examples and `between` after each of them. With `before_as_system` or `as_turns`,
    `before` follows `system` in the system message.

    `n_examples` come from `examples_from` (a split of a dataset; without it, from the study's own
    items of the same role), and with `same_category` from the item's own category. `pick` = "first"
    takes the first ones, "drawn" draws them once with the study's seed, and "lm_eval" takes those
    of lm-eval's sampler for each item. With `as_turns` a chat gets each example as a question of
    the user and an answer of the assistant.
    """

    preset: str = ""
    template: str = ""
    system: str = ""
    before: str = ""
    before_as_system: bool = False
    example: str = ""
    between: str = "\n\n"
    n_examples: int = 0
    pick: str = FIRST
    same_category: bool = False
    examples_from: ItemSource | None = None
    as_turns: bool = False


@dataclass(frozen=True)
class Study:
    """Everything that decides which prompts are sent and how the outputs are read.

    `budget_usd` is the most that may be spent; None allows no paid call. `control` is the origin of
    the control items: a `random` split of the benchmark's own source, `paired` 1:1 with its items
    (pairs are stored), `calibrated` on known doses of this model, or `other`. `unpublished_control`
    declares that the controls were never published (private, generated, or newer than the model's
    training), so that no model can have read them. `judge_sees_retro` lets a judge on a network
    read items of a holdout.

    `detectors` names the detectors over which verdicts on memory hold their error rate together;
    others are shown outside of the verdict. `reference_model` is one of the study's models: the
    losses of the others are also shown minus its loss on the same text. `reference_models` are some
    of the study's models, whose scores on both sets give the hardness curve that predicts the
    scores of the others.
    """

    name: str
    items: tuple[ItemSource, ...]
    axes: tuple[Part, ...]
    extractors: tuple[Part, ...]
    models: tuple[ModelUse, ...]
    seed: int = 0
    protocol: Part = Part("single_shot")
    layout: str = "plain"
    judge: str | None = None
    budget_usd: float | None = None
    confirmatory_share: float = 0.0
    control: str = OTHER_CONTROL
    unpublished_control: bool = False
    judge_sees_retro: bool = False
    prompt: OwnPrompt | None = None
    detectors: tuple[str, ...] = DETECTORS
    reference_model: str = ""
    reference_models: tuple[str, ...] = ()

    @property
    def roles(self) -> set[str]:
        """The roles of its items: benchmark, control, target and so on."""
        return {source.role for source in self.items}

    @property
    def changes_prompts(self) -> bool:
        """True if an axis changes prompts, and does not only send the same prompts again."""
        return any(part.name != IDENTITY for part in self.axes)

    @property
    def is_recorded(self) -> bool:
        """True if the outputs were imported, so that no model can be asked again."""
        return self.protocol.name == RECORDED

    @property
    def has_raters(self) -> bool:
        """True if samples are ratings of one output by several people, and no reruns."""
        return bool(self.rater_columns)

    @property
    def rater_columns(self) -> tuple[str, ...]:
        """The columns that name the people who rated one output; empty where samples are reruns."""
        columns = []
        for source in self.items:
            if source.columns.get("raters") == "yes":
                columns.append(str(source.columns.get("sample", "")))
        return tuple(columns)

    @property
    def scorers(self) -> tuple[Mapping[str, Any], ...]:
        """The scorers in the logs of an imported study; the first of a task is its main one.

        Keys: `task`, `scorer` (its readout's name), `reducer` of an item's epochs, `low` and `high`
        if the scale is not 0 to 1, and `of_rows`, false if no row has a score of it.
        """
        scorers: list[Mapping[str, Any]] = []
        for source in self.items:
            scorers += source.options.get("scorers", ())
        return tuple(scorers)

    @property
    def table_scores(self) -> frozenset[str]:
        """The names of the scores that tables hold in columns of their own."""
        names: set[str] = set()
        for source in self.items:
            if "score" in source.columns:
                names |= {str(scorer["scorer"]) for scorer in source.options.get("scorers", ())}
        return frozenset(names)

    @property
    def scorer_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(scorer["scorer"]) for scorer in self.scorers))

    @cached_property
    def study_id(self) -> str:
        declaration = self._declared() | {_DROPPED_FIELD: False}
        for source in declaration["items"]:
            source["options"].pop(REMARKS, None)
            source["options"].pop(FILES_OF_REPORTED, None)
            for key in _LATER_COLUMNS:
                source["columns"].pop(key, None)
        return digest(declaration)[:12]

    def _declared(self) -> dict[str, Any]:
        """Return the fields of the declaration; later fields at their default are left out."""
        declaration: dict[str, Any] = {}
        for key, value in asdict(self).items():
            if key not in _LATER_FIELDS or value != _LATER_FIELDS[key]:
                declaration[key] = value
        models = []
        for use in declaration["models"]:
            models.append(
                {k: value for k, value in use.items() if k not in _LATER_MODEL_FIELDS or value}
            )
        prompt = declaration.get("prompt")
        if prompt and not prompt["as_turns"]:
            declaration["prompt"] = {
                key: value for key, value in prompt.items() if key != "as_turns"
            }
        return declaration | {"models": models}

    def to_toml(self) -> str:
        """Return the study as TOML, from which `Study.from_toml` reads an equal study."""
        import tomli_w

        return tomli_w.dumps(_without_none(self._declared()), multiline_strings=True)

    @classmethod
    def from_toml(cls, text: str) -> "Study":
        """Read a study; BadInput for text that is not TOML, an unknown key or a missing one."""
        if len(text) > bounds.MAX_CHARS:
            raise BadInput(
                f"The study has {len(text):,} characters; at most {bounds.MAX_CHARS:,} are read."
            )
        try:
            table = tomllib.loads(text)
        except RecursionError as error:
            raise BadInput("The study is nested too deeply. Write it flatter.") from error
        # TOML's own errors, and numbers and dates that Python cannot hold
        except ValueError as error:
            raise BadInput(
                f"The study is not valid TOML: {error}. Mend that line and try again."
            ) from error
        return _study_from_table(table)

    def checked(self) -> "Study":
        """Return the study after all checks of a study file; BadInput if one fails."""
        _study_from_table(_without_none(asdict(self)))
        return self

    @classmethod
    def read(cls, path: str | Path) -> "Study":
        """Read a study file; BadInput if it cannot be read or is no valid study."""
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"The study file {path} could not be read: {error}.") from error


def _study_from_table(table: dict) -> Study:
    table = {key: value for key, value in table.items() if key != _DROPPED_FIELD}
    for key, kind in (
        ("items", ItemSource),
        ("axes", Part),
        ("extractors", Part),
        ("models", ModelUse),
    ):
        rows = table.get(key)
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise BadInput(
                f"The study has no {key}: choose at least one, in a file as a [[{key}]] table."
            )
        if len(rows) > bounds.MAX_ENTRIES:
            raise BadInput(
                f"The study has {len(rows):,} [[{key}]] tables; at most {bounds.MAX_ENTRIES:,} "
                "are read."
            )
        table[key] = tuple(_from_table(kind, row, where=f"[[{key}]]") for row in rows)
    if "protocol" in table:
        table["protocol"] = _from_table(Part, table["protocol"], where="[protocol]")
    if "prompt" in table:
        table["prompt"] = _own_prompt(table["prompt"])
    study = _from_table(Study, table, where="the study")
    if study.control not in CONTROLS:
        raise BadInput(
            f"The study has control = {study.control!r}; it must be one of {', '.join(CONTROLS)}."
        )
    if study.reference_model and study.reference_model not in {use.name for use in study.models}:
        raise BadInput(
            f"The study has reference_model = {study.reference_model[:60]!r}, which is none of "
            "its models. Add it under [[models]]: what it answered before is not asked again."
        )
    models = {use.name for use in study.models}
    unknown = [name for name in study.reference_models if name not in models]
    if unknown:
        raise BadInput(
            f"The study has reference_models with {unknown[0][:60]!r}, which is none of its "
            "models. Add it under [[models]]."
        )
    return study


def _own_prompt(row: Any) -> OwnPrompt:
    """Read the table [prompt]; BadInput if something in it is wrong."""
    if isinstance(row, dict) and "examples_from" in row:
        row = row | {
            "examples_from": _from_table(
                ItemSource, row["examples_from"], where="[prompt.examples_from]"
            )
        }
    prompt = _from_table(OwnPrompt, row, where="[prompt]")
    if prompt.pick not in PICKS:
        raise BadInput(
            f"[prompt] has pick = {prompt.pick[:40]!r}; it must be one of {', '.join(PICKS)}."
        )
    if not prompt.preset and not prompt.template:
        raise BadInput("[prompt] says neither a preset nor a template. Give one of them.")
    return prompt


def _from_table(kind: type[T], row: Any, where: str) -> T:
    """Read one part of the study from a table; BadInput if something in it is wrong."""
    instance = declared(kind, row, where=where)
    # Keep whole numbers as they were written: in the hash that is the study's id, 1 is not 1.0.
    whole_numbers = {key: value for key, value in row.items() if type(value) is int}
    instance = replace(instance, **whole_numbers)  # type: ignore[type-var]
    for key, value in row.items():
        if isinstance(value, str):
            bounds.check_text(where, key, text=value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            bounds.check_number(where, key, value=value)
        elif isinstance(value, (dict, list)):
            bounds.check_nested(
                where, key, value=value, bounds=bounds.PARAMETERS if key == "params" else {}
            )
    if isinstance(instance, ItemSource) and instance.role not in ROLES:
        raise BadInput(
            f"{where} has the role {instance.role!r}; a role is one of {', '.join(ROLES)}."
        )
    if isinstance(instance, ModelUse):
        _check_reasoning(where, instance)
    return instance


def _check_reasoning(where: str, use: ModelUse) -> None:
    if use.effort and use.effort not in EFFORTS:
        raise BadInput(
            f"{where} has effort = {use.effort[:40]!r}; it must be one of {', '.join(EFFORTS)}."
        )
    if use.reasoning_budget and use.reasoning_budget >= use.max_tokens:
        raise BadInput(
            f"{where} has reasoning_budget = {use.reasoning_budget:,} and max_tokens = "
            f"{use.max_tokens:,}; the limit counts the reasoning too, so it must be larger."
        )


def _without_none(value: Any):
    """Leave out None, which TOML cannot hold, and empty tables and tuples."""
    if isinstance(value, dict):
        filled = {key: entry for key, entry in value.items() if entry not in (None, {}, ())}
        return {key: _without_none(entry) for key, entry in filled.items()}
    if isinstance(value, (list, tuple)):
        return [_without_none(entry) for entry in value]
    return value
