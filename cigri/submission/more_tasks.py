"""More tasks for a campaign that is there: the rules of admission are asked about it again."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from cigri import jdl
from cigri.errors import CigriError
from cigri.flow.audit import put_audit
from cigri.flow.submissions import find_extensible_campaign, put_tasks
from cigri.flow.views.descriptions import find_description, list_parameters
from cigri.identity.callers import Caller
from cigri.inputs.store import store_of
from cigri.jdl import CampaignDescription, ClusterSettings, Parameter
from cigri.jdl.replication import ReplicationSettings
from cigri.jdl.sweep import SizedIterable
from cigri.submission.dry_run import ask_rules, declared
from cigri.submission.task_files import sums_of_added

if TYPE_CHECKING:
    from cigri.database import Database
    from cigri.settings.sections import Settings

PARAMETERS_AT_ONCE = 10_000  # parameters


class ExtendedParameters:
    """The parameters of a campaign, and those that are to be added to it."""

    def __init__(self, database: "Database", campaign_id: int, tasks: int, added: SizedIterable[Parameter]) -> None:
        self._database, self._campaign_id, self._tasks, self._added = database, campaign_id, tasks, added

    def __len__(self) -> int:
        return self._tasks + len(self._added)

    def __iter__(self) -> Iterator[Parameter]:
        for first in range(0, self._tasks, PARAMETERS_AT_ONCE):
            with self._database.begin() as conn:
                there = list_parameters(conn, self._campaign_id, first, PARAMETERS_AT_ONCE)
            yield from cast("list[Parameter]", there)
        yield from self._added


def add(
    database: "Database",
    settings: "Settings",
    caller: Caller,
    campaign_id: int,
    items: SizedIterable[object],
    *,
    is_check: bool,
    task_inputs: str = "",
) -> int:
    """The number of tasks that are added, in one transaction, or would be; `task_inputs`: the sum of their list."""
    with database.begin() as conn:
        company = find_extensible_campaign(conn, campaign_id, caller)
    clusters = {name: ClusterSettings.model_validate(settings) for name, settings in company.settings.items()}
    parameters = jdl.additional(items, clusters, like=cast("Parameter | None", company.parameter))
    enlarged = ExtendedParameters(database, campaign_id, company.tasks, parameters)
    ask_rules(
        database, settings, _described(database, campaign_id, clusters, enlarged), company.user, declared(database)
    )
    if is_check:
        return len(parameters)
    with database.begin() as conn:
        if find_extensible_campaign(conn, campaign_id, caller).tasks != company.tasks:
            raise CigriError(f"campaign {campaign_id} got other tasks at the same time: nothing was added, try again")
        with sums_of_added(
            conn, store_of(settings), caller.user, clusters, task_inputs, company.tasks, parameters
        ) as sums:
            added = put_tasks(conn, campaign_id, caller, parameters, sums)
        put_audit(conn, caller, "add_tasks", {"campaign_id": campaign_id, "added": added})
        return added


def _described(
    database: "Database", campaign_id: int, clusters: dict[str, ClusterSettings], tasks: SizedIterable[Parameter]
) -> CampaignDescription:
    """As rules left it when it was submitted."""
    with database.begin() as conn:
        stored = find_description(conn, campaign_id)
    assert stored is not None, "nobody deletes campaigns"
    return CampaignDescription(
        name=stored.name,
        clusters=clusters,
        tasks=tasks,
        campaign_type="default",  # a test gets no more tasks
        scheduler=stored.scheduler,
        project=stored.project,
        replicate=ReplicationSettings.model_validate(stored.replicate) if stored.replicate else None,
        requirements=stored.requirements,
        priority=stored.priority,
    )
