"""CiGri 3's API as a table: what is sent, and what its clients receive."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, select, update

from cigri.flow.events import NewEvent, put_events
from cigri.presentation.event_codes import CODES_OF_CAMPAIGNS, OF_THE_GRID
from cigri.states import EventLevel, JobKind
from cigri.tables.jobs import Attempt, Job
from modules.portal.cigri3.codes import CIGRI3_EVENT_CODES
from modules.portal.cigri3.dispatch import BASE
from tests.conftest import clone_database, made_template
from tests.portal.cigri3.conftest import WRITTEN, get, put_cigri3_grid
from tests.portal.conftest import Served
from tests.portal.test_changes import DAEMON
from tests.portal.test_submission import MOST_OF_FOUR

DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00")
JDL = {"name": "n", "clusters": {"dahu": {"exec_file": "e"}}, "params": ["a 1", "b 2"]}
NOTED = ("PROLOGUE_FAILED", "FINISHED", "CLUSTER_SET_ASIDE", "PURGE")
LATE = timedelta(seconds=4)  # after its end the grid learnt of job 4


class Case(NamedTuple):
    """`told`: part of what is received; a type or a pattern stands for any value that is of it."""

    request: str
    status: int
    told: Any
    body: str | None = None

    def __str__(self) -> str:
        return self.request


CASES = [
    Case("GET ", 200, {"links": [{"rel": "self", "href": "/"}, {"href": "/campaigns"}, {"href": "/clusters"}]}),
    Case("GET /campaigns", 200, {"items": [{"id": 1}, {"id": 2, "state": "paused"}, {"id": 4}], "total": 3}),
    Case(
        "GET /campaigns/1",
        200,
        {
            **{"id": 1, "name": "povray", "user": "nobody", "state": "in_treatment", "has_events": False},
            **{"submission_time": int, "total_jobs": 3, "finished_jobs": 0, "links": list},
            "clusters": {"1": {"cluster_name": "dahu", "active_jobs": 2, "queued_jobs": 0, "prologue_ok": True}},
        },
    ),
    Case("GET /campaigns/99", 404, {"status": 404, "title": "Not Found", "message": str}),
    Case("GET /campaigns/-1", 404, {"status": 404}),
    Case("GET /campaigns/toto", 404, {"status": 404}),
    Case("GET /nothing", 404, {"status": 404, "message": str}),
    Case("GET /campaigns/1/stats", 200, {"average_jobs_duration": float, "remaining_time": float}),
    Case("GET /campaigns/1/jdl", 200, {"jobs_type": "normal", "params": ["secret one", "secret two", "secret three"]}),
    Case("GET /campaigns/-1/jdl", 404, {"status": 404}),
    Case(
        "GET /campaigns/1/jobs?limit=1&offset=1",
        200,
        {
            "items": [{"id": 1, "name": "secret", "parameters": "secret two", "cluster": "dahu", "cigri_job_id": 2}],
            **{"total": 3, "offset": 1, "limit": 1},
            "links": [{"rel": "self"}, {"rel": "parent"}, {"href": "/campaigns/1/jobs?limit=1&offset=2"}],
        },
    ),
    Case(
        "GET /campaigns/4/jobs/0",
        200,
        {
            **{"id": 0, "name": "secret", "parameters": "secret one", "state": "event"},
            "execution": [{"id": 4, "cluster_name": "dahu", "state": "event", "return_code": 256, "remote_id": 4711}],
        },
    ),
    Case(
        "GET /jobs/4",
        200,
        {
            **{"id": 4, "campaign_id": 4, "param_id": 0, "param": "secret one", "grid_user": "nobody"},
            **{"state": "event", "return_code": 256, "remote_id": 4711, "tag": None, "cluster_name": "dahu"},
            **{"submission_time": DATE, "start_time": DATE, "stop_time": DATE},
        },
    ),
    Case("GET /jobs/1", 200, {"state": "running", "stop_time": None, "return_code": None, "remote_id": "r1"}),
    Case("GET /jobs/3", 200, {"tag": "prologue", "cluster_name": "dahu"}),
    Case("GET /jobs/123456789", 404, {"status": 404}),
    Case("GET /jobs/1/stdout", 200, {"output": WRITTEN}),
    Case(
        "GET /campaigns/4/events",
        200,
        {
            "items": [
                {
                    **{"id": 3, "class": "job", "code": "EXIT_ERROR", "job_id": 4, "cluster_name": "dahu"},
                    **{"date_open": DATE, "state": "open", "parent": None, "message": re.compile(".*exit code 1.*")},
                }
            ]
        },
    ),
    Case("GET /campaigns/1/events", 404, {"status": 404, "message": "campaign 1 has no open events"}),
    Case("GET /campaigns/1/events?all=1", 404, {"status": 404, "message": "campaign 1 has no events"}),
    Case(
        "GET /campaigns/2/events",
        200,
        {"items": [{"code": "PROLOG_EXIT_ERROR"}, {"code": "FINISHED_CAMPAIGN"}, {"code": "BLACKLIST"}], "total": 3},
    ),
    Case(
        "GET /campaigns/2/events?all",
        200,
        {"items": [{"code": "HELD"}, {}, {}, {}, {"code": "PURGE", "state": "closed"}], "total": 5},
    ),
    Case("GET /events", 200, {"items": [{"id": 4, "class": "cluster", "cluster_name": "dahu", "date_open": DATE}]}),
    Case("GET /events/3", 200, {"id": 3, "code": "EXIT_ERROR", "date_closed": None, "links": list}),
    Case("DELETE /events/3", 202, {"status": 202, "title": "Accepted", "message": "Event 3 closed"}),
    Case("DELETE /campaigns/4/events?resubmit=1", 202, {"status": 202, "message": str}),
    Case("POST /campaigns", 201, {"id": 5, "total_jobs": 2, "user": str}, json.dumps(JDL)),
    Case("POST /campaigns", 400, {"status": 400, "title": "Bad Request", "message": str}, '{"name": "n"}'),
    Case("POST /campaigns/1/jobs", 201, {"id": 1, "total_jobs": 7}, '["c", "d", "e", "f"]'),
    Case("POST /campaigns/99/jobs", 404, {"status": 404}, '["c"]'),
    Case("PUT /campaigns/1", 202, {"id": 1, "state": "paused"}, "state=paused"),
    Case("DELETE /campaigns/1", 202, {"status": 202, "title": "Accepted", "message": str}),
    Case("DELETE /campaigns/-1", 404, {"status": 404}),
    Case("DELETE /campaigns/4/events?all=1", 202, {"status": 202, "message": "Campaign 4: 1 events closed"}),
    Case("DELETE /events/3?all=1?resubmit=1", 202, {"status": 202}),
    Case("GET /notifications?pretty=true", 200, {"items": [{"type": "mail", "identity": "me@example.org"}]}),
    Case("POST /notifications/mail", 201, {"status": 201}, '{"identity": "a@b.org", "severity": "high"}'),
    Case("DELETE /notifications/mail?identity=me@example.org", 202, {"status": 202}),
    Case("GET /tokens?pretty=true", 200, {"items": []}),
    Case("GET /campaigns/1/jobs/finished", 200, {"items": []}),
    Case("GET /", 200, {"links": list}),
    Case("GET /campaigns/", 200, {"total": 3}),
    Case("GET /campaigns/1/jobs/?limit=1", 200, {"limit": 1}),
    Case("GET /campaigns//", 404, {"status": 404}),
    Case("PATCH /campaigns/1", 405, {"status": 405, "message": str}),
    Case("GET /clusters", 200, {"items": [{"id": "1", "name": "dahu"}], "total": 1}),
    Case("GET /clusters/1", 200, {"id": "1", "blacklisted": False, "under_stress": False, "stress_factor": "0.00/1"}),
    Case("GET /gridusage", 200, {"items": [{"date": int, "clusters": [{"cluster_name": "dahu"}]}], "total": 1}),
]


@pytest.fixture(scope="module")
def noted_template(server: Path) -> Iterator[str]:
    with made_template(server, put_noted_grid) as name:
        yield name


@pytest.fixture
def database_url(server: Path, compiled: None, noted_template: str) -> Iterator[str]:
    yield from clone_database(server, noted_template)


def put_noted_grid(conn: Connection) -> None:
    """Campaign 2 has more events; job 3 is a prologue; job 4 has a number of its cluster, and was seen to end late."""
    put_cigri3_grid(conn)
    put_events(conn, [NewEvent(code, EventLevel.ERROR, "campaign 2", "noted", 2) for code in NOTED])
    conn.execute(update(Job).where(Job.c.id == 3).values(kind=JobKind.PROLOGUE, bucket_id=None))
    conn.execute(update(Job).where(Job.c.id == 4).values(remote_id="4711", ended_at=Job.c.ended_at + LATE))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_clients_receive_what_is_specified(case: Case, portal: Served) -> None:
    method, path = case.request.split(" ")
    told = portal.request(method, BASE + path, case.body)
    assert told.status == case.status, told.body
    require_part(case.told, told.body)


def require_part(expected: Any, told: Any) -> None:
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert name in told
            require_part(value, told[name])
    elif isinstance(expected, list):
        assert len(told) == len(expected), told
        for one, other in zip(expected, told, strict=True):
            require_part(one, other)
    elif isinstance(expected, type):
        assert isinstance(told, expected)
    elif isinstance(expected, re.Pattern):
        assert expected.fullmatch(told)
    else:
        assert told == expected


def test_a_job_is_over_when_its_task_was(portal: Served) -> None:
    with portal.database.begin() as conn:
        row = conn.execute(select(Attempt.c.started_at, Attempt.c.seconds).where(Attempt.c.job_id == 4)).one()
    own_end = row.started_at + timedelta(seconds=row.seconds)
    told = get(portal, "/jobs/4")
    assert told["stop_time"] == f"{own_end:%Y-%m-%d %H:%M:%S}+00"


def test_others_are_not_told_the_parameter_of_a_job(portal: Served) -> None:
    assert get(portal, "/jobs/4", DAEMON)["param"] is None


def test_each_code_that_is_told_otherwise_is_one_of_ours() -> None:
    assert CIGRI3_EVENT_CODES.keys() <= CODES_OF_CAMPAIGNS.keys() | OF_THE_GRID.keys()


def test_a_rule_that_refuses_has_the_title_that_clients_look_for(
    portal: Served, nobody: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "four.py").write_text(MOST_OF_FOUR)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    portal.in_force.reload()
    many = json.dumps(JDL | {"params": None, "nb_jobs": 5})
    told = portal.request("POST", f"{BASE}/campaigns", many, uid=nobody)
    assert (told.status, told.body["title"]) == (400, "Admission rule error"), told.body
