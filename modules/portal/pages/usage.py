"""The page of use: how full clusters were, what came of what ran there, and who uses the grid now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from statistics import fmean
from typing import NamedTuple

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.clusters import ClusterUsagePeriod
from cigri.api_models.metrics import OutcomeMetric
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.clusters import PERIODS, cluster_usage
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.metrics import figures, used_work
from cigri.endpoints.paging import walk
from cigri.formats.units import HOUR
from cigri.presentation.usage_groups import read_groups
from cigri.states import Outcome
from modules.portal.parameter_limits import PlainText
from modules.portal.rendering.core_hours import GROUPINGS, CoreHourRow, list_core_hours, sum_up, write_core_hours
from modules.portal.rendering.page_router import PageRouter, Site
from modules.portal.rendering.usage_chart import own_cores_chart

USUAL_HOURS = 24.0
USUAL_DAYS = 30
USUAL_GROUPS = "user,cluster"
MOST_OPEN_CAMPAIGNS = 10_000  # open ones, of everybody


class MeanClusterUse(NamedTuple):
    """Cores of a cluster on the mean, of the periods in which somebody visited it."""

    cluster: str
    total: float
    ours: float
    others: float
    free: float
    down: float


class ClusterCoreHours(NamedTuple):
    """Core-hours of a cluster since the grid began: of jobs that ended well, and of others."""

    cluster: str
    well: float
    lost: float


class UserActivity(NamedTuple):
    """What a user has on the grid now."""

    user: str
    campaigns: int
    running: int
    in_jobs: int
    waiting: int


usage_pages = PageRouter()


@usage_pages.page("/usage")
def usage_page(
    site: Site, request: Request, hours: float = USUAL_HOURS, days: int = USUAL_DAYS, by: PlainText = USUAL_GROUPS
) -> Response:
    """Show how clusters were used in the last `hours`, and the core-hours of the last `days`, apart by `by`."""
    caller = site.visitor(request)
    grid = site.grid(caller)
    full, told = walk(grid, cluster_usage, hours=hours), grid.call(figures)
    rows, groups = _core_hours(grid, days, by)
    return site.show(
        request,
        "usage.html",
        caller,
        hours=hours,
        days=days,
        by=by,
        groups=groups,
        groupings=GROUPINGS if by in GROUPINGS else {**GROUPINGS, by: by},
        hours_of=rows,
        sum=sum_up(rows),
        clusters=mean_use(full),
        chart=own_cores_chart(full, told.now, timedelta(hours=hours) / PERIODS),
        work=work_of(told.ended),
        users=shares_of(walk(grid, campaigns, MOST_OPEN_CAMPAIGNS, user="")),
    )


@usage_pages.page("/usage/core-hours.csv")
def core_hours_csv(site: Site, request: Request, days: int = USUAL_DAYS, by: PlainText = USUAL_GROUPS) -> Response:
    """Send the same core-hours as a table."""
    rows, groups = _core_hours(site.grid(site.visitor(request)), days, by)
    named = {"Content-Disposition": f'attachment; filename="core-hours-by-{"-".join(groups)}-{days}-days.csv"'}
    return Response(write_core_hours(rows, groups), media_type="text/csv", headers=named)


def _core_hours(grid: InProcessClient, days: int, by: str) -> tuple[list[CoreHourRow], tuple[str, ...]]:
    """The rows, and what tells them apart; the endpoint refuses words that tell nothing apart."""
    used = walk(grid, used_work, days=days, apart=by)
    groups = read_groups(by)
    return list_core_hours(used, groups), groups


def mean_use(usage: Iterable[ClusterUsagePeriod]) -> list[MeanClusterUse]:
    """By cluster, in the order of their names."""
    periods = defaultdict[str, list[ClusterUsagePeriod]](list)
    for period in usage:
        periods[period.cluster].append(period)
    return [_mean(cluster, told) for cluster, told in sorted(periods.items())]


def work_of(ended: Iterable[OutcomeMetric]) -> list[ClusterCoreHours]:
    """By cluster, in the order of their names."""
    hours: Mapping[str, dict[bool, float]] = defaultdict(lambda: {True: 0.0, False: 0.0})
    for end in ended:
        hours[end.cluster][end.outcome is Outcome.SUCCESS] += end.core_seconds / HOUR
    return [ClusterCoreHours(cluster, told[True], told[False]) for cluster, told in sorted(hours.items())]


def shares_of(listed: Iterable[CampaignView]) -> list[UserActivity]:
    """Who runs most first."""
    by_user = defaultdict[str, list[CampaignView]](list)
    for campaign in listed:
        by_user[campaign.user].append(campaign)
    shares = [_share(user, theirs) for user, theirs in by_user.items()]
    return sorted(shares, key=lambda share: (-share.running, -share.in_jobs, share.user))


def _mean(cluster: str, told: list[ClusterUsagePeriod]) -> MeanClusterUse:
    return MeanClusterUse(cluster, *map(fmean, zip(*map(_cores, told), strict=True)))


def _cores(use: ClusterUsagePeriod) -> tuple[float, ...]:
    """In the order of MeanClusterUse; what is used, the grid's jobs use in part."""
    return use.total, use.used_by_us, use.used - use.used_by_us, use.free, use.unavailable


def _share(user: str, theirs: list[CampaignView]) -> UserActivity:
    running, in_jobs = (sum(getattr(one, name) for one in theirs) for name in ("running", "assigned"))
    return UserActivity(user, len(theirs), running, in_jobs, sum(one.waiting for one in theirs))
