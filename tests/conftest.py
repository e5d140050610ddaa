"""What every test may ask for: a fresh database with the schema, copied from one template, and a grid on this host."""

import gc
import itertools
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import psycopg
import pytest
from sqlalchemy import Connection, Engine, create_engine

from cigri.database import Database, embedded, schema
from cigri.database.virtual import VirtualTimeDatabase
from tests.clusters import (  # noqa: F401  (pytest finds them here)
    alpha_up,
    beta_up,
    delta_up,
    gamma_up,
    pytest_terminal_summary,
    whole_clusters,
)
from tests.factories import NOON
from tests.forker import Forker
from tests.grid import Grid, Site, local_site
from tests.kinds import (  # noqa: F401  (pytest finds them here)
    pytest_collection_modifyitems,
    pytest_runtest_call,
    pytest_runtest_setup,
)
from tests.localbatch.host import Host
from tests.reports import pytest_report_teststatus, pytest_runtest_makereport  # noqa: F401  (pytest finds them here)

NUMBERS = itertools.count(1)

# tests see the same kind of terminal, whoever starts them from whichever
os.environ["TERM"] = "xterm"
os.environ.pop("NO_COLOR", None)

# how long an example takes says how busy the machine is, no more: what hangs is ended by the time-out of its test
hypothesis.settings.register_profile(
    "untimed", hypothesis.settings(), deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# for scripts/test: what fails there fails again; new examples are looked for by hand, and by tests/fuzz
hypothesis.settings.register_profile("repeatable", hypothesis.settings.get_profile("untimed"), derandomize=True)
# for scripts/mutants: that something fails is enough, whatever the smallest example is
PHASES = [phase for phase in hypothesis.Phase if phase not in (hypothesis.Phase.shrink, hypothesis.Phase.explain)]
hypothesis.settings.register_profile("unshrunk", hypothesis.settings.get_profile("repeatable"), phases=PHASES)
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector be: what collecting tests makes stays to the end, and is never looked through again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)  # reference counts free nearly all: a tenth less of a processor
        gc.enable()


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """The directory of an embedded PostgreSQL of this test session; crashes are not tested on it."""
    with embedded.temporary() as directory:
        with psycopg.connect(embedded.url(directory), autocommit=True) as conn:
            conn.execute("CREATE DATABASE template_cigri")
        template = VirtualTimeDatabase(embedded.url(directory, "template_cigri"))
        template.make_clock()
        schema.upgrade(template)
        template.close()
        yield directory


@pytest.fixture
def empty_url(server: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    yield from clone_database(server, "template1")


@pytest.fixture
def database_url(server: Path, compiled: None) -> Iterator[str]:
    """The URL of a database with the schema and no rows."""
    yield from clone_database(server, "template_cigri")


@pytest.fixture(scope="session")
def compiled(server: Path) -> Iterator[None]:
    """What one test has turned into SQL is there for all engines that follow: this takes longer than to run it."""
    database = Database(embedded.url(server, "postgres"))
    with database.begin():
        pass  # the dialect learns the server's version and habits
    database.close()
    dialect, statements = database.engine.dialect, dict[Any, Any]()

    def create(*args: Any, **options: Any) -> Engine:
        engine = create_engine(*args, **options)
        engine.dialect = dialect
        engine.update_execution_options(compiled_cache=statements)
        return engine

    with mock.patch("cigri.database.create_engine", create):
        yield


@pytest.fixture
def database(request: pytest.FixtureRequest, database_url: str) -> Iterator[VirtualTimeDatabase]:
    """Its time is the server's until a test sets it."""
    database = VirtualTimeDatabase(database_url)
    if request.node.get_closest_marker("noon"):
        database.set_time(NOON)
    yield database
    database.close()


@pytest.fixture
def other_database(request: pytest.FixtureRequest, server: Path) -> Iterator[VirtualTimeDatabase]:
    """One more, to compare with."""
    for url in clone_database(server, "template_cigri"):
        database = VirtualTimeDatabase(url)
        if request.node.get_closest_marker("noon"):
            database.set_time(NOON)
        yield database
        database.close()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Site]:
    """This host as a cluster, its daemon ended afterwards by its own pid."""
    host = Host(tmp_path)
    yield local_site(host.spool)
    host.clear()


@pytest.fixture
def local(database: Database, here: Site, tmp_path: Path) -> Iterator[Grid]:
    grid = Grid(database, here, str(tmp_path / "work"))
    yield grid
    grid.gateway.close()


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    forker = Forker()
    yield forker
    forker.close()


def clone_database(server: Path, template: str) -> Iterator[str]:
    """The URL of a database that begins as the template is, to which nobody is connected."""
    with cloned(server, template) as name:
        yield embedded.url(server, name)


@contextmanager
def cloned(server: Path, template: str) -> Iterator[str]:
    """The name of such a database."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        yield name
        conn.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def made_template(server: Path, fill: Callable[[Connection], object]) -> Iterator[str]:
    """The name of a database with the rows that `fill` puts, which take longer to make than to copy: a template."""
    with cloned(server, "template_cigri") as name:
        database = VirtualTimeDatabase(embedded.url(server, name))
        with database.begin() as conn:
            fill(conn)
        database.close()
        yield name
