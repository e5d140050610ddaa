"""Outputs that are given up: which tasks', why, and what helps."""

from collections.abc import Sequence

from sqlalchemy import Connection

from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, put_events
from cigri.flow.parcels import AwaitedParcel, CollectingCampaign, LostParcel, list_lost
from cigri.formats.id_ranges import as_ranges
from cigri.formats.units import as_size
from cigri.states import EventLevel

NOT_THERE = "OUTPUTS_LOST"
LARGER = "OUTPUTS_TOO_LARGE"
SHOWN_RANGES = 10
MOST_OUTPUT_FILES = 100_000  # of a task


def is_larger(parcel: LostParcel | AwaitedParcel, most: int) -> bool:
    """Than what may come: so many bytes, and so many files, which each cost something however small they are."""
    return parcel.bytes > most or parcel.files > MOST_OUTPUT_FILES


def tell_lost(conn: Connection, share: CollectingCampaign, cluster: ClusterRow, most: int) -> None:
    """Those that are too large are all there, and others are not."""
    lost = list_lost(conn, share)
    large, gone = ([one for one in lost if is_larger(one, most) is wanted] for wanted in (True, False))
    events = []
    if large:
        helps = f"`gridget {share.campaign_id} --tasks {large[0].number}` downloads them"
        stay = f"they stay on {cluster.name} as long as all files do: {helps}"
        why = f"more than {as_size(most)} or {MOST_OUTPUT_FILES} files, so {stay}"
        events.append(_event(LARGER, share, cluster, f"outputs of {_of(large)} are {why}"))
    if gone:
        why = f"not all on {cluster.name} any more, or have changed"
        helps = f"`gridget {share.campaign_id} --tasks {gone[0].number}` downloads what is left of them"
        events.append(_event(NOT_THERE, share, cluster, f"outputs of {_of(gone)} are {why}, and are given up: {helps}"))
    put_events(conn, events)


def _event(code: str, share: CollectingCampaign, cluster: ClusterRow, message: str) -> NewEvent:
    subject = f"campaign {share.campaign_id} on {cluster.name}"
    return NewEvent(code, EventLevel.ERROR, subject, message, share.campaign_id, share.cluster_id)


def _of(parcels: Sequence[LostParcel]) -> str:
    numbers = as_ranges([parcel.number for parcel in parcels], SHOWN_RANGES)
    return f"task{'' if len(parcels) == 1 else 's'} {numbers}"
