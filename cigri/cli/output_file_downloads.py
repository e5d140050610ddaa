"""The files that tasks have brought come to a directory by the number of the task, as the portal hands them on."""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from urllib.parse import quote, unquote_to_bytes

from cigri.api_models.files import OutputFileContent, TaskOutputSummary
from cigri.cli.download_progress import DownloadProgress
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.outputs import FETCHED_AT_ONCE, fetch_files
from cigri.errors import CigriError
from cigri.formats.id_ranges import format_ids
from cigri.outputs.brought import Brought, OutputFile
from cigri.outputs.downloading import OutputDownloader, PendingTaskFiles, ReportedFile, TaskWithOutputs


class OutputFileDownloader:
    """Cluster by cluster; one that does not answer, or lies, leaves the others alone."""

    def __init__(self, grid: GridClient, brought: Brought, delivery: DownloadProgress, campaign_id: int) -> None:
        self._brought, self._delivery = brought, delivery
        self.elsewhere: list[TaskOutputSummary] = []
        """Tasks whose files the grid has brought to where their campaign wants them."""
        self._bringer = OutputDownloader(_Portal(grid, campaign_id), brought, delivery)

    def bring(self, listed: Sequence[TaskOutputSummary]) -> None:
        by_cluster: dict[tuple[bool, str], list[PendingTaskFiles]] = defaultdict(list)
        for task in listed:
            if task.place is not None:
                self.elsewhere.append(task)
                continue
            self._brought.make_room(task.number, task.attempt)
            held = self._brought.held_of(task.number, task.attempt)
            self._delivery.had += len(held)
            if len(held) < task.files:
                counted = TaskWithOutputs(task.number, task.attempt, task.files, task.bytes)
                by_cluster[task.is_stored, task.cluster].append(PendingTaskFiles(counted, held))
        for (_, cluster), awaited in by_cluster.items():
            try:
                for together in _batches(awaited):
                    self._bringer.bring(together)
                    self._delivery.wrong += [one.lack for one in together if not one.is_whole]
            except CigriError as error:
                self._delivery.wrong.append(f"{cluster}: {error}")


class _Portal:
    """Hands them on."""

    def __init__(self, grid: GridClient, campaign_id: int) -> None:
        self._grid, self._campaign_id = grid, campaign_id

    def files(self, numbers: Collection[int], behind: OutputFile | None) -> Sequence[ReportedFile]:
        return self._ask(numbers, behind)

    def rest(self, file: OutputFile, offset: int) -> ReportedFile | None:
        return next(iter(self._ask([file.number], file, offset)), None)

    def _ask(self, numbers: Collection[int], file: OutputFile | None, offset: int | None = None) -> list[ReportedFile]:
        named, chosen = f"{file.number}/{quote(file.path)}" if file else "", format_ids([*numbers])
        answer = self._grid.call(fetch_files, campaign_id=self._campaign_id, numbers=chosen, file=named, offset=offset)
        return [_told(piece) for piece in answer.files]


def _told(piece: OutputFileContent) -> ReportedFile:
    path, content = unquote_to_bytes(piece.path), b64decode(piece.content)
    return ReportedFile(piece.number, piece.attempt, path, piece.size, content)


def _batches(awaited: Sequence[PendingTaskFiles]) -> Iterator[Sequence[PendingTaskFiles]]:
    """Many at once, but those of which something is here already: there one goes on behind it."""
    yield from ([task] for task in awaited if task.held)
    fresh = iter([task for task in awaited if not task.held])
    while batch := list(islice(fresh, FETCHED_AT_ONCE)):
        yield batch
