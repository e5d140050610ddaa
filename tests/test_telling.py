"""What is told of what happens, and how whom to tell is written: pure."""

from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.formats.subscriptions import SubscriptionRequest, read_subscribing
from cigri.lifecycle.notifications import (
    MOST_KINDS_TOLD,
    Notification,
    gathered,
    gravest,
    news_of,
    severity_of,
    tag_of,
)
from cigri.presentation.event_codes import CODES_OF_CAMPAIGNS, OF_THE_GRID
from cigri.states import Channel, EventLevel, NewsTag, Severity
from modules.notifier.allowed_networks import is_public

ALL = tuple(NewsTag)
MEDIUM, LOW = Severity.MEDIUM, Severity.LOW


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("mail:me@example.org", SubscriptionRequest(Channel.MAIL, "me@example.org", ALL, MEDIUM)),
        ("[END,ERROR]mail:me@x.org", SubscriptionRequest(Channel.MAIL, "me@x.org", (NewsTag.END, NewsTag.ERROR), LOW)),
        (
            " [ error , end ] mail: me@x.org ",
            SubscriptionRequest(Channel.MAIL, "me@x.org", (NewsTag.END, NewsTag.ERROR), LOW),
        ),
        ("exec:/bin/told -v 'a b'", SubscriptionRequest(Channel.EXEC, "/bin/told -v 'a b'", ALL, MEDIUM)),
        (
            "webhook:https://x.org:8443/y?z=1",
            SubscriptionRequest(Channel.WEBHOOK, "https://x.org:8443/y?z=1", ALL, MEDIUM),
        ),
    ],
)
def test_it_is_written_as_oar_writes_it(written: str, read: SubscriptionRequest) -> None:
    assert read_subscribing(written) == read
    assert read_subscribing(str(read), read.severity) == read


@pytest.mark.parametrize(
    "written",
    [
        "me@example.org",
        "jabber:me@example.org",
        "[END]",
        "[]mail:me@example.org",
        "[DONE]mail:me@example.org",
        "mail:",
        "mail:me",
        "mail:me@x.org,you@x.org",
        "mail:me@x.org\nBcc: you@x.org",
        "mail:-f@x.org",
        "mail:a@b@c",
        "mail:ü@x.org",
        "exec:",
        "exec:told",
        "exec:/bin/told 'a",
        "exec:/bin/told\n/bin/other",
        "webhook:ftp://x.org/",
        "webhook:file:///etc/passwd",
        "webhook:https:///x",
        "webhook:https://me:secret@x.org/",
        "webhook:https://x.org/a b",
        "webhook:https://x.org:99999/",
        "webhook:https://x.org/\r\nHost: y",
        "webhook:https://[::1/",
        "mail:" + "a" * 5000 + "@x.org",
    ],
)
def test_what_names_nobody_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r".{20}"):
        read_subscribing(written)


@given(st.text())
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    for head in ("", "mail:", "exec:/", "webhook:https://", "["):
        try:
            read = read_subscribing(head + text)
        except ValueError:
            continue
        assert read.target.isprintable()


def test_each_event_has_a_tag_and_a_severity() -> None:
    for code in (*CODES_OF_CAMPAIGNS, *OF_THE_GRID):
        for level in EventLevel:
            assert severity_of(tag_of(code, level), level) in Severity
    assert tag_of("TASK_FAILED", EventLevel.ERROR) is NewsTag.ERROR
    assert tag_of("CLUSTER_SET_ASIDE", EventLevel.WARNING) is NewsTag.ERROR
    assert tag_of("PURGE", EventLevel.WARNING) is NewsTag.INFO
    assert severity_of(NewsTag.END, EventLevel.INFO) is Severity.HIGH


def failed(task: int, said: str) -> Notification:
    message = f"failure, exit code 1; stderr ends: first line\n{said} {task}"
    return news_of("TASK_FAILED", EventLevel.ERROR, "dahu", message)


def test_alike_failures_are_told_together() -> None:
    news = gathered((), [failed(1, "no file /a/1"), failed(2, "no file /b/2")])
    news = gathered(news, [failed(3, "no file /c"), failed(4, "boom")])
    assert [(each["number"], each["said"]) for each in news] == [
        (3, "failure, exit code 1: no file /c 3"),
        (1, "failure, exit code 1: boom 4"),
    ]


@given(st.lists(st.tuples(st.sampled_from(["TASK_FAILED", "HELD", "FINISHED"]), st.text(max_size=3)), max_size=200))
def test_nothing_that_is_gathered_is_lost(events: list[tuple[str, str]]) -> None:
    news: list[dict[str, Any]] = []
    for code, text in events:
        news = gathered(news, [news_of(code, EventLevel.INFO, "", text)])
    assert sum(Notification(**each).number for each in news) == len(events)
    assert len(news) <= MOST_KINDS_TOLD + len(NewsTag)


def test_a_message_has_the_gravest_of_its_tags() -> None:
    codes = ("BEGUN", "TASK_FAILED", "FINISHED")
    levels = (EventLevel.INFO, EventLevel.ERROR, EventLevel.INFO)
    news = [news_of(code, level, "", "") for code, level in zip(codes, levels, strict=True)]
    assert [gravest(news[:number]) for number in (1, 2, 3)] == [NewsTag.RUNNING, NewsTag.ERROR, NewsTag.END]


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("93.184.215.14", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.215.14", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:7f00:1::", False),
    ],
)
def test_only_public_addresses_are_asked(address: str, may: bool) -> None:
    assert is_public(ip_address(address)) is may
