"""What sites, clusters and queues are said to have, and what jobs demand of queues: for operators."""

from typing import TYPE_CHECKING

from cigri.api_models.resources import PoolView, ResourceChanges, ResourceDocumentView
from cigri.endpoints import Access, read_endpoint, upload_endpoint
from cigri.endpoints.paging import FORWARDS, USUAL_ROWS, PageLimit, Pagination, require_limit
from cigri.endpoints.request_bodies import SpooledBody
from cigri.errors import ConfigError, NotFound, UsageError
from cigri.identity.callers import AccessScope, Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.database import Database

USUAL_DOCUMENTS = 100  # in a page: each is as long as its operator likes


@upload_endpoint("/resources", Access.OPERATOR, AccessScope.OPERATE)
def apply_resources(database: "Database", caller: Caller, body: SpooledBody, *, check: bool = False) -> ResourceChanges:
    """Put a document, sent as one JSON string, into force in place of the one before; `check`: see what it changes."""
    from cigri import drivers
    from cigri.flow import resource_documents
    from cigri.flow.audit import put_audit
    from cigri.resources.description import difference
    from cigri.resources.document import misplaced, read_document, unheard_of

    text = body.first()
    if not isinstance(text, str) or "\0" in text:
        raise UsageError("the document: a text is meant")
    description = read_document(text)
    with database.begin() as conn:
        before = resource_documents.find_description(conn)
        if problems := misplaced(description, resource_documents.list_drivers(conn), drivers.names()):
            raise ConfigError("\n".join(problems))
        doubts = list(unheard_of(description, resource_documents.list_found_queues(conn)))
        changes = difference(before, description)
        newest = resource_documents.list_documents(conn, limit=1)
        if check or (not changes and newest and newest[0].text == text):
            return ResourceChanges(changes, doubts, None)
        version = resource_documents.put_description(conn, description, text, caller.user)
        put_audit(conn, caller, apply_resources.name, {"version": version})
    return ResourceChanges(changes, doubts, version)


@read_endpoint("/resources/documents", Access.OPERATOR, Pagination("before", "version"))
def resource_documents(
    conn: "Connection", _caller: Caller, *, before: int | None = None, limit: PageLimit = USUAL_DOCUMENTS
) -> list[ResourceDocumentView]:
    """Each that was ever applied, the one that holds first."""
    from cigri.flow.resource_documents import list_documents

    require_limit(limit)
    return list_documents(conn, before, limit)


@read_endpoint("/resources/document", Access.OPERATOR)
def resource_document(conn: "Connection", _caller: Caller, *, version: int | None = None) -> ResourceDocumentView:
    """The one that holds, or an earlier one."""
    from cigri.flow.resource_documents import find_document

    return find_document(conn, version)


@read_endpoint("/pools", Access.OPERATOR, FORWARDS)
def pools(
    conn: "Connection", _caller: Caller, *, queue: str = "", after: int = 0, limit: PageLimit = USUAL_ROWS
) -> list[PoolView]:
    """What jobs demand of queues, and how many are eligible; of a queue, those for which it is."""
    from cigri.flow.submit_pools import find_queue, list_pools

    require_limit(limit)
    if not queue:
        return list_pools(conn, after=after, limit=limit)
    name, _, cluster = queue.rpartition("@")
    queue_id = find_queue(conn, cluster, name)
    if queue_id is None:
        raise NotFound(f"no queue {queue}; `gridclusters --properties` lists them")
    return list_pools(conn, queue_id, after=after, limit=limit)
