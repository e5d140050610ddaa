"""Every path of CiGri 3's that is served, below its base."""

from modules.portal.cigri3 import campaigns, clusters, events, jobs, notifications
from modules.portal.cigri3.dispatch import Cigri3Route

CIGRI3_PATHS = (
    Cigri3Route("GET", "", campaigns.root),
    Cigri3Route("GET", "/campaigns", campaigns.list_campaigns),
    Cigri3Route("POST", "/campaigns", campaigns.submit),
    Cigri3Route("GET", "/campaigns/{campaign}", campaigns.show_campaign),
    Cigri3Route("PUT", "/campaigns/{campaign}", campaigns.change),
    Cigri3Route("DELETE", "/campaigns/{campaign}", campaigns.cancel, ("hold", "resume", "purge")),
    Cigri3Route("GET", "/campaigns/{campaign}/stats", campaigns.show_stats),
    Cigri3Route("GET", "/campaigns/{campaign}/jdl", campaigns.show_jdl),
    Cigri3Route("GET", "/campaigns/{campaign}/jobs", jobs.list_jobs, ("limit", "offset")),
    Cigri3Route("POST", "/campaigns/{campaign}/jobs", campaigns.add_jobs),
    Cigri3Route("GET", "/campaigns/{campaign}/jobs/finished", notifications.list_finished),
    Cigri3Route("GET", "/campaigns/{campaign}/jobs/{task}", jobs.show_task),
    Cigri3Route("GET", "/campaigns/{campaign}/events", events.list_of_campaign, ("all", "limit")),
    Cigri3Route("DELETE", "/campaigns/{campaign}/events", events.fix_campaign, ("all", "resubmit")),
    Cigri3Route("GET", "/jobs/{job}", jobs.show_job),
    Cigri3Route("DELETE", "/jobs/{job}", jobs.kill),
    Cigri3Route("GET", "/jobs/{job}/stdout", jobs.show_stdout),
    Cigri3Route("GET", "/jobs/{job}/stderr", jobs.show_stderr),
    Cigri3Route("GET", "/events", events.list_global, ("all", "limit")),
    Cigri3Route("GET", "/events/{event}", events.show_event),
    Cigri3Route("DELETE", "/events/{event}", events.fix_event, ("all", "resubmit")),
    Cigri3Route("GET", "/notifications", notifications.list_notifications),
    Cigri3Route("POST", "/notifications/mail", notifications.subscribe_by_mail),
    Cigri3Route("DELETE", "/notifications/mail", notifications.unsubscribe_by_mail, ("identity",)),
    Cigri3Route("GET", "/tokens", notifications.list_tokens),
    Cigri3Route("GET", "/clusters", clusters.list_clusters),
    Cigri3Route("GET", "/clusters/{cluster}", clusters.show_cluster),
    Cigri3Route("GET", "/gridusage", clusters.grid_usage, ("from", "to")),
)
