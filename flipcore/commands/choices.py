"""`flipscope choices STUDY`: does a decision survive every defensible choice of how to count?"""

import argparse
import json
import re
from typing import TYPE_CHECKING

from flipcore.commands.opening import add_study, on_study
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store

if TYPE_CHECKING:
    from flipcore.reports.choices import ChoicesReport
    from flipcore.reports.whole_study import WholeStudy

HELP = "does a decision survive every defensible way of counting?"
_SHARE = re.compile(r"\s*(\d*\.?\d+)\s*(%|points|pp|)\s*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `choices`."""
    add_study(parser)
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument(
        "--pair",
        nargs=2,
        metavar=("A", "B"),
        help="A scores higher than B (default: the two models that score highest)",
    )
    decision.add_argument(
        "--above", metavar="BAR", help="a score is above this bar: 45%% (default of one model)"
    )
    decision.add_argument("--first", metavar="A", help="A scores higher than every other model")
    decision.add_argument(
        "--flips",
        metavar="AXIS",
        help="flips by this change, or by all, are mostly the extractor's and not the model's",
    )
    parser.add_argument(
        "--model", default="", help="the model of --above or --flips, where there are several"
    )
    parser.add_argument(
        "--extractor", default="", help="the extractor of --flips, where there are several"
    )
    parser.add_argument(
        "--margin", default="0", metavar="POINTS", help="by at least so many points"
    )
    parser.add_argument(
        "--without",
        nargs="+",
        action="extend",
        default=[],
        metavar="CHOICE[=OPTION]",
        help="leave a choice as declared, or one of its options out",
    )
    parser.add_argument(
        "--also",
        nargs="+",
        action="extend",
        default=[],
        metavar="CHOICE",
        help="count a choice that asks slightly otherwise, too",
    )
    parser.add_argument("--json", action="store_true", help="machine-readable")


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Print the decision in all ways of counting. Raises BadInput for unknown models or choices."""
    from flipcore.reports.choices import flips_choices_report
    from flipcore.reports.whole_study import whole_study

    study = whole_study(store, study_id)
    if options.flips is not None:
        report = flips_choices_report(
            study,
            options.flips,
            options.extractor,
            options.model,
            margin=share_of(options.margin, "points"),
            without=options.without,
            also=options.also,
        )
    else:
        report = _report_on_scores(study, options)
    if options.json:
        print(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
    else:
        print("\n".join(report.lines()))
    return 0


def _report_on_scores(study: "WholeStudy", options: argparse.Namespace) -> "ChoicesReport":
    from flipcore.reports.choices import EVERY_OTHER, choices_report, leading_models

    margin = share_of(options.margin, "points")
    if options.above is not None:
        models, margin = [options.model or leading_models(study)[0]], share_of(options.above, "%")
    elif options.first:
        models = [options.first, EVERY_OTHER]
    else:
        models = options.pair or leading_models(study)[:2]
    if len(models) < 2 and options.above is None:
        raise BadInput("One model has scores here: give a bar, as in --above 45%.")
    return choices_report(study, *models, margin=margin, without=options.without, also=options.also)


def share_of(text: str, unit: str) -> float:
    """Return "45%" or "45" as a share, 0.45. Raises BadInput, which names `unit`, for others."""
    parts = _SHARE.fullmatch(text)
    if not parts or float(parts[1]) > 100:
        raise BadInput(f"{text!r} is no number of {unit} from 0 to 100.")
    return float(parts[1]) / 100
