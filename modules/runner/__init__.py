"""Submits jobs to launch: one remote command per user; each batch is committed with its tag before it is sent."""

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from cigri.errors import (
    ArrayTooLarge,
    ClusterUnreachable,
    DatabaseUnavailable,
    QueueFull,
    SubmissionFailed,
    SubmissionRefused,
    TransportError,
    UnreadableOutput,
    is_login_refused,
)
from cigri.flow.batches import PreparedBatch, put_batch, put_submitted
from cigri.flow.cluster_visits import list_refused, put_account_failure, put_array_limit, put_failure
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.error_budgets import heal_submissions, put_failed_submission, put_refusal
from cigri.flow.excluded_nodes import list_all_excluded, list_excluded_nodes
from cigri.flow.front_end_stress import list_front_end_paces
from cigri.flow.grid_identity import grid_key
from cigri.flow.launches import LaunchGroup, list_busy, list_launches
from cigri.flow.queue_limits import AccountRoom, list_account_rooms, put_full, put_taken
from cigri.flow.served_features import ServedFeatures, put_served_features
from cigri.flow.views.occupancy import count_waiting
from cigri.flow.views.operating_hours import list_closed_by_hours
from cigri.flow.withdrawals import LaunchingBatch, list_launching, put_back_unlaunched, return_tasks
from cigri.gateway.requests import (
    ClusterRequest,
    ClusterResponses,
    ProbeBatchSystem,
    PurgeCampaign,
    SubmitBatch,
    VoidBatch,
)
from cigri.identity.feature_addresses import FeatureAddress, new_feature_address
from cigri.runtime.failure_isolation import described, isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport, combine_reports
from cigri.settings.job_types import hours_of
from cigri.states import Outcome
from cigri.wrapper import BatchSpec
from cigri.wrapper.feature_values import list_known_features
from modules.runner.batch_spec import plan_batch
from modules.runner.checkpoint_intervals import with_rhythms
from modules.runner.fallback_mapping import mapped
from modules.runner.queue_questions import find_remote_ids, questions_of
from modules.runner.queue_room import fit

logger = logging.getLogger(__name__)

BATCHES_AT_ONCE = 20  # of one user in a pass, so that one command ends in time


def run_once(tools: PassContext) -> PassReport:
    """Launch on every cluster that has something to launch, and settle what is left of earlier passes."""
    with tools.database.begin() as conn:
        clusters = list_clusters(conn, "runner")
        key = grid_key(conn)
        shut = list_closed_by_hours(conn, tools.settings.hours)
        given_back = put_back_unlaunched(conn, tools.settings.jobs, shut)
        busy = list_busy(conn)
        paces, excluded = list_front_end_paces(conn), list_all_excluded(conn)
    clusters = [cluster for cluster in clusters if cluster.id in busy]
    outsets = {id: LaunchContext(unclear, paces.get(id, 1.0), excluded.get(id, [])) for id, unclear in busy.items()}
    patience = tools.settings.almighty.patience
    visit = isolated_visit(tools, "runner", partial(_visit, tools, key, outsets))
    report = combine_reports(tools.gateway.visit(clusters, visit, patience))
    report["jobs given back"] = given_back
    return +report


class LaunchContext(NamedTuple):
    """Of a cluster, when the pass begins; `is_unclear`: there are batches that nobody knows to be submitted or not.

    `pace`: the part of the usual that its front-end may be asked for, from 0 to 1.
    """

    is_unclear: bool
    pace: float
    excluded: list[str]


class UserLaunches(NamedTuple):
    """What is to be done for one user of a cluster; nothing shall run on the nodes that are `excluded`.

    `most`: batches that may be sent now; `room`: what of the account has room in the queue, where that has a limit.
    """

    unsettled: list[LaunchingBatch]
    launches: list[LaunchGroup]
    excluded: list[str]
    most: int
    room: AccountRoom | None = None


class UnsentBatch(NamedTuple):
    """A batch that is committed and not yet sent; nothing of it shall run on the nodes that are `excluded`."""

    launch: LaunchGroup
    batch: PreparedBatch
    submission: ClusterRequest[dict[int, str]]
    excluded: Sequence[str]


class FailedBatch(NamedTuple):
    """A batch whose submission failed, in these words."""

    sent: UnsentBatch
    error: SubmissionFailed


def _visit(tools: PassContext, key: str, outsets: Mapping[int, LaunchContext], cluster: ClusterRow) -> PassReport:
    """Serve each user; once the cluster itself is found away, the users not yet served are left for another pass."""
    report: PassReport = Counter()
    outset = outsets[cluster.id]
    with tools.database.lock(f"cigri.runner.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        tools.gateway.check(cluster)  # no driver for its configuration is the whole cluster's trouble, no account's
        with tools.database.read() as conn:
            unsettled = list_launching(conn, cluster.id) if outset.is_unclear else []
            refused = list_refused(conn, cluster)
            room = max(1, int(outset.pace * cluster.config.max_waiting)) - count_waiting(conn, cluster.id)
            max_array = max(1, int(outset.pace * cluster.config.max_array))
            launches = with_rhythms(conn, cluster.id, list_launches(conn, cluster.id, max(room, 0), max_array))
            rooms = list_account_rooms(conn, cluster.id)
        most = max(1, int(outset.pace * BATCHES_AT_ONCE))
        work: dict[str, UserLaunches] = defaultdict(lambda: UserLaunches([], [], outset.excluded, most))
        for batch in unsettled:
            work[batch.local_user].unsettled.append(batch)
        for launch in launches if cluster.is_enabled else ():
            work[launch.local_user].launches.append(launch)
        for user in [user for user in work if not refused.get(user, True)]:
            del work[user]
        away = threading.Event()

        def serve(user: str) -> PassReport:
            own = work[user]._replace(room=rooms.get(user))
            return Counter() if away.is_set() else _serve(tools, cluster, key, user, own, away)

        # one that hangs goes on without this lock: who finds its batch unsettled asks the cluster, and voids it there
        for of_user in tools.gateway.run_concurrently(cluster, work, serve, doubtful=refused).in_time:
            report.update(of_user)
    return report


def _serve(
    tools: PassContext, cluster: ClusterRow, key: str, user: str, work: UserLaunches, away: threading.Event
) -> PassReport:
    """Settle what is unknown of a user's batches, then send new ones."""
    report: PassReport = Counter()
    prepared: list[UnsentBatch] = []
    try:
        for batch in work.unsettled:
            _reconcile(tools, cluster, key, batch, report)
        launches = fit(work.launches[: work.most], work.room)
        chosen = [_prepare(tools, cluster, key, launch, work.excluded) for launch in launches]
        prepared = [committed for committed in chosen if committed is not None]
        if prepared:
            answers = tools.gateway.request_all(cluster, user, [unsent.submission for unsent in prepared])
            sent, prepared = prepared, []  # whatever fails from now on, they are not put back
            _settle_all(tools, cluster, key, user, sent, answers, report)
    except (TransportError, UnreadableOutput) as error:
        is_away = _blame(tools, cluster, user, error)
        if is_away:
            away.set()
        if isinstance(error, ClusterUnreachable):
            _put_back(tools, cluster, prepared, is_away, str(error))
    except DatabaseUnavailable:
        raise
    except Exception as error:  # the jobs of others go on; what became of these batches is asked at the next pass
        logger.exception("Cluster %s: account %s cannot be served", cluster.name, user)
        with tools.database.begin() as conn:
            put_account_failure(conn, cluster, user, f"CiGri fails on what it answers: {described(error)}")
    return report


def _blame(tools: PassContext, cluster: ClusterRow, user: str, error: TransportError | UnreadableOutput) -> bool:
    """Is it the cluster that is away (True), or does only this user's account give no sense?"""
    is_away = (isinstance(error, TransportError) and error.is_front_end) or _is_away(tools, cluster)
    with tools.database.begin() as conn:
        if is_away:
            put_failure(conn, cluster, "CLUSTER_UNREACHABLE", str(error), is_login_refused=is_login_refused(error))
        else:
            put_account_failure(conn, cluster, user, str(error), is_login_refused=is_login_refused(error))
    return is_away


def _is_away(tools: PassContext, cluster: ClusterRow) -> bool:
    """Whether the visitor is not answered either; where it is, nobody else pays for what one account brings about."""
    try:
        tools.gateway.request(cluster, tools.gateway.monitoring_account(cluster), ProbeBatchSystem())
    except (TransportError, UnreadableOutput):
        return True
    return False


def _prepare(
    tools: PassContext, cluster: ClusterRow, key: str, launch: LaunchGroup, excluded: Sequence[str]
) -> UnsentBatch | None:
    """Commit the intention; None when the jobs have been taken away meanwhile, or cannot be written down."""
    with tools.database.begin() as conn:
        batch = put_batch(conn, launch, cluster.id, key, notice=cluster.config.features.grace_secs_job)
    if batch is None:
        return None
    try:
        hours = hours_of(cluster.config, tools.settings.hours)
        portal = cluster.config.features.address
        address = new_feature_address(portal, batch.id) if portal else None
        plan, request = plan_batch(cluster, key, launch, batch, hours, excluded, address.url if address else "")
        if address:
            _serve_features(tools, plan, address)
        if stand_in := cluster.config.stand_in:
            request = mapped(request, stand_in.pools)
        return UnsentBatch(launch, batch, tools.gateway.prepare(cluster, SubmitBatch(plan, request)), request.exclude)
    except DatabaseUnavailable:
        raise
    except ValueError as error:
        _refuse(tools, cluster, launch, batch, f"the batch cannot be written: {error}")
    except Exception as error:  # a fault of ours, or of a driver's, that this campaign's description brings out
        logger.exception("Campaign %s on %s: its batch cannot be planned", launch.campaign_id, cluster.name)
        _refuse(tools, cluster, launch, batch, f"CiGri fails to plan the batch: {described(error)}")
    return None


def _serve_features(tools: PassContext, plan: BatchSpec, address: FeatureAddress) -> None:
    """Committed before the jobs are submitted, which find the address in their environment."""
    known = list_known_features(plan.features, plan.walltime, plan.jobs[0].side)
    with tools.database.begin() as conn:
        put_served_features(conn, plan.batch_id, ServedFeatures(address.sha256, known.machine, known.job))


def _settle_all(
    tools: PassContext,
    cluster: ClusterRow,
    key: str,
    user: str,
    batches: Sequence[UnsentBatch],
    answers: ClusterResponses,
    report: PassReport,
) -> None:
    """Settle a user's batches, which went in one command; of those that failed the queue is asked at once.

    Whether one of no clear answer was submitted is asked at the next pass.
    """
    unclear: list[UnreadableOutput] = []
    failed: list[FailedBatch] = []
    too_many: dict[int, QueueFull] = {}
    submitted = set()
    for sent in batches:
        try:
            if _settle(tools, cluster, sent, answers, report):
                submitted.add(sent.launch.campaign_id)
        except QueueFull as error:
            too_many.setdefault(len(sent.launch.jobs), error)
        except SubmissionFailed as error:
            failed.append(FailedBatch(sent, error))
        except UnreadableOutput as error:
            unclear.append(error)
    if submitted:
        with tools.database.begin() as conn:
            heal_submissions(conn, cluster.id, cluster.name, submitted)
            put_taken(conn, cluster, user)
    try:
        if failed:
            too_many |= _ask_of_failed(tools, cluster, key, user, failed, report)
    finally:
        if too_many:
            with tools.database.begin() as conn:
                put_full(conn, cluster, user, min(too_many), too_many[min(too_many)])
    if unclear:
        raise unclear[0]


def _settle(
    tools: PassContext, cluster: ClusterRow, sent: UnsentBatch, answers: ClusterResponses, report: PassReport
) -> bool:
    """Settle what became of one batch, and say whether it was submitted; raise UnreadableOutput when nobody knows."""
    try:
        remote_ids = answers.of(sent.submission)
    except ArrayTooLarge as error:
        with tools.database.begin() as conn:
            return_tasks(conn, cluster.id, sent.batch.id, Outcome.WITHDRAWN, str(error), tools.settings.jobs)
            put_array_limit(conn, cluster, error.largest, str(error))
        report["batches too large"] += 1
        return False
    except QueueFull as error:  # nobody is to blame; what is less may be taken
        with tools.database.begin() as conn:
            return_tasks(conn, cluster.id, sent.batch.id, Outcome.WITHDRAWN, str(error), tools.settings.jobs)
        report["batches with no room"] += 1
        raise
    except SubmissionRefused as error:
        left_out = _left_out(tools, cluster, sent.excluded)
        _refuse(tools, cluster, sent.launch, sent.batch, f"{error}{left_out}")
        report["refused batches"] += 1
        return False
    with tools.database.begin() as conn:
        report["submitted jobs"] += put_submitted(conn, sent.batch.id, remote_ids)
    return True


def _ask_of_failed(
    tools: PassContext, cluster: ClusterRow, key: str, user: str, failed: Sequence[FailedBatch], report: PassReport
) -> dict[int, QueueFull]:
    """Adopt what the queue has; what it has not is void, and its campaign's failed try there, whoever answered so.

    Nobody failed where a queue is full: give the sizes of the batches that it had no room for.

    Raise UnreadableOutput or TransportError where the queue says nothing: then these words were no refusal, and what
    became of the batches is asked at the next pass.
    """
    asked = [questions_of(sent.batch.tag, len(sent.launch.jobs)) for sent, _ in failed]
    answers = tools.gateway.request_all(cluster, user, [order for pair in asked for order in pair])
    absent = []
    for (sent, error), pair in zip(failed, asked, strict=True):
        if remote_ids := find_remote_ids(answers, pair, sent.batch.tag):
            with tools.database.begin() as conn:
                put_submitted(conn, sent.batch.id, remote_ids)
            report["adopted batches"] += 1
        else:
            absent.append((sent, error, VoidBatch(key, sent.launch.campaign_id, sent.batch.id)))
    too_many: dict[int, QueueFull] = {}
    if not absent:
        return too_many
    voided = tools.gateway.request_all(cluster, user, [order for *_, order in absent])
    gone: list[ClusterRequest[None]] = []
    for sent, error, order in absent:
        if not voided.of(order):
            with tools.database.begin() as conn:
                put_submitted(conn, sent.batch.id, {})
            report["adopted batches"] += 1
            continue
        campaign_id = sent.launch.campaign_id
        message = f"{error}{_left_out(tools, cluster, sent.excluded)}"
        with tools.database.begin() as conn:
            outcome = Outcome.WITHDRAWN if error.full else Outcome.REFUSED
            return_tasks(conn, cluster.id, sent.batch.id, outcome, message, tools.settings.jobs)
            if not error.full:
                put_failed_submission(conn, campaign_id, cluster.id, cluster.name, message, tools.settings.budget)
        if error.full:
            too_many.setdefault(len(sent.launch.jobs), error.full)
        report["batches with no room" if error.full else "failed submissions"] += 1
        gone.append(PurgeCampaign(key, campaign_id, [sent.batch.id]))  # its writer has ended: none is late
    if gone:
        tools.gateway.request_all(cluster, user, gone)
    return too_many


def _left_out(tools: PassContext, cluster: ClusterRow, nodes: Sequence[str]) -> str:
    """Why the batch was not to run on these nodes: perhaps it was refused for no other reason."""
    if not nodes:
        return ""
    with tools.database.read() as conn:
        drained = {node.node for node in list_excluded_nodes(conn, cluster.name) if node.is_drained}
    words = [f"{node}, which {'drains' if node in drained else 'is sick'}" for node in nodes]
    return f" (left out: {'; '.join(words)})"


def _reconcile(tools: PassContext, cluster: ClusterRow, key: str, batch: LaunchingBatch, report: PassReport) -> None:
    """Was it submitted? Ask the queue by tag; if it is not there, make the batch harmless and give its tasks back."""
    asked = questions_of(batch.tag, batch.size)
    answers = tools.gateway.request_all(cluster, batch.local_user, list(asked))
    remote_ids = find_remote_ids(answers, asked, batch.tag)
    if remote_ids or not _is_void(tools, cluster, key, batch):
        with tools.database.begin() as conn:
            put_submitted(conn, batch.id, remote_ids)
        report["adopted batches"] += 1
        return
    reason = "the submission was cut off before it reached the batch system"
    with tools.database.begin() as conn:
        return_tasks(conn, cluster.id, batch.id, Outcome.WITHDRAWN, reason, tools.settings.jobs)
    report["batches given back"] += 1


def _is_void(tools: PassContext, cluster: ClusterRow, key: str, batch: LaunchingBatch) -> bool:
    return tools.gateway.request(cluster, batch.local_user, VoidBatch(key, batch.campaign_id, batch.id))


def _put_back(
    tools: PassContext, cluster: ClusterRow, unsent: Sequence[UnsentBatch], is_away: bool, message: str
) -> None:
    """Nothing was sent: of a cluster that is away the tasks go elsewhere; an account that is closed refuses them."""
    for prepared in unsent:
        if is_away:
            with tools.database.begin() as conn:
                return_tasks(conn, cluster.id, prepared.batch.id, Outcome.WITHDRAWN, message, tools.settings.jobs)
        else:
            _refuse(tools, cluster, prepared.launch, prepared.batch, message)


def _refuse(tools: PassContext, cluster: ClusterRow, launch: LaunchGroup, batch: PreparedBatch, message: str) -> None:
    with tools.database.begin() as conn:
        return_tasks(conn, cluster.id, batch.id, Outcome.REFUSED, message, tools.settings.jobs)
        put_refusal(conn, launch.campaign_id, cluster.id, cluster.name, message, tools.settings.budget)
