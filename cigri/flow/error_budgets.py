"""Trials: how a campaign does on a cluster; after failures in a row it leaves the cluster alone for a while.
Given by: runner, updator.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, bindparam, case, func, null, or_, update
from sqlalchemy.sql.dml import ReturningUpdate

from cigri.database import pause_after
from cigri.estimates.backoff import JOBS_THAT_DO_NOTHING, SUBMISSIONS_THAT_FAIL, campaigns_that_fail_on_a_cluster
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.front_end_stress import add_refusal
from cigri.formats.units import as_utc
from cigri.states import EventLevel
from cigri.tables.campaigns import CampaignCluster

if TYPE_CHECKING:
    from cigri.settings.sections import BudgetSettings

SET_ASIDE = "CLUSTER_SET_ASIDE"
NOT_SUBMITTED = "SUBMISSION_FAILED"
DO_NOTHING = "JOBS_DO_NOTHING"
JOBS_STUCK = "JOBS_CANNOT_START"
MOST_FAILED_SENDS = 3
"""So many submissions in a row that fail in words that nobody knows are a refusal."""


class ErrorBudgetUpdate(NamedTuple):
    """What a visit saw of one campaign on the cluster: did a task succeed, how many failed since by their own fault."""

    has_success: bool
    failures: int
    example: str
    is_refusal: bool = False


@cache
def _healed() -> ReturningUpdate[int]:
    part = CampaignCluster
    campaign_id, cluster_id, failures = (bindparam(name, type_=BigInteger) for name in ("campaign", "here", "failures"))
    counted = (part.c.strikes, part.c.failed_sends, part.c.idle_deaths)
    is_counted = or_(*(column != 0 for column in counted), part.c.blocked_until.is_not(None))
    is_odd = or_(part.c.errors != failures, is_counted)
    healed = update(part).where(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id, is_odd)
    values = {"errors": failures, **dict.fromkeys(("strikes", "failed_sends", "idle_deaths"), 0), "blocked_until": None}
    return healed.values(values).returning(part.c.campaign_id)


def update_error_budgets(
    conn: Connection,
    cluster_id: int,
    cluster_name: str,
    trials: Mapping[int, ErrorBudgetUpdate],
    budget: "BudgetSettings",
) -> int:
    """Count failures in a row per campaign; set the cluster aside when there are too many, heal at a success.

    Give the number of campaigns for which it was set aside.
    """
    part, set_aside = CampaignCluster, 0
    for campaign_id, trial in trials.items():
        here = and_(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
        subject = f"campaign {campaign_id} on {cluster_name}"
        if trial.has_success:
            parameters = {"campaign": campaign_id, "here": cluster_id, "failures": trial.failures}
            if conn.execute(_healed(), parameters).all():
                close_events(conn, [SET_ASIDE, NOT_SUBMITTED, DO_NOTHING, JOBS_STUCK], [subject], "cigri")
        elif trial.failures:
            conn.execute(update(part).where(here).values(errors=part.c.errors + trial.failures))
        if not trial.failures:
            continue
        pause = pause_after(part.c.strikes + 1, campaigns_that_fail_on_a_cluster(budget))
        aside = conn.execute(
            update(part)
            .where(here, part.c.errors >= budget.errors)
            .where(or_(part.c.blocked_until.is_(None), part.c.blocked_until <= func.now()))
            .values(
                strikes=part.c.strikes + 1,
                blocked_until=func.now() + pause,
            )
            .returning(part.c.errors, part.c.blocked_until)
        ).one_or_none()
        if aside is not None:
            set_aside += 1
            why = "its jobs are refused" if trial.is_refusal else f"{aside.errors} tasks in a row failed"
            message = (
                f"{why}; the cluster is set aside for this campaign until "
                f"{as_utc(aside.blocked_until)}, then one job tries again; "
                f"`gridevents --fix` gives it back at once. Last failure: {trial.example}"
            )
            event = NewEvent(SET_ASIDE, EventLevel.ERROR, subject, message, campaign_id, cluster_id)
            put_events(conn, [event])
    return set_aside


def put_refusal(
    conn: Connection, campaign_id: int, cluster_id: int, cluster_name: str, message: str, budget: "BudgetSettings"
) -> None:
    """A refused batch uses up the whole error budget of the campaign there: the next would be refused as well."""
    subject = f"campaign {campaign_id} on {cluster_name}"
    event = NewEvent("SUBMISSION_REFUSED", EventLevel.INFO, subject, message, campaign_id, cluster_id)
    put_events(conn, [event])
    trial = ErrorBudgetUpdate(has_success=False, failures=budget.errors, example=message, is_refusal=True)
    if update_error_budgets(conn, cluster_id, cluster_name, {campaign_id: trial}, budget):
        add_refusal(conn, cluster_id)


def put_failed_submission(
    conn: Connection, campaign_id: int, cluster_id: int, cluster_name: str, message: str, budget: "BudgetSettings"
) -> None:
    """A submission failed, and the queue has nothing of it: the third in a row is a refusal.

    Before that the campaign waits there for its next try, longer each time. Whatever fails until then is the same try.
    """
    part = CampaignCluster
    here = and_(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
    pause = pause_after(part.c.failed_sends + 1, SUBMISSIONS_THAT_FAIL)
    is_last = part.c.failed_sends + 1 >= MOST_FAILED_SENDS
    tried = conn.execute(
        update(part)
        .where(here, or_(part.c.blocked_until.is_(None), part.c.blocked_until <= func.now()))
        .values(
            failed_sends=part.c.failed_sends + 1,
            blocked_until=case((is_last, part.c.blocked_until), else_=func.now() + pause),
        )
        .returning(part.c.failed_sends, part.c.blocked_until)
    ).one_or_none()
    if tried is None:
        return
    subject = f"campaign {campaign_id} on {cluster_name}"
    if tried.failed_sends >= MOST_FAILED_SENDS:
        close_events(conn, [NOT_SUBMITTED], [subject], "cigri")
        put_refusal(conn, campaign_id, cluster_id, cluster_name, message, budget)
        return
    told = (
        f"try {tried.failed_sends} of {MOST_FAILED_SENDS} to submit its jobs failed, the next is at "
        f"{as_utc(tried.blocked_until)}; `gridevents --fix` tries at once. The cluster said: {message}"
    )
    put_events(conn, [NewEvent(NOT_SUBMITTED, EventLevel.ERROR, subject, told, campaign_id, cluster_id)])


def heal_submissions(conn: Connection, cluster_id: int, cluster_name: str, campaigns: Collection[int]) -> None:
    """Jobs of these campaigns were submitted there: what failed before counts no longer."""
    part = CampaignCluster
    healed = conn.execute(
        update(part)
        .where(part.c.campaign_id.in_(campaigns), part.c.cluster_id == cluster_id, part.c.failed_sends > 0)
        .values(failed_sends=0, blocked_until=case((part.c.strikes == 0, null()), else_=part.c.blocked_until))
        .returning(part.c.campaign_id)
    ).all()
    close_events(conn, [NOT_SUBMITTED], [f"campaign {row.campaign_id} on {cluster_name}" for row in healed], "cigri")


def put_idle_deaths(conn: Connection, cluster_id: int, cluster_name: str, examples: Mapping[int, str]) -> None:
    """A visit found jobs of these campaigns dead without having done anything, and none that has.

    From the second time in a row on the campaign waits there for its next try, longer each time. Those that were sent
    with them count once.
    """
    part = CampaignCluster
    pause = pause_after(part.c.idle_deaths, JOBS_THAT_DO_NOTHING)
    for campaign_id, example in sorted(examples.items()):
        tried = conn.execute(
            update(part)
            .where(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
            .where(or_(part.c.blocked_until.is_(None), part.c.blocked_until <= func.now()))
            .values(
                idle_deaths=part.c.idle_deaths + 1,
                blocked_until=case((part.c.idle_deaths > 0, func.now() + pause), else_=part.c.blocked_until),
            )
            .returning(part.c.idle_deaths, part.c.blocked_until)
        ).one_or_none()
        if tried is None or tried.idle_deaths < 2:
            continue
        message = (
            f"{tried.idle_deaths} times in a row its jobs died at once without having done anything; none is sent "
            f"there until {as_utc(tried.blocked_until)}, then one at a time until one works; `gridevents --fix` tries "
            f"at once. The last was {example}"
        )
        subject = f"campaign {campaign_id} on {cluster_name}"
        put_events(conn, [NewEvent(DO_NOTHING, EventLevel.ERROR, subject, message, campaign_id, cluster_id)])


def heal_idle_deaths(conn: Connection, cluster_id: int, cluster_name: str, campaigns: Collection[int]) -> None:
    """Jobs of these campaigns did something there, well or not: those that died before count no longer."""
    part = CampaignCluster
    is_alone = and_(part.c.strikes == 0, part.c.failed_sends == 0)
    healed = conn.execute(
        update(part)
        .where(part.c.campaign_id.in_(campaigns), part.c.cluster_id == cluster_id, part.c.idle_deaths > 0)
        .values(idle_deaths=0, blocked_until=case((is_alone, null()), else_=part.c.blocked_until))
        .returning(part.c.campaign_id)
    ).all()
    close_events(conn, [DO_NOTHING], [f"campaign {row.campaign_id} on {cluster_name}" for row in healed], "cigri")
