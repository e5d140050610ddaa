"""Strange parameters, full disks, and clocks that jump."""

import base64
import os
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cigri.database import server_time
from tests.factories import set_time
from tests.grid import CYCLE, Grid, Site, local_site, until
from tests.localbatch.host import Host

STRANGE = [
    "plain",
    "two  words",
    'it\'s "quoted" \\ and `back`',
    "$(touch /tmp/never) $HOME ${PATH} ; exit 9 & | > <",
    "line one\nline two\n\n",
    "tab\tand\rreturn",
    "naïve 日本語 🚀",
    "-n",
    "--",
    "*",
    "~",
    "{HOME} {index} {nothing}",
    "",
    "x" * 100_000,
]


def test_a_parameter_arrives_as_it_was_written(grid: Grid) -> None:
    """Each task writes its argument to a file; base64 brings it back byte for byte."""
    command = f'printf %s "$1" | base64 -w0 >{grid.place}/$CIGRI_TASK_NUMBER.b64'
    grid.submit([[parameter] for parameter in STRANGE], command=command)
    grid.run_to_end()
    grid.assert_each_ran_once(len(STRANGE))
    for number, parameter in enumerate(STRANGE):
        found = base64.b64decode(grid.site.sh(f"cat {grid.place}/{number}.b64")).decode()
        assert found == parameter


def test_named_parameters_arrive_in_the_place_of_their_names(local: Grid) -> None:
    params = [{"name": name} for name in STRANGE[:5]]
    program = 'printf %s "$1" >"$2/$CIGRI_TASK_NUMBER"'
    local.submit(params, exec_file=f"sh -c '{program}' task {{name}} {local.place}")
    local.run_to_end()
    for number, parameter in enumerate(STRANGE[:5]):
        assert (Path(local.place) / str(number)).read_text() == parameter


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_loses_no_record_and_no_submission(
    small_disk: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    host = Host(tmp_path)
    request.addfinalizer(host.clear)
    site: Site = local_site(host.spool, directory=str(small_disk / "files"))
    grid = Grid(request.getfixturevalue("database"), site, str(tmp_path / "work"))
    budget = grid.settings.budget.model_copy(update={"backoff": 1.0})
    grid.settings = grid.settings.model_copy(update={"budget": budget})
    waiting = f"until [ -e {grid.place}/go ]; do sleep 0.1; done"
    grid.submit(["1", "2", "3"], command=waiting)
    grid.run_until(lambda: len(grid.executions()) == 3)
    filler = small_disk / "filler"
    subprocess.run(f"dd if=/dev/zero of={filler} bs=4k", shell=True, stderr=subprocess.DEVNULL, check=False)
    (Path(grid.place) / "go").touch()
    grid.submit(["4", "5"])  # cannot be written to the cluster now
    grid.run_until(lambda: grid.rows("SELECT 1 FROM events WHERE code = 'SUBMISSION_REFUSED'"))
    assert grid.counts() == {"assigned": 3, "waiting": 2}
    filler.unlink()
    grid.run_to_end()
    assert sorted(grid.executions().elements()) == [0, 0, 1, 1, 2]
    assert grid.counts() == {"done": 5}
    grid.assert_sane()
    grid.gateway.close()


def test_a_clock_that_jumps_hurts_no_job(local: Grid) -> None:
    """The database's clock goes ten minutes ahead and ten back again while tasks run."""
    local.submit([str(number) for number in range(8)], command="sleep 1")
    with local.database.begin() as conn:
        start = server_time(conn)
    minutes = [0, 10, -10, 0, 10, 0, -10, 3]

    def jump() -> bool:
        for module in CYCLE:
            set_time(local.database, start + timedelta(minutes=minutes[0]))
            module.run_once(local.tools)
        minutes.append(minutes.pop(0))
        return bool(local.counts() == {"done": 8})

    until(jump)
    local.run_to_end()
    local.assert_each_ran_once(8)
    assert local.one("SELECT sum(deaths + failures) FROM tasks") == 0
