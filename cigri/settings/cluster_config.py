"""What an operator declares of a cluster: how to reach it, what to say to it, and how much it may be asked for."""

from collections.abc import Sequence
from difflib import get_close_matches
from math import ceil
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from cigri.errors import ConfigError
from cigri.settings.algorithms import AlgorithmOrNone
from cigri.settings.sections import TimeZone, Windows
from cigri.settings.ssh_address import SshAddress

# What an operator declares of the local batch system that takes the jobs of a cluster whose own is not there.


class LocalFallback(BaseModel):
    """The local batch system that takes the jobs: options of the driver local."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spool: str = Field(description="directory of its daemon")
    pools: dict[str, PositiveInt] = Field(description="what its jobs may use: cpu, mem in MB, others by name")

    @model_validator(mode="after")
    def _has_cores(self) -> "LocalFallback":
        if "cpu" not in self.pools:
            raise ValueError("pools must name cpu, how many cores the jobs may use")
        return self


SHORTEST_CYCLE = 1e-3  # seconds; of one that clocks make shorter, poll_interval may be more than can be counted


class MachineJobFeatures(BaseModel):
    """What jobs are told of a cluster that only its operator knows (docs/reference/machine-job-features.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hs06: float | None = Field(None, gt=0, description="HS06 rating of a whole machine")
    hs06_job: float | None = Field(None, gt=0, description="HS06 rating of a job; else its share of hs06")
    grace_secs: int | None = Field(
        None, ge=0, description="seconds before a machine's shutdown at which it is announced"
    )
    grace_secs_job: int = Field(60, ge=0, description="seconds before a job's shutdown at which it is announced")
    scratch_limit_bytes: int | None = Field(
        None, gt=0, description="bytes of scratch space of a job; else what is free"
    )
    max_swap_bytes: int | None = Field(None, ge=0, description="bytes of swap space of a job")
    draft: bool = Field(True, description="give the names of draft 0.99 as well")
    cpufactor_lrms: float | None = Field(None, gt=0, description="draft: CPU factor of the batch system")
    jobslots: int | None = Field(None, gt=0, description="draft: job slots of a machine")
    shutdown_command: str | None = Field(None, min_length=1, description="draft: what destroys a virtual machine")
    readers: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_.-]{0,31})?$",
        description="group whose members may read the directories, too; its accounts have to be in it",
    )
    address: str = Field(
        "",
        pattern=r"^(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*)?$",
        description="the portal as nodes reach it, where jobs read their features by HTTP(S); empty: in directories",
    )

    @model_validator(mode="after")
    def _draft_is_wanted(self) -> "MachineJobFeatures":
        is_used = self.cpufactor_lrms is not None or self.jobslots is not None or self.shutdown_command is not None
        if is_used and not self.draft:
            raise ValueError(
                "cpufactor_lrms, jobslots and shutdown_command go with draft = true, which you have switched off"
            )
        return self


class ClusterConfig(BaseModel):
    """The configuration of one cluster; times in seconds, counts in jobs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    driver: str = Field(description="the kind of batch system")
    options: dict[str, Any] = Field(default_factory=dict, description="settings of the driver")
    transport: Literal["local", "ssh"] = Field("local", description="how the cluster is reached")
    ssh: SshAddress | None = Field(None, description="the front-end, when the transport is ssh")
    visitor: str = Field("", description="account that asks how full it is; empty: the gateway's, or CiGri's own")
    directory: str = Field(".cigri", pattern=r"^/?[A-Za-z0-9._/-]+$", description="where files go, below the home")
    max_waiting: int = Field(200, gt=0, description="most jobs of the grid that may wait in its queue")
    keep_waiting: int = Field(20, ge=0, description="jobs kept waiting behind a full cluster, so that no core idles")
    n_max_queued_jobs: int = Field(
        10,
        gt=0,
        description="jobs that ask for the same and may wait for cores, of all campaigns; more if it starts more",
    )
    algorithm: AlgorithmOrNone = Field("", description="how much is sent there; empty: as forecast.algorithm says")
    max_array: int = Field(
        1000, gt=0, description="jobs of an array, at most; lowered when the cluster says that it takes less"
    )
    bandwidth: float | None = Field(None, gt=0, description="MB of inputs that are sent to it in a second; null: all")
    poll_interval: float = Field(5.0, ge=0, description="seconds between two visits, at least")
    timeout: float = Field(60.0, gt=0, description="seconds that one command may take")
    most_load: float = Field(10.0, gt=0, description="load per core of its front-end above which less is asked of it")
    node_cores: int = Field(
        1, gt=0, description="cores of a node, no more than a job can have, for short tasks side by side; 1: none are"
    )
    record_grace: float = Field(
        10.0, ge=0, description="seconds to wait for the record of a job that the batch system says ended"
    )
    lost_after: float = Field(120.0, gt=0, description="seconds after which a job that nobody knows any more is lost")
    hours: Windows | None = Field(None, description="when it is the grid's, as 'mon-fri 19:00-07:00'; null: as set")
    timezone: TimeZone = Field("", description="of the hours, as Europe/Paris; empty: as set for the grid")
    hours_overrun: bool = Field(False, description="start nightly jobs that may not end in time, and kill them then")
    normal_users: tuple[str, ...] = Field((), description="who may submit normal jobs: users, @groups, or * for all")
    features: MachineJobFeatures = Field(
        default_factory=MachineJobFeatures, description="what jobs are told of their machine"
    )
    fallback: LocalFallback | None = Field(
        None, description="this host, if its batch system is not there when it is declared"
    )
    fallback_because: str = Field(
        "", description="why the fallback is in use; `cigri cluster add` and `change` see to it"
    )

    @property
    def stand_in(self) -> LocalFallback | None:
        """The fallback, while it is in use."""
        return self.fallback if self.fallback_because else None

    @property
    def in_use(self) -> "ClusterConfig":
        """What jobs are really sent to: the cluster, or this host in its place."""
        if self.stand_in is None:
            return self
        there = {
            "driver": "local",
            "options": self.stand_in.model_dump(),
            "transport": "local",
            "ssh": None,
            "visitor": "",
        }
        return self.model_copy(update=there)

    @model_validator(mode="after")
    def _fallback_has_reason(self) -> "ClusterConfig":
        if self.fallback_because and self.fallback is None:
            raise ValueError("fallback_because goes with a fallback")
        return self

    @model_validator(mode="after")
    def _ssh_has_address(self) -> "ClusterConfig":
        if (self.transport == "ssh") != (self.ssh is not None):
            raise ValueError("the transport ssh needs an ssh address, and the transport local has none")
        return self


def visit_interval(cycle: float, poll_interval: float) -> float:
    """Seconds between two visits of a cluster: whole cycles, as many as its poll_interval takes."""
    return cycle * max(1, ceil(poll_interval / cycle)) if cycle >= SHORTEST_CYCLE else poll_interval


def parse_config(name: str, values: dict[str, Any]) -> ClusterConfig:
    """The configuration of cluster `name`; raise ConfigError with every problem."""
    try:
        return ClusterConfig.model_validate(values)
    except ValidationError as error:
        problems = [_explain(problem["loc"], problem["type"], problem["msg"]) for problem in error.errors()]
        raise ConfigError(f"cluster {name}: " + "; ".join(problems)) from None


def read_config(name: str, values: dict[str, Any]) -> ClusterConfig | None:
    """None: what is stored is no configuration (any more); who visits clusters tells the operator (list_clusters)."""
    try:
        return parse_config(name, values)
    except ConfigError:
        return None


def _explain(location: Sequence[object], kind: str, message: str) -> str:
    place = ".".join(map(str, location))
    if kind != "extra_forbidden":
        return f"{place}: {message}" if place else message
    sections: dict[object, type[BaseModel]] = {"ssh": SshAddress, "features": MachineJobFeatures}
    fields = sections.get(location[0] if len(location) > 1 else "", ClusterConfig).model_fields
    near = get_close_matches(str(location[-1]), list(fields), n=1)
    return f"{place}: unknown" + (f", did you mean {near[0]}?" if near else f"; there are: {', '.join(fields)}")
