"""A proportional-integral controller: the jobs sent in a cycle follow how far the waiting jobs are from a reference.

The gains place the poles of a queue that keeps what is put into it, q(k+1) = A q(k) + B u(k): settled after SETTLING
cycles, with an overshoot of OVERSHOOT, by r = e^(-4 / SETTLING), POLE_RADIUS, and theta = pi ln r / ln OVERSHOOT
(Hellerstein, Diao, Parekh and Tilbury, "Feedback Control of Computing Systems", 2004). With u = KP e + KI (sum of e),
this e in it, the closed loop is z^2 - (1 + A - B (KP + KI)) z + (A - B KP); set beside z^2 - 2 r cos(theta) z + r^2 it
gives KP and KI.
What starts on the cluster is a disturbance that the integral part learns. CiGri with such a controller: Guilloteau and
others, "Controlling the Injection of Best-Effort Tasks to Harvest Idle Computing Grid Resources", 2021.
"""

import math

from modules.predictor.algorithms import AlgorithmInputs, Prediction

REFERENCE = 10  # waiting jobs
SETTLING = 10.0  # cycles
OVERSHOOT = 0.05
A, B = 1.0, 1.0  # of the queue: all that waits stays, each job sent is one more
POLE_RADIUS = math.exp(-4.0 / SETTLING)
THETA = math.pi * math.log(POLE_RADIUS) / math.log(OVERSHOOT)
KP = (A - POLE_RADIUS**2) / B
KI = (POLE_RADIUS**2 - 2 * POLE_RADIUS * math.cos(THETA) + 1) / B


def predict(flow: AlgorithmInputs) -> Prediction:
    """u = KP e + KI (sum of e) jobs to send now, e = reference - waiting, as far as `max_waiting` lets.

    Memory: the `sum` in jobs, not added to while the sending is at its limit, so that it does not wind up.
    """
    error = min(REFERENCE, flow.max_waiting) - flow.waiting
    total = flow.memory.get("sum", 0.0) + error
    wish = KP * error + KI * total
    most = max(flow.max_waiting - flow.waiting, 0)
    if not 0 <= wish <= most:
        total -= error
    send = min(max(round(wish), 0), most)
    return Prediction(1.0 / flow.width, send=send, memory={"sum": total})
