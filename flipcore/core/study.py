"""A study: the declared experiment. TOML in, TOML out; its id is the hash of what it declares."""

import tomllib
from collections.abc import Mapping
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
# the file of each score that several logs report, which came after their ids and is no part of them
FILES_OF_REPORTED = "reported_in"
# an option of such a study: what its rows say against it, which came after its id and is no part of
# it
REMARKS = "remarks"
RANDOM_CONTROL, PAIRED_CONTROL, CALIBRATED_CONTROL, OTHER_CONTROL = CONTROLS = (
    "random",
    "paired",
    "calibrated",
    "other",
)
# The family of a study that names none. It never grows: a detector that comes later joins a study
# that names it, or a verdict that somebody has read would change.
DETECTORS = (
    *("drop_numeric_resample", "drop_entity_rename", "drop_paraphrase", "published_score"),
    *("question_loss", "answer_loss", "min_k"),
    *(
        "pearl_completion_rouge_l",
        "pearl_completion_ncd",
        "pearl_summary_rouge_l",
        "pearl_summary_ncd",
    ),
)
_LATER_OF_MODELS = ("stop", "effort", "reasoning_budget")
# fields added later: at their default they are no part of the id
_LATER: dict[str, Any] = {
    "control": OTHER_CONTROL,
    "unpublished_control": False,
    "judge_sees_retro": False,
    "prompt": None,
    "detectors": DETECTORS,
    "reference_model": "",
    "reference_models": (),
}


@dataclass(frozen=True)
class ItemSource:
    """Items and their role: `n` of them (0 = all) drawn with `seed` from those of the `categories`
    (all if empty).

    `path` is a local copy, `columns` maps the item's fields to the columns of a generic file,
    `options` go to the loader. `where` keeps the items whose own data say so: {"dose": [64, 256],
    "split": "control"}.
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


@dataclass(frozen=True)
class Part:
    """An axis or an extractor by name, with its parameters."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelUse:
    """A model of data/models.toml (or `module:function`) and how it is asked. `stop` are texts that
    end an answer: a model that runs on after its answer needs them, or its answers end at the token
    limit and are cut off. `effort` and `reasoning_budget` are how much it may reason; "" and 0
    leave that to the server."""

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
    """A prompt in the user's own words, in place of a layout (`text.own_prompts`): `template` is
    the question, `example` one example with its answer, `before` what stands before all of them, or
    with `before_as_system` in the system message behind `system`.

    `n_examples` of `examples_from` (a split of a data set; without it, the study's own items in the
    same role) stand before the question, `between` behind each: the first ones, ones `drawn` once
    by the study's seed, or for each item those that lm-eval's sampler takes. `same_category` takes
    them from the item's own category. With `as_turns` each is a question of the user and an answer
    of the assistant in a chat, and `before` is in the system message. What `preset` says holds
    where nothing is said here.
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
    """Everything that decides what is asked and how it is read. `budget_usd` caps spending; None
    means no paid call.

    `control` says what the controls are: a `random` split of the benchmark's own source, `paired`
    1:1 with its items (pairs are stored), `calibrated` on known doses of this model, or `other`.
    `unpublished_control` declares that the controls were never published, so that no model can have
    read them: private, generated, or newer than its training.
    `judge_sees_retro` lets a judge on a network read items of a retro set. `detectors` are the
    family over which verdicts on memory hold their error rate, by name; others are shown outside
    it. `reference_model` is one of the study's models: losses of the others are also taken less its
    own on the same text. `reference_models` are some, by whose scores on both sets the hardness
    curve expects those of the others.
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
    unreviewed_paraphrases: bool = False
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
        """Some axis asks items in another way, instead of only sending the same prompts again."""
        return any(part.name != IDENTITY for part in self.axes)

    @property
    def is_recorded(self) -> bool:
        """Its outputs were imported, so nothing of it can be asked."""
        return self.protocol.name == RECORDED

    @property
    def scorers(self) -> tuple[Mapping[str, Any], ...]:
        """Scorers of the logs of a study that was imported: `task`, `scorer` (a readout), `reducer`
        of an item's epochs, and the scale from `low` to `high` where it is not 0 to 1; `of_rows` is
        false where no row has it. The first of a task leads."""
        scorers: list[Mapping[str, Any]] = []
        for source in self.items:
            scorers += source.options.get("scorers", ())
        return tuple(scorers)

    @property
    def scorer_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(scorer["scorer"]) for scorer in self.scorers))

    @cached_property
    def study_id(self) -> str:
        declaration = self._declared()
        for source in declaration["items"]:
            source["options"].pop(REMARKS, None)
            source["options"].pop(FILES_OF_REPORTED, None)
        return digest(declaration)[:12]

    def _declared(self) -> dict[str, Any]:
        """Fields of the declaration, without later fields that stand at their default."""
        declaration: dict[str, Any] = {}
        for key, value in asdict(self).items():
            if key not in _LATER or value != _LATER[key]:
                declaration[key] = value
        models = []
        for use in declaration["models"]:
            stated = {
                key: value for key, value in use.items() if key not in _LATER_OF_MODELS or value
            }
            models.append(stated)
        prompt = declaration.get("prompt")
        if prompt and not prompt["as_turns"]:
            declaration["prompt"] = {
                key: value for key, value in prompt.items() if key != "as_turns"
            }
        return declaration | {"models": models}

    def to_toml(self) -> str:
        """The study as TOML; `Study.from_toml` of it is equal to it."""
        import tomli_w

        return tomli_w.dumps(_without_none(self._declared()), multiline_strings=True)

    @classmethod
    def from_toml(cls, text: str) -> "Study":
        """Raises BadInput for text that is not TOML, an unknown key or a missing one."""
        if len(text) > bounds.MOST_CHARS:
            raise BadInput(
                f"The study has {len(text):,} characters; at most {bounds.MOST_CHARS:,} are read."
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
        return _study(table)

    def checked(self) -> "Study":
        """Return the study after every check of a study file; raises BadInput."""
        _study(_without_none(asdict(self)))
        return self

    @classmethod
    def read(cls, path: str | Path) -> "Study":
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"The study file {path} could not be read: {error}.") from error


def _study(table: dict) -> Study:
    table = dict(table)
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
        if len(rows) > bounds.MOST_ENTRIES:
            raise BadInput(
                f"The study has {len(rows):,} [[{key}]] tables; at most {bounds.MOST_ENTRIES:,} "
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
    """The table [prompt], with the sentence for what does not fit."""
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
    """A part of the study from a table, with a sentence for what does not fit."""
    instance = declared(kind, row, where=where)
    # a whole number stays as it was written: the id is the hash of the declaration, and 1 is not
    # 1.0 there
    instance = replace(instance, **{key: value for key, value in row.items() if type(value) is int})  # type: ignore[type-var]
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
    if isinstance(value, dict):
        return {
            key: _without_none(v)
            for key, v in value.items()
            if v is not None and v != {} and v != ()
        }
    if isinstance(value, (list, tuple)):
        return [_without_none(v) for v in value]
    return value
