"""How often a decision is said to survive every choice where one choice makes the models equal, and how often a choice is said
to move the lead where it leaves out or misreads at random.

Two models answer 300 questions, asked in three prompts twice, read by two extractors that misread one answer in fifty; one in
thirty cannot be read, four keys are wrong, and every tenth question repeats another: 96 ways.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from flipcore.claims.choices import MOVES, SURVIVES, moves_claim, survives_claim
from flipcore.claims.decisions import Decision, Flips
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import selected
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.flips import flip_curve, flip_material
from flipcore.stats.choices.readouts import Answers, ItemFacts, material_of
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import NULL
from tests.lab.claims.cell import Cell, Simulation, each

A_OVER_B = Decision("A", "B")
READ, UNREAD = 1, 2
FEW = 500  # runs: each puts 96 ways into words
PROMPTS = (("", "base"), ("paraphrase", "p1"), ("paraphrase", "p2"))
# clusters × questions in each
SIZES = {"300 questions": (300, 1), "30 × 10": (30, 10), "12 × 25": (12, 25)}
Change = Callable[[np.random.Generator, Answers], Answers]


def answers_of_two(rng: np.random.Generator, n_clusters: int, size: int, lead: float = 0.0, prompt: float = 0.0) -> Answers:
    """`lead` and what the own prompt is worth to A (half of it is B's in each of the others) are in logits."""
    n, clusters = n_clusters * size, np.repeat(np.arange(n_clusters), size)
    mind = rng.normal(0.8, 1.0, (n, 1, 1)) + np.zeros((n, 2, len(PROMPTS)))
    if size > 1:
        mind += rng.normal(0, 0.3, (n_clusters, 2, 1))[clusters]
    mind[:, 0] += lead
    mind[:, 0] += prompt * np.array([1.0, -0.5, -0.5])
    right = rng.random((n, 2, len(PROMPTS), 1, 2)) < 1 / (1 + np.exp(-mind[..., None, None]))
    right = np.repeat(right, 2, axis=3)
    right ^= rng.random(right.shape) < 0.02
    status = np.where(rng.random(right.shape) < 0.03, UNREAD, READ).astype(np.int8)
    scores = np.where(status == UNREAD, 0.0, right)
    items = tuple(map(str, range(n)))
    return Answers(
        ("A", "B"),
        items,
        PROMPTS,
        ("regex", "judge"),
        clusters,
        scores,
        scores,
        status,
        np.zeros((len(items), len(PROMPTS)), dtype=bool),
    )


def facts_of(answers: Answers) -> ItemFacts:
    n = len(answers.items)
    return ItemFacts(repeated=set(map(str, range(0, n, 10))), wrong_key={"1", "2"}, disputed={"1", "2", "3", "4"})


def _misread(rng: np.random.Generator, answers: Answers) -> Answers:
    """The declared extractor takes a sixth of what B has right for wrong."""
    scores = answers.right.copy()
    scores[:, 1, :, 0] *= rng.random(scores[:, 1, :, 0].shape) < 5 / 6
    return replace(answers, right=scores, settled_right=scores)


def _unread(rng: np.random.Generator, answers: Answers) -> Answers:
    """A tenth of B's answers cannot be read by either extractor."""
    is_lost = rng.random(answers.right[:, 1, :, :1].shape) < 0.1
    scores, status = answers.right.copy(), answers.status.copy()
    scores[:, 1] *= ~is_lost
    status[:, 1][np.broadcast_to(is_lost, status[:, 1].shape)] = UNREAD
    return replace(answers, right=scores, settled_right=scores, status=status)


def _as_they_are(rng: np.random.Generator, answers: Answers) -> Answers:
    return answers


def _could_survive(answers: Answers) -> bool:
    """The way in which the models are equal shows a lead by the test without corrections, or this run cannot be false."""
    is_read = answers.status[..., 1, :] == READ
    n_read = is_read.sum(axis=(2, 3))
    means = np.where(is_read, answers.right[..., 1, :], 0.0).sum(axis=(2, 3)) / np.maximum(n_read, 1)
    gaps = np.where((n_read > 0).all(axis=1), means[:, 0] - means[:, 1], np.nan)
    is_single = len(set(answers.clusters)) == len(gaps)
    # More than the rate that the claim has, because prompts are averaged here otherwise than there.
    return bool(guarded_t(gaps, SIGNED, None if is_single else answers.clusters).p < 0.1)


def _survives(size: tuple[int, int], change: Change = _as_they_are, lead: float = 0.0, prompt: float = 0.0) -> Simulation:
    def run(rng: np.random.Generator) -> bool:
        answers = change(rng, answers_of_two(rng, *size, lead=lead, prompt=prompt))
        if not lead and not _could_survive(answers):
            return False
        return survives_claim(count(material_of(answers, facts_of(answers))), A_OVER_B).is_made

    return each(run)


def _declared(size: tuple[int, int], lead: float) -> Simulation:
    """How often the declared way alone shows the lead, for comparison."""

    def run(rng: np.random.Generator) -> bool:
        material = material_of(answers_of_two(rng, *size, lead=lead), ItemFacts())
        return survives_claim(count(material, ()), A_OVER_B).is_made

    return each(run)


def _equal_in_one_of_21(rng: np.random.Generator) -> bool:
    """A leads by far in 20 ways; in the last extractor's it gets no answer right that B has not."""
    n = 300
    mind = rng.normal(0.8, 1.0, n)
    first, second, equal = (rng.random(n) < 1 / (1 + np.exp(-(mind + lead))) for lead in (1.5, 0.0, 0.0))
    # The last way must show it, too; the others are put into words only then.
    if not guarded_t(equal.astype(float) - second, SIGNED).p < 0.1:
        return False
    right = np.zeros((n, 2, 1, 21, 1))
    right[:, 0, 0, :20, 0], right[:, 0, 0, 20, 0] = first[:, None], equal
    right[:, 1, 0, :, 0] = second[:, None]
    extractors = ("regex", *(f"reader {k}" for k in range(20)))
    status = np.full(right.shape, READ, dtype=np.int8)
    items = tuple(map(str, range(n)))
    answers = Answers(
        ("A", "B"), items, PROMPTS[:1], extractors, np.arange(n), right, right, status, np.zeros((n, 1), dtype=bool)
    )
    return survives_claim(count(material_of(answers, ItemFacts())), A_OVER_B).is_made


def _flips(rng: np.random.Generator, n: int, more: float) -> bool:
    """Two in ten items flip under both extractors, and `more` times as many under the first alone, in the same way.
    Where unread answers are left out, both are as many; else each unread one flips alone. A second reference misreads a little."""
    kind = rng.choice(3, n, p=[0.8 - 0.2 * more, 0.2, 0.2 * more])
    moved = rng.integers(0, 2, (n, 4))
    first, regex = np.where(kind[:, None] > 0, moved, 0), np.where(kind[:, None] == 1, moved, 0)
    judge = np.where(rng.random((n, 4)) < 0.02, 2, regex)
    codes = {}
    for name, read in (("first", first), ("regex", regex), ("judge", judge)):
        codes["order", name] = np.where(rng.random((n, 4)) < 0.03, NULL, read)[:, :, None]
    base = np.zeros((n, 4), dtype=bool)
    base[:, 0] = True
    items = np.array([f"q{i}" for i in range(n)], dtype=object)
    answers = CodedAnswers(items, ("order",), ("first", "regex", "judge"), codes, {"order": base}, {}, np.arange(3))
    material = flip_material(answers, "first", ["order"], ["regex", "judge"], ItemFacts(repeated=set(items[::10])))
    return survives_claim(flip_curve(material), Flips("order", "first")).is_made


def _subjects(rng: np.random.Generator, n_subjects: int, size: int, n_out: int) -> bool:
    """Subjects differ in the lead, and some are left out whatever it is there."""
    answers = answers_of_two(rng, n_subjects, size)
    names = {item: f"s{k}" for item, k in zip(answers.items, answers.clusters, strict=True)}
    out = {f"s{k}" for k in rng.choice(n_subjects, n_out, replace=False)}
    single = replace(answers, clusters=np.arange(len(answers.items)))
    facts = ItemFacts(categories=names, category_groups={"some": out})
    material = material_of(single, facts)
    choices = [choice for choice in selected(material.choices, also=["categories"]) if choice.name == "categories"]
    return moves_claim(count(material, choices), A_OVER_B).is_made


def _questions(rng: np.random.Generator, n_clusters: int, size: int, n_out: int) -> bool:
    """Keys of some questions are disputed, whatever the models say there."""
    answers = answers_of_two(rng, n_clusters, size)
    out = set(map(str, rng.choice(len(answers.items), n_out, replace=False)))
    material = material_of(answers, ItemFacts(disputed=out))
    choices = [choice for choice in material.choices if choice.name == "key"]
    return moves_claim(count(material, choices), A_OVER_B).is_made


def _read_otherwise(rng: np.random.Generator, n_clusters: int, size: int) -> bool:
    """The second extractor, reruns and prompts differ at random, and unread answers are as frequent for both."""
    material = material_of(answers_of_two(rng, n_clusters, size), ItemFacts())
    return moves_claim(count(material), A_OVER_B).is_made


def _left_out(rng: np.random.Generator) -> bool:
    answers = _unread(rng, answers_of_two(rng, 300, 1))
    return moves_claim(count(material_of(answers, ItemFacts())), A_OVER_B).is_made


CELLS = (
    *(Cell(SURVIVES, "equal models", n, _survives(size), n_runs=FEW) for n, size in SIZES.items()),
    *(
        Cell(SURVIVES, "equal, an extractor misreads one", n, _survives(size, _misread), n_runs=FEW)
        for n, size in SIZES.items()
    ),
    *(Cell(SURVIVES, "equal, one unread in a tenth", n, _survives(size, _unread), n_runs=FEW) for n, size in SIZES.items()),
    *(Cell(SURVIVES, "equal, prompts suit one", n, _survives(size, prompt=0.8), n_runs=FEW) for n, size in SIZES.items()),
    Cell(SURVIVES, "equal in one of 21 ways", "300 questions", each(_equal_in_one_of_21), n_runs=FEW),
    Cell(SURVIVES, "as many flips under both", "60 questions", each(lambda rng: _flips(rng, 60, 1)), n_runs=FEW),
    Cell(SURVIVES, "as many flips under both", "300 questions", each(lambda rng: _flips(rng, 300, 1)), n_runs=FEW),
    Cell(SURVIVES, "twice as many flips under one", "300 questions", each(lambda rng: _flips(rng, 300, 2)), "planted", 200),
    Cell(SURVIVES, "ahead by .8 logits", "300 questions", _survives((300, 1), lead=0.8), "planted", 100),
    Cell(SURVIVES, "ahead by .8 logits, declared way", "300 questions", _declared((300, 1), 0.8), "planted", 200),
    Cell(SURVIVES, "ahead by .5 logits", "300 questions", _survives((300, 1), lead=0.5), "planted", 100),
    Cell(SURVIVES, "ahead by .4 logits", "1,200 questions", _survives((1_200, 1), lead=0.4), "planted", 100),
    Cell(MOVES, "categories left out at random", "12 of 57", each(lambda rng: _subjects(rng, 57, 6, 12)), n_runs=FEW),
    Cell(MOVES, "categories left out at random", "3 of 14", each(lambda rng: _subjects(rng, 14, 20, 3)), n_runs=FEW),
    Cell(MOVES, "questions left out at random", "12 of 300", each(lambda rng: _questions(rng, 300, 1, 12)), n_runs=FEW),
    Cell(MOVES, "questions left out at random", "12 of 30 × 10", each(lambda rng: _questions(rng, 30, 10, 12)), n_runs=FEW),
    Cell(MOVES, "misread at random", "300 questions", each(lambda rng: _read_otherwise(rng, 300, 1)), n_runs=FEW),
    Cell(MOVES, "misread at random", "30 × 10", each(lambda rng: _read_otherwise(rng, 30, 10)), n_runs=FEW),
    Cell(MOVES, "one unread in a tenth", "300 questions", each(_left_out), "planted", 200),
)
