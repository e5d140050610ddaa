"""Outputs: a client of CiGri 3 asks once, and the request is held until the cluster has answered."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from modules.portal.cigri3 import dispatch
from modules.portal.cigri3.dispatch import BASE
from modules.portal.cigri3.errors import NOT_YET
from modules.portal.fair_queue import MOST_WORKING_OF_USER
from tests.portal.cigri3.conftest import WRITTEN, get
from tests.portal.conftest import Served
from tests.portal.test_task_page import Answering
from tests.waiting import PATIENCE


class Busy(Answering):
    """A gateway whose clusters answer once they are let."""

    def __init__(self) -> None:
        super().__init__(WRITTEN)
        self.go = threading.Event()

    def request_all(self, *asked: object) -> Any:
        assert self.go.wait(PATIENCE)
        return super().request_all(*asked)


@pytest.fixture
def busy(_answering: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Busy]:
    gateway = Busy()
    monkeypatch.setattr("modules.portal.deferred_responses.TransportGateway", lambda: gateway)
    yield gateway
    gateway.go.set()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_first_request_is_answered_with_the_output(stream: str, portal: Served, nobody: int) -> None:
    assert get(portal, f"/jobs/1/{stream}", nobody) == {"output": WRITTEN}


def test_a_request_that_is_held_keeps_nobody_from_anything(busy: Busy, portal: Served) -> None:
    paths = [f"/jobs/{job}/{stream}" for job in (1, 2) for stream in ("stdout", "stderr")]
    assert len(paths) > MOST_WORKING_OF_USER
    with ThreadPoolExecutor(len(paths)) as people:
        held = [people.submit(get, portal, path) for path in paths]
        assert get(portal, "/campaigns")["total"] == 3
        assert not any(one.done() for one in held)
        busy.go.set()
        assert [one.result() for one in held] == [{"output": WRITTEN}] * len(paths)


def test_a_cluster_that_takes_too_long_is_asked_again(
    busy: Busy, portal: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as impatient:
        impatient.setattr(dispatch, "LONGEST_WAIT", 0)
        told = portal.get(f"{BASE}/jobs/1/stdout")
    assert (told.status, told.body["message"]) == (202, NOT_YET)
    busy.go.set()
    assert get(portal, "/jobs/1/stdout") == {"output": WRITTEN}
