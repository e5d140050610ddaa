"""The files that tasks have brought come to a directory by the number of the task, whole and all of one attempt.

What a cluster tells is held against what was counted when the task ended: neither more files come, nor more bytes.
"""

import errno
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import quote, unquote_to_bytes

from cigri.answers.outputs import BroughtFile, WrittenTask
from cigri.cli.brought import Brought, OutputFile
from cigri.cli.delivery import Delivery
from cigri.cli.wording import size
from cigri.endpoints.calling import Grid
from cigri.endpoints.outputs import FETCHED_AT_ONCE, fetch_files
from cigri.errors import CigriError
from cigri.text.harmless import one_line
from cigri.text.id_ranges import written_ids
from cigri.text.relative_paths import leads_below

FULL = (errno.ENOSPC, errno.EDQUOT)


class FileBringer:
    """Cluster by cluster; one that does not answer, or lies, leaves the others alone."""

    def __init__(self, grid: Grid, brought: Brought, delivery: Delivery, campaign_id: int) -> None:
        self._grid, self._brought, self._delivery, self._campaign_id = grid, brought, delivery, campaign_id

    def bring(self, listed: Sequence[WrittenTask]) -> None:
        by_cluster: dict[str, list[_Awaited]] = defaultdict(list)
        for task in listed:
            self._brought.make_room(task.number, task.attempt)
            held = self._brought.held_of(task.number, task.attempt)
            self._delivery.had += len(held)
            if len(held) < task.files:
                by_cluster[task.cluster].append(_Awaited(task, held))
        for cluster, awaited in by_cluster.items():
            try:
                for together in _batches(awaited):
                    self._bring_of(together)
            except CigriError as error:
                self._delivery.wrong.append(f"{cluster}: {error}")

    def _bring_of(self, together: Sequence["_Awaited"]) -> None:
        """Behind what is here already; and from the beginning, where something before it is here no more."""
        by_number = {awaited.number: awaited for awaited in together}
        for behind in dict.fromkeys([together[0].behind, None]):
            self._bring_behind(by_number, behind)
        self._delivery.wrong += [awaited.lack for awaited in together if awaited.files or awaited.bytes]

    def _bring_behind(self, by_number: "dict[int, _Awaited]", behind: OutputFile | None) -> None:
        told = set[OutputFile]()
        while any(awaited.files for awaited in by_number.values()):
            pieces = self._ask(list(by_number), behind)
            if not pieces:
                return
            for piece in pieces:
                behind = self._take(by_number, piece)
            if behind is None or behind in told:
                raise CigriError("it tells of the same files again and again")
            told.add(behind)

    def _ask(self, numbers: Sequence[int], file: OutputFile | None, offset: int | None = None) -> list[BroughtFile]:
        named, chosen = f"{file.number}/{quote(file.path)}" if file else "", written_ids(numbers)
        answer = self._grid.ask(fetch_files, campaign_id=self._campaign_id, numbers=chosen, file=named, offset=offset)
        return answer.files

    def _take(self, by_number: "dict[int, _Awaited]", piece: BroughtFile) -> OutputFile:
        awaited, path = by_number.get(piece.number), unquote_to_bytes(piece.path)
        if awaited is None or awaited.attempt != piece.attempt or not leads_below(path):
            raise CigriError("it tells of files that were not asked for, or they have changed: call it again")
        file = OutputFile(piece.number, piece.attempt, path)
        if path in awaited.held:
            return file
        if piece.size is None:
            piece = next(iter(self._ask([file.number], file, 0)), piece)
        if not awaited.takes(path, piece.size or 0):
            raise CigriError(f"more is told of task {file.number} than it has brought")
        try:
            self._bring_file(file, b64decode(piece.content), piece.size or 0)
        except OSError as error:
            if error.errno in FULL:
                raise
            self._delivery.wrong.append(f"{self._shown(file)}: {error.strerror}")
        return file

    def _bring_file(self, file: OutputFile, content: bytes, whole: int) -> None:
        if self._brought.is_foreign(file):
            self._delivery.wrong.append(self._brought.stays(file))
            return
        begun = self._brought.begun(file)
        if len(content) == whole or begun not in range(len(content), whole + 1):
            self._brought.add(file, 0, content)
            self._delivery.add(content)
            begun = len(content)
        while begun < whole:
            piece = next(iter(self._ask([file.number], file, begun)), None)
            content = b64decode(piece.content) if piece else b""
            if piece is None or (piece.attempt, piece.size) != (file.attempt, whole) or not content:
                self._delivery.wrong.append(f"{self._shown(file)} has changed on the cluster: call it again")
                return
            self._brought.add(file, begun, content)
            self._delivery.add(content)
            begun += len(content)
        self._brought.finish(file, whole)
        self._delivery.files += 1

    def _shown(self, file: OutputFile) -> str:
        return one_line(f"{self._brought.place}/{file.name}")


class _Awaited:
    """What is still to come of a task, of which some is here."""

    def __init__(self, task: WrittenTask, held: Mapping[OutputFile, int]) -> None:
        self.number, self.attempt, self._task = task.number, task.attempt, task
        self.held = {file.path for file in held}
        self.behind = max(held, key=lambda file: file.path.replace(b"\n", b"\1"), default=None)  # as it is told
        self.files = task.files - len(held)
        self.bytes = task.bytes - sum(held.values())

    def takes(self, path: bytes, more: int) -> bool:
        """Can this be one of its files?"""
        self.held.add(path)
        self.files, self.bytes = self.files - 1, self.bytes - more
        return self.files >= 0 and self.bytes >= 0

    @property
    def lack(self) -> str:
        """What is said when it has not all come."""
        wanted = f"{self._task.files} files of {size(self._task.bytes)}"
        return f"task {self.number}: its {wanted} are not all there any more, or have changed"


def _batches(awaited: Sequence[_Awaited]) -> Iterator[Sequence[_Awaited]]:
    """Many at once, but those of which something is here already: there one goes on behind it."""
    yield from ([task] for task in awaited if task.held)
    fresh = iter([task for task in awaited if not task.held])
    while batch := list(islice(fresh, FETCHED_AT_ONCE)):
        yield batch
