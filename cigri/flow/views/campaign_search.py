"""Which campaigns are listed, and in which order: found before anything is counted of them.
Read by: portal, users.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, cast, func, select, tuple_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.flow.holds import is_campaign_held
from cigri.states import CampaignState
from cigri.tables.campaigns import Campaign
from cigri.tables.grid import Project


class CampaignSearch(NamedTuple):
    """What campaigns are looked for by, and in which order they are listed.

    `name` is a part of their names, in any case; `ended_within` a time up to now in which they have ended, of those
    submitted lately; with `is_held` those that are held as a whole. Empty and None: whatever it is.
    """

    name: str = ""
    project: str = ""
    states: Collection[CampaignState] = ()
    ended_within: timedelta | None = None
    order: str = "id"
    is_descending: bool = False
    is_held: bool = False


ANY_CAMPAIGN = CampaignSearch()
LATELY_SUBMITTED = 10_000
"""Campaigns up to the newest among which those are looked for that ended lately: there is no index of ends."""
CAMPAIGN_ORDERS = ("id", "name", "project", "state", "user")
"""By which lists may be sorted; ids are in the order of submission."""


def page_of_ids(wanted: ColumnElement[bool], search: CampaignSearch, after: int) -> Select[int]:
    """Found before anything is counted of them, so that a page costs what its rows cost."""
    page = select(Campaign.c.id).outerjoin(Project, Project.c.id == Campaign.c.project_id).where(wanted)
    if search.name:
        page = page.where(Campaign.c.name.icontains(search.name, autoescape=True))
    if search.project:
        page = page.where(Project.c.name == search.project)
    if search.states:
        page = page.where(Campaign.c.state.in_(search.states))
    if search.is_held:
        page = page.where(is_campaign_held())
    if search.ended_within is not None:
        newest = select(func.max(Campaign.alias("any_campaign").c.id)).scalar_subquery()
        is_recent = Campaign.c.ended_at > func.now() - search.ended_within
        page = page.where(is_recent, Campaign.c.id > newest - LATELY_SUBMITTED)
    return _behind(page, search, after).order_by(*sort_keys(search))


def _behind(page: Select[int], search: CampaignSearch, after: int) -> Select[int]:
    """Of those that follow the campaign `after`; 0: all."""
    if not after:
        return page
    last, project = Campaign.alias("last_shown"), Project.alias("project_of_last_shown")
    key = (
        select(_sort_key(search.order, last.c, project.c))
        .select_from(last)
        .outerjoin(project, project.c.id == last.c.project_id)
        .where(last.c.id == after)
        .scalar_subquery()
    )
    here = tuple_(_sort_key(search.order, Campaign.c, Project.c), Campaign.c.id)
    if search.order == "id":
        return page.where(Campaign.c.id < after if search.is_descending else Campaign.c.id > after)
    return page.where(here < tuple_(key, after) if search.is_descending else here > tuple_(key, after))


def sort_keys(search: CampaignSearch) -> list[ColumnElement[Any]]:
    """Ids decide between those that are alike."""
    keys = [_sort_key(search.order, Campaign.c, Project.c)] if search.order != "id" else []
    return [key.desc() if search.is_descending else key for key in (*keys, Campaign.c.id)]


def _sort_key(order: str, campaign: Any, project: Any) -> ColumnElement[Any]:
    """What a campaign is sorted by; those without a project stand first."""
    keys = {
        "id": campaign.id,
        "name": func.lower(campaign.name),
        "project": func.coalesce(project.name, ""),
        "state": cast(campaign.state, Text),
        "user": campaign.grid_user,
    }
    return cast(keys[order], BigInteger if order == "id" else Text)


def has_project(conn: Connection, name: str) -> bool:
    """Has any campaign been submitted for it, or a quota declared?"""
    return bool(conn.scalar(select(select(Project.c.id).where(Project.c.name == name).exists())))
