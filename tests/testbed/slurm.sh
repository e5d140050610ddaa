# shellcheck shell=bash
# A whole Slurm cluster on the loopback: munged, slurmctld, NODES slurmd; beta has MariaDB and slurmdbd too, and takes small arrays only.

NODES=2
CPUS=8
AGES=([1]=old [2]=new)      # the nodes differ by a feature, and by their memory
declare -A WITH_ACCOUNTING=([beta]=1)
declare -A MAX_ARRAY_SIZE=([beta]=101)     # smaller than the arrays that CiGri begins with

# gives a node back that Slurm has drained or given up, as its operator would; one that does not answer stays away
SLURM_HEALER='while sleep 5; do
    timeout 20 sinfo -h -N -t drain,down,fail -o %N 2>/dev/null | sort -u |
        xargs -r -t -I NODE timeout 20 scontrol update NodeName=NODE State=RESUME
done'

slurm_packages() { # NAME
    echo munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins
    [ -z "${WITH_ACCOUNTING[$1]:-}" ] || echo slurmdbd slurm-wlm-mysql-plugin mariadb-server
}

slurm_mounts() { mkdir -p /etc/slurm; echo "mount --bind $STATE/$1/etc /etc/slurm"; }
slurm_hosts() { printf '127.0.0.1 localhost\n%s %s\n' "$(address "$1")" "$1"; }
slurm_environment() { :; }      # NAME=VALUE words for every process of a user, over ssh too

slurm_up() {   # NAME
    local name=$1 st=$STATE/$1 old node
    mkdir -p "$st"/{state,spool,munge,jobs,run/slurm}
    chown slurm: "$st"/{state,jobs,run/slurm}; chown munge: "$st/munge"; chmod 755 "$st"/*; chmod 1777 "$st/tmp"
    slurm_munge "$name"
    old=$(cat "$st/etc/slurm.conf" 2>/dev/null || :)
    slurm_conf "$name" >"$st/etc/slurm.conf"
    printf 'Name=gpu File=/dev/%s\n' null zero >"$st/etc/gres.conf"     # Slurm wants a device per gpu, any will do
    [ -z "$old" ] || [ "$old" = "$(cat "$st/etc/slurm.conf")" ] || slurm_stop "$name"      # the jobs stay
    [ -z "${WITH_ACCOUNTING[$name]:-}" ] || slurm_accounting "$name"
    start "$name" slurmctld slurmctld -D
    for node in $(seq $NODES); do
        mkdir -p "$st/spool/$name-n$node"
        start "$name" "slurmd-$node" slurmd -D -N "$name-n$node"
    done
    until_true 60 "Slurm of $name ($st/log)" slurm_ready "$name"
    start "$name" healer sh -c "$SLURM_HEALER"
}

slurm_ready() { [ "$(inside "$1" sinfo -h -N -p normal -o %T | grep -cxE 'idle|mixed|allocated')" = $NODES ]; }

slurm_amiss() { # NAME: jobs of users, and nodes that take none, a line each
    inside "$1" squeue -h -u "${USERS// /,}" -o 'job %i of %u is %T'
    inside "$1" sinfo -h -N -o 'node %N is %T' | sort -u | grep -E 'down|drain|fail|unk|\*$' || :
}
slurm_mend() { # NAME
    local node
    inside "$1" timeout 20 scancel -u "${USERS// /,}" >/dev/null 2>&1 || :
    for node in $(inside "$1" sinfo -h -N -t drain,drained,down,fail -o %N | sort -u); do
        inside "$1" scontrol update NodeName="$node" State=RESUME || :
    done
}

slurm_stop() { # NAME: without munge and the database
    local node
    for node in $(seq $NODES); do stop "$1" "slurmd-$node" 5; done
    stop "$1" slurmctld 20
}

slurm_down() { stop "$1" healer 1; slurm_stop "$1"; stop "$1" slurmdbd; stop "$1" mariadbd 20; stop "$1" munged; }

slurm_munge() { # one daemon and one key per cluster: a credential of one is worth nothing in another
    local name=$1 munge=$STATE/$1/munge
    [ -s "$munge/key" ] || dd if=/dev/urandom of="$munge/key" bs=128 count=1 status=none
    chown munge: "$munge/key"; chmod 400 "$munge/key"
    start "$name" munged setpriv --reuid=munge --regid=munge --clear-groups munged -F --num-threads=2 \
        --key-file="$munge/key" --socket="$munge/socket" --pid-file="$munge/pid" --log-file="$munge/log" --seed-file="$munge/seed"
    until_true 10 munged munge -n -S "$munge/socket"
}

slurm_conf() { # NAME; config_overrides lets two real cores be many, cred_expire=10 lets a requeued job start again soon
    local name=$1 st=$STATE/$1
    cat <<END
ClusterName=$name
SlurmctldHost=$name($(address "$name"))
SlurmctldPort=$(port "$name" 0)
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$st/munge/socket,cred_expire=10
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$st/state
SlurmdSpoolDir=$st/spool/%n
SlurmctldPidFile=$st/run/slurm/slurmctld.pid
SlurmdPidFile=$st/run/slurm/slurmd-%n.pid
SlurmctldLogFile=$st/log/slurmctld.log
SlurmdLogFile=$st/log/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=info
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=30
MessageTimeout=5
KillWait=5
MinJobAge=300
MaxJobCount=100000
MaxArraySize=${MAX_ARRAY_SIZE[$name]:-50001}
JobRequeue=1
Licenses=matlab:4
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,bf_continue,batch_sched_delay=1,sched_interval=5,default_queue_depth=1000,bf_max_job_test=1000,max_rpc_cnt=150
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
$(slurm_conf_accounting "$name")
NodeName=DEFAULT CPUs=$CPUS Sockets=1 CoresPerSocket=$CPUS ThreadsPerCore=1 Gres=gpu:2 State=UNKNOWN
$(for node in $(seq $NODES); do
    echo "NodeName=$name-n$node NodeHostname=$name NodeAddr=$(address "$name") Port=$(port "$name" $((10 + node)))" \
        "RealMemory=$((CPUS * (750 + 250 * node))) Feature=big,fast,${AGES[node]}"
done)
PartitionName=DEFAULT Nodes=ALL State=UP MaxTime=7-0 DefaultTime=01:00:00
PartitionName=normal Default=YES PriorityTier=10 PreemptMode=OFF
PartitionName=besteffort PriorityTier=1 PreemptMode=CANCEL
PartitionName=berequeue PriorityTier=1 PreemptMode=REQUEUE
END
}

slurm_conf_accounting() { # NAME
    if [ -z "${WITH_ACCOUNTING[$1]:-}" ]; then
        # priority/multifactor without slurmdbd gives every job priority 1
        printf '%s\n' AccountingStorageType=accounting_storage/none JobAcctGatherType=jobacct_gather/none \
            JobCompType=jobcomp/filetxt "JobCompLoc=$STATE/$1/jobs/jobcomp.log" PriorityType=priority/basic
    else
        printf '%s\n' AccountingStorageType=accounting_storage/slurmdbd "AccountingStorageHost=$(address "$1")" \
            "AccountingStoragePort=$(port "$1" 1)" "AccountingStoragePass=$STATE/$1/munge/socket" \
            JobAcctGatherType=jobacct_gather/linux JobAcctGatherFrequency=30 JobCompType=jobcomp/none \
            PriorityType=priority/multifactor PriorityWeightAge=1000
    fi
}

slurm_accounting() { # NAME: MariaDB, slurmdbd, and an account for everybody
    local name=$1 st=$STATE/$1 sql user
    local socket=$st/run/mysql/socket
    mkdir -p "$st/db" "$st/run/mysql"; chown mysql: "$st/db" "$st/run/mysql"
    [ -d "$st/db/mysql" ] || mariadb-install-db --no-defaults --user=mysql --datadir="$st/db" --skip-test-db \
        --auth-root-authentication-method=normal >"$st/log/mariadb-install.log" 2>&1
    ! pid_of "$name" slurmdbd >/dev/null || return 0
    start "$name" mariadbd mariadbd --no-defaults --user=mysql --datadir="$st/db" --socket="$socket" --pid-file="$st/run/mysql/pid" \
        --bind-address="$(address "$name")" --port="$(port "$name" 2)" --innodb-buffer-pool-size=128M --innodb-log-file-size=64M \
        --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=2 --skip-name-resolve --max-connections=50
    until_true 60 "MariaDB of $name" mariadb-admin --no-defaults --socket="$socket" -u root ping
    sql="create database if not exists slurm_$name; create user if not exists slurm@'%' identified by 'slurm';"
    mariadb --no-defaults --socket="$socket" -u root -e "$sql grant all on slurm_$name.* to slurm@'%'; flush privileges"
    printf '%s\n' AuthType=auth/munge "AuthInfo=socket=$st/munge/socket" "DbdHost=$name" "DbdAddr=$(address "$name")" \
        "DbdPort=$(port "$name" 1)" CommunicationParameters=NoInAddrAny,NoCtldInAddrAny SlurmUser=slurm \
        "LogFile=$st/log/slurmdbd.log" "PidFile=$st/run/slurm/slurmdbd.pid" StorageType=accounting_storage/mysql \
        "StorageHost=$(address "$name")" "StoragePort=$(port "$name" 2)" StorageUser=slurm StoragePass=slurm \
        "StorageLoc=slurm_$name" | install -o slurm -m 600 /dev/stdin "$st/etc/slurmdbd.conf"
    start "$name" slurmdbd slurmdbd -D
    until_true 60 "slurmdbd of $name" inside "$name" sacctmgr -n list cluster
    inside "$name" sacctmgr -n list user bob | grep -q . && return
    inside "$name" sacctmgr -i add cluster "$name" >/dev/null || :
    inside "$name" sacctmgr -i add account grid >/dev/null
    for user in $GATEWAY $USERS; do inside "$name" sacctmgr -i add user "$user" account=grid >/dev/null; done
}
