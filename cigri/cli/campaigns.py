"""What `gridstat` shows of campaigns: a list, a summary, one in full, and errors to fix."""

from collections.abc import Sequence
from datetime import datetime

from cigri.api_models.campaigns import (
    CampaignClusterStatus,
    CampaignClusterView,
    CampaignDetail,
    CampaignView,
    ClusterTestResult,
    ReplicaStatistics,
)
from cigri.api_models.dependencies import BlockedTasks
from cigri.api_models.failures import ErrorView
from cigri.cli.failures import print_kinds
from cigri.cli.resource_use import print_profiles
from cigri.cli.table_printing import print_fields, print_table
from cigri.formats.id_ranges import as_ranges
from cigri.formats.units import localised
from cigri.lifecycle.dependency_gates import sentences
from cigri.presentation.formatting import (
    STATE_LETTERS,
    collecting,
    format_duration,
    format_percent,
    format_rate,
    format_size,
    format_time,
    shortened,
)
from cigri.presentation.gathered_failures import gather_errors
from cigri.presentation.memory_use import memory_use
from cigri.states import CampaignType

# What `gridstat` shows of a test campaign.

TEST_COLUMNS = ("Cluster", "Job", "Test", "Why")

LONGEST_TAIL = 300


def print_cluster_tests(tests: Sequence[ClusterTestResult], headerless: bool) -> None:
    """A line for each cluster, with its verdict."""
    lines = [
        (test.tried.cluster, test.tried.job_id, test.result, shortened(localised(test.why), LONGEST_TAIL))
        for test in tests
    ]
    print_table(TEST_COLUMNS, lines, prose=("Cluster", "Why"), headerless=headerless)


CAMPAIGN_COLUMNS = ("Campaign id", "Name", "User", "Submission time", "S", "Progress", "End")
SUMMARY_COLUMNS = (
    "Campaign id",
    "Name",
    "User",
    "S",
    "Waiting",
    "In jobs",
    "Done",
    "Failed",
    "Cancelled",
    "Tasks/h",
    "End",
)
SHARE_COLUMNS = (
    *("Cluster", "State", "To launch", "Waiting", "Running", "Prologue", "Epilogue"),
    *("Done", "Failures", "Resubmitted", "Tasks/h", "Mean", "Deviation"),
)
ERROR_COLUMNS = ("Event id", "Code", "Campaign", "Cluster", "Job", "Times", "Last", "Message")
MIN_JUDGED_INTERVALS = 5
"""Fewer forecasts of a campaign's end say nothing about how good they are."""
NEXT_STEPS = {
    "TASK_FAILED": "`gridstat -j JOB -E` shows why; `gridevents -f -e EVENT` accepts it, with -r the task runs again",
    "PROLOGUE_FAILED": "correct what the prologue needs, then `gridevents -f -r -e EVENT` runs it again",
    "EPILOGUE_FAILED": "`gridevents -f -e EVENT` lets the campaign end, with -r the epilogue runs again",
    "RESULTS_DOUBTED": "look at some; `gridevents -f -e EVENT` believes them, with -r the tasks are done again",
    "OUTPUTS_LOST": "`gridget` downloads what is left of them; `gridevents -f -e EVENT` accepts it",
    "OUTPUTS_TOO_LARGE": "`gridget` downloads them from their cluster; `gridevents -f -e EVENT` accepts it",
    "AFTER_FAILED": "do what failed again, `gridresume CAMPAIGN --regardless`, or `griddel CAMPAIGN`",
    "SUBMISSION_FAILED": "it is tried again; if what it says is about your description, `griddel CAMPAIGN`, mend it",
    "JOBS_DO_NOTHING": "look at your home there, and at what your shell reads; it heals once a job works",
    "JOBS_CANNOT_START": "ask the site, or ask for less; `gridevents -f -e EVENT` tries the cluster again at once",
    "CLUSTER_SET_ASIDE": "it heals by itself; `gridevents -f -e EVENT` gives the cluster back at once",
}


def print_list(campaigns: Sequence[CampaignView], now: datetime, headerless: bool) -> None:
    """What `gridstat` shows without an ID: a line for each campaign."""
    rows = [
        (c.id, c.name, c.user, format_time(c.submitted_at), letters(c), progress(c), end(c, now, with_date=False))
        for c in campaigns
    ]
    print_table(CAMPAIGN_COLUMNS, rows, prose=("Name",), headerless=headerless)


def print_summary(campaigns: Sequence[CampaignView], now: datetime, headerless: bool) -> None:
    """A line each, and their sum."""
    rows: list[tuple[object, ...]] = [
        (c.id, c.name, c.user, letters(c), *_counts(c), format_rate(c.throughput), end(c, now, with_date=False))
        for c in campaigns
    ]
    sums = [sum(numbers) for numbers in zip(*map(_counts, campaigns), strict=True)]
    speed = sum(c.throughput or 0 for c in campaigns if c.is_open)
    rows.append(("total", f"{len(campaigns)} campaigns", None, None, *sums, format_rate(speed), None))
    print_table(SUMMARY_COLUMNS, rows, prose=("Name",), headerless=headerless)


def print_campaign(whole: CampaignDetail, replicas: ReplicaStatistics | None, now: datetime, headerless: bool) -> None:
    """One campaign; `replicas` None: they were not asked for."""
    c = whole.campaign
    print_fields([*_fields(whole, now), *_more_fields(whole, replicas)])
    print()
    if whole.tests:
        print_cluster_tests(whole.tests, headerless)
    else:
        _print_shares(whole.clusters, headerless)
        print_profiles([share.part for share in whole.clusters], headerless)
    if c.is_open and not c.blocked + c.waiting + c.assigned and c.failed:
        print_fields([("next", f"`gridstat -e {c.id}` shows what failed and how to go on")])
    if whole.failures:
        print_kinds(c, whole.failures)


def _print_shares(shares: Sequence[CampaignClusterStatus], headerless: bool) -> None:
    print_table(SHARE_COLUMNS, [*map(_share, shares)], headerless=headerless)
    for share in shares:
        if share.obstacle.explanation:
            print_fields([(share.part.cluster, localised(share.obstacle.explanation))])


def print_errors(errors: Sequence[ErrorView], headerless: bool) -> None:
    """Each error, tasks that failed alike as one, then what may be done about its kind."""
    rows = [
        (
            as_ranges(error.id for error in alike),
            alike[-1].code,
            alike[-1].campaign_id,
            alike[-1].cluster,
            alike[-1].job_id,
            sum(error.times for error in alike),
            format_time(max(error.last_at for error in alike)),
            " ".join(localised(alike[-1].message).split()),  # the end of it tells most
        )
        for alike in gather_errors(errors)
    ]
    print_table(ERROR_COLUMNS, rows, prose=("Message",), headerless=headerless)
    if not headerless:
        print()
        codes = dict.fromkeys(error.code for error in errors)
        print_fields((code, NEXT_STEPS.get(code, "`gridevents -f -e EVENT` once it is dealt with")) for code in codes)


def letters(campaign: CampaignView) -> str:
    """C R T H, and e when there are errors to fix."""
    is_held = campaign.is_held and campaign.is_open
    return ("H" if is_held else STATE_LETTERS[campaign.state]) + ("e" if campaign.errors else "")


def progress(campaign: CampaignView) -> str:
    """Tasks done of all, and their share where there are tasks: `3/10 (30%)`."""
    share = format_percent(campaign.done, campaign.total)
    return f"{campaign.done}/{campaign.total}" + (f" ({share})" if share else "")


def end(campaign: CampaignView, now: datetime, *, with_date: bool) -> str | None:
    """When it ended or will end; None while nobody knows."""
    if not campaign.is_open:
        return format_time(campaign.ended_at)
    if campaign.uncollected and not campaign.waiting + campaign.assigned:
        return f"once {_to_come(campaign)}" if with_date else None
    if campaign.eta is None or campaign.is_held or not campaign.blocked + campaign.waiting + campaign.assigned:
        return None
    seconds = (campaign.eta - now).total_seconds()
    remaining = f"in {format_duration(seconds)}" if seconds > 0 else "at any moment"
    if not with_date:
        return remaining
    between = f", 90 %: {format_time(campaign.eta_low)} to {format_time(campaign.eta_high)}" if campaign.eta_low else ""
    return f"{format_time(campaign.eta)} ({remaining}{between})"


def _task_duration(c: CampaignView) -> str | None:
    if c.mean is None:
        return None
    spread = f", deviation {format_duration(c.deviation)}" if c.deviation is not None else ""
    return f"{format_duration(c.mean)} on average{spread}"


def _median(c: CampaignView) -> str | None:
    return f"{format_duration(c.median)}, 95 % within {format_duration(c.p95)}" if c.median and c.p95 else None


def _fields(whole: CampaignDetail, now: datetime) -> list[tuple[str, object]]:
    c = whole.campaign
    counts = f"{c.blocked} blocked, " if c.blocked else ""
    counts += f"{c.waiting} waiting, {c.assigned} in jobs, {c.done} done, {c.failed} failed, {c.cancelled} cancelled"
    kind = "" if c.type == "default" else f", {c.type}"
    held = f", held by {c.held_by} since {format_time(c.held_at)}" if c.is_held and c.is_open else ""
    archived = f", archived {format_time(c.archived_at)}" if c.archived_at else ""
    jobs = f"; running jobs: {c.running}" if c.is_open else ""
    speed = format_rate(c.throughput)
    return [
        ("Campaign", c.id),
        ("Name", c.name),
        ("User", c.user),
        ("Project", c.project),
        ("Submitted", format_time(c.submitted_at)),
        ("State", f"{c.state.replace('_', ' ')}{held}{kind}{archived}"),
        ("Priority", _priority(c)),
        ("Progress", progress(c)),
        ("Tasks", counts + jobs),
        *(("AFTER", localised(sentence)) for sentence in sentences(whole.after, BlockedTasks(c.blocked, c.total))),
        ("Duration", _task_duration(c)),
        ("Median", _median(c)),
        ("Throughput", f"{speed} tasks/h" if speed else None),
        ("Memory", memory_use([share.part for share in whole.clusters])),
        ("End", end(c, now, with_date=True)),
        *_failures([share.part for share in whole.clusters]),
        ("Outputs", _outputs(whole)),
        ("Errors", f"{c.errors} to fix: `gridstat -e {c.id}`" if c.errors else None),
    ]


def _outputs(whole: CampaignDetail) -> str | None:
    c, until = whole.campaign, format_time(whole.files_until)
    facts = [collecting(c)] if c.collected + c.uncollected + c.lost else []
    if until and not c.collected:
        facts.append(f"kept until {until}; download with `gridget {c.id}`")
    return "; ".join(facts) or None


def _to_come(c: CampaignView) -> str:
    whose = "1 task" if c.uncollected == 1 else f"{c.uncollected} tasks"
    return f"the outputs of {whose} ({format_size(c.uncollected_bytes)}) have come"


def _priority(c: CampaignView) -> str | None:
    facts = [f"{c.own_priority} among those of {c.user}"] if c.own_priority else []
    facts += [f"{c.priority} among all, by the operator"] if c.priority else []
    return ", ".join(facts) or None


def _more_fields(whole: CampaignDetail, replicas: ReplicaStatistics | None) -> list[tuple[str, object]]:
    """The scheduler that serves it now, the intervals that were forecast of its end, and what became of replicas."""
    spent = None
    if replicas is not None and (replicas.begun or whole.campaign.max_replicas):
        spent = f"{replicas.begun} begun, {replicas.won} won, {replicas.live} live; "
        spent += f"losers have burnt {replicas.burnt:.0f} core-seconds"
    return [
        ("Scheduler", _scheduler(whole.campaign, whole.default_scheduler) if whole.campaign.is_open else None),
        ("Forecasts", _trust(whole)),
        ("Replicas", spent),
    ]


def _trust(whole: CampaignDetail) -> str | None:
    if whole.calibration is None or whole.intervals < MIN_JUDGED_INTERVALS:
        return None
    held = round(whole.calibration * whole.intervals)
    return f"the actual end was inside {held} of {whole.intervals} predicted intervals of 90 %"


def _scheduler(campaign: CampaignView, default: str) -> str:
    """In words where it is not the one that serves all of the campaign."""
    now, usual = campaign.served_by, campaign.scheduler or default
    if campaign.type is CampaignType.TEST or now not in ("test", "finalize"):
        return now
    if now == "test":
        return f"{usual}; until a first task has succeeded, a few are tried on each cluster"
    return f"{usual}, and finalize now that no task waits: it replicates the last ones"


def _failures(parts: Sequence[CampaignClusterView]) -> list[tuple[str, object]]:
    """Shares of all ended attempts."""
    failed, resubmitted = sum(part.failed for part in parts), sum(part.resubmitted for part in parts)
    ended = sum(part.done for part in parts) + failed + resubmitted
    return [
        ("Failure rate", f"{100 * failed / ended:.1f} %" if ended else None),
        ("Resubmit rate", f"{100 * resubmitted / ended:.1f} %" if ended else None),
    ]


def _share(share: CampaignClusterStatus) -> tuple[object, ...]:
    part = share.part
    return (
        part.cluster,
        share.obstacle.state,
        part.to_launch,
        part.waiting,
        part.running,
        part.prologue,
        part.epilogue,
        part.done,
        part.failed,
        part.resubmitted,
        format_rate(part.throughput),
        format_duration(part.mean),
        format_duration(part.deviation),
    )


def _counts(campaign: CampaignView) -> tuple[int, ...]:
    waiting = campaign.blocked + campaign.waiting
    return waiting, campaign.assigned, campaign.done, campaign.failed, campaign.cancelled
