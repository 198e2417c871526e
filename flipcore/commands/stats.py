"""`python -m flipcore stats STUDY`: every estimate of a study."""

import argparse
import json

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "every estimate of a study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `stats`."""
    add_study(parser)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.add_argument(
        "--reference", help="the reference extractor (default regex where it was read)"
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Print what may be said of the study now."""
    from flipcore.reports.whole_study import whole_study

    study_report = whole_study(store, study_id, options.reference)
    print(
        json.dumps(study_report.as_dict(), indent=2, ensure_ascii=False)
        if options.json
        else study_report.text()
    )
    return 0
