"""`cigri cluster show`: one cluster, its configuration as `--file` takes it."""

from cigri.cli.command import Parser, open_database, print_json, safe
from cigri.flow.views.clusters import list_cluster_standings, list_mappings
from cigri.text.units import as_utc
from modules.operator.cluster.declaration import to_toml
from modules.operator.cluster.declared import find
from modules.operator.cluster.list import plain


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster show",
        "Show the configuration, the state and the accounts of a cluster.",
        "  cigri cluster show dahu > dahu.toml\n  cigri cluster show dahu --json",
    )
    parser.add_argument("name")
    parser.add_argument("--json", action="store_true", help="for programs: what `cigri cluster list --json` says of it")
    options = parser.parse_args(argv)
    name = options.name
    with open_database() as database, database.begin() as conn:
        config = find(conn, name).config
        standing = next(each for each in list_cluster_standings(conn) if each.name == name)
        mappings = list_mappings(conn, name)
    if options.json:
        print_json(plain(standing, mappings))
        return 0
    print(f"# cluster {name}: {standing.state}")
    if standing.visited_at:
        print(f"# visited {as_utc(standing.visited_at)}: {standing.free} of {standing.total} cores free")
    if standing.blocked_until:
        print(f"# {standing.failures} visits in a row failed; next try {as_utc(standing.blocked_until)}")
    print(f"# our jobs: {standing.waiting} waiting, {standing.running} running")
    for grid_user, local_user in mappings:
        print(safe(f"# the jobs of {grid_user} run as {local_user}"))
    print(to_toml(config), end="")
    return 0
