-- The data dictionary of Flipscope. One file, data/flips.duckdb. Ids are content hashes, so files merge as a union.
--
-- Code lists no table and no column: it reads this file. What a second row with a known key does stands in the comments at the
-- end. Without one the first row stays.

CREATE TABLE IF NOT EXISTS store_info (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- One question with its target. Canonical answers are text: an option's index in the item's own order, or an exact number.
CREATE TABLE IF NOT EXISTS items (
    item_id   TEXT PRIMARY KEY,
    dataset   TEXT NOT NULL,
    kind      TEXT NOT NULL,            -- choice | number | text | completion
    question  TEXT NOT NULL,
    options   TEXT[] NOT NULL,
    target    TEXT,                     -- canonical; several right answers stand one a line
    category  TEXT NOT NULL,
    published DATE,
    solution  TEXT NOT NULL,
    source_id TEXT,                     -- the item this one was made from
    meta      JSON NOT NULL
);

-- A declared experiment and how far it got.
CREATE TABLE IF NOT EXISTS studies (
    study_id     TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    toml         TEXT NOT NULL,
    code_version TEXT NOT NULL,
    state        TEXT NOT NULL,         -- planned | running | done | incomplete | cancelled | over_budget | failed
    message      TEXT NOT NULL,         -- a sentence for people about that state
    n_calls      BIGINT,                -- planned calls, where they can be counted beforehand
    created_at   TIMESTAMPTZ NOT NULL,
    started_at   TIMESTAMPTZ,
    ended_at     TIMESTAMPTZ,
    plugins      JSON DEFAULT '[]',     -- [{kind, name, package, version}, ...] of those that are not Flipscope's own
    plan_hash    TEXT DEFAULT ''        -- what it was planned from when it last ended done, and its item_runs then; '' is not known
);

-- Membership: the role belongs to the item's place in a study. Confirmatory items are shown only under a lock.
CREATE TABLE IF NOT EXISTS study_items (
    study_id TEXT, item_id TEXT, role TEXT NOT NULL, position INTEGER NOT NULL, confirmatory BOOLEAN NOT NULL,
    since    TIMESTAMPTZ,               -- when two sets that are no study set it aside; items of a study share its created_at
    PRIMARY KEY (study_id, item_id)
);

-- One way of asking an item. The same prompt of the same item is one row, whatever the axis.
CREATE TABLE IF NOT EXISTS variants (
    variant_id TEXT PRIMARY KEY,
    item_id    TEXT NOT NULL,
    system     TEXT NOT NULL,
    parts      JSON NOT NULL,           -- [[name, text], ...]; the prompt is their concatenation
    option_order INTEGER[] NOT NULL,    -- position -> index in the item's own order
    labels     TEXT[] NOT NULL,
    layout     TEXT NOT NULL,
    target     TEXT
);

CREATE TABLE IF NOT EXISTS study_variants (
    study_id TEXT, item_id TEXT, axis TEXT, variant_id TEXT,
    key           TEXT NOT NULL,        -- its name within the axis: base, rotate-1, ...
    position      INTEGER NOT NULL,
    compared_with TEXT NOT NULL,        -- key of the variant it is compared with
    material_id   TEXT,                 -- paraphrases.pair_id it was made from
    params        JSON NOT NULL,
    PRIMARY KEY (study_id, item_id, axis, variant_id)
);

-- What a model sent back, stored once for all studies; a failed call is a row too.
CREATE TABLE IF NOT EXISTS completions (
    call_id      TEXT PRIMARY KEY,
    model        TEXT NOT NULL,
    revision     TEXT NOT NULL,
    simulated    BOOLEAN NOT NULL,
    request      JSON NOT NULL,         -- kind, prompt, system, continuation and all sampling parameters
    sample       INTEGER NOT NULL,
    parent_id    TEXT,                  -- the completion that a judge was shown
    status       TEXT NOT NULL,         -- ok | failed
    text         TEXT NOT NULL,
    finish_reason TEXT NOT NULL,        -- stop | length | content_filter | open_reasoning | refusal | ''; '' is not recorded
    tokens       JSON,                  -- [[text, nats], ...] or NULL where none came
    top_logprobs JSON,                  -- {token: nats} of the first token, or NULL
    n_tokens_in  BIGINT, n_tokens_out BIGINT,
    cost_usd     DOUBLE,                -- NULL where the price is unknown
    latency_s    DOUBLE,
    n_attempts   INTEGER NOT NULL,
    error        TEXT NOT NULL,
    raw_reply    TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    reasoning    TEXT DEFAULT '',       -- what the model wrote before its answer; no extractor reads it
    n_lost       INTEGER DEFAULT 0,     -- attempts that were sent and brought no answer; they may have been billed
    n_tokens_reasoning BIGINT,          -- those of n_tokens_out that are reasoning; NULL where the server does not say
    spread       JSON,                  -- [[mean, sd], ...] in nats over the vocabulary, one a token, or NULL where not asked
    other_model  TEXT DEFAULT ''        -- the model's name in the reply, where it is not the model that was asked
);

CREATE TABLE IF NOT EXISTS study_calls (study_id TEXT, call_id TEXT, PRIMARY KEY (study_id, call_id));

-- What was paid for, one row a completion that was bought, or a call that was cut off and may have been billed; a budget is kept over
-- all runs of a study.
CREATE TABLE IF NOT EXISTS purchases (
    purchase_id TEXT PRIMARY KEY,
    study_id    TEXT NOT NULL,          -- who paid: a study, a survey (its id), or proposals (paraphrases.generator)
    call_id     TEXT NOT NULL,
    cost_usd   DOUBLE NOT NULL,         -- as billed; the most it can have cost where the server counted no tokens
    bound_usd  DOUBLE NOT NULL,         -- the most that was expected, from the bytes sent and the tokens allowed
    created_at TIMESTAMPTZ NOT NULL
);

-- Budgets that were set after a study was declared; the latest counts, else the declaration's own.
CREATE TABLE IF NOT EXISTS budgets (
    budget_id TEXT PRIMARY KEY, study_id TEXT NOT NULL, budget_usd DOUBLE NOT NULL, author TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- The one table that every statistic reads.
CREATE TABLE IF NOT EXISTS readouts (
    study_id TEXT, model TEXT, item_id TEXT, axis TEXT, variant_id TEXT, sample INTEGER, extractor TEXT,
    status        TEXT NOT NULL,        -- ok | unreadable (a NULL answer) | cut (ended before the answer)
                                        -- | absent (missing); neither of the last two is ever a flip
    answer        TEXT,                 -- canonical
    value         DOUBLE,               -- nats or a similarity
    is_correct    BOOLEAN,
    span_start    INTEGER, span_end INTEGER,
    reason        TEXT NOT NULL,        -- why nothing was read
    probabilities JSON NOT NULL,        -- [[canonical option, share], ...]
    label_mass    DOUBLE,               -- NULL where unknown
    PRIMARY KEY (study_id, model, item_id, axis, variant_id, sample, extractor)
);

-- Readouts that came after a lock of their items: shown and counted by none, for what is under a lock stays as it was.
CREATE TABLE IF NOT EXISTS late_readouts (
    study_id TEXT, model TEXT, item_id TEXT, axis TEXT, variant_id TEXT, sample INTEGER, extractor TEXT,
    status TEXT NOT NULL, answer TEXT, value DOUBLE, is_correct BOOLEAN, span_start INTEGER, span_end INTEGER,
    reason TEXT NOT NULL, probabilities JSON NOT NULL, label_mass DOUBLE,
    PRIMARY KEY (study_id, model, item_id, axis, variant_id, sample, extractor)
);

-- Which completions a readout was read from, in order.
CREATE TABLE IF NOT EXISTS readout_sources (
    study_id TEXT, model TEXT, item_id TEXT, axis TEXT, variant_id TEXT, sample INTEGER, extractor TEXT,
    position INTEGER, call_id TEXT NOT NULL,
    PRIMARY KEY (study_id, model, item_id, axis, variant_id, sample, extractor, position)
);

-- An item that a model was asked to its end: what was planned for it (a hash), and what came of it. A run that is resumed passes
-- the item over while that holds and its readouts and their completions are there.
CREATE TABLE IF NOT EXISTS item_runs (
    study_id TEXT, model TEXT, item_id TEXT,
    plan_hash  TEXT NOT NULL,
    n_calls    INTEGER NOT NULL,
    n_readouts INTEGER NOT NULL,
    n_answers  INTEGER NOT NULL,        -- completions that a written answer was to be read from
    n_cut      INTEGER NOT NULL,        -- those of them that were cut off
    PRIMARY KEY (study_id, model, item_id)
);

-- Rewordings; what stands is derived from the verdicts, which are only ever added to.
CREATE TABLE IF NOT EXISTS paraphrases (
    pair_id    TEXT PRIMARY KEY,
    dataset    TEXT NOT NULL,
    item_id    TEXT NOT NULL,
    original   TEXT NOT NULL,
    paraphrase TEXT NOT NULL,
    generator  TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    change     TEXT DEFAULT 'paraphrase' -- paraphrase | typos | language:NAME, a translation into it
);

CREATE TABLE IF NOT EXISTS verdicts (
    verdict_id    TEXT PRIMARY KEY,
    pair_id       TEXT NOT NULL,
    reviewer      TEXT NOT NULL,
    meaning       TEXT,                 -- yes | no | unsure
    difficulty    TEXT,
    solution_path TEXT,
    note          TEXT NOT NULL,
    original_hash TEXT NOT NULL, paraphrase_hash TEXT NOT NULL,
    rule_version  TEXT NOT NULL,
    undoes        TEXT,                 -- verdict_id that this row takes back
    created_at    TIMESTAMPTZ NOT NULL,
    reviewer_kind TEXT NOT NULL DEFAULT 'person',  -- person | model; a model's verdict decides nothing
    by_choice     BOOLEAN NOT NULL DEFAULT false   -- the pair was selected or came first by risk: no random sample of its source
);

-- A person's word on a flip seen in the inspector.
CREATE TABLE IF NOT EXISTS flip_verdicts (
    flip_verdict_id TEXT PRIMARY KEY,
    study_id TEXT NOT NULL, model TEXT NOT NULL, item_id TEXT NOT NULL, axis TEXT NOT NULL,
    variant_id TEXT NOT NULL, other_variant_id TEXT NOT NULL, extractor TEXT NOT NULL,
    verdict  TEXT NOT NULL,             -- genuine | artifact | ambiguous
    reviewer TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL
);

-- What was fixed before the confirmatory items were read; `settings` is hashed into lock_id.
CREATE TABLE IF NOT EXISTS locks (
    lock_id TEXT PRIMARY KEY, study_id TEXT NOT NULL, settings JSON NOT NULL, reviewer TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- The decision record.
CREATE TABLE IF NOT EXISTS decisions (
    decision_id TEXT PRIMARY KEY, study_id TEXT NOT NULL, page TEXT NOT NULL, sentence TEXT NOT NULL,
    mode TEXT NOT NULL,                 -- explore | simultaneous | locked
    settings JSON NOT NULL, came_from JSON, reviewer TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL,
    place    JSON,                      -- {query}: the view that it was made in; NULL in files of an earlier release, as below
    evidence JSON,                      -- {item, axis, variant, extractor, calls}: the two outputs that were looked at
    basis    JSON,                      -- counts and hashes of the rows behind it, and how many paraphrases stood how
    resolution TEXT DEFAULT ''          -- what people decided, in their own words; `sentence` is the page's
);

-- What was left open when a decision was made. A row that `settles` another one answers it.
CREATE TABLE IF NOT EXISTS open_questions (
    question_id TEXT PRIMARY KEY, study_id TEXT NOT NULL, page TEXT NOT NULL, question TEXT NOT NULL,
    settles     TEXT,                   -- question_id
    place       JSON, author TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL
);

-- Every released move of a threshold, with the range that it crossed.
CREATE TABLE IF NOT EXISTS threshold_moves (
    move_id TEXT PRIMARY KEY, study_id TEXT NOT NULL, control TEXT NOT NULL,
    came_from DOUBLE, went_to DOUBLE, lowest DOUBLE, highest DOUBLE, session TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL
);

-- Vectors of texts, and their places on a map, so that neither is computed (or paid for) twice.
CREATE TABLE IF NOT EXISTS embeddings (
    text_hash TEXT, backend TEXT,
    revision   TEXT,                    -- what the vector depends on besides the text: model, endpoint, the set it was fitted on
    vector     FLOAT[] NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (text_hash, backend, revision)
);

-- A survey: can people find the one entry of three that is not of the target set? `design` holds both sets' item ids and how
-- a sheet is drawn from them; a sheet follows from the survey and the annotator's name, so it is not stored.
CREATE TABLE IF NOT EXISTS surveys (
    survey_id  TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    sets_id    TEXT NOT NULL,           -- the two sets that it asks about
    design     JSON NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- One answer to one question of one annotator's sheet. Changing an answer adds a row; the latest counts.
CREATE TABLE IF NOT EXISTS survey_answers (
    answer_id  TEXT PRIMARY KEY,
    survey_id  TEXT NOT NULL,
    annotator  TEXT NOT NULL,
    is_model   BOOLEAN NOT NULL,
    position   INTEGER NOT NULL,        -- question of the sheet, from 0
    kind       TEXT NOT NULL,           -- triple | check
    odd        TEXT,                    -- the retro entry shown; NULL for an attention check
    chosen     TEXT,                    -- the entry chosen; NULL where a model's reply could not be read
    is_correct BOOLEAN,
    call_id    TEXT,                    -- the completion of a model annotator
    created_at TIMESTAMPTZ NOT NULL
);

-- A version of a retro set with what the tests said of it. `parent_id` is the version that it was edited from.
CREATE TABLE IF NOT EXISTS holdout_versions (
    version_id TEXT PRIMARY KEY,
    name       TEXT NOT NULL,           -- the series that it belongs to
    note       TEXT NOT NULL,
    parent_id  TEXT,
    sets_id    TEXT NOT NULL,
    target_ids TEXT[] NOT NULL, retro_ids TEXT[] NOT NULL,
    results    JSON NOT NULL,           -- one object a test: state, p, interval, margin, smallest detectable difference
    settings   JSON NOT NULL,           -- embedding, seed, permutations, margins
    author     TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL
);

-- A person's reading of an output, given without seeing what a judge or any other extractor read in it, nor whose output it is. An undo
-- is a row of its own.
CREATE TABLE IF NOT EXISTS judge_labels (
    label_id     TEXT PRIMARY KEY,
    item_id      TEXT NOT NULL,
    call_id      TEXT NOT NULL,         -- the completion whose text was read
    reviewer     TEXT NOT NULL,
    answer       TEXT,                  -- canonical; NULL where the text settles on no single answer
    text_hash    TEXT NOT NULL,
    rule_version TEXT NOT NULL,
    undoes       TEXT,                  -- label_id that this row takes back
    created_at   TIMESTAMPTZ NOT NULL,
    by_choice    BOOLEAN NOT NULL DEFAULT false  -- came first because it says most: no random sample, in no estimate
);

-- A person's answer to a question, given without seeing its key or any model's answer: whether the key is right follows from it. An undo
-- is a row of its own. No key is ever changed by it.
CREATE TABLE IF NOT EXISTS key_verdicts (
    verdict_id   TEXT PRIMARY KEY,
    item_id      TEXT NOT NULL,
    reviewer     TEXT NOT NULL,
    verdict      TEXT NOT NULL,         -- answer | ambiguous | unanswerable
    answer       TEXT,                  -- canonical; NULL unless the verdict is an answer
    item_hash    TEXT NOT NULL,         -- of the question and its options as they were shown
    rule_version TEXT NOT NULL,
    undoes       TEXT,                  -- verdict_id that this row takes back
    created_at   TIMESTAMPTZ NOT NULL,
    by_choice    BOOLEAN NOT NULL DEFAULT false  -- a suspect that came first: no random sample of the items
);

-- A control item matched 1:1 to a benchmark item. The latest pair of a benchmark item counts; `how` says what they were matched
-- by, and the balance before and after.
CREATE TABLE IF NOT EXISTS control_pairs (
    benchmark_id TEXT, control_id TEXT,
    how        JSON NOT NULL,
    made_by    TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (benchmark_id, control_id)
);

-- Who was invited to what. The link itself is signed with a secret that is in no database, so a copy of this table opens nothing.
CREATE TABLE IF NOT EXISTS invitations (
    invitation_id TEXT PRIMARY KEY,
    name       TEXT NOT NULL,           -- of one person
    level      TEXT NOT NULL,           -- reviewer | viewer | analyst | admin
    scope      TEXT NOT NULL,           -- queue:<source> | survey:<survey_id> | ''
    expires_at TIMESTAMPTZ NOT NULL,
    issued_by  TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL,
    origin     TEXT DEFAULT ''          -- as in acts; one from another file invites nobody here
);

-- What became of an invitation; rows are only added. The first `opened` is the browser that it belongs to.
CREATE TABLE IF NOT EXISTS invitation_events (
    event_id TEXT PRIMARY KEY, invitation_id TEXT NOT NULL,
    event    TEXT NOT NULL,             -- opened | revoked
    who TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL,
    origin   TEXT DEFAULT ''            -- as in acts; one from another file changes nothing here
);

-- Who did what, while access is on. Rows are only added, and each is chained to the one before it, so that a row that was removed
-- or changed shows; store_info has the last link. What came with another file is kept apart and is in no chain.
CREATE TABLE IF NOT EXISTS acts (
    act_id TEXT PRIMARY KEY,
    who    TEXT NOT NULL,               -- '' is the owner of the file
    level  TEXT NOT NULL,
    act    TEXT NOT NULL,
    target TEXT NOT NULL,               -- a study, a pair, a model, an invitation
    n_rows INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    origin TEXT DEFAULT '',             -- the file that it was merged from; '' was written here
    number BIGINT,                      -- its place in the chain, from 1; NULL in rows of other files and of an earlier release
    link   TEXT DEFAULT ''              -- hash of the link before it and of this row
);

COMMENT ON TABLE store_info IS 'last row wins';
COMMENT ON TABLE completions IS 'last row wins';      -- the answer to a call that had failed
COMMENT ON TABLE readouts IS 'last row wins';
COMMENT ON TABLE late_readouts IS 'last row wins';
COMMENT ON TABLE readout_sources IS 'last row wins';
COMMENT ON TABLE item_runs IS 'last row wins';
COMMENT ON TABLE studies IS 'last value wins';        -- what a row does not say again stays
COMMENT ON COLUMN studies.name IS 'first value stays';
COMMENT ON COLUMN studies.toml IS 'first value stays';
COMMENT ON COLUMN studies.code_version IS 'first value stays';
COMMENT ON COLUMN studies.created_at IS 'first value stays';

-- A row of these changes what every study shows.
COMMENT ON TABLE control_pairs IS 'last row wins; shown by every study';  -- matched again, it is the latest pair once more
COMMENT ON TABLE paraphrases IS 'shown by every study';
COMMENT ON TABLE verdicts IS 'shown by every study';

-- What pages computed still holds after a row of these.
COMMENT ON TABLE acts IS 'changes no number';
COMMENT ON TABLE decisions IS 'changes no number';
COMMENT ON TABLE invitation_events IS 'changes no number';
COMMENT ON TABLE invitations IS 'changes no number';
COMMENT ON TABLE threshold_moves IS 'changes no number';
