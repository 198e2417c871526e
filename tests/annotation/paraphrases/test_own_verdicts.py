"""What one reviewer's verdicts moved: acceptance of each source with and without them."""

import pytest

from flipcore.annotation.paraphrases.effect import own_acceptance, own_verdicts
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, studies
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored

CHOICES, (PROBLEM,) = made_pairs(20, "choices", "authors"), made_pairs(1, "problems", "authors")


@pytest.fixture
def said(store):
    stored(store, [*CHOICES, PROBLEM])

    def keep(rows, reviewer):
        judgements.keep(store, PAIR_VERDICTS, rows)
        return own_acceptance(own_verdicts(store, reviewer))

    return keep


def verdict(pair, reviewer, keeps=True, kind="person"):
    return verdict_row(pair, reviewer, SAME if keeps else OTHER, reviewer_kind=kind)


def test_ten_verdicts_say_from_where_to_where_they_moved_acceptance(said):
    # Bo kept all of 12 pairs; Ada rejects 4 that nobody else saw and keeps 6: 12 of 12 becomes 18 of 22 pairs
    rows = [verdict(pair, "Bo") for pair in CHOICES[:12]]
    rows += [verdict(pair, "Ada", keeps=i > 15) for i, pair in enumerate(CHOICES[12:], start=12)]
    (sentence,) = said(rows, "Ada")
    assert sentence.startswith("Ada judged 8 of 20 paraphrases of choices · authors. Accepted before: 12 of 12 (100% [")
    assert "]); now: 16 of 20 (80% [" in sentence


def test_below_ten_pairs_there_is_a_share_without_an_interval(said):
    assert said([verdict(PROBLEM, "Ada")], "Ada") == [
        "Ada judged 1 of 1 paraphrase of problems · authors. Accepted before: unknown; now: 1 of 1."
    ]


def test_who_judged_nothing_and_what_models_said_moves_nothing(said):
    rows = [verdict(CHOICES[1], "Bo"), verdict(CHOICES[2], "judge", kind="model")]
    assert said(rows, "Ada") == [] and said([], "judge") == []
    (sentence,) = said([verdict(CHOICES[1], "Ada")], "Ada")
    assert sentence.endswith("Accepted, as before: 1 of 1.")


def test_a_model_of_the_same_name_is_not_left_out_with_the_person(store, said):
    said([verdict(CHOICES[1], "Ada"), verdict(CHOICES[2], "Ada", kind="model")], "Ada")
    states = studies.paraphrase_states(store, "Ada").set_index("pair_id")
    assert set(states["state"]) == {"unreviewed"} and states["n_models"].sum() == 1
