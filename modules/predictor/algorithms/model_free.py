"""Model-free control: an intelligent PI that needs no model of the cluster, only what was sent and what it did.

The waiting jobs y obey y' = F + alpha u for a short time; F, all that is unknown (starts, local load), is estimated
from the last cycle and cancelled (M. Fliess, C. Join, "Model-free control", 2013; arXiv:1305.7085).
"""

from modules.predictor.algorithms import Flow, Prediction

REFERENCE_WAITING = 10  # waiting jobs
PROPORTIONAL_GAIN = 0.5  # per cycle: half of the error is gone in one
INTEGRAL_GAIN = 0.05  # per cycle


def predict(flow: Flow) -> Prediction:
    """u = -(F - y*' + Kp e + Ki (sum of e)) / alpha, y*' = 0, alpha = 1 / cycle: a job sent is one more that waits.

    Memory: the jobs `waiting` at the last forecast, and the `sum` of errors, kept within what can be sent.
    """
    reference = min(REFERENCE_WAITING, flow.max_waiting)
    error = flow.waiting - reference
    before = flow.memory.get("waiting", float(flow.waiting))
    most = max(flow.max_waiting - flow.waiting, 0)
    total = min(max(flow.memory.get("sum", 0.0) + error, -flow.max_waiting), flow.max_waiting)
    unknown = flow.waiting - before - flow.submitted  # F times the cycle
    wish = -(unknown + PROPORTIONAL_GAIN * error + INTEGRAL_GAIN * total)
    send = min(max(round(wish), 0), most)
    return Prediction(1.0 / flow.width, send=send, memory={"waiting": float(flow.waiting), "sum": total})
