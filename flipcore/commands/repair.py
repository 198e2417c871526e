"""`python -m flipcore repair`: repairs a database whose log of last commits is damaged."""

import argparse

from flipcore.store.connection import default_path

HELP = "a database whose log of last commits is damaged: copies it, keeps what can be read"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the database is the one of FLIPSCOPE_DB."""


def act(options: argparse.Namespace) -> int:
    """Repair the database, and print what is missing."""
    from flipcore.store.whole_copy import repair

    path = default_path()
    repaired = repair(path)
    print(repaired.sentence() if repaired else f"{path} and its log can be read. Nothing was done.")
    return 0
