"""`python -m flipcore verify`: check that the log of acts, archives, uploads and locks are as they
were written, and that a published lock is what this database holds."""

import argparse

from flipcore.commands.opening import open_store

HELP = "is the log of who did what, and every file beside the database, as it was written?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The manifests to compare."""
    parser.add_argument(
        "manifest", nargs="*", help="the manifest of a lock, as a study's report offers it"
    )


def act(options: argparse.Namespace) -> int:
    """0 where everything is as it was written, 1 with a sentence for each thing that is not."""
    from flipcore.core.locks import manifest
    from flipcore.store.archiving import problems, sentence

    published = [manifest(name) for name in options.manifest]
    with open_store() as store:
        wrong = problems(store, published)
        print("\n".join(wrong) or sentence(store))
        return 1 if wrong else 0
