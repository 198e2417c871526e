"""How long `python -m flipcore stats` takes as the readouts grow: ``python -m tests.benchmarks.readout_growth 1e5 1e6 [1e7] [--polars]``.

A study is drawn in SQL and archived: items that flip more or less (a mixed model), answers with the marginals of real multiple
choice, 10% unreadable, 1% cut, 1% missing, readers that misread with a known chance, so that T and G are known. Each size has a
process of its own. Printed are sizes, the seconds of packing (once, when the study has ended), of reading the readouts that flips are
made of, and of all that the command prints, from opening the study to its last sentence; the peak memory of that process, growth from
the first size, and the planted rates beside those that came back; with --polars, where it is installed, the seconds of the mean T and G
alone in Polars over the files.
"""

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.whole_study import whole_study
from flipcore.store import packing, rows
from flipcore.store.archives import TABLES
from flipcore.store.connection import Store
from flipcore.store.queries import studies

MODELS = ("simulated-noisy", "simulated-clean", "simulated-brittle", "simulated-artifact-prone")
MISREAD = {"regex": 0.0, "first_token": 0.12, "pattern": 0.04, "text_match": 0.08}  # the first is the reference
UNREADABLE, CUT, ABSENT = 0.10, 0.01, 0.01
N_KEYS = 9  # variants of each of two axes; the base prompt is asked twice besides
A_MODEL = (2 * N_KEYS + 2) * len(MISREAD)  # readouts of an item and model
MARGINALS = (0.23, 0.48, 0.75)  # how often the right option is the first, one of the first two, one of the first three
MAX_FLIPPING = 0.6  # an item's chance of another answer is 0.6 u^3, u uniform
_U = "((hash(hash({0})) >> 11) / 9007199254740992.0)"  # uniform, the same for the same names; hashed twice: once is not enough
_ITEMS = """SELECT 'grown/' || i || '@' || substr(md5(i::TEXT), 1, 8) AS item_id, i FROM range($n) r(i)"""
_WAYS = f"""SELECT axis, k, if(k = 0, 'base', axis || '-' || k) AS key
FROM (VALUES ('option_order'), ('label_set')) a(axis), range({N_KEYS}) b(k) UNION ALL SELECT 'identity', 0, 'base'"""
_RIGHT = _U.format("item_id, 'right'")
_TARGET = f"(({_RIGHT} > {MARGINALS[0]})::INT + ({_RIGHT} > {MARGINALS[1]})::INT + ({_RIGHT} > {MARGINALS[2]})::INT)"
_VARIANT = "substr(md5(i || if(k = 0, 'base', axis || k)), 1, 20) AS variant_id"
_PLACES = f"SELECT *, {_VARIANT} FROM ({_ITEMS}), ({_WAYS})"


def study_of(models: Sequence[str]) -> Study:
    """The study that is drawn."""
    axes, readouts = ("identity", "option_order", "label_set"), ("regex", "first_token", "pattern", "text_match")
    return Study(
        "grown",
        (ItemSource("flipscope_choice"),),
        tuple(map(Part, axes)),
        tuple(map(Part, readouts)),
        tuple(map(ModelUse, models)),
    )


def _declared(study_id: str) -> tuple[str, ...]:
    """Its items and variants: statements."""
    return (
        f"""INSERT INTO items SELECT item_id, 'grown', 'choice', 'Question ' || i || '?', ['tin', 'oak', 'rye', 'owl'], {_TARGET}::TEXT, '',
        NULL, '', NULL, '{{}}' FROM ({_ITEMS})""",
        f"INSERT INTO study_items SELECT '{study_id}', item_id, 'benchmark', i, false, NULL FROM ({_ITEMS})",
        f"""INSERT INTO variants SELECT DISTINCT ON (variant_id) variant_id, item_id, '', '[]', [0, 1, 2, 3], ['A', 'B', 'C', 'D'], 'plain',
        {_TARGET}::TEXT FROM ({_PLACES})""",
        f"INSERT INTO study_variants SELECT '{study_id}', item_id, axis, variant_id, key, k, 'base', NULL, '{{}}' FROM ({_PLACES})",
    )


_TEXTS = """
SELECT substr(md5(item_id || variant_id || sample || model), 1, 20) AS call_id, model, 'r' AS revision, true AS simulated,
       '{{}}' AS request, sample, NULL::TEXT AS parent_id, 'ok' AS status, 'Let me think. ' || repeat('They differ in one word. ', 6) ||
       'The answer is ' || coalesce(answer, '?') AS text, 'stop' AS finish_reason, NULL::TEXT AS tokens, NULL::TEXT AS top_logprobs,
       40 AS n_tokens_in, 60 AS n_tokens_out, NULL::DOUBLE AS cost_usd, .5 AS latency_s, 1 AS n_attempts, '' AS error,
       '' AS raw_reply, now() AS created_at, '' AS reasoning, 0 AS n_lost, NULL::INTEGER AS n_tokens_reasoning, NULL::TEXT AS spread,
       '' AS other_model
FROM ({}) WHERE extractor = 'regex' AND axis <> 'label_set' AND hash(item_id) % 100 = 0
"""


def drawn(study_id: str) -> str:
    """The readouts of one model: a query."""
    genuine, reads = "i.item_id, w.axis, w.k, s.sample, $model", "i.item_id, w.axis, w.k, s.sample, e.extractor, $model"
    u = {name: _U.format(f"{of}, '{name}'") for name, of in (("flips", genuine), ("other", genuine))}
    mixed = _U.format("item_id, $model, 'mixed'")
    v = {name: _U.format(f"{reads}, '{name}'") for name in ("odd", "misread", "instead")}
    return f"""
    WITH i AS (SELECT *, {_TARGET} AS target, {mixed} AS mixed FROM ({_ITEMS})),
    w AS ({_WAYS}), e(extractor, misread) AS (VALUES {", ".join(map(str, MISREAD.items()))}),
    asked AS (
        SELECT i.item_id, i.i, w.axis, w.k, s.sample, e.extractor, {v["odd"]} AS odd,
               i.target,
               if({u["flips"]} < {MAX_FLIPPING} * i.mixed ** 3, 1 + floor(3 * {u["other"]})::INT, 0) AS flip,
               if({v["misread"]} < e.misread, 1 + floor(3 * {v["instead"]})::INT, 0) AS slip
        FROM i, w, (VALUES (0), (1)) s(sample), e WHERE s.sample = 0 OR w.axis = 'identity')
    SELECT '{study_id}' AS study_id, $model AS model, item_id, axis, {_VARIANT}, sample, extractor, status,
           if(status = 'ok', ((target + flip + slip) % 4)::TEXT, NULL) AS answer, NULL::DOUBLE AS value,
           if(status = 'ok', flip + slip = 0, if(status = 'unreadable', false, NULL)) AS is_correct, NULL::INTEGER AS span_start,
           NULL::INTEGER AS span_end, '' AS reason, '[]' AS probabilities, NULL::DOUBLE AS label_mass
    FROM (SELECT *, CASE WHEN odd < {ABSENT} THEN 'absent' WHEN odd < {ABSENT + CUT} THEN 'cut'
                         WHEN odd < {ABSENT + CUT + UNREADABLE * (1 - ABSENT - CUT)} THEN 'unreadable' ELSE 'ok' END AS status
          FROM asked)
    ORDER BY item_id, axis, variant_id, sample, extractor"""


def planted(extractor: str) -> float:
    """The chance that a pair of variants reads differently, the mean over items."""
    flip, m = MAX_FLIPPING * ((np.arange(100_000) + 0.5) / 100_000) ** 3, MISREAD[extractor]
    most = (1 - flip) * (1 - m) + flip * m / 3
    return float(np.mean(1 - UNREADABLE**2 - (1 - UNREADABLE) ** 2 * (most**2 + (1 - most) ** 2 / 3)))


def store_of(folder: Path, n: int, models: Sequence[str] = MODELS) -> tuple[Store, str]:
    """A store in which a study of n items is archived, and its id; the completions of every hundredth item are there with their
    text."""
    store, study = Store.open(folder / "flips.duckdb"), study_of(models)
    n_calls = n * A_MODEL * len(models) // len(MISREAD)
    store.writer.add("studies", [rows.study_row(study, "done", n_calls=n_calls)]).result(60)
    connection, study_id = store.own_cursor(), study.study_id
    for sql in _declared(study_id):
        connection.execute(sql, {"n": n})
    files: dict[str, list[str]] = {table: [] for table in TABLES}
    counts = dict.fromkeys(TABLES, 0)
    for model in models:
        own = folder / "archive" / f"study_id={study_id}" / f"model={model}"
        own.mkdir(parents=True)
        for table, sql in (("readouts", drawn(study_id)), ("completions", _TEXTS.format(drawn(study_id)))):
            path = own / f"{table}.parquet"
            made = connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)", {"n": n, "model": model})
            counts[table] += made.fetchall()[0][0]
            files[table].append(str(path))
    one = {"study_id": study_id, "folder": str(folder / "archive"), "files": files, "n_rows": counts}
    connection.execute("INSERT INTO store_info VALUES ($key, $value)", {"key": f"archive {study_id}", "value": json.dumps(one)})
    connection.close()
    store.look_for_archives()
    return store, study_id


def in_polars(folder: Path) -> float:
    """Mean T by model, axis and extractor over the same files, in seconds."""
    import polars as pl

    start = time.perf_counter()
    unit, cell = ["model", "item_id", "axis", "variant_id", "sample"], ["model", "item_id", "axis", "extractor"]
    frame = pl.scan_parquet(folder / "archive" / "**" / "readouts.parquet", hive_partitioning=False)
    frame = frame.filter(pl.col("status").is_in(["ok", "unreadable"])).select(
        *unit, "extractor", pl.col("answer").fill_null("∅")
    )
    beside = frame.filter(pl.col("extractor") == "regex").drop("extractor").rename({"answer": "b"})
    classes = frame.join(beside, on=unit).group_by(*cell, "answer", "b").agg(pl.len().cast(pl.Float64).alias("c"))

    def rate(names: list[str], name: str):
        one = classes.group_by(*cell, *names).agg(pl.col("c").sum())
        agree = (pl.col("c") * (pl.col("c") - 1)).sum()
        return one.group_by(cell).agg((1 - agree / (pl.col("c").sum() * (pl.col("c").sum() - 1))).alias(name))

    both = rate(["answer"], "T").join(rate(["b"], "G"), on=cell).filter(pl.col("axis") != "identity")
    means = both.group_by("model", "axis", "extractor").agg(
        pl.len().alias("n"), pl.col("T", "G").mean(), pl.col("T", "G").std().name.suffix("_sd")
    )
    assert len(means.collect(engine="streaming")) == 2 * len(MODELS) * len(MISREAD)
    return time.perf_counter() - start


def grown(n_readouts: int, with_polars: bool) -> dict:
    """One size: what was drawn, how long it took, and what came back."""
    with tempfile.TemporaryDirectory(prefix="readout-growth-") as name:
        folder, start = Path(name), time.perf_counter()
        store, study_id = store_of(folder, max(1, n_readouts // (A_MODEL * len(MODELS))))
        drawing, start = time.perf_counter() - start, time.perf_counter()
        assert packing.pack(store, study_id)
        store.writer.checkpoint()
        pack_time, start = time.perf_counter() - start, time.perf_counter()
        studies.readouts(store, study_id)
        reading, start, before = time.perf_counter() - start, time.perf_counter(), time.process_time()
        whole = whole_study(store, study_id)
        assert whole.text()
        seconds, cpu = time.perf_counter() - start, time.process_time() - before
        n, peak = store.archives[study_id].n_rows["readouts"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        store.close()
        of_polars = in_polars(folder) if with_polars else float("nan")
        every = [one for model in whole.models for one in whole.flips[model].cells]
        worst = 0.0
        for one in every:
            for estimate, extractor in ((one.T, one.extractor), (one.G, "regex")):
                error = (estimate.high - estimate.low) / (2 * 1.96)
                worst = max(worst, abs(estimate.value - planted(extractor)) / error)
        t = [one.T.value for one in every if one.extractor == "first_token"]
        return {
            "readouts": n,
            "Parquet MB": sum(one.stat().st_size for one in folder.rglob("*.parquet")) / 1e6,
            "file MB": (folder / "flips.duckdb").stat().st_size / 1e6,
            "draw s": drawing,
            "pack s": pack_time,
            "read s": reading,
            "stats s": seconds,
            "CPU s": cpu,
            "peak MB": peak,
            "Polars s": of_polars,
            "Polars peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 if with_polars else float("nan"),
            "planted T": planted("first_token"),
            "T": float(np.mean(t)),
            "planted G": planted("regex"),
            "G": float(np.mean([one.G.value for one in every])),
            "worst z": worst,
        }


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("readouts", nargs="*", type=float, default=[1e5, 1e6])
    given.add_argument("--polars", action="store_true", help="also in Polars")
    given.add_argument("--one", action="store_true", help="in this process, as JSON")
    chosen = given.parse_args(words)
    if chosen.polars and importlib.util.find_spec("polars") is None:
        sys.exit("Polars is not installed: pip install polars, or leave --polars out.")
    if chosen.one:
        print(json.dumps(grown(int(chosen.readouts[0]), chosen.polars)))
        return
    first: dict | None = None
    for n in chosen.readouts:
        own = [sys.executable, "-m", __spec__.name, "--one", str(n), *(["--polars"] if chosen.polars else [])]
        figures = json.loads(subprocess.run(own, check=True, stdout=subprocess.PIPE, text=True).stdout)
        if first is None:
            first = figures
            print("  ".join(f"{name:>12}" for name in figures) + "  growth")
        growth = figures["stats s"] / first["stats s"] / (figures["readouts"] / first["readouts"])
        print(
            "  ".join(f"{v:>12,.4f}" if abs(v) < 10 else f"{v:>12,.0f}" for v in figures.values()) + f"  {growth:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
