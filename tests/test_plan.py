"""The demo must be a study that runs: its plan is what a fresh clone does first."""

from flipcore.demo import demo_study
from flipcore.plan import plan, projection


def test_the_demo_is_large_enough_and_every_part_of_it_exists():
    made = plan(demo_study())
    assert len(made.items) >= 24 and len(made.study.axes) >= 4 and len(made.extractors) >= 3
    assert projection(made).cost_usd == 0 and projection(made).n_calls > 0
