"""The directory of a campaign, on real clusters: it is made by the job, as its user."""

from pathlib import Path

import pytest

from tests.grid import Grid

pytestmark = pytest.mark.cluster


def test_a_directory_that_is_not_there_is_made_and_one_that_cannot_be_is_told(each_kind: Grid) -> None:
    place = Path(each_kind.place) / "not yet" / "made"
    each_kind.submit(["1", "2"], command="pwd >>where; stat -c %U . >>where", exec_directory=str(place))
    each_kind.submit(["3"], exec_directory="/root/closed")
    each_kind.run_until(lambda: each_kind.counts() == {"done": 2, "failed": 1})
    assert set(each_kind.site.sh(f"cat '{place}/where'").splitlines()) == {str(place), each_kind.site.user}
    told = each_kind.one("SELECT message FROM events WHERE code = 'TASK_FAILED'")
    assert told.startswith("failure, exit code 72; stderr ends: mkdir: ")
    assert "cigri: exec_directory /root/closed cannot be made or entered on " in told
