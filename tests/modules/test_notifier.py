"""The notifier tells each subscription what it wants to know, once, in digests, whatever becomes of others."""

import hmac
import json
import os
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.database.virtual import VirtualTimeDatabase
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.flow.events import NewEvent, put_events
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.flow.messages import take_due
from cigri.flow.subscriptions import put_subscription
from cigri.formats.subscriptions import read_subscribing
from cigri.gateway.transport_gateway import TransportGateway
from cigri.identity.callers import Caller
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.settings.sections import NotifySettings, Settings
from cigri.states import EventLevel, Outcome, Severity
from modules import notifier
from modules.notifier import recipients
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs
from tests.grid import until
from tests.receivers import MailServer, WebServer, mail_server, web_server

pytestmark = pytest.mark.noon
HOST = socket.gethostname()
LOOPBACK = ("127.0.0.0/8",)


class Told:
    """A grid with cluster dahu, and the notifier by itself: passes, and messages as they are in the table."""

    def __init__(self, database: Database, **settings: Any) -> None:
        self.database = database
        self.settings = Settings(notify=NotifySettings(**settings))

    def run(self) -> PassReport:
        """A pass, to the end of what it has begun."""
        report = notifier.run_once(PassContext(self.database, self.settings, TransportGateway()))
        until(lambda: self.one("SELECT count(*) FROM messages WHERE taken_until IS NOT NULL") == 0)
        return report

    def at(self, seconds: float) -> "Told":
        set_time(self.database, NOON + timedelta(seconds=seconds))
        return self

    def one(self, statement: str) -> Any:
        with self.database.begin() as conn:
            return conn.execute(text(statement)).scalar_one()

    def states(self) -> list[str]:
        with self.database.begin() as conn:
            return list(conn.scalars(text("SELECT state::text FROM messages ORDER BY id")))

    def subscribe(
        self, address: str, campaign_id: int | None = None, user: str = "alice", severity: Severity | None = None
    ) -> str:
        """Its secret, if it has one."""
        with self.database.begin() as conn:
            made = put_subscription(conn, user, read_subscribing(address, severity), campaign_id)
        return made.secret or ""

    def fail(self, campaign_id: int, number: int = 1) -> None:
        """So many of its tasks fail."""
        with self.database.begin() as conn:
            end_jobs(conn, 1, submitted_jobs(conn, campaign_id, 1, number), Outcome.FAILURE, exit_code=5)


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def web() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture
def told(database: VirtualTimeDatabase, mail: MailServer) -> Told:
    with database.begin() as conn:
        a_cluster(conn)
    return Told(database, smtp=f"127.0.0.1:{mail.port}", private=LOOPBACK)


def campaign(told: Told, tasks: int = 3, **fields: Any) -> int:
    with told.database.begin() as conn:
        return a_campaign(conn, tasks, **fields)


def begin(conn: Connection, campaign_id: int) -> list[int]:
    jobs = submitted_jobs(conn, campaign_id, 1, 1)
    run_jobs(conn, jobs)
    return jobs


def test_nobody_is_told_what_nobody_wants_to_know(told: Told) -> None:
    told.fail(campaign(told))
    assert told.run() == {}
    assert told.one("SELECT count(*) FROM events WHERE is_news") == 0


def test_each_part_of_a_campaigns_life_has_its_tag(told: Told, mail: MailServer) -> None:
    told.settings = Settings(notify=told.settings.notify.model_copy(update={"digest": 0.0}))
    told.subscribe("mail:a@example.org", severity=Severity.LOW)
    id = campaign(told, 1)
    alice = Caller("alice")
    with told.database.begin() as conn:
        jobs = begin(conn, id)
    told.run()
    for change in (hold_campaign, resume_campaign):
        with told.database.begin() as conn:
            change(conn, id, alice)
        told.run()
    with told.database.begin() as conn:
        put_events(conn, [NewEvent("CHECKPOINT", EventLevel.INFO, "job 1", "it was asked", id)])
    told.run()
    with told.database.begin() as conn:
        end_jobs(conn, 1, jobs, Outcome.FAILURE, exit_code=5)
    told.run()
    with told.database.begin() as conn:
        cancel_campaign(conn, id, alice)
    told.run()
    tags = ["RUNNING", "SUSPENDED", "RESUMING", "INFO", "ERROR", "END"]
    assert [mail["Subject"] for mail in mail.mails] == [f"*CIGRI* [{tag}]: {id} (povray) on {HOST}" for tag in tags]
    assert [mail["To"] for mail in mail.mails] == ["a@example.org"] * len(tags)


def test_the_end_is_told_with_its_counts(told: Told, mail: MailServer) -> None:
    told.subscribe("[END]mail:a@example.org")
    id = campaign(told, 2)
    with told.database.begin() as conn:
        end_jobs(conn, 1, submitted_jobs(conn, id, 1, 2))
        assert close_campaigns(conn) == 1
    assert told.run() == {"news told": 1, "messages sent": 1}
    (told_mail,) = mail.mails
    assert told_mail["Subject"] == f"*CIGRI* [END]: {id} (povray) on {HOST}"
    body = told_mail.get_content()
    assert "2 of 2 tasks done, 0 failed" in body
    assert "END: FINISHED: campaign povray has ended" in body
    assert told_mail["Auto-Submitted"] == "auto-generated"


def test_a_thousand_failures_are_two_messages(told: Told, mail: MailServer) -> None:
    told.subscribe("[ERROR]mail:a@example.org")
    id = campaign(told, 40)
    told.fail(id)
    told.run()
    for seconds in range(100, 900, 100):
        told.at(seconds)
        told.fail(id, 4)
        told.run()
    assert len(mail.mails) == 1
    assert told.states() == ["sent", "waiting"]
    told.at(899.9).run()
    assert len(mail.mails) == 1
    told.at(900).run()
    assert len(mail.mails) == 2
    assert "ERROR: 32 x TASK_FAILED: failure, exit code 5: no such file" in mail.mails[1].get_content().replace(
        " on dahu", ""
    )
    told.at(5000).run()
    assert told.states() == ["sent", "sent"]


def test_campaigns_have_digests_of_their_own(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    for _ in range(2):
        told.fail(campaign(told))
    told.run()
    assert len(mail.mails) == 2


def test_what_is_said_of_one_campaign_holds_there_over_all(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    quiet, loud = campaign(told), campaign(told)
    told.subscribe("[END]mail:a@example.org", quiet)
    for id in (quiet, loud):
        told.fail(id)
    told.run()
    assert [mail["Subject"] for mail in mail.mails] == [f"*CIGRI* [ERROR]: {loud} (povray) on {HOST}"]


def test_nobody_is_told_of_others_campaigns(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:mallory@example.org", user="mallory")
    told.fail(campaign(told))
    told.run()
    assert mail.mails == []


def test_what_happened_before_is_not_told(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:bob@example.org", user="bob")
    told.fail(campaign(told))
    told.at(1)
    told.subscribe("mail:a@example.org")
    told.run()
    assert mail.mails == []


def test_severities_are_told_from_the_least_that_is_wanted(told: Told, mail: MailServer) -> None:
    for severity in Severity:
        told.subscribe(f"mail:{severity}@example.org", severity=severity)
    id = campaign(told)
    with told.database.begin() as conn:
        for code, level in (("CHECKPOINT", EventLevel.INFO), ("CLUSTER_SET_ASIDE", EventLevel.WARNING)):
            put_events(conn, [NewEvent(code, level, "it", code, id)])
    told.fail(id)
    told.run()
    said = {mail["To"]: mail.get_content() for mail in mail.mails}
    has = {to: [code in said[to] for code in ("CHECKPOINT", "SET_ASIDE", "TASK_FAILED")] for to in said}
    assert has == {
        "low@example.org": [True, True, True],
        "medium@example.org": [False, True, True],
        "high@example.org": [False, False, True],
    }


def test_operators_are_told_of_the_grid(told: Told, mail: MailServer) -> None:
    with told.database.begin() as conn:
        put_subscription(conn, "root", read_subscribing("mail:root@example.org"), is_of_grid=True)
        put_events(
            conn, [NewEvent("CLUSTER_UNREACHABLE", EventLevel.ERROR, "cluster dahu", "it is away", cluster_id=1)]
        )
    told.fail(campaign(told))
    told.run()
    (told_mail,) = mail.mails
    assert told_mail["Subject"] == f"*CIGRI* [ERROR]: grid on {HOST}"
    assert "ERROR: CLUSTER_UNREACHABLE on dahu: it is away" in told_mail.get_content()


@pytest.mark.parametrize("name", ["été", "a\nBcc: x@example.org", "a\rb", "x" * 3000])
def test_a_name_makes_no_header(name: str, told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    told.fail(campaign(told, name=name))
    told.run()
    (told_mail,) = mail.mails
    shown = name.replace("\n", r"\n").replace("\r", r"\r")
    assert told_mail["Subject"] == f"*CIGRI* [ERROR]: 1 ({shown}) on {HOST}"
    assert told_mail["Bcc"] is None
    assert len(told_mail.keys()) == len(set(told_mail.keys()))


def test_a_server_that_takes_nothing_is_tried_again_later_and_given_up(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    told.fail(campaign(told))
    mail.refuses = "451 later"
    seconds = 0.0
    for _ in range(5):
        assert told.at(seconds).run()["messages not sent"] == 1
        assert told.run()["messages not sent"] == 0
        seconds += 3600
    assert told.states() == ["waiting"]
    told.at(seconds).run()
    assert told.states() == ["failed"]
    assert "451" in told.one("SELECT error FROM messages")
    assert "mail:a@example.org" in told.one("SELECT message FROM events WHERE code = 'MESSAGE_FAILED'")
    mail.refuses = ""
    told.at(10 * seconds).run()
    assert mail.mails == []
    told.fail(1)
    told.run()
    assert len(mail.mails) == 1
    assert told.one("SELECT closed_by FROM events WHERE code = 'MESSAGE_FAILED'") == "cigri"


def test_one_that_is_tried_again_has_the_same_key(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    told.fail(campaign(told))
    mail.refuses = "451 later"
    told.run()
    mail.refuses = ""
    told.at(60).run()
    (told_mail,) = mail.mails
    assert told_mail["X-CiGri-Message"] == told.one("SELECT key FROM messages")
    assert told_mail["Message-ID"] == f"<{told_mail['X-CiGri-Message']}@localhost>"


def test_without_a_server_of_mail_the_user_is_told_so(database: VirtualTimeDatabase) -> None:
    with database.begin() as conn:
        a_cluster(conn)
    told = Told(database)
    told.subscribe("mail:a@example.org")
    told.fail(campaign(told))
    told.run()
    assert told.states() == ["failed"]
    assert "its operator has not set notify.smtp" in told.one(
        "SELECT message FROM events WHERE code = 'MESSAGE_FAILED'"
    )


def test_a_webhook_is_signed(told: Told, web: WebServer) -> None:
    secret = told.subscribe(f"[ERROR]webhook:http://127.0.0.1:{web.port}/x?y=1")
    told.fail(campaign(told), 3)
    assert told.run()["messages sent"] == 1
    (asked,) = web.asked
    assert asked.path == "/x?y=1"
    signature = hmac.new(secret.encode(), asked.body, "sha256").hexdigest()
    assert asked.headers["X-CiGri-Signature"] == f"sha256={signature}"
    said = json.loads(asked.body)
    assert said["id"] == asked.headers["X-CiGri-Message"] == told.one("SELECT key FROM messages")
    assert (said["tag"], said["campaign"], said["name"], said["failed"]) == ("ERROR", 1, "povray", 3)
    assert [(news["code"], news["number"]) for news in said["news"]] == [("TASK_FAILED", 3)]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_answers_otherwise_is_tried_again_and_followed_nowhere(
    status: int, told: Told, web: WebServer
) -> None:
    web.status = status
    told.subscribe(f"webhook:http://127.0.0.1:{web.port}/x")
    told.fail(campaign(told))
    told.run()
    assert told.states() == ["waiting"]
    assert f"answers {status}" in told.one("SELECT error FROM messages")
    assert [asked.path for asked in web.asked] == ["/x"]
    web.status = 200
    told.at(60).run()
    assert told.states() == ["sent"]
    assert len({asked.headers["X-CiGri-Message"] for asked in web.asked}) == 1


def make_certificate(place: Path) -> ssl.SSLContext:
    """Of localhost, by itself; clients find it in place/cert.pem."""
    made = ["-newkey", "rsa:2048", "-nodes", "-x509", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(place / "key.pem"), "-out", str(place / "cert.pem")]
    subprocess.run(["openssl", "req", *made, *names, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "cert.pem", place / "key.pem")
    return context


@pytest.mark.process
def test_mail_goes_by_an_account_over_tls_only(
    database: VirtualTimeDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    with database.begin() as conn:
        a_cluster(conn)
    with mail_server(make_certificate(tmp_path)) as server:
        account = {"smtp_user": "cigri", "smtp_password_file": password}
        told = Told(database, smtp=f"localhost:{server.port}", sender="grid@example.org", **account)
        told.subscribe("[ERROR]mail:a@example.org")
        told.fail(campaign(told))
        told.run()
        assert "certificate verify failed" in told.one("SELECT error FROM messages")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        told.at(60).run()
    assert (told.states(), server.users, server.senders) == (["sent"], ["cigri"], ["grid@example.org"])


@pytest.mark.process
def test_a_webhook_over_tls_shows_whose_it_is(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told.settings = Settings(notify=NotifySettings(private=(*LOOPBACK, "::1/128")))
    with web_server(make_certificate(tmp_path)) as web:
        told.subscribe(f"[ERROR]webhook:https://localhost:{web.port}/x")
        told.fail(campaign(told))
        told.run()
        assert "certificate verify failed" in told.one("SELECT error FROM messages")
        assert web.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        told.at(60).run()
        assert [asked.headers["Host"] for asked in web.asked] == [f"localhost:{web.port}"]
    assert told.states() == ["sent"]


def test_a_name_that_means_another_address_a_moment_later_is_not_asked_there(
    told: Told, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is connected to what was looked at: who resolves the name again finds this very server."""
    told.settings = Settings(notify=NotifySettings(private=("203.0.113.0/24",)))
    answers = iter(["203.0.113.9", *["127.0.0.1"] * 9])
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolved(host: str, port: int, *rest: Any, **more: Any) -> Any:
        return real(next(answers) if host == "rebinding.example" else host, port, *rest, **more)

    def connect(address: Any, *rest: Any) -> socket.socket:
        asked.append(address[0])
        raise TimeoutError("timed out")

    monkeypatch.setattr("modules.notifier.allowed_networks.socket.getaddrinfo", resolved)
    monkeypatch.setattr("modules.notifier.webhooks.socket.create_connection", connect)
    told.subscribe(f"[ERROR]webhook:http://rebinding.example:{web.port}/x")
    told.fail(campaign(told))
    told.run()
    assert asked == ["203.0.113.9"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_web_server_that_answers_for_ever_is_cut_off(
    told: Told, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = make_certificate(tmp_path) if scheme == "https" else None
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    told.settings = Settings(notify=NotifySettings(timeout=0.5, private=LOOPBACK))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        told.subscribe(f"[ERROR]webhook:{scheme}://localhost:{listening.getsockname()[1]}/x")
        told.fail(campaign(told))

        def drip() -> None:
            plain, _ = listening.accept()
            with suppress(OSError), tls.wrap_socket(plain, server_side=True) if tls else plain as taken:
                while True:
                    taken.sendall(b"H")
                    taken.settimeout(0.05)
                    with suppress(TimeoutError):
                        if not taken.recv(10_000):
                            return

        thread = threading.Thread(target=drip)
        thread.start()
        told.run()
        thread.join()
    assert told.states() == ["waiting"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "127.1", "2130706433"])
def test_private_addresses_are_not_asked(host: str, told: Told, web: WebServer) -> None:
    told.settings = Settings(notify=NotifySettings())
    told.subscribe(f"webhook:http://{host}:{web.port}/x")
    told.fail(campaign(told))
    told.run()
    assert web.asked == []
    assert "is no public address" in told.one("SELECT error FROM messages")


def test_a_slow_receiver_does_not_hold_the_others_up(told: Told, web: WebServer, mail: MailServer) -> None:
    web.may_answer.clear()
    told.subscribe(f"webhook:http://127.0.0.1:{web.port}/x", user="slow")
    told.subscribe("mail:a@example.org")
    for _ in range(6):
        told.fail(campaign(told, user="slow"))
    told.fail(campaign(told))
    report = notifier.run_once(PassContext(told.database, told.settings, TransportGateway()))
    assert report["messages sent"] == 1
    assert len(mail.mails) == 1
    until(lambda: len(web.asked) == notifier.MOST_OF_USER)
    notifier.run_once(PassContext(told.database, told.settings, TransportGateway()))
    assert len(web.asked) == notifier.MOST_OF_USER
    web.may_answer.set()
    until(lambda: told.run() == {} and "waiting" not in told.states())
    assert len(web.asked) == 6


def test_one_that_was_cut_off_is_sent_again_when_its_lease_is_over(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    told.fail(campaign(told))
    notifier._note(PassContext(told.database, told.settings, TransportGateway()))
    with told.database.begin() as conn:
        take_due(conn, 1, 1, 120)
    notifier.run_once(PassContext(told.database, told.settings, TransportGateway()))
    assert mail.mails == []
    told.at(121).run()
    assert told.states() == ["sent"]


def test_a_campaign_that_raises_does_not_stop_others(
    told: Told, mail: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.subscribe("mail:a@example.org")
    bad, good = campaign(told, name="bad"), campaign(told)
    told.fail(bad)
    told.fail(good)
    whole = recipients.wanted_by

    def raising(reader: Any, events: Any) -> Any:
        if events[0].campaign_id == bad:
            raise ValueError("no words for it")
        return whole(reader, events)

    monkeypatch.setattr(notifier, "wanted_by", raising)
    told.run()
    assert [mail["Subject"] for mail in mail.mails] == [f"*CIGRI* [ERROR]: {good} (povray) on {HOST}"]
    assert told.one("SELECT subject FROM events WHERE code = 'IN_QUARANTINE'") == f"campaign {bad} in notifier"
    monkeypatch.setattr(notifier, "wanted_by", whole)
    told.at(400).run()
    assert len(mail.mails) == 2


def test_who_unsubscribes_is_told_nothing_more(told: Told, mail: MailServer) -> None:
    told.subscribe("mail:a@example.org")
    told.subscribe("mail:b@example.org", user="bob")
    told.fail(campaign(told))
    with told.database.begin() as conn:
        conn.execute(text("DELETE FROM subscriptions WHERE grid_user = 'alice'"))
    told.run()
    assert mail.mails == []


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every account may enter; pytest's may be root's alone."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture
def program(public: Path) -> Callable[[str], Path]:
    """A program of this text in sh."""

    def write(body: str) -> Path:
        place = public / "told"
        place.write_text(f"#!/bin/sh\n{body}\n")
        place.chmod(0o755)
        return place

    return write


def run_exec(told: Told, line: str, user: str, **fields: Any) -> None:
    told.subscribe(f"[ERROR]exec:{line}", user=user)
    told.fail(campaign(told, user=user, **fields))
    told.run()


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="root only becomes somebody else without sudo")
def test_a_command_runs_as_its_user_with_what_oar_gives(
    told: Told, program: Callable[[str], Path], public: Path
) -> None:
    place = program(f'id -un >{public}/who; printf "%s\\n" "$CIGRI_MESSAGE" "$@" >{public}/args')
    run_exec(told, f"{place} -v 'two words' $HOME;", "nobody", name="it's; $(id) `id`")
    assert (public / "who").read_text() == "nobody\n"
    key, *words = (public / "args").read_text().splitlines()
    assert key == told.one("SELECT key FROM messages")
    assert words[:-1] == ["-v", "two words", "$HOME;", "1", "it's; $(id) `id`", "ERROR"]
    assert words[-1].startswith("ERROR: TASK_FAILED")
    assert told.states() == ["sent"]


@pytest.mark.process
def test_a_command_that_fails_is_not_run_again(told: Told, program: Callable[[str], Path], public: Path) -> None:
    user = Path(public).owner()
    run_exec(told, str(program(f"echo run >>{public}/runs; echo it is broken >&2; exit 3")), user)
    assert told.states() == ["failed"]
    assert told.one("SELECT error FROM messages") == "exit code 3: it is broken"
    told.at(10_000).run()
    assert (public / "runs").read_text() == "run\n"


@pytest.mark.process
def test_a_command_that_hangs_is_ended_with_its_children(
    told: Told, program: Callable[[str], Path], public: Path
) -> None:
    told.settings = Settings(notify=NotifySettings(timeout=0.5))
    place = program(f"setsid sh -c 'echo $$ >{public}/child; exec sleep 1000' & sleep 1000")
    run_exec(told, str(place), place.owner())
    assert "took longer than 0.5 s" in told.one("SELECT error FROM messages")
    child = int((public / "child").read_text())
    until(lambda: not Path(f"/proc/{child}/exe").exists() or not os.path.exists(f"/proc/{child}"))


@pytest.mark.process
def test_what_a_command_says_without_end_is_not_kept(told: Told, program: Callable[[str], Path], public: Path) -> None:
    place = program("head -c 10000000 /dev/zero | tr '\\0' x; exit 1")
    run_exec(told, str(place), place.owner())
    assert 400 < len(told.one("SELECT error FROM messages")) < 600


@pytest.mark.parametrize(
    ("user", "commands", "says"),
    [
        ("nobody", "none", "this grid runs no commands of nobody: notify.commands is none"),
        ("no-such-account", "own", "there is no account no-such-account on the grid's host"),
    ],
)
def test_a_command_that_may_not_run_is_told_as_refused(user: str, commands: str, says: str, told: Told) -> None:
    told.settings = Settings(notify=NotifySettings.model_validate({"commands": commands}))
    run_exec(told, "/bin/true", user)
    assert told.states() == ["failed"]
    assert says in told.one("SELECT message FROM events WHERE code = 'MESSAGE_FAILED'")


def test_a_command_that_is_not_there_is_told(told: Told) -> None:
    run_exec(told, "/no/such/program", Path("/proc/self").owner())
    assert told.one("SELECT error FROM messages") == "/no/such/program: No such file or directory"
