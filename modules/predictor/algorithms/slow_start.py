"""TCP's slow start: twice as much each cycle, and one job on the cluster as soon as too many wait.

JR, the job ratio, is in jobs per core. From the design of the first CiGri's scheduler ("Prediction algorithms", 2009):
up JR = OLD_JR * 2, down JR = 1 / MAX_RESOURCES.
"""

from modules.predictor.algorithms import AlgorithmInputs, Prediction, bounded, excess


def predict(flow: AlgorithmInputs) -> Prediction:
    """It spares the waiting queue, where others wait, too: down when more than `keep_waiting` jobs of ours wait."""
    return Prediction(bounded(1.0 / max(flow.total, 1), flow) if excess(flow) > 0 else increase(flow))


def increase(flow: AlgorithmInputs) -> float:
    """JR = OLD_JR * 2, from one job on the cluster on."""
    old = flow.ratio if flow.ratio is not None else 0.5 / max(flow.total, 1)
    return bounded(old * 2, flow)
