"""Stress of a front-end lowers the pace before it hurts, and it recovers: the figures, and what heeds them."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.ceilings import Ceilings
from cigri.flow.clusters import list_clusters
from cigri.flow.error_budgets import put_refusal
from cigri.flow.front_end_stress import (
    FrontEndRate,
    FrontEndSample,
    list_front_end_paces,
    put_front_end_pace,
    take_front_end_pace,
)
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.gateway.shell_rendering import parse_load
from cigri.settings.sections import BudgetSettings
from cigri.shell.results import ShellResult
from cigri.states import PendingReasonCode
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.remaining_capacity import RemainingCapacity
from modules.updator.stress import LOWEST, next_pace
from tests.factories import NOON, a_campaign, a_cluster, set_time, submitted_jobs

pytestmark = pytest.mark.noon

QUICK = FrontEndRate(1.0, 0.5)
CASES = {
    "the first answer is usual": (FrontEndRate(), FrontEndSample(9.0), FrontEndRate(1.0, 9.0)),
    "all is well": (QUICK, FrontEndSample(0.5, 2.0, 0, 30.0), FrontEndRate(1.0, 0.5)),
    "slow answers halve it": (QUICK, FrontEndSample(6.0, None, 0, 30.0), "it answers in 6.0 s, usually in 0.5 s"),
    "not so slow that it would matter": (QUICK, FrontEndSample(4.9, None, 0, 30.0), ""),
    "slow, as always there": (FrontEndRate(1.0, 3.0), FrontEndSample(11.9, None, 0, 30.0), ""),
    "slower than always": (
        FrontEndRate(1.0, 3.0),
        FrontEndSample(12.1, None, 0, 30.0),
        "it answers in 12.1 s, usually in 3.0 s",
    ),
    "a load": (QUICK, FrontEndSample(0.5, 10.1, 0, 30.0), "load per core 10.1 (limit 10)"),
    "refusals": (QUICK, FrontEndSample(0.5, None, 3, 30.0), "it refused jobs of 3 campaigns"),
    "one campaign refused": (QUICK, FrontEndSample(0.5, None, 1, 30.0), ""),
    "all of it": (
        QUICK,
        FrontEndSample(6.0, 11.0, 4, 30.0),
        "it answers in 6.0 s, usually in 0.5 s; load per core 11.0 (limit 10); it refused jobs of 4 campaigns",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_stress(case: str) -> None:
    before, seen, after = CASES[case]
    found = next_pace(before, seen, 10.0)
    if isinstance(after, FrontEndRate):
        assert found == after
    else:
        assert (found.pace, found.why) == (0.5 if after else 1.0, after)


def test_stress_halves_the_pace_in_half_a_minute_and_ten_minutes_heal_it() -> None:
    pace = QUICK
    for _ in range(6):
        pace = next_pace(pace, FrontEndSample(8.0, None, 0, 5.0), 10.0)
    assert pace.pace == pytest.approx(0.5, rel=0.01)
    for _ in range(100):
        pace = next_pace(pace, FrontEndSample(8.0, None, 0, 5.0), 10.0)
    assert pace.pace == LOWEST
    assert pace.usual is not None
    assert pace.usual < 2.0  # stress is not taken for what is usual
    why = pace.why
    pace = next_pace(
        pace, FrontEndSample(0.5, None, 0, 1000.0), 10.0
    )  # nobody looked for long: that counts as a minute
    assert pace.pace == pytest.approx(LOWEST + 0.1)
    assert pace.why == f"it recovers; the last sign was: {why}"
    for _ in range(9):
        pace = next_pace(pace, FrontEndSample(0.5, None, 0, 60.0), 10.0)
    assert (pace.pace, pace.why) == (1.0, "")


def test_a_load_that_is_borne_by_now_is_told_as_past() -> None:
    stressed = next_pace(QUICK, FrontEndSample(0.5, 5.0, 0, 30.0), 4.0)
    assert stressed.why == "load per core 5.0 (limit 4)"
    pace = stressed
    for _ in range(3):
        pace = next_pace(pace, FrontEndSample(0.5, 5.0, 0, 30.0), 10.0)
        assert pace.why == "it recovers; the last sign was: load per core 5.0 (limit 4)"
    assert next_pace(pace, FrontEndSample(0.5, 5.0, 0, 30.0), 4.5).why == "load per core 5.0 (limit 4.5)"


def test_what_is_usual_follows_quicker_answers_soon_and_slower_ones_in_hours() -> None:
    assert next_pace(FrontEndRate(1.0, 2.0), FrontEndSample(1.0, None, 0, 5.0), 10.0).usual == pytest.approx(1.8)
    assert next_pace(FrontEndRate(1.0, 2.0), FrontEndSample(3.0, None, 0, 60.0), 10.0).usual == pytest.approx(
        2.0 + 1 / 240
    )


def test_the_load_is_read_or_not_there() -> None:
    assert parse_load(ShellResult(0, "5.00 2\n", "")) == 2.5
    for out in ("", "busy", "1.0 0\n", "1,5 2\n"):
        assert parse_load(ShellResult(1, out, "")) is None


def test_refusals_are_told_once_and_counted_by_campaign(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        put_front_end_pace(conn, cluster, QUICK)
        for campaign in (a_campaign(conn, 1), a_campaign(conn, 1)):
            for _ in range(3):  # its batches of one pass
                put_refusal(conn, campaign, cluster, "dahu", "no", BudgetSettings())
        set_time(conn, NOON + timedelta(seconds=7))
        assert take_front_end_pace(conn, cluster) == (QUICK, 2, 7.0)
        set_time(conn, NOON)
        put_front_end_pace(conn, cluster, FrontEndRate(0.5, 0.5, "why"))
        assert take_front_end_pace(conn, cluster) == (FrontEndRate(0.5, 0.5, "why"), 0, 0.0)
        assert list_front_end_paces(conn)[cluster] == 0.5


def test_a_cluster_under_stress_is_visited_less_often(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, poll_interval=5)

        def is_due(after: float) -> bool:
            set_time(conn, NOON + timedelta(seconds=after))
            return bool(list_clusters(conn, "updator", due_only=True))

        assert (is_due(4), is_due(6)) == (False, True)
        put_front_end_pace(conn, cluster, FrontEndRate(0.1, 0.5, "why"))
        assert (is_due(49), is_due(51)) == (False, True)


@pytest.mark.parametrize(("written", "is_sound"), [("{}", True), ('{"poll_interval": "soon"}', False)])
def test_a_cluster_whose_interval_is_no_number_is_not_forgotten(
    database: Database, written: str, is_sound: bool
) -> None:
    """Others write rows, too: without one it is visited as usual, with a word there the operator is told."""
    with database.begin() as conn:
        other = a_cluster(conn, "other")
        a_cluster(conn, "well")
        conn.execute(
            text(
                "UPDATE clusters SET config = config - 'poll_interval' || CAST(:written AS jsonb), visited_at = :at"
                " WHERE id = :id"
            ),
            {"written": written, "at": NOON, "id": other},
        )
        set_time(conn, NOON + timedelta(seconds=6))
        due = [cluster.name for cluster in list_clusters(conn, "updator", due_only=True)]
        told = conn.execute(text("SELECT subject FROM events WHERE closed_at IS NULL")).all()
    assert due == (["other", "well"] if is_sound else ["well"])
    assert told == ([] if is_sound else [("cluster other in updator",)])


def test_it_is_offered_less_and_the_figures_are_told(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=50, max_waiting=100)
        campaign = a_campaign(conn, 200)
        submitted_jobs(conn, campaign, cluster, 5)
        put_front_end_pace(conn, cluster, FrontEndRate(0.1, 0.5, "it answers in 8.0 s, usually in 0.5 s"))
        stock = RemainingCapacity(
            list_schedulable_clusters(conn), list_cluster_demands(conn, 10, 3600.0), Ceilings({}, {}, {})
        )
        (want,) = stock.open_to(campaign, [cluster])
        assert stock.max_jobs(want) == 5  # ten may wait, and five do
        stock.allocate(want, 5)
        (cut,) = explain(stock)
        assert (cut.reason, cut.used, cut.most) == (PendingReasonCode.STRESS, 10, 10)
        assert cut.name == "it answers in 8.0 s, usually in 0.5 s"
