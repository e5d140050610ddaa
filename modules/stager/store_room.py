"""Room in the grid's store of outputs: each user has so much of it, and some stays free for the grid itself."""

from collections.abc import Sequence

from cigri.errors import StorageFull
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.parcels import AwaitedParcel, CollectingCampaign
from cigri.flow.stored_outputs import count_stored_outputs
from cigri.formats.units import MEGABYTE, as_size
from cigri.inputs.store import LEAST_PART
from cigri.outputs.assembling import OutputAssembler, OutputNotWritable
from cigri.outputs.store import STORAGE_FULL
from cigri.runtime.pass_context import PassContext
from cigri.states import EventLevel

STORE = "the grid's store of outputs"


class StoreRoom:
    """Looked at before outputs of a campaign come there."""

    def __init__(self, tools: PassContext, share: CollectingCampaign) -> None:
        self._tools, self._share = tools, share
        self._of_user = tools.settings.outputs.of_user

    def require_room(self, landing: OutputAssembler, parcels: Sequence[AwaitedParcel]) -> Sequence[AwaitedParcel]:
        """The first of them, as far as their user has room; raise OutputNotWritable where the disk has none.

        Operators are told of that, until there is room again.
        """
        with self._tools.database.begin() as conn:
            room = self._of_user * MEGABYTE - count_stored_outputs(conn, self._share.user)
        fitting = []
        for parcel in parcels:
            room -= parcel.bytes + LEAST_PART * parcel.files
            if room < 0:
                break
            fitting.append(parcel)
        try:
            size = sum(parcel.bytes for parcel in fitting)
            landing.require_room(size, self._tools.settings.portal.leave_free * MEGABYTE)
        except OutputNotWritable as error:
            message = f"{error} (portal.leave_free): outputs stay on their clusters until there is more"
            with self._tools.database.begin() as conn:
                put_events(conn, [NewEvent(STORAGE_FULL, EventLevel.ERROR, STORE, message)])
            raise
        with self._tools.database.begin() as conn:
            close_events(conn, [STORAGE_FULL], [STORE], "cigri")
        return fitting

    def refused(self, parcel: AwaitedParcel) -> StorageFull:
        """Why this one does not come, and what helps."""
        user, campaign = self._share.user, self._share.campaign_id
        return StorageFull(
            f"with the {parcel.files} files of {as_size(parcel.bytes)} of task {parcel.number} the grid would keep "
            f"more than {self._of_user} MB of {user} (outputs.of_user), so they stay on their cluster. "
            f"Download them with `gridget {campaign}`. To free space, run `griddel --purge ID` on ended campaigns "
            "whose outputs you have"
        )
