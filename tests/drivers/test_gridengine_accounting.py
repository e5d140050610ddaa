"""What the Grid Engine driver finds in a file of accounting, read by the very script that runs on a cluster."""

import getpass
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from cigri.drivers import RemoteJobState, load
from cigri.errors import UnreadableOutput
from cigri.shell.results import ShellResult

pytestmark = pytest.mark.process

NOW = int(time.time())
DAY = 86_400
TAG = "cigri.1.7"
HEADER = "# Version: 8.1.9\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"


def record(index: int, code: int = 0, *, name: str = TAG, owner: str = "", end: int = NOW, part: str = "") -> str:
    """A line as 8.1.9 writes it."""
    owner = owner or getpass.getuser()
    head = f"all.q:node7:users:{owner}:{name}:12:sge:0:{end - 90}:{end - 60}:{end}:0:{code}:60"
    usage = "0.1:0.1:4672.0:0:0:0:0:1231:1:0:16.0:48:0:0:0:19:11:NONE:defaultdepartment:NONE:1"
    return f"{head}:{usage}:{index}:0.1:0.0:0.0:-q all.q -l h_rt=600:0.0:{part or 'NONE'}:0.0:0:0\n"


class Cell:
    """A qstat that knows no jobs, and a file of accounting."""

    def __init__(self, path: Path) -> None:
        self.root = path
        self.accounting = path / "default/common/accounting"
        self.accounting.parent.mkdir(parents=True)
        (path / "qstat").write_text("#!/bin/sh\necho '<job_info><queue_info/><job_info/></job_info>'\n")
        (path / "qstat").chmod(0o755)
        (path / "settings").write_text(f'export SGE_ROOT="{path}" PATH="{path}:/usr/bin:/bin"\n')

    def ask(self, indexes: Iterable[int], **options: object) -> dict[int, tuple[RemoteJobState, int | None]]:
        driver = load("gridengine", {"settings": str(self.root / "settings"), **options})
        # the programs of Debian, if they are here, are not to be found before the one above
        script = driver.history([(TAG, index, "") for index in indexes]).replace("/usr/lib/gridengine", "/nowhere")
        done = subprocess.run(["sh"], input=script, capture_output=True, text=True, timeout=60)
        jobs = driver.parse_history(ShellResult(done.returncode, done.stdout, done.stderr))
        assert {job.tag for job in jobs} <= {TAG}
        return {job.index: (job.state, job.exit_code) for job in jobs}


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return Cell(tmp_path)


def test_exactly_the_jobs_that_are_asked_for_are_found(cell: Cell) -> None:
    others = [record(2, name=f"{TAG}1"), record(2, name=TAG[:-1]), record(2, owner="somebody"), record(3)]
    cell.accounting.write_text(HEADER + record(1) + record(2, 3) + "".join(others) + record(13))
    assert cell.ask([1, 2, 4]) == {1: (RemoteJobState.SUCCEEDED, 0), 2: (RemoteJobState.FAILED, 3)}


def test_the_last_record_of_a_job_counts(cell: Cell) -> None:
    cell.accounting.write_text(record(1, 5, end=NOW - 9) + record(1, 6))
    assert cell.ask([1, 2]) == {1: (RemoteJobState.FAILED, 6)}


def test_parts_of_a_job_on_other_nodes_do_not_count(cell: Cell) -> None:
    cell.accounting.write_text(record(1, 5) + record(1, 0, part="3.node8"))
    assert cell.ask([1]) == {1: (RemoteJobState.FAILED, 5)}


def test_what_ended_long_ago_is_not_read_again(cell: Cell) -> None:
    old = record(3, end=NOW - 5 * DAY) + record(2, 8, name="x", end=NOW - 8 * DAY)
    cell.accounting.write_text(record(1, end=NOW - 9 * DAY) + old[old.index("\n") + 1 :] + record(3, end=NOW - 5 * DAY))
    assert cell.ask([1, 2, 3]) == {3: (RemoteJobState.SUCCEEDED, 0)}


def test_no_records_are_none(cell: Cell) -> None:
    cell.accounting.write_text("")
    assert cell.ask([1]) == {}
    cell.accounting.write_text(HEADER)
    assert cell.ask(range(1, 40, 2)) == {}


def test_a_file_that_cannot_be_read_is_no_oblivion_unless_there_is_to_be_none(cell: Cell) -> None:
    with pytest.raises(UnreadableOutput, match="cannot read"):
        cell.ask([1])
    assert cell.ask([1], accounting=False) == {}


def test_a_file_that_breaks_off_while_it_is_read_is_no_oblivion(cell: Cell) -> None:
    cell.accounting.write_text(record(1))
    (cell.root / "tac").write_text("#!/bin/sh\nhead -n 1\nexit 1\n")
    (cell.root / "tac").chmod(0o755)
    with pytest.raises(UnreadableOutput):
        cell.ask([1, 2])


def test_no_more_is_read_than_is_needed(cell: Cell) -> None:
    cell.accounting.write_text(record(1) + record(2))
    (cell.root / "tac").write_text('#!/bin/sh\n/usr/bin/tac "$@"\nexec yes x:y:z\n')
    (cell.root / "tac").chmod(0o755)
    assert cell.ask([1, 2]).keys() == {1, 2}
