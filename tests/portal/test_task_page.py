"""A task's page: how each attempt ended in words, what it runs, and what it wrote, which the cluster is asked for."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from cigri.api_models.tasks import AttemptView
from cigri.errors import ClusterUnreachable
from cigri.states import JobState, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.inputs import EarlierInputs
from cigri.tables.jobs import Attempt
from modules.portal.pages.task import ending
from tests.portal.browser import Browser, Page, signed_in
from tests.portal.conftest import Served
from tests.waiting import looks


def test_it_tells_of_each_attempt(browser: Browser) -> None:
    told = browser.get("/campaigns/1/tasks/0").words
    assert "1 sums" in told
    assert "1: failed with exit code 3 where dahu (node node-1)" in told
    assert "took 10 s" in told
    assert "Task 0 failed next Retry this task" in told


def test_it_tells_for_how_long_an_attempt_stood_still(browser: Browser, web: Served) -> None:
    assert "stood still" not in browser.get("/campaigns/1/tasks/0").words
    with web.database.begin() as conn:
        conn.execute(update(Attempt).values(halted_seconds=184.0))
    assert "took 10 s and stood still for 3 min 4 s" in browser.get("/campaigns/1/tasks/0").words


def test_it_tells_how_much_memory_an_attempt_had_where_it_is_known(browser: Browser, web: Served) -> None:
    assert "memory" not in browser.get("/campaigns/1/tasks/0").words
    assert "used up to" not in browser.get("/campaigns/1").words
    with web.database.begin() as conn:
        conn.execute(update(Attempt).values(peak_memory=712 * 2**20))
        conn.execute(update(CampaignCluster).values(most_memory=712 * 2**20))
    assert "memory up to 712 MB" in browser.get("/campaigns/1/tasks/0").words
    assert "memory used up to 712 MB" in browser.get("/campaigns/1").words


def test_tasks_lead_to_each_other(browser: Browser) -> None:
    links = [re.findall(r'tasks/(\d)" rel="(\w+)"', browser.get(f"/campaigns/1/tasks/{n}").text) for n in (0, 1, 3)]
    assert links == [[("1", "next")], [("0", "prev"), ("2", "next")], [("2", "prev")]]


def test_one_task_is_retried_by_its_owner_alone(browser: Browser, web: Served) -> None:
    page, path = browser.get("/campaigns/1/tasks/0"), "/campaigns/1/tasks/0/retry"
    other = signed_in(web.database, web.port, "daemon")
    told = other.get("/campaigns/1/tasks/0")
    assert 'id="retry"' not in told.text
    assert other.post(path, {"proof": told.proof}).status in (404, 409)
    assert browser.post(path, {}).status == 403
    assert "Task 0 failed" in browser.get("/campaigns/1/tasks/0").words
    done = browser.post(path, {"proof": page.proof})
    assert (done.status, done.headers["location"]) == (303, "/campaigns/1/tasks/0")
    again = browser.get("/campaigns/1/tasks/0")
    assert ("Task 0 waiting" in again.words, 'id="retry"' in again.text) == (True, False)
    assert browser.post(path, {"proof": page.proof}).status == 409


@pytest.mark.parametrize("outcome", [*Outcome, None])
def test_every_end_has_its_words(outcome: Outcome | None) -> None:
    started = (0, 0, 1, False, 1, 1, JobState.ENDED, "dahu", None, None)
    told = ending(AttemptView(*started, outcome, 137, None, None, None, None, is_halted=False))
    assert told.startswith("ended" if outcome is None else outcome.replace("_", " ")[:4])
    assert outcome is None or "SIGKILL" in told


def test_the_line_to_run_it_by_hand_runs_it(browser: Browser, web: Served, tmp_path: Path) -> None:
    settings = {
        "exec_file": 'sh -c \'printf "%s|" "$WHO" "$PWD" "$@"\' x {index} \'$x\'',
        "exec_directory": str(tmp_path / "a b"),
        "environment": {"WHO": "it's {index}"},
        "walltime": 3600,
    }
    (tmp_path / "a b").mkdir()
    with web.database.begin() as conn:
        conn.execute(update(CampaignCluster).where(CampaignCluster.c.campaign_id == 1).values(settings=settings))
    told = json.loads(browser.get("/api/v1/campaigns/1/tasks/2/commands").text)
    assert [command["cluster"] for command in told] == ["dahu"]
    done = subprocess.run(["sh", "-c", told[0]["by_hand"]], capture_output=True, text=True, check=True)
    assert done.stdout == f"it's 2|{tmp_path}/a b|2|$x|2|"
    assert told[0]["by_hand"] in unescape(browser.get("/campaigns/1/tasks/2").text)


def test_others_see_neither_parameter_nor_command_nor_output(web: Served) -> None:
    other = signed_in(web.database, web.port, "daemon")
    told = other.get("/campaigns/1/tasks/0").words
    assert "failed with exit code 3" in told
    assert [word for word in ("parameter", "Command", "what it wrote") if word in told] == []
    assert other.get("/jobs/1/output").status == 404
    assert other.get("/api/v1/campaigns/1/tasks/0/commands").status == 404


class Answering:
    """A gateway whose clusters say this of each output."""

    def __init__(self, said: str | Exception | None) -> None:
        self._said = said

    def request_all(self, *_: object) -> Any:
        if isinstance(self._said, Exception):
            raise self._said
        return SimpleNamespace(of=lambda _: self._said)

    def close(self) -> None:
        pass


@pytest.fixture
def said(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.portal.deferred_responses.TransportGateway", lambda: Answering(request.param))


def output(browser: Browser) -> Page:
    """Once the cluster has been asked; before, the browser is told to come again, with a script or without one."""
    for _ in looks():
        told = browser.get("/jobs/1/output")
        if told.status != 202:
            return told
        assert (told.headers["refresh"], 'hx-trigger="load delay:1s"' in told.text) == ("1", True)
    raise AssertionError


@pytest.mark.parametrize("said", ["<b>boom</b>\x1b[31m\n"], indirect=True)
def test_what_it_wrote_is_text(said: None, browser: Browser) -> None:
    first = browser.get("/jobs/1/output")
    assert (first.status, "The cluster is being asked" in first.words) == (202, True)
    told = output(browser)
    assert "task 0, attempt 1, stderr" in told.words
    assert "&lt;b&gt;boom&lt;/b&gt;\\x1b[31m" in told.text


@pytest.mark.parametrize("said", ["x" * 500_000], indirect=True)
def test_of_a_long_output_the_end_is_shown(said: None, browser: Browser) -> None:
    told = output(browser)
    assert "gridstat -j 1 -O" in told.text
    assert len(told.text) < 60_000


@pytest.mark.parametrize("said", [ClusterUnreachable("dahu", "no route to host")], indirect=True)
def test_a_cluster_that_cannot_be_asked_is_told(said: None, browser: Browser) -> None:
    assert "no route to host" in output(browser).words


@pytest.mark.parametrize("said", [None], indirect=True)
def test_where_there_is_none_the_page_says_so(said: None, browser: Browser) -> None:
    assert "there is no output of job 1 on dahu" in output(browser).words


def test_it_tells_which_inputs_an_attempt_found_where_they_were_replaced(browser: Browser, web: Served) -> None:
    program = {"path": "solve.py", "to": "solve.py", "size": 3, "packed": False}
    with web.database.begin() as conn:
        part = CampaignCluster.c
        settings = conn.execute(select(part.settings).where(part.campaign_id == 1)).scalar_one()
        here = update(CampaignCluster).where(part.campaign_id == 1)
        conn.execute(here.values(settings={**settings, "inputs": [{**program, "sha256": "b" * 64}]}))
    assert "solve.py b" not in browser.get("/campaigns/1/tasks/0").words, "there was never another"
    with web.database.begin() as conn:
        conn.execute(here.values(inputs_version=2))
        earlier = {"campaign_id": 1, "cluster_id": 1, "version": 1, "inputs": [{**program, "sha256": "a" * 64}]}
        conn.execute(insert(EarlierInputs).values(**earlier, replaced_at=func.now()))
    told = browser.get("/campaigns/1/tasks/0").words
    assert re.search(r"inputs version 1, replaced .*: solve.py a{12} ", told)
    whole = browser.get("/campaigns/1").words
    assert "Inputs were replaced" in whole
    assert re.search(r"2 dahu solve.py b{12} no, tasks find it now 1 dahu solve.py a{12}", whole)
    stranger = signed_in(web.database, web.port, "daemon")
    assert "solve.py" not in stranger.get("/campaigns/1").words + stranger.get("/campaigns/1/tasks/0").words
