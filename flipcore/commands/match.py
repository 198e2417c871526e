"""`python -m flipcore match`: pairs a study's benchmark items with similar controls."""

import argparse
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.annotation import control_matching
from flipcore.commands.opening import add_study, on_study
from flipcore.core import folders
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource
from flipcore.core.whole_files import write
from flipcore.stats.base.estimate import number_text
from flipcore.stats.memory.matching import CALIPER, MAX_IMBALANCE, TRAITS, Matching
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.text.counts import count_of

HELP = "controls that are like the benchmark's items, as pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `match`."""
    add_study(parser)
    parser.add_argument(
        "--from",
        dest="dataset",
        metavar="DATASET",
        help="another set; without it the study's own controls",
    )
    parser.add_argument("--path", help="a local copy of that set")
    parser.add_argument(
        "--by", nargs="+", default=list(TRAITS), metavar="TRAIT", help=f"of {', '.join(TRAITS)}"
    )
    parser.add_argument(
        "--caliper",
        type=float,
        default=CALIPER,
        help="most that a pair may differ by, in standard deviations",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        metavar="NAME",
        help="reference models whose accuracy is matched (default: all)",
    )
    parser.add_argument("--keep", metavar="NAME", help="stores the pairs under your name")
    parser.add_argument(
        "--write",
        metavar="STUDY.toml",
        help="writes the study whose control is declared as these pairs",
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Print the pairs' balance, and store or write the pairs on request; return 0."""
    if options.write:
        require(Permission.PUBLISH)
    study = studies.declared(store, study_id)
    models = options.models or control_matching.reference_models(store, study)
    if options.path and not options.dataset:
        raise BadInput(
            "A path needs the set that it is a copy of: add --from, for example --from gsm1k."
        )
    folders.admit(".", *([Path(options.path).parent] if options.path else []))
    source = ItemSource(options.dataset, "control", path=options.path) if options.dataset else None
    if source is None:
        matching = control_matching.matched_in_study(
            store, study_id, by=options.by, caliper=options.caliper, models=models
        )
    else:
        matching = control_matching.matched_from_set(
            store, study_id, source, by=options.by, caliper=options.caliper, models=models
        )
    print("\n".join(lines(matching)))
    if options.keep is not None:
        control_matching.store_matching(store, matching, options.keep)
        print(f"{count_of(len(matching.pairs), 'pair is', 'pairs are')} stored.")
    if options.write:
        write(options.write, control_matching.paired_study(study, matching, source).to_toml())
        print(f"Next: {command('run')} {options.write}")
    elif study.control != "paired":
        print(
            f"The study declares its control as {study.control!r}; pairs decide in a study that"
            " declares them: add --write."
        )
    return 0


def lines(matching: Matching) -> list[str]:
    """Return the lines to print: a sentence, and the balance of each trait."""
    texts = [matching.sentence()]
    if matching.unknown:
        texts.append(
            f"Not matched on {', '.join(matching.unknown)}: one of the two sets does not hold it."
        )
    texts.append(
        "Standardised differences, benchmark - control; a paired claim needs at most "
        f"{MAX_IMBALANCE:g} after matching:"
    )
    for difference in matching.balance:
        before = number_text(difference.before, sign=True)
        after = number_text(difference.after, sign=True)
        remark = "" if difference.trait in matching.by else "  (not matched)"
        texts.append(f"  {difference.title:30} before {before:>6}  after {after:>6}{remark}")
    return texts
