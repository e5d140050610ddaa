"""What nightly and semi-best-effort jobs may do within and outside the hours; pure."""

from datetime import UTC, datetime, timedelta

import pytest

from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.job_types import has_to_leave, hours_of, is_besteffort, may_start, why_never_starts
from cigri.settings.operating_hours import OperatingHours, parse_hours
from cigri.settings.sections import HoursSettings

HOUR = 3600
DAY, EVENING, NIGHT = (datetime(2026, 3, 4, hour, tzinfo=UTC) for hour in (12, 21, 23))
TYPES = ("best-effort", "normal", "semi-best-effort", "nightly")


def nights(*texts: str) -> OperatingHours | None:
    return parse_hours(texts or ("20:00-06:00",), "UTC")


@pytest.mark.parametrize("overrun", [False, True])
def test_only_nightly_jobs_need_hours_to_start(overrun: bool) -> None:
    for type in TYPES[:3]:
        assert may_start(type, None, DAY, HOUR, overrun=overrun)
        assert may_start(type, nights(), DAY, HOUR, overrun=overrun)
    assert not may_start("nightly", None, NIGHT, HOUR, overrun=overrun)
    assert not may_start("nightly", nights(), DAY, HOUR, overrun=overrun)
    assert may_start("nightly", nights(), NIGHT, 7 * HOUR, overrun=overrun)
    assert may_start("nightly", nights(), NIGHT, 7 * HOUR + 1, overrun=overrun) is overrun


@pytest.mark.parametrize(
    ("type", "now", "walltime", "expected"),
    [
        ("normal", DAY, HOUR, False),
        ("best-effort", NIGHT, HOUR, True),
        ("nightly", NIGHT, HOUR, True),
        ("semi-best-effort", DAY, HOUR, True),
        ("semi-best-effort", NIGHT, 7 * HOUR, False),
        ("semi-best-effort", NIGHT, 7 * HOUR + 1, True),
    ],
)
def test_which_jobs_the_clusters_own_users_may_push_aside(
    type: str, now: datetime, walltime: int, expected: bool
) -> None:
    assert is_besteffort(type, nights(), now, walltime) is expected


def test_nobody_gets_a_normal_job_from_hours_that_were_never_declared() -> None:
    assert is_besteffort("semi-best-effort", None, NIGHT, HOUR)


def leaves(type: str, now: datetime, *, running: bool, walltime: int = HOUR, overrun: bool = False) -> bool:
    return has_to_leave(type, nights(), now, walltime, submitted_at=EVENING, is_running=running, overrun=overrun)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("type", TYPES[:2])
def test_other_jobs_never_leave(type: str, running: bool) -> None:
    assert not leaves(type, DAY, running=running)


def test_nightly_jobs_leave_at_the_end_and_the_queue_before() -> None:
    late = datetime(2026, 3, 5, 5, 30, tzinfo=UTC)
    assert not leaves("nightly", NIGHT, running=False)
    assert leaves("nightly", late, running=False)
    assert not leaves("nightly", late, running=False, overrun=True)
    assert not leaves("nightly", late, running=True)
    end = late + timedelta(minutes=30)
    for overrun in (False, True):
        assert leaves("nightly", end, running=True, overrun=overrun)
        assert leaves("nightly", end, running=False, overrun=overrun)
    assert has_to_leave("nightly", None, NIGHT, HOUR, submitted_at=NIGHT, is_running=True, overrun=True)


def test_a_semi_best_effort_job_leaves_the_queue_only_if_it_came_as_a_normal_one() -> None:
    late = datetime(2026, 3, 5, 5, 30, tzinfo=UTC)
    assert leaves("semi-best-effort", late, running=False)
    assert not leaves("semi-best-effort", late, running=True)
    assert not leaves("semi-best-effort", NIGHT, running=False)
    assert not leaves("semi-best-effort", late, running=False, walltime=10 * HOUR)  # it was a best-effort one


@pytest.mark.parametrize(
    ("type", "hours", "walltime", "overrun", "why"),
    [
        ("nightly", None, HOUR, False, "has declared no hours for jobs of type nightly; write 'best-effort'"),
        ("nightly", nights(), 10 * HOUR, False, ""),
        ("nightly", nights(), 10 * HOUR + 1, False, "never longer than 10 h,"),
        ("nightly", nights(), 11 * HOUR, True, ""),
        ("nightly", nights("mon-sun"), 1000 * HOUR, False, ""),
        ("semi-best-effort", None, HOUR, False, ""),
        ("best-effort", None, HOUR, False, ""),
    ],
)
def test_what_can_never_run_is_told(
    type: str, hours: OperatingHours | None, walltime: int, overrun: bool, why: str
) -> None:
    told = why_never_starts(type, hours, DAY, walltime, overrun=overrun)
    assert (why in told) if why else told == ""


def test_a_cluster_has_the_grids_hours_unless_it_has_its_own() -> None:
    grid = HoursSettings(windows=("20:00-06:00",), timezone="Europe/Paris")
    plain = ClusterConfig(driver="local")
    assert hours_of(plain, HoursSettings()) is None
    assert hours_of(plain, grid) == parse_hours(["20:00-06:00"], "Europe/Paris")
    assert hours_of(plain.model_copy(update={"timezone": "UTC"}), grid) == nights()
    assert hours_of(plain.model_copy(update={"hours": ("sat-sun",)}), grid) == parse_hours(["sat-sun"], "Europe/Paris")
    assert hours_of(plain.model_copy(update={"hours": ()}), grid) is None
