"""`python -m flipcore verify`: checks that nothing was changed after it was written.

It checks the log of acts, archives, uploads and locks, and published locks against this database.
"""

import argparse

from flipcore.commands.opening import open_store

HELP = "is the log of who did what, and every file beside the database, as it was written?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the manifests to compare."""
    parser.add_argument(
        "manifest", nargs="*", help="the manifest of a lock, as a study's report offers it"
    )


def act(options: argparse.Namespace) -> int:
    """Return 0 if nothing was changed; else print a sentence for each change and return 1."""
    from flipcore.core.locks import manifest
    from flipcore.store.archiving import no_problem_sentence, problems

    published = [manifest(name) for name in options.manifest]
    with open_store() as store:
        sentences = problems(store, published)
        print("\n".join(sentences) or no_problem_sentence(store))
        return 1 if sentences else 0
