"""What nodes a cluster has is asked now and then, after a visit that went well; a bad answer harms nothing else."""

import logging
from collections import Counter

from cigri.errors import TransportError, UnreadableOutput
from cigri.flow.clusters import ClusterRow
from cigri.flow.discovered_nodes import put_no_nodes, put_nodes
from cigri.gateway.requests import ListNodes
from cigri.runtime.pass_context import PassContext, PassReport

logger = logging.getLogger(__name__)


def discover(tools: PassContext, cluster: ClusterRow) -> PassReport:
    """Ask for the classes of its nodes, and store them; an answer that cannot be had is noted and warned of."""
    report: PassReport = Counter()
    try:
        classes = tools.gateway.request(cluster, tools.gateway.monitoring_account(cluster), ListNodes()) or []
    except (TransportError, UnreadableOutput) as error:
        logger.warning("Cluster %s: its nodes could not be read: %s", cluster.name, error)
        with tools.database.begin() as conn:
            put_no_nodes(conn, cluster, str(error))
        return report
    with tools.database.begin() as conn:
        if put_nodes(conn, cluster, classes):
            report["clusters with other nodes"] = 1
    return report
