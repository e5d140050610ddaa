unset CIGRI_JOB_ID cigri_caught cigri_fresh cigri_halted cigri_is_spread cigri_minder cigri_missed cigri_mute cigri_note
unset cigri_observer cigri_pid
unset cigri_scratch cigri_stopped cigri_watch cigri_worker
cigri_dir=$1 cigri_position=0 cigri_status=0 cigri_written=0
cigri_umask=${cigri_umask:-$(umask)} # which tasks get; what the wrapper makes is the account's alone
umask 077
trap 'cigri_halt terminated' TERM
trap 'cigri_halt walltime' XCPU
trap 'cigri_forward HUP' HUP
trap 'cigri_forward INT' INT
trap 'cigri_forward USR1' USR1
trap 'cigri_forward USR2' USR2
[ -z "$cigri_notice" ] || trap 'cigri_halt walltime' "$cigri_notice"

case $CIGRI_INDEX in '' | *[!0-9]*) cigri_quit 78 "the batch system gave no array index" ;; esac
cd -- "$cigri_dir" || { # below the grid's own directory, which is there unless the home of the node is another
    [ -d "${cigri_dir%/*/*}" ] || cigri_quit 77 "${cigri_dir%/*/*} is not on ${CIGRI_NODE:-this node}"
    cigri_quit 75 "the batch was withdrawn"
}
[ -n "$cigri_epoch" ] || cigri_date
cigri_started=$cigri_epoch
cigri_clock
cigri_zero=$cigri_now
if [ -z "$CIGRI_NODE" ]; then
    read -r CIGRI_NODE </proc/sys/kernel/hostname || CIGRI_NODE=$(uname -n)
fi
CIGRI_NODE=${CIGRI_NODE%%[[:space:]]*} CIGRI_REMOTE_ID=${CIGRI_REMOTE_ID%%[[:space:]]*}
export CIGRI_INDEX CIGRI_NODE="${CIGRI_NODE:--}" CIGRI_REMOTE_ID="${CIGRI_REMOTE_ID:--}"

cigri_claim
cigri_identify
cigri_start="start 2 $CIGRI_INDEX $cigri_started $CIGRI_NODE $CIGRI_REMOTE_ID $cigri_origin $cigri_self ."
cigri_append "$cigri_start" "journal.$CIGRI_INDEX" || cigri_quit 74 "cannot write to $cigri_dir"

if [ -n "$CIGRI_SCRATCH" ] && [ -z "$cigri_keep" ]; then
    cigri_fresh=1
else
    cigri_place=${CIGRI_SCRATCH_BASE:-${TMPDIR:-/tmp}}/cigri-$cigri_grid-$cigri_batch-$CIGRI_INDEX
    CIGRI_SCRATCH=$cigri_place/scratch CIGRI_NODE_FILE=$cigri_place/nodes
    if mkdir -m 700 -- "$cigri_place" "$CIGRI_SCRATCH" "$cigri_place/machinefeatures" "$cigri_place/jobfeatures" \
        "$cigri_place/told" "status.$CIGRI_INDEX"; then
        cigri_scratch=$cigri_place
        cigri_nodes >"$CIGRI_NODE_FILE" && cigri_fresh=1
        [ -z "$cigri_keep" ] || printf '%s\n' "$CIGRI_NODE:$CIGRI_SCRATCH" >"kept.$CIGRI_INDEX"
    fi
fi
[ -z "$cigri_fresh$cigri_scratch" ] || export TMPDIR="$CIGRI_SCRATCH"
export CIGRI_SCRATCH CIGRI_NODE_FILE CIGRI_NODEFILE="$CIGRI_NODE_FILE"

cigri_tasks=./tasks.$(((CIGRI_INDEX - 1) / cigri_chunk))
[ ! -r "$cigri_tasks" ] || . "$cigri_tasks"
[ -z "$cigri_watch" ] || kill -KILL "$cigri_watch"
[ -z "$cigri_observer" ] || cigri_dismiss "$cigri_observer"
[ -z "$cigri_scratch" ] || cigri_tidy
[ -n "$CIGRI_JOB_ID" ] || cigri_quit 74 "no task is written down for index $CIGRI_INDEX"
cigri_verify || cigri_quit 74 "a record could not be written"
exit "$cigri_status"
