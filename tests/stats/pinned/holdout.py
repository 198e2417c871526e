"""Cases of flipcore/stats/holdout."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator
from flipcore.core.records import Item
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.separability import Separability
from flipcore.stats.holdout import (
    comparison,
    copies,
    difficulty,
    duplicates,
    entries,
    neighbours,
    ngrams,
    planning,
    projection,
    semantic,
    source_rules,
    survey,
    units,
    verdict,
    versions,
)
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, families, shares, with_holes
from tests.stats.pinned.results import Case


def _vectors(n: int, seed: int = 0, shift: float = 0.0, dimensions: int = 5) -> np.ndarray:
    """Return (n, dimensions) unit vectors, without ties."""
    rows = generator(seed, "vectors", n).normal(size=(n, dimensions))
    rows[:, 0] += shift
    return rows / np.linalg.norm(rows, axis=1)[:, None]


WORDS = "what is the sum of two numbers which river flows through town who wrote this old book and when".split()


def _text(seed: int, n_words: int = 9) -> str:
    return " ".join(generator(seed, "text").choice(WORDS, n_words))


def _items(
    letter: str, n: int, seed: int, sources: dict[int, str] | None = None, repeated: dict[int, int] | None = None
) -> tuple[Item, ...]:
    made = []
    for i in range(n):
        number = (repeated or {}).get(i, i)
        made.append(
            Item(
                f"{letter}{i}",
                "d",
                "choice",
                _text(100 * seed + number),
                ("yes", "no", f"maybe {number}"),
                "0",
                source_id=(sources or {}).get(i),
            )
        )
    return tuple(made)


SETS = {  # target, retro
    "apart": (_items("t", 12, 1), _items("r", 11, 2)),
    "pairs": (_items("t", 12, 1), _items("r", 11, 2, {i: f"t{11 - i}" for i in range(11)})),
    "some sources": (_items("t", 12, 1), _items("r", 11, 2, {0: "t1", 1: "t1", 2: "r1", 3: "t4", 4: "r0"})),
    "repeated": (_items("t", 12, 1, repeated={3: 2, 5: 2}), _items("r", 11, 2, {0: "t2", 1: "t3", 2: "t5"}, repeated={7: 6})),
    "copies": (_items("t", 12, 1), _items("r", 11, 1)),
}


@pinned("holdout.entries")
def entry_cases() -> Iterator[Case]:
    plain = Item("i", "d", "choice", " Is it?? ", (" b ", "a"))
    for name, item in {
        "plain": plain,
        "no mark": replace(plain, question="Is it"),
        "marks alone": replace(plain, question="??"),
        "completion": replace(plain, kind="completion", question=" It is "),
        "spaces": replace(plain, question="  ", options=()),
    }.items():
        yield f"text, {name}", partial(entries.entry_text, item)
    for name, (target, retro) in SETS.items():
        yield f"groups, {name}", lambda t=target, r=retro: [entries.source_groups(t, r), entries.origins(t, r)]
        yield (
            f"one per source, {name}",
            lambda t=target, r=retro: [
                [item.item_id for item in part] if not isinstance(part, str) else part for part in entries.one_per_source(t, r)
            ],
        )
        yield (
            f"pairs, {name}",
            lambda t=target, r=retro: [entries.paired_rows(t, r), entries.paired_rows(t, r[:1]), entries.paired_rows(t, ())],
        )
    yield "circle", lambda: [entries.root_of(name, {"a": "b", "b": "c", "c": "a", "d": None}) for name in "abcde"]


@pinned("holdout.comparison")
def comparison_cases() -> Iterator[Case]:
    for name, (target, retro) in SETS.items():
        made = comparison.Comparison(
            (*target, *retro), len(target), _vectors(len(target) + len(retro), 3, dimensions=4), "made up"
        )

        def whole(made: comparison.Comparison = made) -> list:
            numbers = [
                made.labels,
                made.lengths,
                made.near,
                made.across,
                made.nearest_own(1),
                made.nearest_own(14, 3),
                made.loneliest,
                made.pairs,
            ]
            numbers += [
                made.mixing,
                made.sets,
                made.likeness,
                made.likeness_difference,
                made.likeness_counts,
                made.most_alike(3),
                made.alike_across,
            ]
            return [*numbers, made.coverage_sentence(), made.principal[1], [len(made.distinct.items), made.distinct.n_target]]

        yield name, whole
    closest = made.across[1][:, 0]
    spans = [(float(closest[3]), float(closest[3]), 0), (-1.0, 0.5, 1), (float(closest[14]), 2.0, 1)]
    yield "within", lambda: [made.within([span]) for span in spans] + [made.within(spans), made.within([])]
    yield "per item", partial(made.per_item, {"t3": 0.5, "r2": 1.0, "x": 2.0})


@pinned("holdout.copies")
def copy_cases() -> Iterator[Case]:
    labels = np.repeat([0, 1], [14, 12])
    sources = {
        "none": None,
        "single": np.arange(26),
        "pairs": np.r_[np.arange(14), np.arange(12)],
        "families": np.arange(26) // 3,
        "unequal": np.r_[np.arange(14) // 2, np.arange(12)],
        "one": np.zeros(26, dtype=int),
    }
    vectors = _vectors(26, 4)
    copied = vectors.copy()
    copied[14:20] = copied[:6] + 0.05 * _vectors(6, 5)
    copied /= np.linalg.norm(copied, axis=1)[:, None]
    twinned = vectors.copy()
    twinned[1::4] = twinned[::4][: len(twinned[1::4])] + 0.02 * _vectors(len(twinned[1::4]), 6)
    twinned /= np.linalg.norm(twinned, axis=1)[:, None]
    many_twins = np.repeat(_vectors(13, 7), 2, axis=0) + 0.01 * _vectors(26, 8)
    many_twins /= np.linalg.norm(many_twins, axis=1)[:, None]
    for name, names in sources.items():
        made = copies._Families.make(labels, names)
        yield (
            f"families, {name}",
            lambda f=made: [
                f.number,
                f.label,
                f.size,
                f.source,
                f.is_linked,
                f.strata,
                f.is_swapped,
                f.permutable_share,
                f.draw(generator(3)),
            ],
        )
        if names is not None:
            yield f"compared, {name}", partial(copies.compared_rows, labels, names)
    for (name, rows), (kind, names) in product(
        {"plain": vectors, "copied": copied, "twins": twinned, "many twins": many_twins}.items(), sources.items()
    ):
        if names is None:
            continue
        blocks = copies.blocks_of_vectors(rows)
        if kind != "one":
            yield f"beside, {name}, {kind}", partial(copies.neighbours_beside_twins, blocks, labels, names, 1, 29)
        yield f"twins, {name}, {kind}", partial(copies.twins, blocks, labels, names)
        yield f"nearest, {name}, {kind}", partial(copies._nearest_outside, blocks, names)
    nearest = np.r_[np.arange(1, 26), 0]
    for name, near in {
        "next": nearest,
        "none": np.full(26, -1),
        "some": np.where(np.arange(26) % 3 == 0, -1, nearest),
        "across": np.r_[np.arange(14, 26), 14, 15, np.arange(12)],
    }.items():
        for kind in ("none", "pairs", "families"):
            yield f"across, {name}, {kind}", partial(copies.cross_neighbours, near, labels, sources[kind], 2, 39)
    yield "one set", partial(copies.cross_neighbours, np.array([1, 0, 1]), np.zeros(3, dtype=int), None, 1, 9)
    yield "three entries", partial(copies.twins, copies.blocks_of_vectors(_vectors(3)), np.array([0, 0, 1]), np.arange(3))
    near_each_other = np.array([[1.0, 0.01 * i] for i in range(4)] + [[0.0, 1.0]])
    near_each_other /= np.linalg.norm(near_each_other, axis=1)[:, None]
    yield "five entries", partial(copies.twins, copies.blocks_of_vectors(near_each_other), np.zeros(5, dtype=int), np.arange(5))
    for excess, n_target, n_retro in (
        (-1.0, 10, 12),
        (0.0, 10, 12),
        (3.0, 10, 12),
        (50.0, 10, 12),
        (2.5, 12, 5),
        (0.5, 0, 4),
        (4.9, 3, 3),
    ):
        yield f"most, {excess}, {n_target}, {n_retro}", partial(copies._most_copies, excess, n_target, n_retro)
    texts = ["one two three four five six", "One, two three four FIVE", "one two three four", "x one two three four five", ""]
    yield "words", lambda: list(copies.blocks_of_words(texts)())
    yield "no word", lambda: list(copies.blocks_of_words(["a", "b c"])())
    many = [_text(seed % 300, 6) for seed in range(600)]
    yield "many words", lambda: [[start, block.shape, float(block.sum())] for start, block in copies.blocks_of_words(many)()]
    yield (
        "many vectors",
        lambda: [[start, block.shape, float(block.sum())] for start, block in copies.blocks_of_vectors(_vectors(600, 9))()],
    )


def _condition_rows(
    n_target: int,
    n_retro: int,
    seed: int = 0,
    *,
    sources: dict[int, str] | None = None,
    rates: tuple[float, float] = (0.6, 0.5),
) -> pd.DataFrame:
    rng = generator(seed, "conditions")
    rows = []
    for role, n, rate in (("target", n_target, rates[0]), ("retro", n_retro, rates[1]), ("control", 2, 0.5)):
        for i in range(n):
            ranked = [[str(option), round(float(rng.random()), 2)] for option in range(2 + (i % 3 > 0) * 2)]
            source = (sources or {}).get(i) if role == "retro" else None
            right = rng.random() < rate if i != 4 else None
            rows.append(
                {
                    "model": "m",
                    "extractor": "first_token",
                    "layout": "plain",
                    "item_id": f"{role[0]}{i}",
                    "role": role,
                    "source_id": source,
                    "is_correct": right,
                    "probabilities": ranked,
                    "target": str(i % 4),
                    "is_cut": i % 6 == 1,
                    "n_options": len(ranked) if i % 5 else None,
                }
            )
    return pd.DataFrame(rows)


@pinned("holdout.difficulty")
def difficulty_cases() -> Iterator[Case]:
    dates = {
        "before": ("2021-01-01", ["2022-05-08", "2023-01-01"]),
        "same day": ("2022-05-08", ["2022-05-08"]),
        "month": ("2022-05", ["2022-05-08"]),
        "unknown": (None, ["2022-05-08"]),
        "no date": ("2021-01-01", [None, None]),
        "some dates": ("2021-01-01", ["2022-05-08", None, None]),
    }
    for name, (cutoff, published) in dates.items():
        yield f"release, {name}", partial(difficulty.pre_release, "m", cutoff, published)
    frame = _condition_rows(16, 14)
    others = pd.concat(
        [frame, _condition_rows(9, 14, 1).assign(model="n"), _condition_rows(12, 12, 2).assign(layout="", extractor="regex")]
    )

    def described(condition: difficulty.Condition) -> list:
        facts = [
            condition.label,
            condition.counts,
            condition.accuracies,
            condition.cut_share,
            len(condition.cut),
            condition.guess,
            condition.is_clustered,
            len(condition.pairs),
        ]
        tests = [condition.test(margin) for margin in (0.1, 0.45)]
        return [*facts, tests, condition.difficulty(0.3), condition.inflation(), condition.cut_sentence()]

    for name, (rows, top_k, least) in {
        "plain": (frame, (), 10),
        "top": (others, (2, 3), 5),
        "uncut": (others.drop(columns=["is_cut", "n_options"]), (), 13),
    }.items():
        made = difficulty.conditions(rows, top_k, least)
        yield f"conditions, {name}", lambda c=made: [described(condition) for condition in c]
    base = difficulty.conditions(frame)[0]
    uncut = replace(base, cut=frozenset())
    right, wrong = (dict.fromkeys(base.target, value) for value in (1.0, 0.0))
    cases = {
        "pairs": replace(uncut, source_of={f"r{i}": f"t{15 - i}" for i in range(14)}, target=right | base.target),
        "pairs and cut": replace(
            base, source_of={f"r{i}": f"t{15 - i}" for i in range(14)}, target=right | base.target, cut=frozenset({"r1", "t3"})
        ),
        "all pairs": replace(
            uncut,
            source_of={f"r{i}": f"t{i}" for i in range(14)},
            target={f"t{i}": 1.0 * (i % 3 > 0) for i in range(14)},
            retro={f"r{i}": 1.0 * (i % 2) for i in range(14)},
        ),
        "sources of some": replace(uncut, source_of={f"r{i}": f"t{i}" for i in range(0, 14, 2)}, target=right | base.target),
        "shared sources": replace(uncut, source_of={f"r{i}": f"t{i // 2}" for i in range(14)}),
        "templates": replace(
            uncut, source_of={f"t{i}": f"x{i // 3}" for i in range(16)} | {f"r{i}": f"y{i // 2}" for i in range(14)}
        ),
        "templates and cut": replace(
            base, source_of={f"t{i}": f"x{i // 2}" for i in range(16)} | {f"r{i}": f"y{i // 2}" for i in range(14)}
        ),
        "missing source": replace(uncut, source_of={f"r{i}": f"q{i}" for i in range(14)}),
        "sources of one": replace(
            uncut, source_of={f"r{i}": f"t{15 - i}" for i in range(14)} | {"t15": "t14"}, target=right | base.target
        ),
        "guessing": replace(uncut, guess=0.5),
        "sure guess": replace(uncut, guess=1.0),
        "all right": replace(uncut, target=right, retro=dict.fromkeys(base.retro, 1.0)),
        "all wrong": replace(uncut, target=wrong, retro=dict.fromkeys(base.retro, 0.0), guess=0.25),
        "few": replace(uncut, retro=dict(list(base.retro.items())[:9])),
        "10 of each": replace(uncut, target=dict(list(base.target.items())[:10]), retro=dict(list(base.retro.items())[:10])),
        "cut at the limit": replace(
            base,
            target={f"a{i}": float(i % 3 > 0) for i in range(30)},
            retro={f"b{i}": float(i % 2) for i in range(30)},
            cut=frozenset({"a0", "a3", "b2"}),
        ),
        "cut beyond the limit": replace(
            base,
            target={f"a{i}": float(i % 3 > 0) for i in range(30)},
            retro={f"b{i}": float(i % 2) for i in range(29)},
            cut=frozenset({"a0", "a3", "b2"}),
        ),
    }
    for name, condition in cases.items():
        yield name, partial(described, condition)
    empty = replace(uncut, target={}, retro={})
    yield "no answer", lambda: [empty.accuracies, empty.cut_share, empty.test(0.1), empty.inflation(), empty.label]


@pinned("holdout.duplicates")
def duplicate_cases() -> Iterator[Case]:
    texts = [
        "one two three four",
        "One two, three four!",
        "one two three five",
        "four three two one",
        "",
        "one one one",
        "one",
        "two three four five six",
    ]
    for near in (0.3, 0.5, 0.75, 0.9, 1.0):
        yield f"{near}", partial(duplicates.duplicates, texts, near)
    for near in (0.0, 1.01):
        yield f"impossible, {near}", partial(duplicates.duplicates, texts, near)
    yield "none", partial(duplicates.duplicates, [])
    yield (
        "words",
        lambda: [duplicates.words_in_common(*pair) for pair in (("a b c", "a c"), ("", ""), ("a", ""), ("a b", "b a"))],
    )
    yield (
        "default",
        partial(
            duplicates.duplicates,
            [
                " ".join(f"w{i}" for i in range(20)),
                " ".join(f"w{i}" for i in range(18)) + " x y",
                " ".join(f"w{i}" for i in range(17)),
            ],
        ),
    )
    many = [f"a{i // 2} b{i // 2} c{i % 40}" for i in range(514)]
    yield (
        "many",
        lambda: (
            [[pair.first, pair.second] for pair in duplicates.duplicates(many, 0.95)] + [len(duplicates.duplicates(many, 0.6))]
        ),
    )


@pinned("holdout.neighbours")
def neighbour_cases() -> Iterator[Case]:
    rows = _vectors(14, 1)
    doubled = np.concatenate([rows[:6], rows[:4]])
    for name, (first, second, options) in {
        "two sets": (rows[:6], rows[6:], {}),
        "one set": (rows, rows, {"skip_self": True}),
        "sources": (rows, rows, {"skip_self": True, "sources": np.arange(14) // 3}),
        "ties": (doubled, doubled, {"skip_self": True}),
        "one candidate": (rows[:3], rows[3:4], {}),
        "lone": (rows[:1], rows[:1], {"skip_self": True}),
        "single precision": (rows.astype(np.float32)[:4], rows.astype(np.float32), {}),
    }.items():
        for k in (1, 3, 20):
            yield f"nearest {k}, {name}", partial(neighbours.nearest, first, second, k, **options)
    for k, labels in product((1, 4, 200), (None, np.arange(14) % 2, np.zeros(14, dtype=int))):
        yield f"alike {k}, {labels if labels is None else int(labels.sum())}", partial(neighbours.most_alike, rows, k, labels)
    yield "alike, ties", partial(neighbours.most_alike, doubled, 5)
    for options in ({}, {"n_bins": 6}, {"n_bins": 5, "low": 0.0, "high": 0.4}):
        yield f"counts, {options}", partial(neighbours.cosine_counts, rows, **options)
    many = _vectors(600, 2, dimensions=3)
    yield (
        "many",
        lambda: [
            neighbours.nearest(many, many, 3, skip_self=True),
            neighbours.cosine_counts(many, 5),
            neighbours.most_alike(many, 2),
            neighbours.most_alike(many, 2, np.arange(600) % 2),
            neighbours.nearest(many, many, 2, skip_self=True, sources=np.arange(600) // 2),
        ],
    )
    for n in (0, 1, 2, 9, 10, 14):
        yield f"mean of {n}", partial(neighbours.mean_cosine, rows[:n], 0.9)
    for n, m in ((14, 14), (9, 14), (14, 9), (10, 10), (1, 14), (2, 3)):
        for paired in (False, True):
            if n == m or not paired:
                yield (
                    f"difference, {n} and {m}, {paired}",
                    partial(neighbours.likeness_difference, rows[:n], _vectors(14, 3, 1.0)[:m], paired=paired, level=0.9),
                )
    both = np.concatenate([_vectors(12, 5), _vectors(11, 6, 1.5)])
    near = neighbours.nearest(both, both, 3, skip_self=True)[0]
    labels = np.repeat([0, 1], [12, 11])
    yield "mixing", partial(neighbours.mixing, near, labels, m=49, seed=2)
    yield "mixing of few", partial(neighbours.mixing, near[:12] % 12, np.repeat([0, 1], [9, 3]), m=19)
    yield "mixing of 20", lambda: neighbours.mixing(near[:20] % 20, np.arange(20) % 2, m=19)
    yield "mixing of pairs", lambda: neighbours.mixing(near[:22] % 22, np.repeat([0, 1], 11), paired=True, m=49)
    yield "mixing of unequal pairs", partial(neighbours.mixing, near, labels, paired=True, m=9)
    yield "mixing of one set", partial(neighbours.mixing, near, labels * 0, m=9)
    yield "mixing of unequal lengths", partial(neighbours.mixing, near, labels[:5], m=9)


@pinned("holdout.ngrams")
def ngram_cases() -> Iterator[Case]:
    target, retro = [_text(seed, 7) + "." for seed in range(12)], [_text(seed + 50, 6) + "?\nnew line" for seed in range(12)]
    for name, options in {
        "plain": {},
        "words": {"longest": 1},
        "triples": {"longest": 3, "fewest": 2, "level": 0.8},
        "pairs": {"paired": True},
        "rare": {"fewest": 12},
        "none": {"fewest": 99},
    }.items():
        table = ngrams.ngrams(target, retro, **options)
        rows = [
            [
                row.text,
                row.total_target,
                row.total_retro,
                row.entries_target,
                row.entries_retro,
                row.p,
                row.q,
                row.log_odds.value,
                row.log_odds.low,
                row.log_odds.high,
            ]
            for row in table.rows
        ]
        yield (
            name,
            lambda t=table, r=rows: [
                r[:12],
                len(r),
                sum(row[6] for row in r),
                t.n_words_target,
                t.n_words_retro,
                t.fewest,
                [t.n_target, t.n_retro],
                [row.text for row in t.different()],
                [row.text for row in t.different(0.5)],
            ],
        )
    yield "no target", partial(ngrams.ngrams, [], retro)
    yield "no retro", partial(ngrams.ngrams, target, [])
    yield "unequal pairs", partial(ngrams.ngrams, target, retro[1:], paired=True)
    yield "no word", partial(ngrams.ngrams, [" "], ["\n"], fewest=0)
    yield (
        "at the rate",
        lambda: [
            len(ngrams.NgramTable((replace(ngrams.ngrams(target, retro).rows[0], q=q),), 1, 1, 1, 1, 1).different(0.05))
            for q in (0.049, 0.05, 0.051)
        ],
    )


@pinned("holdout.planning")
def planning_cases() -> Iterator[Case]:
    yield (
        "power",
        lambda: [
            planning.equivalence_power(p, margin, n) for p, margin, n in ((0.7, 0.3, 12), (0.5, 0.2, 40), (0.95, 0.3, 10))
        ],
    )
    for p, margin, wanted in ((0.8, 0.35, 0.8), (0.95, 0.4, 0.5), (0.5, 0.45, 0.9)):
        yield f"plan, {p}, {margin}", partial(planning.equivalence_plan, p, margin, wanted)
    for p, margin in ((0.0, 0.1), (1.0, 0.1), (0.5, 0.0), (0.5, 1.0)):
        yield f"impossible, {p}, {margin}", partial(planning.equivalence_plan, p, margin)
    yield "margins", lambda: [planning.detectable_margin(p, n) for p, n in ((0.7, 9), (0.5, 10), (0.9, 14), (0.7, 30))]
    vectors = _vectors(36, 5)
    vectors[:12, 0] += 1
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    for name, groups in {
        "three": ["a"] * 12 + ["b"] * 12 + ["c"] * 12,
        "small": ["a"] * 9 + ["b"] * 9 + ["c"] * 18,
        "unnamed": [""] * 12 + ["b"] * 24,
        "10 each": ["a"] * 10 + ["b"] * 10 + [""] * 16,
        "many": [f"g{i}" for i in range(36)],
        "mixed": ["a", "b", "c"] * 12,
    }.items():
        yield f"margin, {name}", partial(planning.starting_margin, vectors, groups)
    for n in (9, 10):
        yield f"margin of {n}", partial(planning.starting_margin, vectors[:n], ["a"] * n)
    many = _vectors(150, 6)
    yield "margin of 13 groups", partial(planning.starting_margin, many, [f"g{i % 13}" for i in range(150)])
    yield "margin of 14 groups", partial(planning.starting_margin, many, [f"g{i % 14}" for i in range(150)])


@pinned("holdout.projection")
def projection_cases() -> Iterator[Case]:
    rows = _vectors(14, 7)
    for name, part in {
        "plain": rows,
        "three": rows[:3],
        "two": rows[:2],
        "one column": rows[:, :1],
        "equal": np.ones((5, 3)),
        "single precision": rows.astype(np.float32),
    }.items():
        yield (
            f"places, {name}",
            lambda r=part: [(made := projection.principal_places(r))[0].astype(float).round(4), made[1].round(5)],
        )
    places = np.array([[0.0, 0], [0.01, 0], [0, 0.0101], [1, 1], [0.005, 0.01], [0.2, 0.2]])
    yield (
        "on top",
        lambda: (
            [projection.on_top_of(places, row) for row in (0, 3, 4)]
            + [projection.on_top_of(places, 0, 0.2), projection.on_top_of(np.zeros((3, 2)), 1)]
        ),
    )
    yield "quality", lambda: [projection.map_quality(rows[:n], rows[:n, :2], rows[:n, 1:3]) for n in (4, 5, 6, 14)]
    yield "quality of a good map", lambda: projection.map_quality(rows, rows, rows + 0.001 * _vectors(14, 8))
    many = _vectors(1_003, 8, dimensions=3)
    yield "quality of many", lambda: projection.map_quality(many, many[:, :2], many[:, 1:], 3)
    yield "too few for UMAP", partial(projection.umap_places, rows[:4])


@pinned("holdout.semantic")
def semantic_cases() -> Iterator[Case]:
    target, retro = _vectors(9, 1), 3 * _vectors(8, 2, 1.0)
    yield "units", partial(semantic.unit_vectors, [[3.0, 4.0], [0.0, -2.0]])
    for name, rows in {
        "flat": [1.0, 2.0],
        "zero": [[1.0, 0.0], [0.0, 0.0]],
        "infinite": [[1.0, float("inf")]],
        "missing": [[NAN, 1.0]],
    }.items():
        yield f"units, {name}", partial(semantic.unit_vectors, rows)
    for n, m in ((9, 8), (2, 2), (1, 8), (2, 1), (8, 8)):
        first, second = target[:n], retro[:m]
        yield f"mmd, {n} and {m}", partial(semantic.mmd2_cos, first, second)
        for which in ("target", "retro"):
            yield f"within, {which}, {n} and {m}", partial(semantic.perm_test_semantic, first, second, which, 59, 1)
            yield f"paired within, {which}, {n} and {m}", partial(semantic.perm_test_within_paired, first, second, which, 59, 1)
        for paired in (False, True):
            yield f"test, {n} and {m}, {paired}", partial(semantic.perm_test_mmd, first, second, 59, 1, paired=paired)
    yield (
        "default seed",
        lambda: [
            semantic.perm_test_semantic(target, retro, m=40),
            semantic.perm_test_mmd(target, retro, m=40),
            semantic.perm_test_within_paired(target[:8], retro, m=40),
        ],
    )
    yield "means", lambda: [semantic.mean_pairwise_cos_fast(target[:n]) for n in (1, 2, 9)]
    for which in ("target", "retro"):
        yield (
            f"all regroupings, {which}",
            partial(semantic.perm_test_semantic, target[:5], retro[:7], which, enumerate_all=True),
        )
    yield "another group", partial(semantic.perm_test_semantic, target, retro, "both")
    yield (
        "many regroupings",
        lambda: [
            semantic.perm_test_semantic(target, retro, m=520),
            semantic.perm_test_mmd(target[:8], retro, 515, paired=True),
            semantic.perm_test_within_paired(target[:8], retro, m=513),
        ],
    )
    yield "equal", partial(semantic.perm_test_mmd, target[:4], target[:4], 19, 2)
    yield "equal pairs", partial(semantic.perm_test_mmd, target[:4], target[:4], 19, 2, paired=True)


@pinned("holdout.source_rules")
def source_rule_cases() -> Iterator[Case]:
    for counts in ((0, 0, 1, 2), (1, 2, 0, 0), (5, 10, 9, 12), (9, 12, 5, 10), (10, 10, 12, 12), (0, 10, 0, 12)):
        yield f"z, {counts}", partial(source_rules.pooled_z, *counts)
    for k, n in ((0, 0), (4, 10), (9, 10), (0, 5)):
        yield (
            f"{k} of {n}",
            lambda k=k, n=n: [
                source_rules.prediction_accuracy(k, n),
                source_rules.odd_one_out(k, n),
                source_rules.odd_one_out(k, n, 0.5),
                source_rules.prediction_accuracy(k, n, 0.4),
            ],
        )


@pinned("holdout.survey")
def survey_cases() -> Iterator[Case]:
    hits = shares(36, 1, 0.5)
    groups = {
        "crossed": (hits, np.arange(36) % 12, np.arange(36) // 3),
        "few annotators": (hits, np.arange(36) % 12, np.arange(36) // 12),
        "9 annotators": (hits, np.arange(36) % 12, np.arange(36) // 4),
        "10 annotators": (hits[:30], np.arange(30) % 15, np.arange(30) // 3),
        "9 entries": (hits, np.arange(36) % 9, np.arange(36) // 9),
        "10 entries": (hits[:30], np.arange(30) % 10, np.arange(30) // 10),
        "one annotator": (hits[:14], np.arange(14), np.zeros(14, dtype=int)),
        "one annotator twice": (hits[:14], np.arange(14) // 2, np.zeros(14, dtype=int)),
        "one entry": (hits[:14], np.zeros(14, dtype=int), np.arange(14)),
        "one answer": (hits[:1], [0], ["a"]),
        "all right": (np.ones(24), np.arange(24) % 12, np.arange(24) // 12),
        "all wrong": (np.zeros(24), np.arange(24) % 12, np.arange(24) // 2),
        "holes": (with_holes(hits, 0, 5, 9), np.arange(36) % 12, families(36, 12)),
        "none": (np.zeros(0), np.zeros(0), np.zeros(0)),
        "nobody answered": (np.full(4, NAN), np.arange(4), np.arange(4)),
        "half of each": (np.tile([0.0, 1.0], 12), np.repeat(np.arange(12), 2), np.arange(24) // 12),
        "mostly right": (np.r_[np.ones(33), 0, 0, 0], np.arange(36) % 12, np.arange(36) // 3),
    }
    for name, parts in groups.items():
        yield name, partial(survey.odd_one_out_survey, *parts, 0.9)


def _test(name: str, **changed: object) -> verdict.HoldoutTest:
    estimate = Estimate(0.02, -0.05, 0.09, 0.95, "t", 40, None)
    fields = {
        "p": 0.3,
        "p_source": (0.2, 0.6),
        "estimate": estimate,
        "equivalent": False,
        "bound": (-0.04, 0.08),
        "margin": 0.1,
        "detectable": 0.07,
        "outer": (-0.05, 0.09),
    }
    return verdict.HoldoutTest(name, **(fields | changed)).with_margin(changed.get("margin", 0.1))


def _tests() -> dict[str, verdict.HoldoutTest]:
    beyond = Estimate(0.4, 0.2, 0.6, 0.95, "t", 40, None)
    return {
        "equivalent": _test("difficulty"),
        "undecided": _test("difficulty", bound=(-0.04, 0.1)),
        "too low": _test("difficulty", bound=(-0.1, 0.05)),
        "within": _test("difficulty", p=0.01, estimate=replace(beyond, value=0.05, low=0.01, high=0.09)),
        "not bounded": _test("semantic", p=0.01, is_bounded=False),
        "different": _test("difficulty", p=0.01, estimate=replace(beyond, value=0.08, low=0.02, high=0.14), bound=(0.03, 0.13)),
        "beyond": _test("difficulty", p=0.01, estimate=beyond, outer=(0.2, 0.6), bound=(0.25, 0.55)),
        "beyond below": _test(
            "difficulty",
            p=0.01,
            estimate=replace(beyond, value=-0.4, low=-0.6, high=-0.2),
            outer=(-0.6, -0.2),
            bound=(-0.5, -0.3),
        ),
        "at the margin": _test("difficulty", p=0.01, estimate=beyond, outer=(0.1, 0.6), bound=(0.15, 0.5)),
        "p at the level": _test("semantic", p=0.05),
        "adjusted": _test("semantic", p=0.01, p_adjusted=0.06),
        "interval holds 0": _test("difficulty", p=0.01),
        "no margin": _test("semantic", margin=None),
        "blind": _test("difficulty", blind="it guesses"),
        "blind and within": _test(
            "difficulty", p=0.01, blind="it guesses", estimate=replace(beyond, value=0.05, low=0.01, high=0.09)
        ),
        "too few": _test("prediction", too_few="9 rows", p=0.001),
        "prediction": _test("prediction", margin=0.6, bound=(0.0, 0.55), outer=(0.4, 1.0), estimate=replace(beyond, value=0.5)),
        "prediction beyond": _test(
            "prediction", margin=0.6, p=0.001, bound=(0.0, 0.95), outer=(0.7, 1.0), estimate=replace(beyond, value=0.8)
        ),
        "odd": _test("odd one out", margin=0.45, bound=(0.0, 0.40), outer=(0.3, 1.0), detectable=float("inf")),
        "semantic": _test(
            "semantic",
            margin=0.02,
            bound=(-0.001, 0.0123),
            detectable=0.004,
            estimate=replace(beyond, value=0.005, low=-0.001, high=0.0123),
        ),
        "missing": _test(
            "difficulty", p=NAN, estimate=Estimate(NAN, NAN, NAN, 0.95, "none", 0, None), detectable=NAN, p_source=(NAN,)
        ),
        "rejected": _test("semantic", p_source=(0.049, 0.5)),
        "not rejected": _test("semantic", p_source=(0.05, 0.5)),
        "no width": _test("semantic", bound=(0.1, 0.1), detectable=0.0),
    }


@pinned("holdout.units")
def unit_cases() -> Iterator[Case]:
    for name, test in _tests().items():
        yield (
            name,
            lambda t=test: [
                units.bound_text(t),
                units.margin_text(t.name, t.margin),
                units.estimate_text(t),
                units.detectable_text(t),
                units.decimals(t),
                [units.axis_text(t, x) for x in (-0.123, 0.0, 0.5678)],
            ],
        )
    yield (
        "decimals",
        lambda: [
            units.decimals(_test("semantic", bound=(0.0, width))) for width in (1.0, 0.1, 0.012, 0.00099, 1e-5, 1e-12, 0.0)
        ],
    )


@pinned("holdout.verdict")
def verdict_cases() -> Iterator[Case]:
    tests = _tests()
    for name, test in tests.items():
        yield (
            name,
            lambda t=test: [
                t.state,
                t.equivalent,
                t.is_inside,
                t.source_state,
                t.with_margin(0.08).state,
                t.with_margin(None).equivalent,
            ],
        )
    for names in (
        ("equivalent", "different"),
        ("beyond", "undecided", "within"),
        ("blind", "blind"),
        ("blind", "equivalent"),
        ("too few", "prediction"),
        ("missing", "equivalent"),
        ("semantic",),
        ("prediction", "prediction beyond"),
        ("odd", "odd"),
    ):
        part = [tests[name] for name in names]
        yield f"joined, {names}", partial(verdict.join_tests, part)
        yield (
            f"family, {names}",
            lambda p=part: (
                [(test.p_adjusted, test.state) for test in verdict.as_family(p)]
                + [(test.p_adjusted, test.state) for test in verdict.as_family(verdict.as_family(p))]
            ),
        )
        yield (
            f"simultaneous, {names}",
            lambda p=part: [[test.p, test.bound, test.outer, test.equivalent, test.state] for test in verdict.simultaneous(p)],
        )
    yield "simultaneous of none", partial(verdict.simultaneous, [])
    all_inside = [tests["equivalent"], replace(tests["semantic"], margin=0.02), tests["prediction"], tests["odd"]]
    for name, part in {
        "inside": all_inside,
        "missing one": all_inside[:3],
        "different": [*all_inside[1:], tests["different"]],
        "beyond": [tests["beyond"]],
        "undecided": [*all_inside[1:], tests["undecided"]],
        "rejected": [tests["rejected"]],
        "none": [],
    }.items():
        yield (
            f"verdict, {name}",
            lambda p=part: [(made := verdict.HoldoutVerdict(tuple(p))).state, made.missing, made.source_state],
        )
    for counts in (
        (12, 20, 10, 18),
        (0, 0, 3, 9),
        (3, 9, 0, 0),
        (9, 9, 10, 10),
        (30, 40, 12, 40),
        (5, 10, 5, 9),
        (25, 50, 26, 50),
    ):
        yield f"difficulty, {counts}", partial(verdict.difficulty_test, *counts)
    pairs = {
        "plain": (shares(30), shares(30, 1)),
        "none": ([], []),
        "9 pairs": (shares(9), shares(9, 1)),
        "10 pairs": (shares(10), shares(10, 1)),
        "equal": (shares(20), shares(20)),
        "holes": (with_holes(shares(20), 1), with_holes(shares(20, 1), 2)),
        "lost": (np.ones(30), shares(30, 2, 0.3)),
    }
    for name, (target, retro) in pairs.items():
        yield f"paired, {name}", partial(verdict.difficulty_test_paired, target, retro, 0.2)
    is_retro = np.arange(44) >= 24
    for name, (hits, sides, clusters) in {
        "plain": (shares(44), is_retro, np.arange(44) // 2),
        "holes": (with_holes(shares(44), 0, 30), is_retro, np.arange(44) // 2),
        "few": (shares(44), is_retro, np.arange(44) // 5),
        "6 of a side": (shares(44), is_retro, np.r_[np.arange(24) // 4, 50 + np.arange(20) // 4]),
        "one": (shares(44), is_retro, np.zeros(44)),
        "nothing varies": (np.ones(44), is_retro, np.arange(44) // 2),
        "no target": (shares(9), np.ones(9, dtype=bool), np.arange(9)),
        "no retro": (shares(9), np.zeros(9, dtype=bool), np.arange(9)),
    }.items():
        yield f"clustered, {name}", partial(verdict.difficulty_test_clustered, hits, sides, clusters, 0.4)
    target, retro = _vectors(11, 1), _vectors(12, 2, 1.5)
    lonely, copied = (
        copies.CrossNeighbours(0.5, 0.5, p, at_most, twins) for p, at_most, twins in ((0.6, 0.2, False), (0.001, NAN, True))
    )
    for name, (first, second, options) in {
        "plain": (target, retro, {}),
        "margin": (target, retro, {"margin": 5.0}),
        "pairs": (target, retro[:11], {"paired": True}),
        "9 entries": (target[:9], retro, {}),
        "enumerated": (target[:4], retro[:5], {}),
        "copies": (target, retro, {"copies": (lonely, copied)}),
        "no copies": (target, retro, {"copies": (lonely,), "margin": 1.0}),
    }.items():
        yield f"semantic, {name}", partial(verdict.semantic_test, first, second, m=39, seed=1, **options)
    balanced = Estimate(0.55, 0.42, 0.68, 0.95, "wilson", 60, None)
    plain = Separability(balanced, 0.66, 0.05, 0.6, 0.2, 199, 33, 60, "", 0.85)
    for name, result in {
        "plain": plain,
        "told apart": replace(plain, p=0.005, balanced=replace(balanced, value=0.8, low=0.72), upper=0.88),
        "below": replace(plain, p=0.99, p_below=0.005),
        "p below at half the level": replace(plain, p=0.99, p_below=0.025),
        "certain": replace(plain, upper=1.1),
        "equal p": replace(plain, p=0.5, p_below=0.5),
        "too few": replace(plain, too_few="9 entries"),
    }.items():
        yield f"prediction, {name}", partial(verdict.prediction_test, result)
    for name in (0.33, 0.6):
        answers = survey.odd_one_out_survey(shares(60, 3, name), np.arange(60) % 20, np.arange(60) // 5)
        yield f"odd one out, {name}", partial(verdict.odd_one_out_test, answers)
    certain = survey.odd_one_out_survey(np.r_[np.ones(29), 0], np.arange(30) % 10, np.arange(30) // 3)
    yield "odd one out, nearly all", partial(verdict.odd_one_out_test, certain)
    yield "fewest", lambda: [verdict.fewest_text(n, "pairs") for n in (0, 9, 10)]


@pinned("holdout.versions")
def version_cases() -> Iterator[Case]:
    tests = _tests()
    for name, test in tests.items():
        if name in ("equivalent", "missing", "semantic", "prediction"):
            yield f"result, {name}", partial(versions.result_of, test)
    before = {
        "retro_ids": ["a", "b", "c"],
        "target_ids": ["x", "y"],
        "settings": {"embedding": "e", "seed": 1},
        "results": {
            "difficulty": {"state": "inconclusive", "p_seed": 0.1, "value": 0.05},
            "semantic": {"state": "different", "value": 0.01234},
            "prediction": {"state": "equivalent", "value": 0.61},
            "odd one out": {"state": "undecided", "value": None},
        },
    }
    after = {
        "retro_ids": ["b", "c", "d", "e"],
        "target_ids": ["y", "x"],
        "settings": {"embedding": "f", "seed": 2},
        "results": {
            "difficulty": {"state": "undecided", "value": -0.05},
            "semantic": {"state": "equivalent", "value": 0.002},
            "prediction": {"state": "equivalent", "value": 0.45},
            "odd one out": {"state": "undecided", "value": 0.4},
        },
    }
    yield "edits", partial(versions.describe_edits, before, after)
    yield "back", partial(versions.describe_edits, after, before)
    yield "same", partial(versions.describe_edits, before, before | {"target_ids": ["x"]})
    yield "read", partial(versions.read_results, before["results"])
    nearer = after | {
        "results": {
            "odd one out": {"state": "undecided", "value": 0.34},
            "prediction": {"state": "equivalent", "value": 0.5},
            "difficulty": {"state": "undecided", "value": 0.0499},
        }
    }
    yield (
        "nearer",
        partial(
            versions.describe_edits,
            before | {"results": before["results"] | {"odd one out": {"state": "undecided", "value": 0.3}}},
            nearer,
        ),
    )
