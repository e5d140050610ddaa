"""A small result made by hand, with names that would like to be HTML."""

from modules.laboratory.evaluation.results import (
    CampaignResults,
    CampaignTestLatencies,
    ClusterResults,
    ForecastQuality,
    SeriesPoint,
    SimulationResults,
    UserResults,
)

EVIL = "<script>alert('x')</script>&\"\x00\x1b]\ud800"
WAITING = (SeriesPoint(0, 0), SeriesPoint(60, 4), SeriesPoint(1800, 1))

ONE = ClusterResults("blue", 8, 1000, 960, 10, 38, 20, 5000, 25, 120, WAITING, 9.6)
TWO = ClusterResults(EVIL, 16, 3000, 2880, 20, 0, 30, 5000, 15, 80, (SeriesPoint(30, 2), SeriesPoint(60, 0)))

SMALL = SimulationResults(
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
    tests=CampaignTestLatencies(3, 12.5, 30, 31),
    expectation=ForecastQuality(1, (SeriesPoint(0, 0.5), SeriesPoint(0.5, 0.125)), 0.875, 1.5),
)
EMPTY = SimulationResults("nothing", "default", 0, 0, (), (), (), None, 0, None, None, ForecastQuality(0, (), None))
