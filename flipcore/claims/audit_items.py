"""Findings of an audit on items and reported numbers.

They are contradicting right answers, repeated questions, subjects whose scores differ (which makes
standard errors per item too small), and impossible flip rates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from flipcore.claims.audit_input import (
    LEAST_TEMPLATES,
    N_LISTED,
    OWN_PROMPT,
    ROUNDING,
    AuditInput,
    Finding,
    item_scores,
    spoken_name,
)
from flipcore.claims.claim import Assertion, Claim, description
from flipcore.core.records import role_name
from flipcore.stats.audit.groups import GroupSpread, group_spread
from flipcore.stats.audit.paired import largest_flip_rate
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.text.counts import count_of

MAX_WORDS = 12  # of right answers that can contradict each other

GROUPS_DIFFER = Assertion(
    "audit subjects",
    "scores differ by subject or template",
    error_rate=0.05,
    sides=1,
    family="all checks of a log that have a p, false-discovery rate",
    worlds=("equal subjects", "equal subjects of unequal size", "equal subjects and readouts"),
)


def questions_of(items: pd.DataFrame, prompts: pd.DataFrame | None = None) -> pd.Series:
    """Return one text per item, equal for items that ask the same question.

    The text is the question and its sorted options, without case, spacing and punctuation that
    ends a word. Other punctuation stays, because formulas and code differ by it. Items whose
    `task` column differs are never equal. Nor are items of two tasks whose `prompts` (`item_id`,
    `prompt`, `system`) ask different things about the same words.
    """
    tasks = items["task"] if "task" in items else [""] * len(items)
    prompt_tasks = _prompt_tasks(items, prompts)
    columns = zip(
        tasks,
        prompt_tasks,
        items["question"],
        items["options"],
        items["target"],
        items["item_id"],
        strict=True,
    )
    questions = []
    for task, prompt_task, question, options, target, item in columns:
        # If the answer is a letter and no options are stored, two equal questions may have had
        # different options: keep such items apart.
        is_letter = isinstance(target, str) and len(target) == 1 and target.isalpha()
        item_key = item if is_letter and not len(options) else ""
        option_words = sorted(map(_folded, options))
        words = [task, prompt_task, _folded(question), *option_words, item_key]
        questions.append("\n".join(words))
    return pd.Series(questions, index=items.index, dtype=object)


def _prompt_tasks(items: pd.DataFrame, prompts: pd.DataFrame | None) -> pd.Series:
    """Return the task of each item; "" if question and options identify the item without it.

    They identify an item that has options of its own. Items without options, or with the same
    options throughout a task (yes and no, a list of classes), get their meaning from the prompt
    around them. Two such items of different tasks get one task only if both tasks sent the same
    prompt.
    """
    task = items["item_id"].astype(str).str.partition("/")[0]
    no_task = pd.Series("", index=items.index, dtype=object)
    if task.nunique() < 2:
        return no_task
    options = items["options"].map(lambda labels: "\n".join(sorted(map(_folded, labels))))
    n_sets = options.groupby(task).transform("nunique")
    n_items = task.groupby(task).transform("size")
    needs_prompt = (options == "") | ((n_sets == 1) & (n_items > 1))
    prompt_task = task
    if prompts is not None and len(prompts):
        by_item = prompts.drop_duplicates("item_id").set_index("item_id")
        texts = by_item["prompt"].astype(str)
        if "system" in by_item:
            texts = by_item["system"].astype(str) + "\n" + texts
        prompt = items["item_id"].map(texts)
        question = items["question"].map(_folded)
        # An item without a prompt shares its task with no other item.
        prompt_key = prompt.where(prompt.notna(), items["item_id"])
        prompt_task = task.groupby([question, prompt_key]).transform("first")
    return no_task.where(~needs_prompt, prompt_task)


def _folded(text: str) -> str:
    """Return the text without case, extra spacing and punctuation that ends a word."""
    words = (word.rstrip(".,;:?") for word in text.casefold().split())
    return " ".join(filter(None, words))


def _right_words(target: str, options: list[str]) -> str:
    """Return the right options as sorted texts, so that items with reordered options compare."""
    words = []
    for label in target.split("\n"):
        is_option = options and label.isdecimal() and int(label) < len(options)
        words.append(options[int(label)] if is_option else label)
    return "|".join(sorted(words))


def find_contradicting_golds(log: AuditInput, questions: pd.Series) -> Iterator[Finding]:
    """Find questions with different right answers; `questions` are those of `questions_of`.

    References of many words may say one thing in several ways, and contradict nothing.
    """
    items = log.items[log.items["target"].notna()]
    n_words = items["target"].map(lambda target: len(str(target).split("\n")[0].split()))
    items = items[n_words <= MAX_WORDS]
    if items.empty:
        return
    columns = zip(items["target"], items["options"], strict=True)
    words = [_right_words(str(target), list(options)) for target, options in columns]
    right = pd.Series(words, index=items.index)
    groups = right.groupby(questions[items.index])
    is_contradicting = groups.transform("nunique") > 1
    if is_contradicting.any():
        listed = tuple(items.loc[is_contradicting, "item_id"])
        n = int(groups.nunique().gt(1).sum())
        sentence = (
            f"{count_of(n, 'question stands', 'questions stand')} with contradicting right "
            f"answers ({len(listed):,} items)."
        )
        claim = description(sentence, "contradicting golds")
        yield Finding("contradicting golds", claim, rank=85, items=listed[:N_LISTED])


def find_repeated_items(log: AuditInput, questions: pd.Series) -> Iterator[Finding]:
    """Find questions that have several ids. Each is only one independent question."""
    is_repeated = questions.duplicated(keep=False)
    if is_repeated.any():
        n, n_extra = int(questions[is_repeated].nunique()), int(questions.duplicated().sum())
        sentence = (
            f"{count_of(n, 'question occurs', 'questions occur')} more than once: {n_extra:,} of "
            f"{len(questions):,} items are repeats."
        )
        claim = description(sentence, "repeated items")
        items = tuple(log.items.loc[is_repeated, "item_id"])[:N_LISTED]
        rank = 42 + 40 * n_extra / len(questions)
        yield Finding("repeated items", claim, rank, items)


@dataclass(frozen=True)
class GroupedScores:
    """The spread of one model's scores under one extractor over subjects or templates.

    The items have one role. `role_words` names it, "" if the log has only one role.
    """

    model: str
    extractor: str
    role_words: str
    spread: GroupSpread


def group_scores(log: AuditInput, frame: pd.DataFrame) -> list[GroupedScores]:
    """Return the spread per model, extractor and role with at least `LEAST_TEMPLATES` groups."""
    if log.items["category"].nunique() < LEAST_TEMPLATES:
        return []
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    category = log.items.set_index("item_id")["category"]
    base = base if "role" in base else base.assign(role="")
    roles, scores_by_group = set(base["role"]), []
    for (model, extractor, role), part in base.groupby(["model", "extractor", "role"], sort=False):
        means = item_scores(part)
        groups = category.reindex(means.index).fillna("")
        if groups.nunique() < LEAST_TEMPLATES or (groups == "").any():
            continue
        role_words = f", {role_name(str(role), roles)} items" if len(roles) > 1 else ""
        spread = group_spread(means, groups)
        scores_by_group.append(GroupedScores(str(model), str(extractor), role_words, spread))
    return scores_by_group


def standard_error_claim(scores: GroupedScores, p: float) -> Claim:
    """Claim that scores differ by subject or template; `p` is corrected over the log."""
    spread = scores.spread
    subject = f"{scores.model}, {spoken_name(scores.extractor)}{scores.role_words}"
    # A ratio of at most 1: groups differ less than by chance, so no interval is too narrow.
    asserted = p <= GROUPS_DIFFER.error_rate and spread.ratio > 1
    sizes = (
        f"standard error {number_text(100 * spread.by_group, 1)} points by group, "
        f"{number_text(100 * spread.by_item, 1)} by items"
    )
    if not asserted:
        sentence = (
            f"{subject}: scores are not shown to differ by subject or template ({p_text(p)})."
        )
        return Claim(GROUPS_DIFFER, "undecided", sentence)
    detail = (
        f"{spread.n_groups} groups. Intervals of accuracy take single items; for other subjects "
        f"or templates than these they would be about {spread.ratio:.1f} times as wide."
    )
    sentence = (
        f"{subject}: scores differ by subject or template beyond chance, {p_text(p)}: {sizes}."
    )
    numbers = {"p": p, "ratio": spread.ratio}
    return Claim(GROUPS_DIFFER, "differ", sentence, asserted=True, detail=detail, numbers=numbers)


def find_group_differences(
    scores: Sequence[GroupedScores], adjusted: Sequence[float]
) -> Iterator[Finding]:
    """Find subjects or templates that differ beyond chance; `adjusted` has one p per score."""
    for grouped, p in zip(scores, adjusted, strict=True):
        claim = standard_error_claim(grouped, p)
        if claim.asserted:
            yield Finding(
                "standard error", claim, 38, model=grouped.model, extractor=grouped.extractor
            )


def find_impossible_rates(log: AuditInput) -> Iterator[Finding]:
    """Find reported flip rates that two reported accuracies of the same model make impossible."""
    for reported in log.reported:
        if "flip" not in str(reported.get("metric") or reported["readout"]).lower():
            continue
        scores = []
        for score in log.reported:
            is_accuracy = str(score.get("metric", "")).startswith(("acc", "exact"))
            if is_accuracy and score["model"] == reported["model"]:
                scores.append(score["value"])
        for first, second in combinations(scores, 2):
            largest = largest_flip_rate(first, second)
            if reported["value"] > largest + ROUNDING:
                sentence = (
                    f"{reported['model']}: a flip rate of {number_text(reported['value'], 3)} is "
                    f"impossible with scores {number_text(first, 3)} and "
                    f"{number_text(second, 3)}; at most {number_text(largest, 3)}."
                )
                detail = (
                    "Of two different answers one is wrong, so the rate is at most 2 minus both "
                    "scores."
                )
                claim = description(sentence, "impossible", detail=detail)
                yield Finding("impossible rate", claim, 95, model=reported["model"])
                # One pair of scores that excludes the rate is enough.
                break
