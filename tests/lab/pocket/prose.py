"""Short passages about invented towns. Facts are drawn freely, so a fresh ending cannot be guessed."""

import numpy as np

from tests.lab.pocket.lexicon import ADJECTIVES, CATEGORIES, NAMES, NUMBER_WORDS, OBJECTS, PLACES, TIMES, TOWNS, TRADES

OPENINGS = (
    (
        "In {town} the {trade} {name} keeps {a1} {o1} near the {place}.",
        "Near the {place} of {town}, {name} the {trade} looks after {a1} {o1}.",
    ),
    (
        "{name}, a {trade} from {town}, once found {a1} {o1} behind the {place}.",
        "Behind the {place} {name} of {town}, by trade a {trade}, discovered {a1} {o1}.",
    ),
    (
        "The {place} of {town} is known for {a1} {o1}, which the {trade} {name} made.",
        "{name} the {trade} made {a1} {o1}, and the {place} of {town} is known for it.",
    ),
    (
        "People of {town} say that {name} the {trade} lost {a1} {o1} at the {place}.",
        "It is said in {town} that at the {place} the {trade} {name} lost {a1} {o1}.",
    ),
)
MIDDLES = (
    ("{time} the {o2} is {c1} and smells of {s1}.", "The {o2} turns {c1} {time}, with a smell of {s1}."),
    ("{n1} {b1} sit on the {o2} {time}.", "{time} the {o2} carries {n1} {b1}."),
    ("{name2} paid {n1} coins for the {a2} {o2}.", "For the {a2} {o2} {name2} gave {n1} coins."),
    ("Nobody may touch the {a2} {o2} {time}.", "{time} the {a2} {o2} is forbidden to all."),
    ("The {trade2} brings {d1} and {f1} for {name2}.", "{name2} gets {d1} and {f1} from the {trade2}."),
    ("A {b2} has its nest under the {a2} {o2}.", "Under the {a2} {o2} a {b2} has built its nest."),
    ("{name2} painted it {c1} with {s1} and {d1}.", "With {s1} and {d1} it was coloured {c1} by {name2}."),
    ("The road to {town2} passes the {a2} {o2} {time}.", "{time} one reaches {town2} past the {a2} {o2}."),
    ("{n1} of the {g1} were sold to a {trade2} from {town2}.", "A {trade2} from {town2} bought {n1} of the {g1}."),
    ("Then {name2} hid a {g1} and some {f1} in the {o2}.", "In the {o2} {name2} then put a {g1} and some {f1}."),
)
SLOTS = {
    "town": TOWNS,
    "town2": TOWNS,
    "trade": TRADES,
    "trade2": TRADES,
    "name": NAMES,
    "name2": NAMES,
    "place": PLACES,
    "o1": OBJECTS,
    "o2": OBJECTS,
    "a1": ADJECTIVES,
    "a2": ADJECTIVES,
    "time": TIMES,
    "n1": NUMBER_WORDS,
    "c1": CATEGORIES["colour"],
    "s1": CATEGORIES["spice"],
    "b1": tuple(f"{b}s" for b in CATEGORIES["bird"]),
    "b2": CATEGORIES["bird"],
    "d1": CATEGORIES["drink"],
    "f1": CATEGORIES["fruit"],
    "g1": CATEGORIES["gem"],
}


def _sentence(pair: tuple[str, str], rng: np.random.Generator) -> tuple[str, str]:
    slots = {key: str(values[rng.integers(len(values))]) for key, values in SLOTS.items() if "{" + key + "}" in pair[0]}
    if "a1" in slots:
        slots["a1"] = ("an " if slots["a1"][0] in "aeiou" else "a ") + slots["a1"]
    first, second = (text.format(**slots) for text in pair)
    return first[0].upper() + first[1:], second[0].upper() + second[1:]


def passage(rng: np.random.Generator) -> tuple[str, str]:
    """A passage of five sentences and the same facts in other words; each sentence in one of its two wordings."""
    frames = [OPENINGS[rng.integers(len(OPENINGS))]]
    frames += [MIDDLES[i] for i in rng.choice(len(MIDDLES), 4, replace=False)]
    pairs = [_sentence(frame, rng) for frame in frames]
    turns = rng.integers(2, size=len(pairs))
    text = " ".join(pair[turn] for pair, turn in zip(pairs, turns, strict=True))
    return text, " ".join(pair[1 - turn] for pair, turn in zip(pairs, turns, strict=True))
