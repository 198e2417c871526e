"""`python -m flipcore variants STUDY`: writes a study's prompts as a task of another harness."""

import argparse
from pathlib import Path

from flipcore.commands.opening import open_store
from flipcore.core import folders
from flipcore.core.study import Study
from flipcore.runs.harnesses.writing import HARNESSES, write_variants

HELP = "the prompts of a study as a task of another harness"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `variants`."""
    parser.add_argument("study", help="its id, the start of its name, or a STUDY.toml")
    parser.add_argument(
        "--for",
        dest="harness",
        required=True,
        choices=HARNESSES,
        help="the harness that will ask the prompts",
    )
    parser.add_argument(
        "--model", default="", help="the study's model that is meant, where it has several"
    )
    parser.add_argument(
        "--folder", default="variants", help="where the files go (default variants/)"
    )


def act(options: argparse.Namespace) -> int:
    """Write the task of a stored study, or of one that a file declares."""
    from flipcore.reports.whole_study import study_id_of
    from flipcore.store.queries import studies

    folders.admit(".")  # a stored study may name a file in the folder of its run
    with open_store() as store:
        if options.study.endswith(".toml"):
            folders.admit(Path(options.study).parent)
            study = Study.read(options.study)
        else:
            study = studies.declared(store, study_id_of(store, options.study))
        variant_files = write_variants(store, study, options.harness, options.folder, options.model)
        print("\n".join([*map(str, variant_files.files), variant_files.sentence]))
        return 0
