"""What stays free of the grid's disks, whatever people send: without it nothing goes on for anybody."""

import logging
import tempfile
from pathlib import Path

from cigri.database import Database
from cigri.errors import CigriError, StorageFull
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.formats.units import MEGABYTE, as_size
from cigri.inputs.store import directory_of
from cigri.installation import free_space
from cigri.outputs.store import STORAGE_FULL, output_store
from cigri.states import EventLevel
from modules.portal.settings_in_force import SettingsInForce

SUBJECT = "the grid's disk"
NOTHING_TAKEN = "nothing was taken; try later: whoever runs this grid is told, and makes room there"

logger = logging.getLogger(__name__)


class StorageReserve:
    """Looked at before something large is taken, and while it comes."""

    def __init__(self, database: Database, in_force: SettingsInForce) -> None:
        self._database, self._in_force = database, in_force
        self._is_told = True  # an earlier portal may have told it

    def require(self) -> None:
        """Raise StorageFull, and tell operators, where less is left; else close the event that tells of it."""
        settings = self._in_force.current()
        stores, least = (directory_of(settings), output_store(settings)), settings.portal.leave_free
        for place in (Path(tempfile.gettempdir()), settings.data_directory, *stores):
            free = free_space(place)
            if free is not None and free < least * MEGABYTE:
                self.tell(
                    why := f"{as_size(free)} are left on the disk of {place}, and {least} MB stay free for "
                    "the grid itself (portal.leave_free)"
                )
                raise StorageFull(f"{why}: {NOTHING_TAKEN}")
        if self._is_told:
            with self._database.begin() as conn:
                close_events(conn, [STORAGE_FULL], [SUBJECT], "cigri")
            self._is_told = False

    def tell(self, why: str) -> None:
        """Operators, as far as the database has room for it."""
        logger.error("%s: submissions and inputs are refused", why)
        self._is_told = True
        try:
            with self._database.begin() as conn:
                message = f"{why}: submissions and inputs are refused until there is more"
                put_events(conn, [NewEvent(STORAGE_FULL, EventLevel.ERROR, SUBJECT, message)])
        except CigriError as error:
            logger.warning("No event tells of it: %s", error)
