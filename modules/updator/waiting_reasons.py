"""What a batch system says of jobs that wait, by campaign: it is kept, and those that wait in vain go elsewhere."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.flow.clusters import ClusterRow
from cigri.flow.live_jobs import WatchedJob
from cigri.flow.waiting_reasons import StuckJobs, WaitingGroup, move_stuck, put_waiting_groups
from cigri.formats.untrusted_text import escape_line, excerpt
from cigri.runtime.pass_context import PassContext, PassReport
from modules.updator.relisted_jobs import VisitedAccount

LONGEST_REASON = 200  # characters
MOST_GROUPS = 20  # of a campaign: those of most jobs
A_CHANGE = timedelta(minutes=1)
"""By less than this an expected start is the same: batch systems reckon anew each few seconds."""
WAITING_STATES = frozenset({RemoteJobState.WAITING, RemoteJobState.HELD})
Waiting = list[tuple[WatchedJob, RemoteJob]]


def find_waiting(jobs: Sequence[WatchedJob], listed: Sequence[RemoteJob]) -> Waiting:
    """Return those of the watched jobs that wait, and of which something is said."""
    told = {(job.tag, job.index): job for job in listed if job.state in WAITING_STATES and job.reason}
    found = ((job, told.get((job.tag, job.array_index))) for job in jobs)
    return [(job, remote) for job, remote in found if remote is not None]


def group_waiting(waiting: Waiting) -> list[WaitingGroup]:
    """One for each campaign and reason, those that do not pass first."""
    by_reason: dict[tuple[int, str, str, bool], list[RemoteJob]] = defaultdict(list)
    for job, remote in waiting:
        said = _quoted(remote.reason)
        by_reason[job.campaign_id, said, remote.meaning, remote.is_stuck].append(remote)
    of_campaigns: dict[int, dict[str, WaitingGroup]] = defaultdict(dict)
    for (campaign_id, said, meaning, is_stuck), alike in by_reason.items():
        starts = [remote.expected for remote in alike if remote.expected is not None]
        starts_at = datetime.fromtimestamp(min(starts), UTC) if starts else None
        group = WaitingGroup(campaign_id, said, meaning, is_stuck, len(alike), starts_at)
        of_campaigns[campaign_id].setdefault(said, group)
    return [
        group
        for groups in of_campaigns.values()
        for group in sorted(groups.values(), key=lambda one: (not one.is_stuck, -one.jobs, one.said))[:MOST_GROUPS]
    ]


def find_stuck(waiting: Waiting) -> dict[int, StuckJobs]:
    """By campaign the jobs that wait for what does not come by itself, and what is said of the first of them."""
    jobs: dict[int, Waiting] = defaultdict(list)
    for job, remote in waiting:
        if remote.is_stuck and job.kill is None:
            jobs[job.campaign_id].append((job, remote))
    return {
        campaign_id: StuckJobs([job.job_id for job, _ in stuck], _quoted(stuck[0][1].reason), stuck[0][1].meaning)
        for campaign_id, stuck in jobs.items()
    }


def keep(
    tools: PassContext, cluster: ClusterRow, account: VisitedAccount, listed: Sequence[RemoteJob] | None
) -> PassReport:
    """Write down what is said of an account's jobs where that is news, and let those that wait in vain go elsewhere."""
    if listed is None:
        return Counter()
    waiting = find_waiting(account.jobs, listed)
    groups, stuck = group_waiting(waiting), find_stuck(waiting)
    is_news = not _alike(groups, account.waiting)
    if not is_news and not stuck:
        return Counter()
    moved = 0
    with tools.database.begin() as conn:
        if is_news:
            put_waiting_groups(conn, cluster, account.name, groups, account.waiting)
        if stuck:
            moved = move_stuck(conn, cluster, stuck, tools.settings.jobs.moves, is_news=is_news)
    return +Counter({"jobs that cannot start": moved})


def forget(tools: PassContext, cluster: ClusterRow, waiting: Mapping[str, Sequence[WaitingGroup]]) -> None:
    """These accounts have no jobs there any more."""
    if waiting:
        with tools.database.begin() as conn:
            for user, groups in waiting.items():
                put_waiting_groups(conn, cluster, user, [], groups)


def _quoted(reason: str) -> str:
    return escape_line(excerpt(reason, LONGEST_REASON))


def _alike(groups: Sequence[WaitingGroup], before: Sequence[WaitingGroup]) -> bool:
    known = {(one.campaign_id, one.said): one for one in before}
    same = (_is_same(one, known.get((one.campaign_id, one.said))) for one in groups)
    return len(groups) == len(before) and all(same)


def _is_same(one: WaitingGroup, other: WaitingGroup | None) -> bool:
    if other is None or one._replace(starts_at=None) != other._replace(starts_at=None):
        return False
    if one.starts_at is None or other.starts_at is None:
        return one.starts_at is other.starts_at
    return abs(one.starts_at - other.starts_at) < A_CHANGE
