"""Who goes first: one file a policy, with a pure function `order`; the setting `policy.order` names it."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cigri.errors import ConfigError
from cigri.flow.affinities_and_targets import Principal, UserAffinity
from cigri.flow.fair_share_usage import Consumption
from cigri.flow.views.cluster_demands import BegunCampaign, PendingCampaign


class PolicyFacts(NamedTuple):
    """What policies go by besides the campaigns themselves."""

    affinities: frozenset[UserAffinity] = frozenset()
    targets: Mapping[Principal, float] = MappingProxyType({})
    usage: Mapping[tuple[str, str], Consumption] = MappingProxyType({})  # by user and project
    begun: Mapping[int, BegunCampaign] = MappingProxyType({})  # where the first jobs of each campaign go first


class RankedCampaign(NamedTuple):
    """A campaign served on some clusters: lower ranks first, those of one rank side by side in proportion to weight.

    It is given `max_jobs` jobs in all; None: as many as it can use. Those of one `group` stand side by side with the
    others as one, and `position` says who of them goes first.
    """

    campaign_id: int
    clusters: tuple[int, ...]
    rank: tuple[float, ...]
    weight: float = 1.0
    max_jobs: int | None = None
    group: tuple[str, str] | None = None
    position: int = 0


RankCampaigns = Callable[[Sequence[PendingCampaign], PolicyFacts], list[RankedCampaign]]
"""Puts every claim into one turn or several, each of its clusters into one of them; pure."""


def pools(turns: Iterable[RankedCampaign]) -> list[list[RankedCampaign]]:
    """Those that stand side by side as one, the first of them first; most stand alone."""
    by_pool: dict[object, list[RankedCampaign]] = {}
    for number, turn in enumerate(turns):
        by_pool.setdefault(number if turn.group is None else turn.group, []).append(turn)
    return [sorted(members, key=lambda turn: turn.position) for members in by_pool.values()]


def names() -> list[str]:
    """Of the files in this directory, by alphabet: what `policy.order` may be set to."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> RankCampaigns:
    """The `order` of the policy in the file of that name; raise ConfigError when there is none."""
    if name not in names():
        raise ConfigError(f"policy.order: there is no policy {name!r}; there are: {', '.join(names())}")
    order: RankCampaigns = importlib.import_module(f"{__name__}.{name}").order
    return order
