"""`python -m flipcore archive STUDY`: moves a finished study's answers to Parquet files."""

import argparse

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "a finished study's answers as Parquet files beside the database"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `archive`."""
    parser.add_argument(
        "--to",
        metavar="FOLDER",
        help="where, or a URL that fsspec opens (default: archive, beside the database)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="only read an archived study's files: do they hold what was put there?",
    )
    add_study(parser)


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Archive the study, or check the files of an archived one."""
    from flipcore.store.archiving import archive, check

    if options.check:
        print(f"Nothing was changed. {check(store, study_id).sentence()}")
    else:
        print(
            f"{archive(store, study_id, options.to).sentence()} Pages and commands read them there."
        )
    return 0
