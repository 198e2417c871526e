"""Choices that the readouts of a study offer: extractors, unread answers, reruns, prompts, keys."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np
import pandas as pd

from flipcore.core.records import BASE, CUT, OK, UNREADABLE
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.families import UNIT
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices import choice as names
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option, Setting
from flipcore.stats.choices.material import ALIKE, Material
from flipcore.text.counts import count_of

ALL, ONCE = "all", "once"
PUBLISHED, WRONG_OUT, DISPUTED_OUT, SETTLED = "published", "wrong-out", "disputed-out", "settled"
LEAST_READ = 0.8  # share of a model's answers that an extractor must read to be counted
STANDING, ACCEPTED = "standing", "accepted"
VALUE_CHOICES = (
    names.EXTRACTOR,
    names.UNREAD,
    names.CUT,
    names.RERUNS,
    names.PROMPT,
    names.PARAPHRASES,
    names.KEY,
)
# If this share of the unread answers is of one kind, unreadable and cut answers are one choice.
ONE_KIND = 0.8
_STATUS = {OK: 1, UNREADABLE: 2, CUT: 3}
_KEY_COLUMNS = ["item_id", "model", "axis", "variant", "extractor", "sample"]


class UnreadEnd(StrEnum):
    """All unread answers against the decision, or all of them for it."""

    LOWEST = "lowest"
    HIGHEST = "highest"


@dataclass(frozen=True)
class ItemFacts:
    """Facts about items that choices depend on.

    categories : item id -> category; items without one are absent.
    repeated : ids of items that ask the same as an earlier item.
    wrong_key : ids of items whose answer key people call wrong.
    disputed : ids of items whose key people dispute for any reason.
    settled : item id -> right answers according to people.
    category_groups : name -> categories that may be left out together.
    origins : item id -> where the item comes from; items of unknown origin are absent.
    unreviewed : (item id, axis, variant) of paraphrases that no person has judged.
    has_raters : True if samples are ratings of one output by several people, and no reruns.
    """

    categories: Mapping[str, str] = field(default_factory=dict)
    repeated: Collection[str] = ()
    wrong_key: Collection[str] = ()
    disputed: Collection[str] = ()
    settled: Mapping[str, Collection[str]] = field(default_factory=dict)
    category_groups: Mapping[str, Collection[str]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    unreviewed: Collection[tuple[str, str, str]] = frozenset()
    has_raters: bool = False


@dataclass(frozen=True, eq=False)
class Answers:
    """Scores of some models on the same items. `right`, `settled_right` and `status` are (items,
    models, prompts, extractors, samples).

    prompts : (axis, variant); the first is the study's own prompt, with the axis "".
    extractors : names; the first is the reference.
    clusters : (items,) family numbers.
    right, settled_right : scores by the published keys and by people's keys; NaN without a score.
    status : a value of `_STATUS`; 0 without an answer.
    unreviewed : (items, prompts), True for paraphrases that no person has judged.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    prompts: tuple[tuple[str, str], ...]
    extractors: tuple[str, ...]
    clusters: np.ndarray
    right: np.ndarray
    settled_right: np.ndarray
    status: np.ndarray
    unreviewed: np.ndarray

    def of_models(self, *models: str) -> "Answers":
        """Return the answers of these models alone, in this order."""
        columns = [self.models.index(model) for model in models]
        return replace(
            self,
            models=models,
            right=self.right[:, columns],
            settled_right=self.settled_right[:, columns],
            status=self.status[:, columns],
        )


def answers_of(frame: pd.DataFrame, reference: str, facts: ItemFacts) -> Answers:
    """Return the answers from the readouts (`queries.readouts`) of items of one role, with scores
    from 0 to 1. `reference` becomes the first extractor."""
    scored = frame[frame["is_correct"].notna()]
    base = scored[scored["variant"] == BASE].assign(axis="")
    # The base prompt has rows under several axes; its readouts count once.
    rows = pd.concat([base, scored[scored["variant"] != BASE]]).drop_duplicates(_KEY_COLUMNS)
    models = list(dict.fromkeys(rows["model"].astype(str)))
    items = list(dict.fromkeys(rows["item_id"].astype(str)))
    extractors = list(dict.fromkeys([reference, *rows["extractor"].astype(str)]))
    variants = rows[["axis", "variant"]].astype(str).drop_duplicates()
    prompts = [("", BASE), *(tuple(row) for row in variants.to_numpy() if row[0])]
    samples = sorted(rows["sample"].unique())
    row_prompts = pd.MultiIndex.from_frame(rows[["axis", "variant"]].astype(str))
    # Per row, its index in each dimension of the arrays.
    index = (
        pd.Index(items).get_indexer(pd.Index(rows["item_id"].astype(str))),
        pd.Index(models).get_indexer(pd.Index(rows["model"].astype(str))),
        pd.MultiIndex.from_tuples(prompts).get_indexer(row_prompts),
        pd.Index(extractors).get_indexer(pd.Index(rows["extractor"].astype(str))),
        np.searchsorted(samples, rows["sample"]),
    )
    shape = (len(items), len(models), len(prompts), len(extractors), len(samples))
    right, status = np.full(shape, np.nan), np.zeros(shape, dtype=np.int8)
    right[index] = rows["is_correct"].astype(float)
    status[index] = rows["status"].astype(str).map(_STATUS).fillna(0)
    settled_right = right.copy()
    is_settled = rows["item_id"].astype(str).isin(facts.settled).to_numpy()
    if is_settled.any():
        row_scores = []
        for row in rows[is_settled].itertuples():
            row_scores.append(float(row.answer in facts.settled[str(row.item_id)]))
        settled_right[tuple(numbers[is_settled] for numbers in index)] = row_scores
    family = rows.drop_duplicates("item_id")["family"]
    return Answers(
        tuple(models),
        tuple(items),
        tuple(prompts),
        tuple(extractors),
        clusters=pd.factorize(family)[0],
        right=right,
        settled_right=settled_right,
        status=status,
        unreviewed=_unreviewed(items, prompts, facts),
    )


def _unreviewed(
    items: Sequence[str], prompts: Sequence[tuple[str, str]], facts: ItemFacts
) -> np.ndarray:
    """Return (items, prompts), True for paraphrases that no person has judged."""
    is_unreviewed = np.zeros((len(items), len(prompts)), dtype=bool)
    item_number = {item: number for number, item in enumerate(items)}
    prompt_number = {prompt: number for number, prompt in enumerate(prompts)}
    for item, axis, variant in facts.unreviewed:
        if item in item_number and (axis, variant) in prompt_number:
            is_unreviewed[item_number[item], prompt_number[axis, variant]] = True
    return is_unreviewed


@dataclass(frozen=True, eq=False)
class AnswerMaterial(Material):
    """Scores per item of one model, or of the first of two models minus the second.

    `closed_prompts` are numbers of prompts that a gate closes; a mean over prompts leaves them out.
    `has_outputs` is False if scores were imported without outputs. `unread_end` is None for the
    answers as read.
    """

    answers: Answers
    choices: tuple[Choice, ...]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float]
    closed_prompts: frozenset[int]
    has_outputs: bool
    unread_end: UnreadEnd | None = None
    origins: np.ndarray | None = None
    value_choices: ClassVar[tuple[str, ...]] = VALUE_CHOICES  # type: ignore[misc] # no field here

    @property
    def items(self) -> tuple[str, ...]:
        return self.answers.items

    def values(self, setting: Setting) -> np.ndarray:
        answers = self.answers
        extractor = answers.extractors.index(setting.get(names.EXTRACTOR, answers.extractors[0]))
        has_people_key = setting.get(names.KEY) == SETTLED
        prompts = self._prompt_numbers(setting.get(names.PROMPT, names.OWN))
        scores = answers.settled_right if has_people_key else answers.right
        right = scores[:, :, prompts, extractor]
        if setting.get(names.PARAPHRASES) == ACCEPTED:
            # (items, models, prompts, samples), as `right`.
            is_left_out = answers.unreviewed[:, prompts][:, None, :, None]
            right = np.where(is_left_out, np.nan, right)
        status = answers.status[:, :, prompts, extractor]
        if setting.get(names.RERUNS) == names.FIRST:
            right, status = right[..., :1], status[..., :1]
        if self.unread_end:
            right = self._filled(right, status)
        else:
            right = _without_left_out(right, status, setting)
        # (items, models, prompts) means over samples.
        means = _mean(right)
        if means.shape[1] == 2:
            return _mean(means[:, 0] - means[:, 1])
        return _mean(means[:, 0])

    def ends(self) -> "tuple[AnswerMaterial, AnswerMaterial] | None":
        if not any(choice.name == names.UNREAD for choice in self.choices):
            return None
        return (
            replace(self, unread_end=UnreadEnd.LOWEST),
            replace(self, unread_end=UnreadEnd.HIGHEST),
        )

    def _filled(self, right: np.ndarray, status: np.ndarray) -> np.ndarray:
        """Return scores (items, models, …) in which the unread answers of the first model are
        wrong at the lowest end and right at the highest, and those of the second the other way."""
        is_unread = (status == _STATUS[UNREADABLE]) | (status == _STATUS[CUT])
        # Answers without a score, such as those to paraphrases that are left out, stay out.
        is_unread &= ~np.isnan(right)
        is_high = self.unread_end == UnreadEnd.HIGHEST
        filled = right.copy()
        filled[:, 0][is_unread[:, 0]] = float(is_high)
        if right.shape[1] == 2:
            filled[:, 1][is_unread[:, 1]] = float(not is_high)
        return filled

    def _prompt_numbers(self, option: str) -> list[int]:
        """Return the numbers of the prompts that an option of the prompt choice averages."""
        if option == names.OWN:
            return [0]
        if option == names.MEAN:
            return [i for i in range(len(self.answers.prompts)) if i not in self.closed_prompts]
        prompt_names = [_prompt_name(*prompt) for prompt in self.answers.prompts]
        return [prompt_names.index(option)]


def _without_left_out(right: np.ndarray, status: np.ndarray, setting: Setting) -> np.ndarray:
    """Return scores with NaN for the unreadable and cut answers that a setting leaves out."""
    if setting.get(names.UNREAD) == names.LEFT_OUT:
        right = np.where(status == _STATUS[UNREADABLE], np.nan, right)
    # Without a choice of their own, cut answers are treated as unreadable ones are.
    if setting.get(names.CUT if names.CUT in setting else names.UNREAD) == names.LEFT_OUT:
        right = np.where(status == _STATUS[CUT], np.nan, right)
    return right


def material_of(
    answers: Answers,
    facts: ItemFacts,
    *,
    closed_gates: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    has_outputs: bool = True,
) -> AnswerMaterial:
    """Return the material and the possible choices for the score of one model, or the difference of
    two.

    Parameters
    ----------
    closed_gates : axis or extractor -> why nothing may be claimed from it.
    titles : extractor -> title for the page.
    has_outputs : False for scores without outputs.
    """
    gates, extractor_titles = closed_gates or {}, titles or {}
    closed_prompts = {i for i, (axis, _) in enumerate(answers.prompts) if axis in gates}
    possible = (
        _extractor_choice(answers, gates, extractor_titles),
        *_unread_choices(answers),
        # One of several people who rated an output is no other way to count.
        None if facts.has_raters else _rerun_choice(answers),
        _prompt_choice(answers, gates, closed_prompts),
        _unreviewed_choice(answers, closed_prompts),
        *item_choices(answers.items, facts),
    )
    # A single extractor stays as a choice, because it may be closed.
    choices = tuple(
        choice
        for choice in possible
        if choice and (choice.name == names.EXTRACTOR or len(choice.options) > 1)
    )
    return AnswerMaterial(
        answers,
        choices,
        left_out=items_left_out(answers.items, facts),
        clusters=answers.clusters,
        categories=np.unique(_categories(answers.items, facts), return_inverse=True)[1],
        bounds=SIGNED if len(answers.models) == 2 else UNIT,
        closed_prompts=frozenset(closed_prompts),
        has_outputs=has_outputs,
        origins=origin_numbers(answers.items, facts),
    )


def items_left_out(item_ids: Sequence[str], facts: ItemFacts) -> dict[str, np.ndarray]:
    """Return "choice=option" -> (items,), True if the option leaves an item out."""
    items = pd.Index(item_ids)
    disputed = items.isin(facts.disputed)
    left_out = {
        f"{names.REPEATED}={ONCE}": items.isin(facts.repeated),
        f"{names.KEY}={WRONG_OUT}": items.isin(facts.wrong_key),
        f"{names.KEY}={DISPUTED_OUT}": disputed,
        # Disputed items for which people gave no other answer cannot be scored.
        f"{names.KEY}={SETTLED}": disputed & ~items.isin(list(facts.settled)),
    }
    origins = pd.Index(_origins(item_ids, facts))
    for origin in set(origins) - {""}:
        left_out[f"{names.ORIGIN}={origin}"] = np.asarray(origins == origin)
    categories = pd.Index(_categories(item_ids, facts))
    for group, members in facts.category_groups.items():
        left_out[f"{names.CATEGORIES}={group}"] = categories.isin(members)
    return left_out


def _extractor_choice(
    answers: Answers, gates: Mapping[str, str], titles: Mapping[str, str]
) -> Choice:
    options = []
    for number, name in enumerate(answers.extractors):
        # (items, models, samples) of the study's own prompt.
        status = answers.status[:, :, 0, number]
        n_read = (status == _STATUS[OK]).sum(axis=(0, 2))
        n = n_read + (status == _STATUS[UNREADABLE]).sum(axis=(0, 2))
        shares_read = n_read / np.maximum(n, 1)
        closed = gates.get(name, "")
        if not closed and shares_read.min() < LEAST_READ:
            worst = int(shares_read.argmin())
            closed = f"reads {percent_text(float(shares_read[worst]))} of {answers.models[worst]}"
        label = titles.get(name, name.replace("_", " ")).lower()
        options.append(Option(name, label, "reads the same answers", closed))
    reason = "Each takes the answer out of the same text."
    return Choice(names.EXTRACTOR, "Extractor", tuple(options), ChoiceClass.EQUAL, reason)


def _unread_choices(answers: Answers) -> list[Choice]:
    if not np.isin(answers.status, (_STATUS[UNREADABLE], _STATUS[CUT])).any():
        return []
    # (items, models, samples) of the study's own prompt under the reference.
    status = answers.status[:, :, 0, 0]
    n_unreadable, n_cut = (int((status == _STATUS[name]).sum()) for name in (UNREADABLE, CUT))
    share_cut = n_cut / max(n_unreadable + n_cut, 1)
    unread = _wrong_or_left_out(names.UNREAD, "Unread answers", "No extractor found an answer.")
    if 1 - ONE_KIND < share_cut < ONE_KIND:
        cut = _wrong_or_left_out(
            names.CUT, "Answers cut off", "The token limit ended them, not the model."
        )
        return [unread, cut]
    return [unread]


def _wrong_or_left_out(name: str, label: str, reason: str) -> Choice:
    options = (
        Option(names.WRONG, "count as wrong", "whoever asked has no answer"),
        Option(names.LEFT_OUT, "left out", "the model may have been right"),
    )
    return Choice(name, label, options, ChoiceClass.EQUAL, reason)


def _rerun_choice(answers: Answers) -> Choice | None:
    n_samples = answers.right.shape[-1]
    if n_samples < 2:
        return None
    options = (
        Option(names.MEAN, f"mean of {n_samples} runs", "uses all that was asked"),
        Option(names.FIRST, "first run", "a user asks once"),
    )
    reason = "The same prompt was asked again."
    return Choice(names.RERUNS, "Reruns", options, ChoiceClass.EQUAL, reason)


def _prompt_name(axis: str, variant: str) -> str:
    return f"{axis}:{variant}" if axis else names.OWN


def _prompt_choice(
    answers: Answers, gates: Mapping[str, str], closed: Collection[int]
) -> Choice | None:
    if len(answers.prompts) < 2:
        return None
    options = [Option(names.OWN, "the study's own", "declared")]
    n_open = len(answers.prompts) - len(closed)
    if n_open > 1:
        label = f"mean of {n_open} prompts"
        options.append(Option(names.MEAN, label, "no prompt is better than another"))
    for axis, variant in answers.prompts[1:]:
        option = Option(
            _prompt_name(axis, variant),
            f"{axis.replace('_', ' ')} {variant} alone",
            "one more draw of a prompt",
            gates.get(axis, ""),
            is_uncertain=True,
        )
        options.append(option)
    reason = "Each prompt asks the same question."
    return Choice(names.PROMPT, "Prompt", tuple(options), ChoiceClass.EQUAL, reason)


def _unreviewed_choice(answers: Answers, closed: Collection[int]) -> Choice | None:
    open_prompts = [number for number in range(len(answers.prompts)) if number not in closed]
    n_unreviewed = int(answers.unreviewed[:, open_prompts].sum())
    return paraphrase_choice(n_unreviewed) if n_unreviewed else None


def paraphrase_choice(n_unreviewed: int) -> Choice:
    """Return the choice of which paraphrases count. Rejected ones never do."""
    options = (
        Option(STANDING, "all but rejected ones", "declared"),
        Option(ACCEPTED, "accepted ones alone", "people found that they ask the same"),
    )
    reason = (
        f"Nobody has reviewed {count_of(n_unreviewed, 'paraphrase')} yet. Without them fewer "
        "questions are asked in other words."
    )
    return Choice(names.PARAPHRASES, "Paraphrases", options, ChoiceClass.UNCERTAIN, reason)


def item_choices(item_ids: Sequence[str], facts: ItemFacts) -> list[Choice]:
    """Return the choices about items: key, repeated questions, weights, categories and origin."""
    items = set(item_ids)
    choices = []
    wrong, disputed = items & set(facts.wrong_key), items & set(facts.disputed)
    if disputed or wrong:
        options = [Option(PUBLISHED, "as published", "declared")]
        if wrong:
            options.append(Option(WRONG_OUT, f"{len(wrong)} wrong keys out", "by people"))
        if disputed and disputed != wrong:
            options.append(Option(DISPUTED_OUT, f"all {len(disputed)} disputed out", "by people"))
        if items & set(facts.settled):
            options.append(Option(SETTLED, "as people settled it", "by people"))
        reason = "People reviewed the keys without seeing any model's answer."
        key = Choice(names.KEY, "Answer key", tuple(options), ChoiceClass.EQUAL, reason)
        choices.append(key)
    n_repeated = len(items & set(facts.repeated))
    if n_repeated:
        repeated_options = (
            Option(ALL, "counted each time", "declared"),
            Option(ONCE, "counted once", "a question is one question"),
        )
        reason = f"{count_of(n_repeated, 'question')} ask what another one asks."
        label = "Repeated questions"
        choices.append(Choice(names.REPEATED, label, repeated_options, ChoiceClass.EQUAL, reason))
    sizes = Counter(facts.categories.get(item, "") for item in items)
    categories = sorted(set(sizes) - {""})
    are_unequal = len(set(sizes.values())) > 1
    # Where a choice leaves out questions, categories of one size become unequal.
    if len(categories) > 1 and (are_unequal or choices):
        weight_options = (
            Option("items", "each question equal", "declared"),
            Option(ALIKE, "each category equal", "a benchmark may have more of one category"),
        )
        unequal = (
            "of unequal size" if are_unequal else "that become unequal where questions are out"
        )
        reason = f"The questions come in {len(categories)} categories {unequal}."
        choices.append(Choice(names.WEIGHTS, "Weights", weight_options, ChoiceClass.EQUAL, reason))
    if len(categories) > 1:
        choices.append(_category_choice(facts))
    origin_by_item = _origins(item_ids, facts)
    origins = sorted(set(origin_by_item) - {""})
    # Each category may come from a place of its own, and is then left out already.
    pairs = set(zip(origin_by_item, _categories(item_ids, facts), strict=True))
    if len(origins) > 1 and not len(pairs) == len(origins) == len(categories):
        choices.append(_origin_choice(origins))
    return choices


def _origin_choice(origins: Sequence[str]) -> Choice:
    options = [Option(ALL, "all", "declared")]
    for name in origins:
        options.append(Option(name, f"without {name}", "asks questions of other origins"))
    reason = f"The questions come from {len(origins)} places. Fewer are another question."
    return Choice(names.ORIGIN, "Origin", tuple(options), ChoiceClass.UNCERTAIN, reason)


def origin_numbers(items: Sequence[str], facts: ItemFacts) -> np.ndarray | None:
    """Return (items,) numbers of origins; None if none is known."""
    return np.unique(_origins(items, facts), return_inverse=True)[1] if facts.origins else None


def _category_choice(facts: ItemFacts) -> Choice:
    options = [Option(ALL, "all", "declared")]
    for name in facts.category_groups:
        options.append(Option(name, f"without {name}", "asks about other categories"))
    reason = "Fewer categories are another question."
    return Choice(names.CATEGORIES, "Categories", tuple(options), ChoiceClass.UNCERTAIN, reason)


def _categories(items: Sequence[str], facts: ItemFacts) -> list[str]:
    return [facts.categories.get(item, "") for item in items]


def _origins(items: Sequence[str], facts: ItemFacts) -> list[str]:
    return [facts.origins.get(item, "") for item in items]


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over the last dimension without NaN; NaN if nothing is left."""
    is_defined = ~np.isnan(values)
    n = np.asarray(is_defined.sum(axis=-1))
    total = np.where(is_defined, values, 0.0).sum(axis=-1)
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
