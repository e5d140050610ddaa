"""Our own: the fewest waiting jobs with which no core idles until the next ones arrive, and fewer when others return.

Little's law: what waits is the rate at which cores become free times the delay to fill them (one cycle, the time to
send a job, and the queue delay of the cluster). The rate is expected from the ages of the running jobs and the spread
of durations, and from the cores that others give back and take: a burst of theirs goes as it came. What the cluster can
start is the limit. Long form: docs/explanation/prediction.md#what-lean-reckons-with.
"""

import math

from modules.predictor.algorithms import AlgorithmInputs, Prediction

MARGIN = 2.0  # deviations: in 98 of 100 cycles enough
HEADROOM = 2.0  # times what the cluster was seen to start; it may do more, and is then seen to
WORTHLESS = 0.05  # share of useful core-seconds under which jobs are only sent to see whether it gets better
FORGETTING_SHARE = 0.5  # per cycle, of what was expected and came
LEAST_CYCLE = 1e-3  # seconds between two forecasts
SENDING_STEPS = 2  # of `keep` per factor of two, so that it seldom changes


def predict(flow: AlgorithmInputs) -> Prediction:
    """Keep `needed` jobs waiting, less as far as those that should have started did not.

    Trust is (started + 1) / (expected + 1), at most 1: the part of the jobs expected to start that did, where one of
    one did before any was seen. Memory: jobs `waiting` and `due` to start at the last forecast, and sums of those
    `expected` and `started`. Between two looks at the cluster nothing is learnt, as nobody has seen what started.
    """
    worth = useful(flow)
    if worth < WORTHLESS:
        return Prediction(1.0 / max(flow.total, flow.width), keep=0)
    if flow.ending is None:
        return Prediction(1.0 / flow.width)
    expected, started = _seen(flow)
    trust = min(1.0, (started + 1.0) / (expected + 1.0))
    due = needed(flow) * trust
    memory: dict[str, float] = {}
    if "waiting" in flow.memory and not flow.is_fresh:
        memory = {**flow.memory, "waiting": flow.memory["waiting"] + flow.submitted}
    elif flow.running or flow.waiting or flow.submitted:
        until_next_look = flow.ending / flow.width * max(flow.cycle, flow.visit_interval) / _delay(flow)
        memory = {"waiting": float(flow.waiting), "due": _rounded(until_next_look)}
        memory |= {"expected": _rounded(expected), "started": _rounded(started)}
    return Prediction(1.0 / flow.width, keep=min(_step(min(due, flow.max_waiting)), _most(flow)), memory=memory)


def _most(flow: AlgorithmInputs) -> int:
    """Of tasks that nobody has seen end no more wait than run there, or than the cluster is configured for."""
    if flow.mean is not None:
        return flow.max_waiting
    ours = max(flow.total - flow.free - flow.others, 0) // flow.width
    return min(max(flow.keep_waiting, ours), flow.max_waiting)


def useful(flow: AlgorithmInputs) -> float:
    """The share of core-seconds spent on jobs that are not killed: x / (e^x - 1), x kills expected in a job's life.

    If kills come at random, h a second, a job of m seconds that begins anew after each takes (e^(h m) - 1) / h in all,
    of which m are of use (cigri/estimates/completion.py). Before a task has ended, m is the walltime.
    """
    length = flow.walltime if flow.mean is None else min(flow.mean, flow.walltime)
    kills = flow.hazard * flow.width * length
    return kills / math.expm1(kills) if 0 < kills < 500 else float(kills <= 0)


def needed(flow: AlgorithmInputs) -> float:
    """Jobs that can start before the next ones arrive, with a margin for the deviation of that number.

    (ending + free * (delay / mean - 1) + sqrt((MARGIN * ending_deviation)^2 + local^2)) / width, at most HEADROOM times
    what the cluster starts in the delay, and one. `local`: cores that others will have given back, their mean or their
    largest change in a minute, whichever is more; it counts as a deviation, as it comes or not, by itself.
    """
    delay = _delay(flow)
    local = max((flow.releases - flow.arrivals) * delay, float(min(flow.largest_load_change, flow.others)))
    again = max(delay / flow.mean - 1.0, 0.0) if flow.mean else 0.0  # short jobs follow each other on a free core, too
    margin = math.hypot(MARGIN * flow.ending_deviation, local)  # each by itself: both together are rarer
    cores = (flow.ending or 0.0) + flow.free * again + margin
    jobs = max(0.0, cores) / flow.width  # in this order: what is no number needs none
    if flow.start_rate is not None:
        jobs = min(jobs, HEADROOM * flow.start_rate * delay + 1.0)
    return jobs


def _delay(flow: AlgorithmInputs) -> float:
    """Seconds until jobs that are sent after the next look at the cluster can start."""
    return max(flow.cycle, flow.visit_interval, LEAST_CYCLE) + flow.sending + (flow.queue_delay or 0.0)


def _seen(flow: AlgorithmInputs) -> tuple[float, float]:
    """Sums of the waiting jobs that should have started, and of those that left the queue; halved at each look."""
    kept = flow.memory
    expected, started = kept.get("expected", 0.0), kept.get("started", 0.0)
    if not flow.is_fresh:
        return expected, started
    expected, started = expected * FORGETTING_SHARE, started * FORGETTING_SHARE
    if "waiting" in kept:
        expected += min(kept.get("due", 0.0), kept["waiting"])
        started += max(kept["waiting"] + flow.submitted - flow.waiting, 0.0)
    return expected, started


def _step(jobs: float) -> int:
    """Rounded up: 0 1 2 3 4 6 8 12 16 23 32 46 ..."""
    if jobs <= 2:
        return math.ceil(jobs)
    step = math.ceil(SENDING_STEPS * math.log2(jobs) - 1e-9)
    return math.ceil(math.pow(2.0, step / SENDING_STEPS) - 1e-9)


def _rounded(jobs: float) -> float:
    return round(jobs, 1)
