"""Jobs that Grid Engine has in error wait in vain: their tasks go elsewhere, or on once the error is cleared."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.grid import Grid

pytestmark = pytest.mark.cluster

OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"
SENT = "SELECT count(*) FROM jobs WHERE campaign_id = :id AND state = 'submitted'"
PROLOG = "/tmp/prolog-that-fails"


@pytest.fixture
def failing(gamma: Grid) -> Iterator[Grid]:
    """Grid Engine whose queue for besteffort jobs has a prolog that puts each in error; `other` is the same cell."""
    gamma.add(replace(gamma.site, name="other"))
    gamma.site.sh(f"printf '#!/bin/sh\\nexit 100\\n' >{PROLOG}; chmod 755 {PROLOG}", user="root")
    set_prolog(gamma, PROLOG)
    yield gamma
    set_prolog(gamma, "NONE")
    gamma.site.sh(f"qdel -u '*' >/dev/null; qmod -c '*' >/dev/null; rm {PROLOG}", user="root")


def set_prolog(grid: Grid, program: str) -> None:
    grid.site.sh(f"qconf -mattr queue prolog {program} besteffort.q >/dev/null", user="root")


def test_jobs_in_error_go_to_another_cluster_or_on_once_it_is_cleared(failing: Grid) -> None:
    alone = failing.submit(["1"], clusters={"gamma": {}})
    failing.run_until(lambda: failing.rows(OPEN))
    [told] = failing.rows(OPEN)
    assert (told["code"], told["subject"]) == ("JOBS_CANNOT_START", f"campaign {alone} on gamma")
    assert "clears its error (qmod -cj) (state Eqw); none of its other clusters" in told["message"]
    moved = failing.submit(["1", "2"], clusters={"gamma": {}, "other": {"type": "normal"}}, name="moved")
    failing.run_until(lambda: failing.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=moved))
    assert failing.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 1
    set_prolog(failing, "NONE")
    failing.site.sh("qmod -cj '*' >/dev/null || true", user="root")
    failing.run_to_end()
    failing.cycle()
    assert failing.rows(OPEN) == []
    failing.assert_sane()


def set_longest(grid: Grid, time: str) -> None:
    """The longest walltime of the queue for besteffort jobs."""
    grid.site.sh(f"qconf -mattr queue h_rt {time} besteffort.q >/dev/null", user="root")


@pytest.fixture
def closed(gamma: Grid) -> Iterator[Grid]:
    """Grid Engine whose queue for besteffort jobs is disabled; `other` is the same cell."""
    gamma.add(replace(gamma.site, name="other"))
    gamma.site.sh("qmod -d besteffort.q >/dev/null", user="root")
    yield gamma
    set_longest(gamma, "INFINITY")
    gamma.site.sh("qmod -e besteffort.q >/dev/null; qdel -u '*' >/dev/null || true", user="root")


def test_jobs_that_no_queue_can_run_go_to_another_cluster(closed: Grid) -> None:
    """They were submitted before the operator made the queue's walltime shorter than theirs."""
    moved = closed.submit(["1", "2"], clusters={"gamma": {}, "other": {"type": "normal"}})
    alone = closed.submit(["1"], clusters={"gamma": {}}, name="alone")
    closed.run_until(lambda: closed.one(SENT, id=alone))
    set_longest(closed, "0:0:10")
    closed.site.sh("qmod -e besteffort.q >/dev/null", user="root")
    closed.run_until(lambda: closed.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=moved))
    closed.run_until(lambda: closed.rows(OPEN))
    [told] = closed.rows(OPEN)
    assert (told["code"], told["subject"]) == ("JOBS_CANNOT_START", f"campaign {alone} on gamma")
    assert '(-l h_rt=600) cannot run in queue "besteffort.q" because of cluster queue' in told["message"]
    set_longest(closed, "INFINITY")
    closed.run_to_end()
    closed.cycle()
    assert closed.rows(OPEN) == []
    closed.assert_sane()
