"""gridget: what the grid has collected comes from its store, and of what it has written itself the place is told."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.cli import gridget
from cigri.database import Database
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import OutputSettings, Settings
from modules import stager
from tests.cli.at_work import run_campaign
from tests.cli.running import Run
from tests.waiting import looks

COMMAND = gridget
PROGRAM = "sh -c 'mkdir log; echo $0 >result; : >log/empty; yes $0 | head -c 3000000 >big' {index}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CIGRI_SET_OUTPUTS__DIRECTORY", str(tmp_path / "store"))


def collect(database: Database, place: Path) -> None:
    """As the stager does it, until nothing is awaited and nothing is left on the cluster."""
    tools = PassContext(database, Settings(outputs=OutputSettings(directory=place / "store")), TransportGateway())
    for _ in looks():
        stager.run_once(tools)
        with database.begin() as conn:
            if conn.execute(text("SELECT count(*) FROM parcels WHERE removed_at IS NULL")).scalar_one() == 0:
                break
    tools.gateway.close()


def contents(place: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if "/." not in f"/{name}"}


def expected(*numbers: int) -> dict[str, bytes]:
    each = {number: (b"%d\n" % number) * 1_500_000 for number in numbers}
    told = {f"{number}/result": b"%d\n" % number for number in numbers}
    return told | {f"{n}/log/empty": b"" for n in numbers} | {f"{n}/big": big[:3_000_000] for n, big in each.items()}


@pytest.mark.usefixtures("both_ways", "cluster")
def test_what_lies_in_the_store_comes_from_there(
    run: Run, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cigri.outputs.store.may_deliver", lambda _user: False)
    to = {"to": "/nowhere/of/anybody/{number}"}
    campaign = run_campaign(database, PROGRAM, 3, outputs=["*"], collect=to)
    collect(database, tmp_path)
    assert contents(tmp_path / "store" / str(campaign)) == expected(0, 1, 2)
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0
    told = run(campaign, "results")
    assert (told.status, told.out.partition(",")[0]) == (0, "9 files"), told
    assert contents(tmp_path / "results") == expected(0, 1, 2)
    (tmp_path / "results" / "1" / "big").unlink()
    assert run(campaign, "results").out.startswith("1 files, 2.9 MB in ")
    assert contents(tmp_path / "results") == expected(0, 1, 2)
    assert not Path("/nowhere").exists()


@pytest.mark.usefixtures("both_ways", "cluster")
def test_of_what_was_written_where_it_is_wanted_the_place_is_told(run: Run, database: Database, tmp_path: Path) -> None:
    campaign = run_campaign(database, PROGRAM, 2, outputs=["*"], collect={"to": str(tmp_path / "there")})
    collect(database, tmp_path)
    told = run(campaign, "results")
    assert told.status == 0
    assert f"6 files of 2 tasks were collected before, those of task 0 to {tmp_path}/there/0\n" in told.err
    assert contents(tmp_path / "results") == {}
    assert contents(tmp_path / "there") == expected(0, 1)


@pytest.mark.usefixtures("both_ways", "cluster")
def test_gridget_follows_a_campaign_to_its_end(
    run: Run, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gridget, "FOLLOW_PERIOD", 0.05)
    campaign = run_campaign(database, PROGRAM, 1, outputs=["*"])
    with database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET state = 'in_treatment', ended_at = NULL"))
    ended = threading.Event()

    def end() -> None:
        for _ in looks():
            if (tmp_path / "results" / "0" / "result").exists():
                break
        with database.begin() as conn:
            conn.execute(text("UPDATE campaigns SET state = 'terminated', ended_at = now()"))
        ended.set()

    ending = threading.Thread(target=end)
    ending.start()
    told = run(campaign, "results", "--follow")
    ending.join()
    assert ended.is_set(), told
    assert told.status == 0
    assert contents(tmp_path / "results") == expected(0)
