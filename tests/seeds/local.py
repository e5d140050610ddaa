"""open-lmake on its local backend, sentence by sentence."""

from tests.seeds.sentence import left, shown

HERE = "seeds/test_open_lmake_backends"
FALLBACK = "modules/test_fallback"

LOCAL = [
    shown("launches on this host", "operator/test_up::test_a_campaign_comes_to_its_end"),
    shown(
        "those of several repositories do not cooperate",
        f"{HERE}::test_the_local_backends_of_two_grids_know_nothing_of_each_other",
    ),
    shown(
        "a table configures it",
        f"{HERE}::test_the_configuration_is_a_whole_number_for_each_name_whatever_the_name",
    ),
    shown(
        "of names and whole numbers",
        f"{HERE}::test_the_configuration_is_a_whole_number_for_each_name_whatever_the_name",
    ),
    left("it is used in three cases", "it introduces what follows"),
    shown(
        "it is asked for, or nothing is",
        "cli/test_local::test_a_campaign_runs_here_where_it_asks_for_it_or_nothing_else_is_there",
        "cli/test_gridsub::test_with_one_cluster_none_need_be_named",
    ),
    shown("one command may ask for it", "cli/test_local::test_a_campaign_runs_here_whatever_clusters_it_names"),
    shown("another is not there", f"{FALLBACK}::test_jobs_run_on_this_host_and_everybody_is_told"),
    shown(
        "resources are then mapped, and what cannot be runs alone",
        f"{FALLBACK}::test_resources_are_kept_clamped_or_make_the_job_run_alone",
        f"{FALLBACK}::test_a_place_that_is_only_there_makes_the_job_run_alone",
        f"{HERE}::test_resources_are_mapped_to_this_host_as_far_as_it_has_them",
        f"{HERE}::test_what_this_host_lacks_or_has_too_little_of_makes_the_job_run_alone",
    ),
    left("the configuration tells what there is", "it introduces what follows"),
    shown(
        "cpu, mem, tmp",
        "drivers/test_local::test_what_can_never_fit_is_known_beforehand_with_the_line_that_would_change_it",
    ),
    shown("and any other name", "modules/test_needs::test_a_pool_of_the_operators_own_is_charged_too"),
    shown("a campaign says what its jobs need", "drivers/test_local::test_resources_are_charged_as_they_are_asked_for"),
    shown(
        "by names that the configuration has",
        f"{HERE}::test_a_resource_that_is_not_in_the_configuration_is_refused_with_the_line_that_would_put_it_there",
    ),
    shown(
        "in numbers, or text that becomes one for each job",
        f"{HERE}::test_a_value_is_a_number_or_a_text_that_can_be_read_as_one_tailored_for_each_job",
        f"{HERE}::test_a_value_that_cannot_be_read_as_a_number_is_told_with_its_task",
    ),
    shown(
        "the job sees what it really got",
        "wrapper/test_wrapper_job::test_environment_is_the_documented_one",
        "modules/test_needs::test_exact_amounts_are_asked_for_charged_and_told",
    ),
    shown(
        "the sum is never more than there is",
        "localbatch/test_charging::TestCharging",
        "localbatch/test_jobs::test_jobs_never_use_more_than_the_pools",
        "flow/test_consumables::test_the_sums_of_limits_never_overshoot_for_any_order_of_starts_ends_kills_and_restarts",
    ),
    shown(
        "cpu and mem are there without being named",
        f"{HERE}::test_by_default_there_are_the_cores_of_this_process_and_the_physical_memory",
    ),
    shown(
        "cpu: those that the process may use",
        f"{HERE}::test_by_default_there_are_the_cores_of_this_process_and_the_physical_memory",
    ),
    shown(
        "mem: what is built in, in MB",
        f"{HERE}::test_by_default_there_are_the_cores_of_this_process_and_the_physical_memory",
    ),
    shown("a rule that says nothing needs one core", f"{HERE}::test_by_default_a_job_requires_one_core"),
    shown(
        "options of the command line are nothing to it",
        "backend/test_seed::test_local_the_command_line_option_is_ignored",
        "cli/test_backend::test_the_local_cluster_ignores_them_and_says_so",
    ),
]
