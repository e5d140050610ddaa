"""Up as slow-start, down as two-way-adaptive: the cores are used to the full, at the price of a flooded queue."""

from modules.predictor.algorithms import Flow, Prediction, excess, slow_start, two_way_adaptive


def predict(flow: Flow) -> Prediction:
    """For very many small jobs."""
    return Prediction(two_way_adaptive.decrease(flow) if excess(flow) > 0 else slow_start.increase(flow))
