"""`python -m flipcore report STUDY`: writes the report of a study as one HTML file."""

import argparse
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.commands.opening import add_study, on_study
from flipcore.core.whole_files import write
from flipcore.store.connection import Store

HELP = "a study as one HTML file to take home"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    add_study(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="where it is written (default <study id>.html)"
    )
    parser.add_argument(
        "--outputs", type=int, metavar="N", help="raw outputs behind each claim (default 2)"
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Write the file, and print its path."""
    print(write_report(store, study_id, options.out, options.outputs))
    return 0


def write_report(store: Store, study_id: str, out: str | None, n_outputs: int | None) -> str:
    """Write the file and return a sentence with its path. Raises BadInput if that fails."""
    from flipcore.reports.exports.document import N_OUTPUTS, report

    require(Permission.PUBLISH)
    path = Path(out or f"{study_id}.html")
    text = report(store, study_id, N_OUTPUTS if n_outputs is None else n_outputs)
    write(path, text)
    return f"{path}: {len(text.encode()) / 1e6:.1f} MB, opens without a server or a network."
