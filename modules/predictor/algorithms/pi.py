"""A proportional-integral controller: the jobs sent in a cycle follow how far the waiting jobs are from a reference.

The gains place the poles of a queue that keeps what is put into it (q' = A q + B u): settled after SETTLING cycles,
with an overshoot of OVERSHOOT, by r = e^(-4 / SETTLING) and theta = pi ln r / ln OVERSHOOT.
"""

import math

from modules.predictor.algorithms import Flow, Prediction

REFERENCE = 10  # waiting jobs
SETTLING = 10.0  # cycles
OVERSHOOT = 0.05
A, B = 1.0, 1.0  # of the queue: all that waits stays, each job sent is one more
R = math.exp(-4.0 / SETTLING)
THETA = math.pi * math.log(R) / math.log(OVERSHOOT)
KP = (A - R**2) / B
KI = (R**2 - 2 * R * math.cos(THETA) + 1) / B


def predict(flow: Flow) -> Prediction:
    """u = Kp e + Ki (sum of e). Memory: the `sum`, not added to while the sending is at its limit."""
    error = min(REFERENCE, flow.max_waiting) - flow.waiting
    total = flow.memory.get("sum", 0.0) + error
    wish = KP * error + KI * total
    most = max(flow.max_waiting - flow.waiting, 0)
    if not 0 <= wish <= most:
        total -= error
    send = min(max(round(wish), 0), most)
    return Prediction(1.0 / flow.width, send=send, memory={"sum": total})
