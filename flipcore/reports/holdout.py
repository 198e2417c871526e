"""What the models' answers say of two sets: which conditions count, the difficulty test on them, and how it was made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipcore.claims.claim import Claim
from flipcore.claims.gates import reason
from flipcore.claims.holdout import inflation_claim
from flipcore.claims.next_steps import SetFacts
from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER, Item
from flipcore.extractors import title_of
from flipcore.models import model_cards
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import number_text
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.difficulty import AFTER, BEFORE, Condition, PreRelease, pre_release
from flipcore.stats.holdout.units import ONE_SIDED, axis_text
from flipcore.stats.holdout.verdict import DIFFICULTY_MARGIN, HoldoutTest, joined

POCKET = "pocket"
FEWEST = 5  # entries that either set must have to be compared
PREFERRED = ("rotation_single", WRITTEN_ANSWER, FIRST_TOKEN, "rotation")


def ways(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """(extractor, layout) of all conditions, the plainest first."""
    return sorted(
        {(one.extractor, one.layout) for one in conditions},
        key=lambda way: (way[1] != "plain", PREFERRED.index(way[0]) if way[0] in PREFERRED else len(PREFERRED), way),
    )


def inflation_of(
    conditions: Sequence[Condition], closed_gates: Mapping[str, str], way: tuple[str, str] | None = None
) -> tuple[list[Condition], Claim]:
    """The conditions of one way of reading and asking, the plainest where none is given, and what may be claimed of them:
    `closed_gates` (axis or extractor -> why) withholds what a judge read that has not passed."""
    extractor, layout = way or next(iter(ways(conditions)), ("", ""))
    mine = [one for one in conditions if (one.extractor, one.layout) == (extractor, layout)]
    return mine, inflation_claim(mine).not_claimed(reason(dict(closed_gates), extractor=extractor))


@dataclass(frozen=True, eq=False)
class Inflation:
    """How much better the target is answered than the retro set under every `condition`; `selection` are those of the plainest way of
    reading and asking, of which `claim` speaks."""

    every: Sequence[Condition]
    selection: Sequence[Condition]
    claim: Claim

    def as_dict(self) -> dict[str, Any]:
        of_models = [
            {"model": one.model, "extractor": one.extractor, "layout": one.layout, "inflation": plain(one.inflation())}
            for one in self.every
        ]
        return {"sentence": self.claim.text, "detail": self.claim.detail, "is_claimed": self.claim.is_made, "models": of_models}

    def rows(self) -> Iterator[Row]:
        """A row a condition; the claim stands at those of which it speaks."""
        for one in self.every:
            where, is_claimed = (
                f"{one.layout}, {title_of(one.extractor).lower()}",
                any(one is other for other in self.selection),
            )
            claim = self.claim if is_claimed else None
            yield Row(one.model, where, "inflation", one.inflation(), claim, {"model": one.model})


def inflation(conditions: Sequence[Condition], closed_gates: Mapping[str, str]) -> Inflation:
    """The answer on all `conditions` of a study."""
    return Inflation(conditions, *inflation_of(conditions, closed_gates))


def difficulty_result(
    conditions: Sequence[Condition], states: Mapping[str, PreRelease], closed_gates: Mapping[str, str] | None = None
) -> tuple[HoldoutTest, str] | tuple[None, str]:
    """(test, how it was made) by the models that were trained before the target was published, or (None, why there is none).
    `states` says of each model whether it can have seen the target. What an extractor behind a closed gate read does not count."""
    if not conditions:
        return None, "Not run: no model has answered both sets. Declare a study with these sets as target and retro."
    shut = closed_gates or {}
    withheld = [shut[one.extractor] for one in conditions if one.extractor in shut]
    conditions = [one for one in conditions if one.extractor not in shut]
    if not conditions:
        return None, f"Not run: {' '.join(dict.fromkeys(withheld))}"
    blind = [one for one in conditions if states[one.model].state == BEFORE]
    if not blind:
        return None, "Not run: it needs a model trained before the benchmark was published. " + " ".join(
            one.sentence for one in states.values()
        )
    test = joined([one.difficulty(DIFFICULTY_MARGIN) for one in blind])
    n_target, n_retro = blind[0].counts[1], blind[0].counts[3]
    n_text = f"n = {n_target:,} + {n_retro:,}"
    return test, (
        f"conditions {len(blind):,} ({'; '.join(one.label for one in blind[:3])}{' …' if len(blind) > 3 else ''}); "
        f"{test.estimate.method.replace('_', ' ')}, corrected for guessing, Holm over conditions, interval 90 %; {n_text}"
    )


def bound_text(test: HoldoutTest) -> str:
    """The limits that are held against the margin, in the test's own units."""
    low, high = test.bound
    if test.name in ONE_SIDED:
        return f"below {high:.3f} (95 %, one-sided)"
    if test.name == "difficulty":
        return f"[{number_text(100 * low, 1, sign=True)}, {number_text(100 * high, 1, sign=True)}] pp (90 %)"
    return f"[{axis_text(test, low)}, {axis_text(test, high)}] (90 %)"


def entry_rows(sets: Comparison, rows: Sequence[int], **more: Sequence) -> list[dict]:
    """Entries as rows of a table, with further columns by name."""
    return [
        {"set": "retro" if sets.labels[row] else "target", "entry": sets.texts[row]}
        | {name.replace("_", " "): values[i] for name, values in more.items()}
        for i, row in enumerate(rows)
    ]


def checked_models(target: Sequence[Item], models: Sequence[str]) -> dict[str, PreRelease]:
    """Whether each model can have seen the target, by its declared training cut-off; of the pocket model and its own items it is known
    what was read."""
    cards = model_cards()
    published = [item.published for item in target]
    own = known_reading(target)
    return {
        name: own
        if own and name in cards and cards[name].backend == POCKET
        else pre_release(name, cards[name].cutoff if name in cards else None, published)
        for name in models
    }


def known_reading(target: Sequence[Item]) -> PreRelease | None:
    """Of the pocket model, by how often its training held each entry; None where that is not known of all."""
    doses = [item.meta.get("dose") if item.dataset.startswith(f"{POCKET}_") else None for item in target]
    if not doses or None in doses:
        return None
    if n_read := sum(dose > 0 for dose in doses if dose is not None):
        return PreRelease(POCKET, AFTER, f"{POCKET}: its training held {n_read:,} of the {len(doses):,} target entries.")
    return PreRelease(POCKET, BEFORE, f"{POCKET}: its training is known and held none of the {len(doses):,} target entries.")


def set_facts(target: Sequence[Item], conditions: Sequence[Condition], has_survey: bool) -> SetFacts:
    """What the next step on two sets depends on besides their tests; `conditions` are those that were asked."""
    names = dict.fromkeys(one.model for one in conditions)
    states = checked_models(target, [*names, POCKET])
    return SetFacts(
        all(item.published for item in target) or known_reading(target) is not None,
        any(states[name].state == BEFORE for name in names),
        states[POCKET].state == BEFORE,
        has_survey,
    )


def component_axes(comparison: Comparison) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n, 2) places on the first two principal components, and what their axes say."""
    where, shares = comparison.principal
    return where, tuple(f"component {i + 1}: {share:.1%} of the variance".replace("%", " %") for i, share in enumerate(shares))


def too_few(n_target: int, n_retro: int, notes: Sequence[str]) -> str:
    """What is said of sets that are too small to be compared."""
    return (
        f"Each set needs at least five entries to be compared; you have {n_target:,} target and {n_retro:,} retro entries. "
        f"{' '.join(notes)}"
    ).strip()
