"""Whom to tell, as it is written: `mail:me@example.org`, `[END,ERROR]exec:/home/me/bin/told -v`, `webhook:https://...`.

OAR's notation; a command is split into words as sh does it, and no shell ever reads it. Pure.
"""

import re
import shlex
from typing import NamedTuple
from urllib.parse import urlsplit

from cigri.states import Channel, NewsTag, Severity

LONGEST_TARGET = 2000
MOST_SUBSCRIPTIONS = 100
"""Subscriptions that a user may have beside those that descriptions ask for."""
HOW_SUBSCRIPTION = (
    "as mail:me@example.org, exec:/home/me/bin/told or webhook:https://example.org/x, with [END,ERROR] before"
)
_WRITTEN = re.compile(r"(?:\[(?P<tags>[^]]*)\])?\s*(?P<channel>[a-z]+):(?P<target>.*)")
_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")


class SubscriptionRequest(NamedTuple):
    """`severity`: what is less is not told; all that has one of the tags, where tags are named."""

    channel: Channel
    target: str
    tags: tuple[NewsTag, ...]
    severity: Severity

    def __str__(self) -> str:
        return f"[{','.join(self.tags)}]{self.channel}:{self.target}"


def read_subscribing(text: str, severity: Severity | None = None) -> SubscriptionRequest:
    """Raise ValueError with a sentence for what is wrong."""
    if not text.isprintable():
        raise ValueError("whom to tell is one line without control characters")
    parts = _WRITTEN.fullmatch(text.strip())
    if parts is None or parts["channel"] not in list(Channel):
        raise ValueError(f"{text[:60]!r} names nobody to tell: write it {HOW_SUBSCRIPTION}")
    named = parts["tags"]
    tags = tuple(NewsTag) if named is None else _tags(named)
    usual = Severity.MEDIUM if named is None else Severity.LOW
    channel = Channel(parts["channel"])
    return SubscriptionRequest(channel, checked_target(channel, parts["target"].strip()), tags, severity or usual)


def checked_target(channel: Channel, target: str) -> str:
    """As it is; raise ValueError where nobody could be told so."""
    if len(target) > LONGEST_TARGET:
        raise ValueError(f"whom to tell takes {LONGEST_TARGET} characters at most")
    match channel:
        case Channel.MAIL if not _ADDRESS.fullmatch(target) or ".." in target:
            raise ValueError(f"{target[:60]!r} is no address of mail, as me@example.org")
        case Channel.EXEC:
            words_of(target)
        case Channel.WEBHOOK:
            _check_url(target)
    return target


def words_of(line: str) -> list[str]:
    """The words of a command, the first of which is the path of a program, whole or from home on; raise ValueError."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"{line[:60]!r} is no command: {error}") from None
    if not words or not words[0].startswith(("/", "~/")):
        raise ValueError("a command begins with the whole path of a program, or one from your home, as exec:~/bin/told")
    return words


def _tags(text: str) -> tuple[NewsTag, ...]:
    words = [word.strip().upper() for word in text.split(",")]
    if unknown := [word for word in words if word not in list(NewsTag)]:
        raise ValueError(f"{unknown[0][:30]!r} is no tag; there are {', '.join(NewsTag)}")
    return tuple(tag for tag in NewsTag if tag in words)


def _check_url(url: str) -> None:
    if not url.isascii() or any(character in url for character in ' "<>\\^`{|}'):
        raise ValueError("a URL has neither blanks, quotes nor letters beyond ASCII: percent-encode them")
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ValueError(f"{url[:60]!r} is no URL of a web server, as https://example.org/told")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("a URL that is told something has neither user, password nor fragment")
