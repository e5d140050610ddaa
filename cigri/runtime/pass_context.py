"""What every module shares: the tools it works with, the report of a pass, and the row that tells how it went."""

import gc
import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from cigri.database import Database
from cigri.gateway.contract import ClusterGateway, VisitResults
from cigri.settings.sections import Settings

YOUNG = 50_000  # new objects between two searches for garbage: a pass makes very many rows, which hold no cycles

PassReport = Counter[str]
"""Counts of what a pass did, in words for people."""

ROUTINE = frozenset(
    {"clusters", "locked clusters", "locked passes", "late clusters", "forecasts", "offers", "pools computed"}
)
"""Counts of what is done in each pass, whatever has happened: no news."""


def _unmarked(_campaign_id: int) -> None:
    """A pass by hand is not killed at a deadline."""


class PassContext(NamedTuple):
    """All that a pass may use."""

    database: Database
    settings: Settings
    gateway: ClusterGateway
    mark: Callable[[int], None] = _unmarked
    """Told of the campaign that the pass is at: it is to blame if the process does not survive it; 0: none."""


RunOnce = Callable[[PassContext], PassReport]
"""One pass of a module."""


def combine_reports(seen: VisitResults) -> PassReport:
    """The visits of a pass as one report; raise what went wrong in one of them, now that the others are done."""
    for name, error in seen.failed.items():
        error.add_note(f"while it visited cluster {name}")
        raise error
    report: PassReport = Counter()
    for counts in seen.reports.values():
        report.update(counts)
    if seen.reports:
        report["clusters"] = len(seen.reports)
    if seen.late:
        report["late clusters"] = len(seen.late)
    return report


def is_noteworthy(counts: Mapping[str, int]) -> bool:
    """Has a pass changed anything that somebody may want to read of?"""
    return any(count for what, count in counts.items() if what not in ROUTINE)


def tune_garbage_collector() -> None:
    """For a process that makes passes for ever: what it has imported is never garbage, so it is not searched again."""
    gc.freeze()
    gc.set_threshold(YOUNG)


def process_identity() -> tuple[str, int]:
    """Host and process, for the table of modules."""
    return socket.gethostname(), os.getpid()
