"""`gridclusters`: which clusters there are, whether they can be used, and how full they are."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cigri.cli.command import DONE, Parser, command, complain, open_database, print_json
from cigri.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.clusters import ClusterView

EXAMPLES = """\
  gridclusters             all clusters: state, free cores, our jobs
  gridclusters -i dahu     all about one cluster
  gridclusters -b          bars: how full they are now
  gridclusters -u dahu     how full one was in the last day
  gridclusters -p dahu     what its queues and nodes have, and where each value comes from
  gridclusters --where 'memory >= 64 GB and not el7'     sites, clusters and queues that satisfy it"""
HOURS = 24.0
USAGE_LINES = 24  # periods of `-u`, whatever its length


@command
def main(argv: list[str]) -> int:
    asked = _parse(argv)
    from cigri.flow.views.campaigns import present

    with open_database() as database, database.snapshot() as conn:
        clusters, now = _clusters(conn, asked), present(conn)
        if asked.properties or asked.where is not None:
            return _resources(conn, {cluster.name for cluster in clusters}, asked)
        if asked.usage:
            return _usage(conn, clusters, asked)
    if asked.json:
        from cigri.cli.clusters import plain

        print_json([plain(cluster) for cluster in clusters])
    elif not clusters:
        complain("no cluster is declared; the operator adds one with `cigri cluster add`")
    else:
        _print(clusters, asked, now)
    return DONE


def _parse(argv: list[str]) -> Namespace:
    parser = Parser("gridclusters", "Show the clusters of the grid.", EXAMPLES)
    parser.add_argument("clusters", metavar="CLUSTER", nargs="*", help="names or ids; none: all")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("-i", "--infos", action="store_true", help="all about each cluster, but for secrets")
    view.add_argument("-u", "--usage", action="store_true", help=f"how full they were, in {USAGE_LINES} periods")
    view.add_argument("-b", "--bars", action="store_true", help="how full they are now, as bars")
    view.add_argument("-p", "--properties", action="store_true", help="what queues and nodes have, and why")
    view.add_argument("--where", metavar="EXPRESSION", help="the queues that satisfy it, by site and cluster")
    parser.add_argument("-P", "--project", default="", help="with -p and --where: as jobs of this project see them")
    parser.add_argument("--hours", metavar="N", type=_hours, help=f"with -u: look back so far (default {HOURS:g})")
    parser.add_argument("-H", "--headerless", action="store_true", help="tables without their first line")
    parser.add_argument("-d", "--dump", "--json", action="store_true", dest="json", help="JSON, for programs")
    asked = parser.parse_args(argv)
    if asked.hours is not None and not asked.usage:
        parser.error("--hours goes with -u")
    if asked.project and not asked.properties and asked.where is None:
        parser.error("--project goes with -p and --where")
    if asked.headerless and (asked.json or asked.bars or asked.infos or asked.where is not None):
        parser.error("-H goes with tables")
    if asked.json and asked.bars:
        parser.error("-b is for people; the figures are in `gridclusters --json`")
    return asked


def _clusters(conn: "Connection", asked: Namespace) -> "list[ClusterView]":
    from cigri.flow.views.clusters import list_cluster_views

    found = list_cluster_views(conn, asked.clusters or None)
    known = {name for cluster in found for name in (cluster.name, str(cluster.id))}
    if missing := [name for name in asked.clusters if name not in known]:
        raise NotFound(f"no cluster {', '.join(missing)}; `gridclusters` lists all")
    return found


def _print(clusters: "Sequence[ClusterView]", asked: Namespace, now: datetime) -> None:
    from cigri.cli.clusters import print_bars, print_info, print_list

    if asked.bars:
        print_bars(clusters)
    elif asked.infos:
        for i, cluster in enumerate(clusters):
            print("\n" if i else "", end="")
            print_info(cluster, now)
    else:
        print_list(clusters, asked.headerless)


def _usage(conn: "Connection", clusters: "Sequence[ClusterView]", asked: Namespace) -> int:
    from cigri.cli.clusters import print_usage
    from cigri.flow.views.clusters import list_usage

    past = timedelta(hours=asked.hours or HOURS)
    usage = list_usage(conn, [cluster.id for cluster in clusters], past, past / USAGE_LINES)
    if asked.json:
        print_json([row._asdict() for row in usage])
    elif usage:
        print_usage(usage, asked.headerless)
    else:
        complain(f"nothing is known of the last {asked.hours or HOURS:g} hours; --hours looks further back")
    return DONE


def _resources(conn: "Connection", names: set[str], asked: Namespace) -> int:
    from cigri.cli.properties import show_eligible, show_properties

    if asked.where is None:
        show_properties(conn, names, asked.project, as_json=asked.json, headerless=asked.headerless)
    elif not show_eligible(conn, names, asked.where, asked.project, as_json=asked.json):
        complain("no queue satisfies this; `gridclusters --properties` tells what they have")
    return DONE


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 100_000:
        raise ArgumentTypeError(f"{text!r} is no number of hours above 0")
    return hours
