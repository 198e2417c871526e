"""Two sets read from their sources: what stands in both is target, what is set aside is shown under a lock only."""

from flipcore.core.study import ItemSource
from flipcore.reports.holdout_sets import Sets, divided_sets, pocket_study, sets_of_sources
from flipcore.runs.demo import example_holdout
from flipcore.store.queries import holdout

SOURCES = [
    ItemSource("flipscope_choice", role="target", categories=("logic",)),
    ItemSource("flipscope_choice", role="retro", categories=("measure",)),
]


def test_both_sets_are_read_and_named_by_what_they_hold():
    sets = sets_of_sources("mine", SOURCES)
    assert {item.category for item in sets.target} == {"logic"} and {item.category for item in sets.retro} == {"measure"}
    assert sets.record_id == f"sets-{sets.sets_id}" and not sets.is_of_study and sets.sources == tuple(SOURCES)
    assert sets.sets_id == Sets.of("another name", sets.target, sets.retro).sets_id
    assert set(sets.items) == {item.item_id for item in (*sets.target, *sets.retro)}


def test_an_item_that_stands_in_both_is_target_and_no_holdout():
    sets = sets_of_sources("same", [SOURCES[0], ItemSource("flipscope_choice", role="retro", categories=("logic", "measure"))])
    n = len(sets.target)
    assert {item.category for item in sets.retro} == {"measure"}
    assert sets.notes == (f"{n:,} items of the retro source are target items and left out of retro.",)
    assert sets.sources == (), "no study can ask for these sets by their sources"


def test_a_share_that_is_set_aside_stays_aside_whatever_is_asked_for_later(store):
    whole = sets_of_sources("mine", SOURCES)
    open_part = divided_sets(store, whole, 0.5, confirmatory=False)
    aside = divided_sets(store, whole, 0.0, confirmatory=True)
    assert open_part.target and aside.target and open_part.n_aside == len(aside.items) and aside.n_aside == 0
    assert not set(open_part.items) & set(aside.items) and set(open_part.items) | set(aside.items) == set(whole.items)
    assert set(divided_sets(store, whole, 0.0, confirmatory=False).items) == set(open_part.items)
    assert set(aside.items) == set(holdout.entries_aside(store, whole.record_id))


def test_nothing_is_set_aside_without_a_share(store):
    whole = sets_of_sources("mine", SOURCES)
    assert divided_sets(store, whole, 0.0, confirmatory=False) == whole


def test_entries_that_other_sets_keep_aside_are_left_out_with_a_note(store):
    whole = sets_of_sources("mine", SOURCES)
    aside = divided_sets(store, whole, 0.5, confirmatory=True)
    other = Sets.of("other", whole.target[:-1], whole.retro)
    shown = divided_sets(store, other, 0.0, confirmatory=False)
    assert not set(shown.items) & set(aside.items)
    assert "a study set them aside, and only its lock opens them" in shown.notes[-1]


def test_the_pocket_model_is_asked_as_the_example_declares_it():
    example = example_holdout()
    own = pocket_study(sets_of_sources("Example: mine", SOURCES))
    assert own.name == "Holdout: mine" and own.items == tuple(SOURCES) and own.models == example.models
    assert pocket_study(Sets.of("any", (), (), sources=example.items)) == example
