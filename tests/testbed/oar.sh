# shellcheck shell=bash
# A whole OAR 2.5 cluster on the loopback: Almighty with a PostgreSQL of its own, and an sshd for each of OAR_NODES nodes.
# OAR's commands know /etc/oar/oar.conf only, so /etc/oar and /var/lib/oar are the cluster's own in its namespace.

OAR_NODES=2
OAR_CORES=8
OAR_CONF=/usr/share/oar/oar-common/oar.conf
POSTGRES=/usr/lib/postgresql/15/bin

oar_packages() { echo oar-server oar-server-pgsql oar-node oar-user oar-user-pgsql libjson-perl libyaml-perl postgresql-15; }

oar_node() { echo "$NETWORK.$((10 * NUMBER[$1] + $2))"; }       # NAME NODE: its address
oar_hosts() {
    local node
    printf '127.0.0.1 localhost\n%s %s\n' "$(address "$1")" "$1"
    for node in $(seq $OAR_NODES); do echo "$(oar_node "$1" "$node") $1-n$node"; done
}
oar_environment() { :; }
oar_mounts() { # NAME
    local st=$STATE/$1
    [ -d "$st/etc/oar" ] || { cp -a /etc/oar "$st/etc/oar"; cp -a /var/lib/oar "$st/oar"; }
    # shellcheck disable=SC2016
    sed -e 's/my $max_wait_time = 900;/my $max_wait_time = 4;/' -e 's/my $wait_time = 30;/my $wait_time = 1;/' /usr/lib/oar/oarexec >"$st/etc/oar/oarexec"
    [ "$(diff /usr/lib/oar/oarexec "$st/etc/oar/oarexec" | grep -c '^>')" = 2 ] || die "this oarexec is not the one of OAR 2.5.9"
    echo "mount --bind $st/etc/oar /etc/oar; mount --bind $st/oar /var/lib/oar; mount --bind $st/etc/oar/oarexec /usr/lib/oar/oarexec"
}

oar_up() {     # NAME
    local name=$1 st=$STATE/$1 node
    oar_conf "$name" | install -o oar -m 600 /dev/stdin "$st/etc/oar/oar.conf.new"
    mv "$st/etc/oar/oar.conf.new" "$st/etc/oar/oar.conf"       # whoever reads it meanwhile finds one
    [ -s "$st/etc/oar/node_key" ] || ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$st/etc/oar/node_key"
    # a node that OAR gave up for a job which did not end; one that does not answer is finaud's
    install -m 755 /dev/stdin "$st/etc/oar/heal" <<'END'
#!/bin/sh
cat >/dev/null
exec /usr/sbin/oarnodesetting --sql "state = 'Suspected' AND finaud_decision = 'NO'" -s Alive >/dev/null 2>&1
END
    touch "$st/log/oar.log"; chown oar: "$st/log/oar.log"
    oar_database "$name"
    mkdir -p /run/sshd
    for node in $(seq $OAR_NODES); do oar_node_up "$name" "$node"; done
    oar_almighty "$name"
    oar_sql "$name" oar "update resources set state = 'Alive', next_state = 'UnChanged' where state = 'Suspected'"
    until_true 60 "OAR of $name ($st/log)" oar_ready "$name"
}

oar_ready() {  # NAME
    local ready="select 1 from resources where state = 'Alive' having count(*) = $((OAR_NODES * OAR_CORES))"
    timeout 1 bash -c "exec 3<>/dev/tcp/$(address "$1")/$(port "$1" 0)" && [ "$(oar_sql "$1" oar "$ready")" = 1 ]
}

oar_users() { # the condition on their live jobs
    printf "job_user in ('%s') and state not in ('Terminated', 'Error')" "$(echo "$USERS" | sed "s/ /', '/g")"
}
oar_amiss() {  # NAME: jobs of users, and nodes that are not alive, a line each
    oar_sql "$1" oar "select 'job ' || job_id || ' of ' || job_user || ' is ' || state from jobs where $(oar_users)"
    oar_sql "$1" oar "select distinct 'node ' || network_address || ' is ' || state from resources where state <> 'Alive'"
}
oar_mend() {   # NAME
    inside "$1" oardel --sql "$(oar_users)" >/dev/null 2>&1 || :
    inside "$1" oarnodesetting --sql "state <> 'Alive'" -s Alive >/dev/null 2>&1 || :
}

oar_down() {   # NAME: OAR itself ends the jobs, as their processes are nobody else's
    local name=$1 node
    if pid_of "$name" almighty >/dev/null && pid_of "$name" postgres >/dev/null; then
        inside "$name" oardel --sql "state not in ('Terminated', 'Error')" >/dev/null 2>&1 || :
    fi
    stop "$name" almighty
    for node in $(seq $OAR_NODES); do stop "$name" "node-$node" 5; done
    stop "$name" postgres 20
}

oar_sql() {    # NAME DATABASE STATEMENT
    psql -X -h "$STATE/$1/run/postgres" -p "$(port "$1" 2)" -U postgres -d "$2" -v ON_ERROR_STOP=1 -qAtc "$3"
}

oar_conf() {   # NAME: the package's own file with other values; no cpusets, so that nodes may share one kernel
    local name=$1 st=$STATE/$1
    # shellcheck disable=SC2016
    awk 'NR == FNR { key = $1; sub(/^[^ ]+ ?/, ""); value[key] = $0; next }
         match($0, /^#?[A-Z0-9_]+=/) {
             key = substr($0, 1, RLENGTH - 1); sub(/^#/, "", key)
             if (key in value && !seen[key]++ && value[key] != "") print key "=\"" value[key] "\""
             if (key in value) next
         }
         { print }
         END { for (key in value) if (!seen[key]) { print "OAR has no setting " key > "/dev/stderr"; exit 1 } }' - $OAR_CONF <<END
DB_HOSTNAME $(address "$name")
DB_PORT $(port "$name" 2)
DB_BASE_PASSWD oar
DB_BASE_PASSWD_RO oar_ro
SERVER_HOSTNAME $name
SERVER_PORT $(port "$name" 0)
DEPLOY_HOSTNAME $name-n1
COSYSTEM_HOSTNAME $name-n1
OPENSSH_CMD /usr/bin/ssh -p $(port "$name" 6) -e none
LOG_FILE $st/log/oar.log
SCHEDULER_MIN_TIME_BETWEEN_2_CALLS 0
SCHEDULER_JOB_SECURITY_TIME 1
SCHEDULER_GANTT_HOLE_MINIMUM_TIME 10
FINAUD_FREQUENCY 10
JOBDEL_WALLTIME 30
USERS_ALLOWED_HOLD_RESUME yes
JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD
CPUSET_PATH
SUSPECTED_HEALING_EXEC_FILE $st/etc/oar/heal
END
}

oar_database() { # NAME: PostgreSQL, OAR's tables, and a resource for each core
    local name=$1 st=$STATE/$1
    local postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)
    mkdir -p "$st/db" "$st/run/postgres"; chown postgres: "$st/db" "$st/run/postgres"; chmod 700 "$st/db"
    [ -s "$st/db/PG_VERSION" ] || (cd / && "${postgres[@]}" $POSTGRES/initdb -D "$st/db" -A trust -E UTF8 --locale=C --no-sync) >"$st/log/initdb.log"
    start "$name" postgres "${postgres[@]}" $POSTGRES/postgres -D "$st/db" -h "$(address "$name")" -p "$(port "$name" 2)" \
        -k "$st/run/postgres" -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200
    until_true 60 "PostgreSQL of $name" oar_sql "$name" postgres "select 1"
    [ -z "$(oar_sql "$name" postgres "select 1 from pg_database where datname = 'oar'")" ] || { oar_differing "$name"; return 0; }
    inside "$name" oar-database --create --db-admin-user postgres --db-admin-pass trusted >"$st/log/oar-database.log" 2>&1 ||
        die "no tables for OAR, see $st/log/oar-database.log"
    oar_sql "$name" oar "
        alter table resources add host varchar(255), add cpu integer, add core integer, add mem integer;
        insert into resources (network_address, host, cpu, core, mem, cpuset, state, besteffort, deploy)
            select '$name-n' || node, '$name-n' || node, node, (node - 1) * $OAR_CORES + core, 1000 * node, core - 1, 'Alive', 'YES', 'YES'
            from generate_series(1, $OAR_NODES) node, generate_series(1, $OAR_CORES) core"
    oar_differing "$name"
}

oar_differing() { # NAME: what the nodes have, beside their mem
    oar_sql "$1" oar "
        set client_min_messages = warning;
        alter table resources add column if not exists model varchar(255), add column if not exists gpu varchar(255);
        update resources set model = 'Intel Xeon', gpu = 'NO' where model is null and network_address = '$1-n1';
        update resources set model = 'it''s an EPYC', gpu = 'YES' where model is null"
}

oar_node_up() { # NAME NODE: OAR's way to a node; only its own user may enter
    local name=$1 node=$2 config=$STATE/$1/etc/oar/node-$2
    cat >"$config" <<END
ListenAddress $(oar_node "$name" "$node")
Port $(port "$name" 6)
HostKey $STATE/$name/etc/oar/node_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitUserEnvironment yes
AllowUsers oar
MaxStartups 1024
MaxSessions 1024
UseDNS no
END
    start "$name" "node-$node" /usr/sbin/sshd -D -e -f "$config"
}

oar_almighty() { # NAME: the package's own listens on every address, and looks around once in 10 or 60 s
    local name=$1 almighty=$STATE/$1/etc/oar/Almighty
    # shellcheck disable=SC2016
    sed -e "s/LocalPort=> \$serverport,/LocalAddr => '$(address "$name")', &/" \
        -e 's/^my $schedulertimeout = 60;/my $schedulertimeout = 5;/' -e 's/^my $villainstimeout = 10;/my $villainstimeout = 2;/' \
        -e 's/^my $read_commands_timeout = 10;/my $read_commands_timeout = 1;/' /usr/lib/oar/Almighty >"$almighty"
    [ "$(diff /usr/lib/oar/Almighty "$almighty" | grep -c '^>')" = 4 ] || die "this Almighty is not the one of OAR 2.5.9"
    pid_of "$name" almighty >/dev/null || oar_end_orphans "$name"  # of one that was killed
    start "$name" almighty setpriv --reuid=oar --regid=oar --init-groups env PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/lib/oar/oardodo \
        OARDIR=/usr/lib/oar OARUSER=oar OARDO_USER=oar OARCONFFILE=/etc/oar/oar.conf OARXAUTHLOCATION=/usr/bin/xauth \
        HOME=/var/lib/oar USER=oar LOGNAME=oar SHELL=/bin/bash LANG=C perl "$almighty"
}

oar_end_orphans() { # NAME: what an Almighty has started outlives it where it was killed, and holds its port and its database
    local pid
    for pid in $(members "$1"); do
        case $({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null) in
            "perl $STATE/$1/etc/oar/Almighty"* | 'Almighty: '*) kill -KILL "$pid" 2>/dev/null || : ;;
        esac
    done
}
