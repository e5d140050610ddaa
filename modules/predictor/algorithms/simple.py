"""The ratio that a job's own request gives: a job of w cores needs w cores."""

from modules.predictor.algorithms import Flow, Prediction


def predict(flow: Flow) -> Prediction:
    """1 / w, and no more is known."""
    return Prediction(1.0 / flow.width)
