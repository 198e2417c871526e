"""The demo must be a study that runs: its plan is what a fresh clone does first."""

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs.demo import demo_study
from flipcore.runs.plan import plan, projection


def test_the_demo_is_large_enough_and_every_part_of_it_exists():
    made = plan(demo_study())
    assert len(made.items) >= 24 and len(made.study.axes) >= 4 and len(made.extractors) >= 3
    assert projection(made).cost_usd == 0 and projection(made).n_calls > 0


def voting(extractor="regex", **rest):
    return Study(
        "votes",
        (ItemSource("flipscope_choice", n=2),),
        (Part("identity"),),
        (Part(extractor),),
        (ModelUse("simulated-clean"),),
        protocol=Part("rotation", {"cap": 10}),
        **rest,
    )


def test_an_adaptive_protocol_is_projected_at_its_most():
    """Two items: the base prompt asked twice, and ten attempts of three forms each."""
    assert projection(plan(voting())).n_calls == 2 * (2 + 10 * 3)


def test_a_judge_is_projected_for_what_extractors_read_and_not_for_votes():
    """Two items: as before, and a judge's reply to each of the two answers to the base prompt."""
    assert projection(plan(voting("judge", judge="simulated-clean"))).n_calls == 2 * (2 + 10 * 3 + 2)


def test_a_few_items_that_ask_for_much_are_projected_as_such():
    # 60 problems of one call each (two samples of identity) and 3 passages of 6 levels x 10 samples: 120 + 180 calls.
    study = Study(
        "mixed",
        (ItemSource("pocket_problems", n=60), ItemSource("pocket_prose", n=3)),
        (Part("identity"), Part("bit_flip")),
        (Part("regex"), Part("rouge_l")),
        (ModelUse("pocket"),),
    )
    assert projection(plan(study)).n_calls == 300
