"""What runs and what does not: read for `cigri status` and `cigri doctor`; what is wrong is pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from cigri.api_models.clusters import ClusterSnapshot
from cigri.database import Database, embedded, schema, server_time
from cigri.errors import DatabaseUnavailable
from cigri.flow.module_passes import ModuleStatus, list_module_standings
from cigri.flow.processes import StalledProcess, list_stalled
from cigri.flow.views.clusters import list_cluster_standings
from cigri.flow.views.stuck_items import count_open_events
from cigri.installation import has_services
from cigri.presentation.health_checks import PORTAL_UNIT, advise_start, module_faults
from cigri.settings.sections import Settings
from modules.operator import data_directory


class InstallationHealth(NamedTuple):
    """All that could be read; `now` is the database's time, None when it does not answer (see `trouble`)."""

    place: str
    trouble: str
    revision: str | None
    wanted: str
    now: datetime | None
    almighty: int | None
    has_died: bool
    portal: int | None
    has_portal_died: bool
    modules: Sequence[ModuleStatus]
    clusters: Sequence[ClusterSnapshot]
    events: dict[str, int]
    stalled: Sequence[StalledProcess] = ()
    is_stopped: bool = False
    """Whether a signal keeps the almighty of this host from going on."""
    has_services: bool = False
    """Whether systemd, and not `cigri up`, is to start what has died."""

    @property
    def is_current(self) -> bool:
        """Whether the schema is the one that this code needs; False when none could be read."""
        return self.revision == self.wanted


def read_health(settings: Settings) -> InstallationHealth:
    """Never raises DatabaseUnavailable: why the database does not answer stands in `trouble`."""
    almighty, portal = data_directory.almighty(settings), data_directory.portal(settings)
    directory = data_directory.database_directory(settings)
    place = hidden(settings.database.url) or f"embedded, in {directory}"
    health = InstallationHealth(
        place,
        "",
        None,
        schema.newest(),
        None,
        almighty.pid(),
        almighty.has_died(),
        portal.pid(),
        portal.has_died(),
        (),
        (),
        {},
        is_stopped=almighty.is_stopped(),
        has_services=has_services(settings),
    )
    try:
        database = Database(settings.database.url or embedded.url(directory), settings.database.lock_timeout)
    except DatabaseUnavailable as error:
        return health._replace(trouble=str(error))
    try:
        with database.begin() as conn:
            health = health._replace(revision=schema.current(conn), now=server_time(conn))
            if health.is_current:
                health = health._replace(
                    modules=list_module_standings(conn),
                    clusters=list_cluster_standings(conn),
                    events=count_open_events(conn),
                    stalled=list_stalled(conn),
                )
    except DatabaseUnavailable as error:
        return health._replace(trouble=str(error), now=None)
    finally:
        database.close()
    return health


def problems(health: InstallationHealth, longest_pass: float) -> list[str]:
    """One sentence for each thing that should run and does not; pure."""
    stopped = [
        f"the almighty (process {health.almighty}) is stopped by a signal, and nothing goes on: "
        f"`kill -CONT {health.almighty}` lets it go on, `cigri down` ends it"
    ] * health.is_stopped
    if health.trouble:
        return [health.trouble, *stopped]
    if not health.is_current:
        return [schema.advise(health.revision)]
    assert health.now is not None
    is_cycled = health.almighty is not None
    faults = module_faults(
        health.modules,
        health.now,
        longest_pass,
        is_cycled=is_cycled,
        has_died=health.has_died,
        has_services=health.has_services,
        stalled=health.stalled,
    )
    begin = advise_start(PORTAL_UNIT, has_services=health.has_services)
    return stopped + faults + [f"the portal has died; {begin}"] * health.has_portal_died


def hidden(url: str) -> str:
    """A database's URL without its password."""
    head, at, host = url.rpartition("@")
    scheme, slashes, login = head.partition("://")
    user, colon, _ = login.partition(":")
    return f"{scheme}{slashes}{user}:***@{host}" if at and colon else url
