"""`python -m flipcore publish STUDY --folder F`: writes a study as a Hugging Face dataset."""

import argparse

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "a study as a dataset folder for the Hugging Face hub"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `publish`."""
    add_study(parser)
    parser.add_argument(
        "--folder", required=True, metavar="FOLDER", help="a new folder, or an empty one"
    )
    parser.add_argument(
        "--license",
        default="",
        metavar="ID",
        help="of items whose dataset names none, as cc-by-4.0; without it they are left out",
    )
    parser.add_argument(
        "--language", default="en", metavar="CODE", help="of the items (default en)"
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Write the folder, and print what is in it."""
    from flipcore.reports.exports.dataset import dataset_folder

    folder = dataset_folder(store, study_id, options.license, options.language)
    print(f"{folder.write(options.folder)}: {folder.sentence}")
    return 0
