"""What `gridstat` shows of campaigns: a list, a summary, one in full, and errors to fix."""

from collections.abc import Sequence
from datetime import datetime

from cigri.cli.failures import gather_errors
from cigri.cli.obstacles import Obstacle, obstacle
from cigri.cli.tables import print_fields, print_table
from cigri.cli.tried import print_tried
from cigri.cli.wording import STATE_LETTERS, duration, moment, percent, rate
from cigri.estimates.calibration import ToldInterval, calibration
from cigri.flow.views.campaigns import CampaignView, ErrorView, PartView
from cigri.flow.views.clusters import TriedCluster
from cigri.flow.views.replicas import ReplicasView
from cigri.rules.scheduler_in_use import serving
from cigri.states import CampaignState, CampaignType
from cigri.text.alike_failures import as_ranges
from cigri.text.units import HOUR

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
    "Jobs/h",
    "End",
)
SHARE_COLUMNS = (
    *("Cluster", "State", "To launch", "Waiting", "Running", "Prologue", "Epilogue"),
    *("Done", "Failed", "Resubmitted", "Jobs/h", "Mean", "Deviation"),
)
ERROR_COLUMNS = ("Event id", "Code", "Campaign", "Cluster", "Job", "Times", "Last", "Message")
NEXT_STEPS = {
    "TASK_FAILED": "`gridstat -j JOB -E` shows why; `gridevents -f -e EVENT` accepts it, with -r the task runs again",
    "PROLOGUE_FAILED": "correct what the prologue needs, then `gridevents -f -r -e EVENT` runs it again",
    "EPILOGUE_FAILED": "`gridevents -f -e EVENT` lets the campaign end, with -r the epilogue runs again",
    "RESULTS_DOUBTED": "look at some; `gridevents -f -e EVENT` believes them, with -r the tasks are done again",
    "CLUSTER_SET_ASIDE": "it heals by itself; `gridevents -f -e EVENT` gives the cluster back at once",
}


def print_list(campaigns: Sequence[CampaignView], now: datetime, headerless: bool) -> None:
    rows = [
        (c.id, c.name, c.user, moment(c.submitted_at), letters(c), progress(c), end(c, now, with_date=False))
        for c in campaigns
    ]
    print_table(CAMPAIGN_COLUMNS, rows, prose=("Name",), headerless=headerless)


def print_summary(campaigns: Sequence[CampaignView], now: datetime, headerless: bool) -> None:
    """A line each, and their sum."""
    rows: list[tuple[object, ...]] = [
        (c.id, c.name, c.user, letters(c), *_counts(c), rate(true_throughput(c)), end(c, now, with_date=False))
        for c in campaigns
    ]
    sums = [sum(numbers) for numbers in zip(*map(_counts, campaigns), strict=True)]
    speed = sum(c.throughput or 0 for c in campaigns if c.is_open)
    rows.append(("total", f"{len(campaigns)} campaigns", None, None, *sums, rate(speed), None))
    print_table(SUMMARY_COLUMNS, rows, prose=("Name",), headerless=headerless)


def print_campaign(
    campaign: CampaignView,
    parts: Sequence[PartView],
    more: Sequence[tuple[str, object]],
    now: datetime,
    headerless: bool,
    tried: Sequence[TriedCluster] = (),
) -> None:
    """`more`: fields that are not part of the view; `tried`: what a test is there to show."""
    c = campaign
    print_fields([*_fields(campaign, parts, now), *more])
    print()
    if tried:
        print_tried(campaign, parts, tried, now, headerless)
    else:
        _print_parts(campaign, parts, now, headerless)
    if c.is_open and not c.waiting + c.assigned and c.failed:
        print_fields([("next", f"`gridstat -e {c.id}` shows what failed and how to go on")])


def _print_parts(campaign: CampaignView, parts: Sequence[PartView], now: datetime, headerless: bool) -> None:
    standings = [obstacle(campaign, part, now) for part in parts]
    lines = [_part(campaign, part, found) for part, found in zip(parts, standings, strict=True)]
    print_table(SHARE_COLUMNS, lines, headerless=headerless)
    for part, found in zip(parts, standings, strict=True):
        if found.explanation:
            print_fields([(part.cluster, found.explanation)])


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
            moment(max(error.last_at for error in alike)),
            " ".join(alike[-1].message.split()),  # the end of it tells most
        )
        for alike in gather_errors(errors)
    ]
    print_table(ERROR_COLUMNS, rows, prose=("Message",), headerless=headerless)
    if not headerless:
        print()
        codes = dict.fromkeys(error.code for error in errors)
        print_fields((code, NEXT_STEPS.get(code, "`gridevents -f -e EVENT` once it is dealt with")) for code in codes)


def letters(campaign: CampaignView) -> str:
    """C R T P H, and e when there are errors to fix."""
    is_held = campaign.is_held and campaign.state is CampaignState.IN_TREATMENT
    return ("H" if is_held else STATE_LETTERS[campaign.state]) + ("e" if campaign.errors else "")


def progress(campaign: CampaignView) -> str:
    share = percent(campaign.done, campaign.total)
    return f"{campaign.done}/{campaign.total}" + (f" ({share})" if share else "")


def end(campaign: CampaignView, now: datetime, *, with_date: bool) -> str | None:
    """When it ended or will end; None while nobody knows."""
    if not campaign.is_open:
        return moment(campaign.ended_at)
    is_going_on = campaign.state is CampaignState.IN_TREATMENT and not campaign.is_held
    if campaign.eta is None or not is_going_on or not campaign.waiting + campaign.assigned:
        return None
    seconds = (campaign.eta - now).total_seconds()
    left = f"in {duration(seconds)}" if seconds > 0 else "at any moment"
    if not with_date:
        return left
    between = f", 90 %: {moment(campaign.eta_low)} to {moment(campaign.eta_high)}" if campaign.eta_low else ""
    return f"{moment(campaign.eta)} ({left}{between})"


def _task_duration(c: CampaignView) -> str | None:
    if c.mean is None:
        return None
    spread = f", deviation {duration(c.deviation)}" if c.deviation is not None else ""
    return f"{duration(c.mean)} on average{spread}"


def _median(c: CampaignView) -> str | None:
    return f"{duration(c.median)}, 95 % within {duration(c.p95)}" if c.median and c.p95 else None


def _fields(c: CampaignView, parts: Sequence[PartView], now: datetime) -> list[tuple[str, object]]:
    running = sum(part.running for part in parts)
    counts = f"{c.waiting} waiting, {c.assigned} in jobs, {c.done} done, {c.failed} failed, {c.cancelled} cancelled"
    kind = "" if c.type == "default" else f", {c.type}"
    held = ", held" if c.is_held and c.is_open else ""
    archived = f", archived {moment(c.archived_at)}" if c.archived_at else ""
    jobs = f"; running jobs: {running}" if c.is_open else ""
    speed = rate(true_throughput(c))
    return [
        ("Campaign", c.id),
        ("Name", c.name),
        ("User", c.user),
        ("Project", c.project),
        ("Submitted", moment(c.submitted_at)),
        ("State", f"{c.state.replace('_', ' ')}{held}{kind}{archived}"),
        ("Priority", _priority(c)),
        ("Progress", progress(c)),
        ("Tasks", counts + jobs),
        ("Duration", _task_duration(c)),
        ("Median", _median(c)),
        ("Throughput", f"{speed} jobs/h" if speed else None),
        ("End", end(c, now, with_date=True)),
        *_failures(parts),
        ("Errors", f"{c.errors} to fix: `gridstat -e {c.id}`" if c.errors else None),
    ]


def _priority(c: CampaignView) -> str | None:
    facts = [f"{c.own_priority} among those of {c.user}"] if c.own_priority else []
    facts += [f"{c.priority} among all, by the operator"] if c.priority else []
    return ", ".join(facts) or None


def more_fields(
    campaign: CampaignView, default: str, told: Sequence[ToldInterval], replicas: ReplicasView | None
) -> list[tuple[str, object]]:
    """The scheduler that serves it now, the intervals that were forecast of its end, and what became of replicas."""
    share = calibration(told)
    trust = None if share is None else f"{100 * share:.0f} % of {len(told)} intervals told beforehand held the end"
    spent = None
    if replicas is not None and (replicas.begun or campaign.max_replicas):
        spent = f"{replicas.begun} begun, {replicas.won} won, {replicas.live} live; "
        spent += f"losers have burnt {replicas.burnt:.0f} core-seconds"
    return [
        ("Scheduler", _scheduler(campaign, default) if campaign.is_open else None),
        ("Forecasts", trust),
        ("Replicas", spent),
    ]


def _scheduler(campaign: CampaignView, default: str) -> str:
    """In words where it is not the one that serves all of the campaign."""
    now, usual = served_by(campaign, default), campaign.scheduler or default
    if campaign.type is CampaignType.TEST or now not in ("test", "finalize"):
        return now
    if now == "test":
        return f"{usual}; until a first task has succeeded, a few are tried on each cluster"
    return f"{usual}, and finalize now that no task waits: it replicates the last ones"


def served_by(campaign: CampaignView, default: str) -> str:
    """The campaign scheduler of now; `default` is that of the grid."""
    c = campaign
    marks = {"has_done": c.done > 0, "has_waiting": c.waiting > 0, "is_replicated": c.max_replicas is not None}
    return serving(c.type, c.scheduler, default, **marks)


def _failures(parts: Sequence[PartView]) -> list[tuple[str, object]]:
    """Shares of all ended attempts."""
    failed, resubmitted = sum(part.failed for part in parts), sum(part.resubmitted for part in parts)
    ended = sum(part.done for part in parts) + failed + resubmitted
    return [
        ("Failure rate", f"{100 * failed / ended:.1f} %" if ended else None),
        ("Resubmit rate", f"{100 * resubmitted / ended:.1f} %" if ended else None),
    ]


def _part(campaign: CampaignView, part: PartView, found: Obstacle) -> tuple[object, ...]:
    return (
        part.cluster,
        found.state,
        part.to_launch,
        part.waiting,
        part.running,
        part.prologue,
        part.epilogue,
        part.done,
        part.failed,
        part.resubmitted,
        rate(share_throughput(campaign, part)),
        duration(part.mean),
        duration(part.deviation),
    )


def _counts(campaign: CampaignView) -> tuple[int, ...]:
    return campaign.waiting, campaign.assigned, campaign.done, campaign.failed, campaign.cancelled


def true_throughput(campaign: CampaignView) -> float | None:
    """Tasks per hour: of an ended campaign those of its whole life, of another one those of late."""
    return campaign.throughput if campaign.ended_at is None else _over_life(campaign, campaign.done)


def share_throughput(campaign: CampaignView, part: PartView) -> float | None:
    """The same of its share of a cluster, so that both can be compared."""
    return part.throughput if campaign.ended_at is None else _over_life(campaign, part.done)


def _over_life(campaign: CampaignView, done: int) -> float | None:
    assert campaign.ended_at is not None
    seconds = (campaign.ended_at - campaign.submitted_at).total_seconds()
    return done * HOUR / seconds if seconds > 0 else None
