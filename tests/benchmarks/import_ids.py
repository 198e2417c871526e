"""All ids that an import stores: ``python -m tests.benchmarks.import_ids FOLDER > ids.txt``.

Each file that is a log or a table is imported alone into memory, and each folder that holds several
as a whole. Printed is one line per path and kind of id with their number and a digest of the sorted
ids, or with the sentence of a refusal. Run it before and after a change; ``diff`` shows what moved.
``--all`` prints the ids themselves.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store

IDS = {
    "study": "SELECT study_id FROM studies",
    "item": "SELECT item_id FROM study_items",
    "variant": "SELECT concat_ws(' ', item_id, axis, variant_id, key) FROM study_variants",
    "call": "SELECT call_id FROM study_calls",
    "readout": """
        SELECT concat_ws(' ', model, item_id, axis, variant_id, sample, extractor, status, answer,
                         value, is_correct) FROM readouts
    """,
    "source": """
        SELECT concat_ws(' ', model, item_id, axis, variant_id, sample, extractor, position, call_id)
        FROM readout_sources
    """,
}


def stored_ids(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(kind, sorted ids) of an import of a file or folder. Raises BadInput where it is refused."""
    found = survey([path])
    store = Store.open(":memory:")
    try:
        store_logs(found, store)
        for kind, sql in IDS.items():
            yield kind, sorted(str(row[0]) for row in store.rows(sql))
    finally:
        store.close()


def paths_in(folder: Path) -> list[Path]:
    """Each file of the folder and those below, and each folder of several files."""
    if folder.is_file():
        return [folder]
    files = [path for path in folder.rglob("*") if path.is_file()]
    holders = {path.parent for path in files}
    several = [holder for holder in holders if sum(path.parent == holder for path in files) > 1]
    return sorted([*files, *several])


def main() -> None:
    """Print the ids of all that lies in the folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true", help="the ids in place of their digest")
    parser.add_argument("--most-mb", type=float, default=8, help="the largest file that is read")
    chosen = parser.parse_args()
    for folder in chosen.folders:
        folders.admit(folder)
        for path in paths_in(folder):
            if path.is_file() and path.stat().st_size > 1e6 * chosen.most_mb:
                continue
            try:
                for kind, ids in stored_ids(path):
                    words = "\n  ".join(["", *ids]) if chosen.all else f" {len(ids):,} {digest(ids)}"
                    print(f"{path} {kind}{words}", flush=True)
            except BadInput as error:
                print(f"{path} refused: {str(error)[:160]}", flush=True)


if __name__ == "__main__":
    main()
