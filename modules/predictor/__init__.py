"""Forecasts each open campaign on each of its clusters: what to send and keep there, throughput, durations, end.

docs/explanation/prediction.md says how; each formula stands in the file that reckons it. How much is sent:
algorithm_inputs.py, algorithms. How long tasks take: campaign_estimates.py, lifetimes.py. When a campaign ends:
campaign_work.py (its pace), sharing.py (its rivals), local_load.py (other people), eta/last_task.py,
eta/campaign_end.py.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from cigri.database import server_time
from cigri.estimates.speeds import CompletedWork, known_speeds
from cigri.flow.accounting import add_up_accounting
from cigri.flow.campaign_totals import add_up_counts
from cigri.flow.expected_durations import match_tasks
from cigri.flow.forecasts import NewForecast, list_in_all, put_cluster_forecasts, put_forecasts
from cigri.flow.outcome_counts import add_up_ends
from cigri.flow.views.campaign_progress import CampaignProgress, is_any_open, list_progress
from cigri.flow.views.cluster_service import list_ages, list_cluster_services, list_under_way
from cigri.flow.views.dependency_graph import DependencyEdge, list_edges
from cigri.flow.views.forecast_groups import list_alike
from cigri.flow.waiting_reasons import QueueOutlook, list_queue_outlooks
from cigri.runtime.failure_isolation import FAULTS, FailureIsolation
from cigri.runtime.pass_context import PassContext, PassReport
from cigri.runtime.time_limit import PURE_LIMIT, TimeLimitExceeded, refuse_stopped, time_limit
from modules.predictor.algorithm_inputs import ClusterServiceRates, build_algorithm_inputs, measure
from modules.predictor.algorithms import MOST_JOBS, AlgorithmInputs, PredictFlow, Prediction, load
from modules.predictor.campaign_estimates import deviation, estimate, mean, share_within, throughput, together
from modules.predictor.campaign_work import build_work_model
from modules.predictor.clamped_inputs import plausible_progress
from modules.predictor.eta import path
from modules.predictor.eta.campaign_end import EndInterval, interval
from modules.predictor.eta.own_time import own_times
from modules.predictor.eta.published_dates import pressure, published_end
from modules.predictor.eta.queue_forecast import heed
from modules.predictor.freed_cores import FreedCores, endings
from modules.predictor.local_load import LocalLoadModel, SharedCluster, outlook
from modules.predictor.sharing import share_free_cores, starts

FARTHEST_END = timedelta(days=36_500)  # an end beyond is no forecast, and soon no date either
A_PART = 1e-3  # seconds that the time limit of all predictions grows by with each, which takes microseconds
AGES = 1000  # of campaigns with more tasks that are done, and more that remain, ages of those that run say little


def run_once(tools: PassContext) -> PassReport:
    """One forecast per open campaign and cluster, and one per campaign."""
    settings = tools.settings.forecast
    with tools.database.begin() as conn:
        if not is_any_open(conn):
            return Counter()
        isolation = FailureIsolation(conn, "predictor")
        edges = list_edges(conn)
        on_paths = {id for edge in edges for id in edge[:2]} if any(edge.is_timed for edge in edges) else ()
        alike = {} if isolation.knows_failures else list_alike(conn, on_paths)
        others = [id for remaining in alike.values() for id in remaining]
        progress = list_progress(conn, settings.window, others)
        time = server_time(conn)
        paces = list_cluster_services(conn, settings.recent, settings.window)
        services = {cluster_id: measure(pace, time) for cluster_id, pace in paces.items()}
        horizons = {cluster_id: service.horizon for cluster_id, service in services.items()}
        ending = endings(list_under_way(conn, horizons), horizons)
        ages, before = list_ages(conn, _few(progress)), list_in_all(conn, others)
        published = {id: whole.published for id, whole in before.items()}
        conditions = EndFactors(tools.settings.policy.order, published, ages, edges, list_queue_outlooks(conn))
        parts: dict[int, list[CampaignProgress]] = defaultdict(list)
        for part in progress:
            count = 1 + len(alike.get(part.campaign_id, ()))
            parts[part.campaign_id].append(part._replace(alike=count) if count > 1 else part)

        def forecast_of(campaign_ids: Collection[int]) -> tuple[list[NewForecast], list[NewForecast]]:
            """All of these campaigns, and those of them that differ from what is written down."""
            theirs = [part for id in campaign_ids for part in parts[id]]
            with time_limit(PURE_LIMIT + A_PART * len(theirs)):
                flows, predictions = predict(theirs, services, ending, settings.algorithm, stopped)
            forecasts = forecast(theirs, predictions, flows, time, conditions)
            return forecasts, _changed(forecasts, theirs, before)

        stopped: Counter[str] = Counter()
        forecasts, news = isolation.of_all(parts, forecast_of)
        isolation.failed |= {id: why for first, why in isolation.failed.items() for id in alike.get(first, ())}
        isolation.settle(parts)
        put_forecasts(conn, news, settings.history, alike)
        put_cluster_forecasts(conn, [service.measured for service in services.values()])
        add_up_counts(conn)
        add_up_ends(conn)
        add_up_accounting(conn)
    with tools.database.begin() as conn:
        matched = match_tasks(conn)
    number = sum(1 + len(alike.get(forecast.campaign_id, ())) for forecast in forecasts)
    return +Counter({"forecasts": number, "known tasks": matched})


def _predicted(
    seen: AlgorithmInputs, name: str, algorithms: dict[str, PredictFlow], stopped: Counter[str]
) -> Prediction:
    """As the algorithm of that name has it; `algorithms` that were loaded, and how often `stopped`, in this pass."""
    refuse_stopped(name, stopped[name])
    try:
        algorithm = algorithms.get(name) or algorithms.setdefault(name, load(name))
        return _possible(algorithm(seen))
    except (*FAULTS, TimeLimitExceeded) as error:
        stopped[name] += isinstance(error, TimeLimitExceeded)
        error.add_note(f"in the algorithm {name!r}")
        raise


def _possible(prediction: Prediction) -> Prediction:
    """The prediction itself; raise ValueError for a ratio, or numbers of jobs, that nobody can send by."""
    ratio, keep, send, _ = prediction
    if not 0 < ratio <= MOST_JOBS or (keep or 0) < 0 or (send or 0) < 0:
        raise ValueError(f"it predicts {prediction}; ratios are above 0 and at most {MOST_JOBS:g}, jobs not below 0")
    return prediction


def _few(progress: Sequence[CampaignProgress]) -> list[int]:
    """Campaigns that have done few tasks, or have few left."""
    done: Counter[int] = Counter()
    for part in progress:
        done[part.campaign_id] += part.done
    return sorted({part.campaign_id for part in progress if min(done[part.campaign_id], part.remaining) < AGES})


def predict(
    progress: Sequence[CampaignProgress],
    services: Mapping[int, ClusterServiceRates],
    endings: Mapping[int, FreedCores],
    otherwise: str,
    stopped: Counter[str],
) -> tuple[list[AlgorithmInputs], list[Prediction]]:
    """Of each campaign on each cluster; those that have done nothing there yet fare alike, and are looked at once."""
    chosen = [_algorithm(part, services.get(part.cluster_id), otherwise) for part in progress]
    algorithms: dict[str, PredictFlow] = {}
    alike: dict[object, tuple[AlgorithmInputs, Prediction]] = {}
    flows, predictions = [], []
    for part, name in zip(progress, chosen, strict=True):
        asked = None if part.done or part.memory else _asked(part, name)
        answer = alike.get(asked)
        if answer is None:
            seen = build_algorithm_inputs(part, services.get(part.cluster_id), endings)
            answer = seen, _predicted(seen, name, algorithms, stopped)
        if asked is not None:
            alike[asked] = answer
        flows.append(answer[0])
        predictions.append(answer[1])
    return flows, predictions


def _asked(part: CampaignProgress, algorithm: str) -> tuple[object, ...]:
    """All that a prediction goes by before the first task is done."""
    here = part.cluster_id, algorithm, part.width, part.walltime, part.average
    return *here, part.running, part.waiting, part.submitted, part.ratio, part.free


def _algorithm(part: CampaignProgress, service: ClusterServiceRates | None, otherwise: str) -> str:
    """The campaign's for that cluster, else the cluster's, else everybody's."""
    return part.algorithm or (service.config.algorithm if service else "") or otherwise


def _changed(
    forecasts: Sequence[NewForecast], progress: Sequence[CampaignProgress], in_all: Mapping[int, NewForecast]
) -> list[NewForecast]:
    """Those forecasts that differ from the present one of their campaign and cluster, or of their campaign in all."""
    before = [part.before for part in progress]
    on_clusters, wholes = forecasts[: len(before)], forecasts[len(before) :]
    changed = [new for new, old in zip(on_clusters, before, strict=True) if new != old]
    return changed + [new for new in wholes if new != in_all.get(new.campaign_id)]


class EndFactors(NamedTuple):
    """What else an end depends on: the policy's `order`, ends that were told, and the `ages` of tasks that run.

    Ages are by campaign and cluster, in bins (cigri/estimates/durations.py); `edges`: which campaigns wait for which;
    `queues`: what batch systems say of campaigns of which nothing runs.
    """

    order: str = "fifo"
    published: Mapping[int, datetime | None] = MappingProxyType({})
    ages: Mapping[int, Mapping[int, Sequence[int]]] = MappingProxyType({})
    edges: Sequence[DependencyEdge] = ()
    queues: Mapping[int, QueueOutlook] = MappingProxyType({})


NO_CONDITIONS = EndFactors()


def forecast(
    progress: Sequence[CampaignProgress],
    predictions: Sequence[Prediction],
    flows: Sequence[AlgorithmInputs],
    now: datetime,
    conditions: EndFactors = NO_CONDITIONS,
) -> list[NewForecast]:
    """Per campaign and cluster, as predicted, and in all (cluster None); pure."""
    progress = [plausible_progress(part) for part in progress]
    campaigns: dict[int, list[CampaignProgress]] = defaultdict(list)
    forecasts = []
    for part, prediction, seen in zip(progress, predictions, flows, strict=True):
        campaigns[part.campaign_id].append(part)
        forecasts.append(_on_cluster(part, prediction, seen))
    means = {share: seconds for parts in campaigns.values() for share, seconds in _means(parts).items()}
    if means:
        forecasts = [new._replace(mean=means.get((new.campaign_id, new.cluster_id), new.mean)) for new in forecasts]
    free = {part.cluster_id: seen.free for part, seen in zip(progress, flows, strict=True)}
    shut = {edge.campaign_id for edge in conditions.edges if not edge.is_same}
    asking = [part for part in progress if part.campaign_id not in shut] if shut else progress
    ends = _ends(campaigns, _outlooks(progress, flows), share_free_cores(asking, free, conditions.order), conditions)
    totals = {id: together(parts) for id, parts in campaigns.items()}
    ends = heed(ends, totals, conditions.queues, now)
    own = own_times(totals, ends, conditions.edges)
    if own:
        ends = {id: end for id, end in ends.items() if id not in own} | path.ends(own, conditions.edges)
    later, published = path.behind(own, conditions.edges), conditions.published
    return forecasts + [
        _in_all(total, ends.get(id), now, published.get(id), later.get(id, 0.0)) for id, total in totals.items()
    ]


def _ends(
    campaigns: Mapping[int, Sequence[CampaignProgress]],
    outlooks: Mapping[int, LocalLoadModel],
    free: Mapping[int, Mapping[int, float]],
    conditions: EndFactors,
) -> dict[int, EndInterval]:
    """When each campaign ends, in seconds from now, by its number; one of which nothing is known is left out."""
    standings = {
        id: pace
        for id, parts in campaigns.items()
        if (pace := build_work_model(parts, conditions.ages.get(id, {}), outlooks[id].returns, free.get(id, {})))
        is not None
    }
    places = {id: [part.cluster_id for part in campaigns[id]] for id in standings}
    begun = starts(standings, places, conditions.order)
    return {id: interval(standings[id], seconds, outlooks[id]) for id, seconds in begun.items()}


def _on_cluster(part: CampaignProgress, prediction: Prediction, seen: AlgorithmInputs) -> NewForecast:
    """Free cores are kept only where they may have been used: they change for all campaigns at once."""
    is_there = part.running or part.waiting or part.submitted
    return NewForecast(
        campaign_id=part.campaign_id,
        cluster_id=part.cluster_id,
        ratio=prediction.ratio,
        throughput=throughput(part),
        mean=mean(part),
        deviation=deviation(part),
        remaining=part.remaining,
        eta=None,
        median=share_within(part, 0.5),
        p95=share_within(part, 0.95),
        keep=prediction.keep,
        send=prediction.send,
        memory=prediction.memory,
        submitted=part.submitted,
        free=seen.free if is_there else None,
    )


def _means(parts: Sequence[CampaignProgress]) -> dict[tuple[int, int | None], float]:
    """Seconds of a task to come on each cluster whose speed is known, by campaign and cluster: estimate / speed.

    As long tasks go to fast clusters, the mean of those done there would say what these took, not what the next takes.
    """
    if not parts[0].known:
        return {}
    works = {
        part.cluster_id: CompletedWork(part.done, part.seconds, part.done_known, part.done_expected) for part in parts
    }
    fast = known_speeds(works, {part.cluster_id: part.speed for part in parts if part.speed is not None})
    seconds = estimate(together(parts)) if fast else None
    return {(parts[0].campaign_id, id): seconds / speed for id, speed in fast.items()} if seconds else {}


def _outlooks(progress: Sequence[CampaignProgress], flows: Sequence[AlgorithmInputs]) -> dict[int, LocalLoadModel]:
    """What others leave of the clusters of each campaign."""
    places: dict[int, SharedCluster] = {}
    clusters: dict[int, list[int]] = defaultdict(list)
    for part, seen in zip(progress, flows, strict=True):
        clusters[part.campaign_id].append(part.cluster_id)
        if part.cluster_id not in places:
            places[part.cluster_id] = SharedCluster(
                seen.total, seen.others, seen.load_change_square_sum, seen.net_load_change, seen.observed_seconds
            )
    grids = {tuple(ids) for ids in clusters.values()}
    outlooks = {ids: outlook([places[id] for id in ids]) for ids in grids}
    return {campaign_id: outlooks[tuple(ids)] for campaign_id, ids in clusters.items()}


def _in_all(
    total: CampaignProgress, left: EndInterval | None, now: datetime, published: datetime | None, behind: float
) -> NewForecast:
    """The end is the campaign's, whichever cluster one looks from: its tasks are shared by all.

    `behind`: seconds that campaigns need which wait for it.
    """
    own_pressure = pressure(total)
    whole = NewForecast(
        campaign_id=total.campaign_id,
        cluster_id=None,
        ratio=1.0 / total.width,
        throughput=throughput(total),
        mean=mean(total),
        deviation=deviation(total),
        remaining=total.remaining,
        eta=None,
        median=share_within(total, 0.5),
        p95=share_within(total, 0.95),
        pressure=own_pressure + behind if own_pressure is not None else behind or None,
        published=published,
    )
    if left is None or left.expected >= FARTHEST_END.total_seconds():
        return whole
    low, eta, high = (now + min(timedelta(seconds=min(seconds, 1e10)), FARTHEST_END) for seconds in left)
    return whole._replace(eta=eta, eta_low=low, eta_high=high, published=published_end(published, eta, now))
