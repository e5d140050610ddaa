"""The pages of clusters: charts that break where nobody looked, nodes as squares, and what is wrong."""

import re
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import delete, insert, select, text

from cigri.api_models.clusters import ClusterUsagePeriod, ClusterView, NodeClassView, QueueProperties
from cigri.endpoints.clusters import A_DAY
from cigri.flow.events import NewEvent, put_events
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.module_passes import HOLD_LIFE
from cigri.flow.remote_command_counts import RemoteCommandCosts, put_commands, put_sessions
from cigri.settings.sections import NodeSettings
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster, ClusterUsage
from modules.portal.pages.clusters import MOST_SQUARES, NodeSquares, squares_of
from modules.portal.rendering.stacked_chart import ChartBand, StackedChart, cores_of, stack
from modules.portal.rendering.usage_chart import cluster_chart
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, submitted_jobs
from tests.portal.browser import Browser
from tests.portal.conftest import Served

QUARTER = timedelta(minutes=15)
DAHU = ClusterView(
    id=1,
    name="dahu",
    config={},
    is_enabled=True,
    paused_until=None,
    visited_at=None,
    total=None,
    free=None,
    used=None,
    used_by_us=None,
    unavailable=None,
    waiting=0,
    running=0,
    away_since=None,
    why=None,
    drained_by=None,
    sick_nodes=[],
    drained_nodes=[],
    pace=1.0,
    stress="",
)


def use(hours: float, ours: int, others: int, down: int, free: int) -> ClusterUsagePeriod:
    """So many hours after the chart begins."""
    at = NOON - A_DAY + timedelta(hours=hours)
    return ClusterUsagePeriod("dahu", at, ours + others + down + free, free, ours + others, ours, down)


def queue(*nodes: int | None) -> QueueProperties:
    return QueueProperties("dahu", "", "", "", None, None, "", [NodeClassView(number, {}) for number in nodes])


def test_kinds_of_cores_stand_on_each_other() -> None:
    told = stack([use(0, 25, 25, 0, 50), use(0.25, 50, 0, 0, 50)], NOON, A_DAY, QUARTER)
    assert told == StackedChart(
        [
            ChartBand("ours", "M0 75V75H10V50H20V100H10V100H0z"),
            ChartBand("others", "M0 50V50H10V50H20V50H10V75H0z"),
            ChartBand("down", ""),
            ChartBand("free", "M0 0V0H10V0H20V50H10V50H0z"),
        ],
        100,
    )


def test_a_time_in_which_nobody_looked_stays_empty() -> None:
    told = stack([use(0, 0, 0, 0, 4), use(12, 0, 0, 0, 4)], NOON, A_DAY, QUARTER)
    assert told is not None
    assert told.bands[3] == ChartBand("free", "M0 0V0H10V100H0zM480 0V0H490V100H480z")


def test_what_reaches_out_of_the_day_is_cut() -> None:
    told = stack([use(-0.1, 0, 0, 0, 4), use(23.9, 0, 0, 0, 4)], NOON, A_DAY, QUARTER)
    assert told is not None
    assert told.bands[3].path == "M0 0V0H6V100H0zM956 0V0H960V100H956z"


@pytest.mark.parametrize("usage", [[], [use(0, 0, 0, 0, 0)]])
def test_of_no_cores_nothing_is_drawn(usage: list[ClusterUsagePeriod]) -> None:
    assert stack(usage, NOON, A_DAY, QUARTER) is None


def test_a_cluster_is_told_while_somebody_looked() -> None:
    usage = [use(2, 1, 2, 3, 4), use(2.25, 2, 2, 2, 4), use(20, 0, 0, 0, 10), use(23.9, 4, 3, 2, 1)]
    told = cluster_chart("dahu", usage, NOON, QUARTER)
    assert told is not None
    assert [((row.at - NOON + A_DAY) / timedelta(hours=1), *row.values) for row in told.rows] == [
        (2, 1, 2, 3, 4),
        (2.25, 2, 2, 2, 4),
        (2.5, None, None, None, None),
        (20, 0, 0, 0, 10),
        (20.25, None, None, None, None),
        (23.9, 4, 3, 2, 1),
        (24, None, None, None, None),
    ]
    assert [series.name for series in told.series] == ["ours", "others'", "down", "free"]


@pytest.mark.parametrize("usage", [[], [use(0, 0, 0, 0, 0)]])
def test_of_a_cluster_without_cores_there_is_no_chart(usage: list[ClusterUsagePeriod]) -> None:
    assert cluster_chart("dahu", usage, NOON, QUARTER) is None


def test_more_of_ours_than_is_in_use_is_none_of_others() -> None:
    assert cores_of(ClusterUsagePeriod("dahu", NOON, 4, 1, 2, 3, 0)) == (3, 0, 0, 1)


def test_nodes_are_counted_once_and_those_with_a_name_first() -> None:
    sick = DAHU._replace(sick_nodes=["n1"], drained_nodes=["n1", "n2"])
    told = squares_of(sick, [queue(2, 3), queue(4), queue(None)])
    assert told == NodeSquares({"sick": ["n1"], "draining": ["n2"]}, 3, 1)
    assert told.drawn == ["sick", "draining", "", "", ""]


def test_of_very_many_nodes_a_square_is_several() -> None:
    told = squares_of(DAHU._replace(sick_nodes=["n1"]), [queue(MOST_SQUARES * 3)])
    assert (told.each, told.others, len(told.drawn)) == (3, MOST_SQUARES * 3 - 1, MOST_SQUARES + 1)


def test_of_unknown_nodes_only_the_named_ones_are_drawn() -> None:
    assert squares_of(DAHU._replace(drained_nodes=["n1"]), [queue(None)]).drawn == ["draining"]
    assert squares_of(DAHU, []).drawn == []


def seen(web: Served, minutes: int, ours: int) -> None:
    with web.database.begin() as conn:
        (cluster,) = conn.scalars(select(Cluster.c.id).where(Cluster.c.name == "dahu"))
        cores = {"total": 10, "free": 10 - ours, "used": ours, "used_by_us": ours, "unavailable": 0}
        at = text(f"now() - interval '{minutes} min'")
        conn.execute(insert(ClusterUsage).values(cluster_id=cluster, at=at, **cores))


def test_the_list_tells_how_clusters_are_and_were(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        conn.execute(delete(ClusterUsage))
        conn.execute(text("UPDATE cluster_states SET total = 10, free = 3, used = 6, used_by_us = 4, unavailable = 1"))
        put_events(conn, [NewEvent("CLUSTER_AWAY", EventLevel.WARNING, "cluster dahu", "no route", cluster_id=1)])
    assert "not visited yet" in browser.get("/clusters").words
    seen(web, 65, 4)
    told = browser.get("/clusters")
    assert "4 ours, 2 others', 1 down, 3 free" in told.words
    assert 'aria-label="cores of dahu over 24 hours, at most 10"' in told.text
    assert '<a href="/clusters/dahu">dahu</a>' in told.text


def test_the_page_of_a_cluster_tells_what_is_wrong(browser: Browser, web: Served) -> None:
    with web.database.begin() as conn:
        (cluster,) = conn.scalars(select(Cluster.c.id).where(Cluster.c.name == "dahu"))
        put_events(conn, [NewEvent("CLUSTER_AWAY", EventLevel.ERROR, "cluster dahu", "no <route>", cluster_id=cluster)])
        put_events(conn, [NewEvent("CLUSTER_AWAY", EventLevel.ERROR, "cluster other", "not ours")])
        put_exclusion(conn, cluster, "dahu", "dahu-<7>", "it is sick", NodeSettings())
    seen(web, 65, 4)
    told = browser.get("/clusters/dahu")
    assert told.status == 200
    assert "CLUSTER_AWAY" in told.words
    assert "no &lt;route&gt;" in told.text
    assert "not ours" not in told.text
    assert '<figure class="chart" id="chart-day" aria-label="Cores of dahu over time" data-chart="stack"' in told.text
    assert "UTC 4 0 0 6 " in told.words
    assert '<path class="sick" d="M0.1 0.1h.8v.8h-.8zm.1.1l.6.6m0-.6l-.6.6"/>' in told.text
    assert "sick: dahu-&lt;7&gt;" in told.text


def test_a_cluster_that_is_none_is_told(browser: Browser) -> None:
    told = browser.get("/clusters/nowhere")
    assert (told.status, "no cluster nowhere" in told.words) == (404, True)


@pytest.mark.parametrize("path", ["/campaigns/1", "/usage"])
def test_clusters_on_other_pages_lead_there(path: str, browser: Browser) -> None:
    assert '<a href="/clusters/dahu">dahu</a>' in browser.get(path).text


def test_open_sessions_are_told_while_an_almighty_lives(browser: Browser, web: Served, database_url: str) -> None:
    with web.database.begin() as conn:
        put_commands(conn, "campaign_schedulers", {"dahu": RemoteCommandCosts(1, 0.5)})
        put_sessions(conn, "campaign_schedulers", {"dahu": 2})
    assert "SSH sessions none is kept open" in browser.get("/clusters/dahu").words
    with psycopg.connect(database_url, autocommit=True) as almighty:
        almighty.execute(HOLD_LIFE)
        assert "SSH sessions campaign schedulers 2" in browser.get("/clusters/dahu").words


@pytest.mark.noon
def test_the_page_lists_the_jobs_of_a_cluster_in_parts(
    web: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What batch systems call them is text, whatever it is."""
    monkeypatch.setattr("modules.portal.pages.clusters.SHOWN_JOBS", 2)
    with web.database.begin() as conn:
        cluster = a_cluster(conn, "zeus")
        jobs = submitted_jobs(conn, a_campaign(conn, 5, user="nobody", clusters=["zeus"]), cluster, 5)
        run_jobs(conn, jobs[:1], node="<b>n1</b>")
    first = browser.get("/clusters/zeus")
    assert ("&lt;b&gt;n1" in first.text, "<b>n1" in first.text) == (True, False)
    assert _jobs(first.text) == jobs[:2]
    assert f'href="/clusters/zeus?jobs_after={jobs[1]}#jobs"' in first.text
    last = browser.get(f"/clusters/zeus?jobs_after={jobs[3]}")
    assert (_jobs(last.text), "Next jobs" in last.text, "First jobs" in last.text) == (jobs[4:], False, True)
    assert "There is none behind job" in browser.get(f"/clusters/zeus?jobs_after={jobs[4]}").text


def _jobs(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<td data-label="job">(\d+)</td>', page)]
