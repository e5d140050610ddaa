"""What a simulation is made of: clusters with their local load and faults, campaigns, and the settings of CiGri."""

import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from cigri.errors import ConfigError
from cigri.formats.machine_text import read_toml
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from modules.laboratory.cluster.faults import NO_FAULTS, FaultRates
from modules.laboratory.cluster.machine import HardwareModel, gridengine, oar, slurm
from modules.laboratory.load import Load, NoLoad

MACHINES = {"slurm": slurm, "oar": oar, "gridengine": gridengine}


class ScenarioSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DurationDistribution(ScenarioSection):
    """How long tasks last: lognormal of this mean, with this coefficient of variation (0: all the same)."""

    mean: float = Field(gt=0)
    cv: float = Field(0.0, ge=0)

    def draw(self, source: random.Random) -> float:
        """Seconds of one task; the logarithm has the variance ln(1 + cv^2) and the mean ln(mean) - variance / 2."""
        if self.cv == 0:
            return self.mean
        variance = math.log1p(self.cv**2)
        return source.lognormvariate(math.log(self.mean) - variance / 2, math.sqrt(variance))


class SimulatedCluster(ScenarioSection):
    """`count` clusters alike, each with a load of its own; `speed` divides the durations of tasks there.

    `machine` overrides figures of its `kind` (laboratory/cluster/machine.py), `config` is as in `cigri cluster add`.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,50}$")
    kind: Literal["slurm", "oar", "gridengine"] = "slurm"
    nodes: int = Field(gt=0)
    cores_per_node: int = Field(gt=0)
    count: int = Field(1, gt=0)
    speed: float = Field(1.0, gt=0)
    load: Load = Field(default_factory=lambda: NoLoad(kind="none"))
    faults: FaultRates = NO_FAULTS
    machine: dict[str, Any] = Field(default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the clusters alike, numbered from 1; a single one has the name as it is."""
        return [self.name] if self.count == 1 else [f"{self.name}{number}" for number in range(1, self.count + 1)]

    @property
    def hardware(self) -> HardwareModel:
        """The machine of its kind, with what the scenario says otherwise; ValidationError: no machine has that."""
        made = MACHINES[self.kind](self.nodes, self.cores_per_node)
        return TypeAdapter(HardwareModel).validate_python(made._asdict() | self.machine)

    @property
    def declared(self) -> ClusterConfig:
        """Its configuration as the grid knows it, as if its operator had added it."""
        ours = {"driver": "simulated", "visitor": "grid", "poll_interval": 0.0}
        return ClusterConfig.model_validate(ours | self.config)

    @model_validator(mode="after")
    def _is_possible(self) -> "SimulatedCluster":
        _ = self.hardware, self.declared
        return self


class SimulatedCampaign(ScenarioSection):
    """`at` seconds after the start, `count` campaigns `every` so many seconds; `clusters` empty: all of them.

    `failing` is the share of tasks that end with exit code 1. `known`: its user has run these very tasks before, on all
    of these clusters (modules/laboratory/past_campaigns.py).
    """

    name: str = "campaign"
    user: str = Field("alice", pattern=r"^[a-z][a-z0-9_-]{0,30}$")
    project: str = ""
    type: CampaignType = CampaignType.DEFAULT
    at: float = Field(0.0, ge=0)
    count: int = Field(1, gt=0)
    every: float = Field(0.0, ge=0)
    tasks: int = Field(gt=0)
    seconds: DurationDistribution
    width: int = Field(1, gt=0)
    walltime: int = Field(3600, gt=0)
    failing: float = Field(0.0, ge=0, le=1)
    known: bool = False
    clusters: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict, description="more of its fields (docs/reference/jdl.md)")


class Scenario(ScenarioSection):
    """`cycle` is the time between two cycles of the modules; all times in seconds."""

    name: str
    about: str = ""
    seed: int = 1
    length: float = Field(86_400.0, gt=0)
    cycle: float = Field(30.0, gt=0)
    settings: dict[str, Any] = Field(default_factory=dict)
    clusters: Annotated[tuple[SimulatedCluster, ...], Field(min_length=1)]
    campaigns: tuple[SimulatedCampaign, ...] = ()

    @property
    def tuned(self) -> Settings:
        """The settings of CiGri in this scenario."""
        return Settings.model_validate(self.settings)

    @model_validator(mode="after")
    def _names_are_known(self) -> "Scenario":
        names = [name for cluster in self.clusters for name in cluster.names]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two clusters have the name {', '.join(twice)}")
        unknown = {name for campaign in self.campaigns for name in campaign.clusters} - set(names)
        if unknown:
            raise ValueError(f"campaigns name clusters that are not there: {', '.join(sorted(unknown))}")
        _ = self.tuned
        return self


def read(path: Path, changes: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario in a TOML file, with some of its values changed; raise ConfigError with every problem."""
    try:
        values = read_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    try:
        return Scenario.model_validate(values | dict(changes or {}))
    except ValidationError as error:
        problems = [f"{path}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise ConfigError("\n".join(problems)) from None
