"""Compare benchmark and holdout: the models' accuracies on both, and four tests of the entries.

The roles are called target (benchmark) and retro (holdout) in studies.
"""

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
from flipcore.reports.rows import Row, as_json, notebook_table
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
FEWEST = 5  # entries that each set needs for a comparison
MAX_LABELS = 3  # most conditions that the small print of difficulty names
# Extractors that are shown first, in this order; others follow.
PREFERRED = ("rotation_single", WRITTEN_ANSWER, FIRST_TOKEN, "rotation")


def ways(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """Return the (extractor, layout) of all conditions, plain layouts and `PREFERRED` first."""

    def order(way: tuple[str, str]) -> tuple[bool, int, tuple[str, str]]:
        extractor, layout = way
        rank = PREFERRED.index(extractor) if extractor in PREFERRED else len(PREFERRED)
        return (layout != "plain", rank, way)

    return sorted({(condition.extractor, condition.layout) for condition in conditions}, key=order)


def inflation_of(
    conditions: Sequence[Condition],
    closed_gates: Mapping[str, str],
    way: tuple[str, str] | None = None,
) -> tuple[list[Condition], Claim]:
    """Return the conditions of one (extractor, layout), and the claim on their inflation.

    The default way is the first of `ways`. `closed_gates` is axis or extractor -> why its claims
    are withheld.
    """
    extractor, layout = way or next(iter(ways(conditions)), ("", ""))
    selection = []
    for condition in conditions:
        if (condition.extractor, condition.layout) == (extractor, layout):
            selection.append(condition)
    why_not = reason(dict(closed_gates), extractor=extractor)
    return selection, inflation_claim(selection).not_claimed(why_not)


@dataclass(frozen=True, eq=False)
class Inflation:
    """Accuracy on the target less that on the retro set, under each of the `conditions`. `claim` is
    about the `selection`, which has one extractor and layout."""

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
                "inflation": as_json(condition.inflation()),
            }
            rows.append(row)
        return {
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "is_claimed": self.claim.is_made,
            "models": rows,
        }

    def rows(self) -> Iterator[Row]:
        """Yield one row per condition; rows of the selection carry the claim."""
        for condition in self.conditions:
            where = f"{condition.layout}, {title_of(condition.extractor).lower()}"
            is_selected = any(condition is selected for selected in self.selection)
            claim = self.claim if is_selected else None
            columns = {"model": condition.model}
            yield Row(
                condition.model,
                where,
                "inflation",
                condition.inflation(),
                claim=claim,
                columns=columns,
            )


def inflation(conditions: Sequence[Condition], closed_gates: Mapping[str, str]) -> Inflation:
    """Return the inflation under all conditions of a study."""
    return Inflation(conditions, *inflation_of(conditions, closed_gates))


def difficulty_result(
    conditions: Sequence[Condition],
    states: Mapping[str, PreRelease],
    closed_gates: Mapping[str, str] | None = None,
) -> tuple[HoldoutTest, str] | tuple[None, str]:
    """Test whether both sets are equally difficult for models trained before the target was public.

    Return (test, how it was made), or (None, why there is none). `states` is model -> whether its
    training can have included the target. Extractors behind a closed gate do not count.
    """
    if not conditions:
        advice = "Declare a study with these sets as benchmark and holdout."
        return None, f"Not run: no model has answered both sets. {advice}"
    gates = closed_gates or {}
    open_conditions = [condition for condition in conditions if condition.extractor not in gates]
    if not open_conditions:
        reasons = dict.fromkeys(gates[condition.extractor] for condition in conditions)
        return None, f"Not run: {' '.join(reasons)}"
    # A model that may have been trained on the target finds it easier than it is.
    from_before = [
        condition for condition in open_conditions if states[condition.model].state == BEFORE
    ]
    if not from_before:
        # The page's next step names the model that is needed.
        states_text = " ".join(state.sentence for state in states.values())
        return None, f"Not run: {states_text}"
    test = join_tests([condition.difficulty(DIFFICULTY_MARGIN) for condition in from_before])
    _, n_target, _, n_retro = from_before[0].counts
    labels = "; ".join(condition.label for condition in from_before[:MAX_LABELS])
    if len(from_before) > MAX_LABELS:
        labels += " …"
    explanation = (
        f"conditions {len(from_before):,} ({labels}); {test.estimate.method.replace('_', ' ')},"
        " corrected for guessing, Holm over conditions, interval 90%;"
        f" n = {n_target:,} + {n_retro:,}"
    )
    return test, explanation


def bound_text(test: HoldoutTest) -> str:
    """Return the limits that are compared with the margin, in the test's own units."""
    low, high = test.bound
    if test.name in ONE_SIDED:
        return f"below {high:.3f} (95%, one-sided)"
    if test.name == "difficulty":
        ends = (number_text(100 * end, 1, sign=True) for end in (low, high))
        return f"[{', '.join(ends)}] points (90%)"
    return f"[{axis_text(test, low)}, {axis_text(test, high)}] (90%)"


def entry_rows(sets: Comparison, rows: Sequence[int], **more: Sequence) -> list[dict]:
    """Return a table row per entry at the indices `rows`. Each keyword of `more` is a further
    column, with one value per entry."""
    table_rows = []
    for i, index in enumerate(rows):
        set_name = "holdout" if sets.labels[index] else "benchmark"
        table_row = {"set": set_name, "entry": sets.texts[index]}
        for name, values in more.items():
            table_row[name.replace("_", " ")] = values[i]
        table_rows.append(table_row)
    return table_rows


def checked_models(target: Sequence[Item], models: Sequence[str]) -> dict[str, PreRelease]:
    """Return model -> whether its training can have included the target. The declared training
    cut-off decides. For the pocket model and its own items the training itself is known."""
    cards = model_cards()
    published = [item.published for item in target]
    pocket_state = pocket_training(target)
    states = {}
    for name in models:
        card = cards.get(name)
        # A training that is known says more than a declared cut-off.
        if pocket_state and card and card.backend == POCKET:
            states[name] = pocket_state
        else:
            states[name] = pre_release(name, card.cutoff if card else None, published)
    return states


def pocket_training(target: Sequence[Item]) -> PreRelease | None:
    """Return whether the pocket model's training included the target. None if the number of
    repeats in the training is not known for every entry."""
    doses = []
    for item in target:
        dose = item.meta.get("dose") if item.dataset.startswith(f"{POCKET}_") else None
        if dose is None:
            return None
        doses.append(dose)
    if not doses:
        return None
    entries = f"of the {len(doses):,} benchmark entries."
    if n_seen := sum(dose > 0 for dose in doses):
        return PreRelease(POCKET, AFTER, f"{POCKET}: its training held {n_seen:,} {entries}")
    return PreRelease(POCKET, BEFORE, f"{POCKET}: its training is known and held none {entries}")


def set_facts(
    target: Sequence[Item], conditions: Sequence[Condition], *, has_survey: bool
) -> SetFacts:
    """Return what the page's next step depends on, besides the tests. `conditions` are those that
    studies of these sets measured."""
    names = {condition.model for condition in conditions}
    states = checked_models(target, [*names, POCKET])
    return SetFacts(
        is_dated=all(item.published for item in target) or pocket_training(target) is not None,
        has_answers=any(states[name].state == BEFORE for name in names),
        # Calls of the pocket model cost nothing.
        is_free=states[POCKET].state == BEFORE,
        has_survey=has_survey,
    )


def component_axes(comparison: Comparison) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return positions (n, 2) on the first two principal components, and the axes' titles."""
    positions, shares = comparison.principal
    titles = tuple(
        f"component {i}: {share:.1%} of the variance" for i, share in enumerate(shares, start=1)
    )
    return positions, titles


def too_few(n_target: int, n_retro: int, notes: Sequence[str]) -> str:
    """Say that the sets are too small to be compared."""
    return (
        f"Each set needs at least five entries to be compared; you have {n_target:,} benchmark and"
        f" {n_retro:,} holdout entries. {' '.join(notes)}"
    ).strip()


# The four tests of two sets, each with how it was made or why it was not run. Slow parts are
# separate functions, so that pages can cache them.

# The settings that the page starts with: a margin per test, then the view.
START: dict[str, Any] = {
    "difficulty": verdict.DIFFICULTY_MARGIN,
    # None: a part of the target suggests the margin (`suggested_margin`).
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
MARGIN_PART = 5  # one in five entries of the target suggests the margin of the semantic test
MAX_PAIRS = 3  # pairs that the command line prints; the page and --json have all
# A test and how it was made, or None and why it was not run.
Result = tuple[HoldoutTest | None, str]


@dataclass(frozen=True)
class HoldoutReport:
    """The four tests of two sets.

    `tests` has those that were run, by name; `about` says how each was made and `missing` why the
    others were not run. `view` has the margins and settings (`START`). `comparison` are both sets
    in one embedding, None if no test needed it.
    """

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
        """The verdict, then per test its outcome or why it was not run."""
        claims = [self.claim]
        for name in verdict.TESTS:
            if name in self.tests:
                claims.append(outcome_claim(self.tests[name]))
            else:
                claims.append(description(f"{TITLES[name]}: {self.missing[name]}", "not run"))
        return tuple(claims)

    @property
    def alike(self) -> list[dict[str, Any]]:
        """The most similar pairs of a benchmark and a holdout entry, as values for JSON."""
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

    def lines(self) -> list[str]:
        """Return what the command line prints: the claims and the most similar pairs."""
        lines = [f"{claim.text} {claim.detail}".rstrip() for claim in self.claims]
        pairs = self.alike[:MAX_PAIRS]
        if pairs:
            lines.append("Most alike across the sets:")
        for pair in pairs:
            cosine, n_words = number_text(pair["cosine"]), number_text(pair["words_in_common"])
            source = " (declared as of one source)" if pair["one_source"] else ""
            numbers = f"cosine {cosine}, words in common {n_words}{source}"
            lines.append(f"  {pair['target']} and {pair['retro']}: {numbers}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        tests = {}
        _, *test_claims = self.claims
        for name, claim in zip(verdict.TESTS, test_claims, strict=True):
            about = self.about.get(name, "")
            tests[name] = {"outcome": claim.word, "sentence": claim.text, "about": about}
            for key, value in claim.numbers.items():
                if key in ("estimate", "p", "margin"):
                    tests[name][key] = as_json(value)
        return {
            "verdict": self.claim.outcome,
            "sentence": self.claim.text,
            "detail": self.claim.detail,
            "tests": tests,
            "most_alike_across": self.alike,
        }

    def rows(self) -> Iterator[Row]:
        for name, test in self.tests.items():
            title, claim, columns = TITLES[name].lower(), outcome_claim(test), {"test": name}
            yield Row("", "target and retro", title, test.estimate, claim=claim, columns=columns)


@dataclass(frozen=True, eq=False)
class SetsReport(Answer):
    """The tests of two sets, None if these are too small, and the inflation."""

    tests: HoldoutReport | None
    inflation: Inflation

    question = Question.HOLDOUT

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (*(self.tests.claims if self.tests else ()), self.inflation.claim)

    @property
    def has_sets(self) -> bool:
        """True if there are two sets to compare."""
        return bool(self.tests or self.inflation.conditions)

    def rows(self) -> Iterator[Row]:
        yield from self.tests.rows() if self.tests else ()
        yield from self.inflation.rows()

    @property
    def frame(self) -> pd.DataFrame:
        """Table of the tests and of the inflation, without rows that have no claim."""
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
        claim = self.inflation.claim
        lines = self.tests.lines() if self.tests else []
        return [*lines, f"{claim.text} {claim.detail}".rstrip()]

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
    """Run each test at the margin of `view` and correct the p-values over all that were run.

    `waiting` is name -> why a test is not run yet. A test that raises FlipscopeError is reported as
    missing, with the reason.
    """
    tests, about, missing = {}, {}, {}
    for name, run in runs.items():
        if waiting and name in waiting:
            missing[name] = waiting[name]
            continue
        try:
            test, explanation = run()
        except FlipscopeError as error:
            # The other tests do not depend on this one.
            test, explanation = None, f"Not run: {error}"
        if test is None:
            missing[name] = explanation
            continue
        about[name] = explanation
        tests[name] = test if view[name] is None else test.with_margin(view[name])
    # The size of the family is known only after all tests were tried.
    family = {test.name: test for test in verdict.as_family(list(tests.values()))}
    margins = {name: test.margin for name, test in family.items()}
    return HoldoutReport(family, about, missing, {**view, **margins})


def holdout_report(
    store: Store, study_id: str, view: Mapping[str, Any] | None = None
) -> HoldoutReport | None:
    """Test a study's target and retro items, without those that are set aside. `view` overrides
    settings of `START`. None if a role is absent or has too few entries."""
    view = START | dict(view or {})
    sets = sets_of_study(store, study_id)
    if min(len(sets.target), len(sets.retro)) < FEWEST:
        return None
    embedded: list[tuple[np.ndarray, str]] = []

    # Embedding is slow, and one that sends entries away raises, so it waits until a test needs it.
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
    """Return unit vectors (n, d) of target and retro entries, and the embedding's description.

    Raises BadInput for an embedding that sends entries away.
    """
    # Only a user of the page's map can agree to send entries away.
    refuse_sending(embedding, agreed=())
    return embeddings.embedded(store, [*sets.target, *sets.retro], embedding)


def refuse_sending(embedding: str, agreed: Collection[str]) -> None:
    """Raise BadInput for an embedding that sends entries to a recipient that is not in `agreed`."""
    # An entry that has left this machine may end up in training data.
    recipient = embeddings.embedding_by_name(embedding).sent_to
    if recipient and recipient not in agreed:
        raise BadInput(
            f"this embedding sends the entries to {recipient}; agree to that under Map, or choose"
            " another under View."
        )


def semantic(sets: Sets, vectors: tuple[np.ndarray, str], seed: int) -> Result:
    """Test the semantic similarity of both sets, with one entry per source. `vectors` are those of
    `study_vectors`. A part of the target suggests the margin, and the test leaves that part out."""
    units, embedding_text = vectors
    copies = _neighbours_of(sets, units, seed)
    # Entries of one source are not independent, so one of each source is compared.
    target, retro, left_out = one_per_source(sets.target, sets.retro)
    if left_out:
        ids = {item.item_id for item in (*target, *retro)}
        all_items = (*sets.target, *sets.retro)
        units = units[[i for i, item in enumerate(all_items) if item.item_id in ids]]
    suggested, tested_rows = suggested_margin(target, units, seed)
    target_units, retro_units = units[: len(target)][tested_rows], units[len(target) :]
    target = tuple(target[i] for i in tested_rows)
    paired = paired_rows(target, retro)
    if paired is not None:
        # The first half of the paired rows are the targets, the second half their retro entries.
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
    margin, margin_text = None, ""
    if suggested:
        margin = suggested.margin
        margin_text = (
            f" Margin: {suggested.meaning} of {suggested.n:,} benchmark entries, which the test"
            " leaves out."
        )
    shuffled = "labels swapped within source pairs" if paired is not None else "labels shuffled"
    shares = []
    for name, nearest in zip(("embedding", "runs of five words"), copies, strict=True):
        if not np.isnan(nearest.share):
            shares.append(f"by {name} {nearest.share:.2f} (chance {nearest.chance:.2f})")
    explanation = (
        f"{embedding_text}; MMD², both sets' mean pairwise cosine, and nearest entries of another"
        f" source that lie in the other set, {' and '.join(shares) or 'of which there are none'},"
        f" Holm; {shuffled}, {SEMANTIC_DRAWS:,} permutations, exact centre; 90% interval; n ="
        f" {len(target_units):,} + {len(retro_units):,}; seed {seed}.{margin_text} {left_out}"
    )
    return test.with_margin(margin), explanation.strip()


def suggested_margin(
    target: Sequence[Item], units: np.ndarray, seed: int
) -> tuple[StartingMargin | None, list[int]]:
    """Return the margin that a random fifth of the target suggests, and the rows of the rest. The
    margin is None, and no row is taken away, where either part would be too small."""
    n = max(MIN_N, len(target) // MARGIN_PART)
    if len(target) < n + MIN_N:
        return None, list(range(len(target)))
    # Entries would pass a margin that they suggested themselves, so the parts are separate.
    suggesting, tested = np.split(generator(seed).permutation(len(target)), [n])
    margin = starting_margin(units[suggesting], [target[i].category for i in suggesting])
    return margin, np.sort(tested).tolist()


def _neighbours_of(sets: Sets, units: np.ndarray, seed: int) -> list[CrossNeighbours]:
    """Return how often an entry's nearest one is of the other set, by vectors and by words."""
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
    """Return a cache key of all that `prediction` depends on."""
    names = ("classifier", "embedding", "permutations", "seed")
    return sets.content_id, *(view[name] for name in names)


def prediction(
    sets: Sets,
    view: Mapping[str, Any],
    rows: np.ndarray | None,
    watch: Callable[[int, int], None] = lambda step, n_steps: None,
) -> Result:
    """Test whether a classifier tells the sets apart.

    `view` has the classifier, permutations and seed. `rows` are unit vectors (n, d), None for
    classifiers of texts. `watch(step, n_steps)` follows the work and may raise to stop it.
    """
    result = classifiers.told_apart(
        sets.target, sets.retro, view["classifier"], rows, view["permutations"], view["seed"], watch
    )
    explanation = (
        "balanced accuracy with Wilson's 95% interval; p and bound from shuffled labels, the"
        f" source's p from the hits alone; {result.described}"
    )
    return verdict.prediction_test(result.cross_validation), explanation


def difficulty(store: Store, sets: Sets) -> Result:
    """Test the difficulty of both sets by all models trained before the target was public."""

    def gates_of(study_id: str, names: Collection[str]) -> Mapping[str, str]:
        return closed_gates(store, study_id, (), names)

    return difficulty_of(sets, all_conditions(store, sets), gates_of, store)


def difficulty_of(
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
    store: Store,
) -> Result:
    """Test the difficulty under the given conditions. `gates_of(study_id, extractors)` returns
    extractor -> why its gate is closed."""
    models = list(dict.fromkeys(condition.model for condition in candidates))
    states = checked_models(sets.target, models)
    closed = closed_gates_of(store, sets, candidates, gates_of)
    return difficulty_result(candidates, states, closed)


def closed_gates_of(
    store: Store,
    sets: Sets,
    candidates: Sequence[Condition],
    gates_of: Callable[[str, Collection[str]], Mapping[str, str]],
) -> dict[str, str]:
    """Return extractor -> why its gate is closed in one of these sets' studies."""
    names = {condition.extractor for condition in candidates}
    gates: dict[str, str] = {}
    for study_id in sets.study_ids:
        declared = {part.name for part in studies.declared(store, study_id).extractors}
        gates |= gates_of(study_id, names & declared)
    return gates


def all_conditions(
    store: Store,
    sets: Sets,
    accuracies: Callable[[str], pd.DataFrame] | None = None,
    *,
    boosted: bool = True,
) -> list[Condition]:
    """Return the conditions that the studies of these sets measured.

    Where several studies measured a condition, the newest counts. `accuracies` maps a study id to
    its answers and is by default read from the store. `boosted` adds conditions that count an
    answer as right where it is among the k likeliest options (`TOP_K`).
    """
    origin_of = origins(sets.target, sets.retro)
    sources = {item.item_id: origin_of.get(item.item_id) for item in (*sets.target, *sets.retro)}
    by_label: dict[str, Condition] = {}
    for study_id in sets.study_ids:
        frame = accuracies(study_id) if accuracies else holdout.accuracies(store, study_id)
        answers = frame[frame["item_id"].isin(sources)]
        answers = answers.assign(source_id=answers["item_id"].map(sources))
        for condition in conditions(answers, TOP_K if boosted else ()):
            # Studies come newest first, so the first one with a label stays.
            by_label.setdefault(condition.label, replace(condition, study_id=study_id))
    return list(by_label.values())


def odd_one_out(store: Store, sets: Sets) -> Result:
    """Test whether people tell the sets apart, by the survey on these sets."""
    outcome, explanation = survey_results(store, sets.sets_id)
    return (None if outcome is None else verdict.odd_one_out_test(outcome)), explanation
