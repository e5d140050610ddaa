import json
import tomllib
from pathlib import Path

import pytest

from cigri.database import Database
from cigri.flow.clusters import ClusterRow, find_cluster
from cigri.flow.views.clusters import list_mappings
from modules.operator.cluster.declaration import pair
from tests.operator.conftest import Cigri

TWO_CORES = ("--driver", "local", "--option", "spool=/a", "--option", "pools.cpu=2")
SLURM = ("--driver", "slurm", "--ssh", "cigri@dahu.example.org:2222")


def stored(database: Database, name: str) -> ClusterRow:
    with database.begin() as conn:
        found = find_cluster(conn, name)
    assert found
    return found


def test_a_cluster_is_declared_by_options(cigri: Cigri, database: Database) -> None:
    said = cigri("cluster", "add", "dahu", *SLURM, "--key-file", "/k", "--set", "max_waiting=7")
    assert said.status == 0, said.err
    config = stored(database, "dahu").config
    assert config.ssh
    assert (config.driver, config.transport, config.max_waiting) == ("slurm", "ssh", 7)
    assert (config.ssh.host, config.ssh.port, config.ssh.account) == ("dahu.example.org", 2222, "cigri")
    assert config.ssh.key_file == "/k"


def test_a_cluster_is_declared_by_a_file_and_options_win(cigri: Cigri, database: Database, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('driver = "slurm"\nmax_waiting = 5\npoll_interval = 9\nssh = { host = "a" }\n')
    assert cigri("cluster", "add", "dahu", "--file", str(path), "--set", "max_waiting=6", "--host", "b").status == 0
    config = stored(database, "dahu").config
    assert config.ssh
    assert (config.max_waiting, config.poll_interval, config.ssh.host) == (6, 9.0, "b")


def test_what_is_shown_can_be_declared_again(cigri: Cigri, database: Database, tmp_path: Path) -> None:
    options = ("--driver", "local", "--option", "spool=/a b", "--option", "pools={cpu=2, gpu=1}", "--set", "timeout=3")
    assert cigri("cluster", "add", "one", *options).status == 0
    path = tmp_path / "shown.toml"
    path.write_text(cigri("cluster", "show", "one").out)
    assert tomllib.loads(path.read_text())["options"] == {"spool": "/a b", "pools": {"cpu": 2, "gpu": 1}}
    assert cigri("cluster", "add", "two", "--file", str(path)).status == 0
    assert stored(database, "one").config == stored(database, "two").config


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--driver", "slrum"), "no driver 'slrum'; there are:"),
        ((), "--driver is missing"),
        ((*SLURM, "--set", "max_waitin=3"), "max_waitin: unknown, did you mean max_waiting?"),
        ((*SLURM, "--set", "max_waiting=0"), "max_waiting: Input should be greater than 0"),
        ((*SLURM, "--set", "max_waiting"), "'max_waiting' is not KEY=VALUE"),
        (("--driver", "slurm", "--ssh", "a b"), "--ssh takes"),
        (("--driver", "local", "--option", "spol=/x"), "driver local knows spool and pools, not spol"),
        ((*SLURM, "--set", "ssh={hots='x'}"), "ssh.hots: unknown, did you mean host?"),
        ((*SLURM, "--file", "/nowhere"), "/nowhere"),
        ((*TWO_CORES, "--set", "node_cores=4"), "node_cores is 4, and no job there has more than 2 cores"),
        (("--drivr", "slurm"), "did you mean --driver?"),
    ],
)
def test_a_wrong_declaration_is_refused_and_nothing_is_stored(
    cigri: Cigri, database: Database, options: tuple[str, ...], complaint: str
) -> None:
    said = cigri("cluster", "add", "x", *options)
    assert said.status == 2
    assert complaint in said.err
    with database.begin() as conn:
        assert find_cluster(conn, "x") is None


def test_a_change_that_no_job_could_use_is_refused(cigri: Cigri, database: Database) -> None:
    assert cigri("cluster", "add", "x", *TWO_CORES, "--set", "node_cores=2").status == 0
    for change in (("--set", "node_cores=3"), ("--option", "pools.cpu=1")):
        said = cigri("cluster", "change", "x", *change)
        assert said.status == 2
        assert "node_cores is " in said.err
    assert stored(database, "x").config.node_cores == 2
    assert cigri("cluster", "change", "x", "--option", "pools.cpu=8", "--set", "node_cores=8").status == 0


def test_a_declared_cluster_is_not_declared_twice(cigri: Cigri) -> None:
    assert cigri("cluster", "add", "dahu", *SLURM).status == 0
    said = cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/x")
    assert said.status == 2
    assert "cigri cluster change dahu" in said.err


def test_a_change_keeps_what_it_does_not_name(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", *SLURM, "--set", "max_waiting=7")
    assert cigri("cluster", "change", "dahu", "--host", "new", "--set", "timeout=9").status == 0
    config = stored(database, "dahu").config
    assert config.ssh
    assert (config.ssh.host, config.ssh.account, config.max_waiting, config.timeout) == ("new", "cigri", 7, 9.0)


def test_one_of_several_settings_of_the_driver_is_changed(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", "--driver", "local", "--option", "spool=/x", "--option", "pools={cpu=2}")
    assert cigri("cluster", "change", "dahu", "--option", "pools.gnat=9", "--option", "pools.mem=7").status == 0
    assert stored(database, "dahu").config.options == {"spool": "/x", "pools": {"cpu": 2, "gnat": 9, "mem": 7}}
    said = cigri("cluster", "change", "dahu", "--option", "spool.gnat=9")
    assert said.status == 2
    assert "spool holds no settings of its own" in said.err


def test_clusters_are_listed_with_their_state(cigri: Cigri) -> None:
    cigri("cluster", "add", "dahu", *SLURM)
    cigri("cluster", "disable", "dahu")
    [line] = cigri("cluster", "list").out.splitlines()[1:]
    assert line.split()[:4] == ["dahu", "slurm", "dahu.example.org:2222", "disabled"]
    cigri("cluster", "enable", "dahu")
    [told] = json.loads(cigri("cluster", "list", "--json").out)
    assert (told["name"], told["state"], told["waiting"]) == ("dahu", "not visited yet", 0)


def test_accounts_are_mapped_and_unmapped(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", *SLURM)
    assert cigri("cluster", "map", "dahu", "alice", "asmith").status == 0
    assert "# the jobs of alice run as asmith" in cigri("cluster", "show", "dahu").out
    assert cigri("cluster", "map", "dahu", "alice").status == 0
    with database.begin() as conn:
        assert list_mappings(conn, "dahu") == []
    assert cigri("cluster", "map", "dahu", "alice", "-x;y").status == 2


def test_a_cluster_is_forgotten(cigri: Cigri, database: Database) -> None:
    cigri("cluster", "add", "dahu", *SLURM)
    assert cigri("cluster", "remove", "dahu").status == 0
    with database.begin() as conn:
        assert find_cluster(conn, "dahu") is None


@pytest.mark.parametrize("argv", [["show"], ["enable"], ["disable"], ["remove"], ["test"], ["change"], ["map"]])
def test_an_unknown_cluster_is_said_to_be_so(cigri: Cigri, argv: list[str]) -> None:
    said = cigri("cluster", *argv, "nosuch", *(["alice", "bob"] if argv == ["map"] else []))
    assert said.status == 1
    assert "no cluster nosuch" in said.err


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=5", 5), ("a=5.5", 5.5), ("a=true", True), ("a=x=y", "x=y"), ('a="5"', "5"), ("a={b=1}", {"b": 1}), ("a=", "")],
)
def test_values_are_toml_or_text(text: str, value: object) -> None:
    assert pair(text) == ("a", value)
