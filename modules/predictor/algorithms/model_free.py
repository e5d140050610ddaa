"""Model-free control: an intelligent PI that needs no model of the cluster, only what was sent and what it did.

The waiting jobs y obey y' = F + alpha u for a short time; F, all that is unknown (starts, local load), is estimated
from the last cycle and cancelled (M. Fliess, C. Join, "Model-free control", 2013; arXiv:1305.7085). Time is counted in
cycles, so that y' is the change of the waiting jobs from one forecast to the next, alpha is 1, and with it
F = (waiting - waiting before) - submitted. It is thought that F is in the next cycle what it was in the last.
"""

from modules.predictor.algorithms import AlgorithmInputs, Prediction

REFERENCE_WAITING = 10  # waiting jobs
PROPORTIONAL_GAIN = 0.5  # per cycle: half of the error is gone in one
INTEGRAL_GAIN = 0.05  # per cycle


def predict(flow: AlgorithmInputs) -> Prediction:
    """u = -(F - y*' + Kp e + Ki (sum of e)) / alpha jobs to send now; e = y - y*, y* the reference, y*' = 0.

    Memory: the jobs `waiting` at the last forecast, and the `sum` of errors in jobs, kept within `max_waiting` on both
    sides so that it does not wind up.
    """
    reference = min(REFERENCE_WAITING, flow.max_waiting)
    error = flow.waiting - reference
    before = flow.memory.get("waiting", float(flow.waiting))
    most = max(flow.max_waiting - flow.waiting, 0)
    total = min(max(flow.memory.get("sum", 0.0) + error, -flow.max_waiting), flow.max_waiting)
    unknown = flow.waiting - before - flow.submitted  # F
    wish = -(unknown + PROPORTIONAL_GAIN * error + INTEGRAL_GAIN * total)
    send = min(max(round(wish), 0), most)
    return Prediction(1.0 / flow.width, send=send, memory={"waiting": float(flow.waiting), "sum": total})
