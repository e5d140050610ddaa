"""Standard output and error of tasks come to a directory: many small ones at once, large ones piece by piece."""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from cigri.api_models.files import StreamContent, TaskOutputSummary
from cigri.cli.download_progress import DownloadProgress
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.outputs import FETCHED_AT_ONCE, fetch_outputs
from cigri.errors import CigriError
from cigri.formats.id_ranges import format_ids
from cigri.outputs.brought import Brought, Output


class StreamDownloader:
    """Cluster by cluster; one that does not answer leaves the others alone."""

    def __init__(
        self, grid: GridClient, brought: Brought, delivery: DownloadProgress, campaign_id: int, streams: list[str]
    ) -> None:
        self._grid, self._brought, self._delivery = grid, brought, delivery
        self._campaign_id, self._streams = campaign_id, streams

    def bring(self, listed: Sequence[TaskOutputSummary]) -> None:
        by_cluster: dict[str, dict[int, list[str]]] = defaultdict(dict)
        for task in listed:
            if streams := self._lacking(task):
                by_cluster[task.cluster][task.number] = streams
        for cluster, lacking in by_cluster.items():
            try:
                self._bring_of(lacking)
            except CigriError as error:
                self._delivery.wrong.append(f"{cluster}: {error}")

    def _lacking(self, task: TaskOutputSummary) -> list[str]:
        outputs = [Output(task.number, task.attempt, stream) for stream in self._streams]
        for output in outputs:
            if self._brought.is_foreign(output):
                self._delivery.wrong.append(self._brought.stays(output))
                return []
        lacking = [output.stream for output in outputs if not self._brought.holds(output)]
        self._delivery.had += len(outputs) - len(lacking)
        return lacking

    def _bring_of(self, lacking: dict[int, list[str]]) -> None:
        """By number, the outputs that are not here: many tasks at once that lack the same ones."""
        while lacking:
            streams = lacking[next(iter(lacking))]
            alike = [number for number in islice(lacking, FETCHED_AT_ONCE) if lacking[number] == streams]
            for piece in self._ask(alike, streams):
                self._take(piece)
                lacking[piece.number] = [stream for stream in lacking[piece.number] if stream != piece.stream]
                if not lacking[piece.number]:
                    del lacking[piece.number]

    def _ask(self, numbers: Sequence[int], streams: list[str], offset: int = 0) -> list[StreamContent]:
        chosen = format_ids(numbers)
        answer = self._grid.call(
            fetch_outputs, campaign_id=self._campaign_id, numbers=chosen, streams=streams, offset=offset
        )
        return answer.outputs

    def _take(self, piece: StreamContent) -> None:
        output = Output(piece.number, piece.attempt, piece.stream)
        if piece.size is None:
            self._delivery.absent += 1
            return
        content = b64decode(piece.content)
        if len(content) < piece.size and self._brought.begun(output) in range(len(content), piece.size + 1):
            self._go_on(output, self._brought.begun(output), piece.size)
        else:
            self._brought.add(output, 0, content)
            self._delivery.add(content)
            self._go_on(output, len(content), piece.size)
        self._brought.finish(output, piece.size)
        self._delivery.files += piece.size > 0
        self._delivery.empty += piece.size == 0

    def _go_on(self, output: Output, offset: int, size: int) -> None:
        """To its end."""
        while offset < size:
            (piece,) = self._ask([output.number], [output.stream], offset)
            content = b64decode(piece.content)
            if (piece.attempt, piece.size) != (output.attempt, size) or not content:
                raise CigriError(f"the standard {output.stream} of task {output.number} has changed: call it again")
            self._brought.add(output, offset, content)
            self._delivery.add(content)
            offset += len(content)
