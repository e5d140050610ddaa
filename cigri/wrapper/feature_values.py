"""What a job of this grid finds under each key of Machine/Job Features, as far as it is known where it is submitted.

The portal serves these; features.sh tells jobs the same, and what the node and its batch system say besides.
"""

from collections.abc import Mapping
from typing import NamedTuple

from cigri.formats.units import MEGABYTE
from cigri.wrapper.feature_settings import MACHINE_KEYS, FeatureSpec

MILLION, BILLION = 10**6, 10**9  # bytes; draft 0.99 counts so
UNDIVIDED = ("hs06_job",)  # not told of one of several tasks side by side


class KnownFeatures(NamedTuple):
    """Values by key: of the machine, and of the job."""

    machine: dict[str, str]
    job: dict[str, str]


def list_known_features(plan: FeatureSpec, walltime: int, side: int) -> KnownFeatures:
    """Of a job of `walltime` seconds; a task that is one of `side` by side has its part of what can be divided."""
    machine = {key: value for key, value in plan.declared.items() if key in MACHINE_KEYS}
    declared = {key: value for key, value in plan.declared.items() if key not in MACHINE_KEYS}
    if side > 1:
        declared = {key: str(int(value) // side) for key, value in declared.items() if key not in UNDIVIDED}
    cores = plan.cpu * plan.nodes // side
    memory, scratch = plan.mem * MEGABYTE // side, (plan.scratch or 0) // side
    numbers = {
        "allocated_cpu": cores,
        "wall_limit_secs": walltime,
        "cpu_limit_secs": walltime * cores,
        "grace_secs_job": plan.grace,
        "max_rss_bytes": memory,
        "scratch_limit_bytes": scratch,
    }
    job = {key: str(number) for key, number in numbers.items() if number or key == "grace_secs_job"}
    drafted = _list_draft(plan.factor, cores, walltime, memory, scratch if side == 1 else 0) if plan.with_draft else {}
    return KnownFeatures(machine, {**job, **drafted, **declared})


def _list_draft(factor: float | None, cores: int, walltime: int, memory: int, scratch: int) -> Mapping[str, str]:
    """The names of draft 0.99; rounded down as features.sh does, which counts in thousandths."""
    thousandths = 1000 if factor is None else round(factor * 1000)
    told = {
        "allocated_CPU": str(cores),
        "wall_limit_secs_lrms": str(walltime * thousandths // 1000),
        "cpu_limit_secs_lrms": str(walltime * cores * thousandths // 1000),
    }
    if factor is not None:
        told["cpufactor_lrms"] = f"{thousandths // 1000}.{thousandths % 1000:03}"
    if memory:
        told["mem_limit_MB"] = str(memory // MILLION)
    if scratch:
        told["disk_limit_GB"] = f"{scratch // BILLION}.{scratch // MILLION % 1000:03}"
    return told
