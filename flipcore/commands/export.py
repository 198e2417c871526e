"""`python -m flipcore export STUDY`: readouts and items as files."""

import argparse

from flipcore.commands.opening import on_study
from flipcore.store.connection import Store

HELP = "readouts and items as files"
EVERY_EVAL_EVER = "every-eval-ever"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("study")
    parser.add_argument("--format", default="parquet", choices=("parquet", "csv", EVERY_EVAL_EVER))
    parser.add_argument("--folder", default="exports")


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Writes the files and prints their paths."""
    from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
    from flipcore.store.export import export

    if options.format == EVERY_EVAL_EVER:
        paths = write_every_eval_ever(store, study_id, options.folder)
    else:
        paths = export(store, study_id, options.folder, options.format)
    print("\n".join(map(str, paths)))
    return 0
