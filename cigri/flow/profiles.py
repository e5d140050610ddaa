"""Profiles: what the tasks of a campaign used on a cluster, in all and at most.
Taken by: operator, runner, updator, users.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, bindparam, func
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement

from cigri.tables.campaigns import CampaignCluster

PROFILE_SUMS = ("profiled_seconds", "cpu", "bytes_read", "bytes_written")
PROFILE_MOST = ("most_cpu", "most_read", "most_written")


class TaskResourceUse(NamedTuple):
    """Of one that succeeded: how long it ran, seconds of processors, bytes that it read and wrote."""

    seconds: float
    cpu: float
    bytes_read: float
    bytes_written: float


def profile(used: Sequence[TaskResourceUse]) -> dict[str, Any]:
    """The parameters of `changed_profile`: these tasks have succeeded."""
    sums = [float(sum(amounts)) for amounts in zip(*used, strict=True)] or [0.0] * len(PROFILE_SUMS)
    most = [float(max(amounts)) for amounts in zip(*(one[1:] for one in used), strict=True)] or [0.0] * len(
        PROFILE_MOST
    )
    more = dict(zip((*PROFILE_SUMS, *PROFILE_MOST), (*sums, *most), strict=True))
    return {"profiled_more": len(used)} | {f"{name}_more": amount for name, amount in more.items()}


def changed_profile() -> dict[str, ColumnElement[Any]]:
    """New values of a share's profile, by column, with the parameters that `profile` gives."""
    part = CampaignCluster.c
    more = {name: bindparam(f"{name}_more", type_=DOUBLE_PRECISION) for name in (*PROFILE_SUMS, *PROFILE_MOST)}
    return {
        "profiled": part.profiled + bindparam("profiled_more", type_=BigInteger),
        "profiled_seconds": part.profiled_seconds + more["profiled_seconds"],
        "cpu": part.cpu + more["cpu"],
        "most_cpu": func.greatest(part.most_cpu, more["most_cpu"]),
        "bytes_read": part.bytes_read + more["bytes_read"],
        "most_read": func.greatest(part.most_read, more["most_read"]),
        "bytes_written": part.bytes_written + more["bytes_written"],
        "most_written": func.greatest(part.most_written, more["most_written"]),
    }
