# shellcheck shell=bash
# What a cluster of the testbed is: a directory $STATE/NAME, a mount and UTS namespace of its own (host name, /home,
# /tmp, /etc/hosts and what its kind wants) held by one `sleep`, and daemons known by pid and start time. Sourced, never run.

set -euo pipefail
STATE=${CIGRI_TESTBED:-/var/lib/cigri-testbed}
USERS="alice bob"
GATEWAY=cigri
NETWORK=127.0.8
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8

declare -A NUMBER=([alpha]=1 [beta]=2 [gamma]=3 [delta]=4)          # the last part of the address; ports begin at 27000 + 100 x (number - 1)
declare -A KIND=([alpha]=slurm [beta]=slurm [gamma]=gridengine [delta]=oar)    # KIND.sh beside this file has KIND_packages, _mounts, _hosts, _environment, _up, _down, _amiss, _mend

say() { printf 'testbed: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
cannot() { say "cannot go on here: $*"; exit 77; }

address() { echo "$NETWORK.${NUMBER[$1]}"; }
port() { echo $((27000 + 100 * (NUMBER[$1] - 1) + $2)); }       # NAME OFFSET
known() { [ -n "${NUMBER[$1]:-}" ] || die "no cluster '$1'; there are: ${!NUMBER[*]}"; }

alone() {      # root, the state directory, and one script at a time (the lock, fd 9, is never handed to a daemon)
    [ "$(id -u)" = 0 ] || cannot "root is needed to install packages, add users and make namespaces"
    case $(readlink -m "$STATE") in /tmp | /tmp/* | /home | /home/*)
        die "clusters have a /tmp and a /home of their own, which hide $STATE: set CIGRI_TESTBED to a directory elsewhere" ;;
    esac
    mkdir -p "$STATE"; chmod 755 "$STATE"
    exec 9>"$STATE/.lock"; flock 9
}

until_true() { # SECONDS WHAT CMD...
    local seconds=$1 what=$2 end=$((SECONDS + $1)); shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || die "$what is not ready after $seconds s"
        sleep 0.1
    done
}

# --- processes: a pid and its start time name one process for ever -------------------------------------------------
start_time() {
    local fields
    fields=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # shellcheck disable=SC2086
    fields=${fields##*) }; set -- $fields
    [ "$1" != Z ] || return 1
    echo "${20}"
}
pid_of() {     # NAME DAEMON
    local pid started
    read -r pid started 2>/dev/null <"$STATE/$1/run/$2.pid" || return 1
    [ "$(start_time "$pid")" = "$started" ] || return 1
    echo "$pid"
}
start() {      # NAME DAEMON CMD...: runs inside the cluster, holds nothing of the caller; CMD stays in the foreground
    local name=$1 daemon=$2 run=$STATE/$1/run holder pid inside=() fd; shift 2
    ! pid_of "$name" "$daemon" >/dev/null || return 0
    printf '%q ' "$@" >"$run/$daemon.cmd"
    ! holder=$(pid_of "$name" namespace) || inside=(nsenter -t "$holder" -m -u --)
    (
        for fd in "/proc/$BASHPID"/fd/*; do
            fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"
        done
        cd /
        exec env -i PATH="$PATH" LANG=C.UTF-8 setsid "${inside[@]}" "$@"
    ) </dev/null >>"$STATE/$name/log/$daemon.out" 2>&1 &
    pid=$!
    printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$run/$daemon.pid"
}
stop() {       # NAME DAEMON [SECONDS]: TERM, then KILL; on TERM PostgreSQL would wait for whoever is connected
    local pid tries=$((${3:-10} * 10)) signal=TERM
    [ "$2" != postgres ] || signal=INT
    if pid=$(pid_of "$1" "$2"); then
        kill -$signal "$pid" 2>/dev/null || :
        kill -CONT "$pid" 2>/dev/null || :
        while [ $tries -gt 0 ] && pid_of "$1" "$2" >/dev/null; do sleep 0.1; tries=$((tries - 1)); done
        ! pid_of "$1" "$2" >/dev/null || { kill -KILL "$pid" 2>/dev/null || :; }
    fi
    [ "$2" != almighty ] || oar_end_orphans "$1"
    rm -f "$STATE/$1/run/$2.pid"
}
members() {    # NAME: every process of the cluster but the one that holds its namespace
    local holder ours
    holder=$(pid_of "$1" namespace) && ours=$(readlink "/proc/$holder/ns/mnt") || return 0
    { find /proc/[0-9]*/ns/mnt -maxdepth 0 -printf '%p %l\n' 2>/dev/null || :; } |
        awk -F '[/ ]' -v ours="$ours" -v holder="$holder" '$NF == ours && $3 != holder { print $3 }'
}
sweep() {      # NAME: end what is left (job steps, ssh sessions), then the namespace
    local signal left
    for signal in TERM KILL; do
        left=$(members "$1"); [ -n "$left" ] || break
        # shellcheck disable=SC2086
        kill -$signal $left 2>/dev/null || :
        for _ in 1 2 3 4 5; do [ -n "$(members "$1")" ] || break; sleep 0.2; done
    done
    stop "$1" namespace 2
}

# --- the cluster as a host -----------------------------------------------------------------------------------------
inside() {     # NAME CMD...: as root, inside the cluster
    local holder name=$1
    holder=$(pid_of "$name" namespace) || die "cluster $name is down; scripts/testbed up $name"
    shift
    # shellcheck disable=SC2046
    env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 $("${KIND[$name]}_environment" "$name") nsenter -t "$holder" -m -u -- "$@" 9>&-
}
as_user() {    # NAME USER CMD...: as a user, from the user's home
    local name=$1 user=$2; shift 2
    inside "$name" setpriv --reuid="$user" --regid="$user" --init-groups \
        env HOME="/home/$user" USER="$user" LOGNAME="$user" sh -c 'cd && exec "$@"' sh "$@"
}
make_users() { # the people, and a gateway that may become any of them
    local user
    getent group gridusers >/dev/null || groupadd gridusers
    for user in $USERS $GATEWAY; do
        # password '*', not '!': sshd without PAM refuses a locked account
        getent passwd "$user" >/dev/null || useradd -M -d "/home/$user" -s /bin/bash -p '*' -U "$user"
    done
    for user in $USERS; do id -nG "$user" | grep -qw gridusers || usermod -aG gridusers "$user"; done
    printf 'Defaults:%s !requiretty, !lecture\n%s ALL=(%%gridusers) NOPASSWD: ALL\n' $GATEWAY $GATEWAY |
        install -m 440 /dev/stdin /etc/sudoers.d/cigri-testbed
}
host_up() {    # NAME: directories, homes and namespace
    local name=$1 st=$STATE/$1 user mounts
    pid_of "$name" namespace >/dev/null && return
    unshare -m -u true 2>/dev/null || cannot "mount and UTS namespaces are refused"
    make_users
    mkdir -p "$st"/{etc,log,run,home,tmp}
    chmod 755 "$st" "$st"/*; chmod 1777 "$st/tmp"
    echo "$name" >"$st/etc/hostname"
    "${KIND[$name]}_hosts" "$name" >"$st/etc/hosts"
    for user in $USERS $GATEWAY; do
        [ -d "$st/home/$user" ] || { cp -rT /etc/skel "$st/home/$user"; chown -R "$user:$user" "$st/home/$user"; }
        chmod 750 "$st/home/$user"
    done
    rm -f "$st/run/ready"
    mounts=$("${KIND[$name]}_mounts" "$name")      # apart, so that what it dies of is not lost
    start "$name" namespace unshare --mount --uts --propagation private -- sh -ec "
        hostname $name
        mount --bind $st/home /home; mount --bind $st/tmp /tmp
        $mounts
        mount --bind $st/etc/hostname /etc/hostname; mount --bind $st/etc/hosts /etc/hosts
        touch $st/run/ready; exec sleep infinity"
    until_true 10 "the namespace of $name" test -e "$st/run/ready"
}
