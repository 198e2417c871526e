"""Two sets compared: the models' answers to them, and the four tests."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.gates import closed_gates
from flipcore.annotation.surveys.sheets import survey_results
from flipcore.charts.inflation import Inflated, inflation_figure
from flipcore.charts.theme import Colours, Figure
from flipcore.claims.claim import Claim, description
from flipcore.claims.gates import reason
from flipcore.claims.holdout import inflation_claim, outcome_claim, verdict_claim
from flipcore.claims.next_steps import SetFacts
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.randomness import generator
from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER, Item
from flipcore.extractors import title_of
from flipcore.models import model_cards
from flipcore.reports.answer import Answer, FigureOf, Question
from flipcore.reports.holdout_sets import Sets, sets_of_study
from flipcore.reports.rows import Row, notebook_table, plain
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
from flipcore.stats.holdout.planning import StartingMargin, starting_margin
from flipcore.stats.holdout.units import ONE_SIDED, TITLES, axis_text
from flipcore.stats.holdout.verdict import (
    DIFFICULTY_MARGIN,
    HoldoutTest,
    HoldoutVerdict,
    join_tests,
)
from flipcore.store.connection import Store
from flipcore.store.queries import holdout, studies
from flipcore.vectors import classifiers, embeddings

POCKET = "pocket"
FEWEST = 5  # entries that either set must have to be compared
# The plainest extractors come first.
PREFERRED = ("rotation_single", WRITTEN_ANSWER, FIRST_TOKEN, "rotation")


def ways(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """(extractor, layout) of all conditions, the plainest first."""

    def order(way: tuple[str, str]) -> tuple[bool, int, tuple[str, str]]:
        extractor, layout = way
        place = PREFERRED.index(extractor) if extractor in PREFERRED else len(PREFERRED)
        return (layout != "plain", place, way)

    return sorted({(condition.extractor, condition.layout) for condition in conditions}, key=order)


def inflation_of(
    conditions: Sequence[Condition],
    closed_gates: Mapping[str, str],
    way: tuple[str, str] | None = None,
) -> tuple[list[Condition], Claim]:
    """The conditions of one way of reading and asking, the plainest where none is given, and what
    may be claimed of them: `closed_gates` (axis or extractor -> why) withholds what a judge read
    that has not passed."""
    extractor, layout = way or next(iter(ways(conditions)), ("", ""))
    selection = [
        condition
        for condition in conditions
        if (condition.extractor, condition.layout) == (extractor, layout)
    ]
    why_not = reason(dict(closed_gates), extractor=extractor)
    return selection, inflation_claim(selection).not_claimed(why_not)


@dataclass(frozen=True, eq=False)
class Inflation:
    """The lead of the target over the retro set under each of the `conditions`;
    `selection` are those of the plainest way of reading and asking, of which `claim` speaks."""

    conditions: Sequence[Condition]
    selection: Sequence[Condition]
    claim: Claim

    def as_dict(self) -> dict[str, Any]:
        rows = []
        for condition in self.conditions:
            row = {
                "model": condition.model,
                "extractor": condition.extractor,
                "layout": condition.layout,
                "inflation": plain(condition.inflation()),
            }
            rows.append(row)
        return {
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "is_claimed": self.claim.is_made,
            "models": rows,
        }

    def rows(self) -> Iterator[Row]:
        """One row per condition; the claim stands at those of which it speaks."""
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
        words = "Declare a study with these sets as benchmark and holdout."
        return None, f"Not run: no model has answered both sets. {words}"
    gates = closed_gates or {}
    withheld = [
        gates[condition.extractor] for condition in conditions if condition.extractor in gates
    ]
    conditions = [condition for condition in conditions if condition.extractor not in gates]
    if not conditions:
        return None, f"Not run: {' '.join(dict.fromkeys(withheld))}"
    # A model that may have read the target says nothing of how hard it is.
    blind = [condition for condition in conditions if states[condition.model].state == BEFORE]
    if not blind:
        # The next step says which model it needs.
        states_text = " ".join(state.sentence for state in states.values())
        return None, f"Not run: {states_text}"
    test = join_tests([condition.difficulty(DIFFICULTY_MARGIN) for condition in blind])
    n_target, n_retro = blind[0].counts[1], blind[0].counts[3]
    labels = "; ".join(condition.label for condition in blind[:3]) + (
        " …" if len(blind) > 3 else ""
    )
    return (
        test,
        (
            f"conditions {len(blind):,} ({labels}); {test.estimate.method.replace('_', ' ')},"
            " corrected for guessing, Holm over conditions, interval 90%;"
            f" n = {n_target:,} + {n_retro:,}"
        ),
    )


def bound_text(test: HoldoutTest) -> str:
    """The limits that are held against the margin, in the test's own units."""
    low, high = test.bound
    if test.name in ONE_SIDED:
        return f"below {high:.3f} (95%, one-sided)"
    if test.name == "difficulty":
        ends = (number_text(100 * end, 1, sign=True) for end in (low, high))
        return f"[{', '.join(ends)}] points (90%)"
    return f"[{axis_text(test, low)}, {axis_text(test, high)}] (90%)"


def entry_rows(sets: Comparison, rows: Sequence[int], **more: Sequence) -> list[dict]:
    """Entries as rows of a table, with further columns by name."""
    table_rows = []
    for i, row in enumerate(rows):
        table_row = {
            "set": "holdout" if sets.labels[row] else "benchmark",
            "entry": sets.texts[row],
        }
        for name, values in more.items():
            table_row[name.replace("_", " ")] = values[i]
        table_rows.append(table_row)
    return table_rows


def checked_models(target: Sequence[Item], models: Sequence[str]) -> dict[str, PreRelease]:
    """Each model with whether it can have seen the target, by its declared training cut-off; of the
    pocket model and its own items it is known what was read."""
    cards = model_cards()
    published = [item.published for item in target]
    pocket_state = known_reading(target)
    states = {}
    for name in models:
        card = cards.get(name)
        # A training that is known says more than a declared cut-off.
        if pocket_state and card and card.backend == POCKET:
            states[name] = pocket_state
        else:
            states[name] = pre_release(name, card.cutoff if card else None, published)
    return states


def known_reading(target: Sequence[Item]) -> PreRelease | None:
    """The pocket model's state, by how often its training held each entry; None where that is not
    known of all."""
    doses = []
    for item in target:
        dose = item.meta.get("dose") if item.dataset.startswith(f"{POCKET}_") else None
        if dose is None:
            return None
        doses.append(dose)
    if not doses:
        return None
    entries = f"of the {len(doses):,} benchmark entries."
    if n_read := sum(dose > 0 for dose in doses):
        return PreRelease(POCKET, AFTER, f"{POCKET}: its training held {n_read:,} {entries}")
    return PreRelease(POCKET, BEFORE, f"{POCKET}: its training is known and held none {entries}")


def set_facts(
    target: Sequence[Item], conditions: Sequence[Condition], *, has_survey: bool
) -> SetFacts:
    """The facts about two sets, besides their tests, that the next step depends on; `conditions`
    are those that were asked."""
    names = {condition.model for condition in conditions}
    states = checked_models(target, [*names, POCKET])
    return SetFacts(
        is_dated=all(item.published for item in target) or known_reading(target) is not None,
        has_answers=any(states[name].state == BEFORE for name in names),
        # The pocket model costs nothing to ask.
        is_free=states[POCKET].state == BEFORE,
        has_survey=has_survey,
    )


def component_axes(comparison: Comparison) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n, 2) places on the first two principal components, and what their axes say."""
    where, shares = comparison.principal
    return where, tuple(
        f"component {i + 1}: {share:.1%} of the variance" for i, share in enumerate(shares)
    )


def too_few(n_target: int, n_retro: int, notes: Sequence[str]) -> str:
    """The sentence about sets that are too small to be compared."""
    return (
        f"Each set needs at least five entries to be compared; you have {n_target:,} benchmark and"
        f" {n_retro:,} holdout entries. {' '.join(notes)}"
    ).strip()


# The four tests of two sets, each with how it was made or why it was not run; pages keep the parts
# that take long. What a caller holds already (vectors, accuracies, a judge's report) is handed in
# as a function; without one it is computed.


START: dict[str, Any] = {
    "difficulty": verdict.DIFFICULTY_MARGIN,
    # A part of the target suggests it.
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
# The share of the target, condition in so many, that suggests a margin where none is set.
MARGIN_PART = 5
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
        claims = [self.claim]
        for name in verdict.TESTS:
            if name in self.tests:
                claims.append(outcome_claim(self.tests[name]))
            else:
                claims.append(description(f"{TITLES[name]}: {self.missing[name]}", "not run"))
        return tuple(claims)

    @property
    def alike(self) -> list[dict[str, Any]]:
        """The pairs of a benchmark and a holdout entry that are most alike, as plain values."""
        if self.comparison is None:
            return []
        ids = [item.item_id for item in self.comparison.items]
        pairs = []
        for pair in self.comparison.alike_across:
            row = {
                "target": ids[pair.target],
                "retro": ids[pair.retro],
                "cosine": pair.cosine,
                "words_in_common": pair.words,
                "one_source": pair.is_declared,
            }
            pairs.append(row)
        return pairs

    def text(self) -> list[str]:
        """Claims and the most alike pairs across the sets, one per line, for the command line."""
        lines = [f"{claim.text} {claim.detail}".rstrip() for claim in self.claims]
        pairs = self.alike[:MOST_PAIRS]
        if pairs:
            lines.append("Most alike across the sets:")
        for pair in pairs:
            cosine, words = number_text(pair["cosine"]), number_text(pair["words_in_common"])
            source = " (declared as of one source)" if pair["one_source"] else ""
            numbers = f"cosine {cosine}, words in common {words}{source}"
            lines.append(f"  {pair['target']} and {pair['retro']}: {numbers}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        tests = {}
        for name, claim in zip(verdict.TESTS, self.claims[1:], strict=True):
            about = self.about.get(name, "")
            tests[name] = {"outcome": claim.word, "sentence": claim.text, "about": about}
            for key, value in claim.numbers.items():
                if key in ("estimate", "p", "margin"):
                    tests[name][key] = plain(value)
        return {
            "verdict": self.claim.outcome,
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "tests": tests,
            "most_alike_across": self.alike,
        }

    def rows(self) -> Iterator[Row]:
        for name, test in self.tests.items():
            title, claim, place = TITLES[name].lower(), outcome_claim(test), {"test": name}
            yield Row("", "target and retro", title, test.estimate, claim, place)


@dataclass(frozen=True, eq=False)
class SetsReport(Answer):
    """Tests of two sets, None if these are too small, and inflation if the holdout is fair."""

    tests: HoldoutReport | None
    inflation: Inflation

    question = Question.HOLDOUT

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (*(self.tests.claims if self.tests else ()), self.inflation.claim)

    @property
    def has_sets(self) -> bool:
        """True where there are two sets to compare."""
        return bool(self.tests or self.inflation.conditions)

    def rows(self) -> Iterator[Row]:
        yield from self.tests.rows() if self.tests else ()
        yield from self.inflation.rows()

    @property
    def frame(self) -> pd.DataFrame:
        """Table of tests and of the inflation that the claim is about."""
        return notebook_table(row for row in self.rows() if row.claim)

    @property
    def figures(self) -> Mapping[str, FigureOf]:
        """Each model's accuracy on both sets."""
        models = []
        for condition in self.inflation.selection:
            models.append(Inflated(condition.model, *condition.accuracies, condition.inflation()))

        def draw(theme: Colours) -> Figure:
            return inflation_figure(models, theme)

        return {"inflation": draw} if models else {}

    def lines(self) -> list[str]:
        said = self.inflation.claim
        lines = self.tests.text() if self.tests else []
        return [*lines, f"{said.text} {said.detail}".rstrip()]

    def as_dict(self) -> dict[str, Any]:
        return {
            "holdout": self.tests.as_dict() if self.tests else None,
            "inflation": self.inflation.as_dict() if self.inflation.conditions else None,
        }


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
            # A test that cannot be run says why, and the others go on.
            test, words = None, f"Not run: {error}"
        if test is None:
            missing[name] = words
            continue
        about[name] = words
        tests[name] = test if view[name] is None else test.with_margin(view[name])
    # Their p-values are corrected over all that were run, so they are a family only now.
    family = {test.name: test for test in verdict.as_family(list(tests.values()))}
    margins = {name: test.margin for name, test in family.items()}
    return HoldoutReport(family, about, missing, {**view, **margins})


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
    embedded: list[tuple[np.ndarray, str]] = []

    # Vectors take long, and an embedding that sends entries away raises: only where a test asks.
    def vectors() -> tuple[np.ndarray, str]:
        if not embedded:
            embedded.append(study_vectors(store, sets, view["embedding"]))
        return embedded[0]

    def by_classifier() -> Result:
        units = vectors()[0] if view["classifier"] == "vectors" else None
        return prediction(sets, view, units)

    runs: dict[str, Callable[[], Result]] = {
        "difficulty": lambda: difficulty(store, sets),
        "semantic": lambda: semantic(sets, vectors(), view["seed"]),
        "prediction": by_classifier,
        "odd one out": lambda: odd_one_out(store, sets),
    }
    report = four_tests(runs, view)
    if not embedded:
        return report
    items = (*sets.target, *sets.retro)
    return replace(report, comparison=Comparison(items, len(sets.target), *embedded[0]))


def study_vectors(store: Store, sets: Sets, embedding: str) -> tuple[np.ndarray, str]:
    """((n, d) unit rows of target + retro, the words beside every figure made of them). Raises
    BadInput for an embedding that sends entries away."""
    # Only somebody at the map can agree to send entries away.
    refuse_sending(embedding, agreed=())
    return embeddings.embedded(store, [*sets.target, *sets.retro], embedding)


def refuse_sending(embedding: str, agreed: Collection[str]) -> None:
    """Raise BadInput for an embedding that sends entries to whom nobody has `agreed` to send."""
    # An entry that has left this machine may end up in training data.
    away = embeddings.embedding_by_name(embedding).sent_to
    if away and away not in agreed:
        raise BadInput(
            f"this embedding sends the entries to {away}; agree to that under Map, or choose"
            " another under View."
        )


def semantic(sets: Sets, vectors: tuple[np.ndarray, str], seed: int) -> Result:
    """Test the semantic similarity of the vectors of `study_vectors`, one entry per source, at the
    margin that a part of the target suggests, which the test then leaves out."""
    units, words = vectors
    copies = _neighbours_of(sets, units, seed)
    # Entries of one source are no independent draws, so one of each is compared.
    target, retro, left_out = one_per_source(sets.target, sets.retro)
    if left_out:
        ids = {item.item_id for item in (*target, *retro)}
        all_items = (*sets.target, *sets.retro)
        units = units[[i for i, item in enumerate(all_items) if item.item_id in ids]]
    start, kept = suggested_margin(target, units, seed)
    target_units, retro_units = units[: len(target)][kept], units[len(target) :]
    target = tuple(target[i] for i in kept)
    paired = paired_rows(target, retro)
    if paired is not None:
        both_units, half = np.concatenate([target_units, retro_units]), len(paired) // 2
        target_units, retro_units = both_units[paired[:half]], both_units[paired[half:]]
    test = verdict.semantic_test(
        target_units,
        retro_units,
        paired=paired is not None,
        m=SEMANTIC_DRAWS,
        seed=seed,
        copies=copies,
    )
    margin, aside = None, ""
    if start:
        margin = start.margin
        aside = (
            f" Margin: {start.meaning} of {start.n:,} benchmark entries, which the test leaves out."
        )
    shuffled = "labels swapped within source pairs" if paired is not None else "labels shuffled"
    shares = []
    for name, nearest in zip(("embedding", "runs of five words"), copies, strict=True):
        if not np.isnan(nearest.share):
            shares.append(f"by {name} {nearest.share:.2f} (chance {nearest.chance:.2f})")
    about = (
        f"{words}; MMD², both sets' mean pairwise cosine, and nearest entries of another source"
        f" that lie in the other set, {' and '.join(shares) or 'of which there are none'},"
        f" Holm; {shuffled}, {SEMANTIC_DRAWS:,} permutations, exact centre; 90% interval; n ="
        f" {len(target_units):,} + {len(retro_units):,}; seed {seed}.{aside} {left_out}"
    )
    return test.with_margin(margin), about.strip()


def suggested_margin(
    target: Sequence[Item], units: np.ndarray, seed: int
) -> tuple[StartingMargin | None, list[int]]:
    """The margin that a random fifth of the target suggests, and the rows of the others; no margin
    where either would be too few."""
    n = max(MIN_N, len(target) // MARGIN_PART)
    if len(target) < n + MIN_N:
        return None, list(range(len(target)))
    # A margin read off the tested entries would be one that they pass.
    part, kept = np.split(generator(seed).permutation(len(target)), [n])
    margin = starting_margin(units[part], [target[i].category for i in part])
    return margin, np.sort(kept).tolist()


def _neighbours_of(sets: Sets, units: np.ndarray, seed: int) -> list[CrossNeighbours]:
    """Count entries that lie next to one of the other set, by embedding and by words."""
    items = (*sets.target, *sets.retro)
    labels = np.repeat([0, 1], [len(sets.target), len(sets.retro)])
    sources = np.unique(source_groups(sets.target, sets.retro), return_inverse=True)[1]
    rows = np.flatnonzero(compared_rows(labels, sources))
    texts = [entry_text(items[i]) for i in rows.tolist()]
    neighbours = []
    for blocks in (blocks_of_vectors(units[rows]), blocks_of_words(texts)):
        neighbours.append(
            neighbours_beside_twins(blocks, labels[rows], sources[rows], seed, NEIGHBOUR_DRAWS)
        )
    return neighbours


def prediction_key(sets: Sets, view: Mapping[str, Any]) -> tuple:
    """Everything that the test by prediction depends on: the entries and these settings."""
    names = ("classifier", "embedding", "permutations", "seed")
    return sets.content_id, *(view[name] for name in names)


def prediction(
    sets: Sets,
    view: Mapping[str, Any],
    rows: np.ndarray | None,
    watch: Callable[[int, int], None] = lambda step, n_steps: None,
) -> Result:
    """Test whether a classifier tells the sets apart, at the classifier, permutations and seed of
    `view`; `watch(step, of)` may stop it."""
    result = classifiers.told_apart(
        sets.target, sets.retro, view["classifier"], rows, view["permutations"], view["seed"], watch
    )
    about = (
        "balanced accuracy with Wilson's 95% interval; p and bound from shuffled labels, the"
        f" source's p from the hits alone; {result.described}"
    )
    return verdict.prediction_test(result.cross_validation), about


def difficulty(store: Store, sets: Sets) -> Result:
    """Similarity of difficulty by all models from before the target."""

    def gates_of(study_id: str, names: Collection[str]) -> Mapping[str, str]:
        return closed_gates(store, study_id, (), names)

    return difficulty_of(sets, all_conditions(store, sets), gates_of, store)


def difficulty_of(
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
    store: Store,
) -> Result:
    """The same test of given conditions; `gates_of(study, extractors)` are the closed ones."""
    states = checked_models(
        sets.target, list(dict.fromkeys(condition.model for condition in candidates))
    )
    return difficulty_result(candidates, states, shut_gates(store, sets, candidates, gates_of))


def shut_gates(
    store: Store,
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
) -> dict[str, str]:
    """The closed gates of these sets' studies: extractor -> what is missing."""
    names = {condition.extractor for condition in candidates}
    gates: dict[str, str] = {}
    for study_id in sets.study_ids:
        declared = {part.name for part in studies.declared(store, study_id).extractors}
        # A gate that is closed in one of the studies is closed.
        gates |= gates_of(study_id, names & declared)
    return gates


def all_conditions(
    store: Store,
    sets: Sets,
    accuracies: Callable[[str], pd.DataFrame] | None = None,
    *,
    boosted: bool = True,
) -> list[Condition]:
    """The conditions that the studies of these sets measured; of equal ones the newest study's.
    `accuracies` gives a study's answers."""
    named = origins(sets.target, sets.retro)
    sources = {item.item_id: named.get(item.item_id) for item in (*sets.target, *sets.retro)}
    by_label: dict[str, Condition] = {}
    for study_id in sets.study_ids:
        frame = accuracies(study_id) if accuracies else holdout.accuracies(store, study_id)
        answers = frame[frame["item_id"].isin(sources)]
        answers = answers.assign(source_id=answers["item_id"].map(sources))
        for condition in conditions(answers, TOP_K if boosted else ()):
            # Studies come newest first.
            by_label.setdefault(condition.label, replace(condition, study_id=study_id))
    return list(by_label.values())


def odd_one_out(store: Store, sets: Sets) -> Result:
    """The result of a survey on these sets."""
    outcome, words = survey_results(store, sets.sets_id)
    return (None if outcome is None else verdict.odd_one_out_test(outcome)), words
