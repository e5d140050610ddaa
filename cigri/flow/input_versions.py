"""Versions of inputs: what campaigns take along, and what it was before their users sent something else in its place.
Given by: users; taken by: runner.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from cigri.database import id_list, wake
from cigri.errors import CigriError
from cigri.flow.campaigns import require_open_to_tasks
from cigri.flow.kill_requests import request_kills
from cigri.flow.stored_inputs import NewInput, put_needed
from cigri.identity.callers import Caller
from cigri.states import JobKind, JobState, KillReason
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.inputs import CampaignClusterInput, CampaignInput, EarlierInputs, StoredInput
from cigri.tables.jobs import Batch, Job

SettingsInputs = list[dict[str, Any]]
"""As settings hold them."""


class ReplacedInputs(NamedTuple):
    """So many inputs are others now; `recalled` jobs wait in queues with those before, `running` ones keep them."""

    inputs: int
    recalled: int
    running: int


class EarlierInput(NamedTuple):
    """What had the name of an input before."""

    sha256: str
    is_packed: bool


def replace_inputs(conn: Connection, campaign_id: int, caller: Caller, sums: Mapping[str, str]) -> ReplacedInputs:
    """The inputs of these paths have this content from now on, wherever a task of the campaign is still to be started.

    Raise CigriError for a path that is none of its inputs, or a content that the caller has not sent.
    """
    require_open_to_tasks(conn, campaign_id, caller)
    row = conn.execute(select(Campaign.c.written, Campaign.c.anywhere).where(Campaign.c.id == campaign_id)).one()
    sizes = _sizes(conn, sums.values())
    put_needed(conn, campaign_id, caller.user, _new_inputs(conn, campaign_id, sums))
    part, found = CampaignCluster.c, set[str]()
    parts = select(part.cluster_id, part.settings, part.inputs_version).where(part.campaign_id == campaign_id)
    for cluster_id, settings, version in conn.execute(parts.with_for_update()).all():
        inputs = settings.get("inputs", [])
        found |= {each["path"] for each in inputs}
        if (changed := _changed(inputs, sums, sizes)) != inputs:
            _put_version(conn, campaign_id, cluster_id, version, inputs)
            _put_changed(conn, campaign_id, cluster_id, {**settings, "inputs": changed})
    values: dict[str, Any] = {}
    if row.written is not None:
        values["written"] = _rewritten(row.written, sums, sizes)
    if row.anywhere is not None:
        found |= {each["path"] for spare in row.anywhere.values() for each in spare["settings"].get("inputs", [])}
        values["anywhere"] = {
            name: {**spare, "settings": _rewritten(spare["settings"], sums, sizes)}
            for name, spare in row.anywhere.items()
        }
    if unknown := [path for path in sums if path not in found]:
        raise CigriError(
            f"campaign {campaign_id} has no input {unknown[0]}; it has: {', '.join(sorted(found)) or 'none'}"
        )
    if values:
        conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(**values))
    recalled, running = _recall(conn, campaign_id, caller)
    wake(conn)
    return ReplacedInputs(len(sums), recalled, running)


def list_earlier_inputs(
    conn: Connection, cluster_id: int, campaign_ids: Collection[int]
) -> dict[int, dict[str, list[EarlierInput]]]:
    """By campaign, and by the name that tasks know it by: what was there before, the last one first."""
    earlier = EarlierInputs.c
    wanted = select(earlier.campaign_id, earlier.inputs).where(
        earlier.cluster_id == cluster_id, earlier.campaign_id.in_(id_list(campaign_ids))
    )
    found: dict[int, dict[str, list[EarlierInput]]] = defaultdict(dict)
    for campaign_id, inputs in conn.execute(wanted.order_by(earlier.campaign_id, earlier.version.desc())):
        for each in inputs:
            known, old = found[campaign_id].setdefault(each["to"], []), EarlierInput(each["sha256"], each["packed"])
            known += [] if old in known else [old]
    return found


def _sizes(conn: Connection, sums: Collection[str]) -> dict[str, int]:
    stored = select(StoredInput.c.sha256, StoredInput.c.size).where(StoredInput.c.sha256.in_(sums))
    return {sha256: size for sha256, size in conn.execute(stored)}


def _new_inputs(conn: Connection, campaign_id: int, sums: Mapping[str, str]) -> list[NewInput]:
    """Those that it had at no time."""
    had = select(CampaignInput.c.sha256).where(CampaignInput.c.campaign_id == campaign_id)
    known = set(conn.scalars(had))
    return [NewInput(path, sha256) for path, sha256 in sums.items() if sha256 not in known]


def _changed(inputs: SettingsInputs, sums: Mapping[str, str], sizes: Mapping[str, int]) -> SettingsInputs:
    return [
        {**each, "sha256": sums[each["path"]], "size": sizes[sums[each["path"]]]} if each.get("path") in sums else each
        for each in inputs
    ]


def _rewritten(block: Mapping[str, Any], sums: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, Any]:
    """A description, or a part of it, that names them."""
    changed = dict(block)
    for key, value in block.items():
        if key.lower() == "inputs" and isinstance(value, list):
            changed[key] = _changed(value, sums, sizes)
        elif key.lower() == "clusters" and isinstance(value, dict):
            changed[key] = {
                name: _rewritten(own, sums, sizes) if isinstance(own, dict) else own for name, own in value.items()
            }
    return changed


def _put_version(conn: Connection, campaign_id: int, cluster_id: int, version: int, inputs: SettingsInputs) -> None:
    """What tasks have had until now; jobs that still have it are known by the number."""
    values = {"campaign_id": campaign_id, "cluster_id": cluster_id, "version": version, "inputs": inputs}
    conn.execute(insert(EarlierInputs).values(**values, replaced_at=func.now()))


def _put_changed(conn: Connection, campaign_id: int, cluster_id: int, settings: Mapping[str, Any]) -> None:
    """No task starts there before they are there."""
    part, needed = CampaignCluster.c, CampaignClusterInput.c
    here = and_(part.campaign_id == campaign_id, part.cluster_id == cluster_id)
    changed = {"settings": dict(settings), "lacks_inputs": True, "inputs_version": part.inputs_version + 1}
    conn.execute(update(CampaignCluster).where(here).values(**changed))
    conn.execute(delete(CampaignClusterInput).where(needed.campaign_id == campaign_id, needed.cluster_id == cluster_id))
    rows = {(each["sha256"], each["packed"]) for each in settings["inputs"]}
    columns = ("campaign_id", "cluster_id", "sha256", "is_packed")
    values = [dict(zip(columns, (campaign_id, cluster_id, *row), strict=True)) for row in rows]
    conn.execute(upsert(CampaignClusterInput), values)


def _recall(conn: Connection, campaign_id: int, caller: Caller) -> tuple[int, int]:
    """How many jobs wait in queues with earlier inputs, and make way for others; and how many run, and go on?"""
    part = CampaignCluster.c
    live = (
        select(Job.c.id, Job.c.state)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .where(Job.c.campaign_id == campaign_id, Job.c.kind == JobKind.TASKS, Job.c.state != JobState.ENDED)
        .where(Batch.c.inputs_version < part.inputs_version)
    )
    jobs = conn.execute(live).all()
    waiting = [job.id for job in jobs if job.state is not JobState.RUNNING]
    request_kills(conn, waiting, KillReason.FAIRNESS, caller.user)
    return len(waiting), len(jobs) - len(waiting)
