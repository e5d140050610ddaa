"""`cigri doctor`: checks the promises of the tables and everything that may be stuck, and says what to do."""

import shutil
from datetime import timedelta

from sqlalchemy import Connection

from cigri.cli.command import Parser
from cigri.database import Database
from cigri.flow.anyone_to_clusters import grid_key, list_every_cluster
from cigri.flow.anyone_to_doctor import list_old_events, list_stuck
from cigri.flow.doctor_to_anyone import RULES, examine
from cigri.gateway import Gateway
from cigri.installation import database_url
from cigri.settings import Settings, load
from modules.operator import db, health, orphans

OLD_EVENT = timedelta(days=1)
SHOWN_EVENTS = 10
LEAST_SPACE = 2**30  # bytes
GOOD, BAD, ODD = "\N{CHECK MARK}", "\N{BALLOT X}", "!"
ADVICE = (
    '  Somebody changed the tables by hand, or this is a bug of CiGri: keep a dump (pg_dump "$(cigri db url)") and\n'
    "  the almighty's log, and report both; `cigri down` keeps it from spreading."
)
ABSENT = ["They have ended or were lost: the updator asks for their records at its next passes."]


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri doctor",
        "Check what must always be true, then what is late, old or stuck.\n"
        "Exit status 1: a promise is broken; what is only marked with ! does not count.",
        "  cigri doctor\n  cigri doctor --clusters",
    )
    parser.add_argument("--clusters", action="store_true", help="ask every cluster for jobs of ours that nobody knows")
    parser.add_argument("--kill-orphans", action="store_true", help="kill the jobs that --clusters finds")
    options = parser.parse_args(argv)
    if options.kill_orphans and not options.clusters:
        parser.error("--kill-orphans goes with --clusters")
    settings = load()
    print(f"{GOOD} the settings are valid")
    database = Database(database_url(settings), settings.database.lock_timeout)
    try:
        wrong = db.check(database)
        _tell("the schema is the one this CiGri needs", wrong, BAD)
        if wrong:
            return 1
        with database.begin() as conn:
            is_broken = _promises(conn)
            events = list_old_events(conn, OLD_EVENT)
            stuck = list_stuck(conn)
        if options.clusters:
            is_broken |= _clusters(database, kills=options.kill_orphans)
    finally:
        database.close()
    _others(settings, stuck)
    old = [f"{event.opened_at:%Y-%m-%d} {event.code} {event.subject}: {event.message}" for event in events]
    more = [f"and {len(old) - SHOWN_EVENTS} more: `gridevents`"] if len(old) > SHOWN_EVENTS else []
    _tell("no event has been open for more than a day", old[:SHOWN_EVENTS] + more, ODD)
    return 1 if is_broken else 0


def _promises(conn: Connection) -> bool:
    broken = {finding.rule: finding for finding in examine(conn)}
    for rule, statement in RULES.items():
        finding = broken.get(rule)
        if finding is None:
            print(f"{GOOD} {rule}")
            continue
        column = next(iter(statement.selected_columns))
        what = str(column) if getattr(column, "table", None) is not None else "campaigns.id"
        examples = ", ".join(map(str, finding.examples))
        print(f"{BAD} {rule}: not so {finding.times} times, {what} {examples}")
    if broken:
        print(ADVICE)
    return bool(broken)


def _clusters(database: Database, *, kills: bool) -> bool:
    """Whether a queue holds jobs of ours that the database does not know."""
    with database.begin() as conn:
        clusters, key = list_every_cluster(conn), grid_key(conn)
    gateway, has_orphans = Gateway(), False
    try:
        for cluster in clusters:
            found = orphans.compare(database, gateway, cluster, key)
            lines = [
                f"{job.remote_id} of {user}, {job.state}, named {job.tag}"
                for user, jobs in found.orphans.items()
                for job in jobs
            ]
            if lines and kills:
                lines.append(f"{orphans.kill(gateway, cluster, found.orphans)} of them were killed")
            elif lines:
                lines.append("kill them: `cigri doctor --clusters --kill-orphans`")
            has_orphans |= bool(lines)
            _tell(f"the database knows every job of ours on {cluster.name}", lines, BAD)
            absent = [f"job {job.job_id} ({job.remote_id or job.tag}) of {job.local_user}" for job in found.absent]
            _tell(f"{cluster.name} knows every job that was submitted to it", absent + ABSENT * bool(absent), ODD)
            _tell(f"every account of {cluster.name} answers", found.problems, ODD)
    finally:
        gateway.close()
    return has_orphans


def _others(settings: Settings, stuck: list[str]) -> None:
    seen = health.look(settings)
    _tell("everything runs that should", health.problems(seen, settings.almighty.deadline), ODD)
    failing = [
        f"{cluster.name}: {cluster.failures} visits in a row failed; `cigri cluster test {cluster.name}`"
        for cluster in seen.clusters
        if cluster.failures
    ]
    _tell("every cluster answers", failing, ODD)
    _tell("nothing is stuck", stuck, ODD)
    free = shutil.disk_usage(settings.data_directory).free if settings.data_directory.exists() else LEAST_SPACE
    little = [f"{free // 2**20} MB are left in {settings.data_directory}"] if free < LEAST_SPACE else []
    _tell("there is space on the disk", little, ODD)


def _tell(rule: str, wrong: list[str], mark: str) -> None:
    if not wrong:
        print(f"{GOOD} {rule}")
        return
    print(f"{mark} {rule}: not so")
    for line in wrong:
        print(f"  {line}")
