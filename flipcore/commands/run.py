"""`python -m flipcore run STUDY.toml`: asks a study's missing calls here or on a cluster, or hands the study to the process that holds
the database."""

import argparse
import sys
from pathlib import Path

from flipcore.commands.opening import interruptible, open_store
from flipcore.core import folders
from flipcore.core.errors import BadInput, StoreHeld
from flipcore.core.study import Study
from flipcore.runs.progress import Progress
from flipcore.store.connection import Store
from flipcore.text.counts import count_of

# of `run` and `demo`; 1 is an error that kept a run from its end, 2 a command that argparse does not know
EXIT_CODES = {"done": 0, "failed": 1, "incomplete": 3, "over_budget": 4, "cancelled": 130}
_MOST_LINES = 32  # of workers


HELP = "run or resume a declared study"


def add_arguments(run: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    run.add_argument("toml", metavar="STUDY.toml")
    run.add_argument("--budget", type=float, metavar="USD", help="sets the study's budget from now on; its id stays")
    run.add_argument(
        "--pilot",
        type=int,
        metavar="ITEMS",
        help="ask the first items only: what would the study cost, how many answers are cut off, how many can an extractor not read?",
    )
    run.add_argument(
        "--on",
        default="",
        metavar="WHERE",
        help="a Ray cluster whose workers ask the models: `ray` (RAY_ADDRESS, else this machine), ray://HOST:PORT or HOST:PORT",
    )


def act(options: argparse.Namespace) -> int:
    """The exit code of `run STUDY.toml`."""
    folders.admit(".", Path(options.toml).parent)
    study = Study.read(options.toml)
    if options.pilot is not None:
        if options.on:
            raise BadInput("A pilot asks a few items, and asks them from this machine: leave out --on.")
        return _pilot(study, options.pilot)
    on = f" --on {options.on}" if options.on else ""
    return ask(study, f"python -m flipcore run {options.toml}{on}", options.budget, options.on)


def _pilot(study: Study, n_items: int) -> int:
    """Asks the first items, which are kept, and says what they mean for the whole study."""
    from flipcore.runs import demo
    from flipcore.runs.background import Registry

    if n_items < 1:
        raise BadInput(f"A pilot of {n_items} items was asked for; it needs at least 1.")
    with open_store() as store:
        demo.fill_store(store)
        projection = Registry(store).pilot(study, n_items)
        print(f"Pilot of {count_of(n_items, 'item')}. The whole study: {projection.sentence()}.", *projection.notes, sep="\n")
        return 0


def ask(study: Study, command: str, budget: float | None = None, on: str = "") -> int:
    """Runs the study, or hands it to the process that holds the database. `on` is where its models are asked."""
    from flipcore.runs import demo, inbox
    from flipcore.runs.origins import study_row
    from flipcore.runs.truncation import token_limits
    from flipcore.store.queries import budgets

    try:
        with open_store() as store:
            demo.fill_store(store)
            if budget is not None:
                store.writer.add("studies", [study_row(study, "planned")]).result(30)
                budgets.set_budget(store, study.study_id, budget)
            print(token_limits(study), file=sys.stderr)
            last = _answered(study, store, on)
            print(_ending(study, last, command))
            return EXIT_CODES[last.state]
    except StoreHeld as error:
        path = inbox.hand_over(study, on)
        print(f"{error}\nThe study was handed to it as {path.name}: it appears there under Studies as {study.name!r}.")
        return 0


def _answered(study: Study, store: Store, on: str) -> Progress:
    """How far the run came, at the place that was asked for."""
    from flipcore.runs import runner
    from flipcore.runs.cluster.where import place_of

    if on:
        print(f"Connecting to {on} …", file=sys.stderr)
    place = place_of(on)
    try:
        with interruptible() as cancel:
            return runner.run(study, store, on_progress=_show, cancel=cancel, place=place)
    finally:
        place.close()


def _ending(study: Study, last: Progress, command: str) -> str:
    """How it ended, what each worker of a cluster did, and what to do next."""
    from flipcore.runs.cost import dollars

    workers = [f"  {one.sentence}" for one in last.workers[:_MOST_LINES]]
    workers += [f"  and {len(last.workers) - _MOST_LINES:,} more workers"] * (len(last.workers) > _MOST_LINES)
    lines = [
        f"\n{study.name}: {last.state}. {last.n_done:,} calls, {last.n_reused:,} reused, {last.n_failed:,} failed, "
        f"{dollars(last.cost_usd)}. {last.message}",
        *(["Workers:", *workers] if workers else []),
        *([] if last.state == "done" else [f"Resume: {command}"]),
        f"Next: python -m flipcore stats {study.study_id}",
    ]
    return "\n".join(lines)


def _show(p: Progress) -> None:
    print(f"\r{p.n_done:,} of about {p.n_calls:,} calls{p.outlook}   ", end="", file=sys.stderr)
