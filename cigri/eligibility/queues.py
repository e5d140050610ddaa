"""Which queues are eligible for jobs that demand the same, and the first reason why others are not; pure."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cigri.errors import ConfigError
from cigri.formats.units import HOUR, MEGABYTE
from cigri.requirements import (
    NO_REQUIREMENT,
    And,
    Condition,
    JobShape,
    Kinds,
    PropertyValue,
    QueueRejection,
    Requirement,
    judge_queue,
    read_canonical,
)
from cigri.requirements.conditions import names
from cigri.requirements.judging import PLACE_CHECKS, cut
from cigri.requirements.node_selection import ConditionNotSelectable, undecided
from cigri.resources.bucket_amounts import amounts_of
from cigri.resources.own_amounts import own_amounts_of, with_own_amounts
from cigri.states import QueueRejectCode

if TYPE_CHECKING:
    from cigri.drivers import Driver

SHAPING = ("resources", "walltime", "queue")  # settings of a campaign that say what its jobs demand
DEFAULT_WALLTIME = HOUR  # seconds, of a description that says none


class Eligibility(NamedTuple):
    """`condition`: what its batch system has to choose nodes by; None: any will do."""

    condition: Condition | None = None


QueueVerdicts = Mapping[int, QueueRejection | Eligibility]
"""By queue."""


class QueueFacts(Protocol):
    """What a queue has to tell for a verdict, as QueueView of cigri/flow/views/queues.py does."""

    @property
    def queue_id(self) -> int:
        """By which the verdicts are given."""

    @property
    def cluster_id(self) -> int:
        """Queues of one cluster have the same."""

    @property
    def queue(self) -> str:
        """Its logical name; empty: the default queue of its cluster."""

    @property
    def remote_name(self) -> str:
        """What the batch system calls it; empty for the default queue."""

    @property
    def requires(self) -> Mapping[str, Any] | None:
        """What it demands of jobs, as a canonical requirement; None: nothing."""

    @property
    def classes(self) -> Sequence[Mapping[str, PropertyValue]]:
        """The properties of its nodes, those that are alike as one."""

    @property
    def driver(self) -> str:
        """The name of the driver that chooses among its nodes; empty: nobody chooses."""

    @property
    def options(self) -> str:
        """The driver's options, as JSON."""


class QueueDemand(NamedTuple):
    """What a job demands of a queue; `queue`: the one that its user has named, on clusters that have it."""

    requirement: Requirement
    shape: JobShape
    queue: str = ""

    def canonical(self) -> dict[str, Any]:
        """As JSON; demands that mean the same have the same form, of which the digest of their submit pool is made."""
        job = {name: value for name, value in self.shape._asdict().items() if value}
        if others := self.shape.others:
            job["others"] = dict(sorted(others.items()))
        named = {"queue": self.queue} if self.queue else {}
        return {"requirement": self.requirement.canonical(), "job": job, **named}


def read_wanted(canonical: Mapping[str, Any]) -> QueueDemand:
    """What `QueueDemand.canonical` has put in this form."""
    return QueueDemand(
        read_canonical(canonical["requirement"]), JobShape(**canonical["job"]), canonical.get("queue", "")
    )


def wanted_of(requirement: Requirement, settings: Mapping[str, Any], bucket: Mapping[str, Any]) -> QueueDemand:
    """What a bucket's jobs demand on a cluster where their campaign has these settings (ClusterSettings as JSON).

    `bucket`: its requirements as they are stored; of what tasks compute and is not known there, they demand nothing.
    """
    from cigri.jdl.resources import JobResources  # to read descriptions takes a moment, and few commands do

    settings = with_own_amounts(settings, own_amounts_of(bucket))
    resources = JobResources.model_validate(settings.get("resources") or {})
    cores = 1 if len(resources.native) > 1 else resources.cpu  # the smallest of the alternatives is not known
    request = resources.request(amounts_of(bucket, resources.formulas))
    walltime = settings.get("walltime") or DEFAULT_WALLTIME
    others = {**request.others, "tmp": request.tmp} if request.tmp else dict(request.others)
    shape = JobShape(request.nodes, cores, request.mem * MEGABYTE, walltime, others)
    return QueueDemand(requirement, shape, settings.get("queue") or "")


def decide(wanted: QueueDemand, queues: Sequence[QueueFacts], kinds: Kinds) -> QueueVerdicts:
    """By queue id: eligible if one class of its nodes has all that is required, and its jobs may be like this.

    And when its batch system can be asked for such nodes, if there are others.
    """
    chosen = _chosen(wanted.queue, queues) if wanted.queue else None
    verdicts: dict[int, QueueRejection | Eligibility] = {}
    for queue in queues:
        if chosen is not None and queue.queue_id not in chosen:
            verdicts[queue.queue_id] = _not_chosen(wanted, queue)
            continue
        reject = judge_queue(wanted.requirement, wanted.shape, _requires(queue), queue.classes, kinds)
        try:
            verdicts[queue.queue_id] = reject or Eligibility(choice_of(wanted.requirement, queue))
        except ConditionNotSelectable as problem:
            verdicts[queue.queue_id] = _not_selectable(wanted.requirement, problem)
    return verdicts


def choice_of(requirement: Requirement, queue: QueueFacts) -> Condition | None:
    """What its batch system has to choose nodes by, since they differ in it; ConditionNotSelectable if it cannot."""
    tests = requirement.predicates
    if len(queue.classes) < 2 or all(test(properties) is True for properties in queue.classes for test in tests):
        return None
    left = undecided(And(requirement.conditions), queue.classes)
    if isinstance(left, bool):
        return None
    if driver := _driver(queue.driver, queue.options):
        driver.select(left)
    return left


def _not_selectable(requirement: Requirement, problem: ConditionNotSelectable) -> QueueRejection:
    name = next(names(problem.condition))
    passed = PLACE_CHECKS + len(requirement.conditions)  # all but the way to say so
    return QueueRejection(QueueRejectCode.NOT_SELECTABLE, name, cut(str(problem.condition)), cut(problem.why), passed)


@lru_cache(maxsize=1000)
def _driver(name: str, options: str) -> "Driver | None":
    """None: it is not there, or its options are wrong, which those are told who ask it for more."""
    from cigri.drivers import load  # few need one

    try:
        return load(name, json.loads(options)) if name else None
    except ConfigError:
        return None


def _chosen(name: str, queues: Sequence[QueueFacts]) -> set[int]:
    """Of each cluster the queues of that name; for one that nobody has declared its default queue has to stand."""
    by_cluster = defaultdict(list)
    for queue in queues:
        by_cluster[queue.cluster_id].append(queue)
    chosen = set()
    for of_cluster in by_cluster.values():
        named = {queue.queue_id for queue in of_cluster if name in (queue.queue, queue.remote_name)}
        chosen |= named or {queue.queue_id for queue in of_cluster if not queue.queue}
    return chosen


def _not_chosen(wanted: QueueDemand, queue: QueueFacts) -> QueueRejection:
    return QueueRejection(
        QueueRejectCode.DIFFERENT, "queue", f"queue == '{wanted.queue}'", queue.queue or "the default queue"
    )


def _requires(queue: QueueFacts) -> Requirement:
    return NO_REQUIREMENT if queue.requires is None else read_canonical(queue.requires)
