"""What stands before Grid Engine's commands, so that no user's variable or file of default options steers them.

docs/reference/gridengine.md lists these. The files are found by the account's entry in passwd, whatever HOME says.
"""

# What Debian has on the PATH are wrappers that cost 0.1 s each. The XML has times without their zone.
ENVIRONMENT = """\
[ ! -x /usr/lib/gridengine/qsub ] || export SGE_ROOT="${SGE_ROOT:-/var/lib/gridengine}" PATH="/usr/lib/gridengine:$PATH"
unset GE_LONGNAME GE_SHORTNAME LANGUAGE MORE_INFO
unset SGE_COMMLIB_DEBUG SGE_COMMLIB_DEBUG_NO_RESOLVE SGE_COMMLIB_DEBUG_RESOLVE
unset SGE_DEBUG_LEVEL SGE_DEBUG_TARGET SGE_DELAY_AFTER_SUBMIT SGE_ENABLE_COREDUMP SGE_ENABLE_MSG_ID SGE_JSV_TIMEOUT
unset SGE_LOAD_AVG SGE_LONG_QNAMES SGE_QSTAT_ENV_DEBUG SGE_SINGLE_LINE SGE_TEST_HEARTBEAT_TIMEOUT SGE_TEST_SOCKET_BIND
export LC_ALL=C TZ=UTC
"""

# What -clear drops is the users' request and the site's: this is said anew. Of several -q in a command all count, while
# ours go before those of a file. -sync y alone outlives -clear and -sync n: such a qsub is left as soon as it has said
# the array, by SIGKILL, since other signals make it delete its jobs.
SITE_REQUEST = """\
cigri_file=$SGE_ROOT/${SGE_CELL:-default}/common/sge_request
cigri_site=$(awk '/^#/ { next } { gsub(/["\\047]/, "") } {
    for (i = 1; i <= NF; i++) {
        if (is_left_out) is_left_out = 0
        else if ($i ~ /^-(%s)$/) is_left_out = 1
        else print $i
    }
}' "$cigri_file" 2>/dev/null)
eval "cigri_home=~$(id -un)"
! grep -q -e -sync "$cigri_file" "$cigri_home/.sge_request" 2>/dev/null || qsub() {
    { { exec stdbuf -oL qsub "$@"; } & echo "cigri-qsub $!"; wait $! 2>/dev/null; echo "cigri-status $?"; } | {
        while read -r cigri_first cigri_rest; do
            case $cigri_first in
                cigri-qsub) cigri_pid=$cigri_rest ;;
                cigri-status) exit "${cigri_is_taken:-$cigri_rest}" ;;
                [0-9]*.1-*:1) printf '%%s\\n' "$cigri_first"; cigri_is_taken=0; kill -KILL "$cigri_pid" 2>/dev/null ;;
                *) printf '%%s\\n' "$cigri_first $cigri_rest" ;;
            esac
        done
        exit 1
    }
}
set -f
"""


def site_request(*, has_queue: bool) -> str:
    """Sh text that sets cigri_site to the words of the site's own default request, of which ours go before."""
    return SITE_REQUEST % ("sync|q" if has_queue else "sync")


# A job that qstat does not list is taken for over. Without an option against a file of its own it is not believed then.
LIST_JOBS = """\
cigri_list() {
    cigri_me=$(id -un) && eval "cigri_home=~$cigri_me" || return
    for cigri_file in "$SGE_ROOT/${SGE_CELL:-default}/common/sge_qstat" "$cigri_home/.sge_qstat"; do
        [ ! -s "$cigri_file" ] || awk -v file="$cigri_file" '/^#/ { next } {
            for (i = 1; i <= NF; i++) {
                if (has_value) has_value = 0
                else if ($i ~ /^-[us]$/) has_value = 1
                else if ($i !~ /^-(ext|pri|urg|r|ncb)$/) { wrong = $i; exit }
            }
        } END {
            if (wrong == "") exit
            print file ": with " wrong " qstat may hide jobs; leave only -ext, -pri, -urg, -r, -ncb, -u and -s in there"
            exit 1
        }' "$cigri_file" >&2 || return
    done
    qstat -xml -s prs -u "$cigri_me"
}
"""
