"""`cigri cluster drain` and `undrain`, and what an operator declares for Machine/Job Features."""

from datetime import UTC, datetime, timedelta

import pytest

from cigri.database import Database
from cigri.errors import ConfigError
from cigri.flow.clusters import find_cluster
from cigri.flow.drains import ClusterDrain, find_drain
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.settings.cluster_config import parse_config
from tests.factories import a_campaign, end_jobs, launch_jobs, run_jobs
from tests.operator.conftest import Cigri


def _wish(database: Database) -> ClusterDrain | None:
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster
        wish = find_drain(conn, cluster.id)
        assert cluster.is_enabled is (wish is None)
    return wish


def test_drained_and_undrained(cigri: Cigri, database: Database) -> None:
    assert cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/s").status == 0
    assert cigri("cluster", "drain", "dahu", "--by", "+2h").status == 0
    wish = _wish(database)
    assert wish
    assert abs(wish.deadline - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=1)
    assert (wish.kills, wish.keep) == (False, 0)
    assert "draining, by " in cigri("cluster", "list").out
    assert cigri("cluster", "drain", "dahu", "--by", "2099-01-01T00:00Z", "--kill", "--keep", "8").status == 0
    again = _wish(database)
    assert again
    assert (again.deadline, again.kills, again.keep) == (datetime(2099, 1, 1, tzinfo=UTC), True, 8)
    assert cigri("cluster", "undrain", "dahu").status == 0
    assert _wish(database) is None
    said = cigri("cluster", "undrain", "dahu")
    assert said.status != 0
    assert "not drained" in said.err


def test_enabling_ends_a_drain(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/s")
    cigri("cluster", "drain", "dahu", "--by", "+1d")
    assert cigri("cluster", "enable", "dahu").status == 0
    assert _wish(database) is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--by", "+10s"), "promised a notice of 60 s"),
        (("--by", "2020-01-01T00:00"), "promised a notice of 60 s"),
        (("--by", "tomorrow"), "'tomorrow' is no date"),
        (("--by", "+1y"), "not '+1y'"),
        (("--by", "+30m"), "(write 'min')"),
        (("--by", "+1e99 d"), "not '+1e99 d'"),
        (("--by", "+2h", "--keep", "-1"), "number of cores"),
        ((), "--by"),
    ],
)
def test_wrong_wishes_change_nothing(cigri: Cigri, database: Database, words: tuple[str, ...], complaint: str) -> None:
    cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/s")
    said = cigri("cluster", "drain", "dahu", *words)
    assert said.status == 2
    assert complaint in said.err
    assert _wish(database) is None


def test_a_cluster_promises_its_own_notice(cigri: Cigri) -> None:
    cigri(
        "cluster", "add", "dahu", "--driver", "local", "--option", "spool=/s", "--set", "features={grace_secs_job=7200}"
    )
    assert "notice of 7200 s" in cigri("cluster", "drain", "dahu", "--by", "+1h").err


def test_jobs_keep_the_notice_that_they_were_promised(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/s")
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster
        campaign = a_campaign(conn, 2)
        put_jobs(conn, campaign, [NewJob(cluster.id, 1, 3600, (task,)) for task in take_waiting(conn, campaign, 2)])
        jobs = launch_jobs(conn, cluster.id, 2, notice=7200)
        run_jobs(conn, jobs)
    assert "notice of 7200 s" in cigri("cluster", "drain", "dahu", "--by", "+1h").err
    with database.begin() as conn:
        end_jobs(conn, cluster.id, jobs)
    assert cigri("cluster", "drain", "dahu", "--by", "+1h").status == 0


@pytest.mark.parametrize(
    ("features", "complaint"),
    [
        ({"hs60": 1}, "did you mean hs06"),
        ({"hs06": -1}, "greater than 0"),
        ({"draft": False, "jobslots": 3}, "go with draft = true, which you have switched off"),
        ({"shutdown_command": ""}, "at least 1 character"),
    ],
)
def test_wrong_features_are_told(features: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        parse_config("dahu", {"driver": "local", "features": features})


def test_features_survive_being_stored() -> None:
    config = parse_config("dahu", {"driver": "local", "features": {"hs06": 400, "draft": False}})
    assert parse_config("dahu", config.model_dump(mode="json")) == config
    plain = parse_config("dahu", {"driver": "local"})
    assert parse_config("dahu", plain.model_dump(mode="json")) == plain
