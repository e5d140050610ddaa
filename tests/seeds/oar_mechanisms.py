"""The mechanisms of OAR, sentence by sentence: those that a grid over several of them takes up."""

from tests.seeds.sentence import left, shown

INTRODUCES = "it introduces what follows"
NOT_YET = "this grid does not do it yet"
INSIDE_OAR = "it is how OAR works inside, below what a grid sees"
BATCH_ONLY = "a campaign is a batch of jobs: nobody sits before them"

JOBS = [
    left("an interactive job is a shell on a node", BATCH_ONLY),
    shown(
        "a passive job ends with its command, and its exit value is told",
        "drivers/conformance::test_exit_codes_nodes_and_times_are_known",
        "drivers/test_oar::test_an_end_is_known_by_its_wait_status",
    ),
    left("each job has a cpuset of its user and number on each node", INSIDE_OAR),
    shown(
        "before a job its processors are set apart",
        "localbatch/test_jobs::test_jobs_never_use_more_than_the_pools",
    ),
    shown(
        "after it nothing of it is left on its nodes",
        "localbatch/test_jobs::test_nothing_of_a_job_outlives_its_first_process",
        "localbatch/test_restart::test_the_leftovers_of_an_adopted_job_are_killed",
    ),
    left("three files can be edited to manage cpusets otherwise", INSIDE_OAR),
    left("oarsh connects nodes with a key of the job", INSIDE_OAR),
    left("a reservation on each of several clusters with one key", NOT_YET),
    shown(
        "jobs are suspended and go on again",
        "localbatch/test_controls::test_every_process_of_a_suspended_job_stops_until_it_is_resumed",
        "drivers/test_gridengine_real::test_normal_jobs_are_suspended_and_resumed",
        "drivers/test_oar::test_a_suspended_job_is_known",
    ),
    left("two scripts of the operator run after suspending and before resuming", NOT_YET),
    shown(
        "to delete a job it is asked to end, then ended",
        "localbatch/test_jobs::test_a_running_job_is_asked_to_end_when_it_is_cancelled",
        "localbatch/test_jobs::test_a_job_that_does_not_want_to_end_is_killed",
    ),
    shown(
        "where this does not succeed it is sent again and told",
        "modules/test_killer::test_a_kill_without_effect_is_sent_again_and_then_complained_about",
    ),
    shown(
        "an idempotent job that saved itself goes on as another job when it ends by 99",
        "drivers/test_oar_real::test_a_job_that_oar_submits_again_is_the_same_one",
        "drivers/test_oar::test_a_job_that_oar_submitted_again_takes_the_place_of_the_one_before",
    ),
    shown(
        "a checkpoint is a signal to the program",
        "wrapper/test_checkpoint::test_signal_goes_down_to_the_program_that_listens",
        "faults/test_checkpoint::test_a_task_stops_before_the_walltime_and_continues",
    ),
    shown(
        "which can be chosen",
        "wrapper/test_checkpoint::test_other_signals_can_be_chosen",
    ),
    shown(
        "and asked for by hand",
        "cli/test_griddel::test_running_jobs_are_asked_for_checkpoints_where_their_campaign_declares_them",
        "faults/test_checkpoint::test_a_task_stops_when_asked_and_continues",
    ),
]

SCHEDULING = [
    left("four steps find a job's hole in a Gantt diagram", INSIDE_OAR),
    shown(
        "resources that satisfy -p and the braces of -l",
        "drivers/test_selecting_real::test_jobs_land_only_on_nodes_that_satisfy_their_requirements",
    ),
    shown(
        "hierarchies as -l has them",
        "faults/test_oar::test_whole_nodes_are_asked_for_in_oars_words",
        "drivers/test_oar_real::test_each_word_of_a_request_is_one_that_oarsub_knows",
    ),
    shown(
        "a job may need the end of another",
        "modules/test_after::test_a_diamond_runs_in_its_order",
        "flow/test_dependencies::test_all_wait_until_the_last_has_ended_and_go_on_at_once",
    ),
    shown(
        "one that failed lets nothing that depends on it begin",
        "flow/test_dependencies::test_what_ended_otherwise_tells_the_commands_that_help_and_heals_when_it_is_done_again",
    ),
    shown(
        "what is done again is what dependants wait for from then on",
        "flow/test_dependencies::test_what_ended_otherwise_tells_the_commands_that_help_and_heals_when_it_is_done_again",
        "flow/test_graphs::test_what_waits_goes_on_when_a_model_of_it_says_so",
    ),
    shown(
        "with quotas dependants begin whatever became of it: here where their user says so",
        "flow/test_dependencies::test_how_it_has_to_end",
        "modules/test_after::test_what_cleans_up_runs_whatever_became_of_the_work",
    ),
    shown(
        "jobs share a node's time if they say so",
        "drivers/test_oar::test_the_types_of_oar_and_of_the_site_are_allowed",
    ),
    left("a container is a job in which others are scheduled", NOT_YET),
    left("an inner job never gets more than its container has", NOT_YET),
    shown(
        "best-effort jobs end when others want their place",
        "drivers/conformance::test_besteffort_jobs_give_way",
        "faults/test_oar::test_what_a_local_user_or_an_operator_kills_is_done_again_for_free",
    ),
    shown(
        "which uses up a cluster with jobs of many parameters, as CiGri does",
        "faults/test_everywhere::test_each_task_of_a_campaign_on_all_clusters_is_done_once_whatever_happens",
    ),
    shown("they say so by -t besteffort", "drivers/test_oar::test_a_submission_asks_for_what_is_wished"),
    left("a best-effort job cannot be a reservation", "there are no reservations here yet"),
    shown(
        "an idempotent one that was killed for others is begun again",
        "drivers/test_oar_real::test_a_job_that_oar_submits_again_is_the_same_one",
        "modules/test_observation::test_preemption_is_free_and_first_in_line",
    ),
    left("a cosystem job reserves nodes and runs nothing there", NOT_YET),
    left("a deploy job's program runs on a host for deployments", NOT_YET),
]

SERVICES = [
    shown(
        "mail:ADDRESS",
        "modules/test_notifier::test_the_end_is_told_with_its_counts",
        "test_telling::test_it_is_written_as_oar_writes_it",
    ),
    shown(
        "without a server no mail is sent",
        "modules/test_notifier::test_without_a_server_of_mail_the_user_is_told_so",
        "cli/test_gridnotify::test_a_grid_that_sends_no_mail_says_so",
    ),
    shown(
        "its subject has a tag, the number, the name and the host",
        "modules/test_notifier::test_the_end_is_told_with_its_counts",
    ),
    shown(
        "exec:/PATH ARGS runs where it was submitted, with number, name, tag and comment",
        "modules/test_notifier::test_a_command_runs_as_its_user_with_what_oar_gives",
    ),
    shown(
        "tags: RUNNING, END, ERROR, INFO, SUSPENDED, RESUMING",
        "modules/test_notifier::test_each_part_of_a_campaigns_life_has_its_tag",
        "test_telling::test_each_event_has_a_tag_and_a_severity",
    ),
    shown(
        "accounting splits time by a window",
        "flow/test_accounting::test_a_job_over_midnights_counts_on_each_of_its_days",
    ),
    shown(
        "so that usage is soon told",
        "cli/test_gridusage::test_days_are_told_apart_and_chosen",
        "cli/test_gridusage::test_the_sums_are_those_that_accounting_tells",
    ),
    left("nodes are woken when jobs could use them", NOT_YET),
    left("available_upto tells until when a node could be there", NOT_YET),
    left("a node that was idle long enough is sent to sleep", NOT_YET),
    shown(
        "the operator limits what a user, type, project and queue may have, and combinations",
        "test_quotas::test_a_combination_counts_beside_its_parts",
        "flow/test_ceilings::test_queues_and_types_have_quotas",
        "operator/test_policy::test_limits_and_quotas_are_declared_listed_obeyed_and_removed",
    ),
    shown(
        "jobs above a quota wait until there is room",
        "flow/test_ceilings::test_jobs_above_a_ceiling_leave_their_tasks_waiting",
        "flow/test_ceilings::test_two_hosts_at_once_make_no_job_too_many",
    ),
    shown(
        "without a rule there is no quota",
        "operator/test_policy::test_limits_and_quotas_are_declared_listed_obeyed_and_removed",
    ),
    left("containers are not counted but their inner jobs", "there are no containers here yet"),
    shown(
        "best-effort jobs count in their own queue alone",
        "test_quotas::test_best_effort_jobs_are_counted_where_the_rule_says_so",
    ),
    left("an agent on a desktop asks a server by HTTP what to do", NOT_YET),
    left("it needs no ssh to it, only the way to the server", NOT_YET),
    left("files are brought to it and fetched by the same way", NOT_YET),
]
