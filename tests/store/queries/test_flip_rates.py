"""Means that are counted some items at a time are those of the decomposition: answers of chance, missing, unreadable and cut ones among
them, controls, families, one sample a variant and several, packed before and on the way."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.store import packing
from flipcore.store.connection import Store
from flipcore.store.queries import flip_rates, locks, studies
from flipcore.store.queries.flip_rates import mean_flip_rates

SHUFFLED = """
UPDATE readouts SET status = s, answer = if(s = 'ok', a, NULL), is_correct = if(s = 'ok', a = '1', NULL)
FROM (SELECT *, CASE WHEN u < $odd THEN 'unreadable' WHEN u < 2 * $odd THEN 'cut' WHEN u < 3 * $odd THEN 'absent' ELSE 'ok' END AS s
      FROM (SELECT study_id, model, item_id, axis, variant_id, sample, extractor, (hash(k, 'u', $seed) % 10007) / 10007 AS u,
                   (hash(k, 'a', $seed) % $n)::TEXT AS a
            FROM (SELECT *, concat_ws('/', study_id, model, item_id, axis, variant_id, sample, extractor) AS k FROM readouts))) new
WHERE (readouts.study_id, readouts.model, readouts.item_id, readouts.axis, readouts.variant_id, readouts.sample, readouts.extractor)
    = (new.study_id, new.model, new.item_id, new.axis, new.variant_id, new.sample, new.extractor)
"""


def study(n_samples: int, **more) -> Study:
    return Study(
        "counted",
        (ItemSource("flipscope_choice", n=14), ItemSource("flipscope_problems", role="control", n=8)),
        (Part("identity"), Part("option_order", {"n": 4}), Part("prompt_format")),
        (Part("first_token"), Part("regex")),
        (ModelUse("simulated-artifact-prone", n_samples=n_samples), ModelUse("simulated-noisy", n_samples=n_samples)),
        **more,
    )


@pytest.fixture(scope="module", params=[1, 3], ids=["one sample", "three samples"])
def run(request, tmp_path_factory):
    store, one = Store.open(tmp_path_factory.mktemp("counted") / "flips.duckdb"), study(request.param)
    assert runner.run(one, store).state == "done"
    yield store, one.study_id, request.param == 1
    store.close()


def shuffled(store, seed: int, odd: float = 0.08, n: int = 3) -> None:
    params = {"seed": seed, "odd": odd, "n": n}
    store.writer.transact(lambda connection: connection.execute(SHUFFLED, params)).result(30)


def checked(store, study_id: str, reference: str = "regex", **scope) -> int:
    """How many cells were compared."""
    frame, means = studies.readouts(store, study_id, **scope), mean_flip_rates(store, study_id, reference, **scope)
    n = 0
    for model in frame["model"].unique():
        answers = coded_answers(frame[frame["model"] == model])
        for one in decompositions(answers, reference, kind="clt_cluster", tests=False):
            rows = means[(means["model"] == model) & (means["axis"] == one.axis) & (means["extractor"] == one.extractor)]
            if one.n_items == 0:  # nothing is defined
                assert rows.empty
                continue
            row = rows.iloc[0]
            assert (row["n"], row["n_items"]) == (one.T.n, one.n_items)
            for name in "TGA":
                if one.is_reference and name == "A":
                    continue
                told = getattr(one, name)
                whole = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
                assert whole == pytest.approx([told.value, told.low, told.high], abs=1e-12, nan_ok=True), (
                    model,
                    one.axis,
                    name,
                )
            n += 1
    assert n == len(means)
    return n


@pytest.mark.slow
def test_means_and_intervals_are_those_of_the_decomposition(run, monkeypatch):
    store, study_id, _ = run
    monkeypatch.setattr(flip_rates, "ROWS", 7)
    for seed in range(6):
        shuffled(store, seed, odd=[0.0, 0.08, 0.16][seed % 3], n=2 + seed % 2)
        reference = ("regex", "first_token")[seed % 2]
        assert not packing.holds(store, study_id) and checked(store, study_id, reference) == 8
        assert packing.pack(store, study_id) and checked(store, study_id, reference) == 8


@pytest.mark.slow
def test_items_of_one_family_are_one_unit(run):
    store, study_id, _ = run
    sql = "UPDATE items SET source_id = {}"
    store.writer.transact(lambda connection: connection.execute(sql.format("'family ' || hash(item_id) % 5"))).result(30)
    assert checked(store, study_id) == 8
    store.writer.transact(lambda connection: connection.execute(sql.format("NULL"))).result(30)


TYPOS = (
    "INSERT INTO paraphrases VALUES ('typos', 'd', 'i', 'o', 'p', 'g', now(), 'typos')",
    "UPDATE study_variants SET material_id = 'typos' WHERE axis = 'prompt_format' AND key <> 'base'",
)
ACCEPTED = (
    """INSERT INTO verdicts (verdict_id, pair_id, reviewer, meaning, note, original_hash, paraphrase_hash, rule_version, created_at)
       VALUES ('v', 'typos', 'Ada', 'yes', '', '', '', 'majority-1', now())""",
)
UNDONE = ("UPDATE study_variants SET material_id = NULL", "DELETE FROM verdicts", "DELETE FROM paraphrases")


@pytest.mark.slow
def test_stored_typos_count_once_they_are_accepted(run):
    store, study_id, _ = run

    def n_after(*statements: str) -> int:
        for sql in statements:
            store.writer.transact(lambda connection, sql=sql: connection.execute(sql)).result(30)
        assert checked(store, study_id) in (4, 8)
        return len(studies.readouts(store, study_id))

    before = n_after()
    assert n_after(*TYPOS) < before == n_after(*ACCEPTED)
    n_after(*UNDONE)


@pytest.mark.slow
def test_what_was_set_aside_comes_under_its_lock_alone(tmp_path):
    store, one = Store.open(tmp_path / "flips.duckdb"), study(1, confirmatory_share=0.4)
    runner.run(one, store)
    lock = locks.keep_lock(store, one.study_id, "decomposition", {}, "Ada")
    assert checked(store, one.study_id) == checked(store, one.study_id, lock=lock) == 8
    store.close()
