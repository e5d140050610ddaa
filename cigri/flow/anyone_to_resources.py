"""Whoever changes what is known of clusters, queues or nodes says so: what was computed from it is then done anew."""

from sqlalchemy import Connection, update

from cigri.tables.grid import Grid


def mark_changed(conn: Connection) -> None:
    """Call it last: until the end of the transaction, all others who change something wait."""
    conn.execute(update(Grid).values(resources_version=Grid.c.resources_version + 1))
