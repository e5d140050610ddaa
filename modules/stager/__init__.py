"""Moves files: inputs of campaigns to clusters, before tasks start there, and outputs of ended tasks back.

What takes long goes on while the next modules have their turn, and after this process was killed where it was.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection

from cigri.flow.clusters import ClusterRow, list_clusters
from cigri.flow.grid_identity import grid_key
from cigri.flow.input_transfers import MissingInput, list_missing_inputs, put_complete
from cigri.flow.parcels import CollectingCampaign, list_collecting, list_removable, put_outputs_wait
from cigri.flow.stored_outputs import list_users_without_room
from cigri.flow.task_places import list_lacked_by_tasks, put_furnished
from cigri.formats.units import MEGABYTE
from cigri.outputs.store import users_of_store
from cigri.runtime.failure_isolation import isolated_visit
from cigri.runtime.pass_context import PassContext, PassReport, combine_reports
from modules.stager.collecting import collect_outputs
from modules.stager.placing import place_tasks
from modules.stager.removing import remove_collected
from modules.stager.sending import send_lacked

SHORT_VISIT = 0.2  # seconds that the other modules wait for what is small


class Transfers(NamedTuple):
    """What is to be done on clusters, by their ids."""

    lacked: dict[int, list[MissingInput]]
    collecting: dict[int, list[CollectingCampaign]]
    removable: Sequence[int]

    @property
    def clusters(self) -> set[int]:
        return {*self.lacked, *self.collecting, *self.removable}


def run_once(tools: PassContext) -> PassReport:
    """Visit each cluster on which inputs are lacked, or that has outputs which are to come."""
    with tools.database.begin() as conn:
        placed = place_tasks(conn, tools.settings)
    with tools.database.begin() as conn:
        complete, furnished = put_complete(conn), put_furnished(conn)
        limits = tools.settings.outputs
        without_room = users_of_store(list_users_without_room(conn, limits.of_user * MEGABYTE))
        put_outputs_wait(conn, limits.most * MEGABYTE, without_room)
        transfers = _list_transfers(conn)
        clusters = list_clusters(conn, "stager") if transfers.clusters else []
        key = grid_key(conn)
    clusters = [cluster for cluster in clusters if cluster.is_enabled and cluster.id in transfers.clusters]
    visit = isolated_visit(tools, "stager", partial(_visit, tools, key, transfers))
    report = combine_reports(tools.gateway.visit(clusters, visit, SHORT_VISIT)) if clusters else Counter[str]()
    report.pop("late clusters", None)  # they go on
    if report["files sent"]:
        with tools.database.begin() as conn:
            complete, furnished = complete + put_complete(conn), furnished + put_furnished(conn)
    report["campaigns with all their inputs on a cluster"] = complete
    report["tasks with their inputs on a cluster"] = furnished
    return +(report + placed)


def _list_transfers(conn: Connection) -> Transfers:
    transfers = Transfers(defaultdict(list), defaultdict(list), list_removable(conn))
    for needed in (*list_missing_inputs(conn), *list_lacked_by_tasks(conn)):
        transfers.lacked[needed.cluster_id].append(needed)
    for share in list_collecting(conn):
        transfers.collecting[share.cluster_id].append(share)
    return transfers


def _visit(tools: PassContext, key: str, transfers: Transfers, cluster: ClusterRow) -> PassReport:
    """Each way in turn, for as many bytes as it may have."""
    with tools.database.lock(f"cigri.stager.{cluster.id}") as taken:
        if not taken:
            return Counter({"locked clusters": 1})
        report = send_lacked(tools, key, cluster, transfers.lacked.get(cluster.id, ()))
        report.update(collect_outputs(tools, key, transfers.collecting.get(cluster.id, ()), cluster))
        report.update(remove_collected(tools, key, cluster))
        return report
