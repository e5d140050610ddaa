"""What routes work with: each application has its own; the routes themselves are made once."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from fastapi import Depends, FastAPI, Request

from cigri.database import Database
from modules.portal.authentication import Authenticator
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.fair_queue import FairQueue
from modules.portal.held_requests import HeldRequests
from modules.portal.portal_door import PortalDoor
from modules.portal.settings_in_force import SettingsInForce
from modules.portal.storage_reserve import StorageReserve
from modules.portal.upload_limiter import UploadLimiter


class PortalServices(NamedTuple):
    """One of each for all requests."""

    database: Database
    settings: SettingsInForce
    identities: Authenticator
    errands: DeferredResponses
    uploads: UploadLimiter
    turns: FairQueue
    held: HeldRequests
    door: PortalDoor
    reserve: StorageReserve

    def lend_to(self, app: FastAPI) -> None:
        """Let the requests that this application answers find them."""
        app.state.services = self


async def wait_for_turn(request: Request) -> AsyncIterator[None]:
    """A dependency of all routes."""
    async with services_of(request).turns.turn_of(request):
        yield


IN_TURN = Depends(wait_for_turn, scope="function")


def services_of(request: Request) -> PortalServices:
    services: PortalServices = request.app.state.services
    return services
