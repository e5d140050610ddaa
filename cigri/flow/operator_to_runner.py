"""The operator names the grid: its key stands in the names of the jobs and directories that the runner leaves."""

from sqlalchemy import Connection, select, update

from cigri.tables.grid import Grid
from cigri.tables.jobs import Batch


def put_grid_key(conn: Connection, key: str) -> bool:
    """False: jobs were sent under the one of now, and would not be found again under another."""
    is_used = select(Batch.c.id).exists()
    return bool(conn.execute(update(Grid).where(~is_used).values(key=key).returning(Grid.c.key)).all())
