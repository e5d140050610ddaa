"""Who is told, as a description says it; its subscriptions are stored with the campaign, or neither is."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.errors import DescriptionError
from cigri.flow.submissions import put_campaign
from cigri.jdl import CampaignDescription, parse
from cigri.states import Channel, NewsTag
from cigri.submission.new_campaign import new_campaign
from tests.factories import a_cluster


def described(notify: Any) -> CampaignDescription:
    content = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": ["dahu"], "notify": notify}
    return parse(json.dumps(content), base=Path(), home=Path())


def test_one_or_a_list() -> None:
    (told,) = described("[END]mail:me@example.org").notify
    assert (told.channel, told.target, told.tags) == (Channel.MAIL, "me@example.org", (NewsTag.END,))
    assert [told.channel for told in described(["mail:me@x.org", "exec:/bin/told"]).notify] == ["mail", "exec"]
    assert described([]).notify == described(None).notify == ()


def test_the_last_word_about_an_address_holds() -> None:
    (told,) = described(["mail:me@x.org", "[ERROR]mail:me@x.org"]).notify
    assert told.tags == (NewsTag.ERROR,)


@pytest.mark.parametrize(
    ("notify", "says"),
    [
        ("me@x.org", "names nobody to tell"),
        (["[DONE]mail:me@x.org"], "'DONE' is no tag; there are RUNNING, END"),
        (7, "expected whom to tell, or a list of such"),
        ([7], "expected whom to tell"),
        ([f"mail:m{number}@x.org" for number in range(11)], "11 are to be told; 10 at the most"),
        ("mail:me@x.org\nBcc: you@x.org", "one line"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(notify: Any, says: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        described(notify)
    (problem,) = refused.value.problems
    assert problem.place == "notify"
    assert says in problem.message


def test_it_stands_at_the_top_alone() -> None:
    content = {"name": "n", "nb_jobs": 1, "exec_file": "e", "clusters": {"dahu": {"notify": "mail:me@x.org"}}}
    with pytest.raises(DescriptionError, match="belongs at the top"):
        parse(json.dumps(content), base=Path(), home=Path())


def test_they_are_stored_with_the_campaign(database: Database) -> None:
    found = described(["[END]mail:me@example.org", "webhook:https://example.org/x"])
    with database.begin() as conn:
        a_cluster(conn)
        id = put_campaign(conn, new_campaign(found, "alice"), found.parameters())
        stored = "SELECT campaign_id, grid_user, channel::text, target, secret IS NULL FROM subscriptions ORDER BY id"
        assert conn.execute(text(stored)).all() == [
            (id, "alice", "mail", "me@example.org", True),
            (id, "alice", "webhook", "https://example.org/x", False),
        ]
        assert conn.scalar(text("SELECT written ->> 'notify' FROM campaigns")) is not None
