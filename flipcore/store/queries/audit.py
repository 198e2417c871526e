"""Queries for a study's audit: calls, items, prompts, outputs, and how outputs ended."""

import warnings
from dataclasses import dataclass

import pandas as pd

from flipcore.core.finish import ENDED_EARLY
from flipcore.core.records import CONTINUATION
from flipcore.core.study import FILES_OF_REPORTED, REMARKS, Study
from flipcore.extractors import EXTRACTORS
from flipcore.store.clusters import JOIN_CLUSTERS
from flipcore.store.connection import Store
from flipcore.store.harmless import answer_params
from flipcore.store.visible import OPEN

# The kind of an error, such as RateLimitError, or its first words. Messages may hold ids of calls.
_ERROR = r"""if(c.status = 'failed', coalesce(
    nullif(regexp_extract(c.error, '[A-Za-z]+(Error|Exception|Timeout)\b'), ''),
    regexp_extract(c.error, '^([^.:;,\n{\[]{3,40})([.:;,\n]|$)', 1)), '')"""
# A continuation is asked for with a fixed length, so its end does not count as cut off.
_CALLS = f"""
WITH sources AS (SELECT s.call_id, bool_or({OPEN}) AS is_open,
    bool_or(v.layout = $continuation) AS is_continuation
                 FROM readout_sources s JOIN study_items i USING (study_id, item_id) JOIN variants v
                     USING (variant_id)
                 WHERE s.study_id = $study_id GROUP BY s.call_id)
SELECT c.model, c.status, if(coalesce(t.is_continuation, false), '',
    c.finish_reason) AS finish_reason,
       TRY_CAST(c.request->>'$.max_tokens' AS BIGINT) AS max_tokens,
       {_ERROR} AS error, count(*) AS n
FROM study_calls s JOIN completions c USING (call_id) LEFT JOIN sources t USING (call_id)
WHERE s.study_id = $study_id AND coalesce(t.is_open, true) GROUP BY ALL
"""
_ITEMS = f"""
SELECT i.item_id, q.question, q.options, q.target, q.category, family_of.family,
       coalesce(q.meta->>'$.task', '') AS task
FROM study_items i JOIN items q USING (item_id) {JOIN_CLUSTERS}
WHERE i.study_id = $study_id AND {OPEN} ORDER BY i.position
"""


def calls(store: Store, study_id: str) -> pd.DataFrame:
    """Count the study's calls by model, status, finish reason, token limit and error. Calls that
    belong only to set-aside items are left out."""
    return store.frame(_CALLS, study_id=study_id, continuation=CONTINUATION)


def items(store: Store, study_id: str) -> pd.DataFrame:
    """Return the study's open items, with the columns in which they may contradict each other.
    `task` is "" except for tables whose rows name their task."""
    return store.frame(_ITEMS, study_id=study_id)


_PROMPTS = f"""
SELECT i.item_id, min(array_to_string(w.parts->>'$[*][1]', '')) AS prompt,
       arg_min(w.system, array_to_string(w.parts->>'$[*][1]', '')) AS system
FROM study_items i JOIN study_variants v USING (study_id, item_id) JOIN variants w
    USING (variant_id)
WHERE i.study_id = $study_id AND v.key = 'base' AND {OPEN} GROUP BY i.item_id, i.position
    ORDER BY i.position, i.item_id
"""


def prompts(store: Store, study_id: str) -> pd.DataFrame:
    """Return the base prompt and system message of each open item. Where models had different base
    prompts, one of them is chosen by the same rule for all items."""
    return store.frame(_PROMPTS, study_id=study_id)


def facts(study: Study) -> list[dict]:
    """Return contradictions in a study's imported logs, as rows with `about` and `sentence`."""
    rows: list[dict] = []
    for source in study.items:
        rows += [*source.options.get("facts", ()), *source.options.get(REMARKS, ())]
    return rows


def reported(study: Study) -> list[dict]:
    """Return the scores that the logs of an imported study report. Where the study has several
    logs, `file` is the revision of the score's log."""
    scores = []
    for source in study.items:
        own_scores = source.options.get("reported", ())
        files = source.options.get(FILES_OF_REPORTED) or [""] * len(own_scores)
        for score, file in zip(own_scores, files, strict=True):
            scores.append({**score, "file": file} if file else dict(score))
    return scores


_FILES = f"""
SELECT DISTINCT s.model, s.item_id, s.variant_id, s.sample, c.revision AS file
FROM readout_sources s JOIN study_items i USING (study_id, item_id) JOIN completions c
    USING (call_id)
WHERE s.study_id = $study_id AND s.position = 0 AND {OPEN}
"""


def files_of_outputs(store: Store, study_id: str) -> pd.DataFrame:
    """Return the revision of the log that each output of an imported study came from."""
    return store.frame(_FILES, study_id=study_id)


def notes(study: Study) -> list[str]:
    """Return the sentences that the import stored."""
    sentences: list[str] = []
    for source in study.items:
        sentences += source.options.get("notes", ())
    return sentences


_ENDINGS = f"""
WITH answers AS (
    SELECT DISTINCT r.model, r.extractor, r.item_id, r.variant_id, r.sample, r.status,
        c.finish_reason, call_id,
           r.extractor IN (SELECT unnest($ours)) AS is_ours,
           CAST(json_extract(c.request, '$.max_tokens') AS INTEGER) AS max_tokens
    FROM readouts r JOIN study_items i USING (study_id, item_id)
    JOIN readout_sources s USING (study_id, model, item_id, axis, variant_id, sample, extractor)
    JOIN variants v USING (variant_id) JOIN completions c USING (call_id)
    WHERE r.study_id = $study_id AND {OPEN} AND s.position = 0 AND r.status <> 'absent'
        AND c.text IS NOT NULL
      -- a result without text and reason had no text that could end
      AND (c.text <> '' OR c.finish_reason <> '')
      AND json_extract_string(c.request, '$.kind') = 'generate' AND v.layout <> $continuation
      AND r.extractor NOT IN (SELECT unnest($values)))
, by_call AS (SELECT call_id, bool_or(is_ours) AS is_read, bool_or(status = 'cut') AS is_cut
    FROM answers GROUP BY call_id)
SELECT model, extractor, count(*) AS n_answers,
       count(*) FILTER (status = 'cut' OR (NOT is_ours
           AND if(is_read, is_cut, finish_reason IN (SELECT unnest($early))
               AND max_tokens IS DISTINCT FROM 1))) AS n_cut,
       count(*) FILTER (status <> 'cut' AND finish_reason = '') AS n_not_recorded,
           max(max_tokens) AS max_tokens
FROM answers JOIN by_call USING (call_id) GROUP BY model, extractor ORDER BY model, extractor
"""


def endings(store: Store, study_id: str) -> pd.DataFrame:
    """Count written answers to open items, one row per model and extractor.

    Each answer counts once, even if its prompt is under several axes. Columns are `n_answers`,
    `n_cut`, `n_not_recorded` (without a finish reason) and `max_tokens` (0 if unknown). A log's own
    scorer marks no answer as cut off. So its answers count as cut off if one of our extractors
    says so. Where none of ours read them, they count if they ended early.
    """
    return store.frame(
        _ENDINGS,
        study_id=study_id,
        continuation=CONTINUATION,
        ours=list(EXTRACTORS),
        early=list(ENDED_EARLY),
        **answer_params(),
    )


# The outputs themselves: repeats, refusals, empty texts, lengths.

# One row per written output of the study, with the columns that the tables below need. Hashes
# stand for texts, which may be long and stay in the file.
_WRITTEN = f"""
CREATE TEMP TABLE written AS
WITH sources AS (
    SELECT DISTINCT s.model, s.item_id, s.variant_id, s.sample, s.call_id
    FROM readout_sources s JOIN study_items i USING (study_id, item_id)
    WHERE s.study_id = $study_id AND s.position = 0 AND {OPEN}
)
SELECT s.model, s.item_id, s.variant_id, s.sample, c.finish_reason, c.n_tokens_out, c.latency_s,
       TRY_CAST(c.request->>'$.temperature' AS DOUBLE) AS temperature,
       TRY_CAST(c.request->>'$.max_tokens' AS BIGINT) AS max_tokens,
       hash(c.text) AS text_hash, length(c.text) AS n_chars, c.text <> '' AS has_text,
       regexp_matches(c.text, '^\\s*$') AS is_empty,
       length(c.text) < 500 AND regexp_matches(lower(c.text), $refusal) AS is_refusal,
       NOT regexp_matches(c.text, '[.!?…。！？)\\]}}>"''”’`*$|0-9]\\s*$') AS ends_open
FROM sources s JOIN completions c USING (call_id)
WHERE c.status = 'ok' AND c.request->>'$.kind' = 'generate' AND c.raw_reply = ''
"""
_RERUNS = """
WITH prompts AS (
    SELECT model, temperature, item_id, variant_id, count(*) AS n,
           count(DISTINCT text_hash) AS n_texts,
           count(latency_s) = count(*) AND count(DISTINCT latency_s) = 1 AND min(latency_s) > 0
               AS is_same_time,
           avg(n_chars) AS n_chars
    FROM written WHERE has_text GROUP BY ALL HAVING count(*) > 1
)
SELECT model, temperature, count(*) AS n_items, sum(n)::BIGINT AS n_outputs,
       count(*) FILTER (n_texts = 1) AS n_same,
       count(*) FILTER (n_texts = 1 AND is_same_time) AS n_timed, avg(n_chars) AS n_chars
FROM prompts GROUP BY ALL ORDER BY ALL
"""
_REFUSALS_AND_EMPTY = """
SELECT model, item_id, variant_id, sample, if(is_empty, 'empty', 'refusal') AS what
FROM written WHERE is_empty OR finish_reason = 'refusal' OR is_refusal
ORDER BY ALL
"""
_LENGTHS = """
SELECT model, max_tokens, finish_reason, n_tokens_out, n_chars, ends_open,
       count(*) AS n, count(DISTINCT text_hash) AS n_texts
FROM written WHERE has_text GROUP BY ALL ORDER BY ALL
"""

# How a refusal begins, in short texts. An answer that goes on after an apology is no refusal.
_REFUSAL = (
    r"^\W*(i('|’)?m (very |so |really )?sorry|i am (very |so |really )?sorry|sorry|i apologi[sz]e|"
    r"unfortunately|as an ai( language model| assistant)?)?[\s,.:;–—-]*(but )?"
    r"i(\s*('|’)m| am)?\s*(can('|’)?t|cannot|can not|unable to|not able to|won('|’)?t|will not|"
    r"must decline to|have to decline to)\s+"
    r"(help|assist|comply|fulfil|provide|answer|support|engage|discuss|create|generate|write|do"
    r" that|"
    r"participate|continue|share)"
    r"|^\W*(es tut mir leid|tut mir leid)[\s,]*(aber )?(ich kann|dabei kann ich|das kann ich)"
    r"|^\W*(je suis désolée?|désolée?)[\s,]*(mais )?je ne (peux|puis)"
    r"|^\W*lo siento[\s,]*(pero )?no puedo"
    r"|^\W*(很?抱歉|对不起)[，,\s]*(但)?我?(无法|不能)"
)


@dataclass(frozen=True)
class OutputTables:
    """Tables on a study's written outputs.

    - `reruns`: prompts that were asked repeatedly, one row per model and temperature. `n_same`
      prompts had the same text each time, `n_timed` of them in exactly the same time; `n_chars` is
      the mean length.
    - `named`: one row per output that is empty or begins like a refusal
    - `lengths`: number of outputs by length, and whether they end in the middle of a sentence
    """

    reruns: pd.DataFrame
    named: pd.DataFrame
    lengths: pd.DataFrame


def output_tables(store: Store, study_id: str) -> OutputTables:
    """Return tables on the study's written outputs. One query finds the outputs for all three
    tables. For a small study most of the time goes into planning this query, for a large one into
    reading the texts."""
    with store.cursor() as cursor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DuckDB 2.0 warns about the strings of pandas 3
        cursor.execute(_WRITTEN, {"study_id": study_id, "refusal": _REFUSAL})
        try:
            tables = (cursor.execute(sql).df() for sql in (_RERUNS, _REFUSALS_AND_EMPTY, _LENGTHS))
            return OutputTables(*tables)
        finally:
            cursor.execute("DROP TABLE written")
