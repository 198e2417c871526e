"""The checks of an audit, and what each of them needs from a log.

If a log lacks what a check needs, the coverage lists the check as not made. To say that it found
nothing would be false.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from flipcore.claims.audit_input import (
    LEAST_TEMPLATES,
    MAX_COMPARED,
    NO_ANSWER,
    OURS,
    OWN_PROMPT,
    AuditInput,
    comparable_pairs,
    keep_shares,
    scored,
    with_scales,
)
from flipcore.claims.audit_prompts import LEAST_ITEMS


@dataclass(frozen=True)
class Check:
    """One check of an audit.

    `abouts` lists every `Finding.about` that the check gives. `applies(log, base)` is True if this
    log can be checked; `base` has the scored readouts of the log's own prompts. `missing` says what
    a log lacks that cannot be checked.
    """

    title: str
    abouts: tuple[str, ...]
    applies: Callable[[AuditInput, pd.DataFrame], bool]
    missing: str


@dataclass(frozen=True)
class Coverage:
    """The number of all checks, and those that could not be made as (title, what the log lacks)."""

    n_checks: int
    lacking: tuple[tuple[str, str], ...]

    @property
    def n_possible(self) -> int:
        """Return the number of checks that could be made."""
        return self.n_checks - len(self.lacking)

    @property
    def sentence(self) -> str:
        """Say how many of the checks could be made."""
        if not self.n_possible:
            return f"None of the {self.n_checks} checks could be made on this log."
        if not self.lacking:
            return f"All {self.n_checks} checks could be made."
        return f"{self.n_possible} of {self.n_checks} checks could be made."

    def lines(self) -> list[str]:
        """Return one line per check that could not be made, with the reason."""
        return [f"{title}: {missing}." for title, missing in self.lacking]


def coverage(log: AuditInput) -> Coverage:
    """Return how many checks this log allows, and what the others lack."""
    base = scored(log.frame[(log.frame["variant"] == "base") & (log.frame["axis"] == OWN_PROMPT)])
    lacking = [check for check in CHECKS if not check.applies(log, base)]
    return Coverage(len(CHECKS), tuple((check.title, check.missing) for check in lacking))


def _has_own_answers(log: AuditInput, base: pd.DataFrame) -> bool:
    base = keep_shares(base)
    is_own = (base["status"] == "ok") & base["answer"].notna() & ~base["extractor"].isin(OURS)
    return bool((is_own & base["score"].isin((0.0, 1.0))).any())


def _repeats_within(rows: pd.DataFrame, columns: Sequence[str], by: str) -> bool:
    """Return whether any two rows agree in all `columns` and differ in the column `by`."""
    # A quick exit, because dropping duplicates is slow for a large log.
    if rows[by].nunique() < 2:
        return False
    distinct = rows[[*columns, by]].drop_duplicates()
    return bool(distinct.duplicated(list(columns)).any())


def _has_two_readouts(log: AuditInput, base: pd.DataFrame) -> bool:
    rows = with_scales(base[base["score"].notna()], log.scales)
    columns = ("model", "item_id", "sample", "low", "high")
    for pair in comparable_pairs(log, rows):
        if _repeats_within(rows[rows["extractor"].isin(pair)], columns, "extractor"):
            return True
    return False


def _has_two_models(log: AuditInput, base: pd.DataFrame) -> bool:
    """Return whether two models have scores on at least two common items of one task."""
    if base["model"].nunique() < 2:
        return False
    scored_rows = base.loc[base["score"].notna(), ["task", "extractor", "model", "item_id"]]
    rows = scored_rows.drop_duplicates()
    for _, part in rows.groupby(["task", "extractor"], sort=False, observed=True):
        by_model = part.groupby("model", sort=False, observed=True)["item_id"]
        sets = [set(items) for _, items in by_model][:MAX_COMPARED]
        if any(len(first & second) > 1 for first, second in combinations(sets, 2)):
            return True
    return False


def _has_samples(log: AuditInput, base: pd.DataFrame) -> bool:
    rows = base[~base["status"].isin(NO_ANSWER)]
    return _repeats_within(rows, ("model", "extractor", "item_id"), "sample")


def _has_prompts(log: AuditInput, base: pd.DataFrame) -> bool:
    is_answer = ~log.harmless["status"].isin(NO_ANSWER)
    rows = log.harmless[(log.harmless["axis"] != OWN_PROMPT) & is_answer]
    return _repeats_within(rows, ("model", "extractor", "axis", "item_id"), "variant")


def _has_moved_options(log: AuditInput, base: pd.DataFrame) -> bool:
    variants = log.frame.loc[log.frame["axis"] == "option_order", "variant"]
    return any(str(variant).startswith("right at ") for variant in variants.unique())


def _has_groups(log: AuditInput, base: pd.DataFrame) -> bool:
    if log.items["category"].nunique() < LEAST_TEMPLATES:
        return False
    categories = log.items.set_index("item_id")["category"]
    rows = base.loc[base["score"].notna(), ["model", "extractor", "item_id"]].drop_duplicates()
    groups = rows["item_id"].astype(str).map(categories).fillna("")
    parts = groups.groupby([rows["model"], rows["extractor"]], sort=False, observed=True)
    return any(part.nunique() >= LEAST_TEMPLATES and not (part == "").any() for _, part in parts)


def _reports_flips(log: AuditInput, base: pd.DataFrame) -> bool:
    return any(
        "flip" in str(reported.get("metric") or reported["readout"]).lower()
        for reported in log.reported
    )


def _has_texts(log: AuditInput, base: pd.DataFrame) -> bool:
    return len(log.prompts) >= LEAST_ITEMS


def _has_options(log: AuditInput, base: pd.DataFrame) -> bool:
    return sum(len(options) > 1 for options in log.items["options"]) >= LEAST_ITEMS


CHECKS = (
    Check(
        "Reported scores against the rows",
        ("reported score",),
        lambda log, base: bool(len(log.reported)),
        "the log reports no score",
    ),
    Check(
        "Scores against the log's own answers",
        ("score against answer",),
        _has_own_answers,
        "no readout of the log gives an answer with a score",
    ),
    Check(
        "Calls that failed or were cut off",
        ("failed", "were cut off"),
        lambda log, base: bool(log.calls["n"].sum()),
        "the log holds no call",
    ),
    Check(
        "Texts without an answer",
        ("unreadable",),
        lambda log, base: not base["extractor"].isin(OURS).all(),
        "the log holds no readout of its own",
    ),
    Check(
        "Two readouts of the same texts",
        ("readouts",),
        _has_two_readouts,
        "no two readouts of one text count the same thing on one scale",
    ),
    Check(
        "Two models on the same items",
        ("two logs",),
        _has_two_models,
        "no two models have scores on the same items",
    ),
    Check("Repeated prompts", ("repeats",), _has_samples, "no prompt was asked twice"),
    Check(
        "Several prompts of one item",
        ("prompts",),
        _has_prompts,
        "no item was asked in several harmless ways",
    ),
    Check("lm-eval's SCORE rate", ("SCORE rate",), _has_moved_options, "the log is no SCORE task"),
    Check(
        "Contradicting right answers",
        ("contradicting golds",),
        lambda log, base: log.items["target"].notna().sum() > 1,
        "fewer than two items have a right answer",
    ),
    Check(
        "Repeated questions",
        ("repeated items",),
        lambda log, base: len(log.items) > 1,
        "there is one item alone",
    ),
    Check(
        "Standard errors by subject or template",
        ("standard error",),
        _has_groups,
        f"the scored items do not name {LEAST_TEMPLATES} subjects or templates",
    ),
    Check(
        "Reported flip rates", ("impossible rate",), _reports_flips, "the log reports no flip rate"
    ),
    Check(
        "Wordings, examples and leaks of prompts",
        ("wordings", "own examples", "leaked answers"),
        _has_texts,
        "too few prompts are there",
    ),
    Check(
        "Keys and answers by place",
        ("keys at one place", "one answer always"),
        _has_options,
        "too few items have options",
    ),
)
