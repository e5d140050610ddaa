"""`cigri cluster drain`: no more jobs, and those that run are told when they must be over."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_changes import drain_cluster
from cigri.formats.units import localised
from cigri.settings.deadlines import TIMES, with_zone

EXAMPLES = """\
  cigri cluster drain dahu --by 2026-12-01T08:00
  cigri cluster drain dahu --by +2h --kill
  cigri cluster drain dahu --by +30min --kill --keep 64"""


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster drain",
        "Give the cluster no new jobs. Jobs that wait there and could not end in time are taken back; those that run\n"
        "and could last longer find the time in $JOBFEATURES/shutdowntime_job, and all in\n"
        "$MACHINEFEATURES/shutdowntime. `cigri cluster undrain` ends it.",
        EXAMPLES,
    )
    parser.add_argument("name")
    parser.add_argument("--by", metavar="TIME", required=True, help=TIMES)
    parser.add_argument("--kill", action="store_true", help="kill what still runs then; else it is left to run")
    parser.add_argument("--keep", metavar="CORES", type=int, default=0, help="let jobs with so many cores run on")
    options = parser.parse_args(argv)
    if options.keep < 0:
        parser.error("--keep takes a number of cores")
    with open_grid() as grid:
        asked = {"cluster": options.name, "by": with_zone(options.by), "kill": options.kill, "keep": options.keep}
        print(escape_text(localised(grid.call(drain_cluster, **asked).message)))
    print("`gridevents --global --all` shows what becomes of it")
    return 0
