"""What the pocket model answers to the demo studies, recorded for the first start of a dashboard."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flipcore.core.paths import POCKET_ANSWERS
from flipcore.runs.demo import demo_studies, fill_store
from flipcore.runs.runner import run
from flipcore.store.connection import Store

LIVE = "0"  # calls whose id begins so are asked by whoever starts the dashboard: one in sixteen, by the hash of what is asked


def recorded(answers: pa.Table) -> pa.Table:
    """The answers without those that a first start asks itself."""
    return answers.filter(pc.invert(pc.starts_with(answers["call_id"], LIVE)))


def write_answers(path: Path = POCKET_ANSWERS) -> None:
    """Asks every demo study in an empty store; about ten minutes on two cores."""
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "demo.duckdb")
        fill_store(store)
        for study in demo_studies():
            progress = run(study, store)
            print(f"{study.name}: {progress.n_done:,} calls, {progress.state}", flush=True)
        answers = recorded(store.arrow("SELECT * FROM completions WHERE status = 'ok' ORDER BY model, call_id"))
        store.close()
    pq.write_table(answers, path, compression="zstd", compression_level=19)
    print(f"{answers.num_rows:,} answers in {path.stat().st_size:,} bytes")
