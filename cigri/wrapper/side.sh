# Tasks side by side: each worker is a copy of the wrapper that takes the next task nobody has taken, until none is left.
# Who creates the file of a task's output has taken it. The wrapper itself only passes signals on and waits.
# It stands before the wrapper (job.sh) where jobs run tasks side by side.

cigri_spread() {
    trap 'cigri_relay TERM' TERM
    trap 'cigri_relay XCPU' XCPU
    for cigri_signal in HUP INT USR1 USR2; do trap "cigri_relay $cigri_signal" "$cigri_signal"; done
    [ -z "$cigri_notice" ] || trap 'cigri_relay XCPU' "$cigri_notice"
    cigri_workers='' cigri_worker=0
    [ -z "$cigri_fresh" ] || cigri_crew=$CIGRI_SCRATCH/began
    while [ "$cigri_worker" -lt "$cigri_side" ] && [ -z "$cigri_halted" ]; do
        cigri_worker=$((cigri_worker + 1))
        cigri_work &
        cigri_workers="$cigri_workers $!"
    done
    cigri_worker='' cigri_is_spread=1
    for cigri_signal in $cigri_missed; do cigri_relay "$cigri_signal"; done
    cigri_gather
}

cigri_relay() { # workers that have not been started yet are told later
    cigri_caught=1
    [ -n "$cigri_is_spread" ] || cigri_missed="$cigri_missed $1"
    case $1 in
    TERM) cigri_halted=terminated ;;
    XCPU) cigri_halted=${cigri_halted:-walltime} ;;
    esac
    for cigri_other in $cigri_workers; do kill "-$1" "$cigri_other"; done 2>/dev/null
}

cigri_gather() { # a worker that was killed leaves no word on its task; else nothing is running that has no record
    cigri_odd=
    for cigri_one in $cigri_workers; do
        while :; do
            cigri_caught=
            wait "$cigri_one"
            cigri_code=$?
            [ -n "$cigri_caught" ] && [ "$cigri_code" -gt 128 ] || break
        done
        case $cigri_code in
        127 | -*) cigri_code=143 ;; # bash lost it, because a signal came
        *) [ "$cigri_code" -le 125 ] || cigri_odd=1 ;;
        esac
        cigri_fail "$cigri_code"
    done
    for cigri_taken in "$CIGRI_INDEX".*.out; do
        [ -n "$cigri_odd" ] || [ ! -e "$cigri_taken" ] || cigri_written=$((cigri_written + 1))
    done
    [ -n "$cigri_odd" ] || cigri_append "stop 1 $cigri_size ." "journal.$CIGRI_INDEX"
}

cigri_work() { # in the worker; it has its own scratch directory, and its share of what the job may use
    cigri_watch='' cigri_workers=''
    trap 'cigri_halt terminated' TERM
    trap 'cigri_halt walltime' XCPU
    for cigri_signal in HUP INT USR1 USR2; do trap "cigri_forward $cigri_signal" "$cigri_signal"; done
    [ -z "$cigri_notice" ] || trap '' "$cigri_notice"
    if [ -n "$cigri_fresh" ]; then
        cigri_place=$CIGRI_SCRATCH
        CIGRI_SCRATCH=$cigri_place/$cigri_worker TMPDIR=$cigri_place/$cigri_worker
        mkdir -m 700 -- "$CIGRI_SCRATCH" || cigri_fresh=
        if [ -L "own.$CIGRI_INDEX" ] && [ -n "$cigri_own" ]; then
            cigri_portion "$cigri_listed/jobfeatures" "$cigri_listed/jobfeatures.$cigri_worker" &&
                cigri_portion "$cigri_own" "$cigri_own.$cigri_worker" && JOBFEATURES=$JOBFEATURES.$cigri_worker
            cigri_let_read "$cigri_own.$cigri_worker"
        elif [ -d "$JOBFEATURES" ]; then # the site's, of which nobody knows how it tells of a shutdown
            cigri_portion "$JOBFEATURES" "$cigri_place/jobfeatures.$cigri_worker" &&
                ln -sf -- "$JOBFEATURES/shutdowntime_job" "$cigri_place/jobfeatures.$cigri_worker/shutdowntime_job" &&
                JOBFEATURES=$cigri_place/jobfeatures.$cigri_worker
        fi
    fi
    . "$cigri_tasks"
    [ -z "$cigri_watch" ] || kill -KILL "$cigri_watch"
    [ -z "$cigri_observer" ] || cigri_dismiss "$cigri_observer"
    [ -n "$cigri_halted$cigri_mute" ] || cigri_rest
    exit $((cigri_status > 125 ? 125 : cigri_status))
}

cigri_rest() { # nothing is left for this worker: its cores idle until the others have done
    case $JOBSTATUS in /*) ;; *) return ;; esac
    cigri_clock
    cigri_second=$(((cigri_started + cigri_now - cigri_zero) / 1000))
    { flock -w 1 9 && cigri_update_status ''; } 9<>"$JOBSTATUS/used_CPU"
}

cigri_muster() { # cigri_begins: when each worker began the task that it runs; this one has none if it does not say
    printf '%s\n' "$1" >"$cigri_crew.$cigri_worker"
    cigri_begins=
    for cigri_file in "$cigri_crew".*; do
        cigri_line=
        read -r cigri_line <"$cigri_file"
        cigri_first "$cigri_line"
        cigri_begins="$cigri_begins $cigri_found"
    done
}

cigri_portion() { # of what is in one directory, in another; what cannot be divided is left out
    mkdir -m 700 -- "$2" && cp -RP -- "$1/." "$2" || return
    for cigri_key in allocated_cpu cpu_limit_secs max_rss_bytes max_swap_bytes scratch_limit_bytes allocated_CPU \
        cpu_limit_secs_lrms mem_limit_MB; do
        [ -r "$2/$cigri_key" ] && read -r cigri_line <"$2/$cigri_key" || continue
        cigri_first "$cigri_line"
        if [ -n "$cigri_found" ]; then
            printf '%s\n' $((cigri_found / cigri_side)) >"$2/$cigri_key"
        else
            rm -f -- "$2/$cigri_key"
        fi
    done
    rm -f -- "$2/hs06_job" "$2/disk_limit_GB"
}

cigri_take() { # false when another worker has this task
    set -C
    { :; } 2>/dev/null >"$CIGRI_INDEX.$cigri_position.out"
    cigri_taken=$?
    set +C
    return "$cigri_taken"
}
