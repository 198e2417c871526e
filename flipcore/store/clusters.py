"""Clusters of a study's items, in SQL.

Items share a cluster if they were made from the same item, template or passage (`source_id`), or
ask the same question under several ids. Answers to such items are not independent. Items with
different right answers or recorded prompts ask different questions, even if their question texts
agree, because a log may have the passage only in the prompt.

Clusters with a common question are joined. Each step of `min` joins along one more link of a chain;
two steps by question and two by source are enough for real files. A study's clusters depend only on
its own items, so that they are the same in every database.
"""

from flipcore.text.same_question import NO_QUESTION

CLUSTERS = f"""
WITH of_study AS (
    SELECT i.item_id, coalesce(q.source_id, i.item_id) AS source,
           if(trim(q.question) IN ('', '{NO_QUESTION}'), i.item_id,
              coalesce(k.key, i.item_id)
                  || coalesce(q.options[TRY_CAST(q.target AS INTEGER) + 1], q.target, '')) AS key
    FROM study_items i JOIN items q USING (item_id)
    LEFT JOIN questions.keys k ON k.item_id = i.item_id AND k.is_own AND k.variant_id = ''
    WHERE i.study_id = $study_id),
repeated AS (SELECT item_id FROM of_study QUALIFY count(*) OVER (PARTITION BY key) > 1),
prompts AS (
    SELECT v.item_id, min(md5(w.parts::VARCHAR || w.system)) AS prompt
    FROM repeated r JOIN study_variants v USING (item_id) JOIN variants w USING (variant_id)
    WHERE v.study_id = $study_id AND v.key = 'base' AND w.parts->>'$[0][0]' = 'recorded'
    GROUP BY v.item_id),
keyed AS (
    SELECT o.item_id, o.source, o.key || coalesce(p.prompt, '') AS key
    FROM of_study o LEFT JOIN prompts p USING (item_id)),
first AS (SELECT item_id, source, key, min(source) OVER (PARTITION BY key) AS cluster FROM keyed),
second AS (SELECT * REPLACE (min(cluster) OVER (PARTITION BY source) AS cluster) FROM first),
third AS (SELECT * REPLACE (min(cluster) OVER (PARTITION BY key) AS cluster) FROM second)
SELECT item_id, min(cluster) OVER (PARTITION BY source) AS family FROM third
"""
JOIN_CLUSTERS = f"JOIN ({CLUSTERS}) family_of USING (item_id)"
