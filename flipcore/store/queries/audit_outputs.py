"""Queries of the audit on the outputs themselves: repeats, refusals, empty texts, lengths."""

import warnings
from dataclasses import dataclass

import pandas as pd

from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

# Each written output of the study once, whatever extractors read it, and what the tables below
# need of its text. A text may be long and its hash is not, so the texts stay in the file.
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

# Beginnings of a refusal in short texts. An answer that goes on after an apology is none.
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
    """`reruns`: prompts that were asked again, one row per model and temperature; `n_same` prompts
    brought one text each time, `n_timed` of them in exactly the same time; `n_chars` is the mean
    length. `named`: outputs that are empty or begin as a refusal does, one row each. `lengths`: how
    many outputs have which length, and whether those end in the middle of a sentence.
    """

    reruns: pd.DataFrame
    named: pd.DataFrame
    lengths: pd.DataFrame


def output_tables(store: Store, study_id: str) -> OutputTables:
    """Return what the study's written outputs look like.

    The outputs are looked up once for the three tables: planning that query takes most of the
    time of a small study, and reading the texts most of a large one's.
    """
    with store.cursor() as cursor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DuckDB 2.0 warns about the strings of pandas 3
        cursor.execute(_WRITTEN, {"study_id": study_id, "refusal": _REFUSAL})
        try:
            tables = (cursor.execute(sql).df() for sql in (_RERUNS, _REFUSALS_AND_EMPTY, _LENGTHS))
            return OutputTables(*tables)
        finally:
            cursor.execute("DROP TABLE written")
