"""The ratio that a job's own request gives: a job of w cores needs w cores."""

from modules.predictor import Flow


def predict(flow: Flow) -> float:
    """Jobs per core."""
    return 1.0 / flow.width
