"""A description as one object that `gridsub` takes again: what the user wrote, whatever the format it was in."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cigri.jdl.cluster_settings import ClusterSettings
from cigri.jdl.description import CampaignFields
from cigri.jdl.parameters import SOURCES

COMPUTED = ("nb_jobs", "sweep")
"""The sources of parameters that are kept as they are written; of others the tasks hold what they gave."""


def as_written(top: Mapping[str, Any], campaign_type: str) -> dict[str, Any]:
    """All but parameters that are not computed; a test is called so in one way only, and a TOML time is text."""
    left_out = {*SOURCES, "test_mode"} - set(COMPUTED)
    kept = {key: value for key, value in top.items() if key not in left_out}
    if isinstance(blocks := kept.get("clusters"), dict):
        kept["clusters"] = {name: _without(block, "test_mode") for name, block in blocks.items()}
    kept |= {"campaign_type": campaign_type} if campaign_type != "default" else {}
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return plain


def with_options_of_backend(written: Mapping[str, Any], cluster: str, words: Sequence[str]) -> dict[str, Any]:
    """With these words in the block of a cluster that it names; as it is, where the grid chooses the clusters."""
    blocks = written.get("clusters")
    named = blocks if isinstance(blocks, dict) else {name: {} for name in blocks or () if isinstance(blocks, list)}
    if cluster not in named:
        return dict(written)
    return {**written, "clusters": {**named, cluster: {**(named[cluster] or {}), "backend": [*words]}}}


def on_cluster_alone(written: Mapping[str, Any], cluster: str, settings: ClusterSettings) -> dict[str, Any]:
    """The same campaign on this cluster alone; walltime and resources are written, defaults too."""
    kept = {key: value for key, value in written.items() if key in {*CampaignFields.model_fields, *COMPUTED}}
    kept.pop("requirements", None)
    stored = settings.model_dump(mode="json")
    usual = {key: stored[key] for key in ("walltime", "resources")}
    return {**kept, "clusters": {cluster: {**_explicit(stored), **usual}}}


def from_settings(
    heading: Mapping[str, Any], clusters: Mapping[str, Mapping[str, Any]], *, is_anywhere: bool
) -> dict[str, Any]:
    """A description made of stored settings, for campaigns of which nobody has kept what was written."""
    blocks = {name: _explicit(settings) for name, settings in clusters.items()}
    fields = {key: value for key, value in heading.items() if value not in (None, "", 0, "default")}
    if is_anywhere:
        return {**fields, **next(iter(blocks.values()), {}), "clusters": "any"}
    return {**fields, "clusters": blocks}


def _explicit(settings: Mapping[str, Any]) -> dict[str, Any]:
    return ClusterSettings.model_validate(settings).model_dump(mode="json", exclude_defaults=True)


def _without(block: Any, key: str) -> Any:
    return {name: value for name, value in block.items() if name != key} if isinstance(block, dict) else block
