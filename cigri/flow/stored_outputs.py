"""Stored outputs: how much of each user has been collected into the store of the grid.
Given by: janitor; taken by: stager.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.inputs.store import LEAST_PART
from cigri.tables.campaigns import Campaign, CampaignCluster


def count_stored_outputs(conn: Connection, user: str) -> int:
    """Bytes of the user's campaigns in the store; a file takes some of the disk, however small it is."""
    kept = select(func.coalesce(func.sum(CampaignCluster.c.stored_bytes), 0))
    kept = kept.join(Campaign, Campaign.c.id == CampaignCluster.c.campaign_id)
    return int(conn.execute(kept.where(_is_counted(), Campaign.c.grid_user == user)).scalar_one())


def list_users_without_room(conn: Connection, most: int) -> list[str]:
    """Users who would have more bytes in the store if all came that is awaited of them."""
    part = CampaignCluster.c
    kept = part.stored_bytes + part.uncollected_bytes + LEAST_PART * part.uncollected
    users = select(Campaign.c.grid_user).join(CampaignCluster, Campaign.c.id == part.campaign_id).where(_is_counted())
    return list(conn.scalars(users.group_by(Campaign.c.grid_user).having(func.sum(kept) > most)))


def forget_stored_outputs(conn: Connection, campaign_ids: Collection[int]) -> None:
    """The outputs of these campaigns are no longer in the store."""
    part = CampaignCluster.c
    kept = update(CampaignCluster).where(part.campaign_id.in_(campaign_ids), part.stored_bytes > 0)
    conn.execute(kept.values(stored_bytes=0))


def is_of_users(users: Sequence[str]) -> ColumnElement[bool]:
    """Is a share one of a campaign of these?"""
    theirs = select(Campaign.c.id).where(Campaign.c.grid_user.in_(users))
    return CampaignCluster.c.campaign_id.in_(theirs)


def _is_counted() -> ColumnElement[bool]:
    """As the index has it."""
    return or_(CampaignCluster.c.stored_bytes > 0, CampaignCluster.c.uncollected > 0)
