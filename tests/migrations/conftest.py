"""A database as it was before the migration that a file tests."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from cigri.database import Database, schema


@pytest.fixture
def older(request: pytest.FixtureRequest, empty_url: str) -> Iterator[Database]:
    """At the migration BEFORE of the test's file, with its ROWS."""
    database = Database(empty_url)
    schema.upgrade(database, request.module.BEFORE)
    with database.begin() as conn:
        conn.execute(text(request.module.ROWS))
    yield database
    database.close()
