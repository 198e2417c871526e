"""Clusters of a study's items, in SQL: the one place where clusters are made.

Items share a cluster where they were made from one item, template or passage (`source_id`), and
where they ask the same question under several ids: the model's answers to it are no independent
observations. Items whose right answers or recorded prompts differ ask different things, whatever
their question says: a log may keep a passage in the prompt and out of the question.

Clusters with a question in common are joined. Each round of `min` reaches one step further; two
rounds of both kinds are enough for any chain that real files have. A study's clusters depend on
its own items alone, so that a study says the same in every file that holds it.
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
