"""What operators declare as limits is charged exactly, and never overshoots, whatever happens in whatever order."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import text

from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow.batches import put_batch
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.ceilings import list_limits, put_limit
from cigri.flow.grid_identity import grid_key
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.flow.withdrawals import put_back_unlaunched, return_tasks
from cigri.settings.sections import JobSettings
from cigri.states import CampaignType, Outcome
from tests.callers import ALICE
from tests.factories import a_cluster, end_jobs, launch_jobs

pytestmark = pytest.mark.noon

NAMES = ("matlab", "nfs")
WHICH = st.integers(0, 10**6)
ENDS = (Outcome.SUCCESS, Outcome.FAILURE, Outcome.PREEMPTED, Outcome.KILLED, Outcome.LOST)
MOVES = ("hold", "resume", "cancel")
LIVE = "SELECT campaign_id, count(*) AS n FROM jobs WHERE state <> 'ended' GROUP BY 1"
EMPTY = "TRUNCATE campaigns, limits, clusters, task_counts, submit_pools RESTART IDENTITY CASCADE"


class Charging(RuleBasedStateMachine):
    """`tokens`: what each job of a campaign takes; `most`: what may be in use, more than there is if it was lowered."""

    database: Database

    @initialize()
    def begin(self) -> None:
        with self.database.begin() as conn:
            conn.execute(text(EMPTY))
            self.cluster = a_cluster(conn)
        self.tokens: dict[int, dict[str, int]] = {}
        self.capacity = dict.fromkeys(NAMES, 0)
        self.most = dict(self.capacity)
        for name in NAMES:
            self.declare(name, 6)

    @rule(name=st.sampled_from(NAMES), capacity=st.integers(0, 9))
    def declare(self, name: str, capacity: int) -> None:
        """What was made under a higher one goes on."""
        with self.database.begin() as conn:
            put_limit(conn, name, capacity)
        self.capacity[name] = capacity
        self.most[name] = max(capacity, self.used()[name])

    @rule(tokens=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 4), min_size=1))
    def submit(self, tokens: dict[str, int]) -> None:
        if any(amount > self.capacity[name] for name, amount in tokens.items()):
            return
        part = NewCampaignCluster({"exec_file": "true", "walltime": 60}, 1, None, False, False, tokens)
        new = NewCampaign("c", "alice", CampaignType.DEFAULT, "", "workqueue", {}, {"dahu": part})
        with self.database.begin() as conn:
            self.tokens[put_campaign(conn, new, ["x"] * 20)] = tokens

    @rule(which=WHICH, jobs=st.integers(1, 6), tasks=st.integers(1, 2))
    def make(self, which: int, jobs: int, tasks: int) -> None:
        if not self.tokens:
            return
        campaign = sorted(self.tokens)[which % len(self.tokens)]
        with self.database.begin() as conn:
            found = take_waiting(conn, campaign, jobs * tasks)
            groups = [found[first : first + tasks] for first in range(0, len(found), tasks)]
            put_jobs(conn, campaign, [NewJob(self.cluster, 1, 60, group) for group in groups])

    @rule(jobs=st.integers(1, 4))
    def launch(self, jobs: int) -> None:
        with self.database.begin() as conn:
            launch_jobs(conn, self.cluster, jobs)

    @rule()
    def die_while_submitting(self) -> None:
        """The runner was killed, and its batch is found not to be there."""
        with self.database.begin() as conn:
            launches, key = list_launches(conn, self.cluster, 3, 3), grid_key(conn)
            batches = [put_batch(conn, one, self.cluster, key) for one in launches]
        with self.database.begin() as conn:
            for batch in batches:
                assert batch is not None
                return_tasks(conn, self.cluster, batch.id, Outcome.LOST, "never submitted", JobSettings())

    @rule(which=WHICH, outcome=st.sampled_from(ENDS))
    def end(self, which: int, outcome: Outcome) -> None:
        with self.database.begin() as conn:
            ids = conn.scalars(text("SELECT id FROM jobs WHERE state NOT IN ('to_launch', 'ended') ORDER BY id")).all()
            if ids:
                end_jobs(conn, self.cluster, [ids[which % len(ids)]], outcome, exit_code=None)

    @rule(which=WHICH, move=st.sampled_from(MOVES))
    def move(self, which: int, move: str) -> None:
        changes: Mapping[str, Callable[..., object]] = {
            "hold": hold_campaign,
            "resume": resume_campaign,
            "cancel": cancel_campaign,
        }
        with self.database.begin() as conn:
            if self.tokens:
                with suppress(CigriError):  # it is not open any more, or not held
                    changes[move](conn, sorted(self.tokens)[which % len(self.tokens)], ALICE)
            put_back_unlaunched(conn, JobSettings())

    def used(self) -> Counter[str]:
        """By the jobs that are there, as their campaigns said."""
        used: Counter[str] = Counter()
        with self.database.begin() as conn:
            for campaign, jobs in conn.execute(text(LIVE)):
                used.update({name: jobs * amount for name, amount in self.tokens[campaign].items()})
        return used

    @invariant()
    def sums_never_overshoot(self) -> None:
        used = self.used()
        for name in NAMES:
            assert used[name] <= self.most[name]
            self.most[name] = max(self.capacity[name], used[name])
        with self.database.begin() as conn:
            assert {limit.name: limit.used for limit in list_limits(conn)} == {name: used[name] for name in NAMES}


def test_the_sums_of_limits_never_overshoot_for_any_order_of_starts_ends_kills_and_restarts(database: Database) -> None:
    machine = type("Charging", (Charging,), {"database": database})
    run_state_machine_as_test(machine, settings=settings(max_examples=6, stateful_step_count=20))
