"""A store in a file of its own, in which studies have run."""

from pathlib import Path

from flipcore.core.study import Study
from flipcore.runs import demo, runner
from flipcore.store.connection import Store


def store_with(folder: Path, *studies: Study, shipped: bool = False) -> Path:
    """The file of a closed store, with what the demo ships if that is wanted, and with the studies, run in this order."""
    path = folder / "flips.duckdb"
    store = Store.open(path)
    if shipped:
        demo.fill_store(store)
    for study in studies:
        runner.run(study, store)
    store.close()
    return path
