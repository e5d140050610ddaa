"""Forecasts each open campaign on each of its clusters: ratio of jobs to cores, throughput, duration, end."""

import importlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from cigri.database import server_time
from cigri.errors import ConfigError
from cigri.flow.predictor_to_metascheduler import NewForecast, put_forecasts
from cigri.flow.updator_to_predictor import Progress, add_up_counts, list_progress
from cigri.program import Report, Tools
from modules.predictor.estimates import deviation, remaining_seconds, throughput

FARTHEST = timedelta(days=36_500)  # an end beyond is no forecast, and soon no date either


class Flow(NamedTuple):
    """What a ratio is predicted from: `width` cores a job asks for, jobs `running` and `waiting` on the cluster."""

    width: int
    running: int
    waiting: int


Algorithm = Callable[[Flow], float]
"""Predicts the ratio: jobs per core, above 0."""


def run_once(tools: Tools, now: datetime | None = None) -> Report:
    """One forecast per open campaign and cluster, and one per campaign."""
    settings = tools.settings.forecast
    predict = load(settings.algorithm)
    with tools.database.begin() as conn:
        progress = list_progress(conn, settings.window, now)
        if not progress:
            return Counter()
        time = server_time(conn, now)
        forecasts = forecast(progress, predict, time)
        put_forecasts(conn, forecasts, settings.history, now)
        add_up_counts(conn)
    return Counter({"forecasts": len(forecasts)})


def load(name: str) -> Algorithm:
    """The algorithm in the file of that name."""
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise ConfigError(f"forecast.algorithm: there is no algorithm {name!r} in modules/predictor") from None
    predict: Algorithm = module.predict
    return predict


def forecast(progress: Sequence[Progress], predict: Algorithm, now: datetime) -> list[NewForecast]:
    """Per campaign and cluster, and in all (cluster None); pure."""
    campaigns: dict[int, list[Progress]] = defaultdict(list)
    for part in progress:
        campaigns[part.campaign_id].append(part)
    forecasts = []
    for campaign_id, parts in campaigns.items():
        total = Progress(
            campaign_id,
            0,
            max(part.width for part in parts),
            sum(part.done for part in parts),
            sum(part.seconds for part in parts),
            sum(part.squares for part in parts),
            sum(part.window_tasks for part in parts),
            max(part.window_seconds for part in parts),
            sum(part.running for part in parts),
            sum(part.waiting for part in parts),
            parts[0].remaining,
        )
        rate = throughput(total)
        forecasts += [_one(part, part.cluster_id, predict, rate, now) for part in parts]
        forecasts.append(_one(total, None, predict, rate, now))
    return forecasts


def _one(part: Progress, cluster_id: int | None, predict: Algorithm, rate: float | None, now: datetime) -> NewForecast:
    """The end is the campaign's, whichever cluster one looks from: its tasks are shared by all."""
    left = remaining_seconds(part, rate)
    eta = None
    if cluster_id is None and left is not None and left < FARTHEST.total_seconds():
        eta = now + timedelta(seconds=left)
    return NewForecast(
        campaign_id=part.campaign_id,
        cluster_id=cluster_id,
        ratio=predict(Flow(part.width, part.running, part.waiting)),
        throughput=throughput(part),
        mean=part.seconds / part.done if part.done else None,
        deviation=deviation(part),
        remaining=part.remaining,
        eta=eta,
    )
