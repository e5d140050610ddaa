"""What the end of a running job would waste: its own figures for its owner, else the grid's."""

from contextlib import closing
from typing import TYPE_CHECKING

from cigri.cli.command import complain
from cigri.cli.wording import duration
from cigri.errors import AnswerUnreadable, ConfigError, TransportError
from cigri.wrapper.job_features import Figures, assess, parse_status

if TYPE_CHECKING:
    from datetime import datetime

    from cigri.flow.clusters import ClusterRow
    from cigri.flow.views.running_jobs import RunningJob


def figures_of(running: "RunningJob", cluster: "ClusterRow", key: str, user: str, now: "datetime") -> Figures:
    """The figures of now; only the owner and root may look at the job's files, and what is wrong there is told."""
    values = _read(running, cluster, key) if user in (running.job.user, "root") else {}
    status, ignored = parse_status(values, running.job.cores)
    for problem in ignored:
        complain(f"job {running.job.job_id}: ignored {problem}")
    return assess(running.job, status, now.timestamp())


def fields_of(figures: Figures) -> list[tuple[str, object]]:
    """Lines for people; wastes in seconds of one core."""
    source = "the job's own" if figures.is_own else "the grid's"
    return [
        ("remaining_time", duration(figures.remaining_time)),
        ("By its limit", duration(figures.enforced_time)),
        ("draining_waste", _waste(figures.draining_waste)),
        ("kill_waste", _waste(figures.kill_waste)),
        ("Figures", source),
    ]


def _read(running: "RunningJob", cluster: "ClusterRow", key: str) -> dict[str, str]:
    from cigri.gateway import Gateway
    from cigri.orders import ReadStatus

    with closing(Gateway()) as gateway:
        try:
            return gateway.ask(cluster, running.local_user, ReadStatus(key, [running.key]))[running.key]
        except (TransportError, AnswerUnreadable, ConfigError) as error:
            complain(f"job {running.job.job_id} could not be asked: {error}")
            return {}


def _waste(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.0f} CPU s"
