"""Environment variables for multi-core jobs, draft 0.99 of 2014: its variables, its use cases, and key by key."""

from tests.seeds.sentence import left, shown

WRAPPER = "wrapper/test_features"
SIDE = "wrapper/test_side"
STATUS = "wrapper/test_job_features"
DRAIN = "modules/test_drain"
GRID = "modules/test_features"
REAL = "faults/test_features"
SERVED = "portal/test_job_features"
DRAFT = f"{WRAPPER}::test_names_of_the_draft_stand_beside_the_others"
STANDARD = f"{WRAPPER}::test_standard_keys_and_no_trace_afterwards"
PILOT = f"{WRAPPER}::test_pilot_keeps_its_status"
TOGETHER = f"{SIDE}::test_status_is_that_of_all_tasks_that_run"
CLUSTERS = f"{REAL}::test_status_of_tasks_side_by_side_on_real_clusters"
WORKED = f"{STATUS}::test_worked_case"

VARIABLES = [
    shown("three variables name a directory each", STANDARD, f"{REAL}::test_a_job_reads_its_cores_and_its_limits"),
    shown("the name of a file is the key, its content the value", STANDARD),
    shown("a leading slash or http:// tells where to read", f"{WRAPPER}::test_addresses_of_the_site_are_left_alone"),
    shown(
        "what the site gives stands",
        f"{WRAPPER}::test_directories_of_the_site_are_left_alone",
        f"{WRAPPER}::test_only_what_the_site_does_not_give_is_given",
    ),
    shown("values may change while the job runs", f"{WRAPPER}::test_job_hears_of_a_shutdown_from_the_front_end"),
    shown("JOBSTATUS is empty at first", f"{WRAPPER}::test_single_task_finds_an_empty_status_of_its_own"),
    shown("the pilot fills it", PILOT, TOGETHER, CLUSTERS),
    shown(
        "the provider serves the files over HTTP",
        f"{SERVED}::test_who_has_the_address_reads_a_value_or_what_there_is",
        f"{WRAPPER}::test_a_job_is_told_where_the_portal_serves_its_features",
        "operator/test_features_over_http::test_a_job_reads_its_features_and_its_shutdown_from_the_portal",
    ),
    shown(
        "services of the provider may read the files",
        f"{WRAPPER}::test_a_group_that_the_site_names_may_read_the_directories",
        f"{GRID}::test_the_group_that_the_operator_names_may_read_what_a_program_sees",
    ),
    left("metadata of a cloud tell where they are", "the grid starts no virtual machines"),
]

USES = [
    shown(
        "the job knows how long it may run",
        STANDARD,
        f"{WRAPPER}::test_limit_of_the_shell_on_cpu_time_counts_when_it_is_lower",
    ),
    shown("how long it has been running", f"{WRAPPER}::test_slurm_says_more"),
    shown("how fast its host is", DRAFT),
    shown(
        "that its host is drained",
        f"{DRAIN}::test_all_that_runs_hears_of_the_machines_shutdown_until_the_time_has_come",
        f"{REAL}::test_a_node_that_drains_tells_its_job_and_gets_no_other",
    ),
    shown("how many threads it may start", f"{WRAPPER}::test_what_was_asked_for_is_what_is_granted"),
    shown("how many slots it has", f"{WRAPPER}::test_grid_engine_says_more", DRAFT),
    shown("how much disk it may use", DRAFT, f"{GRID}::test_a_size_is_the_same_number_of_bytes_everywhere"),
    shown(
        "how much memory",
        f"{WRAPPER}::test_oar_says_more",
        f"{GRID}::test_a_program_sees_what_was_asked_for_and_declared",
    ),
    shown("the site knows how much longer it runs", WORKED, f"{STATUS}::test_figures_of_a_silent_job_are_the_grids"),
    shown("what draining it wastes", f"{STATUS}::test_formulas", CLUSTERS),
    shown(
        "what killing it wastes",
        f"{STATUS}::test_formulas",
        f"{DRAIN}::test_least_waste_is_killed_first_and_the_rest_is_kept",
    ),
    shown("which job matters least to its user", f"{STATUS}::test_priority_counts_among_jobs_of_one_user_only"),
]

JOB_KEYS = [
    shown("cpufactor_lrms", DRAFT, f"{WRAPPER}::test_what_nobody_declares_of_a_machine_is_absent"),
    shown("cpu_limit_secs_lrms", DRAFT),
    shown("cpu_limit_secs", DRAFT, STANDARD),
    shown("wall_limit_secs_lrms", DRAFT),
    shown("wall_limit_secs", STANDARD, f"{GRID}::test_a_program_sees_what_was_asked_for_and_declared"),
    shown("disk_limit_GB", DRAFT, f"{GRID}::test_a_size_is_the_same_number_of_bytes_everywhere"),
    shown("jobstart_secs", DRAFT, f"{WRAPPER}::test_slurm_says_more"),
    shown("mem_limit_MB", DRAFT, f"{GRID}::test_a_size_is_the_same_number_of_bytes_everywhere"),
    shown("allocated_CPU", DRAFT, f"{GRID}::test_the_names_of_the_draft_are_there_unless_they_are_switched_off"),
    shown(
        "shutdowntime_job, by which all has to be finished",
        f"{WRAPPER}::test_job_hears_of_a_shutdown_from_the_front_end",
        f"{WRAPPER}::test_no_task_is_started_that_could_not_end_before_a_shutdown",
        f"{DRAIN}::test_jobs_told_are_those_killed",
    ),
]

MACHINE_KEYS = [
    shown("hs06", DRAFT, f"{GRID}::test_a_program_sees_what_was_asked_for_and_declared"),
    shown(
        "shutdowntime, which goes when the time has come",
        f"{DRAIN}::test_all_that_runs_hears_of_the_machines_shutdown_until_the_time_has_come",
        CLUSTERS,
    ),
    shown("jobslots", DRAFT, f"{GRID}::test_a_program_sees_what_was_asked_for_and_declared"),
    shown("phys_cores", DRAFT),
    shown("log_cores", DRAFT),
    shown("shutdown_command", DRAFT),
]

STATUS_KEYS = [
    shown(
        "used_CPU, the lock of them all",
        f"{WRAPPER}::test_status_is_locked_while_it_is_written",
        f"{WRAPPER}::test_status_is_not_written_without_a_lock",
    ),
    shown(
        "used_CPU is no more than the job was given",
        TOGETHER,
        f"{STATUS}::test_more_cores_than_it_has_and_nothing_is_believed",
    ),
    shown("last_job_start", PILOT, TOGETHER, CLUSTERS),
    shown("first_exp_job_end", PILOT, TOGETHER, f"{WRAPPER}::test_ends_that_nobody_can_guess_are_absent"),
    shown("last_exp_job_end", PILOT, TOGETHER, f"{WRAPPER}::test_ends_that_nobody_can_guess_are_absent"),
    shown("last_max_job_end", PILOT),
    shown("add_uncom_time", PILOT, TOGETHER, CLUSTERS),
    shown("add_final_exp_waste", PILOT, TOGETHER, CLUSTERS),
    shown("can_postpone_last_job", PILOT),
    left(
        "from False back to True it leaves the others alone for a while", "what is False here never becomes True again"
    ),
    shown("priority_factor", PILOT, f"{STATUS}::test_priority_counts_among_jobs_of_one_user_only"),
]

FORMULAS = [
    shown("remaining_time by the estimate or by the limit", WORKED),
    shown("draining_waste", WORKED, f"{STATUS}::test_formulas"),
    shown("kill_waste", WORKED, f"{STATUS}::test_formulas"),
]
