"""CiGri 3's tap: half as many jobs again while all that was sent starts, and closed while any job waits.

The figures are CiGri 3's settings as it is delivered: RUNNER_DEFAULT_INITIAL_NUMBER_OF_JOBS = 3,
RUNNER_TAP_INCREASE_FACTOR = 1.5, RUNNER_TAP_INCREASE_MAX = 100, RUNNER_TAP_GRACE_PERIOD = 60. So is the condition
under which the rate grows: what was sent, times the factor, and one more, exceeds it.
"""

from modules.predictor.algorithms import AlgorithmInputs, Prediction

FEWEST_WAITING = 3
FACTOR = 1.5
MOST_WAITING = 100
SECONDS_TO_KEEP = 60.0  # seconds for which a closed tap keeps its rate


def predict(flow: AlgorithmInputs) -> Prediction:
    """Send `rate` jobs, or none while any waits.

    Memory: the `rate`, jobs a cycle, and for how long the tap has been `closed` (seconds; absent: it is open). Closed
    for longer than SECONDS_TO_KEEP, the rate falls by FACTOR each cycle; open, it grows by it if what it allows is
    really sent.
    """
    rate = min(int(flow.memory.get("rate", FEWEST_WAITING)), MOST_WAITING)
    closed = flow.memory.get("closed")
    if closed is not None:
        closed += flow.cycle
        if closed >= SECONDS_TO_KEEP:
            rate = max(int(rate / FACTOR), FEWEST_WAITING)
    elif flow.submitted and rate < flow.submitted * FACTOR + 1:
        rate = min(int(rate * FACTOR), MOST_WAITING)
    if flow.waiting:
        return Prediction(1.0 / flow.width, send=0, memory={"rate": rate, "closed": closed or 0.0})
    return Prediction(1.0 / flow.width, send=rate, memory={"rate": rate})
