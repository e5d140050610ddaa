"""What no cluster of a campaign can ever give is refused where it is asked for, once discovery has told of it."""

from typing import Any

import pytest

from cigri.identity.callers import Caller
from cigri.submission.dry_run import check_submission, wishes_of
from cigri.submission.feedback import SubmissionFeedback
from tests.grid import Grid

pytestmark = pytest.mark.cluster

FOUND = "SELECT count(*) FROM node_classes"


def problems(grid: Grid, resources: dict[str, Any]) -> list[str]:
    described = {
        "name": "large",
        "clusters": {grid.site.name: {}},
        "exec_file": "true",
        "nb_jobs": 2,
        "resources": resources,
    }
    feedback = SubmissionFeedback()
    wishes = wishes_of(None, None, False, None)
    check_submission(grid.database, grid.settings, Caller(grid.site.user), described, [], wishes, feedback)
    return [str(problem) for problem in feedback.problems]


def test_more_than_slurm_has_is_refused_when_it_is_asked_for(alpha: Grid) -> None:
    """The testbed's Slurm has four licences of matlab, and two gpus and eight cores in each node."""
    assert problems(alpha, {"license/matlab": 9, "cpu": 64}) == []
    alpha.run_until(lambda: alpha.one(FOUND))
    for possible in ({"license/matlab": 4}, {"gpu": 2}, {"cpu": 8}, {"tmp": "1 GB"}):
        assert problems(alpha, possible) == []
    why = "requirements: no queue is eligible for its jobs;"
    for resources, reason in (
        ({"license/matlab": 9}, "matlab >= 9 is wanted; largest matlab anywhere: 4 on alpha; ask for that at most"),
        ({"gpu": 3}, "gpus >= 3 is wanted; largest gpus anywhere: 2 on alpha; ask for that at most"),
        ({"cpu": 9}, "cores >= 9 is wanted; largest cores anywhere: 8 on alpha; ask for that at most"),
        ({"gres/disk": 1}, "alpha: disk >= 1 is wanted, here is no disk, only gpu, matlab, tmp"),
    ):
        assert problems(alpha, resources) == [f"{why} {reason}"]
