"""What a user hands over is stored as it is, and an ended campaign that gets more tasks lives again."""

import pytest
from sqlalchemy import select, update

from cigri.database import Database
from cigri.errors import NotFound
from cigri.flow import buckets
from cigri.flow.archive import archive_campaign, list_leftovers, purge_campaign, put_purged
from cigri.flow.campaigns import cancel_campaign, close_campaigns, own_campaign
from cigri.flow.cancellations import count_remaining
from cigri.flow.holds import hold_campaign, list_held
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, find_extensible_campaign, put_campaign, put_tasks
from cigri.flow.views.invariants import examine
from cigri.identity.callers import Caller
from cigri.states import CampaignState, CampaignType, StepState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.grid import Event, Project
from cigri.tables.tasks import Task
from tests.callers import ALICE, ROOT
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.noon

HOSTILE = [
    "",
    "plain",
    'it\'s "quoted"',
    "tab\there, newline\nthere, return\rtoo",
    "back\\slash \\N \\. \\t",
    "ünïcödé \U0001f600 \u2028",
    "'; DROP TABLE tasks; --",
    "x" * 100_000,
    ["a list", "of\twords"],
    {"name": 'a "value"', "number": 1, "ratio": 0.5, "flag": True},
]


@pytest.mark.parametrize("block", [1, 200, 10**9])
def test_parameters_come_back_as_they_were_given(
    database: Database, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(buckets, "COPY_BLOCK", block)
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, HOSTILE)
    with database.begin() as conn:
        stored = conn.execute(select(Task.c.number, Task.c.parameter).where(Task.c.campaign_id == campaign)).all()
        assert sorted((number, parameter) for number, parameter in stored) == list(enumerate(HOSTILE))
        assert examine(conn) == []


def test_what_a_campaign_says_is_stored_for_each_cluster(database: Database) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        parts = {
            "dahu": NewCampaignCluster({"exec_file": "a"}, 4, 7, True, False),
            "luke": NewCampaignCluster({"exec_file": "b"}, 1, None, False, True),
        }
        new = _new()._replace(type=CampaignType.TEST, project="p", scheduler="s", clusters=parts)
        campaign = put_campaign(conn, new, [])
        row = conn.execute(
            select(
                Campaign.c.name,
                Campaign.c.type,
                Campaign.c.state,
                Campaign.c.scheduler,
                Campaign.c.submitted_at,
                Project.c.name,
            )
            .join(Project, Project.c.id == Campaign.c.project_id)
            .where(Campaign.c.id == campaign)
        ).one()
        assert tuple(row) == ("n", CampaignType.TEST, CampaignState.IN_TREATMENT, "s", NOON, "p")
        part = CampaignCluster
        columns = (part.c.cluster_id, part.c.settings, part.c.width, part.c.max_jobs, part.c.prologue, part.c.epilogue)
        assert [tuple(row) for row in conn.execute(select(*columns).order_by(part.c.cluster_id))] == [
            (dahu, {"exec_file": "a"}, 4, 7, StepState.WAITING, StepState.NONE),
            (luke, {"exec_file": "b"}, 1, None, StepState.NONE, StepState.WAITING),
        ]


def test_every_unknown_cluster_is_named_and_nothing_is_stored(database: Database) -> None:
    part = NewCampaignCluster({}, 1, None, False, False)
    with database.begin() as conn:
        a_cluster(conn)
    with pytest.raises(NotFound, match="no cluster moon, sun; there are: dahu"), database.begin() as conn:
        put_campaign(conn, _new()._replace(clusters={"sun": part, "dahu": part, "moon": part}), ["1"])
    with database.begin() as conn:
        assert conn.scalars(select(Campaign.c.id)).all() == []


def test_more_tasks_open_an_ended_campaign_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 2))
        assert close_campaigns(conn) == 1
        assert own_campaign(conn, campaign, ALICE) is CampaignState.TERMINATED
        company = find_extensible_campaign(conn, campaign, ALICE)
        assert (company.parameter, company.settings["dahu"]["exec_file"]) == ("0", "/bin/true")
        assert put_tasks(conn, campaign, ALICE, ["a", "b", "c"]) == 3
        assert own_campaign(conn, campaign, ALICE) is CampaignState.IN_TREATMENT
        numbers = conn.scalars(
            select(Task.c.number).where(Task.c.campaign_id == campaign).order_by(Task.c.number)
        ).all()
        assert numbers == [0, 1, 2, 3, 4]
        assert count_remaining(conn, campaign) == ({TaskState.DONE: 2, TaskState.WAITING: 3}, 0)
        assert examine(conn) == []


def test_no_more_tasks_open_nothing(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 0)
        close_campaigns(conn)
        assert find_extensible_campaign(conn, campaign, ALICE).parameter is None
        assert put_tasks(conn, campaign, ALICE, []) == 0
        assert own_campaign(conn, campaign, ALICE) is CampaignState.TERMINATED


def test_a_held_campaign_stays_held_when_it_gets_tasks(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        hold_campaign(conn, campaign, ALICE)
        put_tasks(conn, campaign, ALICE, ["a"])
        assert list_held(conn) == {(campaign, None)}


@pytest.mark.parametrize(
    ("prologue", "epilogue", "then"),
    [
        (StepState.DONE, StepState.DONE, (StepState.WAITING, StepState.WAITING)),
        (StepState.DONE, StepState.FAILED, (StepState.WAITING, StepState.WAITING)),
        (StepState.NONE, StepState.DONE, (StepState.NONE, StepState.WAITING)),
        (StepState.DONE, StepState.NONE, (StepState.DONE, StepState.NONE)),
        (StepState.RUNNING, StepState.WAITING, (StepState.RUNNING, StepState.WAITING)),
    ],
)
def test_steps_run_again_only_after_an_epilogue(
    database: Database, prologue: StepState, epilogue: StepState, then: tuple[StepState, StepState]
) -> None:
    part = CampaignCluster
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 0)
        conn.execute(update(part).values(prologue=prologue, epilogue=epilogue))
        put_tasks(conn, campaign, ALICE, ["a"])
        assert tuple(conn.execute(select(part.c.prologue, part.c.epilogue)).one()) == then


def test_a_campaign_that_lives_again_is_neither_purged_nor_to_be_purged(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        close_campaigns(conn)
        assert purge_campaign(conn, campaign, ALICE)
        put_tasks(conn, campaign, ALICE, ["a"])
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        close_campaigns(conn)
        assert list_leftovers(conn, 30) == []
        put_purged(conn, [campaign])
        put_tasks(conn, campaign, ALICE, ["b"])
        assert conn.execute(select(Campaign.c.purged_at)).scalar_one() is None
        assert conn.scalars(select(Event.c.code).where(Event.c.closed_at.is_(None))).all() == []


def test_cancelled_and_archived_campaigns_take_no_tasks(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        cancelled, archived = a_campaign(conn, 1), a_campaign(conn, 0)
        cancel_campaign(conn, cancelled, ALICE)
        close_campaigns(conn)
        archive_campaign(conn, archived)
        for campaign, why in ((cancelled, "is cancelled"), (archived, "is archived")):
            with pytest.raises(NotFound, match=why):
                put_tasks(conn, campaign, ALICE, ["a"])
            with pytest.raises(NotFound, match=why):
                find_extensible_campaign(conn, campaign, ALICE)


def test_only_the_owner_and_root_add_tasks(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        for user, wanted in (("bob", campaign), ("alice", campaign + 1), ("", campaign)):
            with pytest.raises(NotFound, match="you have no campaign"):
                put_tasks(conn, wanted, Caller(user), ["a"])
        assert put_tasks(conn, campaign, ROOT, ["a"]) == 1


def _new() -> NewCampaign:
    part = NewCampaignCluster({"exec_file": "true"}, 1, None, False, False)
    return NewCampaign("n", "alice", CampaignType.DEFAULT, "", "", {}, {"dahu": part})
