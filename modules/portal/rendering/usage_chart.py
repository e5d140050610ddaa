"""The charts of clusters: how full one was, and what the grid used of all; empty where nobody looked. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from cigri.api_models.clusters import ClusterUsagePeriod
from modules.portal.rendering.chart_table import (
    ChartKind,
    ChartRow,
    ChartSeries,
    ChartTable,
    largest_series,
    without_empty_ends,
)
from modules.portal.rendering.stacked_chart import cores_of, runs_of

KINDS_OF_CORES = [
    ChartSeries("ours", "ours"),
    ChartSeries("others", "others'"),
    ChartSeries("down", "down"),
    ChartSeries("free", "free"),
]


def cluster_chart(
    cluster: str, usage: Sequence[ClusterUsagePeriod], until: datetime, period: timedelta
) -> ChartTable | None:
    """Draw the cores of a cluster by periods of that length, the oldest first; None: nobody has looked at it."""
    if not any(sum(cores_of(use)) for use in usage):
        return None
    rows = list[ChartRow]()
    for run in runs_of(usage, period):
        rows += [ChartRow(use.at, cores_of(use)) for use in run]
        rows.append(ChartRow(min(run[-1].at + period, until), (None,) * len(KINDS_OF_CORES)))
    return ChartTable("day", ChartKind.STACK, f"Cores of {cluster} over time", "cores", KINDS_OF_CORES, rows)


def own_cores_chart(usage: Iterable[ClusterUsagePeriod], until: datetime, period: timedelta) -> ChartTable | None:
    """Draw the cores that the grid's jobs used, by cluster; None: they used none."""
    used = {(use.cluster, use.at): use.used_by_us for use in usage}
    clusters = sorted({cluster for (cluster, _), cores in used.items() if cores})
    if not clusters:
        return None
    moments = list[datetime]()
    for at in sorted({at for _, at in used}):
        if moments and at - moments[-1] > period:
            moments.append(moments[-1] + period)
        moments.append(at)
    if moments[-1] < until:
        moments.append(min(moments[-1] + period, until))
    series, values = largest_series({name: [used.get((name, at)) for at in moments] for name in clusters})
    rows = [ChartRow(at, row) for at, row in zip(moments, values, strict=True)]
    title = "Cores that the grid's jobs used, by cluster over time"
    return ChartTable("used", ChartKind.STACK, title, "cores", series, without_empty_ends(rows))
