"""Every path of CiGri 3's that is served, below its base."""

from modules.portal.cigri3 import campaigns, clusters, events, jobs
from modules.portal.cigri3.dispatch import Cigri3Path

CIGRI3_PATHS = (
    Cigri3Path("GET", "", campaigns.root),
    Cigri3Path("GET", "/campaigns", campaigns.list_campaigns),
    Cigri3Path("POST", "/campaigns", campaigns.submit),
    Cigri3Path("GET", "/campaigns/{campaign}", campaigns.show_campaign),
    Cigri3Path("PUT", "/campaigns/{campaign}", campaigns.change),
    Cigri3Path("DELETE", "/campaigns/{campaign}", campaigns.cancel, ("hold", "resume", "purge")),
    Cigri3Path("GET", "/campaigns/{campaign}/stats", campaigns.show_stats),
    Cigri3Path("GET", "/campaigns/{campaign}/jdl", campaigns.show_jdl),
    Cigri3Path("GET", "/campaigns/{campaign}/jobs", jobs.list_jobs, ("limit", "offset")),
    Cigri3Path("POST", "/campaigns/{campaign}/jobs", campaigns.add_jobs),
    Cigri3Path("GET", "/campaigns/{campaign}/jobs/{task}", jobs.show_task),
    Cigri3Path("GET", "/campaigns/{campaign}/events", events.list_of_campaign, ("all", "limit")),
    Cigri3Path("DELETE", "/campaigns/{campaign}/events", events.fix_campaign, ("resubmit",)),
    Cigri3Path("GET", "/jobs/{job}", jobs.show_job),
    Cigri3Path("DELETE", "/jobs/{job}", jobs.kill),
    Cigri3Path("GET", "/jobs/{job}/stdout", jobs.show_stdout),
    Cigri3Path("GET", "/jobs/{job}/stderr", jobs.show_stderr),
    Cigri3Path("GET", "/events", events.list_global, ("all", "limit")),
    Cigri3Path("GET", "/events/{event}", events.show_event),
    Cigri3Path("DELETE", "/events/{event}", events.fix_event, ("resubmit",)),
    Cigri3Path("GET", "/clusters", clusters.list_clusters),
    Cigri3Path("GET", "/clusters/{cluster}", clusters.show_cluster),
    Cigri3Path("GET", "/gridusage", clusters.grid_usage, ("from", "to")),
)
