"""Admission rules: small Python files of the site that accept, change or refuse a campaign before it is stored.

A rule file defines `rule(campaign, user)`, or `rule(campaign, user, clusters)` to see what operators have declared of
each cluster (ClusterConfig by name). It returns None to accept, a changed campaign (`campaign.with_changes(...)`,
`campaign.with_cluster(name, ...)`, `campaign.without_cluster(name)`), or calls `refuse("why")`.
"""

import grp
import json
import logging
import os
import pwd
from collections.abc import Collection, Iterable, Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn

from cigri import package_files
from cigri.errors import AdmissionRefused, AdmissionRuleFailed, ConfigError
from cigri.jdl.command import unknown_names, unused_names
from cigri.jdl.description import CampaignDescription, CampaignFields
from cigri.runtime.time_limit import PURE_LIMIT, time_limit
from cigri.settings.cluster_config import ClusterConfig

__all__ = ["CampaignDescription", "admit", "is_among", "refuse"]

logger = logging.getLogger(__name__)


class _Refusal(Exception):
    """A rule's own "no"."""


def refuse(message: str) -> NoReturn:
    """Say no to the campaign; the user reads the message."""
    raise _Refusal(message)


def admit(
    description: CampaignDescription, user: str, rules: Iterable[Path], clusters: Mapping[str, ClusterConfig]
) -> tuple[CampaignDescription, list[str]]:
    """The campaign as the rules leave it, and every change they made; raise AdmissionRefused when one says no.

    The rules of a test are asked about the jobs that it will have, whatever it says of their type.
    """
    was_test = description.campaign_type == "test"
    description = _as_test(description, user, clusters)
    changes: list[str] = []
    for path in rules:
        before = _flat(description)
        description = _apply(path, description, user, clusters)
        after = _flat(description)
        changes += (f"{change} (by {path.name})" for change in _differences(before, after))
    return (description if was_test else _as_test(description, user, clusters)), changes


def find_rules(directory: Path | None, without: Collection[str]) -> list[Path]:
    """The rules in the order in which they are asked: the site's own, then those that come with CiGri, so that nothing
    that a site's rule changes passes by them. `without`: names of these that the site has switched off.
    """
    ours = _files(package_files.directory("etc") / "admission.d")
    if unknown := sorted(set(without) - {path.name for path in ours}):
        there = ", ".join(path.name for path in ours)
        raise ConfigError(f"admission_without: there is no rule {unknown[0]} that comes with CiGri; there are: {there}")
    return [*(_files(directory) if directory else ()), *(path for path in ours if path.name not in without)]


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise ConfigError(f"the directory of admission rules is missing: {directory}")
    return sorted(path for path in directory.glob("*.py") if path.is_file())


def is_among(user: str, names: Iterable[str]) -> bool:
    """Is the user named in `names`: by name, by a @group of this host, or by * for everybody?"""
    return any(name in (user, "*") or (name.startswith("@") and name[1:] in _groups(user)) for name in names)


def _as_test(description: CampaignDescription, user: str, clusters: Mapping[str, ClusterConfig]) -> CampaignDescription:
    """Of a test: normal jobs on each cluster whose operator lets the user have them, best-effort ones elsewhere."""
    for name in description.clusters:
        if description.campaign_type == "test" and name in clusters:
            is_normal = is_among(user, clusters[name].normal_users)
            description = description.with_cluster(name, type="normal" if is_normal else "best-effort")
    return description


def _groups(user: str) -> set[str]:
    try:
        number = pwd.getpwnam(user).pw_gid
    except KeyError:
        return set()
    ids = os.getgrouplist(user, number)
    return {group.gr_name for group in grp.getgrall() if group.gr_gid in ids}


def _apply(
    path: Path, description: CampaignDescription, user: str, clusters: Mapping[str, ClusterConfig]
) -> CampaignDescription:
    try:
        with time_limit(PURE_LIMIT):
            rule = _run(path)["rule"]
            arguments = (description, user, clusters)
            answer = rule(*arguments[: len(signature(rule).parameters)])
        return description if answer is None else _checked(answer)
    except _Refusal as refusal:
        raise AdmissionRefused(path.name, str(refusal)) from None
    except (Exception, SystemExit) as error:
        logger.exception("admission rule %s failed", path.name)
        message = f"the rule itself is broken ({type(error).__name__}: {error}); tell the operator of this CiGri"
        raise AdmissionRuleFailed(path.name, message) from error


def _run(path: Path) -> dict[str, Any]:
    """What a file defines; not by runpy, which is for one thread at a time."""
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_bytes(), path, "exec"), names)  # noqa: S102  # it is the operator's
    return names


def _checked(answer: object) -> CampaignDescription:
    """What a rule gave back, if it is a campaign that can run."""
    if not isinstance(answer, CampaignDescription):
        raise TypeError(f"a rule returns None or a campaign, not {type(answer).__name__}")
    places = answer.clusters or ({"any": answer.anywhere} if answer.anywhere else {})
    if not places:
        refuse("no cluster is left for it")
    if names := answer.names:
        for problem in (*unknown_names(places, names), *unused_names(places, names)):
            raise ValueError(str(problem))
    return answer


def _flat(description: CampaignDescription) -> dict[str, str]:
    """Every value by its place, as text; plain copies, so that nothing a rule does is missed."""
    heading = CampaignFields.model_validate({key: getattr(description, key) for key in CampaignFields.model_fields})
    values = dict(_leaves("", heading.model_dump(mode="json")))
    values["number of tasks"] = str(description.count)
    for name, settings in description.clusters.items():
        values[f"clusters.{name}"] = "used"
        values |= _leaves(f"clusters.{name}.", settings.model_dump(mode="json"))
    return values


def _leaves(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{key}.", value)
        elif value not in ("", None, []):
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    gone = [place for place in before if before[place] == "used" and place not in after]
    for place in {**before, **after}:
        if before.get(place) != after.get(place) and not any(place.startswith(f"{cluster}.") for cluster in gone):
            yield f"{place}: {before.get(place, 'nothing')} -> {after.get(place, 'nothing')}"
