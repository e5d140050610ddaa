"""TCP's slow start: twice as much each cycle, and one job on the cluster as soon as too many wait."""

from modules.predictor.algorithms import Flow, Prediction, bounded, excess


def predict(flow: Flow) -> Prediction:
    """It spares the waiting queue: for clusters shared with other users."""
    return Prediction(bounded(1.0 / max(flow.total, 1), flow) if excess(flow) > 0 else increase(flow))


def increase(flow: Flow) -> float:
    """JR = OLD_JR * 2, from one job on the cluster on."""
    old = flow.ratio if flow.ratio is not None else 0.5 / max(flow.total, 1)
    return bounded(old * 2, flow)
