"""The formulas of the draft by hand-made figures, values that cannot be believed, and the choice of victims."""

import random
from collections.abc import Mapping

import pytest

from cigri.wrapper.termination_cost import (
    KEYS,
    AssessedJob,
    JobStatusReport,
    KillCandidate,
    ParsedJobStatus,
    TerminationCost,
    assess,
    draining_waste,
    enough,
    kill_waste,
    least_waste_first,
    parse_status,
    remaining_time,
)

NOW = 1_700_000_000.0
WHOLE = {
    "used_CPU": "6",
    "last_job_start": str(int(NOW) - 600),
    "first_exp_job_end": str(int(NOW) + 1800),
    "last_exp_job_end": str(int(NOW) + 5400),
    "last_max_job_end": str(int(NOW) + 9000),
    "add_uncom_time": "5400",
    "add_final_exp_waste": "3600",
    "can_postpone_last_job": "False",
    "priority_factor": "-3",
}


def test_worked_case() -> None:
    """8 cores, 6 in use: draining wastes 2 * 1800 + 3600, killing 5400 + 6 * 600."""
    status, ignored = parse_status(WHOLE, 8)
    assert ignored == ()
    assert set(WHOLE) == set(KEYS)
    assert remaining_time(status, NOW) == 5400
    assert remaining_time(status, NOW, is_enforced=True) == 9000
    assert draining_waste(status, 8, NOW) == 7200
    assert kill_waste(status, NOW) == 9000
    assert (status.can_postpone_last_job, status.priority_factor) == (False, -3)


@pytest.mark.parametrize(
    ("changed", "draining", "killing"),
    [
        ({"used_CPU": "8"}, 3600, 5400 + 8 * 600),
        ({"used_CPU": "0"}, 8 * 1800 + 3600, 5400),
        ({"used_CPU": "7.5"}, 0.5 * 1800 + 3600, 5400 + 7.5 * 600),
        ({"first_exp_job_end": str(int(NOW) - 60)}, 3600, 9000),
        ({"last_job_start": str(int(NOW) + 60)}, 7200, 5400),
        ({"add_uncom_time": "0", "add_final_exp_waste": "0"}, 3600, 3600),
        ({"add_uncom_time": "junk"}, 7200, None),
        ({"add_final_exp_waste": ""}, None, 9000),
        ({"first_exp_job_end": "http://site/value"}, None, 9000),
        ({"last_job_start": "nan"}, 7200, None),
        ({"used_CPU": "9"}, None, None),
    ],
)
def test_formulas(changed: Mapping[str, str], draining: float | None, killing: float | None) -> None:
    status = parse_status({**WHOLE, **changed}, 8).status
    assert draining_waste(status, 8, NOW) == draining
    assert kill_waste(status, NOW) == killing


@pytest.mark.parametrize("missing", KEYS)
def test_missing_value_is_unknown_and_never_0(missing: str) -> None:
    status, ignored = parse_status({key: text for key, text in WHOLE.items() if key != missing}, 8)
    assert ignored == ()
    assert getattr(status, missing.lower()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "nan",
        "inf",
        "-inf",
        "-1",
        "1e13",
        "9" * 30,
        "1_000",
        "0x10",
        "\u0661",
        "http://site/used",
        "/etc/passwd",
        "1 2",
        "True",
        "1e400",
        "\0",
        "4\n5",
    ],
)
def test_junk_is_ignored_with_a_reason(text: str) -> None:
    status, [reason] = parse_status({"used_CPU": text, "add_uncom_time": "7"}, 8)
    assert status == JobStatusReport(add_uncom_time=7)
    assert reason.startswith("used_CPU: ")


@pytest.mark.parametrize("text", ["5400", "5400.0", "5.4e3", " 5400 ", "+5400"])
def test_numbers_may_be_written_in_several_ways(text: str) -> None:
    assert parse_status({"add_uncom_time": text}, 8) == ParsedJobStatus(JobStatusReport(add_uncom_time=5400), ())


def test_words_are_those_of_the_draft() -> None:
    assert parse_status({"can_postpone_last_job": "True"}, 1).status.can_postpone_last_job is True
    assert parse_status({"can_postpone_last_job": "yes"}, 1).ignored == (
        "can_postpone_last_job: 'yes' is neither True nor False",
    )
    assert parse_status({"used_cpus": "1"}, 1) == ParsedJobStatus(
        JobStatusReport(), ("used_cpus: no key of JOBSTATUS",)
    )


def test_more_cores_than_it_has_and_nothing_is_believed() -> None:
    status, [reason] = parse_status({**WHOLE, "used_CPU": "8.5"}, 8)
    assert status == JobStatusReport()
    assert reason == "used_CPU: 8.5 of 8 cores: nothing of it is believed"


def test_nobody_who_writes_junk_breaks_anything() -> None:
    chance = random.Random(1)
    letters = "0123456789.eE+-naif \t\0xTrueFalse:/"
    for _ in range(2000):
        values = {key: "".join(chance.choices(letters, k=chance.randrange(12))) for key in KEYS}
        status, ignored = parse_status(values, 8)
        assert len(ignored) + sum(value is not None for value in status) == len(KEYS) or status == JobStatusReport()
        for figure in (draining_waste(status, 8, NOW), kill_waste(status, NOW), remaining_time(status, NOW)):
            assert figure is None or 0 <= figure < 1e26


def test_figures_of_a_silent_job_are_the_grids() -> None:
    job = AssessedJob(1, "ann", 4, (NOW - 100,), 300.0, NOW + 3000)
    assert assess(job, JobStatusReport(), NOW) == TerminationCost(200, 3000, 0, 400, None, False)
    assert assess(job._replace(estimate=None), JobStatusReport(), NOW) == TerminationCost(
        None, 3000, None, 400, None, False
    )
    assert assess(job._replace(begun=(), limit=None), JobStatusReport(), NOW) == TerminationCost(
        None, None, None, None, None, False
    )


def test_figures_of_a_silent_job_are_those_of_all_its_tasks_side_by_side() -> None:
    """Two of three workers run, with 4 cores each, since 100 s and since 30 s; the third one idles."""
    job = AssessedJob(1, "ann", 12, (NOW - 100, NOW - 30), 300.0, NOW + 3000, 3)
    draining = 4 * 200 + 12 * 70 - 4 * 70
    assert assess(job, JobStatusReport(), NOW) == TerminationCost(270, 3000, draining, 4 * 100 + 4 * 30, None, False)
    assert assess(job._replace(estimate=None), JobStatusReport(), NOW) == TerminationCost(
        None, 3000, None, 520, None, False
    )


def test_figures_of_a_pilot_are_its_own_where_it_gives_them() -> None:
    job = AssessedJob(1, "ann", 8, (NOW - 100,), 300.0, NOW + 3000)
    status = parse_status(WHOLE, 8).status
    assert assess(job, status, NOW) == TerminationCost(5400, 9000, 7200, 9000, -3, True)
    assert assess(job, status._replace(add_uncom_time=None), NOW).kill_waste == 800


def _victim(
    job_id: int,
    waste: float | None,
    user: str = "ann",
    cores: int = 1,
    priority: float | None = None,
    start: float = 0.0,
) -> KillCandidate:
    return KillCandidate(
        AssessedJob(job_id, user, cores, () if start is None else (start,), None, None),
        TerminationCost(None, None, None, waste, priority, priority is not None),
    )


def _order(*victims: KillCandidate) -> list[int]:
    return [victim.job.job_id for victim in least_waste_first(victims)]


def test_least_waste_for_a_core_goes_first_and_unknown_last() -> None:
    assert _order(_victim(1, None), _victim(2, 50), _victim(3, 90, cores=3), _victim(4, 10)) == [4, 3, 2, 1]


def test_youngest_goes_first_among_equals() -> None:
    assert _order(_victim(1, 5, start=10), _victim(2, 5, start=20), _victim(3, 5, start=20)) == [2, 3, 1]


def test_priority_counts_among_jobs_of_one_user_only() -> None:
    mine = (_victim(1, 10, priority=9), _victim(2, 30, priority=1), _victim(3, 20))
    theirs = (_victim(4, 15, "bob", priority=99), _victim(5, 25, "bob", priority=98))
    assert _order(*mine) == [3, 2, 1]
    assert _order(*mine, *theirs) == [3, 5, 2, 4, 1]


def test_order_is_always_a_permutation_that_hits_users_by_waste() -> None:
    chance = random.Random(2)
    for _ in range(300):
        victims = [
            _victim(
                i,
                chance.choice([None, *range(5)]),
                chance.choice("abc"),
                chance.randint(1, 4),
                chance.choice([None, 1, 2]),
            )
            for i in range(chance.randrange(12))
        ]
        ordered = least_waste_first(victims)
        assert sorted(victim.job.job_id for victim in ordered) == list(range(len(victims)))
        plain = [victim._replace(figures=victim.figures._replace(priority=None)) for victim in victims]
        assert [v.job.user for v in ordered] == [v.job.user for v in least_waste_first(plain)]
        for user in "abc":
            ranks = [v.figures.priority or 0 for v in ordered if v.job.user == user]
            assert ranks == sorted(ranks)


def test_no_more_are_taken_than_needed() -> None:
    victims = [_victim(1, 1, cores=2), _victim(2, 2, cores=4), _victim(3, 3, cores=1)]
    taken = {cores: [victim.job.job_id for victim in enough(victims, cores)] for cores in (0, 1, 2, 3, 6, 7, 99)}
    assert taken == {0: [], 1: [1], 2: [1], 3: [1, 2], 6: [1, 2], 7: [1, 2, 3], 99: [1, 2, 3]}
