"""`gridstat`: how campaigns, tasks and jobs stand."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cigri.cli.campaign_names import OF_CAMPAIGNS, campaign_ids
from cigri.cli.command import (
    DONE,
    FAILED,
    LONGEST_ID,
    CommandParser,
    command,
    print_error,
    print_json,
)
from cigri.cli.grid_client import open_grid
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.paging import walk
from cigri.errors import NotFound
from cigri.formats.id_ranges import format_ids
from cigri.formats.json_values import to_json_value
from cigri.states import TaskState

if TYPE_CHECKING:
    from cigri.api_models.campaigns import CampaignView
    from cigri.api_models.failures import FailureGroup
    from cigri.api_models.tasks import TaskDetail, TaskView

EXAMPLES = """\
  gridstat                 all open campaigns
  gridstat 3               one campaign: progress, rates, end, and how it goes on each cluster
  gridstat -f 3            and its latest tasks
  gridstat 3-7             several campaigns as a summary
  gridstat -w 3            progress bars until it has ended
  gridstat --why 3         what keeps it from more jobs on each cluster, and which queues are eligible
  gridstat --why -T 3:17   the same for task 17 of it
  gridstat --failed 3      how its tasks failed, alike ones together
  gridstat -e              errors to fix, and how
  gridstat -T 3:17 -O      what task 17 of campaign 3 wrote to its standard output
  gridstat -j 12 -E        what job 12 wrote to its standard error

states: R running, H held, T terminated, C cancelled; e: there are errors to fix"""
SHOWN_TASKS_AT_ONCE = 100


@command
def main(argv: list[str]) -> int:
    """Exit status 1 when something that is named is not there, or `--watch` ends and not every task is done."""
    asked = _parse(argv)
    with open_grid() as grid:
        if asked.job is not None:
            return _job(grid, asked)
        if asked.watch:
            from cigri.cli.watching import watch

            return watch(grid, asked.ids, asked.username)
        if asked.why:
            return _why(grid, asked)
        if asked.task is not None:
            return _task(grid, asked)
        if asked.jdl:
            from cigri.cli.stored_description import show_description

            show_description(grid, asked.ids[0])
            return DONE
        if asked.errors:
            return _errors(grid, asked)
        if asked.failed:
            return _failed(grid, asked)
        if asked.ids and len(asked.ids) == 1 and not asked.summary:
            return _campaign(grid, asked)
        return _list(grid, asked)


def _parse(argv: list[str]) -> Namespace:
    parser = CommandParser("gridstat", "Show how campaigns, tasks and jobs stand.", EXAMPLES)
    parser.add_argument("ids", metavar="ID", nargs="*", type=campaign_ids, help=OF_CAMPAIGNS)
    parser.add_argument(
        "-c", "--campaign", metavar="ID", action="append", type=campaign_ids, default=[], help="the same"
    )
    parser.add_argument("-a", "--all", action="store_true", help="list campaigns that have ended as well")
    parser.add_argument("-u", "--username", metavar="USER", default="", help="only campaigns of this user")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("-s", "--summary", action="store_true", help="tasks by state of each campaign, and their sum")
    view.add_argument("-f", "--full", action="store_true", help="one campaign with its tasks, the latest first")
    view.add_argument("-e", "--errors", action="store_true", help="errors to fix, and how")
    view.add_argument("--failed", action="store_true", help="how tasks of one campaign failed, alike ones together")
    view.add_argument("-w", "--watch", action="store_true", help="show the progress until the campaigns have ended")
    view.add_argument("-J", "--jdl", action="store_true", help="the description of a campaign, as gridsub takes it")
    view.add_argument("-j", "--job", metavar="ID", type=_whole, help="one job and its tasks")
    view.add_argument(
        "-T", "--task", metavar="ID|CAMPAIGN:NUMBER", type=_task_name, help="one task and all its attempts"
    )
    parser.add_argument(
        "--why",
        action="store_true",
        help="what keeps a campaign, or a task (-T), from more jobs on each cluster and queue",
    )
    parser.add_argument(
        "-o", "--offset", metavar="N", type=_whole, help="with -f: the tasks from number N on, in order"
    )
    parser.add_argument(
        "-n",
        "--number",
        metavar="N",
        type=_whole,
        help=f"with -f: so many tasks; 0: all (usually {SHOWN_TASKS_AT_ONCE})",
    )
    parser.add_argument("-O", "--stdout", action="store_true", help="with -j or -T: print the standard output")
    parser.add_argument("-E", "--stderr", action="store_true", help="with -j or -T: print the standard error")
    parser.add_argument("-H", "--headerless", action="store_true", help="tables without their first line")
    parser.add_argument("-d", "--dump", "--json", action="store_true", dest="json", help="JSON, for programs")
    asked = parser.parse_args(argv)
    named = list(dict.fromkeys(chain(*asked.ids, *asked.campaign)))
    asked.ids = named or None
    for is_wrong, message in _wrong(asked, len(named)):
        if is_wrong:
            parser.error(message)
    return asked


def _wrong(asked: Namespace, named: int) -> list[tuple[object, str]]:
    """Options that would be ignored."""
    output = asked.stdout or asked.stderr
    single = asked.job is not None or asked.task is not None
    return [
        (asked.full and named != 1, "-f needs one campaign"),
        (asked.jdl and named != 1, "-J needs one campaign"),
        (asked.failed and named != 1, "--failed needs one campaign"),
        (asked.why and named + (asked.task is not None) != 1, "--why needs one campaign, or one task: -T TASK"),
        (asked.why and (asked.summary or asked.full or asked.errors), "--why is a view of its own"),
        (
            asked.why and (asked.watch or asked.jdl or asked.failed or asked.job is not None),
            "--why is a view of its own",
        ),
        ((asked.offset is not None or asked.number is not None) and not asked.full, "-o and -n go with -f"),
        (output and not single, "-O and -E need -j JOB or -T TASK"),
        (output and (asked.json or asked.headerless), "-O and -E print what was written, as it is"),
        (output and asked.why, "--why is a view of its own"),
        (single and named, "a job or a task is named without its campaign's ID"),
        (asked.all and (named or single or asked.errors or asked.watch), "-a goes with the list and with -s"),
        (asked.username and (asked.full or asked.jdl or single), "-u goes with lists, -s, -e and -w"),
        (asked.watch and (asked.json or asked.headerless), "-w is for people; programs call `gridstat --json`"),
        (asked.headerless and (asked.json or asked.jdl), "JSON has no headers"),
    ]


def _list(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.campaigns import print_list, print_summary
    from cigri.cli.outages import warn
    from cigri.endpoints.campaigns import campaign, campaigns

    listed = walk(grid, campaigns, ids=format_ids(asked.ids), user=asked.username, with_ended=asked.all)
    now = warn(grid, asked.ids, asked.username)
    if asked.json:
        print_json(to_json_value([grid.call(campaign, campaign_id=c.id) for c in listed] if asked.ids else listed))
    elif listed:
        show = print_summary if asked.summary or asked.ids else print_list
        show(listed, now, asked.headerless)
    elif not asked.ids:
        kind = "campaign" if asked.all else "open campaign"
        print_error(f"no {kind}; `gridsub` submits one" + ("" if asked.all else ", `gridstat -a` lists ended ones"))
    missing = [str(i) for i in asked.ids or () if i not in {campaign.id for campaign in listed}]
    if missing:
        others = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        print_error(f"no campaign {', '.join(missing[:5])}{others}{_of(asked)}; `gridstat -a` lists all")
    return FAILED if missing else DONE


def _campaign(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.campaigns import print_campaign
    from cigri.cli.jobs import print_tasks
    from cigri.cli.outages import warn
    from cigri.endpoints.campaigns import campaign, replicas

    (campaign_id,) = asked.ids
    whole = grid.call(campaign, campaign_id=campaign_id)
    _require_user(whole.campaign, asked)
    now = warn(grid, asked.ids)
    tasks = _tasks(grid, whole.campaign, asked) if asked.full else []
    replicated = grid.call(replicas, campaign_id=campaign_id) if asked.full else None
    if asked.json:
        full = {"tasks": tasks, "replicas": replicated} if asked.full else {}
        print_json([to_json_value(whole) | to_json_value(full)])
        return DONE
    print_campaign(whole, replicated, now, asked.headerless)
    if tasks:
        print()
        print_tasks(tasks, asked.headerless)
    return DONE


def _failed(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.failures import show_failed
    from cigri.cli.outages import warn
    from cigri.endpoints.campaigns import failures

    campaign = _named(grid, asked.ids[0], asked)
    warn(grid, asked.ids)
    kinds = grid.call(failures, campaign_id=campaign.id)
    advice = {} if asked.json else _advice(grid, campaign.id, kinds)
    return show_failed(campaign, kinds, advice, as_json=asked.json)


def _advice(grid: GridClient, campaign_id: int, kinds: "Sequence[FailureGroup]") -> dict[int, str]:
    """By the job that failed last: how to give more to tasks that were ended for want of it."""
    from cigri.cli.failures import advise_more, lacked_more
    from cigri.endpoints.campaigns import campaign as whole
    from cigri.endpoints.jobs import job

    parts = [share.part for share in grid.call(whole, campaign_id=campaign_id).clusters] if kinds else []
    jobs = {kind.last_job: kind for kind in kinds if kind.last_job is not None and lacked_more(kind, parts)}
    return {id: advise_more(campaign_id, kind, grid.call(job, job_id=id).job, parts) for id, kind in jobs.items()}


def _why(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.outages import warn
    from cigri.cli.pending_reasons import print_reasons
    from cigri.endpoints.pending_reasons import why

    task = _find_task(grid, asked).task if asked.task else None
    campaign = _named(grid, task.campaign_id if task else asked.ids[0], asked)
    reasons = walk(grid, why, campaign_id=campaign.id, task=task.number if task else None)
    if task and task.state != TaskState.WAITING:
        print_error(f"the task does not wait: it is {task.state}")
    warn(grid, [campaign.id])
    if asked.json:
        print_json(to_json_value(reasons))
    else:
        _tell_after(grid, campaign)
        print_reasons(reasons, asked.headerless)
    return DONE


def _tell_after(grid: GridClient, campaign: "CampaignView") -> None:
    """For which campaigns it waits."""
    if not campaign.blocked:
        return
    from cigri.api_models.dependencies import BlockedTasks
    from cigri.endpoints.campaigns import campaign as whole
    from cigri.formats.units import localised
    from cigri.lifecycle.dependency_gates import sentences

    after = grid.call(whole, campaign_id=campaign.id).after
    for sentence in sentences(after, BlockedTasks(campaign.blocked, campaign.total)):
        print(f"AFTER: {localised(sentence)}")
    print()


def _named(grid: GridClient, campaign_id: int, asked: Namespace) -> "CampaignView":
    from cigri.endpoints.campaigns import campaigns

    found = grid.call(campaigns, ids=str(campaign_id), user=asked.username)
    if not found:
        raise NotFound(f"no campaign {campaign_id}{_of(asked)}; `gridstat -a` lists all")
    return found[0]


def _require_user(campaign: "CampaignView", asked: Namespace) -> None:
    if asked.username not in ("", campaign.user):
        raise NotFound(f"no campaign {campaign.id}{_of(asked)}; `gridstat -a` lists all")


def _tasks(grid: GridClient, campaign: "CampaignView", asked: Namespace) -> "list[TaskView]":
    """In order where an offset is given or all have room; else those launched last."""
    from cigri.endpoints.tasks import latest_tasks, tasks

    number = {None: SHOWN_TASKS_AT_ONCE, 0: campaign.total}.get(asked.number, asked.number)
    if asked.offset is None and campaign.total > number:
        return grid.call(latest_tasks, campaign_id=campaign.id, limit=number)
    return walk(grid, tasks, number, campaign_id=campaign.id, after=(asked.offset or 0) - 1)


def _errors(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.campaigns import print_errors
    from cigri.endpoints.campaigns import campaigns, errors

    named = format_ids(asked.ids)
    if asked.ids and not grid.call(campaigns, ids=named):
        raise NotFound(f"no campaign {', '.join(map(str, asked.ids))}; `gridstat -a` lists all")
    to_fix = walk(grid, errors, ids=named, user=asked.username)
    if asked.json:
        print_json(to_json_value(to_fix))
    elif to_fix:
        print_errors(to_fix, asked.headerless)
    else:
        print_error("no error to fix")
    return DONE


def _task(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.jobs import print_task

    whole = _find_task(grid, asked)
    if asked.stdout or asked.stderr:
        return _outputs_of(grid, whole.task.job_id, asked, whole.task)
    if asked.json:
        print_json(to_json_value(whole))
    else:
        print_task(whole, asked.headerless)
    return DONE


def _find_task(grid: GridClient, asked: Namespace) -> "TaskDetail":
    from cigri.endpoints.tasks import task, task_by_id

    campaign_id, number = asked.task
    if campaign_id is None:
        return grid.call(task_by_id, task_id=number)
    return grid.call(task, campaign_id=campaign_id, number=number)


def _job(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.jobs import print_job
    from cigri.endpoints.jobs import job

    if asked.stdout or asked.stderr:
        return _outputs_of(grid, asked.job, asked)
    whole = grid.call(job, job_id=asked.job, asked_itself=True)
    for warning in whole.warnings:
        print_error(warning)
    if asked.json:
        print_json(to_json_value(whole))
    else:
        print_job(whole, asked.headerless)
    return DONE


def _outputs_of(grid: GridClient, job_id: int | None, asked: Namespace, task: "TaskView | None" = None) -> int:
    """Of all tasks of the job, or of one."""
    from cigri.cli.jobs import print_outputs
    from cigri.endpoints.jobs import outputs

    if job_id is None:
        raise NotFound("the task has not been tried, or its campaign is archived: there is no output")
    streams = ["out"] * asked.stdout + ["err"] * asked.stderr
    number = None if task is None else task.number
    return print_outputs(job_id, grid.call(outputs, job_id=job_id, streams=streams, task=number))


def _of(asked: Namespace) -> str:
    return f" of {asked.username}" if asked.username else ""


def _task_name(text: str) -> tuple[int | None, int]:
    campaign, colon, number = text.rpartition(":")
    return (_whole(campaign) if colon else None), _whole(number)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_ID):
        raise ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)
