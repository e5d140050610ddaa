"""/metrics: the grid's figures and the portal's own requests, as Prometheus reads them.

Labels are clusters, states, modules and endpoints: none grows with campaigns or users.
"""

import math
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cigri.api_models.metrics import ClusterMetrics, GridMetrics, ModuleMetrics, OutcomeMetric, RemoteCommandMetric
from cigri.database import Database
from cigri.endpoints.metrics import figures
from cigri.flow.views.metrics import find_figures
from modules.portal.authentication import Authenticator
from modules.portal.connections import CHANGES

METRICS = "/metrics"
FRESH = 1.0  # seconds for which one answer serves all who scrape
NO_ENDPOINT = "other"  # whatever is asked that is no endpoint


class RequestMetrics:
    """Counts what the portal answers, in front of it; how long browsers listen to changes is no time of an answer."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        labels = ("endpoint", "status")
        self._answered = Counter("cigri_portal_requests", "Requests answered.", labels, registry=registry)
        self._seconds = Histogram(
            "cigri_portal_request_seconds", "From a request's head to the end of its answer.", registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, begun = 0, time.monotonic()

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = scope.get("route")
            self._answered.labels(getattr(route, "name", NO_ENDPOINT), status).inc()
            if scope["path"] != CHANGES:
                self._seconds.observe(time.monotonic() - begun)


class GridMetricsCollector:
    """Collects the figures of the grid; they are read once a second at most."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._read: GridMetrics | None = None
        self._at = 0.0

    def refresh(self) -> None:
        """Raise what the database does: old figures are never told."""
        with self._lock:
            if time.monotonic() - self._at < FRESH:
                return
            with self._database.answering() as conn:
                self._read = find_figures(conn)
            self._at = time.monotonic()

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client asks for them."""
        if self._read is not None:
            yield from metrics_of(self._read)


def add_to(
    app: FastAPI, database: Database, identities: Authenticator, registry: CollectorRegistry, data_directory: Path
) -> None:
    """Serve /metrics to whoever is known: Prometheus has a token."""
    grid = GridMetricsCollector(database)
    registry.register(grid)
    disk = Gauge("cigri_data_directory_free_ratio", "Of the disk of the grid's data directory.", registry=registry)
    disk.set_function(lambda: _free(data_directory))

    def metrics(request: Request) -> Response:
        figures.require(identities.caller(request))
        grid.refresh()
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    app.add_api_route(METRICS, metrics, include_in_schema=False)


def _free(directory: Path) -> float:
    try:
        disk = shutil.disk_usage(directory)
    except OSError:
        return math.nan
    return disk.free / disk.total


def metrics_of(read: GridMetrics) -> Iterator[Metric]:
    """The same figures under the names that Prometheus has for them."""
    yield _by("cigri_campaigns", "Campaigns by state.", "state", read.campaigns)
    yield _by("cigri_tasks", "Tasks of campaigns that are not archived, by state.", "state", read.tasks)
    yield _by("cigri_events_open", "Open events by level.", "level", read.events)
    yield GaugeMetricFamily(
        "cigri_almighty_up", "Whether an almighty is connected to the database and at work.", value=read.has_almighty
    )
    yield GaugeMetricFamily(
        "cigri_processes_stalled", "Processes that are connected to the database and do not go on.", value=read.stalled
    )
    if read.calibration is not None:
        yield GaugeMetricFamily(
            "cigri_forecast_calibration_ratio",
            "Of the 90 % intervals of campaigns that ended in the last day, those that held the end.",
            value=read.calibration,
        )
    yield from _clusters(read.clusters)
    yield from _ends(read.ended)
    yield from _commands(read.commands)
    yield from _modules(read.modules)


def _clusters(clusters: list[ClusterMetrics]) -> Iterator[Metric]:
    cores = GaugeMetricFamily("cigri_cluster_cores", "Cores as last seen, by use.", labels=["cluster", "use"])
    jobs = GaugeMetricFamily("cigri_jobs", "Our jobs that are not over.", labels=["cluster", "state"])
    for one in clusters:
        for use, number in (("ours", one.ours), ("others", one.others), ("free", one.free), ("down", one.down)):
            if number is not None:
                cores.add_metric([one.cluster, use], number)
        for state, number in (("waiting", one.waiting), ("running", one.running)):
            jobs.add_metric([one.cluster, state], number)
    yield cores
    yield jobs
    in_vain = "Our jobs that wait for what does not come by itself."
    yield _of_each("cigri_cluster_jobs_stuck", in_vain, clusters, lambda one: one.stuck)
    yield _of_each("cigri_cluster_enabled", "Whether it gets jobs.", clusters, lambda one: one.is_enabled)
    yield _of_each("cigri_cluster_failures", "Visits in a row that failed.", clusters, lambda one: one.failures)
    yield _of_each("cigri_cluster_visited_seconds", "Since the last visit.", clusters, lambda one: one.visited)
    yield _of_each("cigri_cluster_pace_ratio", "Of the usual pace, less under stress.", clusters, lambda one: one.pace)
    skew = "By which the front-end's clock is ahead of the grid's."
    yield _of_each("cigri_cluster_clock_skew_seconds", skew, clusters, lambda one: one.clock_skew)


def _of_each(
    name: str, help_text: str, clusters: list[ClusterMetrics], figure: Callable[[ClusterMetrics], float | None]
) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=["cluster"])
    for one in clusters:
        if (value := figure(one)) is not None:
            family.add_metric([one.cluster], value)
    return family


def _ends(ended: list[OutcomeMetric]) -> Iterator[Metric]:
    labels = ["cluster", "outcome", "replica"]
    attempts = CounterMetricFamily("cigri_attempts_ended", "Attempts at tasks that have ended.", labels=labels)
    jobs = CounterMetricFamily("cigri_jobs_ended", "Jobs that have ended.", labels=labels)
    used = CounterMetricFamily("cigri_core_seconds", "What ended jobs have used.", labels=labels)
    for one in ended:
        place = [one.cluster, one.outcome, "yes" if one.is_replica else "no"]
        attempts.add_metric(place, one.attempts)
        jobs.add_metric(place, one.jobs)
        used.add_metric(place, one.core_seconds)
    yield from (attempts, jobs, used)


def _commands(commands: list[RemoteCommandMetric]) -> Iterator[Metric]:
    labels = ["cluster", "module"]
    number = CounterMetricFamily("cigri_cluster_commands", "Remote commands, answered or not.", labels=labels)
    seconds = CounterMetricFamily("cigri_cluster_command_seconds", "What they took.", labels=labels)
    sessions = GaugeMetricFamily("cigri_cluster_sessions", "SSH sessions kept open.", labels=labels)
    for one in commands:
        sessions.add_metric([one.cluster, one.module], one.sessions)
        number.add_metric([one.cluster, one.module], one.commands)
        seconds.add_metric([one.cluster, one.module], one.seconds)
    yield from (number, seconds, sessions)


def _modules(modules: list[ModuleMetrics]) -> Iterator[Metric]:
    passes = CounterMetricFamily("cigri_module_passes", "Passes of a module.", labels=["module"])
    failures = CounterMetricFamily("cigri_module_pass_failures", "Passes that failed.", labels=["module"])
    seconds = GaugeMetricFamily("cigri_module_pass_seconds", "Of the last pass.", labels=["module"])
    age = GaugeMetricFamily("cigri_module_pass_age_seconds", "Since the last pass was noted.", labels=["module"])
    failing = GaugeMetricFamily("cigri_module_failing", "Whether the last pass failed.", labels=["module"])
    for one in modules:
        passes.add_metric([one.name], one.passes)
        failures.add_metric([one.name], one.failures)
        if one.seconds is not None:
            seconds.add_metric([one.name], one.seconds)
        age.add_metric([one.name], one.age)
        failing.add_metric([one.name], one.is_failing)
    yield from (passes, failures, seconds, age, failing)


def _by(name: str, help_text: str, label: str, numbers: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=[label])
    for word, number in numbers.items():
        family.add_metric([word], number)
    return family
