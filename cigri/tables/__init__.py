"""Memory: every table, its columns and the rules that PostgreSQL itself keeps; no statement that runs each pass.

A program imports those it uses from the files here: to make them all takes a good part of a short command's time.
"""

from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy import MetaData, event

from cigri.tables.audit_triggers import create_audit_chain
from cigri.tables.columns import metadata
from cigri.tables.task_count_triggers import create_counting


def everything() -> MetaData:
    """The metadata with every table."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    for create in (create_counting, create_audit_chain):
        if not event.contains(metadata, "after_create", create):
            event.listen(metadata, "after_create", create)
    return metadata
