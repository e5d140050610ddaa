"""What has come is removed from its cluster, as late as its campaign wants it."""

import logging
from collections import Counter, defaultdict

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.parcels import KeptParcel, list_kept, put_removed
from cigri.gateway.requests import DropParcels
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.wrapper import JobKey
from cigri.wrapper.output_fetching import OutputDirectory

logger = logging.getLogger(__name__)

AT_ONCE = 1000


def remove_collected(tools: PassContext, key: str, cluster: ClusterRow) -> PassReport:
    """Of each account; a cluster that is away is asked again next time."""
    report: PassReport = Counter()
    with tools.database.begin() as conn:
        kept = list_kept(conn, cluster.id, AT_ONCE)
    by_account: dict[str, list[KeptParcel]] = defaultdict(list)
    for parcel in kept:
        by_account[parcel.local_user].append(parcel)
    for account, parcels in by_account.items():
        places = [OutputDirectory(JobKey(p.campaign_id, p.batch_id, p.array_index), p.position) for p in parcels]
        try:
            tools.gateway.request(cluster, account, DropParcels(key, places))
        except (TransportError, UnreadableOutput) as error:
            logger.warning("Cluster %s: outputs of %s are not removed: %s", cluster.name, account, error)
            continue
        with tools.database.begin() as conn:
            put_removed(conn, parcels)
        report["outputs removed from clusters"] += len(parcels)
    return report
