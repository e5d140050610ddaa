"""`gridstat`: how campaigns, tasks and jobs stand."""

from argparse import ArgumentTypeError, Namespace
from itertools import chain
from typing import TYPE_CHECKING

from cigri.cli.command import (
    DONE,
    FAILED,
    LONGEST_ID,
    Parser,
    command,
    complain,
    grid_user,
    ids,
    open_database,
    print_json,
)
from cigri.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database
    from cigri.flow.views.jobs import AttemptView, JobView, TaskView
    from cigri.wrapper.directory import Stream
    from cigri.wrapper.job_features import Figures

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
  gridstat -j 12 -E        what job 12 wrote to its standard error

states: R running, P paused, H held, T terminated, C cancelled; e: there are errors to fix"""
SHOWN_TASKS_AT_ONCE = 100


@command
def main(argv: list[str]) -> int:
    asked = _parse(argv)
    with open_database() as database:
        if asked.watch:
            from cigri.cli.watching import watch

            return watch(database, asked.ids, asked.username)
        if asked.job is not None:
            return _job(database, asked)
        with database.snapshot() as conn:
            if asked.why:
                return _why(conn, asked)
            if asked.task is not None:
                return _task(conn, asked)
            if asked.jdl:
                from cigri.cli.description import show_description

                show_description(conn, asked.ids[0])
                return DONE
            if asked.errors:
                return _errors(conn, asked)
            if asked.ids and len(asked.ids) == 1 and not asked.summary:
                return _campaign(conn, asked)
            return _list(conn, asked)


def _parse(argv: list[str]) -> Namespace:
    parser = Parser("gridstat", "Show how campaigns, tasks and jobs stand.", EXAMPLES)
    parser.add_argument("ids", metavar="ID", nargs="*", type=ids, help="campaigns: 3, or 3,5, or 3-7")
    parser.add_argument("-c", "--campaign", metavar="ID", action="append", type=ids, default=[], help="the same")
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
    parser.add_argument("-O", "--stdout", action="store_true", help="with -j: print the job's standard output")
    parser.add_argument("-E", "--stderr", action="store_true", help="with -j: print the job's standard error")
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
        (output and asked.job is None, "-O and -E need -j JOB"),
        (output and (asked.json or asked.headerless), "-O and -E print what the job wrote, as it is"),
        (single and named, "a job or a task is named without its campaign's ID"),
        (asked.all and (named or single or asked.errors or asked.watch), "-a goes with the list and with -s"),
        (asked.username and (asked.full or asked.jdl or single), "-u goes with lists, -s, -e and -w"),
        (asked.watch and (asked.json or asked.headerless), "-w is for people; programs call `gridstat --json`"),
        (asked.headerless and (asked.json or asked.jdl), "JSON has no headers"),
    ]


def _list(conn: "Connection", asked: Namespace) -> int:
    from cigri.cli.campaign_json import plain_list, plain_whole
    from cigri.cli.campaigns import print_list, print_summary
    from cigri.cli.standstill import tell
    from cigri.flow.views.campaigns import list_campaigns, present

    campaigns = list_campaigns(conn, asked.ids, user=asked.username, with_ended=asked.all)
    tell(conn, [campaign.id for campaign in campaigns if campaign.is_open])
    if asked.json:
        print_json(plain_whole(conn, campaigns) if asked.ids else plain_list(campaigns))
    elif campaigns:
        show = print_summary if asked.summary or asked.ids else print_list
        show(campaigns, present(conn), asked.headerless)
    elif not asked.ids:
        kind = "campaign" if asked.all else "open campaign"
        complain(f"no {kind}; `gridsub` submits one" + ("" if asked.all else ", `gridstat -a` lists ended ones"))
    missing = [str(i) for i in asked.ids or () if i not in {campaign.id for campaign in campaigns}]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        complain(f"no campaign {', '.join(missing[:5])}{more}{_of(asked)}; `gridstat -a` lists all")
    return FAILED if missing else DONE


def _campaign(conn: "Connection", asked: Namespace) -> int:
    from cigri import installation
    from cigri.cli.campaign_json import plain_whole
    from cigri.cli.campaigns import more_fields, print_campaign
    from cigri.cli.failures import print_kinds, read_failures, show_failed
    from cigri.cli.jobs import print_tasks
    from cigri.cli.standstill import tell
    from cigri.flow.forecasts import list_told
    from cigri.flow.views.campaigns import list_campaigns, list_parts, present
    from cigri.flow.views.clusters import list_tried
    from cigri.flow.views.replicas import count_replicas
    from cigri.states import CampaignType

    campaign = next(iter(list_campaigns(conn, asked.ids, user=asked.username)), None)
    if campaign is None:
        raise NotFound(f"no campaign {asked.ids[0]}{_of(asked)}; `gridstat -a` lists all")
    tell(conn, [campaign.id] if campaign.is_open else [])
    if asked.failed:
        return show_failed(conn, campaign, as_json=asked.json)
    tasks = _tasks(conn, campaign.id, campaign.total, asked) if asked.full else []
    replicas = count_replicas(conn, campaign.id) if asked.full else None
    if asked.json:
        (answer,) = plain_whole(conn, [campaign])
        full = {"tasks": [task._asdict() for task in tasks]}
        print_json([answer | (full | {"replicas": replicas._asdict()} if replicas else {})])
        return DONE
    parts, told, now = list_parts(conn, asked.ids), list_told(conn, asked.ids), present(conn)
    failures = read_failures(conn, campaign)
    tried = list_tried(conn, campaign.id) if campaign.type is CampaignType.TEST else []
    default = installation.default_scheduler()
    print_campaign(campaign, parts, more_fields(campaign, default, told, replicas), now, asked.headerless, tried)
    if failures:
        print_kinds(failures, campaign.failed)
    if tasks:
        print()
        print_tasks(tasks, asked.headerless)
    return DONE


def _why(conn: "Connection", asked: Namespace) -> int:
    from cigri.cli.reasons import Asked, plain_reasons, print_reasons
    from cigri.cli.standstill import nothing_runs, tell
    from cigri.flow.cuts import list_cuts
    from cigri.flow.quarantines import list_quarantines
    from cigri.flow.views.campaigns import list_campaigns, list_parts, present
    from cigri.flow.views.descriptions import is_chosen_by_grid
    from cigri.flow.views.eligibility import list_whys
    from cigri.flow.views.pulse import find_pulse

    campaign_id, bucket_id = _why_of(conn, asked) if asked.task else (asked.ids[0], None)
    campaign = next(iter(list_campaigns(conn, [campaign_id], user=asked.username)), None)
    if campaign is None:
        raise NotFound(f"no campaign {campaign_id}{_of(asked)}; `gridstat -a` lists all")
    parts, cuts = list_parts(conn, [campaign_id]), list_cuts(conn, campaign_id)
    queues, is_anywhere = list_whys(conn, campaign_id, bucket_id), is_chosen_by_grid(conn, campaign_id)
    tell(conn, [campaign_id] if campaign.is_open else [])
    lasting = nothing_runs(find_pulse(conn)), list_quarantines(conn, [campaign_id])
    found = Asked(campaign, parts, cuts, queues, present(conn), is_anywhere, *lasting)
    if asked.json:
        print_json(plain_reasons(found))
    else:
        print_reasons(found, asked.headerless)
    return DONE


def _why_of(conn: "Connection", asked: Namespace) -> tuple[int, int]:
    """Campaign and bucket of a task."""
    from cigri.flow.views.eligibility import find_bucket

    found = find_bucket(conn, *asked.task)
    if found is None:
        raise NotFound("no such task, or its campaign is archived; `gridstat -f CAMPAIGN` lists tasks")
    if found.state != "waiting":
        complain(f"the task does not wait: it is {found.state}")
    return found.campaign_id, found.bucket_id


def _tasks(conn: "Connection", campaign_id: int, total: int, asked: Namespace) -> "list[TaskView]":
    """In order where an offset is given or all have room; else those launched last."""
    from cigri.flow.views.jobs import list_latest_tasks, list_tasks

    number = {None: SHOWN_TASKS_AT_ONCE, 0: total}.get(asked.number, asked.number)
    if asked.offset is None and total > number:
        latest = list_latest_tasks(conn, campaign_id, number)
        return latest or list_tasks(conn, campaign_id, 0, number)
    return list_tasks(conn, campaign_id, asked.offset or 0, number)


def _errors(conn: "Connection", asked: Namespace) -> int:
    from cigri.cli.campaigns import print_errors
    from cigri.flow.views.campaigns import list_campaigns, list_errors

    if asked.ids and not list_campaigns(conn, asked.ids):
        raise NotFound(f"no campaign {', '.join(map(str, asked.ids))}; `gridstat -a` lists all")
    errors = list_errors(conn, asked.ids, user=asked.username)
    if asked.json:
        print_json([error._asdict() for error in errors])
    elif errors:
        print_errors(errors, asked.headerless)
    else:
        complain("no error to fix")
    return DONE


def _job(database: "Database", asked: Namespace) -> int:
    from cigri.cli.figures import fields_of
    from cigri.cli.jobs import given, print_job
    from cigri.flow.views.jobs import find_job, list_attempts_of_job
    from cigri.states import JobState
    from cigri.text.exit_codes import explain

    with database.snapshot() as conn:
        job = find_job(conn, asked.job)
        attempts = list_attempts_of_job(conn, asked.job)
    if job is None:
        raise NotFound(f"no job {asked.job}; `gridstat -f CAMPAIGN` lists jobs, those of archived campaigns are gone")
    if asked.stdout or asked.stderr:
        return _outputs(database, job, attempts, asked)
    figures = _figures(database, job) if job.state is JobState.RUNNING else None
    if asked.json:
        more = {"figures": figures._asdict() if figures else None, "given": given(job, attempts)}
        means = {"exit_code_means": explain(job.exit_code)}
        print_json({**job._asdict(), "attempts": [attempt._asdict() for attempt in attempts], **means, **more})
    else:
        print_job(job, attempts, fields_of(figures) if figures else [], asked.headerless)
    return DONE


def _figures(database: "Database", job: "JobView") -> "Figures | None":
    """None when the job has ended meanwhile."""
    from cigri.cli.figures import figures_of
    from cigri.flow.clusters import find_cluster
    from cigri.flow.home import grid_key
    from cigri.flow.views.campaigns import present
    from cigri.flow.views.running_jobs import list_running

    with database.snapshot() as conn:
        cluster, key, now = find_cluster(conn, job.cluster), grid_key(conn), present(conn)
        running = next(iter(list_running(conn, job_id=job.id)), None)
    assert cluster is not None  # the job's row refers to it
    return figures_of(running, cluster, key, grid_user(), now) if running else None


def _outputs(database: "Database", job: "JobView", attempts: "list[AttemptView]", asked: Namespace) -> int:
    from cigri.cli.outputs import print_outputs, require_owner
    from cigri.flow.clusters import find_cluster
    from cigri.flow.home import grid_key

    require_owner(job, grid_user())
    with database.snapshot() as conn:
        cluster, key = find_cluster(conn, job.cluster), grid_key(conn)
    assert cluster is not None  # the job's row refers to it
    both: tuple[tuple[Stream, bool], ...] = (("out", asked.stdout), ("err", asked.stderr))
    streams = [stream for stream, is_wanted in both if is_wanted]
    return print_outputs(cluster, key, job, attempts, streams)


def _task(conn: "Connection", asked: Namespace) -> int:
    from cigri.cli.jobs import print_task
    from cigri.flow.views.jobs import find_task, list_attempts_of_task, list_tasks

    campaign_id, number = asked.task
    task = (
        find_task(conn, number) if campaign_id is None else next(iter(list_tasks(conn, campaign_id, number, 1)), None)
    )
    if task is None or (campaign_id is not None and task.number != number):
        raise NotFound("no such task; `gridstat -f CAMPAIGN` lists tasks")
    attempts = list_attempts_of_task(conn, task.id) if task.id is not None else []
    if asked.json:
        print_json({**task._asdict(), "attempt_list": [attempt._asdict() for attempt in attempts]})
    else:
        print_task(task, attempts, asked.headerless)
    return DONE


def _of(asked: Namespace) -> str:
    return f" of {asked.username}" if asked.username else ""


def _task_name(text: str) -> tuple[int | None, int]:
    campaign, colon, number = text.rpartition(":")
    return (_whole(campaign) if colon else None), _whole(number)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_ID):
        raise ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)
