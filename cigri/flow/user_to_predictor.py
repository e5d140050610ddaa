"""Users hand over tasks that they have run before; the predictor tells each what it took when it last succeeded."""

from sqlalchemy import ColumnElement, Connection, and_, func, select, true, update
from sqlalchemy.dialects.postgresql import distinct_on

from cigri.flow.clusters_to_predictor import command_of, parameter_of
from cigri.states import OPEN_CAMPAIGNS, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.tasks import LastDuration, Task

CAMPAIGNS = 50  # that are looked up in one pass

_IS_UNMATCHED = and_(Campaign.c.unmatched_from.is_not(None), Campaign.c.state.in_(OPEN_CAMPAIGNS))


def match_tasks(conn: Connection, most: int = 20_000) -> int:
    """Look up at most so many tasks of new campaigns, so that no pass is long; give the number that were known.

    Campaigns whose commands have never succeeded cost nothing.
    """
    unmatched = select(Campaign.c.id).where(_IS_UNMATCHED)
    if conn.scalar(unmatched.limit(1)) is None:
        return 0
    conn.execute(update(Campaign).where(_IS_UNMATCHED, ~_has_past()).values(unmatched_from=None))
    found = conn.execute(
        select(Campaign.c.id, Campaign.c.unmatched_from)
        .where(_IS_UNMATCHED)
        .order_by(Campaign.c.id)
        .limit(CAMPAIGNS)
        .with_for_update(skip_locked=True, key_share=True)
    )
    known = 0
    for campaign_id, first in found.all():
        if most <= 0 or first is None:
            break
        known += _match(conn, campaign_id, first, most)
        last = conn.scalar(select(func.max(Task.c.number)).where(Task.c.campaign_id == campaign_id))
        is_whole = last is None or last < first + most
        after = None if is_whole else first + most
        conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(unmatched_from=after))
        most = first + most - 1 - (last or 0) if is_whole else 0
    return known


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


def _match(conn: Connection, campaign_id: int, first: int, most: int) -> int:
    """Where clusters run different commands, the latest success counts."""
    part = CampaignCluster.c
    commands = (
        select(command_of(Campaign.c.grid_user, part.settings).label("command"))
        .select_from(Campaign)
        .join(CampaignCluster, part.campaign_id == Campaign.c.id)
        .where(Campaign.c.id == campaign_id)
        .distinct()
        .subquery()
    )
    last = LastDuration.c
    same = and_(last.command == commands.c.command, last.parameter == parameter_of(Task.c.parameter))
    past = (
        select(Task.c.id, last.seconds)
        .ext(distinct_on(Task.c.id))
        .select_from(Task)
        .join(commands, true())
        .join(LastDuration, same)
        .where(Task.c.campaign_id == campaign_id, Task.c.state == TaskState.WAITING)
        .where(Task.c.number >= first, Task.c.number < first + most)
        .order_by(Task.c.id, last.at.desc())
        .subquery()
    )
    told = update(Task).where(Task.c.id == past.c.id, Task.c.state == TaskState.WAITING)
    return conn.execute(told.values(expected=past.c.seconds)).rowcount
