"""/campaigns/ID/outputs.tar, and the same below /api/v1: what the grid has collected of a campaign, as one file.

It is made while it is read, so who reads slowly takes neither memory nor a turn of others.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from cigri.api_models.campaigns import CampaignView
from cigri.database import Database
from cigri.endpoints import API
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.outputs import written
from cigri.errors import CigriError, NotFound, TooManyRequests
from cigri.flow.views.outputs import count_in_store, has_stored, list_in_store
from cigri.formats.units import MEGABYTE, as_size
from cigri.identity.callers import Caller
from cigri.outputs.archiving import archive_pieces
from cigri.outputs.store import stored_outputs
from modules.portal.head_requests import IS_HEAD
from modules.portal.parameter_limits import PlainNumber
from modules.portal.rendering.page_renderer import PageRenderer
from modules.portal.rendering.page_router import PageRouter, Site
from modules.portal.services import services_of
from modules.portal.settings_in_force import SettingsInForce

ARCHIVE_PATH = "/campaigns/{campaign_id}/outputs.tar"
MOST_ARCHIVES = 2  # that one user reads at a time
MOST_FILES_OF_ARCHIVE = 1_000_000
NUMBERS_AT_ONCE = 1000


class OutputArchives:
    """Those that are being read, by user; all but the reading itself happens in the thread that serves."""

    def __init__(self, database: Database, in_force: SettingsInForce) -> None:
        self._database, self._in_force = database, in_force
        self._reading = Counter[str]()

    def begin(self, caller: Caller, campaign_id: int) -> "ArchiveResponse":
        """Raise TooManyRequests where this user reads others."""
        if self._reading[caller.user] >= MOST_ARCHIVES:
            raise TooManyRequests(f"{MOST_ARCHIVES} archives of outputs come to you already: wait until one is there")
        self._reading[caller.user] += 1
        place = stored_outputs(self._in_force.current(), campaign_id)
        pieces = archive_pieces(place, campaign_id, self._numbers(campaign_id))
        return ArchiveResponse(pieces, campaign_id, lambda: self._end(caller.user))

    def require_fit(self, caller: Caller, campaign_id: int) -> None:
        """Raise NotFound for whose it is not and where nothing lies, CigriError where it is too much for one file."""
        InProcessClient(self._database, self._in_force.current, caller).call(written, campaign_id=campaign_id, limit=1)
        with self._database.answering() as conn:
            found = count_in_store(conn, campaign_id)
        if not found.files:
            raise NotFound(
                f"nothing of campaign {campaign_id} is in the grid's store: download all with `gridget {campaign_id}`"
            )
        most = self._in_force.current().outputs.archive
        if found.bytes > most * MEGABYTE or found.files > MOST_FILES_OF_ARCHIVE:
            raise CigriError(
                f"they are {found.files} files of {as_size(found.bytes)}, and an archive has {most} MB "
                f"(outputs.archive) and {MOST_FILES_OF_ARCHIVE} files at most: "
                f"download them with `gridget {campaign_id}`"
            )

    def _end(self, user: str) -> None:
        self._reading[user] -= 1
        self._reading += Counter()  # without those who have none

    def _numbers(self, campaign_id: int) -> Iterator[int]:
        """Of tasks, in short transactions: it may take hours until the archive is read."""
        after = -1
        while True:
            with self._database.answering() as conn:
                numbers = list_in_store(conn, campaign_id, after, NUMBERS_AT_ONCE)
            if not numbers:
                return
            yield from numbers
            after = numbers[-1]


class ArchiveResponse(StreamingResponse):
    """However its reading ends, the place of its user is free again."""

    def __init__(self, pieces: Iterator[bytes], campaign_id: int, end: Callable[[], None]) -> None:
        self._end = end
        super().__init__(pieces, media_type="application/x-tar", headers=_named(campaign_id))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()


archive_pages = PageRouter()


@archive_pages.page(ARCHIVE_PATH)
@archive_pages.page(API + ARCHIVE_PATH)
async def archive(site: Site, request: Request, campaign_id: PlainNumber) -> Response:
    """Send the archive of a campaign; by the address below the API's, tokens call."""
    archives: OutputArchives = request.app.state.output_archives
    caller = await run_in_threadpool(_caller, site, request)
    async with services_of(request).turns.turn(caller.user):
        await run_in_threadpool(archives.require_fit, caller, campaign_id)
    if request.scope.get(IS_HEAD):
        return Response(media_type="application/x-tar", headers=_named(campaign_id))
    return archives.begin(caller, campaign_id)


def _caller(site: PageRenderer, request: Request) -> Caller:
    """As the API knows who calls, or as pages do."""
    identities = services_of(request).identities
    caller = identities.caller(request) if request.url.path.startswith(API) else site.visitor(request)
    written.require(caller)
    return caller


def is_offered(site: PageRenderer, caller: Caller, campaign: CampaignView) -> bool:
    """Does a page of the campaign lead there? What lies in the store is looked up where something was collected."""
    if not (campaign.collected and caller.sees(campaign.user)):
        return False
    with site.database.answering() as conn:
        return has_stored(conn, campaign.id)


def _named(campaign_id: int) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="campaign-{campaign_id}.tar"'}
