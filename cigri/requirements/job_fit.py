"""What a queue wants of jobs, and whether a job fits on its nodes at all."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cigri.requirements.judging import (
    PLACE_CHECKS,
    QueueRejection,
    cut,
    describe_property,
    is_less,
    judge,
    lacking,
    least,
    reject_of,
)
from cigri.requirements.requirement import Requirement
from cigri.requirements.three_valued_logic import KnownProperties
from cigri.requirements.value_kinds import OF_JOBS, Kinds, PropertyValue, ValueKind
from cigri.requirements.values import written
from cigri.states import QueueRejectCode

RESOURCES = "resources"
"""A property of nodes: the names of all that jobs may ask for by number there."""


class JobShape(NamedTuple):
    """What one job takes: `cpu` cores and `mem_bytes` (0: not said) on each of `nodes` nodes, `walltime` seconds.

    `others`: whole numbers of anything else, by name.
    """

    nodes: int = 1
    cpu: int = 1
    mem_bytes: int = 0
    walltime: int = 0
    others: Mapping[str, int] = MappingProxyType({})


class PropertyMinimum(NamedTuple):
    """A property of nodes that has to be at least as large as something of the job."""

    name: str
    kind: ValueKind
    wanted: int


def judge_job(
    requires: Requirement, shape: JobShape, properties: KnownProperties, kinds: Kinds
) -> QueueRejection | None:
    """Does a queue take such jobs, and do they fit on one class of its nodes? What is not known is no obstacle.

    `requires` is read with the kinds of jobs (OF_JOBS), not with those of nodes.
    """
    if requires.conditions and (reject := _refused(requires, shape, properties)):
        return reject
    limits = [*_limits(shape)]
    for passed, limit in enumerate(limits, 1):
        if is_less(properties.get(limit.name), limit.wanted):
            found = describe_property(limit.name, properties, kinds)
            wanted = f"{limit.name} >= {written(limit.wanted, limit.kind)}"
            return QueueRejection(QueueRejectCode.TOO_SMALL, limit.name, wanted, found, passed)
    return _not_listed(shape, properties, len(limits))


def judge_queue(
    requirement: Requirement,
    shape: JobShape,
    requires: Requirement,
    classes: Sequence[KnownProperties],
    kinds: Kinds,
) -> QueueRejection | None:
    """None: one class of nodes is what the campaign wants, and suits what the queue wants of jobs."""
    lacks = [(properties, lacking(requirement, properties)) for properties in classes or [{}]]
    if furthest := least(lack for _, lack in lacks):
        return reject_of(furthest, requirement, kinds)
    best: QueueRejection | None = None
    for properties in (properties for properties, lack in lacks if lack is None):
        reject = judge_job(requires, shape, properties, kinds)
        if reject is None:
            return None
        reject = reject._replace(passed=reject.passed + PLACE_CHECKS + len(requirement.conditions))
        best = reject if best is None or reject.passed > best.passed else best
    return best


def property_of(name: str) -> str:
    """The property of nodes that bounds a resource of jobs."""
    return {"mem": "memory", "gpu": "gpus"}.get(name, name.lower())


def attributes(shape: JobShape, properties: KnownProperties) -> dict[str, PropertyValue]:
    """The words of OF_JOBS with this job's values; `whole_node` depends on the cores of the nodes."""
    values: dict[str, PropertyValue] = {"nodes": shape.nodes, "cpu": shape.cpu, "cores": shape.nodes * shape.cpu}
    if shape.mem_bytes:
        values["mem"] = shape.mem_bytes
    if shape.walltime:
        values["walltime"] = shape.walltime
    cores = properties.get("cores")
    values["whole_node"] = isinstance(cores, int) and shape.cpu >= cores
    return {**shape.others, **values}


def _refused(requires: Requirement, shape: JobShape, properties: KnownProperties) -> QueueRejection | None:
    reject = judge(requires, attributes(shape, properties), OF_JOBS)
    if reject is None:
        return None
    return reject._replace(code=QueueRejectCode.JOB_REFUSED, wanted=cut(str(requires)), passed=0)


def _not_listed(shape: JobShape, properties: KnownProperties, passed: int) -> QueueRejection | None:
    """The first resource that the batch system's list of resources lacks; without such a list, None."""
    listed = properties.get(RESOURCES)
    if not isinstance(listed, list):
        return None
    there = {property_of(str(name)) for name in listed}
    for name, amount in sorted(shape.others.items()):
        if amount > 0 and property_of(name) not in there and property_of(name) not in properties:
            found = cut(f"no {name}, only {', '.join(map(str, listed)) or 'cores and memory'}")
            return QueueRejection(QueueRejectCode.TOO_SMALL, name, f"{name} >= {amount}", found, passed)
    return None


def _limits(shape: JobShape) -> Iterator[PropertyMinimum]:
    yield PropertyMinimum("cores", ValueKind.NUMBER, shape.cpu)
    yield PropertyMinimum("memory", ValueKind.SIZE, shape.mem_bytes)
    yield PropertyMinimum("max_walltime", ValueKind.DURATION, shape.walltime)
    for name, amount in sorted(shape.others.items()):
        yield PropertyMinimum(property_of(name), ValueKind.NUMBER, amount)
