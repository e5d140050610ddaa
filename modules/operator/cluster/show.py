"""`cigri cluster show`: one cluster, its configuration as `--file` takes it."""

from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_declarations import declared_clusters
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value
from cigri.formats.units import as_utc
from cigri.settings.cluster_config import parse_config
from modules.operator.cluster.declaration import to_toml


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster show",
        "Show the configuration, the state and the accounts of a cluster.",
        "  cigri cluster show dahu > dahu.toml\n  cigri cluster show dahu --json",
    )
    parser.add_argument("name")
    parser.add_argument("--json", action="store_true", help="for programs: what `cigri cluster list --json` says of it")
    options = parser.parse_args(argv)
    name = options.name
    with open_grid() as grid:
        [declared] = walk(grid, declared_clusters, names=[name])
    if options.json:
        print_json(to_json_value(declared))
        return 0
    standing = declared.standing
    print(f"# cluster {name}: {standing.state}")
    if standing.visited_at:
        print(f"# visited {as_utc(standing.visited_at)}: {standing.free} of {standing.total} cores free")
    if standing.blocked_until:
        print(f"# {standing.failures} visits in a row failed; next try {as_utc(standing.blocked_until)}")
    print(f"# our jobs: {standing.waiting} waiting, {standing.running} running")
    for grid_user, local_user in declared.accounts:
        print(escape_text(f"# the jobs of {grid_user} run as {local_user}"))
    print(to_toml(parse_config(name, standing.config)), end="")
    return 0
