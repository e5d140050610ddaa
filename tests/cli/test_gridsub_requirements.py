"""gridsub and requirements: where jobs of DIRAC's JDL go, and what is told of names that nothing in the grid has."""

from pathlib import Path

import pytest
from sqlalchemy import select, update

from cigri.cli.gridsub import main
from cigri.database import Database
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from tests.cli.conftest import AsUser
from tests.factories import a_cluster
from tests.pools.made import GB, match, put_nodes

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _sites(grid: Database, as_user: AsUser) -> None:
    """dahu and yeti are at grenoble; luke is a site of its own."""
    as_user("alice")
    with grid.begin() as conn:
        for name, memory in (("dahu", 192), ("yeti", 64), ("luke", 64)):
            put_nodes(conn, a_cluster(conn, name), {"memory": memory * GB, "platform": "x86_64", "features": ["el8"]})
        conn.execute(update(Cluster).where(Cluster.c.name != "luke").values(site="grenoble"))


@pytest.fixture
def submit(tmp_path: Path) -> "Submit":
    return Submit(tmp_path / "job.jdl")


class Submit:
    """Give gridsub a job of DIRAC's."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, text: str) -> int:
        self._path.write_text(f'Executable = "run";\n{text}\n')
        return main([str(self._path)])


def used(grid: Database) -> set[str]:
    with grid.begin() as conn:
        part = CampaignCluster.c
        return set(conn.scalars(select(Cluster.c.name).join(CampaignCluster, part.cluster_id == Cluster.c.id)))


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("", {"dahu", "yeti", "luke"}),
        ('Site = "dahu";', {"dahu"}),
        ('Site = {"dahu", "luke"};', {"dahu", "luke"}),
        ('Site = "grenoble";', {"dahu", "yeti"}),
        ('Site = "grenoble"; BannedSite = "yeti";', {"dahu"}),
        ('BannedSite = {"grenoble"};', {"luke"}),
        ('Platform = "x86_64"; Requirements = [Memory = "100 GB"];', {"dahu"}),
        ('Requirements = "memory < 100 GB and el8";', {"yeti", "luke"}),
    ],
)
def test_a_job_of_dirac_goes_where_it_may(grid: Database, submit: Submit, text: str, clusters: set[str]) -> None:
    assert submit(text) == 0
    assert used(grid) == clusters


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('Site = "luk";', "requirements: there is no site 'luk'; did you mean 'luke'?"),
        (
            'BannedSite = "mars";',
            "requirements: there is no site 'mars'; there are: dahu, grenoble, luke, yeti",
        ),
        ('Site = "luke"; Requirements = [Memory = "1 TB"];', "memory where the rest is as wanted: 64 GB on luke"),
        ('Requirements = [Memory = "1 TB"];', "largest memory anywhere: 192 GB on dahu"),
        ('Requirements = [Platform = "arm"];', "platform == 'arm' is wanted; platform there: 'x86_64'"),
    ],
)
def test_what_is_impossible_is_refused_with_the_nearest_miss(
    grid: Database, submit: Submit, capsys: Capture, text: str, told: str
) -> None:
    assert submit(text) == 1
    said = capsys.readouterr().err
    assert told in said
    assert said.count("requirements: ") == 1
    with grid.begin() as conn:
        assert conn.scalar(select(Campaign.c.id)) is None


@pytest.mark.parametrize("text", ['Site = {"luke", "mars"};', 'BannedSite = {"dahu", "yeti", "mars"};'])
def test_one_unknown_site_of_several_is_told_and_left_out(
    grid: Database, submit: Submit, capsys: Capture, text: str
) -> None:
    assert submit(text) == 0
    assert "requirements: there is no site 'mars'; there are: dahu, grenoble, luke, yeti" in capsys.readouterr().err
    assert used(grid) == {"luke"}


def test_a_property_that_nobody_has_is_told_where_it_may_be_meant(submit: Submit, capsys: Capture) -> None:
    assert submit('Requirements = "not el88";') == 0
    assert "requirements: no queue has a property 'el88'; did you mean 'el8'?" in capsys.readouterr().err
    assert submit('Requirements = "not el8 or el8";') == 0
    assert "no queue has" not in capsys.readouterr().err


def test_a_cluster_that_a_rule_left_out_or_was_not_asked_about_is_never_used(
    grid: Database, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rule.py").write_text("def rule(campaign, user):\n    return campaign.without_cluster('dahu')\n")
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    assert submit('Site = "young"; Requirements = "memory >= 64 GB";') == 1
    assert submit('BannedSite = "luke"; Requirements = "memory >= 64 GB";') == 0
    with grid.begin() as conn:
        put_nodes(conn, a_cluster(conn, "young"), {"memory": 64 * GB})
    match(grid)
    assert used(grid) == {"yeti"}


def test_a_cluster_that_becomes_eligible_is_used_as_the_rules_left_it(
    grid: Database, submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = "def rule(campaign, user):\n    return campaign.with_cluster('luke', walltime=60)\n"
    (tmp_path / "rule.py").write_text(rule)
    monkeypatch.setenv("CIGRI_SET_ADMISSION_DIRECTORY", str(tmp_path))
    assert submit('Requirements = "memory >= 100 GB";') == 0
    assert used(grid) == {"dahu"}
    with grid.begin() as conn:
        put_nodes(
            conn, conn.execute(select(Cluster.c.id).where(Cluster.c.name == "luke")).scalar_one(), {"memory": 999 * GB}
        )
    match(grid)
    assert used(grid) == {"dahu", "luke"}
    with grid.begin() as conn:
        walltimes = conn.scalars(select(CampaignCluster.c.settings["walltime"].as_integer()))
        assert sorted(walltimes) == [60, 3600]


def test_a_cluster_whose_batch_system_cannot_take_the_jobs_is_left_out(
    grid: Database, submit: Submit, capsys: Capture
) -> None:
    with grid.begin() as conn:
        for name in ("gamma", "young"):
            a_cluster(conn, name, driver="gridengine")
    match(grid)
    assert submit('NumberOfProcessors = 4; BannedSite = {"luke", "yeti"};') == 0
    assert "left out: clusters.gamma: 4 cores on one node need a parallel" in capsys.readouterr().err
    assert used(grid) == {"dahu"}
    assert submit('NumberOfProcessors = 4; Site = {"gamma", "young"};') == 1
    said = capsys.readouterr().err
    assert "clusters.gamma: 4 cores" in said
    assert "clusters.young: 4 cores" in said
