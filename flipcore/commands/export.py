"""`python -m flipcore export STUDY`: writes readouts and items, or the keys that people dispute."""

import argparse
import json
import sys
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.commands.opening import on_study
from flipcore.core.whole_files import write
from flipcore.store.connection import Store

HELP = "readouts and items as files, or the errata: keys that people dispute"
EVERY_EVAL_EVER, ERRATA = "every-eval-ever", "errata"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    parser.add_argument("study")
    parser.add_argument(
        "--format", default="parquet", choices=("parquet", "csv", EVERY_EVAL_EVER, ERRATA)
    )
    parser.add_argument("--folder", default="exports")


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Write the files, print their paths and return 0; 1 if nobody disputes a key."""
    from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
    from flipcore.store.export import export

    if options.format == ERRATA:
        paths = write_errata(store, study_id, options.folder)
    elif options.format == EVERY_EVAL_EVER:
        paths = write_every_eval_ever(store, study_id, options.folder)
    else:
        paths = export(store, study_id, options.folder, options.format)
    if not paths:
        print(
            "Nobody disputes a key of this study. Keys are reviewed on the page Review, part Keys.",
            file=sys.stderr,
        )
    print("\n".join(map(str, paths)))
    return 0 if paths else 1


def write_errata(store: Store, study_id: str, folder: str | Path) -> list[Path]:
    """Write <study>-errata.jsonl, one row per disputed item with its evidence. Return its path, or
    [] if nobody disputes a key. Raises AccessDenied if the acting person may not publish."""
    from flipcore.annotation.key_review import errata_of

    require(Permission.PUBLISH)
    rows = errata_of(store, study_id)
    if not rows:
        return []
    store.record_act("exported the errata of a study", study_id)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return [write(Path(folder) / f"{study_id}-errata.jsonl", lines)]
