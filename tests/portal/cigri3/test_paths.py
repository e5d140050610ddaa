"""CiGri 3's paths: what its clients send works as they send it, by the endpoints' rules, and without its holes."""

import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Match

from cigri.database import Database, server_time
from cigri.flow.clusters import put_cluster
from cigri.identity.callers import AccessScope
from cigri.settings.sections import PortalSettings, Settings
from modules.portal import make_app
from modules.portal.cigri3.dispatch import BASE
from modules.portal.cigri3.paths import CIGRI3_PATHS
from modules.portal.deferred_responses import DeferredResponses
from modules.portal.request_guard import LARGEST_JSON
from modules.portal.settings_in_force import SettingsInForce
from tests.portal.cigri3.conftest import get
from tests.portal.conftest import Answered, Mint, Serve, Served, bearer
from tests.portal.raw import connected
from tests.portal.test_changes import DAEMON, rows, trail
from tests.portal.test_submission import MOST_OF_FOUR

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cigri3.md"
JDL = {"name": "n", "clusters": {"dahu": {"exec_file": "e"}}, "params": ["a 1", "b 2"], "jobs_type": "normal"}


class Sent(NamedTuple):
    """As a client sends it; `other`: what anybody else is answered. `endpoint`: what the audit trail calls it."""

    method: str
    path: str
    status: int
    other: int
    body: str | None = None
    endpoint: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


SENT = [
    Sent("GET", "", 200, 200),
    Sent("GET", "/campaigns", 200, 200),
    Sent("POST", "/campaigns", 201, 201, json.dumps(JDL), "submit_campaign"),
    Sent("GET", "/campaigns/1", 200, 200),
    Sent("GET", "/campaigns/1?pretty", 200, 200),
    Sent("PUT", "/campaigns/1", 202, 404, "state=paused", "hold_campaign"),
    Sent("PUT", "/campaigns/2", 202, 404, "state=in_treatment", "release_campaign"),
    Sent("DELETE", "/campaigns/1", 202, 404, None, "cancel_campaign"),
    Sent("DELETE", "/campaigns/1?hold=1", 202, 404, None, "hold_campaign"),
    Sent("DELETE", "/campaigns/2?resume=1", 202, 404, None, "release_campaign"),
    Sent("DELETE", "/campaigns/3?purge=1", 202, 404, None, "purge_campaign"),
    Sent("GET", "/campaigns/1/stats", 200, 200),
    Sent("GET", "/campaigns/1/jdl", 200, 404),
    Sent("GET", "/campaigns/1/jobs?limit=2&offset=1", 200, 200),
    Sent("POST", "/campaigns/1/jobs", 201, 404, '["c", "d"]', "add_tasks"),
    Sent("GET", "/campaigns/1/jobs/0", 200, 200),
    Sent("GET", "/campaigns/4/events?all=1", 200, 404),
    Sent("DELETE", "/campaigns/4/events?resubmit=1", 202, 404, None, "fix_events"),
    Sent("GET", "/jobs/1", 200, 200),
    Sent("DELETE", "/jobs/1", 202, 404, None, "kill_job"),
    Sent("GET", "/jobs/1/stdout", 200, 404),
    Sent("GET", "/jobs/1/stderr", 200, 404),
    Sent("GET", "/campaigns/1/jobs/finished", 200, 200),
    Sent("GET", "/tokens", 200, 200),
    Sent("GET", "/notifications", 200, 200),
    Sent("POST", "/notifications/mail", 201, 201, json.dumps({"identity": "a@b.org", "severity": "low"}), "subscribe"),
    Sent("DELETE", "/notifications/mail?identity=me@example.org", 202, 404, None, "unsubscribe"),
    Sent("GET", "/events", 200, 200),
    Sent("GET", "/events/3", 200, 404),
    Sent("DELETE", "/events/3", 202, 404, None, "fix_events"),
    Sent("GET", "/clusters", 200, 200),
    Sent("GET", "/clusters/1", 200, 200),
    Sent("GET", "/gridusage", 200, 200),
    Sent("GET", "/gridusage?from=0", 400, 400),
]


def send(portal: Served, sent: Sent, uid: int | None = None, **headers: str) -> Answered:
    form = {"Content-Type": "application/x-www-form-urlencoded"} if sent.method == "PUT" else {}
    return portal.request(sent.method, BASE + sent.path, sent.body, uid=uid, headers={**form, **headers})


@pytest.mark.parametrize("sent", SENT, ids=str)
@pytest.mark.parametrize("who", ["owner", "operator"])
def test_what_clients_send_works_and_is_audited(
    who: str, sent: Sent, portal: Served, nobody: int, database: Database
) -> None:
    with database.begin() as conn:
        before = rows(conn)
    uid = nobody if who == "owner" else None
    told = send(portal, sent, uid)
    assert told.status == sent.status, told.body
    with database.begin() as conn:
        assert (rows(conn) != before) is bool(sent.endpoint)
        user = pwd.getpwuid(os.geteuid() if uid is None else uid).pw_name
        assert trail(conn) == ([(user, sent.endpoint, "kernel")] if sent.endpoint else [])


@pytest.mark.parametrize("sent", SENT, ids=str)
def test_whoever_is_refused_changes_nothing(sent: Sent, portal: Served, nobody: int, database: Database) -> None:
    with database.begin() as conn:
        before = rows(conn)
    stranger = send(portal, sent, nobody - 7)
    assert (stranger.status, stranger.body["status"], stranger.body["title"]) == (403, 403, "Forbidden")
    told = send(portal, sent, DAEMON)
    assert told.status == sent.other, told.body
    if told.status >= 400:
        assert told.body.keys() == {"status", "title", "message"}
        with database.begin() as conn:
            assert rows(conn) == before
            assert trail(conn) == []


def test_each_path_is_tried() -> None:
    served = {(path.method, path.path) for path in CIGRI3_PATHS}
    tried = {
        (path.method, path.path) for path in CIGRI3_PATHS for sent in SENT if _leads_to(sent, path.method, path.path)
    }
    assert tried == served


def _leads_to(sent: Sent, method: str, path: str) -> bool:
    asked, served = sent.path.partition("?")[0].split("/"), path.split("/")
    pairs = zip(asked, served, strict=False)
    return sent.method == method and len(asked) == len(served) and all(a == b or "{" in b for a, b in pairs)


def test_a_list_of_campaigns_has_what_gridstat_shows(portal: Served) -> None:
    told = get(portal, "/campaigns")
    assert [item["id"] for item in told["items"]] == [1, 2, 4]
    paused = told["items"][1]
    assert {name: paused[name] for name in ("name", "user", "state", "has_events", "total_jobs", "finished_jobs")} == {
        "name": "povray",
        "user": "nobody",
        "state": "paused",
        "has_events": False,
        "total_jobs": 3,
        "finished_jobs": 0,
    }
    assert isinstance(paused["submission_time"], int)
    assert told["items"][2]["has_events"] is True
    assert told["total"] == 3


def test_a_campaign_tells_how_it_stands_on_each_cluster_by_its_number(portal: Served) -> None:
    place = {"cluster_name": "dahu", "active_jobs": 2, "queued_jobs": 0, "prologue_ok": True, "epilogue_ok": True}
    assert get(portal, "/campaigns/1")["clusters"] == {"1": place}


def test_links_lead_from_page_to_page_and_to_each_task_once(portal: Served) -> None:
    page = get(portal, "/campaigns/1/jobs?limit=2")
    assert (page["total"], page["offset"], page["limit"]) == (3, 0, 2)
    (following,) = [link["href"] for link in page["links"] if link["rel"] == "next"]
    last = get(portal, following)
    assert not [link for link in last["links"] if link["rel"] == "next"]
    told = [(item["id"], item["name"], item["parameters"], item["state"]) for item in [*page["items"], *last["items"]]]
    assert told == [
        (0, "secret", "secret one", "running"),
        (1, "secret", "secret two", "remote_waiting"),
        (2, "secret", "secret three", "pending"),
    ]
    assert get(portal, page["items"][0]["href"])["execution"][0]["cluster_name"] == "dahu"


def test_what_clients_add_up_or_divide_by_is_a_number(portal: Served, database: Database) -> None:
    with database.begin() as conn:
        put_cluster(conn, "unseen", {"driver": "slurm"})
    listed = get(portal, "/clusters")["items"]
    assert [(item["id"], item["name"]) for item in listed] == [("1", "dahu"), ("2", "unseen")]
    known = get(portal, "/clusters/1")
    assert (known["blacklisted"], known["under_stress"], known["stress_factor"]) == (False, False, "0.00/1")
    assert get(portal, "/clusters/2")["blacklisted"] is True
    (now,) = get(portal, "/gridusage")["items"]
    (usage,) = now["clusters"]
    assert (usage["cluster_name"], usage["max_resources"], usage["used_resources"]) == ("dahu", 10, 0)
    assert all(isinstance(value, float) for value in get(portal, "/campaigns/1/stats").values())


def test_usage_of_a_time_is_told_by_moments(portal: Served, database: Database) -> None:
    with database.begin() as conn:
        now = server_time(conn).timestamp()
    for asked, moments in ((f"from={now - 7200:.0f}", 1), (f"from={now - 7200:.0f}&to={now - 7100:.0f}", 0)):
        assert len(get(portal, f"/gridusage?{asked}")["items"]) == moments


def test_events_are_told_as_open_and_then_as_closed(portal: Served) -> None:
    (event,) = get(portal, "/campaigns/4/events")["items"]
    assert (event["id"], event["class"], event["cluster_name"], event["state"]) == (3, "job", "dahu", "open")
    assert portal.request("DELETE", f"{BASE}/events/3").status == 202
    assert portal.get(f"{BASE}/campaigns/4/events").status == 404
    assert [event["state"] for event in get(portal, "/campaigns/4/events?all")["items"]] == ["closed"]


def test_operators_alone_close_the_events_of_clusters(portal: Served, nobody: int) -> None:
    assert portal.request("DELETE", f"{BASE}/events/4", uid=nobody).status == 403
    assert portal.request("DELETE", f"{BASE}/events/4").status == 202


def test_a_campaign_is_submitted_with_its_comments_and_told_as_it_was_written(portal: Served, nobody: int) -> None:
    jdl = '{"name": "n", /* mine */ "clusters": {"dahu": {"exec_file": "e"}}, "params": ["a 1", "a 2"]}'
    made = portal.request("POST", f"{BASE}/campaigns", jdl, uid=nobody)
    assert (made.status, made.body["user"], made.body["total_jobs"]) == (201, "nobody", 2)
    told = get(portal, f"/campaigns/{made.body['id']}/jdl", nobody)
    assert told == {
        "name": "n",
        "clusters": {"dahu": {"exec_file": "e"}},
        "params": ["a 1", "a 2"],
        "jobs_type": "normal",
    }


def test_the_same_key_stores_one_campaign(portal: Served, nobody: int) -> None:
    key = {"Idempotency-Key": "one"}
    made = [portal.request("POST", f"{BASE}/campaigns", json.dumps(JDL), uid=nobody, headers=key) for _ in range(2)]
    assert made[0].body["id"] == made[1].body["id"]


def test_a_rule_that_says_no_is_asked_and_told(
    portal: Served, nobody: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "four.py").write_text(MOST_OF_FOUR)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    portal.in_force.reload()
    many = json.dumps(JDL | {"params": None, "nb_jobs": 5})
    for path, body in (("/campaigns", many), ("/campaigns/1/jobs", '["d", "e"]')):
        told = portal.request("POST", BASE + path, body, uid=nobody)
        assert (told.status, "admission rule four.py refuses" in told.body["message"]) == (400, True), told.body


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/jobs/1%20or%201=1", None, 404),
        ("GET", "/campaigns/2%20or%201=1/jobs", None, 404),
        ("GET", "/campaigns/1/jobs/0;drop", None, 404),
        ("GET", "/campaigns/-1", None, 404),
        ("GET", "/campaigns/toto", None, 404),
        ("GET", f"/campaigns/{10**30}", None, 404),
        ("GET", "/campaigns/%D9%A1", None, 404),
        ("GET", "/campaigns/1/jobs?limit=1000000", None, 400),
        ("GET", "/campaigns/1/jobs?limit=0", None, 400),
        ("GET", "/campaigns/1/jobs?limit=1%20union%20select%201", None, 400),
        ("GET", "/campaigns/1/jobs?offset=-1", None, 400),
        ("GET", f"/campaigns/1/jobs?offset={10**17}", None, 200),
        ("GET", "/gridusage?from=1%20or%201=1", None, 400),
        ("GET", "/gridusage?from=9&to=8", None, 400),
        ("POST", "/tokens", "{}", 405),
        ("POST", "/notifications/jabber", "{}", 404),
        ("POST", "/notifications/mail", "{}", 400),
        ("DELETE", "/notifications/mail?identity=nobody@example.org", None, 404),
        ("GET", "/campaigns/99/jobs/finished", None, 404),
        ("GET", "/clusters/7", None, 404),
        ("POST", "/events", "{}", 405),
        ("DELETE", "/clusters/1/etc/passwd", None, 404),
        ("DELETE", "/campaigns/1?hodl=1", None, 400),
        ("DELETE", "/campaigns/1?hold=1&resume=1", None, 400),
        ("POST", "/campaigns/1?_method=delete", "_method=delete", 405),
        ("PUT", "/campaigns/1", "state=terminated", 400),
        ("PUT", "/campaigns/1", "name=other", 400),
        ("POST", "/campaigns", '{"name": "n"}', 400),
        ("POST", "/campaigns", "no JSON", 400),
        ("POST", "/campaigns", "\xff", 400),
        ("POST", "/campaigns", json.dumps(JDL | {"params": None, "param_file": "/etc/shadow"}), 400),
        ("POST", "/campaigns/1/jobs", '{"params": []}', 400),
    ],
)
def test_holes_and_slips_are_refused_and_change_nothing(
    method: str, path: str, body: str | None, status: int, portal: Served, database: Database
) -> None:
    with database.begin() as conn:
        before = rows(conn)
    sent = None if body is None else body.encode("latin-1")
    told = portal.request(method, BASE + path, sent)
    assert told.status == status, told.body
    if status >= 400:
        assert told.body.keys() == {"status", "title", "message"}
        assert told.body["message"]
    with database.begin() as conn:
        assert rows(conn) == before
        assert trail(conn) == []


def test_a_browser_is_told_the_same(portal: Served, nobody: int) -> None:
    for uid, status in ((nobody - 7, 403), (nobody, 404)):
        told = portal.get(f"{BASE}/campaigns/99", uid=uid, headers={"Accept": "text/html"})
        assert (told.status, told.body["status"]) == (status, status)


def test_a_submission_without_an_end_is_cut(portal: Served) -> None:
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with connected(portal.place) as line:
        line.say(f"POST {BASE}/campaigns HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        assert line.say_until_refused(piece, limit=4 * LARGEST_JSON) < 2 * LARGEST_JSON
        assert line.status() == 413


@pytest.mark.parametrize("header", ["X-CIGRI-USER", "X-Cigri-User", "X-Remote-User", "HTTP_X_CIGRI_USER"])
def test_nobody_is_whom_a_header_of_their_own_names(header: str, portal: Served) -> None:
    told = portal.request("DELETE", f"{BASE}/campaigns/1", uid=DAEMON, headers={header: "nobody"})
    assert told.status == 404
    assert get(portal, "/campaigns/1")["state"] == "in_treatment"


def test_the_header_of_before_counts_from_the_proxy_that_is_trusted_to_set_it(serve: Serve) -> None:
    settings = PortalSettings(proxy="daemon", proxy_header="X-Cigri-User")
    told = serve(Settings(portal=settings)).request(
        "DELETE", f"{BASE}/campaigns/1", uid=DAEMON, headers={"X-CIGRI-USER": "nobody"}
    )
    assert told.status == 202, told.body


def test_others_are_told_no_parameters(portal: Served) -> None:
    for path in ("/campaigns/1/jobs", "/campaigns/1/jobs/0", "/jobs/1", "/campaigns/4", "/events?all"):
        assert "secret" not in json.dumps(get(portal, path, DAEMON))


def test_a_token_does_what_its_scope_says(portal: Served, mint: Mint) -> None:
    reading, submitting = (bearer(mint(scope=scope)) for scope in (AccessScope.READ, AccessScope.SUBMIT))
    assert portal.request("DELETE", f"{BASE}/campaigns/1", headers=reading).status == 403
    assert portal.request("DELETE", f"{BASE}/campaigns/1", headers=submitting).status == 202


def test_every_page_and_endpoint_is_still_reached(portal: Served, database: Database) -> None:
    """Of all that is served, the first that takes a path is what was made for it."""
    with closing(DeferredResponses()) as errands:
        routes = make_app(database, SettingsInForce(Settings()), errands).routes
    served = [route for route in routes if isinstance(route, APIRoute)]
    assert len([route for route in served if route.path.startswith(BASE)]) == len(CIGRI3_PATHS)
    for route in served:
        path = re.sub(r"\{\w+\}", "1", route.path)
        for method in route.methods or ():
            scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": []}
            first = next(one for one in routes if one.matches(scope)[0] is Match.FULL)
            assert isinstance(first, APIRoute)
            assert first.path.startswith(BASE) is route.path.startswith(BASE), (first.path, route.path)
            assert first is route or not route.path.startswith(BASE)


def test_the_lines_of_the_page_work_as_written(open_portal: Served, mint: Mint) -> None:
    curl = shutil.which("curl")
    assert curl, "curl is missing"
    text = PAGE.read_text()
    for written, here in {
        "/run/cigri/portal.sock": str(open_portal.place),
        "https://grid.example.org/token": f"http://127.0.0.1:{open_portal.port}",
        "$CIGRI_TOKEN": mint(),
    }.items():
        assert written in text
        text = text.replace(written, here)
    lines = re.findall(r"^curl (.+)$", text, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        done = subprocess.run([curl, "--silent", *shlex.split(line)], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert told.get("status", 200) < 400, told
