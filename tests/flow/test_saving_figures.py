"""What is known of saving when the runner chooses how often it is asked for; what was chosen is kept, and believed."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import Connection, insert, select, update

from cigri.database import Database
from cigri.estimates.checkpoint_interval import CheckpointInterval
from cigri.flow.batches import put_batch
from cigri.flow.grid_identity import grid_key
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.checkpoint_costs import JOBS_LOOKED_AT, CheckpointCosts, list_saving_figures
from cigri.flow.views.jobs import find_job
from cigri.flow.views.live_attempts import list_attempts
from cigri.lifecycle.verdicts import CheckpointPolicy
from cigri.states import JobKind, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import ClusterRate
from cigri.tables.jobs import Attempt, Batch, Job
from modules.runner.checkpoint_intervals import with_rhythms
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, launch_jobs, submitted_jobs

BEFORE = 120
RHYTHM = CheckpointInterval(900, 5000.0, 60.0)
RHYTHM_COLUMNS = {f"checkpoint_{name}": value for name, value in RHYTHM._asdict().items()}


@dataclass
class Part:
    """Campaign 1 on a cluster where queues take 30 s, and a core loses a job each 4 hours."""

    conn: Connection
    cluster: int

    def end(self, jobs: int, outcome: Outcome = Outcome.CHECKPOINTED, *, seconds: float = 1.0, tasks: int = 1) -> None:
        ended = submitted_jobs(self.conn, 1, self.cluster, jobs, tasks=tasks)
        end_jobs(self.conn, self.cluster, ended, outcome, seconds=seconds)

    def known(self) -> CheckpointCosts:
        return list_saving_figures(self.conn, self.cluster, {1: BEFORE})[1]

    def describe(self, **settings: object) -> None:
        [old] = self.conn.execute(select(CampaignCluster.c.settings)).scalars()
        self.conn.execute(update(CampaignCluster).values(settings={**old, **settings}))

    def rhythm(self, width: int = 1, walltime: int = 36_000) -> CheckpointInterval | None:
        """What is chosen for a job that would now be sent."""
        put_jobs(self.conn, 1, [NewJob(self.cluster, width, walltime, take_waiting(self.conn, 1, 1))])
        [launch] = with_rhythms(self.conn, self.cluster, list_launches(self.conn, self.cluster, 1, 1))
        launch_jobs(self.conn, self.cluster, 1)
        return launch.rhythm


@pytest.fixture
def part(conn: Connection) -> Part:
    cluster = a_cluster(conn)
    a_campaign(conn, 300)
    forecast = {"cluster_id": cluster, "at": NOON, "queue_delay": 30.0, "hazard": 1 / 14_400}
    conn.execute(insert(ClusterRate).values(forecast))
    return Part(conn, cluster)


@pytest.fixture
def conn(database: Database) -> Iterator[Connection]:
    with database.begin() as conn:
        yield conn


def test_of_a_campaign_without_checkpoints_nothing_was_measured(part: Part) -> None:
    part.end(2, Outcome.SUCCESS)
    part.end(1, Outcome.PREEMPTED, seconds=3500.0)
    assert part.known() == CheckpointCosts(1 / 14_400, 30.0, None)


def test_a_cluster_that_was_never_forecast_loses_nothing(part: Part) -> None:
    assert list_saving_figures(part.conn, a_cluster(part.conn, "luke"), {1: BEFORE})[1] == CheckpointCosts(0, 0, None)


def test_saving_lasts_from_the_signal_before_the_walltime_to_the_end(part: Part) -> None:
    for seconds in (3490.0, 3500.0):  # the signal came after 3480
        part.end(1, seconds=seconds)
    assert part.known() == CheckpointCosts(1 / 14_400, 30.0, 15.0)


def test_a_task_that_began_a_little_after_its_job_has_stopped_all_the_same(part: Part) -> None:
    part.end(1, seconds=3476.0)
    assert part.known() == CheckpointCosts(1 / 14_400, 30.0, 0.0)


@pytest.mark.parametrize("seconds", [100.0, 3470.0, 3601.0])
def test_who_ended_of_its_own_is_no_measure(part: Part, seconds: float) -> None:
    part.end(1, seconds=seconds)
    assert part.known() == CheckpointCosts(1 / 14_400, 30.0, None)


def test_saving_lasts_from_the_first_signal_that_the_grid_chose(part: Part) -> None:
    jobs = submitted_jobs(part.conn, 1, part.cluster, 1)
    part.conn.execute(update(Batch).values(RHYTHM_COLUMNS))
    end_jobs(part.conn, part.cluster, jobs, Outcome.CHECKPOINTED, seconds=907.0)
    assert part.known().seconds == 7.0


def test_a_task_that_began_behind_another_is_no_measure(part: Part) -> None:
    part.end(1, seconds=3481.0, tasks=2)
    assert part.known().seconds == 1.0
    part.conn.execute(update(Attempt).where(Attempt.c.position == 1).values(outcome=Outcome.SUCCESS))
    assert part.known().seconds is None


def test_what_is_long_ago_is_forgotten(part: Part) -> None:
    part.end(1, seconds=3500.0)
    part.end(JOBS_LOOKED_AT - 1, Outcome.SUCCESS)
    assert part.known().seconds == 20.0
    part.end(1, Outcome.SUCCESS)
    assert part.known().seconds is None


def test_saving_takes_what_its_user_allows_until_it_was_measured(part: Part) -> None:
    part.describe(checkpoint={})
    allowed = part.rhythm()
    assert allowed is not None
    assert (allowed.period, allowed.cost) == (1900, 120.0)
    part.end(1, seconds=3485.0)
    measured = part.rhythm()
    assert measured is not None
    assert measured.cost == 5.0 + 30.0  # to save, and in the queue


def test_a_program_that_goes_on_and_is_ended_later_is_not_thought_to_wait_again(part: Part) -> None:
    """It saves each 15 minutes, and exits with 99 when it is pushed aside."""
    part.describe(checkpoint={})
    jobs = submitted_jobs(part.conn, 1, part.cluster, 1)
    part.conn.execute(update(Batch).values(RHYTHM_COLUMNS))
    end_jobs(part.conn, part.cluster, jobs, Outcome.CHECKPOINTED, seconds=2500.0)
    chosen = part.rhythm()
    assert chosen is not None
    assert chosen.cost == 120.0


def test_a_wide_job_is_killed_more_often(part: Part) -> None:
    part.describe(checkpoint={"before_walltime": 60})
    chosen = part.rhythm(width=4)
    assert chosen is not None
    assert chosen.life == pytest.approx(3600)
    assert chosen.cost == 60.0


@pytest.mark.parametrize(
    "checkpoint", [None, {"period": "never"}, {"period": 900}, {"period": "now and then"}], ids=str
)
def test_nobody_chooses_where_it_is_said(part: Part, checkpoint: object) -> None:
    part.describe(checkpoint=checkpoint)
    assert part.rhythm() is None


def test_a_prologue_is_not_asked(part: Part) -> None:
    part.describe(checkpoint={})
    put_jobs(part.conn, 1, [NewJob(part.cluster, 1, 36_000, take_waiting(part.conn, 1, 1))])
    [launch] = with_rhythms(part.conn, part.cluster, list_launches(part.conn, part.cluster, 1, 1))
    assert launch.rhythm is not None
    [chosen] = with_rhythms(part.conn, part.cluster, [launch._replace(kind=JobKind.PROLOGUE, rhythm=None)])
    assert chosen.rhythm is None


def test_a_batch_keeps_what_was_chosen_and_its_attempts_are_believed_to_have_saved(part: Part) -> None:
    part.describe(checkpoint={})
    put_jobs(part.conn, 1, [NewJob(part.cluster, 1, 3600, take_waiting(part.conn, 1, 1))])
    [launch] = list_launches(part.conn, part.cluster, 1, 1)
    assert put_batch(part.conn, launch._replace(rhythm=RHYTHM), part.cluster, grid_key(part.conn)) is not None
    [job_id] = part.conn.execute(select(Job.c.id)).scalars()
    job = find_job(part.conn, job_id)
    assert job is not None
    assert (job.checkpoint_period, job.checkpoint_life, job.checkpoint_cost) == RHYTHM
    [live] = list_attempts(part.conn, [job_id])
    assert live.saving == CheckpointPolicy(has_checkpoint=True, period=900)
    assert live.saving.has_saved(Outcome.PREEMPTED, 901.0)
    part.describe(checkpoint={"period": "never"})
    part.conn.execute(update(Batch).values(dict.fromkeys(RHYTHM_COLUMNS)))
    [live] = list_attempts(part.conn, [job_id])
    assert live.saving == CheckpointPolicy(has_checkpoint=True)
