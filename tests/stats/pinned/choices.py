"""Cases of flipcore/stats/choices."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from flipcore.core.records import FIRST_TOKEN, WRITTEN_ANSWER
from flipcore.stats.base.families import family_numbers
from flipcore.stats.base.guarded import ClusterSums, ItemSums
from flipcore.stats.choices import choice, counting, curve, flips, joined, losses, material, readouts, shares
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.flips.coded_answers import coded_answers
from tests.stats.pinned import inputs
from tests.stats.pinned.cases import pinned
from tests.stats.pinned.inputs import NAN, changes, families, fractions, with_holes
from tests.stats.pinned.results import Case


def _choice(name: str, *options: str, kind: ChoiceClass = ChoiceClass.EQUAL, uncertain: str = "", closed: str = "") -> Choice:
    made = [
        Option(option, option.upper(), "why", "a gate" if option in closed.split() else "", option in uncertain.split())
        for option in options
    ]
    return Choice(name, name.title(), tuple(made), kind, "because")


CHOICES = (
    _choice("extractor", "regex", "first", "judge", closed="judge"),
    _choice("prompt", "own", "mean", "p:v1", "p:v2", uncertain="p:v1 p:v2"),
    _choice("origin", "all", "web", "book", kind=ChoiceClass.UNCERTAIN),
)


@pinned("choices.choice")
def choice_cases() -> Iterator[Case]:
    def names(choices: tuple[Choice, ...]) -> dict[str, list[str]]:
        return {part.name: [option.name for option in part.options] for part in choices}

    yield "apart", lambda: [choice.asks_another_question(part, option) for part in CHOICES for option in part.options]
    yield "defensible", lambda: names(choice.defensible([*CHOICES, _choice("lone", "a", "b", uncertain="b")]))
    for without, also in (
        ((), ()),
        (("extractor",), ("origin",)),
        (("prompt=mean", "origin=web"), ("prompt", "origin")),
        (("extractor=first", "extractor=judge"), ()),
        (("extractor=regex",), ()),
        (("nothing",), ()),
        ((), ("prompt=p:v1",)),
        ((), ("nothing",)),
        (("prompt",), ("prompt",)),
    ):
        yield f"selected, {without}, {also}", lambda w=without, a=also: names(choice.selected(CHOICES, w, a))
    yield "selected of none", partial(choice.selected, (), ("x",))
    for limit in (36, 35, 24, 9, 3, 2, 1):
        yield (
            f"limited to {limit}",
            lambda n=limit: [
                names(part) if not isinstance(part, str) else part for part in choice.limit_specifications(CHOICES, n)
            ],
        )
    yield "specifications", partial(choice.specifications, CHOICES)
    yield "specifications of none", partial(choice.specifications, ())
    yield "apart rows", lambda: choice.are_apart(CHOICES, choice.specifications(CHOICES))
    yield "setting", partial(choice.setting_of, CHOICES, [1, 2, 0])


def _array_materials() -> dict[str, material.ArrayMaterial]:
    n = 36
    reading = _choice("extractor", "regex", "first")
    unread = _choice("unread", "wrong", "left-out")
    weights = _choice("weights", "items", "alike")
    categories = _choice("categories", "all", "small", kind=ChoiceClass.UNCERTAIN)
    repeated = _choice("repeated", "all", "once")
    states = {
        ("regex", "wrong"): changes(n),
        ("regex", "left-out"): with_holes(changes(n), 1, 2, 9),
        ("first", "wrong"): changes(n, 1),
        ("first", "left-out"): with_holes(changes(n, 1), 2, 30),
    }
    left_out = {"categories=small": np.arange(n) % 4 == 3, "repeated=once": np.arange(n) % 9 == 8}
    plain = material.ArrayMaterial(
        (reading, unread, repeated, weights, categories),
        ("extractor", "unread"),
        states,
        left_out,
        np.arange(n),
        np.minimum(np.arange(n) % 4, 2),
    )
    share_states = {state: np.maximum(values, 0) for state, values in states.items()}
    clustered = replace(plain, clusters=families(n, 16))
    ends = (
        replace(plain, states={state: values - 0.1 for state, values in states.items()}),
        replace(plain, states={state: values + 0.1 for state, values in states.items()}),
    )
    return {
        "single items": plain,
        "clusters": clustered,
        "shares": replace(plain, states=share_states, bounds=(0.0, 1.0)),
        "clustered shares": replace(clustered, states=share_states, bounds=(0.0, 1.0)),
        "few clusters": replace(plain, clusters=np.arange(n) % 5),
        "filled": replace(plain, filled=ends),
        "closed": replace(
            plain,
            choices=(replace(reading, options=(reading.options[0], replace(reading.options[1], closed="a gate"))), unread),
        ),
        "declared closed": replace(
            plain,
            choices=(replace(reading, options=(replace(reading.options[0], closed="a gate"), reading.options[1])), unread),
        ),
        "few items": replace(plain, states={state: with_holes(values, *range(27)) for state, values in states.items()}),
        "equal": replace(plain, states=dict.fromkeys(states, np.ones(n))),
        "few movers": replace(
            plain,
            states=states | {("first", "wrong"): np.r_[1 - changes(n)[:2], changes(n)[2:]], ("first", "left-out"): changes(n)},
            choices=(reading, unread),
        ),
        "nothing counts": replace(plain, states=dict.fromkeys(states, np.full(n, NAN))),
        "one choice": replace(
            plain,
            choices=(reading,),
            value_choices=("extractor",),
            states={("regex",): fractions(n), ("first",): fractions(n, 1)},
        ),
        "no choice": replace(plain, choices=(), value_choices=(), states={(): fractions(n)}),
    }


@np.errstate(invalid="ignore")
def _curve(value: curve.Curve, level: float = 0.9, margin: float = 0.05) -> list:
    arrays = [
        value.options,
        value.estimate,
        value.se,
        value.df,
        value.n_units,
        value.n_items,
        value.closed,
        value.lowest,
        value.highest,
        value.n_coarse,
        value.bounds,
        value.note,
    ]
    effects = [
        [effect.name, effect.change, effect.p, effect.adjusted_p, effect.is_beyond_chance(level)] for effect in value.effects
    ]
    states = [value.limits(level), value.states(level, margin).tolist(), value.is_open, value.is_apart, value.n_changed]
    ways = [vars(value.ways), value.ranges, value.shares(level, margin), value.ahead_in(margin)]
    distances = [value.turns(margin), value.loses(level, margin), value.turns(-5.0), value.loses(level, -5.0)]
    survival = [
        value.p_survives(margin),
        value.p_survives(margin, below=True),
        value.tests.p(0.1),
        value.tests.p(0.1, below=True),
    ]
    return [
        arrays,
        effects,
        states,
        ways,
        distances,
        survival,
        value.ends and [end.estimate for end in value.ends],
        len(value.equally_defensible),
    ]


@pinned("choices.counting")
def counting_cases() -> Iterator[Case]:
    for name, items in _array_materials().items():
        yield name, lambda m=items: _curve(counting.count(m))
        yield f"{name}, all", lambda m=items: _curve(counting.count(m, m.choices))
    filled = _array_materials()["filled"]
    yield "filled, unread alone", lambda: _curve(counting.count(filled, filled.choices[1:2]))
    yield "none of the choices", lambda: _curve(counting.count(filled, ()))


@pinned("choices.curve")
def curve_cases() -> Iterator[Case]:
    for name in ("single items", "clusters", "closed", "one choice", "declared closed", "equal"):
        items = _array_materials()[name]
        value = counting.count(items, items.choices)
        yield f"{name}, defensible", lambda v=value: _curve(v.equally_defensible)
        yield f"{name}, apart", lambda v=value: v.apart and _curve(v.apart)
        yield f"{name}, settings", lambda v=value: [v.setting(len(v) - 1), v.find(v.setting(len(v) // 2)), v.find({}), len(v)]
        margins = (-0.3, float(value.estimate[0]), 0.0, 0.6, *(float(ends[0]) for ends in value.limits(0.95)))
        for margin, level in product(dict.fromkeys(margins), (0.5, 0.95)):
            yield (
                f"{name}, {margin:.9f}, {level}",
                lambda v=value, m=margin, lv=level: [
                    v.states(lv, m).tolist(),
                    v.turns(m),
                    v.loses(lv, m),
                    v.shares(lv, m),
                    v.ahead_in(m),
                ],
            )


@pinned("choices.joined")
def joined_cases() -> Iterator[Case]:
    by_name = _array_materials()
    for names in (
        ("single items",),
        ("single items", "few movers"),
        ("filled", "filled"),
        ("single items", "clusters", "few clusters"),
        ("closed", "declared closed"),
        ("nothing counts", "single items"),
    ):
        curves = [counting.count(by_name[name], by_name[name].choices[:2]) for name in names]
        yield f"{names}", lambda c=curves: _curve(joined.join_curves(c))
    lead = readouts.answers_of(
        inputs.readouts(14, 3, models=("m1", "m2", "m3"), lost=0.1), WRITTEN_ANSWER, readouts.ItemFacts()
    )
    items = readouts.material_of(lead.of_models("m2", "m1", "m3"), readouts.ItemFacts())
    yield "first rank", lambda: _curve(joined.first_rank_curve(items))
    yield "first rank by extractor", lambda: _curve(joined.first_rank_curve(items, items.choices[:1]))


@pinned("choices.losses")
def loss_cases() -> Iterator[Case]:
    for name in ("single items", "clusters", "filled", "few items", "nothing counts"):
        items = _array_materials()[name]
        narrow = replace(items, choices=items.choices[:4])
        yield name, lambda m=narrow: _curve(losses.loss_curve(m, 0.05))


@pinned("choices.material")
def material_cases() -> Iterator[Case]:
    items = _array_materials()["clusters"]
    for origins in (None, np.arange(36) // 12):
        for names in ((), ("categories",), ("origin",), ("categories", "origin")):
            chosen = [_choice(name, "all", "some") for name in names]
            yield (
                f"units, {origins is None}, {names}",
                lambda m=items, o=origins, c=chosen: material.coarsest_units(_with_origins(m, o), c),
            )
    yield (
        "counted",
        lambda: [
            items.is_counted({}),
            items.is_counted({"categories": "small"}),
            items.is_counted({"categories": "small", "repeated": "once"}),
        ],
    )
    empty = replace(items, clusters=np.zeros(0, dtype=int), categories=np.zeros(0, dtype=int))
    yield "units of no item", partial(material.coarsest_units, empty, [_choice("categories", "all")])


def _with_origins(items: material.ArrayMaterial, origins: np.ndarray | None) -> material.ArrayMaterial:
    copied = replace(items)
    object.__setattr__(copied, "origins", origins)
    return copied


def _texts(choices: Iterable[Choice]) -> list[str]:
    """Return a line for each choice, with its options, and the reason that closes one."""
    lines = []
    for part in choices:
        options = [
            f"{option.name}{' (uncertain)' * option.is_uncertain}: {option.label} {option.closed}".strip()
            for option in part.options
        ]
        lines.append(f"{part.name}, {part.kind}, {part.reason} {'; '.join(options)}")
    return lines


FACTS = {
    "none": readouts.ItemFacts(),
    "all": readouts.ItemFacts(
        categories={f"t/i{i}": "ABB"[i % 3] for i in range(11)},
        repeated={"t/i3", "t/i4", "x"},
        wrong_key={"t/i1"},
        disputed={"t/i1", "t/i2", "t/i5"},
        settled={"t/i1": {"A", "C"}, "t/i2": {"C"}},
        category_groups={"A": ["A"], "B": ["B"]},
        origins={f"t/i{i}": ("web", "book", "book")[i % 3 - 1] for i in range(12)},
        unreviewed={
            ("t/i1", "paraphrase", "v1"),
            ("t/i2", "paraphrase", "v2"),
            ("t/i2", "option_order", "v1"),
            ("t/i9", "none", "v1"),
            ("x", "paraphrase", "v1"),
        },
    ),
    "wrong keys alone": readouts.ItemFacts(wrong_key={"t/i1"}, disputed={"t/i1"}),
    "disputed alone": readouts.ItemFacts(disputed={"t/i1"}, categories={f"t/i{i}": "AB"[i % 2] for i in range(12)}),
    "equal categories": readouts.ItemFacts(
        categories={f"t/i{i}": "AB"[i % 2] for i in range(12)}, category_groups={"A": ["A"]}
    ),
    "one category": readouts.ItemFacts(categories=dict.fromkeys((f"t/i{i}" for i in range(12)), "A")),
    "origins are categories": readouts.ItemFacts(
        categories={f"t/i{i}": "AB"[i % 2] for i in range(12)}, origins={f"t/i{i}": "xy"[i % 2] for i in range(12)}
    ),
    "one origin": readouts.ItemFacts(origins={"t/i1": "web"}),
}


def _studies() -> dict[str, readouts.Answers]:
    frames = {
        "one model": inputs.readouts(12, 1, lost=0.2),
        "two models": inputs.readouts(12, 2, models=("m2", "m1"), lost=0.1, n_families=7),
        "samples": inputs.readouts(12, 3, n_samples=2, lost=0.05, axes=("paraphrase",)),
        "one prompt": inputs.readouts(12, 4, n_variants=1, lost=0.0),
        "shuffled": inputs.readouts(12, 5, models=("m2", "m1"), lost=0.2).sample(frac=1.0, random_state=3),
        "hardly read": inputs.readouts(12, 6, lost=0.5, n_variants=1),
    }
    frames["cut off"] = frames["one model"].assign(status=frames["one model"]["status"].replace("unreadable", "cut"))
    return {
        name: readouts.answers_of(frame, FIRST_TOKEN if name == "shuffled" else WRITTEN_ANSWER, FACTS["all"])
        for name, frame in frames.items()
    }


@pinned("choices.readouts")
def readout_cases() -> Iterator[Case]:
    studies = _studies()
    for name, answers in studies.items():
        yield f"answers, {name}", lambda a=answers: vars(a)
        for facts_name in ("none", "all"):
            items = readouts.material_of(answers, FACTS[facts_name])
            yield (
                f"material, {name}, {facts_name}",
                lambda m=items: [
                    _texts(m.choices),
                    m.left_out,
                    m.clusters,
                    m.categories,
                    m.bounds,
                    m.origins,
                    m.closed_prompts,
                    m.items,
                ],
            )
            settings = [{}] + [{part.name: option.name} for part in items.choices for option in part.options[1:]]
            settings += [{part.name: part.options[-1].name for part in items.choices}]
            for number, setting in enumerate(settings):
                yield (
                    f"values, {name}, {facts_name}, {number}, {setting}",
                    lambda m=items, s=setting: [m.values(s), m.is_counted(s)],
                )
            yield f"ends, {name}, {facts_name}", lambda m=items: m.ends() and [end.values({}) for end in m.ends()]
    gated = {
        "closed_gates": {"paraphrase": "not reviewed", FIRST_TOKEN: "a gate"},
        "titles": {WRITTEN_ANSWER: "Written"},
        "has_outputs": False,
    }
    closed = readouts.material_of(studies["two models"], FACTS["all"], **gated)
    yield (
        "gated",
        lambda: [
            _texts(closed.choices),
            closed.closed_prompts,
            closed.has_outputs,
            closed.values({"prompt": "mean"}),
            closed.values({"prompt": "paraphrase:v1"}),
        ],
    )
    for name, facts in FACTS.items():
        names = [f"t/i{i}" for i in range(12)]
        yield f"choices, {name}", lambda f=facts, i=names: _texts(readouts.item_choices(i, f))
        yield f"left out, {name}", partial(readouts.items_left_out, names, facts)
        yield f"origins, {name}", partial(readouts.origin_numbers, names, facts)
    for n_cut, n_unreadable in ((0, 0), (0, 5), (1, 4), (2, 8), (1, 3), (4, 1), (3, 1), (5, 0)):
        status = np.repeat([3, 2, 1], [n_cut, n_unreadable, 12 - n_cut - n_unreadable]).astype(np.int8)[
            :, None, None, None, None
        ]
        answers = replace(
            studies["one prompt"],
            status=status,
            right=np.ones(status.shape),
            settled_right=np.ones(status.shape),
            extractors=(WRITTEN_ANSWER,),
        )
        yield (
            f"unread, {n_cut} cut and {n_unreadable}",
            lambda a=answers: _texts(readouts.material_of(a, FACTS["none"]).choices),
        )
    for n_read in (7, 8, 9):
        status = np.repeat([1, 2], [n_read, 10 - n_read]).astype(np.int8)[:, None, None, None, None]
        answers = replace(
            studies["one prompt"], status=status, extractors=(WRITTEN_ANSWER,), prompts=studies["one prompt"].prompts[:1]
        )
        answers = replace(answers, right=np.ones(status.shape), settled_right=np.ones(status.shape), items=answers.items[:10])
        yield f"read {n_read} of 10", lambda a=answers: _texts(readouts.material_of(a, FACTS["none"]).choices[:1])
    yield "curve", lambda: _curve(counting.count(readouts.material_of(studies["two models"], FACTS["none"])))


@pinned("choices.shares")
def share_cases() -> Iterator[Case]:
    for name, values in (inputs.SHARES | {"more fractions": fractions(40)}).items():
        columns = np.stack([values, 1 - values], axis=1)
        sums = {"items": ItemSums.from_values(columns.T)}
        if len(values):
            sums["families"] = ClusterSums.from_values(columns, family_numbers(families(len(values), max(len(values) // 2, 1))))
            sums["few families"] = ClusterSums.from_values(columns, np.arange(len(values)) % 5)
        for kind, part in sums.items():
            for is_lower in (True, False):
                side = shares.ShareSide.from_sums(part, is_lower=is_lower)
                yield (
                    f"{name}, {kind}, {is_lower}",
                    lambda s=side: [s.limit(0.05), s.limit(0.3), [s.p(null) for null in (0.0, 0.3, 0.9, 1.0)]],
                )


@pinned("choices.flips")
def flip_cases() -> Iterator[Case]:
    frames = {
        "plain": inputs.readouts(13, 1, lost=0.1),
        "reruns": inputs.readouts(12, 2, n_samples=2, lost=0.05, n_variants=2),
        "identity": inputs.readouts(12, 3, n_reruns=2, lost=0.0),
        "families": inputs.readouts(24, 4, n_families=12, lost=0.05, axes=("paraphrase",)),
        "hardly read": inputs.readouts(12, 5, lost=0.35, axes=("paraphrase",)),
        "three extractors": inputs.readouts(12, 6, extractors=(WRITTEN_ANSWER, FIRST_TOKEN, "judge_x"), n_variants=2),
    }
    for name, frame in frames.items():
        answers = coded_answers(frame)
        axes = [axis for axis in answers.axes if axis != "identity"]
        references = [extractor for extractor in answers.extractors if extractor != FIRST_TOKEN]
        facts = FACTS["all"] if name != "plain" else FACTS["none"]
        items = flips.flip_material(
            answers, FIRST_TOKEN, axes, references, facts, accepted=answers if name == "reruns" else None
        )
        yield (
            f"material, {name}",
            lambda m=items: [
                _texts(m.choices),
                m.left_out,
                m.clusters,
                m.categories,
                m.has_floor,
                m.origins,
                m.bounds,
                m.items,
            ],
        )
        settings = [{}] + [{part.name: option.name} for part in items.choices for option in part.options[1:]]
        for setting in settings:
            yield f"values, {name}, {setting}", lambda m=items, s=setting: [m.values(s), replace(m, is_part=True).values(s)]
        yield f"curve, {name}", lambda m=items: _curve(flips.flip_curve(m))
        yield f"curve, {name}, declared", lambda m=items: _curve(flips.flip_curve(m, ()))
    answers = coded_answers(frames["three extractors"])
    accepted = coded_answers(frames["three extractors"][frames["three extractors"]["variant"] == "base"])
    gates = {"closed_gates": {"judge_x": "closed"}, "titles": {"judge_x": "The Judge"}}
    items = flips.flip_material(
        answers, FIRST_TOKEN, ["paraphrase"], [WRITTEN_ANSWER, "judge_x"], FACTS["all"], accepted=accepted, **gates
    )
    yield "gated", lambda: [_texts(items.choices), items.values({"paraphrases": "accepted"})]
    gates = {"closed_gates": {"paraphrase": "not reviewed"}}
    yield (
        "gated axis",
        lambda: flips.flip_material(answers, FIRST_TOKEN, ["paraphrase"], [WRITTEN_ANSWER], FACTS["none"], **gates).choices[0],
    )
