"""Keeps tables and disks small: old campaigns leave the hot tables and clusters, old history is forgotten."""

import logging
from collections import Counter, defaultdict
from shutil import rmtree

from cigri.database import server_time
from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.archive import (
    LeftoverFiles,
    archive_campaign,
    forget,
    forget_durations,
    forget_pools,
    list_leftovers,
    list_old_campaigns,
    put_purged,
)
from cigri.flow.audit import forget_audit
from cigri.flow.campaigns import close_events_that_are_over
from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.grid_identity import grid_key
from cigri.flow.input_transfers import CachedInputKey, forget_cached, list_unused, put_cached
from cigri.flow.messages import forget_messages
from cigri.flow.ssh_keys import forget_keys
from cigri.flow.stored_inputs import forget_stored, list_unneeded
from cigri.flow.subscriptions import forget_subscriptions
from cigri.flow.tokens import forget_tokens
from cigri.flow.views.invariants import BROKEN_PROMISE, RULES, examine
from cigri.formats.units import DAY
from cigri.gateway.requests import DropCachedFiles, PurgeCampaign
from cigri.inputs.store import store_of
from cigri.outputs.store import stored_outputs
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.states import EventLevel
from cigri.wrapper.input_cache import CachedFile

logger = logging.getLogger(__name__)


def run_once(tools: PassContext) -> PassReport:
    """Purge, archive, forget, and check that the tables still agree."""
    limits = tools.settings.history
    report: PassReport = Counter()
    with tools.database.lock("cigri.janitor") as taken:
        if not taken:
            return report
        report["purged campaigns"] = _purge(tools, limits.purge_after)
        report["inputs removed from clusters"] = _drop_cached(tools, tools.settings.inputs.keep)
        report["inputs removed"] = _drop_stored(tools, tools.settings.inputs.keep)
        with tools.database.begin() as conn:
            old = list_old_campaigns(conn, limits.keep_hot)
        for campaign_id in old:
            with tools.database.begin() as conn:
                report["archived tasks"] += archive_campaign(conn, campaign_id)
        with tools.database.begin() as conn:
            close_events_that_are_over(conn)
            report["forgotten rows"] = forget(conn, limits.keep_usage, limits.keep_events)
            report["forgotten changes"] = forget_audit(conn, limits.keep_events)
            report["forgotten messages"] = forget_messages(conn, limits.keep_events)
            report["forgotten subscriptions"] = forget_subscriptions(conn)
            report["forgotten tokens"] = forget_tokens(conn, limits.keep_events)
            report["forgotten SSH keys"] = forget_keys(conn, limits.keep_events)
            report["removed pools"] = forget_pools(conn, tools.settings.resources.keep_pools)
            report["forgotten durations"] = forget_durations(conn, limits.keep_durations)
            sick = {finding.rule: finding for finding in examine(conn)}
            events = [NewEvent(BROKEN_PROMISE, EventLevel.ERROR, rule, str(finding)) for rule, finding in sick.items()]
            put_events(conn, events)
            close_events(conn, [BROKEN_PROMISE], [rule for rule in RULES if rule not in sick], "janitor")
            report["broken invariants"] = len(sick)
    return +report


def _purge(tools: PassContext, days: float) -> int:
    """Remove the files of each campaign wherever they are; a cluster that is away is tried again next time."""
    with tools.database.begin() as conn:
        leftovers = list_leftovers(conn, days)
        clusters = {cluster.id: cluster for cluster in list_clusters(conn, "janitor")}
        key = grid_key(conn)
    by_campaign: dict[int, list[LeftoverFiles]] = defaultdict(list)
    for leftover in leftovers:
        by_campaign[leftover.campaign_id].append(leftover)
    purged = [
        campaign_id
        for campaign_id, places in by_campaign.items()
        if all(_is_removed(tools, clusters.get(place.cluster_id), key, place) for place in places)
    ]
    with tools.database.begin() as conn:
        put_purged(conn, purged)
    for campaign_id in purged:
        rmtree(stored_outputs(tools.settings, campaign_id).root, ignore_errors=True)
    return len(purged)


def _drop_cached(tools: PassContext, days: float) -> int:
    """Of each account's cache on a cluster what nobody needs; a cluster that is away is tried again next time."""
    with tools.database.begin() as conn:
        clusters = {cluster.id: cluster for cluster in list_clusters(conn, "janitor")}
        key = grid_key(conn)
        by_account: dict[tuple[int, str], list[CachedInputKey]] = defaultdict(list)
        for place in list_unused(conn, days):
            if place.cluster_id in clusters:
                by_account[place.cluster_id, place.local_user].append(place)
    dropped = 0
    for (cluster_id, account), places in by_account.items():
        with tools.database.begin() as conn:  # first: what is sent there again meanwhile is looked for
            for place in places:
                forget_cached(conn, place)
        files = [CachedFile(place.sha256, place.is_packed) for place in places]
        try:
            tools.gateway.request(clusters[cluster_id], account, DropCachedFiles(key, files))
        except (TransportError, UnreadableOutput) as error:
            logger.warning("Cluster %s: inputs of %s are not removed: %s", clusters[cluster_id].name, account, error)
            with tools.database.begin() as conn:
                for place in places:
                    put_cached(conn, place, 0, is_there=False)
        else:
            dropped += len(files)
    return dropped


def _drop_stored(tools: PassContext, days: float) -> int:
    store = store_of(tools.settings)
    with tools.database.begin() as conn:
        store.forget_arriving(server_time(conn).timestamp() - days * DAY)
        sums = list_unneeded(conn, days)
        forget_stored(conn, sums)
        for sum in sums:
            store.forget(sum)
    return len(sums)


def _is_removed(tools: PassContext, cluster: ClusterRow | None, key: str, place: LeftoverFiles) -> bool:
    if cluster is None:
        return False
    try:
        tools.gateway.request(cluster, place.local_user, PurgeCampaign(key, place.campaign_id, place.batch_ids))
    except (TransportError, UnreadableOutput) as error:
        logger.warning("Campaign %s on %s: not purged: %s", place.campaign_id, cluster.name, error)
        return False
    return True
