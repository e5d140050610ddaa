"""RFC 7 of DIRAC on requirements of jobs, sentence by sentence; headings, authors and the page around it are none.

A VO is our project, a CE our cluster, and what DIRAC calls a Task Queue and a SubmitPool are one here: the submit pool.
"""

from tests.seeds.sentence import left, shown

NO_PILOTS = "there are no pilots: a batch knows its queue before it is sent"

RFC7 = [
    shown("jobs may require things of resources", "requirements/test_rfc::test_the_example_is_obeyed"),
    shown("most often by reserved words", "requirements/test_rfc::test_the_reserved_keywords_are_obeyed"),
    shown("the reserved words, in a list", "requirements/test_rfc::test_the_reserved_keywords_are_obeyed"),
    shown("Site", "jdl/test_dirac::test_a_job_wants_what_it_says"),
    shown("BannedSite", "jdl/test_dirac::test_a_site_that_is_banned_too_is_told_where_it_is_wanted"),
    shown("Platform", "jdl/test_dirac::test_a_job_wants_what_it_says"),
    shown("CPUTime", "jdl/test_dirac::test_the_reserved_cpu_time_is_the_walltime"),
    shown(
        "they belong to what defines the task queue",
        "seeds/test_rfc7::test_the_reserved_keywords_are_part_of_what_defines_the_pool",
    ),
    shown(
        "resources are described and matched with them",
        "pools/test_rfc::test_eligible_queues_and_sites_are_obtained_for_the_requirements",
    ),
    left("the standard way is fast but cannot say enough", "a judgement of the original; its words are a part of ours"),
    shown("not all can be said in predefined words", "requirements/test_expression::test_what_the_node_satisfies"),
    shown(
        "new work needs new words",
        "resources/test_rfc::test_new_characteristics_are_added_without_changing_the_code_or_the_schema",
    ),
    shown(
        "as for software, services, memory, processors",
        "seeds/test_rfc7::test_software_services_memory_and_cpu_models_can_be_required",
    ),
    shown(
        "so words are added at any level, code and schema as they are",
        "resources/test_rfc::test_new_characteristics_are_added_without_changing_the_code_or_the_schema",
        "resources/test_inheritance::test_arbitrary_parameters_may_be_given_at_each_level_and_queues_inherit_them",
    ),
    left("this text proposes how", "an announcement"),
    shown(
        "each level has free parameters, for all VOs or for one",
        "resources/test_rfc::test_arbitrary_parameters_are_specified_at_each_level_valid_for_all_the_vos",
        "resources/test_rfc::test_parameters_are_valid_for_a_given_vo",
    ),
    shown(
        "they select resources by a helper",
        "resources/test_rfc::test_a_set_of_resources_is_selected_as_a_tree_that_starts_from_the_site_level",
    ),
    shown(
        "example: by what CE and queue must have",
        "resources/test_rfc::test_the_selection_is_by_the_cluster_and_the_queue_at_once",
    ),
    shown(
        "it gives a tree from the sites on",
        "resources/test_rfc::test_a_set_of_resources_is_selected_as_a_tree_that_starts_from_the_site_level",
    ),
    shown(
        "from which the eligible sites, CEs and queues are listed",
        "pools/test_rfc::test_the_queues_of_a_pool_are_kept_by_site_cluster_and_queue",
    ),
    shown(
        "queues inherit from CE and site, CEs from the site",
        "resources/test_rfc::test_queues_inherit_parameters_from_their_computing_elements_and_sites",
        "resources/test_rfc::test_computing_elements_inherit_their_parameters_from_the_sites",
    ),
    shown(
        "the nearer value wins",
        "resources/test_rfc::test_queues_override_what_is_specified_on_the_computing_element_or_site_level",
    ),
    shown(
        "a section of the description, JDL or newer, has them",
        "jdl/test_requirements::test_every_format_can_say_them",
        "jdl/test_dirac::test_a_job_wants_what_it_says",
    ),
    shown(
        "the example of a job",
        "jdl/test_dirac::test_the_example_of_the_rfc_is_read_whole",
        "jdl/test_dirac::test_the_example_of_the_rfc_is_a_campaign_for_all_clusters_that_satisfy_it",
        "requirements/test_rfc::test_the_example_is_obeyed",
    ),
    shown(
        "what a resource does not say, it does not have",
        "requirements/test_rfc::test_a_parameter_that_is_not_present_in_the_resource_description_makes_it_not_eligible",
    ),
    shown(
        "of a list, one is enough",
        "requirements/test_rfc::test_if_the_value_is_a_list_resources_having_one_of_the_values_are_eligible",
    ),
    shown(
        "numbers are compared with what the resource has",
        "requirements/test_rfc::test_the_resource_capacity_should_be_greater_than_the_requirement_and_equality_passes",
    ),
    shown(
        "a description of parameters tells their type",
        "requirements/test_rfc::test_the_parameter_type_is_deduced_from_its_description",
    ),
    shown(
        "then there must be more than is required",
        "requirements/test_rfc::test_the_resource_capacity_should_be_greater_than_the_requirement_and_equality_passes",
    ),
    shown(
        "they are applied in two steps",
        "pools/test_dispatch::test_eligibility_is_checked_again_in_the_transaction_that_dispatches",
    ),
    shown(
        "first the eligible queues become a stored SubmitPool",
        "pools/test_rfc::test_the_queues_of_a_pool_are_kept_by_site_cluster_and_queue",
    ),
    shown(
        "second, who may take jobs learns the pools it is eligible for",
        "pools/test_rfc::test_get_submit_pools_for_queue_returns_all_pools_defined_for_it",
    ),
    shown(
        "last, the usual matching goes by the pool",
        "pools/test_dispatch::test_each_job_carries_tasks_of_one_bucket_and_goes_where_that_may_go",
    ),
    shown(
        "a new job is checked and prepared step by step",
        "cli/test_gridsub::test_admission_refuses_and_the_reason_is_told_beside_other_faults",
        "cli/test_gridsub_requirements::test_a_job_of_dirac_goes_where_it_may",
    ),
    shown(
        "one of the steps is for requirements",
        "cli/test_gridsub_requirements::test_what_is_impossible_is_refused_with_the_nearest_miss",
    ),
    shown(
        "they are taken out, put in order and hashed",
        "requirements/test_rfc::test_the_requirements_are_ordered_alphabetically",
        "pools/test_rfc::test_requirements_are_ordered_and_make_a_unique_hash",
    ),
    shown(
        "the hash identifies the pool",
        "requirements/test_rfc::test_the_hash_of_equal_requirements_is_equal",
        "requirements/test_rfc::test_the_hash_of_different_requirements_is_unique_and_so_is_that_of_another_project",
    ),
    shown(
        "they are kept in a table by their hash",
        "pools/test_rfc::test_requirements_are_stored_in_the_table_of_submit_pools_with_the_hash_as_key",
    ),
    shown(
        "the helper finds eligible queues and sites",
        "pools/test_rfc::test_eligible_queues_and_sites_are_obtained_for_the_requirements",
    ),
    shown(
        "another table has the queues of each pool, by their three names",
        "pools/test_rfc::test_the_queues_of_a_pool_are_kept_by_site_cluster_and_queue",
    ),
    shown(
        "eligible sites may be added to the job",
        "pools/test_rfc::test_the_list_of_eligible_sites_is_added_to_the_campaign",
    ),
    shown("the job knows its pool", "pools/test_rfc::test_a_job_is_given_the_identifier_of_its_pool"),
    left("two agents submit pilots", NO_PILOTS),
    shown(
        "both ask for the pools of a queue",
        "pools/test_rfc::test_get_submit_pools_for_queue_returns_all_pools_defined_for_it",
    ),
    shown(
        "one question for many at once is the lighter way",
        "seeds/test_rfc7::test_one_question_is_asked_for_a_whole_bunch_of_jobs",
    ),
    shown(
        "one agent submits to a queue that it knows",
        "pools/test_dispatch::test_a_batch_goes_to_its_queue_or_else_the_first_eligible_one",
    ),
    shown(
        "at that moment it asks for all pools of the queue",
        "pools/test_rfc::test_get_submit_pools_for_queue_returns_all_pools_defined_for_it",
        "pools/test_dispatch::test_eligibility_is_checked_again_in_the_transaction_that_dispatches",
    ),
    left("pilots carry the list of pools", NO_PILOTS),
    left("other pilots do not know their queue beforehand", NO_PILOTS),
    left("they ask where they happen to run", NO_PILOTS),
    left("then they ask for jobs of those pools", NO_PILOTS),
    shown(
        "properties have to be static",
        "seeds/test_rfc7::test_only_static_parameters_are_properties_of_nodes",
    ),
    shown(
        "a site may change while jobs wait",
        "pools/test_rfc::test_resources_that_change_are_seen_at_once_whatever_the_interval",
    ),
    shown(
        "then a job may go where it fails, or not where it could",
        "pools/test_rfc::test_a_no_more_eligible_resource_does_not_pick_up_a_job_that_would_fail",
        "pools/test_rfc::test_resources_that_change_are_seen_at_once_whatever_the_interval",
    ),
    shown(
        "so pools are computed anew, say every 15 minutes",
        "pools/test_rfc::test_the_mapping_is_refreshed_each_15_minutes",
    ),
    shown("and bear the time of it", "pools/test_rfc::test_the_pool_has_a_time_stamp_of_its_last_update"),
    shown("a pool without jobs goes", "pools/test_rfc::test_a_pool_is_removed_when_no_more_jobs_correspond_to_it"),
    shown(
        "but not at once, jobs may come back",
        "pools/test_rfc::test_a_pool_is_not_removed_as_soon_as_its_last_job_is_picked_up",
        "pools/test_rfc::test_what_is_rescheduled_after_its_pool_was_removed_gets_it_again",
    ),
    shown(
        "an agent does it now and then",
        "pools/test_rfc::test_pools_are_cleaned_up_by_a_dedicated_agent_running_at_regular_intervals",
    ),
]
