"""Everybody sees how campaigns stand; what is in them, and what their tasks wrote, is their owners'."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.endpoints import Access, Endpoint, campaigns, descriptions, jobs, list_endpoints, pending_reasons, tasks
from cigri.endpoints.dispatch import run_endpoint
from cigri.errors import NotFound
from cigri.flow.error_budgets import ErrorBudgetUpdate, update_error_budgets
from cigri.formats.json_values import to_json_value
from cigri.identity.callers import AccessScope, Caller
from cigri.lifecycle.task_failures import STDERR
from cigri.settings.sections import BudgetSettings, Settings
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, note_passes, submitted_jobs

SECRET = "hush"
OF_ONE: list[tuple[Endpoint[..., Any], dict[str, int]]] = [
    (campaigns.campaign, {"campaign_id": 1}),
    (campaigns.failures, {"campaign_id": 1}),
    (campaigns.errors, {}),
    (tasks.tasks, {"campaign_id": 1}),
    (tasks.found_tasks, {"campaign_id": 1}),
    (tasks.latest_tasks, {"campaign_id": 1}),
    (tasks.task, {"campaign_id": 1, "number": 0}),
    (tasks.task_by_id, {"task_id": 1}),
    (pending_reasons.why, {"campaign_id": 1}),
    (jobs.job, {"job_id": 1}),
]
OWNERS_ALONE: list[Endpoint[..., Any]] = [descriptions.description, descriptions.parameters]
OWNERS = [
    Caller("alice"),
    Caller("root"),
    Caller("carol", is_operator=True),
    Caller("dave", sees_of=frozenset({"alice"})),
]
OTHERS = [Caller("bob"), Caller("carol", is_operator=True, scope=AccessScope.READ)]


@pytest.fixture
def grid(database: Database) -> Database:
    """A campaign of alice's with a secret in its parameters, its description, and what its task wrote."""
    with database.begin() as conn:
        dahu = a_cluster(conn)
        note_passes(conn)
        campaign = a_campaign(conn, [SECRET, SECRET])
        end_jobs(conn, dahu, submitted_jobs(conn, campaign, dahu, 1), Outcome.FAILURE, exit_code=3)
        update_error_budgets(
            conn, dahu, "dahu", {campaign: ErrorBudgetUpdate(False, 10, f"exit code 7, {SECRET}")}, BudgetSettings()
        )
        conn.execute(text("UPDATE events SET message = message || :said"), {"said": f"{STDERR}{SECRET}"})
        conn.execute(text("UPDATE campaigns SET written = :written"), {"written": json.dumps({"environment": SECRET})})
    return database


def told(endpoint: Endpoint[..., Any], grid: Database, caller: Caller, asked: dict[str, int]) -> str:
    return json.dumps(to_json_value(run_endpoint(endpoint, grid, Settings, caller, asked)))


@pytest.mark.parametrize(("endpoint", "asked"), OF_ONE, ids=lambda value: getattr(value, "name", ""))
def test_what_is_in_a_campaign_is_its_owners(
    endpoint: Endpoint[..., Any], asked: dict[str, int], grid: Database
) -> None:
    for caller in OWNERS:
        assert SECRET in told(endpoint, grid, caller, asked)
    for caller in OTHERS:
        assert SECRET not in told(endpoint, grid, caller, asked)


def test_what_is_declared_to_be_told_in_part_is_tried_above() -> None:
    declared = {endpoint.name for endpoint in list_endpoints() if endpoint.may is Access.EVERYBODY_IN_PART}
    assert declared == {endpoint.name for endpoint, _ in OF_ONE}


@pytest.mark.parametrize("endpoint", OWNERS_ALONE, ids=lambda endpoint: endpoint.name)
def test_what_is_its_owners_alone_is_not_there_for_others(endpoint: Endpoint[..., Any], grid: Database) -> None:
    for caller in OWNERS:
        assert SECRET in told(endpoint, grid, caller, {"campaign_id": 1})
    for caller in OTHERS:
        with pytest.raises(NotFound, match="you have no campaign 1"):
            told(endpoint, grid, caller, {"campaign_id": 1})


@pytest.mark.parametrize(
    ("endpoint", "asked"),
    [*OF_ONE, *((endpoint, {"campaign_id": 1}) for endpoint in OWNERS_ALONE), (campaigns.replicas, {"campaign_id": 1})],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_is_not_there_is_said_so(endpoint: Endpoint[..., Any], asked: dict[str, int], database: Database) -> None:
    if asked:
        with pytest.raises(NotFound, match=r"no campaign 1|no such task|no job 1"):
            told(endpoint, database, OWNERS[0], asked)
    else:
        assert told(endpoint, database, OWNERS[0], asked) == "[]"
