"""`python -m flipcore merge FILE…`: what other database files hold."""

import argparse

from flipcore.commands.opening import open_store

HELP = "add what other database files hold"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files."""
    parser.add_argument("files", nargs="+", metavar="FILE")


def act(options: argparse.Namespace) -> int:
    """Merge them one after another, and says what each added."""
    from flipcore.annotation.paraphrases.pair_files import merge_files

    with open_store() as store:
        print("\n".join(merge_files(options.files, store)))
        return 0
