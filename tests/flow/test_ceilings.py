"""Limits, quotas and max_jobs are never exceeded, whoever makes jobs at the same time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.eligibility.quotas import QuotaRule
from cigri.errors import CigriError
from cigri.flow.ceilings import (
    Ceiling,
    RemainingCeilings,
    find_ceilings,
    list_limits,
    put_limit,
    remove_limit,
)
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.quotas import list_quotas, remove_quota
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.states import CampaignType, CeilingKind
from tests.factories import NOON, a_cluster, a_quota, end_jobs, launch_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

ALICE, ASTRO, EACH_USER = "*,*,all,alice", "*,astro,all,*", "*,*,all,/"
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
    walltime: int = 60,
    queue: str = "",
    type: str = "best-effort",
) -> int:
    settings = {"exec_file": "true", "walltime": walltime, "queue": queue, "type": type}
    part = NewCampaignCluster(settings, width, max_jobs, False, False, limits or {})
    new = NewCampaign("c", user, CampaignType.DEFAULT, project, "workqueue", {}, {"dahu": part})
    return put_campaign(conn, new, ["x"] * tasks)


def make(conn: Connection, campaign: int, jobs: int, width: int = 1) -> int:
    """As many of so many jobs as are under all ceilings."""
    tasks = take_waiting(conn, campaign, jobs)
    walltime = conn.scalar(
        text("SELECT (settings ->> 'walltime')::int FROM campaign_clusters WHERE campaign_id = :id"), {"id": campaign}
    )
    return put_jobs(conn, campaign, [NewJob(1, width, walltime or 0, [task]) for task in tasks])


@pytest.mark.parametrize("what", ["limit", "user", "project", "everybody", "all", "jobs", "core_hours", "max_jobs"])
def test_two_hosts_at_once_make_no_job_too_many(database: Database, what: str) -> None:
    """Each has looked before the other had made anything, and the one waits for the other's end."""
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 7 if what == "limit" else 99)
        for name, rule in (("user", ALICE), ("project", ASTRO), ("everybody", EACH_USER), ("all", "*,*,best-effort,*")):
            if what == name:
                a_quota(conn, rule, 7)
        if what == "jobs":
            a_quota(conn, ALICE, jobs=7)
        if what == "core_hours":
            a_quota(conn, ALICE, core_hours=7 * 60 / 3600 + 0.001)
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
        a_quota(conn, ALICE, 9)
        campaign = a_campaign(conn, 5, width=4)
        assert make(conn, campaign, 5, width=4) == 2
        states = "SELECT state::text, count(*) FROM tasks GROUP BY 1 ORDER BY 1 DESC"
        assert conn.execute(text(states)).all() == [("waiting", 3), ("assigned", 2)]


def test_a_quota_by_name_goes_before_that_of_everybody_and_both_scopes_hold(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_quota(conn, EACH_USER, 5)
        a_quota(conn, ALICE, 8)
        a_quota(conn, EACH_USER, 6, cluster="dahu")
        alice, bob = a_campaign(conn), a_campaign(conn, user="bob")
        assert find_ceilings(conn, 3).most == {
            Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,alice"): 8,
            Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,alice", 1): 6,
            Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,bob"): 5,
            Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,bob", 1): 6,
        }
        assert [make(conn, campaign, 9) for campaign in (alice, bob)] == [6, 5]
        assert {(quota.rule, quota.cluster): quota.used_cores for quota in list_quotas(conn)} == {
            (ALICE, None): 6,
            (EACH_USER, None): None,
            (EACH_USER, "dahu"): None,
        }
        remove_quota(conn, QuotaRule.parse(EACH_USER), "dahu")
        assert make(conn, alice, 9) == 2
        with pytest.raises(CigriError, match="no such quota"):
            remove_quota(conn, QuotaRule.parse(EACH_USER), "dahu")


def test_what_can_never_fit_is_refused_at_submission(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_limit(conn, "matlab", 4)
        a_quota(conn, ASTRO, 3, cluster="dahu")
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


def test_core_hours_are_those_that_ended_jobs_used_and_live_ones_may(database: Database) -> None:
    """A job of an hour and two cores that has run for nine minutes leaves what it has not used to others."""
    with database.begin() as conn:
        a_cluster(conn)
        a_quota(conn, ALICE, core_hours=2.5, days=7)
        campaign = a_campaign(conn, 5, width=2, walltime=3600)
        assert make(conn, campaign, 1, 2) == 1
        ids = launch_jobs(conn, 1, 1)
        (quota,) = list_quotas(conn)
        assert (quota.core_hours, quota.used_core_hours, quota.used_cores) == (2.5, 2.0, 2)
        assert make(conn, campaign, 1, 2) == 0
        run_jobs(conn, ids)
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(minutes=9))
        end_jobs(conn, 1, ids, seconds=540)
        (quota,) = list_quotas(conn)
        assert quota.used_core_hours == 0.3
        assert make(conn, campaign, 2, 2) == 1
    with database.begin() as conn:
        set_time(conn, NOON + timedelta(days=7))
        (quota,) = list_quotas(conn)
        assert quota.used_core_hours == 2.0  # that of the live one alone


def test_queues_and_types_have_quotas(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_quota(conn, "long,*,all,*", 3)
        a_quota(conn, "*,*,*,*", 2)
        a_quota(conn, "*,*,best-effort,/", jobs=4)
        of_long, other = a_campaign(conn, queue="long"), a_campaign(conn)
        normal, his = a_campaign(conn, type="normal"), a_campaign(conn, user="bob")
        assert [make(conn, campaign, 9) for campaign in (of_long, other, normal, his)] == [3, 1, 2, 4]
        used = {quota.rule: (quota.used_cores, quota.used_jobs) for quota in list_quotas(conn)}
        assert used == {"long,*,all,*": (3, 3), "*,*,*,*": (2, 2), "*,*,best-effort,/": (None, None)}


@pytest.mark.parametrize(
    ("rule", "jobs", "core_hours", "said"),
    [
        ("*,*,all,alice", 0, None, r"the quota of user alice is no job; `cigri quota set user alice --jobs 1` would"),
        (
            "*,*,all,/",
            None,
            1.5,
            r"use 2 core-hours, the quota of user alice is 1.5 in 30 days; `cigri quota set u",
        ),
    ],
)
def test_a_job_above_jobs_or_core_hours_is_refused(
    database: Database, rule: str, jobs: int | None, core_hours: float | None, said: str
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_quota(conn, rule, jobs=jobs, core_hours=core_hours)
    with pytest.raises(CigriError, match=said), database.begin() as conn:
        a_campaign(conn, width=2, walltime=3600)


def test_a_quota_everywhere_and_the_same_on_a_cluster_keep_jobs_back_alike(database: Database) -> None:
    """Both let the same number fit: the one of all clusters is named."""
    with database.begin() as conn:
        a_cluster(conn)
        for cluster in ("", "dahu"):
            a_quota(conn, ALICE, 5, cluster=cluster)
        campaign = a_campaign(conn)
        assert make(conn, campaign, 8) == 5
        lowest = RemainingCeilings(find_ceilings(conn, 5)).lowest((campaign, 1))
    assert lowest == (0, Ceiling(CeilingKind.QUOTA_CORES, ALICE, None))
