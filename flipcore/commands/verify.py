"""`python -m flipcore verify`: whether what is stored is as it was written: the log of acts, archives, uploads, half-written files."""

import argparse

from flipcore.commands.opening import open_store

HELP = "is the log of who did what, and every file beside the database, as it was written?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def act(options: argparse.Namespace) -> int:
    """0 where everything is as it was written, 1 with a sentence for each thing that is not."""
    from flipcore.store.verifying import problems, sentence

    with open_store() as store:
        wrong = problems(store)
        print("\n".join(wrong) or sentence(store))
        return 1 if wrong else 0
