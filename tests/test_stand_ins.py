"""No behaviour goes untested without the public data beside the repository: each test on them has a namesake on small data inside."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HERE = "(the same file)"
# file -> test on public data -> the file of its smaller namesake and its name
SMALL = {
    "annotation/paraphrases/test_pair_files.py": {
        "test_rewordings_of_gsm8k_come_in_row_by_row": (
            "pages/test_paraphrase_review.py",
            "test_small_paraphrases_come_in_beside_their_originals_and_wait_for_review",
        ),
        "test_human_judgements_of_apty_come_in_with_their_raters": (
            HERE,
            "test_verdicts_come_with_their_pairs_in_many_spellings",
        ),
        "test_the_sociology_questions_come_in_with_their_options": (HERE, "test_pairs_come_with_items_that_have_the_answer"),
    },
    "axes/test_entity_rename.py": {
        "test_coverage_of_the_real_test_split_and_its_table_of_refusals": (
            HERE,
            "test_the_shipped_problems_are_renamed_where_they_name_somebody",
        )
    },
    "axes/test_numeric_resample.py": {
        "test_coverage_of_the_real_test_split_and_its_table_of_refusals": (
            HERE,
            "test_every_shipped_problem_is_resampled_exactly_or_refused_with_a_class",
        ),
        "test_every_reading_of_a_covered_problem_gives_its_published_gold": (
            HERE,
            "test_every_reading_of_a_shipped_problem_gives_its_published_gold",
        ),
        "test_the_golds_of_the_audit_are_recomputed": (HERE, "test_the_audited_operator_is_the_shipped_one"),
    },
    "axes/test_referring.py": {
        "test_a_few_percent_of_mmlu_are_kept_harmless": (HERE, "test_an_item_without_such_options_is_asked_as_before")
    },
    "benchmarks/test_numeric_speed.py": {
        "test_1319_problems_are_resampled": ("axes/test_numeric_resample.py", "test_the_pocket_models_problems_are_resampled")
    },
    "datasets/benchmarks/test_benchmarks.py": {
        real: ("datasets/benchmarks/test_small_files.py", small)
        for real, small in (
            ("test_gsm8k_test_split_loads_whole_with_its_chains", "test_a_file_of_gsm8k_loads_with_its_chains"),
            (
                "test_gsm8k_read_as_a_generic_file_has_the_same_targets",
                "test_a_file_of_gsm8k_read_as_a_generic_file_has_the_same_targets",
            ),
            (
                "test_truthfulqa_loads_with_the_true_answer_at_no_fixed_place",
                "test_a_file_of_truthfulqa_has_its_true_answer_at_no_fixed_place",
            ),
            (
                "test_mmlu_reads_a_file_without_header_and_a_folder",
                "test_a_file_of_mmlu_has_no_header_and_a_folder_names_its_subjects",
            ),
            (
                "test_mmlu_pro_loads_from_a_model_s_outputs_and_tells_its_repeated_questions",
                "test_a_file_of_mmlu_pro_tells_its_repeated_questions",
            ),
        )
    },
    "datasets/generic/test_text_files.py": {
        "test_the_real_genesis_and_humaneval": (HERE, "test_a_zip_and_a_folder_give_the_same_passages")
    },
    "commands/test_audit.py": {
        "test_every_public_log_has_its_own_number_as_the_headline": (HERE, "test_every_headline_is_the_logs_own_number")
    },
    "datasets/recorded/test_columns.py": {
        "test_ten_orders_in_numbered_columns_are_found": (
            HERE,
            "test_columns_of_nested_variants_stand_beside_those_of_their_row",
        ),
        "test_a_row_a_variant_with_options_inside_of_the_prompt_is_found": (
            HERE,
            "test_a_guess_keeps_to_what_the_rows_bear_out",
        ),
        "test_scores_and_labels_of_people_are_found_beside_each_other": (
            HERE,
            "test_the_first_tokens_bound_is_asked_for_only_where_its_columns_are",
        ),
    },
    "datasets/recorded/test_score_tables.py": {
        "test_the_public_tables_give_their_numbers": (HERE, "test_item_model_score_and_epoch_are_enough")
    },
    "datasets/recorded/test_outputs.py": {
        "test_first_token_flips_of_ten_orders_are_those_of_the_source": (
            HERE,
            "test_options_are_matched_by_their_text_across_orders",
        ),
        "test_the_label_mass_of_scores_alone_is_unknown_and_bounded": (
            HERE,
            "test_the_label_mass_is_bounded_only_by_a_likelier_token_that_is_no_label",
        ),
        "test_the_generated_text_of_the_same_rows_is_read_by_the_written_answer": (
            HERE,
            "test_a_recorded_answer_is_read_or_abstained_from",
        ),
        "test_option_shifts_flip_in_content_nine_times_in_150": (HERE, "test_options_are_matched_by_their_text_across_orders"),
        "test_an_absent_field_is_missing_and_never_a_disagreement": (HERE, "test_placeholder_scores_are_missing"),
        "test_the_first_token_that_is_never_a_letter_disagrees_with_people_more_often_than_not": (
            "extractors/test_small_outputs.py",
            "test_a_first_token_that_is_never_a_letter_is_gated_away",
        ),
    },
    "extractors/test_real_outputs.py": {
        real: ("extractors/test_small_outputs.py", small)
        for real, small in (
            (
                "test_surveys_answered_in_prose_are_read_like_a_human_or_not_at_all",
                "test_prose_is_read_as_a_person_would_or_not_at_all",
            ),
            (
                "test_answers_that_a_human_read_as_several_letters_are_abstained_from",
                "test_prose_is_read_as_a_person_would_or_not_at_all",
            ),
            (
                "test_gemmas_answers_on_mmlu_are_read_as_the_human_read_them",
                "test_prose_is_read_as_a_person_would_or_not_at_all",
            ),
            (
                "test_a_first_token_that_is_never_a_letter_is_gated_away",
                "test_a_first_token_that_is_never_a_letter_is_gated_away",
            ),
            (
                "test_gsm8ks_four_models_are_graded_as_their_authors_graded_them",
                "test_solutions_are_graded_by_their_last_statement",
            ),
            (
                "test_mmlu_pros_statements_are_read_and_unfinished_chains_are_not_guessed",
                "test_a_statement_is_read_and_an_unfinished_chain_is_not_guessed",
            ),
        )
    },
    "pages/test_paraphrase_review.py": {
        "test_pairs_and_verdicts_come_in_through_the_page": (
            HERE,
            "test_a_small_file_of_judged_pairs_comes_in_through_the_page",
        ),
        "test_rewordings_of_gsm8k_come_in_beside_their_originals_and_wait_for_review": (
            HERE,
            "test_small_paraphrases_come_in_beside_their_originals_and_wait_for_review",
        ),
    },
    "runs/test_importing.py": {
        "test_real_first_tokens_flip_1102_times_of_1800_through_the_store": (HERE, "test_an_import_is_an_ordinary_study"),
        "test_a_field_that_no_row_has_is_missing_and_no_disagreement": (
            "datasets/recorded/test_outputs.py",
            "test_placeholder_scores_are_missing",
        ),
    },
    "reports/test_log_scores.py": {
        "test_the_public_agents_file_gives_its_published_numbers": (HERE, "test_agents_own_result_files_give_pass_hat_k")
    },
    "runs/test_log_import.py": {
        "test_the_public_logs_give_the_numbers_that_they_report": (HERE, "test_two_filters_are_two_readouts_of_one_completion"),
        "test_the_public_lm_eval_rows_keep_every_score": (HERE, "test_log_likelihoods_are_a_cloze_by_sum_and_by_length"),
    },
    "stats/base/test_agreement.py": {
        "test_real_raters_of_apty_get_the_coefficients_of_other_packages": (
            HERE,
            "test_krippendorffs_alpha_equals_the_krippendorff_package",
        )
    },
    "stats/holdout/test_duplicates.py": {
        "test_real_sets_hold_few": ("stats/holdout/test_shipped_sets.py", "test_shipped_sets_hold_no_word_for_word_copies")
    },
    "stats/holdout/test_real_sets.py": {
        real: ("stats/holdout/test_shipped_sets.py", small)
        for real, small in (
            (
                "test_random_parts_of_one_benchmark_are_seldom_told_apart",
                "test_random_parts_of_one_shipped_set_are_seldom_told_apart",
            ),
            (
                "test_random_halves_of_one_benchmark_are_seldom_told_apart_by_a_classifier",
                "test_fifty_items_of_one_set_are_no_difference_and_only_a_large_one_would_be_seen",
            ),
            ("test_an_early_end_decides_as_the_whole_test_does", "test_an_early_end_decides_as_the_whole_test_does"),
            ("test_the_training_split_is_not_called_different", "test_random_parts_of_one_shipped_set_are_seldom_told_apart"),
            ("test_reworded_questions_are_caught_within_their_pairs", "test_reworded_questions_are_caught_within_their_pairs"),
            (
                "test_a_classifier_below_chance_is_no_evidence_of_sameness",
                "test_a_classifier_below_chance_is_no_evidence_of_sameness",
            ),
            (
                "test_fifty_items_of_gsm1k_differ_in_wording_and_are_too_few_to_say_by_how_much",
                "test_reworded_questions_are_caught_within_their_pairs",
            ),
            (
                "test_fifty_items_of_gsm8k_itself_are_no_difference_and_only_a_large_one_would_be_seen",
                "test_fifty_items_of_one_set_are_no_difference_and_only_a_large_one_would_be_seen",
            ),
            ("test_real_sets_hold_no_word_for_word_copies", "test_shipped_sets_hold_no_word_for_word_copies"),
            ("test_how_and_what_give_the_rewordings_away", "test_the_words_that_give_the_paraphrases_away_come_first"),
        )
    },
    "test_pearl_real.py": {
        "test_on_the_pocket_model_which_never_read_them_no_text_breaks_off": (
            HERE,
            "test_on_shipped_passages_that_it_never_read_the_pocket_model_breaks_off_nowhere",
        ),
        "test_on_a_server_every_text_is_continued_over_http": (
            HERE,
            "test_on_a_server_every_shipped_passage_is_continued_over_http",
        ),
    },
    "reports/test_score.py": {
        "test_the_figures_of_a_public_table_by_import_stats_and_notebook": (
            HERE,
            "test_a_small_table_of_prompts_and_repeats_by_import_and_stats",
        )
    },
    "stats/score/test_error_bar.py": {
        "test_the_figures_of_a_public_table": (HERE, "test_the_figures_of_a_small_table_by_hand")
    },
    "text/test_dates.py": {
        "test_gsm8k_could_have_been_seen_where_gsm1k_could_not": (HERE, "test_a_row_of_gsm1k_is_newer_than_one_of_gsm8k")
    },
    "vectors/embeddings/test_embedded.py": {
        "test_the_default_finds_rewordings_of_real_questions": (HERE, "test_the_default_finds_shipped_paraphrases")
    },
}


def public_data_tests(path: Path) -> dict[str, bool]:
    """Test -> whether it needs the public data: by a fixture, its own or the file's, by a mark, or by their path."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign) and "SHARED_DATA" in ast.unparse(node)]
    skips = {mark.partition(" = ")[0] for mark in marks if "skipif" in mark}
    whole = any("shared_data" in ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign))
    fixtures = {"shared_data"}
    for node in functions:
        if any("fixture" in ast.unparse(one) for one in node.decorator_list) and fixtures & {a.arg for a in node.args.args}:
            fixtures.add(node.name)
    return {
        node.name: whole
        or bool(fixtures & {a.arg for a in node.args.args})
        or bool(skips & {ast.unparse(one) for one in node.decorator_list})
        for node in functions
        if node.name.startswith("test_") and not any("fixture" in ast.unparse(one) for one in node.decorator_list)
    }


def test_every_test_on_public_data_has_a_smaller_namesake():
    by_file = {path.relative_to(ROOT).as_posix(): public_data_tests(path) for path in sorted(ROOT.rglob("test_*.py"))}
    real = {file: {name for name, needs in tests.items() if needs} for file, tests in by_file.items()}
    assert {file: names for file, names in real.items() if names} == {file: set(named) for file, named in SMALL.items()}
    for file, namesakes in SMALL.items():
        for place, small in namesakes.values():
            assert by_file[file if place == HERE else place].get(small) is False, small
