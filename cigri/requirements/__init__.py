"""What campaigns want of queues and their nodes, and queues of jobs: read, put in one form, judged; no I/O.

`parse_requirement` reads what a person wrote, `judge_queue` says whether a queue is for it, and if not why.
"""

from cigri.requirements.conditions import And, Comparison, ComparisonOperator, Condition, FlagCondition, Not, Or
from cigri.requirements.job_fit import JobShape, judge_job, judge_queue, property_of
from cigri.requirements.judging import QueueRejection, judge, judge_all, sentence
from cigri.requirements.nearest_miss import nearest_miss
from cigri.requirements.requirement import (
    NO_REQUIREMENT,
    Requirement,
    conditions,
    digest,
    parse_requirement,
    read_canonical,
    read_condition,
)
from cigri.requirements.unknown_names import has_known_sites, unknown_properties, unknown_sites
from cigri.requirements.value_kinds import BUILT_IN, OF_JOBS, Kinds, PropertyValue, Scalar, ValueKind, property_name
from cigri.requirements.values import read_value, shown, written

__all__ = [
    "BUILT_IN",
    "NO_REQUIREMENT",
    "OF_JOBS",
    "And",
    "Comparison",
    "ComparisonOperator",
    "Condition",
    "FlagCondition",
    "JobShape",
    "Kinds",
    "Not",
    "Or",
    "PropertyValue",
    "QueueRejection",
    "Requirement",
    "Scalar",
    "ValueKind",
    "conditions",
    "digest",
    "has_known_sites",
    "judge",
    "judge_all",
    "judge_job",
    "judge_queue",
    "nearest_miss",
    "parse_requirement",
    "property_name",
    "property_of",
    "read_canonical",
    "read_condition",
    "read_value",
    "sentence",
    "shown",
    "unknown_properties",
    "unknown_sites",
    "written",
]
