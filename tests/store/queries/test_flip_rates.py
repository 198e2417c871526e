"""What DuckDB counts is what the arrays of codes give, item by item and on average: answers of chance, missing, unreadable and cut
ones among them, controls, one sample a variant and several."""

import numpy as np
import pytest

from flipcore.core.records import IDENTITY
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.stats.flips.coded_answers import coded_answers, null_rates
from flipcore.stats.flips.decomposition import COLUMNS, decompositions
from flipcore.stats.flips.decomposition import item_rates as array_rates
from flipcore.stats.flips.disagreement import between, within
from flipcore.store.connection import Store
from flipcore.store.queries import locks, studies
from flipcore.store.queries.flip_rates import item_flip_rates, mean_flip_rates

AT = {name: i for i, name in enumerate(COLUMNS)}
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


def same(counted, of_arrays, is_exact: bool, what: str) -> None:
    counted, of_arrays = np.asarray(counted, dtype=float), np.asarray(of_arrays, dtype=float)
    assert (np.isnan(counted) == np.isnan(of_arrays)).all(), what
    assert np.nanmax(np.abs(counted - of_arrays), initial=0) <= (0 if is_exact else 1e-12), what


def checked(store, study_id: str, is_exact: bool, reference: str = "regex", **scope) -> int:
    """How many cells were compared."""
    frame, rates = studies.readouts(store, study_id, **scope), item_flip_rates(store, study_id, reference, **scope)
    n = 0
    for model in frame["model"].unique():
        answers = coded_answers(frame[frame["model"] == model])
        for axis in answers.axes:
            for extractor in answers.extractors:
                of_cell = rates[(rates["model"] == model) & (rates["axis"] == axis) & (rates["extractor"] == extractor)]
                own = of_cell.set_index("item_id").reindex(answers.items)
                codes = answers.codes[axis, extractor]
                where = f"{model} {axis} {extractor}"
                same(own["alone"], between(codes).rate, is_exact, f"alone {where}")
                same(own["again"], within(codes), is_exact, f"again {where}")
                nulls = null_rates(answers, axis, extractor)
                counts = own[["n_there", "n_null", "n_absent", "n_cut"]].sum().tolist()
                assert counts == [nulls.n_readouts, nulls.n_null, nulls.n_absent, answers.n_cut(axis, extractor)], where
                if axis != IDENTITY:
                    values = array_rates(answers, axis, extractor, reference).values
                    if answers.families is None:
                        for name in ("T", "G", "A_plus", "A_minus", "both"):
                            same(own[name], values[:, AT[name]], is_exact and name in "TG", f"{name} {where}")
                n += 1
    return n


@pytest.mark.slow
def test_counts_are_the_arrays_rates(run):
    store, study_id, once = run
    assert checked(store, study_id, once) == 12
    for seed in range(6):
        shuffled(store, seed, odd=[0.0, 0.08, 0.3][seed % 3], n=2 + seed % 2)
        assert checked(store, study_id, once, reference=("regex", "first_token")[seed % 2]) == 12


@pytest.mark.slow
def test_means_and_their_errors_are_those_of_the_decomposition(run):
    store, study_id, _ = run
    shuffled(store, 99, odd=0.05)
    frame, means = studies.readouts(store, study_id), mean_flip_rates(store, study_id, "regex")
    n = 0
    for model in frame["model"].unique():
        answers = coded_answers(frame[frame["model"] == model])
        for one in decompositions(answers, "regex", kind="clt_cluster", tests=False):
            row = means[(means["model"] == model) & (means["axis"] == one.axis) & (means["extractor"] == one.extractor)].iloc[0]
            assert (row["n"], row["n_items"]) == (one.T.n, one.n_items)
            for name in "TGA":
                assert row[name] == pytest.approx(getattr(one, name).value, abs=1e-12)
                own = one.item_values[:, AT[name]]
                assert row[f"sd_{name}"] == pytest.approx(np.nanstd(own, ddof=1), abs=1e-12)
            n += 1
    assert n == 8


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
    store, study_id, once = run

    def n_after(*statements: str) -> int:
        for sql in statements:
            store.writer.transact(lambda connection, sql=sql: connection.execute(sql)).result(30)
        assert checked(store, study_id, once) == 12
        return item_flip_rates(store, study_id, "regex")["n_there"].sum()

    before = n_after()
    assert n_after(*TYPOS) < before == n_after(*ACCEPTED)
    n_after(*UNDONE)


@pytest.mark.slow
def test_what_was_set_aside_comes_under_its_lock_alone(tmp_path):
    store, one = Store.open(tmp_path / "flips.duckdb"), study(1, confirmatory_share=0.4)
    runner.run(one, store)
    lock = locks.keep_lock(store, one.study_id, "decomposition", {}, "Ada")
    unlocked, locked = (set(item_flip_rates(store, one.study_id, "regex", lock=key)["item_id"]) for key in (None, lock))
    assert unlocked and locked and not unlocked & locked
    assert checked(store, one.study_id, True) == checked(store, one.study_id, True, lock=lock) == 12
    store.close()
