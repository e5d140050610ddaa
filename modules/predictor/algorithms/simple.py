"""The ratio that a job's own request gives: a job of w cores needs w cores."""

from modules.predictor.algorithms import AlgorithmInputs, Prediction


def predict(flow: AlgorithmInputs) -> Prediction:
    """1 / w jobs per core; nothing is measured, and `keep_waiting` jobs wait as the cluster is configured."""
    return Prediction(1.0 / flow.width)
