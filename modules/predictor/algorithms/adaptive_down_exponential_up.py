"""Up as slow-start, down as two-way-adaptive: the cores are used to the full, at the price of a flooded queue.

The third algorithm of the design of the first CiGri's scheduler ("Prediction algorithms", 2009).
"""

from modules.predictor.algorithms import AlgorithmInputs, Prediction, excess, slow_start, two_way_adaptive


def predict(flow: AlgorithmInputs) -> Prediction:
    """Down in proportion to the jobs that wait beyond `keep_waiting`, else up by a factor of two."""
    return Prediction(two_way_adaptive.decrease(flow) if excess(flow) > 0 else slow_start.increase(flow))
