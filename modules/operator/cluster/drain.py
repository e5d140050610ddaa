"""`cigri cluster drain`: no more jobs, and those that run are told when they must be over."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from cigri.cli.command import Parser, grid_user, open_database
from cigri.database import server_time
from cigri.errors import UsageError
from cigri.flow.drains import DrainWish, put_drain
from cigri.settings.cluster import ClusterConfig
from cigri.text.units import as_local, read_date, read_duration
from modules.operator.cluster.declared import find

EXAMPLES = """\
  cigri cluster drain dahu --by 2026-12-01T08:00
  cigri cluster drain dahu --by +2h --kill
  cigri cluster drain dahu --by +30min --kill --keep 64"""
TIMES = "YYYY-MM-DDTHH:MM, or +90s, +30min, +2h, +1d"


def run(argv: list[str]) -> int:
    parser = Parser(
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
    with open_database() as database, database.begin() as conn:
        deadline = parse_deadline(conn, options.name, find(conn, options.name).config, options.by)
        put_drain(conn, options.name, DrainWish(deadline, options.kill, options.keep, grid_user()))
    print(f"Cluster {options.name} gets no new jobs; what runs is to end by {as_local(deadline)}")
    print("`gridevents --global --all` shows what becomes of it")
    return 0


def parse_deadline(conn: Connection, name: str, config: ClusterConfig, text: str) -> datetime:
    """A time that leaves the jobs of the cluster the notice that they were promised."""
    now = server_time(conn)
    deadline = parse_time(text, now)
    notice = config.features.grace_secs_job
    if deadline < now + timedelta(seconds=notice):
        promise = f"jobs on {name} are promised a notice of {notice} s (features.grace_secs_job)"
        raise UsageError(f"--by {text} is too soon: {promise}")
    return deadline


def parse_time(text: str, now: datetime) -> datetime:
    """A moment, or so long from now; without a time zone it is this host's."""
    try:
        if not text.startswith("+"):
            return read_date(text, None)
        if (ahead := read_duration(text[1:])) is not None:
            return now + timedelta(seconds=float(ahead))
    except OverflowError:
        pass
    except ValueError as error:
        raise UsageError(f"--by takes {TIMES}: {error}") from None
    raise UsageError(f"--by takes {TIMES}, not {text!r}")
