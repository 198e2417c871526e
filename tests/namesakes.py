"""Modules without a test file of their own name, and where they are tested instead.

A module of `flipcore` with a function has its tests in `tests/<same path>/test_<module>.py`, or stands here: under the test file
that reaches it, with the reason why it is tested there. `test_layers.py` checks both.
"""

# test file -> (why there, modules of flipcore)
ELSEWHERE: dict[str, tuple[str, str]] = {
    "invitations/test_command.py": ("a link by command lets its person in", "commands/access"),
    "commands/test_commands.py": (
        "every command stands in one table and closes what it opened",
        "commands/archive commands/demo commands/export commands/merge commands/opening commands/plugins commands/reread "
        "commands/restore commands/stats commands/variants",
    ),
    "commands/test_audit.py": ("the command's ten lines", "reports/verdict"),
    "reports/test_log_scores.py": (
        "scores of logs, agents' own result files among them",
        "datasets/recorded/formats/tau_bench store/queries/scores",
    ),
    "claims/test_audit_prompts.py": ("faults planted in a log, from its file to its findings", "runs/log_facts"),
    "commands/test_check.py": ("the gate's command, from two files to its code", "reports/regression"),
    "access/test_writes.py": (
        "levels, tables and the person who acts are one rule, asked at every way to write",
        "access/acting access/levels access/person access/tables access/observers",
    ),
    "invitations/test_routes.py": ("the gate stands in front of the requests of a link", "invitations/gate"),
    "invitations/test_links.py": ("an invitation from its issuing to its end", "invitations/listing store/queries/invitations"),
    "annotation/test_control_matching.py": (
        "the command and the stored pairs are the matching's own way to a user",
        "commands/match store/queries/pairs",
    ),
    "annotation/surveys/test_sheets.py": (
        "a sheet is drawn, written to a file and read back in one go",
        "annotation/surveys/files",
    ),
    "annotation/paraphrases/test_paraphrase_states.py": (
        "what stands of verdicts is decided over three files together",
        "store/queries/review store/queries/studies runs/demo",
    ),
    "annotation/paraphrases/test_random_order.py": (
        "what comes in by a file is counted by its reviewer's order",
        "annotation/paraphrases/from_elsewhere",
    ),
    "annotation/test_judge_labels.py": ("labels are stored as people give them", "store/queries/judges"),
    "axes/test_axes.py": ("one contract over all axes", "axes/identity core/contracts"),
    "axes/test_entity_rename.py": ("names are listed for this axis alone", "axes/names/lists"),
    "axes/test_numeric_resample.py": (
        "tracing, structure, story and drawing are steps of one rewriting, tested on whole problems",
        "axes/numeric/draw axes/numeric/structure axes/numeric/tracing",
    ),
    "reports/browser_data/test_levels.py": (
        "the board's verdicts are looked up in its levels",
        "reports/browser_data/verdicts",
    ),
    "charts/test_figures.py": (
        "one contract over all figures",
        "charts/bars charts/captions charts/curves charts/matrix charts/sequence charts/slopes charts/split_bar",
    ),
    "charts/test_entry_map.py": ("the same entries as the map", "charts/giveaways charts/likeness"),
    "reports/exports/test_document.py": (
        "the parts of a report are right when the whole file is",
        "reports/exports/data_part reports/exports/flips_part reports/exports/holdout_part reports/exports/memory_part "
        "reports/exports/methods_text "
        "reports/exports/models_part reports/exports/score_part "
        "reports/exports/outputs_part reports/exports/record_part commands/report reports/badges reports/rows",
    ),
    "store/test_audit_log.py": ("what was removed or changed shows, by the command too", "commands/verify store/verifying"),
    "reports/exports/test_dataset.py": ("the command writes the folder", "commands/publish"),
    "reports/exports/test_markup.py": (
        "a table and a drawing are markup",
        "reports/exports/data_tables reports/exports/figures",
    ),
    "methods/test_papers.py": ("every method cites papers", "methods/memory methods/method methods/terms"),
    "pages/test_ground_truth.py": ("drawn where the truth is shown", "charts/ground_truth"),
    "claims/test_audit.py": ("an audit's checks, on one planted log", "claims/audit_input claims/audit_items reports/audit"),
    "claims/test_holdout.py": ("two sets' claims, on one planted pair", "claims/likeness"),
    "claims/test_sentences.py": ("every sentence that any maker writes", "claims/memory"),
    "claims/test_locks.py": (
        "a lock from its storing to its word",
        "core/locks reports/locks store/queries/locks store/queries/paraphrase_states",
    ),
    "claims/test_gates.py": ("`stats` says what the gates let it say", "annotation/gates reports/plugins reports/whole_study"),
    "claims/test_next_steps.py": ("a starting margin is a next step", "stats/holdout/starting_margin"),
    "reports/browser_data/test_cutoff_arrays.py": ("the claim at every margin of a dragged line", "claims/memory_gap"),
    "stats/memory/test_ground_truth.py": ("the claim with the truth below it", "claims/memory_truth"),
    "reports/test_memory.py": (
        "the published score and completion are verdicts within the family",
        "claims/memory_score detectors/completion detectors/published stats/memory/published_score",
    ),
    "datasets/benchmarks/test_benchmarks.py": (
        "one contract over all benchmarks, on rows as their repositories serve them",
        "datasets/dataset datasets/benchmarks/arc datasets/benchmarks/gsm1k datasets/benchmarks/gsm8k datasets/benchmarks/humaneval "
        "datasets/benchmarks/mmlu datasets/benchmarks/mmlu_pro datasets/benchmarks/trivia_qa datasets/benchmarks/truthfulqa",
    ),
    "datasets/benchmarks/test_more_benchmarks.py": (
        "its answers need rules of their own",
        "datasets/benchmarks/competition_math",
    ),
    "datasets/recorded/test_outputs.py": ("a row of a table is what its columns say", "datasets/recorded/formats/tables"),
    "runs/test_log_import.py": (
        "a reader is right when a whole log of its harness imports with its own scores",
        "datasets/recorded/formats/every_eval_ever datasets/recorded/formats/helm datasets/recorded/formats/inspect_ai "
        "datasets/recorded/formats/inspect_samples datasets/recorded/formats/lighteval datasets/recorded/formats/lm_eval "
        "datasets/recorded/formats/lm_eval_score datasets/recorded/formats/openai_evals datasets/recorded/formats/promptfoo "
        "datasets/recorded/formats/reader datasets/recorded/formats/zeroeval datasets/reading/json_streams "
        "datasets/recorded/log_answers datasets/reading/log_files datasets/recorded/log_places commands/import_outputs store/recorded",
    ),
    "harnesses/test_prompt_presets.py": ("compared with what the harnesses themselves send", "text/prompt_presets"),
    "runs/test_log_joining.py": (
        "items of several logs meet, as a user says",
        "datasets/recorded/log_documents runs/log_corrections",
    ),
    "datasets/recorded/test_reasoning.py": (
        "a record with reasoning, from row to item",
        "datasets/recorded/log_records datasets/recorded/log_rows",
    ),
    "runs/harnesses/test_variants.py": (
        "prompts go out and answers come back in one go",
        "datasets/recorded/formats/planned_answers runs/harnesses/coming_back runs/harnesses/planned runs/harnesses/writing",
    ),
    "extractors/test_adversarial_text.py": ("texts that are meant to be misread", "extractors/written/stated_choice"),
    "extractors/test_mathematics.py": (
        "one process reads the expressions that an extractor states",
        "extractors/written/expressions",
    ),
    "models/openai/test_probe.py": ("what a server can do is asked, recorded and read back", "models/probe_record"),
    "models/test_own_models.py": (
        "a model of one's own from a preset, by command",
        "commands/models models/presets models/testing",
    ),
    "models/weights/test_backend.py": ("open weights are tested as they are asked", "models/weights/probe"),
    "plugins/test_contracts.py": (
        "one contract over all detectors",
        "detectors/detector detectors/drop_gap detectors/losses detectors/pearl",
    ),
    "core/test_registry.py": ("a kind of model is registered like every plug-in", "models/kinds"),
    "pages/test_pages.py": ("the strip opens what shows its headline best", "reports/first_look"),
    "pages/test_inspector.py": ("read where it is shown", "reports/compared_pairs"),
    "pages/test_holdout.py": ("read where it is shown", "annotation/surveys/results"),
    "runs/test_truncation.py": ("counted from the run to the sentence", "reports/truncation store/queries/endings"),
    "runs/test_rereading.py": ("read again, compared and said", "reports/rereading"),
    "runs/test_runner.py": (
        "runs in the dashboard's registry; what a study declares is stored before",
        "runs/background runs/declaration",
    ),
    "runs/cluster/test_driver.py": ("a run is the same at every place", "runs/cluster/place"),
    "runs/cluster/test_worker.py": ("what is said of workers stands beside what they do", "runs/cluster/states"),
    "runs/cluster/test_where.py": ("the command runs a study where it is told", "commands/run"),
    "store/test_archives.py": ("moved there and back, and read meanwhile", "store/archiving"),
    "store/test_packing.py": ("packed, read and taken back", "store/pack_tables store/queries/packed_readouts"),
    "stats/memory/test_drop_gap_analysis.py": ("the decision with the analysis above it", "stats/memory/gap_decision"),
    "reports/test_flips.py": ("a headline over all axes", "stats/flips/pooled"),
    "store/queries/test_set_aside.py": (
        "no query shows what was set aside: all of them at once",
        "store/queries/audit store/queries/exchange store/queries/memory",
    ),
    "store/test_merge.py": ("a merge as a whole", "store/merge_source store/queries/planning"),
    "store/test_writing.py": ("what is safe, and when", "store/rows store/writer"),
    "pages/test_new_study.py": ("what a new study may show", "store/visible"),
    "vectors/classifiers/test_told_apart.py": ("one contract over all classifiers", "vectors/classifiers/vectors"),
    "vectors/embeddings/test_embedded.py": (
        "one contract over all embeddings",
        "vectors/embeddings/embedding vectors/embeddings/lsa vectors/embeddings/mpnet",
    ),
}
