"""Jobs of type "normal" compete with a cluster's own users: only those named here may submit them."""

from cigri.admission import refuse

EVERYBODY = "*"

# cluster: users
NORMAL_JOBS = {
    "localhost": [EVERYBODY],
}


def rule(campaign, user):
    for cluster, settings in campaign.clusters.items():
        allowed = NORMAL_JOBS.get(cluster, [])
        if settings.type == "normal" and user not in allowed and EVERYBODY not in allowed:
            refuse(f"{user} may not submit jobs of type normal on {cluster}; write \"type\": \"best-effort\"")
