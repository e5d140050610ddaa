"""A campaign as its user describes it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from cigri.formats.subscriptions import SubscriptionRequest
from cigri.jdl.after import After, Afters
from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.notify import Notify
from cigri.jdl.parameters import Parameter, names_of
from cigri.jdl.replication import ReplicationOrNone, ReplicationSettings
from cigri.jdl.requirements import RawRequirements, RequirementsOrNone
from cigri.jdl.sweep import SizedIterable
from cigri.jdl.value_types import Line, Name, Priority

CampaignTypeName = Literal["default", "test"]


class CampaignFields(BaseModel):
    """The fields that hold for the campaign as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    campaign_type: CampaignTypeName = "default"
    scheduler: Line = ""
    project: Line = ""
    replicate: ReplicationOrNone = None
    requirements: RequirementsOrNone = None
    priority: Priority = 0
    notify: Notify = ()
    after: Afters = ()


@dataclass(frozen=True)
class CampaignDescription:
    """A campaign: what holds for all of it, what holds on each cluster, and its parameters.

    `anywhere`: the settings on clusters that the grid chooses; None: the user has named them. `spare`: on those that it
    has not chosen yet. `is_unplaced`: not even that is said, which will do where there is one cluster only.
    `written`: its text as one object, keys in small letters, without parameters that are not computed.
    `requirements` are as they were written, to be read with the kinds of the grid's properties (cigri.requirements).
    """

    name: str
    clusters: dict[str, ClusterSettings]
    tasks: SizedIterable[Parameter] = field(repr=False)
    campaign_type: CampaignTypeName = "default"
    scheduler: str = ""
    project: str = ""
    replicate: ReplicationSettings | None = None
    requirements: RawRequirements | None = None
    anywhere: ClusterSettings | None = None
    spare: dict[str, ClusterSettings] = field(default_factory=dict)
    priority: int = 0
    after: tuple[After, ...] = ()
    written: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    is_unplaced: bool = False
    notify: tuple[SubscriptionRequest, ...] = ()

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return len(self.tasks)

    def parameters(self) -> Iterator[Parameter]:
        """One parameter after the other; computed ones are made on the way."""
        return iter(self.tasks)

    @property
    def names(self) -> frozenset[str]:
        """The names of the named parameters."""
        return names_of(next(self.parameters(), None))

    def with_changes(self, **fields: Any) -> "CampaignDescription":
        """A copy with other values of its CampaignFields."""
        heading = {key: getattr(self, key) for key in CampaignFields.model_fields}
        return replace(self, **dict(CampaignFields.model_validate(heading | fields)))

    def with_options(self, **fields: Any) -> "CampaignDescription":
        """A copy with what its user says beside the text, which counts as written there."""
        return replace(self.with_changes(**fields), written={**self.written, **fields})

    def with_cluster(self, cluster: str, **fields: Any) -> "CampaignDescription":
        """A copy with other settings on one cluster."""
        settings = ClusterSettings.model_validate(self.clusters[cluster].model_dump() | fields)
        return replace(self, clusters=self.clusters | {cluster: settings})

    def on_any(self, clusters: Iterable[str]) -> "CampaignDescription":
        """A copy for all of these clusters, where the grid chooses them; as it is, where the user has named them."""
        return replace(self, clusters=dict.fromkeys(clusters, self.anywhere)) if self.anywhere else self

    def chosen(self, clusters: Collection[str]) -> "CampaignDescription":
        """A copy that goes to these of its clusters, and keeps the others to spare."""
        parts: tuple[dict[str, ClusterSettings], dict[str, ClusterSettings]] = ({}, {})
        for name, settings in self.clusters.items():
            parts[name not in clusters][name] = settings
        return replace(self, clusters=parts[0], spare=parts[1])

    def without_cluster(self, cluster: str) -> "CampaignDescription":
        """A copy that leaves a cluster out."""
        used, spare = (
            {name: kept for name, kept in blocks.items() if name != cluster} for blocks in (self.clusters, self.spare)
        )
        return replace(self, clusters=used, spare=spare)
