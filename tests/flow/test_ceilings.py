"""Limits, quotas and max_jobs are never exceeded, whoever makes jobs at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow.ceilings import (
    Ceiling,
    find_ceilings,
    list_limits,
    list_quotas,
    put_limit,
    put_quota,
    remove_limit,
    remove_quota,
)
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.precedence import Subject
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.states import CampaignType, CeilingKind, SubjectKind
from tests.factories import a_cluster, end_jobs, submitted_jobs

pytestmark = pytest.mark.noon

ALICE, ASTRO = Subject(SubjectKind.USER, "alice"), Subject(SubjectKind.PROJECT, "astro")
LIVE = "SELECT count(*) FROM jobs WHERE state <> 'ended'"


def a_campaign(
    conn: Connection,
    tasks: int = 50,
    *,
    user: str = "alice",
    project: str = "",
    width: int = 1,
    max_jobs: int | None = None,
    limits: dict[str, int] | None = None,
) -> int:
    part = NewCampaignCluster({"exec_file": "true", "walltime": 60}, width, max_jobs, False, False, limits or {})
    new = NewCampaign("c", user, CampaignType.DEFAULT, project, "workqueue", {}, {"dahu": part})
    return put_campaign(conn, new, ["x"] * tasks)


def make(conn: Connection, campaign: int, jobs: int, width: int = 1) -> int:
    """As many of so many jobs as are under all ceilings."""
    tasks = take_waiting(conn, campaign, jobs)
    return put_jobs(conn, campaign, [NewJob(1, width, 60, [task]) for task in tasks])


@pytest.mark.parametrize("what", ["limit", "user", "project", "everybody", "max_jobs"])
def test_two_hosts_at_once_make_no_job_too_many(database: Database, what: str) -> None:
    """Each has looked before the other had made anything, and the one waits for the other's end."""
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 7 if what == "limit" else 99)
        for name, subject in (("user", ALICE), ("project", ASTRO), ("everybody", Subject(SubjectKind.USER, "*"))):
            if what == name:
                put_quota(conn, subject, 7)
        some = {"project": "astro", "max_jobs": 7 if what == "max_jobs" else None, "limits": {"matlab": 1}}
        campaigns = [a_campaign(conn, 50, **some) for _ in range(1 if what == "max_jobs" else 2)]  # type: ignore[arg-type]
    together = Barrier(2)

    def host(number: int) -> int:
        made = 0
        together.wait()
        for _ in range(4):
            with database.begin() as conn:
                made += make(conn, campaigns[number % len(campaigns)], 3)
        return made

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(host, range(2))) == 7
    with database.begin() as conn:
        assert conn.scalar(text(LIVE)) == 7


def test_what_a_job_took_is_given_back_when_it_ends(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 4)
        campaign = a_campaign(conn, limits={"matlab": 2})
        ids = submitted_jobs(conn, campaign, 1, 2)
        assert [(limit.capacity, limit.used) for limit in list_limits(conn)] == [(4, 4)]
        assert make(conn, campaign, 1) == 0
        end_jobs(conn, 1, ids[:1])
        assert make(conn, campaign, 2) == 1


def test_jobs_above_a_ceiling_leave_their_tasks_waiting(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_quota(conn, ALICE, 9)
        campaign = a_campaign(conn, 5, width=4)
        assert make(conn, campaign, 5, width=4) == 2
        states = "SELECT state::text, count(*) FROM tasks GROUP BY 1 ORDER BY 1 DESC"
        assert conn.execute(text(states)).all() == [("waiting", 3), ("assigned", 2)]


def test_a_quota_by_name_goes_before_that_of_everybody_and_both_scopes_hold(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_quota(conn, Subject(SubjectKind.USER, "*"), 5)
        put_quota(conn, ALICE, 8)
        put_quota(conn, Subject(SubjectKind.USER, "*"), 6, "dahu")
        alice, bob = a_campaign(conn), a_campaign(conn, user="bob")
        assert find_ceilings(conn, 3).most == {
            Ceiling(CeilingKind.USER, "alice"): 8,
            Ceiling(CeilingKind.USER, "alice", 1): 6,
            Ceiling(CeilingKind.USER, "bob"): 5,
            Ceiling(CeilingKind.USER, "bob", 1): 6,
        }
        assert [make(conn, campaign, 9) for campaign in (alice, bob)] == [6, 5]
        assert {(quota.name, quota.cluster): quota.used for quota in list_quotas(conn)} == {
            ("alice", None): 6,
            ("*", None): None,
            ("*", "dahu"): None,
        }
        remove_quota(conn, Subject(SubjectKind.USER, "*"), "dahu")
        assert make(conn, alice, 9) == 2
        with pytest.raises(CigriError, match="no such quota"):
            remove_quota(conn, Subject(SubjectKind.USER, "*"), "dahu")


def test_what_can_never_fit_is_refused_at_submission(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 4)
        put_quota(conn, ASTRO, 3, "dahu")
    for about, said in (
        (
            {"limits": {"matlab": 5}},
            r"clusters.dahu.limits: a job takes 5 of matlab, and there are 4; `cigri limit set matlab 5` w",
        ),
        ({"limits": {"gurobi": 1}}, r"no limit gurobi; there are: matlab"),
        (
            {"project": "astro", "width": 4},
            r"a job has 4 cores, the quota of project astro is 3; `cigri quota set project astro 4 --cluster dahu` w",
        ),
    ):
        with pytest.raises(CigriError, match=said), database.begin() as conn:
            a_campaign(conn, **about)
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM campaigns")) == 0
        a_campaign(conn, width=4, limits={"matlab": 4})


def test_a_limit_that_open_campaigns_ask_for_stays(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 4)
        campaign = a_campaign(conn, limits={"matlab": 1})
        with pytest.raises(CigriError, match=rf"e.g. {campaign}"):
            remove_limit(conn, "matlab")
        put_limit(conn, "matlab", 0)
        assert make(conn, campaign, 1) == 0
        conn.execute(text("UPDATE campaigns SET state = 'cancelled', ended_at = now()"))
        remove_limit(conn, "matlab")
        with pytest.raises(CigriError, match="no limit matlab"):
            remove_limit(conn, "matlab")
