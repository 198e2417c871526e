"""Say which changes of the core the quick tests notice: `python -m tests.mutants --package claims`.

A random change is made to one expression of a package: a comparison, a sign, a number, a condition.
A change that no test notices survives: either it changes nothing that anybody could see (`SAME`,
with the reason), or a test is lacking. The quick tests of the package, and of those that show what
it says, run once to see which of them reach which change. Then only those run on it, those of the
module's own name first and the cheapest next. What did not end in time is neither noticed nor
survived.

`--work FOLDER` keeps what was found, and a second call goes on there. `--keep` writes the counts
and the survivors to the table beside this file.
"""

import argparse
import ast
import hashlib
import json
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from flipcore.core.randomness import generator

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".md")
# package -> (its files, the folders of tests that stand for it)
PACKAGES = {
    "stats": ("flipcore/stats/**/*.py", "tests/stats tests/claims tests/reports"),
    "claims": ("flipcore/claims/*.py", "tests/claims tests/stats tests/reports tests/annotation"),
    "gates": (
        "flipcore/stats/base/gate_rules.py flipcore/claims/gates.py flipcore/annotation/gates.py",
        "tests/claims tests/stats tests/reports tests/annotation",
    ),
    "store": ("flipcore/store/**/*.py", "tests/store tests/runs"),
    "runs": ("flipcore/runs/*.py", "tests/runs"),
    "plan": ("flipcore/runs/plan.py flipcore/runs/runner.py flipcore/runs/cost.py", "tests/runs"),
    "spending": ("flipcore/runs/asking.py flipcore/store/queries/budgets.py", "tests/runs tests/store tests/models"),
}
# For the tests of one change. Beside other work a minute of the clock may be a few seconds of a
# core, so it is processor time that ends them, and the clock only where they wait for ever.
CPU_SECONDS, SECONDS = 120, 1_800
FIRST_SECONDS = 6.0  # of tests that run before the others are even collected: most changes end there
N_PROCESSES = 2  # of the run that sees which tests reach which change
NOTICED, SURVIVED, NOT_FINISHED = "noticed", "survived", "not finished"
# a survivor that changes nothing anybody could see -> why: (file, line as it stands, what it became)
_SEED = "another fixed seed draws as well"
_OUTPUTS = "flipcore/claims/audit_outputs.py"
_CONTRAST = "flipcore/stats/flips/contrast.py"
_CORRECTED = "flipcore/stats/score/corrected.py"
_SEPARABILITY = "flipcore/stats/base/separability.py"
_PACKING = "flipcore/store/packing.py"
_ROWS = "flipcore/store/queries/readout_rows.py"
_HIGH_BOUND = "a p of a mean above 0 depends on the low bound alone"
_HASH = "another hash tells the same layouts apart, and equal hashes are compared readout by readout"
_SPEED = "it costs time or memory and no row"
_TIE = "no difference by rounding is exactly the slack"
_SLOPE = "return float(((f - f.mean()) * (y - y.mean())).mean() / variance) if variance > 0 else 1.0"
_CENTERED = "the other factor has a mean of 0"
_PROMPTS, _CHECKS = "flipcore/claims/audit_prompts.py", "flipcore/claims/audit_checks.py"
_OWN_PROMPTS = "flipcore/runs/own_prompts.py"
_SURVEY = "flipcore/runs/log_survey.py"
_ZIPPED = "the columns are of one table"
_ANY = "it is only asked whether there is a group"
_EARLY = "the quick way out of logs that could give no finding"
_FOLLOWING = "return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))"
_SHARES = 'are_shares = (base_scores["score"] > 0) & (base_scores["score"] < 1)'
_GROUPED = 'for _, part in rows.groupby(["task", "extractor"], sort=False, observed=True):'
_BY_READOUT = 'parts = groups.groupby([rows["model"], rows["extractor"]], sort=False, observed=True)'
_COUNTED = "if self.about.plan and len(self.rows) < MAX_ITEMS:"
_GROWN = "asked.extend(bytes(number + 1_024 - len(asked)))"
_ESCAPED = "the same JSON, with its letters written as numbers"
_PATIENCE = "how long a write may take before it counts as failed"
_OFTEN = "how often it looks"
_LONGER = "a longer random text is as unlike another"
_GUARDED = "flipcore/stats/base/guarded.py"
_TWO_SHARES = "flipcore/stats/base/two_shares.py"
_ORDER = "flipcore/stats/ranking/order.py"
_SQUARE = "there are as many rows as columns"
_COUNTING = "flipcore/stats/choices/counting.py"
_SINGLE = "is_single = int(units.max(initial=-1)) + 1 == len(units)"
_EXCEEDANCE = "flipcore/stats/memory/exceedance.py"
_EXCLUSION = "flipcore/stats/flips/exclusion_bounds.py"
_TANGO = "flipcore/stats/base/tango.py"
_AGREEMENT = "flipcore/stats/base/agreement.py"
_MATCHING = "flipcore/stats/memory/matching.py"
_PREDICTOR = "flipcore/stats/flips/predictor.py"
_DIFFICULTY = "flipcore/stats/holdout/difficulty.py"
_LEFT_OPEN = "numpy takes any negative length for the one that is left open"
_AUDIT, _ARCHIVING = "flipcore/claims/audit.py", "flipcore/store/archiving.py"
_RANKED = "each model that is ranked has both limits"
_UNREAD = "nobody reads how many readouts a mark counts"
_OWN_REFERENCE = "with an extractor as its own reference, G is T"
SAME: dict[tuple[str, str, str], str] = {
    (
        "flipcore/stats/memory/rewritten.py",
        'wide = rows.pivot_table(index="item_id", columns="extractor", values="right", sort=False)',
        "True",
    ): "a mean over items is the same in any order",
    (
        "flipcore/stats/holdout/duplicates.py",
        "return 2 * LCSseq.similarity(first, second) / max(1, len(first) + len(second))",
        "2",
    ): "a single word in both texts together is in common to neither",
    (
        "flipcore/store/merge_source.py",
        "if not version.isdigit() or not 1 <= int(version[:9]) <= SCHEMA_VERSION:",
        "10",
    ): "no schema has ten digits",
    ("flipcore/claims/claim.py", "return bool(p <= 1 - level + 1e-12)", "p < 1 - level + 1e-12"): _TIE,
    ("flipcore/store/recorded.py", "BATCH, BATCH_CHARS = 6_000, 20_000_000", "6001"): _SPEED,
    (
        "flipcore/runs/plain_import.py",
        "if len(self._prepared_items) >= MAX_CACHED_ITEMS:",
        "len(self._prepared_items) > MAX_CACHED_ITEMS",
    ): _SPEED,
    ("flipcore/runs/log_import.py", "n_chars = 0", "1"): "a batch ends one character earlier",
    (_TWO_SHARES, "error = round((1 - level) / 2, 12)", "13"): "either rounds away what is left of 0.95",
    (_TWO_SHARES, "low, high = 0.0, 8.0", "0.01"): "where the search begins",
    (_TWO_SHARES, "low, high = 0.0, 8.0", "12.01"): "where the search begins",
    (_TWO_SHARES, "while high - low > 1e-3:", "high - low >= 0.001"): "halving 8 never gives a thousandth",
    ("flipcore/stats/base/families.py", "core = np.zeros((1, 4, 4))", "2"): (
        "the same matrix twice, and only the first result is read"
    ),
    (_EXCLUSION, "all_rates = rates.values[()][:, 0]", "1"): _OWN_REFERENCE,
    (_EXCLUSION, "moved[pair] = max(moved[pair], _change(all_rates, row, values[row, 0]))", "1"): _OWN_REFERENCE,
    (_EXCLUSION, 'for (_, extractor), rows in frame.groupby(["model", "extractor"], sort=False):', "True"): (
        "the largest of all is the same in any order"
    ),
    (_ORDER, "is_better = np.nan_to_num(p, nan=1.0) <= alpha + 1e-12", "1.51"): "either p shows no difference",
    (_ORDER, "is_better = np.nan_to_num(p, nan=1.0) <= alpha + 1e-12", "np.nan_to_num(p, nan=1.0) < alpha + 1e-12"): _TIE,
    (_ORDER, "return 1 + is_better.sum(axis=-2), p.shape[-1] - is_better.sum(axis=-1)", "1"): _SQUARE,
    (_ORDER, "return 1 + is_better.sum(axis=-2), p.shape[-1] - is_better.sum(axis=-1)", "2"): _SQUARE,
    (
        "flipcore/stats/memory/gap_decision.py",
        "item if label in shared else label for item, label in zip(ids, labels, strict=True)",
        "False",
    ): "each item has a label",
    (
        "flipcore/claims/corrected_ranks.py",
        "ordered = sorted(models, key=lambda model: -np.nan_to_num(model.score.estimate.value, nan=-1.0))",
        "1.51",
    ): "either stands behind every score",
    (
        "flipcore/claims/corrected_ranks.py",
        "for (first, second), difference, p in zip(model_pairs, gaps, holm_p(gaps), strict=True):",
        "False",
    ): "each pair has a gap and a p",
    (_COUNTING, _SINGLE, "int(units.max(initial=-1)) - 1"): _SPEED,
    (_COUNTING, _SINGLE, "1"): _SPEED,
    (_COUNTING, "is_weighted = part.weights.ndim > 1", "part.weights.ndim >= 1"): _SPEED,
    (
        "flipcore/stats/score/next_calls.py",
        "df = variance**2 / denominator if denominator else n_questions - 1",
        "2",
    ): "where nothing varies the half-width is 0",
    (_EXCEEDANCE, "_CELLS = 2_000_000  # values permuted at once", "2000001"): _SPEED,
    (
        "flipcore/stats/score/reducers.py",
        "pairs = zip(n.tolist(), n_right.tolist(), strict=True)",
        "False",
    ): "both count the epochs of the same items",
    ("flipcore/claims/audit_prompts.py", "place, n = Counter(places).most_common(1)[0]", "2"): "the first of two is the first",
    (
        "flipcore/claims/plans.py",
        "return detectable_gap(_design(n_benchmark, n_control, control), n_runs=60)",
        "61",
    ): "a simulation with one run more",
    ("flipcore/store/queries/invitations.py", ").result(30)", "31"): _PATIENCE,
    ("flipcore/store/queries/invitations.py", ").result(60)", "61"): _PATIENCE,
    ("flipcore/store/writer.py", "is_counted: bool = True  # counts as a commit of this file", "False"): (
        "it is read of batches with an action, and those say it"
    ),
    ("flipcore/store/archives.py", "value = json.dumps(asdict(archive), ensure_ascii=False)", "True"): _ESCAPED,
    (_PACKING, "[study_id, rule_hash(), token_hex(8), n_readouts, *lists],", "9"): _LONGER,
    (
        "flipcore/runs/asking.py",
        "if self.spent_usd + self.reserved_usd + price > self.cap_usd + _ROUNDING_USD:",
        "self.spent_usd + self.reserved_usd + price >= self.cap_usd + _ROUNDING_USD",
    ): _TIE,
    ("flipcore/runs/asking.py", "self._revision = -1", "2"): "no revision is below 0",
    (
        "flipcore/store/queries/inspection.py",
        "_NO_ANSWER = (None,) * 11  # stands for a completion that is not stored here",
        "12",
    ): "one more None behind the others is not read",
    (
        "flipcore/store/audit_log.py",
        'return {"act_id": digest(*map(str, row.values()), secrets.token_hex(8)), **row}',
        "9",
    ): _LONGER,
    (
        "flipcore/runs/log_survey.py",
        "if not self._last or self._last[0] != content:",
        "1",
    ): "a record is placed again where it was, and counted once",
    (
        "flipcore/runs/rereading.py",
        "if len(block) >= _BLOCK and _model_and_item(answer) != _model_and_item(block[-1]):",
        "len(block) > _BLOCK",
    ): "a block of one answer more",
    (
        "flipcore/runs/rereading.py",
        'mark = {"key": _versions_key(study_id), "value": json.dumps(versions, ensure_ascii=False)}',
        "True",
    ): _ESCAPED,
    ("flipcore/stats/score/reducers.py", "return Counter(scores).most_common(1)[0][0]", "2"): "the first of two is the first",
    (
        "flipcore/stats/base/guarded.py",
        "stdtr(np.nan_to_num(self.df, nan=1.0), sign * (self.mean - null) / self.se),",
        "1.51",
    ): "the p of an estimate without degrees of freedom is left out",
    (
        "flipcore/stats/base/guarded.py",
        "total = means.sums.sum(axis=0) ** 2 / np.maximum(n, 1.0)",
        "1.51",
    ): "of a single value nothing is between or within clusters",
    (_OUTPUTS, 'counts = votes.groupby(["item_id", "answer"], sort=False).size().reset_index(name="n")', "True"): (
        "the order decides only between two answers of as many votes, of which neither is a majority"
    ),
    (_OUTPUTS, 'columns = zip(largest.index, largest["answer"], largest["n"], n_votes, strict=True)', "False"): (
        "the columns are of one index"
    ),
    (
        _CONTRAST,
        "BOUNDS = (-1.0, 1.0)  # of an item's contrast; twice as wide if the parts are beyond a floor",
        "1.51",
    ): _HIGH_BOUND,
    (_CONTRAST, "bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS", "2 / BOUNDS[0]"): "the bound is -1",
    (_CONTRAST, "bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS", "2 / BOUNDS[1]"): _HIGH_BOUND,
    (_CONTRAST, "bounds = (2 * BOUNDS[0], 2 * BOUNDS[1]) if has_floor else BOUNDS", "3"): _HIGH_BOUND,
    (_CONTRAST, "has_pairs = ~np.isnan(cell.unread.raw.low[:, 0])", "1"): "an item without a pair has none of the rates",
    (_CONTRAST, "guarded_t(values.T, bounds, cell.families).p_above.reshape(2, -1).max(axis=0)", "2"): (
        "any negative length is worked out"
    ),
    (_CORRECTED, _SLOPE, "y + y.mean()"): _CENTERED,
    (_CORRECTED, _SLOPE, "f + f.mean()"): _CENTERED,
    (_SEPARABILITY, "b, m = int((draws >= observed - SLACK).sum()), len(draws)", "draws > observed - SLACK"): _TIE,
    (_SEPARABILITY, "n_below = int((draws <= observed + SLACK).sum())", "draws < observed + SLACK"): _TIE,
    (_SEPARABILITY, "fewest = min(len(set(group[y == label].tolist())) for label in (0, 1))", "y != label"): (
        "the least of both labels is the same"
    ),
    (_PACKING, "generator = np.random.Generator(np.random.PCG64(0))", "1"): _HASH,
    (_PACKING, "odd_factors = generator.integers(1, 2**62, size=(len(codes), 2)) | 1", "2"): _HASH,
    (_PACKING, "odd_factors = generator.integers(1, 2**62, size=(len(codes), 2)) | 1", "63"): _HASH,
    (_PACKING, "odd_factors = generator.integers(1, 2**62, size=(len(codes), 2)) | 1", "3"): _HASH,
    (_PACKING, "odd_factors = generator.integers(1, 2**62, size=(len(codes), 2)) | 1", "2 * 62"): _HASH,
    (_PACKING, "(code + 1) * factor + (code * position_in_row) * position_factor", "code - 1"): _HASH,
    (_PACKING, "(code + 1) * factor + (code * position_in_row) * position_factor", "2"): _HASH,
    (
        _PACKING,
        "(code + 1) * factor + (code * position_in_row) * position_factor",
        "(code + 1) * factor - code * position_in_row * position_factor",
    ): _HASH,
    (_PACKING, "for code, (factor, position_factor) in zip(codes, odd_factors, strict=True)", "False"): (
        "the factors are as many as the codes"
    ),
    (
        _PACKING,
        "step = max(1, int(CHUNK * len(items) / max(n_readouts, 1)))",
        "2",
    ): "one readout fits into a chunk, as none does",
    (_OWN_PROMPTS, "if self.counts[item.item_id] > 1:", "self.counts[item.item_id] >= 1"): _SPEED,
    (
        _OWN_PROMPTS,
        '"options" in names and names.index("options") < names.index("stem")',
        "names.index('options') <= names.index('stem')",
    ): "two parts of a prompt have two places",
    (_ROWS, "return pd.DataFrame(columns, copy=False)", "True"): _SPEED,
    (_ROWS, "return pd.DataFrame({name: column(name) for name in table.column_names}, copy=False)", "True"): _SPEED,
    (_ROWS, "codes = codes.astype(_smallest_int(len(texts)), copy=False)", "True"): _SPEED,
    (_ROWS, 'codes, categories=pd.Index(texts.to_pandas(), dtype="str"), validate=False', "True"): _SPEED,
    (_ROWS, "return pd.Categorical.from_codes(codes, dtype=column.dtype, validate=False)", "True"): _SPEED,
    (
        _ROWS,
        "new_code = np.full(len(texts) + 1, -1, dtype=_smallest_int(len(used)))",
        "2",
    ): "a second spare element is not read",
    (_OUTPUTS, _SHARES, "base_scores['score'] >= 0"): _EARLY,
    (_OUTPUTS, _SHARES, "base_scores['score'] <= 1"): _EARLY,
    (_OUTPUTS, _SHARES, "2"): _EARLY,
    (_OUTPUTS, 'for item, target in zip(log.items["item_id"], log.items["target"], strict=True)', "False"): _ZIPPED,
    (_PROMPTS, 'columns = zip(prompts["prompt"], prompts["question"], prompts["options"], strict=True)', "False"): _ZIPPED,
    (_PROMPTS, 'columns = zip(prompts["prompt"], systems, prompts["question"], strict=True)', "False"): _ZIPPED,
    (_PROMPTS, "for item, prompt, question, options, target in zip(*columns, strict=True):", "False"): _ZIPPED,
    (_PROMPTS, 'for target, options in zip(items["target"], items["options"], strict=True):', "False"): _ZIPPED,
    (_PROMPTS, 'targets = dict(zip(log.items["item_id"], log.items["target"].astype(str), strict=True))', "False"): _ZIPPED,
    (_PROMPTS, _FOLLOWING, "len(words) + len(part)"): "behind the last place the words are fewer than the part has",
    (_PROMPTS, _FOLLOWING, "2"): "behind the last place the words are fewer than the part has",
    (_CHECKS, _GROUPED, "True"): _ANY,
    (_CHECKS, _GROUPED, "False"): _ANY,
    (_CHECKS, 'by_model = part.groupby("model", sort=False, observed=True)["item_id"]', "False"): (
        "a model without rows shares no item"
    ),
    (_CHECKS, _BY_READOUT, "True"): _ANY,
    (_CHECKS, _BY_READOUT, "False"): _ANY,
    ("flipcore/claims/regression.py", "outcomes = zip(names.tasks, bounds.is_failing, strict=True)", "False"): (
        "names and verdicts are of the same tasks"
    ),
    (
        "flipcore/claims/likeness.py",
        'direction = "more" if mixing.own_share.value > mixing.expected else "less"',
        "mixing.own_share.value >= mixing.expected",
    ): "a share that is as expected has no small p",
    ("flipcore/claims/likeness.py", 'direction = "more" if difference.value > 0 else "less"', "difference.value >= 0"): (
        "a difference of 0 is not excluded by its interval"
    ),
    (
        "flipcore/runs/progress.py",
        "if progress.rate_per_s > 0 and pace > 0 and progress.n_calls > progress.n_done",
        "pace >= 0",
    ): ("calls that are asked are answered too"),
    (_SURVEY, _COUNTED, "self.about.plan or len(self.rows) < MAX_ITEMS"): "only a plan, and few items, are spoken of",
    (_SURVEY, _COUNTED, "len(self.rows) <= MAX_ITEMS"): "of so many items nothing is said",
    (_SURVEY, "for score_row, cluster in zip(rows, clusters, strict=True):", "False"): _ZIPPED,
    (_SURVEY, _GROWN, "number + 1024 + len(asked)"): "the room that is kept free",
    (_SURVEY, _GROWN, "1025"): "the room that is kept free",
    (_SURVEY, "MAX_ITEMS = 200_000  # a file with more items is not counted item by item", "200001"): "a limit by choice",
    ("flipcore/store/writer.py", "time.sleep(INTERVAL_S * (attempt + 1))", "INTERVAL_S / (attempt + 1)"): (
        "how long it waits before it tries again"
    ),
    ("flipcore/store/queries/locks.py", 'store.writer.add("locks", [row | {"created_at": now()}]).result(30)', "31"): _PATIENCE,
    (
        "flipcore/store/queries/review.py",
        'store.writer.add("paraphrases", [row | {"created_at": now()} for row in rows]).result(60)',
        "61",
    ): _PATIENCE,
    ("flipcore/claims/score.py", '"best": dict(zip(models, best, strict=True)),', "False"): (
        "the loop above has compared the lengths"
    ),
    ("flipcore/claims/score.py", '"worst": dict(zip(models, worst, strict=True)),', "False"): (
        "the loop above has compared the lengths"
    ),
    (
        "flipcore/stats/holdout/duplicates.py",
        "yield from zip(row[is_candidate].tolist(), shared.col[is_candidate].tolist(), strict=True)",
        "False",
    ): "both are selected by one mask",
    (
        "flipcore/stats/holdout/semantic.py",
        'T: ArrayLike, R: ArrayLike, which: str = "target", m: int = 9999, seed: int = 0',
        "1",
    ): _SEED,
    (
        "flipcore/stats/memory/hardness_curve.py",
        "if np.ptp(reference_means) < MIN_RANGE:",
        "np.ptp(reference_means) <= MIN_RANGE",
    ): "no range by rounding is exactly the least one",
    ("flipcore/stats/memory/gap_truncation.py", "_FARTHEST = 2.0", "3.01"): (
        "only ranks count, and 2 is beyond every score already"
    ),
    (_GUARDED, "inverse_sizes.append(1 / max(n_effective, 1e-9))", "0.0100000015"): (
        "a task without items has no degrees of freedom, so nothing is tested"
    ),
    (_GUARDED, "n_effective = len(means) ** 2 / max(sum(inverse_sizes), 1e-9)", "0.0100000015"): (
        "100 effective clusters are enough, as more are"
    ),
    ("flipcore/stats/base/chance_lead.py", "return self._adverse_unit(self.lead > 0)", "self.lead >= 0"): (
        "a lead of 0 has a p of .5, whatever its variance"
    ),
    ("flipcore/claims/choices.py", "gaps = (curve.estimate - decision.margin).round(12)", "13"): (
        "either rounds away what float arithmetic leaves"
    ),
    ("flipcore/claims/choices.py", "start = decision.turn(above=bool(gaps[0] < 0))", "gaps[0] <= 0"): (
        "a decision that is level as declared has its sentence already"
    ),
    (
        "flipcore/claims/choices.py",
        "if n_shown == shares.n_open and p <= (1 - level) / 2 + 1e-12:",
        "p < (1 - level) / 2 + 1e-12",
    ): _TIE,
    (_GUARDED, "n_events = (x < 0).sum() if end < 0 else (x > 0).sum()", "end <= 0"): "no bound is 0",
    (
        "flipcore/store/archiving.py",
        "store.writer.transact(_detach_copy, changes=(), writes_here=False).result(60)",
        "61",
    ): _PATIENCE,
    (
        "flipcore/store/archiving.py",
        'store.writer.add_together(act_parts(person, "backed up the database", path.name)).result(60)',
        "61",
    ): _PATIENCE,
    ("flipcore/store/connection.py", "self.writer.add_together(act_parts(acting(), act, target)).result(60)", "61"): _PATIENCE,
    ("flipcore/store/packing.py", "self._thread.join(60)", "61"): _PATIENCE,
    ("flipcore/store/queries/budgets.py", 'store.writer.add("budgets", [row]).result(30)', "31"): _PATIENCE,
    ("flipcore/store/queries/decisions.py", ").result(10)", "11"): _PATIENCE,
    ("flipcore/store/queries/holdout.py", 'store.writer.add("study_items", rows).result(30)', "31"): _PATIENCE,
    (
        "flipcore/store/queries/holdout.py",
        'store.writer.add("surveys", [row | {"created_at": now()}]).result(30)',
        "31",
    ): _PATIENCE,
    ("flipcore/store/queries/holdout.py", 'store.writer.add("holdout_versions", [stamped]).result(30)', "31"): _PATIENCE,
    (
        "flipcore/store/queries/invitations.py",
        'store.writer.add("invitation_events", [_event(invitation_id, REVOKED, person.name)]).result(30)',
        "31",
    ): _PATIENCE,
    (
        "flipcore/store/queries/invitations.py",
        "is_first = store.writer.transact(add_first_use, Permission.ACCESS, changes=()).result(30)",
        "31",
    ): _PATIENCE,
    ("flipcore/store/queries/judgements.py", "store.writer.add(kind.table, finished).result(30)", "31"): _PATIENCE,
    (
        "flipcore/store/queries/review.py",
        "store.writer.transact(mark, Permission.JUDGE, changes=()).result(30)",
        "31",
    ): _PATIENCE,
    ("flipcore/store/queries/studies.py", ").result(60)", "61"): _PATIENCE,
    ("flipcore/store/queries/vectors.py", 'store.writer.add("embeddings", rows).result(60)', "61"): _PATIENCE,
    ("flipcore/store/writer.py", "def flush(self, timeout: float | None = 60) -> None:", "61"): _PATIENCE,
    ("flipcore/store/writer.py", "self._thread.join(60)", "61"): _PATIENCE,
    ("flipcore/runs/background.py", "self._store.writer.add_together([*study_part, *acts]).result(30)", "31"): _PATIENCE,
    ("flipcore/runs/background.py", 'self._store.writer.add_together([("studies", [row]), *acts]).result(30)', "31"): _PATIENCE,
    ("flipcore/runs/background.py", ").result(30)", "31"): _PATIENCE,
    (
        "flipcore/runs/background.py",
        'self._store.writer.add("studies", [study_row(study, CANCELLED, cut_off)]).result(30)',
        "31",
    ): _PATIENCE,
    ("flipcore/runs/runner.py", 'self.store.writer.add("studies", [row]).result(60)', "61"): _PATIENCE,
    ("flipcore/store/writer.py", "INTERVAL_S = 0.1", "0.16000000000000003"): _OFTEN,
    ("flipcore/runs/asking.py", "REPORT_S = 0.5", "0.76"): _OFTEN,
    ("flipcore/runs/asking.py", "_POLL_S = 0.02", "0.04"): _OFTEN,
    ("flipcore/runs/background.py", "INBOX_S = 2.0", "3.01"): _OFTEN,
    (_SURVEY, "_REPORT_EVERY = 2_000  # rows", "2001"): _OFTEN,
    ("flipcore/store/connection.py", "_BATCH = 2_000  # rows in memory at a time", "2001"): _SPEED,
    ("flipcore/store/connection.py", "_CHECKPOINT_MB = 256", "257"): _SPEED,
    ("flipcore/store/merge.py", "_MEMORY_MB = 1_000  # limit of the database while it merges", "1001"): _SPEED,
    ("flipcore/store/merge.py", "_BATCH = 5_000", "5001"): _SPEED,
    ("flipcore/store/merge_source.py", "_BATCH = 20_000", "20001"): _SPEED,
    (
        "flipcore/store/packing.py",
        "LARGE = 50_000  # readouts; smaller studies are read fast enough without packs",
        "50001",
    ): _SPEED,
    ("flipcore/store/packing.py", "CHUNK = 1_500_000  # readouts that are packed together", "1500001"): _SPEED,
    (
        "flipcore/store/queries/readout_rows.py",
        "_BATCH = 65_536  # readouts whose texts are in memory at once",
        "65537",
    ): _SPEED,
    ("flipcore/store/recorded.py", "LEAST_MB = 500  # limit of the database during a small import", "501"): _SPEED,
    (
        "flipcore/stats/flips/per_readout.py",
        "bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)",
        "2",
    ): "a share of 0 is a factor of 0",
    (
        "flipcore/store/writer.py",
        "if values[:1] == values[-1:] and (values[:1] == [None] or kind != pa.float64()):",
        "values[:1] != values[-1:]",
    ): _SPEED,
    ("flipcore/store/writer.py", "MAX_ROWS = 5_000  # a transaction with so many rows takes no further batch", "5001"): _SPEED,
    ("flipcore/store/writer.py", "while n_rows < MAX_ROWS:", "n_rows <= MAX_ROWS"): _SPEED,
    (
        "flipcore/runs/asking.py",
        "MAX_UNSTORED = 2_000  # batches on their way to the disk; with more of them a run waits",
        "2001",
    ): _SPEED,
    ("flipcore/runs/log_survey.py", "MAX_KNOWN = 50_000", "50001"): _SPEED,
    ("flipcore/runs/plain_import.py", "MAX_CACHED_ITEMS = 20_000  # remembered until their next row", "20001"): _SPEED,
    (
        "flipcore/runs/plain_import.py",
        "_MAX_CACHED_READINGS = 50_000  # readings of different scores that are remembered",
        "50001",
    ): _SPEED,
    ("flipcore/runs/rereading.py", "_BATCH = 2_000", "2001"): _SPEED,
    ("flipcore/runs/rereading.py", "_BLOCK = 256  # answers", "257"): _SPEED,
    ("flipcore/store/connection.py", "yield from (dict(zip(names, row, strict=True)) for row in batch)", "False"): _ZIPPED,
    (
        "flipcore/store/queries/vectors.py",
        'for text_hash, vector in zip(frame["text_hash"], frame["vector"], strict=True)',
        "False",
    ): _ZIPPED,
    ("flipcore/runs/import_batch.py", "columns = map(list, zip(*self.rows.values(), strict=True))", "False"): _ZIPPED,
    ("flipcore/runs/import_batch.py", "cells = dict(zip(self.names, columns, strict=True))", "False"): _ZIPPED,
    (
        "flipcore/store/packing.py",
        "text = json.dumps([*lists, variant_places[start:end].tolist()], ensure_ascii=False)",
        "True",
    ): _ESCAPED,
    (
        "flipcore/store/packing.py",
        "return digest(json.dumps(rule_params(), sort_keys=True), *COLUMNS, *LAYOUT)",
        "False",
    ): "the same parameters in one other order, for all",
    ("flipcore/store/merge_source.py", "start = stream.read(12)", "13"): "a byte more is read and not looked at",
    ("flipcore/store/merge_source.py", "if start[8:12] != _MAGIC:", "13"): "no more than 12 bytes are read",
    (_GUARDED, "return mean, np.sqrt(variance / np.maximum(size - 1, 1e-9))", "0.0100000015"): (
        "below 10 items nothing is tested"
    ),
    (
        _AGREEMENT,
        "codes = np.array([(number_of[x], number_of[y]) for x, y in pairs], dtype=int).reshape(-1, 2)",
        "2",
    ): _LEFT_OPEN,
    (_MATCHING, "rows, control_rows = np.array(pair_rows, dtype=int).reshape(-1, 2).T", "2"): _LEFT_OPEN,
    ("flipcore/stats/base/resample.py", "np.add.at(counts.reshape(-1), added, np.uint8(1))", "2"): _LEFT_OPEN,
    (_AGREEMENT, "pairs = zip(first, second, strict=True)", "False"): "the lines above have compared the lengths",
    (_AGREEMENT, "for unit in zip(*ratings, strict=True):", "False"): "the lines above have compared the lengths",
    (_MATCHING, "for i, j in zip(*linear_sum_assignment(cost), strict=True):", "False"): "an assignment is of pairs",
    (_MATCHING, "deviations[name] = math.sqrt(sum(p * (1 - p) for p in shares) / 2) or 1e-12", "0.0100000000015"): (
        "a subject that all or none have differs in no share"
    ),
    (
        _PREDICTOR,
        "if np.abs(step).max() <= 1e-10:",
        "np.abs(step).max() < 1e-10",
    ): "no step by rounding is exactly the least one",
    (_PREDICTOR, "weights=dict(zip(design.columns, model[-1].coef_[0].tolist(), strict=True)),", "False"): (
        "each column has a coefficient"
    ),
    (_PREDICTOR, 'family_of = dict(zip(frame["item_id"], frame["family"], strict=True))', "False"): _ZIPPED,
    (_EXCLUSION, 'present = set(zip(rows["item_id"], rows["variant"], strict=True))', "False"): _ZIPPED,
    (_EXCLUSION, 'keys = zip(rows["item_id"], rows["variant"], strict=True)', "False"): _ZIPPED,
    (_DIFFICULTY, "for item, source in zip(self.retro, sources, strict=True)", "False"): "each entry has a source here",
    (_DIFFICULTY, "target, retro = zip(*self.pairs, strict=True)", "False"): "each pair has two answers",
    (_DIFFICULTY, 'for item, source in zip(part["item_id"], part["source_id"], strict=True)', "False"): _ZIPPED,
    (_DIFFICULTY, 'for item, role, hit in zip(part["item_id"], part["role"], hits, strict=True):', "False"): _ZIPPED,
    (_DIFFICULTY, 'for probabilities, target in zip(part["probabilities"], part["target"], strict=True):', "False"): _ZIPPED,
    (
        "flipcore/stats/memory/frames.py",
        'published_right = dict(zip(means["item_id"][is_base], means["right"][is_base], strict=True))',
        "False",
    ): _ZIPPED,
    (
        "flipcore/stats/score/error_bar.py",
        "for name, share, low, high in zip(PARTS, value, lows, highs, strict=True):",
        "False",
    ): "each part has a share and its limits",
    (
        _GUARDED,
        "varies = squares - total > 1e-12 * np.maximum(squares, 1e-300)",
        "squares - total >= 1e-12 * np.maximum(squares, 1e-300)",
    ): _TIE,
    (
        "flipcore/stats/score/regression.py",
        "if self.p_small < ERROR and self.high < self.margin + 2 * tango.PRECISION:",
        "self.high <= self.margin + 2 * tango.PRECISION",
    ): _TIE,
    (
        "flipcore/stats/score/regression.py",
        "is_large = self.p_large < ERROR and self.low > self.margin - 2 * tango.PRECISION",
        "self.low >= self.margin - 2 * tango.PRECISION",
    ): _TIE,
    ("flipcore/stats/holdout/verdict.py", "equivalent=False,", "True"): "the margin decides it",
    (_TANGO, "low, high = (b - c) / n, 1.0", "1.51"): "a larger loss has a p of 0 too",
    (_TANGO, "if low < 0:  # the test of 0 decides on which side of the limit 0 lies", "low <= 0"): (
        "where as many broke as mended, no test excludes 0"
    ),
    (_TANGO, "if low < 0:  # the test of 0 decides on which side of the limit 0 lies", "1"): "where the search begins",
    ("flipcore/claims/ranking.py", 'numbers |= {"best": dict(zip(ordered, best.tolist(), strict=True))}', "False"): _RANKED,
    ("flipcore/claims/ranking.py", 'numbers |= {"worst": dict(zip(ordered, worst.tolist(), strict=True))}', "False"): _RANKED,
    (
        "flipcore/claims/ranking.py",
        "firsts = [contest.models[i] for i, rank in zip(ranking, best, strict=True) if rank == 1]",
        "False",
    ): _RANKED,
    ("flipcore/claims/audit_items.py", 'columns = zip(items["target"], items["options"], strict=True)', "False"): _ZIPPED,
    ("flipcore/claims/audit_items.py", "for grouped, p in zip(scores, adjusted, strict=True):", "False"): (
        "each of the scores has a p"
    ),
    (
        "flipcore/claims/holdout.py",
        "p = holm([condition.test(1.0).p for condition in conditions])",
        "1.51",
    ): "the margin moves the p of equivalence, and not that of a difference",
    ("flipcore/claims/holdout.py", "for model_p, estimate in zip(p, estimates, strict=True):", "False"): (
        "each model has an estimate and a p"
    ),
    ("flipcore/runs/background.py", "return cost.usage(by_call.values(), 0.0)", "0.01"): (
        "the seconds that the pilot took stand in their place"
    ),
    ("flipcore/store/commits.py", "_number_file(path).unlink(missing_ok=True)", "False"): (
        "errors of the system are ignored, that of a missing file too"
    ),
    (
        _PACKING,
        'n_readouts += pc.sum(pc.list_value_length(rows["states"])).as_py() or 0',
        "pc.sum(pc.list_value_length(rows['states'])).as_py() and 0",
    ): _UNREAD,
    (_PACKING, 'n_readouts += pc.sum(pc.list_value_length(rows["states"])).as_py() or 0', "1"): _UNREAD,
    (_PACKING, "writer, packer, n_readouts = store.writer, Packer(), 0", "1"): _UNREAD,
    ("flipcore/store/recorded.py", 'return duckdb.connect(":memory:", config={"threads": 1})', "2"): _SPEED,
    (_AUDIT, 'by_column = scored(harmless).groupby(["model", "extractor", "axis"], observed=True)', "False"): (
        "only groups with rows are asked for"
    ),
    (_AUDIT, 'means = part.groupby("variant", observed=True)["score"].mean().dropna()', "False"): (
        "a prompt without rows has no mean"
    ),
    (
        "flipcore/claims/audit_input.py",
        'by_scale = frame.groupby(["task", "extractor"], sort=False, observed=True)',
        "False",
    ): "a group without rows is passed over",
    ("flipcore/claims/audit_input.py", 'by_scale = frame.groupby(["task", "extractor"], sort=False, observed=True)', "True"): (
        "each row gets the ends of its own group"
    ),
    (
        "flipcore/store/queries/paraphrase_states.py",
        "encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)",
        "True",
    ): "numbers without gaps need no copy",
    ("flipcore/store/whole_copy.py", "log.unlink(missing_ok=True)", "False"): "the log was copied a moment before",
    (_ARCHIVING, "Path(path).unlink(missing_ok=True)", "False"): "its rows were read from it a moment before",
    (
        _ARCHIVING,
        "store.writer.transact(_detach_copy, changes=(), writes_here=False).result(60)",
        "True",
    ): "a commit that writes nothing is counted in both places",
    (_ARCHIVING, "writes_here=False,", "True"): "a commit that writes nothing is counted in both places",
    (
        "flipcore/runs/plain_import.py",
        'readout_row = self._builder.readout(readout, prepared.record, item, variant, "", 0, ())',
        "1",
    ): "only the reading of that readout is kept",
    (_SURVEY, "document = Document(number, task, shares_hash=False, is_new=True)", "True"): (
        "rows of a plain table have no hash of a document"
    ),
    (_OWN_PROMPTS, "default_factory=dict, compare=False, repr=False", "True"): "nobody compares or shows plans of prompts",
}
# `zip(…, strict=True)` of two sequences that are made from one, in the same function or object: no
# caller can make them of unequal length -> the lines of a file
_EQUALLY_LONG = {
    "flipcore/stats/audit/suspects.py": (
        "for item_answers, right in zip(answers, keys, strict=True)",
        "return [Suspicion(*summary, score) for summary, score in zip(summaries, scores, strict=True)]",
    ),
    "flipcore/stats/base/gate_rules.py": (
        "(i, j) for i, j in zip(forwards, backwards, strict=True) if i is not None and j is not None",
        "n_changed = sum(i != j for i, j in zip(forwards, backwards, strict=True))",
    ),
    "flipcore/stats/base/joint_means.py": (
        "self.replicates.T, self.values, self.acceleration, strict=True",
        "for n, value in zip(sizes.tolist(), values.tolist(), strict=True)",
    ),
    "flipcore/stats/base/paired.py": (
        "zip(names, (gap, 0.0, t, math.nan, float(t == 0), math.nan, math.nan), strict=True)",
        "return dict(zip(names, (gap, se, gap / se, df, p, gap - half, gap + half), strict=True))",
    ),
    "flipcore/stats/choices/counting.py": ("for choice, number in zip(choices, row, strict=True):",),
    "flipcore/stats/choices/joined.py": ("low, high = zip(*(curve.ends for curve in curves if curve.ends), strict=True)",),
    "flipcore/stats/choices/readouts.py": ("pairs = set(zip(origin_by_item, _categories(item_ids, facts), strict=True))",),
    _EXCLUSION: ("for item, (_, _, pattern) in zip(rates.items, selection, strict=True):",),
    "flipcore/stats/flips/decomposition.py": (
        "for j, ((axis, extractor), cell_rates) in enumerate(zip(cells, rates, strict=True)):",
        "by_name = dict(zip(COLUMNS, (levels[0] for levels in cell_columns), strict=True))",
    ),
    "flipcore/stats/flips/pooled.py": (
        "for j, (group, values) in enumerate(zip(groups, group_values, strict=True)):",
        "by_name = dict(zip(COLUMNS, estimates[j * width : (j + 1) * width], strict=True))",
        "for axis_unread, axis_limits in zip(by_axis, limits, strict=True):",
    ),
    "flipcore/stats/flips/readout_mismatch.py": (
        "return {str(name): float(k / total) for name, k, total in zip(names, n_true, n, strict=True)}",
    ),
    "flipcore/stats/holdout/entries.py": ("for item, name in zip(items, names, strict=True):",),
    "flipcore/stats/holdout/verdict.py": (
        "return [replace(test, p_adjusted=p) for test, p in zip(tests, holm_p, strict=True)]",
        "for test, p in zip(tests, holm([test.p for test in tests]), strict=True)",
    ),
    "flipcore/stats/memory/detectors.py": ("counts = Counter(zip(first_flags, second_flags, strict=True))",),
    "flipcore/stats/memory/gap_decision.py": (
        "share, control_share = (k / max(n, 1) for k, n in zip(n_mended, n_wrong, strict=True))",
        "table = [[k, n - k] for k, n in zip(counts, sizes, strict=True)]",
        "for items, label in zip(sets, labels, strict=True)",
        "drops = dict(zip(sides.benchmark.covered_ids, sides.benchmark.drops, strict=True))",
        "control_drops = dict(zip(sides.control.covered_ids, sides.control.drops, strict=True))",
        "for n, name in zip(counts, names, strict=True):",
    ),
    "flipcore/stats/memory/loss_analysis.py": (
        "ids = tuple(item_id for item_id, keep in zip(item_ids, is_finite, strict=True) if keep)",
    ),
    "flipcore/stats/memory/members.py": (
        'columns = zip(ids, items["question"], items["options"], items["meta"], origins, strict=True)',
        "family = dict(zip(ids, joined_clusters(names, keys), strict=True))",
    ),
    "flipcore/stats/ranking/ways.py": ("for array, column in zip(arrays, columns, strict=True):",),
}
for _file, _lines in _EQUALLY_LONG.items():
    SAME |= dict.fromkeys(((_file, line, "False") for line in _lines), "both are made from one sequence")
_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}
# Put into the copied package. It is in `builtins`, because every module of it calls it, and writes
# to a file, because a test may start the product as another process.
_PROBE = """
import builtins as _builtins, os as _os
_seen_by_probe = set()
def _reached(change):
    test = _os.environ.get("PYTEST_CURRENT_TEST", "")
    if (change, test) not in _seen_by_probe:
        _seen_by_probe.add((change, test))
        try:
            with _builtins.open({log!r}, "a", encoding="utf-8") as log:
                log.write(f"{{change}}\\t{{test}}\\n")
        except OSError:
            pass
_builtins._reached = _reached
"""


@dataclass(frozen=True)
class Change:
    """One change of a module; `before` and `after` are the expression as text.

    `start` and `end` are the offsets of the expression in `module`, the whole file as it stood when
    the change was drawn: somebody may edit it while the tests run.
    """

    path: Path
    line: int
    before: str
    after: str
    start: int
    end: int
    module: bytes = field(repr=False)

    @property
    def file(self) -> str:
        """The module's path in the tree."""
        return str(self.path.relative_to(ROOT))

    @property
    def place(self) -> str:
        """File and line, as an editor opens them."""
        return f"{self.file}:{self.line}"

    @property
    def text_of_line(self) -> str:
        """The line as it stands."""
        return self.module.splitlines()[self.line - 1].decode().strip()

    @property
    def source(self) -> str:
        """The whole module with the change."""
        after = f"({self.after})".encode()
        return (self.module[: self.start] + after + self.module[self.end :]).decode()


def changes(path: Path) -> Iterator[Change]:
    """Yield every change of one module that `altered` knows; annotations and f-strings stay."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _walked(ast.parse(source)):
        for new in altered(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            yield Change(path, node.lineno, ast.unparse(node), ast.unparse(new), start, end, source)


def _walked(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions that are computed when a function is called; f-strings are words, and stay."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.Constant):
                yield child
            yield from _walked(child)


def altered(node: ast.AST) -> list[ast.expr]:
    """What an expression may become: one operator, number or condition is another."""
    match node:
        case ast.Compare(ops=[one]):
            return [ast.Compare(node.left, [_COMPARED[type(one)]()], node.comparators)]
        case ast.BinOp(op=one) if type(one) in _COMPUTED and not _is_text(node):
            return [ast.BinOp(node.left, _COMPUTED[type(one)](), node.right)]
        case ast.BoolOp(op=one):
            return [ast.BoolOp(ast.Or() if isinstance(one, ast.And) else ast.And(), node.values)]
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return [node.operand]
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int(value)):
            return [ast.Constant(value + 1)]
        case ast.Constant(value=float(value)):
            return [ast.Constant(value * 1.5 + 0.01)]
    return []


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple) or isinstance(getattr(one, "value", None), str)
               for one in (node.left, node.right))  # fmt: skip


def drawn(package: str, n: int, seed: int) -> list[Change]:
    """Draw changes of a package, the same ones for a seed and a tree; fewer are the first of more."""
    files = sorted({path for pattern in PACKAGES[package][0].split() for path in ROOT.glob(pattern)})
    candidates = [change for path in files for change in changes(path)]
    order = generator(seed).permutation(len(candidates))
    return [candidates[i] for i in order[:n]]


def probed(path: Path, numbers: dict[Change, int]) -> str:
    """Return the module with a call around each of these expressions that notes it was reached.

    A change in a pattern of `case` has no place for a call, and is left out.
    """
    source = path.read_bytes()
    inserted: list[tuple[int, int, int, str]] = []
    for change, number in numbers.items():
        length = change.end - change.start
        opening = (change.start, 1, -length, f"(_reached({number}), ")
        closing = (change.end, 0, length, ")[1]")
        try:
            compile(_with(source, [opening, closing]), str(path), "exec")
        except SyntaxError:
            continue
        inserted += [opening, closing]
    return _with(source, inserted)


def _with(source: bytes, inserted: Sequence[tuple[int, int, int, str]]) -> str:
    """Insert the texts; where several stand at one place, inner ones close first, outer ones open first."""
    parts, last = [], 0
    for place, _, _, text in sorted(inserted):
        parts += [source[last:place], text.encode()]
        last = place
    return b"".join([*parts, source[last:]]).decode()


@dataclass
class Reach:
    """Which tests reach which change, by the change's number."""

    tests: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    # by a fixture or an import: any test of the file may look at what was computed then
    files: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    seconds: dict[str, float] = field(default_factory=dict)  # of each test that passed, in order
    failed: set[str] = field(default_factory=set)  # files in which a test fails on the copy itself

    def of_change(self, number: int, own_files: Iterable[str]) -> list[str]:
        """Return the tests to run, file by file: those of the module's name, of its folder, then others.

        Files of the module's name run whole, with tests that were written since.
        """
        own = set(own_files)
        files = self.files[number] | own
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in self.seconds:
            file = test.partition("::")[0]
            if test in self.tests[number] or file in files:
                by_file[file].append(test)

        folders = {file.rpartition("/")[0] for file in own}

        def order(file: str) -> tuple[bool, bool, float, str]:
            is_near = file.rpartition("/")[0] in folders
            cpu_s = sum(self.seconds[test] for test in by_file[file])
            return file not in own, not is_near, cpu_s, file

        chosen: list[str] = []
        for file in sorted(by_file, key=order):
            chosen += [file] if file in own - self.failed else by_file[file]
        return chosen

    def beside(self, tests: Sequence[str]) -> list[str]:
        """Return all other tests by file, the cheapest files first: a change at import may be noticed by any."""
        files, single = {test for test in tests if "::" not in test}, set(tests)
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in self.seconds:
            if test not in single and test.partition("::")[0] not in files:
                by_file[test.partition("::")[0]].append(test)
        ordered = sorted(by_file.values(), key=lambda of_file: sum(self.seconds[test] for test in of_file))
        return [test for of_file in ordered for test in of_file]

    def split(self, tests: Sequence[str]) -> list[list[str]]:
        """Return the first seconds of these tests, then parts that end long before CPU_SECONDS."""
        by_file: dict[str, float] = defaultdict(float)
        for test, cpu_s in self.seconds.items():
            by_file[test.partition("::")[0]] += cpu_s
        parts: list[list[str]] = [[]]
        seconds = 0.0
        for test in tests:
            if seconds >= (FIRST_SECONDS if len(parts) == 1 else CPU_SECONDS / 4):
                parts.append([])
                seconds = 0.0
            parts[-1].append(test)
            seconds += self.seconds[test] if "::" in test else by_file[test]
        return [part for part in parts if part]


def own_tests(change: Change) -> list[str]:
    """Return the test files of the module's own name."""
    inside = change.path.relative_to(ROOT / "flipcore")
    found = (ROOT / "tests" / inside.parent).glob(f"test_{inside.stem}*.py")
    return sorted(str(path.relative_to(ROOT)) for path in found)


def importing_tests(change: Change) -> list[str]:
    """Return the test files that import the changed module directly."""
    module = change.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = module.rpartition(".")
    pattern = re.compile(rf"(from|import) {re.escape(module)}\b|from {re.escape(parent)} import .*\b{name}\b")
    files = (ROOT / "tests").rglob("test_*.py")
    return sorted(str(path.relative_to(ROOT)) for path in files if pattern.search(path.read_text("utf-8")))


def find_reach(chosen: Sequence[Change], folders: Sequence[str], work: Path) -> Reach:
    """Run the quick tests of these folders once on a copy that notes which changes they reach.

    Tests that fail there, or look at the source itself, say nothing of a change and are left out.
    """
    log, seconds, done = work / "reached.tsv", work / "seconds.tsv", work / "reached"
    keys = "\n".join(_key(change) for change in chosen)
    if not done.exists() or done.read_text(encoding="utf-8") != keys:
        log.write_text("")
        seconds.write_text("")
        tree = copy_tree(work / "probed")
        numbers: dict[Path, dict[Change, int]] = defaultdict(dict)
        for number, change in enumerate(chosen):
            numbers[change.path][change] = number
        for path, of_path in numbers.items():
            (tree / path.relative_to(ROOT)).write_text(probed(path, of_path), encoding="utf-8")
        package = tree / "flipcore" / "__init__.py"
        package.write_text(with_probe(package.read_text(encoding="utf-8"), log), encoding="utf-8")
        print("Running the quick tests once, to see which of them reach which change.", flush=True)
        pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(N_PROCESSES), "--dist", "loadfile"]
        options = ["-p", "no:cacheprovider", "--seconds", str(seconds)]
        with (work / "tests.log").open("wb") as output:
            subprocess.run([*pytest, *options, *folders], cwd=tree, stdout=output, stderr=output, check=False)
        shutil.rmtree(tree)
        done.write_text(keys, encoding="utf-8")
    return read_reach(log.read_text(encoding="utf-8"), seconds.read_text(encoding="utf-8"))


def with_probe(source: str, log: Path) -> str:
    """Return the package's own module with the function that notes what was reached."""
    body = ast.parse(source).body
    is_head = [isinstance(node, ast.Expr) or getattr(node, "module", "") == "__future__" for node in body]
    n_head = is_head.index(False) if False in is_head else len(body)
    after = body[n_head - 1].end_lineno if n_head else 0
    lines = source.splitlines(keepends=True)
    return "".join([*lines[:after], _PROBE.format(log=str(log)), *lines[after:]])


def read_reach(log: str, seconds: str) -> Reach:
    """Read what the probes and the tests' times say."""
    reach = Reach()
    for line in seconds.splitlines():
        test, cpu_s, outcome = line.rsplit("\t", 2)
        if outcome == "passed":
            reach.seconds[test] = float(cpu_s)
        else:
            reach.failed.add(test.partition("::")[0])
    for line in log.splitlines():
        number, _, current = line.partition("\t")
        test, _, phase = current.rpartition(" ")
        if phase == "(call)":
            reach.tests[int(number)].add(test)
        elif test:
            reach.files[int(number)].add(test.partition("::")[0])
        else:
            reach.tests[int(number)].add("")  # at import, or by a process that knows no test
    return reach


def copy_tree(folder: Path) -> Path:
    """Copy the tree to a new folder, without what git and tools keep."""
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "*.duckdb*")
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def tests_of(number: int, change: Change, reach: Reach) -> list[str]:
    """Return the tests that can notice a change, in the order in which they run."""
    own = own_tests(change)
    if "" in reach.tests[number] or not (reach.tests[number] or reach.files[number]):
        own = sorted({*own, *importing_tests(change)})
        near = reach.of_change(number, own)
        return [*near, *reach.beside(near)]
    return reach.of_change(number, own)


def outcome_of(change: Change, parts: Sequence[Sequence[str]], tree: Path) -> str:
    """Run the tests, part by part, on a changed copy of the tree, which is put right again."""
    copy = tree / change.file
    whole = copy.read_text(encoding="utf-8")
    copy.write_text(change.source, encoding="utf-8")
    try:
        outcome = SURVIVED
        for tests in parts:
            if outcome == SURVIVED:
                outcome = _tested(tree, tests)
        return outcome
    finally:
        copy.write_text(whole, encoding="utf-8")


def _tested(tree: Path, tests: Sequence[str]) -> str:
    listed = tree / "tests_of_a_change.txt"  # too many for a command line
    listed.write_text("\n".join(tests), encoding="utf-8")
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    limit = ["bash", "-c", f'ulimit -t {CPU_SECONDS}; exec "$@"', "bash"]
    command = [*limit, *pytest, f"@{listed.name}"]
    try:
        run = subprocess.run(command, cwd=tree, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return NOT_FINISHED
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return NOT_FINISHED
    return SURVIVED if run.returncode in (0, 5) else NOTICED


def rows_of(package: str, outcomes: dict[Change, str], seed: int) -> list[str]:
    """Return a package's lines of the table. What did not finish is counted apart, as neither."""
    survivors = [change for change, outcome in outcomes.items() if outcome == SURVIVED]
    late = [change for change, outcome in outcomes.items() if outcome == NOT_FINISHED]
    n = len(outcomes)
    n_same = sum(bool(_reason(change)) for change in survivors)
    finished = n - n_same - len(late)
    n_noticed = finished - (len(survivors) - n_same)
    share = n_noticed / max(finished, 1)
    counts = f"{n} | {n_same} | {len(late)} | {n_noticed} of {finished} | {share:.2f} | {seed}"
    lines = [f"| {package} | {counts} |"]
    for change in survivors:
        lines.append(f"<!-- {package} --> - {_shown(change)}{_reason(change)}")
    for change in late:
        lines.append(f"<!-- {package} --> - {NOT_FINISHED}: {_shown(change)}")
    return lines


def _shown(change: Change) -> str:
    return f"`{change.place}` `{change.before}` → `{change.after}`"


def _reason(change: Change) -> str:
    reason = SAME.get((change.file, change.text_of_line, change.after), "")
    return f": {reason}" if reason else ""


def keep(package: str, lines: list[str]) -> None:
    """Put the package's lines in the place of its older ones in the table."""
    stored = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    of_packages = [line for line in stored if line.startswith(("| ", "<!-- ")) and not line.startswith(("| package", "| ---"))]
    others = [line for line in of_packages if not re.match(rf"(\| {package} \||<!-- {package} -->)", line)]
    rows = sorted(line for line in [*others, *lines] if line.startswith("| "))
    notes = sorted(line for line in [*others, *lines] if line.startswith("<!-- "))
    head = ["# Changes of the core that the quick tests notice", "", *(__doc__ or "").splitlines()[2:], ""]
    head += ["| package | changes | that change nothing | not finished | noticed | share | seed |", "|" + " --- |" * 7]
    TABLE.write_text("\n".join([*head, *rows, "", "Survivors:", "", *notes]) + "\n", encoding="utf-8")


def _key(change: Change) -> str:
    """Name a change in the file of outcomes; one of a module that was edited since is another."""
    return hashlib.sha256(f"{change.file}\0{change.source}".encode()).hexdigest()[:16]


def main(arguments: list[str] | None = None) -> int:
    """Make the changes in turn, say which survive, and return 0 when all are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--package", nargs="+", choices=tuple(PACKAGES), default=list(PACKAGES))
    parser.add_argument("--n", type=int, default=30, help="changes per package (default 30)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no change after them")
    parser.add_argument("--processes", type=int, default=2, help="changes at a time (default 2)")
    parser.add_argument("--again", action="store_true", help="try survivors that --work knows again")
    parser.add_argument("--work", type=Path, help="keep what was found in this folder, and go on there")
    parser.add_argument("--keep", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="flipscope-mutants-") as folder:
        work = options.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        return _run(options, work.resolve())


def _run(options: argparse.Namespace, work: Path) -> int:
    end = time.monotonic() + 60 * options.minutes
    # One change of each package in turn: a run that is stopped has as many of each.
    by_package = {package: drawn(package, options.n, options.seed) for package in options.package}
    in_turn = []
    for i in range(options.n):
        in_turn += [(package, by_package[package][i]) for package in by_package if i < len(by_package[package])]
    chosen = [change for _, change in in_turn]
    folders = sorted({folder for package in by_package for folder in PACKAGES[package][1].split()})
    reach = find_reach(chosen, folders, work)
    found = work / "outcomes.jsonl"
    known = {}
    if found.exists():
        known = dict(json.loads(line) for line in found.read_text(encoding="utf-8").splitlines())
    outcomes: dict[str, dict[Change, str]] = {package: {} for package in by_package}
    trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(options.processes):
        trees.put(copy_tree(work / f"tree-{number}"))

    def try_change(number: int, package: str, change: Change) -> tuple[str, Change, str]:
        outcome = known.get(_key(change), "")
        is_tried = outcome == NOTICED or (outcome and not options.again)
        if is_tried or time.monotonic() >= end:
            return package, change, outcome
        tests = tests_of(number, change, reach)
        tree = trees.get()
        try:
            outcome = outcome_of(change, reach.split(tests), tree)
        finally:
            trees.put(tree)
        with found.open("a", encoding="utf-8") as file:
            file.write(json.dumps([_key(change), outcome]) + "\n")
        shown = f"{outcome}: {change.place} {change.before} -> {change.after}{_reason(change)}"
        print(f"{package} {shown} ({len(tests)} tests)", flush=True)
        return package, change, outcome

    with ThreadPoolExecutor(options.processes) as threads:
        tries = [threads.submit(try_change, number, package, change) for number, (package, change) in enumerate(in_turn)]
        for tried in tries:
            package, change, outcome = tried.result()
            if outcome:
                outcomes[package][change] = outcome
    for _ in range(options.processes):
        shutil.rmtree(trees.get())
    n_lacking = 0
    for package, of_package in outcomes.items():
        lines = rows_of(package, of_package, options.seed)
        print("\n".join(lines), flush=True)
        n_lacking += sum(outcome == SURVIVED and not _reason(change) for change, outcome in of_package.items())
        if options.keep:
            keep(package, lines)
    return 1 if n_lacking else 0


if __name__ == "__main__":
    sys.exit(main())
