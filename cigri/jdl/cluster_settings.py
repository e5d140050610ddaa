"""What a campaign wants on one cluster, the global settings already copied in; kept in the database as JSON."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from cigri.formats.units import COUNTED_IN_MB
from cigri.jdl.backend_options import BackendWords
from cigri.jdl.checkpoint import CheckpointOrNone
from cigri.jdl.inputs import Inputs
from cigri.jdl.outputs import CollectOutputs, CollectSettings, Outputs
from cigri.jdl.outputs_mode import OutputsModeOrNone
from cigri.jdl.resources import JobResources
from cigri.jdl.task_inputs import TaskInputsOrNone
from cigri.jdl.value_types import (
    BooleanField,
    CommandLine,
    Directory,
    Environment,
    Limits,
    Line,
    Lines,
    Natural,
    Positive,
    Seconds,
    TypeOfJobs,
    TypesOfJobs,
)
from cigri.settings.algorithms import AlgorithmOrNone


class JobDefaults(NamedTuple):
    """What holds where a description says nothing; by the settings of the installation."""

    walltime: int = 3600
    cpu: int = 1
    mem: int = 0

    def filled(self, given: dict[str, Any]) -> dict[str, Any]:
        """The fields with defaults for what they leave out; resources in OAR's words say all that they want."""
        own = given.get("resources", {})
        usual = {"cpu": self.cpu, **({"mem": self.mem} if self.mem else {})}
        resources = {**usual, **own} if isinstance(own, dict) else own
        return {"walltime": self.walltime, **given, "resources": resources}


class ClusterSettings(BaseModel):
    """The fields a cluster's block may hold, and the top of the description for all clusters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exec_file: CommandLine
    append: BooleanField = True
    exec_directory: Directory = "$HOME"
    own_directory: BooleanField = False
    environment: Environment = {}
    resources: JobResources = JobResources()
    walltime: Seconds = 3600
    duration: Seconds | None = None
    type: TypeOfJobs = "best-effort"
    types: Annotated[TypesOfJobs, Field(validation_alias=AliasChoices("types", "cluster_job_type"))] = ()
    queue: Line = ""
    project: Line = ""
    properties: Line = ""
    backend: BackendWords = ()
    max_jobs: Positive | None = None
    limits: Limits = {}
    algorithm: AlgorithmOrNone = ""
    retries: Natural = 0
    checkpoint: CheckpointOrNone = None
    idempotent: BooleanField = False
    inputs: Inputs = ()
    task_inputs: TaskInputsOrNone = None
    outputs: Annotated[Outputs, Field(validation_alias=AliasChoices("outputs", "output_file"))] = ()
    collect: CollectOutputs = CollectSettings()
    outputs_mode: OutputsModeOrNone = None
    temporal_grouping: BooleanField = True
    dimensional_grouping: BooleanField = True
    keep_tmp: BooleanField = False
    prologue: Lines = ()
    prologue_walltime: Seconds | None = None
    epilogue: Lines = ()
    epilogue_walltime: Seconds | None = None

    @model_validator(mode="before")
    @classmethod
    def _alone(cls, value: Any) -> Any:
        """What a task leaves is kept if the next one in the job does not clean up after it: there is none."""
        if isinstance(value, dict) and str(value.get("keep_tmp")).strip().lower() == "true":
            return {**value, "temporal_grouping": False, "dimensional_grouping": False}
        return value

    @property
    def may_share_a_node(self) -> bool:
        """Its tasks may run side by side in a job: they need cores of one node only, and nobody signals one of them."""
        wish = self.resources
        special = wish.native or wish.amounts.keys() - COUNTED_IN_MB or self.types or self.limits or self.backend
        is_plain = wish.nodes == 1 and not special
        return self.dimensional_grouping and self.checkpoint is None and is_plain

    @property
    def besteffort(self) -> bool:
        """The batch system may kill these jobs whenever its own users want the resources; some only out of hours."""
        return self.type != "normal"


# How many tasks of a campaign one job may run side by side on a node; pure.


def tasks_side_by_side(node_cores: int, width: int, settings: Mapping[str, Any]) -> int:
    """As many tasks of `width` cores as a node holds; 1 if the settings (ClusterSettings as JSON) keep them apart."""
    fitting = node_cores // width
    may_share = fitting > 1 and ClusterSettings.model_validate(settings).may_share_a_node
    return fitting if may_share else 1
