"""A small result made by hand, with names that would like to be HTML."""

from modules.laboratory.evaluation.results import (
    CampaignResults,
    ClusterResults,
    Expectation,
    Latencies,
    Point,
    Results,
    UserResults,
)

EVIL = "<script>alert('x')</script>&\"\x00\x1b]\ud800"
WAITING = (Point(0, 0), Point(60, 4), Point(1800, 1))

ONE = ClusterResults("blue", 8, 1000, 960, 10, 38, 20, 5000, 25, 120, WAITING, 9.6)
TWO = ClusterResults(EVIL, 16, 3000, 2880, 20, 0, 30, 5000, 15, 80, (Point(30, 2), Point(60, 0)))

SMALL = Results(
    scenario="day and night",
    scheduler="default, fairshare",
    seed=7,
    seconds=7200,
    clusters=(ONE, TWO),
    campaigns=(CampaignResults("first", "alice", 4400, 4000), CampaignResults("second", EVIL, None, 500)),
    users=(UserResults("alice", 1500, 2.5), UserResults(EVIL, 3, 1.0)),
    makespan=5100,
    bound=5000,
    blind=6000,
    jain=0.9375,
    tests=Latencies(3, 12.5, 30, 31),
    expectation=Expectation(1, (Point(0, 0.5), Point(0.5, 0.125)), 0.875, 1.5),
)
EMPTY = Results("nothing", "default", 0, 0, (), (), (), None, 0, None, None, Expectation(0, (), None))
