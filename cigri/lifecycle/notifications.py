"""What of all that happens is told to whom: each event has a tag and a severity; alike news are told together; pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cigri.formats.untrusted_text import escape_line
from cigri.lifecycle.task_failures import STDERR, TASK_FAILED, VARYING, last_stderr_line
from cigri.states import EventLevel, NewsTag, Severity

HAS_BEGUN = "BEGUN"
NOT_TOLD = "MESSAGE_FAILED"
"""An event that somebody was not told: nobody is told of it in the same way."""
TAGS_OF = {
    HAS_BEGUN: NewsTag.RUNNING,
    "FINISHED": NewsTag.END,
    "CANCELLED": NewsTag.END,
    "HELD": NewsTag.SUSPENDED,
    "RELEASED": NewsTag.RESUMING,
    "PURGE": NewsTag.INFO,
}
GRAVEST = (NewsTag.END, NewsTag.ERROR, NewsTag.SUSPENDED, NewsTag.RESUMING, NewsTag.RUNNING, NewsTag.INFO)
"""The tag of a message is the first of these that any of its news has."""
MOST_KINDS_TOLD = 20
LONGEST_NEWS = 300
OTHERS = "OTHERS"


class Notification(NamedTuple):
    """As in the table of messages: so many events of one kind, and what the last of them said."""

    tag: str
    code: str
    cluster: str
    kind: str
    said: str
    number: int = 1


def tag_of(code: str, level: EventLevel) -> NewsTag:
    """What an event is in OAR's words."""
    return TAGS_OF.get(code) or (NewsTag.INFO if level is EventLevel.INFO else NewsTag.ERROR)


def severity_of(tag: NewsTag, level: EventLevel) -> Severity:
    """An end and what is wrong matter most; what mends itself, begins or stands still, less."""
    if tag is NewsTag.END or (tag is NewsTag.ERROR and level is EventLevel.ERROR):
        return Severity.HIGH
    return Severity.LOW if tag is NewsTag.INFO else Severity.MEDIUM


def is_wanted(code: str, level: EventLevel, tags: Sequence[str], least: Severity) -> bool:
    """Is an event one of those that a subscription is about?"""
    tag, order = tag_of(code, level), list(Severity)
    return code != NOT_TOLD and tag in tags and order.index(severity_of(tag, level)) >= order.index(least)


def news_of(code: str, level: EventLevel, cluster: str, message: str) -> Notification:
    """One event; numbers and paths do not make another kind of it."""
    said = _in_short(code, message)
    return Notification(tag_of(code, level), code, cluster, VARYING.sub("#", said), said)


def gathered(before: Iterable[Mapping[str, Any]], more: Iterable[Notification]) -> list[dict[str, Any]]:
    """Alike news together, the first kinds first; of many kinds the rest is counted by tag."""
    kinds: dict[tuple[str, ...], Notification] = {}
    for news in (*(Notification(**each) for each in before), *more):
        alike = news[:4]
        if alike not in kinds and len(kinds) >= MOST_KINDS_TOLD:
            news = Notification(news.tag, OTHERS, "", "", "and others", news.number)
            alike = news[:4]
        known = kinds.get(alike)
        kinds[alike] = news._replace(number=news.number + known.number) if known else news
    return [news._asdict() for news in kinds.values()]


def gravest(news: Sequence[Notification]) -> NewsTag:
    """The tag of a message that tells all these."""
    tags = {each.tag for each in news}
    return next((tag for tag in GRAVEST if tag in tags), NewsTag.INFO)


def _in_short(code: str, message: str) -> str:
    """One line: of a failed task what it was, and the last that it wrote."""
    said = message
    if code == TASK_FAILED and STDERR in message:
        said = f"{message.partition(STDERR)[0]}: {last_stderr_line(message)}"
    line = escape_line(said.strip())
    return line if len(line) <= LONGEST_NEWS else f"{line[: LONGEST_NEWS - 3]}..."
