"""The state of a cluster in one word, and why it is so: pure, for people."""

from datetime import datetime
from typing import TYPE_CHECKING

from cigri.api_models.clusters import ClusterStatus, ClusterView
from cigri.formats.redaction import without_secrets
from cigri.formats.units import as_duration, as_instant

if TYPE_CHECKING:
    from cigri.settings.sections import HoursSettings


def status_of(cluster: ClusterView) -> ClusterStatus:
    """All that may be shown of it: secrets are hidden."""
    shown = cluster._replace(config=without_secrets(cluster.config))
    return ClusterStatus(shown, state(cluster), reason(cluster), host(cluster))


def state(cluster: ClusterView) -> str:
    """The first that holds of draining, disabled, unreachable, unknown (never visited), full; else ok."""
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
            return f"by the operator: it is to be empty on {_instant(cluster.drained_by)}"
        case "disabled":
            return "by the operator"
        case "unreachable":
            since = f"since {_instant(cluster.away_since)}, " if cluster.away_since else ""
            why = f": {cluster.why}" if cluster.why else ""
            return f"{since}tried again at {_instant(cluster.paused_until)}{why}"
        case "unknown":
            return "not visited yet"
        case _ if cluster.pace < 1:
            return f"under stress, throttled to {cluster.pace:.0%}: {cluster.stress}"
        case _:
            return None


def told_skew(seconds: int) -> str:
    """How the clock of a front-end differs from the grid's."""
    if not seconds:
        return "as the grid's"
    return f"{as_duration(abs(seconds))} {'ahead of' if seconds > 0 else 'behind'} the grid's, at the least"


def within_hours(cluster: ClusterView, grid: "HoursSettings", now: datetime) -> str:
    """Is it within its operator's hours, and until when? `grid`: the hours of clusters that declare none."""
    from cigri.settings.job_types import find_hours

    hours = find_hours(cluster.config.get("hours"), cluster.config.get("timezone", ""), grid)
    if hours is None:
        return "no hours are declared: jobs of type nightly do not run here"
    stretch = hours.at(now)
    until = _instant(stretch.until) if stretch.until else "further notice"
    return f"{'within' if stretch.is_open else 'outside'} its hours until {until}"


def host(cluster: ClusterView) -> str:
    """Name of its front-end, "?" where its configuration has none; without ssh "this host"."""
    ssh = cluster.config.get("ssh")
    return str(ssh.get("host", "?")) if isinstance(ssh, dict) else "this host"


def _instant(moment: datetime | None) -> str:
    return as_instant(moment) if moment else ""
