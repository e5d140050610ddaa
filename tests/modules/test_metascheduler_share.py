"""Who is offered what; pure."""

from collections.abc import Sequence
from math import e, inf
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cigri.estimates.completion import expected_seconds
from cigri.flow.ceilings import Ceiling, Ceilings
from cigri.flow.offers import NewOffer
from cigri.flow.pending_reasons import NewPendingReason
from cigri.flow.views.cluster_demands import ClusterDemand, PendingCampaign
from cigri.flow.views.schedulable_clusters import SchedulableCluster
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import PolicySettings
from cigri.states import CampaignType, CeilingKind, PendingReasonCode
from modules.metascheduler.pending_reasons import explain
from modules.metascheduler.policies import load, names
from modules.metascheduler.progressive_filling import NO_CEILINGS, share_clusters

NO_SCOUTS = PolicySettings(scouts=0)


def a_room(id: int = 1, *, free: int = 10, waiting: int = 0, keep: int = 0, most: int = 100) -> SchedulableCluster:
    config = ClusterConfig(driver="local", keep_waiting=keep, max_waiting=most)
    return SchedulableCluster(id, f"c{id}", config, free, waiting, 0, waiting, 1000)


def a_want(
    campaign: int = 1,
    cluster: int = 1,
    *,
    type: CampaignType = CampaignType.DEFAULT,
    width: int = 1,
    max_jobs: int | None = None,
    live: int = 0,
    waiting: int = 1000,
    trial: bool = False,
    bound: int = 0,
    keep: int | None = None,
    send: int | None = None,
    proven: int = 0,
    mean: float | None = None,
    delay: float = 0.0,
    hazard: float = 0.0,
    spare: int = 0,
) -> ClusterDemand:
    about = (campaign, cluster, type, width, max_jobs, live, waiting, 1 / width, trial, bound, keep, send, proven)
    return ClusterDemand(*about, mean, delay, hazard, spare, request_hashes=(campaign,))


def claims_of(wants: Sequence[ClusterDemand], **about: object) -> list[PendingCampaign]:
    """What the campaigns of these wants claim; each as `about` says."""
    types = {want.campaign_id: want.type for want in sorted(wants)}
    clusters = {id: tuple(want.cluster_id for want in wants if want.campaign_id == id) for id in types}
    plain = {"user": "alice", "project": "", "priority": 0, "waited": 0.0, "eta": None, "pressure": 0.0}
    return [PendingCampaign(id, type, clusters=clusters[id], **(plain | about)) for id, type in types.items()]  # type: ignore[arg-type]


def offers_of(rooms: Sequence[SchedulableCluster], wants: Sequence[ClusterDemand]) -> list[NewOffer]:
    return share_clusters(rooms, wants, claims_of(wants), NO_SCOUTS).offers()


def jobs(rooms: Sequence[SchedulableCluster], wants: Sequence[ClusterDemand]) -> dict[tuple[int, int], int]:
    return {(offer.campaign_id, offer.cluster_id): offer.jobs for offer in offers_of(rooms, wants)}


def test_the_first_campaign_is_served_first() -> None:
    assert jobs([a_room(free=10)], [a_want(2), a_want(1, waiting=7)]) == {(1, 1): 7, (2, 1): 3}


def test_tasks_that_wait_for_one_cluster_are_offered_none_of_another() -> None:
    rooms = [a_room(1, free=10), a_room(2, free=8)]
    assert jobs(rooms, [a_want(cluster=1, waiting=0), a_want(cluster=2, waiting=0, bound=3)]) == {(1, 2): 3}
    assert jobs(rooms, [a_want(cluster=1, waiting=4), a_want(cluster=2, waiting=4, bound=3)]) == {(1, 1): 4, (1, 2): 3}
    assert jobs(rooms, [a_want(cluster=1, waiting=12), a_want(cluster=2, waiting=12, bound=3)]) == {
        (1, 1): 10,
        (1, 2): 5,
    }
    rooms = [a_room(1, free=5), a_room(2, free=4)]
    assert jobs(rooms, [a_want(cluster=1, waiting=4, bound=3), a_want(cluster=2, waiting=4)]) == {(1, 1): 5, (1, 2): 2}


def test_a_test_campaign_goes_ahead_of_everybody_even_on_a_full_cluster() -> None:
    offers = offers_of([a_room(free=0)], [a_want(1), a_want(9, type=CampaignType.TEST, waiting=1)])
    assert [(offer.campaign_id, offer.jobs) for offer in offers] == [(9, 1)]


def test_a_test_campaign_has_one_job_per_cluster() -> None:
    test = CampaignType.TEST
    wants = [a_want(1, 1, type=test, waiting=5), a_want(1, 2, type=test, waiting=5, live=1)]
    assert jobs([a_room(1), a_room(2)], wants) == {(1, 1): 1}


def test_a_full_cluster_gets_what_it_keeps_waiting_and_no_more() -> None:
    assert jobs([a_room(free=0, keep=5)], [a_want()]) == {(1, 1): 5}
    assert jobs([a_room(free=0, keep=5, waiting=5)], [a_want()]) == {}


def test_a_forecast_says_how_many_are_kept_waiting() -> None:
    assert jobs([a_room(free=3, keep=5)], [a_want(keep=1)]) == {(1, 1): 4}
    assert jobs([a_room(free=0, keep=0, waiting=2)], [a_want(keep=5)]) == {(1, 1): 3}
    assert jobs([a_room(free=0, keep=0, waiting=2)], [a_want(1, keep=5), a_want(2)]) == {(1, 1): 3}


def test_a_forecast_says_how_many_are_sent_whatever_is_free() -> None:
    assert jobs([a_room(free=0, keep=0, waiting=9)], [a_want(send=7)]) == {(1, 1): 7}
    assert jobs([a_room(free=50, keep=20)], [a_want(send=0), a_want(2, send=3)]) == {(2, 1): 3}
    assert jobs([a_room(free=0, most=5)], [a_want(send=7)]) == {(1, 1): 5}
    assert jobs([a_room(free=9)], [a_want(send=7), a_want(2)]) == {(1, 1): 7, (2, 1): 2}


def test_waiting_jobs_take_the_free_cores_first() -> None:
    assert jobs([a_room(free=10, waiting=8)], [a_want()]) == {(1, 1): 2}


def test_the_limit_of_waiting_jobs_is_never_exceeded() -> None:
    assert jobs([a_room(free=500, waiting=90, most=100)], [a_want()]) == {(1, 1): 10}


def test_wide_jobs_count_their_cores() -> None:
    assert jobs([a_room(free=10)], [a_want(width=4)]) == {(1, 1): 2}


def test_a_core_is_never_lost_to_rounding() -> None:
    for width in range(1, 200):
        assert jobs([a_room(free=width)], [a_want(width=width)]) == {(1, 1): 1}


def test_wide_jobs_wait_behind_a_full_cluster_like_others() -> None:
    assert jobs([a_room(free=3, keep=2)], [a_want(width=4)]) == {(1, 1): 2}
    assert jobs([a_room(free=3, keep=2)], [a_want(1, width=4, waiting=1), a_want(2)]) == {(1, 1): 1, (2, 1): 4}


def test_waiting_wide_jobs_take_their_cores_first() -> None:
    room = a_room(free=10, waiting=2)
    assert jobs([room._replace(waiting_cores=8)], [a_want()]) == {(1, 1): 2}
    assert jobs([room._replace(waiting_cores=16)], [a_want()]) == {}


def test_max_jobs_counts_those_that_are_there() -> None:
    assert jobs([a_room(free=10)], [a_want(max_jobs=5, live=3)]) == {(1, 1): 2}


def test_after_too_many_failures_one_job_tries() -> None:
    assert jobs([a_room()], [a_want(trial=True)]) == {(1, 1): 1}
    assert jobs([a_room()], [a_want(trial=True, live=1)]) == {}


def test_nobody_is_offered_more_than_he_has_tasks() -> None:
    rooms = [a_room(1, free=10), a_room(2, free=10)]
    assert jobs(rooms, [a_want(1, 1, waiting=12), a_want(1, 2, waiting=12), a_want(2, 2)]) == {
        (1, 1): 10,
        (1, 2): 2,
        (2, 2): 8,
    }


def test_a_cluster_that_cannot_be_used_gets_nothing() -> None:
    assert jobs([a_room(1)], [a_want(1, 2)]) == {}


wants = st.lists(
    st.builds(
        a_want,
        st.integers(1, 5),
        st.integers(1, 3),
        type=st.sampled_from(CampaignType),
        width=st.integers(1, 9),
        max_jobs=st.none() | st.integers(1, 9),
        live=st.integers(0, 9),
        waiting=st.integers(1, 50),
        trial=st.booleans(),
    ),
    unique_by=lambda want: (want.campaign_id, want.cluster_id),
)
rooms = st.lists(
    st.builds(
        a_room,
        st.integers(1, 3),
        free=st.integers(0, 60),
        waiting=st.integers(0, 60),
        keep=st.integers(0, 9),
        most=st.integers(1, 40),
    ),
    unique_by=lambda room: room.cluster_id,
)


@given(rooms, wants)
@example([a_room(1, free=60, most=5)], [a_want(1, waiting=50), a_want(2, waiting=50)])
def test_no_limit_is_ever_exceeded(rooms: list[SchedulableCluster], wants: list[ClusterDemand]) -> None:
    offers = offers_of(rooms, wants)
    assert len({(offer.campaign_id, offer.cluster_id) for offer in offers}) == len(offers)
    for room in rooms:
        here = [offer for offer in offers if offer.cluster_id == room.cluster_id]
        given_jobs = sum(offer.jobs for offer in here)
        assert given_jobs <= max(room.config.max_waiting - room.waiting, 0)
        tests = {want.campaign_id for want in wants if want.type is CampaignType.TEST}
        mine = [offer for offer in here if offer.campaign_id not in tests]
        widest = max((offer.cores // offer.jobs for offer in mine), default=0)
        behind = room.config.keep_waiting * widest
        assert sum(offer.cores for offer in mine) <= max(room.free + behind - room.waiting, 0)
    for want in wants:
        mine = [
            offer for offer in offers if (offer.campaign_id, offer.cluster_id) == (want.campaign_id, want.cluster_id)
        ]
        assert all(offer.jobs > 0 for offer in mine)
        if want.max_jobs is not None and want.type is CampaignType.DEFAULT:
            assert all(offer.jobs + want.live <= want.max_jobs for offer in mine)


def test_cores_are_kept_for_a_wide_job_at_the_head_on_the_cluster_that_lacks_the_fewest() -> None:
    rooms = [a_room(1, free=3), a_room(2, free=5), a_room(3, free=2)]
    wants = [a_want(1, cluster, width=8) for cluster in (1, 2, 3)] + [a_want(2, cluster) for cluster in (1, 2, 3)]
    assert jobs(rooms, wants) == {(2, 2): 5, (2, 1): 3, (2, 3): 2}
    patient = [claim._replace(waited=500.0) for claim in claims_of(wants)]
    offers = share_clusters(rooms, wants, patient, PolicySettings(reserve_after=120.0, scouts=0)).offers()
    assert {(offer.campaign_id, offer.cluster_id): offer.jobs for offer in offers} == {(2, 1): 3, (2, 3): 2}


def test_no_cores_are_kept_where_a_job_cannot_run_or_for_want_of_anything_else() -> None:
    settings = PolicySettings(reserve_after=120.0, scouts=0)
    for wide in (a_want(1, width=2000), a_want(1, width=8, max_jobs=1, live=1), a_want(1, width=8, trial=True, live=1)):
        wants = [wide, a_want(2)]
        patient = [claim._replace(waited=500.0) for claim in claims_of(wants)]
        assert [offer.campaign_id for offer in share_clusters([a_room(free=5)], wants, patient, settings).offers()] == [
            2
        ]


def test_ceilings_are_shared_by_all_that_are_under_them() -> None:
    limit, quota = Ceiling(CeilingKind.LIMIT, "matlab"), Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,alice", 1)
    costs = {(1, 1): {limit: 2}, (1, 2): {limit: 2}, (2, 1): {limit: 1, quota: 4}}
    rooms, wants = (
        [a_room(1, free=50), a_room(2, free=9)],
        [a_want(1, 1, waiting=2), a_want(2, 1, width=4), a_want(3, 1)],
    )

    def shared(most: dict[Ceiling, int], used: dict[Ceiling, int]) -> dict[tuple[int, int], int]:
        offers = share_clusters(
            rooms, wants, claims_of(wants), NO_SCOUTS, ceilings=Ceilings(most, used, costs)
        ).offers()
        return {(offer.campaign_id, offer.cluster_id): offer.jobs for offer in offers}

    assert shared({limit: 9, quota: 50}, {limit: 1, quota: 33}) == {(1, 1): 2, (2, 1): 4, (3, 1): 32}
    assert shared({limit: 6, quota: 50}, {limit: 1}) == {(1, 1): 2, (2, 1): 1, (3, 1): 44}
    assert shared({limit: 1, quota: 50}, {limit: 3}) == {(3, 1): 50}


def test_a_new_campaign_sends_scouts_and_opens_up_as_they_succeed() -> None:
    for proven, live, most in ((0, 0, 4), (0, 3, 1), (0, 4, 0), (1, 4, 4), (3, 0, 32), (99, 0, 500)):
        wants = [a_want(proven=proven, live=live)]
        offers = share_clusters(
            [a_room(free=500, most=500)], wants, claims_of(wants), PolicySettings(scouts=4, stake=0)
        ).offers()
        assert sum(offer.jobs for offer in offers) == most, (proven, live)


@pytest.mark.parametrize(
    ("width", "mean", "most"), [(1, None, 12), (1, 10.0, 180), (1, 3600.0, 60), (10, None, 6), (100, None, 4)]
)
def test_what_is_cheaper_to_find_out_by_trying_more_at_once_is_tried(width: int, mean: float | None, most: int) -> None:
    """30 s of 60 cores are nothing, as is as much in fewer or more seconds; of wide jobs scouts are sent.

    Three times the scouts at most, where nobody has seen a task of the campaign succeed.
    """
    wants = [a_want(width=width, mean=mean)]
    policy = PolicySettings(scouts=4, stake=1800.0, scouting=30.0)
    assert (
        sum(
            offer.jobs
            for offer in share_clusters([a_room(free=999, most=500)], wants, claims_of(wants), policy).offers()
        )
        == most
    )


def test_what_fails_at_once_is_found_before_all_that_is_cheap_is_tried() -> None:
    """Those that are seen to run let as many more be tried, up to the stake; those that wait prove nothing."""
    for running, waiting, more in ((0, 0, 30), (0, 30, 0), (10, 20, 10), (30, 0, 30), (30, 10, 20), (59, 0, 1)):
        wants = [a_want(live=running + waiting)._replace(queued=waiting)]
        offers = share_clusters([a_room(free=500, most=500)], wants, claims_of(wants), PolicySettings()).offers()
        assert sum(offer.jobs for offer in offers) == more, (running, waiting)


def test_the_cluster_that_ends_a_task_first_is_taken_first_not_the_emptiest() -> None:
    rooms = [a_room(1, free=100), a_room(2, free=50), a_room(3, free=9)]
    wants = [
        a_want(1, 1, waiting=12, mean=60.0),
        a_want(1, 2, waiting=12, mean=90.0),
        a_want(1, 3, waiting=12, mean=20.0),
    ]
    assert jobs(rooms, wants) == {(1, 3): 9, (1, 1): 3}
    wants[2] = wants[2]._replace(mean=None)
    assert jobs(rooms, wants) == {(1, 1): 12}
    killing = [wants[0]._replace(hazard=0.1), *wants[1:]]
    assert jobs(rooms, killing) == {(1, 3): 9, (1, 2): 3}


def test_a_queue_counts_where_no_core_is_free() -> None:
    rooms = [a_room(1, free=5), a_room(2, free=0, keep=9)._replace(running=2)]
    wants = [a_want(1, 1, waiting=7, mean=60.0), a_want(1, 2, waiting=7, mean=30.0)]
    assert jobs(rooms, wants) == {(1, 2): 2, (1, 1): 5}  # after 15 s it has a core, the next one after 30 s
    assert jobs([rooms[0], rooms[1]._replace(waiting=4, waiting_cores=4)], wants) == {(1, 1): 5, (1, 2): 2}
    assert jobs(rooms, [wants[0], wants[1]._replace(delay=20.0)]) == {(1, 1): 5, (1, 2): 2}


@pytest.mark.parametrize(
    ("left", "means", "expected"),
    [
        pytest.param(8, (None, None), {(1, 1): 6, (1, 2): 2}, id="where cores come free more often"),
        pytest.param(8, (300.0, 400.0), {(1, 1): 8}, id="not where the tasks would end later"),
        pytest.param(18, (300.0, 400.0), {(1, 1): 17, (1, 2): 1}, id="until that is as late"),
        pytest.param(18, (300.0, None), {(1, 1): 14, (1, 2): 4}, id="an untried cluster is as fast"),
        pytest.param(99, (300.0, 400.0), {(1, 1): 20, (1, 2): 20}, id="all places, where there are enough tasks"),
    ],
)
def test_the_last_tasks_are_spread_over_queues_by_when_each_would_end(
    left: int, means: tuple[float | None, ...], expected: dict[tuple[int, int], int]
) -> None:
    rooms = [a_room(1, free=0, keep=20)._replace(running=30), a_room(2, free=0, keep=20)._replace(running=10)]
    rooms = [room._replace(config=room.config.model_copy(update={"n_max_queued_jobs": 20})) for room in rooms]
    wants = [a_want(1, cluster, waiting=left, mean=mean) for cluster, mean in enumerate(means, start=1)]
    assert jobs(rooms, wants) == expected


def test_expected_seconds_to_the_end_of_a_task() -> None:
    assert expected_seconds(100.0, 20.0, 0.0) == 120.0
    assert expected_seconds(100.0, 0.0, 1e-12) == pytest.approx(100.0)
    assert expected_seconds(100.0, 0.0, 0.01) == pytest.approx(100 * (e - 1))
    assert expected_seconds(100.0, 10.0, 0.01) == pytest.approx(100 * (e - 1) + 10 * e)
    assert expected_seconds(1e9, 1.0, 1.0) < inf


def why(
    rooms: Sequence[SchedulableCluster],
    wants: Sequence[ClusterDemand],
    settings: PolicySettings = NO_SCOUTS,
    ceilings: Ceilings = NO_CEILINGS,
) -> list[NewPendingReason]:
    waiting = [claim._replace(waited=500.0) for claim in claims_of(wants)]
    return list(explain(share_clusters(rooms, wants, waiting, settings, ceilings=ceilings)))


def test_whoever_has_all_it_wants_is_told_nothing() -> None:
    assert why([a_room(free=10)], [a_want(waiting=10)]) == []


@pytest.mark.parametrize(
    ("room", "want", "reason", "used", "most"),
    [
        (a_room(free=9, keep=3), a_want(), PendingReasonCode.FULL, 3, 3),
        (a_room(free=0, keep=3, waiting=5), a_want(keep=4), PendingReasonCode.FULL, 5, 4),
        (a_room(free=9, waiting=7, most=8), a_want(), PendingReasonCode.WAITING_LIMIT, 8, 8),
        (a_room(free=9), a_want(max_jobs=5, live=3), PendingReasonCode.MAX_JOBS, 5, 5),
        (a_room(free=9), a_want(trial=True), PendingReasonCode.TRIAL, 1, 1),
        (a_room(free=99), a_want(proven=1), PendingReasonCode.SCOUTS, 4, 4),
        (a_room(free=9), a_want(send=2), PendingReasonCode.FORECAST, 2, 2),
    ],
)
def test_the_limit_in_force_is_told_with_its_figures(
    room: SchedulableCluster, want: ClusterDemand, reason: PendingReasonCode, used: int, most: int
) -> None:
    settings = PolicySettings(scouts=2 if reason is PendingReasonCode.SCOUTS else 0, stake=0)
    assert why([room], [want], settings) == [NewPendingReason(1, 1, reason, "", used, most)]


def test_who_comes_behind_others_is_told_so() -> None:
    cuts = why([a_room(free=9)], [a_want(1, waiting=7), a_want(2)])
    assert cuts == [NewPendingReason(2, 1, PendingReasonCode.ORDER, "", 7, 9)]


def test_a_ceiling_is_told_by_its_name() -> None:
    limit, quota = Ceiling(CeilingKind.LIMIT, "matlab"), Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,alice", 1)
    ceilings = Ceilings({limit: 9, quota: 4}, {limit: 2, quota: 1}, {(1, 1): {limit: 2}, (2, 1): {quota: 2}})
    assert why([a_room(free=99)], [a_want(1), a_want(2)], ceilings=ceilings) == [
        NewPendingReason(1, 1, PendingReasonCode.LIMIT, "matlab", 8, 9),
        NewPendingReason(2, 1, PendingReasonCode.QUOTA_CORES, "*,*,all,alice", 3, 4),
    ]


def test_cores_kept_for_another_are_told() -> None:
    wants = [a_want(1, width=8), a_want(2)]
    assert why([a_room(free=5)], wants) == [
        NewPendingReason(1, 1, PendingReasonCode.RESERVED, "1", 5, 8),
        NewPendingReason(2, 1, PendingReasonCode.RESERVED, "1", 5, 1),
    ]


def test_those_of_one_kind_are_told_the_same_as_by_themselves() -> None:
    """But who was given something, is under a ceiling, is a test, asks for something else, or is elsewhere, too."""
    limit = Ceiling(CeilingKind.LIMIT, "matlab")
    ceilings = Ceilings({limit: 0}, {}, {(7, 2): {limit: 1}})
    wants = [
        a_want(campaign, cluster)._replace(request_hashes=(0,), equivalence_group=cluster)
        for campaign in range(1, 10)
        for cluster in (1, 2)
    ]
    wants = [want for want in wants if (want.campaign_id, want.cluster_id) != (6, 1)]
    wants = [want._replace(request_hashes=(5,)) if want.campaign_id == 4 else want for want in wants]
    wants = [want._replace(type=CampaignType.TEST) if want.campaign_id == 5 else want for want in wants]
    rooms = [a_room(1, free=9, keep=2), a_room(2, free=0, most=3, keep=5)]
    together = why(rooms, wants, ceilings=ceilings)
    assert together == why(rooms, [want._replace(equivalence_group=0) for want in wants], ceilings=ceilings)
    assert {(cut.campaign_id, cut.cluster_id) for cut in together} >= {(2, 1), (2, 2), (6, 2), (7, 2), (9, 1)}
    assert len({cut[2:] for cut in together}) >= 3


def test_what_a_campaign_is_given_for_its_patience_counts_as_held() -> None:
    wants = [a_want(1), a_want(2)]
    claims = [claim._replace(waited=1000.0 * (claim.campaign_id == 1)) for claim in claims_of(wants)]
    settings = PolicySettings(patience=600.0, handful=2, scouts=0)
    shared = share_clusters([a_room(free=4)], wants, claims, settings, load("fairshare"))
    assert shared.given == {(1, 1): 2, (2, 1): 2}


@pytest.mark.parametrize("order", names())
def test_a_large_grid_is_shared_in_a_moment(order: str) -> None:
    """1,000 campaigns on 60 clusters; a slow core that is left in peace takes a fiftieth of this."""
    clusters = range(1, 61)
    rooms = [a_room(cluster, free=50, waiting=30, keep=20, most=200) for cluster in clusters]
    wants = [a_want(campaign, cluster) for campaign in range(1, 1001) for cluster in clusters]
    of_all = tuple(clusters)
    claims = [
        PendingCampaign(campaign, CampaignType.DEFAULT, f"u{campaign % 50}", "", 0, 0.0, None, 0.0, of_all)
        for campaign in range(1, 1001)
    ]
    started = process_time()
    assert sum(offer.jobs for offer in share_clusters(rooms, wants, claims, NO_SCOUTS, load(order)).offers()) == 60 * 40
    assert process_time() - started < 5


def near_its_end(campaign: int, cluster: int = 1, spare: int = 5, **about: float) -> ClusterDemand:
    return a_want(campaign, cluster, waiting=0, spare=spare, **about)  # type: ignore[arg-type]


def with_the_rest(rooms: Sequence[SchedulableCluster], wants: Sequence[ClusterDemand]) -> dict[tuple[int, int], int]:
    claims = claims_of([want for want in wants if want.waits])
    return {offer[:2]: offer.jobs for offer in share_clusters(rooms, wants, claims, NO_SCOUTS).offers()}


def test_what_nobody_else_can_use_is_for_the_last_tasks_of_campaigns() -> None:
    assert with_the_rest([a_room(free=10)], [near_its_end(1), a_want(2, waiting=7)]) == {(2, 1): 7, (1, 1): 3}
    assert with_the_rest([a_room(free=10)], [near_its_end(1), a_want(2, waiting=30)]) == {(2, 1): 10}


def test_replicas_take_free_cores_only() -> None:
    """Not the places of jobs that wait behind a full cluster."""
    assert with_the_rest([a_room(free=0, keep=9)], [near_its_end(1)]) == {}
    assert with_the_rest([a_room(free=2, keep=9)], [near_its_end(1)]) == {(1, 1): 2}
    assert with_the_rest([a_room(free=9)], [near_its_end(1, max_jobs=4, live=1)]) == {(1, 1): 3}


def test_a_task_is_replicated_where_it_does_not_run() -> None:
    """The first cluster is the best one, but the last tasks run there already."""
    rooms = [a_room(1, free=4), a_room(2, free=9)]
    wants = [near_its_end(1, live=2, spare=2, mean=10.0), near_its_end(1, 2, spare=2, mean=20.0)]
    assert with_the_rest(rooms, wants) == {(1, 2): 2}
    wants = [near_its_end(1, live=2, spare=3, mean=10.0), near_its_end(1, 2, live=1, spare=3, mean=20.0)]
    assert with_the_rest(rooms, wants) == {(1, 1): 1, (1, 2): 2}


def test_a_campaign_is_replicated_once_all_its_tasks_have_places() -> None:
    rooms = [a_room(1, free=4), a_room(2, free=9)]
    waiting = [a_want(waiting=3, spare=4), a_want(cluster=2, waiting=3, spare=4)]
    assert with_the_rest(rooms, waiting) == {(1, 1): 3 + 1, (1, 2): 3}
    assert with_the_rest(rooms[:1], [a_want(waiting=5, spare=4)]) == {(1, 1): 4}
    bound = [a_want(waiting=0, bound=5, spare=4, max_jobs=2), near_its_end(1, 2)]
    assert with_the_rest(rooms, bound) == {(1, 1): 2}


def test_the_campaign_with_the_fewest_tasks_left_is_replicated_first() -> None:
    assert with_the_rest([a_room(free=6)], [near_its_end(1, spare=5), near_its_end(2, spare=2)]) == {
        (2, 1): 2,
        (1, 1): 4,
    }
