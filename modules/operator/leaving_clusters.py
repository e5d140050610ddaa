"""What `cigri uninstall --clusters` does there: kills this grid's jobs, and removes its copies of inputs."""

from cigri.cli.command import print_error
from cigri.database import Database
from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow, list_every_cluster
from cigri.flow.grid_identity import grid_key
from cigri.flow.input_transfers import CachedInputKey, list_all_cached
from cigri.flow.views.stuck_items import list_accounts
from cigri.gateway.requests import CancelJobs, DropCachedFiles, ListJobs
from cigri.gateway.transport_gateway import TransportGateway
from cigri.wrapper.input_cache import CachedFile


def leave_clusters(database: Database) -> bool:
    """Return whether all accounts of all clusters could be asked; what tasks wrote is never touched.

    No module may run meanwhile, or it would send jobs again.
    """
    with database.begin() as conn:
        clusters, key, cached = list_every_cluster(conn), grid_key(conn), list_all_cached(conn)
        accounts = {cluster.id: list_accounts(conn, cluster.id) for cluster in clusters}
    gateway, is_left = TransportGateway(), True
    try:
        for cluster in clusters:
            for account in accounts[cluster.id]:
                copies = [one for one in cached if (one.cluster_id, one.local_user) == (cluster.id, account)]
                is_left &= _leave(gateway, cluster, account, key, copies)
    finally:
        gateway.close()
    return is_left


def _leave(
    gateway: TransportGateway, cluster: ClusterRow, account: str, key: str, copies: list[CachedInputKey]
) -> bool:
    """Return False where the cluster does not answer, which is told."""
    try:
        jobs = gateway.request(cluster, account, ListJobs(f"cigri.{key}."))
        if jobs:
            gateway.request(cluster, account, CancelJobs([job.remote_id for job in jobs]))
        if copies:
            files = [CachedFile(one.sha256, one.is_packed) for one in copies]
            gateway.request(cluster, account, DropCachedFiles(key, files))
    except (TransportError, UnreadableOutput) as error:
        print_error(f"cluster {cluster.name}, account {account}: {error}")
        return False
    print(f"Cluster {cluster.name}, account {account}: {len(jobs)} jobs are killed, {len(copies)} inputs removed")
    return True
