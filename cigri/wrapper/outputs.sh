# Outputs: of the files in a task's directory those that its campaign wants are moved beside its standard output, before
# the record of its end, which tells how much they are: what is done is complete. It stands between job.sh, which
# calls its cigri_record_outputs in place of cigri_record, and start.sh, where a campaign has outputs.

cigri_record_outputs() { # a directory of the task's own is not needed any more
    cigri_clock
    cigri_ended=$cigri_now cigri_brought='' cigri_is_success=''
    [ "$cigri_cause $cigri_code" != 'exit 0' ] || cigri_is_success=1
    case ${cigri_is_success:-$cigri_always}$cigri_cause in 1exit | 1signal | 1terminated | 1walltime) cigri_bring ;; esac
    cigri_end="end 2 $CIGRI_JOB_ID $CIGRI_TASK_ID $CIGRI_ATTEMPT $cigri_position $cigri_code $cigri_cause"
    cigri_end="$cigri_end $((cigri_started + cigri_begun - cigri_zero)) $((cigri_ended - cigri_begun))"
    cigri_end="$cigri_end $CIGRI_NODE $CIGRI_REMOTE_ID ${cigri_brought:-0 0} $cigri_use."
    cigri_written=$((cigri_written + 1))
    { cigri_append "$cigri_end" "journal.$CIGRI_INDEX" &&
        cigri_append "$cigri_end" "../../outbox/$cigri_batch-$CIGRI_INDEX"; } || cigri_mute=1
    [ -n "$cigri_keep" ] || [ "$CIGRI_WORKDIR" != "$cigri_dir/$CIGRI_INDEX.$cigri_position.work" ] ||
        rm -rf -- "$CIGRI_WORKDIR"
}

cigri_bring() { # a task that has failed by itself has done so, whatever becomes of its outputs
    cigri_brought=$(cigri_pack 2>>"$CIGRI_INDEX.$cigri_position.err")
    cigri_packed=$?
    [ -n "$cigri_is_success" ] || return 0
    case $cigri_packed in
    0) return ;;
    71) cigri_code=71 cigri_cause=missing ;;
    73) cigri_code=73 cigri_cause=disk ;;
    *) cigri_code=73 cigri_cause=unmoved ;;
    esac
    cigri_fail "$cigri_code"
}

cigri_pack() { # in a subshell: how many files, and bytes; a task that has ended is not undone by what ends its job
    # shellcheck disable=SC2086 # perhaps there is none
    trap '' HUP INT TERM USR1 USR2 XCPU $cigri_notice
    IFS='' cigri_missing='' cigri_box=$cigri_dir/.$CIGRI_INDEX.$cigri_position.d
    cd -- "$CIGRI_WORKDIR" || exit 1
    [ -z "$cigri_is_success" ] || cigri_wanted cigri_look
    [ -z "$cigri_missing" ] || [ -n "$cigri_always" ] || exit 71
    cigri_try mkdir -- "$cigri_box"
    cigri_wanted cigri_take_out
    cd -- "$cigri_box" || exit 1
    cigri_sum=$(find . -type f -exec stat -c %s {} + | awk '{ bytes += $1 } END { printf "%d %.0f", NR, bytes }')
    cd -- "$cigri_dir" || exit 1
    rmdir -- "$cigri_box" 2>/dev/null || cigri_try mv -- "$cigri_box" "$cigri_dir/$CIGRI_INDEX.$cigri_position.d"
    printf '%s\n' "$cigri_sum"
    [ -z "$cigri_missing" ] || exit 71
}

cigri_look() { # "name" and a name, or "match" and a pattern, and so on
    while [ $# -gt 0 ]; do
        [ "$1" != name ] || cigri_may_go "$2" || {
            printf 'cigri: the output %s is not in %s on %s\n' "$2" "$CIGRI_WORKDIR" "$CIGRI_NODE" >&2
            cigri_missing=1
        }
        shift 2
    done
}

cigri_take_out() { # what lies in a directory that is taken goes with it
    while [ $# -gt 0 ]; do
        case $1 in
        name) cigri_move "$2" ;;
        *) cigri_pick "$2" ;;
        esac
        shift 2
    done
}

cigri_pick() {
    # shellcheck disable=SC2086 # nothing is split
    set -- $1
    for cigri_path; do cigri_move "$cigri_path"; done
}

cigri_move() {
    cigri_may_go "$1" || return 0
    case $1 in */*) cigri_try mkdir -p -- "$cigri_box/${1%/*}" ;; esac
    cigri_try mv -f -- "./$1" "$cigri_box/$1"
}

cigri_may_go() { # a plain file or a directory, below this one, and no link on the way to it
    case /$1/ in */../* | */./* | *//*) return 1 ;; esac
    cigri_way=. cigri_steps=$1/
    while [ -n "$cigri_steps" ]; do
        cigri_way=$cigri_way/${cigri_steps%%/*} cigri_steps=${cigri_steps#*/}
        [ ! -L "$cigri_way" ] || return 1
    done
    [ -f "$cigri_way" ] || [ -d "$cigri_way" ]
}

cigri_try() { # or nothing is brought: what is not whole only takes room
    cigri_said=$(LC_ALL=C "$@" 2>&1) && return
    rm -rf -- "$cigri_box"
    printf 'cigri: the outputs in %s on %s cannot be kept: %s\n' "$CIGRI_WORKDIR" "$CIGRI_NODE" "$cigri_said" >&2
    case $cigri_said in *'No space left'* | *'uota exceeded'*) exit 73 ;; esac
    exit 1
}

