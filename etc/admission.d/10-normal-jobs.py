"""Jobs of type "normal" compete with a cluster's own users: only those whom its operator has named may submit them.

`cigri cluster change dahu --set 'normal_users=["alice", "@astro"]'` names a user and a group; "*" is everybody.
"""

from cigri.admission import is_among, refuse


def rule(campaign, user, clusters):
    for name, settings in campaign.clusters.items():
        if settings.type == "normal" and name in clusters and not is_among(user, clusters[name].normal_users):
            refuse(f'{user} may not submit jobs of type normal on {name}; write "type": "best-effort", or ask its operator')
