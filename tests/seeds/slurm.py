"""open-lmake on its Slurm backend, sentence by sentence."""

from tests.seeds.sentence import left, shown

BACKEND = "backend/test_seed"
DATES = "modules/test_dates"
QUEUED = "modules/test_queued"
URGENCY = "test_start_dates"
FEW = f"{QUEUED}::test_only_a_few_jobs_are_submitted_for_each_set_of_asked_resources"
GRAPH = "tasks of a campaign do not depend on each other"

CONFIGURATION = [
    left("it talks to a daemon, which has two merits", "it introduces what follows"),
    shown("one order for the jobs of everybody", "drivers/conformance::test_besteffort_jobs_give_way"),
    shown("jobs on other hosts", "drivers/conformance::test_exit_codes_nodes_and_times_are_known"),
    left("the configuration has several entries", "it introduces what follows"),
    shown(
        "config: the file that leads to the controller",
        "drivers/test_slurm::test_a_cluster_may_have_a_configuration_of_its_own",
    ),
    shown("Slurm finds it unless said", "drivers/test_slurm::test_without_one_slurm_finds_its_configuration_itself"),
    left("lib_slurm: the library", "no library is loaded: Slurm's own commands are called"),
    left("it is found unless said", "no library is loaded: Slurm's own commands are called"),
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
]
NICE = [
    shown(
        "use_nice: the engine knows more, what is to be done and how long it took",
        "flow/test_durations::test_future_jobs_execution_times_are_estimated_by_the_best_that_is_known",
        "modules/test_predictor::test_a_campaign_on_two_clusters_is_forecast_in_all_and_on_each",
    ),
    shown(
        "so it knows what is urgent, over all commands and repositories",
        f"{DATES}::test_what_is_published_is_what_others_reckon_with",
        "faults/test_urgency::test_the_more_urgent_of_two_campaigns_starts_first_in_a_full_queue",
    ),
    left("Slurm's own dependencies do not serve, for three reasons", GRAPH),
    left("new ones appear while jobs run", GRAPH),
    left("jobs run again", GRAPH),
    left("jobs turn out not to be needed", GRAPH),
    left("it works in three steps", "it introduces what follows"),
    shown("first an end for each command", f"{DATES}::test_what_is_published_is_what_others_reckon_with"),
    shown("as a date that all can compare", f"{DATES}::test_an_eta_is_a_date_absolute_and_comparable"),
    shown("then a pressure", f"{DATES}::test_pressure_is_the_accumulated_time_along_the_critical_path_to_the_end"),
    shown(
        "from the start of the job to the target",
        f"{DATES}::test_the_time_necessary_includes_the_considered_job",
        f"{DATES}::test_the_more_tasks_remain_the_longer_is_the_longest_of_them",
    ),
    shown(
        "the end less the pressure is when to start",
        f"{DATES}::test_eta_minus_pressure_is_when_it_is_desirable_to_schedule_and_the_earliest_goes_first",
    ),
    shown("Slurm hears it as nice", f"{URGENCY}::test_a_nice_value_is_set_for_each_job_that_represents_this_priority"),
    shown(
        "only where one wants it, for the sake of others",
        f"{URGENCY}::test_because_it_may_interfere_with_other_jobs_this_mechanism_is_optional",
    ),
    shown(
        "two parameters more, with their values",
        f"{URGENCY}::test_options_that_contradict_each_other_are_refused",
    ),
    shown(
        "time_origin: a date needs something to count from",
        f"{URGENCY}::test_time_origin_is_the_reference_point_and_nice_values_stay_in_their_range",
    ),
    shown(
        "before all dates, but not long, for the range is bounded",
        f"{URGENCY}::test_time_origin_is_the_reference_point_and_nice_values_stay_in_their_range",
    ),
    shown(
        "dates may have passed when an end was too hopeful",
        f"{URGENCY}::test_dates_in_the_past_are_told_too_while_they_are_after_the_origin",
    ),
    left("some days of margin are enough", "advice for whoever sets it"),
    shown("the first of January 2023 unless said", f"{URGENCY}::test_the_default_origin_is_2023_01_01_00_00_00"),
    shown(
        "how it is written, perhaps with its zone",
        f"{URGENCY}::test_the_date_is_given_in_the_format_yyyy_mm_dd_hh_mm_optionally_followed_by_a_time_zone",
    ),
    shown("with a space, no T", f"{URGENCY}::test_no_other_format_is_a_date"),
    shown(
        "nice_factor: what a second adds", f"{URGENCY}::test_nice_factor_is_the_value_that_nice_increases_each_second"
    ),
    shown("it may have a fraction", f"{URGENCY}::test_nice_factor_is_the_value_that_nice_increases_each_second"),
    shown("too high, and values wrap", f"{URGENCY}::test_a_factor_that_is_too_high_makes_no_later_date_more_urgent"),
    shown(
        "too low, and dates are told apart less",
        "test_start_dates::test_with_a_factor_that_is_too_low_dates_near_each_other_are_the_same",
    ),
    shown("1 unless said", f"{URGENCY}::test_the_default_factor_is_1"),
    shown(
        "one need not set them", "test_start_dates::test_a_nice_value_is_set_for_each_job_that_represents_this_priority"
    ),
    left("they are there for the sake of other jobs", "advice for whoever sets them"),
]
RESOURCES = [
    left("resources are of several kinds", "it introduces what follows"),
    shown("cpu, mem and tmp", f"{BACKEND}::test_slurm_the_standard_resources_are_cpu_mem_and_tmp"),
    shown("eight names that are passed as they are", f"{BACKEND}::test_slurm_these_attributes_are_passed_as_is"),
    shown(
        "an index tells the part of a heterogeneous job",
        f"{BACKEND}::test_slurm_an_index_would_identify_a_task_of_a_heterogeneous_job_which_is_refused",
    ),
    shown("no index is 0", f"{BACKEND}::test_slurm_the_absence_of_an_index_is_equivalent_to_index_0"),
    shown(
        "any other is a licence if it is declared as one, else a gres",
        f"{BACKEND}::test_slurm_any_other_resource_is_passed_as_licenses_if_declared_so_else_as_gres",
    ),
    shown(
        "the command line has a list with spaces",
        f"{BACKEND}::test_slurm_the_option_passed_with_backend_is_a_space_separated_list",
    ),
    shown("a table of them, in srun's words", f"{BACKEND}::test_slurm_the_table_describes_supported_options"),
    *(
        shown(f"the table has {name}", f"{BACKEND}::test_slurm_the_table_describes_supported_options")
        for name in (
            *("cpus-per-task", "mem", "tmp", "constraint", "exclude", "gres"),
            *("licenses", "nodelist", "partition", "qos", "reservation"),
        )
    ),
    shown(
        "the table has help",
        f"{BACKEND}::test_slurm_the_option_help_prints_usage",
        "cli/test_backend::test_help_prints_the_tables_of_the_grids_batch_systems",
    ),
]
