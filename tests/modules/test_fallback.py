"""A batch system that is not there: the operator names a fallback and is warned, the user is told, the jobs run."""

from pathlib import Path

import pytest

from cigri.cli import gridstat
from cigri.drivers import BatchRequest, ResourceRequest
from cigri.settings.cluster_config import parse_config
from modules.operator import main
from modules.runner.fallback_mapping import mapped
from tests.grid import Grid, local_site

POOLS = {"cpu": 4, "mem": 4000, "licence": 1}


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (ResourceRequest(cpu=2, mem=100), ResourceRequest(cpu=2, mem=100)),
        (ResourceRequest(cpu=2, nodes=2, mem=100), ResourceRequest(cpu=4, mem=200)),
        (ResourceRequest(cpu=2, nodes=2, others={"licence": 1}), ResourceRequest(cpu=4, others={"licence": 1})),
        (ResourceRequest(cpu=1, others={"licence": 0}), ResourceRequest(cpu=1)),
        (ResourceRequest(cpu=8, mem=100), ResourceRequest(cpu=4, mem=100)),
        (ResourceRequest(cpu=1, mem=9000), ResourceRequest(cpu=4, mem=4000)),
        (ResourceRequest(cpu=1, others={"gpu": 1}), ResourceRequest(cpu=4)),
        (ResourceRequest(cpu=1, tmp=5), ResourceRequest(cpu=4)),
        (ResourceRequest(cpu=1, native=("/switch=1/core=1",)), ResourceRequest(cpu=4)),
    ],
)
def test_resources_are_kept_clamped_or_make_the_job_run_alone(asked: ResourceRequest, kept: ResourceRequest) -> None:
    assert mapped(BatchRequest("tag", 3, 600, asked), POOLS) == BatchRequest("tag", 3, 600, kept)


@pytest.mark.parametrize("place", [{"queue": "long"}, {"properties": "big"}, {"types": ("deploy",)}])
def test_a_place_that_is_only_there_makes_the_job_run_alone(place: dict[str, str]) -> None:
    request = BatchRequest("tag", 1, 600, **place)  # type: ignore[arg-type]  # one of them
    assert mapped(request, POOLS) == BatchRequest("tag", 1, 600, ResourceRequest(cpu=4))


@pytest.fixture
def spool(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local batch system of the grid under test, which is the fallback of a cluster without Slurm."""
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", local.database.url.replace("+psycopg", ""))
    monkeypatch.setenv("PATH", "/bin")
    return Path(local.site.config["options"]["spool"])


def declare(spool: Path, *words: str) -> int:
    options = ["--driver", "slurm", "--set", f"fallback={{spool='{spool}', pools={{cpu=4, mem=4000}}}}"]
    quick = ["--set", "poll_interval=0", "--set", f"directory={spool}/files"]
    return main(["cluster", "add", "dahu", *options, *quick, *words])


def test_jobs_run_on_this_host_and_everybody_is_told(
    local: Grid, spool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declare(spool) == 0
    assert "WARNING: the jobs of dahu run on this host, its batch system was not there on" in capsys.readouterr().err
    campaign = local.submit(["1", "2"], clusters={"dahu": {"resources": {"cpu": 2, "gpu": 1}}})
    (event,) = local.rows("SELECT subject, code FROM events WHERE closed_at IS NULL")
    assert event == {"subject": "cluster dahu", "code": "CLUSTER_FALLBACK"}
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 2)
    assert gridstat.main([str(campaign)]) == 0
    assert "its jobs run on CiGri's own host, since its batch system was not there" in capsys.readouterr().out
    local.run_to_end()
    local.assert_each_ran_once(2)


def test_the_batch_system_gets_its_jobs_again_but_not_under_living_jobs(
    local: Grid, spool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declare(spool) == 0
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.1; done", clusters={"dahu": {}})
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    found = ["cluster", "change", "dahu", "--driver", "local", "--set", f"options={{spool='{spool}'}}"]
    assert main(found) == 2
    assert "1 jobs of the grid are live on dahu" in capsys.readouterr().err
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert main(found) == 0
    assert "WARNING" not in capsys.readouterr().err
    assert local.one("SELECT config ->> 'fallback_because' FROM clusters WHERE name = 'dahu'") == ""
    assert local.rows("SELECT 1 FROM events WHERE closed_at IS NULL") == []


def test_a_fallback_without_cores_is_refused(local: Grid, spool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cluster", "add", "luke", "--driver", "slurm", "--set", f"fallback={{spool='{spool}', pools={{mem=1}}}}"]
    assert main(words) == 2
    assert "pools must name cpu" in capsys.readouterr().err


def test_a_cluster_without_a_fallback_is_declared_unasked(spool: Path) -> None:
    assert main(["cluster", "add", "luke", "--driver", "slurm"]) == 0


def test_this_host_is_what_is_used_instead() -> None:
    config = local_site(Path("/x"), fallback={"spool": "/y", "pools": {"cpu": 1}}, fallback_because="of a test").config
    used = parse_config("dahu", {**config, "driver": "slurm", "options": {}, "visitor": "bob"}).in_use
    assert (used.driver, used.options["spool"], used.visitor) == ("local", "/y", "")


def test_the_operators_test_tries_what_is_used(local: Grid, spool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert declare(spool, "--ssh", "front.invalid") == 0
    assert main(["cluster", "test", "dahu"]) == 0
    said = capsys.readouterr().out
    assert "! configuration its fallback on this host is in use, since its batch system was not there on" in said
    assert "local batch system with cpu=4" in said
