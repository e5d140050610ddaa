"""`gridclusters`: which clusters there are, whether they can be used, and how full they are."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence

from cigri.api_models.clusters import ClusterStatus
from cigri.cli.command import DONE, CommandParser, command, print_error, print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.clusters import (
    LONGEST_PAST,
    PERIODS,
    cluster_hours,
    cluster_usage,
    clusters,
    eligible_queues,
    properties,
)
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value

EXAMPLES = """\
  gridclusters             all clusters: state, free cores, our jobs
  gridclusters -i dahu     all about one cluster
  gridclusters -b          bars: how full they are now
  gridclusters -u dahu     how full one was in the last day
  gridclusters -p dahu     what its queues and nodes have, and where each value comes from
  gridclusters --where 'memory >= 64 GB and not el7'     sites, clusters and queues that satisfy it"""
HOURS = 24.0


@command
def main(argv: list[str]) -> int:
    """Exit status 1 when a cluster that is named is not there, 0 also when nothing satisfies `--where`."""
    asked = _parse(argv)
    with open_grid() as grid:
        if asked.where is not None:
            return _eligible(grid, asked)
        if asked.properties:
            return _properties(grid, asked)
        if asked.usage:
            return _usage(grid, asked)
        told = walk(grid, clusters, names=asked.clusters)
        hours = grid.call(cluster_hours, names=asked.clusters) if asked.infos else {}
    if asked.json:
        print_json(to_json_value(told))
    elif not told:
        print_error("no cluster is declared; the operator adds one with `cigri cluster add`")
    else:
        _print(told, hours, asked)
    return DONE


def _parse(argv: list[str]) -> Namespace:
    parser = CommandParser("gridclusters", "Show the clusters of the grid.", EXAMPLES)
    parser.add_argument("clusters", metavar="CLUSTER", nargs="*", help="names or ids; none: all")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("-i", "--infos", action="store_true", help="all about each cluster, but for secrets")
    view.add_argument("-u", "--usage", action="store_true", help=f"how full they were, in {PERIODS} periods")
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


def _print(told: Sequence[ClusterStatus], hours: Mapping[str, str], asked: Namespace) -> None:
    from cigri.cli.clusters import print_bars, print_info, print_list

    if asked.bars:
        print_bars(told)
    elif asked.infos:
        for i, status in enumerate(told):
            print("\n" if i else "", end="")
            print_info(status, hours.get(status.cluster.name, ""))
    else:
        print_list(told, asked.headerless)


def _usage(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.clusters import print_usage

    usage = walk(grid, cluster_usage, names=asked.clusters, hours=asked.hours or HOURS)
    if asked.json:
        print_json(to_json_value(usage))
    elif usage:
        print_usage(usage, asked.headerless)
    else:
        print_error(f"nothing is known of the last {asked.hours or HOURS:g} hours; --hours looks further back")
    return DONE


def _properties(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.properties import print_properties

    queues = walk(grid, properties, names=asked.clusters, project=asked.project)
    if asked.json:
        print_json(to_json_value(queues))
    else:
        print_properties(queues, asked.headerless)
    return DONE


def _eligible(grid: GridClient, asked: Namespace) -> int:
    from cigri.cli.properties import print_eligible

    tree = grid.call(eligible_queues, where=asked.where, names=asked.clusters, project=asked.project)
    if asked.json:
        print_json(tree)
    else:
        print_eligible(tree)
    if not tree:
        print_error("no queue satisfies this; `gridclusters --properties` tells what they have")
    return DONE


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= LONGEST_PAST:
        raise ArgumentTypeError(f"{text!r} is no number of hours above 0")
    return hours
