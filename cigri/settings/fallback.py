"""What an operator declares of the local batch system that takes the jobs of a cluster whose own is not there."""

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator


class Fallback(BaseModel):
    """The local batch system that takes the jobs: options of the driver local."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spool: str = Field(description="directory of its daemon")
    pools: dict[str, PositiveInt] = Field(description="what its jobs may use: cpu, mem in MB, others by name")

    @model_validator(mode="after")
    def _has_cores(self) -> "Fallback":
        if "cpu" not in self.pools:
            raise ValueError("pools must name cpu, how many cores the jobs may use")
        return self
