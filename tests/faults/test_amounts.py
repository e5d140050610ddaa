"""Amounts computed for each task, asked of a real batch system."""

import pytest

from tests.grid import Grid

pytestmark = pytest.mark.cluster


def test_a_batch_system_is_asked_for_exactly_what_each_task_needs(alpha: Grid) -> None:
    show = f'echo "$CIGRI_RESOURCE_MEM $SLURM_MEM_PER_NODE" >>{alpha.place}/seen'
    alpha.submit([{"size": size} for size in (97, 101, 97)], command=show, resources={"mem": "{size} MB"})
    alpha.run_to_end()
    alpha.assert_each_ran_once(3)
    assert sorted(alpha.site.sh(f"cat {alpha.place}/seen").splitlines()) == ["101 101", "97 97", "97 97"]
    assert sorted(row["size"] for row in alpha.rows("SELECT size FROM batches")) == [1, 2]
