"""Planted truth: the rates that a simulated model declares are the rates that the ordinary readouts give back."""

from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from statistics import mean, stdev

import pytest
from scipy.stats import binomtest

from flipcore.core.contracts import Ask
from flipcore.core.records import OK, Item, Prompt, Request
from flipcore.extractors import EXTRACTORS
from flipcore.extractors.judge import judge_prompt
from flipcore.models.simulated import PROFILES, Profile, Simulated, judge_reply
from tests.models.asking import asked, first, items, variants, words

# Large rates besides, so that a wrong way of combining deviations shows.
PLANTED = {name: made for name, made in PROFILES.items() if not name.endswith("-000")} | {
    "strong": Profile(ability=0.8, genuine=0.4, artifact=0.4, noise=0.2)
}


@dataclass(frozen=True)
class Planted:
    """The expected flip rates: T of the first token, G of the text, and the floor under both."""

    total: float
    genuine: float
    floor: float


def planted(profile: Profile) -> Planted:
    """Exact expectations over the Beta draws, from their first two moments."""
    p1, p2 = _moments(profile.genuine)
    q1, q2 = _moments(profile.artifact)
    n = profile.noise
    both1, both2 = _xor(p1, p2, q1, q2)
    genuine1, genuine2 = _xor(p1, p2, n, n * n)
    total1, total2 = _xor(both1, both2, n, n * n)
    return Planted(2 * (total1 - total2), 2 * (genuine1 - genuine2), 2 * n * (1 - n))


def _moments(mean: float) -> tuple[float, float]:
    """E[p] and E[p²] of Beta(.6, .6/mean - .6); zero for a mean of zero."""
    if mean == 0:
        return 0.0, 0.0
    a, b = 0.6, 0.6 / mean - 0.6
    return mean, a * (a + 1) / ((a + b) * (a + b + 1))


def _xor(p1: float, p2: float, q1: float, q2: float) -> tuple[float, float]:
    """First two moments of p(1 - q) + q(1 - p) for independent p and q."""
    return p1 + q1 - 2 * p1 * q1, p2 + q2 + 2 * p1 * q1 - 4 * p2 * q1 - 4 * p1 * q2 + 4 * p2 * q2


def answers(backend, item, shown, extractor, request, sample):
    made = asked(backend, [request(v) for v in shown], (sample,))
    readings = [EXTRACTORS[extractor].read(item, v, [one]) for v, one in zip(shown, made, strict=True)]
    assert {reading.status for reading in readings} == {OK}
    return [reading.answer for reading in readings]


def rates(profile, n_items=700):
    """Per item: disagreement of pairs of variants by first token (T) and by text (G), and of two samples of a variant (W)."""
    backend, total, genuine, floor = Simulated("sim", profile), [], [], []
    of = items(n_items)
    for item in of:
        shown = variants([item])
        backend.prepare([item], shown)
        token = answers(backend, item, shown, "first_token", first, 0)
        text = answers(backend, item, shown, "regex", words, 0)
        again = answers(backend, item, shown, "regex", words, 1)
        pairs = list(combinations(range(len(shown)), 2))
        total.append(mean(token[i] != token[j] for i, j in pairs))
        genuine.append(mean(text[i] != text[j] for i, j in pairs))
        floor.append(mean(a != b for a, b in zip(text, again, strict=True)))
    return total, genuine, floor


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_rates_come_back_through_the_ordinary_readouts(name):
    """Means of 700 items within 4.5 standard errors of the closed form (three numbers, six profiles: p < 2e-4 by chance)."""
    truth = planted(PLANTED[name])
    for found, expected in zip(rates(PLANTED[name]), (truth.total, truth.genuine, truth.floor), strict=True):
        spread = max(stdev(found) / sqrt(len(found)), 1e-9)
        assert abs(mean(found) - expected) < 4.5 * spread, (name, mean(found), expected)


def test_planted_rates_by_hand():
    # no deviation at all: everything is 0. Only noise n = .1: every pair of samples differs with 2 x .1 x .9 = .18
    still, noisy = planted(Profile(0.8, 0.0, 0.0, 0.0)), planted(Profile(0.8, 0.0, 0.0, 0.1))
    assert (still.total, still.genuine, still.floor) == (0, 0, 0)
    assert (noisy.total, noisy.genuine, noisy.floor) == pytest.approx((0.18, 0.18, 0.18))
    # genuine .2 alone: p ~ Beta(.6, 2.4), E p = .2, E p^2 = .6 x 1.6 / (3 x 4) = .08, so G = 2 (.2 - .08) = .24 = T
    brittle = planted(Profile(0.8, 0.2, 0.0, 0.0))
    assert (brittle.total, brittle.genuine, brittle.floor) == pytest.approx((0.24, 0.24, 0.0))


def test_asking_again_gives_the_same_and_another_seed_something_else():
    of = items(40)
    shown = variants(of)
    backends = [Simulated("sim", PROFILES["noisy"], seed) for seed in (0, 0, 1)]
    for backend in backends:
        backend.prepare(of, shown)
    texts = [[one.text for one in asked(backend, map(words, shown), (0, 1))] for backend in backends]
    assert texts[0] == texts[1] != texts[2]
    assert backends[0].revision != backends[2].revision


def right_of(profile, of, shown, roles):
    """Item id and variant key -> whether the written answer is right."""
    backend = Simulated("sim", profile)
    backend.prepare(of, shown, roles)
    by_id = {item.item_id: item for item in of}
    return {
        (v.item_id, v.key): EXTRACTORS["regex"].read(by_id[v.item_id], v, [one]).answer == v.target
        for v, one in zip(shown, asked(backend, map(words, shown)), strict=True)
    }


def reworded(item):
    """The item as published and in other words."""
    (base,) = variants([item], "identity")
    return [base, replace(base, key="reworded", prompt=Prompt((("stem", f"Say it: {base.prompt.text[10:].upper()}"),)))]


OTHER_ROLES = [pytest.param(*case, marks=pytest.mark.slow) for case in (("target", True), ("retro", False))]


@pytest.mark.slow
@pytest.mark.parametrize(("role", "recalled"), [("benchmark", True), ("control", False), *OTHER_ROLES])
def test_a_published_item_is_right_in_its_own_words_and_a_control_only_where_able(role, recalled):
    of = items(400)
    right = right_of(
        Profile(ability=0.5, recall=1.0), of, [v for item in of for v in reworded(item)], {item.item_id: role for item in of}
    )
    published = [right[item.item_id, "base"] for item in of]
    assert all(published) if recalled else binomtest(sum(published), 400, 0.5).pvalue > 0.001
    assert binomtest(sum(right[item.item_id, "reworded"] for item in of), 400, 0.5).pvalue > 0.001


@pytest.mark.parametrize(("dose", "recalled"), [(0, False), (64, True)])
def test_an_item_that_says_how_often_it_was_read_is_believed(dose, recalled):
    of = [replace(item, meta={"dose": dose}) for item in items(60)]
    right = right_of(Profile(ability=0.5, recall=1.0), of, variants(of, "identity"), {item.item_id: "benchmark" for item in of})
    assert all(right.values()) == recalled


@pytest.mark.slow
def test_a_share_of_the_right_answers_is_lost_in_other_words_and_none_in_another_order():
    of = items(600)
    shown = [v for item in of for v in reworded(item)] + variants(of)
    right = right_of(Profile(ability=0.8, brittle=0.25), of, shown, {})
    able = [item for item in of if right[item.item_id, "base"]]
    lost = sum(not right[item.item_id, "reworded"] for item in able)
    assert binomtest(lost, len(able), 0.25).pvalue > 0.001
    assert all(right[v.item_id, v.key] == right[v.item_id, "base"] for v in shown if v.key != "reworded")


def test_a_memory_of_other_items_is_another_model():
    of = items(4)
    backends = [Simulated("sim", PROFILES["memorized-000"]) for _ in range(3)]
    for backend, n in zip(backends, (2, 2, 4), strict=True):
        backend.prepare(of, variants(of), {item.item_id: "benchmark" for item in of[:n]})
    assert backends[0].revision == backends[1].revision != backends[2].revision


def test_new_numbers_have_their_own_right_answer():
    item = Item.make(dataset="sim", key="n", kind="number", question="2 + 2?", target="4")
    moved = replace(variants([item], "identity")[0], target="7", prompt=Prompt((("stem", "3 + 4?"),)))
    assert right_of(Profile(ability=1.0), [item], [moved], {}) == {(item.item_id, "base"): True}


def test_an_opinion_without_a_right_answer_is_answered_too():
    of = [replace(item, target=None) for item in items(10)]
    backend = Simulated("sim", PROFILES["clean"])
    shown = variants(of, "identity")
    backend.prepare(of, shown)
    assert {one.status for one in asked(backend, map(words, shown))} == {"ok"}


@pytest.mark.parametrize("judge", ["judge", "judge_backwards"])
def test_as_a_judge_it_reads_what_simulated_models_write(judge):
    of = items(40)
    shown = variants(of)
    backend = Simulated("sim", PROFILES["noisy"])
    backend.prepare(of, shown)
    by_id = {item.item_id: item for item in of}
    for variant, made in zip(shown, asked(backend, map(words, shown)), strict=True):
        item = by_id[variant.item_id]
        need = EXTRACTORS[judge].needs(item, variant, Ask(), [made])[1]
        reply = asked(backend, [need.request])[0]
        text = EXTRACTORS["regex"].read(item, variant, [made])
        assert EXTRACTORS[judge].read(item, variant, [made, reply]).answer == text.answer


@pytest.mark.parametrize(
    ("text", "reply"),
    [("#### 1,450", "Final: 1,450"), (" Working it out.\n#### 29/2", "Final: 29/2"), ("I do not know.", "Final: none")],
)
def test_as_a_judge_of_numbers_it_reads_the_last_line(text, reply):
    item = Item.make(dataset="sim", key="n", kind="number", question="How many?", target="4")
    assert judge_reply(judge_prompt(item, variants([item], "identity")[0], text)) == reply


def test_a_prompt_that_it_was_not_told_of_fails_with_a_sentence():
    made = asked(Simulated("sim", PROFILES["clean"]), [Request("generate", "What?")])[0]
    assert made.status == "failed" and made.error.endswith(".")


def test_its_first_token_log_probabilities_are_a_distribution_and_are_believed():
    of = items(20)
    shown = variants(of)
    backend = Simulated("sim", PROFILES["artifact-prone"])
    backend.prepare(of, shown)
    for variant, made in zip(shown, asked(backend, map(first, shown)), strict=True):
        item = next(one for one in of if one.item_id == variant.item_id)
        assert EXTRACTORS["first_token"].read(item, variant, [made]).label_mass == pytest.approx(0.9)


def test_cloze_reads_the_same_mind_as_the_text():
    of = items(60)
    shown = variants(of)
    backend = Simulated("sim", PROFILES["brittle"])
    backend.prepare(of, shown)
    for item in of[:20]:
        for variant in (v for v in shown if v.item_id == item.item_id):
            requests = [need.request for need in EXTRACTORS["cloze"].needs(item, variant, Ask(), [])]
            cloze = EXTRACTORS["cloze"].read(item, variant, asked(backend, requests))
            text = EXTRACTORS["regex"].read(item, variant, asked(backend, [words(variant)]))
            assert cloze.answer == text.answer


def test_it_says_that_it_is_simulated():
    assert Simulated("sim", PROFILES["clean"]).simulated is True
