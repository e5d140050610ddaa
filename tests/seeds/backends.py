"""open-lmake on backends in general, sentence by sentence: its first part, buckets, and the way back to the local one.

A rule is our campaign, a target its end, a repository a grid, a backend the driver of a batch system.
"""

from tests.seeds.sentence import left, shown

INTRODUCES = "it introduces what follows"
HERE = "seeds/test_open_lmake_backends"

PRINCIPLES = [
    shown(
        "backends launch what the engine wants to run",
        "modules/test_runner::test_the_batches_of_many_campaigns_are_one_command",
        "operator/test_up::test_a_campaign_comes_to_its_end",
    ),
    left("they do three things besides", INTRODUCES),
    shown("they kill jobs when told to", "modules/test_killer::test_a_user_kills_a_waiting_and_a_running_job"),
    shown(
        "they order jobs by what the engine knows",
        "faults/test_urgency::test_the_more_urgent_of_two_campaigns_starts_first_in_a_full_queue",
    ),
    shown(
        "and order them anew when it knows better",
        "modules/test_recall::test_a_newcomer_begins_before_the_jobs_that_a_giant_has_waiting",
        "modules/test_dates::test_campaigns_are_ordered_anew_when_a_forecast_is_published_anew",
        "flow/test_durations::test_tasks_that_wait_are_ordered_anew_when_their_durations_become_known",
    ),
    left("two decisions are to be taken", INTRODUCES),
    shown(
        "is a job eligible?",
        "pools/test_dispatch::test_only_clusters_with_an_eligible_queue_are_offered",
        "modules/test_metascheduler_share::test_no_limit_is_ever_exceeded",
    ),
    shown(
        "what comes before it has been done",
        "modules/test_steps::test_the_prologue_comes_before_the_first_task_and_the_epilogue_after_the_last",
    ),
    shown("but others may have what it needs", "localbatch/test_jobs::test_jobs_never_use_more_than_the_pools"),
    shown(
        "which of the eligible ones?",
        "flow/test_claims::test_the_highest_priority_goes_first_then_the_oldest",
        "modules/test_policies::test_each_policy_is_found_by_its_name_and_no_other",
    ),
    shown(
        "each backend decides for itself",
        "drivers/test_load::test_our_own_drivers_are_found_by_their_files",
        "modules/test_clusters::test_a_cluster_that_hangs_does_not_hold_up_the_other",
    ),
    left("but by the same principles", INTRODUCES),
    shown(
        "first question: a pool of what is there, and what fits in it",
        f"{HERE}::test_a_job_is_eligible_if_what_it_requires_fits_into_the_pool",
    ),
    shown(
        "taken at the launch, given back at the end",
        f"{HERE}::test_what_a_job_requires_is_subtracted_when_it_is_launched_and_returned_when_it_ends",
        "flow/test_ceilings::test_what_a_job_took_is_given_back_when_it_ends",
    ),
    shown(
        "second question: the highest pressure goes first",
        "modules/test_policies::test_the_earliest_end_less_the_time_of_a_task_goes_first_and_unknown_ends_last",
        "flow/test_durations::test_the_longest_of_the_known_tasks_go_first_and_before_them_those_that_nobody_knows",
    ),
    shown(
        "resources are a table, that of the rule with its fields filled in",
        f"{HERE}::test_required_resources_are_those_of_the_description_with_the_parameters_of_the_task_filled_in",
    ),
    shown(
        "pressure is a number: the time along the critical path",
        "modules/test_dates::test_pressure_is_the_accumulated_time_along_the_critical_path_to_the_end",
        "modules/test_path::test_each_end_is_that_of_the_longest_path",
    ),
    shown(
        "so future durations are estimated",
        "flow/test_durations::test_future_jobs_execution_times_are_estimated_by_the_best_that_is_known",
    ),
    shown(
        "what has run takes what it took when it last succeeded",
        "flow/test_durations::test_for_jobs_that_have_already_run_last_successful_execution_time_is_used",
        "flow/test_durations::test_an_execution_that_was_no_success_tells_nothing",
    ),
    shown(
        "else a moving average over the rule",
        "flow/test_averages::test_a_moving_average_of_the_execution_times_of_the_jobs_sharing_the_same_rule",
        "flow/test_averages::test_the_weights_really_move",
    ),
    shown(
        "ends are published, so that repositories agree",
        "modules/test_dates::test_what_is_published_is_what_others_reckon_with",
        "modules/test_dates::test_an_eta_is_a_date_absolute_and_comparable",
    ),
    shown("all backends know three resources", f"{HERE}::test_all_backends_manage_cpu_mem_and_tmp"),
    shown("cpu: threads at once", f"{HERE}::test_cpu_reserves_as_many_cores_as_threads_are_to_run"),
    shown("so many are reserved", f"{HERE}::test_cpu_reserves_as_many_cores_as_threads_are_to_run"),
    shown("mem: memory to run well", f"{HERE}::test_all_backends_manage_cpu_mem_and_tmp"),
    shown(
        "so much is kept for the job",
        "modules/test_needs::test_exact_amounts_are_asked_for_charged_and_told",
    ),
    shown(
        "in the unit of the configuration",
        f"{HERE}::test_mem_is_reserved_in_the_unit_of_the_pools_which_is_megabytes_by_default",
        f"{HERE}::test_units_are_powers_of_1024_and_a_thousandth_is_refused",
    ),
    shown("MB unless said", f"{HERE}::test_mem_is_reserved_in_the_unit_of_the_pools_which_is_megabytes_by_default"),
    shown("tmp: temporary disk", f"{HERE}::test_all_backends_manage_cpu_mem_and_tmp"),
    shown(
        "an empty directory of its own, removed, no disk reserved",
        f"{HERE}::test_tmpdir_is_a_fresh_and_empty_directory_that_is_removed_after_execution",
        f"{HERE}::test_no_disk_is_reserved_unless_tmp_is_asked_for",
        "localbatch/test_scratch::test_no_path_is_ever_that_of_two_jobs",
        "wrapper/test_wrapper_job::test_a_temporary_directory_is_kept_on_demand_and_found_again",
    ),
]
BUCKETS = [
    shown("sizes in large steps", f"{HERE}::test_sizes_are_quantified_with_relatively_large_steps"),
    left("because of how jobs are chosen", INTRODUCES),
    shown("the best eligible one is looked for", "flow/test_claims::test_the_best_tasks_of_all_buckets_go_first"),
    shown(
        "only what asks for different things is compared",
        f"{HERE}::test_tasks_of_the_same_resources_are_ordered_by_priority_beforehand",
    ),
    shown(
        "so the work is in proportion to the different ones",
        f"{HERE}::test_the_work_grows_with_the_number_of_different_resources_and_not_with_the_jobs_that_wait",
    ),
    shown(
        "with a formula each of millions may differ",
        f"{HERE}::test_each_job_may_have_a_different_number_and_there_are_few_buckets",
    ),
    shown(
        "buckets make it less",
        "flow/test_buckets::test_tasks_are_sorted_into_buckets_while_they_are_copied",
        "test_buckets::test_tasks_that_ask_for_about_the_same_are_in_one_bucket",
    ),
    shown("by rounding", "test_buckets::test_sizes_are_rounded_up_to_three_significant_bits"),
    shown(
        "what is reserved is exact",
        "modules/test_needs::test_exact_amounts_are_asked_for_charged_and_told",
        "localbatch/test_charging::TestCharging",
    ),
    shown(
        "rounding only groups",
        "modules/test_needs::test_amounts_of_the_same_size_travel_in_one_batch",
        f"{HERE}::test_rounding_never_makes_a_job_impossible_that_fits",
    ),
]
CONVERSION = [
    shown(
        "where a backend cannot be set up for want of its daemon",
        "modules/test_fallback::test_jobs_run_on_this_host_and_everybody_is_told",
    ),
    shown("one is warned", "modules/test_fallback::test_jobs_run_on_this_host_and_everybody_is_told"),
    shown("its jobs go to the local one", "modules/test_fallback::test_jobs_run_on_this_host_and_everybody_is_told"),
    shown(
        "with what can be mapped, or else alone on the host",
        "modules/test_fallback::test_resources_are_kept_clamped_or_make_the_job_run_alone",
        f"{HERE}::test_what_this_host_lacks_or_has_too_little_of_makes_the_job_run_alone",
    ),
]
