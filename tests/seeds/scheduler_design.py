"""The design of a new scheduler for CiGri, 2009, sentence by sentence: its items, its specification, its algorithms.

Spritz is our predictor, Nikita our killer, iolib our cigri.flow.
"""

from tests.seeds.sentence import left, shown

INTRODUCES = "it introduces what follows"
HISTORY = "it tells how the work of 2009 went on"
NOT_YET = "this grid does not do it yet"
RATIOS = "modules/test_algorithms"
SHARE = "modules/test_metascheduler_share"

ITEMS = [
    left("the scheduler first, other subjects when there is time", HISTORY),
    shown(
        "campaigns of parallel jobs, on several nodes of one cluster",
        "faults/test_amounts::test_a_batch_system_is_asked_for_exactly_what_each_task_needs",
        f"{SHARE}::test_wide_jobs_count_their_cores",
    ),
    shown(
        "users of a city have their own clusters first, and others' while these are free",
        "operator/test_policy::test_affinities_are_declared_listed_obeyed_and_removed",
        "modules/test_policies::test_the_example_of_the_note_of_2009",
    ),
    shown(
        "another level of priority by project, as OAR's fair sharing has",
        "operator/test_policy::test_targets_are_declared_listed_obeyed_and_removed",
        "modules/test_policies::test_karma_is_that_of_oar",
    ),
    shown(
        "equity between users, from accounting",
        "modules/test_policies::test_who_has_had_more_than_is_due_gets_less_now",
        "flow/test_usage::test_it_counts_half_after_the_half_life",
    ),
    shown(
        "a few jobs of each campaign run first, so that something is known of the others",
        f"{SHARE}::test_a_new_campaign_sends_scouts_and_opens_up_as_they_succeed",
        "modules/test_scouts::test_a_new_campaign_opens_up_as_its_scouts_succeed",
    ),
    shown(
        "a word of the description matches input data with jobs",
        "modules/test_task_inputs::test_each_task_finds_its_own_files",
    ),
    shown(
        "only what is needed is transferred before a job starts",
        "modules/test_task_inputs::test_no_more_is_sent_ahead_than_will_soon_run",
        "modules/test_task_inputs::test_a_task_starts_when_its_own_files_are_there",
        "modules/test_stager::test_two_campaigns_with_the_same_input_send_it_once",
    ),
    left("sizes and the line's bandwidth count in the choice of clusters", NOT_YET),
    shown(
        "jobs are duplicated at the end of a campaign if resources are free",
        f"{SHARE}::test_replicas_take_free_cores_only",
        "faults/test_replicas::test_the_replica_of_a_task_that_hangs_wins_and_the_other_ends_at_once",
    ),
    shown(
        "or after a time",
        "modules/test_finalize::test_what_has_outlasted_most_lasts_as_long_as_those_that_did",
        "modules/test_killer::test_a_job_that_waits_too_long_is_tried_elsewhere",
    ),
    shown(
        "CiGri sends the signal to save",
        "faults/test_checkpoint::test_a_task_stops_when_asked_and_continues",
        "modules/test_checkpoint::test_periodic_checkpoints_come_again_and_again",
    ),
    shown(
        "the interval of checkpoints comes of a formula",
        "test_checkpoint_interval::test_nobody_does_much_better_than_the_formula",
        "modules/test_checkpoint::test_where_jobs_were_killed_the_grid_asks_at_an_interval_that_pays",
    ),
    shown(
        "what was saved goes on before what has saved nothing",
        "flow/test_claims::test_the_highest_priority_goes_first_then_the_oldest",
        "modules/test_queued_together::test_tasks_that_go_on_where_they_stopped_wait_for_a_place_too",
    ),
    shown(
        "on the same cluster",
        "flow/test_continuing::test_only_on_the_cluster_of_its_checkpoint_does_a_task_continue",
        "modules/test_checkpoint::test_a_task_continues_on_its_cluster_though_another_would_come_first",
    ),
    shown(
        "where its data are",
        "modules/test_checkpoint::test_a_task_stops_before_the_walltime_and_is_continued_where_it_was",
        "flow/test_continuing::test_a_task_that_has_saved_nothing_waits_for_nobody",
    ),
    shown(
        "dependencies, which are hard for their input and output data",
        "modules/test_after::test_a_diamond_runs_in_its_order",
        "flow/test_graphs::test_what_waits_goes_on_when_a_model_of_it_says_so",
    ),
    left("a distributed file system may help", "the grid takes clusters as they are, and needs none"),
    shown(
        "arrays of jobs",
        "modules/test_runner::test_the_batches_of_many_campaigns_are_one_command",
        "drivers/test_slurm::test_an_accepted_array_has_an_id_for_each_index",
    ),
    left("a thousand jobs on a cluster may harm its file server, as their profiles tell", NOT_YET),
    shown(
        "jobs that last no time on some cluster, and end well: the sink",
        "modules/test_swallowing_clusters::test_only_a_cluster_that_swallows_is_accused",
        "laboratory/test_world::test_a_cluster_that_swallows_tasks_is_set_aside_and_the_other_does_them",
    ),
    left("the REST API of OAR instead of ssh and sudo", NOT_YET),
]

NOTES = [
    shown(
        "a library tells of resources and jobs from the database",
        "resources/test_rfc::test_a_set_of_resources_is_selected_as_a_tree_that_starts_from_the_site_level",
        "flow/test_wants::test_what_is_known_of_a_cluster_and_of_the_campaign_there_is_wanted",
    ),
    shown(
        "the strategy of the scheduler can be exchanged",
        "modules/test_policies::test_each_policy_is_found_by_its_name_and_no_other",
        "modules/test_campaign_schedulers::test_an_unknown_scheduler_is_named_with_those_there_are",
    ),
    shown(
        "does priority mean preemption, or to be first in the queue? the first in line, and what waits is taken back",
        "modules/test_recall::test_a_newcomer_begins_before_the_jobs_that_a_giant_has_waiting",
    ),
    shown(
        "a large parallel job keeps small campaigns waiting, unless it makes room",
        f"{SHARE}::test_cores_are_kept_for_a_wide_job_at_the_head_on_the_cluster_that_lacks_the_fewest",
        f"{SHARE}::test_no_cores_are_kept_where_a_job_cannot_run_or_for_want_of_anything_else",
    ),
    shown(
        "a priority by the user's group, queue and recent use",
        "modules/test_policies::test_several_campaigns_of_a_user_share_what_is_due_to_the_user",
        "flow/test_usage::test_used_and_asked_by_user_and_project",
    ),
    shown(
        "the first jobs of a large campaign have a higher priority, so that users soon see results",
        "modules/test_policies::test_the_first_jobs_of_each_campaign_go_first_under_every_policy",
        "operator/test_policy::test_a_new_campaign_soon_has_its_first_jobs",
    ),
    shown(
        "arrays make large campaigns quick to submit",
        "modules/test_clusters::test_the_number_of_commands_does_not_grow_with_the_jobs",
        "faults/test_slurm::test_a_thousand_jobs_in_flight_take_one_command_a_pass",
    ),
    shown(
        "nobody asks clusters while they schedule",
        "flow/test_plans::test_a_pass_does_not_grow_with_tasks_or_history",
        "modules/test_forecasts::test_a_pass_without_work_is_one_statement",
    ),
    shown(
        "to schedule is one thing, to submit another",
        "flow/test_claims::test_an_offer_is_taken_once",
        "faults/test_kill::test_a_runner_killed_at_a_submission",
    ),
]

SPECIFICATION = [
    left("nothing in this specification is fixed", INTRODUCES),
    shown("campaigns have types: test and default", "jdl/test_reading::test_type_of_a_campaign"),
    shown(
        "admission rules are programs",
        "test_admission::test_a_rule_refuses",
        "test_admission::test_every_change_is_told_with_its_rule",
    ),
    shown(
        "test, prediction, workqueue and finalize are schedulers",
        "modules/test_campaign_schedulers::test_test_sends_one_task_at_a_time_to_each_cluster_in_turn",
        "modules/test_campaign_schedulers::test_prediction_sends_what_is_forecast_to_start_at_once",
        "modules/test_campaign_schedulers::test_workqueue_fills_the_offer_in_order",
        "modules/test_campaign_schedulers::test_a_campaign_moves_between_schedulers_by_itself",
    ),
    shown("jobs may need more than one resource", "jdl/test_fields::test_resources"),
    shown(
        "requirements of properties, as OAR's -p",
        "faults/test_requirements::test_tasks_run_only_on_nodes_that_satisfy_what_their_campaign_requires",
        "requirements/test_expression::test_what_the_node_satisfies",
    ),
    shown(
        "and of a hierarchy, as OAR's -l",
        "faults/test_oar::test_whole_nodes_are_asked_for_in_oars_words",
        "jdl/test_fields::test_resources",
    ),
    shown("gridsub has -t for the type", "cli/test_gridsub::test_a_test_takes_one_task_for_each_cluster"),
    shown("without one it is a default campaign", "jdl/test_reading::test_type_of_a_campaign"),
    shown("default campaigns deploy jobs", "operator/test_up::test_a_campaign_comes_to_its_end"),
    shown(
        "a test has one job on each cluster of its description",
        f"{SHARE}::test_a_test_campaign_has_one_job_per_cluster",
        "faults/test_tests::test_each_cluster_of_a_test_is_tested_by_itself",
    ),
    shown(
        "and goes before default campaigns",
        f"{SHARE}::test_a_test_campaign_goes_ahead_of_everybody_even_on_a_full_cluster",
        "modules/test_tests::test_a_test_goes_before_all_though_no_core_is_free",
    ),
    shown(
        "a metascheduler, a scheduler for each campaign, a predictor",
        "operator/test_up_otherwise::test_modules_run_by_hand_without_the_almighty",
    ),
    shown(
        "the updator writes down what clusters have, in each cycle",
        "modules/test_clusters::test_a_campaign_runs_on_both_of_its_clusters",
        "modules/test_queues::test_queues_are_as_the_clusters_were_seen",
    ),
    shown(
        "and whether jobs run, have ended or were killed",
        "modules/test_observation::test_a_listed_job_moves_only_when_its_state_does",
        "flow/test_ends::test_an_end_is_counted_once_however_often_it_is_told",
    ),
    shown(
        "the metascheduler directs campaign schedulers by resources, requirements and priorities",
        f"{SHARE}::test_a_cluster_that_cannot_be_used_gets_nothing",
        "pools/test_dispatch::test_only_clusters_with_an_eligible_queue_are_offered",
        "modules/test_policies::test_priorities_go_before_the_policy_and_tests_before_priorities",
    ),
    shown(
        "it controls whether its decisions have effect",
        "modules/test_killer::test_a_flooded_queue_gives_back_its_newest_jobs_free_of_charge",
        "modules/test_queues::test_the_newest_jobs_beyond_what_is_useful_are_taken_back",
    ),
    shown(
        "first come, first served, after tests",
        f"{SHARE}::test_the_first_campaign_is_served_first",
        "modules/test_policies::test_priorities_go_before_the_policy_and_tests_before_priorities",
    ),
    shown(
        "cleverer solutions later, with fair sharing",
        "modules/test_policies::test_who_has_had_more_than_is_due_gets_less_now",
        "modules/test_policies::test_the_earliest_end_less_the_time_of_a_task_goes_first_and_unknown_ends_last",
    ),
    shown(
        "its loop serves all tests, then all others",
        f"{SHARE}::test_a_test_campaign_goes_ahead_of_everybody_even_on_a_full_cluster",
    ),
    shown(
        "affinities of users and clusters make an order on each cluster",
        "modules/test_policies::test_the_example_of_the_note_of_2009",
        "modules/test_policies::test_without_affinities_the_first_comes_first",
    ),
    shown(
        "a campaign scheduler matches what it was offered with what the predictor foretells",
        "modules/test_campaign_schedulers::test_never_more_than_offered_and_never_a_task_twice",
        f"{SHARE}::test_a_forecast_says_how_many_are_sent_whatever_is_free",
    ),
    shown(
        "test scheduling drops all other jobs",
        "cli/test_gridsub::test_a_test_takes_one_task_for_each_cluster",
        "cli/test_gridsub::test_no_tasks_are_added_to_a_test",
    ),
    shown(
        "workqueue fills up what is free",
        "modules/test_campaign_schedulers::test_workqueue_fills_the_offer_in_order",
    ),
    shown(
        "finalize replicates the jobs that remain",
        "modules/test_finalize::test_a_task_is_replicated_where_it_is_expected_to_end_sooner",
        f"{SHARE}::test_a_campaign_is_replicated_once_all_its_tasks_have_places",
    ),
    shown(
        "above all those that failed for no known reason or were killed",
        "flow/test_replicas::test_what_was_tried_before_goes_before_what_was_not",
    ),
    shown(
        "once one has succeeded, its replicas are ended",
        "flow/test_replicas::test_the_first_success_wins_and_the_other_is_killed_whatever_it_says_then",
        "faults/test_replicas::test_a_killer_that_dies_between_win_and_abort_aborts_the_loser_later",
    ),
    shown(
        "the predictor tells jobs in a time, and from it a campaign's end",
        "modules/test_predictor::test_throughput_is_in_tasks_per_hour",
        "cli/test_gridstat::test_the_end_is_told_as_a_date_and_as_a_duration",
    ),
    shown(
        "and the ratio of resources to jobs, one at first",
        f"{RATIOS}::test_the_simple_ratio_is_one_job_per_width",
        "modules/test_predictor::test_nothing_is_known_before_the_first_success",
    ),
    shown(
        "which follows what waits and what is not used",
        f"{RATIOS}::test_two_way_adaptive_follows_what_runs_and_what_waits",
    ),
]

STEPS = [
    shown("modules speak through the database", "faults/test_away::test_postgresql_goes_away_under_a_running_almighty"),
    shown("the almighty begins with the updator", "operator/test_up::test_status_shows_all_that_runs"),
    shown(
        "the metascheduler matches resources with requirements",
        "pools/test_dispatch::test_eligibility_is_checked_again_in_the_transaction_that_dispatches",
    ),
    shown(
        "campaign schedulers get the clusters that they may use",
        "pools/test_dispatch::test_each_job_carries_tasks_of_one_bucket_and_goes_where_that_may_go",
        "flow/test_claims::test_an_offer_to_a_campaign_that_was_held_meanwhile_is_void",
    ),
    shown(
        "a cluster is one campaign's until that has ended, then the next one's",
        f"{SHARE}::test_the_first_campaign_is_served_first",
        f"{SHARE}::test_who_comes_behind_others_is_told_so",
    ),
    shown(
        "later throughput tells where to run",
        f"{SHARE}::test_the_cluster_that_ends_a_task_first_is_taken_first_not_the_emptiest",
    ),
    shown(
        "what was sent is kept for the next forecast",
        "flow/test_paces::test_jobs_sent_are_counted_since_the_last_pass",
        "flow/test_paces::test_the_last_forecast_comes_back",
    ),
    shown(
        "the runner prepares and submits",
        "modules/test_steps::test_the_prologue_comes_before_the_first_task_and_the_epilogue_after_the_last",
        "modules/test_runner::test_the_batches_of_many_campaigns_are_one_command",
    ),
    shown(
        "the predictor computes anew from what runs and waits",
        f"{RATIOS}::test_two_way_adaptive_follows_what_runs_and_what_waits",
        "flow/test_forecasts::test_only_a_forecast_that_has_changed_is_written_again",
    ),
    shown(
        "what waits in excess is wiped, and a small number left",
        "modules/test_killer::test_a_flooded_queue_gives_back_its_newest_jobs_free_of_charge",
        f"{RATIOS}::test_lean_keeps_what_can_start_and_a_margin",
    ),
    shown(
        "what was wiped is scheduled again",
        "flow/test_claims::test_a_batch_given_back_is_free_of_charge_and_settled_once",
    ),
    shown(
        "the predictor belongs right behind the updator",
        "modules/test_forecasts::test_a_real_run_is_forecast_with_a_history",
    ),
    shown(
        "not the runner wipes but the killer, which decides",
        "modules/test_queues::test_as_many_jobs_move_as_have_room_elsewhere",
        "modules/test_killer::test_a_flooded_queue_gives_back_its_newest_jobs_free_of_charge",
    ),
    shown(
        "so does the time-out of jobs that wait too long",
        "modules/test_killer::test_a_job_that_waits_too_long_is_tried_elsewhere",
    ),
    left("schedule staging is yet to be approved", HISTORY),
]

ALGORITHMS = [
    shown(
        "as many jobs as use all resources, and no flood",
        f"{RATIOS}::test_a_controller_brings_the_queue_to_its_reference",
        f"{RATIOS}::test_predictions_are_sane_whatever_comes",
    ),
    shown(
        "more waiting than allowed reduces the ratio, else it grows",
        f"{RATIOS}::test_slow_start_doubles_and_falls_to_one_job",
    ),
    shown(
        "slow start doubles, and falls to a single job",
        f"{RATIOS}::test_slow_start_doubles_and_falls_to_one_job",
        f"{RATIOS}::test_a_decrease_leaves_one_job_on_the_cluster",
    ),
    shown(
        "two-way adaptive reckons both ways from what ran and what was sent",
        f"{RATIOS}::test_two_way_adaptive_follows_what_runs_and_what_waits",
        f"{RATIOS}::test_two_way_adaptive_keeps_its_ratio_when_nothing_was_sent",
    ),
    shown(
        "it suits parallel jobs",
        f"{SHARE}::test_waiting_wide_jobs_take_their_cores_first",
    ),
    shown(
        "adaptive down, exponential up",
        f"{RATIOS}::test_adaptive_down_exponential_up",
    ),
    shown(
        "each is chosen by its name",
        f"{RATIOS}::test_each_algorithm_is_named_as_its_file",
        f"{RATIOS}::test_a_campaign_has_an_algorithm_of_its_own",
    ),
]

PLAN = [
    left("rules for admission lie in the database", "they are files of the operator, which an editor and git know"),
    shown(
        "there are default resources",
        "jdl/test_reading::test_global_settings_hold_unless_the_cluster_says_otherwise",
    ),
    shown(
        "predictions by campaign and cluster",
        "modules/test_predictor::test_a_campaign_on_two_clusters_is_forecast_in_all_and_on_each",
    ),
    shown(
        "jobs that run and wait are counted on each cluster",
        "flow/test_wants::test_waiting_jobs_are_counted_with_their_cores",
    ),
    shown(
        "patterns of design make it extensible: schedulers are found by their names",
        "modules/test_campaign_schedulers::test_an_unknown_scheduler_is_named_with_those_there_are",
    ),
    shown(
        "programs find themselves in variables of CIGRI",
        "jdl/test_command::test_environment_of_a_task",
        "drivers/test_local::test_the_prelude_tells_a_job_who_and_where_it_is",
    ),
    shown(
        "gridstat is short, or tells each job",
        "cli/test_gridstat::test_open_campaigns_are_listed",
        "cli/test_gridstat::test_a_full_view_shows_the_tasks",
    ),
    shown(
        "with throughput and mean by cluster",
        "cli/test_gridstat::test_one_campaign_is_shown_with_its_clusters",
        "cli/test_gridstat::test_an_ended_campaign_has_the_throughput_of_its_whole_life",
    ),
    shown("several campaigns are summed up", "cli/test_gridstat::test_several_campaigns_are_summed_up"),
    shown("errors to fix are seen", "cli/test_failures::test_errors_to_fix_that_are_alike_are_one_line"),
    left("milestones of the summer of 2009", HISTORY),
]
