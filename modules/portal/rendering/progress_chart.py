"""The course of a campaign as it is drawn: what was done, what is forecast, what had been forecast, its cores. Pure."""

from datetime import datetime
from typing import NamedTuple

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.histories import CoresHistory, EndForecastPoint, ProgressHistory
from modules.portal.rendering.campaign_row import expected_end
from modules.portal.rendering.stacked_chart import ChartBand, across, bands, up

COLOURS_OF_CLUSTERS = 6  # of clusters, from the first one on again
LONGEST_AHEAD = 4  # times as long as it has lasted: what is forecast to be later lies outside
MOST_TOLD_ENDS = 12  # in words


class ForecastMark(NamedTuple):
    """What was forecast: across, when it was said; in the height, from when to when the end was to be."""

    at: int
    low: int
    high: int


class ProgressChart(NamedTuple):
    """Lines and areas as paths, "" where there is none: the `fan` opens from now to the interval of the end.

    `end`: the height of the end, among the marks; `highest`: the time at their upper edge.
    """

    done: str
    failed: str
    fan: str
    ahead: str
    now: int
    marks: list[ForecastMark]
    end: int | None
    since: datetime
    until: datetime
    highest: datetime
    told: list[EndForecastPoint]


class ClusterCoresChart(NamedTuple):
    """Cores by cluster, from below; `names` by the class of its colour."""

    bands: list[ChartBand]
    names: dict[str, str]
    most: int


def course(progress: ProgressHistory, campaign: CampaignView) -> ProgressChart | None:
    """None: it has only just begun."""
    since, now = progress.points[0].at, progress.points[-1].at
    if now <= since or not progress.total:
        return None
    end, few = expected_end(campaign), _few(progress)
    latest = max([time for time in (now, end.at, end.high) if time is not None])
    until = min(latest, since + LONGEST_AHEAD * (now - since))

    def x(time: datetime) -> int:
        return across((time - since) / (until - since))

    def y(tasks: float) -> int:
        return up(tasks / progress.total)

    highest = min(max([until, *(said.eta_high or said.eta for said in few)]), since + LONGEST_AHEAD * (until - since))

    def height(time: datetime) -> int:
        return up(min(max((time - since) / (highest - since), 0.0), 1.0))

    last = progress.points[-1]
    left = progress.total - last.done

    def toward(end: datetime) -> tuple[int, int]:
        """Where the way to the end leaves the chart: above, or at its side."""
        part = min((until - now) / (end - now), 1.0) if end > now else 1.0
        return x(min(end, until)), y(last.done + left * part)

    edge = f"M{x(now)} {y(last.done)}"
    return ProgressChart(
        done=_line([(x(point.at), y(point.done)) for point in progress.points]),
        failed=_line([(x(point.at), y(point.failed)) for point in progress.points]) if last.failed else "",
        fan=edge + _opening(toward(end.low), toward(end.high)) if end.low and end.high else "",
        ahead=edge + "L{} {}".format(*toward(end.at)) if end.at else "",
        now=x(now),
        marks=[
            ForecastMark(x(told.at), height(told.eta_low or told.eta), height(told.eta_high or told.eta))
            for told in few
        ],
        end=height(campaign.ended_at) if campaign.ended_at else None,
        since=since,
        until=until,
        highest=highest,
        told=few[::-1],
    )


def _line(points: list[tuple[int, int]]) -> str:
    return "M" + "L".join(f"{across} {down}" for across, down in points)


def _opening(early: tuple[int, int], late: tuple[int, int]) -> str:
    """By the upper corner where only the later one leaves the chart at its side."""
    corner = f"H{late[0]}" if early[1] < late[1] else ""
    return f"L{early[0]} {early[1]}{corner}L{late[0]} {late[1]}z"


def cores_stack(cores: CoresHistory) -> ClusterCoresChart | None:
    """None: it has had none."""
    since, until = cores.moments[0], cores.moments[-1]
    # between two moments there are as many as at the first of them
    most = max(map(sum, zip(*(one.cores[:-1] for one in cores.clusters), strict=True)), default=0)
    if not most or until <= since:
        return None
    edges = [across((at - since) / (until - since)) for at in cores.moments]
    named = {f"c{place % COLOURS_OF_CLUSTERS} n{place}": one for place, one in enumerate(cores.clusters)}
    layers = {kind: one.cores[:-1] for kind, one in named.items()}
    return ClusterCoresChart(bands(edges, layers, most), {kind: one.cluster for kind, one in named.items()}, most)


def _few(progress: ProgressHistory) -> list[EndForecastPoint]:
    """Of many forecasts some, evenly over the time, and the last."""
    every = -(-len(progress.forecasts) // MOST_TOLD_ENDS) or 1
    return progress.forecasts[::-every][::-1]
