"""`python -m flipcore demo`: the study that a fresh clone shows."""

import argparse

from flipcore.commands.run import ask

HELP = "run the demo study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no options."""


def act(options: argparse.Namespace) -> int:
    """The exit code of a run."""
    from flipcore.runs.demo import demo_study

    return ask(demo_study(), "python -m flipcore demo")
