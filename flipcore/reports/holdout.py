"""What the models' answers say of two sets: which conditions count, the difficulty test on them,
and how it was made."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.gates import closed_gates
from flipcore.annotation.surveys.sheets import survey_results
from flipcore.claims.claim import Claim, description
from flipcore.claims.gates import reason
from flipcore.claims.holdout import inflation_claim, outcome_claim, verdict_claim
from flipcore.claims.next_steps import SetFacts
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.randomness import generator
from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER, Item
from flipcore.extractors import title_of
from flipcore.models import model_cards
from flipcore.reports.holdout_sets import Sets, sets_of_study
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import MIN_N, number_text
from flipcore.stats.holdout import verdict
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.copies import (
    CrossNeighbours,
    blocks_of_vectors,
    blocks_of_words,
    compared_rows,
    neighbours_beside_twins,
)
from flipcore.stats.holdout.difficulty import (
    AFTER,
    BEFORE,
    TOP_K,
    Condition,
    PreRelease,
    conditions,
    pre_release,
)
from flipcore.stats.holdout.entries import (
    entry_text,
    one_per_source,
    origins,
    paired_rows,
    source_groups,
)
from flipcore.stats.holdout.starting_margin import StartingMargin, starting_margin
from flipcore.stats.holdout.units import ONE_SIDED, TITLES, axis_text
from flipcore.stats.holdout.verdict import DIFFICULTY_MARGIN, HoldoutTest, HoldoutVerdict, joined
from flipcore.store.connection import Store
from flipcore.store.queries import holdout, studies
from flipcore.vectors import classifiers, embeddings

POCKET = "pocket"
FEWEST = 5  # entries that either set must have to be compared
PREFERRED = ("rotation_single", WRITTEN_ANSWER, FIRST_TOKEN, "rotation")


def ways(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """(extractor, layout) of all conditions, the plainest first."""
    return sorted(
        {(one.extractor, one.layout) for one in conditions},
        key=lambda way: (
            way[1] != "plain",
            PREFERRED.index(way[0]) if way[0] in PREFERRED else len(PREFERRED),
            way,
        ),
    )


def inflation_of(
    conditions: Sequence[Condition],
    closed_gates: Mapping[str, str],
    way: tuple[str, str] | None = None,
) -> tuple[list[Condition], Claim]:
    """The conditions of one way of reading and asking, the plainest where none is given, and what
    may be claimed of them: `closed_gates` (axis or extractor -> why) withholds what a judge read
    that has not passed."""
    extractor, layout = way or next(iter(ways(conditions)), ("", ""))
    mine = [one for one in conditions if (one.extractor, one.layout) == (extractor, layout)]
    return mine, inflation_claim(mine).not_claimed(reason(dict(closed_gates), extractor=extractor))


@dataclass(frozen=True, eq=False)
class Inflation:
    """How much better the target is answered than the retro set under every `condition`;
    `selection` are those of the plainest way of reading and asking, of which `claim` speaks."""

    conditions: Sequence[Condition]
    selection: Sequence[Condition]
    claim: Claim

    def as_dict(self) -> dict[str, Any]:
        of_models = []
        for condition in self.conditions:
            row = {
                "model": condition.model,
                "extractor": condition.extractor,
                "layout": condition.layout,
            }
            of_models.append(row | {"inflation": plain(condition.inflation())})
        return {
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "is_claimed": self.claim.is_made,
            "models": of_models,
        }

    def rows(self) -> Iterator[Row]:
        """A row a condition; the claim stands at those of which it speaks."""
        for condition in self.conditions:
            where = f"{condition.layout}, {title_of(condition.extractor).lower()}"
            is_said = any(condition is selected for selected in self.selection)
            claim = self.claim if is_said else None
            place = {"model": condition.model}
            yield Row(condition.model, where, "inflation", condition.inflation(), claim, place)


def inflation(conditions: Sequence[Condition], closed_gates: Mapping[str, str]) -> Inflation:
    """The answer on all `conditions` of a study."""
    return Inflation(conditions, *inflation_of(conditions, closed_gates))


def difficulty_result(
    conditions: Sequence[Condition],
    states: Mapping[str, PreRelease],
    closed_gates: Mapping[str, str] | None = None,
) -> tuple[HoldoutTest, str] | tuple[None, str]:
    """(test, how it was made) by the models that were trained before the target was published, or
    (None, why there is none). `states` says of each model whether it can have seen the target. What
    an extractor behind a closed gate read does not count.
    """
    if not conditions:
        return (
            None,
            (
                "Not run: no model has answered both sets. Declare a study with these sets as"
                " benchmark and holdout."
            ),
        )
    shut = closed_gates or {}
    withheld = [shut[one.extractor] for one in conditions if one.extractor in shut]
    conditions = [one for one in conditions if one.extractor not in shut]
    if not conditions:
        return None, f"Not run: {' '.join(dict.fromkeys(withheld))}"
    blind = [one for one in conditions if states[one.model].state == BEFORE]
    if not blind:
        return (
            None,
            "Not run: it needs a model trained before the benchmark was published. "
            + " ".join(one.sentence for one in states.values()),
        )
    test = joined([one.difficulty(DIFFICULTY_MARGIN) for one in blind])
    n_target, n_retro = blind[0].counts[1], blind[0].counts[3]
    n_text = f"n = {n_target:,} + {n_retro:,}"
    return (
        test,
        (
            f"conditions {len(blind):,}"
            f" ({'; '.join(one.label for one in blind[:3])}{' …' if len(blind) > 3 else ''});"
            f" {test.estimate.method.replace('_', ' ')}, corrected for guessing, Holm over"
            f" conditions, interval 90%; {n_text}"
        ),
    )


def bound_text(test: HoldoutTest) -> str:
    """The limits that are held against the margin, in the test's own units."""
    low, high = test.bound
    if test.name in ONE_SIDED:
        return f"below {high:.3f} (95%, one-sided)"
    if test.name == "difficulty":
        return (
            f"[{number_text(100 * low, 1, sign=True)}, {number_text(100 * high, 1, sign=True)}]"
            " points (90%)"
        )
    return f"[{axis_text(test, low)}, {axis_text(test, high)}] (90%)"


def entry_rows(sets: Comparison, rows: Sequence[int], **more: Sequence) -> list[dict]:
    """Entries as rows of a table, with further columns by name."""
    table_rows = []
    for i, row in enumerate(rows):
        table_row = {
            "set": "holdout" if sets.labels[row] else "benchmark",
            "entry": sets.texts[row],
        }
        table_rows.append(
            table_row | {name.replace("_", " "): values[i] for name, values in more.items()}
        )
    return table_rows


def checked_models(target: Sequence[Item], models: Sequence[str]) -> dict[str, PreRelease]:
    """Whether each model can have seen the target, by its declared training cut-off; of the pocket
    model and its own items it is known what was read."""
    cards = model_cards()
    published = [item.published for item in target]
    known = known_reading(target)
    states = {}
    for name in models:
        card = cards.get(name)
        if known and card and card.backend == POCKET:
            states[name] = known
        else:
            states[name] = pre_release(name, card.cutoff if card else None, published)
    return states


def known_reading(target: Sequence[Item]) -> PreRelease | None:
    """Of the pocket model, by how often its training held each entry; None where that is not known
    of all."""
    doses = [
        item.meta.get("dose") if item.dataset.startswith(f"{POCKET}_") else None for item in target
    ]
    if not doses or None in doses:
        return None
    if n_read := sum(dose > 0 for dose in doses if dose is not None):
        return PreRelease(
            POCKET,
            AFTER,
            f"{POCKET}: its training held {n_read:,} of the {len(doses):,} benchmark entries.",
        )
    return PreRelease(
        POCKET,
        BEFORE,
        f"{POCKET}: its training is known and held none of the {len(doses):,} benchmark entries.",
    )


def set_facts(
    target: Sequence[Item], conditions: Sequence[Condition], *, has_survey: bool
) -> SetFacts:
    """What the next step on two sets depends on besides their tests; `conditions` are those that
    were asked."""
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
    return where, tuple(
        f"component {i + 1}: {share:.1%} of the variance" for i, share in enumerate(shares)
    )


def too_few(n_target: int, n_retro: int, notes: Sequence[str]) -> str:
    """What is said of sets that are too small to be compared."""
    return (
        f"Each set needs at least five entries to be compared; you have {n_target:,} benchmark and"
        f" {n_retro:,} holdout entries. {' '.join(notes)}"
    ).strip()


# The four tests of two sets, each with how it was made or why it was not run; pages keep the parts
# that take long. What a caller holds already (vectors, accuracies, a judge's report) is handed in
# as a function; without one it is computed.


START: dict[str, Any] = {
    "difficulty": verdict.DIFFICULTY_MARGIN,
    "semantic": None,
    "prediction": verdict.BALANCED_MARGIN,
    "odd one out": verdict.ODD_MARGIN,
    "embedding": embeddings.DEFAULT,
    "classifier": classifiers.DEFAULT,
    "seed": 0,
    "permutations": 199,
}
SEMANTIC_DRAWS = 9_999
NEIGHBOUR_DRAWS = 1_999
MARGIN_PART = 5  # the share of the target, one in so many, that suggests a margin where none is set
MOST_PAIRS = 3  # in the text of the command line; the page and --json have them all
Result = tuple[HoldoutTest | None, str]


@dataclass(frozen=True)
class HoldoutReport:
    """The tests that were run by name, how each was made (`about`), why the others were not run
    (`missing`), the `view` that holds margins and settings, and the sets in one embedding where
    there is one."""

    tests: Mapping[str, HoldoutTest]
    about: Mapping[str, str]
    missing: Mapping[str, str]
    view: Mapping[str, Any]
    comparison: Comparison | None = None

    @property
    def claim(self) -> Claim:
        return verdict_claim(HoldoutVerdict(tuple(self.tests.values())))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The verdict, and what each of the four tests says or why it was not run."""
        outcomes = (
            (
                outcome_claim(self.tests[name])
                if name in self.tests
                else description(f"{TITLES[name]}: {self.missing[name]}", "not run")
            )
            for name in verdict.TESTS
        )
        return (self.claim, *outcomes)

    @property
    def alike(self) -> list[dict[str, Any]]:
        """The pairs of a benchmark and a holdout entry that are most alike, as plain values."""
        if self.comparison is None:
            return []
        ids = [item.item_id for item in self.comparison.items]
        return [
            {
                "target": ids[one.target],
                "retro": ids[one.retro],
                "cosine": one.cosine,
                "words_in_common": one.words,
                "one_source": one.is_declared,
            }
            for one in self.comparison.alike_across
        ]

    def text(self) -> list[str]:
        """The claims and the most alike pairs across the sets, a line each, as the command line
        prints them."""
        lines = [f"{one.text} {one.detail}".rstrip() for one in self.claims]
        pairs = []
        for pair in self.alike[:MOST_PAIRS]:
            numbers = (
                f"cosine {number_text(pair['cosine'])}, words in common"
                f" {number_text(pair['words_in_common'])}"
            )
            source = " (declared as of one source)" if pair["one_source"] else ""
            pairs.append(f"  {pair['target']} and {pair['retro']}: {numbers}{source}")
        return [*lines, "Most alike across the sets:", *pairs] if pairs else lines

    def as_dict(self) -> dict[str, Any]:
        claims = dict(zip(verdict.TESTS, self.claims[1:], strict=True))
        return {
            "verdict": self.claim.outcome,
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "tests": {name: self._test(name, claim) for name, claim in claims.items()},
            "most_alike_across": self.alike,
        }

    def _test(self, name: str, claim: Claim) -> dict[str, Any]:
        fields = {"outcome": claim.word, "sentence": claim.text, "about": self.about.get(name, "")}
        for key, value in claim.numbers.items():
            if key in ("estimate", "p", "margin"):
                fields[key] = plain(value)
        return fields

    def rows(self) -> Iterator[Row]:
        for name, one in self.tests.items():
            title = TITLES[name].lower()
            yield Row(
                "", "target and retro", title, one.estimate, outcome_claim(one), {"test": name}
            )


def four_tests(
    runs: Mapping[str, Callable[[], Result]],
    view: Mapping[str, Any],
    waiting: Mapping[str, str] | None = None,
) -> HoldoutReport:
    """Each test at the margin of `view`, p-values corrected over all that were run; those in
    `waiting` (name -> sentence) are not run yet. What cannot be run says why."""
    tests, about, missing = {}, {}, {}
    for name, run in runs.items():
        try:
            test, words = (None, waiting[name]) if waiting and name in waiting else run()
        except FlipscopeError as error:
            test, words = None, f"Not run: {error}"
        if test is None:
            missing[name] = words
        else:
            tests[name], about[name] = (
                (test if view[name] is None else test.against_margin(view[name])),
                words,
            )
    family = {test.name: test for test in verdict.as_family(list(tests.values()))}
    return HoldoutReport(
        family, about, missing, {**view, **{name: test.margin for name, test in family.items()}}
    )


def holdout_report(
    store: Store, study_id: str, view: Mapping[str, Any] | None = None
) -> HoldoutReport | None:
    """The tests of a study's target and retro items that are not set aside, at `view` (default: the
    settings that the page starts with); None where the study has not both roles or too few
    entries."""
    view = START | dict(view or {})
    sets = sets_of_study(store, study_id)
    if min(len(sets.target), len(sets.retro)) < FEWEST:
        return None
    rows: list[tuple[np.ndarray, str]] = []

    def vectors() -> tuple[np.ndarray, str]:
        if not rows:
            rows.append(study_vectors(store, sets, view["embedding"]))
        return rows[0]

    report = four_tests(
        {
            "difficulty": lambda: difficulty(store, sets),
            "semantic": lambda: semantic(sets, vectors(), view["seed"]),
            "prediction": lambda: prediction(
                sets, view, vectors()[0] if view["classifier"] == "vectors" else None
            ),
            "odd one out": lambda: odd_one_out(store, sets),
        },
        view,
    )
    return (
        replace(
            report, comparison=Comparison((*sets.target, *sets.retro), len(sets.target), *rows[0])
        )
        if rows
        else report
    )


def study_vectors(store: Store, sets: Sets, embedding: str) -> tuple[np.ndarray, str]:
    """((n, d) unit rows of target + retro, the words beside every figure made of them). Raises
    BadInput for an embedding that sends entries away: only somebody at the map agrees to that."""
    if away := embeddings.embedding_by_name(embedding).sent_to:
        raise BadInput(
            f"this embedding sends the entries to {away}; agree to that under Map, or choose"
            " another under View."
        )
    return embeddings.embedded(store, [*sets.target, *sets.retro], embedding)


def semantic(sets: Sets, vectors: tuple[np.ndarray, str], seed: int) -> Result:
    """Semantic similarity of what `study_vectors` gives, one entry a source, at the margin that a
    part of the target suggests, which the test then leaves out."""
    units, words = vectors
    copies = _neighbours_of(sets, units, seed)
    target, retro, left_out = one_per_source(sets.target, sets.retro)
    if left_out:
        ids = {item.item_id for item in (*target, *retro)}
        units = units[
            [i for i, item in enumerate((*sets.target, *sets.retro)) if item.item_id in ids]
        ]
    start, rest = suggested_margin(target, units, seed)
    target = tuple(target[i] for i in rest)
    units = (
        np.concatenate([units[: start.n + len(rest)][rest], units[start.n + len(rest) :]])
        if start
        else units
    )
    n, paired = len(target), paired_rows(target, retro)
    half = 0 if paired is None else len(paired) // 2
    one, other = (
        (units[:n], units[n:]) if paired is None else (units[paired[:half]], units[paired[half:]])
    )
    test = verdict.semantic_test(
        one, other, paired=paired is not None, m=SEMANTIC_DRAWS, seed=seed, copies=copies
    )
    test = test.against_margin(start.margin if start else None)
    aside = (
        f" Margin: {start.meaning} of {start.n:,} benchmark entries, which the test leaves out."
        if start
        else ""
    )
    how = "labels swapped within source pairs" if paired is not None else "labels shuffled"
    pairs = zip(("embedding", "runs of five words"), copies, strict=True)
    shares = [
        f"by {name} {one.share:.2f} (chance {one.chance:.2f})"
        for name, one in pairs
        if not np.isnan(one.share)
    ]
    return (
        test,
        (
            f"{words}; MMD², both sets' mean pairwise cosine, and nearest entries of another source"
            f" that lie in the other set, {' and '.join(shares) or 'of which there are none'},"
            f" Holm; {how}, {SEMANTIC_DRAWS:,} permutations, exact centre; 90% interval; n ="
            f" {len(one):,} + {len(other):,}; seed {seed}.{aside} {left_out}"
        ).strip(),
    )


def suggested_margin(
    target: Sequence[Item], units: np.ndarray, seed: int
) -> tuple[StartingMargin | None, list[int]]:
    """The margin that a random fifth of the target suggests, and the rows of the others; no margin
    where either would be too few."""
    n = max(MIN_N, len(target) // MARGIN_PART)
    if len(target) < n + MIN_N:
        return None, list(range(len(target)))
    part, rest = np.split(generator(seed).permutation(len(target)), [n])
    return starting_margin(units[part], [target[i].category for i in part]), np.sort(rest).tolist()


def _neighbours_of(sets: Sets, units: np.ndarray, seed: int) -> list[CrossNeighbours]:
    """How many entries lie next to one of the other set, by embedding and by words."""
    items = (*sets.target, *sets.retro)
    labels = np.repeat([0, 1], [len(sets.target), len(sets.retro)])
    sources = np.unique(source_groups(sets.target, sets.retro), return_inverse=True)[1]
    rows = np.flatnonzero(compared_rows(labels, sources))
    texts = [entry_text(items[i]) for i in rows.tolist()]
    likeness = blocks_of_vectors(units[rows]), blocks_of_words(texts)
    return [
        neighbours_beside_twins(blocks, labels[rows], sources[rows], seed, NEIGHBOUR_DRAWS)
        for blocks in likeness
    ]


def prediction(
    sets: Sets,
    view: Mapping[str, Any],
    rows: np.ndarray | None,
    watch: Callable[[int, int], None] = lambda step, of: None,
) -> Result:
    """Whether a classifier tells the sets apart, at the classifier, permutations and seed of
    `view`; `watch(step, of)` may stop it."""
    told = classifiers.told_apart(
        sets.target, sets.retro, view["classifier"], rows, view["permutations"], view["seed"], watch
    )
    how = (
        "balanced accuracy with Wilson's 95% interval; p and bound from shuffled labels, the"
        " source's p from the hits alone"
    )
    return verdict.prediction_test(told.cross_validation), f"{how}; {told.described}"


def difficulty(store: Store, sets: Sets) -> Result:
    """Similarity of difficulty by all models from before the target."""
    return difficulty_of(
        sets,
        all_conditions(store, sets),
        lambda study, names: closed_gates(store, study, (), names),
        store,
    )


def difficulty_of(
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
    store: Store,
) -> Result:
    """The same of conditions that are known; `gates_of(study, extractors)` gives the closed ones of
    these."""
    states = checked_models(sets.target, list(dict.fromkeys(one.model for one in candidates)))
    return difficulty_result(candidates, states, shut_gates(store, sets, candidates, gates_of))


def shut_gates(
    store: Store,
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
) -> dict[str, str]:
    """Of what the studies of these sets were read by, what may not be claimed: extractor -> what is
    missing."""
    names = {one.extractor for one in candidates}
    shut: dict[str, str] = {}
    for study_id in sets.study_ids:
        own = names & {part.name for part in studies.declared(store, study_id).extractors}
        shut |= gates_of(study_id, own)
    return shut


def all_conditions(
    store: Store,
    sets: Sets,
    accuracies: Callable[[str], pd.DataFrame] | None = None,
    *,
    boosted: bool = True,
) -> list[Condition]:
    """What the studies of these sets measured; of equal conditions the newest study's. `accuracies`
    gives a study's answers."""
    known = origins(sets.target, sets.retro)
    sources = {item.item_id: known.get(item.item_id) for item in (*sets.target, *sets.retro)}
    by_label: dict[str, Condition] = {}
    for study_id in sets.study_ids:
        frame = accuracies(study_id) if accuracies else holdout.accuracies(store, study_id)
        answers = frame[frame["item_id"].isin(sources)].assign(
            source_id=lambda rows: rows["item_id"].map(sources)
        )
        for one in conditions(answers, TOP_K if boosted else ()):
            by_label.setdefault(one.label, one)
    return list(by_label.values())


def odd_one_out(store: Store, sets: Sets) -> Result:
    """What the annotators of a survey on these sets found."""
    outcome, words = survey_results(store, sets.sets_id)
    return (None if outcome is None else verdict.odd_one_out_test(outcome)), words
