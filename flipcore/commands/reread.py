"""`python -m flipcore reread STUDY`: reads stored outputs again with another extractor or judge."""

import argparse
import sys
from pathlib import Path

from flipcore.commands.opening import add_study, interruptible, on_study
from flipcore.commands.run import EXIT_CODES
from flipcore.core import folders
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.store.connection import Store

HELP = "read the stored outputs of a study again, by another extractor or pattern"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `reread`."""
    add_study(parser)
    parser.add_argument(
        "--extractor",
        default="pattern",
        help="regex, pattern, text_match, judge or same_meaning (default pattern)",
    )
    parser.add_argument(
        "--judge",
        default="",
        metavar="MODEL",
        help="a model that `models` lists, which reads the answers as judge",
    )
    parser.add_argument(
        "--prompt", metavar="FILE", help="the judge's prompt, with {question}, {options} and {text}"
    )
    parser.add_argument(
        "--budget", type=float, metavar="USD", help="sets the study's budget from now on"
    )
    parser.add_argument(
        "--price", action="store_true", help="say what a judge would cost, and ask nothing"
    )
    parser.add_argument(
        "--send-retro", action="store_true", help="let the judge read items of a holdout, too"
    )
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="its parameters: expression=… group=1",
    )


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Read or price the answers and return 0; 3 if a judge did not finish."""
    from flipcore.reports.rereading import changes, old_readout
    from flipcore.runs.rereading import COMPARING_EXTRACTORS, params_of, reread

    if options.judge or options.extractor in ("judge", *COMPARING_EXTRACTORS):
        name = _judge(store, study_id, options)
    else:
        name = reread(store, study_id, options.extractor, params_of(options.extractor, options.set))
    if not name:
        return 0 if options.price else EXIT_CODES["incomplete"]
    print(f"Stored as the readout {name!r}; what was read before stays.")
    try:
        old = old_readout(store, study_id, name)
        for change in changes(store, study_id, old, name) if old else []:
            print(f"{change.claim.text}\n   {change.claim.detail}")
    except BadInput as error:
        # There are no other readouts to compare with; the new ones are stored all the same.
        print(error)
    print(f"Next: {command('audit')} {study_id}")
    return 0


def _judge(store: Store, study_id: str, options: argparse.Namespace) -> str:
    """Return the name of the judge's readouts; "" if it was only priced or did not finish."""
    from flipcore.runs.rereading import (
        AT_MOST,
        COMPARING_EXTRACTORS,
        EXAMPLE,
        JudgeProgress,
        judge_again,
        priced,
        prompt_in,
    )
    from flipcore.store.queries.judges import JUDGE

    if not options.judge:
        raise BadInput("A judge is a model: name one that `models` lists with --judge MODEL.")
    folders.admit(".", *([Path(options.prompt).parent] if options.prompt else []))
    prompt = prompt_in(options.prompt) if options.prompt else EXAMPLE
    extractor = options.extractor if options.extractor in COMPARING_EXTRACTORS else JUDGE
    price = priced(store, study_id, options.judge, prompt, extractor=extractor).sentence()
    bound = AT_MOST if extractor in COMPARING_EXTRACTORS else ""
    print(f"{options.judge} as judge: {bound}{price}.")
    if options.price:
        return ""

    def show(progress: JudgeProgress) -> None:
        file = sys.stderr
        print(f"\r{progress.n_done:,} of {progress.n_all:,} answers judged   ", end="", file=file)

    with interruptible() as cancel:
        judge_run = judge_again(
            store,
            study_id,
            options.judge,
            prompt,
            extractor=extractor,
            budget_usd=options.budget,
            may_send_retro=options.send_retro,
            on_progress=show,
            cancel=cancel,
        )
    print(f"\n{judge_run.sentence}")
    return judge_run.name
