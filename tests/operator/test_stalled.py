"""A grid whose almighty is stopped, and keeps its connections and locks: everybody is told, until it goes on."""

import json
import os
import signal
from collections.abc import Callable

from cigri.endpoints.health import checks, notices
from cigri.endpoints.metrics import figures
from tests.operator.conftest import Installation, until
from tests.operator.test_up import asked_of

EVENT = "SELECT count(*) FROM events WHERE code = 'PROCESS_STALLED' AND closed_at IS {} NULL"
MESSAGE = "SELECT message FROM events WHERE code = 'PROCESS_STALLED'"
SETTINGS = {"CIGRI_SET_ALMIGHTY__SILENCE": "3"}


def test_a_stopped_almighty_is_told_everywhere_until_it_goes_on(install: Callable[..., Installation]) -> None:
    grid = install(**SETTINGS)
    assert grid.run("up").status == 0
    pid = grid.almighty()
    until(lambda: grid.one("SELECT count(*) FROM processes") == 10, what="signs of life of an almighty and its workers")
    assert grid.run("status").status == 0
    campaign = grid.submit(1, "sleep 600")
    os.kill(pid, signal.SIGSTOP)
    said = grid.run("status")
    assert said.status == 1
    assert f"Almighty  is stopped by a signal, as process {pid}" in said.out
    assert f"`kill -CONT {pid}` lets it go on" in said.err
    until(lambda: grid.one(EVENT.format("")) == 1, what="the event, from the portal")
    message = str(grid.one(MESSAGE))
    assert message.startswith(f"almighty (process {pid} on {os.uname().nodename}) has given no sign of life since ")
    assert f"`kill -9 {pid} " in message
    said = grid.run("status", "--json")
    assert [process["pid"] for process in json.loads(said.out)["stalled"]] == [pid]
    assert "check failed: everything runs that should" in grid.run("doctor").out
    assert asked_of(grid, figures).stalled == 1
    assert any(f"kill -9 {pid}" in detail for check in asked_of(grid, checks).checks for detail in check.details)
    assert f"process {pid} on " in asked_of(grid, notices).sentences[0], f"campaign {campaign} waits"
    os.kill(pid, signal.SIGCONT)
    until(lambda: grid.one(EVENT.format("NOT")) == 1, what="the end of the event")
    assert grid.one(EVENT.format("")) == 0
    assert asked_of(grid, figures).stalled == 0
    until(lambda: grid.run("status").status == 0, what="a grid that works")


def test_all_of_a_stopped_almighty_is_let_go_on_to_end(install: Callable[..., Installation]) -> None:
    grid = install(**SETTINGS)
    assert grid.run("up").status == 0
    pid = grid.almighty()
    os.killpg(pid, signal.SIGSTOP)
    said = grid.run("down")
    assert said.status == 0, said
    assert f"The almighty (process {pid}) was stopped by a signal, and goes on to end" in said.out
    assert f"The almighty (process {pid}) has ended" in said.out
    until(lambda: not grid.processes(), what="the end of its workers")
