"""Jobs that shall stand still or go on: which control says so, and what is told of the answer."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from cigri.drivers import JobControl
from cigri.errors import UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.suspensions import MANY_CONTROLS, DueSuspension
from cigri.gateway.requests import ClusterResponses, ControlJobs
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel, JobState

CONTROLS: Mapping[tuple[JobState, bool], JobControl] = {
    (JobState.SUBMITTED, True): JobControl.HOLD,
    (JobState.SUBMITTED, False): JobControl.RELEASE,
    (JobState.RUNNING, True): JobControl.SUSPEND,
    (JobState.RUNNING, False): JobControl.RESUME,
}
CONTROLS_IN_TURN = (JobControl.HOLD, JobControl.SUSPEND, JobControl.RESUME, JobControl.RELEASE)
"""Jobs that wait are held before others are suspended: they would start on the cores of these."""
DONE = {
    JobControl.HOLD: "held",
    JobControl.RELEASE: "released",
    JobControl.SUSPEND: "suspended",
    JobControl.RESUME: "resumed",
}
CONSEQUENCE = {
    JobControl.HOLD: "they start when their turn comes",
    JobControl.SUSPEND: "they run on",
    JobControl.RELEASE: "they stand still; it is tried again",
    JobControl.RESUME: "they stand still, perhaps until their cores are free; it is tried again",
}


def steerable(controls: frozenset[JobControl]) -> list[JobState]:
    """The states in which a batch system can let jobs stand still and go on."""
    return [
        state
        for state in (JobState.SUBMITTED, JobState.RUNNING)
        if {CONTROLS[state, True], CONTROLS[state, False]} <= controls
    ]


def group_by_control(orders: Sequence[DueSuspension]) -> dict[JobControl, list[DueSuspension]]:
    """The orders by what the batch system is to do, in the order in which it has to be told."""
    orders_of: dict[JobControl, list[DueSuspension]] = defaultdict(list)
    for order in orders:
        orders_of[CONTROLS[order.state, order.is_wanted]].append(order)
    return {control: orders_of[control] for control in CONTROLS_IN_TURN if control in orders_of}


def tell_result(
    tools: PassContext,
    cluster: ClusterRow,
    steered: ControlJobs,
    orders: Sequence[DueSuspension],
    answers: ClusterResponses,
) -> PassReport:
    """One event per campaign while the batch system refuses, or takes the request and does nothing."""
    verb = steered.verb
    by_campaign: dict[int, list[DueSuspension]] = defaultdict(list)
    for order in orders:
        by_campaign[order.campaign_id].append(order)
    try:
        answers.of(steered)
    except UnreadableOutput as error:
        events = [_event(cluster, verb, id, refused, str(error)) for id, refused in by_campaign.items()]
        with tools.database.begin() as conn:
            put_events(conn, events)
        return Counter()
    stubborn = {id: [order for order in sent if order.tries >= MANY_CONTROLS] for id, sent in by_campaign.items()}
    why = f"no effect after {MANY_CONTROLS} requests"
    events = [_event(cluster, verb, id, tried, why) for id, tried in stubborn.items() if tried]
    healed = [_subject(cluster, id) for id, tried in stubborn.items() if not tried]
    with tools.database.begin() as conn:
        close_events(conn, [_code(verb)], healed, "cigri")
        put_events(conn, events)
    return Counter({f"{DONE[verb]} jobs": len(orders)})


def _event(
    cluster: ClusterRow, verb: JobControl, campaign_id: int, orders: Sequence[DueSuspension], why: str
) -> NewEvent:
    example = orders[0].remote_id
    message = f"{len(orders)} jobs could not be {DONE[verb]} (e.g. {example}), {CONSEQUENCE[verb]}: {why}"
    subject = _subject(cluster, campaign_id)
    return NewEvent(_code(verb), EventLevel.WARNING, subject, message, campaign_id, cluster.id)


def _code(verb: JobControl) -> str:
    return f"{verb.upper()}_PROBLEM"


def _subject(cluster: ClusterRow, campaign_id: int) -> str:
    return f"campaign {campaign_id} on {cluster.name}"
