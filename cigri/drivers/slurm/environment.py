"""Variables that a user or a site has exported, and that would change what Slurm's commands do or print.

docs/reference/slurm.md lists them. They are found by their patterns, since each version of Slurm has more of them.
"""

STEERING = r"^(SBATCH|SQUEUE|SINFO|SACCT|SCANCEL|SCONTROL)_[A-Za-z0-9_]+$"
ON_WHOSE_ACCOUNT = r"^SBATCH_(ACCOUNT|WCKEY)$"  # a user's own default, behind what a campaign or the cluster says
# Of SLURM_* most are for srun, whose user may have chosen them for tasks.
ALSO_STEERING = r"^SLURM_(CLUSTERS|CONF_OUT|DEBUG_FLAGS|EXIT_ERROR|HINT|TOPO_LEN|UMASK|WORKING_CLUSTER)$"

FORGET = f"""\
unset cigri_none $(awk 'BEGIN {{
    for (name in ENVIRON)
        if (name ~ /{STEERING}/ && name !~ /{ON_WHOSE_ACCOUNT}/ || name ~ /{ALSO_STEERING}/) print name
}}')
"""

# Of Slurm's plugin cli_filter/user_defaults, which finds the file by the account's entry in passwd. What it says comes
# before options; only this one has no option against it, and makes a submission last as long as its jobs.
NO_WAITING = """\
eval "cigri_home=~$(id -un)"
! grep -q '^ *\\(sbatch\\|[*]\\):[^:]*: *wait *=' "$cigri_home/.slurm/defaults" 2>/dev/null || {
    echo "sbatch: error: with wait in ~/.slurm/defaults each submission lasts as long as its jobs; remove that line" >&2
    exit 1
}
"""
