"""What a batch is: the files written to the cluster, and the request to its batch system."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from cigri.drivers import BatchRequest, ResourceRequest
from cigri.estimates.checkpoint_interval import CheckpointInterval
from cigri.estimates.start_dates import StartDate
from cigri.flow.batches import PreparedBatch
from cigri.flow.clusters import ClusterRow
from cigri.flow.launches import LaunchGroup
from cigri.formats.units import MEGABYTE
from cigri.jdl import ClusterSettings, CommandTemplate, Parameter, names_of, script, step_directory
from cigri.jdl.checkpoint import SIGNALS
from cigri.requirements import read_condition
from cigri.settings.cluster_config import MachineJobFeatures
from cigri.settings.job_types import is_besteffort
from cigri.settings.operating_hours import OperatingHours
from cigri.states import CampaignType, JobKind
from cigri.wrapper import BatchSpec, CheckpointSignal, JobSpec, TaskSpec
from cigri.wrapper.feature_settings import MACHINE_KEYS, OWN_KEYS, FeatureSpec
from cigri.wrapper.input_cache import CachedFile
from cigri.wrapper.manifest import digest


def plan_batch(
    cluster: ClusterRow,
    key: str,
    launch: LaunchGroup,
    batch: PreparedBatch,
    hours: OperatingHours | None = None,
    exclude: Sequence[str] = (),
    address: str = "",
) -> tuple[BatchSpec, BatchRequest]:
    """What is written to the cluster and what is asked of its batch system; pure.

    `address`: below which the portal tells its jobs their features; "": it does not.
    """
    settings = ClusterSettings.model_validate(launch.settings)
    walltime = launch.jobs[0].walltime
    each, side = ResourceRequest(), 1
    if launch.kind is JobKind.TASKS:
        each = settings.resources.request(launch.amounts)
        side = launch.jobs[0].width // each.width
    resources = replace(each, cpu=each.cpu * side, mem=each.mem * side, tmp=each.tmp * side)
    lines = {JobKind.PROLOGUE: settings.prologue, JobKind.EPILOGUE: settings.epilogue}.get(launch.kind)
    plan = BatchSpec(
        grid_key=key,
        campaign_id=launch.campaign_id,
        campaign_name=launch.campaign_name,
        batch_id=batch.id,
        cluster=cluster.name,
        user=launch.grid_user,
        directory=step_directory(settings, campaign_id=launch.campaign_id),
        environment={},
        resources=_resources_text(each),
        walltime=walltime,
        jobs=_calls(launch, settings, side, batch.campaign_from),
        script=script(lines, campaign_id=launch.campaign_id) if lines is not None else None,
        checkpoint=_signalling(settings, launch.rhythm) if launch.kind is JobKind.TASKS else None,
        features=_features(cluster.config.features, resources, launch.estimate, address),
        amounts=_amounts(each),
        keep_tmp=settings.keep_tmp and launch.kind is JobKind.TASKS,
        collects_always=settings.collect.when == "end",
        sharing=settings.outputs_mode.sharing if settings.outputs_mode else None,
        inputs=_inputs(settings) if launch.kind is JobKind.TASKS else {},
        replaced={name: [CachedFile(*old) for old in had] for name, had in launch.replaced.items()},
    )
    destination = batch.destination
    request = BatchRequest(
        tag=batch.tag,
        size=len(launch.jobs),
        walltime=walltime,
        resources=resources,
        besteffort=is_besteffort(settings.type, hours, batch.created_at, walltime),
        queue=destination.queue or settings.queue,
        project=settings.project or launch.project,
        properties=settings.properties,
        types=settings.types if launch.kind is JobKind.TASKS else (),
        exclude=tuple(exclude),
        backend=settings.backend,
        requirement=read_condition(destination.condition) if destination.condition else None,
        due=_due(launch, batch.created_at),
    )
    return plan, request


def _due(launch: LaunchGroup, now: datetime) -> StartDate | None:
    """When its tasks should start: now where nobody knows when the campaign ends.

    None for what goes before all others: tests, and prologues and epilogues, which all tasks wait for.
    """
    is_first = launch.kind is not JobKind.TASKS or launch.campaign_type is CampaignType.TEST
    return None if is_first else StartDate(launch.start_by or now, now)


def _features(
    declared: MachineJobFeatures, resources: ResourceRequest, estimate: float | None, address: str
) -> FeatureSpec:
    """What the wrapper tells the jobs of what was asked for, and of what the operator knows."""
    values = declared.model_dump(include=set(MACHINE_KEYS | OWN_KEYS), exclude_none=True)
    return FeatureSpec(
        cpu=resources.cpu,
        nodes=resources.nodes,
        mem=resources.mem,
        estimate=None if estimate is None else math.ceil(estimate),
        grace=declared.grace_secs_job,
        scratch=resources.tmp * MEGABYTE or declared.scratch_limit_bytes,
        declared={key: str(value) for key, value in values.items()},
        with_draft=declared.draft,
        factor=declared.cpufactor_lrms,
        readers=declared.readers,
        address=address,
    )


def _inputs(settings: ClusterSettings) -> dict[str, CachedFile]:
    return {needed.to: CachedFile(needed.sha256, needed.packed) for needed in settings.inputs}


def _signalling(settings: ClusterSettings, rhythm: CheckpointInterval | None) -> CheckpointSignal | None:
    if settings.checkpoint is None:
        return None
    signal, period = settings.checkpoint.signal, settings.checkpoint.period
    if period is None and rhythm is not None:
        period = rhythm.period
    return CheckpointSignal(
        signal, SIGNALS[signal], settings.checkpoint.before_walltime, None if period == "never" else period
    )


def _calls(launch: LaunchGroup, settings: ClusterSettings, side: int, campaign_from: datetime | None) -> list[JobSpec]:
    if launch.kind is not JobKind.TASKS:
        return [JobSpec(index, job.id, (TaskSpec(0, 0, 1, ()),)) for index, job in enumerate(launch.jobs, start=1)]
    first = launch.jobs[0].tasks[0].parameter
    command = CommandTemplate(settings, names_of(cast(Parameter, first)))  # it was checked when it was submitted
    calls = []
    for index, job in enumerate(launch.jobs, start=1):
        tasks = []
        for task in job.tasks:
            numbers = {"campaign_id": launch.campaign_id, "number": task.number}
            parameter = cast(Parameter, task.parameter)
            tasks.append(
                TaskSpec(
                    task.id,
                    task.number,
                    task.attempt,
                    command.words(parameter, **numbers),
                    command.environment(parameter, **numbers),
                    command.directory(parameter, **numbers),
                    task.continues,
                    command.outputs(parameter, **numbers),
                    dict(
                        zip(
                            command.own_inputs(parameter, **numbers),
                            map(CachedFile, launch.inputs.get(task.number, ())),
                            strict=True,
                        )
                    ),
                )
            )
        carried = [(task.id, task.number, task.parameter) for task in job.tasks]
        mark = digest(campaign_from, carried) if campaign_from else ""
        calls.append(JobSpec(index, job.id, tuple(tasks), max(task.priority for task in job.tasks), side, mark))
    return calls


def _amounts(request: ResourceRequest) -> dict[str, int]:
    """What a task is given: cores on each node and so on; MB of mem and tmp only if they were asked for."""
    amounts = {"nodes": request.nodes, "cpu": request.cpu, "mem": request.mem, "tmp": request.tmp, **request.others}
    return {name: amount for name, amount in amounts.items() if amount}


def _resources_text(request: ResourceRequest) -> str:
    if request.native:
        return " or ".join(request.native)
    words = [f"{name}={amount}" for name, amount in _amounts(request).items() if name not in ("nodes", "cpu")]
    return ",".join([f"/nodes={request.nodes}/core={request.cpu}", *words])
