"""Whatever stands in the texts of jobs, clusters and users: each reading command tells it, and steers no terminal."""

import re
from collections.abc import Callable, Mapping, Sequence

import pytest
from sqlalchemy import text

from cigri.cli import gridclusters, gridevents, gridnotify, gridstat, gridusage
from cigri.database import Database
from cigri.flow.events import NewEvent, put_events
from cigri.flow.module_passes import ModulePass, put_pass
from cigri.states import EventLevel, Outcome
from modules import operator
from tests.cli.conftest import AsUser
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.hostile_words import WORDS, put_everywhere

COMMANDS: Mapping[Callable[[Sequence[str]], int], Sequence[str]] = {
    gridstat.main: (
        "",
        "-a",
        "-s",
        "1",
        "-f 1",
        "-e",
        "--failed 1",
        "-J 1",
        "-j 1",
        "-j 2",
        "-T 1:0",
        "1 --json",
        "-d -a",
    ),
    gridevents.main: ("", "-a", "-g", "-c 1", "-e 1", "--audit", "--json"),
    gridclusters.main: ("", "-i", "-u", "-b", "-p", "--json"),
    gridusage.main: ("", "--by project,cluster", "--csv", "--json"),
    gridnotify.main: ("-l", "--json"),
    operator.main: ("status", "cluster list", "pools", "resources show", "quota list", "doctor"),
}
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_every_command_survives_what_others_write(
    word: str, grid: Database, as_user: AsUser, capsys: pytest.CaptureFixture[str]
) -> None:
    with grid.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 4, user="root")
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), Outcome.FAILURE, exit_code=3)
        run_jobs(conn, submitted_jobs(conn, campaign, cluster, 1))
        put_pass(conn, ModulePass("updator", "here", 1, 0.5, {}, "it raised"))
        put_events(conn, [NewEvent("CLUSTER_UNREACHABLE", EventLevel.ERROR, "dahu", "it is away", cluster_id=cluster)])
        conn.execute(text("INSERT INTO user_mappings (cluster_id, grid_user, local_user) VALUES (1, 'root', 'no')"))
    written = put_everywhere(grid, word)
    assert "events.message" in written or not word
    as_user("root")
    capsys.readouterr()
    for main, asked in COMMANDS.items():
        for words in asked:
            status = main(words.split())
            told = capsys.readouterr()
            assert status in (0, 1), (words, told.err)
            assert "Traceback" not in told.err, words
            assert not STEERS.search(told.out + told.err), (words, told.out[:3000])
