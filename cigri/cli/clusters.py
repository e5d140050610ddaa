"""What `gridclusters` shows: the list, one cluster, how full they were, and bars."""

import math
import sys
from collections.abc import Iterator, Sequence

from cigri.api_models.clusters import ClusterStatus, ClusterUsagePeriod, ClusterView
from cigri.cli.command import escape_text
from cigri.cli.table_printing import print_fields, print_table
from cigri.cli.terminal import may_draw
from cigri.formats.units import localised
from cigri.presentation.cluster_status import told_skew
from cigri.presentation.formatting import format_mean, format_time

CLUSTER_COLUMNS = ("Id", "Name", "Driver", "Host", "State", "Free", "Total", "Ours running", "Ours waiting", "Reason")
USAGE_COLUMNS = ("Cluster", "From", "Total", "Used", "Ours", "Free", "Unavailable")
CLUSTER_BAR = 80
BAR_PARTS = (("X", "unavailable", "41"), ("U", "used by others", "43"), ("C", "ours", "47"), ("F", "free", "42"))


def print_list(clusters: Sequence[ClusterStatus], headerless: bool) -> None:
    """What `gridclusters` shows: a line for each cluster, amounts in cores, and our jobs."""
    rows = [
        (
            *(c.id, c.name, c.config.get("driver"), status.host, status.state),
            *(c.free, c.total, c.running, c.waiting, _reason(status)),
        )
        for status in clusters
        for c in (status.cluster,)
    ]
    print_table(CLUSTER_COLUMNS, rows, prose=("Name", "Host", "Reason"), headerless=headerless)


def print_info(status: ClusterStatus, hours: str) -> None:
    """All that may be shown of one cluster. `hours`: whether it is within its own."""
    c = status.cluster
    print_fields(
        [
            ("Cluster", c.id),
            ("Name", c.name),
            ("Host", status.host),
            ("State", status.state),
            ("Reason", _reason(status)),
            ("Visited", format_time(c.visited_at)),
            ("Clock", None if c.clock_skew is None else told_skew(c.clock_skew)),
            ("Cores", None if c.total is None else f"{c.total}: {', '.join(_cores(c))}"),
            ("Left out as sick", ", ".join(c.sick_nodes) or None),
            ("Drained nodes", ", ".join(c.drained_nodes) or None),
            ("Our jobs", f"{c.running} running, {c.waiting} waiting"),
            ("Now", localised(hours)),
            *_settings(c),
        ]
    )


def print_usage(usage: Sequence[ClusterUsagePeriod], headerless: bool) -> None:
    """What `gridclusters -u` shows: mean cores of each cluster in each period, by the time when it began."""
    rows = [
        (u.cluster, format_time(u.at), *map(format_mean, (u.total, u.used, u.used_by_us, u.free, u.unavailable)))
        for u in usage
    ]
    print_table(USAGE_COLUMNS, rows, headerless=headerless)


def print_bars(clusters: Sequence[ClusterStatus]) -> None:
    """80 columns for all cores of a cluster; colours on a terminal, letters elsewhere."""
    has_colours = may_draw(sys.stdout)
    for status in clusters:
        cluster = status.cluster
        cores = cluster.total if cluster.total is not None else "not visited yet"
        print(f"{escape_text(cluster.name)} ({cores}{' cores' if cluster.total is not None else ''}, {status.state})")
        amounts = _amounts(cluster)
        if sum(amounts):
            print(
                "".join(
                    _paint(part, n, has_colours)
                    for part, n in zip(BAR_PARTS, widths(amounts, CLUSTER_BAR), strict=True)
                )
            )
    print("  ".join(f"{_paint(part, 1, has_colours)} {part[1]}" for part in BAR_PARTS))


def widths(amounts: Sequence[int], width: int) -> list[int]:
    """Shares of a bar, `width` in all; the largest remainders are rounded up."""
    total = sum(amounts)
    shares = [amount * width / total for amount in amounts]
    rounded = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: rounded[i] - shares[i])
    for i in by_remainder[: width - sum(rounded)]:
        rounded[i] += 1
    return rounded


def _reason(status: ClusterStatus) -> str | None:
    return localised(status.reason) if status.reason else None


def _amounts(cluster: ClusterView) -> tuple[int, int, int, int]:
    used, ours = cluster.used or 0, cluster.used_by_us or 0
    return cluster.unavailable or 0, max(used - ours, 0), ours, cluster.free or 0


def _cores(cluster: ClusterView) -> list[str]:
    return [f"{amount} {part[1]}" for part, amount in zip(BAR_PARTS, _amounts(cluster), strict=True)]


def _paint(part: tuple[str, str, str], width: int, has_colours: bool) -> str:
    letter, _, colour = part
    return f"\033[{colour}m{' ' * width}\033[0m" if has_colours and width else letter * width


def _settings(cluster: ClusterView) -> Iterator[tuple[str, str]]:
    for name, value in cluster.config.items():
        yield name.replace("_", " ").capitalize(), ", ".join(_words(value))


def _words(value: object, name: str = "") -> list[str]:
    """A setting for people: those within it by their dotted names."""
    match value:
        case dict():
            return [words for key, inner in value.items() for words in _words(inner, f"{name}.{key}".lstrip("."))]
        case list():
            text = (" " if name else ", ").join(" ".join(_words(item)) for item in value)
        case bool():
            text = "yes" if value else "no"
        case _:
            text = "" if value is None else str(value)
    return [f"{name}={text}" if name else text] if text else []
