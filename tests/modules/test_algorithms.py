"""What each algorithm predicts: published formulas with numbers worked by hand, and what holds for all of them."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cigri.errors import CigriError, ConfigError
from cigri.jdl import ClusterSettings, parse
from cigri.settings.algorithms import names
from cigri.settings.cluster_config import parse_config
from cigri.settings.sections import Settings
from modules.predictor.algorithms import MOST_JOBS, AlgorithmInputs, Prediction, lean, load, model_free, pi

ALL = {
    *("simple", "slow-start", "two-way-adaptive", "adaptive-down-exponential-up"),
    *("tap", "pi", "model-free", "lean"),
}
counts = st.integers(0, 10_000)
seconds = st.floats(0.001, 1e7)
flows = st.builds(
    AlgorithmInputs,
    width=st.integers(1, 512),
    running=counts,
    waiting=counts,
    submitted=counts,
    ratio=st.none() | st.floats(1e-6, MOST_JOBS),
    free_before=st.none() | counts,
    total=counts,
    free=counts,
    keep_waiting=st.integers(0, 500),
    max_waiting=st.integers(1, 500),
    cycle=st.floats(0.1, 600),
    visit_interval=st.floats(0, 600),
    sending=st.floats(0, 600),
    mean=st.none() | seconds,
    deviation=st.none() | seconds,
    walltime=st.floats(1, 1e7),
    start_rate=st.none() | st.floats(0, 1000),
    queue_delay=st.none() | st.floats(0, 1e5),
    arrivals=st.floats(0, 1e4),
    releases=st.floats(0, 1e4),
    hazard=st.floats(0, 1e3),
    ending=st.none() | st.floats(0, 1e6),
    ending_deviation=st.floats(0, 1e5),
)


def test_each_algorithm_is_named_as_its_file() -> None:
    assert set(names()) == ALL


@pytest.mark.parametrize("name", ["magic", "slow_start", "", "__init__"])
def test_an_unknown_algorithm_is_refused_where_it_is_chosen(name: str) -> None:
    with pytest.raises(ValidationError, match="there are: adaptive-down"):
        Settings.model_validate({"forecast": {"algorithm": name}})
    for check in (lambda: parse_config("dahu", {"driver": "local", "algorithm": name}), lambda: described(name)):
        if name:
            with pytest.raises(CigriError, match="there are: adaptive-down"):
                check()
        else:
            check()


def described(algorithm: str) -> ClusterSettings:
    content = {"name": "n", "nb_jobs": 1, "clusters": {"c": {"exec_file": "e", "algorithm": algorithm}}}
    return parse(json.dumps(content), base=Path(), home=Path()).clusters["c"]


def test_a_campaign_has_an_algorithm_of_its_own() -> None:
    assert described("tap").algorithm == "tap"


@pytest.mark.parametrize("name", ["magic", "slow_start", "", "__init__"])
def test_an_unknown_algorithm_is_a_wrong_setting(name: str) -> None:
    with pytest.raises(ConfigError, match="there are: adaptive-down"):
        load(name)


@pytest.mark.parametrize("name", sorted(ALL))
@given(flow=flows, later=flows)
def test_predictions_are_sane_whatever_comes(name: str, flow: AlgorithmInputs, later: AlgorithmInputs) -> None:
    """Two in a row, the second with the memory of the first."""
    predict = load(name)
    first = predict(flow)
    for one, seen in ((first, flow), (predict(later._replace(memory=first.memory, ratio=first.ratio)), later)):
        assert 0 < one.ratio <= MOST_JOBS
        assert one.keep is None or 0 <= one.keep <= seen.max_waiting
        assert one.send is None or 0 <= one.send <= max(seen.max_waiting, 100)
        assert all(math.isfinite(value) for value in one.memory.values())


def test_the_simple_ratio_is_one_job_per_width() -> None:
    assert load("simple")(AlgorithmInputs(width=8, running=3, waiting=99)) == Prediction(0.125)


def ratio(name: str, **known: float | None) -> float:
    """On 100 cores of which 40 were free, with jobs of 2 cores, of which 10 may wait."""
    values = {"width": 2, "total": 100, "free_before": 40, "keep_waiting": 10, "ratio": 0.5, **known}
    return load(name)(AlgorithmInputs(**values)).ratio  # type: ignore[arg-type]  # values of a table


def test_slow_start_doubles_and_falls_to_one_job() -> None:
    assert ratio("slow-start", ratio=None) == 0.01
    assert ratio("slow-start", waiting=10) == 1.0
    assert ratio("slow-start", waiting=11) == 0.01


def test_two_way_adaptive_follows_what_runs_and_what_waits() -> None:
    """20 jobs were sent: JR = 1 / (25 / 20), JR = 1 / (16 / 20), JR = (20 - (15 - 10)) / 20."""
    assert ratio("two-way-adaptive", running=25) == 0.8
    assert ratio("two-way-adaptive", running=16) == 1.25
    assert ratio("two-way-adaptive", running=16, waiting=15) == 0.75


def test_two_way_adaptive_keeps_its_ratio_when_nothing_was_sent() -> None:
    assert ratio("two-way-adaptive", ratio=None) == 0.5
    assert ratio("two-way-adaptive", ratio=0.3, free_before=0, waiting=50) == 0.3
    assert ratio("two-way-adaptive", ratio=0.3, running=0) == 0.3


def test_a_decrease_leaves_one_job_on_the_cluster() -> None:
    """20 sent, 30 too many wait: (20 - 30) / 20 is no ratio."""
    assert ratio("two-way-adaptive", waiting=40) == 0.01
    assert ratio("adaptive-down-exponential-up", waiting=40) == 0.01


def test_adaptive_down_exponential_up() -> None:
    assert ratio("adaptive-down-exponential-up", waiting=10, running=3) == 1.0
    assert ratio("adaptive-down-exponential-up", waiting=15, running=3) == 0.75


def run(name: str, flows: list[AlgorithmInputs]) -> list[Prediction]:
    """One prediction after the other, each with the memory of the last, told to have sent what was predicted."""
    told: list[Prediction] = []
    for flow in flows:
        last = told[-1] if told else Prediction(1.0, send=0)
        told.append(load(name)(flow._replace(memory=last.memory, submitted=last.send or 0)))
    return told


def test_the_tap_opens_by_half_again() -> None:
    sends = [one.send for one in run("tap", [AlgorithmInputs(1)] * 12)]
    assert sends == [3, 4, 6, 9, 13, 19, 28, 42, 63, 94, 100, 100]


def test_the_tap_does_not_open_further_when_less_was_sent() -> None:
    """As many as allowed, or nearly: 9 < 6 * 1.5 + 1, but not < 5 * 1.5 + 1."""
    memory = {"rate": 9.0}
    assert load("tap")(AlgorithmInputs(1, submitted=6, memory=memory)).send == 13
    assert load("tap")(AlgorithmInputs(1, submitted=5, memory=memory)).send == 9


def test_the_tap_is_closed_while_jobs_wait_and_lower_after_its_grace() -> None:
    flows = (
        [AlgorithmInputs(1)] * 5 + [AlgorithmInputs(1, waiting=1, cycle=30)] * 5 + [AlgorithmInputs(1, cycle=30)] * 2
    )
    told = run("tap", flows)[4:]
    assert [one.send for one in told] == [13, 0, 0, 0, 0, 0, 3, 4]
    assert [one.memory["rate"] for one in told] == [13, 19, 19, 12, 8, 5, 3, 4]


def test_the_gains_of_the_pi_controller() -> None:
    """r = e^-0.4 = 0.6703, theta = 0.4195: Kp = 1 - 0.4493, Ki = 0.4493 - 2 * 0.6703 * 0.9133 + 1."""
    assert pytest.approx(0.5507, abs=1e-4) == pi.KP
    assert pytest.approx(0.2250, abs=1e-4) == pi.KI


def test_the_pi_controller_sends_what_is_missing() -> None:
    """e = 10 - 4 = 6, sum 6: 0.5507 * 6 + 0.2250 * 6 = 4.65; then e = 2, sum 8: 2.9."""
    first = load("pi")(AlgorithmInputs(1, waiting=4))
    assert (first.send, first.memory) == (5, {"sum": 6})
    assert load("pi")(AlgorithmInputs(1, waiting=8, memory=first.memory)).send == 3


def test_the_pi_controller_does_not_wind_up() -> None:
    told = run("pi", [AlgorithmInputs(1, waiting=200)] * 50 + [AlgorithmInputs(1, waiting=0)])
    assert told[49].send == 0
    assert told[50].send == 8


def queue(name: str, starts: int, cycles: int = 60) -> list[int]:
    """The waiting jobs of a cluster that starts so many per cycle."""
    waiting, seen = 0, []
    told = Prediction(1.0, send=0)
    for _ in range(cycles):
        told = load(name)(AlgorithmInputs(1, waiting=waiting, submitted=told.send or 0, memory=told.memory))
        waiting = max(waiting + (told.send or 0) - starts, 0)
        seen.append(waiting)
    return seen


@pytest.mark.parametrize("name", ["pi", "model-free"])
@pytest.mark.parametrize("starts", [1, 3, 20])
def test_a_controller_brings_the_queue_to_its_reference(name: str, starts: int) -> None:
    seen = queue(name, starts)
    reference = {"pi": pi.REFERENCE, "model-free": model_free.REFERENCE_WAITING}[name]
    assert all(abs(waiting - reference) <= 2 for waiting in seen[40:]), seen


def test_model_free_control_cancels_what_it_cannot_know() -> None:
    """10 waited, 4 were sent, 6 wait: F = -8 a cycle, e = -4: u = 8 + 0.5 * 4 + 0.05 * 4 = 10.2."""
    told = load("model-free")(AlgorithmInputs(1, waiting=6, submitted=4, memory={"waiting": 10.0}))
    assert (told.send, told.memory) == (10, {"waiting": 6.0, "sum": -4.0})


BUSY = AlgorithmInputs(1, running=100, waiting=4, total=100, mean=600.0, start_rate=2.0, queue_delay=5.0, ending=2.5)


def keep(**known: object) -> int:
    found = lean.predict(BUSY._replace(**known))  # type: ignore[arg-type]  # values of a table
    assert found.keep is not None
    return found.keep


def test_lean_keeps_what_can_start_and_a_margin() -> None:
    assert keep() == 3
    assert keep(ending_deviation=1.0) == 6
    assert keep(ending=0.0) == 0
    assert keep(ending=500.0, start_rate=None, max_waiting=150) == 150


def test_lean_counts_what_others_give_back() -> None:
    """In 15 s 0.5 cores a second are 7.5; what they take shows in jobs that do not start, and costs nothing before."""
    assert keep(releases=0.5) == 12
    assert keep(releases=0.5, arrivals=0.5) == 3
    assert keep(arrivals=0.5) == 3


def test_lean_expects_a_burst_to_go_as_it_came() -> None:
    """29 cores were taken at once; others have 50 now, or only 5 of them."""
    assert keep(largest_load_change=29, others=50) == 32
    assert keep(largest_load_change=29, others=5) == 8
    assert keep(largest_load_change=29) == 3


def test_lean_does_not_expect_two_surprises_at_once() -> None:
    """Two deviations of 12 and a burst of 32 are 40, not 56."""
    assert keep(ending=0.0, ending_deviation=12.0) == 32
    assert keep(ending=0.0, ending_deviation=0.0, largest_load_change=32, others=50) == 32
    assert keep(ending=0.0, ending_deviation=12.0, largest_load_change=32, others=50) == 46


def test_lean_knows_the_width() -> None:
    assert keep(ending=10.0, width=8) == 2
    assert lean.predict(BUSY._replace(width=8)).ratio == 0.125


def test_lean_keeps_no_more_than_the_cluster_can_start() -> None:
    """Twice 0.1 a second for 15 s, and one."""
    assert keep(ending=100.0, start_rate=0.1) == 4


def test_lean_knows_that_short_jobs_follow_each_other_on_a_free_core() -> None:
    """Jobs of 3 s: five in 15 s on each of 4 free cores, one of which the free core itself is given."""
    assert keep(mean=3.0, ending=0.0, free=4) == 16
    assert keep(mean=30.0, ending=0.0, free=4) == 0


def test_lean_keeps_what_the_operator_says_or_as_much_as_runs_while_nothing_has_ended() -> None:
    assert lean.predict(AlgorithmInputs(1, free=9)).keep is None
    assert keep(mean=None, ending=100.0, keep_waiting=7, others=95) == 7
    assert keep(mean=None, ending=100.0, keep_waiting=7, others=60) == 40
    assert keep(mean=None, ending=3.0, keep_waiting=7, others=60) == 4


def test_lean_reckons_with_the_next_look_at_the_cluster() -> None:
    """Twice 0.1 a second until jobs start that are sent after it, and one."""
    assert keep(ending=100.0, start_rate=0.1, visit_interval=60.0) == 16


def test_lean_reckons_with_the_time_to_send_a_job() -> None:
    """Twice 0.1 a second in 15 s and 30 more, and one."""
    assert keep(ending=100.0, start_rate=0.1, sending=30.0) == 12


def test_lean_learns_nothing_from_a_cluster_that_was_not_looked_at_since() -> None:
    first = lean.predict(BUSY._replace(ending=20.0, waiting=20))
    again = BUSY._replace(ending=20.0, waiting=22, submitted=2, memory=first.memory)
    unseen = lean.predict(again._replace(is_fresh=False))
    assert unseen.keep == 23
    assert unseen.memory == {**first.memory, "waiting": 22.0}
    assert lean.predict(again).keep == 2


def test_lean_falls_in_one_cycle_when_waiting_jobs_do_not_start() -> None:
    first = lean.predict(BUSY._replace(ending=20.0, waiting=20))
    stuck = BUSY._replace(ending=20.0, waiting=20, memory=first.memory)
    assert first.keep == 23
    assert lean.predict(stuck).keep == 2
    moving = stuck._replace(submitted=14)
    assert lean.predict(moving).keep == 23


def test_lean_recovers_when_jobs_start_again() -> None:
    memory = {"expected": 14.0, "started": 0.0, "waiting": 2.0, "due": 13.0}
    assert keep(ending=20.0, memory=memory) <= 4
    assert keep(ending=20.0, waiting=0, submitted=12, memory=memory) == 23


def test_lean_sends_a_single_job_where_nearly_all_are_killed() -> None:
    """x kills in a job's life: x / (e^x - 1) of its time is of use; 3.16 % at x = 5."""
    assert lean.useful(BUSY) == 1.0
    assert lean.useful(BUSY._replace(hazard=1 / 600)) == pytest.approx(1 / (math.e - 1))
    deadly = BUSY._replace(hazard=5 / 600)
    assert lean.predict(deadly) == Prediction(0.01, keep=0)
    assert lean.predict(BUSY._replace(hazard=1 / 600)).keep == 3
    assert lean.useful(deadly._replace(mean=None, walltime=60.0)) > 0.5


def test_lean_writes_nothing_down_where_nothing_happens() -> None:
    assert lean.predict(AlgorithmInputs(1, total=100, mean=600.0, ending=0.0)).memory == {}


def test_lean_keeps_no_more_than_may_wait_of_tasks_that_take_no_time() -> None:
    assert load("lean")(AlgorithmInputs(1, total=9, free=9, ending=1.0, mean=1e-308, max_waiting=70)).keep == 70
