"""What a job does whose index was started before, or must not be started any more."""

import os
import re
import signal

import pytest

from cigri.errors import UnreadableOutput
from cigri.shell.results import ShellResult
from cigri.wrapper import JobKey, JournalState, journal, parse_journal, parse_revoked, revoke

from .cluster import BASE, Cluster, until

KEY = JobKey(12, 34, 1)
WAIT = 'echo once >>"$HOME/ran"; until [ -e "$HOME/go" ]; do sleep 0.05; done'


def changed_start(cluster: Cluster, **fields: str) -> None:
    """The first start as another host or process would have written it."""
    [line] = cluster.journal()
    names = ("node", "remote", "origin", "process", "since", "group")
    found = re.fullmatch(r"(start 2 1 \d+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) \.", line)
    assert found
    words = [fields.get(name, found[number]) for number, name in enumerate(names, start=2)]
    (cluster.batch / "journal.1").write_text(" ".join([found[1], *words, "."]) + "\n")


def origin(cluster: Cluster) -> str:
    """Boot and first process of this host, as the wrapper writes them."""
    return cluster.journal()[0].split()[6]


def test_while_the_first_start_runs_a_second_one_only_refuses(cluster: Cluster) -> None:
    cluster.write(WAIT)
    first = cluster.start()
    until((cluster.home / "ran").exists)
    second = cluster.run()
    assert second.status == 75
    assert "index 1 was started before" in second.err
    (cluster.home / "go").touch()
    first.communicate(timeout=120)
    assert first.returncode == 0
    assert (cluster.home / "ran").read_text() == "once\n"
    assert len(cluster.records()) == 1


def test_once_the_first_start_is_over_a_second_one_proves_it(cluster: Cluster) -> None:
    cluster.write(WAIT)
    first = cluster.start()
    until((cluster.home / "ran").exists)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=120)
    second = cluster.run()
    assert second.status == 76
    assert "that start is over" in second.err
    assert (cluster.home / "ran").read_text() == "once\n"


def test_a_task_that_outlives_its_killed_wrapper_is_no_start_that_is_over(cluster: Cluster) -> None:
    cluster.write(WAIT)
    first = cluster.start()
    until((cluster.home / "ran").exists)
    first.kill()
    first.wait()
    assert cluster.run().status == 75
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=120)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"origin": "another-boot/1"}, 76),  # the node was started anew
        ({"origin": "another-boot/1", "node": "node8"}, 75),  # another node: who knows
        ({"origin": "-/-"}, 75),
        ({"origin": "BOOT/999999"}, 75),  # another container of this host
        ({"since": "1"}, 76),  # somebody else has its process id
        ({"group": "-"}, 75),
    ],
)
def test_what_proves_that_a_start_is_over(dash: Cluster, fields: dict[str, str], status: int) -> None:
    dash.write("true")
    assert dash.run().status == 0
    (dash.batch / "journal.1").write_text(dash.journal()[0] + "\n")
    boot = origin(dash).partition("/")[0]
    given = {name: value.replace("BOOT", boot) for name, value in fields.items()}
    if "since" in given:
        given["process"] = str(os.getpid())
    changed_start(dash, **given)
    assert dash.run().status == status


def test_of_a_start_by_an_earlier_version_nothing_is_proven(dash: Cluster) -> None:
    dash.write("true")
    (dash.batch / "journal.1").write_text("start 1 1 1700000000000 node7 77_1 .\n")
    assert dash.run().status == 75


def test_an_index_that_was_revoked_never_starts(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran", "touch $HOME/ran.2")
    for _ in range(2):  # the answer to the first may have been lost
        assert parse_revoked(cluster.ask(revoke(BASE, [KEY])), [KEY]) == {KEY}
    assert cluster.run().status == 75
    assert not (cluster.home / "ran").exists()
    assert parse_journal(cluster.ask(journal(BASE, [KEY])), [KEY])[KEY].state is JournalState.VOIDED
    assert cluster.run(2).status == 0


def test_an_index_that_has_started_is_not_revoked(cluster: Cluster) -> None:
    cluster.write("true")
    assert cluster.run().status == 0
    keys = [KEY, JobKey(12, 35, 1)]
    assert parse_revoked(cluster.ask(revoke(BASE, keys)), keys) == {JobKey(12, 35, 1)}  # of which there is no batch
    assert len(cluster.records()) == 1


@pytest.mark.parametrize(
    "answer",
    [
        ShellResult(1, "", "gone"),
        ShellResult(0, "cigri-revoke 1\n= 12 34 1 revoked\n", ""),
        ShellResult(0, "cigri-revoke 1\ncigri-revoke end\n", ""),
        ShellResult(0, "cigri-revoke 1\n= 12 34 2 revoked\ncigri-revoke end\n", ""),
    ],
)
def test_an_answer_that_is_not_whole_revokes_nothing(answer: ShellResult) -> None:
    with pytest.raises(UnreadableOutput):
        parse_revoked(answer, [KEY])
