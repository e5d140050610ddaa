"""/changes: browsers are told, without an end, that what they show is not as it was; they then fetch it anew.

One poller for all of them asks the database, and only while somebody listens. To poll is enough: what moves counts is
many statements of many modules, none of which has to tell anybody.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from cigri.api_models.campaigns import CampaignView
from cigri.database import Database
from cigri.errors import CigriError, TooManyRequests
from cigri.flow.browser_sessions import list_alive
from cigri.flow.views.campaigns import list_campaigns
from cigri.identity.callers import Caller
from modules.portal.authentication import BY_SESSION
from modules.portal.connections import CHANGES
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.page_router import PageRouter, Site

logger = logging.getLogger(__name__)

POLL_PAUSE = 2.0  # seconds between two looks at the database
LONGEST_SILENCE = 60.0  # seconds until a page is fetched anew anyway: reasons and forecasts change by themselves
LONGEST_LISTENING = 900.0  # seconds until a browser has to say again who it is, which it does by itself
MOST_LISTENERS = 16  # streams of one user
CHANGED, OVER = "changed", "over"
HEADERS_OF_STREAM = {"X-Accel-Buffering": "no"}


class ChangeTopic(NamedTuple):
    """A campaign; or, where there is none, those of a user that are open, "" for everybody's."""

    campaign_id: int | None
    user: str


class _ChangeStamps(NamedTuple):
    """What one look has found: stamps by topic, and the sessions that are not over."""

    stamps: dict[ChangeTopic, str]
    alive: set[int]


class _Subscriber:
    """One stream; `stamp`: of what its browser shows."""

    def __init__(self, caller: Caller, topic: ChangeTopic, stamp: str) -> None:
        self.user, self.topic, self.stamp = caller.user, topic, stamp
        how = caller.how
        self.session_id = int(how.removeprefix(BY_SESSION)) if how.startswith(BY_SESSION) else None
        self.news: asyncio.Queue[str] = asyncio.Queue()
        self.told_at = time.monotonic()

    def hear(self, seen: _ChangeStamps) -> None:
        stamp = seen.stamps[self.topic]
        if self.session_id is not None and self.session_id not in seen.alive:
            self.news.put_nowait(OVER)
        elif stamp != self.stamp or time.monotonic() - self.told_at > LONGEST_SILENCE:
            self.stamp, self.told_at = stamp, time.monotonic()
            self.news.put_nowait(CHANGED)


class ChangePoller:
    """Of one process; all but the look itself happens in the server's own thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ears: set[_Subscriber] = set()
        self._polling: asyncio.Task[None] | None = None

    def listen(self, caller: Caller, topic: ChangeTopic, stamp: str) -> "ChangeStreamResponse":
        """What one browser is answered; raise TooManyRequests where this user has too many such answers already."""
        if sum(ear.user == caller.user for ear in self._ears) >= MOST_LISTENERS:
            raise TooManyRequests(
                f"{MOST_LISTENERS} pages of yours are told what changes; close one, or load this one by hand"
            )
        ear = _Subscriber(caller, topic, stamp)
        self._ears.add(ear)
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        return ChangeStreamResponse(self, ear)

    def leave(self, ear: _Subscriber) -> None:
        """Its browser has gone, or is sent away."""
        self._ears.discard(ear)
        if not self._ears and self._polling is not None:
            self._polling.cancel()
            self._polling = None

    async def _poll(self) -> None:
        while True:
            try:
                ears = set(self._ears)
                seen = await run_in_threadpool(self._look, ears)
            except CigriError as error:
                logger.warning("nobody is told what changes: %s", error)
            except Exception:  # a bug in one look: the next may be well
                logger.exception("nobody is told what changes")
            else:
                for ear in ears:
                    ear.hear(seen)
            await asyncio.sleep(POLL_PAUSE)

    def _look(self, ears: set[_Subscriber]) -> _ChangeStamps:
        topics, sessions = {ear.topic for ear in ears}, {ear.session_id for ear in ears}
        named = {topic.campaign_id for topic in topics if topic.campaign_id is not None}
        with self._database.answering() as conn:
            alive = list_alive(conn, {session for session in sessions if session is not None})
            views = {view.id: view for view in list_campaigns(conn, sorted(named))} if named else {}
            are_lists = any(topic.campaign_id is None for topic in topics)
            still_open = list_campaigns(conn) if are_lists else []
        return _ChangeStamps({topic: stamp_of(_chosen(topic, views, still_open)) for topic in topics}, alive)


class ChangeStreamResponse(StreamingResponse):
    """The stream to one browser; however it ends, the poller knows."""

    def __init__(self, poller: ChangePoller, ear: _Subscriber) -> None:
        self._poller, self._ear = poller, ear
        super().__init__(_told(ear), media_type="text/event-stream", headers=HEADERS_OF_STREAM)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._poller.leave(self._ear)


async def _told(ear: _Subscriber) -> AsyncIterator[bytes]:
    yield b": listening\n\n"
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_LISTENING):
            while (news := await ear.news.get()) != OVER:
                yield f"event: {news}\nid: {ear.stamp}\ndata: {news}\n\n".encode()
        yield f"event: {OVER}\ndata: {OVER}\n\n".encode()


change_pages = PageRouter()


@change_pages.page(CHANGES)
async def changes(
    site: Site, request: Request, campaign: PlainNumber | None = None, user: PlainText = "", seen: PlainText = ""
) -> Response:
    """Tell what changes of a campaign, or of those of `user`; `seen`: the stamp of what is shown."""
    caller = await run_in_threadpool(site.visitor, request)
    stamp = request.headers.get("last-event-id", seen)
    poller: ChangePoller = request.app.state.change_poller
    return poller.listen(caller, ChangeTopic(campaign, "" if campaign is not None else user), stamp)


def stamp_of(campaigns: Iterable[CampaignView]) -> str:
    """Another one as soon as something of them is that pages show, and that does not follow from the time alone."""
    told = [(c.id, c.state, c.is_held, c.own_priority, c.errors, c.running, *_counts(c)) for c in campaigns]
    return sha256(repr(told).encode()).hexdigest()[:16]


def _counts(campaign: CampaignView) -> tuple[int, ...]:
    tasks = campaign.blocked, campaign.waiting, campaign.assigned, campaign.done, campaign.failed, campaign.cancelled
    return *tasks, campaign.uncollected, campaign.collected


def _chosen(topic: ChangeTopic, views: dict[int, CampaignView], still_open: list[CampaignView]) -> list[CampaignView]:
    if topic.campaign_id is not None:
        return [views[topic.campaign_id]] if topic.campaign_id in views else []
    return [view for view in still_open if topic.user in ("", view.user)]
