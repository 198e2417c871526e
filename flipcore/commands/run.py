"""`python -m flipcore run STUDY.toml`: makes a study's missing calls.

They are made in this process or on a cluster. If a dashboard holds the database, it gets the
study instead.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from flipcore.commands.opening import interruptible, open_store
from flipcore.core import folders
from flipcore.core.command_line import command
from flipcore.core.errors import BadInput, FlipscopeError, StoreHeld
from flipcore.core.paths import DATA
from flipcore.core.study import Study
from flipcore.runs.progress import Progress
from flipcore.store.connection import Store
from flipcore.store.uploads import keep_upload
from flipcore.text.counts import count_of

# Exit codes of `run` and `demo` by the run's state. 1 is also an error that ended a run, 2 a
# command line that argparse does not know.
EXIT_CODES = {"done": 0, "failed": 1, "incomplete": 3, "over_budget": 4, "cancelled": 130}
_MAX_WORKERS = 32  # whose lines are printed
# How long to wait for a dashboard to take a study. It looks every two seconds, and may be busy.
ANSWER_S = 15.0
OFFER_AGAIN_S = 60.0  # how long to wait for the file before the study is offered again
# An offer must be this old to count as left over: a younger one belongs to a waiting command.
LEFT_OVER_S = 4 * ANSWER_S
RETRY_S = 1.0

HELP = "run or resume a declared study"


def add_arguments(run: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    run.add_argument("toml", metavar="STUDY.toml")
    run.add_argument(
        "--budget",
        type=float,
        metavar="USD",
        help="sets the study's budget from now on; its id stays",
    )
    run.add_argument(
        "--pilot",
        type=int,
        metavar="ITEMS",
        help=(
            "ask the first items only: what would the study cost, how many answers are cut off, how"
            " many can an extractor not read?"
        ),
    )
    run.add_argument(
        "--on",
        default="",
        metavar="WHERE",
        help=(
            "a Ray cluster whose workers ask the models: `ray` (RAY_ADDRESS, else this machine),"
            " ray://HOST:PORT or HOST:PORT"
        ),
    )


def act(options: argparse.Namespace) -> int:
    """Run a study and return the exit code."""
    folders.admit(".", Path(options.toml).parent)
    study = Study.read(options.toml)
    _check_names(study)
    if options.pilot is not None:
        if options.on:
            raise BadInput(
                "A pilot asks a few items, and asks them from this machine: leave out --on."
            )
        return _pilot(study, options.pilot)
    place = f" --on {options.on}" if options.on else ""
    resume = command(f"run {options.toml}{place}")
    return ask(study, resume, budget=options.budget, on=options.on)


def _check_names(study: Study) -> None:
    """Raise BadInput for an unknown model, axis or extractor, before anybody waits."""
    from flipcore.models import model_cards, open_backend
    from flipcore.runs.plan import parts

    if study.is_recorded:
        return  # refused later, with a sentence that says what to do instead
    parts(study)
    cards = model_cards()
    judges = [study.judge] if study.judge else []
    for name in [*(use.name for use in study.models), *judges]:
        open_backend(name, cards)


def _pilot(study: Study, n_items: int) -> int:
    """Ask the first items, keep their answers, and print a projection for the whole study."""
    from flipcore.runs import demo
    from flipcore.runs.background import Registry

    if n_items < 1:
        raise BadInput(f"A pilot of {n_items} items was asked for; it needs at least 1.")
    with open_store() as store:
        demo.fill_store(store)
        projection = Registry(store).pilot(study, n_items)
        print(
            f"Pilot of {count_of(n_items, 'item')}. The whole study: {projection.sentence()}.",
            *projection.notes,
            sep="\n",
        )
        return 0


def ask(study: Study, resume: str, budget: float | None = None, on: str = "") -> int:
    """Run the study, or hand it to a dashboard that holds the database and answers.

    `on` names a cluster, or is "" for this process; `resume` is the command that resumes the run.
    If another command holds the database, wait. The exit code is that of the study's own run, or 0
    if a dashboard took it.
    """
    while True:
        try:
            with open_store() as store:
                code = _ask_here(study, store, resume, budget=budget, on=on)
                if code != EXIT_CODES["cancelled"]:
                    _ask_left_over(store)
                return code
        except StoreHeld as held:
            if _is_taken_over(study, on, held):
                return 0
            _wait_for_file(held)


def _ask_here(study: Study, store: Store, resume: str, *, budget: float | None, on: str) -> int:
    from flipcore.runs import demo
    from flipcore.runs.origins import study_row
    from flipcore.runs.truncation import token_limits_sentence
    from flipcore.store.queries import budgets

    demo.fill_store(store)
    if budget is not None:
        store.writer.add("studies", [study_row(study, "planned")]).result(30)
        budgets.set_budget(store, study.study_id, budget)
    print(token_limits_sentence(study), file=sys.stderr)
    progress = _run(study, store, on)
    print(_ending(study, progress, resume))
    return EXIT_CODES[progress.state]


def _ask_left_over(store: Store) -> None:
    """Run the studies that were offered to a dashboard and never taken."""
    from flipcore.runs import inbox

    for study, on in inbox.take(min_age_s=LEFT_OVER_S):
        print(f"\n{study.name} was left for a dashboard and not taken; it is asked now.")
        try:
            _ask_here(study, store, "hand it over once more", budget=None, on=on)
        # The exit code stays that of the user's own study.
        except FlipscopeError as error:
            print(f"{study.name} could not be asked: {error}", file=sys.stderr)


def _is_taken_over(study: Study, on: str, held: StoreHeld) -> bool:
    """Offer the study to the process that holds the database; return whether it took it.

    Only a dashboard looks into the inbox. Another command does not, so the offer is withdrawn after
    ANSWER_S.
    """
    from flipcore.runs import inbox

    path = inbox.hand_over(_with_kept_files(study), on)
    deadline = time.monotonic() + ANSWER_S
    try:
        while path.exists() and time.monotonic() < deadline:
            time.sleep(RETRY_S)
    finally:
        is_taken = not inbox.withdraw(path)
    if is_taken:
        print(
            f"{held.holder}, a dashboard, which took the study: it appears there under Studies as"
            f" {study.name!r}."
        )
    return is_taken


def _with_kept_files(study: Study) -> Study:
    """Copy the study's files beside the database; return the study with the paths of the copies.
    A dashboard runs in another folder, and may not read the folders of the user."""
    sources = []
    for source in study.items:
        path = folders.allowed(source.path) if source.path else None
        if path and path.is_file() and not path.is_relative_to(DATA.resolve()):
            source = replace(source, path=str(keep_upload(path.name, path.read_bytes())))
        sources.append(source)
    return replace(study, items=tuple(sources))


def _wait_for_file(held: StoreHeld) -> None:
    """Wait until the database can be opened, but at most OFFER_AGAIN_S.
    By then a dashboard may hold it, which takes studies."""
    print(
        f"{held.holder}, which takes no studies: another command, or a dashboard that does not "
        "answer. Waiting until the file is free; Ctrl-C ends this.",
        file=sys.stderr,
    )
    started = time.monotonic()
    while (waited_s := time.monotonic() - started) < OFFER_AGAIN_S:
        try:
            with open_store():
                return
        except StoreHeld:
            print(f"\rWaited {waited_s:,.0f} s   ", end="", file=sys.stderr)
            time.sleep(RETRY_S)


def _run(study: Study, store: Store, on: str) -> Progress:
    """Run the study in this process or on a cluster; return its last progress."""
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


def _ending(study: Study, progress: Progress, resume: str) -> str:
    """Return lines on how the run ended, what each worker did, and what to do next."""
    from flipcore.runs.cost import dollars

    lines = [
        f"\n{study.name}: {progress.state}. {progress.n_done:,} calls, {progress.n_reused:,} "
        f"reused, {progress.n_failed:,} failed, {dollars(progress.cost_usd)}. {progress.message}"
    ]
    workers = progress.workers
    if workers:
        lines += ["Workers:", *(f"  {worker.sentence}" for worker in workers[:_MAX_WORKERS])]
    if len(workers) > _MAX_WORKERS:
        lines.append(f"  and {len(workers) - _MAX_WORKERS:,} more workers")
    if progress.state != "done":
        lines.append(f"Resume: {resume}")
    lines.append(f"Next: {command('stats')} {study.study_id}")
    return "\n".join(lines)


def _show(progress: Progress) -> None:
    counts = f"{progress.n_done:,} of about {progress.n_calls:,} calls"
    print(f"\r{counts}{progress.outlook}   ", end="", file=sys.stderr)
