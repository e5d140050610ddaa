"""open-lmake on its SGE backend, sentence by sentence."""

from tests.seeds.sentence import left, shown

BACKEND = "backend/test_seed"
QUEUED = "modules/test_queued"
HERE = "seeds/test_grid_engine"
FILE = f"{HERE}::test_root_cell_and_cluster_become_variables_for_commands_that_are_found_in_bin"
FEW = f"{QUEUED}::test_only_a_few_jobs_are_submitted_for_each_set_of_asked_resources"

GRID_ENGINE = [
    left("it talks to a daemon, which has two merits", "it introduces what follows"),
    shown(
        "one order for the jobs of everybody",
        "drivers/conformance::test_besteffort_jobs_give_way",
        "test_start_dates::test_grid_engine_is_told_the_same_order_in_what_it_takes_from_users",
    ),
    shown(
        "jobs on other hosts",
        "drivers/conformance::test_exit_codes_nodes_and_times_are_known",
    ),
    left("the configuration has several entries", "it introduces what follows"),
    shown("bin: where the commands are", FILE),
    left("bin has to be given", "commands are found on the PATH, or by the settings file of the site"),
    shown("cell", FILE),
    shown("cell becomes a variable for the commands", FILE),
    shown("the daemon knows it unless said", f"{HERE}::test_nothing_needs_to_be_said_of_root_cell_and_cluster"),
    shown("cluster", FILE),
    shown("cluster becomes a variable for the commands", FILE),
    shown("the daemon knows it unless said too", f"{HERE}::test_nothing_needs_to_be_said_of_root_cell_and_cluster"),
    shown(
        "default_prio where the command line has none",
        f"{BACKEND}::test_sge_default_prio_is_used_if_none_is_specified_on_the_command_line",
    ),
    shown("n_max_queued_jobs: few jobs of each set of resources are submitted", FEW),
    shown(
        "for there may be millions, which ask for few different things",
        FEW,
        "seeds/test_open_lmake_backends::test_each_job_may_have_a_different_number_and_there_are_few_buckets",
    ),
    shown(
        "the best are submitted, the others kept; what runs is not counted",
        f"{QUEUED}::test_only_the_jobs_with_the_highest_priorities_are_submitted_the_others_are_retained",
        f"{QUEUED}::test_the_number_of_running_jobs_is_not_limited",
    ),
    shown(
        "it is how many may wait, of each set",
        f"{QUEUED}::test_this_attribute_specifies_the_number_of_waiting_jobs_for_each_set_of_resources",
        f"{QUEUED}::test_of_nothing_that_is_asked_for_more_waits_than_may",
        "modules/test_queued_together::test_campaigns_that_ask_for_the_same_share_the_places",
    ),
    shown(
        "too few, and the queue runs dry",
        f"{QUEUED}::test_lest_the_cluster_exhausts_its_queue_twice_what_starts_in_a_cycle_may_wait",
    ),
    shown(
        "too many, and the daemon is overloaded",
        f"{QUEUED}::test_lest_the_daemon_is_overloaded_it_is_never_more_than_max_waiting",
    ),
    left("10 to 100 is reasonable", "advice for whoever sets it"),
    shown("10 unless said", f"{QUEUED}::test_the_default_is_10"),
    shown(
        "repo_key begins the names of jobs", "seeds/test_names::test_the_key_of_the_grid_begins_the_names_of_its_jobs"
    ),
    shown("it tells the repository in a few letters", "seeds/test_names::test_the_key_of_the_grid_is_a_few_letters"),
    shown("there is one unless said", "seeds/test_names::test_each_grid_has_a_key_of_its_own_without_being_told"),
    shown("what SGE forbids in names is replaced", "drivers/test_gridengine::test_a_tag_can_be_read_from_its_name"),
    shown("root", FILE),
    shown("root becomes a variable for the commands", FILE),
    left(
        "root has to be given", "the settings file of the site gives it; without one the environment or Debian's place"
    ),
    *(
        shown(
            f"{name}_resource{words}",
            f"{BACKEND}::test_sge_cpu_resource_is_the_name_of_a_resource_that_requires_them",
            f"{BACKEND}::test_sge_mem_and_tmp_resource_require_a_number_of_mb",
        )
        for name in ("cpu", "mem", "tmp")
        for words in (" names what is asked for", ", an example")
    ),
    left("resources are of several kinds", "it introduces what follows"),
    shown("cpu, mem and tmp", "drivers/test_gridengine::test_a_submission_asks_for_what_is_wished"),
    shown("hard", f"{BACKEND}::test_sge_hard_are_options_to_be_used_after_a_hard_option"),
    shown("soft", f"{BACKEND}::test_sge_soft_are_options_to_be_used_after_a_soft_option"),
    shown("any other name by -l", f"{BACKEND}::test_sge_any_other_resource_is_passed_through_the_l_option"),
    shown(
        "of the command line only the priority is taken",
        f"{BACKEND}::test_sge_the_option_that_can_be_passed_from_the_command_line_is_the_priority_through_the_p_option",
    ),
    shown(
        "so it is just the number",
        f"{BACKEND}::test_sge_the_command_line_option_must_directly_contain_the_priority",
    ),
]
