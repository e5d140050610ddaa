"""Tells people what happens to their campaigns: by mail, by a command of theirs, or by a request to a web server.

Events become messages, one for each subscription and campaign in a while. Each is sent by a thread of its own, which
goes on while the next modules have their turn; one that was cut off is sent again, under the same key.
"""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from cigri.flow.messages import DueMessage, put_news, take_due
from cigri.flow.news import NotifiableEvent, Subscriber, end_news, list_news, list_readers, put_begun
from cigri.flow.quarantines import list_quarantined_campaigns
from cigri.flow.subscriptions import has_subscriptions
from cigri.runtime.failure_isolation import FailureIsolation
from cigri.runtime.pass_context import PassContext, PassReport
from modules.notifier.recipients import readers_of, wanted_by
from modules.notifier.sending import send

logger = logging.getLogger(__name__)

MOST_NEWS = 1000  # events in a pass
MOST_SENDING = 16  # messages at the same time
MOST_OF_USER = 4
SHORT_SENDING = 0.5  # seconds that the other modules wait for what is quick
LEASE_TIMES, LEASE_MORE = 3, 30  # what a try may last at most, of the time limit for each of its steps, and seconds


def run_once(tools: PassContext) -> PassReport:
    """Note what is to be told, and begin to send what is due."""
    with tools.database.begin() as conn:
        if not has_subscriptions(conn):
            return Counter()
    with tools.database.lock("cigri.notifier") as taken:
        if not taken:
            return Counter()
        report = _note(tools)
        lease = LEASE_TIMES * tools.settings.notify.timeout + LEASE_MORE
        with tools.database.begin() as conn:
            due = take_due(conn, MOST_SENDING, MOST_OF_USER, lease)
    report.update(_send(tools, due))
    return +report


def _note(tools: PassContext) -> PassReport:
    """In one transaction events cease to be news, and stand in the messages of those who want to know."""
    with tools.database.begin() as conn:
        report: PassReport = Counter({"campaigns begun": put_begun(conn)})
        news = list_news(conn, list_quarantined_campaigns(conn, ("notifier",)), MOST_NEWS)
        if not news:
            return report
        readers, isolation = list_readers(conn, news), FailureIsolation(conn, "notifier")
        by_campaign: dict[int | None, list[NotifiableEvent]] = defaultdict(list)
        for event in news:
            by_campaign[event.campaign_id].append(event)
        for campaign_id, events in by_campaign.items():
            tools.mark(campaign_id or 0)
            if campaign_id is None:
                report["news told"] += _put(tools, conn, readers, None, events)
                continue
            with isolation.savepoint(campaign_id):
                report["news told"] += _put(tools, conn, readers, campaign_id, events)
        tools.mark(0)
        isolation.settle(id for id in by_campaign if id is not None)
    return report


def _put(
    tools: PassContext,
    conn: Connection,
    readers: Sequence[Subscriber],
    campaign_id: int | None,
    events: Sequence[NotifiableEvent],
) -> int:
    told = 0
    for reader in readers_of(readers, campaign_id, events[0].user):
        if more := wanted_by(reader, events):
            put_news(conn, reader.id, campaign_id, more, tools.settings.notify.digest)
            told += 1
    end_news(conn, [event.id for event in events])
    return told


def _send(tools: PassContext, due: Sequence[DueMessage]) -> PassReport:
    """Each in a thread; those that are slow are waited for no longer, and settle their message themselves."""
    done: list[str] = []
    threads = [
        threading.Thread(target=partial(_try, tools, message, done), name=f"message {message.id}") for message in due
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + SHORT_SENDING
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return Counter(done.copy())


def _try(tools: PassContext, message: DueMessage, done: list[str]) -> None:
    """What goes wrong with one message is no other's trouble."""
    try:
        done.append("messages sent" if send(tools, message) else "messages not sent")
    except Exception:  # it is due again when its lease is over
        logger.exception("Message %s to %s:%s is not settled", message.id, message.channel, message.target)
