"""A database whose migrations are no longer there, or not yet, is left as it is and its operator told what to do."""

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.errors import ConfigError
from modules.operator import db
from tests.operator.conftest import Cigri

COMMANDS = (("db", "upgrade"), ("db", "check"), ("db", "moved"), ("status",), ("doctor",), ("run", "updator"))


def put_version(database: Database, version: str) -> None:
    with database.begin() as conn:
        conn.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})


@pytest.mark.parametrize("version", ["0001", "0074"])
def test_an_older_database_is_told_the_way(cigri: Cigri, database: Database, version: str) -> None:
    put_version(database, version)
    says = (
        f"the database has schema {version}, this CiGri needs {schema.newest()} and upgrades from 0075 on: first run "
        "`cigri db upgrade` of CiGri 0.1.0 at commit 35b20347, then that of this one "
        "(docs/how-to/mend-a-grid.md#an-old-schema)"
    )
    for command in COMMANDS:
        said = cigri(*command)
        assert said.status != 0
        assert says in " ".join((said.out + said.err).split()), command
    assert db.check(database) == [says]
    for refuse in (schema.upgrade, schema.require_current):
        with pytest.raises(ConfigError) as told:
            refuse(database)
        assert str(told.value) == says
    with database.begin() as conn:
        assert schema.current(conn) == version


def test_a_newer_database_is_left_alone(cigri: Cigri, database: Database) -> None:
    put_version(database, "9000")
    said = cigri("db", "upgrade")
    assert said.status == 2
    assert "a newer CiGri has upgraded it; install that one, or restore a backup" in said.err
