"""CiGri 3's tap: half as many jobs again while all that was sent starts, and closed while any job waits."""

from modules.predictor.algorithms import Flow, Prediction

FEWEST_WAITING = 3
FACTOR = 1.5
MOST_WAITING = 100
SECONDS_TO_KEEP = 60.0  # seconds for which a closed tap keeps its rate


def predict(flow: Flow) -> Prediction:
    """Memory: the `rate`, and for how long the tap has been `closed` (seconds; absent: it is open)."""
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
