"""`python -m flipcore demo`: runs the study that a fresh clone shows."""

import argparse

from flipcore.commands.run import ask
from flipcore.core.command_line import command

HELP = "run the demo study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


def act(options: argparse.Namespace) -> int:
    """Run the demo study and return the exit code."""
    from flipcore.runs.demo import demo_study

    return ask(demo_study(), command("demo"))
