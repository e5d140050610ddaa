"""More memory or time for tasks that are done again: what is asked for is looked at as a new submission would be."""

from typing import TYPE_CHECKING, Any

from cigri.database import server_time
from cigri.errors import CigriError, DescriptionError, UsageError
from cigri.flow.clusters import list_every_cluster
from cigri.flow.submissions import list_impossible
from cigri.flow.views.descriptions import StoredDescription, find_description, list_parameters
from cigri.jdl.amounts import read_amount
from cigri.jdl.value_types import whole_seconds
from cigri.resources.own_amounts import OwnAmounts, with_own_amounts

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.settings.sections import Settings

NOTHING_CHANGED = "nothing was changed"


def read_own_amounts(mem: str, walltime: str) -> OwnAmounts:
    """As a description has them, "2 GB" and "2h"; what is empty is left as it was. Raise UsageError."""
    own: dict[str, int] = {}
    if mem:
        own["mem"] = _read("mem", mem)
    if walltime:
        own["walltime"] = _read("walltime", walltime)
    return own


def require_admitted(
    conn: "Connection", settings: "Settings", campaign_id: int, user: str, number: int, own: OwnAmounts
) -> None:
    """Raise CigriError where a rule of the site, a quota or the queues refuse a campaign of such tasks, or change it.

    `number` is that of one of the tasks.
    """
    from cigri.jdl import parse_described
    from cigri.submission.driver_checks import list_problems_of, task_peaks
    from cigri.submission.dry_run import ask_rules
    from cigri.submission.feedback import SubmissionFeedback
    from cigri.submission.new_campaign import new_campaign

    stored = find_description(conn, campaign_id)
    assert stored is not None, "its tasks were looked at"
    every = list_every_cluster(conn)
    clusters = {cluster.name: cluster.config for cluster in every}
    try:
        description = parse_described(_described(stored, own), list_parameters(conn, campaign_id, number, 1))
    except DescriptionError as error:
        raise CigriError("\n".join([*map(str, error.problems), NOTHING_CHANGED])) from None
    admitted, changes = ask_rules(None, settings, description, user, clusters)
    if any(_amounts(settings) != _amounts(description.clusters[name]) for name, settings in admitted.clusters.items()):
        raise CigriError(f"this site would change that: {'; '.join(changes)}; {NOTHING_CHANGED}")
    peaks, _ = task_peaks(admitted)
    refused = list_problems_of(every, settings.hours, server_time(conn), admitted, peaks, SubmissionFeedback())
    problems = [str(problem) for _, problem in refused]
    if problems := [*problems, *list_impossible(conn, new_campaign(admitted, user))]:
        raise CigriError("\n".join([*problems, NOTHING_CHANGED]))


def _described(stored: StoredDescription, own: OwnAmounts) -> dict[str, Any]:
    """One task of the campaign, as if it were submitted with these amounts."""
    from cigri.jdl.writing import from_settings

    heading = {"name": stored.name, "project": stored.project, "requirements": stored.requirements}
    changed = {name: with_own_amounts(settings, own) for name, settings in stored.clusters.items()}
    return from_settings(heading, changed, is_anywhere=False)


def _amounts(settings: Any) -> tuple[object, object]:
    return settings.walltime, settings.resources.mem


def _read(name: str, text: str) -> int:
    try:
        amount = read_amount(text, is_size=True) if name == "mem" else whole_seconds(text)
    except ValueError as error:
        raise UsageError(f"--{name} {text}: {error}", name) from None
    if not isinstance(amount, int) or amount < 1:
        expected = "a size, as 2GB" if name == "mem" else "a duration, as 2h"
        raise UsageError(f"--{name} {text}: expected {expected}", name)
    return amount
