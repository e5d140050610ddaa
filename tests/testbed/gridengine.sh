# shellcheck shell=bash
# A Grid Engine cell on the loopback: sge_qmaster and one sge_execd with SLOTS slots. Jobs of besteffort.q are ended, those
# of lowprio.q suspended, when jobs of all.q have more than one slot. An execd has one port per machine, so there is one node.
# Both daemons listen on all addresses, and have no option for it; a host whose name they do not know gets "access denied".

SLOTS=16
SGE_PROGRAMS=/usr/lib/gridengine        # what Debian has in /usr/bin are wrappers that cost 0.1 s each

# clears queues of the error in which a job that could not be started leaves them, as their operator would; what somebody
# has disabled stays so
GRIDENGINE_HEALER='while sleep 5; do
    timeout 20 qstat -f -q "*" 2>/dev/null | awk "\$6 ~ /E/ { print \$1 }" | xargs -r -t timeout 20 qmod -cq
done'

gridengine_packages() { echo gridengine-master gridengine-exec gridengine-client; }
gridengine_mounts() { :; }
# Grid Engine looks up the address a connection comes from, 127.0.0.1 here, and the first name of it must be the peer's own.
gridengine_hosts() { printf '127.0.0.1 %s localhost\n' "$1"; }
gridengine_environment() { # NAME
    echo "SGE_ROOT=$STATE/$1/sge SGE_CELL=default SGE_QMASTER_PORT=$(port "$1" 0) SGE_EXECD_PORT=$(port "$1" 1)" \
        "SGE_CLUSTER_NAME=$1 PATH=$SGE_PROGRAMS:$PATH"
}

gridengine_up() { # NAME
    local name=$1 environment
    environment=$(gridengine_environment "$name")
    [ -e "$STATE/$name/sge/default/ready" ] || gridengine_cell "$name"
    # shellcheck disable=SC2086
    start "$name" sge_qmaster env $environment SGE_ND=1 "$SGE_PROGRAMS/sge_qmaster"
    until_true 30 "sge_qmaster of $name ($STATE/$name/sge/spool/qmaster/messages)" inside "$name" qconf -sm
    gridengine_conf "$name" -ah "$name"
    gridengine_conf "$name" -as "$name"
    # shellcheck disable=SC2086
    start "$name" sge_execd env $environment SGE_ND=1 "$SGE_PROGRAMS/sge_execd"
    until_true 30 "sge_execd of $name" gridengine_is_exec_host "$name"
    [ -e "$STATE/$name/sge/default/configured" ] || gridengine_configure "$name"
    [ -e "$STATE/$name/sge/default/differing" ] || gridengine_differing "$name"
    inside "$name" qmod -cq '*' >/dev/null        # jobs that could not be started have put queues into error
    until_true 60 "all.q of $name ($STATE/$name/log/qconf.log)" gridengine_ready "$name"
    # shellcheck disable=SC2086
    start "$name" healer env $environment sh -c "$GRIDENGINE_HEALER"
}

gridengine_is_exec_host() { inside "$1" qconf -sel | grep -qx "$1"; }
gridengine_ready() { inside "$1" qstat -f -q all.q | awk -v queue="all.q@$1" '$1 == queue { found = NF == 5 } END { exit !found }'; }
gridengine_amiss() { # NAME: jobs of users, and queues that are disabled, suspended, in error or out of reach, a line each
    inside "$1" qstat -u "${USERS// /,}" | awk 'NR > 2 { print "job " $1 " of " $4 " is " $5 }'
    inside "$1" qstat -f -q '*' | awk '$1 ~ /@/ && NF > 5 { print "node of " $1 " is " $6 }'
}
gridengine_mend() { # NAME
    inside "$1" qdel -u "${USERS// /,}" >/dev/null 2>&1 || :
    gridengine_amiss "$1" | grep -q '^node' || return 0      # to enable queues changes which one takes a job first
    inside "$1" qmod -cq '*' >/dev/null 2>&1 || :
    inside "$1" qmod -e '*' >/dev/null 2>&1 || :
}
gridengine_down() { stop "$1" healer 1; stop "$1" sge_execd 5; stop "$1" sge_qmaster 20; }

gridengine_conf() { # NAME WORDS...: a change that has been made before is no error
    inside "$1" env EDITOR=/bin/true qconf "${@:2}" </dev/null >>"$STATE/$1/log/qconf.log" 2>&1 || :
}
gridengine_file() { # NAME WORDS...: a configuration object from stdin; the cluster has a /tmp of its own
    local file=$STATE/$1/etc/qconf
    cat >"$file"
    gridengine_conf "$@" "$file"
}

gridengine_cell() { # NAME: a new cell, as Debian's package makes it
    local name=$1 root=$STATE/$1/sge part
    local groups spool=$root/spool common=$root/default/common admin=(setpriv --reuid=sgeadmin --regid=sgeadmin --clear-groups)
    rm -rf "$root"
    mkdir -p "$common" "$spool"/{qmaster/job_scripts,database,execd}
    for part in bin lib util utilbin mpi; do
        [ ! -e "/var/lib/gridengine/$part" ] || ln -s "/var/lib/gridengine/$part" "$root/$part"
    done
    echo "$name" >"$common/act_qmaster"
    sed -e "s#^spooling_params .*#spooling_params $spool/database#" -e "s#^qmaster_spool_dir .*#qmaster_spool_dir $spool/qmaster#" \
        /usr/share/gridengine/default-bootstrap >"$common/bootstrap"
    # an execd kills whatever has the group of a job that has ended, also what another testbed of this machine runs
    groups=$((100000 + $(stat -L -c %i /proc/self/ns/net) % 10000 * 100))
    sed -e "s#^gid_range .*#gid_range $groups-$((groups + 99))#" \
        -e "s#^execd_spool_dir .*#execd_spool_dir $spool/execd#" -e 's#^mailer .*#mailer /bin/true#' -e 's#^administrator_mail .*#administrator_mail none#' \
        -e 's#^load_report_time .*#load_report_time 00:00:02#' -e 's#^max_unheard .*#max_unheard 00:00:10#' \
        -e 's#^loglevel .*#loglevel log_info#' -e 's#flush_time=00:00:15#accounting_flush_time=00:00:00 flush_time=00:00:01#' \
        /usr/share/gridengine/default-configuration >"$root/configuration"
    chown -R sgeadmin: "$root"
    {
        inside "$name" "${admin[@]}" /usr/share/gridengine/scripts/init_cluster "$root" default "$spool/database" sgeadmin
        inside "$name" "${admin[@]}" "$SGE_PROGRAMS/spooldefaults" configuration "$root/configuration"
        inside "$name" "${admin[@]}" "$SGE_PROGRAMS/spooldefaults" managers root
    } >"$STATE/$name/log/init_cluster.log" 2>&1 || die "the cell of $name cannot be made, see $STATE/$name/log/init_cluster.log"
    gridengine_environment "$name" | tr ' ' '\n' | sed 's/^/export /' >"$common/settings.sh"
    touch "$root/default/ready"
}

gridengine_configure() { # NAME: a round of the scheduler every 2 s and whenever a job comes or ends; queues, resources, a project
    local name=$1
    inside "$name" qconf -ssconf | sed -e 's/^schedule_interval .*/schedule_interval 0:0:2/' -e 's/^flush_\(.*\)_sec .*/flush_\1_sec 1/' \
        -e 's/^job_load_adjustments .*/job_load_adjustments NONE/' -e 's/^load_adjustment_decay_time .*/load_adjustment_decay_time 0:0:0/' |
        gridengine_file "$name" -Msconf
    printf 'group_name @allhosts\nhostlist %s\n' "$name" | gridengine_file "$name" -Ahgrp
    { inside "$name" qconf -sc; printf '%s\n' 'licence lic INT <= YES YES 0 0' 'besteffort be BOOL == FORCED NO FALSE 0' \
        'lowprio lp BOOL == FORCED NO FALSE 0'; } | gridengine_file "$name" -Mc
    gridengine_conf "$name" -mattr exechost complex_values licence=2 "$name"
    printf '%s\n' 'name grid' 'oticket 0' 'fshare 0' 'acl NONE' 'xacl NONE' | gridengine_file "$name" -Aprj
    printf '%s\n' 'pe_name smp' 'slots 9999' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args NONE' 'stop_proc_args NONE' \
        'allocation_rule $pe_slots' 'control_slaves TRUE' 'job_is_first_task TRUE' 'urgency_slots min' 'accounting_summary FALSE' \
        'qsort_args NONE' | gridengine_file "$name" -Ap
    install -m 755 /dev/stdin "$STATE/$name/sge/end-job" <<'END'
#!/bin/sh
# Instead of suspending a job: end its process group $1, politely at first.
kill -TERM "-$1"
for second in 1 2 3 4 5; do sleep 1; kill -0 "-$1" || exit 0; done
kill -KILL "-$1"
END
    gridengine_queue "$name" besteffort.q complex_values=besteffort=TRUE "suspend_method=$STATE/$name/sge/end-job \$job_pid"
    gridengine_queue "$name" lowprio.q complex_values=lowprio=TRUE
    # The queues below are suspended on a host where jobs of this one have two slots. Slot by slot (slots=16(...)) jobs below
    # would go on being started on a full host, and a limit of the host's slots would keep all.q out.
    gridengine_queue "$name" all.q subordinate_list=besteffort.q=2,lowprio.q=2
    touch "$STATE/$name/sge/default/configured"
}

gridengine_differing() { # NAME: what the nodes of fat.q have, and those of all.q do not
    local name=$1
    { inside "$name" qconf -sc; printf '%s\n' 'fat fat BOOL == YES NO FALSE 0' 'scratch scratch INT <= YES NO 0 0' \
        'model model RESTRING == YES NO NONE 0'; } | gridengine_file "$name" -Mc
    gridengine_queue "$name" fat.q complex_values=fat=TRUE,scratch=1000,model=epyc-7
    gridengine_conf "$name" -mattr queue complex_values scratch=100,model=xeon all.q
    touch "$STATE/$name/sge/default/differing"
}

gridengine_queue() { # NAME QUEUE ATTRIBUTE=VALUE...: the default queue with changes
    local name=$1 queue=$2 change changes; shift 2
    changes=(-e "s/^qname .*/qname $queue/")
    for change in hostlist=@allhosts slots=$SLOTS pe_list=smp shell=/bin/sh load_thresholds=NONE rerun=FALSE "$@"; do
        changes+=(-e "s#^${change%%=*} .*#${change%%=*} ${change#*=}#")
    done
    inside "$name" qconf -sq | sed "${changes[@]}" | gridengine_file "$name" -Aq
}
