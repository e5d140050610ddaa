"""From what a real cluster tells of its nodes to the nodes that the tasks of a campaign ran on."""

import pytest

from cigri.errors import CigriError
from tests.grid import Grid

pytestmark = pytest.mark.cluster


def test_tasks_run_only_on_nodes_that_satisfy_what_their_campaign_requires(alpha: Grid) -> None:
    alpha.cycle()
    with pytest.raises(CigriError, match="largest memory anywhere"):
        alpha.submit(["1"], requirements="memory >= 1 TB")
    with pytest.raises(CigriError, match="its nodes differ, and the batch system cannot be asked for not new"):
        alpha.submit(["1"], requirements="not new")
    where = f'echo "$CIGRI_NODE" >>{alpha.place}/where'
    alpha.submit(["1", "2", "3", "4"], command=where, requirements="new and memory >= 9 GB", backend="--qos=normal")
    alpha.run_to_end()
    alpha.assert_each_ran_once(4)
    assert set(alpha.site.sh(f"cat {alpha.place}/where").split()) == {"alpha-n2"}
