"""Every pure function of the metascheduler, with any figures: it answers, and offers what the database takes."""

from collections.abc import Sequence
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.flow.affinities_and_targets import Principal, UserAffinity
from cigri.flow.ceilings import Ceiling, Ceilings
from cigri.flow.fair_share_usage import Consumption
from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.occupancy import Occupancy, WithdrawalRange, WithdrawnJob
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType, CeilingKind, PrincipalKind
from modules.metascheduler.fairness_withdrawals import (
    compute_shares,
    count_withdrawn,
    withdraw_for_fairness,
    withdrawal_events,
)
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import PolicyFacts, load, names
from modules.metascheduler.progressive_filling import share_clusters
from modules.metascheduler.ranking import rank_campaigns
from modules.metascheduler.remaining_capacity import RemainingCapacity
from modules.predictor.algorithms import MOST_JOBS
from tests.odd.figures import counts, dates, floats, is_figure, maybe, quickly, wholes, widths

ids = st.integers(1, 3)
users = st.sampled_from(("alice", "bob"))
projects = st.sampled_from(("", "gwas"))
kinds = st.sampled_from(CampaignType)
configs = st.sampled_from(
    (ClusterConfig(driver="local"), ClusterConfig(driver="local", keep_waiting=0, max_waiting=1, n_max_queued_jobs=1))
)
paces = st.floats(1e-9, 1.0)  # as the table has it
ratios = st.floats(1e-10, MOST_JOBS)  # as algorithms may give them: test_predictor.py
rooms = st.lists(
    st.builds(
        SchedulableCluster,
        ids,
        st.just("c"),
        configs,
        wholes,
        counts,
        counts,
        counts,
        counts,
        paces,
        st.just(""),
        floats,
        queued_by_request=st.dictionaries(ids, counts),
    ),
    max_size=3,
    unique_by=lambda room: room.cluster_id,
)
wants = st.lists(
    st.builds(
        ClusterDemand,
        campaign_id=ids,
        cluster_id=ids,
        type=kinds,
        width=widths,
        max_jobs=st.one_of(st.none(), st.integers(1, 9)),
        live=counts,
        waiting=wholes,
        ratio=ratios,
        is_on_probation=st.booleans(),
        pinned=counts,
        keep_waiting=st.one_of(st.none(), counts),
        send_now=st.one_of(st.none(), counts),
        successes=counts,
        mean=maybe(floats),
        delay=floats,
        hazard=floats,
        replicable=counts,
        submit_seconds=floats,
        avoiding=counts,
        queued=counts,
        request_hashes=st.lists(ids, min_size=1, unique=True).map(tuple),
    ),
    max_size=9,
    unique_by=lambda want: (want.campaign_id, want.cluster_id),
)
facts = st.builds(
    PolicyFacts,
    st.frozensets(st.builds(UserAffinity, users, ids), max_size=3),
    st.dictionaries(st.builds(Principal, st.sampled_from(PrincipalKind), users), floats, max_size=3),
    st.dictionaries(st.tuples(users, projects), st.builds(Consumption, floats, floats), max_size=4),
)
ceilings = st.builds(
    Ceilings,
    st.just({Ceiling(CeilingKind.LIMIT, "disk"): 7}),
    st.dictionaries(st.just(Ceiling(CeilingKind.LIMIT, "disk")), counts),
    st.dictionaries(st.tuples(ids, ids), st.just({Ceiling(CeilingKind.LIMIT, "disk"): 2})),
)
policies = st.builds(
    PolicySettings,
    scouts=st.sampled_from((0, 1, 8)),
    patience=st.sampled_from((0.5, 86400.0)),
    reserve_after=st.sampled_from((1.0, 1e9)),
)


@st.composite
def claims_of(draw: st.DrawFn, wants: Sequence[ClusterDemand]) -> list[PendingCampaign]:
    found = []
    for id in sorted({want.campaign_id for want in wants}):
        mine = [want for want in wants if want.campaign_id == id]
        user, project, priority = draw(st.tuples(users, projects, st.integers(-5, 5)))
        waited, eta, pressure = draw(st.tuples(floats, st.one_of(st.none(), dates), floats))
        clusters, own_priority = tuple(want.cluster_id for want in mine), draw(st.integers(-2, 2))
        about = user, project, priority, waited, eta, pressure, clusters, own_priority
        found.append(PendingCampaign(id, mine[0].type, *about))
    return found


def alike(wants: list[ClusterDemand]) -> list[ClusterDemand]:
    """A campaign has one type and one number of tasks, whichever cluster is looked at."""
    first: dict[int, ClusterDemand] = {}
    for want in wants:
        first.setdefault(want.campaign_id, want)
    return [want._replace(type=first[want.campaign_id].type) for want in wants]


def require_storable(stock: RemainingCapacity) -> None:
    for offer in stock.offers():
        assert 0 < offer.jobs < 2**63
        assert offer.cores == offer.jobs * stock.wants[offer.campaign_id][offer.cluster_id].width
        assert 0 <= offer.at_once <= offer.jobs
        assert offer.most_queued >= 1
    for cut in explain(stock):
        assert isinstance(cut.used, int)
        assert isinstance(cut.most, int)


@pytest.mark.parametrize("policy", names())
@quickly
@given(rooms, wants, facts, policies, ceilings, st.data())
def test_clusters_are_shared_whatever_is_told_of_them(
    policy: str,
    rooms: list[SchedulableCluster],
    wants: list[ClusterDemand],
    facts: PolicyFacts,
    settings: PolicySettings,
    ceilings: Ceilings,
    data: st.DataObject,
) -> None:
    wants = [want for want in alike(wants) if want.cluster_id in {room.cluster_id for room in rooms}]
    claims = data.draw(claims_of(wants))
    stock = share_clusters(rooms, wants, claims, settings, load(policy), facts, ceilings)
    require_storable(stock)


@pytest.mark.parametrize("policy", names())
@quickly
@given(wants, facts, policies, st.data())
def test_everybody_stands_in_line(
    policy: str, wants: list[ClusterDemand], facts: PolicyFacts, settings: PolicySettings, data: st.DataObject
) -> None:
    claims = data.draw(claims_of(alike(wants)))
    line = rank_campaigns(claims, settings, load(policy), facts)
    assert {turn.campaign_id for turn in line} == {claim.campaign_id for claim in claims}
    assert all(isfinite(turn.weight) and turn.weight > 0 for turn in line)
    assert all(is_figure(part) for turn in line for part in turn.rank)
    assert line == sorted(line, key=lambda turn: turn.rank)


holdings = st.lists(
    st.builds(Occupancy, ids, ids, counts, counts, counts, widths),
    max_size=9,
    unique_by=lambda held: (held.campaign_id, held.cluster_id),
)


@quickly
@given(rooms, wants, holdings, facts, st.data())
def test_jobs_are_taken_back_only_from_those_above_their_share(
    rooms: list[SchedulableCluster],
    wants: list[ClusterDemand],
    holdings: list[Occupancy],
    facts: PolicyFacts,
    data: st.DataObject,
) -> None:
    settings, order = PolicySettings(order="fairshare"), load("fairshare")
    wants = [want for want in alike(wants) if want.cluster_id in {room.cluster_id for room in rooms}]
    claims = data.draw(claims_of(wants))

    def find(plan: Sequence[WithdrawalRange]) -> list[WithdrawnJob]:
        return [WithdrawnJob(number, one.campaign_id, one.cluster_id, 1) for number, one in enumerate(plan)]

    def shared(rooms: Sequence[SchedulableCluster], wants: Sequence[ClusterDemand]) -> RemainingCapacity:
        return share_clusters(rooms, wants, claims, settings, order, facts)

    standing = compute_shares(rank_campaigns(claims, settings, order, facts), holdings, wants, rooms)
    assert all(is_figure(one.share) and one.share >= 0 for one in standing.values())
    found = withdraw_for_fairness(standing, holdings, rooms, wants, find, shared)
    assert all(found.standing[job.campaign_id].is_above for job in found.recalled)
    require_storable(found.stock)
    assert len(list(withdrawal_events(found))) == len({campaign_id for campaign_id, _ in count_withdrawn(found)})


def test_nothing_is_shared_among_nobody() -> None:
    assert share_clusters([], [], []).offers() == []
    for policy in names():
        assert load(policy)([], PolicyFacts()) == []
