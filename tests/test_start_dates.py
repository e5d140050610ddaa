"""What batch systems are told of the date at which a task should start: each sentence of open-lmake's is a test."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from cigri.drivers import BatchRequest, load
from cigri.errors import ConfigError
from cigri.estimates.start_dates import FIRST_DAY, MOST_NICE, StartDate, nice, priority, read_origin

NOW = datetime(2025, 6, 1, 10, tzinfo=UTC)
HOUR, YEAR = timedelta(hours=1), timedelta(days=365)
DUE = StartDate(NOW + HOUR, NOW)
NICE, PRIORITY = "--nice", "-p"


def said(driver: str, option: str, due: StartDate | None, **options: object) -> list[str]:
    """The values of an option in what is said to the batch system."""
    words = load(driver, options).submit(BatchRequest("a", 3, 60, due=due)).replace("=", " ").split()
    return [after for word, after in pairwise(words) if word == option]


def test_a_nice_value_is_set_for_each_job_that_represents_this_priority() -> None:
    """The worked example: 2025-06-01 11:00 UTC, 882 days and 11 hours after the origin."""
    assert nice(DUE) == (882 * 24 + 11) * 3600 == 76_244_400
    assert said("slurm", NICE, DUE, use_nice=True) == ["76244400"]


def test_because_it_may_interfere_with_other_jobs_this_mechanism_is_optional() -> None:
    assert said("slurm", NICE, DUE) == []
    assert said("gridengine", PRIORITY, DUE) == []


def test_jobs_without_a_date_are_as_nice_as_others_jobs() -> None:
    assert said("slurm", NICE, None, use_nice=True) == []
    assert said("gridengine", PRIORITY, None, use_nice=True) == []


def test_time_origin_is_the_reference_point_and_nice_values_stay_in_their_range() -> None:
    assert said("slurm", NICE, DUE, use_nice=True, time_origin="2025-06-01 10:59") == ["60"]
    for seconds in (-1e9, -1.0, 0.0, 1.0, 2.0**31 - 1, 2.0**31, 1e11):
        assert 0 <= nice(StartDate(FIRST_DAY + timedelta(seconds=seconds), NOW)) <= MOST_NICE
    assert nice(StartDate(FIRST_DAY + timedelta(seconds=MOST_NICE + 1), NOW)) == MOST_NICE == 2_147_483_645


def test_dates_in_the_past_are_told_too_while_they_are_after_the_origin() -> None:
    assert nice(StartDate(NOW - HOUR, NOW)) == nice(DUE) - 7200
    assert nice(StartDate(FIRST_DAY - HOUR, NOW)) == 0


def test_the_default_origin_is_2023_01_01_00_00_00() -> None:
    assert read_origin("2023-01-01 00:00:00") == FIRST_DAY
    assert said("slurm", NICE, DUE, use_nice=True) == said(
        "slurm", NICE, DUE, use_nice=True, time_origin="2023-01-01 00:00:00"
    )


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("2024-02-29 12:30", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2024-02-29 12:30:15", datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)),
        ("2024-02-29 12:30 +02:00", datetime(2024, 2, 29, 10, 30, tzinfo=UTC)),
        ("2024-02-29 12:30-01:30", datetime(2024, 2, 29, 14, 0, tzinfo=UTC)),
        ("2024-02-29 12:30:15 +00:00", datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)),
        ("2024-02-29T12:30", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_the_date_is_given_in_the_format_yyyy_mm_dd_hh_mm_optionally_followed_by_a_time_zone(
    text: str, origin: datetime
) -> None:
    assert read_origin(text) == origin


@pytest.mark.parametrize("text", ["2024-02-30 00:00", "29.2.2024 10:00", "10:00", "", 1, None])
def test_no_other_format_is_a_date(text: object) -> None:
    with pytest.raises(ConfigError, match=r"options of driver slurm: time_origin: "):
        load("slurm", {"use_nice": True, "time_origin": text})


def test_nice_factor_is_the_value_that_nice_increases_each_second() -> None:
    later = StartDate(DUE.date + timedelta(seconds=10), NOW)
    for factor in (0.5, 1.0, 2.0):
        assert nice(later, FIRST_DAY, factor) - nice(DUE, FIRST_DAY, factor) == 10 * factor
    assert said("slurm", NICE, DUE, use_nice=True, nice_factor=0.25) == ["19061100"]


def test_the_default_factor_is_1() -> None:
    assert nice(DUE) == nice(DUE, FIRST_DAY, 1.0)
    assert said("slurm", NICE, DUE, use_nice=True) == said("slurm", NICE, DUE, use_nice=True, nice_factor=1.0)


def test_a_factor_that_is_too_high_makes_no_later_date_more_urgent() -> None:
    """open-lmake's values wrap; ours stay at the largest."""
    assert nice(StartDate(NOW + YEAR, NOW), FIRST_DAY, 1000.0) == nice(DUE, FIRST_DAY, 1000.0) == MOST_NICE


def test_with_a_factor_that_is_too_low_dates_near_each_other_are_the_same() -> None:
    later = StartDate(DUE.date + HOUR, NOW)
    assert nice(later, FIRST_DAY, 0.0001) == nice(DUE, FIRST_DAY, 0.0001)
    assert nice(later, FIRST_DAY) - nice(DUE, FIRST_DAY) == 3600


def test_grid_engine_is_told_the_same_order_in_what_it_takes_from_users() -> None:
    ahead = [timedelta(), HOUR / 60, HOUR / 2, HOUR, HOUR + HOUR / 30, 24 * HOUR, 25 * HOUR, 30 * 24 * HOUR, YEAR]
    told = [priority(StartDate(NOW + one, NOW)) for one in ahead]
    assert told[0] == 0
    assert told == sorted(set(told), reverse=True)
    assert priority(StartDate(NOW + 100 * YEAR, NOW)) == -1023
    assert priority(StartDate(NOW - YEAR, NOW)) == 0
    assert said("gridengine", PRIORITY, DUE, use_nice=True) == [str(priority(DUE))] == ["-285"]


@pytest.mark.parametrize(
    ("driver", "options", "told"),
    [
        ("slurm", {"use_nice": True, "nice": 5}, "leave out nice"),
        ("slurm", {"nice_factor": 2.0}, "time_origin and nice_factor go with use_nice = true"),
        ("slurm", {"use_nice": True, "nice_factor": 0.0}, "nice_factor: "),
        ("gridengine", {"use_nice": True, "priority": -5}, "leave out priority"),
    ],
)
def test_options_that_contradict_each_other_are_refused(driver: str, options: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load(driver, options)


def test_what_a_user_says_for_a_campaign_goes_before_its_date() -> None:
    request = BatchRequest("a", 3, 60, due=DUE, backend=("--priority=-7",))
    words = load("gridengine", {"use_nice": True}).submit(request).split()
    assert [after for word, after in pairwise(words) if word == "-p"] == ["-7"]
