"""`python -m tests.lab.pocket train | export | reference | items | answers | card | decisions | gguf`: make the pocket model again, and
measure it."""

import argparse
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from flipcore.core.errors import BadInput, FlipscopeError, MissingPackage
from flipcore.core.paths import POCKET
from tests.lab.pocket.world import TRAINING_SEED

LAST = "at-1.00"  # the checkpoint that training leaves last


def _need_torch() -> None:
    if find_spec("torch") is None:
        raise MissingPackage("This needs torch, which is not installed; run `pip install -r requirements-train.txt`.")


def _train(folder: Path, n_threads: int, seed: int) -> None:
    _need_torch()
    from tests.lab.pocket.train import Recipe, train

    train(folder, Recipe(seed=seed), n_threads)


def _reference(folder: Path) -> None:
    """What losses are beside a reference model, stored with the other scores; the model is trained unless `folder` holds it."""
    from flipcore.models.pocket_inference import PocketModel
    from tests.lab.pocket.card import manifest
    from tests.lab.pocket.scores import write_beside

    if not (folder / LAST / "model.safetensors").is_file():
        _need_torch()
        from tests.lab.pocket.train import REFERENCE, train

        train(folder, REFERENCE)
    write_beside(PocketModel.load(), PocketModel.load(folder / LAST), manifest())


def _export(folder: Path) -> None:
    """A checkpoint becomes the shipped one, with the numbers of torch that its test compares with."""
    _need_torch()
    from tests.lab.pocket.export import FILES

    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise BadInput(f"{folder} holds no {', '.join(missing)}; name a folder that training left, such as run/at-1.00.")
    from tests.lab.pocket.golden import write_golden

    for name in FILES:
        shutil.copyfile(folder / name, POCKET / name)
    write_golden()


def _commands() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.pocket", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train from scratch; leaves a checkpoint every tenth of the last stage")
    train.add_argument("folder", type=Path, help="where to leave the checkpoints; outside the repository")
    train.add_argument("--threads", type=int, default=1)
    train.add_argument("--seed", type=int, default=TRAINING_SEED, help="of the network and its text, not of the items")
    export = commands.add_parser("export", help="ship one of the checkpoints that training left")
    export.add_argument("folder", type=Path)
    reference = commands.add_parser("reference", help="train a model that read no dose, and measure losses beside it")
    reference.add_argument("folder", type=Path, help="where its checkpoints are, or shall be; outside the repository")
    gguf = commands.add_parser("gguf", help="write the shipped checkpoint as one file for llama.cpp")
    gguf.add_argument("file", type=Path)
    commands.add_parser("items", help="write the manifest of items and doses")
    commands.add_parser("answers", help="ask the demo studies and record what the first start need not ask")
    decisions = commands.add_parser("decisions", help="write the card's part on decisions again, from stored scores")
    decisions.add_argument("--stored", action="store_true", help="measure nothing; name the detectors without stored scores")
    card = commands.add_parser("card", help="measure the shipped model and write its card")
    card.add_argument("--quick", action="store_true", help="fewer items and samples, printed and not written")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """``python -m tests.lab.pocket``: the exit code."""
    options = _commands().parse_args(arguments)
    try:
        if options.command == "train":
            _train(options.folder, options.threads, options.seed)
        elif options.command == "export":
            _export(options.folder)
        elif options.command == "reference":
            _reference(options.folder)
        elif options.command == "gguf":
            from tests.lab.pocket.gguf import write_gguf

            write_gguf(options.file)
        elif options.command == "items":
            from tests.lab.pocket.items import write_items

            write_items()
        elif options.command == "answers":
            from tests.lab.pocket.answers import write_answers

            write_answers()
        elif options.command == "decisions":
            from tests.lab.pocket.card import write_decisions

            write_decisions(measure=not options.stored)
        else:
            from tests.lab.pocket.card import card, write_card

            print(card(quick=True)) if options.quick else write_card()
    except FlipscopeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
