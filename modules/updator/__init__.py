"""Looks at every cluster: how full it is, where our jobs are, what ended and how; one remote command per user there."""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection

from cigri.database import server_time
from cigri.errors import DatabaseUnavailable, TransportError, UnreadableOutput, is_login_refused
from cigri.flow.cluster_states import count_ours
from cigri.flow.cluster_visits import list_refused, put_account_failure, put_account_success, put_failure, put_success
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.discovered_nodes import list_undiscovered
from cigri.flow.ends import EndedAttempt, put_ended
from cigri.flow.error_budgets import heal_idle_deaths, put_idle_deaths, update_error_budgets
from cigri.flow.events import put_events
from cigri.flow.grid_identity import grid_key
from cigri.flow.input_transfers import recheck_inputs
from cigri.flow.live_jobs import WatchedJob, list_watched, mark_missing, move_seen
from cigri.flow.relisted_jobs import list_accounts_with_listed_again
from cigri.flow.views.live_attempts import LiveAttempt, list_attempts, list_attempts_at
from cigri.flow.waiting_reasons import list_waiting_groups
from cigri.gateway.requests import ClusterResponses, ReadStreamTail
from cigri.lifecycle.verdicts import FAULT_OF_TASK
from cigri.runtime.failure_isolation import described, isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport, combine_reports
from cigri.states import JobKind
from cigri.wrapper import OutboxReceipt
from modules.updator.account_observation import AccountObservation, AccountRequests, journal_key, questions, read
from modules.updator.cluster_condition import note, questions_about
from modules.updator.discovery import discover
from modules.updator.doubtful_results import detect_doubtful_results
from modules.updator.end_events import count_failures, events
from modules.updator.idle_deaths import IdleDeaths, find_idle_deaths
from modules.updator.job_conclusions import (
    ArrayElement,
    JobChanges,
    VisitEnds,
    VisitObservation,
    decide_ends,
    detect_changes,
)
from modules.updator.outbox_receipts import next_receipt
from modules.updator.relisted_jobs import VisitedAccount, find_relisted
from modules.updator.unaccounted_jobs import report_unaccounted_jobs, revoke_unstarted
from modules.updator.unstarted_jobs import note_starts, report_unstarted_jobs
from modules.updator.waiting_reasons import forget, keep

logger = logging.getLogger(__name__)

LARGEST_TAILS = 20  # failed tasks per visit whose standard error is fetched


def run_once(tools: PassContext) -> PassReport:
    """Visit every cluster whose turn it is."""
    with tools.database.begin() as conn:
        due = list_clusters(conn, "updator", due_only=True)
        key = grid_key(conn)
        fresh = list_undiscovered(conn, tools.settings.resources.discovery) if due else set()
        relisted = list_accounts_with_listed_again(conn) if due else set()

    def visit(cluster: ClusterRow) -> PassReport:
        here = [account for cluster_id, account in relisted if cluster_id == cluster.id]
        return _visit(tools, cluster, key, here, discovers=cluster.id in fresh)

    return combine_reports(
        tools.gateway.visit(due, isolated_visit(tools, "updator", visit), tools.settings.almighty.patience)
    )


def _visit(
    tools: PassContext, cluster: ClusterRow, key: str, relisted: Sequence[str], *, discovers: bool
) -> PassReport:
    with tools.database.lock(f"cigri.updator.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        return _look(tools, cluster, key, relisted, discovers=discovers)


def _look(tools: PassContext, cluster: ClusterRow, key: str, relisted: Sequence[str], *, discovers: bool) -> PassReport:
    """The visitor first: when even that account does not get in, the others are not tried."""
    with tools.database.read() as conn:
        watched = list_watched(conn, cluster.id, cluster.config.lost_after)
        refused = list_refused(conn, cluster)
        waiting = list_waiting_groups(conn, cluster.id)
        asked_at = server_time(conn)
    accounts = {name: VisitedAccount(name, [], True, waiting.get(name, ())) for name in relisted}
    for job in watched:
        of_job = VisitedAccount(job.local_user, [], waiting=waiting.get(job.local_user, ()))
        accounts.setdefault(job.local_user, of_job).jobs.append(job)
    forget(tools, cluster, {user: groups for user, groups in waiting.items() if user not in accounts})
    name = tools.gateway.monitoring_account(cluster)
    visitor = accounts.pop(name, VisitedAccount(name, []))
    report: PassReport = Counter()
    of_cluster = questions_about(cluster)
    of_jobs = _questions(tools, cluster, key, visitor) if visitor.has_jobs else None
    try:
        wanted = [*of_cluster.orders(), *(of_jobs.orders() if of_jobs else [])]
        answers = tools.gateway.request_all(cluster, name, wanted)
    except (TransportError, UnreadableOutput) as error:
        with tools.database.begin() as conn:
            put_failure(conn, cluster, "CLUSTER_UNREACHABLE", str(error), is_login_refused=is_login_refused(error))
        return report
    took = tools.gateway.took.get((cluster.name, name), 0.0)
    problems = note(tools, cluster, of_cluster, answers, asked_at, took, watched)
    if of_jobs:
        problems += _take_in(tools, cluster, key, visitor, of_jobs, answers, report)

    def ask(user: str) -> PassReport:
        return _ask_user(tools, cluster, key, accounts[user])

    asked = [user for user in accounts if refused.get(user, True)]
    for of_user in tools.gateway.run_concurrently(cluster, asked, ask, doubtful=refused).in_time:
        report.update(of_user)
    has_changed = report["moved jobs"] or report["missing jobs"] or report["ended jobs"]
    if has_changed or tools.gateway.had_left_behind(cluster):
        with tools.database.begin() as conn:
            count_ours(conn, cluster.id)
    if problems or cluster.has_troubles:
        with tools.database.begin() as conn:
            if problems:
                put_failure(conn, cluster, "CLUSTER_ANSWER", "; ".join(problems))
            else:
                put_success(conn, cluster)
                put_account_success(conn, cluster, name)
    if discovers and not problems:
        report.update(discover(tools, cluster))
    return report


def _ask_user(tools: PassContext, cluster: ClusterRow, key: str, account: VisitedAccount) -> PassReport:
    """What the jobs of one user do; an account that hangs or is refused is no fault of the cluster.

    A connection that was lost is no fault of the account.
    """
    report: PassReport = Counter()
    is_refused = False
    try:
        asked = _questions(tools, cluster, key, account)
        answers = tools.gateway.request_all(cluster, account.name, asked.orders())
        problems = _take_in(tools, cluster, key, account, asked, answers, report)
    except (TransportError, UnreadableOutput) as error:
        if isinstance(error, TransportError) and error.is_front_end:
            with tools.database.begin() as conn:
                put_failure(conn, cluster, "CLUSTER_UNREACHABLE", str(error))
            return report
        problems, is_refused = [str(error)], is_login_refused(error)
    except DatabaseUnavailable:
        raise
    except Exception as error:  # a fault of ours that what this account answers brings out: the others' jobs go on
        logger.exception("Cluster %s: what account %s answers cannot be dealt with", cluster.name, account.name)
        problems = [f"CiGri fails on what it answers: {described(error)}"]
    if problems or cluster.has_troubles:
        with tools.database.begin() as conn:
            if problems:
                put_account_failure(conn, cluster, account.name, "; ".join(problems), is_login_refused=is_refused)
            else:
                put_account_success(conn, cluster, account.name)
    return report


def _questions(tools: PassContext, cluster: ClusterRow, key: str, account: VisitedAccount) -> AccountRequests:
    """What is stored of the outbox is told with them; unless there is an answer, the next visit asks for less."""
    place = (cluster.id, account.name)
    receipt = tools.gateway.settled.get(place, OutboxReceipt())
    tools.gateway.settled[place] = receipt.after_silence()
    return questions(key, account.jobs, receipt)


def _take_in(
    tools: PassContext,
    cluster: ClusterRow,
    key: str,
    account: VisitedAccount,
    asked: AccountRequests,
    answers: ClusterResponses,
    report: PassReport,
) -> list[str]:
    """Settle what one user's answer tells, and give what made no sense; the collected files go at the next visit."""
    user, jobs = account.name, account.jobs
    with tools.database.read() as conn:
        time = server_time(conn)
        glimpse = read(asked, answers, jobs, time)
        attempts = _attempts_of(conn, jobs, glimpse)
        tasks = {job_id: of_job[0].live for job_id, of_job in attempts.items()}
        sight = _sight(glimpse)
        findings = detect_changes(jobs, tasks, sight, time, cluster.config)
    findings = revoke_unstarted(tools, cluster, key, user, findings, sight)
    with tools.database.read() as conn:
        gone = [end.job.job_id for end in findings.ended if end.state is not None]
        attempts |= _grouped(list_attempts(conn, gone)) if gone else {}
    ends = decide_ends(findings, attempts, glimpse.records, tools.settings.jobs, glimpse.journals)
    tails = _tails(tools, cluster, key, user, jobs, ends)
    first_of = {job_id: of_job[0] for job_id, of_job in attempts.items() if of_job}
    troubled = {job.campaign_id for job in jobs if job.job_id in first_of and first_of[job.job_id].is_troubled}
    idle = find_idle_deaths(ends, findings.begun, glimpse.records, glimpse.journals)
    fresh = _settle(tools, cluster, jobs, findings, ends, tails, troubled, idle)
    report.update(detect_doubtful_results(tools, cluster, fresh))
    report.update(find_relisted(tools, cluster, account, glimpse.listed, findings))
    report.update(keep(tools, cluster, account, glimpse.listed))
    place = (cluster.id, user)
    before = tools.gateway.settled.get(place, OutboxReceipt())
    tools.gateway.settled[place] = next_receipt(tools, before, glimpse.collected.lines, jobs, findings)
    report.update(
        {"ended jobs": len(ends.jobs), "moved jobs": len(findings.seen), "missing jobs": len(findings.missing)}
    )
    return glimpse.problems


def _sight(glimpse: AccountObservation) -> VisitObservation:
    listed = None if glimpse.listed is None else {ArrayElement(job.tag, job.index): job for job in glimpse.listed}
    history = {ArrayElement(job.tag, job.index): job for job in glimpse.history}
    return VisitObservation(listed, history, glimpse.records, glimpse.journals)


def _attempts_of(
    conn: Connection, jobs: Sequence[WatchedJob], glimpse: AccountObservation
) -> dict[int, list[LiveAttempt]]:
    """The live attempts that have records; a record that is not of a live attempt is thrown away."""
    places = [(job_id, position) for job_id, records in glimpse.records.items() for position in records]
    attempts = _grouped(list_attempts_at(conn, places))
    kinds = {job.job_id: job.kind for job in jobs}
    for job_id, records in glimpse.records.items():
        if kinds[job_id] is not JobKind.TASKS:
            continue
        expected = {attempt.position: (attempt.task_id, attempt.number) for attempt in attempts.get(job_id, ())}
        for position, record in list(records.items()):
            if expected.get(position) != (record.task_id, record.attempt):
                if position in expected:
                    logger.warning("Job %s: %s is of no live attempt", job_id, record)
                del records[position]
    return attempts


def _grouped(attempts: Sequence[LiveAttempt]) -> dict[int, list[LiveAttempt]]:
    groups: dict[int, list[LiveAttempt]] = defaultdict(list)
    for attempt in attempts:
        groups[attempt.job_id].append(attempt)
    return dict(groups)


def _settle(
    tools: PassContext,
    cluster: ClusterRow,
    jobs: Sequence[WatchedJob],
    findings: JobChanges,
    ends: VisitEnds,
    tails: Mapping[tuple[int, int], str],
    troubled: Collection[int],
    idle: IdleDeaths,
) -> list[EndedAttempt]:
    """Give the attempts whose ends are news; of campaigns that are not `troubled` there a success heals nothing."""
    has_ends = bool(ends.attempts or ends.jobs)
    has_starts = bool(findings.begun or findings.unstarted)
    if not (has_ends or has_starts or findings.seen or findings.missing or findings.unaccounted):
        return []
    with tools.database.begin() as conn:
        note_starts(conn, findings)
        if healed := idle.working & {*troubled, *(job.campaign_id for job in findings.begun)}:
            heal_idle_deaths(conn, cluster.id, cluster.name, healed)
        report_unaccounted_jobs(conn, cluster, jobs, findings)
        if findings.seen:
            move_seen(conn, findings.seen)
        if findings.missing:
            mark_missing(conn, findings.missing)
        if not has_ends:
            report_unstarted_jobs(conn, cluster, jobs, findings)
            return []
        fresh = put_ended(conn, cluster.id, ends.attempts, ends.jobs)
        if fresh:
            recheck_inputs(conn, cluster.id, ends.without_inputs)
        report_unstarted_jobs(conn, cluster, jobs, findings)
        reasons = {job.job_id: job.reason for job in ends.jobs}
        put_events(conn, events(cluster, fresh, ends, reasons, tails))
        tried = {id: trial for id, trial in count_failures(fresh, tails).items() if trial.failures or id in troubled}
        update_error_budgets(conn, cluster.id, cluster.name, tried, tools.settings.budget)
        put_idle_deaths(conn, cluster.id, cluster.name, idle.examples)
    return fresh


def _tails(
    tools: PassContext, cluster: ClusterRow, key: str, user: str, jobs: Sequence[WatchedJob], ends: VisitEnds
) -> dict[tuple[int, int], str]:
    """The end of standard error of some tasks that failed, in one more remote command; "" where it cannot be had."""
    failed = [(attempt.job_id, attempt.position) for attempt in ends.attempts if attempt.outcome in FAULT_OF_TASK]
    failed += [(job.job_id, 1) for job in ends.jobs if job.kind is not JobKind.TASKS and job.outcome in FAULT_OF_TASK]
    size = tools.settings.jobs.stderr_tail
    watched = {job.job_id: journal_key(job) for job in jobs}
    tails = {
        (job_id, position): ReadStreamTail(key, watched[job_id], position, "err", size)
        for job_id, position in (failed[:LARGEST_TAILS] if size else ())
    }
    if not tails:
        return {}
    try:
        answers = tools.gateway.request_all(cluster, user, list(tails.values()))
        return {place: (answers.of(tail) or "").strip() for place, tail in tails.items()}
    except (TransportError, UnreadableOutput) as error:
        logger.warning("Cluster %s: the standard error of failed jobs could not be read: %s", cluster.name, error)
        return {}
