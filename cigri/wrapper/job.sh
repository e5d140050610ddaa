# The wrapper: runs the tasks of one array index, once, and writes down how each of them ended.
# The header before it (cigri/wrapper/batch.py) gives the settings. A fork costs a millisecond and some filesystems are
# full, remote or both: so nothing is forked for a task but the task, and what was written is looked at in the end.

cigri_quit() {
    printf 'cigri: %s\n' "$2" >&2
    exit "$1"
}

cigri_date() { # cigri_epoch: milliseconds since 1970
    cigri_epoch=$(date +%s%3N)
    case $cigri_epoch in
    *[!0-9]* | '' | ??????????) cigri_epoch=$(date +%s)000 ;; # not GNU date
    esac
}

cigri_clock() { # cigri_now: milliseconds of a clock that nobody sets
    if read -r cigri_now cigri_skip </proc/uptime; then
        cigri_now=$(( (${cigri_now%.*} * 100 + 1${cigri_now#*.} - 100) * 10 ))
    else
        cigri_date
        cigri_now=$cigri_epoch
    fi
}

cigri_patient() { # wait a little after a failed write; false when it is time to give up
    cigri_clock
    if [ -z "$cigri_deadline" ]; then
        cigri_deadline=$((cigri_now + cigri_patience * 1000))
        cigri_last=$((cigri_zero + cigri_walltime * 1000 - 10000))
        [ "$cigri_deadline" -le "$cigri_last" ] || cigri_deadline=$cigri_last
    fi
    [ "$cigri_now" -lt "$cigri_deadline" ] || return 1
    sleep 2
    [ -d "$cigri_dir" ]
}

cigri_claim() { # the absolute path: a batch directory that was voided is not to be found by it
    cigri_deadline=
    set -C
    until { :; } >"$cigri_dir/journal.$CIGRI_INDEX"; do
        [ ! -e "$cigri_dir/journal.$CIGRI_INDEX" ] || cigri_refuse
        [ -d "$cigri_dir" ] || cigri_quit 75 "the batch was withdrawn"
        cigri_patient || cigri_quit 74 "cannot write to $cigri_dir"
    done
    set +C
}

cigri_since() { # cigri_found: when process $1 was started, in ticks of its host, "" if it is gone; cigri_group: its group
    cigri_found='' cigri_line=''
    { read -r cigri_line <"/proc/$1/stat"; } 2>/dev/null
    set -- ${cigri_line##*) }
    [ $# -lt 20 ] || [ "$1" = Z ] || cigri_found=${20} cigri_group=$3
}

cigri_identify() { # cigri_origin: its boot and, since a container has another one, its first process; cigri_self: this process
    cigri_boot='' cigri_group=''
    { read -r cigri_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
    cigri_since 1
    cigri_origin=${cigri_boot:--}/${cigri_found:--}
    cigri_since $$
    cigri_self="$$ ${cigri_found:--} ${cigri_group:--}"
}

cigri_refuse() { # another start has the index, and perhaps runs: 76 is the proof that it is over
    cigri_identify
    while read -r cigri_word cigri_version cigri_skip cigri_skip cigri_place cigri_skip cigri_there cigri_other; do
        [ "$cigri_word $cigri_version" != 'start 2' ] || ! cigri_is_over $cigri_other ||
            cigri_quit 76 "index $CIGRI_INDEX was started before, and that start is over"
    done <"$cigri_dir/journal.$CIGRI_INDEX"
    cigri_quit 75 "index $CIGRI_INDEX was started before"
}

cigri_is_over() { # process, its start, its group: nothing of it is here, or its host has been started anew since
    case $cigri_there:$cigri_origin in
    */[0-9]*:*/[0-9]*) ;;
    *) return 1 ;;
    esac
    if [ "$cigri_there" != "$cigri_origin" ]; then
        [ "$cigri_place" = "$CIGRI_NODE" ] && [ "$cigri_place" != - ] && [ "${cigri_there%/*}" != "$cigri_boot" ]
        return
    fi
    cigri_since "$1"
    [ "$cigri_found" != "$2" ] && [ "$3" != - ] && ! cigri_lives "$3" && ! cigri_lives "$3"
}

cigri_lives() { # the process group; what is dead and not yet fetched by its parent counts no more
    kill -0 "-$1" 2>/dev/null || return
    for cigri_file in /proc/[0-9]*/stat; do
        cigri_line=
        { read -r cigri_line <"$cigri_file"; } 2>/dev/null
        cigri_line=${cigri_line##*) } cigri_member=${cigri_line#* * }
        [ "${cigri_member%% *}" != "$1" ] || [ "${cigri_line%% *}" = Z ] || return 0
    done
    return 1
}

cigri_append() { # a line at the end of a file, on a line of its own whatever a full disk has left there
    cigri_deadline=
    cigri_line=$1
    until printf '%s\n' "$cigri_line" >>"$2"; do
        cigri_patient || return 1
        cigri_line="
$1"
    done
}

cigri_forward() {
    cigri_caught=1
    if [ -n "$cigri_pid" ]; then
        kill "-$1" "$cigri_pid"
    else # a task is perhaps just being started
        cigri_missed="$cigri_missed $1"
    fi
}

cigri_halt() { # no further task is started, and the running one is asked to end
    cigri_caught=1
    cigri_halted=$1
    [ -z "$cigri_pid" ] || cigri_terminate
}

cigri_terminate() {
    [ -z "$cigri_watch" ] || return 0
    cigri_cause=$cigri_halted
    trap '' TERM
    read -r cigri_skip cigri_skip cigri_skip cigri_skip cigri_group cigri_skip <"/proc/$$/stat"
    if [ "$cigri_group" = $$ ]; then
        kill -TERM 0
    else # the group is not ours alone
        kill -TERM "$cigri_pid"
    fi
    kill -0 "$cigri_pid" || return 0
    (
        trap '' HUP INT USR1 USR2 XCPU
        sleep 5
        kill -KILL "$cigri_pid"
    ) </dev/null >/dev/null 2>&1 &
    cigri_watch=$!
}

cigri_await() { # cigri_code: how the child ended; a wait that a signal interrupts also yields more than 128
    cigri_code=
    while :; do
        cigri_caught=
        wait "$cigri_pid"
        cigri_waited=$?
        # the child is gone: it was no interruption; or bash, which says -1, lost the status because of it
        [ -n "$cigri_code" ] && { [ "$cigri_waited" -eq 127 ] || [ "$cigri_waited" -lt 0 ]; } && break
        cigri_code=$cigri_waited
        [ -n "$cigri_caught" ] && [ "$cigri_code" -gt 128 ] || break
    done
    cigri_pid=
    case $cigri_code in 137 | 143 | 152) cigri_linger ;; esac
    [ "$cigri_cause" = exit ] && [ "$cigri_code" -gt 128 ] && [ "$cigri_code" -le 192 ] && cigri_cause=signal
}

cigri_linger() { # the batch system signals one process after the other: the task's may come before ours
    [ -n "$cigri_halted" ] || sleep 1
    [ -z "$cigri_halted" ] || cigri_cause=$cigri_halted
}

cigri_count() { # what children that were waited for have used; "" where nobody tells: cigri_ticks, cigri_got, cigri_put
    cigri_ticks='' cigri_got='' cigri_put='' cigri_line=''
    {
        read -r cigri_line </proc/self/stat
        while read -r cigri_key cigri_value cigri_skip; do # to the end: bash keeps what is left of a file
            case $cigri_key in
            rchar:) cigri_got=$cigri_value ;;
            wchar:) cigri_put=$cigri_value ;;
            esac
        done </proc/self/io
    } 2>/dev/null
    set -- ${cigri_line##*) }
    case ${14}-${15} in -* | *- | *[!0-9-]* | *-*-*) ;; *) cigri_ticks=$((${14} + ${15})) ;; esac
}

cigri_weigh() { # cigri_use: what process $1 used since cigri_count: processor ms, bytes read, bytes written, peak KB
    set -- "$cigri_ticks" "$cigri_got" "$cigri_put" "$1"
    cigri_count
    cigri_more "$1" "$cigri_ticks" 10 # a hundredth of a second each, for all that Linux tells users
    cigri_use=use=$cigri_found
    cigri_more "$2" "$cigri_got" 1
    cigri_use=$cigri_use:$cigri_found
    cigri_more "$3" "$cigri_put" 1
    cigri_use=$cigri_use:$cigri_found
    cigri_recall "$4"
    cigri_use="$cigri_use:$cigri_found "
}

cigri_here() { # cigri_me: this process, $$ is that of the first shell; cigri_over: its parent
    cigri_me='' cigri_line=''
    { read -r cigri_line </proc/self/stat; } 2>/dev/null
    cigri_me=${cigri_line%% *}
    set -- ${cigri_line##*) }
    cigri_over=$2
}

cigri_more() { # cigri_found: from $1 to $2, times $3; "" where it cannot be: a record without it is one all the same
    cigri_found=
    case "-$1-$2-" in *[!0-9-]* | *--*) return ;; esac
    cigri_found=$((($2 - $1) * $3))
    case $cigri_found in -* | ????????????????*) cigri_found= ;; esac
}

cigri_dismiss() { # a watcher, and the sleep below it; a new shell may miss any signal but KILL
    cigri_here
    cigri_line=
    { read -r cigri_line <"/proc/$1/stat"; } 2>/dev/null
    set -- "$1" ${cigri_line##*) }
    [ "$3" = "$cigri_me" ] || return 0 # it is gone, and its number perhaps somebody else's
    {
        kill -STOP "$1"
        cigri_nap=
        read -r cigri_nap <"/proc/$1/task/$1/children"
        kill -KILL "$1" $cigri_nap
        wait "$1"
    } 2>/dev/null
}

cigri_clean() { # the scratch directory as the first task found it
    for cigri_left in "$CIGRI_SCRATCH"/* "$CIGRI_SCRATCH"/.[!.]* "$CIGRI_SCRATCH"/..?*; do
        if [ -e "$cigri_left" ] || [ -L "$cigri_left" ]; then
            rm -rf -- "$CIGRI_SCRATCH"
            mkdir -m 700 -- "$CIGRI_SCRATCH" || cigri_fresh=
            return
        fi
    done
}

cigri_tidy() { # the scratch directory is left where its user wants to look at it
    if [ -z "$cigri_keep" ]; then
        rm -rf -- "$cigri_scratch"
    else
        rm -rf -- "$cigri_scratch/machinefeatures" "$cigri_scratch/jobfeatures"* "$cigri_scratch/told" \
            "$cigri_scratch/nodes" "$cigri_scratch/peaks" "$cigri_scratch"/peaks.*
    fi
    rm -rf -- "status.$CIGRI_INDEX" "shutdown.$CIGRI_INDEX" "machine.$CIGRI_INDEX" "own.$CIGRI_INDEX" "host.$CIGRI_INDEX"
}

cigri_run() { # in the child: assignments, "--", program, arguments
    cd -- "$CIGRI_WORKDIR" || exit 72
    # all processes of the job get it; the task is asked to end in the same way as elsewhere
    [ -z "$cigri_notice" ] || [ "$cigri_notice" = "$cigri_checkpoint" ] || trap '' "$cigri_notice"
    cigri_environment
    while [ "$1" != -- ]; do
        export "$1"
        shift
    done
    shift
    umask "$cigri_umask"
    [ -z "$cigri_note" ] || printf 'cigri: %s\n' "$cigri_note" >&2
    case $1 in
    -*) "$@" ;; # "exec" of old shells knows no "--"
    *) exec "$@" ;;
    esac
}

cigri_place() { # the task's directory is made where there is none; what hinders that is told as the task would
    cigri_note=''
    [ -d "$CIGRI_WORKDIR" ] && [ -x "$CIGRI_WORKDIR" ] && return
    if [ -n "$cigri_mode" ]; then
        cigri_place_shared && return
    else
        mkdir -p -- "$CIGRI_WORKDIR" 2>"$CIGRI_INDEX.$cigri_position.err" && [ -x "$CIGRI_WORKDIR" ] && return
    fi
    cigri_tell "exec_directory $CIGRI_WORKDIR cannot be made or entered on $CIGRI_NODE"
    return 1
}

cigri_tell() { # on the standard error of a task that is not run
    printf 'cigri: %s\n' "$1" >>"$CIGRI_INDEX.$cigri_position.err"
}

cigri_job() { # its number, of tasks, priority, how many side by side
    [ -z "$cigri_worker" ] || return 0
    export CIGRI_JOB_ID="$1" CIGRI_JOBID="$1"
    cigri_size=$2 cigri_priority=$3 cigri_side=$4
    cigri_features
    [ "$cigri_side" -eq 1 ] || cigri_spread
}

cigri_task() { # task id, its number in the campaign, attempt, directory, then as cigri_run
    [ -z "$cigri_is_spread" ] || return 0
    if [ -n "$cigri_halted$cigri_mute" ]; then
        cigri_stop
        return
    fi
    cigri_position=$((cigri_position + 1))
    [ -z "$cigri_worker" ] || cigri_take || return 0
    case $4 in
    /*) cigri_place=$4 ;;
    '') cigri_place=$cigri_dir/$CIGRI_INDEX.$cigri_position.work ;; # which nobody else has: a start of an index is one
    *) cigri_place=$HOME/$4 ;;
    esac
    export CIGRI_TASK_ID="$1" CIGRI_TASK_NUMBER="$2" CIGRI_ATTEMPT="$3"
    export CIGRI_WORKDIR="$cigri_place" CIGRI_WORKING_DIRECTORY="$cigri_place"
    shift 4
    [ "$cigri_position" -eq 1 ] || [ -z "$cigri_fresh" ] || cigri_clean
    cigri_unlearn
    cigri_clock
    cigri_begun=$cigri_now
    cigri_pilot || {
        cigri_halted=terminated
        [ -z "$cigri_worker" ] || rm -f -- "$CIGRI_INDEX.$cigri_position.out"
        cigri_stop
        return
    }
    cigri_cause='exit' cigri_missed='' cigri_use=''
    if [ -z "$cigri_fresh" ]; then
        cigri_code=73 cigri_cause=scratch
        cigri_tell "no fresh scratch directory ${CIGRI_SCRATCH:-in ${TMPDIR:-/tmp}} on $CIGRI_NODE"
    elif ! cigri_place; then
        cigri_code=72 cigri_cause=directory
    elif [ -n "$cigri_inputs" ] && ! cigri_furnish; then
        cigri_code=72
    elif {
        cigri_count
        cigri_run "$@" &
        cigri_pid=$! cigri_ran=$!
    } </dev/null >"$CIGRI_INDEX.$cigri_position.out" 2>"$CIGRI_INDEX.$cigri_position.err"; then
        for cigri_signal in $cigri_missed; do kill "-$cigri_signal" "$cigri_pid"; done
        [ -z "$cigri_halted" ] || cigri_terminate
        [ -z "$cigri_checkpoint" ] || cigri_mind
        [ -n "$cigri_peaks" ] || cigri_observe
        cigri_await
        cigri_weigh "$cigri_ran"
        [ -z "$cigri_minder" ] || cigri_unmind
    else
        cigri_code=73 cigri_cause=output
    fi
    [ -z "$cigri_inputs" ] || cigri_unfurnish
    cigri_fail "$cigri_code"
    cigri_record
}

cigri_stop() { # neither this task nor those after it are begun
    cigri_fail 143
    [ -n "$cigri_stopped$cigri_mute$cigri_worker" ] || cigri_append "stop 1 $cigri_position ." "journal.$CIGRI_INDEX"
    cigri_stopped=1
}

cigri_fail() { # the first exit status that is not 0 is the job's
    [ "$cigri_status" -ne 0 ] || cigri_status=$1
}

cigri_record() {
    cigri_clock
    cigri_end="end 1 $CIGRI_JOB_ID $CIGRI_TASK_ID $CIGRI_ATTEMPT $cigri_position $cigri_code $cigri_cause"
    cigri_end="$cigri_end $((cigri_started + cigri_begun - cigri_zero)) $((cigri_now - cigri_begun))"
    cigri_end="$cigri_end $CIGRI_NODE $CIGRI_REMOTE_ID $cigri_use."
    cigri_written=$((cigri_written + 1))
    { cigri_append "$cigri_end" "journal.$CIGRI_INDEX" &&
        cigri_append "$cigri_end" "../../outbox/$cigri_batch-$CIGRI_INDEX"; } || cigri_mute=1
}

cigri_verify() { # no shell hears of a write that fails when the file is closed, as on NFS
    [ -z "$cigri_mute" ] || return 1
    cigri_there=0
    if [ "$cigri_written" -gt 1 ]; then
        cigri_there=$(grep -c '^end ' "journal.$CIGRI_INDEX")
    elif [ "$cigri_written" -eq 1 ]; then
        while read -r cigri_word cigri_skip; do
            [ "$cigri_word" != end ] || cigri_there=1
        done <"journal.$CIGRI_INDEX"
    fi
    [ "${cigri_there:-0}" -ge "$cigri_written" ]
}

