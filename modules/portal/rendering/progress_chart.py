"""The charts of a campaign's course: tasks done and to be done, the ends that were forecast, its cores. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median_low

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.histories import CoresHistory, ProgressHistory, ProgressPoint
from modules.portal.rendering.campaign_row import expected_end
from modules.portal.rendering.chart_table import (
    ChartKind,
    ChartRow,
    ChartSeries,
    ChartTable,
    largest_series,
    without_empty_ends,
)

LONGEST_AHEAD = 4  # times as long as it has lasted: what is forecast to be later lies outside
LONGEST_PAUSE = 5  # times the usual time between two moments: nobody looked in a longer one
SHORTEST_GAP = timedelta(minutes=5)
DONE, FAILED = ChartSeries("done", "done"), ChartSeries("failed", "failed")
FORECAST_SERIES = [ChartSeries("ahead", "forecast"), ChartSeries("low", "90 % early"), ChartSeries("high", "90 % late")]
END_SERIES = [ChartSeries("ahead", "predicted end"), ChartSeries("low", "90 % from"), ChartSeries("high", "90 % to")]


def progress_chart(progress: ProgressHistory, campaign: CampaignView) -> ChartTable | None:
    """Draw tasks that are done and have failed, and from now on the forecast; None: there is nothing to see yet."""
    since, now = progress.points[0].at, progress.points[-1]
    if now.at <= since or not progress.total:
        return None
    rows, ahead = _begun(progress.points), _ahead(progress, campaign)
    if len(rows) + len(ahead) < 2:
        return None
    series = [DONE, FAILED] if now.failed else [DONE]
    past = [ChartRow(point.at, (point.done, point.failed)[: len(series)]) for point in rows]
    if ahead:
        unknown: tuple[None, ...] = (None,) * len(FORECAST_SERIES)
        nothing: tuple[None, ...] = (None,) * len(series)
        past = [
            *(row._replace(values=row.values + unknown) for row in past[:-1]),
            ChartRow(now.at, past[-1].values + ahead[0].values),
            *(row._replace(values=nothing + row.values) for row in ahead[1:]),
        ]
        series = [*series, *FORECAST_SERIES]
    name, title = f"progress-{campaign.id}", f"Tasks of campaign {campaign.id} over time"
    return ChartTable(name, ChartKind.LINES, title, "tasks", series, past, top=progress.total)


def _begun(points: Sequence[ProgressPoint]) -> list[ProgressPoint]:
    """Leave out what was before its first task was done, or failed; the last moment stays."""
    first = next((place for place, point in enumerate(points) if point.done or point.failed), len(points))
    return list(points[max(first - 1, 0) :])


def _ahead(progress: ProgressHistory, campaign: CampaignView) -> list[ChartRow]:
    """From now to the end as it is expected, at the earliest, and at the latest; empty: no end is known."""
    end, now = expected_end(campaign), progress.points[-1]
    if end.at is None:
        return []
    ends, left = (end.at, end.low, end.high), progress.total - now.done
    latest = now.at + (LONGEST_AHEAD - 1) * (now.at - progress.points[0].at)

    def done_by(at: datetime, end: datetime | None) -> int | None:
        """Count the tasks that are done then, if all of them are at `end`."""
        if end is None:
            return None
        return now.done + (left if end <= at else round(left * ((at - now.at) / (end - now.at))))

    moments = {now.at, *(min(max(moment, now.at), latest) for moment in ends if moment is not None)}
    begin = ChartRow(now.at, tuple(None if moment is None else now.done for moment in ends))
    return [
        begin,
        *(ChartRow(at, tuple(done_by(at, moment) for moment in ends)) for at in sorted(moments) if at > now.at),
    ]


def ends_chart(progress: ProgressHistory, campaign: CampaignView) -> ChartTable | None:
    """Draw the end that was forecast, by when that was, up to now; None: none ever was."""
    said = {told.at: (told.eta, told.eta_low, told.eta_high) for told in progress.forecasts}
    now = expected_end(campaign)
    if now.at is not None:
        said[progress.points[-1].at] = (now.at, now.low, now.high)
    if not said:
        return None
    rows = [ChartRow(point.at, said.get(point.at, (None,) * len(END_SERIES))) for point in progress.points[1:]]
    told = with_gaps(without_empty_ends(rows))
    name, title = f"ends-{campaign.id}", f"Predicted end of campaign {campaign.id} over time"
    return ChartTable(name, ChartKind.ENDS, title, "predicted end", END_SERIES, told, end=campaign.ended_at)


def cores_chart(cores: CoresHistory, campaign: CampaignView) -> ChartTable | None:
    """Draw the cores of its running jobs by cluster, on each other; None: it has had none."""
    # between two moments there are as many as at the first of them
    if not any(any(one.cores[:-1]) for one in cores.clusters) or cores.moments[-1] <= cores.moments[0]:
        return None
    series, values = largest_series({one.cluster: list(one.cores) for one in cores.clusters})
    rows = [ChartRow(at, row) for at, row in zip(cores.moments, values, strict=True)]
    name, title = f"cores-{campaign.id}", f"Cores of the jobs of campaign {campaign.id} by cluster over time"
    return ChartTable(name, ChartKind.STACK, title, "cores", series, with_gaps(without_empty_ends(rows)))


def with_gaps(rows: Sequence[ChartRow]) -> list[ChartRow]:
    """Put an empty row where the history pauses: a usual step after what was known last."""
    steps = [later.at - earlier.at for earlier, later in pairwise(rows)]
    if not steps:
        return list(rows)
    usual = median_low(steps)
    told = [rows[0]]
    for step, row in zip(steps, rows[1:], strict=True):
        if step > max(LONGEST_PAUSE * usual, SHORTEST_GAP):
            told.append(ChartRow(told[-1].at + usual, (None,) * len(row.values)))
        told.append(row)
    return told
