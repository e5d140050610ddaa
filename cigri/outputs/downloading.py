"""The files that tasks have brought come from a cluster to where they are wanted, each task's whole and of one attempt.

What a cluster tells is held against what was counted when the task ended: neither more files come, nor more bytes.
"""

import errno
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from cigri.errors import CigriError
from cigri.formats.units import as_size
from cigri.formats.untrusted_text import escape_line, leads_below
from cigri.outputs.brought import OutputFile

FULL = (errno.ENOSPC, errno.EDQUOT)


class TaskWithOutputs(NamedTuple):
    """A task, and what its attempt has brought."""

    number: int
    attempt: int
    files: int
    bytes: int


class ReportedFile(NamedTuple):
    """A file, or a part of it, as a cluster tells of it; size None: it is told when it is asked for alone."""

    number: int
    attempt: int
    path: bytes
    size: int | None
    content: bytes


class FileSource(Protocol):
    """Where they come from."""

    def files(self, numbers: Collection[int], behind: OutputFile | None) -> Sequence[ReportedFile]:
        """As many as one answer holds, in their order, behind one of them; none: there are no more."""

    def rest(self, file: OutputFile, offset: int) -> ReportedFile | None:
        """Of one file what is behind an offset, or a part of that; None: there is no such file."""


class FileSink(Protocol):
    """Where they come to."""

    def is_foreign(self, file: OutputFile) -> bool:
        """Does something lie in its place that we have not made?"""

    def begun(self, file: OutputFile) -> int:
        """How many bytes of it are here already."""

    def add(self, file: OutputFile, offset: int, content: bytes) -> None:
        """A piece has come; what was behind it is gone."""

    def finish(self, file: OutputFile, size: int) -> None:
        """All of it has."""

    def shown(self, file: OutputFile) -> str:
        """Its place, for a person."""


class TransferObserver(Protocol):
    """What is told of all that comes; `wrong`: sentences."""

    files: int
    wrong: list[str]

    def add(self, content: bytes) -> None:
        """A piece has come."""


class PendingTaskFiles:
    """What is still to come of a task, of which some is here."""

    def __init__(self, task: TaskWithOutputs, held: Mapping[OutputFile, int]) -> None:
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
    def is_whole(self) -> bool:
        return not (self.files or self.bytes)

    @property
    def lack(self) -> str:
        """What is said when it has not all come."""
        wanted = f"{self._task.files} files of {as_size(self._task.bytes)}"
        return f"task {self.number}: its {wanted} are not all there any more, or have changed"


class OutputDownloader:
    """Tasks of one campaign on one cluster."""

    def __init__(self, source: FileSource, sink: FileSink, progress: TransferObserver) -> None:
        self._source, self._sink, self._progress = source, sink, progress

    def bring(self, together: Sequence[PendingTaskFiles]) -> None:
        """Behind what is here already; and from the beginning, where something before it is here no more.

        Raise CigriError where an answer cannot be believed. What is not whole then has changed, or is gone.
        """
        by_number = {awaited.number: awaited for awaited in together}
        for behind in dict.fromkeys([together[0].behind, None]):
            self._bring_behind(by_number, behind)

    def _bring_behind(self, by_number: dict[int, PendingTaskFiles], behind: OutputFile | None) -> None:
        told = set[OutputFile]()
        while any(awaited.files for awaited in by_number.values()):
            pieces = self._source.files(by_number, behind)
            if not pieces:
                return
            for piece in pieces:
                behind = self._take(by_number, piece)
            if behind is None or behind in told:
                raise CigriError("it tells of the same files again and again")
            told.add(behind)

    def _take(self, by_number: dict[int, PendingTaskFiles], piece: ReportedFile) -> OutputFile:
        awaited = by_number.get(piece.number)
        if awaited is None or awaited.attempt != piece.attempt or not leads_below(piece.path):
            raise CigriError("it tells of files that were not asked for, or they have changed: call it again")
        file = OutputFile(piece.number, piece.attempt, piece.path)
        if piece.path in awaited.held:
            return file
        if piece.size is None:
            piece = self._source.rest(file, 0) or piece
        if not awaited.takes(piece.path, piece.size or 0):
            raise CigriError(f"more is told of task {file.number} than it has brought")
        try:
            self._bring_file(file, piece.content, piece.size or 0)
        except OSError as error:
            if error.errno in FULL:
                raise
            self._progress.wrong.append(f"{escape_line(self._sink.shown(file))}: {error.strerror}")
        return file

    def _bring_file(self, file: OutputFile, content: bytes, whole: int) -> None:
        shown = escape_line(self._sink.shown(file))
        if self._sink.is_foreign(file):
            message = f"{shown} was not made by gridget, so it stays: move it, or name another directory"
            self._progress.wrong.append(message)
            return
        begun = self._sink.begun(file)
        if len(content) == whole or begun not in range(len(content), whole + 1):
            self._sink.add(file, 0, content)
            self._progress.add(content)
            begun = len(content)
        while begun < whole:
            piece = self._source.rest(file, begun)
            if piece is None or not _goes_on(piece, file, begun, whole):
                self._progress.wrong.append(f"{shown} has changed on the cluster: call it again")
                return
            self._sink.add(file, begun, piece.content)
            self._progress.add(piece.content)
            begun += len(piece.content)
        self._sink.finish(file, whole)
        self._progress.files += 1


def _goes_on(piece: ReportedFile, file: OutputFile, begun: int, whole: int) -> bool:
    """Is it the next piece of the same file, and no more than that?"""
    is_same = (piece.attempt, piece.size) == (file.attempt, whole)
    return is_same and 0 < len(piece.content) <= whole - begun
