"""`gridstat --watch`: how campaigns go on, every second, until nothing more will happen by itself."""

import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple

from cigri.api_models.campaigns import CampaignView
from cigri.cli.campaigns import end, letters, progress
from cigri.cli.command import DONE, FAILED, escape_text, print_error
from cigri.cli.table_printing import INDENT, LEAST_WIDTH
from cigri.cli.terminal import may_draw
from cigri.cli.text_wrapping import width_of, wrap_text
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.health import notices
from cigri.endpoints.paging import walk
from cigri.errors import NotFound, PortalUnavailable
from cigri.formats.id_ranges import format_ids
from cigri.formats.units import localised
from cigri.presentation.formatting import format_rate
from cigri.states import CampaignState

PERIOD = 1.0  # seconds
PATIENCE = 60.0  # seconds, with a portal that does not answer
PROGRESS_BAR = 30
HIDE, SHOW = "\033[?25l", "\033[?25h"  # the cursor
UP, CLEAR = "\033[{}F", "\033[J"  # to the first column so many lines above; from the cursor to the end of the screen


class WatchSnapshot(NamedTuple):
    """A campaign at one moment.

    `notices`: what keeps the campaigns that are looked at from going on, whoever's fault it is.
    """

    campaign: CampaignView
    now: datetime
    notices: Sequence[str] = ()

    @property
    def is_over(self) -> bool:
        """It has ended, or it only waits for somebody to look at what failed, of it or of what it waits for."""
        c = self.campaign
        is_behind = c.blocked > 0 and c.errors > c.failed
        is_stuck = is_behind or (not c.blocked and (c.failed > 0 or c.has_failed_epilogue))
        return (is_stuck and not c.waiting + c.assigned + c.uncollected) or not c.is_open


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Where a look is shown."""

    def show(self, looks: Sequence[WatchSnapshot]) -> None:
        """Show all campaigns as they are now, in place of the look before or after it; called each second."""
        raise NotImplementedError


class ProgressLines(ProgressDisplay):
    """A line for each campaign that has changed."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}
        self._notices: Sequence[str] = ()

    def show(self, looks: Sequence[WatchSnapshot]) -> None:
        current = _notices(looks)
        for notice in current if current != self._notices else ():
            print(escape_text(notice), flush=True)
        self._notices = current
        for look in looks:
            c, counts = look.campaign, _counts(look)
            if self._last.get(c.id) != counts:
                self._last[c.id] = counts
                print(f"{c.id} {escape_text(c.name)} {progress(c)} {counts}{_outlook(look)}", flush=True)

    def __exit__(self, *_: object) -> None:
        return None


class ProgressBars(ProgressDisplay):
    """A bar for each campaign, drawn anew over those of the look before."""

    def __init__(self) -> None:
        self._height = 0

    def __enter__(self) -> "ProgressBars":
        print(HIDE, end="")
        return self

    def __exit__(self, *_: object) -> None:
        print(SHOW, end="", flush=True)

    def show(self, looks: Sequence[WatchSnapshot]) -> None:
        size = shutil.get_terminal_size()
        lines = [*_folded_notices(looks, size.columns), *drawn(looks, size.columns)]
        lines = lines[: max(size.lines - 1, 1)]  # what has left the screen cannot be drawn over
        print(UP.format(self._height) * (self._height > 0) + CLEAR + "\n".join(lines), flush=True)
        self._height = len(lines)


def _notices(looks: Sequence[WatchSnapshot]) -> list[str]:
    return list(dict.fromkeys(notice for look in looks for notice in look.notices))


def _folded_notices(looks: Sequence[WatchSnapshot], width: int) -> list[str]:
    return [line for notice in _notices(looks) for line in wrap_text(escape_text(notice), max(width, LEAST_WIDTH))]


def drawn(looks: Sequence[WatchSnapshot], width: int) -> list[str]:
    """Bars and numbers first; the names, and what there is to say, behind them or in lines of their own."""
    counts = [f"{look.campaign.done}/{look.campaign.total}" for look in looks]
    longest = max(map(len, counts), default=0)
    lines = []
    for look, count in zip(looks, counts, strict=True):
        head = f"{_bar(look.campaign, min(PROGRESS_BAR, width // 3))} {count:>{longest}} "
        name, state = f"{look.campaign.id} {escape_text(look.campaign.name)}", _counts(look) + _outlook(look)
        if len(head) + width_of(f"{name} {state}") <= width:
            lines.append(f"{head}{name} {state}")
            continue
        named = wrap_text(name, max(width - len(head), LEAST_WIDTH))
        lines += [head + named[0], *(" " * len(head) + line for line in named[1:])]
        lines += [INDENT + line for line in wrap_text(state, max(width - len(INDENT), LEAST_WIDTH))]
    return lines


def _bar(campaign: CampaignView, width: int) -> str:
    filled = campaign.done * width // campaign.total if campaign.total else 0
    return f"[{'#' * filled}{'.' * (width - filled)}]"


def watch(grid: GridClient, ids: Sequence[int] | None, user: str) -> int:
    """Show the campaigns (None: those that are open now) until all are over; FAILED unless each task is done."""
    looks = _look(grid, ids, user)
    if not looks:
        if ids is None:
            print_error("no campaign is open: there is nothing to watch")
            return DONE
        raise NotFound(f"no campaign {', '.join(map(str, ids))}; `gridstat -a` lists all")
    ids = [look.campaign.id for look in looks]
    with ProgressBars() if may_draw(sys.stdout) else ProgressLines() as screen:
        screen.show(looks)
        while not all(look.is_over for look in looks):
            time.sleep(PERIOD)
            looks = _look_patiently(grid, ids, user)
            screen.show(looks)
    return max(_verdict(look) for look in looks)


def _look_patiently(grid: GridClient, ids: Sequence[int], user: str) -> list[WatchSnapshot]:
    """A portal that is started again meanwhile is waited for."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _look(grid, ids, user)
        except PortalUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(PERIOD)


def _look(grid: GridClient, ids: Sequence[int] | None, user: str) -> list[WatchSnapshot]:
    named = format_ids(ids)
    found = grid.call(notices, ids=named, user=user)
    sentences = [*map(localised, found.sentences)]
    return [WatchSnapshot(campaign, found.now, sentences) for campaign in walk(grid, campaigns, ids=named, user=user)]


def _verdict(look: WatchSnapshot) -> int:
    campaign = look.campaign
    if campaign.state is CampaignState.CANCELLED:
        print_error(f"campaign {campaign.id} was cancelled")
        return FAILED
    if campaign.failed or campaign.cancelled:
        print_error(
            f"campaign {campaign.id}: tasks failed: {campaign.failed}, cancelled: {campaign.cancelled}; "
            f"`gridstat -e {campaign.id}` shows why and how to go on"
        )
        return FAILED
    if campaign.blocked:
        print_error(
            f"campaign {campaign.id}: {campaign.blocked} blocked; `gridstat -e {campaign.id}` shows how to go on"
        )
        return FAILED
    if campaign.has_failed_epilogue:
        print_error(f"campaign {campaign.id}: an epilogue failed; `gridstat -e {campaign.id}` shows how to go on")
        return FAILED
    return DONE


def _counts(look: WatchSnapshot) -> str:
    c = look.campaign
    words = [f"{c.blocked} blocked"] if c.blocked else []
    words += [f"{c.waiting} waiting", f"{c.assigned} in jobs", f"{c.running} running"]
    words += [f"{c.failed} failed"] if c.failed else []
    words += [f"{c.cancelled} cancelled"] if c.cancelled else []
    words += [f"{c.uncollected} outputs to come"] if c.uncollected else []
    return f"{letters(c)} {', '.join(words)}"


def _outlook(look: WatchSnapshot) -> str:
    speed = format_rate(look.campaign.throughput) if look.campaign.is_open else None
    when = end(look.campaign, look.now, with_date=False) if look.campaign.is_open else None
    return (f", {speed} tasks/h" if speed else "") + (f", ends {when}" if when else "")
