"""Queries of the audit on the outputs themselves: repeats, refusals, empty texts, lengths."""

import pandas as pd

from flipcore.store.connection import Store
from flipcore.store.visible import OPEN

# each written output of the study once, whatever extractors read it
_OUTPUTS = f"""
WITH sources AS (
    SELECT DISTINCT s.model, s.item_id, s.variant_id, s.sample, s.call_id
    FROM readout_sources s JOIN study_items i USING (study_id, item_id)
    WHERE s.study_id = $study_id AND s.position = 0 AND {OPEN}
),
written AS (
    SELECT s.*, c.text, c.finish_reason, c.n_tokens_out, c.latency_s,
           TRY_CAST(c.request->>'$.temperature' AS DOUBLE) AS temperature,
           TRY_CAST(c.request->>'$.max_tokens' AS BIGINT) AS max_tokens
    FROM sources s JOIN completions c USING (call_id)
    WHERE c.status = 'ok' AND c.request->>'$.kind' = 'generate' AND c.raw_reply = ''
)
"""
_RERUNS = (
    _OUTPUTS
    + """
, prompts AS (
    SELECT model, temperature, item_id, variant_id, count(*) AS n, count(DISTINCT text) AS n_texts,
           count(latency_s) = count(*) AND count(DISTINCT latency_s) = 1 AND min(latency_s) > 0
               AS is_same_time,
           avg(length(text)) AS n_chars
    FROM written WHERE text <> '' GROUP BY ALL HAVING count(*) > 1
)
SELECT model, temperature, count(*) AS n_items, sum(n)::BIGINT AS n_outputs,
       count(*) FILTER (n_texts = 1) AS n_same,
       count(*) FILTER (n_texts = 1 AND is_same_time) AS n_timed, avg(n_chars) AS n_chars
FROM prompts GROUP BY ALL ORDER BY ALL
"""
)


def reruns(store: Store, study_id: str) -> pd.DataFrame:
    """Prompts that were asked again, one row per model and temperature.

    `n_same` prompts brought one text each time, `n_timed` of them in exactly the same time;
    `n_chars` is the mean length.
    """
    return store.frame(_RERUNS, study_id=study_id)


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
_REFUSALS_AND_EMPTY = (
    _OUTPUTS
    + """
SELECT model, item_id, variant_id, sample, if(regexp_matches(text, '^\\s*$'), 'empty',
    'refusal') AS what
FROM written
WHERE regexp_matches(text, '^\\s*$') OR finish_reason = 'refusal'
   OR (length(text) < 500 AND regexp_matches(lower(text), $refusal))
ORDER BY ALL
"""
)


def named_outputs(store: Store, study_id: str) -> pd.DataFrame:
    """Outputs that are empty or begin as a refusal does, one row each."""
    return store.frame(_REFUSALS_AND_EMPTY, study_id=study_id, refusal=_REFUSAL)


_LENGTHS = (
    _OUTPUTS
    + """
SELECT model, max_tokens, finish_reason, n_tokens_out, length(text) AS n_chars,
       NOT regexp_matches(text, '[.!?…。！？)\\]}>"''”’`*$|0-9]\\s*$') AS ends_open,
       count(*) AS n, count(DISTINCT text) AS n_texts
FROM written WHERE text <> '' GROUP BY ALL ORDER BY ALL
"""
)


def lengths(store: Store, study_id: str) -> pd.DataFrame:
    """Return how many outputs have which length, and whether those end in the middle of a
    sentence."""
    return store.frame(_LENGTHS, study_id=study_id)
