"""Storing: group commit beside single-row commits, and a whole study over HTTP beside a bare loop that stores nothing."""

import asyncio
import time

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard, model_cards
from flipcore.runs import plan, runner
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.benchmarks.test_client_speed import bare
from tests.models.server import Server
from tests.store.test_store import completion_rows

pytestmark = pytest.mark.soak


def test_group_commit_beside_single_row_commits(tmp_path, capsys):
    store = Store.open(tmp_path / "flips.duckdb")
    made = [completion_rows(f"prompt {i}") for i in range(4_000)]
    start = time.perf_counter()
    done = [store.writer.add("completions", one) for one in made]
    [future.result(60) for future in done]
    grouped = len(made) / (time.perf_counter() - start)
    start = time.perf_counter()
    for i in range(100):
        store.writer.add("completions", completion_rows(f"single {i}"))
        store.writer.flush()
    waited = 100 / (time.perf_counter() - start)
    single = autocommitted(store, 200)
    assert store.rows("SELECT count(*) FROM completions") == [(4_300,)]
    store.close()
    with capsys.disabled():
        print(
            f"\ngroup commit {grouped:,.0f} rows/s, {grouped / single:,.0f} times autocommitted rows ({single:,.0f}/s); "
            f"waiting for each row {waited:,.0f}/s"
        )


def autocommitted(store, n):
    """Rows a second when each is its own INSERT and commit on a plain cursor."""
    cursor = store.cursor()
    made = [completion_rows(f"auto {i}")[0] for i in range(n)]
    names = list(made[0])
    sql = f"INSERT INTO completions ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    start = time.perf_counter()
    for row in made:
        cursor.execute(sql, [row[name] for name in names])
    rate = n / (time.perf_counter() - start)
    cursor.execute("DELETE FROM completions WHERE call_id IN (SELECT unnest($ids))", {"ids": [row["call_id"] for row in made]})
    cursor.close()
    store.writer.add("completions", [row | {"created_at": rows.now()} for row in made]).result(30)
    return rate


def test_a_study_over_http_beside_a_bare_loop(tmp_path, monkeypatch, capsys):
    """2,016 requests, 64 in flight, everything read and stored. Ratios are printed; a busy machine decides them."""
    study = Study(
        "speed",
        (ItemSource("flipscope_problems"),),
        (Part("identity"),),
        (Part("regex"),),
        (ModelUse("lab", n_samples=28, max_tokens=8),),
    )
    ratios = []
    with Server(delay_s=0.02) as server:
        card = ModelCard("lab", "openai_compatible", model="m", endpoint=server.url, price_in=0.0, price_out=0.0)
        cards = {**model_cards(), "lab": card}
        monkeypatch.setattr(runner, "model_cards", lambda: cards)
        monkeypatch.setattr(plan, "model_cards", lambda: cards)
        asyncio.run(bare(server.url, 64))
        for k in range(2):
            store = Store.open(tmp_path / f"{k}.duckdb")
            start = time.perf_counter()
            progress = runner.run(study, store)
            ours = time.perf_counter() - start
            assert (progress.state, progress.n_done, progress.n_failed) == ("done", 2_016, 0)
            assert len(studies.readouts(store, study.study_id)) == 2_016
            store.close()
            _, loop = asyncio.run(bare(server.url, 2_016))
            ratios.append(ours / loop)
    with capsys.disabled():
        print(
            f"\nplan, ask, read and store {ours:.2f} s, bare loop {loop:.2f} s; ratios {', '.join(f'{r:.2f}' for r in ratios)}"
        )
