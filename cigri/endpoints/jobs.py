"""Jobs: anybody sees how they stand; what they wrote is their owner's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.api_models.jobs import JobDetail, JobStreamTails, JobView, StreamTailView
from cigri.api_models.tasks import AttemptView
from cigri.endpoints import Access, DeferredResponse, cluster_read_endpoint
from cigri.errors import CigriError, ConfigError, NotFound, TransportError, UnreadableOutput, UsageError
from cigri.formats.units import as_instant
from cigri.identity.callers import Caller
from cigri.resources.bucket_amounts import formulas_of
from cigri.states import JobKind, JobState

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.gateway.contract import ClusterGateway
    from cigri.wrapper.batch_operations import StreamName

LONGEST_OUTPUT = 1_000_000  # bytes of the end of an output
STREAMS: "dict[str, StreamName]" = {"out": "out", "err": "err"}
SHAPE = ("cpu", "nodes")


@cluster_read_endpoint("/jobs/{job_id}", Access.EVERYBODY_IN_PART, JobDetail)
def job(
    conn: "Connection", caller: Caller, *, job_id: int, asked_itself: bool = False
) -> "JobDetail | DeferredResponse[JobDetail]":
    """One job; `asked_itself`: with the figures that it gives of its own while it runs, if it is yours."""
    from cigri.database import server_time
    from cigri.flow.clusters import find_cluster
    from cigri.flow.grid_identity import grid_key
    from cigri.flow.views.input_versions import list_inputs_found
    from cigri.flow.views.jobs import list_attempts_of_job
    from cigri.flow.views.running_jobs import list_running
    from cigri.presentation.exit_codes import explain
    from cigri.wrapper.termination_cost import assess, parse_status

    found, attempts = _find(conn, job_id), list_attempts_of_job(conn, job_id)
    is_own = caller.sees(found.user)
    shown = attempts if is_own else [attempt._replace(parameter=None) for attempt in attempts]
    inputs = list_inputs_found(conn, found.campaign_id, attempts) if is_own else []
    whole = JobDetail(found, explain(found.exit_code), _given(found, attempts), None, shown, inputs, [])
    running = next(iter(list_running(conn, job_id=job_id)), None) if found.state is JobState.RUNNING else None
    if running is None:
        return whole
    cluster, key, now = find_cluster(conn, found.cluster), grid_key(conn), server_time(conn).timestamp()
    assert cluster is not None  # the job's row refers to it

    def ask(gateway: "ClusterGateway") -> JobDetail:
        from cigri.gateway.requests import ReadJobStatus

        try:
            values = gateway.request(cluster, running.local_user, ReadJobStatus(key, [running.key]))[running.key]
        except (TransportError, UnreadableOutput, ConfigError) as error:
            return judged({}, f"job {job_id} could not be asked: {error}")
        return judged(values)

    def judged(values: dict[str, str], *warnings: str) -> JobDetail:
        status, ignored = parse_status(values, running.job.cores)
        doubts = [f"job {job_id}: ignored {problem}" for problem in ignored]
        return whole._replace(figures=assess(running.job, status, now), warnings=[*warnings, *doubts])

    return DeferredResponse(found.cluster, ask) if asked_itself and is_own else judged({})


@cluster_read_endpoint("/jobs/{job_id}/outputs", Access.OWNER, JobStreamTails)
def outputs(
    conn: "Connection", caller: Caller, *, job_id: int, streams: list[str], task: int | None = None
) -> "JobStreamTails | DeferredResponse[JobStreamTails]":
    """The end of what a job of yours wrote: `out`, `err` or both, of each of its tasks, or of one."""
    from cigri.flow.clusters import find_cluster
    from cigri.flow.grid_identity import grid_key
    from cigri.flow.views.jobs import list_attempts_of_job
    from cigri.gateway.requests import ReadStreamTail
    from cigri.wrapper import JobKey

    if not streams or not STREAMS.keys() >= set(streams):
        raise UsageError(f"streams: {', '.join(streams) or 'none'}; there are out and err", "streams")
    found = _find(conn, job_id)
    if not caller.sees(found.user):
        raise NotFound(f"job {job_id} belongs to {found.user}: only {found.user} and operators may read its output")
    attempts = [one for one in list_attempts_of_job(conn, job_id) if task in (None, one.task_number)]
    places = _places(found, attempts, [STREAMS[stream] for stream in streams])
    why_missing, account = _why_missing(found), found.local_user
    if found.batch_id is None or found.array_index is None or account is None:
        raise NotFound(why_missing)
    cluster, key = find_cluster(conn, found.cluster), grid_key(conn)
    assert cluster is not None  # the job's row refers to it
    where = JobKey(found.campaign_id, found.batch_id, found.array_index)
    tails = {
        title: ReadStreamTail(key, where, position, stream, LONGEST_OUTPUT)
        for title, (position, stream) in places.items()
    }

    def bring(gateway: "ClusterGateway") -> JobStreamTails:
        answers = gateway.request_all(cluster, account, list(tails.values()))
        texts = {title: answers.of(tail) for title, tail in tails.items()}
        if all(text is None for text in texts.values()):
            raise NotFound(why_missing)
        return JobStreamTails([_output(title, text) for title, text in texts.items()], why_missing)

    return DeferredResponse(found.cluster, bring)


def _find(conn: "Connection", job_id: int) -> JobView:
    from cigri.flow.views.jobs import find_job

    found = find_job(conn, job_id)
    if found is None:
        raise NotFound(f"no job {job_id}; `gridstat -f CAMPAIGN` lists jobs, those of archived campaigns are gone")
    return found


def _given(found: JobView, attempts: Sequence[AttemptView]) -> dict[str, int]:
    """What a job of tasks asks for beside its cores, exactly: MB of mem and tmp, others by number."""
    resources = found.resources or {}
    amounts = {
        name: amount for name, amount in resources.items() if type(amount) is int and amount and name not in SHAPE
    }
    if formulas := formulas_of({"resources": resources}):
        from cigri.jdl.task_amounts import exact_together  # takes a moment

        amounts |= exact_together(formulas, [(attempt.parameter, attempt.task_number) for attempt in attempts])
    side = max(1, found.width // (resources.get("cpu", 1) * resources.get("nodes", 1)))
    return {name: amount * side for name, amount in amounts.items()}


def _places(
    found: JobView, attempts: Sequence[AttemptView], streams: "Sequence[StreamName]"
) -> "dict[str, tuple[int, StreamName]]":
    """By its title for a person: the place of each output in the job."""
    if found.kind is not JobKind.TASKS:
        return {f"{found.kind} std{stream}": (1, stream) for stream in streams}
    if not attempts:
        raise CigriError(f"job {found.id} carries no task")
    return {
        f"task {attempt.task_number}, attempt {attempt.number}, std{stream}": (attempt.position, stream)
        for attempt in attempts
        for stream in streams
    }


def _output(title: str, text: str | None) -> StreamTailView:
    return StreamTailView(title, text, is_cut=text is not None and len(text.encode()) >= LONGEST_OUTPUT)


def _why_missing(found: JobView) -> str:
    if found.batch_id is None or (found.state is JobState.ENDED and found.submitted_at is None):
        return f"job {found.id} has not been submitted: there is no output"
    if found.state is not JobState.ENDED:
        return f"job {found.id} is {found.state}: its output is not there yet; try again once it runs"
    if found.purged_at is not None:
        purged = as_instant(found.purged_at)
        return f"the files of campaign {found.campaign_id} were removed from the clusters on {purged}"
    return (
        f"there is no output of job {found.id} on {found.cluster}: its task never started there, or the file was "
        "removed, or replaced by something that is no plain file"
    )
