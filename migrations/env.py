"""Alembic's entry: migrations run on the connection that cigri.database.schema hands over, in one transaction."""

from alembic import context

from cigri.tables import everything

context.configure(connection=context.config.attributes["connection"], target_metadata=everything())
with context.begin_transaction():
    context.run_migrations()
