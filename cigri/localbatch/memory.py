"""How much memory the processes of a job have, as /proc tells it, all in KB.

What a job may have is counted without files that it has mapped, which the kernel takes away where memory is short.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

KEPT_LOOKS = 3
"""A task that has ended is remembered for so many looks: its wrapper may ask late."""

MEASUREMENTS = 3
"""A job that seems to have too much is measured again so often before that is believed."""


class ProcessMemory(NamedTuple):
    """What one process has: in all, the most that it ever had, and what is of no file."""

    whole: int = 0
    most: int = 0
    own: int = 0


class PeakOfTask(NamedTuple):
    """The most that the processes below one had together, and in how many looks it was not there any more."""

    kilobytes: int
    missed: int = 0


class MemoryLook:
    """One look at processes; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int, ProcessMemory] = {}

    def own(self, pids: Iterable[int], limit: int) -> int:
        """What they have together that is of no file; what they share counts once where that decides."""
        family = list(pids)
        total = sum(self._of(pid).own for pid in family)
        if total <= limit or len(family) == 1:
            return total
        return sum(_shared_out(pid, ("Pss_Anon:", "Pss_Shmem:"), self._of(pid).own) for pid in family)

    def peak(self, pids: Iterable[int], before: int) -> int:
        """The most that they have had together, no less than `before`."""
        family = list(pids)
        most = max((self._of(pid).most for pid in family), default=0)
        total = sum(self._of(pid).whole for pid in family)
        if len(family) > 1 and total > max(before, most):
            total = sum(_shared_out(pid, ("Pss:",), self._of(pid).whole) for pid in family)
        return max(before, most, total)

    def _of(self, pid: int) -> ProcessMemory:
        if pid not in self._known:
            told = _amounts(f"/proc/{pid}/status")
            own = told.get("RssAnon:", 0) + told.get("RssShmem:", 0)
            self._known[pid] = ProcessMemory(told.get("VmRSS:", 0), told.get("VmHWM:", 0), own)
        return self._known[pid]


class MemoryOfJob:
    """What was seen of a job: the peaks of its tasks, for its wrapper, which are children of it or of its workers."""

    def __init__(self, path: str) -> None:
        self._path = path  # "" where no file is kept
        self._peaks: dict[int, PeakOfTask] = {}

    def look(self, root: int, orphans: Iterable[int], limit: int) -> int:
        """Note the peaks; what the job has that counts towards the limit (0: there is none)."""
        look, below = MemoryLook(), dict[int, list[int]]()
        descendants(root, below)
        tasks = [child for pid in (root, *below[root]) for child in below[pid]]
        self._note({pid: look.peak(descendants(pid, below), self._before(pid)) for pid in tasks})
        return _own(root, list(orphans), limit) if limit else 0

    def _before(self, pid: int) -> int:
        return self._peaks[pid].kilobytes if pid in self._peaks else 0

    def _note(self, seen: Mapping[int, int]) -> None:
        kept = {pid: peak._replace(missed=peak.missed + 1) for pid, peak in self._peaks.items()}
        kept |= {pid: PeakOfTask(kilobytes) for pid, kilobytes in seen.items() if kilobytes}
        peaks = {pid: peak for pid, peak in kept.items() if peak.missed <= KEPT_LOOKS}
        if self._path and peaks != self._peaks:
            with suppress(OSError):  # then nothing is known
                _replace(self._path, "".join(f"{pid} {peak.kilobytes} .\n" for pid, peak in peaks.items()))
        self._peaks = peaks


def _own(root: int, orphans: Iterable[int], limit: int) -> int:
    """The least of some measurements, once one is within the limit: while processes end, shares seem to be more."""
    least = 0
    for number in range(MEASUREMENTS):
        below: dict[int, list[int]] = {}
        whole = {pid for one in (root, *orphans) for pid in descendants(one, below)}
        now = MemoryLook().own(whole, limit)
        least = min(least, now) if number else now
        if least <= limit:
            break
    return least


def descendants(pid: int, below: dict[int, list[int]]) -> list[int]:
    """A process and all below it; `below` are the children of those that were asked after already."""
    found = [pid]
    for one in found:
        if one not in below:
            below[one] = children_of(one)
        found.extend(child for child in below[one] if child not in found)
    return found


def children_of(pid: int) -> list[int]:
    """Those of all its threads; none where it is gone, or the kernel does not tell."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def _shared_out(pid: int, names: tuple[str, ...], otherwise: int) -> int:
    """With its share of what it has in common with others, where the kernel tells that."""
    try:
        told = _lines(f"/proc/{pid}/smaps_rollup")
    except ProcessLookupError:
        return 0  # it has ended meanwhile
    except FileNotFoundError:
        return otherwise if os.path.exists(f"/proc/{pid}") else 0
    except OSError:
        return otherwise
    return sum(told[name] for name in names) if told.keys() >= set(names) else otherwise


def _amounts(path: str) -> dict[str, int]:
    """As _lines(); none where the process is gone."""
    with suppress(OSError):
        return _lines(path)
    return {}


def _lines(path: str) -> dict[str, int]:
    """Those that end with kB."""
    with open(path, encoding="utf-8", errors="replace") as file:
        words = [line.split() for line in file if line.endswith(" kB\n")]
    return {line[0]: int(line[1]) for line in words if len(line) == 3}


def _replace(path: str, text: str) -> None:
    """At once, so that nobody reads half of it; for all to read, as its directory is not."""
    new = f"{path}.new"
    with open(new, "w") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(text)
    os.replace(new, path)
