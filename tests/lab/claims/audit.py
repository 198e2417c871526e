"""How often the Audit page claims that two readouts, or the subjects of a log, differ where they do not, and how often the whole list of
findings of a log claims anything. What it says of models is Ranking's claim."""

from collections.abc import Callable
from functools import partial
from itertools import combinations, dropwhile, takewhile

import numpy as np
import pandas as pd

from flipcore.claims.audit import (
    GRADES_DIFFER,
    NOT_OF_RANKING,
    READOUTS_DIFFER,
    TWO_MODELS,
    GradedPair,
    ReadoutPair,
    compare_models,
    findings,
    graded_pair_claims,
    readout_claims,
)
from flipcore.claims.audit_input import AuditInput, Finding, scored
from flipcore.claims.audit_items import GROUPS_DIFFER, GroupedScores, standard_error_claim
from flipcore.claims.ranking import BETTER
from flipcore.stats.audit.groups import group_spread
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.base.multiplicity import bh
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.claims.family_sizes import eights, mmlu, numbers

N_RUNS = 2_000
N_WHOLE = 500  # of a whole log or 28 pairs of 300, where a run costs more than a second
_BATCH = 200  # runs whose p are computed together
Log = Callable[[np.random.Generator], list[ReadoutPair]]


def _single(rng: np.random.Generator, n: int, disagree: float, pairs: int = 1) -> list[ReadoutPair]:
    """Columns equally often right that differ from one another on a share of the items."""
    first = (rng.random(n) < 0.6).astype(float)
    drawn = [np.where(rng.random(n) < disagree, (rng.random(n) < 0.6).astype(float), first) for _ in range(pairs)]
    return [ReadoutPair("m", "first", f"other {i}", first, one) for i, one in enumerate(drawn)]


def _templates(
    rng: np.random.Generator, n_templates: int, size: int, spread: float = 0.25, lead: float = 0.0
) -> list[ReadoutPair]:
    """Templates favour one or the other at random, all their items together.

    `spread` is how much; the second readout reads `lead` more of the answers right.
    """
    families = np.repeat(np.arange(n_templates), size)
    lean = rng.normal(0, spread, n_templates)[families]
    scores = []
    for sign, more in ((1, 0.0), (-1, lead)):
        right = rng.random(families.size) < np.clip(0.6 + more + sign * lean, 0, 1)
        scores.append(right.astype(float))
    first, second = scores
    return [ReadoutPair("m", "first", "second", first, second, families)]


def _all_or_none(rng: np.random.Generator, n: int) -> list[ReadoutPair]:
    """Five samples an item: the first readout loses .03 of the items wholly, the second .09 of them by a third."""
    u = rng.random(n)
    return [ReadoutPair("m", "first", "second", np.where(u < 0.03, 0.0, 1.0), np.where(u > 0.91, 2 / 3, 1.0))]


def _whole_templates_lost(rng: np.random.Generator, n_templates: int, size: int, share: float = 0.02) -> list[ReadoutPair]:
    """The second readout loses few templates wholly and gains as much, item by item, on the others."""
    families = np.repeat(np.arange(n_templates), size)
    is_lost = (rng.random(n_templates) < share)[families]
    gains = ~is_lost & (rng.random(families.size) < share / (1 - share))
    right = (rng.random(families.size) < 0.6).astype(float)
    first = np.where(is_lost, 1.0, np.where(gains, 0.0, right))
    second = np.where(is_lost, 0.0, np.where(gains, 1.0, right))
    return [ReadoutPair("m", "first", "second", first, second, families)]


def _losses_in_templates(
    rng: np.random.Generator, n_templates: int, size: int, rate: float, correlation: float
) -> list[ReadoutPair]:
    """Both readouts miss what the other reads in `rate` of the answers: the first alone, the second in templates."""
    families = np.repeat(np.arange(n_templates), size)
    odds = (1 - correlation) / correlation
    chance = rng.beta(rate * odds, (1 - rate) * odds, n_templates)[families]
    is_lost = rng.random(families.size) < chance
    is_gained = ~is_lost & (rng.random(families.size) < rate / (1 - rate))
    right = (rng.random(families.size) < 0.6).astype(float)
    first = np.where(is_lost, 1.0, np.where(is_gained, 0.0, right))
    second = np.where(is_lost, 0.0, np.where(is_gained, 1.0, right))
    return [ReadoutPair("m", "first", "second", first, second, families)]


def _claims(log: Log, asserts: Callable[[list], bool] = any) -> Simulation:
    """Whether anything is claimed of the log."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        return sum(asserts([one.is_made for one in readout_claims(log(rng))]) for _ in range(runs)), runs

    return simulate


def _claims_of_one(log: Log) -> Simulation:
    """The same for logs of a single pair, whose p is corrected for no other.

    Only pairs with a small p are put into words, which takes most of the time.
    """

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        n_made = 0
        for start in range(0, runs, _BATCH):
            pairs = [log(rng)[0] for _ in range(min(_BATCH, runs - start))]
            differences = np.stack([pair.differences for pair in pairs])
            ps = guarded_t(differences, SIGNED, pairs[0].clusters).p
            for i in np.flatnonzero(ps <= READOUTS_DIFFER.error_rate):
                n_made += readout_claims([pairs[i]])[0].is_made
        return n_made, runs

    return simulate


def _cell(world: str, n: str, log: Log, truth: str = "null", n_runs: int = N_RUNS) -> Cell:
    return Cell(READOUTS_DIFFER, world, n, _claims(log), truth=truth, n_runs=n_runs)


def _clustered_cell(world: str, n: str, log: Log, truth: str = "null") -> Cell:
    return Cell(READOUTS_DIFFER, world, n, _claims_of_one(log), truth=truth, n_runs=N_RUNS)


N_SUBJECTS = 12
COLUMNS = ("model", "n", "status", "finish_reason", "max_tokens")


def _log(rng: np.random.Generator, n_models: int, n_tasks: int, n: int, lost: float = 0.0) -> AuditInput:
    """Models that are equally good at every task and subject, each read by two readers that miss as much; of `n` items a task in a dozen
    subjects. The second model loses a share `lost` of what it has right."""
    hard = rng.standard_normal((n_tasks, 1, n))
    right = hard + rng.standard_normal((n_tasks, n_models, n)) < 0.7
    right[:, 1] &= rng.random((n_tasks, n)) >= lost
    again = hard + rng.standard_normal(right.shape) < 0.7
    items = np.array([f"task {t}/{i}" for t in range(n_tasks) for i in range(n)])
    frames = []
    for m in range(n_models):
        for reader in ("strict", "flexible"):
            other = rng.random((n_tasks, n)) < (0.1 if reader == "flexible" else 0.0)
            is_correct = np.where(other, again[:, m], right[:, m]).ravel()
            frames.append(
                pd.DataFrame({"item_id": items, "model": f"model {m}", "extractor": reader, "is_correct": is_correct})
            )
    frame = pd.concat(frames, ignore_index=True).assign(
        axis="identity", variant="base", variant_id="base", position=0, sample=0, status="ok", answer=None, value=np.nan
    )
    frame["family"] = frame["item_id"]
    texts = {"question": items, "options": [[]] * items.size, "target": None, "source_id": None}
    subjects = [f"subject {i % N_SUBJECTS}" for i in range(items.size)]
    return AuditInput(
        frame, pd.DataFrame({"item_id": items, "category": subjects} | texts), pd.DataFrame(columns=list(COLUMNS))
    )


def _whole_log(n_models: int, n_tasks: int, n: int, lost: float = 0.0) -> Simulation:
    """Whether any finding of the whole list asserts something, but for those of models."""

    def one(rng: np.random.Generator) -> bool:
        made = [finding for finding in findings(_log(rng, n_models, n_tasks, n, lost)) if finding.claim.is_made]
        return any(finding.about != TWO_MODELS for finding in made)

    return each(one)


def _models_of_log(n_models: int, n_tasks: int, n: int, lost: float = 0.0) -> Simulation:
    """Whether a finding of models asserts something.

    No other check of the list changes these findings, so only theirs is run. Descriptions of the
    other reader come before what is claimed, and those of single tasks behind it.
    """

    def one(rng: np.random.Generator) -> bool:
        log = _log(rng, n_models, n_tasks, n, lost)
        all_findings = compare_models(log, scored(log.frame))
        from_claims = dropwhile(_is_described, all_findings)
        return any(finding.claim.is_made for finding in takewhile(lambda finding: not _is_described(finding), from_claims))

    return each(one)


def _is_described(finding: Finding) -> bool:
    return finding.claim.detail == NOT_OF_RANKING


LOGS = ((4, 5, 40), (8, 1, 150))


def _log_size(n_models: int, n_tasks: int, n: int) -> str:
    return f"{n_models} models × {n_tasks} task{'s' * (n_tasks > 1)} × {n}"


def _loses(rng: np.random.Generator, n: int) -> list[ReadoutPair]:
    """The second readout misses a tenth of what the first calls right, beside nine pairs that do not differ."""
    pairs = _single(rng, n, 0.1, 10)
    first = pairs[0].first_scores
    return [ReadoutPair("m", "first", "second", first, np.where(rng.random(n) < 0.1, 0.0, first)), *pairs[1:]]


def _subjects(sizes: np.ndarray, spread: float, n_pairs: int = 0) -> Simulation:
    """Scores of items in subjects of these sizes, whose shares right lie `spread` apart; beside `n_pairs` pairs of readouts."""

    def one(rng: np.random.Generator) -> bool:
        share = np.clip(0.7 + rng.normal(0, spread, sizes.size), 0, 1)[numbers(sizes)]
        right = (rng.random(share.size) < share).astype(float)
        found = group_spread(right, numbers(sizes), int(rng.integers(2**31)))
        others = [pair.p for pair in _single(rng, 100, 0.2, n_pairs)] if n_pairs else []
        return standard_error_claim(GroupedScores("m", "first", "", found), bh([found.p, *others])[0]).is_made

    return each(one)


def _graded(rng: np.random.Generator, n: int, n_models: int, size: int, mean: float, better: float = 0.0) -> bool:
    """Whether some model's grades from 1 to 5 are called higher; clusters of `size` items lean to one model or another.

    The first model is `better` by so much on the scale before grades are rounded."""
    clusters = np.repeat(np.arange(n // size), size)
    hard = mean + rng.standard_normal(n)
    grades = []
    for model in range(n_models):
        lean = 0.5 * rng.standard_normal(n // size)[clusters] if size > 1 else 0.0
        own = hard + lean + 0.7 * rng.standard_normal(n) + better * (model == 0)
        grades.append(np.clip(np.round(own), 1, 5))
    numbers = clusters if size > 1 else None
    pairs = [GradedPair(f"m{i}", f"m{j}", grades[i], grades[j], 1.0, 5.0, numbers) for i, j in combinations(range(n_models), 2)]
    made = [claim for claim in graded_pair_claims(pairs, "grade") if claim.is_made]
    if not better:
        return bool(made)
    return any(claim.sentence.startswith("m0 is graded higher") for claim in made)


def _graded_cells() -> list[Cell]:
    places = (
        ("equal graded models", 40, 2, 1, 3.0, 0.0, "null"),
        ("equal graded models", 300, 4, 1, 3.0, 0.0, "null"),
        ("equal graded models, grades near the top", 40, 2, 1, 5.5, 0.0, "null"),
        ("equal graded models, grades near the top", 300, 2, 1, 6.5, 0.0, "null"),
        ("equal graded models on clusters", 200, 2, 10, 3.0, 0.0, "null"),
        ("equal graded models on clusters", 200, 4, 5, 5.0, 0.0, "null"),
        ("one model graded .3 higher", 100, 2, 1, 3.0, 0.3, "planted"),
        ("one model graded .5 higher, on clusters", 200, 2, 10, 3.0, 0.5, "planted"),
    )
    cells = []
    for world, n, n_models, size, mean, better, truth in places:
        run = partial(_graded, n=n, n_models=n_models, size=size, mean=mean, better=better)
        count = f"{n} x {n_models} models" + (f", clusters of {size}" if size > 1 else "")
        cells.append(Cell(GRADES_DIFFER, world, count, each(run), truth, N_RUNS))
    return cells


CELLS = (
    *_graded_cells(),
    *(
        Cell(GROUPS_DIFFER, world, f"{sizes.sum():,} in {sizes.size}", _subjects(sizes, 0.0, n_pairs), n_runs=N_RUNS)
        for world, sizes, n_pairs in (
            ("equal subjects", np.full(12, 5), 0),
            ("equal subjects", np.full(57, 25), 0),
            ("equal subjects of unequal size", mmlu(1_000), 0),
            ("equal subjects of unequal size", eights(60), 0),
            ("equal subjects and readouts", np.full(12, 25), 6),
        )
    ),
    *(
        Cell(GROUPS_DIFFER, "subjects .15 apart", f"{sizes.sum():,} in {sizes.size}", _subjects(sizes, 0.15), "planted", N_RUNS)
        for sizes in (np.full(12, 25), mmlu(1_000))
    ),
    *(
        _cell("no difference", f"{n:,}", partial(_single, n=n, disagree=share))
        for n, share in ((40, 0.2), (300, 0.1), (1_319, 0.1))
    ),
    *(
        _clustered_cell("templates", f"{n} x {size}", partial(_templates, n_templates=n, size=size))
        for n, size in ((12, 8), (30, 5))
    ),
    *(
        _clustered_cell(
            "templates, the second reads .15 more",
            f"{n} x {size}",
            partial(_templates, n_templates=n, size=size, spread=0.05, lead=0.15),
            "planted",
        )
        for n, size in ((20, 10), (40, 5), (57, 25))
    ),
    *(
        _clustered_cell(
            "losses in templates, gains alone",
            f"{n} x {size}, {rate:.0%} each, correlation {correlation:g}",
            partial(_losses_in_templates, n_templates=n, size=size, rate=rate, correlation=correlation),
        )
        for n, size, rate, correlation in (
            (12, 10, 0.08, 0.5),
            (20, 10, 0.04, 0.5),
            (30, 10, 0.03, 0.5),
            (40, 5, 0.08, 0.5),
            (57, 25, 0.02, 0.2),
            (57, 25, 0.02, 0.5),
        )
    ),
    *(
        _clustered_cell(
            "templates lost whole, few", f"{n} x {size}", partial(_whole_templates_lost, n_templates=n, size=size), "outside"
        )
        for n, size in ((20, 10), (40, 5), (57, 25))
    ),
    *(
        _cell("a log of many pairs", f"{pairs} × {n}", partial(_single, n=n, disagree=0.2, pairs=pairs), n_runs=n_runs)
        for n, pairs, n_runs in ((60, 20, N_RUNS), (300, 28, N_WHOLE))
    ),
    *(_cell("several samples", f"{n}", partial(_all_or_none, n=n)) for n in (40, 150)),
    *(
        Cell(assertion, "a whole log of equal models", _log_size(*log), simulation(*log), n_runs=N_WHOLE)
        for assertion, simulation in ((READOUTS_DIFFER, _whole_log), (BETTER, _models_of_log))
        for log in LOGS
    ),
    Cell(BETTER, "a whole log, one loses a quarter", _log_size(*LOGS[1]), _models_of_log(*LOGS[1], 0.25), "planted", N_WHOLE),
    *(_cell("a tenth lost, nine equal pairs", f"{n}", partial(_loses, n=n), "planted") for n in (150, 500)),
)
