"""gridnotify: the same over the portal and on the database; a secret is printed once, and no more than that."""

import pytest
from sqlalchemy import text

from cigri.cli import gridnotify
from cigri.cli.command import grid_user
from cigri.database import Database
from cigri.flow.subscriptions import put_subscription
from cigri.formats.subscriptions import read_subscribing
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster
from tests.portal.conftest import EnvironmentSettings, serve  # noqa: F401  (pytest finds it here)

COMMAND = gridnotify


@pytest.fixture(params=["here", "portal"], autouse=True)
def way(request: pytest.FixtureRequest, database: Database, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the command reaches a grid that sends mail, on which campaign 1 is ours, and 2 is not."""
    monkeypatch.setenv("CIGRI_SET_NOTIFY__SMTP", "127.0.0.1:25")
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1, user=grid_user())
    if request.param == "portal":
        portal = request.getfixturevalue("serve")(EnvironmentSettings())
        monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(portal.place))


def test_who_subscribes_finds_it_in_the_list(run: Run) -> None:
    assert run("--mail", "me@example.org").out == (
        "subscription 1: mail:me@example.org is told of all campaigns (tags: all; severity: medium)\n"
    )
    assert run("-c", 1, "[END,ERROR]mail:me@example.org").out == (
        "subscription 2: mail:me@example.org is told of campaign 1 (tags: END,ERROR; severity: low)\n"
    )
    expected = [
        ["1", grid_user(), "all", "campaigns", "medium", "all", "0", "0", "0", "-", "mail:me@example.org"],
        ["2", grid_user(), "campaign", "1", "low", "END,ERROR", "0", "0", "0", "-", "mail:me@example.org"],
    ]
    for argv in ([], ["--list"]):
        assert [line.split() for line in run(*argv).out.splitlines() if line.lstrip()[:1].isdigit()] == expected


def test_a_severity_is_changed_by_writing_it_again(run: Run) -> None:
    run("-m", "me@example.org")
    assert "subscription 1:" in run("-m", "me@example.org", "-s", "high").out
    (told,) = run("--json").json
    assert (told["id"], told["severity"], told["target"]) == (1, "high", "me@example.org")


def test_unsubscribed_by_number_or_by_address(run: Run) -> None:
    run("-m", "a@example.org", "-m", "b@example.org", "--exec", "/bin/true")
    assert run("-u", 2).out == "subscription 2: mail:b@example.org is told nothing more of all campaigns\n"
    assert run("--unsubscribe", "-m", "a@example.org").status == 0
    assert [told["channel"] for told in run("--json").json] == ["exec"]
    told = run("-u", "-m", "a@example.org")
    assert (told.status, "there is no such notification" in told.err) == (1, True)


def test_only_ones_own_is_ended_by_address(run: Run, database: Database) -> None:
    with database.begin() as conn:
        put_subscription(conn, "bob", read_subscribing("mail:a@example.org"))
    assert run("-u", "-m", "a@example.org").status == 1


def test_a_secret_is_printed_once(run: Run, database: Database) -> None:
    made = run("--webhook", "https://example.org/x")
    first = made.out.rpartition("secret: ")[2].strip()
    assert len(first) == 64
    assert "secret" not in run("--webhook", "https://example.org/x", "-s", "low").out
    assert first not in run().out + run("--json").out
    second = run("--secret", 1).out.strip()
    assert len(second) == 64
    assert second != first
    with database.begin() as conn:
        assert conn.scalar(text("SELECT secret FROM subscriptions")) == second
        assert conn.scalar(text("SELECT count(*) FROM audit WHERE asked::text LIKE :it"), {"it": f"%{second}%"}) == 0


def test_why_a_message_did_not_get_there_is_told(run: Run, database: Database) -> None:
    run("-m", "me@example.org")
    message = """INSERT INTO messages (subscription_id, campaign_id, key, state, news, tries, created_at, due_at, error)
        VALUES (1, 1, 'k', 'waiting', '[]', 1, now(), now(), '451 later')"""
    with database.begin() as conn:
        conn.execute(text(message))
    assert "subscription 1: the last message did not get there: 451 later" in run().err


@pytest.mark.parametrize(
    ("argv", "status", "says"),
    [
        (["me@example.org"], 2, "names nobody to tell"),
        (["-m", "me"], 2, "'me' is no address of mail"),
        (["-m", "me@x.org", "-s", "grave"], 2, "invalid choice: 'grave'"),
        (["-w", "https://a:b@x.org/"], 2, "neither user, password nor fragment"),
        (["-x", "told"], 2, "begins with the whole path"),
        (["-c", "7", "-m", "me@x.org"], 1, "you have no campaign 7"),
        (["-u", "7"], 1, "you have no subscription 7; `gridnotify` lists yours"),
        (["-u"], 2, "takes the number of a subscription, or an address"),
        (["--secret", "7"], 1, "you have no webhook 7"),
        (["-s", "high"], 2, "whom to tell?"),
        (["-l", "-m", "me@x.org"], 2, "one of them"),
        (["-c", "1", "--operator", "-m", "me@x.org"], 2, "about no campaign"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told(argv: list[str], status: int, says: str, run: Run) -> None:
    told = run(*argv)
    assert (told.status, says in told.err) == (status, True), told.err


def test_a_grid_that_sends_no_mail_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_SET_NOTIFY__SMTP", "")
    assert "its operator has not set notify.smtp" in run("-m", "me@example.org").err
    monkeypatch.setenv("CIGRI_SET_NOTIFY__COMMANDS", "none")
    assert "this grid runs no commands" in run("-x", "/bin/true").err


def test_nobody_has_endless_subscriptions(run: Run, database: Database) -> None:
    with database.begin() as conn:
        for number in range(100):
            put_subscription(conn, grid_user(), read_subscribing(f"mail:a{number}@example.org"))
    told = run("-m", "me@example.org")
    assert (told.status, "100 subscriptions" in told.err) == (1, True)
    assert run("-m", "a3@example.org", "-s", "low").status == 0
