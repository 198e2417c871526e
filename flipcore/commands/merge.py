"""`python -m flipcore merge FILE…`: adds the content of other database files."""

import argparse

from flipcore.commands.opening import open_store

HELP = "add what other database files hold"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the files."""
    parser.add_argument("files", nargs="+", metavar="FILE")


def act(options: argparse.Namespace) -> int:
    """Merge the files one after another, and print what each added."""
    from flipcore.annotation.paraphrases.pair_files import merge_files

    with open_store() as store:
        print("\n".join(merge_files(options.files, store)))
        return 0
