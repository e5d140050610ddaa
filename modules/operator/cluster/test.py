"""`cigri cluster test`: step by step, everything that CiGri does on a cluster, up to a real job and its record."""

import time
from collections.abc import Callable

from cigri.cli.command import CommandParser, escape_text, open_database
from cigri.errors import CigriError
from cigri.flow.grid_identity import grid_key
from cigri.gateway.transport_gateway import TransportGateway
from modules.operator.cluster import check_steps
from modules.operator.cluster.check_job import run_job
from modules.operator.cluster.check_steps import ClusterUnderTest, StepFailed, StepWarning
from modules.operator.cluster.declaration import find

GOOD, BAD, ODD, SKIPPED = "\N{CHECK MARK}", "\N{BALLOT X}", "!", "-"
ProbeStep = Callable[[ClusterUnderTest], str]
PROBE_STEPS: dict[str, ProbeStep] = {
    "configuration": check_steps.configuration,
    "reach": check_steps.reach,
    "login": check_steps.login,
    "account": check_steps.account,
    "directory": check_steps.directory,
    "clock": check_steps.clock,
    "batch system": check_steps.batch_system,
    "capacity": check_steps.capacity,
    "nodes": check_steps.nodes,
    "job": run_job,
}


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster test",
        "Try what CiGri does on a cluster and say what works: reach, login and host key, account, directory, clock,\n"
        "batch system, capacity, nodes, and a real job there and back. No campaign is touched.\n"
        "Exit status 1: a step failed.",
        "  cigri cluster test dahu\n  cigri cluster test dahu --as alice --queue short",
    )
    parser.add_argument("name")
    parser.add_argument("--as", dest="user", default="", metavar="ACCOUNT", help="whose job; default: the visitor's")
    parser.add_argument("--queue", default="", help="of the job")
    parser.add_argument("--project", default="", help="of the job")
    parser.add_argument("--normal", action="store_true", help="a normal job, not best-effort")
    parser.add_argument("--patience", type=float, default=120.0, metavar="SECONDS", help="for the job (default 120)")
    options = parser.parse_args(argv)
    gateway = TransportGateway()
    try:
        with open_database() as database:
            with database.begin() as conn:
                declared, key = find(conn, options.name), grid_key(conn)
            cluster = declared._replace(config=declared.config.in_use)
            user = options.user or gateway.monitoring_account(cluster)
            return examine(ClusterUnderTest(cluster, key, user, gateway, database, options))
    finally:
        gateway.close()


def examine(patient: ClusterUnderTest) -> int:
    """Print a line a step; after a failure the others are not tried."""
    has_failed = False
    for name, step in PROBE_STEPS.items():
        if has_failed:
            print(f"{SKIPPED} {name:14}not tried")
            continue
        started = time.monotonic()
        try:
            mark, detail, advice = GOOD, step(patient), ""
        except StepWarning as doubt:
            mark, detail, advice = ODD, str(doubt), doubt.advice
        except CigriError as error:
            mark, detail, advice = BAD, str(error), error.advice if isinstance(error, StepFailed) else ""
            has_failed = True
        milliseconds = (time.monotonic() - started) * 1000
        print(f"{mark} {name:14}{escape_text(detail)} ({milliseconds:.0f} ms)", flush=True)
        if advice:
            print(f"  {'':14}{escape_text(advice)}")
    return 1 if has_failed else 0
