"""`gridclusters` as a user meets it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.cli import gridclusters
from cigri.cli.clusters import widths
from cigri.database import Database, server_time
from cigri.drivers import Capacity
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.cluster_visits import put_failure
from cigri.flow.clusters import enable_cluster, find_cluster, put_cluster
from cigri.flow.drains import NodeDrainRequest, put_node_drain
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.front_end_stress import FrontEndRate, put_front_end_pace
from cigri.settings.sections import NodeSettings
from tests.cli.running import Run
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, set_time, submitted_jobs

COMMAND = gridclusters


@pytest.fixture
def clusters(database: Database) -> None:
    """One in each state; four jobs on the first."""
    with database.begin() as conn:
        dahu = a_cluster(conn, "dahu", free=4, used=6)
        a_cluster(conn, "full", free=0, used=8)
        a_cluster(conn, "off")
        enable_cluster(conn, "off", enabled=False)
        a_cluster(conn, "away")
        away = find_cluster(conn, "away")
        assert away is not None
        put_failure(conn, away, "CLUSTER_UNREACHABLE", "away: no route to host")
        options = {"token": "s3cret", "spool": "/x", "deep": [{"password": "s3cret"}]}
        ssh = {"host": "f.example.org", "key_file": "~/.ssh/id"}
        put_cluster(conn, "new", {"driver": "slurm", "transport": "ssh", "ssh": ssh, "options": options})
        run_jobs(conn, submitted_jobs(conn, a_campaign(conn, 4), dahu, 4)[:3])


@pytest.mark.noon
@pytest.mark.usefixtures("both_ways")
def test_clusters_are_listed_with_their_state(run: Run, clusters: None) -> None:
    why = "since 2026-03-01 12:00:00, tried again at 2026-03-01 12:00:05: away: no route to host"
    expected = f"""\
Id  Name  Driver  Host           State        Free  Total  Ours running  Ours waiting  Reason
1   dahu  local   this host      ok           4     10     3             1             -
2   full  local   this host      full         0     8      0             0             -
3   off   local   this host      disabled     10    10     0             0             by the operator
4   away  local   this host      unreachable  10    10     0             0             {why}
5   new   slurm   f.example.org  unknown      -     -      0             0             not visited yet
"""
    assert run() == (0, expected, "")
    assert run("off", 4, "-H").out.split()[:2] == ["3", "off"]
    states = [cluster["state"] for cluster in run("--json").json]
    assert states == ["ok", "full", "disabled", "unreachable", "unknown"]


@pytest.mark.noon
@pytest.mark.usefixtures("both_ways")
def test_no_secret_is_shown(run: Run, clusters: None) -> None:
    for argv in (("-i", "new"), ("--json", "new")):
        printed = run(*argv)
        assert "s3cret" not in printed.out
        assert "f.example.org" in printed.out
        assert "/x" in printed.out
    assert "Cores:    10: 0 unavailable, 6 used by others, 0 ours, 4 free\n" in run("-i", 1).out


@pytest.mark.noon
def test_bars_are_letters_in_a_pipe_and_colours_on_a_terminal(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        put_cluster_state(conn, cluster, Capacity(16, 8, 6, 2), 4)
    bar = "X" * 10 + "U" * 10 + "C" * 20 + "F" * 40
    assert run("-b").out.splitlines()[:2] == ["dahu (16 cores, ok)", bar]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    painted = run("-b").out.splitlines()[1]
    colours = ((41, 10), (43, 10), (47, 20), (42, 40))
    assert painted == "".join(f"\033[{colour}m{' ' * width}\033[0m" for colour, width in colours)


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(any))
def test_a_bar_is_always_as_wide(amounts: list[int]) -> None:
    found = widths(amounts, 80)
    assert sum(found) == 80
    assert all(abs(width - amount * 80 / sum(amounts)) < 1 for width, amount in zip(found, amounts, strict=True))


@pytest.mark.usefixtures("both_ways")
def test_usage_tells_the_past(run: Run, database: Database) -> None:
    with database.begin() as conn:
        now = server_time(conn)
        set_time(conn, NOON)
        cluster = a_cluster(conn)
        for hours, used in ((30, 1), (5, 2), (0.1, 3)):
            set_time(conn, now - timedelta(hours=hours))
            put_cluster_state(conn, cluster, Capacity(10, 10 - used, used, 0), 1)
    assert [row["used"] for row in run("-u", "--json").json] == [2, 3]
    assert [row["used"] for row in run("-u", "dahu", "--json", "--hours", 48).json] == [1, 2, 3]
    assert run("-u").out.splitlines()[0].split() == ["Cluster", "From", "Total", "Used", "Ours", "Free", "Unavailable"]
    with database.begin() as conn:
        set_time(conn, now - timedelta(hours=5, minutes=1))  # of the same hour
        put_cluster_state(conn, cluster, Capacity(10, 7, 3, 0), 1)
    assert [row["used"] for row in run("-u", "--json").json] == [2.5, 3]
    assert run("-u", "-H").out.splitlines()[0].split()[3:] == ["10", "2.5", "1", "7.5", "0"]
    nothing = run("-u", "--hours", "0.01")
    assert (nothing.status, nothing.out) == (0, "")
    assert "--hours" in nothing.err


def test_no_cluster_at_all_says_who_adds_one(run: Run) -> None:
    printed = run()
    assert (printed.status, printed.out) == (0, "")
    assert "cigri cluster add" in printed.err


@pytest.mark.noon
@pytest.mark.usefixtures("both_ways")
def test_an_unknown_cluster_is_a_failure_with_a_hint(run: Run, clusters: None) -> None:
    printed = run("dahu", "nowhere", "77")
    assert (printed.status, printed.out) == (1, "")
    assert "no cluster nowhere, 77; `gridclusters`" in printed.err


@pytest.mark.parametrize(
    "argv",
    [("--hours", "3"), ("-u", "--hours", "0"), ("-u", "--hours", "nan"), ("-b", "--json"), ("-i", "-H"), ("-i", "-u")],
)
def test_what_would_be_ignored_is_refused(run: Run, argv: tuple[str, ...]) -> None:
    assert run(*argv).status == 2


def test_a_cluster_tells_its_hours_and_whether_it_is_within_them(run: Run, database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "never")
        a_cluster(conn, "always", hours=["mon-sun"])
        now = server_time(conn)
        later = [f"{now + timedelta(hours=hour):%H:00}" for hour in (2, 3)]
        a_cluster(conn, "later", hours=["-".join(later)], timezone="UTC")
    assert "no hours are declared: jobs of type nightly do not run here" in run("-i", "never").out
    told = run("-i", "always").out
    assert "within its hours until further notice" in told
    assert "Hours:    mon-sun\n" in told
    told = run("-i", "later").out
    assert "outside its hours until" in told
    assert f"{later[0]}:00" in told


def test_sick_and_drained_nodes_are_named(run: Run, database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
    assert "sick" not in run("-i", "dahu").out
    with database.begin() as conn:
        put_exclusion(conn, cluster, "dahu", "dahu-3", "of 9 tasks 9 failed", NodeSettings())
        drain = NodeDrainRequest("dahu-7", NOON, "root")
        put_node_drain(conn, cluster, drain)
    (sick,) = (line for line in run("-i", "dahu").out.splitlines() if "sick" in line)
    (drained,) = (line for line in run("-i", "dahu").out.splitlines() if "Drained" in line)
    assert (sick.split()[-1], drained.split()[-1]) == ("dahu-3", "dahu-7")


@pytest.mark.noon
def test_a_cluster_under_stress_tells_its_figures(run: Run, database: Database) -> None:
    with database.begin() as conn:
        put_front_end_pace(conn, a_cluster(conn), FrontEndRate(0.25, 0.5, "it answers in 8.0 s, usually in 0.5 s"))
    told = "under stress, throttled to 25%: it answers in 8.0 s, usually in 0.5 s"
    assert told in run().out
    assert told in run("-i", "dahu").out
