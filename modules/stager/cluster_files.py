"""The files of parcels as a cluster tells of them: little at first, and more as long as it answers soon."""

import time
from collections.abc import Collection, Sequence

from cigri.errors import CigriError
from cigri.flow.clusters import ClusterRow
from cigri.flow.parcels import AwaitedParcel
from cigri.formats.units import MEGABYTE
from cigri.gateway.contract import ClusterGateway
from cigri.gateway.requests import ClusterRequest, FetchOutputFilePart, FetchOutputFiles
from cigri.outputs.brought import OutputFile
from cigri.outputs.downloading import ReportedFile
from cigri.wrapper import JobKey
from cigri.wrapper.output_fetching import OutputDirectory, OutputFilePart, RemoteOutputFile

LEAST_ASKED = MEGABYTE // 4
MOST_ASKED = 4 * MEGABYTE
SOON_ANSWERED = 2.0  # seconds


class TransferTurnEnded(CigriError):
    """A large file goes on where it is when the others have had their turn."""


class TransferTurn:
    """What is told while files come: so many bytes may, one piece more perhaps."""

    def __init__(self, most: int) -> None:
        self.files = self.bytes = 0
        self.wrong: list[str] = []
        self._most = most

    def add(self, content: bytes) -> None:
        """A piece has come. Raise TransferTurnEnded when it was enough."""
        self.bytes += len(content)
        if self.bytes > self._most:
            raise TransferTurnEnded("others have their turn")


class ClusterFiles:
    """Those of one account on one cluster."""

    def __init__(
        self, gateway: ClusterGateway, cluster: ClusterRow, key: str, campaign_id: int, parcels: Sequence[AwaitedParcel]
    ) -> None:
        self._gateway, self._cluster, self._key = gateway, cluster, key
        self._account = parcels[0].local_user
        self._places = {
            p.number: OutputDirectory(JobKey(campaign_id, p.batch_id, p.array_index), p.position) for p in parcels
        }
        self._tasks = {self._places[p.number]: (p.number, p.attempt) for p in parcels}
        self._most = LEAST_ASKED

    def files(self, numbers: Collection[int], behind: OutputFile | None) -> Sequence[ReportedFile]:
        parcels = [self._places[number] for number in numbers]
        known = RemoteOutputFile(self._places[behind.number], behind.path) if behind else None
        return self._ask(FetchOutputFiles(self._key, parcels, known, self._most))

    def rest(self, file: OutputFile, offset: int) -> ReportedFile | None:
        where = RemoteOutputFile(self._places[file.number], file.path)
        return next(iter(self._ask(FetchOutputFilePart(self._key, where, offset, self._most))), None)

    def _ask(self, order: ClusterRequest[list[OutputFilePart]]) -> list[ReportedFile]:
        begun = time.monotonic()
        pieces = self._gateway.request(self._cluster, self._account, order)
        if time.monotonic() - begun < SOON_ANSWERED:
            self._most = min(2 * self._most, MOST_ASKED)
        told = [(*self._tasks[piece.file.parcel], piece) for piece in pieces]
        return [ReportedFile(number, attempt, p.file.path, p.size, p.content) for number, attempt, p in told]
