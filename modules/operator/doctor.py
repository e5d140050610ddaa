"""`cigri doctor`: checks the promises of the tables and everything that may be stuck, and says what to do."""

from argparse import Namespace

from sqlalchemy import Connection

from cigri.api_models.health import CheckStatus
from cigri.cli.command import CommandParser, print_json
from cigri.database import Database
from cigri.flow.clusters import list_every_cluster
from cigri.flow.grid_identity import grid_key, require_grid_identity
from cigri.flow.views.invariants import RULES, examine
from cigri.flow.views.stuck_items import list_old_events, list_stuck
from cigri.gateway.transport_gateway import TransportGateway
from cigri.installation import database_place, database_url, free_space
from cigri.presentation import health_checks
from cigri.settings.loading import load, load_effective
from cigri.settings.sections import Settings
from modules.operator import adoption, audit_chain, data_directory, db, installation_health, job_differences, user_jobs
from modules.operator.health_checks import HealthCheckList

ADVICE = (
    "Somebody changed the tables by hand, or this is a bug of CiGri: keep a dump, for yourself alone (`umask 077;",
    'pg_dump "$(cigri db url)"`), and the almighty\'s log, and report both; `cigri down` keeps it from spreading.',
)
ABSENT = ["They have ended or were lost: the updator asks for their records at its next passes."]


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri doctor",
        "Check what must always be true, then what is late, old or stuck.\n"
        "Exit status 1: a promise is broken; what is only marked with ! does not count.",
        "  cigri doctor\n  cigri doctor --clusters\n  cigri doctor --clusters --adopt\n  cigri doctor --as alice\n"
        "  cigri doctor --audit\n  cigri doctor --json",
    )
    parser.add_argument("--clusters", action="store_true", help="find CiGri jobs on clusters unknown to the database")
    parser.add_argument(
        "--adopt", action="store_true", help="take over what --clusters finds of a life of this grid before a restore"
    )
    parser.add_argument("--kill-orphans", action="store_true", help="kill the jobs that --clusters finds, and are left")
    parser.add_argument(
        "--audit", action="store_true", help="verify the chain of hashes of the audit trail, and print its head"
    )
    parser.add_argument(
        "--since", metavar="HEAD", help="with --audit: the trail goes on from this head, which was kept elsewhere"
    )
    parser.add_argument(
        "--as",
        dest="user",
        metavar="USER",
        help="run a job of this user on every cluster, as `cigri cluster test`",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    if options.since is not None and not options.audit:
        parser.error("--since goes with --audit")
    options.since = None if options.since is None else audit_chain.parse_head(options.since)
    if (options.kill_orphans or options.adopt) and not options.clusters:
        parser.error("--kill-orphans and --adopt go with --clusters")
    checks = HealthCheckList(prints=not options.json)
    _check(load(), checks, options)
    if options.json:
        print_json(checks.plain())
    return 1 if checks.is_broken else 0


def _check(settings: Settings, checks: HealthCheckList, options: Namespace) -> None:
    checks.tell("the settings are valid", [], CheckStatus.BROKEN)
    if settings.database.url:
        wrong = data_directory.open_settings(load_effective().origins["database.url"])
        problem = "other users can read where the database is"
        checks.tell("nobody else can read where the database is", wrong, CheckStatus.ODD, problem)
    is_open = data_directory.open_directories(settings)
    problem = "other users can get at directories of the grid"
    checks.tell("the directories of the grid are private", is_open, CheckStatus.ODD, problem)
    database = Database(database_url(settings), settings.database.lock_timeout)
    try:
        checks.tell("the schema is the one this CiGri needs", db.check(database), CheckStatus.BROKEN)
        if checks.is_broken:
            return
        with database.begin() as conn:
            _promises(conn, checks)
            events = list_old_events(conn, health_checks.OLD_EVENT)
            stuck = list_stuck(conn)
        if options.audit:
            _audit(database, checks, options.since)
        if options.clusters:
            with database.begin() as conn:
                require_grid_identity(conn, database_place(settings))
            _clusters(database, checks, adopts=options.adopt, kills=options.kill_orphans)
        if options.user is not None:
            for made in user_jobs.check_jobs(database, options.user):
                checks.add(made)
    finally:
        database.close()
    _others(settings, stuck, checks)
    checks.add(health_checks.check_events(events))


def _promises(conn: Connection, checks: HealthCheckList) -> None:
    broken = {finding.rule: finding for finding in examine(conn)}
    for rule, statement in RULES.items():
        finding = broken.get(rule)
        if finding is None:
            checks.tell(rule, [], CheckStatus.BROKEN)
            continue
        column = next(iter(statement.selected_columns))
        what = str(column) if getattr(column, "table", None) is not None else "campaigns.id"
        examples = ", ".join(map(str, finding.examples))
        checks.tell(rule, [f"{finding.times} times, {what} {examples}", *ADVICE], CheckStatus.BROKEN)


def _audit(database: Database, checks: HealthCheckList, since: audit_chain.AuditHead | None) -> None:
    with database.snapshot() as conn:
        verdict = audit_chain.verify(conn, since)
    rule = f"the audit trail is as it was written, up to {verdict.head}"
    checks.tell(rule, verdict.wrong, CheckStatus.BROKEN, "the audit trail was changed")


def _clusters(database: Database, checks: HealthCheckList, *, adopts: bool, kills: bool) -> None:
    with database.begin() as conn:
        clusters, key = list_every_cluster(conn), grid_key(conn)
    gateway = TransportGateway()
    try:
        for cluster in clusters:
            older = adoption.look(database, gateway, cluster, key, adopts=adopts)
            differences = job_differences.compare(database, gateway, cluster, key)
            lines = [
                f"{job.remote_id} of {user}, {job.state}, named {job.tag}"
                for user, jobs in differences.orphans.items()
                for job in jobs
            ]
            if lines and kills:
                lines.append(f"{job_differences.kill(gateway, cluster, differences.orphans)} of them were killed")
            elif lines:
                lines.append("adopt them: `cigri doctor --clusters --adopt`; or kill them: `--kill-orphans`")
            checks.tell(
                f"the database knows all CiGri jobs on {cluster.name}",
                lines,
                CheckStatus.BROKEN,
                f"{cluster.name} has CiGri jobs unknown to the database",
            )
            checks.tell(
                f"{cluster.name} has no files of an earlier installation of this grid",
                older,
                CheckStatus.ODD,
                f"{cluster.name} has files of an earlier installation of this grid",
            )
            absent = [
                f"job {job.job_id} ({job.remote_id or job.tag}) of {job.local_user}" for job in differences.absent
            ]
            checks.tell(
                f"{cluster.name} knows all jobs that the database has there",
                absent + ABSENT * bool(absent),
                CheckStatus.ODD,
                f"the database has jobs unknown to {cluster.name}",
            )
            checks.tell(
                f"all accounts of {cluster.name} can be used",
                differences.problems,
                CheckStatus.ODD,
                f"accounts of {cluster.name} cannot be used",
            )
    finally:
        gateway.close()


def _others(settings: Settings, stuck: list[str], checks: HealthCheckList) -> None:
    seen = installation_health.read_health(settings)
    checks.add(health_checks.check_programs(installation_health.problems(seen, settings.almighty.deadline)))
    checks.add(user_jobs.check_sudo(settings, seen))
    checks.add(health_checks.check_clusters(seen.clusters))
    checks.add(health_checks.check_clocks(seen.clusters))
    checks.add(health_checks.check_stuck(stuck))
    checks.add(health_checks.check_space(free_space(settings.data_directory), settings.data_directory))
