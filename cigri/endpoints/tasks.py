"""Tasks of campaigns; parameters are for the owners, others get None in their place."""

from typing import TYPE_CHECKING

from cigri.api_models.campaigns import CampaignView
from cigri.api_models.tasks import FoundTasks, TaskCommand, TaskDetail, TaskView
from cigri.endpoints import Access, read_endpoint
from cigri.endpoints.campaigns import find_campaign
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import AFTER, LONGEST_PAGE, USUAL_ROWS, PageLimit, Pagination, UnfinishedPage, require_limit
from cigri.errors import Forbidden, NotFound, UsageError
from cigri.identity.callers import Caller
from cigri.states import TaskState

if TYPE_CHECKING:
    from sqlalchemy import Connection

USUAL_TASKS = 100
COMMANDS_BY = KeyPagination("task_commands", {"cluster": str})
NO_TASK = "no such task; `gridstat -f CAMPAIGN` lists tasks"


@read_endpoint("/campaigns/{campaign_id}/tasks", Access.EVERYBODY_IN_PART, Pagination(AFTER, "number"))
def tasks(
    conn: "Connection", caller: Caller, *, campaign_id: int, after: int = -1, limit: PageLimit = USUAL_TASKS
) -> list[TaskView]:
    """Tasks of a campaign in the order of their numbers."""
    require_limit(limit)
    return _page(conn, caller, campaign_id, after + 1, limit)


@read_endpoint("/campaigns/{campaign_id}/found-tasks", Access.EVERYBODY_IN_PART)
def found_tasks(
    conn: "Connection",
    caller: Caller,
    *,
    campaign_id: int,
    state: str = "",
    cluster: str = "",
    exit_code: int | None = None,
    node: str = "",
    parameter: str = "",
    first: int = 0,
    last: int | None = None,
    after: int | None = None,
    order: str = "number",
    limit: PageLimit = USUAL_TASKS,
) -> FoundTasks:
    """Tasks of a campaign that are in a state, or ended so; by `number`, or backwards, -number.

    What stands in parameters is for the owner. `after` is what the answer before called `next`.
    """
    from cigri.flow.views.jobs import list_tasks_of
    from cigri.flow.views.task_search import TaskSearch, find_numbers

    require_limit(limit)
    found = find_campaign(conn, campaign_id)
    if parameter and not caller.sees(found.user):
        raise Forbidden(f"the parameters of campaign {campaign_id} are not yours: search without them")
    if order not in ("number", "-number"):
        raise UsageError(f"order {order!r}: tasks are sorted by number, or backwards by -number", "order")
    is_descending = order == "-number"
    if after is not None:
        first, last = (first, after - 1) if is_descending else (max(first, after + 1), last)
    wanted = _task_state(state), _cluster_id(conn, cluster), exit_code, node, parameter
    numbers, examined = find_numbers(conn, campaign_id, TaskSearch(*wanted, first, last, is_descending), limit)
    listed = list_tasks_of(conn, campaign_id, numbers, is_descending=is_descending)
    ends_early = len(listed) < len(numbers)  # their parameters are large
    return FoundTasks(_shown(caller, found, listed), listed[-1].number if ends_early else examined)


@read_endpoint("/campaigns/{campaign_id}/latest-tasks", Access.EVERYBODY_IN_PART, most_rows=LONGEST_PAGE)
def latest_tasks(
    conn: "Connection", caller: Caller, *, campaign_id: int, limit: PageLimit = USUAL_TASKS
) -> list[TaskView]:
    """Tasks of a campaign that were launched last, the last one first; the first ones where none has been.

    There are fewer than `limit` of them where their parameters are large.
    """
    from cigri.flow.views.jobs import list_latest_tasks

    require_limit(limit)
    if latest := list_latest_tasks(conn, campaign_id, limit):
        return _shown(caller, find_campaign(conn, campaign_id), latest)
    return _page(conn, caller, campaign_id, 0, limit)


@read_endpoint("/campaigns/{campaign_id}/tasks/{number}", Access.EVERYBODY_IN_PART)
def task(conn: "Connection", caller: Caller, *, campaign_id: int, number: int) -> TaskDetail:
    """One task by its number in its campaign, and all its attempts."""
    from cigri.flow.views.jobs import list_tasks

    return _whole(conn, caller, next(iter(list_tasks(conn, campaign_id, number, 1)), None))


@read_endpoint("/campaigns/{campaign_id}/tasks/{number}/commands", Access.OWNER, COMMANDS_BY)
def task_commands(
    conn: "Connection",
    caller: Caller,
    *,
    campaign_id: int,
    number: int,
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[TaskCommand]:
    """What a task of yours runs on each of its campaign's clusters, and a line to do the same by hand."""
    from cigri.flow.views.descriptions import find_description, list_parameters
    from cigri.jdl import ClusterSettings
    from cigri.jdl.command import manual_command

    if not caller.sees(find_campaign(conn, campaign_id).user):
        raise NotFound(f"you have no campaign {campaign_id}; `gridstat -u {caller.user}` lists yours")
    stored, found = find_description(conn, campaign_id), list_parameters(conn, campaign_id, number, 1)
    if stored is None or not found:
        raise NotFound(NO_TASK)
    commands = (
        TaskCommand(cluster, *manual_command(ClusterSettings.model_validate(settings), found[0], campaign_id, number))
        for cluster, settings in stored.clusters.items()
    )
    return page_of(commands, COMMANDS_BY, after, limit)


@read_endpoint("/tasks/{task_id}", Access.EVERYBODY_IN_PART)
def task_by_id(conn: "Connection", caller: Caller, *, task_id: int) -> TaskDetail:
    """One task by its own id, and all its attempts, unless its campaign is archived."""
    from cigri.flow.views.jobs import find_task

    return _whole(conn, caller, find_task(conn, task_id))


def _task_state(word: str) -> TaskState | None:
    if not word:
        return None
    try:
        return TaskState(word)
    except ValueError:
        raise UsageError(f"state {word!r}: no task is ever in it; there are {', '.join(TaskState)}", "state") from None


def _cluster_id(conn: "Connection", name: str) -> int | None:
    from cigri.flow.clusters import find_cluster

    if not name:
        return None
    cluster = find_cluster(conn, name)
    if cluster is None:
        raise NotFound(f"there is no cluster {name!r}; `gridclusters` lists all")
    return cluster.id


def _page(conn: "Connection", caller: Caller, campaign_id: int, first: int, limit: int) -> list[TaskView]:
    from cigri.flow.views.jobs import list_tasks
    from cigri.flow.views.page_sizes import count_fitting

    found = find_campaign(conn, campaign_id)
    fitting = count_fitting(conn, campaign_id, first, limit)
    page = _shown(caller, found, list_tasks(conn, campaign_id, first, fitting))
    return UnfinishedPage(page) if fitting < limit else page


def _shown(caller: Caller, of: CampaignView, listed: list[TaskView]) -> list[TaskView]:
    return listed if caller.sees(of.user) else [task._replace(parameter=None) for task in listed]


def _whole(conn: "Connection", caller: Caller, found: TaskView | None) -> TaskDetail:
    from cigri.flow.views.input_versions import list_inputs_found
    from cigri.flow.views.jobs import list_attempts_of_task

    if found is None:
        raise NotFound(NO_TASK)
    attempts = list_attempts_of_task(conn, found.id) if found.id is not None else []
    if caller.sees(find_campaign(conn, found.campaign_id).user):
        return TaskDetail(found, attempts, list_inputs_found(conn, found.campaign_id, attempts))
    return TaskDetail(found._replace(parameter=None), [attempt._replace(parameter=None) for attempt in attempts], [])
