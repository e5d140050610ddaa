"""What `gridclusters` shows: the list, one cluster, how full they were, and bars."""

import math
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from cigri.cli.command import safe
from cigri.cli.tables import print_fields, print_table
from cigri.cli.wording import moment
from cigri.flow.views.clusters import ClusterView, Usage

CLUSTER_COLUMNS = ("Id", "Name", "Driver", "Host", "State", "Free", "Total", "Ours running", "Ours waiting", "Reason")
USAGE_COLUMNS = ("Cluster", "From", "Total", "Used", "Ours", "Free", "Unavailable")
SECRET = re.compile(r"passw|secret|token|credential|private", re.IGNORECASE)
CLUSTER_BAR = 80
BAR_PARTS = (("X", "unavailable", "41"), ("U", "used by others", "43"), ("C", "ours", "47"), ("F", "free", "42"))


def print_list(clusters: Sequence[ClusterView], headerless: bool) -> None:
    rows = [
        (
            c.id,
            c.name,
            c.config.get("driver"),
            host(c),
            state(c),
            c.free,
            c.total,
            c.running,
            c.waiting,
            reason(c),
        )
        for c in clusters
    ]
    print_table(CLUSTER_COLUMNS, rows, prose=("Name", "Host", "Reason"), headerless=headerless)


def print_info(cluster: ClusterView, now: datetime) -> None:
    """All that may be shown of one cluster."""
    c = cluster
    print_fields(
        [
            ("Cluster", c.id),
            ("Name", c.name),
            ("Host", host(c)),
            ("State", state(c)),
            ("Reason", reason(c)),
            ("Visited", moment(c.visited_at)),
            ("Cores", None if c.total is None else f"{c.total}: {', '.join(_cores(c))}"),
            ("Left out as sick", ", ".join(c.sick_nodes) or None),
            ("Drained nodes", ", ".join(c.drained_nodes) or None),
            ("Our jobs", f"{c.running} running, {c.waiting} waiting"),
            ("Now", within_hours(c, now)),
            *(
                (name.replace("_", " ").capitalize(), ", ".join(_words(value)))
                for name, value in without_secrets(c.config).items()
            ),
        ]
    )


def print_usage(usage: Sequence[Usage], headerless: bool) -> None:
    rows = [(u.cluster, moment(u.at), u.total, u.used, u.used_by_us, u.free, u.unavailable) for u in usage]
    print_table(USAGE_COLUMNS, rows, headerless=headerless)


def print_bars(clusters: Sequence[ClusterView]) -> None:
    """80 columns for all cores of a cluster; colours on a terminal, letters elsewhere."""
    has_colours = sys.stdout.isatty()
    for cluster in clusters:
        known = cluster.total if cluster.total is not None else "not visited yet"
        print(f"{safe(cluster.name)} ({known}{' cores' if cluster.total is not None else ''}, {state(cluster)})")
        amounts = _amounts(cluster)
        if sum(amounts):
            print(
                "".join(
                    _paint(part, n, has_colours)
                    for part, n in zip(BAR_PARTS, widths(amounts, CLUSTER_BAR), strict=True)
                )
            )
    print("  ".join(f"{_paint(part, 1, has_colours)} {part[1]}" for part in BAR_PARTS))


def state(cluster: ClusterView) -> str:
    """In one word."""
    if cluster.drained_by is not None:
        return "draining"
    if not cluster.is_enabled:
        return "disabled"
    if cluster.paused_until is not None:
        return "unreachable"
    if cluster.total is None:
        return "unknown"
    return "full" if cluster.free == 0 else "ok"


def reason(cluster: ClusterView) -> str | None:
    """Why it is not ok, and since when."""
    match state(cluster):
        case "draining":
            return f"by the operator: it is to be empty on {moment(cluster.drained_by)}"
        case "disabled":
            return "by the operator"
        case "unreachable":
            since = f"since {moment(cluster.away_since)}, " if cluster.away_since else ""
            why = f": {cluster.why}" if cluster.why else ""
            return f"{since}tried again at {moment(cluster.paused_until)}{why}"
        case "unknown":
            return "not visited yet"
        case _ if cluster.pace < 1:
            return f"under stress, {cluster.pace:.0%} of the usual is asked of it: {cluster.stress}"
        case _:
            return None


def within_hours(cluster: ClusterView, now: datetime) -> str:
    """Is it within its operator's hours, and until when?"""
    from cigri.rules.jobtypes import find_hours
    from cigri.settings.loading import load

    hours = find_hours(cluster.config.get("hours"), cluster.config.get("timezone", ""), load().hours)
    if hours is None:
        return "no hours are declared: jobs of type nightly do not run here"
    stretch = hours.at(now)
    until = moment(stretch.until) or "further notice"
    return f"{'within' if stretch.is_open else 'outside'} its hours until {until}"


def host(cluster: ClusterView) -> str:
    ssh = cluster.config.get("ssh")
    return str(ssh.get("host", "?")) if isinstance(ssh, dict) else "this host"


def plain(cluster: ClusterView) -> dict[str, Any]:
    """For programs."""
    more = {"state": state(cluster), "reason": reason(cluster), "host": host(cluster)}
    return {**cluster._asdict(), "config": without_secrets(cluster.config), **more}


def without_secrets(config: Any) -> Any:
    """The configuration with the values of telling names hidden."""
    if isinstance(config, dict):
        return {key: "***" if SECRET.search(key) else without_secrets(value) for key, value in config.items()}
    return [without_secrets(value) for value in config] if isinstance(config, list) else config


def widths(amounts: Sequence[int], width: int) -> list[int]:
    """Shares of a bar, `width` in all; the largest remainders are rounded up."""
    total = sum(amounts)
    shares = [amount * width / total for amount in amounts]
    found = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: found[i] - shares[i])
    for i in by_remainder[: width - sum(found)]:
        found[i] += 1
    return found


def _amounts(cluster: ClusterView) -> tuple[int, int, int, int]:
    used, ours = cluster.used or 0, cluster.used_by_us or 0
    return cluster.unavailable or 0, max(used - ours, 0), ours, cluster.free or 0


def _cores(cluster: ClusterView) -> list[str]:
    return [f"{amount} {part[1]}" for part, amount in zip(BAR_PARTS, _amounts(cluster), strict=True)]


def _paint(part: tuple[str, str, str], width: int, has_colours: bool) -> str:
    letter, _, colour = part
    return f"\033[{colour}m{' ' * width}\033[0m" if has_colours and width else letter * width


def _settings(cluster: ClusterView) -> Iterator[tuple[str, str]]:
    for name, value in without_secrets(cluster.config).items():
        yield name.replace("_", " ").capitalize(), ", ".join(_words(value))


def _words(value: object, name: str = "") -> list[str]:
    """A setting for people: those within it by their dotted names."""
    match value:
        case dict():
            return [words for key, inner in value.items() for words in _words(inner, f"{name}.{key}".lstrip("."))]
        case list():
            text = (" " if name else ", ").join(" ".join(_words(one)) for one in value)
        case bool():
            text = "yes" if value else "no"
        case _:
            text = "" if value is None else str(value)
    return [f"{name}={text}" if name else text] if text else []
