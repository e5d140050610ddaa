"""Submits jobs to launch: one remote command per user; each batch is committed with its tag before it is sent."""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from cigri.drivers import BatchRequest, RemoteJob
from cigri.errors import AnswerUnreadable, SubmissionRefused, TransportError, Unreachable
from cigri.flow.anyone_to_clusters import ClusterRow, grid_key, list_clusters, put_failure
from cigri.flow.campaign_schedulers_to_runner import Launch, PreparedBatch, list_launches, put_batch
from cigri.flow.runner_to_campaign_schedulers import (
    LaunchingBatch,
    list_launching,
    put_back,
    put_back_unlaunched,
)
from cigri.flow.runner_to_metascheduler import count_waiting, put_refusal
from cigri.flow.runner_to_updator import put_submitted
from cigri.jdl import ClusterSettings, Command, Parameter, names_of, script
from cigri.program import Report, Tools, summed
from cigri.remote import Answer, Bundle
from cigri.states import CampaignType, JobKind, Outcome
from cigri.words import Word
from cigri.wrapper import BatchPlan, JobCall, TaskCall, parse_void, void_batch, write_batch

logger = logging.getLogger(__name__)

NOT_WRITTEN = (73, 74)  # exit statuses of write_batch
BATCHES_AT_ONCE = 20  # of one user in a pass, so that one command ends in time


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """Launch on every cluster that may take jobs."""
    with tools.database.begin() as conn:
        clusters = list_clusters(conn, now=now)
        key = grid_key(conn)
        given_back = put_back_unlaunched(conn, tools.settings.jobs, now)
    patience = tools.settings.almighty.patience
    report = summed(tools.gateway.visit(clusters, lambda cluster: _visit(tools, cluster, key, now), patience))
    report["jobs given back"] = given_back
    return +report


class Prepared(NamedTuple):
    """A batch that is committed and not yet sent; `text` writes and submits it."""

    launch: Launch
    batch: PreparedBatch
    request: BatchRequest
    text: str


def _visit(tools: Tools, cluster: ClusterRow, key: str, now: datetime | None) -> Report:
    report: Report = Counter()
    with tools.database.lock(f"cigri.runner.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        with tools.database.begin() as conn:
            unsettled = list_launching(conn, cluster.id)
            room = cluster.config.max_waiting - count_waiting(conn, cluster.id)
            launches = list_launches(conn, cluster.id, max(room, 0), cluster.config.max_array)
        for batch in unsettled:
            if not _reconcile(tools, cluster, key, batch, report, now):
                return report
        by_user: dict[str, list[Launch]] = defaultdict(list)
        for launch in launches if cluster.is_enabled else ():
            by_user[launch.local_user].append(launch)
        for user, mine in by_user.items():
            chosen = [_prepare(tools, cluster, key, launch, now) for launch in mine[:BATCHES_AT_ONCE]]
            prepared = [one for one in chosen if one is not None]
            if prepared and not _submit(tools, cluster, user, prepared, report, now):
                return report
    return report


def _prepare(tools: Tools, cluster: ClusterRow, key: str, launch: Launch, now: datetime | None) -> Prepared | None:
    """Commit the intention; None when the jobs have been taken away meanwhile, or cannot be written down."""
    driver = tools.gateway.driver(cluster)
    with tools.database.begin() as conn:
        batch = put_batch(conn, launch, cluster.id, key, now)
    if batch is None:
        return None
    try:
        plan, request = plan_batch(cluster, tools.gateway.base(cluster, key), key, driver.prelude, launch, batch)
        return Prepared(launch, batch, request, write_batch(plan) + driver.submit(request))
    except ValueError as error:
        _refuse(tools, cluster, launch, batch, f"the batch cannot be written: {error}", now)
        return None


def _submit(
    tools: Tools, cluster: ClusterRow, user: str, prepared: Sequence[Prepared], report: Report, now: datetime | None
) -> bool:
    """Send a user's batches; False when the cluster is better left alone in this pass."""
    bundle = Bundle({str(one.batch.id): one.text for one in prepared})
    try:
        answers = bundle.unpack(tools.gateway.run(cluster, user, bundle.script))
    except Unreachable as error:
        return _unreachable(tools, cluster, prepared, str(error), now)
    except (TransportError, AnswerUnreadable) as error:
        return _leave_unknown(tools, cluster, error, now)
    return all([_settle(tools, cluster, one, answers[str(one.batch.id)], report, now) for one in prepared])


def _settle(
    tools: Tools, cluster: ClusterRow, sent: Prepared, answer: Answer, report: Report, now: datetime | None
) -> bool:
    """What became of one batch; False when nobody knows."""
    try:
        if answer.status in NOT_WRITTEN:
            raise SubmissionRefused(f"the batch could not be written to the cluster: {answer.err.strip()[-500:]}")
        remote_ids = tools.gateway.driver(cluster).parse_submit(answer, sent.request)
    except SubmissionRefused as error:
        _refuse(tools, cluster, sent.launch, sent.batch, str(error), now)
        report["refused batches"] += 1
        return True
    except AnswerUnreadable as error:
        return _leave_unknown(tools, cluster, error, now)
    with tools.database.begin() as conn:
        report["submitted jobs"] += put_submitted(conn, sent.batch.id, remote_ids, now)
    return True


def _leave_unknown(tools: Tools, cluster: ClusterRow, error: Exception, now: datetime | None) -> bool:
    """Whether it was submitted is asked of the cluster by tag, at the next pass."""
    with tools.database.begin() as conn:
        put_failure(conn, cluster, "CLUSTER_UNREACHABLE", str(error), now)
    return False


def plan_batch(
    cluster: ClusterRow, base: str, key: str, prelude: str, launch: Launch, batch: PreparedBatch
) -> tuple[BatchPlan, BatchRequest]:
    """What is written to the cluster and what is asked of its batch system; pure."""
    settings = ClusterSettings.model_validate(launch.settings)
    walltime = launch.jobs[0].walltime
    resources = settings.resources.request()
    lines = {JobKind.PROLOGUE: settings.prologue, JobKind.EPILOGUE: settings.epilogue}.get(launch.kind)
    plan = BatchPlan(
        grid_key=key,
        base=base,
        campaign_id=launch.campaign_id,
        campaign_name=launch.campaign_name,
        batch_id=batch.id,
        cluster=cluster.name,
        user=launch.grid_user,
        directory=Word("", at_home=True),
        environment={},
        resources=_resources_text(settings),
        walltime=walltime,
        prelude=prelude,
        jobs=_calls(launch, settings),
        script=script(lines, campaign_id=launch.campaign_id) if lines is not None else None,
    )
    request = BatchRequest(
        tag=batch.tag,
        size=len(launch.jobs),
        walltime=walltime,
        resources=resources if launch.kind is JobKind.TASKS else type(resources)(),
        besteffort=settings.besteffort and launch.campaign_type is not CampaignType.TEST,
        queue=settings.queue,
        project=settings.project or launch.project,
        properties=settings.properties,
    )
    return plan, request


def _calls(launch: Launch, settings: ClusterSettings) -> list[JobCall]:
    if launch.kind is not JobKind.TASKS:
        return [JobCall(index, job.id, (TaskCall(0, 0, 1, ()),)) for index, job in enumerate(launch.jobs, start=1)]
    first = launch.jobs[0].tasks[0].parameter
    command = Command(settings, names_of(cast(Parameter, first)))  # it was checked when it was submitted
    calls = []
    for index, job in enumerate(launch.jobs, start=1):
        tasks = []
        for task in job.tasks:
            about = {"campaign_id": launch.campaign_id, "number": task.number}
            parameter = cast(Parameter, task.parameter)
            tasks.append(
                TaskCall(
                    task.id,
                    task.number,
                    task.attempt,
                    command.words(parameter, **about),
                    command.environment(parameter, **about),
                    command.directory(parameter, **about),
                )
            )
        calls.append(JobCall(index, job.id, tuple(tasks)))
    return calls


def _resources_text(settings: ClusterSettings) -> str:
    request = settings.resources.request()
    words = [f"/nodes={request.nodes}/core={request.cpu}"]
    words += [f"mem={request.mem}"] if request.mem else []
    return ",".join([*words, *(f"{name}={amount}" for name, amount in request.others.items())])


def _reconcile(
    tools: Tools, cluster: ClusterRow, key: str, batch: LaunchingBatch, report: Report, now: datetime | None
) -> bool:
    """Was it submitted? Ask the queue by tag; if it is not there, make the batch harmless and give its tasks back."""
    driver, base = tools.gateway.driver(cluster), tools.gateway.base(cluster, key)
    jobs = [(batch.tag, index, "") for index in range(1, batch.size + 1)]
    asked = Bundle({"status": driver.status(batch.tag), "history": driver.history(jobs)})
    try:
        answers = asked.unpack(tools.gateway.run(cluster, batch.local_user, asked.script))
        found = driver.parse_status(answers["status"], batch.tag) + driver.parse_history(answers["history"])
        mine = {job.index: job for job in found if job.tag == batch.tag}
        is_void = not mine and parse_void(_run(tools, cluster, batch, void_batch(base, batch.campaign_id, batch.id)))
    except (TransportError, AnswerUnreadable) as error:
        with tools.database.begin() as conn:
            put_failure(conn, cluster, "CLUSTER_UNREACHABLE", f"batch {batch.tag}: {error}", now)
        return False
    with tools.database.begin() as conn:
        if is_void:
            limits = tools.settings.jobs
            reason = "the submission was cut off before it reached the batch system"
            put_back(conn, cluster.id, batch.id, Outcome.WITHDRAWN, reason, limits, now)
            report["batches given back"] += 1
        else:
            put_submitted(conn, batch.id, _remote_ids(mine), now)
            report["adopted batches"] += 1
    return True


def _run(tools: Tools, cluster: ClusterRow, batch: LaunchingBatch, text: str) -> Answer:
    return tools.gateway.run(cluster, batch.local_user, text)


def _remote_ids(found: Mapping[int, RemoteJob]) -> dict[int, str]:
    return {index: job.remote_id for index, job in found.items()}


def _unreachable(
    tools: Tools, cluster: ClusterRow, prepared: Sequence[Prepared], message: str, now: datetime | None
) -> bool:
    """Nothing was sent: is it the cluster that is away (False), or only this user's account?"""
    try:
        tools.gateway.run(cluster, tools.gateway.visitor(cluster), "true")
    except TransportError as error:
        with tools.database.begin() as conn:
            for one in prepared:
                put_back(conn, cluster.id, one.batch.id, Outcome.WITHDRAWN, message, tools.settings.jobs, now)
            put_failure(conn, cluster, "CLUSTER_UNREACHABLE", str(error), now)
        return False
    for one in prepared:
        _refuse(tools, cluster, one.launch, one.batch, message, now)
    return True


def _refuse(
    tools: Tools, cluster: ClusterRow, launch: Launch, batch: PreparedBatch, message: str, now: datetime | None
) -> None:
    with tools.database.begin() as conn:
        put_back(conn, cluster.id, batch.id, Outcome.REFUSED, message, tools.settings.jobs, now)
        put_refusal(conn, launch.campaign_id, cluster.id, cluster.name, message, tools.settings.budget, now)
