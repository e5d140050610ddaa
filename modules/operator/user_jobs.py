"""What the doctor finds out about jobs of users: whether one runs on each cluster, and whether one can at all here."""

import os
import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from cigri.api_models.health import CheckStatus, HealthCheck
from cigri.cli.command import grid_user
from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow.clusters import list_every_cluster
from cigri.flow.grid_identity import grid_key
from cigri.flow.views.clusters import list_mappings
from cigri.gateway.transport_gateway import TransportGateway
from cigri.installation import has_services
from cigri.presentation.health_checks import check
from cigri.settings.sections import Settings
from modules.operator.cluster.check_steps import ClusterUnderTest, StepFailed, StepWarning
from modules.operator.cluster.test import PROBE_STEPS
from modules.operator.installation_health import InstallationHealth

PATIENCE_FOR_JOB = 120.0  # seconds on each cluster
NO_SUDO = re.compile(r"^NoNewPrivs:\s*1$", re.MULTILINE)
HOW_TO = "docs/how-to/set-up-a-site.md, This host as a cluster"


def check_jobs(database: Database, user: str) -> Iterator[HealthCheck]:
    """Run a job of this user of the grid on each cluster that is enabled, one after the other."""
    options = Namespace(queue="", project="", normal=False, patience=PATIENCE_FOR_JOB)
    with database.begin() as conn:
        clusters, key = list_every_cluster(conn), grid_key(conn)
        accounts = {
            cluster.name: {mapping.grid_user: mapping.local_user for mapping in list_mappings(conn, cluster.name)}
            for cluster in clusters
        }
    gateway = TransportGateway()
    try:
        for declared in clusters:
            if declared.is_enabled:
                cluster = declared._replace(config=declared.config.in_use)
                account = accounts[cluster.name].get(user, user)
                wrong = _failure(ClusterUnderTest(cluster, key, account, gateway, database, options))
                yield check(f"a job of {user} runs on {cluster.name}", wrong, CheckStatus.BROKEN)
    finally:
        gateway.close()


def _failure(patient: ClusterUnderTest) -> list[str]:
    """What the first step says that fails, and what to do; empty: none does."""
    for name, step in PROBE_STEPS.items():
        try:
            step(patient)
        except StepWarning:
            continue
        except CigriError as error:
            advice = error.advice if isinstance(error, StepFailed) else ""
            return [f"{name}: {error}", *[advice] * bool(advice)]
    return []


def check_sudo(settings: Settings, health: InstallationHealth) -> HealthCheck:
    """Jobs of other accounts are started here by sudo, which a service may be forbidden, where the doctor is not."""
    local = [cluster.name for cluster in health.clusters if cluster.is_enabled and not cluster.config.get("ssh")]
    wrong = []
    if local and has_services(settings) and os.geteuid() != 0 and _is_forbidden(health.almighty):
        wrong.append(
            f"{', '.join(local)}: the almighty (process {health.almighty}) may not use sudo (NoNewPrivileges), so only "
            f"jobs of {grid_user()} run there: {HOW_TO}"
        )
    return check("jobs of all accounts can be started on this host", wrong)


def _is_forbidden(pid: int | None) -> bool:
    try:
        return pid is not None and bool(NO_SUDO.search(Path(f"/proc/{pid}/status").read_text()))
    except OSError:  # it has just ended
        return False
