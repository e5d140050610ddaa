"""The description of a campaign, for its owner alone: it holds what nobody else may see."""

from typing import TYPE_CHECKING, Any

from cigri.api_models.submissions import DescriptionView
from cigri.endpoints import Access, read_endpoint
from cigri.endpoints.campaigns import find_campaign
from cigri.endpoints.paging import LONGEST_PAGE, PageLimit, Pagination, UnfinishedPage, require_limit
from cigri.errors import NotFound
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.descriptions import StoredDescription


@read_endpoint("/campaigns/{campaign_id}/description", Access.OWNER)
def description(conn: "Connection", caller: Caller, *, campaign_id: int) -> DescriptionView:
    """As it was written, or the settings in force where nobody has kept that."""
    from cigri.flow.views.descriptions import find_description
    from cigri.jdl.writing import COMPUTED

    _require_owner(conn, caller, campaign_id)
    stored = find_description(conn, campaign_id)
    assert stored is not None  # the campaign is there
    described = stored.written or _from_settings(stored)
    return DescriptionView(described, has_list=not any(source in described for source in COMPUTED))


@read_endpoint("/campaigns/{campaign_id}/parameters", Access.OWNER, Pagination("after", ""))
def parameters(
    conn: "Connection", caller: Caller, *, campaign_id: int, after: int = -1, limit: PageLimit = LONGEST_PAGE
) -> list[Any]:
    """Parameters of tasks in the order of their numbers."""
    from cigri.flow.views.descriptions import list_parameters
    from cigri.flow.views.page_sizes import count_fitting

    require_limit(limit)
    _require_owner(conn, caller, campaign_id)
    fitting = count_fitting(conn, campaign_id, after + 1, limit)
    page = list_parameters(conn, campaign_id, after + 1, fitting)
    return UnfinishedPage(page) if fitting < limit else page


def _require_owner(conn: "Connection", caller: Caller, campaign_id: int) -> None:
    if not caller.sees(find_campaign(conn, campaign_id).user):
        raise NotFound(f"you have no campaign {campaign_id}; `gridstat -u {caller.user}` lists yours")


def _from_settings(stored: "StoredDescription") -> dict[str, Any]:
    from cigri.jdl.writing import from_settings

    heading = {
        "name": stored.name,
        "campaign_type": stored.type,
        "scheduler": stored.scheduler,
        "project": stored.project,
        "replicate": stored.replicate,
        "requirements": stored.requirements,
        "priority": stored.priority,
    }
    return from_settings(heading, stored.clusters, is_anywhere=stored.is_anywhere)
