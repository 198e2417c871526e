"""`python -m flipcore stats STUDY`: prints every estimate of a study."""

import argparse
import json

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "every estimate of a study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `stats`."""
    add_study(parser)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.add_argument(
        "--reference", help="the reference extractor (default regex where it was read)"
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Print the estimates as text or as JSON."""
    from flipcore.reports.whole_study import whole_study

    study_report = whole_study(store, study_id, options.reference)
    if options.json:
        print(json.dumps(study_report.as_dict(), indent=2, ensure_ascii=False))
    else:
        print(study_report.text())
    return 0
