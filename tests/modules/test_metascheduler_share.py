"""Who is offered what; pure."""

from hypothesis import given
from hypothesis import strategies as st

from cigri.clusters import ClusterConfig
from cigri.flow.metascheduler_to_campaign_schedulers import Want
from cigri.flow.updator_to_metascheduler import Room
from cigri.states import CampaignType
from modules.metascheduler import share


def a_room(id: int = 1, *, free: int = 10, waiting: int = 0, keep: int = 0, most: int = 100) -> Room:
    config = ClusterConfig(driver="local", keep_waiting=keep, max_waiting=most)
    return Room(id, f"c{id}", config, free, waiting, 0)


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
) -> Want:
    return Want(campaign, cluster, type, width, max_jobs, live, waiting, 1 / width, trial, bound)


def jobs(rooms: list[Room], wants: list[Want]) -> dict[tuple[int, int], int]:
    return {(offer.campaign_id, offer.cluster_id): offer.jobs for offer in share(rooms, wants)}


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
    offers = share([a_room(free=0)], [a_want(1), a_want(9, type=CampaignType.TEST, waiting=1)])
    assert [(offer.campaign_id, offer.jobs) for offer in offers] == [(9, 1)]


def test_a_test_campaign_has_one_job_per_cluster() -> None:
    test = CampaignType.TEST
    wants = [a_want(1, 1, type=test, waiting=5), a_want(1, 2, type=test, waiting=5, live=1)]
    assert jobs([a_room(1), a_room(2)], wants) == {(1, 1): 1}


def test_a_full_cluster_gets_what_it_keeps_waiting_and_no_more() -> None:
    assert jobs([a_room(free=0, keep=5)], [a_want()]) == {(1, 1): 5}
    assert jobs([a_room(free=0, keep=5, waiting=5)], [a_want()]) == {}


def test_waiting_jobs_take_the_free_cores_first() -> None:
    assert jobs([a_room(free=10, waiting=8)], [a_want()]) == {(1, 1): 2}


def test_the_limit_of_waiting_jobs_is_never_exceeded() -> None:
    assert jobs([a_room(free=500, waiting=90, most=100)], [a_want()]) == {(1, 1): 10}


def test_wide_jobs_count_their_cores() -> None:
    assert jobs([a_room(free=10)], [a_want(width=4)]) == {(1, 1): 2}


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
def test_no_limit_is_ever_exceeded(rooms: list[Room], wants: list[Want]) -> None:
    offers = share(rooms, wants)
    assert len({(offer.campaign_id, offer.cluster_id) for offer in offers}) == len(offers)
    for room in rooms:
        here = [offer for offer in offers if offer.cluster_id == room.cluster_id]
        given_jobs = sum(offer.jobs for offer in here)
        assert given_jobs <= max(room.config.max_waiting - room.waiting, 0)
        tests = {want.campaign_id for want in wants if want.type is CampaignType.TEST}
        cores = sum(offer.cores for offer in here if offer.campaign_id not in tests)
        assert cores <= max(room.free + room.config.keep_waiting - room.waiting, 0)
    for want in wants:
        mine = [
            offer for offer in offers if (offer.campaign_id, offer.cluster_id) == (want.campaign_id, want.cluster_id)
        ]
        assert all(offer.jobs > 0 for offer in mine)
        if want.max_jobs is not None and want.type is CampaignType.DEFAULT:
            assert all(offer.jobs + want.live <= want.max_jobs for offer in mine)
