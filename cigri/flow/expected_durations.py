"""Expectations: of tasks that ran before, what each took when it last succeeded.
Given by: predictor.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Subquery, and_, cast, func, select, true, update
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, distinct_on
from sqlalchemy.types import TypeEngine

from cigri.database import values_table
from cigri.database.typed_rows import read_by
from cigri.estimates.speeds import CompletedWork, speeds
from cigri.flow.task_durations import command_of, parameter_of
from cigri.states import OPEN_CAMPAIGNS, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.tasks import LastDuration, Task

CAMPAIGNS = 50  # that are looked up in one pass
EARLIER_CAMPAIGNS = 100  # campaigns of the same user that tell how fast clusters are
SPEEDS: Mapping[str, TypeEngine[Any]] = {"cluster_id": BigInteger(), "speed": DOUBLE_PRECISION()}
UNTRIED = (TaskState.BLOCKED, TaskState.WAITING)
_IS_UNMATCHED = and_(Campaign.c.unmatched_from.is_not(None), Campaign.c.state.in_(OPEN_CAMPAIGNS))


def match_tasks(conn: Connection, most: int = 20_000) -> int:
    """Look up at most so many tasks of new campaigns, so that no pass is long; give the number that ran before.

    Campaigns whose commands have never succeeded cost nothing.
    """
    unmatched = select(Campaign.c.id).where(_IS_UNMATCHED)
    if conn.scalar(unmatched.limit(1)) is None:
        return 0
    conn.execute(update(Campaign).where(_IS_UNMATCHED, ~_has_past()).values(unmatched_from=None))
    campaigns = conn.execute(
        select(Campaign.c.id, Campaign.c.unmatched_from)
        .where(_IS_UNMATCHED)
        .order_by(Campaign.c.id)
        .limit(CAMPAIGNS)
        .with_for_update(skip_locked=True, key_share=True)
    )
    matched = 0
    for campaign_id, first in campaigns.all():
        if most <= 0 or first is None:
            break
        before = _speeds(conn, campaign_id)
        _put_speeds(conn, campaign_id, before)
        matched += _match(conn, campaign_id, first, most, before)
        last = conn.scalar(select(func.max(Task.c.number)).where(Task.c.campaign_id == campaign_id))
        is_whole = last is None or last < first + most
        after = None if is_whole else first + most
        conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(unmatched_from=after))
        most = first + most - 1 - (last or 0) if is_whole else 0
    return matched


def _has_past() -> ColumnElement[bool]:
    """Has anything that the campaign runs succeeded before?"""
    part = CampaignCluster.c
    command = command_of(Campaign.c.grid_user, part.settings)
    past = (
        select(LastDuration.c.command)
        .select_from(LastDuration)
        .join(CampaignCluster, LastDuration.c.command == command)
    )
    return past.where(part.campaign_id == Campaign.c.id).correlate(Campaign).exists()


def _speeds(conn: Connection, campaign_id: int) -> dict[int, float]:
    """How fast clusters were for what the campaign runs, in its user's latest campaigns before it."""
    part, commands = CampaignCluster.c, _commands(campaign_id)
    user = select(Campaign.c.grid_user).where(Campaign.c.id == campaign_id).scalar_subquery()
    earlier = (
        select(Campaign.c.id, Campaign.c.grid_user)
        .where(Campaign.c.grid_user == user, Campaign.c.id < campaign_id)
        .order_by(Campaign.c.id.desc())
        .limit(EARLIER_CAMPAIGNS)
        .subquery()
    )
    counts = (cast(func.sum(column), BigInteger).label(column.key) for column in (part.done, part.known))
    sums = (cast(func.sum(column), DOUBLE_PRECISION).label(column.key) for column in (part.seconds, part.expected))
    (done, known), (seconds, expected) = counts, sums
    statement = (
        select(part.cluster_id, done, seconds, known, expected)
        .select_from(CampaignCluster)
        .join(earlier, earlier.c.id == part.campaign_id)
        .join(commands, commands.c.command == command_of(earlier.c.grid_user, part.settings))
        .group_by(part.cluster_id)
    )
    return speeds(read_by(conn, "cluster_id", CompletedWork, statement))


def _put_speeds(conn: Connection, campaign_id: int, speeds: Mapping[int, float]) -> None:
    if speeds:
        new = values_table("new", SPEEDS, list(speeds.items()))
        same = CampaignCluster.c.cluster_id == new.c.cluster_id
        values = update(CampaignCluster).values(speed=new.c.speed)
        conn.execute(values.where(CampaignCluster.c.campaign_id == campaign_id, same))


def _commands(campaign_id: int) -> Subquery:
    part = CampaignCluster.c
    return (
        select(command_of(Campaign.c.grid_user, part.settings).label("command"))
        .select_from(Campaign)
        .join(CampaignCluster, part.campaign_id == Campaign.c.id)
        .where(Campaign.c.id == campaign_id)
        .distinct()
        .subquery("commands")
    )


def _match(conn: Connection, campaign_id: int, first: int, most: int, speeds: Mapping[int, float]) -> int:
    """Where clusters run different commands, the latest success counts. What took long on a slow one is less work."""
    commands, of_cluster = _commands(campaign_id), values_table("new", SPEEDS, list(speeds.items()))
    last = LastDuration.c
    same = and_(last.command == commands.c.command, last.parameter == parameter_of(Task.c.parameter))
    past = (
        select(Task.c.id, (last.seconds * func.coalesce(of_cluster.c.speed, 1.0)).label("seconds"))
        .ext(distinct_on(Task.c.id))
        .select_from(Task)
        .join(commands, true())
        .join(LastDuration, same)
        .outerjoin(of_cluster, of_cluster.c.cluster_id == last.cluster_id)
        .where(Task.c.campaign_id == campaign_id, Task.c.state.in_(UNTRIED))
        .where(Task.c.number >= first, Task.c.number < first + most)
        .order_by(Task.c.id, last.at.desc())
        .subquery()
    )
    waiting = update(Task).where(Task.c.id == past.c.id, Task.c.state.in_(UNTRIED))
    return conn.execute(waiting.values(expected=past.c.seconds)).rowcount
